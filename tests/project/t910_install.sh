#!/bin/sh
# TEST ranks=0 timeout=180 builds=mpich
# The library is installed into a prefix that is moved afterwards.  User programs in C and C++, built with pkg-config and a
# plain compiler, and with CMake's find_package, run on two ranks.  Configuring a project that uses another MPI fails
# with a message that states the reason.  (For Open MPI, t924 runs this test in a clone.)
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
# pkg-config does not quote paths: use a directory without spaces.
case $TUTTI_TEST_DIR in *' '*)
    TUTTI_TEST_DIR=$(mktemp -d /var/tmp/tutti-test.XXXXXX)
    trap 'rm -rf "$TUTTI_TEST_DIR"' EXIT
    ;;
esac
prefix=$TUTTI_TEST_DIR/moved

cmake --install "$TUTTI_BUILD_DIR" --prefix "$TUTTI_TEST_DIR/first" >/dev/null
mv "$TUTTI_TEST_DIR/first" "$prefix"
lib=$prefix/lib
for file in bin/tutti bin/tutti.$TUTTI_MPI bin/tutti-experiments bin/tutti-report lib/libtutti.so lib/libtutti_$TUTTI_MPI.so.1 lib/libtutti-mpiio.so \
    lib/pkgconfig/tutti.pc lib/pkgconfig/tutti-$TUTTI_MPI.pc include/tutti/tutti.h \
    lib/cmake/Tutti/TuttiConfig.cmake share/man/man7/tutti-options.7 \
    share/man/man1/tutti.1 share/man/man3/tutti_file.3 share/man/man3/tutti_file_open.3; do
    [ -e "$prefix/$file" ] || { echo "$file was not installed"; exit 1; }
done
if grep -rlsI -e "$TUTTI_BUILD_DIR" -e "$TUTTI_TEST_DIR/first" "$prefix"; then
    echo "these installed files name folders that only this build knows"
    exit 1
fi
readelf -d "$lib/libtutti.so" | grep -q "SONAME.*\[libtutti_$TUTTI_MPI.so.1\]" || { echo "wrong soname"; exit 1; }
ldd "$lib/libtutti-mpiio.so" | grep -q "libtutti_$TUTTI_MPI.so.1 => $lib/" || { echo "the drop-in misses the library"; exit 1; }
"$prefix/bin/tutti" version | grep -q '^tutti [0-9]' || { echo "the command does not start"; exit 1; }

"$prefix/bin/tutti-report" --help | grep -q '^usage: tutti-report' || { echo "tutti-report does not start"; exit 1; }

export PKG_CONFIG_PATH="$lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
"$top/scripts/check_headers.sh" "$prefix/include" -- $(pkg-config --cflags-only-other tutti) \
    $(cat "$TUTTI_BUILD_DIR/mpi.flags")
# shellcheck disable=SC2046
${CC:-cc} -o "$TUTTI_TEST_DIR/by_pkgconfig" "$here/user/user.c" $(pkg-config --cflags --libs tutti)
# shellcheck disable=SC2046
${CXX:-c++} -Wall -Wextra -Werror -o "$TUTTI_TEST_DIR/cxx_by_pkgconfig" "$here/user/user.cc" $(pkg-config --cflags --libs tutti)
cmake -S "$here/user" -B "$TUTTI_TEST_DIR/user" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$TUTTI_TEST_DIR/user" >/dev/null

export LD_LIBRARY_PATH="$lib"
for program in by_pkgconfig user/user cxx_by_pkgconfig user/user_cxx; do
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$TUTTI_TEST_DIR/$program" "$TUTTI_TEST_DIR/data" ||
        { echo "$program failed"; exit 1; }
done

other=mpich
[ "$TUTTI_MPI" = mpich ] && other=openmpi
for how in "-DUSER_FINDS_MPI=1 -DMPI_C_COMPILER=mpicc.$other -DMPI_CXX_COMPILER=mpicxx.$other" \
    "-DCMAKE_C_COMPILER=mpicc.$other -DCMAKE_CXX_COMPILER=mpicxx.$other"; do
    command -v "mpicc.$other" >/dev/null || continue
    # shellcheck disable=SC2086
    if cmake -S "$here/user" -B "$TUTTI_TEST_DIR/mixed" -DCMAKE_PREFIX_PATH="$prefix" $how >"$TUTTI_TEST_DIR/said" 2>&1; then
        echo "a project that uses $other is configured: $how"
        exit 1
    fi
    tr '\n' ' ' <"$TUTTI_TEST_DIR/said" | tr -s ' ' | grep -q "built for $TUTTI_MPI, but this project uses $other" ||
        { echo "not told:"; cat "$TUTTI_TEST_DIR/said"; exit 1; }
    rm -rf "$TUTTI_TEST_DIR/mixed"
done
