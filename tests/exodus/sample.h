/* A file with entities of every kind, written and read by put_arrays and get_arrays.  Every value is a
 * function of its position, so that no other model is needed for comparison.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_EXODUS_SAMPLE_H
#define TUTTI_TESTS_EXODUS_SAMPLE_H

#include <tutti/tutti.h>
#include <tutti/exodus.h>
#include "check.h"

enum {
    SAMPLE_NODES = 12000,
    SAMPLE_HEXES = 3000,
    SAMPLE_TETS = 1700,
    SAMPLE_POLYGONS = 3,
    SAMPLE_CORNERS = 13, /* number of corners of all polygons */
    SAMPLE_ELEMENTS = SAMPLE_HEXES + SAMPLE_TETS + SAMPLE_POLYGONS,
    SAMPLE_EDGES = 200,
    SAMPLE_FACES = 100
};

#define SAMPLE_N(v) ((int)(sizeof(v) / sizeof(v)[0]))

static const tutti_exodus_entity sample_entities[] = {
    {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
     .id = 10,
     .name = "hexes",
     .topology = "HEX8",
     .entries = SAMPLE_HEXES,
     .edges = 12,
     .faces = 6,
     .attributes = 2},
    {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 20, .topology = "TET4", .entries = SAMPLE_TETS},
    {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 30, .name = "none", .topology = "WEDGE6"},
    {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
     .id = 40,
     .topology = "nsided",
     .entries = SAMPLE_POLYGONS,
     .list_length = SAMPLE_CORNERS},
    {.kind = TUTTI_EXODUS_EDGE_BLOCK,
     .id = 5,
     .topology = "EDGE2",
     .nodes = 2,
     .entries = SAMPLE_EDGES,
     .attributes = 1},
    {.kind = TUTTI_EXODUS_FACE_BLOCK,
     .id = 6,
     .topology = "QUAD4",
     .entries = SAMPLE_FACES,
     .attributes = 1},
    {.kind = TUTTI_EXODUS_NODE_SET, .id = 7, .name = "left", .entries = 50, .factors = 50},
    {.kind = TUTTI_EXODUS_NODE_SET, .id = 8},
    {.kind = TUTTI_EXODUS_NODE_SET, .id = 70, .entries = 11, .attributes = 1},
    {.kind = TUTTI_EXODUS_SIDE_SET, .id = 9, .name = "flux", .entries = 40, .factors = 160},
    {.kind = TUTTI_EXODUS_ELEMENT_SET, .id = 11, .entries = 20, .factors = 20},
    {.kind = TUTTI_EXODUS_EDGE_SET, .id = 12, .entries = 15},
    {.kind = TUTTI_EXODUS_FACE_SET, .id = 13, .entries = 16, .factors = 16, .attributes = 1},
    {.kind = TUTTI_EXODUS_NODE_MAP, .id = 100, .name = "colours"},
    {.kind = TUTTI_EXODUS_ELEMENT_MAP, .id = 101},
    {.kind = TUTTI_EXODUS_ELEMENT_MAP, .id = 102, .name = "second"},
};

/* An array, with kind and id of its entity. */
typedef struct {
    tutti_exodus_array_kind what;
    tutti_exodus_kind kind;
    int64_t id;
    int component;
    tutti_count entries, numbers;
    int is_real;
} sample_array;

