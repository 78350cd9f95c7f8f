/* access: serialisation of sides.  All numbers are in LEB128 encoding, signed numbers with zigzag:
 *
 *   side := EMPTY | kind disp ...
 *   RUN  bytes
 *   VEC  count stride side
 *   LIST flags n length code-size code   length of the first item or of all; code of the others
 *   CAT  n side ... side                 displacements are relative to that of the CAT
 *
 * A magic byte and the version precede the side.  A range of a monotone side is written without
 * making a slice: a divided node is written as a CAT of partial copy, complete copies and partial
 * copy, and the code of a LIST is copied unchanged.  The parser uses the ordinary constructors,
 * after checks that memory use is proportional to the input.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

enum { MARK = 0xA7, VERSION = 1 };
enum { EMPTY, RUN, VEC, LIST, CAT };
/* flags of a LIST; list.shift is at bit SHIFT_AT */
enum { IS_MONOTONE = 1, IS_FIXED = 2, SHIFT_AT = 2 };

/* ---- writing */

typedef struct {
    unsigned char *buf; /* NULL: only compute the size */
    size_t size;
} writer;

static void write_raw(writer *w, const void *p, size_t n) {
    if (w->buf) memcpy(w->buf + w->size, p, n);
    w->size += n;
}

static void write_number(writer *w, uint64_t v) {
    unsigned char code[TUTTI__LEB_MAX];
    write_raw(w, code, tutti__leb_put(code, v));
}

static void write_head(writer *w, int kind, tutti_off disp) {
    write_number(w, (uint64_t)kind);
    write_number(w, tutti__zigzag(disp));
}

static void write_side(writer *w, tutti__side s, tutti_off from, tutti_off to);

static void write_run(writer *w, tutti_off offset, tutti_off bytes) {
    write_head(w, RUN, offset);
    write_number(w, (uint64_t)bytes);
}

/* Write the complete items first ... last of a list whose origin is at disp. */
static void write_list_items(writer *w, const tutti__node *n, tutti_off disp,
                             const tutti__frame *first, const tutti__frame *last) {
    const tutti_count items = last->index - first->index + 1;
    if (items == 1) {
        write_run(w, disp + first->item, first->item_bytes);
        return;
    }
    write_head(w, LIST, disp + first->item);
    write_number(w, (uint64_t)((n->monotone ? IS_MONOTONE : 0) | (n->list.fixed ? IS_FIXED : 0) |
                               n->list.shift << SHIFT_AT));
    write_number(w, (uint64_t)items);
    write_number(w, (uint64_t)first->item_bytes);
    write_number(w, last->code - first->code);
    write_raw(w, n->list.code + first->code, last->code - first->code);
}

/* Write the head of a CAT if there are several parts; returns the displacement to be added to those
 * of the parts. */
static tutti_off write_cat(writer *w, tutti_off disp, tutti_count parts) {
    if (parts < 2) return disp;
    write_head(w, CAT, disp);
    write_number(w, (uint64_t)parts);
    return 0;
}

static void write_vec(writer *w, tutti__side s, tutti_off from, tutti_off to) {
    tutti__node *child = s.node->vec.child;
    const tutti_off each = child->bytes, stride = s.node->vec.stride;
    const tutti_count a = from / each, b = to / each;
    const tutti_off head = from - a * each, tail = to - b * each;
    if (a == b) {
        write_side(w, (tutti__side){s.disp + a * stride, child}, head, tail);
        return;
    }
    const tutti_count whole = b - a - (head > 0);
    const tutti_off base = write_cat(w, s.disp, (head > 0) + (whole > 0) + (tail > 0));
    if (head) write_side(w, (tutti__side){base + a * stride, child}, head, each);
    if (whole) {
        tutti_off disp = base + (b - whole) * stride;
        if (whole > 1) { /* a single copy is written without a VEC */
            write_head(w, VEC, disp);
            write_number(w, (uint64_t)whole);
            write_number(w, tutti__zigzag(stride));
            disp = 0;
        }
        write_side(w, (tutti__side){disp, child}, 0, each);
    }
    if (tail) write_side(w, (tutti__side){base + b * stride, child}, 0, tail);
}

