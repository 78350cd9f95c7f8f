/* base: profiles in text form.  tutti/profile.h declares the values and the public functions.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PROFILE_IMPL_H
#define TUTTI_PROFILE_IMPL_H

#include <tutti/profile.h>
#include "base/error_impl.h"

/* Maximum number of bytes and of sections of a profile; a larger profile is an error. */
enum { TUTTI__PROFILE_BYTES = 256 << 10, TUTTI__PROFILE_SECTIONS = 64 };

/* The section of a profile for one file system. */
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

/* Parse a text of n bytes; fails with TUTTI_ERR_FORMAT ("line 7 of the profile: ...") if it is
 * invalid.  Release the result with tutti__profile_set_free. */
tutti_err tutti__profile_parse(const char *text, size_t n,
                               tutti__profile_set *set_out) TUTTI_MUST_USE;
void tutti__profile_set_free(tutti__profile_set *s);

/* Print a set as text, to be freed by tutti__free; NULL: out of memory. */
char *tutti__profile_print(const tutti__profile_set *s);

/* Find the values for the file system `place`: from the section with the same type and mount point,
 * else with the same type and device, else the defaults (for remote file systems limited by the
 * network rate). */
void tutti__profile_pick(const tutti__profile_set *s, const tutti_filesystem *place,
                         tutti_profile *p_out);

/* Add a section for `place`, or replace the existing one. */
tutti_err tutti__profile_put(tutti__profile_set *s, const tutti_filesystem *place,
                             const tutti_profile *p) TUTTI_MUST_USE;

/* Like tutti_profile_load.  An error in a default file is ignored and returned in *ignored_out,
 * whose code is TUTTI_OK if there was none. */
tutti_err tutti__profile_load(const char *file, const tutti_filesystem *place, tutti_profile *p_out,
                              tutti_error_info *ignored_out) TUTTI_MUST_USE;

#endif
