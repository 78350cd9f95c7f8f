/* array: distributions, which map each element to an owner and a local index.
 *
 * Each dimension is distributed separately: blocks of `block` indices go to `procs` ranks
 * round-robin.  A block distribution has one round, a cyclic distribution has blocks of 1 index,
 * and a ragged distribution has a table of bounds.  The last dimension of the process grid varies
 * fastest.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <limits.h>
#include <string.h>
#include "base/sorted.h"

/* ---- creation */

static tutti_err check_dim(int d, tutti_count n, const tutti_dist_dim *in, tutti_dist_dim *out) {
    *out = (tutti_dist_dim){.kind = in->kind, .procs = in->procs, .block = 1};
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "dimension %d: extent is %lld: must be >= 0", d,
                (long long)n);
    if (in->kind == TUTTI_DIST_NONE && in->procs == 0) out->procs = 1;
    TUTTI_CHECK(out->procs >= 1, TUTTI_ERR_ARG, "dimension %d: procs is %d: must be >= 1", d,
                in->procs);
    switch (in->kind) {
    case TUTTI_DIST_NONE:
        TUTTI_CHECK(out->procs == 1, TUTTI_ERR_ARG,
                    "dimension %d is not distributed, but procs is %d: must be 1", d, in->procs);
        out->block = tutti__max(n, 1);
        return TUTTI_OK;
    case TUTTI_DIST_BLOCK:
        out->block = tutti__max(n / out->procs + (n % out->procs != 0), 1);
        return TUTTI_OK;
    case TUTTI_DIST_CYCLIC:
        return TUTTI_OK;
    case TUTTI_DIST_BLOCK_CYCLIC:
        TUTTI_CHECK(in->block >= 1, TUTTI_ERR_ARG, "dimension %d: block is %lld: must be >= 1", d,
                    (long long)in->block);
        /* limit the block size to the extent: this is equivalent, and avoids overflow */
        out->block = tutti__min(in->block, tutti__max(n, 1));
        return TUTTI_OK;
    case TUTTI_DIST_RAGGED:
        TUTTI_CHECK(in->bounds, TUTTI_ERR_ARG,
                    "dimension %d: field bounds is NULL, but the distribution is ragged", d);
        TUTTI_CHECK(in->bounds[0] == 0 && in->bounds[in->procs] == n, TUTTI_ERR_ARG,
                    "dimension %d: bounds run from %lld to %lld: must run from 0 to %lld", d,
                    (long long)in->bounds[0], (long long)in->bounds[in->procs], (long long)n);
        for (int p = 0; p < in->procs; p++)
            TUTTI_CHECK(
                in->bounds[p] <= in->bounds[p + 1], TUTTI_ERR_ARG,
                "dimension %d: bounds[%d] is %lld, but bounds[%d] is %lld: must not decrease", d, p,
                (long long)in->bounds[p], p + 1, (long long)in->bounds[p + 1]);
        return TUTTI_OK;
    }
    TUTTI_FAIL(TUTTI_ERR_ARG, "dimension %d: unknown kind of distribution %d", d, (int)in->kind);
}

static tutti_err fill_distribution(tutti_distribution *d, const tutti_count *shape,
                                   const tutti_dist_dim *dims) {
    tutti_off ranks = 1;
    for (int i = 0; i < d->ndims; i++) {
        d->shape[i] = shape[i];
        TUTTI_TRY(check_dim(i, shape[i], &dims[i], &d->dim[i]));
        ranks *= d->dim[i].procs;
        TUTTI_CHECK(ranks <= INT_MAX, TUTTI_ERR_OVERFLOW,
                    "distribution has %lld ranks in dimensions 0 to %d: must be <= %d",
                    (long long)ranks, i, INT_MAX);
    }
    d->ranks = (int)ranks;
    tutti_count at = 0;
    for (int i = 0; i < d->ndims; i++)
        if (d->dim[i].kind == TUTTI_DIST_RAGGED) d->n_bounds += d->dim[i].procs + 1;
    if (d->n_bounds == 0) return TUTTI_OK;
    d->bounds = tutti__malloc((size_t)d->n_bounds * sizeof *d->bounds);
    if (!d->bounds) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < d->ndims; i++) {
        if (d->dim[i].kind != TUTTI_DIST_RAGGED) continue;
        const size_t n = (size_t)d->dim[i].procs + 1;
        memcpy(d->bounds + at, dims[i].bounds, n * sizeof *d->bounds);
        d->dim[i].bounds = d->bounds + at;
        at += (tutti_count)n;
    }
    return TUTTI_OK;
}

