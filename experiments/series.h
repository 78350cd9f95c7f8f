/* Points of the experiments after Feki and Gabriel, whose rounds are grouped in series.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_SERIES_H
#define TUTTI_CLI_SERIES_H

#include "experiments/experiment.h"

/* Points of these patterns, in all directories, for all numbers of processes and operations; `add` adds
 * their variants.  FLASH has one call per variable. */
void series_points(experiment *x, const char *figure, const char *patterns,
                   void (*add)(const experiment *x, bench_cell *point));

/* The setup of the paper: half of the ranks are aggregators, so that all benchmarks exchange
 * bytes, and their buffer is two windows; without overlap it is one window of twice the size. */
void series_stage(const experiment *x, const bench_cell *point, int overlapped, char *out,
                  size_t size);

/* FLASH (flash_calls.c). */
extern const bench_runner flash_calls, flash_calls_peer;

#endif
