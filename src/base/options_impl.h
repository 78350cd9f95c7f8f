/* base: internal functions for options, in addition to those of tutti/options.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPTIONS_IMPL_H
#define TUTTI_OPTIONS_IMPL_H

#include <tutti/options.h>

/* Check that all values are in range, since programs may write to the fields directly;
 * TUTTI_ERR_OPTION otherwise. */
tutti_err tutti__options_check(const tutti_options *opt) TUTTI_MUST_USE;

/* Convert the caller's struct, possibly of another version; missing fields get their defaults.
 * Fails with TUTTI_ERR_ARG if `opt` was never initialised, and with TUTTI_ERR_UNSUPPORTED if it
 * sets an option that this version does not have. */
tutti_err tutti__options_take(const tutti_options *opt, tutti_options *full_out) TUTTI_MUST_USE;
/* Convert `full` to the caller's struct, which has `size` bytes. */
tutti_err tutti__options_give(const tutti_options *full, tutti_options *opt,
                              size_t size) TUTTI_MUST_USE;
/* Check that `opt` has been initialised; fails with TUTTI_ERR_ARG otherwise. */
tutti_err tutti__options_begun(const tutti_options *opt) TUTTI_MUST_USE;

/* Get the message about the last invalid environment variable that was ignored (TUTTI_TRACE,
 * TUTTI_EXPLAIN or TUTTI_PROFILE), and delete it.  Returns 1, or 0 if there is none. */
int tutti__options_ignored(char *out, size_t size);

/* Copy item `i` of a list such as TUTTI_CHOICES_exchange to `out`, truncated to `size` bytes. */
void tutti__options_choice(const char *list, int i, char *out, size_t size);
/* Describe the allowed values of row `i`, which must exist: "one of a|b", "a size from 64k to 1t",
 * ... */
void tutti__options_takes(int i, char *out, size_t size);

#endif
