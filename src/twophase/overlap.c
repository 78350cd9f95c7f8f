/* twophase: ranks that write the same bytes.  The highest of them wins, and the others do not
 * send those bytes at all:
 *
 *   sweep     aggregators: which bytes of a sender does a higher rank write too?  (Where they are
 *             dense: by marking them in a bitmap, from the highest rank down.)
 *   tell      that sender, and the rank of its group that relays its bytes
 *   trim      all of them take the same bytes out of their descriptions; but the aggregator, where
 *             ranks put their bytes into its staging memory themselves: it keeps what they have
 *             lost, since all it has to know is how many bytes come, and which of the file
 *
 * From then on nobody sends what others do, and the plan is carried out like any other.  A sender's memory
 * side loses the same stream positions as its file side.  What is left is listed (equally spaced
 * runs become loops again), or, where it is long, put together from slices.  Where that would be
 * too much to keep, the caller places messages in rank order instead.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "comm/sparse.h"

/* A description may grow by so many bytes; lists may have so many runs while they are made. */
static const size_t GROWTH = (size_t)4 << 20;
enum { MOST_RUNS = 1 << 20, FEW_SLICES = 64 };

static tutti_err extent_add(tutti__extents *x, tutti_off offset, tutti_off end) {
    if (x->n > 0 && x->v[x->n - 1].offset + x->v[x->n - 1].bytes == offset) {
        x->v[x->n - 1].bytes += end - offset;
        return TUTTI_OK;
    }
    if (x->n == x->room) {
        const size_t room = x->room ? 2 * x->room : 64;
        tutti__extent *v = tutti__realloc(x->v, room * sizeof *v);
        if (!v) return TUTTI_ERR_NOMEM;
        x->v = v;
        x->room = room;
    }
    x->v[x->n++] = (tutti__extent){offset, end - offset};
    return TUTTI_OK;
}

/* ---- sweep: the runs of all senders by their offsets */

/* A sender's current run [at, end). */
typedef struct {
    tutti__cursor c;
    tutti__burst b; /* what is left of the last one */
    tutti_off shown, at, end;
    int rank;
} sender;

typedef struct {
    sender *sender;
    int *heap, waiting;   /* whose run begins later, the first one on top */
    int *active, running; /* whose run covers the place where the sweep is */
    tutti_off hi;
    tutti__extents *lost; /* [senders] */
} sweep;

static int sender_next(sender *s, tutti_off hi) {
    if (s->b.count == 0) {
        if (!tutti__cursor_next(&s->c, s->shown, &s->b)) return 0;
        s->shown = s->b.bytes * s->b.count;
    }
    s->at = s->b.offset;
    s->end = tutti__min(s->at + s->b.bytes, hi);
    s->b.offset += s->b.stride;
    s->b.count--;
    return s->at < hi;
}

static int sender_first(sender *s, tutti__side side, tutti_off lo, tutti_off hi) {
    tutti__cursor_seek(&s->c, side, tutti__side_tell(side, lo));
    if (!tutti__cursor_peek(&s->c, &s->b)) return 0;
    s->shown = s->b.bytes * s->b.count;
    return sender_next(s, hi);
}

static int earlier(const sweep *w, int a, int b) {
    return w->sender[a].at < w->sender[b].at;
}

static void heap_push(sweep *w, int i) {
    int k = w->waiting++;
    for (; k > 0 && earlier(w, i, w->heap[(k - 1) / 2]); k = (k - 1) / 2)
        w->heap[k] = w->heap[(k - 1) / 2];
    w->heap[k] = i;
}

static int heap_pop(sweep *w) {
    const int top = w->heap[0], last = w->heap[--w->waiting];
    int k = 0;
    for (int child; (child = 2 * k + 1) < w->waiting; k = child) {
        if (child + 1 < w->waiting && earlier(w, w->heap[child + 1], w->heap[child])) child++;
        if (!earlier(w, w->heap[child], last)) break;
        w->heap[k] = w->heap[child];
    }
    w->heap[k] = last;
    return top;
}

/* All but the highest rank lose [at, end). */
static tutti_err stretch_lose(sweep *w, tutti_off at, tutti_off end) {
    int best = w->active[0];
    for (int k = 1; k < w->running; k++)
        if (w->sender[w->active[k]].rank > w->sender[best].rank) best = w->active[k];
    for (int k = 0; k < w->running; k++)
        if (w->active[k] != best) TUTTI_TRY(extent_add(&w->lost[w->active[k]], at, end));
    return TUTTI_OK;
}

