/* twophase: ranks that write the same bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OVERLAP_H
#define TUTTI_OVERLAP_H

#include "twophase/plan.h"

/* Remove from the descriptions of a plan all bytes that higher ranks also write.
 *
 * Collective; called if senders overlap in the domain of some rank; `overlaps_here`: in the domain
 * of this rank.  Returns the error code of this rank.  Sets *large_out if the descriptions of this
 * rank would need too much memory.  Then, and after an error, the plan cannot be executed. */
tutti_err tutti__overlap_trim(tutti_plan *p, int overlaps_here, int *large_out) TUTTI_MUST_USE;

#endif
