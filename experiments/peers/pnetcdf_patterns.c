/* The time that a plain PnetCDF program needs to write and to read record variables, from open to close:
 * blocking, one call per variable and record; and non-blocking, one wait per record.  Does not use Tutti; for
 * compare_mpiio.py --program.
 *
 *   pnetcdf_patterns FILE [--size BYTES] [--rounds N]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "measure/standalone.h"

enum { VARIABLES = 4, RECORDS = 8 };
static const char *path;
static MPI_Offset rows, columns, grid[2], at[2];

static void check_call(int code) {
    standalone_check(code == NC_NOERR, ncmpi_strerror(code));
}

static void create_objects(int *file, int *variable) {
    int dims[3];
    check_call(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, file));
    check_call(ncmpi_def_dim(*file, "time", NC_UNLIMITED, &dims[0]));
    check_call(ncmpi_def_dim(*file, "y", rows * grid[0], &dims[1]));
    check_call(ncmpi_def_dim(*file, "x", columns * grid[1], &dims[2]));
    for (int v = 0; v < VARIABLES; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        check_call(ncmpi_def_var(*file, name, NC_DOUBLE, 3, dims, &variable[v]));
    }
    check_call(ncmpi_enddef(*file));
}

static void transfer_bytes(int file, int variable, int record, int write, int later, double *buf) {
    const MPI_Offset start[] = {record, rows * at[0], columns * at[1]};
    const MPI_Offset count[] = {1, rows, columns};
    if (later)
        check_call(write ? ncmpi_iput_vara_double(file, variable, start, count, buf, NULL)
                         : ncmpi_iget_vara_double(file, variable, start, count, buf, NULL));
    else
        check_call(write ? ncmpi_put_vara_double_all(file, variable, start, count, buf)
                         : ncmpi_get_vara_double_all(file, variable, start, count, buf));
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const int later = m->data != NULL, write = strcmp(v->name, "write") == 0;
    const size_t n = (size_t)(rows * columns);
    double *buf = standalone_alloc(VARIABLES * n, sizeof *buf);
    int file, variable[VARIABLES] = {0, 1, 2, 3};
    for (size_t i = 0; i < VARIABLES * n && write; i++) buf[i] = (double)i + 1e9 * standalone_rank;
    const double start = standalone_together();
    if (write)
        create_objects(&file, variable);
    else
        check_call(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    for (int record = 0; record < RECORDS; record++) {
        for (int k = 0; k < VARIABLES; k++)
            transfer_bytes(file, variable[k], record, write, later, buf + (size_t)k * n);
        if (later) check_call(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    }
    check_call(ncmpi_close(file));
    value[0] = standalone_together() - start;
    for (size_t i = 0; i < VARIABLES * n; i++)
        if (buf[i] != (double)i + 1e9 * standalone_rank) standalone_fail("wrong values were read");
    free(buf);
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", NULL};
    static const char *const titles[] = {"pnetcdf-records", "pnetcdf-iput"};
    int dims[2] = {0};
    long size = 8 << 20, rounds = 1;
    char more[48];
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 4096, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {0}};
    const standalone program = {"pnetcdf_patterns", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    path = argv[0];
    MPI_Dims_create(standalone_ranks, 2, dims);
    for (int d = 0; d < 2; d++) grid[d] = dims[d];
    at[0] = standalone_rank / dims[1];
    at[1] = standalone_rank % dims[1];
    rows = columns = (MPI_Offset)sqrt((double)size / 8 / VARIABLES / RECORDS);
    snprintf(more, sizeof more, ", \"bytes\": %.0f",
             8.0 * (double)(rows * columns) * VARIABLES * RECORDS * standalone_ranks);
    for (int later = 0; later < 2; later++) {
        measure m = {.title = titles[later],
                     .values = values,
                     .rounds = (int)rounds,
                     .data = later ? &rows : NULL,
                     .run = run_case};
        measure_add(&m, "write", NULL);
        measure_add(&m, "read", NULL);
        measure_rounds(&m);
        standalone_report(&m, more);
        if (standalone_rank == 0) unlink(path);
        standalone_together();
    }
    return standalone_end_mpi();
}