/* Runs that end here are followed by the next ones of their senders. */
static void runs_end(sweep *w, tutti_off at) {
    int kept = 0;
    for (int k = 0; k < w->running; k++) {
        const int i = w->active[k];
        if (w->sender[i].end > at)
            w->active[kept++] = i;
        else if (sender_next(&w->sender[i], w->hi))
            heap_push(w, i);
    }
    w->running = kept;
}

static tutti_err sweep_run(sweep *w) {
    tutti_off at = 0;
    while (w->running > 0 || w->waiting > 0) {
        if (w->running == 0) at = w->sender[w->heap[0]].at;
        while (w->waiting > 0 && w->sender[w->heap[0]].at <= at)
            w->active[w->running++] = heap_pop(w);
        tutti_off end = w->waiting > 0 ? w->sender[w->heap[0]].at : TUTTI__OFF_END;
        for (int k = 0; k < w->running; k++) end = tutti__min(end, w->sender[w->active[k]].end);
        if (w->running > 1) TUTTI_TRY(stretch_lose(w, at, end));
        at = end;
        runs_end(w, at);
    }
    return TUTTI_OK;
}

static int by_rank_down(const void *a, const void *b) {
    const tutti__source *x = *(const tutti__source *const *)a,
                        *y = *(const tutti__source *const *)b;
    return (x->rank < y->rank) - (x->rank > y->rank);
}

/* What each source loses to higher ranks in [lo, hi), if that is better done by marks. */
static tutti_err incoming_mark(const tutti__incoming *l, tutti_off lo, tutti_off hi,
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

/* The same run by run. */
static tutti_err incoming_sweep(const tutti__incoming *l, tutti_off lo, tutti_off hi,
                                tutti__extents *lost) {
    tutti_err err = TUTTI_ERR_NOMEM;
    sweep w = {.hi = hi, .lost = lost};
    w.sender = tutti__malloc((size_t)l->n * sizeof *w.sender);
    w.heap = tutti__malloc(2 * (size_t)l->n * sizeof *w.heap);
    if (w.sender && w.heap) {
        w.active = w.heap + l->n;
        for (int i = 0; i < l->n; i++) {
            w.sender[i].rank = l->source[i].rank;
            if (sender_first(&w.sender[i], l->side[i], lo, hi)) heap_push(&w, i);
        }
        err = sweep_run(&w);
    }
    tutti__free(w.sender);
    tutti__free(w.heap);
    return err;
}

/* ---- trim */

/* Runs while they are listed; or stream positions that are left. */
typedef struct {
    tutti_off *offset, *bytes;
    tutti_count n, room;
} run_list;

static void list_free(run_list *l) {
    tutti__free(l->offset);
    tutti__free(l->bytes);
}

static tutti_err run_put(run_list *l, tutti_off offset, tutti_off bytes) {
    if (l->n > 0 && l->offset[l->n - 1] + l->bytes[l->n - 1] == offset) {
        l->bytes[l->n - 1] += bytes;
        return TUTTI_OK;
    }
    if (l->n == l->room) {
        const tutti_count room = l->room ? 2 * l->room : 256;
        tutti_off *o = tutti__realloc(l->offset, (size_t)room * sizeof *o);
        if (o) l->offset = o;
        tutti_off *b = o ? tutti__realloc(l->bytes, (size_t)room * sizeof *b) : NULL;
        if (!b) return TUTTI_ERR_NOMEM;
        l->bytes = b;
        l->room = room;
    }
    l->offset[l->n] = offset;
    l->bytes[l->n++] = bytes;
    return TUTTI_OK;
}

/* What is left of a file side: its runs, and the stream positions that are left. */
typedef struct {
    const tutti__extents *lost;
    size_t next; /* the first of them that has not been passed */
    run_list left, kept;
    tutti_off from; /* where the positions begin that are not in `kept` yet */
} trimmer;

/* Positions [from, to) are lost. */
static tutti_err kept_cut(trimmer *t, tutti_off from, tutti_off to) {
    const tutti_off since = t->from;
    t->from = to;
    return from > since ? run_put(&t->kept, since, from - since) : TUTTI_OK;
}

/* The run at `offset`, whose first byte is stream position `at`. */
static tutti_err run_trim(trimmer *t, tutti_off offset, tutti_off bytes, tutti_off at) {
    const tutti_off start = offset, end = offset + bytes;
    for (; t->next < t->lost->n && t->lost->v[t->next].offset < end; t->next++) {
        const tutti__extent *x = &t->lost->v[t->next];
        const tutti_off from = tutti__max(x->offset, offset);
        const tutti_off to = tutti__min(x->offset + x->bytes, end);
        if (from > offset) TUTTI_TRY(run_put(&t->left, offset, from - offset));
        TUTTI_TRY(kept_cut(t, at + (from - start), at + (to - start)));
        offset = to;
        if (x->offset + x->bytes > end) break; /* the next run loses the rest of it */
    }
    return offset < end ? run_put(&t->left, offset, end - offset) : TUTTI_OK;
}

static tutti_err runs_trim(trimmer *t, tutti__side file) {
    tutti__cursor c;
    tutti__burst b;
    tutti_off at = 0;
    tutti__cursor_seek(&c, file, 0);
    for (int more = tutti__cursor_peek(&c, &b); more;
         more = tutti__cursor_next(&c, b.bytes * b.count, &b))
        for (tutti_count i = 0; i < b.count; i++, at += b.bytes)
            TUTTI_TRY(run_trim(t, b.offset + i * b.stride, b.bytes, at));
    return kept_cut(t, at, at);
}

/* The same positions without looking at every run. */
static tutti_err kept_find(trimmer *t, tutti__side file) {
    for (size_t i = 0; i < t->lost->n; i++) {
        const tutti_off from = tutti__side_tell(file, t->lost->v[i].offset);
        TUTTI_TRY(kept_cut(t, from, from + t->lost->v[i].bytes));
    }
    const tutti_off all = tutti__side_bytes(file);
    return kept_cut(t, all, all);
}

static tutti_err slices_keep(tutti__side s, const run_list *kept, tutti__side *out) {
    tutti__side part[FEW_SLICES + 1];
    int n = 0;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < kept->n && err == TUTTI_OK; i++) {
        err = tutti__side_slice(s, kept->offset[i], kept->offset[i] + kept->bytes[i], &part[n]);
        if (err == TUTTI_OK) n++;
    }
    if (err == TUTTI_OK) return tutti__side_cat(n, part, out); /* takes them over */
    while (n > 0) tutti__side_free(&part[--n]);
    return err;
}

