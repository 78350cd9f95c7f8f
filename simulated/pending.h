/* simulated: waiting for requests that were incomplete when they were tested, by
 * simulated/pending.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_PENDING_H
#define SIMULATED_PENDING_H

/* Wait until one of the requests completes that were incomplete when they were tested since the
 * last wait.  Returns 0 at once if there are none.   Not collective. */
int simulated_wait_any(void);

#endif
