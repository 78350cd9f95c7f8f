/* access: the part of a side between two stream positions.  Complete subtrees are shared; only the
 * nodes on the paths to both ends are new: a divided VEC becomes a CAT of partial copy, complete
 * copies and partial copy.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

static tutti_err slice_side(tutti__side s, tutti_off from, tutti_off to, tutti__side *out);

static tutti_err slice_vec(tutti__side s, tutti_off from, tutti_off to, tutti__side *out) {
    const tutti__node *n = s.node;
    const tutti_off each = n->vec.child->bytes, stride = n->vec.stride;
    tutti_count i = from / each;
    const tutti_count last = to / each;
    const tutti_off head = from - i * each, tail = to - last * each;
    if (i == last)
        return slice_side((tutti__side){s.disp + i * stride, n->vec.child}, head, tail, out);
    tutti__side part[3] = {{0, NULL}, {0, NULL}, {0, NULL}};
    tutti_err err = TUTTI_OK;
    if (head) {
        err = slice_side((tutti__side){s.disp + i * stride, n->vec.child}, head, each, &part[0]);
        i++;
    }
    if (err == TUTTI_OK && last > i) {
        const tutti__side child = {s.disp + i * stride, tutti__node_ref(n->vec.child)};
        err = tutti__side_vec(child, last - i, stride, &part[1]);
    }
    if (err == TUTTI_OK && tail)
        err = slice_side((tutti__side){s.disp + last * stride, n->vec.child}, 0, tail, &part[2]);
    if (err == TUTTI_OK) return tutti__side_cat(3, part, out);
    for (int k = 0; k < 3; k++) tutti__side_free(&part[k]);
    return err;
}

static tutti_err slice_list_node(tutti__side s, tutti_off from, tutti_off to, tutti__side *out) {
    tutti__frame first, last;
    tutti_off inside;
    tutti__list_seek(s.node, from, &first, &inside);
    tutti__list_seek(s.node, to - 1, &last, &inside);
    const tutti_count n = last.index - first.index + 1;
    tutti_off *offsets = tutti__malloc((size_t)n * 2 * sizeof *offsets);
    if (!offsets) return TUTTI_ERR_NOMEM;
    tutti_off *lengths = offsets + n;
    tutti__cursor c;
    tutti__burst b;
    tutti__cursor_seek(&c, s, from);
    for (tutti_count i = 0; from < to && tutti__cursor_peek(&c, &b); i++) {
        offsets[i] = b.offset;
        lengths[i] = tutti__min(b.bytes, to - from);
        from += lengths[i];
        tutti__cursor_skip(&c, b.bytes);
    }
    const tutti_err err = tutti__side_list(n, offsets, lengths, 0, out);
    tutti__free(offsets);
    return err;
}

static tutti_err slice_cat(tutti__side s, tutti_off from, tutti_off to, tutti__side *out) {
    const tutti__part *all = s.node->cat.part;
    const tutti_count first = tutti__cat_part(s.node, from);
    const tutti_count n = tutti__cat_part(s.node, to - 1) - first + 1;
    tutti__side *part = tutti__calloc((size_t)n, sizeof *part);
    if (!part) return TUTTI_ERR_NOMEM;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        const tutti__part *p = &all[first + i];
        err = slice_side((tutti__side){s.disp + p->disp, p->node}, tutti__max(from - p->start, 0),
                         tutti__min(to - p->start, p->node->bytes), &part[i]);
    }
    if (err == TUTTI_OK)
        err = tutti__side_cat(n, part, out);
    else
        for (tutti_count i = 0; i < n; i++) tutti__side_free(&part[i]);
    tutti__free(part);
    return err;
}

/* Return the stream bytes [from, to) of `s`, from < to; the caller still owns `s`. */
static tutti_err slice_side(tutti__side s, tutti_off from, tutti_off to, tutti__side *out) {
    if (from == 0 && to == s.node->bytes) {
        *out = (tutti__side){s.disp, tutti__node_ref(s.node)};
        return TUTTI_OK;
    }
    switch (s.node->kind) {
    case TUTTI__VEC:
        return slice_vec(s, from, to, out);
    case TUTTI__LIST:
        return slice_list_node(s, from, to, out);
    case TUTTI__CAT:
        return slice_cat(s, from, to, out);
    case TUTTI__RUN:
        break;
    }
    return tutti__side_run(s.disp + from, to - from, out);
}

tutti_err tutti__side_slice(tutti__side s, tutti_off from, tutti_off to, tutti__side *out) {
    TUTTI_ASSERT(tutti__side_is_valid(s));
    from = tutti__max(from, 0);
    to = tutti__min(to, tutti__side_bytes(s));
    if (from < to) return slice_side(s, from, to, out);
    *out = (tutti__side){0, NULL};
    return TUTTI_OK;
}
