/* comm: counters of the communication of this process, for tests and for the statistics of
 * datasets.
 *
 * Collective communications are votes, rounds of consensus, broadcasts, sums, gathers, and the
 * creation of teams.  Exchanges of data are not counted, but the votes before and after them are.
 *
 * Received bytes are those of messages and of the results of MPI's collective functions.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_COUNT_H
#define TUTTI_COLLECTIVE_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Count one collective communication.  Not collective; any thread. */
void tutti__collective_add(void);
/* Return the number of collective communications since the process began.  Not collective; any
 * thread. */
int64_t tutti__collective_count(void);

/* Count `bytes` received bytes.  Not collective; any thread. */
void tutti__received_add(size_t bytes);
/* Return the number of bytes received since the process began.  Not collective; any thread. */
int64_t tutti__received_bytes(void);

#endif
