/* base: the checksum of a block by wider instructions, if the processor has them.  Each is in a separate file
 * that is compiled for that processor (CMakeLists.txt): XXH3 chooses its loops when it is
 * compiled.  All give the same result.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SUMS_WIDE_H
#define TUTTI_SUMS_WIDE_H

#include <stddef.h>
#include <stdint.h>

uint64_t tutti__sum_avx2(const void *data, size_t bytes);
uint64_t tutti__sum_avx512(const void *data, size_t bytes);

#endif
