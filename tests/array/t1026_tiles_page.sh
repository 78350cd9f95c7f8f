#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# docs/reference/tiles.md: its function compiles without warnings and works as documented, and its
# command works.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
bad=0

{
    echo '#include <stdio.h>'
    awk '/^```/ { on = $0 == "```c"; next } on' "$top/docs/reference/tiles.md"
    cat <<'END'
int main(int argc, char **argv) {
    const tutti_array_spec spec = {.ndims = 2, .shape = {30, 20}, .type = TUTTI_FLOAT64};
    const tutti_slice all = tutti_slice_all(2, spec.shape);
    const double three = 3;
    double v[600];
    tutti_array *a = NULL, *b = NULL;
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    wrong += tutti_array_create(MPI_COMM_WORLD, "a", &spec, NULL, &a) != TUTTI_OK;
    wrong += tutti_array_create(MPI_COMM_WORLD, "b", &spec, NULL, &b) != TUTTI_OK;
    wrong += tutti_array_fill(a, &three) != TUTTI_OK;
    wrong += twice(a, b, 30, 20, rank, ranks) != TUTTI_OK;
    wrong += tutti_array_read(b, &all, NULL, v) != TUTTI_OK;
    for (int i = 0; i < 600; i++) wrong += v[i] != 6;
    wrong += tutti_array_close(&a) != TUTTI_OK || tutti_array_close(&b) != TUTTI_OK;
    MPI_Finalize();
    return wrong != 0;
}
END
} >guide.c
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
if "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" guide.c -o guide \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"; then
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./guide || bad=1
else
    bad=1
fi

line=$(grep '^    scripts/mpirun.sh ' "$top/docs/reference/tiles.md" | sed "s|build/openmpi|'$TUTTI_BUILD_DIR'|; s|scripts/|'$top'/scripts/|")
said=$(sh -c "$line" 2>&1) || bad=1
case $said in
*" 0 of 1000000 elements are wrong"* | *"
0 of 1000000 elements are wrong"*) ;;
*)
    echo "this failed: $line: $said"
    bad=1
    ;;
esac
exit $bad
