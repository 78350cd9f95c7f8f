/* access: functions of the copy kernel (copy_stream.c) that copy.c uses.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COPY_IMPL_H
#define TUTTI_COPY_IMPL_H

#include <string.h>
#include "access/side.h"

/* Return base + offset, computed on integers, since memory offsets may be addresses and the base
 * NULL. */
static inline char *tutti__place(char *base, tutti_off offset) {
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

/* Copy one run; short multiples of 64 bytes, which adjacent items often form, are copied inline. */
static inline void tutti__move_one(char *to, const char *from, tutti_off bytes) {
    if ((bytes & 63) || bytes > 512) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (; bytes > 0; bytes -= 64, to += 64, from += 64) memcpy(to, from, 64);
}

/* A copy of `count` runs of equal length; strides are the distances between the starts of runs. */
typedef struct {
    char *to;
    const char *from;
    tutti_off to_stride, from_stride;
    tutti_off bytes; /* bytes of each run */
    tutti_count count;
    tutti_off ahead; /* distance of the run to prefetch on the strided side; 0: no prefetch */
    int to_strided;  /* whether the strided side is `to` */
} tutti__moves;
void tutti__move_runs(const tutti__moves *m);

typedef enum { TUTTI__PACK, TUTTI__UNPACK } tutti__direction;
/* Arguments of a copy between a side and consecutive memory. */
typedef struct {
    char *base;   /* address of offset 0 of the side */
    char *packed; /* consecutive memory; advances as bytes are copied */
    tutti__direction direction;
    tutti_off ahead; /* stride of the loop around the runs being copied; 0: none */
} tutti__stream;
/* Copy bytes [from, to) of the stream of `s`, in t->direction. */
void tutti__copy_stream(tutti__stream *t, tutti__side s, tutti_off from, tutti_off to);

#endif
