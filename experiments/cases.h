/* Cases of an experiment: combinations of levels of several factors, such as size, operation and directory,
 * in which every pair of levels of two factors occurs (all-pairs testing), drawn at random from a seed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXPERIMENTS_CASES_H
#define TUTTI_EXPERIMENTS_CASES_H

#include <stdint.h>

enum { CASE_FACTORS = 7, CASE_LEVELS = 32 }; /* maximum numbers of factors and levels */

/* Draw n cases of `factors` factors with levels[f] levels each.  out[i * factors + f] is the level of factor
 * f in case i.  While pairs are missing, each case is the best of some random candidates; later cases are
 * random.
 * @return number of pairs that no case has: 0 if n is large enough */
int cases_draw(int factors, const int *levels, int n, uint64_t seed, int *out);

#endif
