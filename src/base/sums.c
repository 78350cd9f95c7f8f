/* base: checksums of blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/sums.h"

#include "base/sums_wide.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tutti__checksum_of(const void *data, size_t bytes) {
#if defined(__x86_64__)
    enum { WIDE = 1024 }; /* XXH3 uses wide instructions only for longer inputs */
    if (bytes >= WIDE && __builtin_cpu_supports("avx512f"))
        return tutti__checksum_avx512(data, bytes);
    if (bytes >= WIDE && __builtin_cpu_supports("avx2")) return tutti__checksum_avx2(data, bytes);
#endif
    return XXH3_64bits(data, bytes);
}

tutti_err tutti__checksums_add(tutti__checksums *s, tutti_off offset, const void *data,
                               tutti_off bytes) {
    tutti_off end;
    for (tutti_off at = tutti__checksums_next(s, offset, &end); end <= offset + bytes;
         at = tutti__checksums_next(s, end, &end)) {
        TUTTI_TRY(tutti__grow(&s->v, s->n + 1, &s->capacity, sizeof *s->v));
        const char *block = (const char *)data + (at - offset);
        s->v[s->n++] = (tutti__checksum){(at - s->start) / s->bytes,
                                         tutti__checksum_of(block, (size_t)(end - at))};
    }
    return TUTTI_OK;
}

void tutti__checksums_free(tutti__checksums *s) {
    tutti__free(s->v);
    s->v = NULL;
    s->n = s->capacity = 0;
}
