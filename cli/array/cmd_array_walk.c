/* tutti array: iteration over sections.  A section is divided into boxes that fit into memory; the fastest
 * dimension is filled first, so that a box is as contiguous as possible.  In each step all ranks make the
 * same collective call: each transfers its part of a box, or rank 0 transfers the whole box and the others
 * nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void reset_walk(array_walk *k, const array_side *s, tutti_order order) {
    *k = (array_walk){.ndims = s->spec.ndims, .more = s->count > 0};
    for (int i = 0; i < k->ndims; i++) {
        k->dim[i] = order == TUTTI_ROW_MAJOR ? k->ndims - 1 - i : i;
        k->shape[i] = s->shape[i];
        k->tile[i] = 1;
    }
}

/* Set the extent of a box in dimension d to as much as fits.  Returns the factor that is left for
 * other dimensions. */
static tutti_count extend_tile(array_walk *k, int d, tutti_count capacity) {
    const tutti_count n = k->shape[d] < capacity ? k->shape[d] : capacity;
    k->tile[d] = n > 1 ? n : 1;
    return capacity / k->tile[d];
}

void array_walk_start(array_walk *k, const array_side *s, tutti_order order, tutti_count most) {
    reset_walk(k, s, order);
    for (int i = 0; i < k->ndims; i++) most = extend_tile(k, k->dim[i], most);
}

static tutti_count largest_part(const array_walk *k, int ranks) {
    tutti_count n = (k->tile[k->cut] + ranks - 1) / ranks;
    for (int d = 0; d < k->ndims; d++)
        if (d != k->cut) n *= k->tile[d];
    return n;
}

tutti_count array_walk_share(array_walk *k, const array_side *s, int other, int ranks,
                             tutti_count most) {
    const int fast = s->spec.order == TUTTI_ROW_MAJOR ? s->spec.ndims - 1 : 0;
    for (tutti_count all = most * ranks;; all -= (all + 7) / 8) {
        if (all < most) all = most; /* a box of `most` elements fits on every rank */
        if (other == fast) {
            array_walk_start(k, s, s->spec.order, all);
        } else { /* about square in dimensions `fast` and `other` */
            reset_walk(k, s, s->spec.order);
            (void)extend_tile(k, other, (tutti_count)fmax(1, sqrt((double)all)));
            tutti_count capacity = all / k->tile[other];
            for (int i = 0; i < k->ndims; i++)
                if (k->dim[i] != other) capacity = extend_tile(k, k->dim[i], capacity);
        }
        /* Divide the slowest dimension of a box if every rank gets an index, otherwise the longest. */
        int cut = k->dim[k->ndims - 1];
        for (int i = k->ndims - 1; i >= 0 && k->tile[cut] < ranks; i--)
            if (k->tile[k->dim[i]] > k->tile[cut]) cut = k->dim[i];
        k->cut = cut;
        if (largest_part(k, ranks) <= most) return largest_part(k, ranks);
    }
}

int array_walk_next(array_walk *k, array_box *out) {
    if (!k->more) return 0;
    for (int d = 0; d < k->ndims; d++) {
        const tutti_count end = k->at[d] + k->tile[d];
        out->lo[d] = k->at[d];
        out->hi[d] = end < k->shape[d] ? end : k->shape[d];
    }
    k->more = 0;
    for (int i = 0; i < k->ndims && !k->more; i++) {
        const int d = k->dim[i];
        k->more = k->shape[d] - k->at[d] > k->tile[d];
        k->at[d] = k->more ? k->at[d] + k->tile[d] : 0;
    }
    return 1;
}

/* ---- boxes */

tutti_count array_box_shape(int ndims, const array_box *box, tutti_count *shape_out) {
    tutti_count n = 1;
    for (int d = 0; d < ndims; d++) {
        const tutti_count extent = box->hi[d] > box->lo[d] ? box->hi[d] - box->lo[d] : 0;
        if (shape_out) shape_out[d] = extent;
        n *= extent;
    }
    return n;
}

array_box array_box_part(const array_walk *k, const array_box *box, int rank, int ranks) {
    const tutti_count extent = box->hi[k->cut] - box->lo[k->cut];
    const tutti_count each = (extent + ranks - 1) / ranks;
    const tutti_count lo = each * rank < extent ? each * rank : extent;
    array_box part = *box;
    part.lo[k->cut] = box->lo[k->cut] + lo;
    part.hi[k->cut] = extent - lo < each ? box->hi[k->cut] : part.lo[k->cut] + each;
    return part;
}

tutti_slice array_slice_none(int ndims) {
    tutti_slice s = {.lo = {0}};
    for (int d = 0; d < ndims; d++) s.stride[d] = 1;
    return s;
}

tutti_slice array_box_slice(const array_side *s, const array_box *box) {
    tutti_slice slice = array_slice_none(s->spec.ndims);
    if (array_box_shape(s->spec.ndims, box, NULL) == 0) return slice;
    for (int d = 0; d < s->spec.ndims; d++) {
        slice.stride[d] = s->slice.stride[d];
        slice.lo[d] = s->slice.lo[d] + box->lo[d] * s->slice.stride[d];
        slice.hi[d] = s->slice.lo[d] + (box->hi[d] - 1) * s->slice.stride[d] + 1;
    }
    return slice;
}

tutti_section array_box_memory(const array_side *s, const array_box *box, tutti_order order) {
    tutti_section m = {.ndims = s->spec.ndims, .order = order};
    m.element_size = s->spec.element_size;
    array_box_shape(m.ndims, box, m.shape);
    for (int d = 0; d < m.ndims; d++) {
        m.hi[d] = m.shape[d];
        m.stride[d] = 1;
    }
    return m;
}

/* ---- rows for rank 0 */

void array_rows_start(array_rows *r, const cli_world *w, const array_config *c,
                      const array_side *s) {
    tutti_count most = c->budget / s->spec.element_size;
    *r = (array_rows){.world = w, .side = s, .what = s->count ? "reading" : ""};
    array_walk_start(&r->walk, s, TUTTI_ROW_MAJOR, most > 0 ? most : 1);
    tutti_count n = 1;
    for (int d = 0; d < s->spec.ndims; d++) n *= r->walk.tile[d];
    if (w->rank == 0) r->buffer = cli_malloc((size_t)(n * s->spec.element_size));
    progress_start(&r->progress, w, 0);
}

int array_rows_next(array_rows *r) {
    const array_side *s = r->side;
    progress_work(&r->progress, r->what, r->done, s->count);
    if (!array_walk_next(&r->walk, &r->box)) return 0;
    const int reads = r->world->rank == 0;
    const tutti_slice slice = reads ? array_box_slice(s, &r->box) : array_slice_none(s->spec.ndims);
    const tutti_section memory = array_box_memory(s, &r->box, TUTTI_ROW_MAJOR);
    r->done += array_box_shape(s->spec.ndims, &r->box, NULL);
    if (tutti_array_read(s->array, &slice, reads ? &memory : NULL, r->buffer) == TUTTI_OK) return 1;
    cli_error_tutti();
    return -1;
}

void array_rows_end(array_rows *r) {
    progress_end(&r->progress);
    free(r->buffer);
    r->buffer = NULL;
}
