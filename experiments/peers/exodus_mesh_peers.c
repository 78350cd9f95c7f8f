/* Meshes and restarts of Exodus files, compared with libexodusii.  Variants are interleaved in each round.
 *
 * A mesh of N^3 nodes and (N - 1)^3 hexahedra in two blocks, V nodal variables in one step.  Each rank has a
 * box of elements with all their nodes.
 *
 *   write mesh   libexodusii, gathered      ranks send their own nodes to rank 0, which writes the file
 *                tutti_exodus_put_mesh      on all ranks, without checksums; and with a sidecar of checksums
 *   read mesh    libexodusii, one process   reads coordinates and connectivity
 *                tutti_exodus_get_mesh      by order, on all ranks
 *   read step    libexodusii, everything    every rank reads all variables
 *                tutti_exodus_get           every rank reads its slab of the nodes, with and without a
 *                                           decomposition
 *
 * usage: mpirun -n N exodus_mesh_peers DIR [--nodes N] [--variables V] [--rounds R] [--only TEXT]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <tutti/exodus.h>
#include <tutti/tutti.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "measure/standalone.h"

enum { BLOCKS = 2, CORNERS = 8, MOST_VARIABLES = 16 };
static long edge = 100, variables = 4;
static char path[4096];

static void must_tutti(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

/* ---- the mesh of this rank */

static struct {
    int64_t nodes, elements[BLOCKS]; /* number of nodes and elements in the file */
    int64_t n, owned;                /* nodes on this rank; nodes that no lower rank has */
    int64_t *id, *own;               /* [n] ids; [owned] indices of owned nodes */
    double *x[3];
    int64_t n_of[BLOCKS];
    int64_t *element_id[BLOCKS];
    int64_t *corner[BLOCKS]; /* indices of nodes on this rank */
} mesh;

