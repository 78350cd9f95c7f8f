/* A program that uses only netCDF-4: netcdf_shapes FILE
 *
 * Parallel netCDF-4 (on HDF5): contiguous, chunked, compressed and record variables, collective and independent
 * access, strided access in which some ranks have no data, a variable defined later; everything is read back in
 * another decomposition.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { NY = 20, NX = 18, RECORDS = 4, VARS = 4 };
/* Kinds of variables. */
enum { PLAIN, CHUNKED, PACKED, RECORD };

static int rank, size, failures;

#define OK(call)                                                                 \
    do {                                                                         \
        const int code_ = (call);                                                \
        if (code_ != NC_NOERR) {                                                 \
            fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, __LINE__, #call, \
                    nc_strerror(code_));                                         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                        \
        }                                                                        \
    } while (0)

typedef struct {
    size_t start[3], count[3];
} box;

static float value(int var, size_t record, size_t y, size_t x) {
    return (float)(var * 100000 + (int)record * 10000) + (float)(y * NX + x);
}

static box part(int r, int columns, size_t record) {
    const size_t n = columns ? NX : NY, p = (size_t)size;
    const size_t lo = n * (size_t)r / p, hi = n * (size_t)(r + 1) / p;
    if (columns) return (box){{record, 0, lo}, {1, NY, hi - lo}};
    return (box){{record, lo, 0}, {1, hi - lo, NX}};
}

static float *make_objects(int var, const box *b) {
    float *data = malloc(sizeof *data * (b->count[1] * b->count[2] + 1)), *at = data;
    for (size_t y = 0; y < b->count[1]; y++)
        for (size_t x = 0; x < b->count[2]; x++)
            *at++ = value(var, b->start[0], b->start[1] + y, b->start[2] + x);
    return data;
}

static int define(const char *path, int *var) {
    const size_t chunk[2] = {7, 5};
    int nc, dim[3];
    OK(nc_create_par(path, NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &nc));
    OK(nc_def_dim(nc, "time", NC_UNLIMITED, &dim[0]));
    OK(nc_def_dim(nc, "y", NY, &dim[1]));
    OK(nc_def_dim(nc, "x", NX, &dim[2]));
    for (int i = 0; i < VARS; i++) {
        char name[8];
        const int fixed = i != RECORD;
        snprintf(name, sizeof name, "v%d", i);
        OK(nc_def_var(nc, name, NC_FLOAT, fixed ? 2 : 3, dim + fixed, &var[i]));
        if (i == CHUNKED || i == PACKED) OK(nc_def_var_chunking(nc, var[i], NC_CHUNKED, chunk));
        if (i == PACKED) OK(nc_def_var_deflate(nc, var[i], 1, 1, 3));
    }
    OK(nc_enddef(nc));
    return nc;
}

static void put_all(int nc, const int *var) {
    for (int v = 0; v < VARS; v++) {
        const int together = v != PLAIN;
        OK(nc_var_par_access(nc, var[v], together ? NC_COLLECTIVE : NC_INDEPENDENT));
        for (size_t r = 0; r < (v == RECORD ? RECORDS : 1); r++) {
            const box b = part(rank, v % 2, r);
            const int skip = v != RECORD;
            float *data = make_objects(v, &b);
            OK(nc_put_vara_float(nc, var[v], b.start + skip, b.count + skip, data));
            free(data);
        }
    }
}

/* Write every second column of a variable that is big-endian in the file; the last rank has no data. */
static void put_late(int nc) {
    const size_t rows = (size_t)(NY / size), alone = size == 1;
    const size_t start[2] = {rows * (size_t)rank, 0};
    const size_t count[2] = {rank < size - 1 || alone ? rows : 0, NX / 2};
    const ptrdiff_t stride[2] = {1, 2};
    float *data = malloc(sizeof *data * (rows * NX + 1));
    int var, dim[2];
    for (size_t i = 0; i < rows * NX; i++) data[i] = (float)(1000 * rank) + (float)i;
    OK(nc_redef(nc));
    OK(nc_inq_dimid(nc, "y", &dim[0]));
    OK(nc_inq_dimid(nc, "x", &dim[1]));
    OK(nc_def_var(nc, "late", NC_DOUBLE, 2, dim, &var));
    OK(nc_def_var_endian(nc, var, NC_ENDIAN_BIG));
    OK(nc_enddef(nc));
    OK(nc_var_par_access(nc, var, NC_COLLECTIVE));
    OK(nc_put_vars_float(nc, var, start, count, stride, data));
    free(data);
}

static void get_all(const char *path, const int *var) {
    int nc;
    OK(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &nc));
    for (int v = 0; v < VARS; v++) {
        OK(nc_var_par_access(nc, var[v], v % 2 ? NC_INDEPENDENT : NC_COLLECTIVE));
        for (size_t r = 0; r < (v == RECORD ? RECORDS : 1); r++) {
            const box b = part(size - 1 - rank, 1 - v % 2, r);
            const int skip = v != RECORD;
            float *right = make_objects(v, &b),
                  *data = calloc(b.count[1] * b.count[2] + 1, sizeof *data);
            int wrong = 0;
            OK(nc_get_vara_float(nc, var[v], b.start + skip, b.count + skip, data));
            for (size_t i = 0; i < b.count[1] * b.count[2]; i++) wrong += data[i] != right[i];
            if (wrong)
                fprintf(stderr, "rank %d: %d values of variable %d are wrong\n", rank, wrong, v);
            failures += wrong > 0;
            free(right);
            free(data);
        }
    }
    OK(nc_close(nc));
}

int main(int argc, char **argv) {
    int var[VARS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const int nc = define(argv[1], var);
    put_all(nc, var);
    put_late(nc);
    OK(nc_close(nc));
    get_all(argv[1], var);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures ? 1 : 0;
}