static int slices_do(tutti__side s, tutti_count pieces) {
    return pieces <= FEW_SLICES && tutti__side_runs(s) > 16 * pieces;
}

static tutti_err file_trim(trimmer *t, tutti__side file, int *large_out, tutti__side *out) {
    const tutti_count lost = (tutti_count)t->lost->n;
    *out = (tutti__side){0, NULL};
    if (slices_do(file, lost)) {
        TUTTI_TRY(kept_find(t, file));
        return t->kept.n > 0 ? slices_keep(file, &t->kept, out) : TUTTI_OK;
    }
    *large_out |= tutti__side_runs(file) + lost > MOST_RUNS;
    if (*large_out) return TUTTI_OK;
    TUTTI_TRY(runs_trim(t, file));
    TUTTI_TRY(tutti__side_list(t->left.n, t->left.offset, t->left.bytes, 0, out));
    *large_out |= tutti__side_size(*out) > tutti__side_size(file) + GROWTH;
    return TUTTI_OK;
}

static tutti_err memory_list(tutti__side s, const run_list *kept, run_list *l) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti_off at = 0;
    tutti__cursor_seek(&c, s, 0);
    for (tutti_count i = 0; i < kept->n; i++) {
        const tutti_off from = kept->offset[i], to = from + kept->bytes[i];
        while (at < to) {
            (void)tutti__cursor_peek(&c, &b);
            tutti_off n = tutti__min(b.bytes * b.count, (at < from ? from : to) - at);
            tutti__cursor_skip(&c, n);
            at += n;
            for (tutti_off o = b.offset, m; at > from && n > 0; o += b.stride, n -= m) {
                m = tutti__min(n, b.bytes);
                TUTTI_TRY(run_put(l, o, m));
            }
        }
    }
    return TUTTI_OK;
}