static int64_t corner_of(int64_t e, int c) {
    static const int corner[CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                           {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int64_t n = edge - 1, i = e / (n * n), j = e / n % n, k = e % n;
    return ((i + corner[c][0]) * edge + j + corner[c][1]) * edge + k + corner[c][2];
}

static int owner_of(int64_t e, const int grid[3]) {
    const int64_t n = edge - 1;
    return (int)((e / n % n * grid[1] / n) * grid[2] + e % n * grid[2] / n);
}

static double node_coordinate(int64_t node, int k) {
    return (double)node * 0.5 + k;
}

static void make_mesh(void) {
    const int64_t n = edge - 1, elements = n * n * n, half = n / 2 * n * n;
    int grid[3] = {1, 0, 0};
    MPI_Dims_create(standalone_ranks, 3, grid);
    mesh.nodes = edge * edge * edge;
    mesh.elements[0] = half;
    mesh.elements[1] = elements - half;
    int *lowest = standalone_alloc((size_t)mesh.nodes, sizeof *lowest);
    int64_t *place = standalone_alloc((size_t)mesh.nodes, sizeof *place);
    unsigned char *has = standalone_alloc((size_t)mesh.nodes, 1);
    for (int64_t i = 0; i < mesh.nodes; i++) lowest[i] = standalone_ranks;
    for (int64_t e = 0; e < elements; e++) {
        const int who = owner_of(e, grid);
        mesh.n_of[e >= half] += who == standalone_rank;
        for (int c = 0; c < CORNERS; c++) {
            const int64_t i = corner_of(e, c);
            if (who < lowest[i]) lowest[i] = who;
            if (who == standalone_rank) has[i] = 1;
        }
    }
    for (int64_t i = 0; i < mesh.nodes; i++) mesh.n += has[i];
    mesh.id = standalone_alloc((size_t)mesh.n, sizeof *mesh.id);
    mesh.own = standalone_alloc((size_t)mesh.n, sizeof *mesh.own);
    for (int k = 0; k < 3; k++) mesh.x[k] = standalone_alloc((size_t)mesh.n, sizeof(double));
    for (int64_t i = 0, at = 0; i < mesh.nodes; i++) {
        if (!has[i]) continue;
        place[i] = at;
        if (lowest[i] == standalone_rank) mesh.own[mesh.owned++] = at;
        for (int k = 0; k < 3; k++) mesh.x[k][at] = node_coordinate(i, k);
        mesh.id[at++] = i + 1;
    }
    for (int b = 0; b < BLOCKS; b++) {
        mesh.element_id[b] = standalone_alloc((size_t)mesh.n_of[b], sizeof(int64_t));
        mesh.corner[b] = standalone_alloc((size_t)CORNERS * mesh.n_of[b], sizeof(int64_t));
        for (int64_t e = b ? half : 0, at = 0; e < (b ? elements : half); e++) {
            if (owner_of(e, grid) != standalone_rank) continue;
            mesh.element_id[b][at] = e + 1;
            for (int c = 0; c < CORNERS; c++)
                mesh.corner[b][CORNERS * at + c] = place[corner_of(e, c)];
            at++;
        }
    }
    free(lowest), free(place), free(has);
}

static void remove_files(void) {
    char name[4200];
    MPI_Barrier(MPI_COMM_WORLD);
    if (standalone_rank == 0) {
        unlink(path);
        snprintf(name, sizeof name, "%s.tutti", path);
        unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Tutti */

static const char *const names[MOST_VARIABLES] = {"v0",  "v1",  "v2",  "v3", "v4",  "v5",
                                                  "v6",  "v7",  "v8",  "v9", "v10", "v11",
                                                  "v12", "v13", "v14", "v15"};

static double tutti_write(int checksums, int with_step) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_elements blocks[BLOCKS];
    for (int b = 0; b < BLOCKS; b++)
        blocks[b] = (tutti_exodus_elements){
            .n = mesh.n_of[b], .ids = mesh.element_id[b], .nodes = mesh.corner[b]};
    const tutti_exodus_mesh m = {.nodes = mesh.n,
                                 .node_ids = mesh.id,
                                 .coordinates = {mesh.x[0], mesh.x[1], mesh.x[2]},
                                 .blocks = blocks};
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.overwrite = 1;
    opt.checksums = opt.sidecar = checksums;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = measure_now();
    must_tutti(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    must_tutti(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "bench", .dims = 3}));
    must_tutti(tutti_exodus_define(
        x, BLOCKS,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 2, .topology = "HEX8"}}));
    if (with_step) must_tutti(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, (int)variables, names));
    must_tutti(tutti_exodus_put_mesh(x, &m));
    if (with_step) {
        tutti_exodus_field f[MOST_VARIABLES];
        for (int v = 0; v < variables; v++)
            f[v] = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                        .variable = names[v],
                                        .type = TUTTI_FLOAT64,
                                        .buf = mesh.x[v % 3]};
        must_tutti(tutti_exodus_begin(x, 1));
        must_tutti(tutti_exodus_put(x, (int)variables, f));
        must_tutti(tutti_exodus_commit(x));
    }
    must_tutti(tutti_exodus_close(&x));
    return measure_now() - start;
}

static double write_plain(void) {
    return tutti_write(0, 0);
}

static double write_checksums(void) {
    return tutti_write(1, 0);
}

static double read_by_order(void) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = measure_now();
    must_tutti(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    must_tutti(tutti_exodus_get_mesh(
        x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER}, &m));
    const double took = measure_now() - start;
    const double *y = m->coordinates[1];
    standalone_check(m->nodes > 0 &&
                         y[m->nodes - 1] == node_coordinate(m->node_ids[m->nodes - 1] - 1, 1),
                     "another mesh");
    must_tutti(tutti_exodus_close(&x));
    return took;
}

static double *values;

static double read_slabs(int with_decomposition) {
    tutti_exodus *x = NULL;
    tutti_decomposition *p = NULL;
    const int64_t lo = mesh.nodes * standalone_rank / standalone_ranks,
                  n = mesh.nodes * (standalone_rank + 1) / standalone_ranks - lo;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE,
                                           .slice = {.lo = {lo}, .hi = {lo + n}}};
    tutti_exodus_field f[MOST_VARIABLES];
    must_tutti(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    MPI_Barrier(MPI_COMM_WORLD);
    double start = measure_now();
    must_tutti(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &p));
    if (!with_decomposition) {
        MPI_Barrier(MPI_COMM_WORLD);
        start = measure_now();
    }
    for (int v = 0; v < variables; v++)
        f[v] = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                    .variable = names[v],
                                    .entries = p,
                                    .type = TUTTI_FLOAT64,
                                    .buf = values + v * n};
    must_tutti(tutti_exodus_get(x, 1, (int)variables, f));
    const double took = measure_now() - start;
    standalone_check(values[n - 1] == node_coordinate(lo + n - 1, 0), "other values");
    tutti_decomposition_free(&p);
    must_tutti(tutti_exodus_close(&x));
    return took;
}

