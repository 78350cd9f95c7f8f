/* collective: ranks that write the same bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OVERLAP_H
#define TUTTI_OVERLAP_H

#include "collective/collective_impl.h"

/* Take out of a plan's descriptions what higher ranks write too.  `mine`: the senders of this
 * rank's domain overlap. Collective, if some rank's do; this rank's outcome.  *large_out: this
 * rank's would take too much memory; then, and after an error, the plan is of no use. */
tutti_err tutti__overlap_trim(tutti_plan *p, int mine, int *large_out) TUTTI_MUST_USE;

#endif
