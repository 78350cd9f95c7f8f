/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Files whose counts in the header do not match any array are refused with the same error code on all ranks; no
 * memory is allocated according to such counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include "exodus/crafted.h"
#include "exodus/files.h"

static char path[600];

/* A mesh of one hexahedron. */
#define COORDINATES "x coordx d num_nodes;x coordy d num_nodes;x coordz d num_nodes;"
#define HEX                                                                                  \
    "d n8 8;d num_dim 3;d num_nodes 8;d num_elem 1;d num_el_blk 1;d num_el_in_blk1 1;"       \
    "d num_nod_per_el1 8;" COORDINATES "x connect1 i num_el_in_blk1 num_nod_per_el1;"        \
    "a connect1 elem_type HEX8;s connect1 0 1;s connect1 1 2;s connect1 2 3;s connect1 3 4;" \
    "s connect1 4 5;s connect1 5 6;s connect1 6 7;s connect1 7 8;"
/* A mesh of two polygons with four nodes each. */
#define POLYGONS                                                                                 \
    "d num_dim 2;d num_nodes 8;d num_elem 2;d num_el_blk 1;d num_el_in_blk1 2;"                  \
    "d num_nod_per_el1 8;x coordx d num_nodes;x coordy d num_nodes;"                             \
    "x connect1 i num_nod_per_el1;a connect1 elem_type nsided;x ebepecnt1 l num_el_in_blk1;"     \
    "s connect1 0 1;s connect1 1 2;s connect1 2 3;s connect1 3 4;s connect1 4 5;s connect1 5 6;" \
    "s connect1 6 7;s connect1 7 8;"
/* A polyhedron whose list contains the same face of 2,000 nodes 2,000 times. */
#define FACES                                                                              \
    "d num_dim 3;d num_nodes 8;d num_elem 1;d num_el_blk 1;d num_face 1;d num_fa_blk 1;"   \
    "d num_el_in_blk1 1;d num_fac_per_el1 2000;d num_fa_in_blk1 1;d num_nod_per_fa1 "      \
    "2000;" COORDINATES "x facconn1 b num_fac_per_el1;a facconn1 elem_type nfaced;"        \
    "x ebepecnt1 i num_el_in_blk1;x fbconn1 b num_nod_per_fa1;a fbconn1 elem_type nsided;" \
    "x fbepecnt1 i num_fa_in_blk1;s ebepecnt1 0 2000;s fbepecnt1 0 2000;"
#define STEPS                                                                             \
    "d time_step 0;d num_nod_var 1;x time_whole d time_step;x vals_nod_var1 d time_step " \
    "num_nodes;"