static const sample_array sample_arrays[] = {
    {TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, 0, 0, SAMPLE_NODES, 1, 1},
    {TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, 0, 1, SAMPLE_NODES, 1, 1},
    {TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, 0, 2, SAMPLE_NODES, 1, 1},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_NODAL, 0, 0, SAMPLE_NODES, 2, 1},
    {TUTTI_EXODUS_IDS, TUTTI_EXODUS_NODAL, 0, 0, SAMPLE_NODES, 1, 0},
    {TUTTI_EXODUS_IDS, TUTTI_EXODUS_ELEMENT_BLOCK, 0, 0, SAMPLE_ELEMENTS, 1, 0},
    {TUTTI_EXODUS_ORDER, TUTTI_EXODUS_ELEMENT_BLOCK, 0, 0, SAMPLE_ELEMENTS, 1, 0},
    {TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 0, SAMPLE_HEXES, 8, 0},
    {TUTTI_EXODUS_EDGES, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 0, SAMPLE_HEXES, 12, 0},
    {TUTTI_EXODUS_FACES, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 0, SAMPLE_HEXES, 6, 0},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 0, SAMPLE_HEXES, 2, 1},
    {TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, 20, 0, SAMPLE_TETS, 4, 0},
    {TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, 40, 0, SAMPLE_CORNERS, 1, 0},
    {TUTTI_EXODUS_COUNTS, TUTTI_EXODUS_ELEMENT_BLOCK, 40, 0, SAMPLE_POLYGONS, 1, 0},
    {TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_EDGE_BLOCK, 5, 0, SAMPLE_EDGES, 2, 0},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_EDGE_BLOCK, 5, 0, SAMPLE_EDGES, 1, 1},
    {TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_FACE_BLOCK, 6, 0, SAMPLE_FACES, 4, 0},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_FACE_BLOCK, 6, 0, SAMPLE_FACES, 1, 1},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_NODE_SET, 7, 0, 50, 1, 0},
    {TUTTI_EXODUS_FACTORS, TUTTI_EXODUS_NODE_SET, 7, 0, 50, 1, 1},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_NODE_SET, 70, 0, 11, 1, 0},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_NODE_SET, 70, 0, 11, 1, 1},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_SIDE_SET, 9, 0, 40, 1, 0},
    {TUTTI_EXODUS_SIDES, TUTTI_EXODUS_SIDE_SET, 9, 0, 40, 1, 0},
    {TUTTI_EXODUS_FACTORS, TUTTI_EXODUS_SIDE_SET, 9, 0, 160, 1, 1},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_ELEMENT_SET, 11, 0, 20, 1, 0},
    {TUTTI_EXODUS_FACTORS, TUTTI_EXODUS_ELEMENT_SET, 11, 0, 20, 1, 1},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_EDGE_SET, 12, 0, 15, 1, 0},
    {TUTTI_EXODUS_SIDES, TUTTI_EXODUS_EDGE_SET, 12, 0, 15, 1, 0},
    {TUTTI_EXODUS_MEMBERS, TUTTI_EXODUS_FACE_SET, 13, 0, 16, 1, 0},
    {TUTTI_EXODUS_SIDES, TUTTI_EXODUS_FACE_SET, 13, 0, 16, 1, 0},
    {TUTTI_EXODUS_FACTORS, TUTTI_EXODUS_FACE_SET, 13, 0, 16, 1, 1},
    {TUTTI_EXODUS_ATTRIBUTES, TUTTI_EXODUS_FACE_SET, 13, 0, 16, 1, 1},
    {TUTTI_EXODUS_MAP, TUTTI_EXODUS_NODE_MAP, 100, 0, SAMPLE_NODES, 1, 0},
    {TUTTI_EXODUS_MAP, TUTTI_EXODUS_ELEMENT_MAP, 101, 0, SAMPLE_ELEMENTS, 1, 0},
    {TUTTI_EXODUS_MAP, TUTTI_EXODUS_ELEMENT_MAP, 102, 0, SAMPLE_ELEMENTS, 1, 0},
};
enum { SAMPLE_ARRAYS = SAMPLE_N(sample_arrays) };

/* Return value `k` of array `a`, which is exact in single precision.  Ids are permutations; the polygons have 4, 4
 * and 5 nodes. */
static inline int64_t sample_value(int a, tutti_count k) {
    const sample_array *s = &sample_arrays[a];
    if (s->what == TUTTI_EXODUS_IDS) return (k * 7 + 3) % s->entries + 1;
    if (s->what == TUTTI_EXODUS_COUNTS) return k == 2 ? 5 : 4;
    if (s->what == TUTTI_EXODUS_SIDES && s->kind != TUTTI_EXODUS_SIDE_SET) return k % 2 ? 1 : -1;
    if (s->what == TUTTI_EXODUS_SIDES) return k % 4 + 1;
    return (k * 13 + a * 5 + s->component) % 97 + 1;
}

