/* Progress on standard error; rank 0 only, other ranks print nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_PROGRESS_H
#define TUTTI_CLI_PROGRESS_H

#include "common/cli.h"

typedef struct cli_progress {
    int on, tty;
    double started, last;
    long done, all; /* number of steps done, and in total */
} cli_progress;

void progress_set(int when); /* 0: never, 1: if standard error is a terminal (default), 2: always */
void progress_start(cli_progress *p, const cli_world *w, long steps);
/* Report the start of a step; what: description of the step. */
void progress_step(cli_progress *p, const char *what);
/* Report progress in other units than steps: `done` of `all`. */
void progress_work(cli_progress *p, const char *what, tutti_off done, tutti_off all);
void progress_end(cli_progress *p);

#endif
