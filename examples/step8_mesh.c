/* TEST ranks=1,4 timeout=60 */
/* Step 8.  An unstructured mesh: renumbered along a Hilbert curve, partitioned, used for a computation with
 * halo nodes; the value of each node is written once, by one of the ranks that hold it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { SIDE = 12, CELLS = SIDE - 1, SWEEPS = 20 };

/* Make a box of tetrahedra on rank 0; most programs call tutti_mesh_open instead. */
static tutti_err make_box_mesh(int rank, tutti_mesh **mesh) {
    static const int six[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    static double x[SIDE * SIDE * SIDE][3];
    static uint8_t type[6 * CELLS * CELLS * CELLS];
    static tutti_count start[6 * CELLS * CELLS * CELLS + 1], node[24 * CELLS * CELLS * CELLS];
    tutti_count e = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        for (int d = 0, k = i; d < 3; d++, k /= SIDE) x[i][d] = (double)(k % SIDE) / CELLS;
    for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
        int v[8];
        for (int k = 0; k < 8; k++)
            v[k] = i % CELLS + k % 2 + SIDE * (i / CELLS % CELLS + k / 2 % 2) +
                   SIDE * SIDE * (i / CELLS / CELLS + k / 4);
        for (int k = 0; k < 6; k++, e++) {
            const int corner[4] = {v[0], v[six[k][0]], v[six[k][1]], v[7]};
            for (int j = 0; j < 4; j++) node[4 * e + j] = corner[j];
            type[e] = TUTTI_MESH_TET;
            start[e + 1] = 4 * (e + 1);
        }
    }
    const tutti_mesh_view all = {.nodes = rank == 0 ? SIDE * SIDE * SIDE : 0,
                                 .coordinates = x[0],
                                 .elements = rank == 0 ? e : 0,
                                 .type = type,
                                 .start = start,
                                 .node = node};
    return tutti_mesh_make(MPI_COMM_WORLD, &all, mesh);
}

/* Partition the mesh and make the part of this rank with its halo. */
static tutti_err distribute_mesh(tutti_mesh *mesh, int ranks, tutti_mesh_part **part) {
    tutti_mesh_view slice;
    tutti_err err = tutti_mesh_renumber(mesh, TUTTI_MESH_CURVE);
    if (!err) err = tutti_mesh_view_get(mesh, &slice);
    if (err) return err;
    int *of = malloc((size_t)slice.nodes * sizeof *of + 1);
    if (!of) abort();
    err = tutti_mesh_partition(mesh, ranks, TUTTI_MESH_METIS, NULL, of);
    if (!err) err = tutti_mesh_part_make(mesh, of, part);
    free(of);
    return err;
}

/* A few sweeps: each owned node gets the mean of the nodes of its elements, except on the boundary. */
static tutti_err smooth_values(tutti_mesh_part *part, const tutti_mesh_part_view *p, double *u) {
    double *sum = malloc((size_t)p->nodes * sizeof *sum + 1);
    int *n = malloc((size_t)p->nodes * sizeof *n + 1);
    tutti_err err = TUTTI_OK;
    if (!sum || !n) abort();
    for (int sweep = 0; sweep < SWEEPS && !err; sweep++) {
        for (tutti_count i = 0; i < p->nodes; i++) sum[i] = n[i] = 0;
        for (tutti_count e = 0; e < p->elements; e++)
            for (tutti_count i = p->start[e]; i < p->start[e + 1]; i++)
                for (tutti_count j = p->start[e]; j < p->start[e + 1]; j++) {
                    sum[p->node[i]] += u[p->node[j]];
                    n[p->node[i]]++;
                }
        for (tutti_count i = 0; i < p->own_nodes; i++) {
            const double *x = p->coordinates + 3 * i;
            const int rim = x[0] == 0 || x[0] == 1 || x[1] == 0 || x[1] == 1;
            if (!rim) u[i] = sum[i] / n[i];
        }
        err = tutti_mesh_part_exchange(part, u, 1); /* update halo nodes from their owners */
    }
    free(sum);
    free(n);
    return err;
}

/* Write each node once, in the order of the mesh; one of the ranks that hold it writes it. */
static tutti_err write_values(const char *path, const tutti_mesh_part_view *p, double *u) {
    const tutti_replicas_spec spec = {
        .n = p->nodes, .numbers = p->number, .own = p->own, .load = 1, .value_bytes = sizeof *u};
    tutti_replicas *r = NULL;
    tutti_file *f = NULL;
    tutti_err err = tutti_replicas_create(MPI_COMM_WORLD, &spec, &r);
    if (!err)
        err = tutti_file_open(MPI_COMM_WORLD, path,
                              TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL, &f);
    if (!err) err = tutti_replicas_write(f, 0, r, u, TUTTI_REPLICAS_CHECK);
    if (!err) err = tutti_replicas_read(f, 0, r, u);
    if (f && tutti_file_close(&f) && !err) err = tutti_last_error()->code;
    tutti_replicas_free(&r);
    return err;
}

int main(int argc, char **argv) {
    int rank, ranks, wrong = 0;
    const char *path = argc > 1 ? argv[1] : "step8.dat";
    tutti_mesh *mesh = NULL;
    tutti_mesh_part *part = NULL;
    tutti_mesh_part_view p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tutti_err err = make_box_mesh(rank, &mesh);
    if (!err) err = distribute_mesh(mesh, ranks, &part);
    tutti_mesh_free(&mesh);
    if (!err) err = tutti_mesh_part_get(part, &p);
    if (!err) {
        double *u = calloc((size_t)p.nodes + 1, sizeof *u), *back;
        for (tutti_count i = 0; i < p.nodes; i++) u[i] = p.coordinates[3 * i];
        err = smooth_values(part, &p, u);
        back = malloc((size_t)p.nodes * sizeof *back + 1);
        for (tutti_count i = 0; i < p.nodes; i++) back[i] = u[i];
        if (!err) err = write_values(path, &p, back);
        for (tutti_count i = 0; i < p.nodes && !err; i++) wrong += back[i] != u[i];
        free(u);
        free(back);
    }
    tutti_mesh_part_free(&part);
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Finalize();
    return err || wrong;
}
