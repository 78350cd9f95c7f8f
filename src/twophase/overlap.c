/* twophase: ranks that write the same bytes.  Only the highest of these ranks sends the bytes; the
 * others "lose" them:
 *
 *   sweep     aggregators find the bytes of each sender that a higher rank also writes (dense
 *             requests: in a bitmap, from the highest rank down)
 *   notify    aggregators send the lost bytes to their sender, and to the rank that relays its
 *             bytes
 *   trim      all of them remove the same bytes from their descriptions.  An aggregator with ranks
 *             that copy into its staging memory records the lost bytes instead: it needs only the
 *             number of bytes to expect, and their union
 *
 * The trimmed plan is executed like any other.  The memory side of a sender loses the same stream
 * positions as its file side.  The remaining runs are listed (equally spaced runs become loops
 * again) or, for long sides, concatenated from slices.  If that would take too much memory, the
 * caller places messages in rank order instead.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "comm/sparse.h"

/* Limits of trimming: growth of a description in bytes (GROWTH), number of runs of a list
 * (MOST_RUNS), number of slices of a side (FEW_SLICES). */
static const size_t GROWTH = (size_t)4 << 20;
enum { MOST_RUNS = 1 << 20, FEW_SLICES = 64 };

/* ---- sweep: the runs of all senders in the order of their offsets */

/* A sender with its current run [at, end). */
typedef struct {
    tutti__cursor c;
    tutti__burst b; /* runs of the last burst that have not been visited */
    tutti_off burst_bytes, at, end;
    int rank;
} sender;

typedef struct {
    sender *sender;
    int *heap, waiting;   /* heap of senders whose current run begins later; the earliest on top */
    int *active, running; /* senders with a run that covers the current offset */
    tutti_off hi;
    tutti__extents *lost; /* [senders] bytes that each sender loses */
} sweep;

/* Advance a sender to its next run; return 0 if no run begins before `hi`. */
static int advance_sender(sender *s, tutti_off hi) {
    if (s->b.count == 0) {
        if (!tutti__cursor_next(&s->c, s->burst_bytes, &s->b)) return 0;
        s->burst_bytes = s->b.bytes * s->b.count;
    }
    s->at = s->b.offset;
    s->end = tutti__min(s->at + s->b.bytes, hi);
    s->b.offset += s->b.stride;
    s->b.count--;
    return s->at < hi;
}

static int begins_earlier(const sweep *w, int a, int b) {
    return w->sender[a].at < w->sender[b].at;
}

static void push_sender(sweep *w, int i) {
    int k = w->waiting++;
    for (; k > 0 && begins_earlier(w, i, w->heap[(k - 1) / 2]); k = (k - 1) / 2)
        w->heap[k] = w->heap[(k - 1) / 2];
    w->heap[k] = i;
}

static int pop_sender(sweep *w) {
    const int top = w->heap[0], last = w->heap[--w->waiting];
    int k = 0;
    for (int child; (child = 2 * k + 1) < w->waiting; k = child) {
        if (child + 1 < w->waiting && begins_earlier(w, w->heap[child + 1], w->heap[child]))
            child++;
        if (!begins_earlier(w, w->heap[child], last)) break;
        w->heap[k] = w->heap[child];
    }
    w->heap[k] = last;
    return top;
}

/* Record that all active senders except the highest rank lose bytes [at, end). */
static tutti_err lose_to_highest(sweep *w, tutti_off at, tutti_off end) {
    int best = w->active[0];
    for (int k = 1; k < w->running; k++)
        if (w->sender[w->active[k]].rank > w->sender[best].rank) best = w->active[k];
    for (int k = 0; k < w->running; k++) {
        tutti__extents *x = &w->lost[w->active[k]];
        if (w->active[k] == best) continue;
        if (x->n > 0 && x->v[x->n - 1].offset + x->v[x->n - 1].bytes == at) {
            x->v[x->n - 1].bytes += end - at;
            continue;
        }
        TUTTI_TRY(tutti__grow(&x->v, x->n + 1, &x->capacity, sizeof *x->v));
        x->v[x->n++] = (tutti__extent){at, end - at};
    }
    return TUTTI_OK;
}

