/* array: checks, comparison and hash of array specs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* ---- specs */

tutti_err tutti__spec_check(const tutti_array_spec *in, tutti_array_spec *out,
                            tutti_off *bytes_out) {
    tutti_array_spec s;
    TUTTI_CHECK(in != NULL, TUTTI_ERR_ARG, "argument spec is NULL");
    TUTTI_CHECK(in->ndims >= 1 && in->ndims <= TUTTI_MAX_DIMS, TUTTI_ERR_ARG,
                "ndims is %d: must be 1 to %d", in->ndims, TUTTI_MAX_DIMS);
    TUTTI_CHECK(in->order == TUTTI_ROW_MAJOR || in->order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                "unknown order %d", (int)in->order);
    TUTTI_CHECK(in->offset >= 0, TUTTI_ERR_ARG, "offset is %lld: must be >= 0",
                (long long)in->offset);
    TUTTI_CHECK_RESERVED(in, "tutti_array_spec");
    memset(&s, 0, sizeof s);
    s.ndims = in->ndims;
    s.order = in->order;
    s.type = in->type;
    s.offset = in->offset;
    memcpy(s.shape, in->shape, (size_t)s.ndims * sizeof s.shape[0]);
    TUTTI_CHECK(tutti_type_name(in->type)[0], TUTTI_ERR_ARG, "unknown type %d", (int)in->type);
    const tutti_off size = tutti_type_size(in->type);
    TUTTI_CHECK(in->element_size >= 0, TUTTI_ERR_ARG, "element_size is %lld: must be >= 0",
                (long long)in->element_size);
    TUTTI_CHECK(size > 0 || in->element_size > 0, TUTTI_ERR_ARG,
                "element_size is 0: must be >= 1 for type bytes");
    TUTTI_CHECK(size == 0 || in->element_size == 0 || in->element_size == size, TUTTI_ERR_ARG,
                "element_size is %lld, but %s has %lld bytes", (long long)in->element_size,
                tutti_type_name(in->type), (long long)size);
    s.element_size = size > 0 ? size : in->element_size;
    /* The product of the other extents must fit even if one extent is 0, since a resize may change
     * this extent. */
    tutti_off all = s.element_size, end;
    int empty = 0;
    for (int d = 0; d < s.ndims; d++) {
        TUTTI_CHECK(s.shape[d] >= 0, TUTTI_ERR_ARG, "dimension %d: extent is %lld: must be >= 0", d,
                    (long long)s.shape[d]);
        const int fits = tutti__mul_ok(all, tutti__max(s.shape[d], 1), &all);
        TUTTI_CHECK(fits && all <= TUTTI__OFF_LIMIT, TUTTI_ERR_OVERFLOW,
                    "dimension %d: extent %lld makes the array exceed 2^62 bytes", d,
                    (long long)s.shape[d]);
        empty |= s.shape[d] == 0;
    }
    TUTTI_CHECK(tutti__add_ok(all, s.offset, &end) && end <= TUTTI__OFF_LIMIT, TUTTI_ERR_OVERFLOW,
                "array of %lld bytes at offset %lld ends beyond 2^62", (long long)all,
                (long long)s.offset);
    *bytes_out = empty ? 0 : all;
    *out = s;
    return TUTTI_OK;
}

static const char *order_name(tutti_order order) {
    return order == TUTTI_ROW_MAJOR ? "row-major" : "column-major";
}

tutti_err tutti__spec_expect(const tutti_array_spec *expect, const tutti_array_spec *have) {
    TUTTI_CHECK_RESERVED(expect, "tutti_array_spec");
    TUTTI_CHECK(expect->ndims == have->ndims, TUTTI_ERR_MISMATCH,
                "the array has %d dimensions, expected %d", have->ndims, expect->ndims);
    for (int d = 0; d < have->ndims; d++)
        TUTTI_CHECK(expect->shape[d] == have->shape[d], TUTTI_ERR_MISMATCH,
                    "dimension %d has %lld elements, expected %lld", d, (long long)have->shape[d],
                    (long long)expect->shape[d]);
    TUTTI_CHECK(expect->type == have->type, TUTTI_ERR_MISMATCH,
                "the elements have type %s, expected %s", tutti_type_name(have->type),
                tutti_type_name(expect->type));
    TUTTI_CHECK(expect->order == have->order, TUTTI_ERR_MISMATCH, "the array is %s, expected %s",
                order_name(have->order), order_name(expect->order));
    TUTTI_CHECK(expect->element_size == 0 || expect->element_size == have->element_size,
                TUTTI_ERR_MISMATCH, "elements have %lld bytes, expected %lld",
                (long long)have->element_size, (long long)expect->element_size);
    TUTTI_CHECK(expect->offset == 0 || expect->offset == have->offset, TUTTI_ERR_MISMATCH,
                "the elements start at offset %lld, expected %lld", (long long)have->offset,
                (long long)expect->offset);
    return TUTTI_OK;
}

uint64_t tutti__spec_hash(uint64_t h, const tutti_array_spec *s) {
    if (!s) return h;
    const int64_t v[] = {s->ndims, (int64_t)s->order, (int64_t)s->type, s->element_size, s->offset};
    const int dims = (int)tutti__max(0, tutti__min(s->ndims, TUTTI_MAX_DIMS));
    h = tutti__hash(h, v, sizeof v);
    return tutti__hash(h, s->shape, (size_t)dims * sizeof s->shape[0]);
}
