/* metadata: decoding of the header of a ranked section.  Input is validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include "metadata/trailer.h"

tutti_off tutti__ranked_header(int ranks) {
    return tutti__align_up((TUTTI__RANKED_HEAD + (tutti_off)ranks) * 8, TUTTI__SECTION_ALIGN);
}

tutti_err tutti__ranked_head_take(const int64_t head[2], const tutti__section *s, tutti_off item,
                                  tutti__ranked_head *out) {
    tutti_off bytes = 0;
    *out = (tutti__ranked_head){(int64_t)le64toh((uint64_t)head[0]),
                                (int64_t)le64toh((uint64_t)head[1])};
    TUTTI_CHECK(out->ranks >= 1 && out->ranks <= INT32_MAX && out->entries >= 0 &&
                    tutti__mul_ok(out->entries, item, &bytes) &&
                    tutti__add_ok(bytes, tutti__ranked_header((int)out->ranks), &bytes) &&
                    bytes == s->bytes,
                TUTTI_ERR_FORMAT,
                "a ranked section of %lld bytes has an invalid header: %lld ranks, %lld entries",
                (long long)s->bytes, (long long)out->ranks, (long long)out->entries);
    return TUTTI_OK;
}
