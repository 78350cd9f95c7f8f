#!/bin/sh
# TEST ranks=0 timeout=90 builds=openmpi,mpich cores=2
# The heat examples in Fortran and in C write the same bytes, also on different numbers of ranks and with different
# distributions; each resumes from the file of the other; invalid arguments are refused.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/examples.fortran/heat
[ -x "$program" ] || { echo "no program in Fortran (Debian: apt-get install gfortran)"; exit 77; }
bad=0
fail() {
    echo "$*"
    bad=1
}
run() {
    timeout 60 "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$@" >out 2>&1 || fail "$*: $(cat out)"
}
cd "$TUTTI_TEST_DIR" || exit 1

run 1 "$TUTTI_BUILD_DIR/tests/examples/heat" -n 3 -p -s 3 c.e
run 3 "$program" -n 3 -p -s 1 -d curve f.e
run 2 "$program" -r -s 1 f.e
grep -q 'going on after step 1' out || fail "$(cat out)"
run 2 "$TUTTI_BUILD_DIR/tests/examples/heat" -r -s 1 -d order f.e
cmp c.e f.e || fail "-p: C and Fortran give other bytes"

run 2 "$TUTTI_BUILD_DIR/tests/examples/heat" -n 2 -e 2 -s 4 c.e
run 5 "$program" -n 2 -e 2 -s 4 -d metis f.e
cmp c.e f.e || fail "C and Fortran give other bytes"

"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 "$program" -n 0 none.e >out 2>&1
[ $? -eq 2 ] || fail "-n 0 is no wrong usage"
exit $bad
