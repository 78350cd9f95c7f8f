/* TEST ranks=1,2,3,5,8 timeout=120 */
/* The number of collective MPI operations per call does not exceed limits: inside the library, helpers return the
 * local error, and ranks agree on errors once per phase.  Both containers, both commit levels; global, ranked,
 * partial and compressed variables, small and large.  TUTTI_TEST_SHOW=1 prints the counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/collective_count.h"
#include "dataset/datasets.h"

enum { VARIABLES = 8, STEPS = 14 };

static char path[512];

typedef struct {
    const char *name;
    int container, level;
    tutti_layout layout;
    int compress, partial;
    tutti_count entries; /* entries per rank */
    int put, commit;     /* maximum number of collectives per call */
    int first; /* maximum of begin, put and commit together in the first step, which creates the data file */
    int settled; /* `put` applies to steps > settled: step 1 of ranked variables writes lists of entries */
} variant;

enum { BEGIN = 1 }; /* maximum number of collectives of begin, except in the first step */

static const variant VARIANTS[] = {
    {"native", TUTTI_CONTAINER_NATIVE, TUTTI_VISIBLE, TUTTI_GLOBAL, 0, 0, 512, 3, 3, 14, 0},
    {"native, durable", TUTTI_CONTAINER_NATIVE, TUTTI_DURABLE, TUTTI_GLOBAL, 0, 0, 512, 3, 4, 14,
     0},
    {"native, large", TUTTI_CONTAINER_NATIVE, TUTTI_VISIBLE, TUTTI_GLOBAL, 0, 0, 100000, 3, 3, 14,
     0},
    {"native, partial", TUTTI_CONTAINER_NATIVE, TUTTI_VISIBLE, TUTTI_GLOBAL, 0, 1, 512, 3, 3, 14,
     0},
    /* the first step also creates the variable of entry lists and communicates the sizes of the decomposition */
    {"ranked", TUTTI_CONTAINER_NATIVE, TUTTI_DURABLE, TUTTI_RANKED, 0, 0, 512, 3, 4, 18, 1},
    /* puts also send entries to the ranks that compress them, and communicate the sizes of frames */
    {"compressed", TUTTI_CONTAINER_NATIVE, TUTTI_DURABLE, TUTTI_GLOBAL, 1, 0, 512, 6, 4, 16, 0},
    {"netCDF", TUTTI_CONTAINER_NETCDF, TUTTI_VISIBLE, TUTTI_GLOBAL, 0, 0, 512, 3, 3, 14, 0},
    {"netCDF, durable", TUTTI_CONTAINER_NETCDF, TUTTI_DURABLE, TUTTI_GLOBAL, 0, 0, 512, 3, 4, 14,
     0},
};

static int64_t count_since(int64_t *last) {
    const int64_t now = tutti__collective_count(), n = now - *last;
    *last = now;
    return n;
}

static void check_counts(const variant *v, int step, const int64_t count[3]) {
    const int64_t all = count[0] + count[1] + count[2];
    if (rank == 0 && getenv("TUTTI_TEST_SHOW"))
        printf("%-16s step %2d: begin %lld, put %lld, commit %lld, all %lld\n", v->name, step,
               (long long)count[0], (long long)count[1], (long long)count[2], (long long)all);
    if (step == 0)
        CHECK(all <= v->first, "%s: first step: %lld collectives, at most %d", v->name,
              (long long)all, v->first);
    if (step > 0)
        CHECK(count[0] <= BEGIN && count[2] <= v->commit,
              "%s: step %d: begin %lld, commit %lld; at most %d, %d", v->name, step,
              (long long)count[0], (long long)count[2], BEGIN, v->commit);
    static int once = 1; /* the shared memory of a team is created in the eighth operation on it */
    const int more = count[1] == v->put + 1 ? once : 0;
    if (step > v->settled) {
        once -= more;
        CHECK(count[1] <= v->put + more, "%s: step %d: put %lld, at most %d", v->name, step,
              (long long)count[1], v->put);
    }
}

static void run_case(const variant *v) {
    const tutti_count shape = v->entries * ranks;
    tutti_dataset_options opt;
    tutti_dataset *d = NULL;
    tutti_decomposition *p = NULL;
    char name[VARIABLES][8];
    tutti_put puts[VARIABLES];
    double *buf = calloc((size_t)v->entries, sizeof *buf);
    const tutti_count start = v->entries * rank, n = v->partial ? v->entries / 2 : v->entries;
    const tutti_decomposition_spec slice = {.kind = TUTTI_BY_SLICE,
                                            .slice = {.lo = {start}, .hi = {start + n}}};
    tutti_dataset_options_init(&opt);
    opt.level = v->level;
    opt.container = v->container;
    dataset_remove(path);
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                                &d));
    CHECK_OK(tutti_dataset_grid(d, "cells", 1, &shape));
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_variable_spec spec = {.space = "cells",
                                          .item = TUTTI_SCALAR,
                                          .type = TUTTI_FLOAT64,
                                          .layout = v->layout,
                                          .compress = v->compress};
        snprintf(name[i], sizeof name[i], "v%d", i);
        CHECK_OK(tutti_dataset_variable(d, name[i], &spec));
    }
    CHECK_OK(tutti_decomposition_create(d, "cells", &slice, &p));
    for (int i = 0; i < VARIABLES; i++) puts[i] = (tutti_put){name[i], p, TUTTI_FLOAT64, buf};
    for (int step = 0; step < STEPS; step++) {
        int64_t last = tutti__collective_count(), count[3];
        CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, step, step));
        count[0] = count_since(&last);
        CHECK_OK(tutti_dataset_put(d, VARIABLES, puts));
        count[1] = count_since(&last);
        CHECK_OK(tutti_dataset_commit(d));
        count[2] = count_since(&last);
        check_counts(v, step, count);
    }
    CHECK_OK(tutti_dataset_verify(d, NULL));
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&d));
    dataset_remove(path);
    free(buf);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1298);
    snprintf(path, sizeof path, "%s/t1298.tutti", check_dir());
    for (size_t i = 0; i < sizeof VARIANTS / sizeof *VARIANTS; i++) run_case(&VARIANTS[i]);
    return harness_end();
}
