#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# An error that a program in Fortran does not ask for ends it, on all ranks, with a message.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/fortran/t1403_wrong
[ -x "$program" ] || { echo "no program in Fortran (Debian: apt-get install gfortran)"; exit 77; }
timeout 30 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$program" stop >"$TUTTI_TEST_DIR/said" 2>&1
code=$?
case $code in 0 | 124) echo "exit code $code"; exit 1 ;; esac
grep -q "nowhere/at/all.*No such file" "$TUTTI_TEST_DIR/said" || { echo "not told:"; cat "$TUTTI_TEST_DIR/said"; exit 1; }
! grep -q "went on" "$TUTTI_TEST_DIR/said"
