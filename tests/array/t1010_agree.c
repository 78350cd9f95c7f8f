/* TEST ranks=1,3 timeout=120 */
/* Agreement of the ranks of an array: if arguments differ, or only one rank passes NULL, all ranks
 * return the same error and nothing is done; budgets may differ; elements that a tile iteration has
 * written are visible to later reads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"
#include "collective/find.h"

static char path[512], other[520], third[520];
static const tutti_array_spec spec = {.ndims = 2, .shape = {40, 30}, .type = TUTTI_INT32};
enum { N = 40 * 30 };

static int last(void) {
    return rank == ranks - 1;
}

static tutti_array *create_objects(const char *name, const char *options) {
    const tutti_options opt = options_of(options);
    tutti_array *a = NULL;
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, name, &spec, &opt, &a), TUTTI_OK);
    return a;
}

static tutti_distribution *rows(tutti_dist_kind kind) {
    const tutti_dist_dim dims[2] = {{kind, ranks, 2, NULL}, {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_distribution *d = NULL;
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    return d;
}

/* Return a slice that contains all elements on rank 0, and none on other ranks. */
static tutti_slice all_on_root(void) {
    tutti_slice s = tutti_slice_all(2, spec.shape);
    if (rank > 0) s.hi[0] = 0;
    return s;
}

static void put_values(tutti_array *a, int32_t from) {
    int32_t v[N];
    const tutti_slice s = all_on_root();
    for (int i = 0; i < N; i++) v[i] = from + i;
    CHECK_SAME(tutti_array_write(a, &s, NULL, v), TUTTI_OK);
}

/* Check that element i has the value from + step * i. */
static void check_holds(tutti_array *a, int32_t from, int step) {
    int32_t v[N] = {0};
    const tutti_slice s = all_on_root();
    int wrong = 0;
    CHECK_SAME(tutti_array_read(a, &s, NULL, v), TUTTI_OK);
    for (int i = 0; i < N && rank == 0; i++) wrong += v[i] != from + step * i;
    CHECK_EQ(wrong, 0);
}

static void close_all(tutti_array *a, tutti_array *b) {
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
}

/* ---- copies */

static void test_budgets(void) {
    tutti_array *a = create_objects(path, ""), *b = create_objects(other, "");
    check_where("budgets");
    for (int i = 0; i < 3; i++) {
        const tutti_off budget[] = {200 * (rank + 1), 5000 / (rank + 1), last() ? 4 : 1 << 20};
        put_values(a, 7 + i);
        CHECK_SAME(tutti_array_copy(a, b, budget[i], NULL, NULL), TUTTI_OK);
        check_holds(b, 7 + i, 1);
    }
    CHECK_SAME(tutti_array_copy(a, b, last() ? 3 : 1000, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_array_copy(a, last() ? NULL : b, 1000, NULL, NULL), TUTTI_ERR_ARG);
    if (ranks > 1) {
        tutti_array *c = create_objects(third, "");
        CHECK_SAME(tutti_array_copy(a, last() ? b : c, 1000, NULL, NULL), TUTTI_ERR_MISMATCH);
        CHECK(strstr(tutti_last_message(), "disagree"), "%s", tutti_last_message());
        check_holds(c, 0, 0);
        CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    }
    check_holds(b, 9, 1);
    close_all(a, b);
}

static int is_there(const char *name) {
    return access(name, F_OK) == 0;
}

/* The intermediate file of a copy gets an unused name and is removed. */
static void test_between(void) {
    static const char *const local = "a letter";
    char taken[540], next[540], part[600];
    tutti_array *a = NULL, *b = NULL;
    tutti_distribution *d = rows(TUTTI_DIST_BLOCK), *e = rows(TUTTI_DIST_CYCLIC);
    check_where("between");
    snprintf(taken, sizeof taken, "%s.copy", other);
    snprintf(next, sizeof next, "%s.copy.1", other);
    if (rank == 0) {
        FILE *f = fopen(taken, "w");
        CHECK(f && fputs(local, f) >= 0 && fclose(f) == 0, "%s", taken);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, d, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, other, &spec, e, NULL, &b), TUTTI_OK);
    const int32_t element = 5;
    int32_t v[N] = {0};
    CHECK_SAME(tutti_array_fill(a, &element), TUTTI_OK);
    CHECK_SAME(tutti_array_copy(a, b, 300 * (rank + 1), NULL, NULL), TUTTI_OK);
    CHECK_SAME(tutti_array_read_part(b, e, NULL, NULL, v), TUTTI_OK);
    const tutti_count n = tutti_distribution_part(e, rank, NULL);
    for (tutti_count i = 0; i < n; i++) CHECK_EQ(v[i], element);
    close_all(a, b);
    if (rank == 0) {
        int64_t bytes = 0;
        unsigned char *have = file_bytes(taken, &bytes);
        CHECK(bytes == (int64_t)strlen(local) && memcmp(have, local, (size_t)bytes) == 0,
              "somebody's file has been overwritten");
        free(have);
        CHECK(!is_there(next), "%s is left", next);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(part, sizeof part, "%s.%d", i ? other : path, rank);
        CHECK(unlink(part) == 0, "%s", part);
    }
    file_remove(taken);
    tutti_distribution_free(&d);
    tutti_distribution_free(&e);
}

