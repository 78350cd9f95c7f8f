/* comm: the number of collective communications of this process: votes, rounds of consensus, broadcasts,
 * sums, gathers, and the creation of teams.  Exchanges of data do not count; the agreements about
 * them do.  Tests compare the counts of operations.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_COUNT_H
#define TUTTI_COLLECTIVE_COUNT_H

#include <stdint.h>

/* One more.   Not collective; any thread. */
void tutti__collective_add(void);
/* Since the process began.   Not collective; any thread. */
int64_t tutti__collective_count(void);

#endif
