#!/bin/sh
# TEST ranks=0 timeout=90 cores=2
# The programs and the script that measure the drop-in (docs/reference/mpiio.md) run with and without the drop-in; the
# test does not depend on the measured times.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
fail() {
    echo "$*"
    bad=1
}
cd "$TUTTI_TEST_DIR" || exit 1
export TUTTI_STATS=1
said=$("$top/experiments/tutti_experiments/compare_mpiio.py" "$TUTTI_BUILD_DIR" --ranks 2 --dir "$PWD" --pairs 1 --size 65536 --disk \
    --json out.json 2>&1) || fail "compare_mpiio.py failed: $said"
case $said in
*"2 ranks, open for"*irregular64*"geometric mean"*) ;;
*) fail "compare_mpiio.py said $said" ;;
esac
grep -q '"pattern": "flash"' out.json || fail "out.json has no pattern flash"

# run NAME ARGUMENTS...: run a program on two ranks with the drop-in (output: NAME.out) and without (output: NAME.native)
run() {
    name=$1
    shift
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$TUTTI_BUILD_DIR/experiments/$name" "$@" >"$name.native" 2>&1 ||
        fail "$name: $(cat "$name.native")"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$top/scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" \
        "$TUTTI_BUILD_DIR/experiments/$name" "$@" >"$name.out" 2>&1 || fail "$name, preloaded: $(cat "$name.out")"
    grep -q '2 ranks, open for' "$name.out" || fail "$name did not go through the drop-in"
}

said=$("$top/experiments/tutti_experiments/compare_limit.py" "$TUTTI_BUILD_DIR" --ranks 2 --dir "$PWD" --rounds 1 --runs 1 --size 65536 \
    --pattern ior,flash --json limit.json 2>&1) || fail "compare_limit.py failed: $said"
case $said in
*"2 ranks, open for"*"ior          read"*"flash        write"*) ;;
*) fail "compare_limit.py said $said" ;;
esac
grep -q '"native"' limit.json || fail "limit.json compares nothing with the native library"

run mpiio_memory "$PWD/m" --size 65536 --files 3
cat mpiio_memory.native mpiio_memory.out | grep -c pss_mean_bytes | grep -qx 2 || fail "mpiio_memory reports no PSS"
run mpiio_patterns "$PWD/p" --size 65536 --verify --disk
run mpiio_patterns "$PWD/p" --size 65536 --verify --limit --writes --rounds 3
run read_loops "$PWD/l" --size 65536 --verify --rounds 2
run small_collectives "$PWD" --calls 4 --rounds 1 --mpi-only --load 1
run split_overlap "$PWD/s" --size 262144 --steps 3 --sync
exit $bad
