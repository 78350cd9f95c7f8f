/* TEST ranks=1,4 timeout=60 */
/* Functions shown in the manual pages; the program calls all of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { ROWS = 64, COLUMNS = 32, CELLS = ROWS * COLUMNS };

/* Check that the library is not older than the headers. */
static int version_fits(void) {
    if (tutti_version() >= TUTTI_VERSION) return 1;
    fprintf(stderr, "Tutti %s is older than %s\n", tutti_version_string(), TUTTI_VERSION_STRING);
    return 0;
}

/* Start from defaults and environment, then set options by field or by name. */
static tutti_err open_tuned(const char *path, tutti_file **f_out) {
    tutti_options opt;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* an invalid environment variable is reported and ignored */
    if (tutti_options_init(&opt) && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    opt.sub_buffers = 4;
    const tutti_err err = tutti_options_set(&opt, "cb_buffer_size", "8m");
    if (err) return err; /* the same on all ranks, since all set the same value */
    return tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                           f_out);
}

/* In bindings of other languages the communicator is a Fortran handle. */
static tutti_err open_on_handle(int handle, const char *path, tutti_file **f_out) {
    return tutti_file_open(tutti_comm_f2c(handle), path, TUTTI_READ, NULL, f_out);
}

/* Open a file if it exists.  All ranks get the same code. */
static tutti_err open_old(const char *path, tutti_file **f_out) {
    int rank;
    const tutti_err err = tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, f_out);
    if (!err || err == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) /* the message is the same on all ranks and names the rank that failed */
        fprintf(stderr, "%s: %s\n", tutti_error_name(err), tutti_last_message());
    return err;
}

/* Describe COLUMNS columns of a matrix per rank by an MPI datatype.  Returns NULL on failure; the
 * collective call then fails on all ranks. */
static tutti_access *make_columns_access(int rank, int ranks) {
    tutti_access *access = NULL;
    MPI_Datatype mine;
    MPI_Type_vector(ROWS, COLUMNS, COLUMNS * ranks, MPI_DOUBLE, &mine);
    const tutti_off first = (tutti_off)sizeof(double) * COLUMNS * rank;
    if (tutti_access_from_view(first, mine, 0, CELLS, MPI_DOUBLE, &access)) access = NULL;
    MPI_Type_free(&mine);
    return access;
}

/* Write a matrix: ROWS rows per rank, contiguous in memory. */
static tutti_err write_rows(tutti_file *f, int rank, int ranks, const double *mine) {
    const tutti_section rows = {.ndims = 2,
                                .element_size = sizeof(double),
                                .shape = {(tutti_count)ROWS * ranks, COLUMNS},
                                .lo = {(tutti_count)ROWS * rank, 0},
                                .hi = {(tutti_count)ROWS * (rank + 1), COLUMNS}};
    tutti_access *access = NULL;
    if (tutti_access_section(&rows, NULL, &access))
        access = NULL; /* the write then fails on all ranks */
    const tutti_err err = tutti_file_write(f, access, mine, NULL);
    tutti_access_free(&access);
    return err;
}

/* Write one state while the next one is computed. */
static tutti_err write_and_compute(tutti_file *f, const tutti_access *a, const double *state,
                                   double *next) {
    const tutti_err err = tutti_file_write_begin(f, a, state);
    for (int i = 0; i < CELLS; i++) next[i] = state[i] / 2; /* state may be read, not changed */
    return err ? err : tutti_file_write_end(f, NULL);
}

/* Write two variables, one after the other in the file, one block per rank: doubles converted to
 * big-endian float32, and integers without conversion. */
static tutti_err write_variables(tutti_file *f, int rank, int ranks, double *heat, int32_t *kind) {
    const tutti_off block = CELLS * 4; /* bytes per rank and variable in the file */
    tutti_access *a = NULL, *b = NULL; /* NULL after a failure: all ranks fail */
    if (tutti_access_contiguous(block * rank, block, &a)) a = NULL;
    if (a && tutti_access_contiguous(block * (ranks + rank), block, &b)) b = NULL;
    const tutti_part parts[2] = {{.access = a,
                                  .buf = heat,
                                  .convert = {.file_type = TUTTI_FLOAT32,
                                              .memory_type = TUTTI_FLOAT64,
                                              .file_order = TUTTI_BIG_ENDIAN}},
                                 {.access = b, .buf = kind}};
    const tutti_err err = tutti_file_write_parts(f, 2, parts, NULL);
    if (err == TUTTI_ERR_VALUE) /* all ranks return it; the message names rank and value */
        fprintf(stderr, "%s\n", tutti_last_message());
    tutti_access_free(&a);
    tutti_access_free(&b);
    return err;
}

