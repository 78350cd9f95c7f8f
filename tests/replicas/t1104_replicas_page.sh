#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# docs/reference/replicas.md: its functions compile without warnings and work as documented.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
{
    awk '/^```/ { on = $0 == "```c"; next } on' "$top/docs/reference/replicas.md"
    cat <<'END'
/* Ranks own 10 nodes each, and hold those of the next one too; they read those of the one before. */
int main(int argc, char **argv) {
    int rank, ranks, wrong = 0;
    int64_t node[20];
    unsigned char mine[20];
    double current[60];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 20; i++) {
        const int at = (10 * rank + i) % (10 * ranks);
        node[i] = 7 * at;
        mine[i] = i < 10;
        for (int k = 0; k < 3; k++) current[3 * i + k] = at + k / 10.0;
    }
    wrong += save("guide.dat", 20, node, mine, current) != TUTTI_OK;
    const int before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 10; i++) node[i] = 7 * (10 * before + i);
    wrong += load("guide.dat", 10 * ranks, 10, node, current) != TUTTI_OK;
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 3; k++) wrong += current[3 * i + k] != 10 * before + i + k / 10.0;
    wrong += load("guide.dat", 0, 10, node, current) != TUTTI_ERR_STATE;
    tutti_file *f = NULL;
    node[0] = 10 * ranks - 1 - rank; /* the places in the file */
    wrong += tutti_file_open(MPI_COMM_WORLD, "guide.dat", TUTTI_READ, NULL, &f) != TUTTI_OK;
    wrong += probe(f, 1, node, current) != TUTTI_OK;
    for (int k = 0; k < 3; k++) wrong += current[k] != 10 * ranks - 1 - rank + k / 10.0;
    wrong += tutti_file_close(&f) != TUTTI_OK;
    MPI_Finalize();
    return wrong != 0;
}
END
} >guide.c
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" guide.c -o guide \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./guide
test "$(wc -c <guide.dat)" -eq 720
