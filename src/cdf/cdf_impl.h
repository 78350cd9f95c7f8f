/* cdf: common part of creating and reading a header.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CDF_IMPL_H
#define TUTTI_CDF_IMPL_H

#include "cdf/cdf.h"

enum {
    TUTTI__CDF_DIMS = 10, /* tags of lists */
    TUTTI__CDF_VARS = 11,
    TUTTI__CDF_ATTS = 12,
    TUTTI__CDF_NAME = 256, /* bytes of a name, at most */
    TUTTI__CDF_RANK = 1024 /* dimensions of a variable, at most */
};

/* Add rows without checks, with names of any kind, `bytes` long and without a 0; otherwise as
 * tutti__cdf_add_*.
 * The caller must set the values of an attribute: *values_out, all zeros. */
tutti_err tutti__cdf_dim_put(tutti__cdf *c, const char *name, size_t bytes, tutti_count length,
                             tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_var_put(tutti__cdf *c, const char *name, size_t bytes,
                             const tutti__cdf_var *like, tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_att_new(tutti__cdf *c, tutti_count var, const char *name, size_t bytes,
                             const tutti__cdf_att *like, void **values_out) TUTTI_MUST_USE;

/* Compute numbers and bytes of every variable, and record_bytes.  TUTTI_ERR_OVERFLOW: more than 2^63. */
tutti_err tutti__cdf_sizes(tutti__cdf *c) TUTTI_MUST_USE;
/* The bytes of a variable without padding. */
static inline tutti_off tutti__cdf_raw(const tutti__cdf_var *v) {
    return v->numbers * tutti__cdf_size(v->type);
}
/* Bytes of counts, and of offsets of variables. */
static inline int tutti__cdf_word(int version) {
    return version == 5 ? 8 : 4;
}
static inline int tutti__cdf_offset(int version) {
    return version == 1 ? 4 : 8;
}
/* Convert n values from native byte order to that of files, or back. */
void tutti__cdf_swap(void *to, const void *from, tutti_count n, int type);

#endif
