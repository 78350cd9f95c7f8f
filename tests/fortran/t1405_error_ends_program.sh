#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# If a call without ierr fails, the Fortran program ends on all ranks with a message.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$TUTTI_BUILD_DIR/tests/fortran/t1403_wrong
[ -x "$program" ] || { echo "no program in Fortran (Debian: apt-get install gfortran)"; exit 77; }
# Hydra, which kills the other rank, sometimes loses all output of the job: repeat the run in this case.
for attempt in 1 2 3; do
    timeout 30 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$program" stop >"$TUTTI_TEST_DIR/output" 2>&1
    code=$?
    case $code in 0 | 124) echo "exit code $code"; exit 1 ;; esac
    [ -s "$TUTTI_TEST_DIR/output" ] && break
    echo "attempt $attempt: no output"
done
grep -q "nowhere/at/all.*No such file" "$TUTTI_TEST_DIR/output" || { echo "no message:"; cat "$TUTTI_TEST_DIR/output"; exit 1; }
! grep -q "went on" "$TUTTI_TEST_DIR/output"
