/* comm: counters of what this process communicates.
 *
 * How many collective communications this process has taken part in: votes, rounds of consensus, broadcasts,
 * sums, gathers, and the creation of teams.  Exchanges of data do not count; the agreements about them do.  Tests
 * compare the counts of operations.
 *
 * How many bytes it has received in messages, in shared memory, and as the results of MPI's collective functions.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_COUNT_H
#define TUTTI_COLLECTIVE_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Increment the count.   Not collective; any thread. */
void tutti__collective_add(void);
/* Since the process began.   Not collective; any thread. */
int64_t tutti__collective_count(void);

/* More bytes received.   Not collective; any thread. */
void tutti__received_add(size_t bytes);
/* Since the process began.   Not collective; any thread. */
int64_t tutti__received_bytes(void);

#endif
