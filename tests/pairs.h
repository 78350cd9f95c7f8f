/* All-pairs testing: a short series of combinations in which every pair of values of two axes occurs.
 * Greedy: of some random candidates, choose the combination with the most pairs not seen yet.  All ranks
 * get the same series.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_PAIRS_H
#define TUTTI_TESTS_PAIRS_H

#include "check.h"

typedef struct {
    const char *name;
    const char *const *value;
    int n;
} pairs_axis;

enum { PAIRS_VALUES = 8, PAIRS_AXES = 16, PAIRS_CANDIDATES = 40 };

typedef struct {
    const pairs_axis *axis;
    int n;
    int left;
    unsigned char seen[PAIRS_AXES][PAIRS_AXES][PAIRS_VALUES][PAIRS_VALUES];
} pairs;

static inline pairs *pairs_make(const pairs_axis *axis, int n) {
    pairs *p = calloc(1, sizeof *p);
    p->axis = axis;
    p->n = n;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) p->left += axis[i].n * axis[j].n;
    return p;
}

static inline int pairs_gain(const pairs *p, const int *choice) {
    int gain = 0;
    for (int i = 0; i < p->n; i++)
        for (int j = i + 1; j < p->n; j++) gain += !p->seen[i][j][choice[i]][choice[j]];
    return gain;
}

/* Choose a random combination; it contains at least one pair not seen yet, if any is left. */
static inline void pairs_candidate(const pairs *p, int *choice) {
    for (int i = 0; i < p->n; i++) choice[i] = (int)rnd(p->axis[i].n);
    if (p->left == 0) return;
    const int start = (int)rnd(p->n);
    for (int k = 0; k < p->n; k++) {
        const int i = (start + k) % p->n;
        for (int j = i + 1; j < p->n; j++)
            for (int a = 0; a < p->axis[i].n; a++)
                for (int b = 0; b < p->axis[j].n; b++)
                    if (!p->seen[i][j][a][b]) {
                        choice[i] = a;
                        choice[j] = b;
                        return;
                    }
    }
}

/* Store the next combination in `choice`; return 0 if every pair was seen before (`choice` is then arbitrary). */
static inline int pairs_next(pairs *p, int *choice) {
    int best[PAIRS_AXES] = {0}, best_gain = -1, more = p->left > 0;
    for (int k = 0; k < PAIRS_CANDIDATES; k++) {
        pairs_candidate(p, choice);
        const int gain = pairs_gain(p, choice);
        if (gain > best_gain) {
            best_gain = gain;
            memcpy(best, choice, sizeof best[0] * (size_t)p->n);
        }
    }
    memcpy(choice, best, sizeof best[0] * (size_t)p->n);
    p->left -= best_gain;
    for (int i = 0; i < p->n; i++)
        for (int j = i + 1; j < p->n; j++) p->seen[i][j][choice[i]][choice[j]] = 1;
    return more;
}

static inline void pairs_text(const pairs_axis *axis, int n, const int *choice, char *out,
                              size_t size) {
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < n && at < size; i++)
        at +=
            (size_t)snprintf(out + at, size - at, "%s=%s ", axis[i].name, axis[i].value[choice[i]]);
}

static inline void pairs_free(pairs *p) {
    free(p);
}

#endif