/* A variable of an entity, and its number of values per step. */
typedef struct {
    tutti_exodus_kind kind;
    int64_t id;
    const char *variable;
    tutti_count entries;
} sample_field;

static const sample_field sample_fields[] = {
    {TUTTI_EXODUS_NODAL, 0, "temperature", SAMPLE_NODES},
    {TUTTI_EXODUS_NODAL, 0, "pressure", SAMPLE_NODES},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 10, "stress", SAMPLE_HEXES},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 20, "stress", SAMPLE_TETS},
    {TUTTI_EXODUS_ELEMENT_BLOCK, 10, "strain", SAMPLE_HEXES},
    {TUTTI_EXODUS_EDGE_BLOCK, 5, "length", SAMPLE_EDGES},
    {TUTTI_EXODUS_FACE_BLOCK, 6, "area", SAMPLE_FACES},
    {TUTTI_EXODUS_NODE_SET, 7, "load", 50},
    {TUTTI_EXODUS_SIDE_SET, 9, "heat", 40},
    {TUTTI_EXODUS_ELEMENT_SET, 11, "mark", 20},
    {TUTTI_EXODUS_EDGE_SET, 12, "mark", 15},
    {TUTTI_EXODUS_FACE_SET, 13, "mark", 16},
};
enum { SAMPLE_FIELDS = SAMPLE_N(sample_fields), SAMPLE_GLOBALS = 3 };

static inline double sample_result(int f, tutti_count step, tutti_count i) {
    return (double)((i * 31 + f * 17 + step * 101) % 1009) - 500;
}
static inline double sample_time(tutti_count step) {
    return 0.5 * (double)step;
}

static const char *const sample_nodal[] = {"temperature", "pressure"};
static const char *const sample_element[] = {"stress", "strain"};
static const char *const sample_global[] = {"energy", "mass", "dt"};
/* Rows are element blocks, columns are the variables stress and strain. */
static const unsigned char sample_truth[] = {1, 1, 1, 0, 1, 1, 0, 0};

/* Make all definitions of the file. */
static inline void sample_define(tutti_exodus *x) {
    static const struct {
        tutti_exodus_kind kind;
        const char *name;
    } singles[] = {{TUTTI_EXODUS_EDGE_BLOCK, "length"}, {TUTTI_EXODUS_FACE_BLOCK, "area"},
                   {TUTTI_EXODUS_NODE_SET, "load"},     {TUTTI_EXODUS_SIDE_SET, "heat"},
                   {TUTTI_EXODUS_ELEMENT_SET, "mark"},  {TUTTI_EXODUS_EDGE_SET, "mark"},
                   {TUTTI_EXODUS_FACE_SET, "mark"}};
    const int64_t materials[] = {3, 1, 4, 1};
    CHECK_OK(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "a sample",
                                                             .dims = 3,
                                                             .nodes = SAMPLE_NODES,
                                                             .elements = SAMPLE_ELEMENTS,
                                                             .edges = SAMPLE_EDGES,
                                                             .faces = SAMPLE_FACES,
                                                             .node_attributes = 2,
                                                             .has_node_ids = 1,
                                                             .has_element_ids = 1,
                                                             .has_order = 1}));
    CHECK_OK(tutti_exodus_define(x, SAMPLE_N(sample_entities), sample_entities));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 2, sample_nodal));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 2, sample_element));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, SAMPLE_GLOBALS, sample_global));
    for (int i = 0; i < SAMPLE_N(singles); i++)
        CHECK_OK(tutti_exodus_variables(x, singles[i].kind, 1, &singles[i].name));
    CHECK_OK(tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, sample_truth));
    CHECK_OK(tutti_exodus_attribute_names(x, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 2,
                                          (const char *[]){"thickness", "age"}));
    CHECK_OK(tutti_exodus_attribute_names(x, TUTTI_EXODUS_NODAL, 0, 2, (const char *[]){"a", "b"}));
    CHECK_OK(tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "MATERIAL", materials));
    CHECK_OK(tutti_exodus_put_qa(x, 1, &(tutti_exodus_qa){"sample", "1", "today", "now"}));
    CHECK_OK(tutti_exodus_put_info(x, 2, (const char *[]){"first line", "second line"}));
}

