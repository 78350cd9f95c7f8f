/* Items on ranks: a table of the holders of each item, which is the same on all ranks, and from which
 * each rank makes its spec in its own order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_HELD_H
#define TUTTI_TESTS_HELD_H

#include "harness.h"
#include "replicas/replicas_impl.h"

enum { HELD_ITEMS = 400, HELD_RANKS = 8 };

typedef struct {
    int n;
    int64_t number[HELD_ITEMS]; /* [n], strictly ascending */
    tutti_count load[HELD_ITEMS];
    tutti_count start[HELD_ITEMS + 1];
    int holder[HELD_ITEMS * HELD_RANKS]; /* ranks of item i from start[i] on, the owner first */
} held;

/* Distributions of items over ranks, and kinds of item numbers. */
enum { SPREAD, ALL_EVERYWHERE, ALL_ON_ONE, FEW_RANKS, SLABS, SPREADS };
enum { DENSE, GAPS, CLUSTERS, FAR, LAYS };

/* The arguments of this rank for tutti_replicas_create; pointers refer to this struct. */
typedef struct {
    tutti_replicas_spec spec;
    int item[HELD_ITEMS]; /* index in the table of each item of this rank */
    int64_t number[HELD_ITEMS];
    unsigned char own[HELD_ITEMS];
    tutti_count load[HELD_ITEMS];
    tutti_off memory[HELD_ITEMS];
    tutti_off bytes; /* bytes of this rank's values in memory, including gaps */
} mine_of;

static inline int64_t held_number(int lay, int i, int64_t last) {
    switch (lay) {
    case DENSE:
        return i;
    case GAPS:
        return last + 1 + rnd(1000);
    case CLUSTERS:
        return last + (rnd(20) == 0 ? 1000000000000 + rnd(1000) : 1);
    default:
        return last + 1 + rnd(INT64_MAX / (HELD_ITEMS + 1));
    }
}

/* Choose the holders of item i, the owner first; return their number. */
static inline tutti_count held_holders(int spread, int i, int n, int *out) {
    int have[HELD_RANKS] = {0};
    tutti_count many = 0;
    const int owner = spread == ALL_ON_ONE  ? ranks - 1
                      : spread == SLABS     ? (int)((int64_t)i * ranks / n)
                      : spread == FEW_RANKS ? (int)rnd((ranks + 1) / 2)
                                            : (int)rnd(ranks);
    have[owner] = 1;
    out[many++] = owner;
    if (spread == ALL_ON_ONE || (spread == SLABS && rnd(3))) return many;
    for (int k = 0; k < ranks; k++) {
        const int other = (owner + 1 + k) % ranks;
        if (have[other] || (spread == FEW_RANKS && other >= (ranks + 1) / 2)) continue;
        if (spread != ALL_EVERYWHERE && rnd(2)) continue;
        if (spread == SLABS && abs(other - owner) > 1) continue;
        out[many++] = other;
    }
    return many;
}

/* Make a random table; items have 0 to loads - 1 values, or 1 value each if loads is 0. */
static inline void held_random(held *h, int n, int spread, int lay, int loads) {
    int64_t last = 0;
    h->n = n;
    h->start[0] = 0;
    for (int i = 0; i < n; i++) {
        h->number[i] = last = held_number(lay, i, last);
        h->load[i] = loads > 0 ? rnd(loads) : 1;
        h->start[i + 1] = h->start[i] + held_holders(spread, i, n, h->holder + h->start[i]);
    }
}

static inline int held_by(const held *h, int i, int who) {
    for (tutti_count k = h->start[i]; k < h->start[i + 1]; k++)
        if (h->holder[k] == who) return 1;
    return 0;
}

static inline tutti_replicas_lists held_lists(const held *h, tutti_off value_bytes) {
    return (tutti_replicas_lists){.n = h->n,
                                  .parts = ranks,
                                  .start = h->start,
                                  .holders = h->holder,
                                  .numbers = h->number,
                                  .loads = h->load,
                                  .value_bytes = value_bytes};
}

/* Make the spec of this rank; `shuffled`: in random order; `apart`: with gaps between values in memory. */
static inline void held_mine(const held *h, tutti_off value_bytes, int shuffled, int apart,
                             mine_of *m) {
    tutti_count n = 0;
    for (int i = 0; i < h->n; i++)
        if (held_by(h, i, rank)) m->item[n++] = i;
    uint64_t state = (uint64_t)rank + 1; /* rnd() would be the same on all ranks */
    for (tutti_count i = n - 1; i > 0 && shuffled; i--) {
        const tutti_count k = (tutti_count)((state = tutti__scramble(state)) % (uint64_t)(i + 1));
        const int keep = m->item[i];
        m->item[i] = m->item[k];
        m->item[k] = keep;
    }
    m->bytes = 0;
    for (tutti_count k = 0; k < n; k++) {
        const int i = m->item[k];
        m->number[k] = h->number[i];
        m->load[k] = h->load[i];
        m->own[k] = h->holder[h->start[i]] == rank;
        m->bytes += apart ? 5 : 0;
        m->memory[k] = m->bytes;
        m->bytes += h->load[i] * value_bytes;
    }
    m->spec = (tutti_replicas_spec){.n = n,
                                    .numbers = m->number,
                                    .own = m->own,
                                    .loads = m->load,
                                    .value_bytes = value_bytes,
                                    .memory_offsets = apart ? m->memory : NULL};
}

/* Return byte b of an item, the same on all ranks. */
static inline unsigned char held_byte(int64_t number, tutti_off b) {
    return (unsigned char)(tutti__scramble((uint64_t)number * 977 + (uint64_t)b) >> 32);
}

/* Return a buffer with this rank's values, to be freed by the caller. */
static inline unsigned char *held_values(const mine_of *m) {
    unsigned char *v = malloc((size_t)m->bytes + 1);
    memset(v, 0x5a, (size_t)m->bytes + 1);
    for (tutti_count k = 0; k < m->spec.n; k++)
        for (tutti_off b = 0; b < m->load[k] * m->spec.value_bytes; b++)
            v[m->memory[k] + b] = held_byte(m->number[k], b);
    return v;
}

/* Return the contents of a file with all items, to be freed by the caller. */
static inline unsigned char *held_file(const held *h, tutti_off value_bytes, int64_t *n_out) {
    int64_t n = 0;
    for (int i = 0; i < h->n; i++) n += h->load[i] * value_bytes;
    unsigned char *v = malloc((size_t)n + 1), *at = v;
    for (int i = 0; i < h->n; i++)
        for (tutti_off b = 0; b < h->load[i] * value_bytes; b++) *at++ = held_byte(h->number[i], b);
    *n_out = n;
    return v;
}

#endif
