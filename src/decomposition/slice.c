/* decomposition: functions of the public type tutti_slice.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <tutti/array.h>
#include "base/error_impl.h"
#include "base/sizes.h"

tutti_slice tutti_slice_all(int ndims, const tutti_count *shape) {
    tutti_slice s;
    memset(&s, 0, sizeof s);
    if (!shape || ndims > TUTTI_MAX_DIMS) return s;
    for (int d = 0; d < ndims; d++) {
        s.hi[d] = shape[d];
        s.stride[d] = 1;
    }
    return s;
}

tutti_err tutti_slice_fortran(int ndims, const tutti_count *lower, const tutti_count *upper,
                              const tutti_count *stride, tutti_slice *out) {
    tutti_slice s;
    TUTTI_CHECK(lower != NULL, TUTTI_ERR_ARG, "argument lower is NULL");
    TUTTI_CHECK(upper != NULL, TUTTI_ERR_ARG, "argument upper is NULL");
    TUTTI_CHECK(out != NULL, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(ndims >= 1 && ndims <= TUTTI_MAX_DIMS, TUTTI_ERR_ARG,
                "ndims is %d: must be 1 to %d", ndims, TUTTI_MAX_DIMS);
    memset(&s, 0, sizeof s);
    for (int d = 0; d < ndims; d++) {
        TUTTI_CHECK(lower[d] >= 1, TUTTI_ERR_ARG, "dimension %d: lower bound is %lld: must be >= 1",
                    d, (long long)lower[d]);
        s.lo[d] = lower[d] - 1;
        s.hi[d] = tutti__max(upper[d], s.lo[d]);
        s.stride[d] = stride && stride[d] ? stride[d] : 1;
        TUTTI_CHECK(s.stride[d] >= 0, TUTTI_ERR_ARG, "dimension %d: stride is %lld: must be >= 0",
                    d, (long long)s.stride[d]);
    }
    *out = s;
    return TUTTI_OK;
}

tutti_count tutti_slice_count(int ndims, const tutti_slice *s, tutti_count *shape_out) {
    tutti_count all = 1;
    int none = 0;
    if (!s || ndims < 0 || ndims > TUTTI_MAX_DIMS) return -1;
    for (int d = 0; d < ndims; d++) {
        const tutti_count stride = tutti__max(s->stride[d], 1);
        tutti_off width;
        tutti_count n = 0;
        if (s->hi[d] > s->lo[d])
            n = tutti__add_ok(s->hi[d], -tutti__max(s->lo[d], -INT64_MAX), &width)
                    ? (width - 1) / stride + 1
                    : INT64_MAX;
        none |= n == 0;
        if (!tutti__mul_ok(all, tutti__max(n, 1), &all)) all = INT64_MAX;
        if (shape_out) shape_out[d] = n;
    }
    return none ? 0 : all;
}