/* ---- parts */

static void parts_refused(tutti_array *a, const tutti_distribution *d, const tutti_slice *within) {
    int32_t v[N];
    memset(v, 1, sizeof v);
    CHECK_SAME(tutti_array_write_part(a, d, within, NULL, v), TUTTI_ERR_MISMATCH);
    CHECK(strstr(tutti_last_message(), "disagree"), "%s", tutti_last_message());
    CHECK_SAME(tutti_array_read_part(a, d, within, NULL, v), TUTTI_ERR_MISMATCH);
    for (int i = 0; i < N; i++) CHECK_EQ(v[i], 0x01010101);
}

static void test_parts(void) {
    tutti_array *a = create_objects(path, "");
    tutti_distribution *d = rows(TUTTI_DIST_BLOCK), *e = rows(TUTTI_DIST_CYCLIC);
    int32_t v[N];
    check_where("parts");
    put_values(a, 100);
    for (int i = 0; i < 12 && ranks > 1; i++) { /* plans are new, then cached */
        tutti_slice within = tutti_slice_all(2, spec.shape);
        parts_refused(a, last() ? d : e, NULL);
        parts_refused(a, d, last() ? &within : NULL);
        within.hi[0] = 40 - last();
        tutti_distribution *part = NULL;
        const tutti_dist_dim dims[2] = {{TUTTI_DIST_BLOCK, ranks, 0, NULL},
                                        {TUTTI_DIST_NONE, 1, 0, NULL}};
        tutti_count shape[2];
        tutti_slice_count(2, &within, shape);
        CHECK_OK(tutti_distribution_make(2, shape, dims, &part));
        parts_refused(a, part, &within);
        tutti_distribution_free(&part);
        CHECK_SAME(tutti_array_read_part(a, e, NULL, NULL, v), TUTTI_OK); /* a correct call works */
        CHECK_SAME(tutti_array_write_part(a, e, NULL, NULL, v), TUTTI_OK);
        if (check_failures_) break;
    }
    check_holds(a, 100, 1);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    tutti_distribution_free(&d);
    tutti_distribution_free(&e);
}

/* ---- opening */

