/* Random sides for the tests of sets and copies, and lists of the offsets of their bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SIDE_ZOO_H
#define TUTTI_TESTS_SIDE_ZOO_H

#include "check.h"
#include "access/node.h"

static inline tutti__side zoo_run(tutti_off at, tutti_off bytes) {
    tutti__side s = {0, NULL};
    CHECK_OK(tutti__side_run(at, bytes, &s));
    return s;
}
static inline tutti__side zoo_vec(tutti__side child, tutti_count count, tutti_off stride) {
    tutti__side s = {0, NULL};
    CHECK_OK(tutti__side_vec(child, count, stride, &s));
    return s;
}
static inline tutti__side zoo_moved(tutti__side s, tutti_off by) {
    return (tutti__side){s.disp + by, s.node};
}
static inline tutti__side zoo_again(tutti__side s) {
    tutti__node_ref(s.node);
    return s;
}

/* Create a random list: ascending if `monotone`, otherwise shuffled; items have equal or different
 * lengths. */
static inline tutti__side zoo_list(int monotone) {
    enum { MOST = 200 };
    const int n = 1 + (int)rnd(rnd(4) ? 12 : MOST);
    const tutti_off fixed = rnd(2) ? (tutti_off)1 << rnd(7) : 0;
    tutti_off at[MOST], length[MOST], end = 0;
    tutti__side s = {0, NULL};
    for (int i = 0; i < n; i++) {
        length[i] = fixed ? fixed : 1 + rnd(rnd(8) ? 20 : 400);
        at[i] = end + rnd(rnd(8) ? 30 : 3000) * rnd(2);
        end = at[i] + length[i];
    }
    for (int i = n - 1; i > 0 && !monotone; i--) {
        const int k = (int)rnd(i + 1);
        const tutti_off a = at[i], l = length[i];
        at[i] = at[k], length[i] = length[k];
        at[k] = a, length[k] = l;
    }
    CHECK_OK(tutti__side_list(n, at, fixed ? NULL : length, fixed, &s));
    return s;
}

static inline tutti__side zoo_any(int depth, int monotone);

static inline tutti__side zoo_loop(int depth, int monotone) {
    const tutti__side child = zoo_any(depth - 1, monotone);
    const tutti_off extent = tutti__side_hi(child) - tutti__side_lo(child);
    tutti_off stride = extent + rnd(2) * rnd(40);
    if (!monotone && rnd(2)) stride = rnd(3) ? -stride : 1 + rnd(2 * extent);
    return zoo_vec(child, 1 + rnd(9), stride);
}

static inline tutti__side zoo_cat(int depth, int monotone) {
    tutti__side part[5], s = {0, NULL};
    const int n = 1 + (int)rnd(5);
    tutti_off end = 0;
    for (int i = 0; i < n; i++) {
        part[i] = zoo_any(depth - 1, monotone);
        part[i].disp += end + rnd(2) * rnd(50) - tutti__side_lo(part[i]);
        end = tutti__side_hi(part[i]);
    }
    for (int i = n - 1; i > 0 && !monotone; i--) {
        const int k = (int)rnd(i + 1);
        const tutti__side t = part[i];
        part[i] = part[k];
        part[k] = t;
    }
    CHECK_OK(tutti__side_cat(n, part, &s));
    return s;
}

static inline tutti__side zoo_any(int depth, int monotone) {
    const int64_t kind = depth > 1 ? rnd(4) : 3 * rnd(2);
    if (kind == 0) return zoo_run(rnd(100), 1 + rnd(rnd(4) ? 24 : 2000));
    if (kind == 1) return zoo_loop(depth, monotone);
    if (kind == 2) return zoo_cat(depth, monotone);
    return zoo_list(monotone);
}

/* Store the offset of every byte of a node, in stream order, at `to`; return the end of the list. */
static inline tutti_off *zoo_expand(const tutti__node *n, tutti_off origin, tutti_off *to) {
    size_t code = 0;
    tutti_off at = origin;
    if (!n) return to;
    switch (n->kind) {
    case TUTTI__RUN:
        for (tutti_off i = 0; i < n->bytes; i++) *to++ = origin + i;
        break;
    case TUTTI__VEC:
        for (tutti_count i = 0; i < n->vec.count; i++)
            to = zoo_expand(n->vec.child, origin + i * n->vec.stride, to);
        break;
    case TUTTI__CAT:
        for (tutti_count i = 0; i < n->cat.n; i++)
            to = zoo_expand(n->cat.part[i].node, origin + n->cat.part[i].disp, to);
        break;
    case TUTTI__LIST:
        for (tutti_count i = 0; i < n->list.n; i++) {
            const tutti_off gap = tutti__list_gap(n, &code);
            tutti_off length = tutti__list_length(n, &code);
            if (i > 0) at += gap;
            if (i == 0) at = origin + n->list.mark[0].offset;
            for (; length > 0; length--) *to++ = at++;
        }
        break;
    }
    return to;
}

static inline tutti_off *zoo_bytes(tutti__side s) {
    tutti_off *at = malloc((size_t)(tutti__side_bytes(s) + 1) * sizeof *at);
    const tutti_off *end = zoo_expand(s.node, s.disp, at);
    CHECK_EQ(end - at, tutti__side_bytes(s));
    return at;
}

#endif