tutti_err tutti_distribution_make(int ndims, const tutti_count *shape, const tutti_dist_dim *dims,
                                  tutti_distribution **out) {
    TUTTI_CHECK(shape && dims && out, TUTTI_ERR_ARG, "argument %s is NULL",
                !shape ? "shape"
                : dims ? "out"
                       : "dims");
    TUTTI_CHECK(ndims >= 1 && ndims <= TUTTI_MAX_DIMS, TUTTI_ERR_ARG,
                "ndims is %d: must be 1 to %d", ndims, TUTTI_MAX_DIMS);
    tutti_distribution *d = tutti__calloc(1, sizeof *d);
    if (!d) return TUTTI_ERR_NOMEM;
    d->ndims = ndims;
    const tutti_err err = fill_distribution(d, shape, dims);
    if (err != TUTTI_OK)
        tutti_distribution_free(&d);
    else
        *out = d;
    return err;
}

tutti_err tutti__distribution_copy(const tutti_distribution *d, tutti_distribution **out) {
    return tutti_distribution_make(d->ndims, d->shape, d->dim, out);
}

void tutti_distribution_free(tutti_distribution **d) {
    if (!d || !*d) return;
    tutti__free((*d)->bounds);
    tutti__free(*d);
    *d = NULL;
}

int tutti__distribution_equal(const tutti_distribution *a, const tutti_distribution *b) {
    if (a->ndims != b->ndims || a->n_bounds != b->n_bounds) return 0;
    for (int i = 0; i < a->ndims; i++)
        if (a->shape[i] != b->shape[i] || a->dim[i].kind != b->dim[i].kind ||
            a->dim[i].procs != b->dim[i].procs || a->dim[i].block != b->dim[i].block)
            return 0;
    return a->n_bounds == 0 ||
           memcmp(a->bounds, b->bounds, (size_t)a->n_bounds * sizeof *a->bounds) == 0;
}

uint64_t tutti__distribution_hash(uint64_t h, const tutti_distribution *d) {
    for (int i = 0; i < d->ndims; i++) {
        const int64_t v[] = {d->shape[i], (int64_t)d->dim[i].kind, d->dim[i].procs,
                             d->dim[i].block};
        h = tutti__hash(h, v, sizeof v);
    }
    if (d->n_bounds == 0) return h;
    return tutti__hash(h, d->bounds, (size_t)d->n_bounds * sizeof *d->bounds);
}

int tutti_distribution_ranks(const tutti_distribution *d) {
    return d ? d->ranks : 0;
}

/* ---- one dimension: coordinate p of the process grid */

static tutti_count dim_part_count(const tutti_distribution *d, int dim, int p) {
    const tutti_dist_dim *k = &d->dim[dim];
    if (k->kind == TUTTI_DIST_RAGGED) return k->bounds[p + 1] - k->bounds[p];
    const tutti_count blocks = d->shape[dim] / k->block, rest = d->shape[dim] % k->block;
    const tutti_count whole = blocks / k->procs + (p < blocks % k->procs);
    return whole * k->block + (blocks % k->procs == p ? rest : 0);
}

static tutti_count dim_global_index(const tutti_distribution *d, int dim, int p,
                                    tutti_count local) {
    const tutti_dist_dim *k = &d->dim[dim];
    if (k->kind == TUTTI_DIST_RAGGED) return k->bounds[p] + local;
    return (local / k->block * k->procs + p) * k->block + local % k->block;
}

/* Compute the coordinates of a rank in the process grid. */
static void grid_coordinates(const tutti_distribution *d, int rank, int *coord) {
    for (int i = d->ndims - 1; i >= 0; i--) {
        coord[i] = rank % d->dim[i].procs;
        rank /= d->dim[i].procs;
    }
}

static int is_in_grid(const tutti_distribution *d, int rank) {
    return rank >= 0 && rank < d->ranks;
}

