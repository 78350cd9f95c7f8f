/* cdf: functions used both to create and to decode a header.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CDF_IMPL_H
#define TUTTI_CDF_IMPL_H

#include "cdf/cdf.h"

enum {
    TUTTI__CDF_DIMS = 10, /* tags of lists */
    TUTTI__CDF_VARS = 11,
    TUTTI__CDF_ATTS = 12,
    TUTTI__CDF_NAME = 256, /* maximum bytes of a name */
    TUTTI__CDF_RANK = 1024 /* maximum dimensions of a variable */
};

/* Like tutti__cdf_add_*, for names of `bytes` bytes without a terminating 0, which are not checked.
 * `like` has the other properties.  The caller must set the values of a new attribute, *values_out,
 * which are zeroed. */
tutti_err tutti__cdf_dim_put(tutti__cdf *c, const char *name, size_t bytes, tutti_count length,
                             tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_var_put(tutti__cdf *c, const char *name, size_t bytes,
                             const tutti__cdf_var *like, tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_att_new(tutti__cdf *c, tutti_count var, const char *name, size_t bytes,
                             const tutti__cdf_att *like, void **values_out) TUTTI_MUST_USE;

/* Compute numbers and bytes of every variable, and record_bytes; fails with TUTTI_ERR_OVERFLOW if
 * they exceed 2^63. */
tutti_err tutti__cdf_sizes(tutti__cdf *c) TUTTI_MUST_USE;
/* Return the bytes of a variable, in total or per record, without padding. */
static inline tutti_off tutti__cdf_raw(const tutti__cdf_var *v) {
    return v->numbers * tutti__cdf_size(v->type);
}
/* Return the bytes of a count, and of an offset of a variable, in a header. */
static inline int tutti__cdf_word(int version) {
    return version == 5 ? 8 : 4;
}
static inline int tutti__cdf_offset(int version) {
    return version == 1 ? 4 : 8;
}
/* Convert n values from native to big-endian byte order, or back. */
void tutti__cdf_swap(void *to, const void *from, tutti_count n, int type);

#endif
