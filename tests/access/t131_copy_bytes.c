/* TEST ranks=0 timeout=60 */
/* Byte-by-byte copies give the same bytes as the fast kernels, on random sides and ranges, and
 * change no other bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_bytes.h"
#include "side_zoo.h"

enum { ROUNDS = 4000 };

static tutti__side first_bytes(tutti__side s, tutti_off bytes) {
    tutti__side out = {0, NULL};
    CHECK_OK(tutti__side_slice(s, 0, bytes, &out));
    tutti__side_free(&s);
    return out;
}

static char *noise(size_t bytes) {
    char *p = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) p[i] = (char)rnd64();
    return p;
}

static char *same(const char *p, size_t bytes) {
    char *q = malloc(bytes + 1);
    memcpy(q, p, bytes);
    return q;
}

/* Pack and unpack stream positions [from, from + n) of one side. */
static void one_side(tutti__side s, tutti_off from, tutti_off n) {
    const tutti_off lo = tutti__side_lo(s), size = tutti__side_hi(s) - lo;
    const tutti_access a = {.file = s, .memory = s};
    char *memory = noise((size_t)size), *packed = noise((size_t)n),
         *wanted = same(packed, (size_t)n);
    const tutti__bytes_at at = {s, memory - lo, from};
    tutti__bytes_pack(&at, n, packed);
    tutti_access_pack(&a, memory - lo, from, from + n, wanted);
    CHECK(memcmp(packed, wanted, (size_t)n) == 0, "packed differs");
    char *other = same(memory, (size_t)size), *bytes = noise((size_t)n);
    tutti__bytes_unpack(&at, n, bytes);
    tutti_access_unpack(&a, other - lo, from, from + n, bytes);
    CHECK(memcmp(memory, other, (size_t)size) == 0, "unpacked differs");
    free(memory), free(packed), free(wanted), free(other), free(bytes);
}

/* Copy n bytes from one side to another, both from stream position `start`. */
static void two_sides(tutti__side to, tutti__side from, tutti_off start, tutti_off n) {
    const tutti_off lo = tutti__side_lo(to), size = tutti__side_hi(to) - lo;
    const tutti_off from_lo = tutti__side_lo(from), from_size = tutti__side_hi(from) - from_lo;
    char *a = noise((size_t)size), *b = same(a, (size_t)size), *source = noise((size_t)from_size),
         *packed = malloc((size_t)n + 1);
    const tutti__bytes_at x = {to, a - lo, start}, y = {to, b - lo, start},
                          z = {from, source - from_lo, start};
    tutti__bytes_copy(&x, &z, n);
    tutti__bytes_pack(&z, n, packed);
    tutti__bytes_unpack(&y, n, packed);
    CHECK(memcmp(a, b, (size_t)size) == 0, "copied differs");
    free(a), free(b), free(source), free(packed);
}

int main(void) {
    check_seed(201);
    for (int i = 0; i < ROUNDS && check_failures_ < 20; i++) {
        tutti__side one = zoo_any(4, (int)rnd(2)), two = zoo_any(3, (int)rnd(2));
        const tutti_off bytes = tutti__min(tutti__side_bytes(one), tutti__side_bytes(two));
        one = first_bytes(one, bytes);
        two = first_bytes(two, bytes);
        const tutti_off from = rnd(bytes), n = rnd(bytes - from + 1);
        one_side(one, from, n);
        two_sides(two, one, from, n);
        tutti__side_free(&one);
        tutti__side_free(&two);
    }
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