static tutti_err sweep_runs(sweep *w) {
    tutti_off at = 0;
    while (w->running > 0 || w->waiting > 0) {
        if (w->running == 0) at = w->sender[w->heap[0]].at;
        while (w->waiting > 0 && w->sender[w->heap[0]].at <= at)
            w->active[w->running++] = pop_sender(w);
        tutti_off end = w->waiting > 0 ? w->sender[w->heap[0]].at : TUTTI__OFF_END;
        for (int k = 0; k < w->running; k++) end = tutti__min(end, w->sender[w->active[k]].end);
        if (w->running > 1) TUTTI_TRY(lose_to_highest(w, at, end));
        at = end;

        /* senders whose run ends at `at` advance to their next run */
        int kept = 0;
        for (int k = 0; k < w->running; k++) {
            const int i = w->active[k];
            if (w->sender[i].end > at)
                w->active[kept++] = i;
            else if (advance_sender(&w->sender[i], w->hi))
                push_sender(w, i);
        }
        w->running = kept;
    }
    return TUTTI_OK;
}

static int by_rank_down(const void *a, const void *b) {
    const tutti__source *x = *(const tutti__source *const *)a,
                        *y = *(const tutti__source *const *)b;
    return (x->rank < y->rank) - (x->rank > y->rank);
}

/* If the requests are dense, find the bytes in [lo, hi) that each source loses with a bitmap, and
 * set *done_out. */
static tutti_err mark_lost(const tutti__incoming *l, tutti_off lo, tutti_off hi,
                           tutti__extents *lost, int *done_out) {
    const size_t n = (size_t)l->n;
    tutti_err err = TUTTI_ERR_NOMEM;
    const tutti__source **by = tutti__malloc(n * sizeof *by);
    const tutti__side **side = tutti__malloc(n * sizeof *side);
    tutti__extents **x = tutti__malloc(n * sizeof *x);
    if (by && side && x) {
        for (size_t i = 0; i < n; i++) by[i] = &l->source[i];
        qsort(by, n, sizeof *by, by_rank_down);
        for (size_t i = 0; i < n; i++) {
            side[i] = &by[i]->side;
            x[i] = &lost[by[i] - l->source];
        }
        err = tutti__sides_shared(l->n, side, lo, hi, x, done_out);
    }
    tutti__free(by);
    tutti__free(side);
    tutti__free(x);
    return err;
}

/* Find the bytes in [lo, hi) that each source loses, run by run. */
static tutti_err sweep_lost(const tutti__incoming *l, tutti_off lo, tutti_off hi,
                            tutti__extents *lost) {
    tutti_err err = TUTTI_ERR_NOMEM;
    sweep w = {.hi = hi, .lost = lost};
    w.sender = tutti__malloc((size_t)l->n * sizeof *w.sender);
    w.heap = tutti__malloc(2 * (size_t)l->n * sizeof *w.heap);
    if (w.sender && w.heap) {
        w.active = w.heap + l->n;
        for (int i = 0; i < l->n; i++) {
            sender *s = &w.sender[i];
            s->rank = l->source[i].rank;
            tutti__cursor_seek(&s->c, l->side[i], tutti__side_tell(l->side[i], lo));
            if (!tutti__cursor_peek(&s->c, &s->b)) continue;
            s->burst_bytes = s->b.bytes * s->b.count;
            if (advance_sender(s, hi)) push_sender(&w, i);
        }
        err = sweep_runs(&w);
    }
    tutti__free(w.sender);
    tutti__free(w.heap);
    return err;
}

/* ---- trim */

