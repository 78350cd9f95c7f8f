/* exodus_peers: steps by Tutti, and many node sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <tutti/exodus.h>
#include "exodus_peers.h"

void must_tutti(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

static tutti_exodus *file;

static void tutti_open(int contiguous) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = durable ? TUTTI_DURABLE : TUTTI_VISIBLE;
    opt.overwrite = 1;
    char names[MOST_VARIABLES][16];
    const char *list[MOST_VARIABLES];
    for (int v = 0; v < variables; v++) {
        snprintf(names[v], sizeof names[v], "v%d", v);
        list[v] = names[v];
    }
    must_tutti(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &file));
    must_tutti(tutti_exodus_init(file, &(tutti_exodus_parameters){.title = "steps", .dims = 3}));
    must_tutti(tutti_exodus_define(
        file, 2,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 2, .topology = "HEX8"}}));
    must_tutti(tutti_exodus_variables(file, TUTTI_EXODUS_NODAL, (int)variables, list));
    must_tutti(tutti_exodus_variables(file, TUTTI_EXODUS_ELEMENT_BLOCK, (int)variables, list));
    const tutti_count n = edge - 1, half = n / 2 * n * n;
    tutti_count *place = standalone_alloc((size_t)at[0].all, sizeof *place);
    int64_t *ids = standalone_alloc((size_t)at[0].n, sizeof *ids);
    double *x = standalone_alloc((size_t)at[0].n, sizeof *x);
    for (tutti_count i = 0; i < at[0].n; i++) {
        place[at[0].position[i]] = i;
        ids[i] = 1 + (contiguous ? at[0].renumbered[i] : at[0].position[i]);
        x[i] = (double)i;
    }
    tutti_exodus_elements blocks[2];
    for (int b = 0; b < 2; b++) {
        const space *s = &at[1 + b];
        int64_t *own = standalone_alloc((size_t)s->n, sizeof *own);
        tutti_count *nodes = standalone_alloc((size_t)8 * s->n, sizeof *nodes);
        for (tutti_count e = 0; e < s->n; e++) {
            own[e] = 1 + b * half + (contiguous ? s->renumbered[e] : s->position[e]);
            for (int c = 0; c < 8; c++)
                nodes[8 * e + c] = place[corner_of(b * half + s->position[e], c)];
        }
        blocks[b] = (tutti_exodus_elements){.n = s->n, .ids = own, .nodes = nodes};
    }
    must_tutti(tutti_exodus_put_mesh(
        file, &(tutti_exodus_mesh){
                  .nodes = at[0].n, .node_ids = ids, .coordinates = {x, x, x}, .blocks = blocks}));
    for (int b = 0; b < 2; b++) free((void *)blocks[b].ids), free((void *)blocks[b].nodes);
    free(place), free(ids), free(x);
}

static int tutti_fields(int got, tutti_exodus_field *out) {
    static char names[MOST_VARIABLES][16];
    int n = 0;
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            snprintf(names[v], sizeof names[v], "v%d", v);
            out[n++] =
                (tutti_exodus_field){.kind = s ? TUTTI_EXODUS_ELEMENT_BLOCK : TUTTI_EXODUS_NODAL,
                                     .id = s,
                                     .variable = names[v],
                                     .type = TUTTI_FLOAT64,
                                     .buf = got ? at[s].got[v] : at[s].put[v]};
        }
    return n;
}

static void tutti_write(int contiguous, int step) {
    (void)contiguous;
    tutti_exodus_field fields[SPACES * MOST_VARIABLES];
    const int n = tutti_fields(0, fields);
    must_tutti(tutti_exodus_begin(file, 0.5 * step));
    must_tutti(tutti_exodus_put(file, n, fields));
    must_tutti(tutti_exodus_commit(file));
}

static void tutti_check(int contiguous) {
    (void)contiguous;
    tutti_exodus_field fields[SPACES * MOST_VARIABLES];
    const int n = tutti_fields(1, fields);
    must_tutti(tutti_exodus_get(file, steps, n, fields));
}

static void tutti_close(int contiguous) {
    (void)contiguous;
    must_tutti(tutti_exodus_close(&file));
    remove_file();
}

const method tutti_methods[2] = {
    {"Tutti, by id", 0, tutti_open, tutti_write, tutti_check, tutti_close},
    {"Tutti, contiguous", 1, tutti_open, tutti_write, tutti_check, tutti_close},
};

/* ---- many node sets */

enum { MEMBERS = 8 };

typedef struct {
    /* number of sets; nodes in total and on this rank; first node of this rank */
    tutti_count n, nodes, local, first;
    int64_t *ids;
    double *x;
    tutti_exodus_entity *entity;
    tutti_exodus_members *members;
    char (*names)[32];
    tutti_count *places;
} set_scene;

