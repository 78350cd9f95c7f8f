/* access: the copy kernel, between the bytes of one side and consecutive memory.
 *
 * The tree is traversed recursively, without a cursor: complete nodes by stream_node, which only
 * adds strides, and partial nodes (at most one at each end, per level) by stream_part.  The leaves
 * are copied as follows:
 *   VEC of RUN     tutti__move_runs, with one loop per common run length
 *   LIST, fixed    one loop per common item length, with gaps decoded inline
 *   LIST, RUN      memcpy
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "access/list_read.h"

/* Run lengths in bytes with specialised loops: elements and small records. */
#define COMMON_LENGTHS(X) X(1) X(2) X(4) X(8) X(12) X(16) X(24) X(32) X(48) X(64)

/* Number of items whose positions are decoded and, for reading, prefetched together, since the
 * hardware does not prefetch irregular positions. */
#define AHEAD 32

/* Runs are prefetched one iteration ahead in the outermost loop whose iterations copy at most this
 * many bytes. */
#define NEAR_BYTES 16384

/* Loops of more runs than this use only hardware prefetching. */
#define FEW_RUNS 64

#define INLINE static inline __attribute__((always_inline))

INLINE void move_loop(const tutti__moves *m, size_t bytes) {
    const tutti_off to_stride = m->to_stride, from_stride = m->from_stride;
    const char *from = m->from;
    char *to = m->to;

    for (tutti_count i = m->count; i > 0; i--) {
        memcpy(to, from, bytes);
        to += to_stride;
        from += from_stride;
    }
}

/* Like move_loop, and prefetch the run of the next iteration of an outer loop.  The hardware does
 * not prefetch patterns of a few short runs followed by a jump to other pages (blocks with ghost
 * cells). */
INLINE void move_ahead(const tutti__moves *m, size_t bytes) {
    const tutti_off to_stride = m->to_stride, from_stride = m->from_stride;
    const char *from = m->from, *next = (m->to_strided ? m->to : m->from) + m->ahead;
    const tutti_off next_stride = m->to_strided ? to_stride : from_stride;
    char *to = m->to;

    for (tutti_count i = m->count; i > 0; i--) {
        __builtin_prefetch(next);
        __builtin_prefetch(next + bytes - 1);
        memcpy(to, from, bytes);
        to += to_stride;
        from += from_stride;
        next += next_stride;
    }
}

void tutti__move_runs(const tutti__moves *m) {
#define MOVE(length)               \
    case length:                   \
        if (m->ahead)              \
            move_ahead(m, length); \
        else                       \
            move_loop(m, length);  \
        return;
    switch (m->bytes) {
        COMMON_LENGTHS(MOVE)
    default:
        move_loop(m, (size_t)m->bytes);
    }
#undef MOVE
}

static void copy_run(tutti__stream *t, tutti_off at, tutti_off bytes) {
    char *const there = tutti__place(t->base, at);
    if (t->direction == TUTTI__PACK)
        memcpy(t->packed, there, (size_t)bytes);
    else
        memcpy(there, t->packed, (size_t)bytes);
    t->packed += bytes;
}

/* Copy `count` items of a LIST whose items all have `bytes` bytes. */
INLINE void item_loop(tutti__stream *t, tutti_off origin, tutti__list_reader *reader,
                      tutti_count count, size_t bytes, int pack) {
    char *const base = tutti__place(t->base, origin), *packed = t->packed, *there[AHEAD];
    tutti__list_reader r = *reader;

    while (count > 0) {
        const int n = (int)tutti__min(count, AHEAD);
        for (int i = 0; i < n; i++) {
            r.at += tutti__reader_gap(&r);
            there[i] = tutti__place(base, r.at);
            if (pack) __builtin_prefetch(there[i]);
            r.at += (tutti_off)bytes;
        }
        for (int i = 0; i < n; i++, packed += bytes)
            memcpy(pack ? packed : there[i], pack ? there[i] : packed, bytes);
        count -= n;
    }
    t->packed = packed;
    *reader = r;
}

INLINE void remaining_items(tutti__stream *t, tutti_off origin, tutti__list_reader *r,
                            tutti_count count, size_t bytes) {
    if (t->direction == TUTTI__PACK)
        item_loop(t, origin, r, count, bytes, 1);
    else
        item_loop(t, origin, r, count, bytes, 0);
}

static void fixed_items(tutti__stream *t, tutti_off origin, tutti__list_reader *r,
                        tutti_count count) {
#define ITEMS(length)                                 \
    case length:                                      \
        remaining_items(t, origin, r, count, length); \
        return;
    switch (r->fixed) {
        COMMON_LENGTHS(ITEMS)
    default:
        remaining_items(t, origin, r, count, (size_t)r->fixed);
    }
#undef ITEMS
}

/* Copy `bytes` bytes of items of different lengths; the first `inside` bytes of the first item are
 * omitted. */
INLINE void mixed_items(tutti__stream *t, tutti_off origin, tutti__list_reader *reader,
                        tutti_off inside, tutti_off bytes, int pack) {
    char *const base = tutti__place(t->base, origin), *packed = t->packed, *there[AHEAD];
    tutti__list_reader r = *reader;
    tutti_off length[AHEAD];

    while (bytes > 0) {
        int n = 0;
        for (; n < AHEAD && bytes > 0; n++) {
            there[n] = tutti__place(base, tutti__reader_next(&r, &length[n]) + inside);
            if (pack) __builtin_prefetch(there[n]);
            length[n] = tutti__min(length[n] - inside, bytes);
            bytes -= length[n];
            inside = 0;
        }
        for (int i = 0; i < n; packed += length[i++])
            tutti__move_one(pack ? packed : there[i], pack ? there[i] : packed, length[i]);
    }
    t->packed = packed;
    *reader = r;
}

