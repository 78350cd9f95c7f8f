/* simulated: requests whose test has failed, by simulated/pending.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_PENDING_H
#define SIMULATED_PENDING_H

/* Wait until one of the requests whose test has failed since the last wait has completed.  Returns 0 at once if there
 * are none.  Not collective. */
int simulated_wait_any(void);

#endif
