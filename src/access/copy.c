/* access: copying between user memory and a stage in file order.
 *
 * Both sides of an access have the same stream.  If a run of one side corresponds to many bursts of
 * the other side, the other side is packed or unpacked by traversing its tree (copy_stream.c); this
 * is the case for every access with packed memory, and for every contiguous file range.  Otherwise
 * both sides are traversed in lockstep, and each step copies:
 *   LIST, LIST                   items decoded inline on both sides, until one list ends
 *   runs of equal length         as many runs as both bursts have, by one tutti__move_runs
 *   short runs, long run         as many short runs as fit into the long run, by one
 *                                tutti__move_runs
 *   other combinations           the shorter of the two runs
 * A stage offset is a file offset minus stage_lo, so the side of the stage is the file side shifted
 * by -stage_lo.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "access/list_read.h"

/* A run this many times longer than the burst of the other side is copied by tutti__copy_stream and
 * two seeks.  The factor is larger for a LIST, since seeking decodes up to TUTTI__MARK_EVERY
 * items. */
#define LONG_RUN 8
#define LONG_RUN_LIST 128
/* Two LISTs with more remaining items than this are decoded inline, followed by two seeks. */
#define LONG_LIST 128

/* A position on one side. */
typedef struct {
    tutti__side side;
    char *base;       /* address of offset 0 */
    tutti_off stream; /* stream position of the next byte */
    tutti_off done;   /* bytes of the first run of `burst` that have been passed */
    tutti_off shown;  /* bytes of `burst` as returned by the cursor */
    tutti__burst burst;
    tutti__cursor cursor;
} walk;

static void walk_seek(walk *w, tutti_off stream) {
    w->stream = stream;
    w->done = 0;
    w->shown = 0;
    tutti__cursor_seek(&w->cursor, w->side, stream);
    if (tutti__cursor_peek(&w->cursor, &w->burst)) w->shown = w->burst.bytes * w->burst.count;
}

static inline tutti_off run_left(const walk *w) {
    return w->burst.bytes - w->done;
}
static inline char *run_at(const walk *w) {
    return tutti__place(w->base, w->burst.offset + w->done);
}

/* Advance by `count` pieces of `bytes` bytes each: either the rest of that many runs, or all pieces
 * from the current run. */
static inline void walk_take(walk *w, tutti_off bytes, tutti_count count) {
    w->stream += bytes * count;
    if (bytes < run_left(w)) {
        w->done += bytes * count;
        if (w->done < w->burst.bytes) return;
        count = 1;
    }
    w->done = 0;
    w->burst.offset += w->burst.stride * count;
    w->burst.count -= count;
    if (w->burst.count > 0) return;
    if (tutti__cursor_after(&w->cursor, w->shown, &w->burst))
        w->shown = w->burst.bytes * w->burst.count;
}

/* Return the number of runs of `one` that fit into the longer run of `other`. */
static inline tutti_count runs_within(const walk *one, const walk *other) {
    if (one->done > 0 || one->burst.count == 1) return 1;
    return tutti__min(one->burst.count, run_left(other) / one->burst.bytes);
}

/* A queue of short pieces, so that several of them are prefetched at once. */
#define AHEAD 32
#define SHORT_PIECE 256
typedef struct {
    int n;
    struct {
        char *to;
        const char *from;
        tutti_off bytes;
    } piece[AHEAD];
} queue;

static void flush_moves(queue *q) {
    for (int i = 0; i < q->n; i++)
        tutti__move_one(q->piece[i].to, q->piece[i].from, q->piece[i].bytes);
    q->n = 0;
}

static inline void queue_move(queue *q, char *to, const char *from, tutti_off bytes) {
    __builtin_prefetch(from);
    q->piece[q->n].to = to;
    q->piece[q->n].from = from;
    q->piece[q->n].bytes = bytes;
    if (++q->n == AHEAD) flush_moves(q);
}

