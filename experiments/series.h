/* Points of the experiments after Feki and Gabriel, whose rounds are grouped in series.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_SERIES_H
#define TUTTI_CLI_SERIES_H

#include "experiments/experiment.h"

/* Add points for these patterns, for all directories, numbers of processes and operations; `add` adds their
 * variants.  FLASH has one call per variable. */
void series_points(experiment *x, const char *figure, const char *patterns,
                   void (*add)(const experiment *x, bench_cell *point));

/* Format the settings of the paper: half of the ranks are aggregators, so that all benchmarks
 * exchange data.  The buffer has two windows or, without overlap, one window of twice the size. */
void series_stage(const experiment *x, const bench_cell *point, int overlapped, char *out,
                  size_t size);

/* Runners of FLASH (flash_calls.c). */
extern const bench_runner flash_calls, flash_calls_peer;

#endif
