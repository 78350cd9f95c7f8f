/* Measure calls of Tutti on a simulated machine, one after the other.  Each call gives a line of
 * JSON on standard output: simulated time, messages and collective operations.  Run by
 * experiments/tutti_experiments/simulated.py.
 *
 * usage: simulate.sh NP calls [BYTES]
 *   BYTES   per rank and variable, a multiple of 2048 (65536); files are written in the current directory
 *
 * Computation and file access take no simulated time.  Ranks of one host also communicate by
 * messages.  The time of a call begins with a barrier and is that of the slowest rank; messages are
 * those of all ranks, collective operations those of rank 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "bare.h"
#include "simulated/smpi_count.h"

enum { ROW = 2048 }; /* bytes of a row of a block */
/* maximum number of ranks for MPI_Alltoallv: it sends the square of this number of messages, whose
 * simulation takes minutes */
enum { ALLTOALLV_MOST = 256 };

static int rank, ranks;
static long bytes = 65536;
static tutti_options options;
static char *data;

/* ---- measuring */

static double started;
static smpi_count before;

static void check_call(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "calls: rank %d: %s\n", rank, tutti_last_message());
    _exit(1);
}

static void begin_call(void) {
    PMPI_Barrier(MPI_COMM_WORLD);
    before = smpi_counted();
    started = PMPI_Wtime();
}

