/* How much memory a plain MPI-IO program takes while it writes pieces of 512 bytes dealt in turn: the most
 * that was seen of each process's share (PSS: pages that n processes share count 1/n), less what it
 * had before the file was opened.  It knows nothing of Tutti; run it with and without the drop-in.
 *
 *   mpiio_memory FILE [BYTES a rank]
 *
 * Output: mean and greatest KiB over the ranks, in all and beyond the beginning.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int over;
static atomic_long most;

static long pss(void) {
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "Pss:", 4) == 0) kib = strtol(line + 4, NULL, 10);
    fclose(f);
    return kib;
}

static void *watch(void *unused) {
    (void)unused;
    while (!atomic_load(&over)) {
        const long now = pss();
        if (now > atomic_load(&most)) atomic_store(&most, now);
        usleep(5000);
    }
    return NULL;
}

static void write_file(const char *path, int rank, int ranks, long size) {
    enum { PIECE = 512 };
    const MPI_Aint at = (MPI_Aint)PIECE * rank;
    const int one = 1;
    MPI_Datatype run, view;
    MPI_File f;
    char *buf = malloc((size_t)size);
    if (!buf) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(buf, rank, (size_t)size);
    MPI_Type_create_hvector((int)(size / PIECE), PIECE, (MPI_Aint)PIECE * ranks, MPI_BYTE, &run);
    MPI_Type_create_hindexed(1, &one, &at, run, &view);
    MPI_Type_commit(&view);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f) ||
        MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL) ||
        MPI_File_write_all(f, buf, (int)size, MPI_BYTE, MPI_STATUS_IGNORE))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_close(&f);
    MPI_Type_free(&view);
    MPI_Type_free(&run);
    free(buf);
}

int main(int argc, char **argv) {
    int rank, ranks;
    pthread_t watcher;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const long size = argc > 2 ? strtol(argv[2], NULL, 10) / 512 * 512 : 1 << 20;
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = pss();
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    write_file(argv[1], rank, ranks, size);
    MPI_Barrier(MPI_COMM_WORLD);
    atomic_store(&over, 1);
    pthread_join(watcher, NULL);
    const long mine[2] = {atomic_load(&most), atomic_load(&most) - before};
    long sum[2], greatest[2];
    MPI_Reduce(mine, sum, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, greatest, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("PSS KiB a process: mean %ld, greatest %ld; beyond the beginning: mean %ld, "
               "greatest %ld\n",
               sum[0] / ranks, greatest[0], sum[1] / ranks, greatest[1]);
        unlink(argv[1]);
    }
    MPI_Finalize();
    return 0;
}