static void test_opening(void) {
    tutti_array *a = create_objects(path, "");
    tutti_array_spec more = spec;
    check_where("opening");
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    more.shape[0] = 20;
    if (ranks == 1) return;
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, last() ? &spec : NULL, NULL, &a),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(
        tutti_array_open_raw(MPI_COMM_WORLD, path, TUTTI_READ, last() ? &spec : &more, NULL, &a),
        TUTTI_ERR_MISMATCH);
    CHECK_SAME(
        tutti_array_open(MPI_COMM_WORLD, path, last() ? TUTTI_READ : TUTTI_WRITE, NULL, NULL, &a),
        TUTTI_ERR_MISMATCH);
    tutti_distribution *d = rows(TUTTI_DIST_BLOCK), *e = rows(TUTTI_DIST_CYCLIC);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, last() ? d : e, NULL, &a),
               TUTTI_ERR_MISMATCH);
    CHECK(a == NULL, "an array after an error");
    tutti_distribution_free(&d);
    tutti_distribution_free(&e);
}

/* Every rank can query the description of an array. */
static void inspect_object(void) {
    char part[600];
    tutti_count bounds[17];
    tutti_distribution *d = NULL, *seen = NULL;
    tutti_array *a = NULL;
    tutti_array_spec s;
    check_where("inspect");
    for (int r = 0; r <= ranks; r++) bounds[r] = r == ranks ? 40 : 2 * r;
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_RAGGED, ranks, 0, bounds},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, d, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_OK(tutti_array_inspect(path, NULL, &s, &seen));
    CHECK(s.ndims == 2 && s.shape[0] == 40 && s.shape[1] == 30 && s.type == TUTTI_INT32, "%d", 0);
    CHECK_EQ(tutti_distribution_ranks(seen), ranks);
    for (int r = 0; r < ranks; r++)
        CHECK_EQ(tutti_distribution_part(seen, r, NULL), tutti_distribution_part(d, r, NULL));
    tutti_distribution_free(&seen);
    CHECK_OK(tutti_array_inspect(path, NULL, &s, NULL));
    if (ranks > 1)
        CHECK_ERR(tutti_array_open(MPI_COMM_SELF, path, TUTTI_READ, NULL, NULL, &a),
                  TUTTI_ERR_MISMATCH);
    snprintf(part, sizeof part, "%s.%d", path, rank);
    CHECK_OK(tutti_array_inspect(part, NULL, &s, &seen)); /* a part can be opened as an array */
    CHECK(seen == NULL && s.shape[0] == bounds[rank + 1] - bounds[rank], "part %d", rank);
    CHECK(truncate(part, 100) == 0, "truncate");
    CHECK_ERR(tutti_array_inspect(part, NULL, &s, &seen), TUTTI_ERR_FORMAT);
    CHECK_ERR(tutti_array_inspect(NULL, NULL, &s, &seen), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_array_inspect(path, NULL, NULL, &seen), TUTTI_ERR_ARG);
    CHECK(unlink(part) == 0, "%s", part);
    CHECK_ERR(tutti_array_inspect(part, NULL, &s, &seen), TUTTI_ERR_NOT_FOUND);
    tutti_distribution_free(&d);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- different calls */

static void test_calls(void) {
    tutti_array *a = create_objects(path, ""), *b = create_objects(other, "");
    const tutti_slice s = all_on_root();
    const int32_t one = 1;
    int32_t v[N];
    check_where("calls");
    put_values(a, 3);
    for (int i = 0; i < 12 && ranks > 1; i++) { /* the ranks agree by votes, then by consensus */
        CHECK_ERR(last() ? tutti_array_fill(a, &one) : tutti_array_resize(a, 40),
                  TUTTI_ERR_MISMATCH);
        CHECK_ERR(last() ? tutti_array_fill(a, &one) : tutti_array_read(a, &s, NULL, v),
                  TUTTI_ERR_MISMATCH);
        CHECK_ERR(last() ? tutti_array_prefetch(a, &s) : tutti_array_copy(a, b, 1000, NULL, NULL),
                  TUTTI_ERR_MISMATCH);
        tutti_array *c = a;
        CHECK_ERR(last() ? tutti_array_sync(a) : tutti_array_close(&c), TUTTI_ERR_MISMATCH);
        CHECK(c == a, "closed all the same");
    }
    check_holds(a, 3, 1);
    close_all(a, b);
}

