/* TEST ranks=1,3 timeout=120 */
/* Invalid tile iterations are refused on all ranks, even if only one rank passes an invalid
 * argument; iterations that end early, that some ranks end and others continue, and that have not
 * ended when the array is closed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/array.h>
#include "harness.h"

enum { N = 48, M = 20 };

static char path[512], other_path[520];
static tutti_array *a, *b; /* two arrays of the same shape */
static int who;            /* the rank with a different argument */

static tutti_array_spec array_spec(void) {
    return (tutti_array_spec){.ndims = 2, .shape = {N, M}, .type = TUTTI_FLOAT64};
}

static tutti_tiles_spec good_spec(void) {
    return (tutti_tiles_spec){.budget = 1 << 20};
}

static tutti_array *create_objects(const char *p, const tutti_array_spec *spec) {
    tutti_array *out = NULL;
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, p, spec, NULL, &out), TUTTI_OK);
    return out;
}

static void refuses(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec,
                    tutti_err code, const char *text) {
    tutti_tiles *t = NULL;
    check_where(text);
    CHECK_SAME(tutti_tiles_begin(from, to, spec, &t), code);
    CHECK(t == NULL, "there is a walk");
    CHECK(strstr(tutti_last_message(), text), "%s", tutti_last_message());
}

/* ---- arguments */

static void refuse_budgets(void) {
    const tutti_tiles_spec good = good_spec();
    tutti_tiles_spec s = good;
    if (rank == who) s.budget = 2000;
    refuses(a, b, &s, TUTTI_ERR_ARG, "the smallest tile");
    s = good;
    if (rank == who) s.budget = -5;
    refuses(a, NULL, &s, TUTTI_ERR_ARG, "budget leaves");
    s = good;
    s.tile[0] = s.tile[1] = 40; /* a tile has 40 x 20 doubles, in two buffers */
    if (rank == who) s.budget = 2 * 40 * M * 8;
    refuses(NULL, b, &s, TUTTI_ERR_ARG, "needs 12800");
    s = good;
    if (rank == who) s.budget = INT64_MIN;
    refuses(a, NULL, &s, TUTTI_ERR_ARG, "leaves 0 bytes");
    /* the budget in the message is sufficient, and one byte less is not */
    tutti_tiles *t = NULL;
    long long enough = 0;
    s = good, s.budget = 1;
    refuses(a, b, &s, TUTTI_ERR_ARG, "a budget of ");
    CHECK(sscanf(strstr(tutti_last_message(), "a budget of "), "a budget of %lld", &enough) == 1,
          "%s", tutti_last_message());
    s.budget = enough - 1;
    refuses(a, b, &s, TUTTI_ERR_ARG, "a budget of ");
    s.budget = enough;
    CHECK_SAME(tutti_tiles_begin(a, b, &s, &t), TUTTI_OK);
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
}

static void refuse_values(void) {
    const tutti_tiles_spec good = good_spec();
    tutti_slice of = tutti_slice_all(2, (tutti_count[]){N, M});
    tutti_tiles_spec s = good;
    if (rank == who) s.tile[1] = -1;
    refuses(a, b, &s, TUTTI_ERR_ARG, "tile is -1");
    s = good;
    if (rank == who) s.halo[0] = -3;
    refuses(a, b, &s, TUTTI_ERR_ARG, "halo is -3");
    s = good;
    if (rank == who) s.halo[1] = 1;
    refuses(a, a, &s, TUTTI_ERR_ARG, "in place");
    s = good;
    if (rank == who) s.order = (tutti_order)7;
    refuses(a, b, &s, TUTTI_ERR_ARG, "unknown order");
    s = good;
    if (rank == who) s.region = &of;
    of.hi[0] = N + 1;
    refuses(a, b, &s, TUTTI_ERR_ARG, "outside");
    of.hi[0] = N;
    of.lo[1] = -1;
    refuses(a, b, &s, TUTTI_ERR_ARG, "outside");
    of.lo[1] = 0;
    of.stride[0] = 2;
    refuses(a, b, &s, TUTTI_ERR_ARG, "stride is 2");
    s = good;
    s.sequential = rank == who;
    if (ranks > 1) refuses(a, b, &s, TUTTI_ERR_MISMATCH, "disagree");
}

