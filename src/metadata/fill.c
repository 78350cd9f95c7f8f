/* metadata: fill values, the values of entries that were not written, as bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/model.h"

#include <string.h>
#include "access/convert.h"

tutti_err tutti__fill_pattern(double fill, int type, int order, unsigned char pattern[16],
                              int *size_out) {
    const double both[2] = {fill, 0};
    const int complex_ = type == TUTTI_COMPLEX64 || type == TUTTI_COMPLEX128;
    const tutti_conversion in = {.file_type = (tutti_type)type,
                                 .memory_type = complex_ ? TUTTI_COMPLEX128 : TUTTI_FLOAT64,
                                 .file_order = (tutti_byte_order)order};
    tutti__conversion c;
    if (type == TUTTI_BYTES) {
        TUTTI_CHECK(fill >= 0 && fill <= 255, TUTTI_ERR_ARG,
                    "fill value is %g: must be 0 to 255 for type bytes", fill);
        pattern[0] = (unsigned char)fill;
        *size_out = 1;
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__conversion_make(&in, &c));
    *size_out = c.file_size;
    if (c.identity) {
        memcpy(pattern, both, (size_t)c.file_size);
        return TUTTI_OK;
    }
    if (tutti__convert_out(&c, pattern, both, 1, NULL) == TUTTI_OK) return TUTTI_OK;
    TUTTI_FAIL(TUTTI_ERR_ARG, "fill value %g cannot be converted to type %s", fill,
               tutti_type_name((tutti_type)type));
}
