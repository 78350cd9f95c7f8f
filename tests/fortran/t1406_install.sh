#!/bin/sh
# TEST ranks=0 timeout=180 builds=openmpi,mpich
# After installation and moving the prefix, a user program with the Fortran module is built with pkg-config and a plain
# compiler, and with the CMake component; the program is the first one of docs/reference/fortran.md, of at most 25 lines.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$TUTTI_TEST_DIR/moved
[ -f "$TUTTI_BUILD_DIR/fortran/tutti.mod" ] || { echo "no module (Debian: apt-get install gfortran)"; exit 77; }
compiler=$(sed -n 's/^CMAKE_Fortran_COMPILER:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")

cmake --install "$TUTTI_BUILD_DIR" --prefix "$TUTTI_TEST_DIR/first" >/dev/null
mv "$TUTTI_TEST_DIR/first" "$prefix"
for file in libtutti-fortran.so "libtutti-fortran_$TUTTI_MPI.so.1" pkgconfig/tutti-fortran.pc \
    "cmake/Tutti/TuttiFortran-$TUTTI_MPI.cmake"; do
    [ -e "$prefix/lib/$file" ] || { echo "lib/$file was not installed"; exit 1; }
done
[ -f "$(find "$prefix/lib/fortran" -path "*/$TUTTI_MPI/tutti.mod")" ] || { echo "no module for $TUTTI_MPI"; exit 1; }
ldd "$prefix/lib/libtutti-fortran.so" | grep -q "libtutti_$TUTTI_MPI.so.1 => $prefix/lib/" || { echo "the library is not found"; exit 1; }

mkdir "$TUTTI_TEST_DIR/user"
cp "$top/tests/fortran/user/CMakeLists.txt" "$TUTTI_TEST_DIR/user"
cd "$TUTTI_TEST_DIR/user"
awk '/^```/ { if (on) exit; on = $0 == "```fortran"; next } on' "$top/docs/reference/fortran.md" >user.f90
lines=$(wc -l <user.f90)
if [ "$lines" -lt 5 ] || [ "$lines" -gt 25 ]; then
    echo "the first program of docs/reference/fortran.md has $lines lines"
    exit 1
fi
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
"$compiler" -Wall -Werror -o by_pkgconfig user.f90 $(pkg-config --cflags --libs tutti-fortran)
cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_Fortran_COMPILER="$compiler" >/dev/null
cmake --build build >/dev/null

export LD_LIBRARY_PATH="$prefix/lib"
for program in ./by_pkgconfig build/user; do
    rm -f a.tta
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 $program || { echo "$program failed"; exit 1; }
    # the first element of column 3 is 3.0; the array begins at offset 4096, column-major
    "$prefix/bin/tutti" array info a.tta >said || { echo "$program wrote no array"; exit 1; }
    tr -s ' \n' ' ' <said | grep -q 'shape (512, 512) .* order column-major' || { cat said; exit 1; }
    got=$(od -An -tf8 -j $((4096 + 2 * 512 * 8)) -N8 a.tta | tr -d ' ')
    [ "$got" = 3 ] || { echo "$program wrote $got into the third column"; exit 1; }
done
