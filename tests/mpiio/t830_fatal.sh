#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich cores=2
# MPI_ERRORS_ARE_FATAL on a file aborts the program when a nonblocking write has failed, as the
# standard requires.  If the MPI has C++ bindings, MPI::ERRORS_THROW_EXCEPTIONS throws an exception.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
compiler=mpicc.$TUTTI_MPI
command -v "$compiler" >/dev/null 2>&1 || compiler=mpicc
cd "$TUTTI_TEST_DIR"
"$compiler" -o fatal "$here/fatal.c"
code=0
TUTTI_FAULT='0:write:1:ENOSPC' "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$top/scripts/preload.sh" \
    "$TUTTI_BUILD_DIR/libtutti-mpiio.so" ./fatal "$TUTTI_TEST_DIR/data" >out 2>&1 || code=$?
if [ $code = 0 ] || ! grep -q waits out || grep -q survived out; then
    echo "exit code $code:"
    cat out
    exit 1
fi

[ "$TUTTI_MPI" = mpich ] && command -v mpicxx.mpich >/dev/null 2>&1 || exit 0
mpicxx.mpich -o throws "$here/throws.cc" 2>compiled || exit 0 # no C++ bindings
"$top/scripts/mpirun.sh" mpich 2 "$top/scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" \
    ./throws "$TUTTI_TEST_DIR/thrown" "$TUTTI_TEST_DIR/absent" >out 2>&1 || {
    cat out
    exit 1
}
