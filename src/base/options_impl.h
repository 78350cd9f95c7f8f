/* base: functions for options inside the library, beyond tutti/options.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPTIONS_IMPL_H
#define TUTTI_OPTIONS_IMPL_H

#include <tutti/options.h>

/* Refuse (TUTTI_ERR_OPTION) a struct that holds a value no text could have set: programs may write
 * to the fields directly. */
tutti_err tutti__options_check(const tutti_options *opt) TUTTI_MUST_USE;

/* Convert the struct of the caller, possibly of another version: missing fields have
 * their defaults.
 * TUTTI_ERR_ARG: it was never initialised; TUTTI_ERR_UNSUPPORTED: it sets an option that this version does
 * not have. */
tutti_err tutti__options_take(const tutti_options *opt, tutti_options *full_out) TUTTI_MUST_USE;
/* The reverse conversion, limited to the struct of the caller. */
tutti_err tutti__options_give(const tutti_options *full, tutti_options *opt,
                              size_t size) TUTTI_MUST_USE;
/* Whether it has been initialised. */
tutti_err tutti__options_begun(const tutti_options *opt) TUTTI_MUST_USE;

/* The last problem with a TUTTI_ variable that is not an error (trace, explain, profile).  Returns
 * 1 and the sentence, once; 0: none. */
int tutti__options_ignored(char *out, size_t size);

/* Choice `i` of a list such as TUTTI_CHOICES_exchange, truncated or copied to `out`. */
void tutti__options_choice(const char *list, int i, char *out, size_t size);
/* The allowed values of row `i`, which must exist, in words: "one of a|b", "a size from 64k to 1t"
 * ... */
void tutti__options_takes(int i, char *out, size_t size);

#endif