/* Two handles of one array, and parts that do not correspond, are refused. */
static void refuse_twins(tutti_array *local) {
    const tutti_array_spec spec = array_spec();
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_CYCLIC, ranks, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_tiles_spec s = good_spec();
    tutti_distribution *d = NULL;
    tutti_array *c = NULL;
    char name[600], own_path[620];
    s.halo[0] = 1;
    /* c is another handle of the file of b */
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, NULL, &c), TUTTI_OK);
    refuses(b, c, &s, TUTTI_ERR_ARG, "same bytes");
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    snprintf(name, sizeof name, "%s.cyclic", path);
    snprintf(own_path, sizeof own_path, "%s.%d", name, rank);
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, name, &spec, d, NULL, &c), TUTTI_OK);
    refuses(local, c, &s, TUTTI_ERR_ARG, "different distributions");
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    tutti_distribution_free(&d);
    (void)unlink(own_path);
    file_remove(name);
}

static void refuse_arrays(void) {
    const tutti_tiles_spec good = good_spec();
    tutti_tiles *t = NULL;
    tutti_array_spec spec = array_spec();
    tutti_array *c = NULL;
    tutti_dist_dim dims[2] = {{TUTTI_DIST_BLOCK, ranks, 0, NULL}, {TUTTI_DIST_NONE, 1, 0, NULL}};
    tutti_distribution *d = NULL;
    CHECK_ERR(tutti_tiles_begin(NULL, NULL, &good, &t), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_tiles_begin(a, b, NULL, &t), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_tiles_begin(a, b, &good, NULL), TUTTI_ERR_ARG);

    spec.shape[1]++;
    c = create_objects(other_path, &spec);
    refuses(a, c, &good, TUTTI_ERR_ARG, "20 and 21 elements");
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    spec.ndims = 1;
    c = create_objects(other_path, &spec);
    refuses(a, c, &good, TUTTI_ERR_ARG, "2 and 1 dimensions");
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);

    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, other_path, TUTTI_READ, NULL, NULL, &c), TUTTI_OK);
    refuses(NULL, c, &good, TUTTI_ERR_MODE, "writing");
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);

    spec = array_spec();
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, other_path, &spec, d, NULL, &c), TUTTI_OK);
    refuses(a, c, &good, TUTTI_ERR_ARG, "local placement");
    refuse_twins(c);
    CHECK_SAME(tutti_array_close(&c), TUTTI_OK);
    tutti_distribution_free(&d);
}

/* ---- end of an iteration */

static tutti_slice my_rows(void) {
    tutti_slice of = tutti_slice_all(2, (tutti_count[]){N, M});
    of.lo[0] = N * rank / ranks;
    of.hi[0] = N * (rank + 1) / ranks;
    return of;
}

static void fill_values(const tutti_tile *tile, double value) {
    const tutti_count n = tutti_slice_count(2, &tile->core, NULL);
    for (tutti_count i = 0; i < n; i++) ((double *)tile->out)[i] = value;
}

/* Return how many of this rank's rows have this value. */
static int rows_with(tutti_array *x, double value) {
    const tutti_slice of = my_rows();
    const tutti_count rows = of.hi[0] - of.lo[0];
    double *v = malloc((size_t)(rows * M) * sizeof *v);
    int n = 0;
    CHECK_OK(tutti_array_read(x, &of, NULL, v));
    for (tutti_count i = 0; i < rows; i++) {
        int all = 1;
        for (int j = 0; j < M; j++) all &= v[i * M + j] == value;
        n += all;
    }
    free(v);
    return n;
}