static double slabs_new(void) {
    return read_slabs(1);
}

static double slabs_again(void) {
    return read_slabs(0);
}

/* ---- libexodusii */

static int ex_opened(int mode) {
    int compute = 8, stored = 0;
    float version;
    const int id = ex_open(path, mode, &compute, &stored, &version);
    standalone_check(id >= 0, "ex_open");
    return id;
}

/* Gather items of 8 bytes on rank 0; n: number of items of this rank. */
static void gather_values(const void *from, int64_t n, void *to) {
    int count = (int)n, *counts = standalone_alloc((size_t)standalone_ranks, sizeof *counts),
        *places = standalone_alloc((size_t)standalone_ranks, sizeof *places);
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 1; r < standalone_ranks; r++) places[r] = places[r - 1] + counts[r - 1];
    MPI_Gatherv(from, count, MPI_INT64_T, to, counts, places, MPI_INT64_T, 0, MPI_COMM_WORLD);
    free(counts), free(places);
}

static void write_block(int file, int b) {
    const int64_t all = mesh.elements[b], half = b ? mesh.elements[0] : 0, n = mesh.n_of[b];
    int64_t *nodes = standalone_alloc((size_t)CORNERS * n, sizeof *nodes);
    int64_t *ids = standalone_rank == 0 ? standalone_alloc((size_t)all, sizeof *ids) : NULL;
    int64_t *list =
        standalone_rank == 0 ? standalone_alloc((size_t)CORNERS * all, sizeof *list) : NULL;
    for (int64_t i = 0; i < CORNERS * n; i++) nodes[i] = mesh.id[mesh.corner[b][i]];
    gather_values(mesh.element_id[b], n, ids);
    gather_values(nodes, CORNERS * n, list);
    if (standalone_rank == 0) {
        int *out = standalone_alloc((size_t)CORNERS * all, sizeof *out);
        for (int64_t i = 0; i < all; i++)
            for (int c = 0; c < CORNERS; c++)
                out[CORNERS * (ids[i] - half - 1) + c] = (int)list[CORNERS * i + c];
        standalone_check(ex_put_conn(file, EX_ELEM_BLOCK, b + 1, out, NULL, NULL) >= 0,
                         "ex_put_conn");
        free(out);
    }
    free(nodes), free(ids), free(list);
}