/* The memory of what is left. */
static tutti_err memory_trim(tutti__side s, const run_list *kept, int *large_out,
                             tutti__side *out) {
    run_list l = {NULL, NULL, 0, 0};
    *out = (tutti__side){0, NULL};
    if (kept->n == 0) return TUTTI_OK;
    if (slices_do(s, kept->n)) return slices_keep(s, kept, out);
    *large_out |= tutti__side_runs(s) + kept->n > MOST_RUNS;
    if (*large_out) return TUTTI_OK;
    tutti_err err = memory_list(s, kept, &l);
    if (err == TUTTI_OK) err = tutti__side_list(l.n, l.offset, l.bytes, 0, out);
    list_free(&l);
    *large_out |= tutti__side_size(*out) > tutti__side_size(s) + GROWTH;
    return err;
}

static tutti_err source_trim(tutti__incoming *l, int i, const tutti__extents *lost,
                             int *large_out) {
    trimmer t = {.lost = lost};
    tutti__side left;
    const tutti_err err = file_trim(&t, l->side[i], large_out, &left);
    list_free(&t.left);
    list_free(&t.kept);
    if (err != TUTTI_OK) return err;
    tutti__side_free(&l->source[i].side);
    l->source[i].side = l->side[i] = left;
    return TUTTI_OK;
}

/* What this rank itself sends. */
static tutti_err walk_trim(const tutti_plan *p, tutti__two_phase *t, const tutti__extents *lost,
                           int *large_out) {
    trimmer m = {.lost = lost};
    tutti__side file = {0, NULL}, memory = {0, NULL};
    if (lost->n == 0) return TUTTI_OK;
    tutti_err err = file_trim(&m, p->asked.access->file, large_out, &file);
    if (err == TUTTI_OK && !*large_out)
        err = memory_trim(p->asked.access->memory, &m.kept, large_out, &memory);
    list_free(&m.left);
    list_free(&m.kept);
    if (err == TUTTI_OK) t->walk = tutti__calloc(1, sizeof *t->walk);
    if (t->walk) {
        *t->walk = (tutti_access){.file = file, .memory = memory};
        return TUTTI_OK;
    }
    tutti__side_free(&file);
    tutti__side_free(&memory);
    return err != TUTTI_OK ? err : TUTTI_ERR_NOMEM;
}

/* ---- tell */

/* What stands before the bytes that a sender has lost. */
typedef struct {
    int32_t purpose, aggregator, rank; /* FOR_..., in whose domain, whose bytes */
} heading;

enum { FOR_SENDER = 1, FOR_RELAY = 2 };

typedef struct {
    tutti__sparse_message *v;
    int n;
} outbox;

static tutti_err outbox_add(outbox *m, int to, heading h, tutti__side lost) {
    const tutti_off lo = tutti__side_lo(lost), hi = tutti__side_hi(lost);
    const size_t bytes = tutti__side_to_message(lost, lo, hi, NULL, 0);
    char *data = tutti__malloc(sizeof h + bytes);
    if (!data) return TUTTI_ERR_NOMEM;
    memcpy(data, &h, sizeof h);
    (void)tutti__side_to_message(lost, lo, hi, data + sizeof h, bytes);
    m->v[m->n++] = (tutti__sparse_message){to, sizeof h + bytes, data};
    return TUTTI_OK;
}

/* A source of my domain has lost these: tell those who send its bytes, and trim it, or keep them. */
static tutti_err source_tell(tutti__two_phase *t, int i, const tutti__extents *lost, outbox *m,
                             int *large_out) {
    const tutti__source *s = &t->incoming.source[i];
    const int relayed = s->group != t->groups->mine && !t->literal;
    const tutti__sender_group *b = t->incoming.senders;
    tutti__side side;
    run_list l = {NULL, NULL, 0, 0};
    tutti_err err = TUTTI_OK;
    for (size_t k = 0; k < lost->n && err == TUTTI_OK; k++)
        err = run_put(&l, lost->v[k].offset, lost->v[k].bytes);
    if (err == TUTTI_OK) err = tutti__side_list(l.n, l.offset, l.bytes, 0, &side);
    list_free(&l);
    TUTTI_TRY(err);
    while (b->group != s->group) b++;
    err = outbox_add(m, s->rank, (heading){FOR_SENDER, t->my_agg, s->rank}, side);
    if (err == TUTTI_OK && relayed)
        err = outbox_add(m, b->peer, (heading){FOR_RELAY, t->my_agg, s->rank}, side);
    if (err == TUTTI_OK && (relayed || t->literal))
        err = source_trim(&t->incoming, i, lost, large_out);
    else if (err == TUTTI_OK) {
        t->incoming.lost[i] = side;
        return TUTTI_OK;
    }
    tutti__side_free(&side);
    return err;
}

