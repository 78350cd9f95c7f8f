/* timestep: what the variables of a call have in common, whatever file they belong to.   Local.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_ITEMS_H
#define TUTTI_STEP_ITEMS_H

#include "decomposition/decomposition.h"

/* Whether numbers can be converted: TUTTI_ERR_ARG.  TUTTI_BYTES cannot. */
tutti_err tutti__item_types_check(const char *variable, tutti_type memory,
                                  tutti_type file) TUTTI_MUST_USE;
/* A hash of what must be the same on all ranks for one variable, added to `h`.  name: NULL counts as a name. */
uint64_t tutti__item_hash(uint64_t h, const char *name, tutti_type type, int64_t decomposition);
/* How many entries of memory a rank's entries extend over: the distance from one step's to the next one's. */
tutti_err tutti__item_extent(tutti_decomposition *entries, tutti_count *out) TUTTI_MUST_USE;

#endif
