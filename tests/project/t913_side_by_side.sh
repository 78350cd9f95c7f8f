#!/bin/sh
# TEST ranks=0 timeout=180 builds=openmpi
# Tutti for both MPIs in one prefix: each installation has its own library, command and pkg-config file, and a project uses
# those of its MPI; plain names refer to the last installation.  After one is removed, the other still works; after
# both are removed, no file remains.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
prefix=$TUTTI_TEST_DIR/prefix
other=$(dirname "$TUTTI_BUILD_DIR")/mpich
[ -f "$other/libtutti-mpiio.so" ] || { echo "skipped: there is no build for MPICH beside this one"; exit 77; }

fail() {
    echo "$*"
    exit 1
}
# user MPI WHAT: configure a C project for that MPI, build it, and run it with the Tutti of that MPI
user() {
    cmake -S "$here/user" -B "$TUTTI_TEST_DIR/$2" -DCMAKE_PREFIX_PATH="$prefix" -DUSER_FINDS_MPI=1 \
        -DMPI_C_COMPILER="mpicc.$1" -DMPI_CXX_COMPILER="mpicxx.$1" >/dev/null || fail "$1: not configured"
    cmake --build "$TUTTI_TEST_DIR/$2" --target user >/dev/null || fail "$1: not built"
    ldd "$TUTTI_TEST_DIR/$2/user" | grep -q "libtutti_$1.so.1 => $prefix/" || fail "$1: another library"
    "$top/scripts/mpirun.sh" "$1" 2 "$TUTTI_TEST_DIR/$2/user" "$TUTTI_TEST_DIR/data" || fail "$1: failed"
}

cmake --install "$TUTTI_BUILD_DIR" --prefix "$prefix" >/dev/null
cmake --install "$other" --prefix "$prefix" >/dev/null
user openmpi first
user mpich second
for mpi in openmpi mpich; do
    [ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=mpi "tutti-$mpi")" = $mpi ] || fail "tutti-$mpi.pc"
    "$prefix/bin/tutti.$mpi" run --dry-run -- "mpirun.$mpi" -n 2 true 2>&1 |
        grep -q "$prefix/lib/tutti/$mpi/libtutti-mpiio.so" || fail "tutti.$mpi run: another drop-in"
done
[ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=mpi tutti)" = mpich ] || fail "tutti.pc"

"$top/scripts/uninstall.sh" "$prefix" mpich
[ ! -e "$prefix/lib/libtutti_mpich.so.1" ] || fail "MPICH's is still there"
[ "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=mpi tutti)" = openmpi ] || fail "tutti.pc leads nowhere"
"$prefix/bin/tutti" version >/dev/null || fail "bin/tutti leads nowhere"
user openmpi third
"$top/scripts/uninstall.sh" "$prefix" openmpi
[ ! -e "$prefix" ] || fail "left behind: $(find "$prefix")"
if "$top/scripts/uninstall.sh" "$prefix" openmpi 2>/dev/null; then fail "what is not there was removed"; fi
