/* Prints the contents of an Exodus file with blocks, node sets and side sets as read by Tutti, in
 * the format of tests/exodus/exodus_reader.c.
 *
 *     corpus_reader FILE
 *
 * All ranks make the calls; rank 0 gets the whole mesh (get_mesh) and all results, and prints them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/exodus.h>

#define OK(call)                                                      \
    do {                                                              \
        if ((call) != TUTTI_OK) {                                     \
            fprintf(stderr, "%s: %s\n", #call, tutti_last_message()); \
            MPI_Abort(MPI_COMM_WORLD, 1);                             \
        }                                                             \
    } while (0)

static tutti_exodus *x;
static const tutti_exodus_mesh *m;
static tutti_exodus_parameters p;
static FILE *out;

static double *allocate_doubles(tutti_count n) {
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) MPI_Abort(MPI_COMM_WORLD, 1);
    return v;
}

static void print_reals(const double *v, tutti_count n) {
    for (tutti_count i = 0; i < n; i++) fprintf(out, " %.17g", v[i]);
    fprintf(out, "\n");
}

static void print_ids(const int64_t *v, tutti_count n) {
    for (tutti_count i = 0; i < n; i++) fprintf(out, " %lld", (long long)v[i]);
    fprintf(out, "\n");
}

/* Print local indices, counted from 1. */
static void print_places(const tutti_count *v, tutti_count n) {
    for (tutti_count i = 0; i < n; i++) fprintf(out, " %lld", (long long)v[i] + 1);
    fprintf(out, "\n");
}

static void print_file(void) {
    tutti_count n, each;
    tutti_type type = TUTTI_FLOAT64;
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                  .kind = TUTTI_EXODUS_NODAL};
    OK(tutti_exodus_array_size(x, &a, &n, &each, &type));
    fprintf(out, "title \"%s\"\nreal_bytes %d\ndims %d\nnodes %lld\nedges %lld\nfaces %lld\n",
            p.title, (int)tutti_type_size(type), p.dims, (long long)p.nodes, (long long)p.edges,
            (long long)p.faces);
    fprintf(out, "elements %lld\n", (long long)p.elements);
    for (int i = 0; i < tutti_exodus_qa_count(x); i++) {
        tutti_exodus_qa q;
        OK(tutti_exodus_qa_get(x, i, &q));
        fprintf(out, "qa \"%s\" \"%s\" \"%s\" \"%s\"\n", q.program, q.version, q.date, q.time);
    }
    for (int i = 0; tutti_exodus_info_line(x, i); i++)
        fprintf(out, "info \"%s\"\n", tutti_exodus_info_line(x, i));
    fprintf(out, "coordinate_names");
    for (int c = 0; c < p.dims; c++) fprintf(out, " \"%s\"", p.coordinate_names[c]);
    double *times = allocate_doubles(tutti_exodus_steps(x));
    OK(tutti_exodus_times(x, 1, tutti_exodus_steps(x), times));
    fprintf(out, "\ntimes");
    print_reals(times, tutti_exodus_steps(x));
    free(times);
}

static void print_nodes(void) {
    for (int c = 0; c < p.dims; c++) {
        fprintf(out, "coordinates %d", c);
        print_reals(m->coordinates[c], m->nodes);
    }
    fprintf(out, "node ids");
    print_ids(m->node_ids, m->nodes);
    if (p.elements == 0) return;
    fprintf(out, "element ids");
    for (tutti_count b = 0; b < tutti_exodus_entities(x, TUTTI_EXODUS_ELEMENT_BLOCK); b++)
        for (tutti_count i = 0; i < m->blocks[b].n; i++)
            fprintf(out, " %lld", (long long)m->blocks[b].ids[i]);
    fprintf(out, "\norder"); /* no file of the corpus has an order map */
    for (tutti_count i = 1; i <= p.elements; i++) fprintf(out, " %lld", (long long)i);
    fprintf(out, "\n");
}

static void print_block(const tutti_exodus_entity *e, const tutti_exodus_elements *b) {
    const long long id = (long long)e->id;
    fprintf(out, "element_block %lld topology \"%s\" entries %lld nodes %d edges 0 faces 0 ", id,
            e->topology, (long long)e->entries, e->nodes);
    fprintf(out, "attributes %d\nelement_block %lld connectivity", e->attributes, id);
    print_places(b->nodes, b->n * e->nodes);
    if (e->attributes == 0) return;
    fprintf(out, "element_block %lld attribute_names", id);
    for (int i = 0; i < e->attributes; i++)
        fprintf(out, " \"%s\"", tutti_exodus_attribute_name(x, e->kind, e->id, i));
    fprintf(out, "\nelement_block %lld attributes", id);
    print_reals(b->attributes, b->n * e->attributes);
}

/* Return the block of the element at `place`, and the element's position in the block in *in. */
static tutti_count block_of(tutti_count place, tutti_count *in) {
    tutti_count b = 0;
    for (*in = place; *in >= m->blocks[b].n; b++) *in -= m->blocks[b].n;
    return b;
}

static void print_side_nodes(const tutti_exodus_members *s, long long id, int counts) {
    fprintf(out, "side_set %lld %s", id, counts ? "side_counts" : "side_nodes");
    for (tutti_count i = 0; i < s->n; i++) {
        tutti_exodus_entity e;
        tutti_count in = 0;
        int which[9];
        const tutti_count b = block_of(s->members[i], &in);
        OK(tutti_exodus_entity_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, b, &e));
        const int n = tutti_exodus_side_nodes(e.topology, e.nodes, p.dims, s->sides[i], which);
        if (counts) fprintf(out, " %d", n);
        for (int k = 0; k < n && !counts; k++)
            fprintf(out, " %lld", (long long)m->blocks[b].nodes[in * e.nodes + which[k]] + 1);
    }
    fprintf(out, "\n");
}

