/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Number of collective MPI operations per step: at most 8 in begin, put and commit together, and a limit for each
 * call; with every commit level, with and without checksums, small and large steps.  TUTTI_TEST_SHOW=1
 * prints the counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "comm/collective_count.h"

enum { STEPS = 14, BEGIN = 1, PUT = 3, COMMIT = 4, ALL = 8 };

static int64_t count_since(int64_t *last) {
    const int64_t now = tutti__collective_count(), n = now - *last;
    *last = now;
    return n;
}

static void count_steps(const char *path, tutti_count nodes, const tutti_exodus_options *opt) {
    tutti_exodus *x = NULL;
    tutti_decomposition *local = NULL;
    tutti_count first, n;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 1, .nodes = nodes}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    sample_piece(MPI_COMM_WORLD, nodes, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &local),
               TUTTI_OK);
    double *v = calloc((size_t)(n + 1), sizeof *v);
    int more = 0; /* number of puts that created the shared memory of the team: at most 1 */
    const tutti_exodus_field field = {.kind = TUTTI_EXODUS_NODAL,
                                      .variable = "u",
                                      .type = TUTTI_FLOAT64,
                                      .buf = v,
                                      .entries = local};
    for (int s = 1; s <= STEPS; s++) {
        int64_t last = tutti__collective_count(), count[3];
        CHECK_OK(tutti_exodus_begin(x, s));
        count[0] = count_since(&last);
        CHECK_OK(tutti_exodus_put(x, 1, &field));
        count[1] = count_since(&last);
        CHECK_OK(tutti_exodus_commit(x));
        count[2] = count_since(&last);
        const int64_t all = count[0] + count[1] + count[2];
        if (rank == 0 && getenv("TUTTI_TEST_SHOW"))
            printf("%lld nodes, step %d: begin %lld, put %lld, commit %lld, all %lld\n",
                   (long long)nodes, s, (long long)count[0], (long long)count[1],
                   (long long)count[2], (long long)all);
        if (s == 1) continue; /* the first step also completes the mesh and creates the plan */
        CHECK(all <= ALL && count[0] <= BEGIN && count[2] <= COMMIT,
              "step %d: begin %lld, put %lld, commit %lld", s, (long long)count[0],
              (long long)count[1], (long long)count[2]);
        more += count[1] > PUT;
    }
    CHECK(more <= 1, "%d puts take more than %d", more, PUT);
    tutti_decomposition_free(&local);
    CHECK_SAME(tutti_exodus_verify(x, NULL), TUTTI_OK);
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
    snprintf(path, sizeof path, "%s/count.exo", dir);
    const tutti_count nodes[] = {512, 100003};
    for (int i = 0; i < 2 * 2 * 2; i++) {
        tutti_exodus_options opt;
        tutti_exodus_options_init(&opt);
        opt.level = i & 1 ? TUTTI_DURABLE : TUTTI_VISIBLE;
        opt.overwrite = 1;
        opt.checksums = (i & 2) != 0;
        snprintf(where, sizeof where, "level %d, checksums %d", opt.level, opt.checksums);
        check_where(where);
        count_steps(path, nodes[i / 4], &opt);
    }
    MPI_Finalize();
    return check_done();
}
