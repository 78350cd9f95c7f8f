#!/bin/sh
# TEST ranks=0 timeout=90 builds=openmpi,mpich cores=2
# Fortran programs that wait for MPI-IO: with mpif.h and with mpi_f08.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
fortran=mpifort.$TUTTI_MPI
command -v "$fortran" >/dev/null 2>&1 || fortran=mpifort
if ! command -v "$fortran" >/dev/null 2>&1; then
    echo "no mpifort (Debian: gfortran)"
    exit 77
fi
cd "$TUTTI_TEST_DIR"
for program in waits_mpif waits_f08; do
    "$fortran" -O1 -fallow-argument-mismatch -o $program "$here/$program.f90" || exit 1
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 "$top/scripts/preload.sh" \
        "$TUTTI_BUILD_DIR/libtutti-mpiio.so" ./$program "$TUTTI_TEST_DIR/$program.data"
done
