/* access: concatenation of sides.  Parts that are CATs are replaced by their parts, and empty parts
 * are removed.  If only RUNs and LISTs are left, their items form one LIST.  Otherwise neighbours
 * are grouped: adjacent RUNs are merged, equal parts at equal distances become a VEC, and a VEC is
 * extended by parts that continue it.  Grouping is repeated as long as it shortens the row, so that
 * nested loops are found.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* An array of parts, which owns their references. */
typedef struct {
    tutti_count n;
    tutti__side *v; /* [n] */
} row;

static void parts_free(tutti_count n, const tutti__side *parts) {
    for (tutti_count i = 0; i < n; i++) tutti__node_unref(parts[i].node);
}

static int is_cat(const tutti__node *n) {
    return n && n->kind == TUTTI__CAT;
}

/* Make a row of the parts without CATs and empty parts; takes ownership of the parts. */
static tutti_err row_take(tutti_count n, const tutti__side *parts, row *out) {
    size_t capacity = 0;
    for (tutti_count i = 0; i < n; i++)
        capacity += is_cat(parts[i].node) ? (size_t)parts[i].node->cat.n : 1;
    row r = {0, tutti__malloc(capacity * sizeof *r.v)};
    if (!r.v) {
        parts_free(n, parts);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n; i++) {
        tutti__node *node = parts[i].node;
        if (is_cat(node)) {
            for (tutti_count k = 0; k < node->cat.n; k++)
                r.v[r.n++] = (tutti__side){parts[i].disp + node->cat.part[k].disp,
                                           tutti__node_ref(node->cat.part[k].node)};
            tutti__node_unref(node);
        } else if (node) {
            r.v[r.n++] = parts[i];
        }
    }
    *out = r;
    return TUTTI_OK;
}

/* ---- rows of RUNs and LISTs */

/* Return the number of items if all parts are RUNs and LISTs, else 0. */
static tutti_count row_items(const row *r) {
    tutti_count items = 0;
    for (tutti_count i = 0; i < r->n; i++) {
        const tutti__node *n = r->v[i].node;
        if (n->kind != TUTTI__RUN && n->kind != TUTTI__LIST) return 0;
        items += n->kind == TUTTI__LIST ? n->list.n : 1;
    }
    return items;
}

/* ---- grouping */

/* `count` copies of `node` with distance `stride`, which replace `parts` parts of the row, starting
 * with index `first`; the row owns the node. */
typedef struct {
    tutti_off disp, stride;
    tutti_count count;
    tutti__node *node;
    tutti_count first, parts;
} group;

/* Return a part as a group; if `open`, a VEC is a group of copies of its child. */
static group part_group(const row *r, tutti_count i, int open) {
    tutti__node *n = r->v[i].node;
    if (open && n->kind == TUTTI__VEC)
        return (group){r->v[i].disp, n->vec.stride, n->vec.count, n->vec.child, i, 1};
    return (group){r->v[i].disp, 0, 1, n, i, 1};
}

/* Extend group a by group b if b continues a; returns 0 if it does not. */
static int group_join(group *a, const group *b) {
    const tutti_off stride = a->count > 1   ? a->stride
                             : b->count > 1 ? b->stride
                                            : b->disp - a->disp;
    tutti_off reach;
    if (b->count > 1 && b->stride != stride) return 0;
    if (a->node->depth + 1 >= TUTTI__MAX_DEPTH) return 0;
    if (!tutti__mul_ok(a->count, stride, &reach) || b->disp - a->disp != reach) return 0;
    if (!tutti__node_equal(a->node, b->node)) return 0;
    a->stride = stride;
    a->count += b->count;
    a->parts += b->parts;
    return 1;
}

/* Store a group as a VEC at index *w of the row, which is advanced.  Single parts, and pairs of
 * parts unless they are the complete row, are stored unchanged, since a VEC of two would not
 * simplify the row. */
static tutti_err group_put(row *r, const group *g, tutti_count *w) {
    const int keep = g->parts == 1 || (g->parts == 2 && g->count == 2 && r->n > 2);
    if (keep) {
        for (tutti_count i = 0; i < g->parts; i++) {
            const tutti__side s = r->v[g->first + i];
            r->v[g->first + i].node = NULL;
            r->v[(*w)++] = s;
        }
        return TUTTI_OK;
    }
    tutti__side made;
    TUTTI_TRY(tutti__side_vec((tutti__side){g->disp, tutti__node_ref(g->node)}, g->count, g->stride,
                              &made));
    for (tutti_count i = 0; i < g->parts; i++) tutti__side_free(&r->v[g->first + i]);
    r->v[(*w)++] = made;
    return TUTTI_OK;
}

/* Group the parts of the row in one pass. */
static tutti_err row_group(row *r, int open) {
    tutti_count w = 0;
    if (r->n < 2) return TUTTI_OK;
    group g = part_group(r, 0, open);
    for (tutti_count i = 1; i < r->n; i++) {
        const group next = part_group(r, i, open);
        if (group_join(&g, &next)) continue;
        TUTTI_TRY(group_put(r, &g, &w));
        g = next;
    }
    TUTTI_TRY(group_put(r, &g, &w));
    r->n = w;
    return TUTTI_OK;
}

/* ---- the node */

