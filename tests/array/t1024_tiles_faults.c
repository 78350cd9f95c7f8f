/* TEST ranks=1,3 timeout=150 */
/* Each file access and each allocation of a tile iteration fails once, on one rank.  All ranks return
 * the same error, nothing hangs, the iteration ends, the arrays stay usable and can be closed, memory
 * and descriptors are released.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/array.h>
#include "harness.h"

enum { N = 24, M = 10, NEVER = 3000 };

static char path[520], to_path[528];
static int who, local;
static tutti_distribution *dist;

static const tutti_array_spec spec = {.ndims = 2, .shape = {N, M}, .type = TUTTI_FLOAT64};

static tutti_slice my_rows(void) {
    tutti_slice of = tutti_slice_all(2, spec.shape);
    of.lo[0] = N * rank / ranks;
    of.hi[0] = N * (rank + 1) / ranks - (rank == 0); /* rank 0 has fewer rows, so fewer tiles */
    return of;
}

static void make_arrays(void) {
    tutti_array *a = NULL;
    const double one = 1;
    for (int i = 0; i < 2; i++) {
        const char *p = i ? to_path : path;
        CHECK_SAME(local ? tutti_array_create_local(MPI_COMM_WORLD, p, &spec, dist, NULL, &a)
                         : tutti_array_create(MPI_COMM_WORLD, p, &spec, NULL, &a),
                   TUTTI_OK);
        CHECK_SAME(tutti_array_fill(a, &one), TUTTI_OK);
        CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    }
}

/* The errors of the steps of a tile iteration; `opened` is 0 if the arrays could not be opened. */
typedef struct {
    int opened;
    tutti_err begun, went, ended;
} outcome;

static tutti_err walk_on(tutti_tiles *t, int in_place) {
    tutti_tile tile;
    for (;;) {
        const tutti_err err = same_everywhere(tutti_tiles_next(t, &tile));
        if (err != TUTTI_OK) {
            CHECK_ERR(tutti_tiles_next(t, &tile), err); /* the error is returned again */
            return err;
        }
        if (!tile.more) return TUTTI_OK;
        const tutti_count n = tutti_slice_count(2, &tile.core, NULL);
        for (tutti_count i = 0; i < n; i++)
            ((double *)tile.out)[i] = 2 + (in_place ? ((double *)tile.out)[i] : 0);
    }
}

static outcome walk_tiles(tutti_array *from, tutti_array *to, long fail_after) {
    outcome o = {1, TUTTI_OK, TUTTI_OK, TUTTI_OK};
    const tutti_slice rows = my_rows();
    const tutti_tiles_spec s = {.budget = 1 << 20,
                                .region = local ? NULL : &rows,
                                .tile = {3, 0},
                                .halo = {from == to ? 0 : 1, 0}};
    tutti_tiles *t = NULL;
    if (rank == who) tutti__memory_fail_after(fail_after);
    o.begun = same_everywhere(tutti_tiles_begin(from, to, &s, &t));
    if (o.begun == TUTTI_OK) o.went = walk_on(t, from == to);
    o.ended = same_everywhere(tutti_tiles_end(&t));
    CHECK(t == NULL, "the handle is not nulled");
    CHECK(o.went == TUTTI_OK || o.ended == TUTTI_OK, "an error told twice");
    return o;
}

static int failed(const outcome *o) {
    return o->begun || o->went || o->ended;
}

/* Check that the array can be read. */
static void still_usable(tutti_array *a) {
    tutti_slice all = tutti_slice_all(2, spec.shape);
    tutti_count shape[2] = {N, M};
    double *v = malloc(sizeof(double) * N * M);
    if (local) tutti_distribution_part(dist, rank, shape);
    all = tutti_slice_all(2, shape);
    CHECK_SAME(tutti_array_read(a, &all, NULL, v), TUTTI_OK);
    free(v);
}

/* ---- file access */

static tutti_array *open_array(const char *p, const tutti_options *opt) {
    tutti_array *a = NULL;
    const tutti_err err = same_everywhere(
        tutti_array_open(MPI_COMM_WORLD, p, TUTTI_READ | TUTTI_WRITE, NULL, opt, &a));
    CHECK_EQ(err == TUTTI_OK, a != NULL);
    return a;
}

