/* access: copies that are made one byte at a time, on purpose (the first step of Dickens and
 * Thakur: an unoptimised program).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COPY_BYTES_H
#define TUTTI_COPY_BYTES_H

#include "access/side.h"

/* A side at `base`, from stream position `stream` on. */
typedef struct tutti__bytes_at {
    tutti__side side;
    char *base;
    tutti_off stream;
} tutti__bytes_at;

/* n bytes of a stream to or from consecutive memory. */
void tutti__bytes_pack(const tutti__bytes_at *from, tutti_off n, char *packed);
void tutti__bytes_unpack(const tutti__bytes_at *to, tutti_off n, const char *packed);
/* n bytes from one side to another. */
void tutti__bytes_copy(const tutti__bytes_at *to, const tutti__bytes_at *from, tutti_off n);

#endif
