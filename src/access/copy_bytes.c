/* access: copying byte by byte.  The pointers are volatile, so that compilers do not use memcpy or
 * vector instructions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_bytes.h"

#include "access/copy_impl.h"

static void copy_bytewise(volatile char *to, const volatile char *from, tutti_off n) {
    for (tutti_off i = 0; i < n; i++) to[i] = from[i];
}

/* Copy the first n bytes of a burst. */
static void burst_copy(const tutti__burst *b, char *base, tutti_off n, char *packed,
                       tutti__direction direction) {
    for (tutti_off run = 0; n > 0; run++) {
        const tutti_off bytes = tutti__min(b->bytes, n);
        char *at = tutti__place(base, b->offset + run * b->stride);
        if (direction == TUTTI__PACK)
            copy_bytewise(packed, at, bytes);
        else
            copy_bytewise(at, packed, bytes);
        packed += bytes;
        n -= bytes;
    }
}

static void stream_copy(const tutti__bytes_at *s, tutti_off n, char *packed,
                        tutti__direction direction) {
    tutti__cursor c;
    tutti__burst b;
    if (n <= 0) return;
    tutti__cursor_seek(&c, s->side, s->stream);
    while (n > 0 && tutti__cursor_peek(&c, &b)) {
        const tutti_off bytes = tutti__min(b.bytes * b.count, n);
        burst_copy(&b, s->base, bytes, packed, direction);
        tutti__cursor_skip(&c, bytes);
        packed += bytes;
        n -= bytes;
    }
}

void tutti__bytes_pack(const tutti__bytes_at *from, tutti_off n, char *packed) {
    stream_copy(from, n, packed, TUTTI__PACK);
}

void tutti__bytes_unpack(const tutti__bytes_at *to, tutti_off n, const char *packed) {
    stream_copy(to, n, (char *)packed, TUTTI__UNPACK);
}

void tutti__bytes_copy(const tutti__bytes_at *to, const tutti__bytes_at *from, tutti_off n) {
    tutti__cursor t, f;
    tutti__burst x, y;
    if (n <= 0) return;
    tutti__cursor_seek(&t, to->side, to->stream);
    tutti__cursor_seek(&f, from->side, from->stream);
    while (n > 0 && tutti__cursor_peek(&t, &x) && tutti__cursor_peek(&f, &y)) {
        const tutti_off bytes = tutti__min(tutti__min(x.bytes, y.bytes), n);
        copy_bytewise(tutti__place(to->base, x.offset), tutti__place(from->base, y.offset), bytes);
        tutti__cursor_skip(&t, bytes);
        tutti__cursor_skip(&f, bytes);
        n -= bytes;
    }
}