/* A list of runs, or of ranges of stream positions. */
typedef struct {
    tutti_off *offset, *bytes;
    tutti_count n;
    size_t offset_capacity, bytes_capacity;
} run_list;

static void free_list(run_list *l) {
    tutti__free(l->offset);
    tutti__free(l->bytes);
}

static tutti_err append_run(run_list *l, tutti_off offset, tutti_off bytes) {
    if (l->n > 0 && l->offset[l->n - 1] + l->bytes[l->n - 1] == offset) {
        l->bytes[l->n - 1] += bytes;
        return TUTTI_OK;
    }
    const size_t n = (size_t)l->n + 1;
    TUTTI_TRY(tutti__grow(&l->offset, n, &l->offset_capacity, sizeof *l->offset));
    TUTTI_TRY(tutti__grow(&l->bytes, n, &l->bytes_capacity, sizeof *l->bytes));
    l->offset[l->n] = offset;
    l->bytes[l->n++] = bytes;
    return TUTTI_OK;
}

/* A file side from which lost bytes are removed. */
typedef struct {
    const tutti__extents *lost;
    size_t next;        /* the first lost extent that has not been passed */
    run_list remaining; /* runs of the file side that are not lost */
    run_list kept;      /* stream positions of these runs */
    tutti_off from;     /* first stream position after the last lost range */
} trimmer;

/* Record that positions [from, to) are lost. */
static tutti_err lose_positions(trimmer *t, tutti_off from, tutti_off to) {
    const tutti_off since = t->from;
    t->from = to;
    return from > since ? append_run(&t->kept, since, from - since) : TUTTI_OK;
}

/* Remove lost bytes from the run of `bytes` bytes at `offset`, whose first byte has stream position
 * `at`. */
static tutti_err trim_run(trimmer *t, tutti_off offset, tutti_off bytes, tutti_off at) {
    const tutti_off start = offset, end = offset + bytes;
    for (; t->next < t->lost->n && t->lost->v[t->next].offset < end; t->next++) {
        const tutti__extent *x = &t->lost->v[t->next];
        const tutti_off from = tutti__max(x->offset, offset);
        const tutti_off to = tutti__min(x->offset + x->bytes, end);
        if (from > offset) TUTTI_TRY(append_run(&t->remaining, offset, from - offset));
        TUTTI_TRY(lose_positions(t, at + (from - start), at + (to - start)));
        offset = to;
        if (x->offset + x->bytes > end) break; /* the next run loses the rest of the extent */
    }
    return offset < end ? append_run(&t->remaining, offset, end - offset) : TUTTI_OK;
}

/* Concatenate the slices of a side at the kept positions. */
static tutti_err join_slices(tutti__side s, const run_list *kept, tutti__side *out) {
    tutti__side part[FEW_SLICES + 1];
    int n = 0;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < kept->n && err == TUTTI_OK; i++) {
        err = tutti__side_slice(s, kept->offset[i], kept->offset[i] + kept->bytes[i], &part[n]);
        if (err == TUTTI_OK) n++;
    }
    if (err == TUTTI_OK) return tutti__side_cat(n, part, out); /* the result owns the slices */
    while (n > 0) tutti__side_free(&part[--n]);
    return err;
}

static int prefers_slices(tutti__side s, tutti_count pieces) {
    return pieces <= FEW_SLICES && tutti__side_runs(s) > 16 * pieces;
}

