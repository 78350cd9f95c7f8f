/* access: constructors of nodes.  Every constructor returns a normal form, so that different
 * descriptions of the same bytes mostly give the same, small tree:
 *   - the first stream byte is at the origin of the node; displacements are added to the parent;
 *   - a VEC of adjacent copies is replaced by a longer RUN or loop;
 *   - the depth of trees is at most TUTTI__MAX_DEPTH, and that of a VEC one less, so that a divided
 *     VEC, which is in a CAT, need not be flattened; deeper trees become a LIST.
 * The derived fields of a node (bounds, bytes, runs, grain, order, hash) are computed when it is
 * created.  Concatenations are in node_cat.c, lists in side_list.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

tutti__node *tutti__node_ref(tutti__node *n) {
    if (n) atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

/* Marks, code and parts are in the memory block of the node. */
void tutti__node_unref(tutti__node *n) {
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) > 1) return;
    if (n->kind == TUTTI__VEC) tutti__node_unref(n->vec.child);
    if (n->kind == TUTTI__CAT)
        for (tutti_count i = 0; i < n->cat.n; i++) tutti__node_unref(n->cat.part[i].node);
    tutti__free(n);
}

void tutti__side_free(tutti__side *s) {
    tutti__node_unref(s->node);
    *s = (tutti__side){0, NULL};
}

tutti_err tutti__node_run(tutti_off bytes, tutti__node **out) {
    /* callers make an empty side of runs of length 0 */
    TUTTI_CHECK(bytes > 0, TUTTI_ERR_ARG, "length of a run is %lld: must be >= 0",
                (long long)bytes);
    TUTTI_CHECK(bytes <= TUTTI__OFF_LIMIT, TUTTI_ERR_OVERFLOW,
                "length of a run is %lld: must be < 2^62", (long long)bytes);
    tutti__node *n = tutti__malloc(sizeof *n);
    if (!n) return TUTTI_ERR_NOMEM;
    *n = (tutti__node){.kind = TUTTI__RUN,
                       .depth = 1,
                       .monotone = 1,
                       .bytes = bytes,
                       .hi = bytes,
                       .runs = 1,
                       .grain = bytes,
                       .hash = tutti__mix(TUTTI__RUN + 1, (uint64_t)bytes)};
    atomic_init(&n->refs, 1);
    *out = n;
    return TUTTI_OK;
}

tutti_err tutti__side_run(tutti_off offset, tutti_off bytes, tutti__side *out) {
    if (bytes == 0) {
        *out = (tutti__side){0, NULL};
        return TUTTI_OK;
    }
    TUTTI_CHECK(tutti__off_ok(offset) && (bytes < 0 || offset <= TUTTI__OFF_LIMIT - bytes),
                TUTTI_ERR_OVERFLOW,
                "run of %lld bytes at offset %lld exceeds the range (-2^62, 2^62)",
                (long long)bytes, (long long)offset);
    tutti__node *n = NULL;
    TUTTI_TRY(tutti__node_run(bytes, &n));
    *out = (tutti__side){offset, n};
    return TUTTI_OK;
}

/* Make a VEC of `count` >= 2 copies, which are not adjacent; fails on overflow.  Takes ownership of
 * the reference to `c`. */
static tutti_err vec_node(tutti__node *c, tutti_count count, tutti_off stride, tutti__node **out) {
    tutti_off reach, bytes;
    tutti_err err = TUTTI_OK;
    tutti__node *n = NULL;
    if (!tutti__mul_ok(count - 1, stride, &reach) || !tutti__off_ok(reach) ||
        !tutti__mul_ok(count, c->bytes, &bytes) || !tutti__off_ok(bytes) ||
        !tutti__off_ok(c->lo + reach) || !tutti__off_ok(c->hi + reach))
        err = tutti__error_set(
            TUTTI_ERR_OVERFLOW, 0, -1,
            "loop of %lld copies of %lld bytes with stride %lld has a size or an offset >= 2^62",
            (long long)count, (long long)c->bytes, (long long)stride);
    else if ((n = tutti__malloc(sizeof *n)) == NULL)
        err = TUTTI_ERR_NOMEM;
    if (err != TUTTI_OK) {
        tutti__node_unref(c);
        return err;
    }
    const int adjacent = c->monotone && c->hi == stride;
    const uint64_t h = tutti__mix(tutti__mix(TUTTI__VEC + 1, (uint64_t)count), (uint64_t)stride);
    *n = (tutti__node){.kind = TUTTI__VEC,
                       .depth = c->depth + 1,
                       .monotone = c->monotone && stride >= c->hi,
                       .bytes = bytes,
                       .lo = c->lo + tutti__min(0, reach),
                       .hi = c->hi + tutti__max(0, reach),
                       .runs = count * c->runs - (adjacent ? count - 1 : 0),
                       .grain = tutti__gcd(c->grain, stride),
                       .hash = tutti__mix(h, c->hash)};
    atomic_init(&n->refs, 1);
    n->vec.count = count;
    n->vec.stride = stride;
    n->vec.child = c;
    TUTTI_ASSERT(tutti__node_is_valid(n));
    *out = n;
    return TUTTI_OK;
}

/* Make `count` >= 2 copies of a node.  Adjacent copies of a RUN become one RUN, and copies of a
 * loop that continue it become one longer loop.  Takes ownership of the reference. */
static tutti_err copies_node(tutti__node *child, tutti_count count, tutti_off stride,
                             tutti__node **out) {
    tutti_off span, total = 0;
    if (child->kind == TUTTI__RUN && stride == child->bytes) {
        const int fits = tutti__mul_ok(count, child->bytes, &total);
        tutti__node_unref(child);
        TUTTI_CHECK(fits, TUTTI_ERR_OVERFLOW, "%lld adjacent runs of %lld bytes exceed 2^62 bytes",
                    (long long)count, (long long)stride);
        return tutti__node_run(total, out);
    }
    if (child->kind == TUTTI__VEC && tutti__mul_ok(child->vec.count, child->vec.stride, &span) &&
        span == stride) {
        tutti__node *inner = tutti__node_ref(child->vec.child);
        const int fits = tutti__mul_ok(count, child->vec.count, &total);
        stride = child->vec.stride;
        tutti__node_unref(child);
        if (!fits) tutti__node_unref(inner);
        TUTTI_CHECK(fits, TUTTI_ERR_OVERFLOW,
                    "%lld copies of a loop have more than 2^63 iterations", (long long)count);
        return vec_node(inner, total, stride, out);
    }
    return vec_node(child, count, stride, out);
}

tutti_err tutti__side_nest(tutti__side child, tutti_count count, tutti_off stride,
                           tutti__side *out) {
    tutti__side made = {child.disp, NULL};
    tutti_err err = TUTTI_OK;
    if (count <= 0 || !child.node) {
        tutti__side_free(&child);
        TUTTI_CHECK(count >= 0, TUTTI_ERR_ARG, "count is %lld: must be >= 0", (long long)count);
        made.disp = 0;
    } else if (count == 1)
        made.node = child.node;
    else
        err = copies_node(child.node, count, stride, &made.node);
    if (err != TUTTI_OK) return err;
    if (!tutti__side_fits(made)) {
        tutti__side_free(&made);
        TUTTI_FAIL(TUTTI_ERR_OVERFLOW,
                   "%lld copies with stride %lld from offset %lld exceed the range (-2^62, 2^62)",
                   (long long)count, (long long)stride, (long long)child.disp);
    }
    *out = made;
    return TUTTI_OK;
}
