/* access: batches of accesses: parts, their union, and their use in an operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/batch.h"

#include <stdlib.h>
#include "access/node.h"

/* ---- parts */

/* Return whether the lengths of all runs are multiples of `unit` bytes. */
static int node_is_whole(const tutti__node *n, tutti_off unit) {
    if (n->grain % unit == 0) return 1; /* the usual case */
    switch (n->kind) {
    case TUTTI__RUN:
        return n->bytes % unit == 0;
    case TUTTI__VEC:
        return node_is_whole(n->vec.child, unit);
    case TUTTI__CAT:
        for (tutti_count i = 0; i < n->cat.n; i++)
            if (!node_is_whole(n->cat.part[i].node, unit)) return 0;
        return 1;
    case TUTTI__LIST:
        break;
    }
    if (n->list.fixed) return n->list.fixed % unit == 0;
    tutti__cursor c;
    tutti__burst b;
    tutti__node *list = (tutti__node *)(uintptr_t)n; /* the cursor does not modify the node */
    tutti__cursor_seek(&c, (tutti__side){0, list}, 0);
    for (; tutti__cursor_peek(&c, &b); tutti__cursor_skip(&c, b.bytes))
        if (b.bytes % unit != 0) return 0;
    return 1;
}

static int is_whole(tutti__side s, tutti_off unit) {
    return !s.node || node_is_whole(s.node, unit);
}

/* Return whether all repeats start at the start of an element of the stream. */
static int repeats_are_aligned(const tutti_access *a, tutti_off unit) {
    const tutti__side s = a->file, r = a->repeats.file;
    tutti__cursor c;
    tutti__burst b;
    if (!r.node || unit == 1) return 1;
    if (s.node->grain % unit == 0 && r.node->grain % unit == 0 && (r.disp - s.disp) % unit == 0)
        return 1; /* the usual case */
    tutti__cursor_seek(&c, r, 0);
    for (; tutti__cursor_peek(&c, &b); tutti__cursor_skip(&c, b.bytes))
        if (tutti__side_tell(s, b.offset) % unit != 0) return 0;
    return 1;
}

/* Return whether scaled memory offsets fit in 64 bits and are integers. */
static int is_scalable(tutti__side s, const tutti__conversion *c) {
    const tutti_off limit = TUTTI__OFF_LIMIT / 16;
    if (!s.node) return 1;
    if (tutti__side_lo(s) < -limit || tutti__side_hi(s) > limit) return 0;
    return s.disp % c->scale.file == 0 && s.node->grain % c->scale.file == 0;
}

static tutti_err conversion_of(const tutti_conversion *in, tutti__conversion *out) {
    TUTTI_CHECK_RESERVED(in, "tutti_conversion");
    const int is_bytes = in->file_type == TUTTI_BYTES;
    TUTTI_CHECK(is_bytes == (in->memory_type == TUTTI_BYTES), TUTTI_ERR_ARG,
                "file_type is %d and memory_type is %d: both or neither must be TUTTI_BYTES",
                (int)in->file_type, (int)in->memory_type);
    if (is_bytes) {
        *out =
            (tutti__conversion){.identity = 1, .file_size = 1, .memory_size = 1, .scale = {1, 1}};
        return TUTTI_OK;
    }
    return tutti__conversion_make(in, out);
}

tutti_err tutti__batch_put(tutti__batch *b, int i, const tutti_access *a,
                           const tutti_conversion *convert) {
    tutti__conversion c;
    const tutti_off bytes = tutti_access_bytes(a);
    TUTTI_TRY(conversion_of(convert, &c));
    const int whole = is_whole(a->file, c.file_size) && is_whole(a->memory, c.file_size) &&
                      is_whole(a->repeats.file, c.file_size) &&
                      is_whole(a->repeats.memory, c.file_size);
    TUTTI_CHECK(whole, TUTTI_ERR_ARG,
                "part %d: lengths of runs are not multiples of the element size, %d bytes", i,
                c.file_size);
    TUTTI_CHECK(repeats_are_aligned(a, c.file_size), TUTTI_ERR_ARG,
                "part %d: repeated bytes do not consist of complete elements", i);
    TUTTI_CHECK(c.identity || (is_scalable(a->memory, &c) && is_scalable(a->repeats.memory, &c)),
                TUTTI_ERR_ARG,
                "part %d: memory offsets must be multiples of %d bytes, and below 2^58", i,
                (int)c.scale.file);
    TUTTI_CHECK(tutti__add_ok(b->bytes, bytes, &b->bytes), TUTTI_ERR_OVERFLOW,
                "parts 0 to %d have more than 2^63 bytes", i);
    b->part[i] = (tutti__batch_part){tutti__access_share(a), c};
    b->converts |= !c.identity;
    if (bytes > 0 && (b->largest < 0 || bytes > tutti_access_bytes(&b->part[b->largest].access)))
        b->largest = i;
    return TUTTI_OK;
}

/* ---- all parts */