enum { OPENS = 1, MESH = 2 }; /* calls that succeed: only open, or also get_mesh */
static const struct {
    const char *what, *text;
    int good;
    tutti_count steps;
} cases[] = {
    {"right", HEX, MESH, 0},
    {"right, polygons", POLYGONS "s ebepecnt1 0 3;s ebepecnt1 1 5", MESH, 0},
    {"2^62 nodes, 8 coordinates", HEX "d num_nod2 1;l num_nodes 4611686018427387904", 0, 0},
    {"2^62 nodes without coordinates", "d num_dim 3;d num_nodes 4611686018427387904", 0, 0},
    {"coordinates of another dimension",
     "d n8 8;d num_dim 3;d num_nodes 4611686018427387904;x coordx d n8;x coordy d n8;x coordz d n8",
     0, 0},
    {"coord: 2^62 * 3 overflows", "d n8 8;d num_dim 3;d num_nodes 6148914691236517208;x coord d n8",
     0, 0},
    {"coordinates per time step",
     "d time_step 0;d num_dim 1;d num_nodes 1152921504606846976;x coordx b time_step num_nodes", 0,
     0},
    {"8 (2^61 + 1) nodes of elements are 8 in 64 bits",
     "d n8 8;d num_dim 3;d num_nodes 8;d num_elem 2305843009213693953;d num_el_blk 1;"
     "d num_el_in_blk1 2305843009213693953;d num_nod_per_el1 8;" COORDINATES "x connect1 i n8",
     0, 0},
    {"2^62 elements without connectivity",
     "d num_dim 3;d num_nodes 8;d num_elem 4611686018427387904;d num_el_blk 1;"
     "d num_el_in_blk1 4611686018427387904;d num_nod_per_el1 8;" COORDINATES,
     0, 0},
    {"an array of 2^63 - 4 bytes", HEX "d most 1;x far i most;l most 2305843009213693951", 0, 0},
    {"elements without a block", "d num_dim 3;d num_nodes 8;d num_elem 100;" COORDINATES, 0, 0},
    {"blocks that have more elements than the file", HEX "l num_elem 2", 0, 0},
    {"2^24 attributes without an array", HEX "d num_att_in_blk1 16777216", 0, 0},
    {"attributes of another shape", HEX "d num_att_in_blk1 16777216;x attrib1 d n8", 0, 0},
    {"2^24 attributes of nodes", HEX "d num_att_in_nblk 16777216", 0, 0},
    {"2^40 members without a list", HEX "d num_node_sets 1;d num_nod_ns1 1099511627776", 0, 0},
    {"members per time step",
     HEX "d time_step 0;d num_node_sets 1;d num_nod_ns1 1048576;x node_ns1 b time_step num_nod_ns1",
     0, 0},
    {"2^24 entities", "d num_dim 3;d num_el_blk 16777216", 0, 0},
    {"2^16 entities of 2^16 variables", "d num_dim 3;d num_node_sets 65536;d num_nset_var 65536", 0,
     0},
    {"65,535 sets that are not listed", HEX "d num_node_sets 65535", 0, 0},
    {"65,535 variables without names", HEX "d num_glo_var 65535", 0, 0},
    {"4,096 sets that are not listed", HEX "d num_node_sets 4096;d num_glo_var 4096", MESH, 0},
    {"sets that all have id 0", HEX "d num_node_sets 65535;x ns_prop1 i num_node_sets", MESH, 0},
    {"many small counts",
     HEX "d num_node_sets 3;d num_nod_ns1 30000;d num_nod_ns2 30000;d num_nod_ns3 30000", 0, 0},
    {"connectivity of reals", HEX "t connect1 f", OPENS, 0},
    {"counts of reals", POLYGONS "s ebepecnt1 0 3;s ebepecnt1 1 5;t ebepecnt1 f", OPENS, 0},
    {"lists of reals", POLYGONS "s ebepecnt1 0 3;s ebepecnt1 1 5;t connect1 f", OPENS, 0},
    {"coordinates of integers", HEX "t coordx i;t coordy i;t coordz i", OPENS, 0},
    {"node 0", HEX "s connect1 3 0", OPENS, 0},
    {"node 9 of 8", HEX "s connect1 3 9", OPENS, 0},
    {"a negative count", POLYGONS "s ebepecnt1 0 -4;s ebepecnt1 1 12", OPENS, 0},
    {"counts whose sum overflows",
     POLYGONS "s ebepecnt1 0 9223372036854775807;s ebepecnt1 1 9223372036854775807", OPENS, 0},
    {"counts beyond the list", POLYGONS "s ebepecnt1 0 4;s ebepecnt1 1 5", OPENS, 0},
    {"counts that do not reach the end", POLYGONS "s ebepecnt1 0 4;s ebepecnt1 1 3", OPENS, 0},
    {"a face 2,000 times", FACES, OPENS, 0},
    {"the file ends within the mesh", HEX "e -1", 0, 0},
    {"the mesh begins in the header", HEX "b coordx 8", 0, 0},
    {"steps", HEX STEPS "R 3", MESH, 3},
    {"the last step is incomplete", HEX STEPS "R 3;e -1", MESH, 2},
    {"more records than bytes", HEX STEPS "R 3;r 1000000", MESH, 3},
    {"2^62 records of no variable", HEX "d time_step 0;r 4611686018427387904", MESH, 0},
    {"2^62 records of some bytes", HEX STEPS "R 1;r 4611686018427387904", 0, 0},
};

static void make_file(const char *text) {
    size_t n = 0;
    unsigned char *bytes = crafted_file(text, strlen(text), &n);
    CHECK(bytes, "no file");
    file_put(path, bytes, (int64_t)n);
    free(bytes);
}

/* Read the connectivity, also after get_mesh has refused the mesh; the call may fail, but must not crash. */
static void read_arrays(tutti_exodus *x) {
    int64_t buf[8];
    const tutti_exodus_array connect = {.array_kind = TUTTI_EXODUS_CONNECTIVITY,
                                        .kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                        .id = 1,
                                        .n = 1,
                                        .type = TUTTI_INT64,
                                        .buf = buf};
    (void)!same_everywhere(tutti_exodus_get_arrays(x, 1, &connect));
}

static void try_case(size_t i) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *mesh = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    check_where(cases[i].what);
    make_file(cases[i].text);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &x),
               cases[i].good ? TUTTI_OK : TUTTI_ERR_FORMAT);
    if (!x) return;
    CHECK_EQ(tutti_exodus_steps(x), cases[i].steps);
    for (int by = TUTTI_EXODUS_BY_ORDER; by <= TUTTI_EXODUS_ON_ROOT; by++)
        if (by != TUTTI_EXODUS_BY_LIST)
            CHECK_SAME(
                tutti_exodus_get_mesh(x,
                                      &(tutti_exodus_distribution){
                                          .partitioner = (tutti_exodus_partitioner)by, .halo = 1},
                                      &mesh),
                cases[i].good == MESH ? TUTTI_OK : TUTTI_ERR_FORMAT);
    read_arrays(x);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1390);
    const char *shm = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/hostile.e", shm ? shm : getenv("TUTTI_TEST_DIR"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_case(i);
    return harness_end();
}
