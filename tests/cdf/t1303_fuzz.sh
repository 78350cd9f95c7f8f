#!/bin/sh
# TEST ranks=0 timeout=300 builds=openmpi
# libFuzzer on headers of netCDF files: 3 s, tier=full 60 s, or FUZZ_SECONDS.  It begins with small headers of each version.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
command -v clang >/dev/null || { echo 'no clang'; exit 77; }
flags="-std=gnu11 -O1 -g -D_GNU_SOURCE -I$top/include -I$top/src -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all"
echo 'int LLVMFuzzerTestOneInput(const char *data, long n) { return data == 0 && n > 0; }' >try.c
clang -fsanitize=fuzzer try.c -o try 2>/dev/null || { echo 'no libFuzzer (Debian: libclang-rt-dev)'; exit 77; }
# shellcheck disable=SC2086
clang $flags "$top/tests/fuzz/fuzz_cdf.c" "$top"/src/cdf/*.c "$top/src/base/memory.c" "$top/src/base/error.c" "$top/src/base/size_limit.c" "$top/src/base/utf8.c" "$top/src/access/number.c" \
    -o fuzz 2>err || { cat err; exit 1; }
mkdir seeds found
cp "$top"/tests/fuzz/corpus/cdf/* seeds
case ${TUTTI_TEST_TIER:-quick} in
full) seconds=${FUZZ_SECONDS:-60} ;;
*) seconds=${FUZZ_SECONDS:-3} ;;
esac
./fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 found seeds >log 2>&1 ||
    { tail -60 log; exit 1; }
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
[ "${runs:-0}" -ge 1000 ] || { echo "only $runs inputs"; tail -20 log; exit 1; }
