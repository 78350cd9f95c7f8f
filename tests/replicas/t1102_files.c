/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Every rule writes the same file by every method, and all copies are read back: by blocking, planned, split
 * and non-blocking calls, at any offset, from values with gaps in memory; also on fewer ranks than wrote
 * the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/held.h"

static char path[512];
static held h;
static mine_of m;

/* Check that the file contains `at` zeros followed by all items. */
static void file_right(tutti_off at, const char *what) {
    int64_t n = 0;
    unsigned char *items = held_file(&h, m.spec.value_bytes, &n);
    unsigned char *want = calloc(1, (size_t)(at + n) + 1);
    memcpy(want + at, items, (size_t)n);
    file_is(path, want, at + n, what);
    free(items);
    free(want);
}

static void values_right(const unsigned char *got, const char *what) {
    unsigned char *want = held_values(&m);
    CHECK(!memcmp(got, want, (size_t)m.bytes), "%s: values read", what);
    free(want);
}

static unsigned char *blank(void) {
    unsigned char *v = malloc((size_t)m.bytes + 1);
    memset(v, 0x5a, (size_t)m.bytes + 1);
    return v;
}

static void rules_and_methods(void) {
    enum { METHODS = 5 };
    static const char *const methods[METHODS] = {"method=independent", "method=list",
                                                 "method=two-phase", "method=auto", "method=root"};
    for (int rule = 0; rule < 5; rule++) {
        tutti_replicas *r = NULL;
        held_random(&h, 300, rule % 2 ? SPREAD : SLABS, CLUSTERS, rule == 2 ? 0 : 4);
        held_mine(&h, 3 + rule, rule != 1, rule == 3, &m);
        m.spec.items = h.n; /* numbers have gaps */
        m.spec.choice =
            (tutti_replicas_choice){.rule = (tutti_replicas_rule)rule, .balance = rule ? 0 : 1.1};
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
        unsigned char *v = held_values(&m);
        tutti_file *f = open_with(path, rule % 2 ? "nodes=2" : "");
        for (int k = 0; k < METHODS; k++) {
            char where[80];
            const tutti_off at = k % 2 ? 1000 + rule : 0;
            const tutti_options opt = options_of(methods[k]);
            CHECK_SAME(tutti_file_change(f, &opt), TUTTI_OK);
            CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
            unsigned char *got = blank();
            snprintf(where, sizeof where, "rule %d, %s", rule, methods[k]);
            check_where(where);
            CHECK_SAME(tutti_replicas_write(f, at, r, v, k % 2 ? TUTTI_REPLICAS_CHECK : 0),
                       TUTTI_OK);
            file_right(at, where);
            CHECK_SAME(tutti_replicas_read(f, at, r, got), TUTTI_OK);
            values_right(got, where);
            free(got);
        }
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        free(v);
        tutti_replicas_free(&r);
    }
}

/* The accesses of an inspector can be used in any call. */
static void other_calls(void) {
    tutti_replicas *r = NULL;
    tutti_plan *p = NULL;
    tutti_request *q = NULL;
    tutti_access *moved = NULL;
    tutti_off count = 0;
    held_random(&h, 200, SPREAD, GAPS, 3);
    held_mine(&h, 8, 1, 0, &m);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
    const tutti_access *w = tutti_replicas_write_access(r), *g = tutti_replicas_read_access(r);
    unsigned char *v = held_values(&m), *got = blank();
    tutti_file *f = open_with(path, "");
    check_where("other calls");
    CHECK_SAME(tutti_plan_write(f, w, &p), TUTTI_OK);
    CHECK_SAME(tutti_plan_run(p, v, 77, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(w));
    tutti_plan_free(&p);
    file_right(77, "plan");
    CHECK_SAME(tutti_file_write_begin(f, w, v), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    CHECK_OK(tutti_access_shift(g, 0, 0, &moved));
    CHECK(tutti_access_equal(g, moved), "not moved at all");
    tutti_access_free(&moved);
    CHECK_SAME(tutti_file_read_start(f, g, got, &q), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&q, &count), TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(g));
    values_right(got, "started");
    /* write with the access shifted in the file and in memory */
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    CHECK_OK(tutti_access_shift(w, 500, 16, &moved));
    CHECK_SAME(tutti_file_write(f, moved, v - 16, NULL), TUTTI_OK);
    tutti_access_free(&moved);
    file_right(500, "moved");
    if (m.spec.n > 0) {
        CHECK_ERR(tutti_access_shift(g, -tutti_replicas_bytes(r) - 1, 0, &moved), TUTTI_ERR_ARG);
        CHECK_ERR(tutti_access_shift(g, INT64_MAX, 0, &moved), TUTTI_ERR_OVERFLOW);
        CHECK_ERR(tutti_access_shift(g, 0, INT64_MIN, &moved), TUTTI_ERR_OVERFLOW);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_replicas_free(&r);
    free(v);
    free(got);
}

/* The first half of the ranks reads the data of all ranks, with other items per rank. */
static void on_fewer(void) {
    const int some = (ranks + 1) / 2, all = ranks;
    tutti_replicas *r = NULL;
    tutti_file *f = NULL;
    MPI_Comm part;
    held_random(&h, 150, SLABS, DENSE, 3);
    held_mine(&h, 8, 0, 0, &m);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
    unsigned char *v = held_values(&m);
    f = open_with(path, "");
    CHECK_SAME(tutti_replicas_write(f, 0, r, v, TUTTI_REPLICAS_CHECK), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_replicas_free(&r);
    free(v);
    MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &part);
    if (part == MPI_COMM_NULL) return;
    check_where("on fewer ranks");
    ranks = some;
    for (int i = 0; i < h.n; i++) { /* item i is on rank i % some and on the next one */
        h.start[i] = 2 * i;
        h.holder[2 * i] = i % some;
        h.holder[2 * i + 1] = (i + 1) % some;
    }
    h.start[h.n] = 2 * h.n;
    held_mine(&h, 8, 1, 0, &m);
    unsigned char *got = blank();
    CHECK_OK(tutti_replicas_create(part, &m.spec, &r));
    CHECK_OK(tutti_file_open(part, path, TUTTI_READ, NULL, &f));
    CHECK_OK(tutti_replicas_read(f, 0, r, got));
    values_right(got, "read");
    CHECK_OK(tutti_file_close(&f));
    tutti_replicas_free(&r);
    MPI_Comm_free(&part);
    free(got);
    ranks = all;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1102);
    snprintf(path, sizeof path, "%s/t1102.dat", check_dir());
    rules_and_methods();
    other_calls();
    on_fewer();
    file_remove(path);
    return harness_end();
}
