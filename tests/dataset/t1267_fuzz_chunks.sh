#!/bin/sh
# TEST ranks=0 timeout=300 tier=full builds=openmpi
# libFuzzer on the reader of compressed sections: no input leads to invalid memory accesses.  The seeds are valid
# sections created by a program.  Runs for TUTTI_FUZZ_SECONDS (default: 60).
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v clang >/dev/null || { echo 'no clang'; exit 77; }
cd "$TUTTI_TEST_DIR"
sources="$top/tests/fuzz/fuzz_chunks.c $top/src/compression/chunks.c $top/src/base/memory.c $top/src/base/error.c"
flags="-std=gnu11 -O1 -g -D_GNU_SOURCE -I$top/include -I$top/src -fsanitize=address,undefined -fno-sanitize-recover=all"
# shellcheck disable=SC2086
clang $flags -DWRITE $sources -o seeds -lzstd
# shellcheck disable=SC2086
clang $flags -fsanitize=fuzzer $sources -o fuzz -lzstd || { echo 'clang has no libFuzzer'; exit 77; }
mkdir corpus
./seeds corpus
./fuzz -max_total_time="${TUTTI_FUZZ_SECONDS:-60}" -max_len=8192 -rss_limit_mb=2048 -print_final_stats=1 corpus >log 2>&1 || { tail -60 log; exit 1; }
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
[ "${runs:-0}" -ge 1000 ] || { echo "only $runs inputs"; tail -20 log; exit 1; }