/* Let access number n fail; set *past_out if there are fewer accesses. */
static void try_fault(const char *options, const char *what, int n, int in_place, int *past_out) {
    tutti_options plain = options_of(options), opt = plain;
    /* in local placement every rank is rank 0 of its own file */
    snprintf(opt.fault, sizeof opt.fault, "%d:%s:%d:ENOSPC", local ? 0 : who, what, n);
    const int reads = what[0] == 'r';
    tutti_array *from = open_array(path, reads || in_place ? &opt : &plain), *to = from;
    if (!in_place) to = open_array(to_path, reads ? &plain : &opt);
    outcome o = {0, TUTTI_OK, TUTTI_OK, TUTTI_OK};
    if (from && to) o = walk_tiles(from, to, 0);
    if (failed(&o)) CHECK_EQ(o.begun ? o.begun : o.went ? o.went : o.ended, TUTTI_ERR_NO_SPACE);
    *past_out = o.opened && !failed(&o);
    if (to && !in_place) (void)same_everywhere(tutti_array_close(&to));
    if (from) (void)same_everywhere(tutti_array_close(&from));
}

static void each_fault(const char *options, int in_place) {
    static const char *const whats[] = {"read", "write"};
    char text[200];
    int past = 0;
    try_fault(options, "read", 1000000, in_place, &past); /* allocates memory that remains cached */
    for (int i = 0; i < 2; i++) {
        int n = 1;
        past = 0;
        for (; n < 200 && !past; n++) {
            snprintf(text, sizeof text, "%s %d of '%s'%s%s", whats[i], n, options,
                     local ? ", local" : "", in_place ? ", in place" : "");
            check_where(text);
            const account before = account_now();
            try_fault(options, whats[i], n, in_place, &past);
            account_check(before);
        }
        CHECK(past && n > 2, "%d", n);
        tutti_array *a = open_array(path, NULL);
        still_usable(a);
        CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    }
}

/* ---- memory */

/* Return whether the requested failure has not happened yet. */
static int still_pending(int n) {
    int pending = 0;
    for (int i = 0; i < n && !pending; i++) {
        void *p = tutti__malloc(1);
        pending = p == NULL;
        tutti__free(p);
    }
    tutti__memory_fail_after(0);
    return pending;
}

static void each_allocation(const char *options) {
    const tutti_options opt = options_of(options);
    tutti_array *from = open_array(path, &opt), *to = open_array(to_path, &opt);
    outcome o = walk_tiles(from, to, 0); /* allocates memory that remains cached */
    char text[200];
    CHECK(!failed(&o), "without a fault");
    int past = 0, n = 1;
    for (; n < NEVER && !past; n += n < 50 ? 1 : 4) { /* later failures are similar */
        snprintf(text, sizeof text, "allocation %d of '%s'%s", n, options, local ? ", local" : "");
        check_where(text);
        const account before = account_now();
        o = walk_tiles(from, to, n);
        if (rank == who) past = still_pending(n);
        MPI_Bcast(&past, 1, MPI_INT, who, MPI_COMM_WORLD);
        if (o.begun) CHECK_EQ(o.begun, TUTTI_ERR_NOMEM);
        const account after = account_now();
        CHECK(after.blocks <= before.blocks + 1, "%ld blocks more", after.blocks - before.blocks);
    }
    CHECK(past && n > 20, "%d", n);
    still_usable(from);
    CHECK_SAME(tutti_array_close(&from), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&to), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 874);
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_BLOCK, ranks, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &dist));
    for (local = 0; local < 2; local++) {
        who = (int)rnd(ranks);
        snprintf(path, sizeof path, "%s%s", scratch_path("faults"), local ? "l" : "");
        snprintf(to_path, sizeof to_path, "%s.to", path);
        make_arrays();
        each_fault("background=auto", 0);
        each_fault("background=none store=posix", 0);
        each_fault("background=io-only store=threads", 1);
        each_allocation("background=auto");
    }
    tutti_distribution_free(&dist);
    return harness_end();
}
