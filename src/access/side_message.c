/* access: sides in messages to another rank of the same job.  Such a message is trusted, and both
 * ends are the same program.  Therefore a LIST, whose items a validating parser would have to read
 * one by one, is sent as in memory, including marks.  It starts at a mark, up to TUTTI__MARK_EVERY
 * items before the requested range.  All other nodes are small and are sent as written by
 * tutti__side_serialise.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* First byte of a message: output of tutti__side_serialise, or a LIST as in memory. */
enum { PLAIN = 'p', AS_IT_IS = 'l' };

typedef struct {
    tutti_off disp, bytes, extent, grain, fixed, shift;
    tutti_count items;
    uint64_t code_size;
} heading;

static size_t marks_of(tutti_count items) {
    return (size_t)((items + TUTTI__MARK_EVERY - 1) / TUTTI__MARK_EVERY);
}

/* Describe the items of a LIST from the last mark before stream byte `from` up to byte `to`;
 * returns the index of the mark. */
static tutti_count find_stretch(tutti__side s, tutti_off from, tutti_off to, heading *h) {
    const tutti__node *n = s.node;
    tutti__frame first, last;
    tutti_off inside;
    tutti__list_seek(n, from, &first, &inside);
    tutti__list_seek(n, to - 1, &last, &inside);
    const tutti_count mark = first.index / TUTTI__MARK_EVERY;
    const tutti__mark *m = &n->list.mark[mark];
    *h = (heading){.disp = s.disp + m->offset,
                   .extent = last.item + last.item_bytes - m->offset,
                   .grain = n->grain,
                   .fixed = n->list.fixed,
                   .shift = n->list.shift};
    h->bytes = to - 1 - inside + last.item_bytes - m->start;
    h->items = last.index - mark * TUTTI__MARK_EVERY + 1;
    h->code_size = last.code - m->code;
    return mark;
}

static size_t write_list(tutti__side s, tutti_off from, tutti_off to, unsigned char *buf,
                         size_t size) {
    heading h;
    const tutti_count first = find_stretch(s, from, to, &h);
    const tutti__node *n = s.node;
    const size_t marks = marks_of(h.items) * sizeof(tutti__mark);
    const size_t total = 1 + sizeof h + marks + h.code_size;
    if (!buf || size < total) return total;
    *buf++ = AS_IT_IS;
    memcpy(buf, &h, sizeof h);
    memcpy(buf + sizeof h, n->list.mark + first, marks);
    memcpy(buf + sizeof h + marks, n->list.code + n->list.mark[first].code, h.code_size);
    return total;
}

size_t tutti__side_to_message(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size) {
    TUTTI_ASSERT(tutti__side_is_valid(s));
    if (s.node && s.node->kind == TUTTI__LIST && s.node->monotone) {
        const tutti_off from = tutti__side_tell(s, lo), to = tutti__side_tell(s, hi);
        if (from < to && tutti__side_bytes_in(s, lo, hi) > 0) {
            heading h;
            (void)find_stretch(s, from, to, &h);
            if (h.items >= 2) return write_list(s, from, to, buf, size);
        }
    }
    unsigned char *p = buf;
    if (p && size > 0) *p++ = PLAIN;
    return 1 + tutti__side_serialise(s, lo, hi, p, p ? size - 1 : 0);
}

static tutti_err read_list(const unsigned char *buf, tutti__side *out) {
    heading h;
    memcpy(&h, buf, sizeof h);
    const size_t marks = marks_of(h.items);
    tutti__node *n = tutti__malloc(sizeof *n + marks * sizeof(tutti__mark) + h.code_size);
    if (!n) return TUTTI_ERR_NOMEM;
    *n = (tutti__node){.kind = TUTTI__LIST,
                       .depth = 1,
                       .monotone = 1,
                       .bytes = h.bytes,
                       .hi = h.extent,
                       .runs = h.items,
                       .grain = h.grain};
    atomic_init(&n->refs, 1);
    n->hash = tutti__mix(tutti__mix((uint64_t)h.items, (uint64_t)h.bytes), (uint64_t)h.extent);
    n->list.n = h.items;
    n->list.fixed = h.fixed;
    n->list.shift = (int)h.shift;
    n->list.mark = (tutti__mark *)(n + 1);
    n->list.code = (unsigned char *)(n->list.mark + marks);
    n->list.code_size = h.code_size;
    memcpy(n->list.mark, buf + sizeof h, marks * sizeof(tutti__mark));
    memcpy(n->list.code, buf + sizeof h + marks * sizeof(tutti__mark), h.code_size);
    const tutti__mark first = n->list.mark[0];
    for (size_t i = 0; i < marks; i++) {
        n->list.mark[i].offset -= first.offset;
        n->list.mark[i].start -= first.start;
        n->list.mark[i].code -= first.code;
    }
    *out = (tutti__side){h.disp, n};
    TUTTI_ASSERT(tutti__side_is_valid(*out));
    return TUTTI_OK;
}

tutti_err tutti__side_from_message(const void *buf, size_t size, tutti__side *out) {
    const unsigned char *p = buf;
    TUTTI_ASSERT(size > 0 && (*p == PLAIN || *p == AS_IT_IS));
    if (*p == AS_IT_IS) return read_list(p + 1, out);
    return tutti__side_parse(p + 1, size - 1, 1, NULL, out);
}