/* ---- tile iterations */

static tutti_slice my_rows(void) {
    tutti_slice s = tutti_slice_all(2, spec.shape);
    s.lo[0] = 40 * rank / ranks;
    s.hi[0] = 40 * (rank + 1) / ranks;
    return s;
}

static void test_walks(void) {
    tutti_array *a = create_objects(path, ""), *b = create_objects(other, ""),
                *c = create_objects(third, "");
    const tutti_slice local = my_rows();
    const tutti_tiles_spec s = {.budget = 100000, .region = &local, .tile = {4, 30}};
    tutti_tiles_spec alone = s;
    tutti_tiles *t = NULL;
    tutti_tile tile;
    check_where("walks");
    alone.sequential = 1;
    CHECK_SAME(tutti_tiles_begin(a, b, last() ? NULL : &s, &t), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_tiles_begin(a, b, &s, last() ? NULL : &t), TUTTI_ERR_ARG);
    if (ranks > 1) {
        CHECK_SAME(tutti_tiles_begin(a, last() ? NULL : b, &s, &t), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_tiles_begin(a, last() ? a : b, &s, &t), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_tiles_begin(a, last() ? c : b, &s, &t), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_tiles_begin(a, b, last() ? &alone : &s, &t), TUTTI_ERR_MISMATCH);
    }
    CHECK(t == NULL, "a walk after an error");
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(tutti_tiles_begin(a, b, i ? &alone : &s, &t), TUTTI_OK);
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
        CHECK_SAME(tutti_tiles_next(t, last() ? NULL : &tile), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_ERR_ARG); /* the iteration has ended */
        CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
    }
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    close_all(a, b);
}

/* Calls that read within a tile iteration: each rank sees all earlier tiles. */
enum { READ, READ_PART, PREFETCH, COPY, SECOND_WALK, WAYS };

static void check_contents(tutti_array *to, tutti_array *aside, int way, const tutti_slice *s,
                           int32_t *v) {
    tutti_distribution *d = NULL;
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_NONE, 1, 0, NULL}, {TUTTI_DIST_NONE, 1, 0, NULL}};
    const tutti_slice all = tutti_slice_all(2, spec.shape);
    tutti_count shape[2];
    tutti_tiles *t = NULL;
    tutti_tile tile;
    switch (way) {
    case READ_PART:
        (void)tutti_slice_count(2, &all, shape);
        CHECK_OK(tutti_distribution_make(2, shape, dims, &d));
        CHECK_SAME(tutti_array_read_part(to, d, NULL, NULL, v), TUTTI_OK);
        tutti_distribution_free(&d);
        if (rank > 0) CHECK_OK(tutti_array_read_independent(to, s, NULL, v));
        return;
    case PREFETCH:
        CHECK_SAME(tutti_array_prefetch(to, s), TUTTI_OK);
        break;
    case COPY:
        CHECK_SAME(tutti_array_copy(to, aside, 2000, NULL, NULL), TUTTI_OK);
        to = aside;
        break;
    case SECOND_WALK: {
        const tutti_tiles_spec w = {.budget = 100000, .tile = {40, 30}};
        CHECK_SAME(tutti_tiles_begin(to, NULL, &w, &t), TUTTI_OK);
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
        memcpy(v, tile.in, N * sizeof *v);
        CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
        return;
    }
    default:
        break;
    }
    CHECK_SAME(tutti_array_read(to, s, NULL, v), TUTTI_OK);
}

static int writes_under_way(tutti_array *a) {
    int n = 0;
    for (const tutti_request *r = tutti_array_file(a)->requests.first; r; r = r->next.of_file)
        n += r->op.is_write;
    return n;
}