/* Copy the next runs, at most n bytes; m->count and m->bytes are their number and length. */
static inline void move_runs(walk *to, walk *from, tutti_off n, tutti__moves *m, queue *q) {
    const tutti_off to_left = run_left(to), from_left = run_left(from);

    m->bytes = tutti__min(to_left, from_left);
    if (to_left < from_left)
        m->count = runs_within(to, from);
    else if (from_left < to_left)
        m->count = runs_within(from, to);
    else
        m->count = to->done || from->done ? 1 : tutti__min(to->burst.count, from->burst.count);
    m->to_stride = m->bytes < to_left ? m->bytes : to->burst.stride;
    m->from_stride = m->bytes < from_left ? m->bytes : from->burst.stride;
    if (m->bytes * m->count > n) {
        m->count = tutti__max(1, n / m->bytes);
        m->bytes = tutti__min(m->bytes, n);
    }
    m->to = run_at(to);
    m->from = run_at(from);
    if (m->count == 1 && m->bytes <= SHORT_PIECE) {
        queue_move(q, m->to, m->from, m->bytes);
    } else {
        flush_moves(q);
        tutti__move_runs(m);
    }
    walk_take(to, m->bytes, m->count);
    walk_take(from, m->bytes, m->count);
}

static inline const tutti__frame *walk_leaf(const walk *w) {
    return &w->cursor.frame[w->cursor.depth - 1];
}
static inline int in_list(const walk *w) {
    return walk_leaf(w)->node->kind == TUTTI__LIST;
}

/* Return whether the rest of the run of `one` is long compared with the burst of `other`. */
static inline int is_long(const walk *one, const walk *other) {
    return run_left(one) / (in_list(other) ? LONG_RUN_LIST : LONG_RUN) >=
           other->burst.bytes * other->burst.count;
}

/* Return whether the position is in a LIST with many items left. */
static inline int in_long_list(const walk *w) {
    return in_list(w) && walk_leaf(w)->node->list.n - walk_leaf(w)->index > LONG_LIST;
}

/* Inline iteration over the items of a LIST, without the cursor. */
typedef struct {
    tutti__list_reader reader;
    tutti_count items; /* items after the current item */
    char *origin, *at; /* address of the node's origin; of the next byte */
    tutti_off left;    /* bytes left of the current item */
} items;

static items list_items(const walk *w) {
    const tutti__frame *f = walk_leaf(w);
    return (items){tutti__reader_after(f), f->node->list.n - f->index - 1,
                   tutti__place(w->base, f->origin), run_at(w), run_left(w)};
}

/* Advance by bytes of the current item; returns 0 after the last item. */
static inline int items_take(items *i, tutti_off bytes) {
    i->at += bytes;
    i->left -= bytes;
    if (i->left > 0) return 1;
    if (i->items-- == 0) return 0;
    i->at = tutti__place(i->origin, tutti__reader_next(&i->reader, &i->left));
    return 1;
}

/* Copy between the current run of `one` (at most n bytes) and the tree of `other`; returns the
 * bytes copied. */
static tutti_off long_step(walk *one, walk *other, tutti_off n, tutti__direction direction) {
    const tutti_off bytes = tutti__min(run_left(one), n);
    tutti__stream t = {other->base, run_at(one), direction, 0};

    tutti__copy_stream(&t, other->side, other->stream, other->stream + bytes);
    if (bytes == n) return bytes;
    walk_take(one, bytes, 1);
    walk_seek(other, other->stream + bytes);
    return bytes;
}