static void end_call(const char *call) {
    double own = PMPI_Wtime() - started, time = 0;
    const smpi_count now = smpi_counted();
    long long local[2] = {now.messages - before.messages, now.bytes - before.bytes}, all[2];
    PMPI_Reduce(&own, &time, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Reduce(local, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("{\"call\": \"%s\", \"us\": %.3f, \"messages\": %lld, \"bytes\": %lld, "
           "\"collectives\": %lld, \"collective_bytes\": %lld}\n",
           call, 1e6 * time, all[0], all[1], (long long)(now.collectives - before.collectives),
           (long long)(now.collective_bytes - before.collective_bytes));
    fflush(stdout);
}

#define MEASURE(name, call) \
    do {                    \
        begin_call();       \
        check_call(call);   \
        end_call(name);     \
    } while (0)

/* ---- a two-dimensional array, divided into blocks */

typedef struct {
    int down, across; /* number of ranks in each dimension */
    tutti_count lo[2], hi[2], shape[2];
} block;

static block block_make(tutti_count item) {
    block b = {.down = 1};
    while (b.down * 2 <= ranks / (b.down * 2)) b.down *= 2;
    while (ranks % b.down) b.down--;
    b.across = ranks / b.down;
    const tutti_count own[2] = {bytes / ROW, ROW / item};
    const int at[2] = {rank / b.across, rank % b.across}, n[2] = {b.down, b.across};
    for (int d = 0; d < 2; d++) {
        b.lo[d] = at[d] * own[d];
        b.hi[d] = b.lo[d] + own[d];
        b.shape[d] = n[d] * own[d];
    }
    return b;
}

static void measure_file(void) {
    const block b = block_make(1);
    tutti_section s = {.ndims = 2, .element_size = 1};
    tutti_access *a = NULL;
    tutti_file *f = NULL;
    const int mode = TUTTI_READ | TUTTI_WRITE;
    for (int d = 0; d < 2; d++) s.shape[d] = b.shape[d], s.lo[d] = b.lo[d], s.hi[d] = b.hi[d];
    check_call(tutti_access_section(&s, NULL, &a));
    MEASURE("open first",
            tutti_file_open(MPI_COMM_WORLD, "array", mode | TUTTI_CREATE, &options, &f));
    MEASURE("write first", tutti_file_write(f, a, data, NULL));
    MEASURE("write cached", tutti_file_write(f, a, data, NULL));
    MEASURE("read first", tutti_file_read(f, a, data, NULL));
    MEASURE("read cached", tutti_file_read(f, a, data, NULL));
    MEASURE("close", tutti_file_close(&f));
    MEASURE("open again", tutti_file_open(MPI_COMM_WORLD, "array", mode, &options, &f));
    check_call(tutti_file_close(&f));
    tutti_access_free(&a);
}

static void measure_bare(void) {
    const block b = block_make(1);
    const int n = (int)(bytes / ROW);
    int64_t *offset = malloc((size_t)n * sizeof *offset);
    int64_t sum = 1, all;
    for (int i = 0; i < n; i++) offset[i] = (b.lo[0] + i) * b.shape[1] + b.lo[1];
    const bare_runs runs = {n, offset, ROW, (int64_t)bytes * ranks};
    begin_call();
    bare_write(&runs, data, BARE_MESSAGES);
    end_call("bare two-phase");
    begin_call();
    bare_bounds(&runs);
    bare_write(&runs, data, BARE_MESSAGES);
    end_call("bare two-phase with bounds");
    begin_call();
    for (int i = 0; i < 2; i++) MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    end_call("two allreduces");
    if (ranks <= ALLTOALLV_MOST) {
        begin_call();
        bare_write(&runs, data, BARE_ALLTOALLV);
        end_call("bare two-phase, Alltoallv");
    }
    free(offset);
}

/* ---- a dataset */

static tutti_err write_dataset_step(tutti_dataset *d, const tutti_put *put, int index) {
    tutti_err err = tutti_dataset_begin(d, TUTTI_STATE, index, index);
    if (err == TUTTI_OK) err = tutti_dataset_put(d, 1, put);
    return err == TUTTI_OK ? tutti_dataset_commit(d) : err;
}

static void measure_dataset(void) {
    const block b = block_make(8);
    const tutti_count n = bytes / 8;
    const tutti_variable_spec spec = {.space = "grid", .type = TUTTI_FLOAT64};
    tutti_decomposition_spec slice = {.kind = TUTTI_BY_SLICE},
                             index = {.kind = TUTTI_BY_INDEX, .n = n};
    tutti_count *position = malloc((size_t)n * sizeof *position);
    tutti_decomposition *blocks = NULL, *cyclic = NULL;
    tutti_dataset_options opt;
    tutti_dataset *d = NULL;
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.io = &options;
    for (int i = 0; i < 2; i++) slice.slice.lo[i] = b.lo[i], slice.slice.hi[i] = b.hi[i];
    /* Neighbours alternate in parts of 64 entries: every rank has few partners, as in a partition of a mesh. */
    for (tutti_count i = 0; i < n; i++)
        position[i] = rank / 2 * 2 * n + i / 64 * 128 + rank % 2 * 64 + i % 64;
    index.index = position;
    MEASURE("dataset open", tutti_dataset_open(MPI_COMM_WORLD, "dataset.tut",
                                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d));
    check_call(tutti_dataset_grid(d, "grid", 2, b.shape));
    check_call(tutti_dataset_grid(d, "line", 1, (tutti_count[]){n * ranks}));
    check_call(tutti_dataset_variable(d, "t", &spec));
    MEASURE("decomposition slice", tutti_decomposition_create(d, "grid", &slice, &blocks));
    MEASURE("decomposition index", tutti_decomposition_create(d, "line", &index, &cyclic));
    const tutti_put put = {"t", blocks, TUTTI_FLOAT64, data};
    const tutti_get get = {"t", blocks, TUTTI_FLOAT64, data};
    MEASURE("step first", write_dataset_step(d, &put, 0));
    MEASURE("step", write_dataset_step(d, &put, 1));
    MEASURE("get first", tutti_dataset_get(d, 1, 1, &get));
    MEASURE("get", tutti_dataset_get(d, 1, 1, &get));
    MEASURE("dataset close", tutti_dataset_close(&d));
    tutti_decomposition_free(&blocks);
    tutti_decomposition_free(&cyclic);
    free(position);
}

/* ---- an Exodus file: a rod of hexahedra, a piece per rank; neighbours share a plane of nodes */

enum { ACROSS = 4, LONG = 2, PLANE = (ACROSS + 1) * (ACROSS + 1), CELLS = ACROSS * ACROSS };

typedef struct {
    int64_t node_id[(LONG + 1) * PLANE], id[LONG * CELLS];
    tutti_count node[8 * LONG * CELLS];
    double x[3][(LONG + 1) * PLANE];
} rod;

static rod *rod_make(void) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    rod *r = malloc(sizeof *r);
    for (int i = 0; i < (LONG + 1) * PLANE; i++) {
        r->node_id[i] = 1 + (int64_t)rank * LONG * PLANE + i;
        r->x[0][i] = rank * LONG + i / PLANE;
        r->x[1][i] = i % PLANE % (ACROSS + 1);
        r->x[2][i] = i % PLANE / (ACROSS + 1);
    }
    for (int i = 0; i < LONG * CELLS; i++) {
        const int slab = i / CELLS, y = i % ACROSS, z = i % CELLS / ACROSS;
        r->id[i] = 1 + (int64_t)rank * LONG * CELLS + i;
        for (int c = 0; c < 8; c++)
            r->node[8 * i + c] = (slab + corner[c][0]) * PLANE + y + corner[c][1] +
                                 (z + corner[c][2]) * (ACROSS + 1);
    }
    return r;
}

static tutti_err exodus_step(tutti_exodus *x, double time, double *values) {
    const tutti_exodus_field f = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "t", .type = TUTTI_FLOAT64, .buf = values};
    tutti_err err = tutti_exodus_begin(x, time);
    if (err == TUTTI_OK) err = tutti_exodus_put(x, 1, &f);
    return err == TUTTI_OK ? tutti_exodus_commit(x) : err;
}