/* End the iteration after k tiles; the current tile is not written. */
static void end_early(int k, int sequential) {
    const tutti_slice of = my_rows();
    tutti_tiles_spec spec = {
        .budget = 1 << 20, .region = &of, .tile = {1, M}, .sequential = sequential};
    const double value = 100 + k + 50 * sequential;
    tutti_tiles *t = NULL;
    tutti_tile tile;
    check_where("early end");
    CHECK_SAME(tutti_tiles_begin(a, b, &spec, &t), TUTTI_OK);
    for (int i = 0; i < k; i++) {
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
        fill_values(&tile, value);
    }
    CHECK_SAME(tutti_array_close(&b), TUTTI_ERR_STATE); /* both arrays are in use */
    CHECK_SAME(tutti_array_close(&a), TUTTI_ERR_STATE);
    CHECK(a && b, "closed all the same");
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
    CHECK(t == NULL, "the handle is not nulled");
    CHECK_OK(tutti_tiles_end(&t));
    CHECK_EQ(rows_with(b, value), k > 0 ? k - 1 : 0);
}

static void some_end(void) {
    const tutti_tiles_spec spec = {.budget = 1 << 20, .tile = {5, 7}};
    tutti_tiles *t = NULL;
    tutti_tile tile;
    check_where("only some end");
    CHECK_SAME(tutti_tiles_begin(a, NULL, &spec, &t), TUTTI_OK);
    CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
    if (rank == who)
        CHECK_SAME(tutti_tiles_end(&t), TUTTI_ERR_STATE);
    else
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_ERR_STATE);
    if (t) CHECK_ERR(tutti_tiles_next(t, &tile), TUTTI_ERR_STATE); /* the error is the same again */
    CHECK_OK(tutti_tiles_end(&t));
}

/* Test a tile iteration whose region is empty on all ranks. */
static void test_nothing(void) {
    tutti_slice none = tutti_slice_all(2, (tutti_count[]){N, M});
    tutti_tiles_spec spec = {.budget = 1 << 20, .region = &none};
    tutti_tiles *t = NULL;
    tutti_tile tile = {.more = 5};
    none.hi[1] = 0;
    check_where("nothing");
    CHECK_SAME(tutti_tiles_begin(a, b, &spec, &t), TUTTI_OK);
    CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
    CHECK_EQ(tile.more, 0);
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
}

/* Test two simultaneous tile iterations over one array, with other calls in between. */
static void two_at_a_time(void) {
    const tutti_slice of = my_rows();
    const tutti_tiles_spec spec = {
        .budget = 1 << 20, .region = &of, .tile = {2, 0}, .halo = {1, 0}};
    tutti_tiles *t[2] = {NULL, NULL};
    tutti_tile tile[2];
    double v[M];
    tutti_slice row = of;
    row.hi[0] = row.lo[0] + 1;
    check_where("two at a time");
    CHECK_SAME(tutti_tiles_begin(a, NULL, &spec, &t[0]), TUTTI_OK);
    CHECK_SAME(tutti_tiles_begin(a, b, &spec, &t[1]), TUTTI_OK);
    for (int more = 1; more;) {
        for (int i = 0; i < 2; i++) CHECK_SAME(tutti_tiles_next(t[i], &tile[i]), TUTTI_OK);
        more = tile[0].more;
        CHECK_EQ(tile[1].more, more);
        if (more) fill_values(&tile[1], 7);
        CHECK_SAME(tutti_array_prefetch(a, &row), TUTTI_OK);
        CHECK_SAME(tutti_array_read(a, &row, NULL, v), TUTTI_OK);
    }
    CHECK_SAME(tutti_tiles_end(&t[0]), TUTTI_OK);
    CHECK_SAME(tutti_tiles_end(&t[1]), TUTTI_OK);
    CHECK_EQ(rows_with(b, 7), of.hi[0] - of.lo[0]);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 873);
    snprintf(path, sizeof path, "%s", scratch_path("tiles"));
    snprintf(other_path, sizeof other_path, "%s.other", path);
    who = (int)rnd(ranks);
    const tutti_array_spec spec = array_spec();
    a = create_objects(path, &spec);
    snprintf(path + strlen(path), 8, ".b");
    b = create_objects(path, &spec);
    refuse_budgets();
    refuse_values();
    refuse_arrays();
    test_nothing();
    for (int k = 0; k < 5; k++) end_early(k, 0);
    end_early(3, 1);
    if (ranks > 1) some_end();
    two_at_a_time();
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
    return harness_end();
}