/* Remove lost bytes from a file side.  Sets *large_out if the result would need too much memory. */
static tutti_err trim_file_side(trimmer *t, tutti__side file, int *large_out, tutti__side *out) {
    const tutti_count lost = (tutti_count)t->lost->n;
    *out = (tutti__side){0, NULL};
    if (prefers_slices(file, lost)) { /* faster than a loop over all runs */
        for (size_t i = 0; i < t->lost->n; i++) {
            const tutti_off from = tutti__side_tell(file, t->lost->v[i].offset);
            TUTTI_TRY(lose_positions(t, from, from + t->lost->v[i].bytes));
        }
        const tutti_off all = tutti__side_bytes(file);
        TUTTI_TRY(lose_positions(t, all, all));
        return t->kept.n > 0 ? join_slices(file, &t->kept, out) : TUTTI_OK;
    }
    *large_out |= tutti__side_runs(file) + lost > MOST_RUNS;
    if (*large_out) return TUTTI_OK;
    tutti__cursor c;
    tutti__burst b;
    tutti_off at = 0;
    tutti__cursor_seek(&c, file, 0);
    for (int more = tutti__cursor_peek(&c, &b); more;
         more = tutti__cursor_next(&c, b.bytes * b.count, &b))
        for (tutti_count i = 0; i < b.count; i++, at += b.bytes)
            TUTTI_TRY(trim_run(t, b.offset + i * b.stride, b.bytes, at));
    TUTTI_TRY(lose_positions(t, at, at));
    const run_list *l = &t->remaining;
    TUTTI_TRY(tutti__side_list(l->n, l->offset, l->bytes, 0, out));
    *large_out |= tutti__side_size(*out) > tutti__side_size(file) + GROWTH;
    return TUTTI_OK;
}

/* Reduce a memory side to the stream positions `kept`.  Sets *large_out like trim_file_side. */
static tutti_err trim_memory_side(tutti__side s, const run_list *kept, int *large_out,
                                  tutti__side *out) {
    run_list l = {.n = 0};
    *out = (tutti__side){0, NULL};
    if (kept->n == 0) return TUTTI_OK;
    if (prefers_slices(s, kept->n)) return join_slices(s, kept, out);
    *large_out |= tutti__side_runs(s) + kept->n > MOST_RUNS;
    if (*large_out) return TUTTI_OK;
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti_off at = 0;
    tutti_err err = TUTTI_OK;
    tutti__cursor_seek(&c, s, 0);
    for (tutti_count i = 0; i < kept->n; i++) {
        const tutti_off from = kept->offset[i], to = from + kept->bytes[i];
        while (at < to && err == TUTTI_OK) {
            (void)tutti__cursor_peek(&c, &b);
            tutti_off n = tutti__min(b.bytes * b.count, (at < from ? from : to) - at);
            tutti__cursor_skip(&c, n);
            at += n;
            for (tutti_off o = b.offset, m; at > from && n > 0 && err == TUTTI_OK;
                 o += b.stride, n -= m) {
                m = tutti__min(n, b.bytes);
                err = append_run(&l, o, m);
            }
        }
        if (err != TUTTI_OK) break;
    }
    if (err == TUTTI_OK) err = tutti__side_list(l.n, l.offset, l.bytes, 0, out);
    free_list(&l);
    *large_out |= tutti__side_size(*out) > tutti__side_size(s) + GROWTH;
    return err;
}

static tutti_err trim_source(tutti__incoming *l, int i, const tutti__extents *lost,
                             int *large_out) {
    trimmer t = {.lost = lost};
    tutti__side trimmed;
    const tutti_err err = trim_file_side(&t, l->side[i], large_out, &trimmed);
    free_list(&t.remaining);
    free_list(&t.kept);
    if (err != TUTTI_OK) return err;
    tutti__side_free(&l->source[i].side);
    l->source[i].side = l->side[i] = trimmed;
    return TUTTI_OK;
}

