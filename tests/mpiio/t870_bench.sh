#!/bin/sh
# TEST ranks=0 timeout=90 cores=2
# The programs and the script that measure the drop-in (docs/mpiio.md) run, with and without it; no
# figure decides.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
fail() {
    echo "$*"
    bad=1
}
cd "$TUTTI_TEST_DIR" || exit 1
library=$TUTTI_BUILD_DIR/libtutti-mpiio.so
said=$("$top/bench/compare_mpiio.py" "$TUTTI_BUILD_DIR" --ranks 2 --dir "$PWD" --pairs 1 --size 65536 \
    --json out.json 2>&1) || fail "compare_mpiio.py failed: $said"
case $said in
*irregular64*"geometric mean"*) ;;
*) fail "compare_mpiio.py said $said" ;;
esac
grep -q '"pattern": "flash"' out.json || fail "out.json has no pattern flash"
for how in native preloaded; do
    set --
    [ $how = native ] || set -- env "LD_PRELOAD=$library"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$@" "$TUTTI_BUILD_DIR/bench/mpiio_memory" "$PWD/m" 65536 |
        grep -q 'PSS KiB' || fail "mpiio_memory, $how"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$@" "$TUTTI_BUILD_DIR/bench/mpiio_patterns" "$PWD/p" --size 65536 \
        --verify >/dev/null || fail "mpiio_patterns, $how"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$@" "$TUTTI_BUILD_DIR/bench/split_overlap" "$PWD/s" --size 262144 \
        --steps 3 --sync >/dev/null || fail "split_overlap, $how"
done
exit $bad
