#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# A program of another MPI: if it is linked with this library, opening a file fails with a clear message; if this drop-in is
# preloaded, the program ends with a message.  In both cases nothing crashes.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
other=mpich
[ "$TUTTI_MPI" = mpich ] && other=openmpi
command -v "mpicc.$other" >/dev/null || { echo "no mpicc.$other"; exit 77; }
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
fail() {
    echo "$*"
    bad=1
}

cat >linked.c <<'END'
#include <stdio.h>
#include <tutti/tutti.h>
int main(int argc, char **argv) {
    tutti_file *f = NULL;
    tutti_array *a = NULL;
    const tutti_array_spec spec = {.ndims = 1, .shape = {10}, .type = TUTTI_FLOAT64};
    MPI_Init(&argc, &argv);
    const tutti_err err = tutti_file_open(MPI_COMM_WORLD, "f", TUTTI_WRITE | TUTTI_CREATE, NULL, &f);
    puts(tutti_last_message());
    const tutti_err same = tutti_array_create(MPI_COMM_WORLD, "a", &spec, NULL, &a);
    MPI_Finalize();
    return err != TUTTI_ERR_UNSUPPORTED || same != err;
}
END
cat >plain.c <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
END
"mpicc.$other" -I"$top/include" linked.c -o linked -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" \
    -Wl,--allow-shlib-undefined || fail "no program"
"mpicc.$other" plain.c -o plain || fail "no program"
"$top/scripts/mpirun.sh" "$other" 1 ./linked >out 2>&1 || { cat out; fail "linked: exit code $?"; }
grep -q 'was built for .*, but the program uses' out || { cat out; fail "linked: not told"; }
"$top/scripts/mpirun.sh" "$other" 1 "$top/scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" ./plain f >out 2>&1
code=$?
case $code in 0 | 12[4-9] | 1[3-9]?)
    cat out
    fail "preloaded: exit code $code"
    ;;
esac
grep -q 'libtutti-mpiio: this library was built for .*, but the program uses' out || { cat out; fail "preloaded: not told"; }
exit $bad