/* Remove the lost bytes from the access of this rank. */
static tutti_err trim_own_access(const tutti_plan *p, tutti__two_phase *t,
                                 const tutti__extents *lost, int *large_out) {
    trimmer m = {.lost = lost};
    tutti__side file = {0, NULL}, memory = {0, NULL};
    if (lost->n == 0) return TUTTI_OK;
    tutti_err err = trim_file_side(&m, p->asked.access->file, large_out, &file);
    if (err == TUTTI_OK && !*large_out)
        err = trim_memory_side(p->asked.access->memory, &m.kept, large_out, &memory);
    free_list(&m.remaining);
    free_list(&m.kept);
    if (err == TUTTI_OK) t->trimmed = tutti__calloc(1, sizeof *t->trimmed);
    if (t->trimmed) {
        *t->trimmed = (tutti_access){.file = file, .memory = memory};
        return TUTTI_OK;
    }
    tutti__side_free(&file);
    tutti__side_free(&memory);
    return err != TUTTI_OK ? err : TUTTI_ERR_NOMEM;
}

/* ---- notify */

/* Header of a message with the bytes that a sender loses. */
typedef struct {
    int32_t purpose;    /* FOR_SENDER or FOR_RELAY */
    int32_t aggregator; /* aggregator of the domain */
    int32_t rank;       /* rank that loses the bytes */
} loss_header;

enum { FOR_SENDER = 1, FOR_RELAY = 2 };

typedef struct {
    tutti__sparse_message *v;
    int n;
} outbox;

static tutti_err add_message(outbox *m, int to, loss_header h, tutti__side lost) {
    const tutti_off lo = tutti__side_lo(lost), hi = tutti__side_hi(lost);
    const size_t bytes = tutti__side_to_message(lost, lo, hi, NULL, 0);
    char *data = tutti__malloc(sizeof h + bytes);
    if (!data) return TUTTI_ERR_NOMEM;
    memcpy(data, &h, sizeof h);
    (void)tutti__side_to_message(lost, lo, hi, data + sizeof h, bytes);
    m->v[m->n++] = (tutti__sparse_message){to, sizeof h + bytes, data};
    return TUTTI_OK;
}

/* Source i of the domain of this rank loses bytes: notify the ranks that send these bytes, and trim
 * the source or record the lost bytes. */
static tutti_err notify_source(tutti__two_phase *t, int i, const tutti__extents *lost, outbox *m,
                               int *large_out) {
    const tutti__source *s = &t->incoming.source[i];
    const int relayed = s->group != t->groups->own && !t->literal;
    const tutti__sender_group *b = t->incoming.senders;
    tutti__side side;
    run_list l = {.n = 0};
    tutti_err err = TUTTI_OK;
    for (size_t k = 0; k < lost->n && err == TUTTI_OK; k++)
        err = append_run(&l, lost->v[k].offset, lost->v[k].bytes);
    if (err == TUTTI_OK) err = tutti__side_list(l.n, l.offset, l.bytes, 0, &side);
    free_list(&l);
    TUTTI_TRY(err);
    while (b->group != s->group) b++;
    err = add_message(m, s->rank, (loss_header){FOR_SENDER, t->my_agg, s->rank}, side);
    if (err == TUTTI_OK && relayed)
        err = add_message(m, b->peer, (loss_header){FOR_RELAY, t->my_agg, s->rank}, side);
    if (err == TUTTI_OK && (relayed || t->literal))
        err = trim_source(&t->incoming, i, lost, large_out);
    else if (err == TUTTI_OK) {
        t->incoming.lost[i] = side;
        return TUTTI_OK;
    }
    tutti__side_free(&side);
    return err;
}

/* Find the lost bytes in the domain of this rank, and add messages about them to `m`. */
static tutti_err trim_domain(tutti__two_phase *t, outbox *m, int *large_out) {
    tutti_off lo, hi;
    int is_marked = 0;
    tutti__extents *lost = tutti__calloc((size_t)t->incoming.n, sizeof *lost);
    t->incoming.lost = tutti__calloc((size_t)t->incoming.n, sizeof *t->incoming.lost);
    m->v = tutti__calloc(2 * (size_t)t->incoming.n, sizeof *m->v);
    tutti_err err = lost && t->incoming.lost && m->v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    tutti__domains_extent(&t->domains, t->my_agg, &lo, &hi);
    if (err == TUTTI_OK) err = mark_lost(&t->incoming, lo, hi, lost, &is_marked);
    if (err == TUTTI_OK && !is_marked) err = sweep_lost(&t->incoming, lo, hi, lost);
    for (int i = 0; i < t->incoming.n && err == TUTTI_OK && !*large_out; i++) {
        *large_out |= lost[i].n > MOST_RUNS;
        if (lost[i].n > 0 && !*large_out) err = notify_source(t, i, &lost[i], m, large_out);
    }
    for (int i = 0; lost && i < t->incoming.n; i++) tutti__extents_free(&lost[i]);
    tutti__free(lost);
    return err;
}