static void measure_exodus(void) {
    rod *r = rod_make();
    const tutti_exodus_elements cells = {.n = LONG * CELLS, .ids = r->id, .nodes = r->node};
    const tutti_exodus_mesh mesh = {.nodes = (LONG + 1) * PLANE,
                                    .node_ids = r->node_id,
                                    .coordinates = {r->x[0], r->x[1], r->x[2]},
                                    .blocks = &cells};
    const tutti_exodus_entity entity = {
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8"};
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    opt.io = &options;
    MEASURE("exodus create", tutti_exodus_create(MPI_COMM_WORLD, "rod.e", &opt, &x));
    check_call(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "a rod", .dims = 3}));
    check_call(tutti_exodus_define(x, 1, &entity));
    check_call(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"t"}));
    MEASURE("put_mesh", tutti_exodus_put_mesh(x, &mesh));
    MEASURE("exodus step first", exodus_step(x, 0, r->x[0]));
    MEASURE("exodus step", exodus_step(x, 1, r->x[0]));
    MEASURE("exodus close", tutti_exodus_close(&x));
    free(r);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) bytes = atol(argv[1]);
    if (bytes < ROW || bytes % ROW) {
        fprintf(stderr, "calls: BYTES is %ld: it must be a multiple of %d\n", bytes, ROW);
        return 2;
    }
    data = calloc(1, (size_t)bytes);
    tutti_options_init(&options);
    check_call(tutti_options_set(&options, "method", "two-phase"));
    check_call(tutti_options_set(&options, "method_read", "two-phase"));
    check_call(tutti_options_set(&options, "exchange", "two-sided"));
    /* every rank is an aggregator, as in the bare two-phase; the automatic number depends on this machine */
    char all[16];
    snprintf(all, sizeof all, "%d", ranks);
    check_call(tutti_options_set(&options, "cb_nodes", all));
    /* data is exchanged by messages, not through memory shared by ranks (simulate.md) */
    check_call(tutti_options_set(&options, "nodes", "single"));
    measure_file();
    measure_dataset();
    measure_exodus();
    measure_bare();
    free(data);
    MPI_Finalize();
    return 0;
}
