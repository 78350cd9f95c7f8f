#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# docs/reference/arrays.md: its functions compile without warnings and work as documented.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
{
    awk '/^```/ { on = $0 == "```c"; next } on' "$top/docs/reference/arrays.md"
    cat <<'END'
int main(int argc, char **argv) {
    int rank, ranks, wrong = 0;
    static double v[2000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    wrong += make("guide.tta", rank, ranks) != TUTTI_OK;
    wrong += take("guide.tta", v) != TUTTI_OK;
    const int block = (600 + ranks - 1) / ranks;
    for (int j = 0; j < 200; j++)
        for (int i = 0; i < 10; i++) wrong += v[10 * j + i] != 3 * j / block;
    MPI_Finalize();
    return wrong != 0;
}
END
} >guide.c
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" guide.c -o guide \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./guide
