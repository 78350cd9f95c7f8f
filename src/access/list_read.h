/* access: fast decoding of the code of a LIST node, which was validated when the node was created.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_LIST_READ_H
#define TUTTI_LIST_READ_H

#include "access/node.h"

/* An iterator over the items of a LIST. */
typedef struct {
    const unsigned char *code; /* code of the next item */
    tutti_off at;              /* end of the previous item, relative to the node's origin */
    tutti_off fixed;           /* list.fixed of the node */
    int zigzag, shift;         /* whether gaps are signed; list.shift of the node */
} tutti__list_reader;

static inline tutti_off tutti__reader_gap(tutti__list_reader *r) {
    const uint64_t u = tutti__leb_next(&r->code);
    return (tutti_off)((uint64_t)(r->zigzag ? tutti__unzigzag(u) : (tutti_off)u) << r->shift);
}

/* Advance to the next item; returns its offset, and its length in *bytes_out. */
static inline tutti_off tutti__reader_next(tutti__list_reader *r, tutti_off *bytes_out) {
    const tutti_off at = r->at + tutti__reader_gap(r);
    *bytes_out = r->fixed ? r->fixed : (tutti_off)(tutti__leb_next(&r->code) << r->shift);
    r->at = at + *bytes_out;
    return at;
}

/* Return a reader whose next item is that of a mark. */
static inline tutti__list_reader tutti__reader_at(const tutti__node *n, tutti_count mark) {
    const tutti__mark *m = &n->list.mark[mark];
    tutti__list_reader r = {n->list.code + m->code, 0, n->list.fixed, !n->monotone, n->list.shift};
    tutti__list_reader peek = r;
    r.at = m->offset - tutti__reader_gap(&peek);
    return r;
}

/* Return a reader whose next item is the one after the current item of a frame. */
static inline tutti__list_reader tutti__reader_after(const tutti__frame *f) {
    const tutti__node *n = f->node;
    return (tutti__list_reader){n->list.code + f->code, f->item + f->item_bytes, n->list.fixed,
                                !n->monotone, n->list.shift};
}

/* Like tutti__cursor_next, with the items of a LIST decoded inline. */
static inline int tutti__cursor_after(tutti__cursor *c, tutti_off shown, tutti__burst *b) {
    tutti__frame *f = &c->frame[c->depth - 1];
    const tutti__node *n = f->node;

    if (n->kind == TUTTI__LIST && f->index + 1 < n->list.n) {
        tutti__list_reader r = tutti__reader_after(f);
        f->item = tutti__reader_next(&r, &f->item_bytes);
        f->code = (size_t)(r.code - n->list.code);
        f->index++;
        c->inside = 0;
        *b = (tutti__burst){.offset = f->origin + f->item, .bytes = f->item_bytes, .count = 1};
        return 1;
    }
    tutti__cursor_skip(c, shown);
    return tutti__cursor_peek(c, b);
}

#endif