static double write_gathered(void) {
    int real = 8, file = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = measure_now();
    double *own = standalone_alloc((size_t)mesh.owned, sizeof *own), *in = NULL, *out[3] = {NULL};
    int64_t *ids = NULL, *own_ids = standalone_alloc((size_t)mesh.owned, sizeof *own_ids);
    if (standalone_rank == 0) {
        file = ex_create(path, EX_CLOBBER | EX_LARGE_MODEL, &real, &real);
        standalone_check(file >= 0, "ex_create");
        standalone_check(ex_put_init(file, "bench", 3, mesh.nodes,
                                     mesh.elements[0] + mesh.elements[1], BLOCKS, 0, 0) >= 0,
                         "ex_put_init");
        for (int b = 0; b < BLOCKS; b++)
            standalone_check(ex_put_block(file, EX_ELEM_BLOCK, b + 1, "HEX8", mesh.elements[b],
                                          CORNERS, 0, 0, 0) >= 0,
                             "ex_put_block");
        in = standalone_alloc((size_t)mesh.nodes, sizeof *in);
        ids = standalone_alloc((size_t)mesh.nodes, sizeof *ids);
        for (int k = 0; k < 3; k++) out[k] = standalone_alloc((size_t)mesh.nodes, sizeof *out[k]);
    }
    for (int64_t i = 0; i < mesh.owned; i++) own_ids[i] = mesh.id[mesh.own[i]];
    gather_values(own_ids, mesh.owned, ids);
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < mesh.owned; i++) own[i] = mesh.x[k][mesh.own[i]];
        gather_values(own, mesh.owned, in);
        for (int64_t i = 0; i < mesh.nodes && standalone_rank == 0; i++) out[k][ids[i] - 1] = in[i];
    }
    if (standalone_rank == 0)
        standalone_check(ex_put_coord(file, out[0], out[1], out[2]) >= 0, "ex_put_coord");
    for (int b = 0; b < BLOCKS; b++) write_block(file, b);
    if (standalone_rank == 0) standalone_check(ex_close(file) >= 0, "ex_close");
    free(own), free(own_ids), free(in), free(ids);
    for (int k = 0; k < 3; k++) free(out[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    return measure_now() - start;
}

static double read_one(void) {
    double took = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (standalone_rank == 0) {
        const double start = measure_now();
        double *x[3];
        int *list[BLOCKS], file = ex_opened(EX_READ);
        for (int k = 0; k < 3; k++) x[k] = standalone_alloc((size_t)mesh.nodes, sizeof *x[k]);
        standalone_check(ex_get_coord(file, x[0], x[1], x[2]) >= 0, "ex_get_coord");
        for (int b = 0; b < BLOCKS; b++) {
            list[b] = standalone_alloc((size_t)CORNERS * mesh.elements[b], sizeof *list[b]);
            standalone_check(ex_get_conn(file, EX_ELEM_BLOCK, b + 1, list[b], NULL, NULL) >= 0,
                             "ex_get_conn");
        }
        standalone_check(ex_close(file) >= 0, "ex_close");
        took = measure_now() - start;
        standalone_check(x[1][mesh.nodes - 1] == node_coordinate(mesh.nodes - 1, 1),
                         "another mesh");
        for (int k = 0; k < 3; k++) free(x[k]);
        for (int b = 0; b < BLOCKS; b++) free(list[b]);
    }
    return took;
}

static double read_everything(void) {
    const int file = ex_opened(EX_READ);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = measure_now();
    for (int v = 0; v < variables; v++)
        standalone_check(
            ex_get_var(file, 1, EX_NODAL, v + 1, 1, mesh.nodes, values + v * mesh.nodes) >= 0,
            "ex_get_var");
    const double took = measure_now() - start;
    standalone_check(values[mesh.nodes - 1] == node_coordinate(mesh.nodes - 1, 0), "other values");
    standalone_check(ex_close(file) >= 0, "ex_close");
    return took;
}

/* ---- rounds */

typedef struct {
    const char *name;
    double (*run)(void);
} variant;

static const struct {
    const char *title;
    int writes;
    variant variants[4];
} comparisons[] = {{"write mesh",
                    1,
                    {{"libexodusii, gathered", write_gathered},
                     {"put_mesh", write_plain},
                     {"put_mesh, checksums", write_checksums}}},
                   {"read mesh",
                    0,
                    {{"libexodusii, one process", read_one}, {"get_mesh by order", read_by_order}}},
                   {"read step",
                    0,
                    {{"libexodusii, everything", read_everything},
                     {"new slabs", slabs_new},
                     {"slabs again", slabs_again}}}};

static void run_comparison(measure *m, measure_variant *v, double *value) {
    if (m->data) remove_files(); /* only comparisons that write the file have m->data */
    value[0] = standalone_slowest(((const variant *)v->what)->run());
}

int main(int argc, char **argv) {
    static const char *const series_values[] = {"seconds", NULL};
    long rounds = 7;
    const char *only = "";
    const standalone_option options[] = {{"--nodes", OPTION_NUMBER, &edge, 4, 1000},
                                         {"--variables", OPTION_NUMBER, &variables, 1, 16},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--only", OPTION_TEXT, &only, 0, 0},
                                         {0}};
    const standalone program = {"exodus_mesh_peers", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    snprintf(path, sizeof path, "%s/exodus_mesh_peers.e", argv[0]);
    make_mesh();
    values = standalone_alloc((size_t)(variables * mesh.nodes), sizeof *values);
    for (int i = 0; i < 3; i++) {
        measure m = {.title = comparisons[i].title,
                     .values = series_values,
                     .rounds = (int)rounds,
                     .warmup = 1,
                     .data = comparisons[i].writes ? path : NULL,
                     .run = run_comparison};
        for (const variant *w = comparisons[i].variants; w->name; w++)
            if (w == comparisons[i].variants || strstr(m.title, only) || strstr(w->name, only))
                measure_add(&m, w->name, w);
        if (i == 1) { /* create the file that the other comparisons read */
            remove_files();
            (void)tutti_write(0, 1);
        }
        measure_rounds(&m);
        standalone_report(&m, "");
    }
    remove_files();
    return standalone_end_mpi();
}