tutti_err tutti__batch_make(int n, tutti__batch **out) {
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "number of parts is %d: must be >= 0", n);
    tutti__batch *b = tutti__calloc(1, sizeof *b + (size_t)n * sizeof b->part[0]);
    if (!b) return TUTTI_ERR_NOMEM;
    atomic_init(&b->refs, 1);
    b->n = n;
    b->largest = -1;
    *out = b;
    return TUTTI_OK;
}

tutti__batch *tutti__batch_ref(tutti__batch *b) {
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void tutti__batch_drop(tutti__batch **pb) {
    tutti__batch *b = *pb;
    *pb = NULL;
    if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) > 1) return;
    for (int i = 0; i < b->n; i++) tutti__access_drop(&b->part[i].access);
    tutti__access_drop(&b->all);
    tutti__free(b);
}

/* Return the memory use of a side without the node `counted`; parts with the same decomposition
 * share nodes. */
static size_t size_beside(tutti__side s, const tutti__node *counted) {
    const tutti__node *n = s.node;
    if (n && n->kind == TUTTI__VEC && n->vec.child == counted) return sizeof s + sizeof *n;
    return n == counted ? sizeof s : tutti__side_size(s);
}

size_t tutti__batch_size(const tutti__batch *b) {
    const tutti__node *file = NULL, *memory = NULL;
    size_t size = sizeof *b;
    for (int i = 0; i < b->n; i++) {
        const tutti_access *a = &b->part[i].access;
        size += sizeof b->part[0] + size_beside(a->file, file) + size_beside(a->memory, memory);
        size += tutti__side_size(a->repeats.file) + tutti__side_size(a->repeats.memory);
        file = a->file.node;
        memory = a->memory.node;
    }
    return size + size_beside(b->all.file, file) + tutti__side_size(b->all.memory);
}

static int by_offset(const void *a, const void *b) {
    const tutti_off x = tutti__side_lo(*(const tutti__side *)a);
    const tutti_off y = tutti__side_lo(*(const tutti__side *)b);
    return (x > y) - (x < y);
}

static tutti_err unite_sides(int n, tutti__side *sides, tutti__side *out);

/* Return whether all sides repeat with the same count and stride, and one period of all sides fits
 * into the stride, as for record variables. */
static int are_records(int n, const tutti__side *sides) {
    const tutti__node *first = sides[0].node;
    tutti_off end = 0;
    for (int i = 0; i < n; i++) {
        const tutti__node *v = sides[i].node;
        if (v->kind != TUTTI__VEC || first->vec.count != v->vec.count ||
            first->vec.stride != v->vec.stride)
            return 0;
        end = tutti__max(end, tutti__side_hi((tutti__side){sides[i].disp, v->vec.child}));
    }
    return end - tutti__side_lo(sides[0]) <= first->vec.stride;
}

/* Return whether the sides are equal lists at equal distances, as for variables with the same
 * decomposition. */
static int are_copies(int n, const tutti__side *sides) {
    const tutti__node *first = sides[0].node;
    const tutti_off stride = n > 1 ? sides[1].disp - sides[0].disp : 0;
    if (n < 2 || first->kind != TUTTI__LIST) return 0;
    for (int i = 1; i < n; i++)
        if (sides[i].disp - sides[i - 1].disp != stride || !tutti__node_equal(first, sides[i].node))
            return 0;
    return 1;
}

/* Make the union of n sides, which are reordered. */
static tutti_err unite_sides(int n, tutti__side *sides, tutti__side *out) {
    int apart = 1;
    qsort(sides, (size_t)n, sizeof *sides, by_offset);
    for (int i = 1; i < n; i++) apart &= tutti__side_hi(sides[i - 1]) <= tutti__side_lo(sides[i]);
    if (!apart && are_records(n, sides)) {
        const tutti_count count = sides[0].node->vec.count;
        const tutti_off stride = sides[0].node->vec.stride;
        tutti__side record;
        for (int i = 0; i < n; i++) sides[i].node = sides[i].node->vec.child;
        TUTTI_TRY(unite_sides(n, sides, &record));
        return tutti__side_vec(record, count, stride, out);
    }
    /* sides that interleave become one list of runs */
    if (!apart) {
        tutti__extents x = {0};
        tutti_off lo = TUTTI__OFF_END, hi = 0;
        for (int i = 0; i < n; i++) {
            lo = tutti__min(lo, tutti__side_lo(sides[i]));
            hi = tutti__max(hi, tutti__side_hi(sides[i]));
        }
        tutti_err err = tutti__sides_union(n, sides, lo, hi, 0, &x);
        tutti_off *at = err == TUTTI_OK ? tutti__malloc(2 * x.n * sizeof *at) : NULL;
        if (err == TUTTI_OK && !at) err = TUTTI_ERR_NOMEM;
        for (size_t i = 0; at && i < x.n; i++) {
            at[i] = x.v[i].offset;
            at[x.n + i] = x.v[i].bytes;
        }
        if (err == TUTTI_OK) err = tutti__side_list((tutti_count)x.n, at, at + x.n, 0, out);
        tutti__free(at);
        tutti__extents_free(&x);
        return err;
    }
    if (are_copies(n, sides))
        return tutti__side_vec(tutti__side_ref(sides[0]), n, sides[1].disp - sides[0].disp, out);
    /* tutti__side_cat takes ownership */
    for (int i = 0; i < n; i++) (void)tutti__side_ref(sides[i]);
    return tutti__side_cat(n, sides, out);
}

