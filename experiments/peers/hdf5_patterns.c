/* How long a plain parallel HDF5 program takes to write and to read 3-D datasets, open to close: contiguous
 * and chunked, a block a rank, and many small datasets of one shape.  It knows nothing of Tutti; the output is that
 * of mpiio_patterns, for bench/compare_mpiio.py --program.
 *
 *   hdf5_patterns FILE [--size BYTES]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static hsize_t side;           /* elements of a rank's block along each dimension */
static hsize_t grid[3], at[3]; /* how the array is cut, and this rank's block */

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "hdf5_patterns: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static hid_t must(hid_t id, const char *what) {
    if (id < 0) fail(what);
    return id;
}

static hid_t open_file(const char *path, int write) {
    hid_t access = must(H5Pcreate(H5P_FILE_ACCESS), "property list");
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = write ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                       : H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return must(file, "open");
}

static void transfer(hid_t file, const char *name, int chunked, int write, double *buf) {
    hsize_t shape[3], start[3], count[3];
    for (int d = 0; d < 3; d++) {
        shape[d] = side * grid[d];
        start[d] = side * at[d];
        count[d] = side;
    }
    hid_t space = must(H5Screate_simple(3, shape, NULL), "space");
    hid_t memory = must(H5Screate_simple(3, count, NULL), "space");
    hid_t create = must(H5Pcreate(H5P_DATASET_CREATE), "property list");
    hid_t how = must(H5Pcreate(H5P_DATASET_XFER), "property list");
    const hsize_t chunk[3] = {side / 2 + 1, side / 2 + 1, side / 2 + 1};
    if (chunked) H5Pset_chunk(create, 3, chunk);
    H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    hid_t set = must(
        write ? H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT)
              : H5Dopen2(file, name, H5P_DEFAULT),
        name);
    const herr_t code = write ? H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, how, buf)
                              : H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, how, buf);
    if (code < 0) fail(write ? "write" : "read");
    H5Dclose(set);
    H5Pclose(how);
    H5Pclose(create);
    H5Sclose(memory);
    H5Sclose(space);
}

static double together(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static void measure(const char *path, const char *pattern, int sets, int chunked) {
    const size_t n = (size_t)(side * side * side);
    double *buf = malloc(n * sizeof *buf);
    if (!buf) fail("out of memory");
    for (int write = 1; write >= 0; write--) {
        for (size_t i = 0; i < n; i++) buf[i] = write ? (double)i + 1e9 * rank : 0;
        const double start = together();
        hid_t file = open_file(path, write);
        for (int s = 0; s < sets; s++) {
            char name[16];
            snprintf(name, sizeof name, "set%d", s);
            transfer(file, name, chunked, write, buf);
        }
        H5Fclose(file);
        const double seconds = together() - start;
        for (size_t i = 0; i < n; i++)
            if (buf[i] != (double)i + 1e9 * rank) fail("wrong values");
        if (rank == 0)
            printf("%s %s %.0f %.6f\n", pattern, write ? "write" : "read",
                   (double)(n * sizeof *buf) * sets * ranks, seconds);
    }
    if (rank == 0) unlink(path);
    free(buf);
}

int main(int argc, char **argv) {
    int dims[3] = {0}, rest;
    long size = 8 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) fail("usage: hdf5_patterns FILE [--size BYTES]");
    if (argc > 3 && strcmp(argv[2], "--size") == 0) size = strtol(argv[3], NULL, 10);
    MPI_Dims_create(ranks, 3, dims);
    rest = rank;
    for (int d = 2; d >= 0; d--) {
        grid[d] = (hsize_t)dims[d];
        at[d] = (hsize_t)(rest % dims[d]);
        rest /= dims[d];
    }
    side = (hsize_t)cbrt((double)size / 8);
    measure(argv[1], "hdf5-contiguous", 1, 0);
    measure(argv[1], "hdf5-chunked", 1, 1);
    side = (hsize_t)cbrt((double)size / 8 / 32);
    measure(argv[1], "hdf5-32-sets", 32, 0);
    MPI_Finalize();
    return 0;
}
