/* base: functions for options inside the library, beyond tutti/options.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPTIONS_IMPL_H
#define TUTTI_OPTIONS_IMPL_H

#include <tutti/options.h>

/* Refuse (TUTTI_ERR_OPTION) a struct that holds a value no text could have set: programs may write
 * to the fields directly. */
tutti_err tutti__options_check(const tutti_options *opt) TUTTI_MUST_USE;

/* The caller's struct, perhaps of another version, as one of ours: what it does not have is at
 * its default.
 * TUTTI_ERR_ARG: it was never initialised; TUTTI_ERR_UNSUPPORTED: it sets what this version does
 * not know. */
tutti_err tutti__options_take(const tutti_options *opt, tutti_options *full_out) TUTTI_MUST_USE;
/* The way back, as far as the caller's struct goes. */
tutti_err tutti__options_give(const tutti_options *full, tutti_options *opt,
                              size_t size) TUTTI_MUST_USE;
/* Whether it has been initialised. */
tutti_err tutti__options_begun(const tutti_options *opt) TUTTI_MUST_USE;

/* The last problem with a TUTTI_ variable that is not an error (trace, explain, profile).  Returns
 * 1 and the sentence, once; 0: none. */
int tutti__options_ignored(char *out, size_t size);

/* Choice `i` of a list such as TUTTI_CHOICES_exchange, cut or copied into `out`. */
void tutti__options_choice(const char *list, int i, char *out, size_t size);
/* The allowed values of row `i`, which must exist, in words: "one of a|b", "a size from 64k to 1t"
 * ... */
void tutti__options_takes(int i, char *out, size_t size);

#endif
