/* TEST ranks=1,3 timeout=60 */
/* Several segments in one commit: a topology with its ids and the first states on it are committed atomically, in
 * one data file or in a file per segment; also after a failed commit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sqlite3.h>
#include "dataset/datasets.h"

static char path[512];

static double value(int64_t index, int64_t id) {
    return (double)(index * 100000 + id);
}

/* The entries of this rank of a topology: every ranks-th entry, in a decomposition by id. */
typedef struct {
    tutti_count n;
    int64_t *ids;
    double *v;
    tutti_decomposition *p;
} share;

static tutti_count size_of(int64_t t) {
    return 3000 + 977 * t;
}

static share share_of(tutti_dataset *d, tutti_count segment, int64_t t) {
    const tutti_count most = size_of(t) / ranks + 1;
    share s = {.ids = malloc((size_t)most * sizeof *s.ids),
               .v = malloc((size_t)most * sizeof *s.v)};
    for (tutti_count i = rank; i < size_of(t); i += ranks) s.ids[s.n++] = id_of(t, i);
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = s.n, .ids = s.ids};
    CHECK_SAME(tutti_decomposition_create_at(d, "nodes", segment, &spec, &s.p), TUTTI_OK);
    return s;
}

static void share_free(share *s) {
    tutti_decomposition_free(&s->p);
    free(s->ids);
    free(s->v);
}

static void put_values(tutti_dataset *d, share *s, int64_t index) {
    for (tutti_count i = 0; i < s->n; i++) s->v[i] = value(index, s->ids[i]);
    const tutti_put both[] = {{"u", s->p, TUTTI_FLOAT64, s->v}, {"w", s->p, TUTTI_FLOAT64, s->v}};
    CHECK_SAME(tutti_dataset_put(d, 2, both), TUTTI_OK);
}

/* Write topology t at index 10 t and the states 10 t and 10 t + 1, without a commit. */
static void write_topology(tutti_dataset *d, int64_t t) {
    const tutti_count lo = size_of(t) * rank / ranks, hi = size_of(t) * (rank + 1) / ranks;
    int64_t *ids = malloc((size_t)(hi - lo) * sizeof *ids + 8);
    const tutti_count first = tutti_dataset_segments(d);
    tutti_info_owner of = {NULL, first};
    for (tutti_count i = lo; i < hi; i++) ids[i - lo] = id_of(t, i);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 10 * t, 0), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 10 * t, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_ids(d, "nodes", hi - lo, ids), TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, &of, "why", TUTTI_BYTES, 5, "finer"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_TOPOLOGY, 10 * t, 0), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 10 * t, 0), TUTTI_OK);
    share s = share_of(d, -1, t);
    put_values(d, &s, 10 * t);
    CHECK_SAME(tutti_dataset_begin_also(d, TUTTI_STATE, 10 * t + 1, 0), TUTTI_OK);
    put_values(d, &s, 10 * t + 1);
    of.segment = first + 2;
    CHECK_SAME(tutti_dataset_info_set(d, &of, "why", TUTTI_BYTES, 4, "next"), TUTTI_OK);
    CHECK_EQ(tutti_dataset_segments(d), first);
    share_free(&s);
    free(ids);
}

static void check_values(tutti_dataset *d, tutti_count segment, int64_t t, int64_t index) {
    static const char *const names[] = {"u", "w"};
    share s = share_of(d, segment, t);
    for (int k = 0; k < 2; k++) {
        int wrong = 0;
        const tutti_get get = {names[k], s.p, TUTTI_FLOAT64, s.v};
        CHECK_SAME(tutti_dataset_get(d, segment, 1, &get), TUTTI_OK);
        for (tutti_count i = 0; i < s.n; i++) wrong += s.v[i] != value(index, s.ids[i]);
        CHECK(wrong == 0, "%s at index %lld: %d wrong", names[k], (long long)index, wrong);
    }
    share_free(&s);
}

static void check_dataset(tutti_dataset *d, tutti_count times) {
    CHECK_EQ(tutti_dataset_segments(d), 3 * times);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    for (tutti_count t = 0; t < times; t++) {
        char why[8] = "";
        tutti_type type;
        tutti_count capacity = sizeof why;
        const tutti_info_owner topology = {NULL, 3 * t}, last = {NULL, 3 * t + 2};
        tutti_segment g;
        CHECK_SAME(tutti_dataset_info_get(d, &topology, "why", &type, &capacity, why), TUTTI_OK);
        CHECK(strcmp(why, "finer") == 0, "'%s'", why);
        capacity = sizeof why;
        memset(why, 0, sizeof why);
        CHECK_SAME(tutti_dataset_info_get(d, &last, "why", &type, &capacity, why), TUTTI_OK);
        CHECK(strcmp(why, "next") == 0, "'%s'", why);
        CHECK_OK(tutti_dataset_segment(d, 3 * t + 2, &g));
        CHECK_EQ(g.topology, 3 * t);
        check_values(d, 3 * t + 1, t, 10 * t);
        check_values(d, 3 * t + 2, t, 10 * t + 1);
    }
}

/* Check that a commit fails while another connection has locked the database. */
static void commit_fails(tutti_dataset *d) {
    char name[600];
    sqlite3 *other = NULL;
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (rank == 0) {
        CHECK_EQ(sqlite3_open(name, &other), SQLITE_OK);
        CHECK_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    }
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    if (rank == 0) CHECK_EQ(sqlite3_close(other), SQLITE_OK);
}

static void run_case(int indices_per_file, int checksums) {
    const tutti_variable_spec u = {.space = "nodes", .type = TUTTI_FLOAT64};
    const tutti_variable_spec w = {.space = "nodes", .type = TUTTI_FLOAT64, .layout = TUTTI_RANKED};
    tutti_dataset_options opt = visible();
    tutti_dataset *d = NULL, *reader = NULL;
    char where[80];
    int changed = 0;
    snprintf(where, sizeof where, "%d indices a file, checksums %d", indices_per_file, checksums);
    check_where(where);
    opt.indices_per_file = indices_per_file;
    opt.checksums = checksums;
    opt.lock_timeout = 0.05;
    dataset_remove(path);
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(d, "nodes"), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "u", &u), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, "w", &w), TUTTI_OK);
    write_topology(d, 0);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    write_topology(d, 0);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &reader), TUTTI_OK);
    check_dataset(reader, 1);
    write_topology(d, 1);
    CHECK_SAME(tutti_dataset_refresh(reader, &changed), TUTTI_OK);
    CHECK_EQ(changed, 0);
    commit_fails(d);
    CHECK_EQ(tutti_dataset_segments(d), 3);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_refresh(reader, &changed), TUTTI_OK);
    CHECK_EQ(changed, 1);
    check_dataset(reader, 2);
    write_topology(d, 2); /* these segments are not committed */
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_refresh(reader, &changed), TUTTI_OK);
    CHECK_EQ(changed, 0);
    check_dataset(reader, 2);
    CHECK_SAME(tutti_dataset_close(&reader), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1282);
    snprintf(path, sizeof path, "%s/t1282.tutti", check_dir());
    run_case(0, 1);
    run_case(1, 1);
    run_case(10, 0);
    dataset_remove(path);
    return harness_end();
}