/* Print the write bandwidth of the file system of a path, from the profile. */
static tutti_err print_speed(const char *path) {
    tutti_filesystem place;
    tutti_profile p;
    tutti_err err = tutti_profile_filesystem(path, &place);
    if (!err) err = tutti_profile_load(NULL, &place, &p);
    if (err) return err;
    printf("%s on %s: all ranks write 1 MiB pieces with %.0f MB/s (%s)\n", place.type, place.mount,
           p.write_all_1m / 1e6, p.measured > 0 ? "measured" : "default");
    return TUTTI_OK;
}

static void print_progress(void *context, tutti_off done, tutti_off total, const char *phase) {
    *(double *)context = total ? (double)done / (double)total : 1;
    (void)phase;
}

/* Write with a progress callback, then print the statistics of this rank. */
static tutti_err write_watched(tutti_file *f, const tutti_access *a, const double *state) {
    double share_done = 0;
    tutti_stats last;
    tutti_file_on_progress(f, print_progress, &share_done);
    const tutti_err err = tutti_file_write(f, a, state, NULL);
    tutti_file_on_progress(f, NULL, NULL);
    tutti_file_stats(f, &last, NULL);
    printf("%lld bytes in %.3f s, %lld bytes to the file by this rank: %s\n", (long long)last.bytes,
           last.seconds_total, (long long)last.file_write_bytes, tutti_file_explain(f));
    return err;
}

/* Allocate an array of doubles whose shape comes from a file of `bytes` bytes. */
static double *allocate_array(int ndims, const tutti_count *shape, tutti_off bytes) {
    tutti_count n;
    /* an extent is negative, or the product is 2^63 or more */
    if (!tutti_size_product(ndims, shape, &n)) return NULL;
    if (!tutti_size_fits(n, sizeof(double), bytes)) return NULL;
    return malloc((size_t)n * sizeof(double));
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "manual.dat";
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tutti_access *a = make_columns_access(rank, ranks);
    tutti_file *f = NULL, *old = NULL;
    tutti_off count = 0;
    double *state = malloc(CELLS * sizeof *state), *next = malloc(CELLS * sizeof *next);
    for (int i = 0; i < CELLS; i++) state[i] = rank + i * 1e-3;

    tutti_err err = version_fits() ? TUTTI_OK : TUTTI_ERR_UNSUPPORTED;
    if (!err) err = open_old("/nowhere/at/all.dat", &old);
    if (print_speed(path)) fprintf(stderr, "%s\n", tutti_last_message()); /* the error is local */
    if (!err) err = open_tuned(path, &f);
    if (!err) err = write_watched(f, a, state);
    if (!err) err = write_and_compute(f, a, state, next);
    if (!err) err = open_on_handle((int)MPI_Comm_c2f(MPI_COMM_WORLD), path, &old);
    if (!err) err = tutti_file_read(old, a, next, &count);
    for (int i = 0; i < CELLS && !err; i++) wrong += next[i] != state[i];
    if (!err) wrong += count != tutti_access_bytes(a);
    double *array = allocate_array(2, (tutti_count[]){ROWS, COLUMNS}, CELLS * sizeof(double));
    wrong += !array || allocate_array(2, (tutti_count[]){(tutti_count)1 << 62, 4}, INT64_MAX);
    if (!err) err = write_rows(f, rank, ranks, state);
    int32_t *kind = calloc(CELLS, sizeof *kind);
    for (int i = 0; i < CELLS; i++) state[i] = i / 4.0;
    if (!err) err = write_variables(f, rank, ranks, state, kind);
    state[CELLS / 2] = 1e300; /* this value is larger than any float32 */
    if (!err) wrong += write_variables(f, rank, ranks, state, kind) != TUTTI_ERR_VALUE;
    if (old && tutti_file_close(&old)) err = tutti_last_error()->code;
    if (f && tutti_file_close(&f)) err = tutti_last_error()->code;
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    tutti_access_free(&a);
    free(state);
    free(next);
    free(kind);
    free(array);
    MPI_Finalize();
    return err || wrong;
}
