/* base: profiles as text.  tutti/profile.h has the values and the public functions.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PROFILE_IMPL_H
#define TUTTI_PROFILE_IMPL_H

#include <tutti/profile.h>
#include "base/error_impl.h"

/* Limits of a profile; larger ones are rejected. */
enum { TUTTI__PROFILE_BYTES = 256 << 10, TUTTI__PROFILE_SECTIONS = 64 };

/* The entries of a text for one file system. */
typedef struct tutti__profile_files {
    tutti_filesystem place;
    tutti_profile p; /* only the values of file systems are used */
    int line;        /* first line of the section */
} tutti__profile_files;

typedef struct tutti__profile_set {
    tutti_profile machine; /* only the values of the machine are used */
    int n;
    tutti__profile_files *files;
} tutti__profile_set;

/* Read a text of n bytes, or refuse it (TUTTI_ERR_FORMAT, "line 7 of the
 * profile: ...").  Free with tutti__profile_set_free. */
tutti_err tutti__profile_parse(const char *text, size_t n,
                               tutti__profile_set *set_out) TUTTI_MUST_USE;
void tutti__profile_set_free(tutti__profile_set *s);

/* The text of a set, to be freed by tutti__free; NULL: out of memory. */
char *tutti__profile_print(const tutti__profile_set *s);

/* The values for a place: those of the file system with its type and mount point, else with its
 * type and device, else the defaults (for remote file systems at most the rate of the network
 * ). */
void tutti__profile_pick(const tutti__profile_set *s, const tutti_filesystem *place,
                         tutti_profile *p_out);

/* Insert values; an existing file system is replaced. */
tutti_err tutti__profile_put(tutti__profile_set *s, const tutti_filesystem *place,
                             const tutti_profile *p) TUTTI_MUST_USE;

/* tutti_profile_load; *ignored_out is the error of a default file, which is then ignored (code
 * TUTTI_OK: none). */
tutti_err tutti__profile_load(const char *file, const tutti_filesystem *place, tutti_profile *p_out,
                              tutti_error_info *ignored_out) TUTTI_MUST_USE;

#endif
