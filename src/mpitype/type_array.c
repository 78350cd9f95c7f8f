/* mpitype: sides of the constructors SUBARRAY and DARRAY.
 *
 * The element is repeated along one dimension after the other, the fastest dimension first.  A
 * block of indices is one VEC node; a cyclic distribution is a VEC of complete blocks and, if the
 * array ends within a block, a shorter block.
 *
 *   cyclic(2) over 3 processes, process 1:   . . x x . . . . x x . . . . x
 *                                                '- complete blocks -'   '- shorter block
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpitype/mpitype_impl.h"

/* The selected indices of one dimension: blocks of `block` indices that begin at first, first +
 * period, ... and are truncated at `end`. */
typedef struct {
    tutti_count first, block, period, end;
} index_set;

/* Place copies of the element at all selected indices, `stride` bytes apart; the caller still owns
 * `element`. */
static tutti_err repeat_element(tutti__side element, const index_set *x, tutti_off stride,
                                tutti__side *out) {
    const tutti_count span = x->end - x->first;
    tutti_count whole = 0, rest = 0; /* complete blocks; indices of the last, shorter block */
    tutti_off first, period = 0, after = 0;
    tutti__side part[2] = {{0, NULL}, {0, NULL}}, block, all;
    if (span > 0 && x->block > 0) {
        const tutti_count started = (span - 1) / x->period + 1;
        const tutti_count last = tutti__min(span - (started - 1) * x->period, x->block);
        whole = last == x->block ? started : started - 1;
        rest = last == x->block ? 0 : last;
    }
    TUTTI_TRY(tutti__off_mul(x->first, stride, &first));
    if (whole > 1) TUTTI_TRY(tutti__off_mul(x->period, stride, &period));
    if (rest) TUTTI_TRY(tutti__off_mul(whole * x->period, stride, &after));
    TUTTI_TRY(tutti__side_vec(tutti__side_share(element), whole ? x->block : 0, stride, &block));
    TUTTI_TRY(tutti__side_vec(block, whole, period, &part[0]));
    tutti_err err = tutti__side_vec(tutti__side_share(element), rest, stride, &block);
    if (err == TUTTI_OK) err = tutti__side_shift(block, after, &part[1]);
    if (err != TUTTI_OK) {
        tutti__side_free(&part[0]);
        return err;
    }
    TUTTI_TRY(tutti__side_cat(2, part, &all));
    return tutti__side_shift(all, first, out);
}

/* Parameters of SUBARRAY or DARRAY. */
typedef struct {
    tutti_count ndims;
    const tutti_off *size; /* [ndims] size of the complete array */
    int fortran;           /* whether the first dimension is the fastest */
    const tutti__contents *contents;
    /* Set *x to the selected indices of dimension `dim`. */
    void (*select)(const tutti__contents *c, tutti_count dim, index_set *x);
} array_shape;

static tutti_err repeat_in_dims(const tutti__layout *child, const array_shape *a,
                                tutti__side *out) {
    tutti__side side = tutti__side_share(child->side);
    tutti_off stride = child->extent;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < a->ndims && err == TUTTI_OK; i++) {
        const tutti_count d = a->fortran ? i : a->ndims - 1 - i;
        tutti__side wrapped;
        index_set x;
        a->select(a->contents, d, &x);
        err = repeat_element(side, &x, stride, &wrapped);
        if (err != TUTTI_OK) break;
        tutti__side_free(&side);
        side = wrapped;
        if (i + 1 < a->ndims) err = tutti__off_mul(stride, a->size[d], &stride);
    }
    if (err == TUTTI_OK)
        *out = side;
    else
        tutti__side_free(&side);
    return err;
}

/* ---- SUBARRAY: ndims, sizes, subsizes, starts, order */

static void select_block(const tutti__contents *c, tutti_count dim, index_set *x) {
    const tutti_count ndims = c->number[0];
    const tutti_off length = c->number[1 + ndims + dim], start = c->number[1 + 2 * ndims + dim];
    *x = (index_set){
        .first = start, .block = length, .period = tutti__max(length, 1), .end = start + length};
}

tutti_err tutti__side_subarray(const tutti__layout *child, const tutti__contents *c,
                               tutti__side *out) {
    const array_shape a = {.ndims = c->number[0],
                           .size = c->number + 1,
                           .fortran = c->number[c->numbers - 1] == MPI_ORDER_FORTRAN,
                           .contents = c,
                           .select = select_block};
    return repeat_in_dims(child, &a, out);
}

/* ---- DARRAY: size, rank, ndims, gsizes, distribs, dargs, psizes, order */

static void select_distributed(const tutti__contents *c, tutti_count dim, index_set *x) {
    const tutti_count ndims = c->number[2];
    const tutti_off *gsize = c->number + 3, *distrib = gsize + ndims, *arg = distrib + ndims;
    const tutti_off *psize = arg + ndims;
    const tutti_count n = gsize[dim], procs = psize[dim];
    tutti_count me = c->number[1], block = arg[dim];
    /* the process grid is row-major, whatever the order of the array */
    for (tutti_count d = ndims - 1; d > dim; d--) me /= psize[d];
    me %= procs;
    if (distrib[dim] == MPI_DISTRIBUTE_NONE) {
        *x = (index_set){.first = 0, .block = n, .period = tutti__max(n, 1), .end = n};
        return;
    }
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = distrib[dim] == MPI_DISTRIBUTE_BLOCK ? (n - 1) / procs + 1 : 1;
    *x = (index_set){.first = me * block, .block = block, .period = block * procs, .end = n};
}

tutti_err tutti__side_darray(const tutti__layout *child, const tutti__contents *c,
                             tutti__side *out) {
    const array_shape a = {.ndims = c->number[2],
                           .size = c->number + 3,
                           .fortran = c->number[c->numbers - 1] == MPI_ORDER_FORTRAN,
                           .contents = c,
                           .select = select_distributed};
    return repeat_in_dims(child, &a, out);
}
