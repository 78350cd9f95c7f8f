#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi
# The bipolar example refuses arguments that are not numbers or are out of range: it prints its usage and exits with code 2.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/examples/bipolar
bad=0
cd "$TUTTI_TEST_DIR" || exit 1
for wrong in anode=nan anode=0:1:.1x "-h nan" "-h -1"; do
    # shellcheck disable=SC2086 # two words, or one
    timeout 20 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 "$program" -d diode $wrong >out.txt 2>&1
    code=$?
    if [ $code != 2 ] || ! grep -q '^usage: bipolar' out.txt; then
        echo "$wrong: code $code, $(cat out.txt)"
        bad=1
    fi
done
exit $bad
