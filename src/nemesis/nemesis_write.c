/* nemesis: a partition as variables with the names of Nemesis.
 *
 * One file contains the data of all processors in sequence (nem_ftype: 1, "scalar").  An array X
 * has an array X_idx with the end of the piece of each processor, and an array with the state of
 * each processor (0: empty).  Arrays of length 0 are omitted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "nemesis/nemesis.h"

#include "decomposition/shares.h"
#include "exodus/array_values.h"

/* Counts of a processor; also summed over the preceding processors. */
enum {
    INT_NODES,
    BOR_NODES,
    EXT_NODES,
    INT_ELEMENTS,
    BOR_ELEMENTS,
    NODE_MAPS,
    ELEMENT_MAPS,
    MAP_NODES,
    MAP_ELEMENTS,
    COUNTS
};

static const char *const dims[COUNTS] = {"num_int_node", "num_bor_node", "num_ext_node",
                                         "num_int_elem", "num_bor_elem", "num_n_cmaps",
                                         "num_e_cmaps",  "ncnt_cmap",    "ecnt_cmap"};

/* Variables, with the count that determines their length. */
static const struct {
    int by;
    const char *name;
} arrays[] = {
    {INT_NODES, "node_mapi"},      {BOR_NODES, "node_mapb"},          {EXT_NODES, "node_mape"},
    {INT_ELEMENTS, "elem_mapi"},   {BOR_ELEMENTS, "elem_mapb"},       {NODE_MAPS, "n_comm_ids"},
    {NODE_MAPS, "n_comm_stat"},    {NODE_MAPS, "n_comm_data_idx"},    {ELEMENT_MAPS, "e_comm_ids"},
    {ELEMENT_MAPS, "e_comm_stat"}, {ELEMENT_MAPS, "e_comm_data_idx"}, {MAP_NODES, "n_comm_nids"},
    {MAP_NODES, "n_comm_proc"},    {MAP_ELEMENTS, "e_comm_eids"},     {MAP_ELEMENTS, "e_comm_proc"},
    {MAP_ELEMENTS, "e_comm_sids"}};
/* Arrays with the ends of the processors' pieces, and with their states. */
static const struct {
    int by;
    const char *index, *state;
} ends[] = {
    {INT_NODES, "node_mapi_idx", "int_n_stat"},    {BOR_NODES, "node_mapb_idx", "bor_n_stat"},
    {EXT_NODES, "node_mape_idx", "ext_n_stat"},    {INT_ELEMENTS, "elem_mapi_idx", "int_e_stat"},
    {BOR_ELEMENTS, "elem_mapb_idx", "bor_e_stat"}, {NODE_MAPS, "n_comm_info_idx", NULL},
    {ELEMENT_MAPS, "e_comm_info_idx", NULL}};
enum { ARRAYS = sizeof arrays / sizeof arrays[0], ENDS = sizeof ends / sizeof ends[0] };

/* Entities of the whole file, whose counts Nemesis repeats. */
static const struct {
    tutti_exodus_kind kind;
    const char *dim, *ids, *count, *factors;
} wholes[] = {{TUTTI_EXODUS_ELEMENT_BLOCK, "num_el_blk_global", "el_blk_ids_global",
               "el_blk_cnt_global", NULL},
              {TUTTI_EXODUS_NODE_SET, "num_ns_global", "ns_ids_global", "ns_node_cnt_global",
               "ns_df_cnt_global"},
              {TUTTI_EXODUS_SIDE_SET, "num_ss_global", "ss_ids_global", "ss_side_cnt_global",
               "ss_df_cnt_global"}};
enum { WHOLES = sizeof wholes / sizeof wholes[0] };

struct tutti__nemesis {
    const tutti__exodus_model *model;
    int ranks, rank;
    tutti__borders b;
    int64_t own[COUNTS], all[COUNTS], before[COUNTS];
};

void tutti__nemesis_free(tutti__nemesis **s) {
    if (!*s) return;
    tutti__borders_free(&(*s)->b);
    tutti__free(*s);
    *s = NULL;
}

