#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# The program of the bipolar example: a sweep that is interrupted and resumed on a different number of ranks, invalid
# arguments, and the commands of `make run-bipolar`, with a mesh of gmsh if gmsh is installed.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/examples/bipolar
bad=0
fail() {
    echo "$*"
    bad=1
}
run() {
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$@"
}
cd "$TUTTI_TEST_DIR" || exit 1

# currents FILE: print the currents of a table, one per line
currents() {
    grep -o '[-0-9.e+]* A' "$1"
}
run 2 "$program" -d diode -h 0.03 -o whole anode=0.4:0.6:0.1 >whole.txt || fail "the sweep failed"
run 3 "$program" -d diode -h 0.03 -o parts anode=0.4 >parts.txt || fail "the first part failed"
run 1 "$program" -d diode -h 0.03 -o parts -r anode=0.5:0.6:0.1 >>parts.txt || fail "going on failed"
[ "$(currents whole.txt | wc -l)" = 6 ] || fail "not six currents: $(cat whole.txt)"
[ "$(currents whole.txt)" = "$(currents parts.txt)" ] || fail "other currents: $(cat whole.txt parts.txt)"
[ "$(wc -c <whole)" = "$(wc -c <parts)" ] || fail "files of results have other sizes"

# refused CODE TEXT ARGUMENTS...: check the exit code and the message of invalid arguments
refused() {
    code=$1
    text=$2
    shift 2
    run 2 "$program" "$@" >out.txt 2>&1
    found=$?
    [ $found != 0 ] || fail "not refused: $*"
    [ "$code" = any ] || [ "$code" = $found ] || fail "$*: code $found"
    grep -q "$text" out.txt || fail "$*: $(cat out.txt)"
}
refused 2 usage -d diode anode=1:2
refused any "no results for this mesh in 'whole'" -d diode -h 0.04 -o whole -r anode=0.5
refused any "no surface 'anode'" -d diode -m "$top/tests/apps/one.msh"

if command -v gmsh >/dev/null 2>&1; then
    gmsh -3 -nt 1 -v 2 -setnumber finest 0.12 "$top/examples/apps/bipolar/transistor.geo" -o small.msh || fail "gmsh"
    run 2 "$program" -m small.msh -o small -p small.svg collector=1 base=0.65:0.7:0.05 >small.txt || fail "transistor"
    grep -q 'gain *[5-9][0-9]\.' small.txt || fail "no gain: $(cat small.txt)"
    grep -q "class='j'" small.svg || fail "no junction in the picture"
fi
exit $bad
