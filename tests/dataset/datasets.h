/* Common part of tests of datasets: values that every rank can compute, decompositions of all
 * kinds from a seed, communicators of some of the ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_DATASETS_H
#define TUTTI_TESTS_DATASETS_H

#include <dirent.h>
#include "harness.h"

/* ---- values of any type, small enough for all types */

static inline int number_at(int variable, int64_t segment, tutti_count position, int k) {
    return (int)(mix((uint64_t)(variable * 1000 + segment), (uint64_t)(position * 8 + k)) % 100);
}

static inline int halves_of(tutti_type t) {
    return t == TUTTI_COMPLEX64 || t == TUTTI_COMPLEX128 ? 2 : 1;
}

#define EACH_TYPE(X)    \
    X(INT8, int8_t)     \
    X(INT16, int16_t)   \
    X(INT32, int32_t)   \
    X(INT64, int64_t)   \
    X(UINT8, uint8_t)   \
    X(UINT16, uint16_t) \
    X(UINT32, uint32_t) \
    X(UINT64, uint64_t) \
    X(FLOAT32, float)   \
    X(FLOAT64, double)  \
    X(COMPLEX64, float) \
    X(COMPLEX128, double)

/* Set value `i` of the array `v` of type `t` to `x`; each complex value counts as two values. */
static inline void number_set(tutti_type t, void *v, tutti_count i, double x) {
    switch (t) {
#define SET(name, type)           \
    case TUTTI_##name:            \
        ((type *)v)[i] = (type)x; \
        break;
        EACH_TYPE(SET)
#undef SET
    default:
        CHECK(0, "type %d", (int)t);
    }
}

static inline double number_get(tutti_type t, const void *v, tutti_count i) {
    switch (t) {
#define GET(name, type) \
    case TUTTI_##name:  \
        return (double)((const type *)v)[i];
        EACH_TYPE(GET)
#undef GET
    default:
        return -1;
    }
}

/* ---- some of the ranks */

static MPI_Comm some = MPI_COMM_NULL; /* the first `some_n` ranks; MPI_COMM_NULL on all others */
static int some_n, some_rank;

static inline void some_take(int n) {
    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &some);
    some_n = n;
    some_rank = rank;
}

static inline void some_give(void) {
    if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- directories */

static inline void dataset_remove(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        DIR *dir = opendir(path);
        struct dirent *e;
        while (dir && (e = readdir(dir)))
            if (e->d_name[0] != '.') (void)unlinkat(dirfd(dir), e->d_name, 0);
        if (dir) closedir(dir);
        (void)rmdir(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline tutti_dataset_options visible(void) {
    tutti_dataset_options opt;
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE; /* tests need not wait for the disk */
    return opt;
}

/* ---- decompositions */

/* A distribution of entries over ranks by a hash of seed and position: all ranks can compute it. */
typedef struct {
    tutti_decomposition_kind kind;
    uint64_t seed;
    int holes, copies; /* how many of 16 entries no rank has, and how many a second rank has, too */
} distribution;

static inline int is_on_rank(const distribution *l, tutti_count position, int r, int n) {
    const int home = mix(l->seed, (uint64_t)position) % n;
    const int luck = mix(l->seed + 1, (uint64_t)position) % 16;
    if (luck < l->holes) return 0;
    return r == home || (luck >= 16 - l->copies && r == (home + 1) % n);
}

static inline int is_on_any_rank(const distribution *l, tutti_count position, int n) {
    for (int r = 0; r < n; r++)
        if (is_on_rank(l, position, r, n)) return 1;
    return 0;
}

/* Return the id of an entry at `position` of a space with ids; each `topology` has other ids. */
static inline int64_t id_of(int64_t topology, tutti_count position) {
    return (position * 7919 + topology * 13) % 1000003;
}

typedef struct {
    tutti_count n, *position;
    tutti_decomposition *p;
} local_entries;

/* Create a decomposition of `space`, which has `size` entries: the entries of this rank in a shuffled order.
 * The ids are id_of(topology, ...); topology -1: ids are positions. */
static inline local_entries distribute_entries(tutti_dataset *d, const char *space,
                                               tutti_count segment, const distribution *l,
                                               tutti_count size, int64_t topology) {
    local_entries out = {.position = malloc((size_t)size * sizeof *out.position + 8)};
    int64_t *ids = malloc((size_t)size * sizeof *ids + 8);
    for (tutti_count i = 0; i < size; i++)
        if (is_on_rank(l, i, some_rank, some_n)) out.position[out.n++] = i;
    for (tutti_count i = out.n - 1; i > 0; i--) {
        const tutti_count j =
            (tutti_count)(mix(l->seed + 2, (uint64_t)i) * 256 + mix(l->seed + 3, (uint64_t)i)) %
            (i + 1);
        const tutti_count swap = out.position[i];
        out.position[i] = out.position[j];
        out.position[j] = swap;
    }
    for (tutti_count i = 0; i < out.n; i++)
        ids[i] = topology < 0 ? out.position[i] : id_of(topology, out.position[i]);
    const tutti_decomposition_spec spec = {.kind = l->kind,
                                           .n = out.n,
                                           .index = l->kind == TUTTI_BY_VALUE ? NULL : out.position,
                                           .ids = l->kind == TUTTI_BY_INDEX ? NULL : ids};
    CHECK_OK(tutti_decomposition_create_at(d, space, segment, &spec, &out.p));
    free(ids);
    return out;
}

static inline void local_entries_free(local_entries *l) {
    tutti_decomposition_free(&l->p);
    free(l->position);
}

#endif
