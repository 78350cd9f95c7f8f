/* access: checking the validity of nodes and their derived fields, for TUTTI_ASSERT in debug and
 * sanitizer builds, and for tests.  tutti__node_is_valid compares a node with its children only,
 * for constructors; tutti__side_is_valid checks all nodes of a side.  The items of a LIST are not
 * read, since they were checked when its marks were set.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

static int vec_is_valid(const tutti__node *n) {
    const tutti__node *c = n->vec.child;
    tutti_off reach, bytes;
    if (n->vec.count < 2 || !c || n->depth != c->depth + 1) return 0;
    if (!tutti__mul_ok(n->vec.count - 1, n->vec.stride, &reach) ||
        !tutti__mul_ok(n->vec.count, c->bytes, &bytes))
        return 0;
    /* adjacent copies must be one RUN */
    if (c->kind == TUTTI__RUN && n->vec.stride == c->bytes) return 0;
    return n->bytes == bytes && n->monotone == (c->monotone && n->vec.stride >= c->hi) &&
           n->lo == c->lo + tutti__min(0, reach) && n->hi == c->hi + tutti__max(0, reach) &&
           n->grain == tutti__gcd(c->grain, n->vec.stride);
}

static int list_is_valid(const tutti__node *n) {
    const tutti_count items = n->list.n;
    const tutti_off fixed = n->list.fixed;
    if (items < 2 || n->depth != 1 || n->runs != items || fixed < 0) return 0;
    if (n->list.shift < 0 || n->list.shift > TUTTI__MAX_SHIFT) return 0;
    if (fixed ? n->bytes != items * fixed : n->bytes < items) return 0;
    if (n->list.code_size < (size_t)items * (fixed ? 1 : 2)) return 0;
    const tutti__mark *first = n->list.mark, *last = first + (items - 1) / TUTTI__MARK_EVERY;
    return first->offset == 0 && first->start == 0 && first->code == 0 && last->start < n->bytes &&
           last->code < n->list.code_size && last->offset >= n->lo && last->offset < n->hi;
}

static int cat_is_valid(const tutti__node *n) {
    tutti_off bytes = 0, lo = 0, hi = 0, end = 0, grain = 0;
    int depth = 0, monotone = 1;
    if (n->cat.n < 2 || n->cat.part[0].disp != 0) return 0;
    for (tutti_count i = 0; i < n->cat.n; i++) {
        const tutti__part *p = &n->cat.part[i];
        const tutti__node *c = p->node;
        if (!c || c->kind == TUTTI__CAT || p->start != bytes) return 0;
        monotone &= c->monotone && (i == 0 || p->disp >= end);
        end = p->disp + c->hi;
        bytes += c->bytes;
        lo = tutti__min(lo, p->disp + c->lo);
        hi = tutti__max(hi, end);
        grain = tutti__gcd(tutti__gcd(grain, c->grain), p->disp);
        if (c->depth > depth) depth = c->depth;
    }
    return n->bytes == bytes && n->lo == lo && n->hi == hi && n->grain == grain &&
           n->depth == depth + 1 && n->monotone == monotone;
}

int tutti__node_is_valid(const tutti__node *n) {
    if (!n || atomic_load(&n->refs) < 1) return 0;
    if (n->bytes < 1 || n->runs < 1 || n->runs > n->bytes || n->grain < 1) return 0;
    if (n->lo > 0 || n->hi < 1 || !tutti__off_ok(n->lo) || !tutti__off_ok(n->hi)) return 0;
    if (n->monotone && (n->lo != 0 || n->hi < n->bytes)) return 0;
    switch (n->kind) {
    case TUTTI__RUN:
        return n->depth == 1 && n->monotone && n->hi == n->bytes && n->runs == 1 &&
               n->grain == n->bytes;
    case TUTTI__VEC:
        return vec_is_valid(n);
    case TUTTI__LIST:
        return list_is_valid(n);
    case TUTTI__CAT:
        return cat_is_valid(n);
    }
    return 0;
}

static int tree_is_valid(const tutti__node *n) {
    if (!tutti__node_is_valid(n)) return 0;
    if (n->kind == TUTTI__VEC) return tree_is_valid(n->vec.child);
    for (tutti_count i = 0; n->kind == TUTTI__CAT && i < n->cat.n; i++)
        if (!tree_is_valid(n->cat.part[i].node)) return 0;
    return 1;
}

int tutti__side_is_valid(tutti__side s) {
    if (!s.node) return 1;
    return tutti__side_fits(s) && s.node->depth <= TUTTI__MAX_DEPTH && tree_is_valid(s.node);
}

int tutti__access_is_valid(const tutti_access *a) {
    const tutti__mapping *r = &a->repeats;
    if (!tutti__side_is_valid(a->file) || !tutti__side_is_valid(a->memory) ||
        !tutti__side_is_valid(r->file) || !tutti__side_is_valid(r->memory))
        return 0;
    if (tutti__side_bytes(a->file) != tutti__side_bytes(a->memory) ||
        tutti__side_bytes(r->file) != tutti__side_bytes(r->memory))
        return 0;
    if (!tutti__side_monotone(a->file) || tutti__side_lo(a->file) < 0) return 0;
    return !r->file.node || (a->file.node && tutti__side_lo(r->file) >= tutti__side_lo(a->file) &&
                             tutti__side_hi(r->file) <= tutti__side_hi(a->file));
}
