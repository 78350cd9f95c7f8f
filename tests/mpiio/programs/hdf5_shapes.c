/* A program that uses only parallel HDF5: hdf5_shapes FILE
 *
 * Writes datasets with all features that result in different MPI-IO calls (contiguous, chunked, compressed and
 * growing datasets, point selections, ghost cells, many small datasets; collective and independent), closes the file,
 * and reads everything back in another decomposition.  One file stays open until MPI_Finalize.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N0 = 12, N1 = 10, N2 = 14, CELLS = N0 * N1 * N2, STEPS = 4, SMALL = 25, PIECES = 7 };

static int rank, size, failures;

#define OK(call)                                                                     \
    do {                                                                             \
        if ((call) < 0) {                                                            \
            fprintf(stderr, "rank %d, line %d: %s failed\n", rank, __LINE__, #call); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                            \
        }                                                                            \
    } while (0)

static const hsize_t whole[3] = {N0, N1, N2};

/* Return the value of cell (i, j, k) of dataset `set`; it does not depend on the layout. */
static double value(int set, hsize_t i, hsize_t j, hsize_t k) {
    return set * 1e6 + (double)((i * N1 + j) * N2 + k);
}

/* ---- distribution over ranks */

typedef struct {
    hsize_t start[3], count[3];
} box;

/* Return part `r` of the array, divided along dimension `d` into parts that can be uneven or empty. */
static box slab(int r, int d) {
    box b = {.count = {N0, N1, N2}};
    const hsize_t n = whole[d], part = (n + (hsize_t)size - 1) / (hsize_t)size;
    b.start[d] = part * (hsize_t)r < n ? part * (hsize_t)r : n;
    b.count[d] = n - b.start[d] < part ? n - b.start[d] : part;
    return b;
}

/* Return part `r` of the array, divided into a grid of blocks. */
static box block(int r) {
    int grid[3] = {0};
    box b;
    MPI_Dims_create(size, 3, grid);
    for (int d = 2; d >= 0; r /= grid[d--]) {
        const hsize_t at = (hsize_t)(r % grid[d]), n = whole[d], g = (hsize_t)grid[d];
        b.start[d] = n * at / g;
        b.count[d] = n * (at + 1) / g - b.start[d];
    }
    return b;
}

static hsize_t cells_of(const box *b) {
    return b->count[0] * b->count[1] * b->count[2];
}

static hid_t select_box(hid_t set, const box *b) {
    hid_t space;
    OK(space = H5Dget_space(set));
    if (cells_of(b))
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, b->start, NULL, b->count, NULL));
    else
        OK(H5Sselect_none(space));
    return space;
}

/* The cells of a box in memory, surrounded by ghost cells. */
typedef struct {
    double *data;
    hsize_t dims[3];
    hid_t space;
} field;

static double *cell(const field *f, hsize_t i, hsize_t j, hsize_t k) {
    return &f->data[(i * f->dims[1] + j) * f->dims[2] + k];
}

static field make_field(const box *b, hsize_t ghost, int set) {
    field f = {0};
    hsize_t start[3] = {ghost, ghost, ghost}, n = 1;
    for (int d = 0; d < 3; d++) n *= f.dims[d] = b->count[d] + 2 * ghost + (cells_of(b) == 0);
    f.data = malloc(n * sizeof *f.data);
    for (hsize_t i = 0; i < n; i++) f.data[i] = -1;
    OK(f.space = H5Screate_simple(3, f.dims, NULL));
    if (cells_of(b))
        OK(H5Sselect_hyperslab(f.space, H5S_SELECT_SET, start, NULL, b->count, NULL));
    else
        OK(H5Sselect_none(f.space));
    for (hsize_t i = 0; i < b->count[0] && set >= 0; i++)
        for (hsize_t j = 0; j < b->count[1]; j++)
            for (hsize_t k = 0; k < b->count[2]; k++)
                *cell(&f, i + ghost, j + ghost, k + ghost) =
                    value(set, b->start[0] + i, b->start[1] + j, b->start[2] + k);
    return f;
}

