/* The time that a plain parallel HDF5 program needs to write and to read 3-D datasets, from open to close:
 * contiguous and chunked, one block per rank, and many small datasets of one shape; collective, and
 * independent with objects aligned to 1 MiB, which is HDF5's fastest setting if each rank has a contiguous
 * part (hdf5-slabs: one slab per rank).  Does not use Tutti; for compare_mpiio.py --program.
 *
 *   hdf5_patterns FILE [--size BYTES] [--rounds N]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "measure/standalone.h"

typedef struct {
    const char *pattern;
    int sets, chunked, independent, slabs;
} setting;

static const char *path;
static hsize_t side[3]; /* elements of a rank's block along each dimension */
/* division of the array into blocks; position of this rank's block */
static hsize_t grid[3], at[3];

static hid_t check_call(hid_t id, const char *what) {
    standalone_check(id >= 0, what);
    return id;
}

static hid_t open_file(const setting *s, int write) {
    hid_t access = check_call(H5Pcreate(H5P_FILE_ACCESS), "property list");
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    if (s->independent) H5Pset_alignment(access, 65536, 1 << 20);
    hid_t file = write ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                       : H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return check_call(file, "open");
}

static void transfer_bytes(hid_t file, const char *name, const setting *s, int write, double *buf) {
    hsize_t shape[3], start[3], count[3];
    for (int d = 0; d < 3; d++) {
        shape[d] = side[d] * grid[d];
        start[d] = side[d] * at[d];
        count[d] = side[d];
    }
    hid_t space = check_call(H5Screate_simple(3, shape, NULL), "space");
    hid_t memory = check_call(H5Screate_simple(3, count, NULL), "space");
    hid_t create = check_call(H5Pcreate(H5P_DATASET_CREATE), "property list");
    hid_t how = check_call(H5Pcreate(H5P_DATASET_XFER), "property list");
    const hsize_t chunk[3] = {side[0] / 2 + 1, side[1] / 2 + 1, side[2] / 2 + 1};
    if (s->chunked) H5Pset_chunk(create, 3, chunk);
    H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
    H5Pset_dxpl_mpio(how, s->independent ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    hid_t set = check_call(
        write ? H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT)
              : H5Dopen2(file, name, H5P_DEFAULT),
        name);
    const herr_t code = write ? H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, how, buf)
                              : H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, how, buf);
    if (code < 0) standalone_fail("%s", write ? "write" : "read");
    H5Dclose(set);
    H5Pclose(how);
    H5Pclose(create);
    H5Sclose(memory);
    H5Sclose(space);
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const setting *s = m->data;
    const int write = strcmp(v->name, "write") == 0;
    const size_t n = (size_t)(side[0] * side[1] * side[2]);
    double *buf = standalone_alloc(n, sizeof *buf);
    for (size_t i = 0; i < n && write; i++) buf[i] = (double)i + 1e9 * standalone_rank;
    const double start = standalone_together();
    hid_t file = open_file(s, write);
    for (int k = 0; k < s->sets; k++) {
        char name[16];
        snprintf(name, sizeof name, "set%d", k);
        transfer_bytes(file, name, s, write, buf);
    }
    H5Fclose(file);
    value[0] = standalone_together() - start;
    for (size_t i = 0; i < n; i++)
        if (buf[i] != (double)i + 1e9 * standalone_rank) standalone_fail("wrong values were read");
    free(buf);
}

static void measure_setting(setting *s, long size, int rounds) {
    static const char *const values[] = {"seconds", NULL};
    int dims[3] = {0, s->slabs, s->slabs}, rest = standalone_rank;
    char more[48];
    MPI_Dims_create(standalone_ranks, 3, dims);
    for (int d = 2; d >= 0; d--) {
        grid[d] = (hsize_t)dims[d];
        at[d] = (hsize_t)(rest % dims[d]);
        rest /= dims[d];
        side[d] = (hsize_t)cbrt((double)size / 8 / s->sets);
    }
    measure m = {
        .title = s->pattern, .values = values, .rounds = rounds, .data = s, .run = run_case};
    measure_add(&m, "write", NULL);
    measure_add(&m, "read", NULL);
    measure_rounds(&m);
    snprintf(more, sizeof more, ", \"bytes\": %.0f",
             8.0 * (double)(side[0] * side[1] * side[2]) * s->sets * standalone_ranks);
    standalone_report(&m, more);
    if (standalone_rank == 0) unlink(path);
    standalone_together();
}

int main(int argc, char **argv) {
    setting settings[] = {{"hdf5-contiguous", 1, 0, 0, 0},
                          {"hdf5-chunked", 1, 1, 0, 0},
                          {"hdf5-32-sets", 32, 0, 0, 0},
                          {"hdf5-slabs", 1, 0, 0, 1},
                          {"hdf5-slabs-independent", 1, 0, 1, 1}};
    long size = 8 << 20, rounds = 1;
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 4096, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {0}};
    const standalone program = {"hdf5_patterns", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    path = argv[0];
    for (int i = 0; i < 5; i++) measure_setting(&settings[i], size, (int)rounds);
    return standalone_end_mpi();
}
