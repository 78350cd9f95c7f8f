/* comm: consensus.  Each rank writes its answers to its own cache lines in shared memory and
 * increments a counter of arrivals; the last rank to arrive wakes the sleeping ranks, and each rank
 * reads all answers.
 *
 *   [ arrived | event | claimed | outcome | data of even, odd rounds ][ answers of rank 0 | ... ]
 *   Each rank has two sets of answers, for even and for odd rounds:
 *   [ yes | numbers ... ] or [ posted bytes ]
 *
 * Two sets are enough: a rank in round n + 2 has completed round n + 1, for which all ranks have
 * answered, after they had read the answers of round n.  A waiting rank lets other operations
 * progress, and occasionally MPI (wait.c), since another rank may wait for a message of the program
 * before it arrives.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/consensus.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"
#include "comm/collective_count.h"
#include "comm/wait.h"

typedef union {
    struct {
        _Alignas(64) int64_t yes;
        int64_t v[TUTTI__CONSENSUS_RANGES];
    };
    _Alignas(64) char posted[TUTTI__POST_BYTES];
} answers;

/* The first part of the shared memory, before the answers. */
typedef struct {
    /* arrivals of all ranks in all rounds so far */
    _Alignas(64) _Atomic int64_t arrived;
    tutti__event event;
    /* the last round whose work a rank has claimed */
    _Alignas(64) _Atomic int64_t claimed;
    /* 2 * the last round whose work has ended, + 1 if the work succeeded */
    _Alignas(64) _Atomic int64_t outcome;
    _Alignas(4096) char data[2][TUTTI__CONSENSUS_DATA_BYTES];
} head;

size_t tutti__consensus_bytes(const tutti__team *t) {
    if (t->nodes.largest < 2) return 0;
    return sizeof(head) + 2 * (size_t)t->nodes.size * sizeof(answers);
}

static head *head_of(const tutti__team *t) {
    return (head *)(void *)t->consensus.base;
}

/* The pages of `data` are released until their first use, since they are most of the memory of an
 * open file. */
void tutti__consensus_use(tutti__team *t, char *memory) {
    t->consensus.in_use = 1;
    t->consensus.base = memory;
    if (!memory) return; /* the only rank of its node */
    (void)madvise(head_of(t)->data, sizeof head_of(t)->data, MADV_DONTNEED);
    t->consensus.spins = tutti__cores() >= t->nodes.size;
}

/* Return the current answers of the rank at a position in this node. */
static answers *answers_of(const tutti__team *t, int position) {
    answers *all = (answers *)(void *)(t->consensus.base + sizeof(head));
    return &all[2 * position + (int)(t->consensus.round % 2)];
}

/* Wait until *number is at least `least`. */
static void number_wait(const tutti__team *t, const _Atomic int64_t *number, int64_t least) {
    tutti__wait w = tutti__wait_begin(t, &head_of(t)->event);
    while (atomic_load_explicit(number, memory_order_acquire) < least) tutti__wait_turn(&w);
}

/* Count the arrival of this rank; the last rank to arrive wakes the others. */
static void count_arrival(const tutti__team *t) {
    const int64_t before = atomic_fetch_add(&head_of(t)->arrived, 1);
    if (before + 1 == t->nodes.size * t->consensus.round) tutti__event_signal(&head_of(t)->event);
}

void tutti__consensus_answer(tutti__team *t, int64_t yes, int n, const tutti__range *range) {
    TUTTI_ASSERT(tutti__consensus_ready(t) && n <= TUTTI__CONSENSUS_RANGES);
    tutti__collective_add();
    if (t->size == 1) return;
    t->consensus.round++;
    answers *own = answers_of(t, t->nodes.me);
    own->yes = yes;
    for (int i = 0; i < n; i++) own->v[i] = range[i].min;
    count_arrival(t);
}

void tutti__consensus_post(tutti__team *t, const void *data, size_t bytes) {
    TUTTI_ASSERT(t->consensus.base && bytes <= TUTTI__POST_BYTES);
    t->consensus.round++;
    memcpy(answers_of(t, t->nodes.me)->posted, data, bytes);
    count_arrival(t);
    tutti__consensus_wait(t);
}

const void *tutti__consensus_posted(const tutti__team *t, int position) {
    return answers_of(t, position)->posted;
}

tutti__event *tutti__consensus_event(const tutti__team *t) {
    return t->consensus.base ? &head_of(t)->event : NULL;
}

int tutti__consensus_is_complete(const tutti__team *t) {
    return t->size == 1 || atomic_load_explicit(&head_of(t)->arrived, memory_order_acquire) >=
                               t->nodes.size * t->consensus.round;
}

void tutti__consensus_wait(const tutti__team *t) {
    if (t->nodes.size > 1) number_wait(t, &head_of(t)->arrived, t->nodes.size * t->consensus.round);
}

int64_t tutti__consensus_collect(tutti__team *t, int64_t yes, int n, tutti__range *range) {
    tutti__consensus_wait(t);
    for (int k = 1; k < t->size; k++) { /* all ranks are on this node */
        const answers *theirs = answers_of(t, (t->nodes.me + k) % t->size);
        yes &= theirs->yes;
        for (int i = 0; i < n; i++) {
            const int64_t v = theirs->v[i];
            if (v == INT64_MAX) continue; /* an empty range */
            if (v < range[i].min) range[i].min = v;
            if (v > range[i].max) range[i].max = v;
        }
    }
    return yes;
}

int64_t tutti__consensus_sum(const tutti__team *t, int i, int64_t own) {
    for (int k = 1; k < t->size; k++)
        if (!tutti__add_ok(own, answers_of(t, (t->nodes.me + k) % t->size)->v[i], &own))
            return INT64_MAX;
    return own;
}

int64_t tutti__consensus(tutti__team *t, int64_t yes, int n, tutti__range *range) {
    tutti__consensus_answer(t, yes, n, range);
    return tutti__consensus_collect(t, yes, n, range);
}

/* ---- work that one rank executes for all ranks of the node */

char *tutti__consensus_data(const tutti__team *t) {
    return head_of(t)->data[(t->consensus.round + 1) % 2];
}

char *tutti__consensus_last_data(const tutti__team *t) {
    return head_of(t)->data[t->consensus.round % 2];
}

int tutti__consensus_work_claim(tutti__team *t, int who) {
    if (who >= 0) return t->rank == who;
    int64_t before = atomic_load_explicit(&head_of(t)->claimed, memory_order_relaxed);
    if (before >= t->consensus.round) return 0;
    return atomic_compare_exchange_strong(&head_of(t)->claimed, &before, t->consensus.round);
}

void tutti__consensus_work_end(tutti__team *t, int well) {
    atomic_store(&head_of(t)->outcome, 2 * t->consensus.round + (well != 0));
    tutti__event_signal(&head_of(t)->event);
}

int tutti__consensus_work_is_done(const tutti__team *t) {
    return atomic_load_explicit(&head_of(t)->outcome, memory_order_acquire) >=
           2 * t->consensus.round;
}

int tutti__consensus_work_outcome(const tutti__team *t) {
    number_wait(t, &head_of(t)->outcome, 2 * t->consensus.round);
    return (int)(atomic_load_explicit(&head_of(t)->outcome, memory_order_relaxed) % 2);
}