static void check_field(const field *f, const box *b, hsize_t ghost, int set) {
    field right = make_field(b, ghost, set);
    const size_t n = f->dims[0] * f->dims[1] * f->dims[2];
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += f->data[i] != right.data[i];
    if (wrong)
        fprintf(stderr, "rank %d: %zu of %zu cells of set %d are wrong\n", rank, wrong, n, set);
    failures += wrong > 0;
    OK(H5Sclose(right.space));
    free(right.data);
}

/* Create a transfer property list.  how: 0: independent; 1: collective, HDF5 chooses the method; 2: collective, all
 * chunks at once; 3: collective, chunk by chunk; 4: collective by independent MPI-IO calls. */
static hid_t transfer_bytes(int how) {
    hid_t plist;
    OK(plist = H5Pcreate(H5P_DATASET_XFER));
    OK(H5Pset_dxpl_mpio(plist, how ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
    if (how == 2) OK(H5Pset_dxpl_mpio_chunk_opt(plist, H5FD_MPIO_CHUNK_ONE_IO));
    if (how == 3) OK(H5Pset_dxpl_mpio_chunk_opt(plist, H5FD_MPIO_CHUNK_MULTI_IO));
    if (how == 4) OK(H5Pset_dxpl_mpio_collective_opt(plist, H5FD_MPIO_INDIVIDUAL_IO));
    return plist;
}

static void write_box(hid_t set, const box *b, hsize_t ghost, int id, int how) {
    const hid_t plist = transfer_bytes(how), space = select_box(set, b);
    field f = make_field(b, ghost, id);
    OK(H5Dwrite(set, H5T_NATIVE_DOUBLE, f.space, space, plist, f.data));
    free(f.data);
    OK(H5Sclose(f.space));
    OK(H5Sclose(space));
    OK(H5Pclose(plist));
}

static void read_box(hid_t set, const box *b, hsize_t ghost, int id, int how) {
    const hid_t plist = transfer_bytes(how), space = select_box(set, b);
    field f = make_field(b, ghost, -1);
    OK(H5Dread(set, H5T_NATIVE_DOUBLE, f.space, space, plist, f.data));
    check_field(&f, b, ghost, id);
    free(f.data);
    OK(H5Sclose(f.space));
    OK(H5Sclose(space));
    OK(H5Pclose(plist));
}

/* ---- the complete array, in several layouts */

/* Kinds of layout: contiguous, big-endian, chunked, chunked and compressed, chunked with early allocation. */
enum { PLAIN, SWAPPED, CHUNKED, PACKED, EARLY, LAYOUTS };
static const char *const layout_name[] = {"plain", "swapped", "chunked", "packed", "early"};

static hid_t make_set(hid_t file, int layout) {
    const hsize_t chunk[3] = {5, 4, 6};
    hid_t plist, space, set;
    OK(plist = H5Pcreate(H5P_DATASET_CREATE));
    if (layout >= CHUNKED) OK(H5Pset_chunk(plist, 3, chunk));
    if (layout == PACKED) OK(H5Pset_shuffle(plist));
    if (layout == PACKED) OK(H5Pset_deflate(plist, 4));
    if (layout == EARLY) OK(H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY));
    OK(space = H5Screate_simple(3, whole, NULL));
    OK(set = H5Dcreate2(file, layout_name[layout],
                        layout == SWAPPED ? H5T_IEEE_F64BE : H5T_IEEE_F64LE, space, H5P_DEFAULT,
                        plist, H5P_DEFAULT));
    OK(H5Sclose(space));
    OK(H5Pclose(plist));
    return set;
}

static void write_layouts(hid_t file) {
    const box own_box = block(rank), rows = slab(rank, 2);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        const hid_t set = make_set(file, layout);
        write_box(set, layout % 2 ? &own_box : &rows, layout % 3 == 0 ? 2 : 0, layout, 1);
        /* write again with independent access; filters require collective access */
        if (layout != PACKED) write_box(set, layout % 2 ? &rows : &own_box, 0, layout, 0);
        for (int how = 2; how <= 4 && layout >= CHUNKED; how++)
            if (layout != PACKED || how < 4) write_box(set, &own_box, 1, layout, how);
        OK(H5Dclose(set));
    }
}

