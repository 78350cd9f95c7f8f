#!/bin/sh
# TEST ranks=0 timeout=60 builds=asan
# tests/support ignores leaks of MPI libraries but not of Tutti: a program that uses MPI and frees all its memory passes;
# a program that leaks 77 bytes before or after MPI_Finalize fails.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
cd "$TUTTI_TEST_DIR" || exit 1
cat >leak.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static void forget(void) {
    kept = malloc(77);
    kept = NULL;
}
int main(int argc, char **argv) {
    MPI_Comm two;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &two);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (strcmp(argv[1], "inside") == 0) forget();
    MPI_Type_free(&type);
    MPI_Comm_free(&two);
    MPI_Finalize();
    if (strcmp(argv[1], "after") == 0) forget();
    return 0;
}
END
"$mpicc" -g -O1 -D_GNU_SOURCE -fno-omit-frame-pointer -fsanitize=address,undefined leak.c \
    "$top/tests/support/keep_plugins.c" -ldl -o leak || exit 1
bad=0
for what in nothing inside after; do
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./leak $what >out 2>&1
    code=$?
    case $what in
    nothing) [ $code = 0 ] ;;
    *) [ $code != 0 ] && grep -q 'leak of 77 byte' out && grep -q 'in forget' out ;;
    esac || { echo "forgetting '$what': exit code $code"; cat out; bad=1; }
done
exit $bad