tutti_err tutti__nemesis_make(tutti__team *t, const tutti__partition *p, tutti_err local_err,
                              tutti__nemesis **out) {
    tutti__nemesis *s = tutti__calloc(1, sizeof *s);
    if (!s && local_err == TUTTI_OK) local_err = TUTTI_ERR_NOMEM;
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) err = tutti__borders_make(t, p, &s->b);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(s);
        const tutti__borders *b = &s->b;
        const int64_t own[COUNTS] = {b->internal_nodes,
                                     b->border_nodes,
                                     b->external_nodes,
                                     b->internal_elements,
                                     b->border_elements,
                                     b->node_maps,
                                     b->element_maps,
                                     b->node_maps > 0 ? b->node_map[b->node_maps - 1].hi : 0,
                                     b->element_maps > 0 ? b->element_map[b->element_maps - 1].hi
                                                         : 0};
        for (int k = 0; k < COUNTS; k++) s->own[k] = s->all[k] = own[k];
        s->model = p->model;
        s->ranks = t->size;
        s->rank = t->rank;
        err = tutti__checksums_before(t, TUTTI_OK, COUNTS, s->all, s->before);
    }
    if (err != TUTTI_OK) tutti__nemesis_free(&s);
    *out = s;
    return err;
}

/* ---- definitions */

static tutti_err dim_add(tutti__cdf *cdf, const char *name, tutti_count n, tutti_count *out) {
    *out = -1;
    return n > 0 ? tutti__cdf_add_dim(cdf, name, n, out) : TUTTI_OK;
}

/* Add a variable with one dimension, if the dimension exists. */
static tutti_err var_add(tutti__cdf *cdf, const char *name, int bytes, tutti_count dim) {
    tutti_count var = 0;
    if (dim < 0 || !name) return TUTTI_OK;
    return tutti__cdf_add_var(cdf, name, bytes == 8 ? TUTTI__CDF_INT64 : TUTTI__CDF_INT, 1, &dim,
                              &var);
}

tutti_err tutti__nemesis_define(const void *nemesis, tutti__cdf *cdf) {
    const tutti__nemesis *s = nemesis;
    static const float file_version = 2.6f, api_version = 6.02f;
    tutti_count processors = -1, whole = -1, dim[COUNTS], type = 0;
    const tutti__exodus_model *m = s->model;
    const int bytes = s->model->bulk_bytes;
    TUTTI_TRY(
        tutti__cdf_put_att(cdf, -1, "nemesis_file_version", TUTTI__CDF_FLOAT, 1, &file_version));
    TUTTI_TRY(
        tutti__cdf_put_att(cdf, -1, "nemesis_api_version", TUTTI__CDF_FLOAT, 1, &api_version));
    TUTTI_TRY(dim_add(cdf, "num_processors", s->ranks, &processors));
    TUTTI_TRY(dim_add(cdf, "num_procs_file", s->ranks, &processors));
    TUTTI_TRY(tutti__cdf_add_var(cdf, "nem_ftype", TUTTI__CDF_INT, 0, NULL, &type));
    TUTTI_TRY(dim_add(cdf, "num_nodes_global", m->p.nodes, &whole));
    TUTTI_TRY(dim_add(cdf, "num_elems_global", m->p.elements, &whole));
    for (int k = 0; k < WHOLES; k++) {
        TUTTI_TRY(dim_add(cdf, wholes[k].dim, m->of[wholes[k].kind].n, &whole));
        TUTTI_TRY(var_add(cdf, wholes[k].ids, m->id_bytes, whole));
        TUTTI_TRY(var_add(cdf, wholes[k].count, m->bulk_bytes, whole));
        TUTTI_TRY(var_add(cdf, wholes[k].factors, m->bulk_bytes, whole));
    }
    for (int k = 0; k < COUNTS; k++) TUTTI_TRY(dim_add(cdf, dims[k], s->all[k], &dim[k]));
    for (int k = 0; k < ENDS; k++) {
        TUTTI_TRY(var_add(cdf, ends[k].state, 4, processors));
        if (dim[ends[k].by] >= 0) TUTTI_TRY(var_add(cdf, ends[k].index, bytes, processors));
    }
    for (int k = 0; k < ARRAYS; k++)
        TUTTI_TRY(var_add(cdf, arrays[k].name, bytes, dim[arrays[k].by]));
    return TUTTI_OK;
}

/* ---- contents */

typedef struct {
    const tutti__cdf *cdf;
    const tutti__nemesis *s;
    tutti__values *values;
} writing;

/* Add n numbers of a variable, starting with number `first`; *out is their address, or NULL if the
 * file does not have the variable. */
static tutti_err numbers_add(writing *w, const char *name, tutti_count first, tutti_count n,
                             int64_t **out) {
    void *data = NULL;
    const tutti_count var = tutti__cdf_find_var(w->cdf, name);
    *out = NULL;
    if (var < 0 || n == 0) return TUTTI_OK;
    const tutti__cdf_var *v = &w->cdf->vars[var];
    const tutti__exodus_place at = {
        .at = v->begin, .entries = v->numbers, .numbers = 1, .type = tutti__cdf_number(v->type)};
    TUTTI_TRY(tutti__values_add(w->values, &at, first, n, NULL, &data));
    *out = data;
    return TUTTI_OK;
}

