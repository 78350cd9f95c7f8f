/* Messages whose number, destinations, sizes and contents every rank can compute from a seed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_LETTERS_H
#define TUTTI_TESTS_LETTERS_H

#include "check.h"
#include "comm/sparse.h"

/* The parameters of a round of messages. */
typedef struct {
    uint64_t salt;
    int ranks;
    int most;     /* each rank sends fewer messages than this */
    size_t large; /* each message has fewer bytes than this */
} post;

static inline unsigned post_mix(uint64_t a, uint64_t b) {
    uint64_t z = (a + 1) * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu;
    z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
    return (unsigned)(z >> 36);
}

/* Return the number of messages of rank `from`, and the destination and length of its message i. */
static inline int post_count(const post *p, int from) {
    return (int)(post_mix(p->salt, (uint64_t)from) % (unsigned)p->most);
}
static inline int post_to(const post *p, int from, int i) {
    return (int)(post_mix(p->salt + 1, (uint64_t)from * 100000 + (uint64_t)i) % (unsigned)p->ranks);
}
static inline size_t post_bytes(const post *p, int from, int i) {
    const unsigned z = post_mix(p->salt + 2, (uint64_t)from * 100000 + (uint64_t)i);
    return z % 5 == 0 ? 0 : z / 5 % p->large;
}

static inline void post_text(const post *p, int from, int i, unsigned char *out) {
    const size_t bytes = post_bytes(p, from, i);
    const unsigned first = post_mix(p->salt + 3, (uint64_t)from * 100000 + (uint64_t)i);
    for (size_t k = 0; k < bytes; k++) out[k] = (unsigned char)(first + k * 7 + (k >> 8));
}

static inline tutti__sparse_message *post_write(const post *p, int me) {
    const int n = post_count(p, me);
    tutti__sparse_message *v = calloc((size_t)n + 1, sizeof *v);
    for (int i = 0; i < n; i++) {
        v[i].rank = post_to(p, me, i);
        v[i].bytes = post_bytes(p, me, i);
        v[i].data = malloc(v[i].bytes + 1);
        post_text(p, me, i, v[i].data);
    }
    return v;
}

static inline void post_burn(const post *p, int me, tutti__sparse_message *v) {
    for (int i = 0; i < post_count(p, me); i++) free(v[i].data);
    free(v);
}

/* Check that exactly the messages to this rank arrived, ordered by source and by send order. */
static inline void post_check(const post *p, int me, int n, const tutti__sparse_message *in) {
    unsigned char *want = malloc(p->large + 1);
    int at = 0;
    for (int from = 0; from < p->ranks; from++)
        for (int i = 0; i < post_count(p, from); i++) {
            if (post_to(p, from, i) != me) continue;
            const int ok = at < n && in[at].rank == from && in[at].bytes == post_bytes(p, from, i);
            CHECK(ok, "letter %d is not number %d of rank %d", at, i, from);
            post_text(p, from, i, want);
            CHECK(ok && memcmp(in[at].data, want, in[at].bytes) == 0, "letter %d: another text",
                  at);
            at++;
        }
    CHECK_EQ(n, at);
    free(want);
}

#endif