/* ---- all dimensions */

tutti_count tutti_distribution_part(const tutti_distribution *d, int rank, tutti_count *shape_out) {
    int coord[TUTTI_MAX_DIMS] = {0};
    tutti_count all = 1;
    if (!d) return 0;
    if (is_in_grid(d, rank)) grid_coordinates(d, rank, coord);
    for (int i = 0; i < d->ndims; i++) {
        const tutti_count n = is_in_grid(d, rank) ? dim_part_count(d, i, coord[i]) : 0;
        if (!tutti__mul_ok(all, n, &all)) all = INT64_MAX;
        if (shape_out) shape_out[i] = n;
    }
    return all;
}

tutti_err tutti_distribution_local(const tutti_distribution *d, const tutti_count *global,
                                   int *rank_out, tutti_count *local_out) {
    tutti_count local[TUTTI_MAX_DIMS];
    int rank = 0;
    TUTTI_CHECK(d && global, TUTTI_ERR_ARG, "argument %s is NULL", d ? "global" : "d");
    for (int i = 0; i < d->ndims; i++) {
        TUTTI_CHECK(global[i] >= 0 && global[i] < d->shape[i], TUTTI_ERR_ARG,
                    "dimension %d: index %lld is outside the extent %lld", i, (long long)global[i],
                    (long long)d->shape[i]);
        const tutti_dist_dim *k = &d->dim[i];
        int owner;
        if (k->kind == TUTTI_DIST_RAGGED) {
            owner = (int)tutti__interval_of(k->bounds, k->procs, global[i]);
            local[i] = global[i] - k->bounds[owner];
        } else {
            const tutti_count block = global[i] / k->block;
            owner = (int)(block % k->procs);
            local[i] = block / k->procs * k->block + global[i] % k->block;
        }
        rank = rank * k->procs + owner;
    }
    if (rank_out) *rank_out = rank;
    if (local_out) memcpy(local_out, local, (size_t)d->ndims * sizeof *local);
    return TUTTI_OK;
}

tutti_err tutti_distribution_global(const tutti_distribution *d, int rank, const tutti_count *local,
                                    tutti_count *global_out) {
    int coord[TUTTI_MAX_DIMS];
    tutti_count global[TUTTI_MAX_DIMS];
    TUTTI_CHECK(d && local && global_out, TUTTI_ERR_ARG, "argument %s is NULL",
                !d      ? "d"
                : local ? "global_out"
                        : "local");
    TUTTI_CHECK(is_in_grid(d, rank), TUTTI_ERR_ARG, "rank %d is not in the distribution (%d ranks)",
                rank, d->ranks);
    grid_coordinates(d, rank, coord);
    for (int i = 0; i < d->ndims; i++) {
        const tutti_count n = dim_part_count(d, i, coord[i]);
        TUTTI_CHECK(local[i] >= 0 && local[i] < n, TUTTI_ERR_ARG,
                    "dimension %d: local index %lld is outside the part's extent %lld", i,
                    (long long)local[i], (long long)n);
        global[i] = dim_global_index(d, i, coord[i], local[i]);
    }
    memcpy(global_out, global, (size_t)d->ndims * sizeof *global);
    return TUTTI_OK;
}

/* ---- series: a partial block, whole blocks, a partial block */

int tutti__distribution_series(const tutti_distribution *d, int rank, int dim, tutti_count from,
                               tutti_count to, tutti__series out[3]) {
    int coord[TUTTI_MAX_DIMS], n = 0;
    grid_coordinates(d, rank, coord);
    const tutti_dist_dim *k = &d->dim[dim];
    const tutti_count block = k->kind == TUTTI_DIST_RAGGED ? INT64_MAX : k->block;
    for (tutti_count at = from; at < to;) {
        const tutti_count remaining = block - at % block;
        const tutti_count first = dim_global_index(d, dim, coord[dim], at);
        const tutti_count whole = remaining == block ? (to - at) / block : 0;
        tutti__series s = {first, tutti__min(remaining, to - at), 1, 0, at - from};
        if (whole > 1) s = (tutti__series){first, block, whole, block * k->procs, at - from};
        at += s.inner * s.outer;
        out[n++] = s;
    }
    return n;
}