/* Compute the derived fields of a CAT whose parts are set. */
static tutti_err cat_describe(tutti__node *n) {
    n->hash = tutti__mix(TUTTI__CAT + 1, (uint64_t)n->cat.n);
    for (tutti_count i = 0; i < n->cat.n; i++) {
        tutti__part *part = &n->cat.part[i];
        const tutti__node *c = part->node;
        const tutti_off lo = part->disp + c->lo, hi = part->disp + c->hi;
        part->start = n->bytes;
        TUTTI_CHECK(tutti__add_ok(n->bytes, c->bytes, &n->bytes) && tutti__off_ok(n->bytes),
                    TUTTI_ERR_OVERFLOW, "parts 0 to %lld of a concatenation exceed 2^62 bytes",
                    (long long)i);
        TUTTI_CHECK(tutti__off_ok(part->disp) && tutti__off_ok(lo) && tutti__off_ok(hi),
                    TUTTI_ERR_OVERFLOW,
                    "part %lld of a concatenation exceeds the range (-2^62, 2^62)", (long long)i);
        const tutti__part *prev = i ? part - 1 : NULL;
        const tutti_off end = prev ? prev->disp + prev->node->hi : 0;
        n->monotone &= c->monotone && (!prev || part->disp >= end);
        n->runs += c->runs - (prev && prev->node->monotone && part->disp == end);
        n->lo = tutti__min(n->lo, lo);
        n->hi = tutti__max(n->hi, hi);
        n->grain = tutti__gcd(tutti__gcd(n->grain, c->grain), part->disp);
        if (c->depth >= n->depth) n->depth = c->depth + 1;
        n->hash = tutti__mix(tutti__mix(n->hash, (uint64_t)part->disp), c->hash);
    }
    return TUTTI_OK;
}

/* Make a CAT of the parts of the row, of which there are two or more; takes ownership of the
 * parts. */
static tutti_err cat_node(row *r, tutti__side *out) {
    tutti__node *n = tutti__malloc(sizeof *n + (size_t)r->n * sizeof(tutti__part));
    if (!n) return TUTTI_ERR_NOMEM;
    *n = (tutti__node){.kind = TUTTI__CAT, .depth = 1, .monotone = 1};
    atomic_init(&n->refs, 1);
    n->cat.n = r->n;
    n->cat.part = (tutti__part *)(n + 1);
    for (tutti_count i = 0; i < r->n; i++)
        n->cat.part[i] = (tutti__part){r->v[i].disp - r->v[0].disp, 0, r->v[i].node};
    const tutti_err err = cat_describe(n);
    if (err != TUTTI_OK) {
        tutti__free(n);
        return err;
    }
    TUTTI_ASSERT(tutti__node_is_valid(n));
    r->n = 0;
    const tutti__side made = {r->v[0].disp, n};
    if (n->depth > TUTTI__MAX_DEPTH) return tutti__side_flatten(made, out);
    *out = made;
    return TUTTI_OK;
}

static tutti_err row_to_side(row *r, tutti__side *out) {
    const tutti_count items = row_items(r);
    if (items > 1 && r->n > 1) {
        tutti_off *offsets = tutti__malloc((size_t)items * 2 * sizeof *offsets);
        if (!offsets) return TUTTI_ERR_NOMEM;
        tutti_off *lengths = offsets + items;
        tutti_count k = 0;
        for (tutti_count i = 0; i < r->n; i++) {
            tutti__cursor c;
            tutti__burst b;
            tutti__cursor_seek(&c, r->v[i], 0);
            for (; tutti__cursor_peek(&c, &b); k++) {
                offsets[k] = b.offset;
                lengths[k] = b.bytes;
                tutti__cursor_skip(&c, b.bytes);
            }
        }
        const tutti_err err = tutti__side_list(k, offsets, lengths, 0, out);
        tutti__free(offsets);
        return err;
    }
    /* merge adjacent RUNs */
    tutti_count w = 0;
    for (tutti_count i = 0; i < r->n;) {
        tutti__side s = r->v[i];
        tutti_count joined = i + 1;
        tutti_off end = s.disp + s.node->bytes;
        if (s.node->kind == TUTTI__RUN)
            for (;
                 joined < r->n && r->v[joined].node->kind == TUTTI__RUN && r->v[joined].disp == end;
                 joined++)
                end += r->v[joined].node->bytes;
        if (joined > i + 1) TUTTI_TRY(tutti__side_run(s.disp, end - s.disp, &s));
        for (tutti_count j = i; j < joined; j++) {
            if (joined > i + 1) tutti__node_unref(r->v[j].node);
            r->v[j].node = NULL;
        }
        r->v[w++] = s;
        i = joined;
    }
    r->n = w;
    for (int open = 1;; open = 0) {
        const tutti_count before = r->n;
        TUTTI_TRY(row_group(r, open));
        if (!open && r->n == before) break;
    }
    if (r->n > 1) return cat_node(r, out);
    *out = r->n ? r->v[0] : (tutti__side){0, NULL};
    r->n = 0;
    return TUTTI_OK;
}

tutti_err tutti__side_cat(tutti_count n, const tutti__side *parts, tutti__side *out) {
    row r;
    for (tutti_count i = 0; i < n; i++) {
        if (tutti__side_fits(parts[i])) continue;
        const tutti_off disp = parts[i].disp;
        parts_free(n, parts);
        TUTTI_FAIL(TUTTI_ERR_OVERFLOW,
                   "part %lld of a concatenation, at offset %lld, exceeds the range (-2^62, 2^62)",
                   (long long)i, (long long)disp);
    }
    TUTTI_TRY(row_take(n, parts, &r));
    const tutti_err err = row_to_side(&r, out);
    parts_free(r.n, r.v);
    tutti__free(r.v);
    return err;
}
