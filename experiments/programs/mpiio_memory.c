/* The memory of a plain MPI-IO program that writes interleaved pieces of 512 bytes.  The program
 * reports the maximum proportional share (PSS: pages shared by n processes count 1/n) of each
 * process, in total and beyond that before the files were opened, and the memory kept after they
 * were closed.  It does not use Tutti; run it with and without libtutti-mpiio.so.
 *
 *   mpiio_memory FILE [--size BYTES] [--files N]
 *
 *   --size    bytes per rank
 *   --files   number of files open at the same time; all bytes are written to each
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "measure/standalone.h"

static atomic_int over;
static atomic_long most;

static long read_pss(void) {
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "Pss:", 4) == 0) kib = strtol(line + 4, NULL, 10);
    fclose(f);
    return kib;
}

static void *watch_memory(void *unused) {
    (void)unused;
    while (!atomic_load(&over)) {
        const long now = read_pss();
        if (now > atomic_load(&most)) atomic_store(&most, now);
        usleep(5000);
    }
    return NULL;
}

static long files = 1;

static void file_name(const char *path, long i, char name[4096]) {
    snprintf(name, 4096, "%s.%ld", path, i);
}

static void write_file(const char *path, long size, const char *buf, MPI_File *f) {
    enum { PIECE = 512 };
    const int rank = standalone_rank, ranks = standalone_ranks;
    const MPI_Aint at = (MPI_Aint)PIECE * rank;
    const int one = 1;
    MPI_Datatype run, view;
    MPI_Type_create_hvector((int)(size / PIECE), PIECE, (MPI_Aint)PIECE * ranks, MPI_BYTE, &run);
    MPI_Type_create_hindexed(1, &one, &at, run, &view);
    MPI_Type_commit(&view);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, f) ||
        MPI_File_set_view(*f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL) ||
        MPI_File_write_all(*f, buf, (int)size, MPI_BYTE, MPI_STATUS_IGNORE))
        standalone_fail("cannot write '%s'", path);
    MPI_Type_free(&view);
    MPI_Type_free(&run);
}

static void write_files(const char *path, long size) {
    char name[4096];
    MPI_File *f = standalone_alloc((size_t)files, sizeof *f);
    char *buf = standalone_alloc((size_t)size, 1);
    memset(buf, standalone_rank, (size_t)size);
    for (long i = 0; i < files; i++) {
        file_name(path, i, name);
        write_file(name, size, buf, &f[i]);
    }
    for (long i = 0; i < files; i++) MPI_File_close(&f[i]);
    free(buf);
    free(f);
}

static void run_program(measure *m, measure_variant *v, double *value) {
    pthread_t watcher;
    (void)v;
    standalone_together();
    const long before = read_pss();
    standalone_check(pthread_create(&watcher, NULL, watch_memory, NULL) == 0,
                     "cannot start a thread");
    write_files(m->data, *(const long *)v->what);
    standalone_together();
    atomic_store(&over, 1);
    pthread_join(watcher, NULL);
    const double local[3] = {1024.0 * (double)atomic_load(&most),
                             1024.0 * (double)(atomic_load(&most) - before),
                             1024.0 * (double)(read_pss() - before)};
    for (int i = 0; i < 6; i++)
        value[i] = i % 2 ? standalone_slowest(local[i / 2])
                         : standalone_sum(local[i / 2]) / standalone_ranks;
}

int main(int argc, char **argv) {
    static const char *const values[] = {"pss_mean_bytes",
                                         "pss_largest_bytes",
                                         "added_mean_bytes",
                                         "added_largest_bytes",
                                         "kept_mean_bytes",
                                         "kept_largest_bytes",
                                         NULL};
    long size = 1 << 20;
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 512, 1 << 30},
                                         {"--files", OPTION_NUMBER, &files, 1, 0},
                                         {0}};
    const standalone program = {"mpiio_memory", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    size -= size % 512;
    measure m = {
        .title = "memory", .values = values, .rounds = 1, .data = argv[0], .run = run_program};
    measure_add(&m, "MPI_File_write_all", &size);
    measure_rounds(&m);
    standalone_report(&m, "");
    for (long i = 0; standalone_rank == 0 && i < files; i++) {
        char name[4096];
        file_name(argv[0], i, name);
        unlink(name);
    }
    return standalone_end_mpi();
}
