/* base: profiles as texts.  tutti/profile.h has the numbers and what programs may do with them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PROFILE_IMPL_H
#define TUTTI_PROFILE_IMPL_H

#include <tutti/profile.h>
#include "base/error_impl.h"

/* More is refused. */
enum { TUTTI__PROFILE_BYTES = 256 << 10, TUTTI__PROFILE_SECTIONS = 64 };

/* The entries of a text for one file system. */
typedef struct tutti__profile_files {
    tutti_filesystem place;
    tutti_profile p; /* the numbers of FILES count */
    int line;        /* where the section begins */
} tutti__profile_files;

typedef struct tutti__profile_set {
    tutti_profile machine; /* the numbers of MACHINE count */
    int n;
    tutti__profile_files *files;
} tutti__profile_set;

/* Read a text of n bytes, or refuse it (TUTTI_ERR_FORMAT, "line 7 of the
 * profile: ...").  Free with tutti__profile_set_free. */
tutti_err tutti__profile_parse(const char *text, size_t n,
                               tutti__profile_set *set_out) TUTTI_MUST_USE;
void tutti__profile_set_free(tutti__profile_set *s);

/* The text of a set, which the caller frees (tutti__free); NULL: there is no memory for it. */
char *tutti__profile_print(const tutti__profile_set *s);

/* The numbers for a place: those of the file system with its type and mount point, else with its
 * type and device, else what is usual (and, where that is elsewhere, not more than the network
 * carries). */
void tutti__profile_pick(const tutti__profile_set *s, const tutti_filesystem *place,
                         tutti_profile *p_out);

/* Put numbers in; a file system that is known is replaced. */
tutti_err tutti__profile_put(tutti__profile_set *s, const tutti_filesystem *place,
                             const tutti_profile *p) TUTTI_MUST_USE;

/* tutti_profile_load; *ignored_out is the error of a default file, which is then ignored (code
 * TUTTI_OK: none). */
tutti_err tutti__profile_load(const char *file, const tutti_filesystem *place, tutti_profile *p_out,
                              tutti_error_info *ignored_out) TUTTI_MUST_USE;

#endif