/* Copy `bytes` bytes of items starting at the position of the reader, without the first `inside`
 * bytes of the first item. */
static void some_items(tutti__stream *t, tutti_off origin, tutti__list_reader *r, tutti_off inside,
                       tutti_off bytes) {
    if (r->fixed) {
        const tutti_off head = inside ? tutti__min(r->fixed - inside, bytes) : 0;
        const tutti_count whole = (bytes - head) / r->fixed;
        if (head) copy_run(t, origin + tutti__reader_next(r, &(tutti_off){0}) + inside, head);
        fixed_items(t, origin, r, whole);
        bytes -= head + whole * r->fixed;
        inside = 0;
    }
    if (t->direction == TUTTI__PACK)
        mixed_items(t, origin, r, inside, bytes, 1);
    else
        mixed_items(t, origin, r, inside, bytes, 0);
}

static void list_part(tutti__stream *t, const tutti__node *n, tutti_off origin, tutti_off from,
                      tutti_off to) {
    const tutti_count mark = tutti__list_mark(n, from);
    tutti__list_reader r = tutti__reader_at(n, mark), item = r;
    tutti_off inside = from - n->list.mark[mark].start, bytes;

    for (;;) {
        (void)tutti__reader_next(&item, &bytes);
        if (inside < bytes) break;
        inside -= bytes;
        r = item;
    }
    some_items(t, origin, &r, inside, to - from);
}

static void stream_node(tutti__stream *t, const tutti__node *n, tutti_off origin);

static void stream_copies(tutti__stream *t, const tutti__node *n, tutti_off origin,
                          tutti_count count) {
    if (n->vec.child->kind == TUTTI__RUN) {
        const tutti_off bytes = n->vec.child->bytes, stride = n->vec.stride;
        const tutti_off ahead = count <= FEW_RUNS ? t->ahead : 0;
        tutti__moves m = {
            t->packed, tutti__place(t->base, origin), bytes, stride, bytes, count, ahead, 0};
        if (t->direction == TUTTI__UNPACK)
            m = (tutti__moves){
                tutti__place(t->base, origin), t->packed, stride, bytes, bytes, count, ahead, 1};
        tutti__move_runs(&m);
        t->packed += count * bytes;
        return;
    }
    const tutti_off around = t->ahead;
    if (!around && n->vec.child->bytes <= NEAR_BYTES) t->ahead = n->vec.stride;
    for (; count > 0; count--, origin += n->vec.stride) stream_node(t, n->vec.child, origin);
    t->ahead = around;
}

static void stream_node(tutti__stream *t, const tutti__node *n, tutti_off origin) {
    tutti__list_reader r;
    switch (n->kind) {
    case TUTTI__RUN:
        copy_run(t, origin, n->bytes);
        break;
    case TUTTI__VEC:
        stream_copies(t, n, origin, n->vec.count);
        break;
    case TUTTI__LIST:
        r = tutti__reader_at(n, 0);
        some_items(t, origin, &r, 0, n->bytes);
        break;
    case TUTTI__CAT:
        for (tutti_count i = 0; i < n->cat.n; i++)
            stream_node(t, n->cat.part[i].node, origin + n->cat.part[i].disp);
        break;
    }
}

static void stream_part(tutti__stream *t, const tutti__node *n, tutti_off origin, tutti_off from,
                        tutti_off to);

static void vec_part(tutti__stream *t, const tutti__node *n, tutti_off origin, tutti_off from,
                     tutti_off to) {
    const tutti_off bytes = n->vec.child->bytes;
    tutti_count i = from / bytes;
    tutti_off inside = from - i * bytes, left = to - from;

    while (left > 0) {
        tutti_count whole = inside ? 0 : left / bytes;
        const tutti_off take = whole ? whole * bytes : tutti__min(bytes - inside, left);
        const tutti_off at = origin + i * n->vec.stride;
        if (whole)
            stream_copies(t, n, at, whole);
        else
            stream_part(t, n->vec.child, at, inside, inside + take);
        i += whole ? whole : 1;
        left -= take;
        inside = 0;
    }
}

static void cat_part(tutti__stream *t, const tutti__node *n, tutti_off origin, tutti_off from,
                     tutti_off to) {
    const tutti__part *p = n->cat.part;
    tutti_count i = 0, end = n->cat.n;

    while (end - i > 1) {
        const tutti_count mid = i + (end - i) / 2;
        if (p[mid].start <= from)
            i = mid;
        else
            end = mid;
    }
    for (; i < n->cat.n && p[i].start < to; i++)
        stream_part(t, p[i].node, origin + p[i].disp, tutti__max(from - p[i].start, 0),
                    tutti__min(to - p[i].start, p[i].node->bytes));
}

/* Copy stream bytes [from, to) of a node, from < to. */
static void stream_part(tutti__stream *t, const tutti__node *n, tutti_off origin, tutti_off from,
                        tutti_off to) {
    if (from == 0 && to == n->bytes) {
        stream_node(t, n, origin);
        return;
    }
    switch (n->kind) {
    case TUTTI__RUN:
        copy_run(t, origin + from, to - from);
        break;
    case TUTTI__VEC:
        vec_part(t, n, origin, from, to);
        break;
    case TUTTI__LIST:
        list_part(t, n, origin, from, to);
        break;
    case TUTTI__CAT:
        cat_part(t, n, origin, from, to);
        break;
    }
}

void tutti__copy_stream(tutti__stream *t, tutti__side s, tutti_off from, tutti_off to) {
    if (from < to) stream_part(t, s.node, s.disp, from, to);
}
