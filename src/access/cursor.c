/* access: the cursor, an iterator over the stream of a side.
 *
 * The frames are the path from the root to the current leaf.  A leaf is a RUN, a LIST or a VEC of
 * RUNs; the cursor advances within a leaf without changing the other frames.  At the end of a leaf,
 * advance_leaf removes frames until one has a next copy or part, and adds frames down to the first
 * leaf of that copy or part.  Nothing is allocated; seeking takes time proportional to the depth
 * times the logarithm of the number of parts or marks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/list_read.h"

static int is_leaf(const tutti__node *n) {
    return n->kind == TUTTI__RUN || n->kind == TUTTI__LIST ||
           (n->kind == TUTTI__VEC && n->vec.child->kind == TUTTI__RUN);
}

/* ---- LIST items */

/* Advance to the next item. */
static inline void list_step(tutti__frame *f) {
    const tutti__node *n = f->node;
    f->index++;
    f->item += f->item_bytes + tutti__list_gap(n, &f->code);
    f->item_bytes = tutti__list_length(n, &f->code);
}

static void list_at_mark(const tutti__node *n, tutti_count mark, tutti__frame *f) {
    f->node = n;
    const tutti__mark *m = &n->list.mark[mark];
    f->index = mark * TUTTI__MARK_EVERY;
    f->item = m->offset;
    f->code = m->code;
    (void)tutti__list_gap(n, &f->code);
    f->item_bytes = tutti__list_length(n, &f->code);
}

void tutti__list_seek(const tutti__node *n, tutti_off p, tutti__frame *f, tutti_off *inside_out) {
    const tutti_count mark = tutti__list_mark(n, p);
    list_at_mark(n, mark, f);
    tutti_off rest = p - n->list.mark[mark].start;
    while (rest >= f->item_bytes) {
        rest -= f->item_bytes;
        list_step(f);
    }
    *inside_out = rest;
}

/* ---- frames */

static tutti__frame *push_frame(tutti__cursor *c, const tutti__node *n, tutti_off origin) {
    TUTTI_ASSERT(c->depth <= TUTTI__MAX_DEPTH);
    tutti__frame *f = &c->frame[c->depth++];
    f->node = n;
    f->origin = origin;
    f->index = 0;
    return f;
}

/* Push frames from `n` down to its first leaf. */
static void descend_to_leaf(tutti__cursor *c, const tutti__node *n, tutti_off origin) {
    while (!is_leaf(n)) {
        push_frame(c, n, origin);
        if (n->kind == TUTTI__VEC) {
            n = n->vec.child;
        } else {
            origin += n->cat.part[0].disp;
            n = n->cat.part[0].node;
        }
    }
    tutti__frame *f = push_frame(c, n, origin);
    if (n->kind == TUTTI__LIST) list_at_mark(n, 0, f);
}

/* Advance from the end of the current leaf to the next leaf; c->depth is 0 at the end. */
static void advance_leaf(tutti__cursor *c) {
    c->inside = 0;
    for (c->depth--; c->depth > 0; c->depth--) {
        tutti__frame *f = &c->frame[c->depth - 1];
        const tutti__node *n = f->node;
        f->index++;
        if (n->kind == TUTTI__VEC) {
            if (f->index >= n->vec.count) continue;
            descend_to_leaf(c, n->vec.child, f->origin + f->index * n->vec.stride);
        } else {
            if (f->index >= n->cat.n) continue;
            const tutti__part *part = &n->cat.part[f->index];
            descend_to_leaf(c, part->node, f->origin + part->disp);
        }
        return;
    }
}

void tutti__cursor_seek(tutti__cursor *c, tutti__side s, tutti_off stream) {
    c->depth = 0;
    c->inside = 0;
    if (stream < 0) stream = 0;
    if (!s.node || stream >= s.node->bytes) return;
    const tutti__node *n = s.node;
    tutti_off origin = s.disp;
    tutti__frame *f = push_frame(c, n, origin);
    while (!is_leaf(n)) { /* descend to the child that contains the stream position */
        if (n->kind == TUTTI__VEC) {
            f->index = stream / n->vec.child->bytes;
            stream -= f->index * n->vec.child->bytes;
            origin += f->index * n->vec.stride;
            n = n->vec.child;
        } else {
            f->index = tutti__cat_part(n, stream);
            const tutti__part *part = &n->cat.part[f->index];
            stream -= part->start;
            origin += part->disp;
            n = part->node;
        }
        f = push_frame(c, n, origin);
    }
    if (n->kind == TUTTI__LIST) {
        tutti__list_seek(n, stream, f, &c->inside);
    } else if (n->kind == TUTTI__VEC) {
        f->index = stream / n->vec.child->bytes;
        c->inside = stream - f->index * n->vec.child->bytes;
    } else {
        c->inside = stream;
    }
}

int tutti__cursor_peek(const tutti__cursor *c, tutti__burst *b) {
    if (c->depth == 0) return 0;
    const tutti__frame *f = &c->frame[c->depth - 1];
    const tutti__node *n = f->node;
    b->stride = 0;
    b->count = 1;
    if (n->kind == TUTTI__LIST) {
        b->offset = f->origin + f->item + c->inside;
        b->bytes = f->item_bytes - c->inside;
    } else if (n->kind == TUTTI__VEC) {
        b->offset = f->origin + f->index * n->vec.stride + c->inside;
        b->bytes = n->vec.child->bytes - c->inside;
        if (c->inside == 0) {
            b->stride = n->vec.stride;
            b->count = n->vec.count - f->index;
        }
    } else {
        b->offset = f->origin + c->inside;
        b->bytes = n->bytes - c->inside;
    }
    return 1;
}

void tutti__cursor_skip(tutti__cursor *c, tutti_off bytes) {
    if (c->depth == 0 || bytes <= 0) return;
    tutti__frame *f = &c->frame[c->depth - 1];
    const tutti_off inside = c->inside + bytes;
    TUTTI_ASSERT(f->node->kind != TUTTI__LIST || inside <= f->item_bytes);
    if (f->node->kind == TUTTI__LIST) {
        if (inside < f->item_bytes) {
            c->inside = inside;
        } else if (f->index + 1 < f->node->list.n) {
            c->inside = 0;
            list_step(f);
        } else {
            advance_leaf(c);
        }
    } else if (f->node->kind == TUTTI__VEC) {
        const tutti_off run = f->node->vec.child->bytes;
        if (inside < run) {
            c->inside = inside;
        } else if (inside == (f->node->vec.count - f->index) * run) {
            advance_leaf(c);
        } else {
            const tutti_count runs = inside == run ? 1 : inside / run;
            f->index += runs;
            c->inside = inside - runs * run;
        }
    } else if (inside < f->node->bytes) {
        c->inside = inside;
    } else {
        advance_leaf(c);
    }
}

int tutti__cursor_next(tutti__cursor *c, tutti_off shown, tutti__burst *b) {
    return tutti__cursor_after(c, shown, b);
}

tutti_off tutti__side_offset(tutti__side s, tutti_off stream) {
    tutti__cursor c;
    tutti__burst b;
    if (stream >= tutti__side_bytes(s)) return TUTTI__OFF_END;
    tutti__cursor_seek(&c, s, stream);
    return tutti__cursor_peek(&c, &b) ? b.offset : TUTTI__OFF_END;
}