static void read_layouts(hid_t file) {
    const box own_box = block(size - 1 - rank), planes = slab(rank, 0),
              empty = {.count = {0, 0, 0}};
    for (int layout = 0; layout < LAYOUTS; layout++) {
        hid_t set;
        OK(set = H5Dopen2(file, layout_name[layout], H5P_DEFAULT));
        read_box(set, &planes, 0, layout, 1);
        for (int how = 0; how <= 4; how++) read_box(set, &own_box, 1, layout, how);
        read_box(set, rank ? &own_box : &empty, 0, layout, 1);
        OK(H5Dclose(set));
    }
}

/* ---- a dataset that grows, step by step */

static void append_steps(hid_t file) {
    const hsize_t none[2] = {0, N1}, most[2] = {H5S_UNLIMITED, N1}, chunk[2] = {3, N1};
    const hid_t together = transfer_bytes(1);
    hid_t plist, space, set;
    OK(plist = H5Pcreate(H5P_DATASET_CREATE));
    OK(H5Pset_chunk(plist, 2, chunk));
    OK(space = H5Screate_simple(2, none, most));
    OK(set = H5Dcreate2(file, "growing", H5T_NATIVE_INT, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    OK(H5Sclose(space));
    for (int step = 0; step < STEPS; step++) {
        const hsize_t now[2] = {(hsize_t)(step + 1) * (hsize_t)size, N1}, one[2] = {1, N1};
        const hsize_t start[2] = {(hsize_t)(step * size + rank), 0};
        int row[N1];
        hid_t memory;
        for (int i = 0; i < N1; i++) row[i] = 1000 * step + 100 * rank + i;
        OK(H5Dset_extent(set, now));
        OK(space = H5Dget_space(set));
        OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL));
        OK(memory = H5Screate_simple(2, one, NULL));
        OK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, together, row));
        OK(H5Sclose(memory));
        OK(H5Sclose(space));
        if (step == 1) OK(H5Fflush(file, H5F_SCOPE_GLOBAL));
    }
    OK(H5Dclose(set));
    OK(H5Pclose(plist));
    OK(H5Pclose(together));
}

static void check_grown(hid_t file) {
    const size_t n = (size_t)STEPS * (size_t)size * N1;
    int *all = malloc(n * sizeof *all), wrong = 0;
    hid_t set;
    OK(set = H5Dopen2(file, "growing", H5P_DEFAULT));
    OK(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    for (size_t i = 0; i < n; i++) {
        const size_t row = i / N1;
        wrong += all[i] != (int)(1000 * (row / (size_t)size) + 100 * (row % (size_t)size) + i % N1);
    }
    if (wrong) fprintf(stderr, "rank %d: %d cells of the growing set are wrong\n", rank, wrong);
    failures += wrong > 0;
    OK(H5Dclose(set));
    free(all);
}

/* ---- points, strides, unions of boxes */

/* Create a dataset with a fill value, because without it the contents of unwritten cells are undefined. */
static hid_t filled(hid_t file, const char *name, hid_t type, hid_t space) {
    const long long seven = 7;
    hid_t plist, set;
    OK(plist = H5Pcreate(H5P_DATASET_CREATE));
    OK(H5Pset_fill_value(plist, H5T_NATIVE_LLONG, &seven));
    OK(H5Pset_fill_time(plist, H5D_FILL_TIME_ALLOC));
    OK(set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    OK(H5Pclose(plist));
    return set;
}

static void write_points(hid_t file) {
    const hsize_t n = (hsize_t)(CELLS / size / 2);
    const hid_t together = transfer_bytes(1);
    hsize_t *at = malloc(n * sizeof *at), dims = CELLS;
    int *data = malloc(n * sizeof *data), wrong = 0;
    hid_t space, memory, set;
    /* positions are congruent to the rank modulo `size`, with gaps of two sizes */
    for (hsize_t i = 0; i < n; i++) {
        at[i] = (i * 2 + i % 3 % 2) * (hsize_t)size + (hsize_t)rank;
        data[i] = (int)at[i] + 5;
    }
    OK(space = H5Screate_simple(1, &dims, NULL));
    set = filled(file, "points", H5T_NATIVE_INT, space);
    OK(H5Sselect_elements(space, H5S_SELECT_SET, n, at));
    OK(memory = H5Screate_simple(1, &n, NULL));
    OK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, together, data));
    memset(data, 0, n * sizeof *data);
    OK(H5Dread(set, H5T_NATIVE_INT, memory, space, together, data));
    for (hsize_t i = 0; i < n; i++) wrong += data[i] != (int)at[i] + 5;
    if (wrong) fprintf(stderr, "rank %d: %d points are wrong\n", rank, wrong);
    failures += wrong > 0;
    OK(H5Sclose(memory));
    OK(H5Sclose(space));
    OK(H5Dclose(set));
    OK(H5Pclose(together));
    free(at);
    free(data);
}

