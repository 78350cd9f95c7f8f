/* timestep: checks and hashes of the variables of a call, for all containers.   Not collective.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_ITEMS_H
#define TUTTI_STEP_ITEMS_H

#include "decomposition/decomposition.h"

/* Check that values can be converted; TUTTI_BYTES cannot.
 * @return TUTTI_ERR_ARG if they cannot */
tutti_err tutti__item_types_check(const char *variable, tutti_type memory,
                                  tutti_type file) TUTTI_MUST_USE;
/* Add the arguments of one variable that must be the same on all ranks to hash h.  name: may be
 * NULL. */
uint64_t tutti__item_hash(uint64_t h, const char *name, tutti_type type, int64_t decomposition);
/* Get the extent of a rank's entries in memory, in entries: the distance from one step to the
 * next. */
tutti_err tutti__item_extent(tutti_decomposition *entries, tutti_count *out) TUTTI_MUST_USE;

#endif
