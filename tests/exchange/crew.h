/* Threads that act as the ranks of one node: a reduced version of the exchange and the aggregator of the
 * engine with its slots, stage, domains and copy kernels, and with an array as the file.  Each thread
 * closes its own slots, waits at a barrier, and then
 *
 *   - as a rank: for each window with its bytes, waits until the window is open, copies and reports them
 *   - as an aggregator (write): opens a window, waits until it is full, writes it to the file
 *   - as an aggregator (read): reads a window from the file, opens it, waits until it is empty
 *
 * Only the slots order the threads within an operation, so ThreadSanitizer reports every copy that they
 * fail to order.  File accesses take several steps, as if they ran in the background; threads of a restless
 * crew also sleep at random places for random times.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_CREW_H
#define TUTTI_TESTS_CREW_H

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include "check.h"
#include "exchange/slot.h"
#include "plan/domains.h"

enum { CREW_MAX = 8, CREW_SLOTS = 3, CREW_OPS = 8 };

/* The request of one rank in one operation; base is the address of memory offset 0. */
typedef struct {
    tutti_access *access;
    unsigned char *memory, *base;
    size_t capacity;
} crew_request;

typedef struct {
    int is_write, slots;
    tutti_off eof; /* end of the file for reads, TUTTI__OFF_END for writes */
    tutti__domains domains;
    crew_request request[CREW_MAX];
    tutti_off done[CREW_MAX]; /* bytes that each rank has copied to or from windows */
} crew_op;

typedef struct {
    int ranks, restless;
    char *staging;
    unsigned char *file;
    int ops;
    crew_op op[CREW_OPS];
    pthread_barrier_t vote;
    long writes; /* number of windows written to the file */
} crew;

typedef enum { CREW_IDLE, CREW_FILL, CREW_STORE, CREW_FETCH, CREW_SERVE } crew_phase;

/* The state of a window of an aggregator. */
typedef struct {
    crew_phase phase;
    tutti_count cycle;
    tutti_off lo, hi, local;
    tutti__slot *slot;
    char *stage;
    tutti__extents file;
    size_t moved; /* number of extents of `file` that have been copied */
} crew_window;

/* The state of one thread, which is a rank. */
typedef struct {
    crew *c;
    crew_op *op;
    int me, failed;
    uint64_t random;
    tutti__stage stage;
    tutti__side side[CREW_MAX]; /* file sides of all ranks, which fill the windows of this rank */
    tutti__route route;         /* destinations of this rank's bytes; `cycle` is the next cycle */
    tutti_count window_next;
    crew_window window[CREW_SLOTS];
} crew_mate;

/* ---- random delays */

static inline uint64_t mate_random(crew_mate *m, uint64_t n) {
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (m->random >> 33) % n;
}

static inline void mate_rest(crew_mate *m) {
    if (!m->c->restless) return;
    const uint64_t kind = mate_random(m, 24);
    const struct timespec nap = {0, (long)mate_random(m, 60000)};
    if (kind == 0) nanosleep(&nap, NULL);
    if (kind >= 1 && kind <= 3) sched_yield();
    for (volatile uint64_t i = 0; kind == 4 && i < (uint64_t)nap.tv_nsec / 20; i++) {
    }
}

/* ---- the file: each step of an access copies one or several extents */

static inline void file_begin(crew_mate *m, crew_window *w) {
    w->file.n = w->moved = 0;
    const int gap = m->op->is_write ? 0 : 48;
    if (tutti__sides_union(m->c->ranks, m->side, w->lo, w->hi, gap, &w->file) != TUTTI_OK)
        m->failed = 1;
}

static inline int file_ended(crew_mate *m, crew_window *w) {
    size_t steps = 1 + mate_random(m, 8);
    for (; w->moved < w->file.n && steps > 0; w->moved++, steps--) {
        const tutti__extent *e = &w->file.v[w->moved];
        char *stage = w->stage + (e->offset - w->lo);
        unsigned char *file = m->c->file + e->offset;
        if (m->op->is_write)
            memcpy(file, stage, (size_t)e->bytes);
        else
            memcpy(stage, file, (size_t)e->bytes);
    }
    return w->moved == w->file.n;
}

/* ---- aggregator: the windows of this rank */