/* Return the piece of this rank of `n` entries. */
static inline void sample_piece(MPI_Comm comm, tutti_count n, tutti_count *first,
                                tutti_count *count) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *first = n * rank / size;
    *count = n * (rank + 1) / size - *first;
}

/* Create the pieces of this rank of all arrays; reals as double, integers as int64.  fill: set their values,
 * otherwise set all values to -7. */
static inline void sample_pieces(MPI_Comm comm, int fill, tutti_exodus_array v[SAMPLE_ARRAYS]) {
    for (int a = 0; a < SAMPLE_ARRAYS; a++) {
        const sample_array *s = &sample_arrays[a];
        v[a] = (tutti_exodus_array){.array_kind = s->what,
                                    .kind = s->kind,
                                    .id = s->id,
                                    .component = s->component,
                                    .type = s->is_real ? TUTTI_FLOAT64 : TUTTI_INT64};
        sample_piece(comm, s->entries, &v[a].first, &v[a].n);
        v[a].buf = malloc((size_t)(v[a].n * s->numbers) * 8 + 8);
        for (tutti_count k = 0; k < v[a].n * s->numbers; k++) {
            const int64_t value = fill ? sample_value(a, v[a].first * s->numbers + k) : -7;
            if (s->is_real)
                ((double *)v[a].buf)[k] = (double)value;
            else
                ((int64_t *)v[a].buf)[k] = value;
        }
    }
}

static inline void sample_put_arrays(MPI_Comm comm, tutti_exodus *x) {
    tutti_exodus_array v[SAMPLE_ARRAYS];
    sample_pieces(comm, 1, v);
    CHECK_OK(tutti_exodus_put_arrays(x, SAMPLE_ARRAYS, v));
    for (int a = 0; a < SAMPLE_ARRAYS; a++) free(v[a].buf);
}

static inline void sample_get_arrays(MPI_Comm comm, tutti_exodus *x) {
    tutti_exodus_array v[SAMPLE_ARRAYS];
    sample_pieces(comm, 0, v);
    CHECK_OK(tutti_exodus_get_arrays(x, SAMPLE_ARRAYS, v));
    for (int a = 0; a < SAMPLE_ARRAYS; a++) {
        const sample_array *s = &sample_arrays[a];
        tutti_count wrong = -1;
        for (tutti_count k = 0; k < v[a].n * s->numbers && wrong < 0; k++) {
            const double got =
                s->is_real ? ((double *)v[a].buf)[k] : (double)((int64_t *)v[a].buf)[k];
            if (got != (double)sample_value(a, v[a].first * s->numbers + k)) wrong = k;
        }
        CHECK(wrong < 0, "array %d is wrong at %lld", a, (long long)wrong);
        free(v[a].buf);
    }
}

/* Create decompositions of all fields: entries are distributed cyclically; all ranks have the first entries. */
static inline void sample_decompose(MPI_Comm comm, tutti_exodus *x,
                                    tutti_decomposition *p[SAMPLE_FIELDS]) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int f = 0; f < SAMPLE_FIELDS; f++) {
        const sample_field *s = &sample_fields[f];
        tutti_count *index = malloc((size_t)s->entries * sizeof *index), n = 0;
        for (tutti_count i = 0; i < s->entries; i++)
            if (i < 5 || i / 3 % size == rank) index[n++] = i;
        const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = n, .index = index};
        CHECK_OK(tutti_exodus_decomposition(x, s->kind, s->id, &spec, &p[f]));
        free(index);
    }
}

