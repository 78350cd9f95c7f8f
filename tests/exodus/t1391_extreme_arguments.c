/* TEST ranks=1,2,3,5,8 timeout=60 */
/* A halo of INT_MAX layers contains all connected elements; positions, counts and ids at the limits of 64-bit
 * integers are refused without overflow.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include "exodus/files.h"

static char path[600];
enum { CELLS = 40 };

/* Write a chain of bars, one part per rank. */
static void chain_write(void) {
    tutti_exodus *x = NULL;
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    const int lo = CELLS * rank / ranks, hi = CELLS * (rank + 1) / ranks, n = hi - lo;
    double v[CELLS + 1];
    int64_t id[CELLS + 1], element[CELLS], corner[2 * CELLS];
    for (int i = 0; i <= n; i++) {
        v[i] = lo + i;
        id[i] = lo + i + 1;
    }
    for (int i = 0; i < n; i++) {
        element[i] = lo + i + 1;
        corner[2 * i] = i;
        corner[2 * i + 1] = i + 1;
    }
    const tutti_exodus_entity block = {
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "BAR2"};
    const tutti_exodus_elements elements = {.n = n, .ids = element, .nodes = corner};
    const tutti_exodus_mesh mesh = {.nodes = n + 1,
                                    .node_ids = id,
                                    .type = TUTTI_FLOAT64,
                                    .coordinates = {v},
                                    .blocks = &elements};
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "chain", .dims = 1}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_define(x, 1, &block), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_mesh(x, &mesh), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

static void check_halos(tutti_exodus *x) {
    const tutti_exodus_mesh *mesh = NULL;
    for (int by = TUTTI_EXODUS_BY_ORDER; by <= TUTTI_EXODUS_BY_CURVE; by++) {
        const tutti_exodus_distribution deal = {.partitioner = (tutti_exodus_partitioner)by,
                                                .halo = INT_MAX};
        CHECK_SAME(tutti_exodus_get_mesh(x, &deal, &mesh), TUTTI_OK);
        if (mesh && mesh->blocks->n > 0) CHECK_EQ(mesh->blocks->n, CELLS);
    }
}

static void check_arguments(tutti_exodus *x) {
    static const tutti_count limits[] = {INT64_MIN, -1, CELLS, INT64_MAX};
    double buf[CELLS + 1];
    int of[CELLS] = {0};
    const tutti_exodus_mesh *mesh = NULL;
    tutti_decomposition *entries = NULL;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                          .kind = TUTTI_EXODUS_NODAL,
                                          .first = limits[i],
                                          .n = limits[j],
                                          .type = TUTTI_FLOAT64,
                                          .buf = buf};
            CHECK_SAME(tutti_exodus_get_arrays(x, 1, &a), TUTTI_ERR_ARG);
            CHECK_SAME(tutti_exodus_get_mesh(
                           x,
                           &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_LIST,
                                                        .first = limits[i],
                                                        .n = limits[j],
                                                        .rank = of},
                           &mesh),
                       TUTTI_ERR_ARG);
            CHECK(tutti_exodus_times(x, limits[i], limits[j], buf) != TUTTI_OK);
        }
    CHECK_SAME(tutti_exodus_get_arrays(x, INT64_MAX, &(tutti_exodus_array){.n = 0}), TUTTI_ERR_ARG);
    for (int i = 0; i < 4; i++) {
        const int64_t id[1] = {i == 2 ? 0 : limits[i]};
        const tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = 1, .ids = id};
        CHECK(same_everywhere(tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, &spec,
                                                         &entries)) != TUTTI_OK);
    }
}

int main(int argc, char **argv) {
    tutti_exodus *x = NULL;
    harness_begin(&argc, &argv, 1391);
    const char *shm = getenv("TUTTI_TEST_SHM");
    snprintf(path, sizeof path, "%s/extreme.e", shm ? shm : getenv("TUTTI_TEST_DIR"));
    chain_write();
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_OK);
    check_halos(x);
    check_arguments(x);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    return harness_end();
}
