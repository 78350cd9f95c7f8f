/* A program that uses only PnetCDF: pnetcdf_shapes FILE
 *
 * Fixed and record variables in CDF-5: blocks, strides, mapped memory (varm), flexible calls with an MPI datatype,
 * lists of boxes (varn), nonblocking calls completed by wait_all, cancelled and buffered calls, an error on one rank,
 * independent mode, fill values, a second define mode; then everything is read back in another decomposition.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NY = 24, NX = 15, RECORDS = 5, VARS = 6 };

static int rank, size, failures;

#define OK(call)                                                                 \
    do {                                                                         \
        const int code_ = (call);                                                \
        if (code_ != NC_NOERR) {                                                 \
            fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, __LINE__, #call, \
                    ncmpi_strerror(code_));                                      \
            MPI_Abort(MPI_COMM_WORLD, 1);                                        \
        }                                                                        \
    } while (0)

typedef struct {
    MPI_Offset start[3], count[3];
} box;

static int value(int var, MPI_Offset record, MPI_Offset y, MPI_Offset x) {
    return (int)(var * 1000000 + record * 10000 + y * 100 + x);
}

/* Return part `r` of a record, divided by rows or by columns. */
static box part(int r, int columns, MPI_Offset record) {
    const MPI_Offset n = columns ? NX : NY;
    const MPI_Offset lo = n * r / size, hi = n * (r + 1) / size;
    if (columns) return (box){{record, 0, lo}, {1, NY, hi - lo}};
    return (box){{record, lo, 0}, {1, hi - lo, NX}};
}

static int *make_objects(int var, const box *b) {
    int *data = malloc(sizeof *data * (size_t)(b->count[1] * b->count[2] + 1)), *at = data;
    for (MPI_Offset y = 0; y < b->count[1]; y++)
        for (MPI_Offset x = 0; x < b->count[2]; x++)
            *at++ = value(var, b->start[0], b->start[1] + y, b->start[2] + x);
    return data;
}

static void check_values(int var, const box *b, const int *data, const char *what) {
    int *right = make_objects(var, b), wrong = 0;
    for (MPI_Offset i = 0; i < b->count[1] * b->count[2]; i++) wrong += data[i] != right[i];
    if (wrong)
        fprintf(stderr, "rank %d: %s: %d values of variable %d are wrong\n", rank, what, wrong,
                var);
    failures += wrong > 0;
    free(right);
}

static int define(const char *path, int *var, MPI_Info info) {
    int nc, dim[3];
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &nc));
    OK(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &dim[0]));
    OK(ncmpi_def_dim(nc, "y", NY, &dim[1]));
    OK(ncmpi_def_dim(nc, "x", NX, &dim[2]));
    for (int i = 0; i < VARS; i++) {
        char name[8];
        const int whole = i < 3; /* fixed variables; all others are record variables */
        snprintf(name, sizeof name, "v%d", i);
        OK(ncmpi_def_var(nc, name, i == 1 || i == 4 ? NC_DOUBLE : NC_INT, whole ? 2 : 3,
                         dim + whole, &var[i]));
        OK(ncmpi_put_att_text(nc, var[i], "units", 3, "one"));
    }
    OK(ncmpi_def_var_fill(nc, var[5], 0, NULL));
    OK(ncmpi_enddef(nc));
    return nc;
}

/* Write the variables 0 to 2, which are not record variables. */
static void put_fixed(int nc, const int *var) {
    const box rows = part(rank, 0, 0), columns = part(rank, 1, 0);
    int *data = make_objects(0, &rows);
    OK(ncmpi_put_vara_int_all(nc, var[0], rows.start + 1, rows.count + 1, data));
    free(data);
    data = make_objects(1, &columns);
    OK(ncmpi_put_vara_int_all(nc, var[1], columns.start + 1, columns.count + 1, data));
    free(data);
    /* write every size-th row, from transposed memory */
    const MPI_Offset start[2] = {rank < NY ? rank : 0, 0}, stride[2] = {size, 1};
    const MPI_Offset count[2] = {rank < NY ? (NY - rank + size - 1) / size : 0, NX},
                     map[2] = {1, count[0]};
    data = malloc(sizeof *data * (size_t)(count[0] * NX + 1));
    for (MPI_Offset y = 0; y < count[0]; y++)
        for (MPI_Offset x = 0; x < NX; x++)
            data[x * count[0] + y] = value(2, 0, rank + y * size, x);
    OK(ncmpi_put_varm_int_all(nc, var[2], start, count, stride, map, data));
    free(data);
}

/* Write the record variables.  Variable 3: nonblocking, all records at once; variable 4: with ghost cells in memory;
 * variable 5: buffered, and one more record in independent mode. */