/* My domain: find out, tell, trim. */
static tutti_err domain_trim(tutti__two_phase *t, outbox *m, int *large_out) {
    tutti_off lo, hi;
    int marked = 0;
    tutti__extents *lost = tutti__calloc((size_t)t->incoming.n, sizeof *lost);
    t->incoming.lost = tutti__calloc((size_t)t->incoming.n, sizeof *t->incoming.lost);
    m->v = tutti__calloc(2 * (size_t)t->incoming.n, sizeof *m->v);
    tutti_err err = lost && t->incoming.lost && m->v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    tutti__domains_extent(&t->domains, t->my_agg, &lo, &hi);
    if (err == TUTTI_OK) err = incoming_mark(&t->incoming, lo, hi, lost, &marked);
    if (err == TUTTI_OK && !marked) err = incoming_sweep(&t->incoming, lo, hi, lost);
    for (int i = 0; i < t->incoming.n && err == TUTTI_OK && !*large_out; i++) {
        *large_out |= lost[i].n > MOST_RUNS;
        if (lost[i].n > 0 && !*large_out) err = source_tell(t, i, &lost[i], m, large_out);
    }
    for (int i = 0; lost && i < t->incoming.n; i++) tutti__extents_free(&lost[i]);
    tutti__free(lost);
    return err;
}

/* A source of what I relay to an aggregator. */
static tutti_err relay_trim(const tutti__two_phase *t, const heading *h, tutti__side lost,
                            int *large_out) {
    tutti__extents x = {NULL, 0, 0};
    tutti__incoming *l = t->relay;
    while (l->aggregator != h->aggregator) l++;
    tutti_err err = tutti__sides_union(1, &lost, tutti__side_lo(lost), tutti__side_hi(lost), 0, &x);
    for (int i = 0; i < l->n && err == TUTTI_OK; i++)
        if (l->source[i].rank == h->rank) err = source_trim(l, i, &x, large_out);
    tutti__extents_free(&x);
    return err;
}

/* Take in what aggregators have told: of my own bytes, and of those that I relay. */
static tutti_err messages_read(const tutti_plan *p, tutti__two_phase *t, int n,
                               const tutti__sparse_message *in, int *large_out) {
    tutti__side *mine = tutti__calloc((size_t)n + 1, sizeof *mine);
    tutti__extents lost = {NULL, 0, 0};
    int own = 0;
    tutti_err err = mine ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK && !*large_out; i++) {
        heading h;
        tutti__side side;
        memcpy(&h, in[i].data, sizeof h);
        err =
            tutti__side_from_message((char *)in[i].data + sizeof h, in[i].bytes - sizeof h, &side);
        if (err != TUTTI_OK) break;
        if (h.purpose == FOR_SENDER) {
            mine[own++] = side;
            continue;
        }
        err = relay_trim(t, &h, side, large_out);
        tutti__side_free(&side);
    }
    if (err == TUTTI_OK && own > 0)
        err = tutti__sides_union(own, mine, tutti__side_lo(p->asked.access->file),
                                 tutti__side_hi(p->asked.access->file), 0, &lost);
    if (err == TUTTI_OK && !*large_out) err = walk_trim(p, t, &lost, large_out);
    while (own > 0) tutti__side_free(&mine[--own]);
    tutti__free(mine);
    tutti__extents_free(&lost);
    return err;
}

tutti_err tutti__overlap_trim(tutti_plan *p, int mine, int *large_out) {
    tutti__two_phase *t = p->two;
    tutti__sparse_message *in = NULL;
    int n = 0;
    outbox m = {NULL, 0};
    *large_out = 0;
    tutti_err err = mine ? domain_trim(t, &m, large_out) : TUTTI_OK;
    const int told = err == TUTTI_OK && !*large_out ? m.n : 0;
    for (int i = 0; i < told; i++) {
        if (m.v[i].rank == p->file->team->rank) continue;
        p->means.stats->descriptor_messages++;
        p->means.stats->descriptor_bytes += (tutti_off)m.v[i].bytes;
    }
    err = TUTTI_ALSO(err, tutti__sparse_exchange(p->file->team, told, m.v, &n, &in));
    tutti__sparse_free(m.n, &m.v);
    if (err == TUTTI_OK && !*large_out) err = messages_read(p, t, n, in, large_out);
    tutti__sparse_free(n, &in);
    TUTTI_ASSERT(err != TUTTI_OK || *large_out || tutti__two_phase_is_valid(t));
    return err;
}
