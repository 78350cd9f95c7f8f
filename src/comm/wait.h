/* comm: waiting.  Nothing in the library blocks in MPI: a rank that waits asks again and again, and
 * in between gives its core to whoever needs it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "comm/team.h"

/* Give the core to somebody else: every wait of the library calls this and nothing else.  Inside a
 * fiber that means back to whoever resumed it; otherwise other operations of this thread get a turn
 * first.  Local. */
void tutti__yield(void);
/* What this thread does when it has to wait; NULL: nothing.  Local. */
typedef void tutti__idle_fn(void);
void tutti__on_idle(tutti__idle_fn *fn);

/* Wait for n requests of MPI, yielding.  Local. */
tutti_err tutti__team_finish(int n, MPI_Request *requests) TUTTI_MUST_USE;
/* Let MPI move messages on, also the caller's: for who waits for other ranks without a request of
 * MPI.  Local. */
void tutti__mpi_progress(const tutti__team *t);

#endif