tutti_err tutti__batch_unite(tutti__batch *b) {
    tutti__side file = {0, NULL}, memory = {0, NULL};
    if (b->united) return TUTTI_OK;
    tutti__side *sides = tutti__malloc(((size_t)b->n + 1) * sizeof *sides);
    if (!sides) return TUTTI_ERR_NOMEM;
    int n = 0;
    for (int i = 0; i < b->n; i++)
        if (b->part[i].access.file.node) sides[n++] = b->part[i].access.file;
    tutti_err err = n > 0 ? unite_sides(n, sides, &file) : TUTTI_OK;
    tutti__free(sides);
    if (err == TUTTI_OK && file.node) err = tutti__side_run(0, tutti__side_bytes(file), &memory);
    if (err != TUTTI_OK) {
        tutti__side_free(&file);
        return err;
    }
    b->all = (tutti_access){.file = file, .memory = memory};
    b->overlaps = tutti__side_bytes(file) < b->bytes;
    b->united = 1;
    TUTTI_ASSERT(tutti__access_is_valid(&b->all));
    return TUTTI_OK;
}

int tutti__batch_alike(const tutti__batch *a, const tutti__batch *b, tutti_off *by_out) {
    int known = 0;
    if (a->n != b->n || a->bytes != b->bytes) return 0;
    *by_out = 0;
    for (int i = 0; i < a->n; i++) {
        tutti__side x = a->part[i].access.file, y = b->part[i].access.file;
        const tutti_off by = y.disp - x.disp;
        x.disp = y.disp = 0;
        if (!tutti__side_equal(x, y)) return 0;
        if (!x.node) continue;
        if (known && by != *by_out) return 0;
        *by_out = by;
        known = 1;
    }
    return 1;
}

/* ---- parts in an operation */

tutti_err tutti__parts_make(tutti__batch *b, tutti__parts **out) {
    tutti__parts *p = tutti__calloc(1, sizeof *p + (size_t)b->n * sizeof p->io[0]);
    if (!p) return TUTTI_ERR_NOMEM;
    p->batch = tutti__batch_ref(b);
    p->end = TUTTI__OFF_END;
    tutti_off reach = -1, still = TUTTI__OFF_END;
    for (int i = 0; i < b->n; i++) {
        const tutti__side s = b->part[i].access.file;
        if (s.node) reach = tutti__max(reach, tutti__side_hi(s));
        p->io[i].reach = reach;
    }
    for (int i = b->n - 1; i >= 0; i--) {
        const tutti__side s = b->part[i].access.file;
        if (s.node) still = tutti__min(still, tutti__side_lo(s));
        p->io[i].still = still;
    }
    *out = p;
    return TUTTI_OK;
}

int tutti__parts_first(const tutti__parts *p, tutti_off lo) {
    int from = 0, to = p->batch->n;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (p->io[middle].reach > lo)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

tutti_err tutti__parts_copy(const tutti__parts *p, tutti__parts **out) {
    TUTTI_TRY(tutti__parts_make(p->batch, out));
    (*out)->shift = p->shift;
    (*out)->in_order = p->in_order;
    for (int i = 0; i < p->batch->n; i++) (*out)->io[i].buf = p->io[i].buf;
    return TUTTI_OK;
}

void tutti__parts_free(tutti__parts **pp) {
    tutti__parts *p = *pp;
    if (!p) return;
    for (int i = 0; i < p->batch->n; i++) tutti__cuts_free(&p->io[i].cuts);
    tutti__batch_drop(&p->batch);
    tutti__free(p);
    *pp = NULL;
}

void tutti__parts_start(tutti__parts *p, const tutti__batch *planned, tutti_off shift) {
    TUTTI_ASSERT(planned->united);
    p->shift = shift;
    p->in_order = planned->overlaps;
    p->end = TUTTI__OFF_END;
    for (int i = 0; i < p->batch->n; i++) p->io[i].cuts.n = 0;
}

tutti_off tutti__parts_count(tutti__parts *p, int is_write, tutti_off end) {
    tutti_off count = 0;
    if (is_write) return p->batch->bytes;
    if (end < TUTTI__OFF_END) end += p->shift;
    end = tutti__min(end, p->end);
    for (int i = 0; i < p->batch->n; i++) {
        const tutti__batch_part *part = &p->batch->part[i];
        const tutti__conversion *c = &part->convert;
        const tutti_off came = tutti__side_tell(part->access.file, end);
        const tutti_off filled = c->identity ? came : came - came % c->file_size;
        count += came;
        if (part->access.repeats.file.node)
            count += tutti__repeats_copy(&part->access, p->io[i].buf, 0, filled, c->scale);
    }
    return count;
}
