#!/bin/sh
# TEST ranks=0 timeout=300 cores=2 tier=full
# libFuzzer on all readers of datasets: metadata, trailers of data files, headers of sections, headers of
# netCDF files.  Runs for 60 s in total, or FUZZ_SECONDS.  The seeds are the golden dataset and tests/fuzz/corpus
# (inputs of earlier runs that reached new code).
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
command -v clang >/dev/null || { echo 'no clang'; exit 77; }
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
{ return n ? d[0] * 0 : 0; }' >try.c
clang -fsanitize=fuzzer,address try.c -o try 2>err || { cat err; echo 'no libFuzzer (Debian: libclang-rt-dev)'; exit 77; }
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
sources=$(cd "$top/src" && echo base/*.c metadata/model.c metadata/sql.c metadata/meta.c metadata/meta_read.c metadata/meta_write.c metadata/trailer.c metadata/trailer_find.c \
    archive/rebuild.c metadata/ranked_head.c netcdf/netcdf_header.c netcdf/netcdf_file.c archive/netcdf_rebuild.c metadata/content.c \
    metadata/fill.c cdf/*.c access/number.c access/convert.c)
for file in $sources; do
    OMPI_CC=clang MPICH_CC=clang "$mpicc" -std=gnu11 -O1 -g -D_GNU_SOURCE -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
        -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -I"$top/include" -I"$top/src" \
        -c "$top/src/$file" -o "$(echo "$file" | tr / _).o"
done
each=$((${FUZZ_SECONDS:-60} / 4))
for target in meta trailer ranked netcdf; do
    OMPI_CC=clang MPICH_CC=clang "$mpicc" -std=gnu11 -O1 -g -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined -I"$top/include" -I"$top/src" -I"$top/tests/fuzz" "$top/tests/fuzz/fuzz_$target.c" ./*.c.o \
        -o fuzz_$target -lsqlite3 -lm -lpthread
    mkdir -p seeds_$target found_$target
    [ ! -d "$top/tests/fuzz/corpus/$target" ] || cp "$top/tests/fuzz/corpus/$target"/* seeds_$target
done
# Add the golden dataset to the seeds, with small database pages.
{ echo 'PRAGMA page_size=512;'; cat "$top/tests/dataset/golden/metadata.sql"; } >golden.sql
python3 -c 'import sqlite3; sqlite3.connect("seeds_meta/golden").executescript(open("golden.sql").read())'
cp "$top/tests/dataset/golden/data-000001.tutti" seeds_trailer/golden
head -c 12288 seeds_trailer/golden >seeds_trailer/two
for target in meta trailer ranked netcdf; do
    ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-} ./fuzz_$target -max_total_time=$each -timeout=20 -rss_limit_mb=4000 -max_len=65536 \
        -print_final_stats=1 found_$target seeds_$target >log_$target 2>&1 || { tail -40 log_$target; exit 1; }
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' log_$target) inputs"
done