/* Copy n > 0 bytes from side `from` to side `to`, starting at the stream position of each. */
static void move_lockstep(walk *to, walk *from, tutti_off n) {
    tutti__moves m = {.ahead = 0};
    queue q;

    /* cppcheck-suppress ctuuninitvar */
    TUTTI_ASSERT(n <= tutti__side_bytes(to->side) - to->stream);
    /* cppcheck-suppress ctuuninitvar */
    TUTTI_ASSERT(n <= tutti__side_bytes(from->side) - from->stream);
    q.n = 0;
    walk_seek(to, to->stream);
    walk_seek(from, from->stream);
    while (n > 0) {
        if (is_long(from, to)) {
            flush_moves(&q);
            n -= long_step(from, to, n, TUTTI__UNPACK);
        } else if (is_long(to, from)) {
            flush_moves(&q);
            n -= long_step(to, from, n, TUTTI__PACK);
        } else if (in_long_list(to) && in_long_list(from)) {
            /* copy item by item, at most n bytes, until one of the two LISTs ends */
            items t = list_items(to), f = list_items(from);
            tutti_off copied = 0;
            int more = 1;

            while (more && copied < n) {
                const tutti_off bytes = tutti__min(tutti__min(t.left, f.left), n - copied);
                queue_move(&q, t.at, f.at, bytes);
                copied += bytes;
                more = items_take(&t, bytes);
                more &= items_take(&f, bytes);
            }
            if (copied < n) {
                walk_seek(to, to->stream + copied);
                walk_seek(from, from->stream + copied);
            }
            n -= copied;
        } else {
            move_runs(to, from, n, &m, &q);
            n -= m.bytes * m.count;
        }
    }
    flush_moves(&q);
}

/* Return a side relative to a stage whose byte 0 is offset stage_lo. */
static tutti__side in_stage(tutti__side s, tutti_off stage_lo) {
    s.disp -= stage_lo;
    return s;
}

tutti_off tutti__access_to_stage(const tutti_access *a, const void *user, tutti_off lo,
                                 tutti_off hi, void *stage, tutti_off stage_lo) {
    const tutti_off from = tutti__side_tell(a->file, lo);
    const tutti_off n = tutti__side_bytes_in(a->file, lo, hi);
    walk w, r;

    if (n <= 0) return 0;
    w.side = in_stage(a->file, stage_lo);
    w.base = stage;
    r.side = a->memory;
    r.base = (char *)user;
    w.stream = r.stream = from;
    move_lockstep(&w, &r, n);
    return n;
}

tutti_off tutti__access_from_stage(const tutti_access *a, void *user, tutti_off lo, tutti_off hi,
                                   const void *stage, tutti_off stage_lo) {
    const tutti_off from = tutti__side_tell(a->file, lo);
    const tutti_off n = tutti__side_bytes_in(a->file, lo, hi);
    walk w, r;

    if (n <= 0) return 0;
    w.side = a->memory;
    w.base = user;
    r.side = in_stage(a->file, stage_lo);
    r.base = (char *)stage;
    w.stream = r.stream = from;
    move_lockstep(&w, &r, n);
    return n;
}

tutti_off tutti__side_pack(tutti__side s, tutti_off lo, tutti_off hi, const void *stage,
                           tutti_off stage_lo, void *packed) {
    const tutti_off from = tutti__side_tell(s, lo), n = tutti__side_bytes_in(s, lo, hi);
    tutti__stream t = {(char *)stage, packed, TUTTI__PACK, 0};
    tutti__copy_stream(&t, in_stage(s, stage_lo), from, from + n);
    return n;
}

tutti_off tutti__side_unpack(tutti__side s, tutti_off lo, tutti_off hi, void *stage,
                             tutti_off stage_lo, const void *packed) {
    const tutti_off from = tutti__side_tell(s, lo), n = tutti__side_bytes_in(s, lo, hi);
    tutti__stream t = {stage, (char *)packed, TUTTI__UNPACK, 0};
    tutti__copy_stream(&t, in_stage(s, stage_lo), from, from + n);
    return n;
}

static void user_stream(const tutti_access *a, tutti__stream *t, tutti_off from, tutti_off to) {
    if (!a) return;
    from = tutti__max(from, 0);
    to = tutti__min(to, tutti__side_bytes(a->memory));
    if (from < to) tutti__copy_stream(t, a->memory, from, to);
}

void tutti_access_pack(const tutti_access *a, const void *user, tutti_off from, tutti_off to,
                       void *packed) {
    tutti__stream t = {(char *)user, packed, TUTTI__PACK, 0};
    user_stream(a, &t, from, to);
}

void tutti__access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                          const void *packed) {
    tutti__stream t = {user, (char *)packed, TUTTI__UNPACK, 0};
    user_stream(a, &t, from, to);
}

void tutti_access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                         const void *packed) {
    tutti__access_unpack(a, user, from, to, packed);
    if (a) (void)tutti__access_repeat(a, user, from, to);
}
