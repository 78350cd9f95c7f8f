/* array: boxes of elements: what two have in common, what is left of one, and copies between packed
 * ones.
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

tutti_count tutti__box_common(int ndims, const tutti__box *a, const tutti__box *b,
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

/* What lies before and behind `part` in one dimension, then the same of what is left in the next
 * one; what lies behind in a slow dimension comes last. */
int tutti__box_rest(const tutti__grain *g, const tutti__box *whole, const tutti__box *part,
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

/* Where an element of an array is, in elements. */
static tutti_count position(const tutti__grain *g, const tutti_count *shape,
                            const tutti_count *at) {
    tutti_count p = 0;
    for (int i = 0; i < g->ndims; i++) {
        const int d = tutti__dim_slow(g->ndims, g->order, i);
        p = p * shape[d] + at[d];
    }
    return p;
}

int tutti__box_in_turn(const tutti__grain *g, const tutti_count *shape, const tutti__box *a,
                       const tutti__box *b) {
    tutti_count last[TUTTI_MAX_DIMS];
    for (int d = 0; d < g->ndims; d++) last[d] = a->hi[d] - 1;
    return position(g, shape, last) < position(g, shape, b->lo);
}

/* ---- copying */

/* Where a packed box's element is, in bytes. */
static tutti_off place(const tutti__grain *g, const tutti__box *b, const tutti_count *at) {
    tutti_count shape[TUTTI_MAX_DIMS], inside[TUTTI_MAX_DIMS];
    for (int d = 0; d < g->ndims; d++) {
        shape[d] = b->hi[d] - b->lo[d];
        inside[d] = at[d] - b->lo[d];
    }
    return position(g, shape, inside) * g->element;
}

static int spans(const tutti__box *part, const tutti__box *b, int d) {
    return part->lo[d] == b->lo[d] && part->hi[d] == b->hi[d];
}

/* Elements of `part` that lie in one piece in both, and how many slow dimensions are left to go
 * through. */
static tutti_count piece(const tutti__grain *g, const tutti__box *part, const tutti__packed *from,
                         const tutti__packed *to, int *outer_out) {
    tutti_count n = 1;
    int i = g->ndims;
    for (int whole = 1; i > 0 && whole; i--) {
        const int d = tutti__dim_slow(g->ndims, g->order, i - 1);
        n *= part->hi[d] - part->lo[d];
        whole = spans(part, from->box, d) && spans(part, to->box, d);
    }
    *outer_out = i;
    return n;
}

/* The next place in the `outer` slowest dimensions; 0: there is none. */
static int advance(const tutti__grain *g, const tutti__box *part, int outer, tutti_count *at) {
    for (int i = outer - 1; i >= 0; i--) {
        const int d = tutti__dim_slow(g->ndims, g->order, i);
        if (++at[d] < part->hi[d]) return 1;
        at[d] = part->lo[d];
    }
    return 0;
}

void tutti__box_copy(const tutti__grain *g, const tutti__box *part, const tutti__packed *from,
                     const tutti__packed *to) {
    tutti_count at[TUTTI_MAX_DIMS];
    int outer;
    if (tutti__box_count(g->ndims, part) == 0) return;
    const size_t bytes = (size_t)(piece(g, part, from, to, &outer) * g->element);
    memcpy(at, part->lo, sizeof at);
    do {
        memcpy(to->bytes + place(g, to->box, at), from->bytes + place(g, from->box, at), bytes);
    } while (advance(g, part, outer, at));
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
