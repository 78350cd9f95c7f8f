/* TEST ranks=1,2,3,5 timeout=120 */
/* Decompositions of a list by value (through its ids), by index and by both: data written with one decomposition
 * is read with another.  Writing with a decomposition of an older topology is refused; reading older segments works.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include <tutti/dataset.h>

enum { EACH = 12 };
static tutti_dataset *d;

/* Return the id at a position of a list of `n` entries; lists of different sizes have different ids. */
static int64_t id_at(tutti_count position, tutti_count n) {
    return (position * 7 + 3) % n * 1000 + n; /* 7 is prime to n */
}

static tutti_decomposition *decompose_list(tutti_decomposition_kind kind, tutti_count n,
                                           tutti_count segment, tutti_err code) {
    static tutti_count index[2 * EACH];
    static int64_t ids[2 * EACH];
    tutti_decomposition *p = NULL;
    const tutti_count each = n / ranks;
    /* entries are in descending order; block r of the file belongs to rank r - 1 */
    for (tutti_count i = 0; i < each; i++) {
        index[i] = each * ((rank + 1) % ranks) + each - 1 - i;
        ids[i] = id_at(index[i], n);
    }
    const tutti_decomposition_spec spec = {.kind = kind,
                                           .n = each,
                                           .index = kind == TUTTI_BY_VALUE ? NULL : index,
                                           .ids = kind == TUTTI_BY_INDEX ? NULL : ids,
                                           .whole = 1};
    CHECK_SAME(tutti_decomposition_create_at(d, "nodes", segment, &spec, &p), code);
    return p;
}

static void put_values(int64_t index, tutti_count n, tutti_decomposition *p, tutti_err code) {
    double u[2 * EACH];
    tutti_count at[2 * EACH];
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, (double)index), TUTTI_OK);
    if (code == TUTTI_OK) {
        CHECK_EQ(tutti_decomposition_entries(p), n / ranks);
        CHECK_OK(tutti_decomposition_positions(p, at));
        for (tutti_count i = 0; i < n / ranks; i++) u[i] = 1000.0 * (double)index + (double)at[i];
    }
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"u", p, TUTTI_FLOAT64, u}), code);
    if (code == TUTTI_OK)
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    else
        CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
}

static void commit_topology(int64_t index, tutti_count n) {
    int64_t ids[2 * EACH];
    for (tutti_count i = 0; i < n / ranks; i++) ids[i] = id_at(n / ranks * rank + i, n);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, index, (double)index), TUTTI_OK);
    CHECK_SAME(tutti_dataset_ids(d, "nodes", n / ranks, ids), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

/* Read the state with this index by a decomposition in rank order, and check its values. */
static void check_contents(int64_t index, tutti_count n) {
    double u[2 * EACH];
    tutti_count segment = -1;
    tutti_decomposition *p = NULL;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = n / ranks, .whole = 1};
    CHECK_SAME(tutti_dataset_find_index(d, TUTTI_STATE, index, &segment), TUTTI_OK);
    CHECK_SAME(tutti_decomposition_create_at(d, "nodes", segment, &spec, &p), TUTTI_OK);
    CHECK_SAME(tutti_dataset_get(d, segment, 1, &(tutti_get){"u", p, TUTTI_FLOAT64, u}), TUTTI_OK);
    for (tutti_count i = 0; i < n / ranks; i++)
        CHECK(u[i] == 1000.0 * (double)index + (double)(n / ranks * rank + i), "entry %lld is %g",
              (long long)i, u[i]);
    tutti_decomposition_free(&p);
}

int main(int argc, char **argv) {
    char path[512];
    harness_begin(&argc, &argv, 1253);
    const tutti_count small = (tutti_count)EACH * ranks, large = 2 * small;
    snprintf(path, sizeof path, "%s/t1253.tutti", check_dir());
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL,
                                  &d),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(
                   d, "u", &(tutti_variable_spec){.space = "nodes", .type = TUTTI_FLOAT64}),
               TUTTI_OK);
    check_where("no topology yet");
    CHECK(!decompose_list(TUTTI_BY_INDEX, small, -1, TUTTI_ERR_STATE),
          "a decomposition of nothing");
    check_where("the first topology");
    commit_topology(0, small);
    tutti_decomposition *first = decompose_list(TUTTI_BY_VALUE, small, -1, TUTTI_OK), *next = NULL;
    put_values(0, small, first, TUTTI_OK);
    check_contents(0, small);
    check_where("the second topology");
    commit_topology(1, large);
    put_values(1, small, first, TUTTI_ERR_STATE);
    CHECK(!decompose_list(TUTTI_BY_BOTH, small, -1, TUTTI_ERR_ARG), "ids of the first");
    next = decompose_list(TUTTI_BY_BOTH, large, -1, TUTTI_OK);
    put_values(2, large, next, TUTTI_OK);
    check_contents(2, large);
    check_contents(0, small);
    check_where("asking for what is not there");
    tutti_decomposition *p = NULL;
    const tutti_decomposition_spec none = {.kind = TUTTI_BY_INDEX};
    CHECK_SAME(tutti_decomposition_create(d, "elements", &none, &p), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_decomposition_create(d, NULL, &none, &p), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_decomposition_create(d, "nodes", rank ? &none : NULL, &p), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_decomposition_create_at(d, "nodes", 99, &none, &p), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_decomposition_create(d, "nodes", &none, &p), TUTTI_OK);
    tutti_decomposition_free(&p);
    if (ranks > 1) {
        const tutti_err err = rank == 0 ? tutti_decomposition_create(d, "nodes", &none, &p)
                                        : tutti_dataset_begin(d, TUTTI_STATE, 9, 9);
        CHECK_EQ(err, TUTTI_ERR_MISMATCH);
        CHECK(strstr(tutti_last_message(), "called tutti_decomposition_create"), "%s",
              tutti_last_message());
    }
    tutti_decomposition_free(&first);
    tutti_decomposition_free(&next);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    return harness_end();
}