static void put_records(int nc, const int *var) {
    int request[RECORDS], status[RECORDS], *data[RECORDS];
    for (int r = 0; r < RECORDS; r++) {
        const box b = part((rank + r) % size, r % 2, r);
        data[r] = make_objects(3, &b);
        OK(ncmpi_iput_vara_int(nc, var[3], b.start, b.count, data[r], &request[r]));
    }
    OK(ncmpi_wait_all(nc, RECORDS, request, status));
    for (int r = 0; r < RECORDS; r++) {
        OK(status[r]);
        free(data[r]);
    }
    for (int r = 0; r < RECORDS; r++) {
        const box b = part(rank, 1, r);
        const int full[2] = {NY + 2, (int)b.count[2] + 2}, sub[2] = {NY, (int)b.count[2]},
                  at[2] = {1, 1};
        int *inner = make_objects(4, &b),
            *ghosts = calloc((size_t)(full[0] * full[1]), sizeof *ghosts);
        MPI_Datatype type;
        for (int y = 0; y < NY; y++)
            memcpy(ghosts + (y + 1) * full[1] + 1, inner + y * sub[1],
                   sizeof *inner * (size_t)sub[1]);
        if (sub[1] > 0) {
            MPI_Type_create_subarray(2, full, sub, at, MPI_ORDER_C, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
        OK(ncmpi_put_vara_all(nc, var[4], b.start, b.count, ghosts, sub[1] > 0,
                              sub[1] > 0 ? type : MPI_INT));
        if (sub[1] > 0) MPI_Type_free(&type);
        free(inner);
        free(ghosts);
    }
}

/* Write variable 3 again: a list of boxes on all ranks except the last, and a cancelled request.  Variable 0: rank 0 is
 * out of bounds, and only its call fails. */
static void put_odds(int nc, const int *var) {
    const box b = part(rank, 1, 1), rows = part(rank, 0, 0);
    MPI_Offset start[2][3] = {{1, 0, b.start[2]}, {1, NY / 2, b.start[2]}};
    MPI_Offset count[2][3] = {{1, NY / 2, b.count[2]}, {1, NY / 2, b.count[2]}};
    MPI_Offset *starts[2] = {start[0], start[1]}, *counts[2] = {count[0], count[1]};
    int *data = make_objects(3, &b), request, junk = -1;
    OK(ncmpi_put_varn_int_all(nc, var[3], rank < size - 1 ? 2 : 0, starts, counts, data));
    free(data);
    const MPI_Offset at[3] = {0, 0, rank % NX}, one[3] = {1, 1, 1}, out[2] = {NY, 0};
    OK(ncmpi_iput_vara_int(nc, var[3], at, one, &junk, &request));
    OK(ncmpi_cancel(nc, 1, &request, NULL));
    data = make_objects(0, &rows);
    const int code = ncmpi_put_vara_int_all(nc, var[0], rank ? rows.start + 1 : out,
                                            rank ? rows.count + 1 : one, data);
    if (code != (rank ? NC_NOERR : NC_EINVALCOORDS)) {
        fprintf(stderr, "rank %d: out of bounds on rank 0 gave %s\n", rank, ncmpi_strerrno(code));
        failures++;
    }
    free(data);
}

static void put_alone(int nc, const int *var) {
    const MPI_Offset buffer_bytes = 4 * NX * NY * RECORDS;
    OK(ncmpi_buffer_attach(nc, buffer_bytes));
    for (int r = 0; r < RECORDS; r++) {
        const box b = part(rank, 0, r);
        int *data = make_objects(5, &b);
        OK(ncmpi_bput_vara_int(nc, var[5], b.start, b.count, data, NULL));
        memset(data, 0, sizeof *data);
        free(data);
    }
    OK(ncmpi_wait_all(nc, NC_REQ_ALL, NULL, NULL));
    OK(ncmpi_buffer_detach(nc));
    OK(ncmpi_begin_indep_data(nc));
    if (rank == size - 1) {
        const box b = {{RECORDS, 0, 0}, {1, NY, NX}};
        int *data = make_objects(5, &b);
        OK(ncmpi_put_vara_int(nc, var[5], b.start, b.count, data));
        free(data);
    }
    OK(ncmpi_end_indep_data(nc));
    OK(ncmpi_sync(nc));
}

static void redefine(int nc) {
    OK(ncmpi_redef(nc));
    OK(ncmpi_put_att_text(
        nc, NC_GLOBAL, "history", 400,
        "a header that grows moves what follows it                                      "
        "                                                                               "
        "                                                                               "
        "                                                                               "
        "                                                                                       "));
    OK(ncmpi_enddef(nc));
}

static void get_all(const char *path, const int *var) {
    int nc, request[RECORDS], *data[RECORDS];
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &nc));
    for (int v = 0; v < VARS; v++) {
        for (int r = 0; r < (v < 3 ? 1 : RECORDS); r++) {
            const box b = part(size - 1 - rank, v % 2 == 0, r);
            const int skip = v < 3;
            data[r] = calloc((size_t)(b.count[1] * b.count[2] + 1), sizeof **data);
            if (v == 4)
                OK(ncmpi_iget_vara_int(nc, var[v], b.start, b.count, data[r], &request[r]));
            else
                OK(ncmpi_get_vara_int_all(nc, var[v], b.start + skip, b.count + skip, data[r]));
        }
        if (v == 4) OK(ncmpi_wait_all(nc, RECORDS, request, NULL));
        for (int r = 0; r < (v < 3 ? 1 : RECORDS); r++) {
            const box b = part(size - 1 - rank, v % 2 == 0, r);
            check_values(v, &b, data[r], v < 3 ? "fixed" : "records");
            free(data[r]);
        }
    }
    OK(ncmpi_close(nc));
}

int main(int argc, char **argv) {
    int var[VARS];
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", "512");
    MPI_Info_set(info, "cb_buffer_size", "65536");
    const int nc = define(argv[1], var, info);
    put_fixed(nc, var);
    put_records(nc, var);
    put_odds(nc, var);
    put_alone(nc, var);
    redefine(nc);
    OK(ncmpi_close(nc));
    MPI_Info_free(&info);
    get_all(argv[1], var);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures ? 1 : 0;
}
