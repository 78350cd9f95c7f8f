#!/bin/sh
# check_abi.sh OLD NEW HEADERS   checks whether the shared library NEW can replace OLD.  Programs
# compiled with OLD must run with NEW: no function or type that they use may be missing or changed;
# additions are allowed.  HEADERS: the directory of the public headers.
# check_abi.sh --tag TAG BUILD   compares the library of BUILD with that of a release, which is built from git.
# Exit status: 0 compatible, 1 incompatible (the difference is printed), 77 abidiff is missing
# (package abigail-tools).
# SPDX-License-Identifier: BSD-3-Clause
set -eu
command -v abidiff >/dev/null || { echo "skipped: there is no abidiff (package abigail-tools)"; exit 77; }
if [ "$1" = --tag ]; then
    top=$(cd "$(dirname "$0")/.." && pwd)
    mpi=$(sed -n 's/^TUTTI_MPI:STRING=//p' "$3/CMakeCache.txt")
    old=$top/build/abi/$2
    mkdir -p "$old/source"
    git -C "$top" archive "$2" | tar x -C "$old/source"
    cmake -S "$old/source" -B "$old/build" -DTUTTI_MPI="$mpi" -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
    cmake --build "$old/build" --target tutti >/dev/null
    exec "$0" "$(find "$old/build" -maxdepth 1 -name "libtutti_$mpi.so.*.*")" "$3/libtutti_$mpi.so" "$top/include/tutti"
fi
# Bits of abidiff's exit status: 1 error, 2 usage error, 4 differences, 8 incompatible differences.
status=0
abidiff --no-added-syms --no-unreferenced-symbols --headers-dir1 "$3" --headers-dir2 "$3" "$1" "$2" || status=$?
[ $((status & 3)) = 0 ] || exit 2
[ $((status & 12)) = 0 ] || { echo "$2 cannot take the place of $1"; exit 1; }
