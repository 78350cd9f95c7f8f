/* TEST ranks=1,4 timeout=60 */
/* Step 9.  Finite elements: a rod of hexahedra in one shared Exodus file, which ParaView opens.  Each rank passes
 * its elements by global ids and its values at every step.  The file is read with another distribution.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { LONG = 24, ACROSS = 4, STEPS = 3, PER_SLAB = (ACROSS + 1) * (ACROSS + 1) };

/* The part of a rank: slabs of elements with all their nodes; nodes between two slabs are on both ranks. */
typedef struct {
    tutti_count nodes, elements, node[LONG * ACROSS * ACROSS * 8], end[ACROSS * ACROSS];
    int64_t node_id[(LONG + 1) * PER_SLAB], element_id[LONG * ACROSS * ACROSS];
    int side[ACROSS * ACROSS];
    double x[3][(LONG + 1) * PER_SLAB], t[(LONG + 1) * PER_SLAB];
} part;

static void part_make(part *p, int first, int last) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int i = first; i <= last && first < last; i++)
        for (int k = 0; k < PER_SLAB; k++, p->nodes++) {
            p->node_id[p->nodes] = 1 + (int64_t)i * PER_SLAB + k;
            p->x[0][p->nodes] = i;
            p->x[1][p->nodes] = k % (ACROSS + 1);
            p->x[2][p->nodes] = k / (ACROSS + 1);
        }
    for (int i = first; i < last; i++)
        for (int k = 0; k < ACROSS * ACROSS; k++, p->elements++) {
            p->element_id[p->elements] = 1 + (int64_t)i * ACROSS * ACROSS + k;
            for (int c = 0; c < 8; c++)
                p->node[8 * p->elements + c] = (i - first + corner[c][0]) * PER_SLAB + k % ACROSS +
                                               corner[c][1] +
                                               (k / ACROSS + corner[c][2]) * (ACROSS + 1);
            if (i == 0) p->end[k] = p->elements, p->side[k] = 4; /* this is the side at x = 0 */
        }
}

static tutti_err write_all(part *p, int has_end) {
    tutti_exodus *x = NULL;
    const tutti_exodus_elements rod = {.n = p->elements, .ids = p->element_id, .nodes = p->node};
    const tutti_exodus_members heated = {
        .n = has_end ? ACROSS * ACROSS : 0, .members = p->end, .sides = p->side};
    const tutti_exodus_mesh mine = {.nodes = p->nodes,
                                    .node_ids = p->node_id,
                                    .coordinates = {p->x[0], p->x[1], p->x[2]},
                                    .blocks = &rod,
                                    .side_sets = &heated};
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    tutti_err err = tutti_exodus_create(MPI_COMM_WORLD, "step9.e", &opt, &x);
    if (!err) err = tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "a rod", .dims = 3});
    if (!err)
        err = tutti_exodus_define(
            x, 2,
            (tutti_exodus_entity[]){
                {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8", .name = "rod"},
                {.kind = TUTTI_EXODUS_SIDE_SET, .id = 7, .name = "heated"}});
    if (!err)
        err = tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"});
    if (!err) err = tutti_exodus_put_mesh(x, &mine);
    for (int step = 0; step < STEPS && !err; step++) {
        for (tutti_count i = 0; i < p->nodes; i++) p->t[i] = exp(-p->x[0][i] / (1 + step));
        err = tutti_exodus_begin(x, step);
        if (!err)
            err = tutti_exodus_put(x, 1,
                                   &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                         .variable = "temperature",
                                                         .type = TUTTI_FLOAT64,
                                                         .buf = p->t});
        if (!err) err = tutti_exodus_commit(x); /* the step is committed atomically */
    }
    if (x && tutti_exodus_close(&x)) err = tutti_last_error()->code;
    return err;
}

/* Read the last step with a distribution along the Hilbert curve. */
static tutti_err read_all(int *wrong) {
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *mine = NULL;
    double *t = NULL;
    tutti_err err = tutti_exodus_open(MPI_COMM_WORLD, "step9.e", TUTTI_READ, NULL, &x);
    if (!err)
        err = tutti_exodus_get_mesh(
            x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_CURVE}, &mine);
    if (!err) t = malloc((size_t)mine->nodes * sizeof *t + 1);
    if (!err)
        err = tutti_exodus_get(x, tutti_exodus_steps(x), 1,
                               &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                     .variable = "temperature",
                                                     .type = TUTTI_FLOAT64,
                                                     .buf = t});
    for (tutti_count i = 0; !err && i < mine->nodes; i++)
        *wrong += t[i] != exp(-((const double *)mine->coordinates[0])[i] / STEPS);
    free(t);
    if (x && tutti_exodus_close(&x)) err = tutti_last_error()->code;
    return err;
}

int main(int argc, char **argv) {
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    static part p;
    part_make(&p, LONG * rank / ranks, LONG * (rank + 1) / ranks);
    tutti_err err = write_all(&p, rank == 0 && p.elements > 0);
    if (!err) err = read_all(&wrong);
    if (err && rank == 0) fprintf(stderr, "%s\n", tutti_last_message());
    if (wrong) fprintf(stderr, "rank %d: %d values are wrong\n", rank, wrong);
    if (!err && rank == 0)
        printf("step9.e has %d steps of %d nodes\n", STEPS, (LONG + 1) * PER_SLAB);
    MPI_Finalize();
    return err || wrong ? 1 : 0;
}
