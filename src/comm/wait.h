/* comm: waiting.  Nothing in the library blocks in MPI: a waiting rank polls, and yields its core
 * in between.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "comm/team.h"

/* Yield the core: every wait of the library calls this and nothing else.  Inside a fiber it
 * returns to the code that resumed the fiber; otherwise other operations of this thread progress
 * first.   Not collective. */
void tutti__yield(void);
/* A function that this thread calls when it waits; NULL: none.   Not collective. */
typedef void tutti__idle_fn(void);
void tutti__on_idle(tutti__idle_fn *fn);

/* Wait for n requests of MPI, yielding.  Not collective. */
tutti_err tutti__team_finish(int n, MPI_Request *requests) TUTTI_MUST_USE;
/* Let MPI move messages on, also the caller's: for who waits for other ranks without a request of
 * MPI.  Not collective. */
void tutti__mpi_progress(const tutti__team *t);

#endif