/* Return the next cycle >= from of this aggregator's domain with bytes of any rank, or -1. */
static inline tutti_count home_after(const crew_mate *m, tutti_count from) {
    const crew_op *op = m->op;
    tutti_count best = -1;
    tutti_off lo, hi;
    if (m->me >= op->domains.aggregators) return -1;
    for (int r = 0; r < m->c->ranks; r++) {
        const tutti_count c = tutti__route_next(&op->domains, m->side[r], m->me, from);
        if (c >= 0 && (best < 0 || c < best)) best = c;
    }
    if (best < 0) return -1;
    tutti__domains_window(&op->domains, m->me, best, &lo, &hi);
    return lo < op->eof ? best : -1;
}

static inline int window_begin(crew_mate *m, crew_window *w) {
    if (m->window_next < 0) return 0;
    w->cycle = m->window_next;
    tutti__domains_window(&m->op->domains, m->me, w->cycle, &w->lo, &w->hi);
    w->hi = tutti__min(w->hi, m->op->eof);
    w->local = 0;
    for (int r = 0; r < m->c->ranks; r++)
        w->local += tutti__side_bytes_in(m->side[r], w->lo, w->hi);
    m->window_next = home_after(m, w->cycle + 1);
    memset(w->stage, 0xee, (size_t)(w->hi - w->lo)); /* bytes of earlier windows must not be used */
    return 1;
}

static inline void window_open(crew_mate *m, crew_window *w) {
    mate_rest(m);
    tutti__slot_open(w->slot, tutti__slot_key(m->me, w->cycle));
}

/* If all ranks have filled or emptied the window, close it and return 1; otherwise return 0. */
static inline int window_closed(crew_mate *m, crew_window *w) {
    if (!tutti__slot_is_done(w->slot, w->local)) return 0;
    tutti__slot_close(w->slot);
    mate_rest(m);
    return 1;
}

static inline int aggregator_write(crew_mate *m, crew_window *w) {
    switch (w->phase) {
    case CREW_IDLE:
        if (!window_begin(m, w)) return 0;
        window_open(m, w);
        w->phase = CREW_FILL;
        return 1;
    case CREW_FILL: {
        tutti__slot *turns = tutti__stage_slot(&m->stage, 0, 0);
        if (!tutti__slot_is_done(w->slot, w->local) || !tutti__slot_writer_enter(turns)) return 0;
        (void)window_closed(m, w);
        file_begin(m, w);
        m->c->writes++; /* protected by the slot's writer lock */
        tutti__slot_writer_leave(turns);
        w->phase = CREW_STORE;
        return 1;
    }
    default:
        if (file_ended(m, w)) w->phase = CREW_IDLE;
        return 1;
    }
}

/* Return whether no earlier window is still being read. */
static inline int window_is_first(const crew_mate *m, const crew_window *w) {
    for (int i = 0; i < m->op->slots; i++)
        if (m->window[i].phase == CREW_FETCH && m->window[i].cycle < w->cycle) return 0;
    return 1;
}

static inline int aggregator_read(crew_mate *m, crew_window *w) {
    switch (w->phase) {
    case CREW_IDLE:
        if (!window_begin(m, w)) return 0;
        file_begin(m, w);
        w->phase = CREW_FETCH;
        return 1;
    case CREW_FETCH:
        if (!file_ended(m, w)) return 1;
        if (!window_is_first(m, w)) return 0;
        window_open(m, w);
        w->phase = CREW_SERVE;
        return 1;
    default:
        if (!window_closed(m, w)) return 0;
        w->phase = CREW_IDLE;
        return 1;
    }
}

static inline int mate_progress(crew_mate *m) {
    int moved = 0;
    for (int i = 0; i < m->op->slots; i++)
        moved |= m->op->is_write ? aggregator_write(m, &m->window[i])
                                 : aggregator_read(m, &m->window[i]);
    return moved;
}

static inline int mate_busy(const crew_mate *m) {
    for (int i = 0; i < m->op->slots; i++)
        if (m->window[i].phase != CREW_IDLE) return 1;
    return m->window_next >= 0;
}

/* ---- rank: copies between its memory and windows */

static inline void stop_advance(const crew_mate *m, tutti__stop *s, tutti_count from) {
    const tutti__domains *d = &m->op->domains;
    tutti_off lo, hi;
    s->cycle = tutti__route_next(d, m->side[m->me], s->aggregator, from);
    if (s->cycle < 0) return;
    tutti__domains_window(d, s->aggregator, s->cycle, &lo, &hi);
    if (tutti__side_next(m->side[m->me], lo) >= m->op->eof) s->cycle = -1;
}

