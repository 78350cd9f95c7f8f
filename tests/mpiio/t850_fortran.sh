#!/bin/sh
# TEST ranks=0 timeout=90 builds=openmpi,mpich cores=2
# Fortran programs with mpif.h, `use mpi` and `use mpi_f08` make all kinds of calls; the file is the same with and
# without the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpiio/with_and_without.sh
. "$(dirname "$0")/with_and_without.sh"
ranks=3
for dialect in mpif mpi f08; do
    find_program families_$dialect gfortran
    rm -f native ours
    TUTTI_TEST_NATIVE=1 go native $ranks "$program"
    go ours $ranks "$scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$program"
    cmp native ours || failed=1
done
exit "$failed"
