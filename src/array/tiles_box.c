/* array: boxes of elements: intersection, difference, and copies between packed boxes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles.h"

#include <string.h>

#include "base/memory.h"

int tutti__dim_slow(int ndims, tutti_order order, int i) {
    return order == TUTTI_ROW_MAJOR ? i : ndims - 1 - i;
}

tutti_count tutti__box_count(int ndims, const tutti__box *b) {
    tutti_count n = 1;
    for (int d = 0; d < ndims; d++) {
        if (b->hi[d] <= b->lo[d]) return 0;
        n *= b->hi[d] - b->lo[d];
    }
    return n;
}

tutti_count tutti__box_intersect(int ndims, const tutti__box *a, const tutti__box *b,
                                 tutti__box *out) {
    tutti__box c;
    memset(&c, 0, sizeof c);
    for (int d = 0; d < ndims; d++) {
        c.lo[d] = tutti__max(a->lo[d], b->lo[d]);
        c.hi[d] = tutti__min(a->hi[d], b->hi[d]);
    }
    const tutti_count n = tutti__box_count(ndims, &c);
    if (n == 0) memset(&c, 0, sizeof c);
    *out = c;
    return n;
}

/* Cut the slabs before and after `part` in one dimension, then the slabs of the rest in the next
 * dimension; slabs after `part` in slow dimensions come last. */
int tutti__box_subtract(const tutti__box_layout *g, const tutti__box *whole, const tutti__box *part,
                        tutti__box *out) {
    tutti__box left = *whole, behind[TUTTI_MAX_DIMS];
    int n = 0, later = 0;
    if (tutti__box_count(g->ndims, whole) == 0) return 0;
    if (tutti__box_count(g->ndims, part) == 0) {
        *out = *whole;
        return 1;
    }
    for (int i = 0; i < g->ndims; i++) {
        const int d = tutti__dim_slow(g->ndims, g->order, i);
        if (left.lo[d] < part->lo[d]) {
            out[n] = left;
            out[n++].hi[d] = part->lo[d];
        }
        if (part->hi[d] < left.hi[d]) {
            behind[later] = left;
            behind[later++].lo[d] = part->hi[d];
        }
        left.lo[d] = part->lo[d];
        left.hi[d] = part->hi[d];
    }
    while (later > 0) out[n++] = behind[--later];
    return n;
}

/* Return the position of an element in an array, in elements. */
static tutti_count position_in_array(const tutti__box_layout *g, const tutti_count *shape,
                                     const tutti_count *at) {
    tutti_count p = 0;
    for (int i = 0; i < g->ndims; i++) {
        const int d = tutti__dim_slow(g->ndims, g->order, i);
        p = p * shape[d] + at[d];
    }
    return p;
}

int tutti__box_precedes(const tutti__box_layout *g, const tutti_count *shape, const tutti__box *a,
                        const tutti__box *b) {
    tutti_count last[TUTTI_MAX_DIMS];
    for (int d = 0; d < g->ndims; d++) last[d] = a->hi[d] - 1;
    return position_in_array(g, shape, last) < position_in_array(g, shape, b->lo);
}

/* ---- copying */

/* Return the offset of an element in a packed box, in bytes. */
static tutti_off offset_in_box(const tutti__box_layout *g, const tutti__box *b,
                               const tutti_count *at) {
    tutti_count shape[TUTTI_MAX_DIMS], inside[TUTTI_MAX_DIMS];
    for (int d = 0; d < g->ndims; d++) {
        shape[d] = b->hi[d] - b->lo[d];
        inside[d] = at[d] - b->lo[d];
    }
    return position_in_array(g, shape, inside) * g->element;
}

static int spans_dim(const tutti__box *part, const tutti__box *b, int d) {
    return part->lo[d] == b->lo[d] && part->hi[d] == b->hi[d];
}

void tutti__box_copy(const tutti__box_layout *g, const tutti__box *part, const tutti__packed *from,
                     const tutti__packed *to) {
    tutti_count at[TUTTI_MAX_DIMS];
    int outer, more;
    if (tutti__box_count(g->ndims, part) == 0) return;
    /* n: elements of `part` that are contiguous in both boxes; outer: number of remaining slow
     * dimensions. */
    tutti_count n = 1;
    int i = g->ndims;
    for (int whole = 1; i > 0 && whole; i--) {
        const int d = tutti__dim_slow(g->ndims, g->order, i - 1);
        n *= part->hi[d] - part->lo[d];
        whole = spans_dim(part, from->box, d) && spans_dim(part, to->box, d);
    }
    outer = i;
    const size_t bytes = (size_t)(n * g->element);
    memcpy(at, part->lo, sizeof at);
    do {
        memcpy(to->bytes + offset_in_box(g, to->box, at),
               from->bytes + offset_in_box(g, from->box, at), bytes);
        /* advance to the next position in the `outer` slowest dimensions */
        for (more = outer - 1; more >= 0; more--) {
            const int d = tutti__dim_slow(g->ndims, g->order, more);
            if (++at[d] < part->hi[d]) break;
            at[d] = part->lo[d];
        }
    } while (more >= 0);
}

tutti_slice tutti__box_slice(int ndims, const tutti__box *b) {
    tutti_slice s;
    memset(&s, 0, sizeof s);
    for (int d = 0; d < ndims; d++) {
        s.lo[d] = b->lo[d];
        s.hi[d] = b->hi[d];
        s.stride[d] = 1;
    }
    return s;
}