/* Trim a source that this rank relays to an aggregator. */
static tutti_err trim_relayed(const tutti__two_phase *t, const loss_header *h, tutti__side lost,
                              int *large_out) {
    tutti__extents x = {0};
    tutti__incoming *l = t->relay;
    while (l->aggregator != h->aggregator) l++;
    tutti_err err = tutti__sides_union(1, &lost, tutti__side_lo(lost), tutti__side_hi(lost), 0, &x);
    for (int i = 0; i < l->n && err == TUTTI_OK; i++)
        if (l->source[i].rank == h->rank) err = trim_source(l, i, &x, large_out);
    tutti__extents_free(&x);
    return err;
}

/* Apply the messages of aggregators to the access of this rank and to the sources that this rank
 * relays. */
static tutti_err apply_messages(const tutti_plan *p, tutti__two_phase *t, int n,
                                const tutti__sparse_message *in, int *large_out) {
    tutti__side *own = tutti__calloc((size_t)n + 1, sizeof *own);
    tutti__extents lost = {0};
    int own_n = 0;
    tutti_err err = own ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK && !*large_out; i++) {
        loss_header h;
        tutti__side side;
        memcpy(&h, in[i].data, sizeof h);
        err =
            tutti__side_from_message((char *)in[i].data + sizeof h, in[i].bytes - sizeof h, &side);
        if (err != TUTTI_OK) break;
        if (h.purpose == FOR_SENDER) {
            own[own_n++] = side;
            continue;
        }
        err = trim_relayed(t, &h, side, large_out);
        tutti__side_free(&side);
    }
    if (err == TUTTI_OK && own_n > 0)
        err = tutti__sides_union(own_n, own, tutti__side_lo(p->asked.access->file),
                                 tutti__side_hi(p->asked.access->file), 0, &lost);
    if (err == TUTTI_OK && !*large_out) err = trim_own_access(p, t, &lost, large_out);
    while (own_n > 0) tutti__side_free(&own[--own_n]);
    tutti__free(own);
    tutti__extents_free(&lost);
    return err;
}

tutti_err tutti__overlap_trim(tutti_plan *p, int overlaps_here, int *large_out) {
    tutti__two_phase *t = p->two;
    tutti__sparse_message *in = NULL;
    int n = 0;
    outbox m = {NULL, 0};
    *large_out = 0;
    tutti_err err = overlaps_here ? trim_domain(t, &m, large_out) : TUTTI_OK;
    const int sent = err == TUTTI_OK && !*large_out ? m.n : 0;
    for (int i = 0; i < sent; i++) {
        if (m.v[i].rank == p->file->team->rank) continue;
        p->means.stats->descriptor_messages++;
        p->means.stats->descriptor_bytes += (tutti_off)m.v[i].bytes;
    }
    err = TUTTI_ALSO(err, tutti__sparse_exchange(p->file->team, sent, m.v, &n, &in));
    tutti__sparse_free(m.n, &m.v);
    if (err == TUTTI_OK && !*large_out) err = apply_messages(p, t, n, in, large_out);
    tutti__sparse_free(n, &in);
    TUTTI_ASSERT(err != TUTTI_OK || *large_out || tutti__two_phase_is_valid(t));
    return err;
}