static void write_list_node(writer *w, tutti__side s, tutti_off from, tutti_off to) {
    const tutti__node *n = s.node;
    tutti__frame a, b, first, last;
    tutti_off before, inside;
    tutti__list_seek(n, from, &a, &before);
    tutti__list_seek(n, to - 1, &b, &inside);
    if (a.index == b.index) {
        write_run(w, s.disp + a.item + before, to - from);
        return;
    }
    const tutti_off head = before ? a.item_bytes - before : 0;
    const tutti_off tail = inside + 1 < b.item_bytes ? inside + 1 : 0;
    const int whole = from + head < to - tail;
    const tutti_off base = write_cat(w, s.disp, (head > 0) + whole + (tail > 0));
    if (head) write_run(w, base + a.item + before, head);
    if (whole) {
        tutti__list_seek(n, from + head, &first, &inside);
        tutti__list_seek(n, to - tail - 1, &last, &inside);
        write_list_items(w, n, base, &first, &last);
    }
    if (tail) write_run(w, base + b.item, tail);
}

static void write_parts(writer *w, tutti__side s, tutti_off from, tutti_off to) {
    const tutti__node *n = s.node;
    const tutti_count a = tutti__cat_part(n, from), b = tutti__cat_part(n, to - 1) + 1;
    const tutti_off base = write_cat(w, s.disp, b - a);
    for (tutti_count i = a; i < b; i++) {
        const tutti__part *p = &n->cat.part[i];
        write_side(w, (tutti__side){base + p->disp, p->node}, tutti__max(from - p->start, 0),
                   tutti__min(to - p->start, p->node->bytes));
    }
}

/* Write stream bytes [from, to) of a side, from < to. */
static void write_side(writer *w, tutti__side s, tutti_off from, tutti_off to) {
    switch (s.node->kind) {
    case TUTTI__RUN:
        write_run(w, s.disp + from, to - from);
        break;
    case TUTTI__VEC:
        write_vec(w, s, from, to);
        break;
    case TUTTI__LIST:
        write_list_node(w, s, from, to);
        break;
    case TUTTI__CAT:
        write_parts(w, s, from, to);
        break;
    }
}

size_t tutti__side_serialise(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size) {
    tutti_off from = 0, to = tutti__side_bytes(s);
    TUTTI_ASSERT(tutti__side_is_valid(s));
    if (tutti__side_monotone(s)) {
        from = tutti__side_tell(s, lo);
        to = tutti__side_tell(s, hi);
    }
    writer w = {NULL, 0};
    for (int pass = 0; pass < 2; pass++) {
        write_number(&w, MARK);
        write_number(&w, VERSION);
        if (from < to)
            write_side(&w, s, from, to);
        else
            write_number(&w, EMPTY);
        if (pass == 1 || !buf || w.size > size) break;
        w = (writer){buf, 0};
    }
    return w.size;
}

/* ---- reading */

typedef struct {
    const unsigned char *buf;
    size_t size, at;
} reader;

#define SOUND(cond, what)                                                                         \
    TUTTI_CHECK(cond, TUTTI_ERR_FORMAT, "invalid serialised access (byte %zu of %zu): %s", r->at, \
                r->size, what)

static tutti_err read_number(reader *r, uint64_t limit, uint64_t *out) {
    uint64_t v = 0;
    SOUND(tutti__leb_try(r->buf, r->size, &r->at, &v), "it ends early or a number is malformed");
    SOUND(v <= limit, "a number is too large");
    *out = v;
    return TUTTI_OK;
}

/* Read a number in 1 ... TUTTI__OFF_LIMIT. */
static tutti_err read_byte_count(reader *r, tutti_off *out) {
    uint64_t v = 0;
    TUTTI_TRY(read_number(r, TUTTI__OFF_LIMIT, &v));
    SOUND(v > 0, "a length or a count is 0");
    *out = (tutti_off)v;
    return TUTTI_OK;
}

static tutti_err read_offset(reader *r, tutti_off *out) {
    uint64_t v = 0;
    TUTTI_TRY(read_number(r, UINT64_MAX, &v));
    SOUND(tutti__off_ok(tutti__unzigzag(v)), "an offset is too large");
    *out = tutti__unzigzag(v);
    return TUTTI_OK;
}

static tutti_err read_side(reader *r, int depth, tutti__side *out);

static tutti_err read_vec(reader *r, int depth, tutti__side *out) {
    tutti_count count = 0;
    tutti_off stride = 0;
    tutti__side child = {0, NULL};
    TUTTI_TRY(read_byte_count(r, &count));
    TUTTI_TRY(read_offset(r, &stride));
    TUTTI_TRY(read_side(r, depth, &child));
    if (child.node && child.node->depth + 1 >= TUTTI__MAX_DEPTH) tutti__side_free(&child);
    SOUND(child.node, "it has too many levels of nesting");
    return tutti__side_vec(child, count, stride, out);
}

