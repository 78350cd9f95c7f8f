/* access: copies that are deliberately made one byte at a time, for the first, unoptimised variant
 * of Dickens and Thakur.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COPY_BYTES_H
#define TUTTI_COPY_BYTES_H

#include "access/side.h"

/* The bytes of a side from stream position `stream` on; `base` is the address of offset 0. */
typedef struct tutti__bytes_at {
    tutti__side side;
    char *base;
    tutti_off stream;
} tutti__bytes_at;

/* Copy n bytes of a stream to or from consecutive memory. */
void tutti__bytes_pack(const tutti__bytes_at *from, tutti_off n, char *packed);
void tutti__bytes_unpack(const tutti__bytes_at *to, tutti_off n, const char *packed);
/* Copy n bytes from one side to another. */
void tutti__bytes_copy(const tutti__bytes_at *to, const tutti__bytes_at *from, tutti_off n);

#endif
