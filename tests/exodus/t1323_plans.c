/* TEST ranks=1,3,5 timeout=100 */
/* Steps with equal entries use one plan, at any record offset, small or large, with or without checksums; no
 * checksum block is read back if a single put writes the step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "exodus/exodus_impl.h"

enum { STEPS = 12, VARIABLES = 2 };

/* Write steps with this number of nodes; check the number of created plans and of bytes read. */
static void steps_put(const char *path, tutti_count nodes, const tutti_exodus_options *opt,
                      tutti_stats *out) {
    tutti_exodus *x = NULL;
    tutti_decomposition *local = NULL;
    tutti_count first, n;
    tutti_stats before, after;
    tutti_off bytes = 0;
    static const char *const names[VARIABLES] = {"u", "v"};
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 1, .nodes = nodes}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, VARIABLES, names), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    sample_piece(MPI_COMM_WORLD, nodes, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &local),
               TUTTI_OK);
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    CHECK_SAME(tutti_exodus_begin(x, 0), TUTTI_OK);
    CHECK_SAME(tutti_exodus_discard(x), TUTTI_OK);
    tutti_file_stats(x->file, NULL, &before);
    for (int s = 1; s <= STEPS; s++) {
        tutti_exodus_field fields[VARIABLES];
        for (tutti_count i = 0; i < n; i++) v[i] = (double)(s * 1000 + first + i);
        for (int k = 0; k < VARIABLES; k++)
            fields[k] = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                             .variable = names[k],
                                             .type = TUTTI_FLOAT64,
                                             .buf = v,
                                             .entries = local};
        CHECK_SAME(tutti_exodus_begin(x, s), TUTTI_OK);
        CHECK_SAME(tutti_exodus_put(x, VARIABLES, fields), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    }
    tutti_file_stats(x->file, NULL, &after);
    out->plans = after.plans - before.plans;
    out->file_read_bytes = after.file_read_bytes - before.file_read_bytes;
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(!opt->checksums || bytes >= STEPS * VARIABLES * nodes * 8, "%lld bytes compared",
          (long long)bytes);
    for (int s = 1; s <= STEPS; s++) {
        CHECK_SAME(tutti_exodus_get(x, s, 1,
                                    &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                          .variable = "v",
                                                          .type = TUTTI_FLOAT64,
                                                          .buf = v,
                                                          .entries = local}),
                   TUTTI_OK);
        for (tutti_count i = 0; i < n; i++)
            CHECK(v[i] == (double)(s * 1000 + first + i), "step %d, %lld: %g", s, (long long)i,
                  v[i]);
    }
    tutti_decomposition_free(&local);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    free(v);
}

int main(int argc, char **argv) {
    char path[600], where[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/plans.exo", dir);
    const tutti_count nodes[] = {100, 9999, 300001};
    for (int i = 0; i < 3; i++)
        for (int checksums = 0; checksums <= 1; checksums++) {
            tutti_exodus_options opt;
            tutti_stats got = {0};
            tutti_exodus_options_init(&opt);
            opt.level = TUTTI_VISIBLE;
            opt.overwrite = 1;
            opt.checksums = checksums;
            snprintf(where, sizeof where, "%lld nodes, checksums %d", (long long)nodes[i],
                     checksums);
            check_where(where);
            steps_put(path, nodes[i], &opt, &got);
            CHECK(got.plans <= 2, "%lld plans of %d steps", (long long)got.plans, STEPS);
            CHECK(got.file_read_bytes == 0, "%lld bytes were read back",
                  (long long)got.file_read_bytes);
        }
    MPI_Finalize();
    return check_done();
}
