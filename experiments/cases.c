/* Cases of an experiment, chosen so that every pair of levels occurs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/cases.h"

#include <string.h>

enum { CANDIDATES = 64 };

typedef struct {
    int factors;
    const int *levels;
    uint64_t state;
    int missing;
    unsigned char seen[CASE_FACTORS][CASE_FACTORS][CASE_LEVELS][CASE_LEVELS];
} draw;

static int random_below(draw *d, int n) {
    uint64_t z = d->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}

/* Count the pairs of levels in a case that no earlier case has; takes = 1: mark these pairs as seen. */
static int count_new(draw *d, const int *level, int takes) {
    int n = 0;
    for (int f = 0; f < d->factors; f++)
        for (int g = f + 1; g < d->factors; g++) {
            unsigned char *seen = &d->seen[f][g][level[f]][level[g]];
            n += !*seen;
            *seen |= (unsigned char)takes;
        }
    if (takes) d->missing -= n;
    return n;
}

/* Draw a random case; if pairs are missing, the case has at least one of them. */
static void draw_candidate(draw *d, int *level) {
    for (int f = 0; f < d->factors; f++) level[f] = random_below(d, d->levels[f]);
    if (d->missing == 0) return;
    int skip = random_below(d, d->missing);
    for (int f = 0; f < d->factors; f++)
        for (int g = f + 1; g < d->factors; g++)
            for (int k = 0; k < d->levels[f] * d->levels[g]; k++) {
                const int a = k / d->levels[g], b = k % d->levels[g];
                if (d->seen[f][g][a][b] || skip-- > 0) continue;
                level[f] = a;
                level[g] = b;
                return;
            }
}

int cases_draw(int factors, const int *levels, int n, uint64_t seed, int *out) {
    static draw d;
    d = (draw){.factors = factors, .levels = levels, .state = seed};
    for (int f = 0; f < factors; f++)
        for (int g = f + 1; g < factors; g++) d.missing += levels[f] * levels[g];
    for (int i = 0; i < n; i++) {
        int *best = out + (long)i * factors, most = -1;
        for (int k = 0; k < (d.missing ? CANDIDATES : 1); k++) {
            int level[CASE_FACTORS];
            draw_candidate(&d, level);
            const int new_pairs = count_new(&d, level, 0);
            if (new_pairs <= most) continue;
            most = new_pairs;
            memcpy(best, level, (size_t)factors * sizeof *level);
        }
        count_new(&d, best, 1);
    }
    return d.missing;
}
