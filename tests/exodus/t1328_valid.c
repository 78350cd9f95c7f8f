/* TEST ranks=1,2 timeout=60 */
/* tutti__exodus_is_valid() detects each damaged relation between fields, and accepts an undamaged object: during
 * definitions, between steps, and within a step.  Statistics and progress reports of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "exodus/exodus_steps.h"

enum { NODES = 5000 };

#define DAMAGED(change)                              \
    do {                                             \
        struct tutti_exodus d = *x;                  \
        d.change;                                    \
        CHECK(!tutti__exodus_is_valid(&d), #change); \
    } while (0)

#define DAMAGED_STEP(change)                           \
    do {                                               \
        const struct tutti__exodus_step keep = *s;     \
        s->change;                                     \
        CHECK(!tutti__exodus_is_valid(x), #change);    \
        *s = keep;                                     \
        CHECK(tutti__exodus_is_valid(x), "undamaged"); \
    } while (0)

static char other[] = "other";

static void damage_object(const tutti_exodus *x) {
    CHECK(tutti__exodus_is_valid(x), "undamaged");
    DAMAGED(handle.class = NULL);
    DAMAGED(team = NULL);
    DAMAGED(path = NULL);
    DAMAGED(first = NULL);
    DAMAGED(path = other);
    DAMAGED(mode = TUTTI_WRITE);
    DAMAGED(mode |= TUTTI_CREATE);
    DAMAGED(file_number = 0);
    DAMAGED(file_number = 2);
    struct tutti_exodus follower = *x;
    follower.path = other;
    follower.file_number = 2;
    follower.naming = TUTTI__SERIES_UNKNOWN;
    CHECK(!tutti__exodus_is_valid(&follower), "a further file without a naming");
    follower.naming = TUTTI__SERIES_IOSS;
    CHECK(tutti__exodus_is_valid(&follower), "a further file");
    DAMAGED(checked_n = -1);
    DAMAGED(checked_n = 5);
    DAMAGED(local_n = -1);
    DAMAGED(local_n = 1);
    DAMAGED(commit = (tutti_request *)(void *)other);
    if (rank > 0) DAMAGED(fd = 3);
    if (rank > 0) DAMAGED(sidecar = (tutti__sidecar *)(void *)other);
}

static void damage_open(const tutti_exodus *x) {
    damage_object(x);
    DAMAGED(defining = 1);
    DAMAGED(at++);
    DAMAGED(cdf.records = -1);
    DAMAGED(cdf.records++);
}

static void damage_step(tutti_exodus *x) {
    struct tutti__exodus_step *s = x->step;
    damage_open(x);
    DAMAGED(mode = TUTTI_READ);
    DAMAGED(file = NULL);
    DAMAGED(opt.checksums = 0);
    DAMAGED_STEP(states = NULL);
    DAMAGED_STEP(variables++);
    DAMAGED_STEP(time_variable = -1);
    DAMAGED_STEP(time_variable = s->variables);
    DAMAGED_STEP(region = NULL);
    DAMAGED_STEP(puts.step = NULL);
    DAMAGED_STEP(base++);
}

static int reports;
static void report_result(void *context, tutti_off done, tutti_off total, const char *phase) {
    (void)context;
    CHECK(done <= total && phase[0], "%s", phase);
    reports++;
}

int main(int argc, char **argv) {
    char path[600];
    tutti_exodus *x = NULL;
    tutti_exodus_options opt;
    tutti_decomposition *local = NULL;
    tutti_count first, n;
    tutti_stats before, after;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/valid.exo", dir);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.steps_per_file = 1;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    damage_object(x);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 1, .nodes = NODES}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    damage_open(x);
    sample_piece(MPI_COMM_WORLD, NODES, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &local),
               TUTTI_OK);
    double *v = calloc((size_t)n + 1, sizeof *v);
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = "u",
                                      .type = TUTTI_FLOAT64,
                                      .buf = v,
                                      .entries = local};
    tutti_exodus_stats(x, &before);
    CHECK_SAME(tutti_exodus_begin(x, 1), TUTTI_OK);
    damage_step(x);
    CHECK_SAME(tutti_exodus_put(x, 1, &field), TUTTI_OK);
    tutti_exodus_stats(x, &after);
    CHECK(after.bytes - before.bytes >= 8 * n, "%lld bytes",
          (long long)(after.bytes - before.bytes));
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    CHECK_EQ(reports, 0);
    tutti_exodus_on_progress(x, report_result, NULL);
    /* this step is in the next file of the series */
    CHECK_SAME(tutti_exodus_begin(x, 2), TUTTI_OK);
    reports = 0;
    CHECK_SAME(tutti_exodus_put(x, 1, &field), TUTTI_OK);
    CHECK(reports > 0, "no progress was reported");
    tutti_exodus_on_progress(x, NULL, NULL);
    reports = 0;
    CHECK_SAME(tutti_exodus_put(x, 1, &field), TUTTI_OK);
    CHECK_EQ(reports, 0);
    tutti_exodus_stats(x, &before); /* the result is the sum over both files */
    CHECK(before.bytes >= after.bytes + 16 * n, "%lld bytes", (long long)before.bytes);
    CHECK_SAME(tutti_exodus_discard(x), TUTTI_OK);
    tutti_decomposition_free(&local);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    free(v);
    MPI_Finalize();
    return check_done();
}