static tutti_err read_cat(reader *r, int depth, tutti__side *out) {
    uint64_t n = 0;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(read_number(r, UINT64_MAX, &n));
    SOUND(n >= 2 && n <= (r->size - r->at) / 3, "the number of parts is invalid");
    tutti__side *part = tutti__calloc((size_t)n, sizeof *part);
    if (!part) return TUTTI_ERR_NOMEM;
    for (uint64_t i = 0; i < n && err == TUTTI_OK; i++) {
        err = read_side(r, depth, &part[i]);
        if (err == TUTTI_OK &&
            part[i].node->depth > TUTTI__MAX_DEPTH - (part[i].node->kind != TUTTI__CAT))
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "invalid serialised access: more than %d levels of nesting",
                                   TUTTI__MAX_DEPTH);
    }
    if (err == TUTTI_OK)
        err = tutti__side_cat((tutti_count)n, part, out);
    else
        for (uint64_t i = 0; i < n; i++) tutti__side_free(&part[i]);
    tutti__free(part);
    return err;
}

/* Read a non-empty side. */
static tutti_err read_side(reader *r, int depth, tutti__side *out) {
    uint64_t kind = 0;
    tutti_off disp = 0;
    tutti__side s = {0, NULL};
    SOUND(depth < TUTTI__MAX_DEPTH, "it has too many levels of nesting");
    TUTTI_TRY(read_number(r, CAT, &kind));
    SOUND(kind != EMPTY, "a part is empty");
    TUTTI_TRY(read_offset(r, &disp));
    if (kind == RUN) {
        tutti_off bytes = 0;
        TUTTI_TRY(read_byte_count(r, &bytes));
        TUTTI_TRY(tutti__side_run(0, bytes, &s));
    }
    if (kind == VEC) TUTTI_TRY(read_vec(r, depth + 1, &s));
    if (kind == LIST) {
        tutti__list_code c = {0};
        uint64_t flags = 0, size = 0;
        TUTTI_TRY(read_number(r, IS_MONOTONE | IS_FIXED | TUTTI__MAX_SHIFT << SHIFT_AT, &flags));
        TUTTI_TRY(read_byte_count(r, &c.n));
        TUTTI_TRY(read_byte_count(r, &c.first_length));
        TUTTI_TRY(read_number(r, UINT64_MAX, &size));
        SOUND(size <= r->size - r->at, "the code of a list goes beyond the end");
        c.monotone = (flags & IS_MONOTONE) != 0;
        c.shift = (int)(flags >> SHIFT_AT);
        c.fixed = flags & IS_FIXED ? c.first_length : 0;
        c.code = r->buf + r->at;
        c.code_size = (size_t)size;
        r->at += c.code_size;
        s.disp = 0;
        TUTTI_TRY(tutti__list_from_code(&c, &s.node));
    }
    if (kind == CAT) TUTTI_TRY(read_cat(r, depth + 1, &s));
    if (tutti__add_ok(s.disp, disp, &s.disp) && tutti__side_fits(s)) {
        *out = s;
        return TUTTI_OK;
    }
    tutti__side_free(&s);
    SOUND(0, "an offset is too large");
}

static tutti_err read_sides(reader *r, tutti__side *out) {
    uint64_t v = 0;
    TUTTI_TRY(read_number(r, UINT64_MAX, &v));
    SOUND(v == MARK, "the magic number is wrong");
    TUTTI_TRY(read_number(r, UINT64_MAX, &v));
    SOUND(v == VERSION, "the format version is unknown");
    if (r->at == r->size || r->buf[r->at] != EMPTY) return read_side(r, 0, out);
    r->at++;
    *out = (tutti__side){0, NULL};
    return TUTTI_OK;
}

tutti_err tutti__side_parse(const void *buf, size_t size, int monotone, size_t *used_out,
                            tutti__side *out) {
    reader reading = {buf, size, 0}, *r = &reading;
    tutti__side s = {0, NULL};
    const tutti_err err = read_sides(r, &s);
    if (err == TUTTI_ERR_NOMEM || err == TUTTI_ERR_FORMAT) return err;
    SOUND(err == TUTTI_OK, "sizes or offsets do not fit");
    if (monotone && !tutti__side_monotone(s)) {
        tutti__side_free(&s);
        SOUND(0, "the offsets do not increase");
    }
    TUTTI_ASSERT(tutti__side_is_valid(s));
    if (used_out) *used_out = r->at;
    *out = s;
    return TUTTI_OK;
}
