#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# A program started by the launcher of another MPI: MPI_COMM_WORLD of every process has one rank, and opening a file, a
# dataset or an Exodus file for writing fails with a message that states the reason.  Reading, MPI_COMM_SELF on several
# ranks, batch scripts, single processes, and TUTTI_SINGLE_RANK=1 work.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
other=mpich
[ "$TUTTI_MPI" = mpich ] && other=openmpi
cd "$TUTTI_TEST_DIR" || exit 1
bad=0

cat >writes.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
/* writes PLACE CODE: opens files in PLACE on MPI_COMM_SELF for writing, which must give this code. */
int main(int argc, char **argv) {
    char path[4096];
    tutti_file *f = NULL;
    tutti_dataset *d = NULL;
    tutti_exodus *x = NULL;
    int bad = 0, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *place = argv[1], *id = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    const tutti_err want = atoi(argv[2]) ? TUTTI_ERR_STATE : TUTTI_OK;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    snprintf(path, sizeof path, "%s/file.%s.%d", place, id ? id : "", rank);
    bad += tutti_file_open(MPI_COMM_SELF, path, mode, NULL, &f) != want;
    puts(tutti_last_message());
    if (f) bad += tutti_file_close(&f) != TUTTI_OK;
    snprintf(path, sizeof path, "%s/data.%s.%d", place, id ? id : "", rank);
    bad += tutti_dataset_open(MPI_COMM_SELF, path, mode, NULL, &d) != want;
    if (d) bad += tutti_dataset_close(&d) != TUTTI_OK;
    snprintf(path, sizeof path, "%s/mesh.%s.%d.e", place, id ? id : "", rank);
    bad += tutti_exodus_create(MPI_COMM_SELF, path, NULL, &x) != want;
    if (x) (void)tutti_exodus_close(&x);
    bad += tutti_file_open(MPI_COMM_SELF, argv[0], TUTTI_READ, NULL, &f) != TUTTI_OK;
    if (f) bad += tutti_file_close(&f) != TUTTI_OK;
    if (bad) printf("%d calls: %s\n", bad, tutti_last_message());
    MPI_Finalize();
    return bad != 0;
}
END
"mpicc.$TUTTI_MPI" -I"$top/include" writes.c -o writes -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" || exit 1

# try WHAT PATTERN command...: check that the command succeeds and that its output matches the pattern ('': any)
try() {
    what=$1 pattern=$2
    shift 2
    if ! "$@" >out 2>&1 || ! grep -q "$pattern" out; then
        echo "$what:"
        cat out
        bad=1
    fi
}
if command -v "mpicc.$other" >/dev/null; then
    try 'the other launcher' 'MPI_COMM_WORLD has 1 rank, but .* started 2 processes' "$top/scripts/mpirun.sh" "$other" 2 ./writes . 1
    try 'the other launcher, 1 rank' '' "$top/scripts/mpirun.sh" "$other" 1 ./writes . 0
    try 'independent processes' '' env TUTTI_SINGLE_RANK=1 "$top/scripts/mpirun.sh" "$other" 2 ./writes . 0
    try 'one rank inside a job of the other' '' env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 PMI_SIZE=4 PMI_RANK=0 \
        "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./writes . 0
fi
try 'MPI_COMM_SELF among two ranks' '' "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./writes . 0
try 'a single process' '' ./writes . 0
try 'a batch script of Slurm' '' env SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0 ./writes . 0
try 'srun with another MPI' 'srun started 4 processes' env SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 ./writes . 1
exit $bad