/* Create the fields of a step for put or get. */
static inline void sample_step_fields(tutti_decomposition *const p[SAMPLE_FIELDS], tutti_count step,
                                      tutti_exodus_field v[SAMPLE_FIELDS]) {
    for (int f = 0; f < SAMPLE_FIELDS; f++) {
        const tutti_count n = tutti_decomposition_entries(p[f]);
        tutti_count *at = malloc((size_t)n * sizeof *at + 8);
        double *buf = malloc((size_t)n * sizeof *buf + 8);
        CHECK_OK(tutti_decomposition_positions(p[f], at));
        for (tutti_count i = 0; i < n; i++) buf[i] = step > 0 ? sample_result(f, step, at[i]) : -7;
        v[f] = (tutti_exodus_field){.kind = sample_fields[f].kind,
                                    .id = sample_fields[f].id,
                                    .variable = sample_fields[f].variable,
                                    .type = TUTTI_FLOAT64,
                                    .buf = buf,
                                    .entries = p[f]};
        free(at);
    }
}

static inline void sample_put_step(tutti_exodus *x, tutti_decomposition *const p[SAMPLE_FIELDS],
                                   tutti_count step) {
    tutti_exodus_field v[SAMPLE_FIELDS + 1];
    double globals[SAMPLE_GLOBALS];
    for (int i = 0; i < SAMPLE_GLOBALS; i++) globals[i] = sample_result(100, step, i);
    CHECK_OK(tutti_exodus_begin(x, sample_time(step)));
    sample_step_fields(p, step, v);
    v[SAMPLE_FIELDS] =
        (tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = globals};
    CHECK_OK(tutti_exodus_put(x, SAMPLE_FIELDS + 1, v));
    CHECK_OK(tutti_exodus_commit(x));
    for (int f = 0; f < SAMPLE_FIELDS; f++) free(v[f].buf);
}

static inline void sample_get_step(tutti_exodus *x, tutti_decomposition *const p[SAMPLE_FIELDS],
                                   tutti_count step) {
    tutti_exodus_field v[SAMPLE_FIELDS + 1], want[SAMPLE_FIELDS];
    double globals[SAMPLE_GLOBALS] = {-7, -7, -7}, time = -7;
    sample_step_fields(p, 0, v);
    sample_step_fields(p, step, want);
    v[SAMPLE_FIELDS] =
        (tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL, .type = TUTTI_FLOAT64, .buf = globals};
    CHECK_OK(tutti_exodus_get(x, step, SAMPLE_FIELDS + 1, v));
    for (int f = 0; f < SAMPLE_FIELDS; f++) {
        const size_t bytes = (size_t)tutti_decomposition_entries(p[f]) * sizeof(double);
        CHECK(memcmp(v[f].buf, want[f].buf, bytes) == 0, "field %d of step %lld", f,
              (long long)step);
        free(v[f].buf);
        free(want[f].buf);
    }
    for (int i = 0; i < SAMPLE_GLOBALS; i++)
        CHECK(globals[i] == sample_result(100, step, i), "global %d of step %lld: %g", i,
              (long long)step, globals[i]);
    CHECK_OK(tutti_exodus_times(x, step, 1, &time));
    CHECK(time == sample_time(step), "%g", time);
}

/* Write a complete file. */
static inline void sample_write(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                                tutti_count steps) {
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus *x = NULL;
    CHECK_OK(tutti_exodus_create(comm, path, opt, &x));
    if (!x) return;
    sample_define(x);
    CHECK_OK(tutti_exodus_end_definitions(x));
    sample_put_arrays(comm, x);
    sample_decompose(comm, x, p);
    for (tutti_count s = 1; s <= steps; s++) sample_put_step(x, p, s);
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_OK(tutti_exodus_close(&x));
}