static tutti_err number_add(writing *w, const char *name, tutti_count at, int64_t value) {
    int64_t *to = NULL;
    TUTTI_TRY(numbers_add(w, name, at, 1, &to));
    if (to) *to = value;
    return TUTTI_OK;
}

static tutti_err list_add(writing *w, const char *name, int by, const int64_t *values) {
    int64_t *to = NULL;
    TUTTI_TRY(numbers_add(w, name, w->s->before[by], w->s->own[by], &to));
    for (tutti_count i = 0; i < w->s->own[by] && to; i++) to[i] = values[i];
    return TUTTI_OK;
}

/* Names of the variables of a kind of communication maps. */
typedef struct {
    int by, items_by;
    const char *ids, *state, *index, *items, *processors;
} map_names;

static tutti_err maps_write(writing *w, const map_names *n, const tutti__neighbour *map,
                            const int64_t *items) {
    const tutti__nemesis *s = w->s;
    int64_t *to = NULL;
    for (tutti_count k = 0; k < s->own[n->by]; k++) {
        TUTTI_TRY(number_add(w, n->ids, s->before[n->by] + k, map[k].rank + 1));
        TUTTI_TRY(number_add(w, n->state, s->before[n->by] + k, 1));
        TUTTI_TRY(
            number_add(w, n->index, s->before[n->by] + k, s->before[n->items_by] + map[k].hi));
        TUTTI_TRY(numbers_add(w, n->processors, s->before[n->items_by] + map[k].lo,
                              map[k].hi - map[k].lo, &to));
        for (tutti_count i = 0; i < map[k].hi - map[k].lo && to; i++) to[i] = map[k].rank;
    }
    return list_add(w, n->items, n->items_by, items);
}

tutti_err tutti__nemesis_add(const tutti__nemesis *s, const tutti__cdf *cdf,
                             tutti__values *values) {
    static const map_names nodes = {NODE_MAPS,         MAP_NODES,     "n_comm_ids", "n_comm_stat",
                                    "n_comm_data_idx", "n_comm_nids", "n_comm_proc"};
    static const map_names elements = {ELEMENT_MAPS,  MAP_ELEMENTS,      "e_comm_ids",
                                       "e_comm_stat", "e_comm_data_idx", "e_comm_eids",
                                       "e_comm_proc"};
    writing w = {.cdf = cdf, .s = s, .values = values};
    const tutti__borders *b = &s->b;
    const tutti__exodus_model *m = s->model;
    if (s->rank == 0) TUTTI_TRY(number_add(&w, "nem_ftype", 0, 1));
    for (int k = 0; k < WHOLES && s->rank == 0; k++)
        for (tutti_count c = 0; c < m->of[wholes[k].kind].n; c++) {
            const tutti_exodus_entity *row = &m->of[wholes[k].kind].row[c];
            TUTTI_TRY(number_add(&w, wholes[k].ids, c, row->id));
            TUTTI_TRY(number_add(&w, wholes[k].count, c, row->entries));
            if (wholes[k].factors) TUTTI_TRY(number_add(&w, wholes[k].factors, c, row->factors));
        }
    for (int k = 0; k < ENDS; k++) {
        const int by = ends[k].by;
        TUTTI_TRY(number_add(&w, ends[k].index, s->rank, s->before[by] + s->own[by]));
        if (ends[k].state) TUTTI_TRY(number_add(&w, ends[k].state, s->rank, s->own[by] > 0));
    }
    TUTTI_TRY(list_add(&w, "node_mapi", INT_NODES, b->nodes));
    TUTTI_TRY(list_add(&w, "node_mapb", BOR_NODES, b->nodes + b->internal_nodes));
    TUTTI_TRY(list_add(&w, "node_mape", EXT_NODES, b->nodes + b->internal_nodes + b->border_nodes));
    TUTTI_TRY(list_add(&w, "elem_mapi", INT_ELEMENTS, b->elements));
    TUTTI_TRY(list_add(&w, "elem_mapb", BOR_ELEMENTS, b->elements + b->internal_elements));
    TUTTI_TRY(maps_write(&w, &nodes, b->node_map, b->shared_nodes));
    TUTTI_TRY(maps_write(&w, &elements, b->element_map, b->shared_elements));
    return list_add(&w, "e_comm_sids", MAP_ELEMENTS, b->shared_sides);
}