/* Write the union of two selections: strided blocks, and a part of the last column. */
static void write_union(hid_t file) {
    const hsize_t dims[2] = {(hsize_t)size * 6, 40}, start[2] = {(hsize_t)rank, 1},
                  stride[2] = {(hsize_t)size, 9};
    const hsize_t count[2] = {6, 4}, blocks[2] = {1, 5};
    const hsize_t last[2] = {(hsize_t)rank * 6, 39}, column[2] = {6, 1};
    const hsize_t n = 6 * 4 * 5 + 6;
    const hid_t together = transfer_bytes(1);
    short *data = malloc(n * sizeof *data);
    hid_t space, memory, set;
    for (hsize_t i = 0; i < n; i++) data[i] = (short)(rank * 500 + (int)i);
    OK(space = H5Screate_simple(2, dims, NULL));
    set = filled(file, "strides", H5T_NATIVE_SHORT, space);
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, blocks));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_OR, last, NULL, column, NULL));
    OK(memory = H5Screate_simple(1, &n, NULL));
    OK(H5Dwrite(set, H5T_NATIVE_SHORT, memory, space, together, data));
    OK(H5Sclose(memory));
    OK(H5Sclose(space));
    OK(H5Dclose(set));
    OK(H5Pclose(together));
    free(data);
}

/* ---- records (compound types): complete records (collective), one member with another number type (HDF5 accesses
 * it independently), chunks with a checksum, points in descending order */

typedef struct {
    int number;
    double value;
    char word[8];
} record;

static hid_t record_type(void) {
    hid_t word, type;
    OK(word = H5Tcopy(H5T_C_S1));
    OK(H5Tset_size(word, 8));
    OK(type = H5Tcreate(H5T_COMPOUND, sizeof(record)));
    OK(H5Tinsert(type, "number", HOFFSET(record, number), H5T_NATIVE_INT));
    OK(H5Tinsert(type, "value", HOFFSET(record, value), H5T_NATIVE_DOUBLE));
    OK(H5Tinsert(type, "word", HOFFSET(record, word), word));
    OK(H5Tclose(word));
    return type;
}

static hid_t record_set(hid_t file, const char *name, hid_t type, hsize_t n) {
    const hsize_t chunk = 5;
    hid_t plist, space, set;
    OK(plist = H5Pcreate(H5P_DATASET_CREATE));
    OK(H5Pset_chunk(plist, 1, &chunk));
    OK(H5Pset_fletcher32(plist));
    OK(space = H5Screate_simple(1, &n, NULL));
    OK(set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT));
    OK(H5Sclose(space));
    OK(H5Pclose(plist));
    return set;
}

/* Select the records r, r + size, ... of rank r, in descending order. */
static hid_t select_backwards(hid_t set, hsize_t n) {
    hsize_t at[PIECES];
    hid_t space;
    for (hsize_t i = 0; i < n; i++) at[i] = (n - 1 - i) * (hsize_t)size + (hsize_t)rank;
    OK(space = H5Dget_space(set));
    OK(H5Sselect_elements(space, H5S_SELECT_SET, n, at));
    return space;
}

