/* How long a plain PnetCDF program takes to write and to read record variables, open to close: blocking, a call
 * a variable and record; and non-blocking, one wait a record.  It knows nothing of Tutti; the output is that
 * of mpiio_patterns, for bench/compare_mpiio.py --program.
 *
 *   pnetcdf_patterns FILE [--size BYTES]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 4, RECORDS = 8 };
static int rank, ranks;
static MPI_Offset rows, columns, grid[2], at[2];

static void must(int code) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "pnetcdf_patterns: %s\n", ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double together(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static void create(const char *path, int *file, int *variable) {
    int dims[3];
    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, file));
    must(ncmpi_def_dim(*file, "time", NC_UNLIMITED, &dims[0]));
    must(ncmpi_def_dim(*file, "y", rows * grid[0], &dims[1]));
    must(ncmpi_def_dim(*file, "x", columns * grid[1], &dims[2]));
    for (int v = 0; v < VARIABLES; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        must(ncmpi_def_var(*file, name, NC_DOUBLE, 3, dims, &variable[v]));
    }
    must(ncmpi_enddef(*file));
}

static void move(int file, int variable, int record, int write, int later, double *buf) {
    const MPI_Offset start[] = {record, rows * at[0], columns * at[1]};
    const MPI_Offset count[] = {1, rows, columns};
    if (later)
        must(write ? ncmpi_iput_vara_double(file, variable, start, count, buf, NULL)
                   : ncmpi_iget_vara_double(file, variable, start, count, buf, NULL));
    else
        must(write ? ncmpi_put_vara_double_all(file, variable, start, count, buf)
                   : ncmpi_get_vara_double_all(file, variable, start, count, buf));
}

static void measure(const char *path, const char *pattern, int later) {
    const size_t n = (size_t)(rows * columns);
    double *buf = malloc(VARIABLES * n * sizeof *buf);
    int file, variable[VARIABLES];
    if (!buf) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    for (int write = 1; write >= 0; write--) {
        for (size_t i = 0; i < VARIABLES * n; i++) buf[i] = write ? (double)i + 1e9 * rank : 0;
        const double start = together();
        if (write)
            create(path, &file, variable);
        else
            must(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
        for (int record = 0; record < RECORDS; record++) {
            for (int v = 0; v < VARIABLES; v++)
                move(file, variable[v], record, write, later, buf + (size_t)v * n);
            if (later) must(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
        }
        must(ncmpi_close(file));
        const double seconds = together() - start;
        for (size_t i = 0; i < VARIABLES * n; i++)
            if (buf[i] != (double)i + 1e9 * rank) must(NC_EFILE);
        if (rank == 0)
            printf("%s %s %.0f %.6f\n", pattern, write ? "write" : "read",
                   (double)(n * sizeof *buf) * VARIABLES * RECORDS * ranks, seconds);
    }
    if (rank == 0) unlink(path);
    free(buf);
}

int main(int argc, char **argv) {
    int dims[2] = {0};
    long size = 8 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 3 && strcmp(argv[2], "--size") == 0) size = strtol(argv[3], NULL, 10);
    MPI_Dims_create(ranks, 2, dims);
    for (int d = 0; d < 2; d++) grid[d] = dims[d];
    at[0] = rank / dims[1];
    at[1] = rank % dims[1];
    rows = columns = (MPI_Offset)sqrt((double)size / 8 / VARIABLES / RECORDS);
    measure(argv[1], "pnetcdf-records", 0);
    measure(argv[1], "pnetcdf-iput", 1);
    MPI_Finalize();
    return 0;
}