/* Check all definitions of the file. */
static inline void sample_look(tutti_exodus *x, int with_empty_topology) {
    tutti_exodus_parameters p;
    tutti_exodus_qa qa;
    int64_t materials[4];
    CHECK_OK(tutti_exodus_parameters_get(x, &p));
    CHECK(strcmp(p.title, "a sample") == 0, "%s", p.title);
    CHECK(p.dims == 3 && p.nodes == SAMPLE_NODES && p.elements == SAMPLE_ELEMENTS &&
              p.edges == SAMPLE_EDGES && p.faces == SAMPLE_FACES && p.node_attributes == 2 &&
              p.has_node_ids && p.has_element_ids && p.has_order && !p.has_edge_ids,
          "parameters");
    CHECK(strcmp(p.coordinate_names[2], "z") == 0, "%s", p.coordinate_names[2]);
    tutti_count seen[TUTTI_EXODUS_KINDS] = {0};
    for (int i = 0; i < SAMPLE_N(sample_entities); i++) {
        const tutti_exodus_entity *want = &sample_entities[i];
        tutti_exodus_entity e;
        tutti_count number = -1;
        CHECK_OK(tutti_exodus_entity_get(x, want->kind, seen[want->kind], &e));
        CHECK_OK(tutti_exodus_find(x, want->kind, want->id, &number));
        CHECK_EQ(number, seen[want->kind]++);
        CHECK_EQ(e.id, want->id);
        CHECK(strcmp(e.name, want->name ? want->name : "") == 0, "%d: '%s'", i, e.name);
        const int map = want->kind >= TUTTI_EXODUS_NODE_MAP;
        if (!map) CHECK_EQ(e.entries, want->entries);
        CHECK(e.factors == want->factors && e.list_length == want->list_length, "entity %d", i);
        CHECK(e.edges == want->edges && e.faces == want->faces, "entity %d", i);
        if (e.entries > 0) CHECK_EQ(e.attributes, want->attributes);
        if (want->topology && (with_empty_topology || e.entries > 0))
            CHECK(strcmp(e.topology, want->topology) == 0, "entity %d: '%s'", i, e.topology);
    }
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++)
        CHECK_EQ(tutti_exodus_entities(x, (tutti_exodus_kind)k), seen[k]);
    CHECK_EQ(tutti_exodus_variable_count(x, TUTTI_EXODUS_GLOBAL), SAMPLE_GLOBALS);
    CHECK(strcmp(tutti_exodus_variable_name(x, TUTTI_EXODUS_NODAL, 1), "pressure") == 0, "name");
    CHECK(!tutti_exodus_variable_name(x, TUTTI_EXODUS_NODAL, 2), "there are two");
    for (int i = 0; i < 8; i++)
        CHECK(tutti_exodus_has(x, TUTTI_EXODUS_ELEMENT_BLOCK, i / 2, i % 2) == sample_truth[i],
              "truth %d", i);
    CHECK(strcmp(tutti_exodus_attribute_name(x, TUTTI_EXODUS_ELEMENT_BLOCK, 10, 1), "age") == 0,
          "attribute");
    CHECK(strcmp(tutti_exodus_attribute_name(x, TUTTI_EXODUS_NODAL, 0, 0), "a") == 0, "attribute");
    CHECK(strcmp(tutti_exodus_property_name(x, TUTTI_EXODUS_ELEMENT_BLOCK, 0), "MATERIAL") == 0,
          "property");
    CHECK_OK(tutti_exodus_property_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, "MATERIAL", materials));
    CHECK(materials[0] == 3 && materials[3] == 1, "%lld", (long long)materials[0]);
    CHECK_EQ(tutti_exodus_qa_count(x), 1);
    CHECK_OK(tutti_exodus_qa_get(x, 0, &qa));
    CHECK(strcmp(qa.program, "sample") == 0 && strcmp(qa.time, "now") == 0, "%s", qa.program);
    CHECK(strcmp(tutti_exodus_info_line(x, 1), "second line") == 0, "info");
    CHECK(!tutti_exodus_info_line(x, 2), "there are two");
}

/* Check definitions and values of the complete file. */
static inline void sample_check(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                                tutti_count steps) {
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus *x = NULL;
    CHECK_OK(tutti_exodus_open(comm, path, TUTTI_READ, opt, &x));
    if (!x) return;
    sample_look(x, tutti_exodus_warning(x)[0] == 0 && (!opt || opt->sidecar));
    CHECK_EQ(tutti_exodus_steps(x), steps);
    sample_get_arrays(comm, x);
    sample_decompose(comm, x, p);
    for (tutti_count s = 1; s <= steps; s++) sample_get_step(x, p, s);
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_OK(tutti_exodus_close(&x));
}

#endif