static void write_records(hid_t file) {
    const hsize_t n = PIECES;
    const hid_t type = record_type(), together = transfer_bytes(1);
    record out[PIECES], in[PIECES];
    float values[PIECES];
    hid_t member, memory;
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < PIECES; i++) {
        out[i].number = 100 * rank + i;
        out[i].value = i / 4.0;
        snprintf(out[i].word, sizeof out[i].word, "r%di%d", rank % 10, i);
    }
    const hid_t set = record_set(file, "records", type, n * (hsize_t)size);
    const hid_t space = select_backwards(set, n);
    OK(memory = H5Screate_simple(1, &n, NULL));
    OK(H5Dwrite(set, type, memory, space, together, out));
    OK(H5Dread(set, type, memory, space, together, in));
    for (int i = 0; i < PIECES; i++)
        failures += in[i].number != out[i].number || in[i].value != out[i].value ||
                    strcmp(in[i].word, out[i].word) != 0;
    OK(member = H5Tcreate(H5T_COMPOUND, sizeof(float)));
    OK(H5Tinsert(member, "value", 0, H5T_NATIVE_FLOAT));
    OK(H5Dread(set, member, memory, space, together, values));
    for (int i = 0; i < PIECES; i++) failures += values[i] != (float)out[i].value;
    if (failures) fprintf(stderr, "rank %d: records are wrong\n", rank);
    OK(H5Tclose(member));
    OK(H5Sclose(memory));
    OK(H5Sclose(space));
    OK(H5Dclose(set));
    OK(H5Tclose(type));
    OK(H5Pclose(together));
}

/* ---- many small datasets, groups, attributes; datasets written by a single rank */

static void write_small_datasets(hid_t file) {
    const hid_t alone = transfer_bytes(0);
    for (int i = 0; i < SMALL; i++) {
        char name[32];
        hsize_t dims = (hsize_t)(i + 1);
        int data[SMALL];
        hid_t group = file, space, set, attribute;
        snprintf(name, sizeof name, i % 5 ? "small%d" : "group%d", i);
        if (i % 5 == 0) OK(group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        OK(space = H5Screate_simple(1, &dims, NULL));
        OK(set = H5Dcreate2(group, i % 5 ? name : "inside", H5T_NATIVE_INT, space, H5P_DEFAULT,
                            H5P_DEFAULT, H5P_DEFAULT));
        OK(attribute = H5Acreate2(set, "number", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
        for (int k = 0; k <= i; k++) data[k] = i * 100 + k;
        OK(H5Awrite(attribute, H5T_NATIVE_INT, data));
        if (rank == i % size) OK(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, alone, data));
        OK(H5Aclose(attribute));
        OK(H5Dclose(set));
        OK(H5Sclose(space));
        if (group != file) OK(H5Gclose(group));
    }
    OK(H5Pclose(alone));
}

/* Write to a file that the program does not close: HDF5 closes it in MPI_Finalize. */
static void leave_open(hid_t file) {
    const hid_t together = transfer_bytes(1);
    const hsize_t dims = (hsize_t)size, at = (hsize_t)rank, one = 1;
    hid_t space, memory, set;
    OK(space = H5Screate_simple(1, &dims, NULL));
    OK(set =
           H5Dcreate2(file, "left", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL));
    OK(memory = H5Screate_simple(1, &one, NULL));
    OK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, together, &rank));
}

/* ---- the file */

static hid_t access_list(int metadata_together) {
    hid_t plist;
    OK(plist = H5Pcreate(H5P_FILE_ACCESS));
    OK(H5Pset_fapl_mpio(plist, MPI_COMM_WORLD, MPI_INFO_NULL));
    OK(H5Pset_coll_metadata_write(plist, (hbool_t)metadata_together));
    OK(H5Pset_all_coll_metadata_ops(plist, (hbool_t)metadata_together));
    OK(H5Pset_alignment(plist, 2048, metadata_together ? 1 : 512));
    return plist;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    hid_t plist = access_list(0), file;
    OK(file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, plist));
    write_layouts(file);
    append_steps(file);
    OK(H5Fclose(file));
    OK(H5Pclose(plist));
    plist = access_list(1);
    OK(file = H5Fopen(argv[1], H5F_ACC_RDWR, plist));
    OK(H5Fset_mpi_atomicity(file, 1));
    write_points(file);
    OK(H5Fset_mpi_atomicity(file, 0));
    write_union(file);
    write_records(file);
    write_small_datasets(file);
    OK(H5Fclose(file));
    OK(file = H5Fopen(argv[1], H5F_ACC_RDONLY, plist));
    read_layouts(file);
    check_grown(file);
    OK(H5Fclose(file));
    OK(file = H5Fopen(argv[1], H5F_ACC_RDWR, plist));
    leave_open(file);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures ? 1 : 0;
}
