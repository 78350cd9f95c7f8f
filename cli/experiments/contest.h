/* Which of several ways wins how often, and by how much: for the experiments after Feki and
 * Gabriel.
 *
 * The rounds of a point come in series.  In each series every way has one time: as in the paper its
 * least, or the median.  A series is what is counted.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CONTEST_H
#define TUTTI_CLI_CONTEST_H

#include "experiments/experiment.h"

typedef struct contest {
    const char *const *names; /* of the entries that take part */
    int n;
    int by_median; /* otherwise by the least time of a series */
} contest;

/* The benchmarks: patterns by the names that the paper gives them, and the size of elements that they
 * have here.  @return out */
typedef char contest_name[32];
const char *contest_benchmark(const bench_cell *point, contest_name out);

/* Points of these patterns, in all directories and for all numbers of processes; `add` gives them
 * their ways. */
void contest_points(experiment *x, const char *figure, const char *patterns,
                    void (*add)(const experiment *x, bench_cell *point));

/* How often each way has won in this directory: a row for each benchmark, and one in all. */
void contest_wins(const experiment *x, const contest *c, const char *dir, exhibit *e);

/* The mean improvement of each way over the first one, in per cent; of the series that improved, or
 * of all. */
void contest_improvement(const experiment *x, const contest *c, const char *dir, int all,
                         exhibit *e);

/* Per cent of all series that a way has won, in all directories. */
double contest_share(const experiment *x, const contest *c, const char *name);

#endif
