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
    int is_read;   /* of the points that count */
} contest;

/* The benchmarks: patterns by the names that the paper gives them, and the size of elements that they
 * have here.  @return out */
typedef char contest_name[32];
const char *contest_benchmark(const bench_cell *point, contest_name out);

/* Points of these patterns, in all directories, for all numbers of processes and operations; `add` gives them
 * their ways.  FLASH is a call for each variable. */
void contest_points(experiment *x, const char *figure, const char *patterns,
                    void (*add)(const experiment *x, bench_cell *point));

/* The paper's scene: half of the ranks are aggregators, so that all benchmarks exchange bytes, and their buffer is two
 * windows; without overlap it is one window of twice the size. */
void contest_stage(const experiment *x, const bench_cell *point, int overlapped, char *out,
                   size_t size);

/* The points of a directory and operation (of one benchmark: the pattern, or NULL); *out is to be freed. */
int contest_select(const experiment *x, const char *dir, int is_read, const char *pattern,
                   const bench_cell ***out);
/* "DIR, writes of IOR, ...": of claims about these. */
void contest_where(const char *dir, int is_read, const char *what, char out[120]);

/* FLASH (flash_calls.c). */
extern const bench_runner flash_calls, flash_calls_peer;

/* How often each way has won in this directory: a row for each benchmark, and one in all. */
void contest_wins(const experiment *x, const contest *c, const char *dir, exhibit *e);

/* The mean improvement of each way over the first one, in per cent; of the series that improved, or
 * of all. */
void contest_improvement(const experiment *x, const contest *c, const char *dir, int all,
                         exhibit *e);

/* Per cent of all series of the operation that a way has won, in all directories. */
double contest_share(const experiment *x, const contest *c, const char *name);

#endif