static void print_set(const char *name, const tutti_exodus_entity *e,
                      const tutti_exodus_members *s) {
    const long long id = (long long)e->id;
    double *factors = allocate_doubles(e->factors);
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_FACTORS,
                                  .kind = e->kind,
                                  .id = e->id,
                                  .n = e->factors,
                                  .type = TUTTI_FLOAT64,
                                  .buf = factors};
    if (e->factors > 0)
        OK(tutti_exodus_get_arrays(x, 1, &a)); /* even if their number does not fit the sides */
    fprintf(out, "%s %lld entries %lld factors %lld\n", name, id, (long long)e->entries,
            (long long)e->factors);
    if (e->entries > 0) {
        fprintf(out, "%s %lld members", name, id);
        print_places(s->members, s->n);
        if (s->sides) {
            fprintf(out, "%s %lld sides", name, id);
            for (tutti_count i = 0; i < s->n; i++) fprintf(out, " %d", s->sides[i]);
            fprintf(out, "\n");
        }
        if (e->factors > 0) fprintf(out, "%s %lld factors", name, id);
        if (e->factors > 0) print_reals(s->factors ? s->factors : factors, e->factors);
        if (s->sides) print_side_nodes(s, id, 1);
        if (s->sides) print_side_nodes(s, id, 0);
    }
    free(factors);
}

/* Print the results of all entities of a kind; nodes and globals count as one entity without an id. */
static void print_variables(tutti_exodus_kind kind, const char *name, tutti_count entities) {
    const int n = tutti_exodus_variable_count(x, kind);
    if (n == 0) return;
    fprintf(out, "%s variables", name);
    for (int i = 0; i < n; i++) fprintf(out, " \"%s\"", tutti_exodus_variable_name(x, kind, i));
    fprintf(out, "\n");
    if (kind > TUTTI_EXODUS_NODAL) {
        fprintf(out, "%s truth", name);
        for (tutti_count i = 0; i < entities * n; i++)
            fprintf(out, " %d", tutti_exodus_has(x, kind, i / n, (int)(i % n)));
        fprintf(out, "\n");
    }
    for (tutti_count s = 1; s <= tutti_exodus_steps(x); s++)
        for (tutti_count k = 0; k < entities; k++)
            for (int v = 0; v < n; v++) {
                tutti_exodus_entity e = {.entries = n};
                if (kind > TUTTI_EXODUS_GLOBAL) OK(tutti_exodus_entity_get(x, kind, k, &e));
                if (!tutti_exodus_has(x, kind, k, v)) continue;
                double *values = allocate_doubles(e.entries);
                const tutti_exodus_field f = {
                    .kind = kind,
                    .id = e.id,
                    .variable =
                        kind > TUTTI_EXODUS_GLOBAL ? tutti_exodus_variable_name(x, kind, v) : NULL,
                    .type = TUTTI_FLOAT64,
                    .buf = values};
                OK(tutti_exodus_get(x, s, 1, &f));
                if (kind > TUTTI_EXODUS_GLOBAL)
                    fprintf(out, "%s %lld variable %d step %lld", name, (long long)e.id, v + 1,
                            (long long)s);
                else if (v == 0)
                    fprintf(out, "%s step %lld", name, (long long)s);
                if (kind > TUTTI_EXODUS_GLOBAL || v == 0) print_reals(values, e.entries);
                free(values);
            }
}

static void print_kind(tutti_exodus_kind kind, const char *name, const tutti_exodus_members *sets) {
    const tutti_count n = tutti_exodus_entities(x, kind);
    tutti_exodus_entity e;
    if (n == 0) return;
    fprintf(out, "%s ids", name);
    for (tutti_count i = 0; i < n; i++) {
        OK(tutti_exodus_entity_get(x, kind, i, &e));
        fprintf(out, " %lld", (long long)e.id);
    }
    fprintf(out, "\n%s names", name);
    for (tutti_count i = 0; i < n; i++) {
        OK(tutti_exodus_entity_get(x, kind, i, &e));
        fprintf(out, " \"%s\"", e.name);
    }
    fprintf(out, "\n");
    for (tutti_count i = 0; i < n; i++) {
        OK(tutti_exodus_entity_get(x, kind, i, &e));
        if (kind == TUTTI_EXODUS_ELEMENT_BLOCK)
            print_block(&e, &m->blocks[i]);
        else
            print_set(name, &e, &sets[i]);
    }
    print_variables(kind, name, n);
}

int main(int argc, char **argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = rank == 0 ? stdout : fopen("/dev/null", "w");
    if (argc != 2 || !out) MPI_Abort(MPI_COMM_WORLD, 2);
    OK(tutti_exodus_open(MPI_COMM_WORLD, argv[1], TUTTI_READ, NULL, &x));
    OK(tutti_exodus_parameters_get(x, &p));
    OK(tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_ON_ROOT},
                             &m));
    print_file();
    print_nodes();
    print_variables(TUTTI_EXODUS_GLOBAL, "global", 1);
    print_variables(TUTTI_EXODUS_NODAL, "nodal", 1);
    print_kind(TUTTI_EXODUS_ELEMENT_BLOCK, "element_block", NULL);
    print_kind(TUTTI_EXODUS_NODE_SET, "node_set", m->node_sets);
    print_kind(TUTTI_EXODUS_SIDE_SET, "side_set", m->side_sets);
    OK(tutti_exodus_close(&x));
    MPI_Finalize();
    return 0;
}
