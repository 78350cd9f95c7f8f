/* base: the checksum of a block with wider vector instructions.  Each function is in a separate
 * file, which CMakeLists.txt compiles for the instruction set, since XXH3 selects its loops at
 * compile time.  All functions give the same result.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SUMS_WIDE_H
#define TUTTI_SUMS_WIDE_H

#include <stddef.h>
#include <stdint.h>

uint64_t tutti__checksum_avx2(const void *data, size_t bytes);
uint64_t tutti__checksum_avx512(const void *data, size_t bytes);

#endif
