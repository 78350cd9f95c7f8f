/* access: copying between user memory and a stage in file order.
 *
 * Both sides of an access carry the same stream.  Where one of them is a long run for many bursts of
 * the other, the other is packed or unpacked by running its tree (copy_stream.c); that is every
 * access with packed memory, and every one with a contiguous file range.  Otherwise both are walked
 * in lockstep, burst by burst:
 *   burst, burst of equal runs   min(count, count) runs by one tutti__move_runs
 *   burst, single run            as many of the burst's runs as the single run holds, likewise
 *   anything else                the shorter of the two runs
 * A stage offset is a file offset less stage_lo, so the stage's side is the file side moved by that.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "access/list_read.h"

/* A run this many times as long as the other side's burst pays for two seeks. */
#define LONG_RUN 32

/* One side being walked: the first `done` bytes of the burst's first run are behind us. */
typedef struct {
    tutti__side side;
    char *base;
    tutti_off stream; /* position of the next byte */
    tutti_off done;
    tutti_off shown; /* bytes of the burst as the cursor showed it */
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

static inline int is_single(const walk *w) { return w->done > 0 || w->burst.count == 1; }
static inline tutti_off run_left(const walk *w) { return w->burst.bytes - w->done; }
static inline char *run_at(const walk *w) { return tutti__place(w->base, w->burst.offset + w->done); }

/* Take `count` runs of `bytes` bytes each: whole runs of a burst, or parts of a single run. */
static inline void walk_take(walk *w, tutti_off bytes, tutti_count count) {
    w->stream += bytes * count;
    if (is_single(w)) {
        w->done += bytes * count;
        if (w->done < w->burst.bytes) return;
        w->done = 0;
        count = 1;
    } else if (bytes < w->burst.bytes) {
        w->done = bytes;
        return;
    }
    w->burst.offset += w->burst.stride * count;
    w->burst.count -= count;
    if (w->burst.count > 0) return;
    if (tutti__cursor_after(&w->cursor, w->shown, &w->burst))
        w->shown = w->burst.bytes * w->burst.count;
}

/* How much the next step moves: *count runs of *bytes bytes. */
static inline void next_step(const walk *to, const walk *from, tutti_off n, tutti__moves *m) {
    const int to_single = is_single(to), from_single = is_single(from);

    m->bytes = tutti__min(run_left(to), run_left(from));
    m->count = 1;
    if (!to_single && !from_single && to->burst.bytes == from->burst.bytes)
        m->count = tutti__min(to->burst.count, from->burst.count);
    else if (!to_single && from_single && m->bytes == to->burst.bytes)
        m->count = tutti__min(to->burst.count, run_left(from) / m->bytes);
    else if (to_single && !from_single && m->bytes == from->burst.bytes)
        m->count = tutti__min(from->burst.count, run_left(to) / m->bytes);
    if (m->bytes * m->count <= n) return;
    m->count = tutti__max(1, n / m->bytes);
    m->bytes = tutti__min(m->bytes, n);
}

/* Short pieces wait here, so that several of them are fetched at once. */
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

static void queue_flush(queue *q) {
    for (int i = 0; i < q->n; i++)
        tutti__move_one(q->piece[i].to, q->piece[i].from, q->piece[i].bytes);
    q->n = 0;
}

static inline void queue_add(queue *q, const tutti__moves *m) {
    __builtin_prefetch(m->from);
    q->piece[q->n].to = m->to;
    q->piece[q->n].from = m->from;
    q->piece[q->n].bytes = m->bytes;
    if (++q->n == AHEAD) queue_flush(q);
}

static inline void step(walk *to, walk *from, tutti_off n, tutti__moves *m, queue *q) {
    next_step(to, from, n, m);
    m->to = run_at(to);
    m->from = run_at(from);
    m->to_stride = is_single(to) ? m->bytes : to->burst.stride;
    m->from_stride = is_single(from) ? m->bytes : from->burst.stride;
    if (m->count == 1 && m->bytes <= SHORT_PIECE) {
        queue_add(q, m);
    } else {
        queue_flush(q);
        tutti__move_runs(m);
    }
    walk_take(to, m->bytes, m->count);
    walk_take(from, m->bytes, m->count);
}

/* Is `one` in a run that is long for the bursts of `other`? */
static inline int is_long(const walk *one, const walk *other) {
    return is_single(one) &&
           run_left(one) / LONG_RUN >= other->burst.bytes * other->burst.count;
}

/* All of `one`'s current run (at most n bytes) against the tree of `other`. */
static tutti_off long_step(walk *one, walk *other, tutti_off n, tutti__direction direction) {
    const tutti_off bytes = tutti__min(run_left(one), n);
    tutti__stream t = {other->base, run_at(one), direction};

    tutti__copy_stream(&t, other->side, other->stream, other->stream + bytes);
    if (bytes == n) return bytes;
    walk_take(one, bytes, 1);
    walk_seek(other, other->stream + bytes);
    return bytes;
}

/* n > 0 bytes from one side to the other, both from their stream position on. */
static void lockstep(walk *to, walk *from, tutti_off n) {
    tutti__moves m;
    queue q;

    q.n = 0;
    walk_seek(to, to->stream);
    walk_seek(from, from->stream);
    while (n > 0) {
        if (is_long(from, to)) {
            queue_flush(&q);
            n -= long_step(from, to, n, TUTTI__UNPACK);
        } else if (is_long(to, from)) {
            queue_flush(&q);
            n -= long_step(to, from, n, TUTTI__PACK);
        } else {
            step(to, from, n, &m, &q);
            n -= m.bytes * m.count;
        }
    }
    queue_flush(&q);
}

/* A side as it lies in a stage whose byte 0 is offset stage_lo. */
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
    lockstep(&w, &r, n);
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
    lockstep(&w, &r, n);
    return n;
}

tutti_off tutti__side_pack(tutti__side s, tutti_off lo, tutti_off hi, const void *stage,
                           tutti_off stage_lo, void *packed) {
    const tutti_off from = tutti__side_tell(s, lo), n = tutti__side_bytes_in(s, lo, hi);
    tutti__stream t = {(char *)stage, packed, TUTTI__PACK};
    tutti__copy_stream(&t, in_stage(s, stage_lo), from, from + n);
    return n;
}

tutti_off tutti__side_unpack(tutti__side s, tutti_off lo, tutti_off hi, void *stage,
                             tutti_off stage_lo, const void *packed) {
    const tutti_off from = tutti__side_tell(s, lo), n = tutti__side_bytes_in(s, lo, hi);
    tutti__stream t = {stage, (char *)packed, TUTTI__UNPACK};
    tutti__copy_stream(&t, in_stage(s, stage_lo), from, from + n);
    return n;
}

static void user_stream(const tutti_access *a, tutti__stream *t, tutti_off from, tutti_off to) {
    const tutti_off bytes = a ? tutti__side_bytes(a->memory) : 0;
    from = tutti__max(from, 0);
    to = tutti__min(to, bytes);
    if (from < to) tutti__copy_stream(t, a->memory, from, to);
}

void tutti_access_pack(const tutti_access *a, const void *user, tutti_off from, tutti_off to,
                       void *packed) {
    tutti__stream t = {(char *)user, packed, TUTTI__PACK};
    user_stream(a, &t, from, to);
}

void tutti_access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                         const void *packed) {
    tutti__stream t = {user, (char *)packed, TUTTI__UNPACK};
    user_stream(a, &t, from, to);
}
