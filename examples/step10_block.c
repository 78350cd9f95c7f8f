/* TEST ranks=1,4 timeout=60 */
/* Step 10.  A 3-D block with ghost cells is written to a dataset directly from the array that the program computes
 * on, and read back into one with a different number of ghost cells.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { NX = 24, NY = 20, NZ = 16, GHOST = 2 };

static const tutti_count shape[3] = {NX, NY, NZ};

/* A block [lo, hi) of the grid inside an array with ghost cells on all sides. */
typedef struct {
    tutti_count lo[3], hi[3], extent[3], cells;
    int ghost;
    double *u;
} block;

static block block_make(int rank, int ranks, int ghost) {
    int procs[3] = {0, 0, 0};
    MPI_Dims_create(ranks, 3, procs);
    const int at[3] = {rank / (procs[1] * procs[2]), rank / procs[2] % procs[1], rank % procs[2]};
    block b = {.cells = 1, .ghost = ghost};
    for (int d = 0; d < 3; d++) {
        b.lo[d] = shape[d] * at[d] / procs[d];
        b.hi[d] = shape[d] * (at[d] + 1) / procs[d];
        b.extent[d] = b.hi[d] - b.lo[d] + 2 * ghost;
        b.cells *= b.extent[d];
    }
    b.u = malloc((size_t)b.cells * sizeof *b.u);
    for (tutti_count i = 0; i < b.cells; i++) b.u[i] = -1; /* ghost cells keep this value */
    return b;
}

/* Set (check 0) or compare (check 1) the value of each inner cell: its position in the grid. */
static int visit_cells(const block *b, int check) {
    int wrong = 0;
    tutti_count i[3];
    for (i[0] = b->lo[0]; i[0] < b->hi[0]; i[0]++)
        for (i[1] = b->lo[1]; i[1] < b->hi[1]; i[1]++)
            for (i[2] = b->lo[2]; i[2] < b->hi[2]; i[2]++) {
                tutti_count at = 0;
                for (int d = 0; d < 3; d++) at = at * b->extent[d] + i[d] - b->lo[d] + b->ghost;
                const double value = (double)((i[0] * NY + i[1]) * NZ + i[2]);
                if (check)
                    wrong += b->u[at] != value;
                else
                    b->u[at] = value;
            }
    return wrong;
}

/* Describe the block as a slice of the grid, with its origin in the array with ghost cells. */
static tutti_err decompose(tutti_dataset *d, const block *b, tutti_decomposition **out) {
    tutti_section memory = {.order = TUTTI_ROW_MAJOR};
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .slice_memory = &memory, .whole = 1};
    for (int k = 0; k < 3; k++) {
        spec.slice.lo[k] = b->lo[k];
        spec.slice.hi[k] = b->hi[k];
        memory.shape[k] = b->extent[k];
        memory.lo[k] = b->ghost;
    }
    return tutti_decomposition_create(d, "grid", &spec, out);
}

static tutti_err write_step(tutti_dataset *d, const block *b) {
    tutti_decomposition *mine = NULL;
    tutti_err err = tutti_dataset_grid(d, "grid", 3, shape);
    if (!err)
        err = tutti_dataset_variable(
            d, "u", &(tutti_variable_spec){.space = "grid", .type = TUTTI_FLOAT64});
    if (!err) err = decompose(d, b, &mine);
    if (!err) err = tutti_dataset_begin(d, TUTTI_STATE, 0, 0.0);
    if (!err) err = tutti_dataset_put(d, 1, &(tutti_put){"u", mine, TUTTI_FLOAT64, b->u});
    if (!err) err = tutti_dataset_commit(d);
    tutti_decomposition_free(&mine);
    return err;
}

static tutti_err read_step(tutti_dataset *d, const block *b) {
    tutti_decomposition *mine = NULL;
    tutti_count last = 0;
    tutti_err err = tutti_dataset_latest(d, TUTTI_STATE, &last);
    if (!err) err = decompose(d, b, &mine);
    if (!err) err = tutti_dataset_get(d, last, 1, &(tutti_get){"u", mine, TUTTI_FLOAT64, b->u});
    tutti_decomposition_free(&mine);
    return err;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "step10.tutti";
    int rank, ranks, wrong;
    tutti_dataset *d = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const block out = block_make(rank, ranks, GHOST), in = block_make(rank, ranks, 0);
    wrong = visit_cells(&out, 0);
    tutti_err err = tutti_dataset_open(
        MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL, &d);
    if (!err) err = write_step(d, &out);
    if (!err) err = read_step(d, &in);
    if (!err) wrong += visit_cells(&in, 1);
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    if (d && tutti_dataset_close(&d) && !err) err = tutti_last_error()->code;
    if (!err && rank == 0)
        printf("%s: %d x %d x %d cells from %d ranks\n", path, NX, NY, NZ, ranks);
    free(out.u);
    free(in.u);
    MPI_Finalize();
    return err || wrong;
}
