#!/bin/sh
# TEST ranks=0 timeout=1500 cores=2 tier=full
# libFuzzer with ASan and UBSan on all readers of untrusted files: Exodus files opened, compared,
# joined, exported and copied; datasets opened, read, verified, archived and repaired; Gmsh meshes
# imported.  Inputs are texts from which a generator creates files (tests/exodus/crafted.h, tests/fuzz/*_text.h).
# Each target runs for FUZZ_SECONDS (default: 60); FUZZ_TARGETS selects some targets; FUZZ_BUILD is a build directory
# that is kept.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
command -v clang >/dev/null || { echo 'no clang'; exit 77; }
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n); int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
{ return n ? d[0] * 0 : 0; }' >try.c
clang -fsanitize=fuzzer,address try.c -o try 2>err || { cat err; echo 'no libFuzzer (Debian: libclang-rt-dev)'; exit 77; }
build=${FUZZ_BUILD:-$PWD/build}
{ cmake -S "$top" -B "$build" -DCMAKE_C_COMPILER=clang -DTUTTI_MPI=openmpi -DTUTTI_SANITIZE=address -DTUTTI_FUZZ=ON -DTUTTI_WERROR=OFF &&
    cmake --build "$build" --parallel "$(nproc)" --target fuzz; } >log_build 2>&1 || { tail -40 log_build; exit 1; }

export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self OMPI_MCA_osc=^ucx
# by default Open MPI handles SIGABRT, which libFuzzer must handle; let Open MPI handle 28 (SIGWINCH) instead
export OMPI_MCA_opal_signal=28
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TUTTI_FUZZ_DATA="$top/tests/dataset/golden/data-000001.tutti"
mkdir -p seeds_full_dataset
sed '/^PRAGMA/d' "$top/tests/dataset/golden/metadata.sql" >seeds_full_dataset/golden
bad=0
for target in ${FUZZ_TARGETS:-full_exodus full_exodus_pair full_exodus_copy full_dataset full_archive full_gmsh}; do
    mkdir -p "found_$target" "seeds_$target"
    case $target in
    full_exodus_copy) from=full_exodus ;;
    full_archive) from=full_dataset ;;
    *) from=$target ;;
    esac
    [ ! -d "$top/tests/fuzz/corpus/$from" ] || cp "$top/tests/fuzz/corpus/$from"/* "seeds_$target"
    [ "$from" = "$target" ] || [ ! -d "seeds_$from" ] || cp "seeds_$from"/* "seeds_$target"
    # an input must not take longer than a few seconds, and memory must be bounded by the size of its file
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-} "$build/$target" -max_total_time="${FUZZ_SECONDS:-60}" \
        -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=3000 -malloc_limit_mb=1000 -max_len=8192 -len_control=0 -close_fd_mask=3 \
        -print_final_stats=1 -artifact_prefix="$PWD/crash_${target}_" "$PWD/found_$target" "$PWD/seeds_$target" >"log_$target" 2>&1 || {
        tail -60 "log_$target"
        cat crash_"$target"_* 2>/dev/null || true
        bad=1
    }
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "log_$target") inputs, $(grep -o 'cov: [0-9]* ft: [0-9]*' "log_$target" | tail -1)"
done
exit $bad
