/* base: the FNV-1a hash, for comparing paths, host names and headers.  Not cryptographic.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_HASH_H
#define TUTTI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TUTTI__HASH_START 0xcbf29ce484222325u

/* Add `bytes` bytes at `data` to the hash h, and return the new hash. */
static inline uint64_t tutti__hash(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

/* Add a string to the hash h; the result for NULL differs from that for an empty string. */
static inline uint64_t tutti__hash_text(uint64_t h, const char *text) {
    return text ? tutti__hash(h, text, strlen(text) + 1) : tutti__hash(h, "\1", 1);
}

#endif
