/* access: queries about a side.  tutti__side_tell follows one path of the tree: in a monotone VEC
 * the copy that contains an offset is found by a division, since copies do not overlap; in a CAT
 * and in the marks of a LIST by a binary search.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

tutti_off tutti__side_grain(tutti__side s) {
    return s.node ? tutti__gcd(s.node->grain, s.disp) : 0;
}

int tutti__side_monotone(tutti__side s) {
    return !s.node || s.node->monotone;
}

static size_t node_size(const tutti__node *n) {
    size_t size = sizeof *n;
    if (n->kind == TUTTI__VEC) size += node_size(n->vec.child);
    if (n->kind == TUTTI__LIST) {
        const size_t marks = (size_t)((n->list.n - 1) / TUTTI__MARK_EVERY + 1);
        size += marks * sizeof(tutti__mark) + n->list.code_size;
    }
    if (n->kind == TUTTI__CAT)
        for (tutti_count i = 0; i < n->cat.n; i++)
            size += sizeof(tutti__part) + node_size(n->cat.part[i].node);
    return size;
}

size_t tutti__side_size(tutti__side s) {
    return sizeof s + (s.node ? node_size(s.node) : 0);
}

uint64_t tutti__side_hash(tutti__side s) {
    return s.node ? tutti__mix(s.node->hash, (uint64_t)s.disp) : 0;
}

int tutti__node_equal(const tutti__node *a, const tutti__node *b) {
    if (a == b) return 1;
    if (a->hash != b->hash || a->kind != b->kind || a->bytes != b->bytes ||
        a->monotone != b->monotone)
        return 0;
    switch (a->kind) {
    case TUTTI__RUN:
        return 1;
    case TUTTI__VEC:
        return a->vec.count == b->vec.count && a->vec.stride == b->vec.stride &&
               tutti__node_equal(a->vec.child, b->vec.child);
    case TUTTI__LIST:
        return a->list.n == b->list.n && a->list.fixed == b->list.fixed &&
               a->list.shift == b->list.shift && a->list.code_size == b->list.code_size &&
               memcmp(a->list.code, b->list.code, a->list.code_size) == 0;
    case TUTTI__CAT:
        if (a->cat.n != b->cat.n) return 0;
        for (tutti_count i = 0; i < a->cat.n; i++) {
            const tutti__part *p = &a->cat.part[i], *q = &b->cat.part[i];
            if (p->disp != q->disp || !tutti__node_equal(p->node, q->node)) return 0;
        }
        return 1;
    }
    return 0;
}

int tutti__side_equal(tutti__side a, tutti__side b) {
    if (!a.node || !b.node) return a.node == b.node;
    return a.disp == b.disp && tutti__node_equal(a.node, b.node);
}

/* ---- tell */

static tutti_off list_tell(const tutti__node *n, tutti_off offset) {
    /* find the last mark before the offset, which is > 0 */
    tutti_count mark = 0, b = (n->list.n - 1) / TUTTI__MARK_EVERY;
    while (mark < b) {
        const tutti_count mid = (mark + b + 1) / 2;
        if (n->list.mark[mid].offset < offset)
            mark = mid;
        else
            b = mid - 1;
    }
    tutti_off item = n->list.mark[mark].offset, p = n->list.mark[mark].start;
    size_t code = n->list.mark[mark].code;
    (void)tutti__list_gap(n, &code);
    for (tutti_count i = mark * TUTTI__MARK_EVERY;; i++) {
        const tutti_off length = tutti__list_length(n, &code);
        if (offset <= item + length) return p + offset - item;
        p += length;
        if (i + 1 == n->list.n) return p;
        item += length + tutti__list_gap(n, &code);
        if (offset <= item) return p;
    }
}

tutti_off tutti__side_tell(tutti__side s, tutti_off offset) {
    if (!s.node || offset <= s.disp) return 0;
    const tutti__node *n = s.node;
    if (offset >= s.disp + n->hi) return n->bytes;
    offset -= s.disp;
    for (tutti_off p = 0;;) {
        if (offset >= n->hi) return p + n->bytes;
        if (n->kind == TUTTI__RUN) return p + offset;
        if (n->kind == TUTTI__LIST) return p + list_tell(n, offset);
        if (n->kind == TUTTI__VEC) {
            const tutti_count i = tutti__min(offset / n->vec.stride, n->vec.count - 1);
            p += i * n->vec.child->bytes;
            offset -= i * n->vec.stride;
            n = n->vec.child;
        } else {
            tutti_count a = 0, b = n->cat.n - 1;
            while (a < b) {
                const tutti_count mid = (a + b + 1) / 2;
                if (n->cat.part[mid].disp < offset)
                    a = mid;
                else
                    b = mid - 1;
            }
            const tutti__part *part = &n->cat.part[a];
            p += part->start;
            offset -= part->disp;
            n = part->node;
        }
        if (offset <= 0) return p;
    }
}

tutti_off tutti__side_next(tutti__side s, tutti_off offset) {
    tutti__cursor c;
    tutti__burst b;
    tutti__cursor_seek(&c, s, tutti__side_tell(s, offset));
    return tutti__cursor_peek(&c, &b) ? b.offset : TUTTI__OFF_END;
}
