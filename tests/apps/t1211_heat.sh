#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# The program of the heat example converges to the exact solution with second order.  Files written on 1, 2, 3 and 5
# ranks, with every distribution of the elements, and by a run that was interrupted and resumed on different numbers of
# ranks, are identical.  libexodusii reads these files.  Invalid arguments are refused.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/examples/heat
bad=0
fail() {
    echo "$*"
    bad=1
}
run() {
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$@"
}
cd "$TUTTI_TEST_DIR" || exit 1

run 2 "$program" -c -n 4 -s 5 check.e >out 2>&1 || fail "the order: $(cat out)"
grep -q 'order 1.9\|order 2.0' out || fail "the order: $(cat out)"

run 1 "$program" -n 3 -p -s 4 whole.e >out 2>&1 || fail "$(cat out)"
run 3 "$program" -n 3 -p -s 4 -d metis three.e >out 2>&1 || fail "$(cat out)"
run 5 "$program" -n 3 -p -s 1 -d curve parts.e >out 2>&1 || fail "$(cat out)"
run 2 "$program" -r -s 3 -d order parts.e >out 2>&1 || fail "going on: $(cat out)"
grep -q 'going on after step 1' out || fail "$(cat out)"
for other in three parts; do
    cmp whole.e $other.e || fail "$other.e has other bytes"
done
mpich=$TUTTI_BUILD_DIR/../mpich/tests/examples/heat
if [ "$TUTTI_MPI" = openmpi ] && [ -x "$mpich" ]; then
    "$top/scripts/mpirun.sh" mpich 2 "$mpich" -n 3 -p -s 4 other.e >out 2>&1 || fail "$(cat out)"
    cmp whole.e other.e || fail "another MPI gives other bytes"
fi
if command -v ncvalidator >/dev/null; then
    ncvalidator -q whole.e >out 2>&1 || fail "ncvalidator: $(cat out)"
fi
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_reader
if [ -x "$reader" ]; then
    "$reader" whole.e >text || fail "libexodusii"
    for line in 'element_block names "steel" "copper"' 'node_set names "cold"' 'side_set names "heated"' \
        'nodal variables "temperature"' 'element_block variables "flux_x" "flux_y" "flux_z"' 'side_set variables "inflow"' \
        'global variables "energy" "hottest"' 'element_block property "material" 1 2'; do
        grep -qxF "$line" text || fail "no line: $line"
    done
    [ "$(sed -n 's/^times//p' text | wc -w)" = 5 ] || fail "times: $(grep ^times text)"
fi

run 2 "$program" -n 0 none.e >out 2>&1
[ $? -eq 2 ] || fail "-n 0 is not refused with exit code 2"
run 2 "$program" -r none.e >out 2>&1 && fail "resumes from a file that does not exist"
grep -q 'none.e' out || fail "the message does not name the file: $(cat out)"
exit $bad