static inline void walk_to(crew_mate *m, tutti__stop *s) {
    const crew_request *q = &m->op->request[m->me];
    const int64_t key = tutti__slot_key(s->aggregator, s->cycle);
    int slot;
    while ((slot = tutti__stage_find(&m->stage, s->aggregator, 0, m->op->slots, key)) < 0)
        if (!mate_progress(m)) sched_yield();

    tutti_off lo, hi;
    char *stage = tutti__stage_buffer(&m->stage, s->aggregator, slot);
    tutti__domains_window(&m->op->domains, s->aggregator, s->cycle, &lo, &hi);
    hi = tutti__min(hi, m->op->eof);
    mate_rest(m);
    const tutti_off bytes = m->op->is_write
                                ? tutti__access_to_stage(q->access, q->base, lo, hi, stage, lo)
                                : tutti__access_from_stage(q->access, q->base, lo, hi, stage, lo);
    mate_rest(m);
    tutti__slot_moved(tutti__stage_slot(&m->stage, s->aggregator, slot), bytes);
    m->op->done[m->me] += bytes;
    stop_advance(m, s, s->cycle + 1);
}

static inline tutti_count walk_next(const crew_mate *m) {
    tutti_count best = -1;
    for (int i = 0; i < m->route.n; i++) {
        const tutti_count c = m->route.stop[i].cycle;
        if (c >= 0 && (best < 0 || c < best)) best = c;
    }
    return best;
}

/* Copy all bytes of this rank cycle by cycle; each rank begins a cycle with a different aggregator. */
static inline void mate_walk(crew_mate *m) {
    tutti_count cycle;
    while ((cycle = walk_next(m)) >= 0)
        for (int i = 0; i < m->route.n; i++) {
            tutti__stop *s = &m->route.stop[(i + m->me) % m->route.n];
            if (s->cycle != cycle) continue;
            walk_to(m, s);
            (void)mate_progress(m);
        }
    while (mate_busy(m))
        if (!mate_progress(m)) sched_yield();
}

/* ---- operations and threads */

static inline void mate_prepare(crew_mate *m, crew_op *op) {
    m->op = op;
    m->stage = (tutti__stage){m->c->staging, m->c->ranks, op->slots, op->domains.window};
    for (int r = 0; r < m->c->ranks; r++) m->side[r] = op->request[r].access->file;
    for (int i = 0; i < op->slots; i++) {
        crew_window *w = &m->window[i];
        w->phase = CREW_IDLE;
        w->slot = tutti__stage_slot(&m->stage, m->me, i);
        w->stage = tutti__stage_buffer(&m->stage, m->me, i);
        tutti__slot_make(w->slot);
    }
    m->window_next = home_after(m, 0);
    if (tutti__route_make(&op->domains, m->side[m->me], &m->route) != TUTTI_OK) m->failed = 1;
    for (int i = 0; i < m->route.n; i++) stop_advance(m, &m->route.stop[i], m->route.stop[i].cycle);
}

static inline void *mate_main(void *arg) {
    crew_mate *m = arg;
    for (int i = 0; i < m->c->ops; i++) {
        mate_prepare(m, &m->c->op[i]);
        pthread_barrier_wait(&m->c->vote);
        mate_walk(m);
        pthread_barrier_wait(&m->c->vote);
        tutti__route_free(&m->route);
    }
    for (int i = 0; i < CREW_SLOTS; i++) tutti__extents_free(&m->window[i].file);
    return NULL;
}

static inline void crew_run(crew *c, uint64_t seed) {
    static crew_mate mate[CREW_MAX];
    pthread_t thread[CREW_MAX];
    memset(mate, 0, sizeof mate);
    pthread_barrier_init(&c->vote, NULL, (unsigned)c->ranks);
    for (int r = 0; r < c->ranks; r++) {
        mate[r].c = c;
        mate[r].me = r;
        mate[r].random = seed + 977u * (uint64_t)r;
        if (pthread_create(&thread[r], NULL, mate_main, &mate[r]) != 0) abort();
    }
    for (int r = 0; r < c->ranks; r++) {
        pthread_join(thread[r], NULL);
        CHECK(!mate[r].failed, "rank %d: no memory", r);
    }
    pthread_barrier_destroy(&c->vote);
}

#endif
