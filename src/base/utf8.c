/* base: validation of UTF-8 text.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8.h"

/* Return the bytes of the UTF-8 character at p, at most n; 0: not a valid character, or zero
 * byte. */
static size_t character_length(const unsigned char *p, size_t n) {
    const size_t length = *p < 0x80   ? 1
                          : *p < 0xc2 ? 0
                          : *p < 0xe0 ? 2
                          : *p < 0xf0 ? 3
                          : *p < 0xf5 ? 4
                                      : 0;
    if (*p == 0 || length == 0 || length > n) return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return length;
}

int tutti__utf8_valid(const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    while (n > 0) {
        const size_t length = character_length(p, n);
        if (length == 0) return 0;
        p += length;
        n -= length;
    }
    return 1;
}
