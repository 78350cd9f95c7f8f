/* Exodus files as text (tests/exodus/crafted.h): common part of the targets.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FUZZ_EXODUS_TEXT_H
#define TUTTI_TESTS_FUZZ_EXODUS_TEXT_H

#include "exodus/crafted.h"
#include "singleton.h"

const char *const fuzz_statements[] = {"d num_dim 3",
                                       "d num_nodes 8",
                                       "d num_elem 1",
                                       "d num_el_blk 1",
                                       "d num_el_in_blk1 1",
                                       "d num_nod_per_el1 8",
                                       "d num_fac_per_el1 6",
                                       "d num_edg_per_el1 12",
                                       "d num_att_in_blk1 2",
                                       "d num_att_in_nblk 1",
                                       "d num_node_sets 1",
                                       "d num_nod_ns1 3",
                                       "d num_df_ns1 3",
                                       "d num_side_sets 1",
                                       "d num_side_ss1 2",
                                       "d num_df_ss1 8",
                                       "d num_elem_sets 1",
                                       "d num_ele_els1 1",
                                       "d num_edge 2",
                                       "d num_ed_blk 1",
                                       "d num_ed_in_blk1 2",
                                       "d num_nod_per_ed1 2",
                                       "d num_face 2",
                                       "d num_fa_blk 1",
                                       "d num_fa_in_blk1 2",
                                       "d num_nod_per_fa1 4",
                                       "d num_node_maps 1",
                                       "d num_elem_maps 1",
                                       "d num_glo_var 1",
                                       "d num_nod_var 1",
                                       "d num_elem_var 1",
                                       "d num_nset_var 1",
                                       "d num_sset_var 1",
                                       "d num_qa_rec 1",
                                       "d num_info 1",
                                       "d four 4",
                                       "d len_string 33",
                                       "d len_line 81",
                                       "d len_name 33",
                                       "d time_step 0",
                                       "d num_processors 2",
                                       "d num_procs_file 1",
                                       "x coordx d num_nodes",
                                       "x coordy d num_nodes",
                                       "x coordz d num_nodes",
                                       "x coord d num_dim num_nodes",
                                       "x coor_names c num_dim len_name",
                                       "x node_num_map i num_nodes",
                                       "x elem_num_map i num_elem",
                                       "x elem_map i num_elem",
                                       "x eb_status i num_el_blk",
                                       "x eb_prop1 i num_el_blk",
                                       "x eb_prop2 i num_el_blk",
                                       "x eb_names c num_el_blk len_name",
                                       "x connect1 i num_el_in_blk1 num_nod_per_el1",
                                       "x connect1 i num_nod_per_el1",
                                       "x ebepecnt1 i num_el_in_blk1",
                                       "x facconn1 i num_fac_per_el1",
                                       "x facconn1 i num_el_in_blk1 num_fac_per_el1",
                                       "x edgconn1 i num_el_in_blk1 num_edg_per_el1",
                                       "x attrib1 d num_el_in_blk1 num_att_in_blk1",
                                       "x nattrb d num_nodes num_att_in_nblk",
                                       "x attrib_name1 c num_att_in_blk1 len_name",
                                       "x node_ns1 i num_nod_ns1",
                                       "x dist_fact_ns1 d num_nod_ns1",
                                       "x ns_prop1 i num_node_sets",
                                       "x elem_ss1 i num_side_ss1",
                                       "x side_ss1 i num_side_ss1",
                                       "x dist_fact_ss1 d num_df_ss1",
                                       "x ss_prop1 i num_side_sets",
                                       "x elem_els1 i num_ele_els1",
                                       "x ebconn1 i num_ed_in_blk1 num_nod_per_ed1",
                                       "x fbconn1 i num_fa_in_blk1 num_nod_per_fa1",
                                       "x fbconn1 i num_nod_per_fa1",
                                       "x fbepecnt1 i num_fa_in_blk1",
                                       "x time_whole d time_step",
                                       "x vals_nod_var1 d time_step num_nodes",
                                       "x vals_elem_var1eb1 d time_step num_el_in_blk1",
                                       "x vals_glo_var d time_step num_glo_var",
                                       "x vals_nset_var1ns1 d time_step num_nod_ns1",
                                       "x name_nod_var c num_nod_var len_name",
                                       "x name_elem_var c num_elem_var len_name",
                                       "x elem_var_tab i num_el_blk num_elem_var",
                                       "x qa_records c num_qa_rec four len_string",
                                       "x info_records c num_info len_line",
                                       "x n_comm_ids i four",
                                       "x node_mapi i num_nodes",
                                       "x node_mapi_idx l num_procs_file",
                                       "a connect1 elem_type HEX8",
                                       "a connect1 elem_type nsided",
                                       "a connect1 elem_type TET4",
                                       "a connect1 elem_type QUAD4",
                                       "a facconn1 elem_type nfaced",
                                       "a fbconn1 elem_type nsided",
                                       "a - title text",
                                       "s connect1 0 1",
                                       "s connect1 1 2",
                                       "s ebepecnt1 0 8",
                                       "s ebepecnt1 0 -8",
                                       "s elem_ss1 0 1",
                                       "s side_ss1 0 6",
                                       "s node_ns1 0 8",
                                       "s eb_prop1 0 7",
                                       "s elem_var_tab 0 1",
                                       "s name_nod_var 0 u",
                                       "s fbepecnt1 0 4",
                                       "s facconn1 0 1",
                                       "R 2",
                                       "r 3",
                                       "e -8",
                                       "l num_nodes 9",
                                       "t connect1 f",
                                       "b connect1 0",
                                       "v 1",
                                       "v 2",
                                       NULL};

/* Write the file that the text describes; return 0 if the text is invalid. */
static inline int text_to_file(const char *path, const uint8_t *data, size_t n) {
    size_t bytes = 0;
    unsigned char *file = crafted_file((const char *)data, n, &bytes);
    if (file) fuzz_write(path, file, bytes);
    free(file);
    return file != NULL;
}

/* Set the two halves of a text before and after the first "---"; without "---" both are the whole text. */
static inline void text_halves(const uint8_t *data, size_t n, const uint8_t *half[2],
                               size_t bytes[2]) {
    const uint8_t *at = n ? memmem(data, n, "---", 3) : NULL;
    half[0] = half[1] = data;
    bytes[0] = bytes[1] = n;
    if (!at) return;
    bytes[0] = (size_t)(at - data);
    half[1] = at + 3;
    bytes[1] = n - bytes[0] - 3;
}

#endif
