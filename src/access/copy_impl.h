/* access: the two halves of the copy kernel (copy_stream.c), for copy.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COPY_IMPL_H
#define TUTTI_COPY_IMPL_H

#include <string.h>
#include "access/side.h"

/* base + offset; the base need not be near (memory offsets may be addresses, the base NULL). */
static inline char *tutti__place(char *base, tutti_off offset) {
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

/* One run of any length; multiples of 64 bytes, as formed by adjacent items of 64 bytes, inline.
 */
static inline void tutti__move_one(char *to, const char *from, tutti_off bytes) {
    if ((bytes & 63) || bytes > 512) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (; bytes > 0; bytes -= 64, to += 64, from += 64) memcpy(to, from, 64);
}

/* Runs of equal length from one place to another; stride: distance of the starts of runs. */
typedef struct {
    char *to;
    const char *from;
    tutti_off to_stride, from_stride;
    tutti_off bytes; /* of each run */
    tutti_count count;
    tutti_off ahead; /* distance of the run to prefetch on the strided side; 0: none */
    int to_strided;  /* the strided side is `to` */
} tutti__moves;
void tutti__move_runs(const tutti__moves *m);

/* Bytes [from, to) of the stream of `s` between base + offset and consecutive
 * memory at `packed`. */
typedef enum { TUTTI__PACK, TUTTI__UNPACK } tutti__direction;
typedef struct {
    char *base;
    char *packed; /* moves on as bytes are copied */
    tutti__direction direction;
    tutti_off ahead; /* stride of a loop around the runs being copied, 0: none */
} tutti__stream;
void tutti__copy_stream(tutti__stream *t, tutti__side s, tutti_off from, tutti_off to);

#endif