/* Create the sets; set k has the nodes 4 k + 0 ... 7. */
static void make_sets(long n, set_scene *s) {
    const int rank = standalone_rank, ranks = standalone_ranks;
    tutti_count m = 0;
    s->n = n;
    s->nodes = 4 * n;
    s->local = s->nodes / ranks + (rank < s->nodes % ranks);
    s->first = s->nodes / ranks * rank + (rank < s->nodes % ranks ? rank : s->nodes % ranks);
    s->ids = standalone_alloc((size_t)s->local, sizeof *s->ids);
    s->x = standalone_alloc((size_t)s->local, sizeof *s->x);
    s->entity = standalone_alloc((size_t)n, sizeof *s->entity);
    s->members = standalone_alloc((size_t)n, sizeof *s->members);
    s->names = standalone_alloc((size_t)n, sizeof *s->names);
    s->places = standalone_alloc((size_t)n * MEMBERS, sizeof *s->places);
    for (tutti_count i = 0; i < s->local; i++) {
        s->ids[i] = 1 + s->first + i;
        s->x[i] = (double)(s->first + i);
    }
    for (long k = 0; k < n; k++) {
        snprintf(s->names[k], sizeof s->names[k], "set_%ld", k);
        s->entity[k] = (tutti_exodus_entity){
            .kind = TUTTI_EXODUS_NODE_SET, .id = 10 + 3 * k, .name = s->names[k]};
        s->members[k].members = s->places + m;
        for (int i = 0; i < MEMBERS; i++) {
            const tutti_count node = (4 * k + i) % s->nodes - s->first;
            if (node < 0 || node >= s->local) continue;
            s->places[m++] = node;
            s->members[k].n++;
        }
    }
}

static void write_sets(const set_scene *s) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = durable ? TUTTI_DURABLE : TUTTI_VISIBLE;
    must_tutti(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &file));
    must_tutti(tutti_exodus_init(file, &(tutti_exodus_parameters){.title = "sets", .dims = 1}));
    must_tutti(tutti_exodus_define(file, s->n, s->entity));
    must_tutti(tutti_exodus_put_mesh(file, &(tutti_exodus_mesh){.nodes = s->local,
                                                                .node_ids = s->ids,
                                                                .coordinates = {s->x},
                                                                .node_sets = s->members}));
    must_tutti(tutti_exodus_close(&file));
}

/* Read all sets on rank 0, like the serial program. */
static void read_sets(const set_scene *s, int64_t *list) {
    tutti_exodus_array *arrays = standalone_alloc((size_t)s->n, sizeof *arrays);
    for (tutti_count k = 0; k < s->n; k++)
        arrays[k] = (tutti_exodus_array){.array_kind = TUTTI_EXODUS_MEMBERS,
                                         .kind = TUTTI_EXODUS_NODE_SET,
                                         .id = s->entity[k].id,
                                         .n = standalone_rank == 0 ? MEMBERS : 0,
                                         .type = TUTTI_INT64,
                                         .buf = list + k * MEMBERS};
    must_tutti(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &file));
    must_tutti(tutti_exodus_get_arrays(file, s->n, arrays));
    must_tutti(tutti_exodus_close(&file));
    free(arrays);
}

static void run_sets(measure *m, measure_variant *v, double *value) {
    const set_scene *s = m->data;
    int64_t *list = standalone_alloc((size_t)s->n * MEMBERS, sizeof *list);
    (void)v;
    double start = standalone_together();
    write_sets(s);
    value[0] = standalone_slowest(measure_now() - start);
    start = measure_now();
    read_sets(s, list);
    value[1] = standalone_slowest(measure_now() - start);
    for (tutti_count k = 0; k < s->n - 1 && standalone_rank == 0; k++)
        for (int i = 0; i < MEMBERS && 4 * k + i < s->nodes; i++)
            standalone_check(list[k * MEMBERS + i] == 4 * k + i + 1,
                             "wrong member of a set was read");
    free(list);
    remove_file();
}

void measure_sets(long n, int rounds) {
    static const char *const values[] = {"seconds", "read_seconds", NULL};
    set_scene s;
    measure m = {
        .title = "node sets", .values = values, .rounds = rounds, .data = &s, .run = run_sets};
    make_sets(n, &s);
    measure_add(&m, "Tutti", NULL);
    measure_rounds(&m);
    standalone_report(&m, "");
    free(s.ids), free(s.x), free(s.entity), free(s.members), free(s.names), free(s.places);
}