static void visible(int in_place, int way, const char *options) {
    tutti_array *a = create_objects(path, options),
                *b = in_place ? a : create_objects(other, options);
    tutti_array *aside = create_objects(third, "");
    const tutti_slice local = my_rows(), all = tutti_slice_all(2, spec.shape);
    const tutti_tiles_spec s = {.budget = 100000, .region = &local, .tile = {4, 30}};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    int32_t v[N];
    check_where(options);
    CHECK_SAME(tutti_tiles_begin(a, b, &s, &t), TUTTI_OK);
    for (int k = 0;; k++) {
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
        memset(v, 0, sizeof v);
        if (k > 0) CHECK_EQ(writes_under_way(b), 1); /* the fault delays the write */
        check_contents(b, aside, way, &all, v);
        CHECK_EQ(writes_under_way(b), 0);
        for (int r = 0; r < ranks; r++)
            for (int i = 40 * r / ranks; i < 40 * (r + 1) / ranks; i++) {
                const int done = i - 40 * r / ranks < 4 * k;
                CHECK(v[30 * i] == (done ? 1 + i : 0), "way %d, tile %d: row %d is %d", way, k, i,
                      v[30 * i]);
            }
        if (!tile.more || check_failures_) break;
        int32_t *out = tile.out;
        for (tutti_count i = tile.core.lo[0]; i < tile.core.hi[0]; i++)
            for (int j = 0; j < 30; j++) *out++ = 1 + (int32_t)i;
    }
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
    if (!in_place) CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
    close_all(a, aside);
}

/* If another call completes the write of a tile, its error is returned by the tile iteration. */
static void report_error_of_completed_tile(void) {
    tutti_array *a = create_objects(path, ""), *b = create_objects(other, "fault=0:write:3:EIO");
    const tutti_slice local = my_rows(), none = {.stride = {1, 1}};
    const tutti_tiles_spec s = {.budget = 100000, .region = &local, .tile = {4, 30}};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_err err = TUTTI_OK;
    check_where("error of a completed tile");
    CHECK_SAME(tutti_tiles_begin(a, b, &s, &t), TUTTI_OK);
    do {
        err = same_everywhere(tutti_tiles_next(t, &tile));
        if (err != TUTTI_OK || !tile.more) break;
        memset(tile.out, 1, 4 * (size_t)tutti_slice_count(2, &tile.core, NULL));
        CHECK_SAME(tutti_array_read(b, &none, NULL, NULL), TUTTI_OK);
    } while (1);
    CHECK_ERR(err, TUTTI_ERR_IO);
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
    close_all(a, b);
}

/* ---- faults on all ranks, each with its own file */

static void test_faults(void) {
    char part[600];
    tutti_distribution *d = rows(TUTTI_DIST_BLOCK);
    tutti_array *a = NULL;
    const int32_t one = 1;
    tutti_options opt = options_of("fault=*:slow:1");
    check_where("faults");
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, d, &opt, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_fill(a, &one), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    opt = options_of("fault=*:write:1:EIO");
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, &opt, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_fill(a, &one), TUTTI_ERR_IO);
    CHECK_EQ(tutti_last_error()->rank, 0);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    snprintf(part, sizeof part, "%s.%d", path, rank);
    CHECK(unlink(part) == 0, "%s", part);
    tutti_distribution_free(&d);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 880);
    snprintf(path, sizeof path, "%s", scratch_path("agree"));
    snprintf(other, sizeof other, "%s.b", path);
    snprintf(third, sizeof third, "%s.c", path);
    test_budgets();
    test_between();
    test_parts();
    test_opening();
    inspect_object();
    test_calls();
    test_walks();
    for (int way = 0; way < WAYS; way++)
        for (int in_place = 0; in_place < 2; in_place++) visible(in_place, way, "fault=*:slow:5");
    report_error_of_completed_tile();
    test_faults();
    file_remove(path);
    file_remove(other);
    file_remove(third);
    return harness_end();
}
