/* tutti import of an Exodus file into a dataset: a topology segment with the mesh, and a state for each step.
 *
 * Lists: nodes; block-ID, edge-block-ID, face-block-ID for the entries of blocks; node-set-ID and so on for
 * members of sets.  The lists of nodes and elements have id maps; all references use these ids:
 *
 *   coordinates                   of nodes
 *   block-1.nodes                 on the list block-1: ids of the nodes of its elements
 *   side-set-7.members            ids of the elements; side-set-7.sides: numbers of their sides
 *   temperature                   nodal variables keep their names
 *   block-1.stress                other variables have the name of the list as prefix
 *   energy                        global variables are on the grid `global`
 *
 * Each rank copies its share of every array, in the order of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const cli_world *world;
    const data_config *config;
    tutti_exodus *x;
    tutti_dataset *d;
    exodus_outline o;
    const char *from;
} transfer;

/* ---- names */

static char *list_name(int kind, int64_t id) {
    if (kind == TUTTI_EXODUS_NODAL) return cli_strdup("nodes");
    if (kind == TUTTI_EXODUS_GLOBAL) return cli_strdup("global");
    if (kind == TUTTI_EXODUS_ELEMENT_BLOCK) return cli_format("block-%lld", (long long)id);
    char *name = cli_format("%s-%lld", tutti_exodus_kind_name(kind), (long long)id);
    for (char *s = name; *s; s++)
        if (*s == ' ') *s = '-';
    return name;
}

static char *variable_name(int kind, int64_t id, const char *variable) {
    if (kind == TUTTI_EXODUS_NODAL) return cli_strdup(variable);
    char *list = list_name(kind, id), *name = cli_format("%s.%s", list, variable);
    free(list);
    return name;
}

/* ---- an array of the mesh */

/* An array of the mesh as a variable on a list. */
typedef struct {
    const char *variable; /* suffix of the variable; the prefix is the name of the list */
    int what, kind, component;
    int64_t id;
    /* kind of entries whose positions are the values, which are converted to ids; -1: plain values */
    int refers_to;
    tutti_type type;
} carried;

static tutti_exodus_array array_of(const carried *c, tutti_count first, tutti_count n, void *buf) {
    return (tutti_exodus_array){.array_kind = (tutti_exodus_array_kind)c->what,
                                .kind = (tutti_exodus_kind)c->kind,
                                .id = c->id,
                                .component = c->component,
                                .first = first,
                                .n = n,
                                .type = c->type == TUTTI_FLOAT64 ? TUTTI_FLOAT64 : TUTTI_INT64,
                                .buf = buf};
}

static int write_values(transfer *t, const char *variable, const char *list, tutti_count n,
                        tutti_type type, const void *buf) {
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    tutti_decomposition *share = NULL;
    tutti_err err = tutti_decomposition_create(t->d, list, &spec, &share);
    if (err == TUTTI_OK) err = tutti_dataset_put(t->d, 1, &(tutti_put){variable, share, type, buf});
    tutti_decomposition_free(&share);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int copy_array(transfer *t, const carried *c) {
    tutti_exodus_array a = array_of(c, 0, 0, NULL);
    tutti_count all, numbers, first, n;
    tutti_type type;
    if (tutti_exodus_array_size(t->x, &a, &all, &numbers, &type) != TUTTI_OK) return 0;
    exodus_share(t->world, all, &first, &n);
    char *list = list_name(c->kind, c->id), *name = variable_name(c->kind, c->id, c->variable);
    void *buf = cli_array(n, numbers, 8);
    a = array_of(c, first, n, buf);
    const tutti_variable_spec spec = {.space = list,
                                      .item = numbers > 1 ? TUTTI_VALUES : TUTTI_SCALAR,
                                      .components = (int)numbers,
                                      .type = a.type};
    int failed = tutti_exodus_get_arrays(t->x, 1, &a) != TUTTI_OK ||
                 tutti_dataset_variable(t->d, name, &spec) != TUTTI_OK;
    if (failed) cli_error_tutti();
    if (!failed && c->refers_to >= 0) {
        int64_t *place = buf, *id = cli_array(n, numbers, sizeof *id);
        for (tutti_count i = 0; i < n * numbers; i++) place[i] = exodus_place_of_number(place[i]);
        failed = exodus_ids_at(t->x, c->refers_to, n * numbers, place, id);
        if (n * numbers > 0) memcpy(buf, id, (size_t)(n * numbers) * sizeof *id);
        free(id);
    }
    if (!failed) failed = write_values(t, name, list, n, a.type, buf);
    free(buf);
    free(name);
    free(list);
    return failed;
}

/* ---- lists */

static int list_make(transfer *t, int kind, int64_t id, tutti_count before, tutti_count entries) {
    char *list = list_name(kind, id);
    tutti_count first, n;
    exodus_share(t->world, entries, &first, &n);
    int64_t *ids = cli_malloc((size_t)n * sizeof *ids);
    tutti_err err = tutti_dataset_list(t->d, list);
    if (err == TUTTI_OK && !exodus_is_set(kind)) {
        const tutti_exodus_array a =
            exodus_integers(TUTTI_EXODUS_IDS, kind, 0, before + first, n, ids);
        err = tutti_exodus_get_arrays(t->x, 1, &a);
        if (err == TUTTI_OK) err = tutti_dataset_ids(t->d, list, n, ids);
    } else if (err == TUTTI_OK) {
        err = tutti_dataset_resize(t->d, list, 1, &entries);
    }
    free(ids);
    free(list);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int text_info(transfer *t, const char *variable, const char *name, const char *text) {
    const tutti_info_owner owner = {variable, -1};
    if (!text[0]) return 0;
    if (tutti_dataset_info_set(t->d, variable ? &owner : NULL, name, TUTTI_BYTES,
                               (tutti_count)strlen(text), text) != TUTTI_OK)
        return cli_error_tutti();
    return 0;
}

static int copy_coordinates(transfer *t) {
    const int dims = t->o.p.dims;
    tutti_count first, n;
    exodus_share(t->world, t->o.p.nodes, &first, &n);
    double *xyz = cli_malloc((size_t)(n * dims) * sizeof *xyz);
    double *one = cli_malloc((size_t)n * sizeof *one);
    const tutti_variable_spec spec = {
        .space = "nodes", .item = TUTTI_VECTOR, .components = dims, .type = TUTTI_FLOAT64};
    tutti_err err = tutti_dataset_variable(t->d, "coordinates", &spec);
    for (int d = 0; d < dims && err == TUTTI_OK; d++) {
        const carried c = {.what = TUTTI_EXODUS_COORDINATES,
                           .kind = TUTTI_EXODUS_NODAL,
                           .component = d,
                           .type = TUTTI_FLOAT64};
        const tutti_exodus_array a = array_of(&c, first, n, one);
        err = tutti_exodus_get_arrays(t->x, 1, &a);
        for (tutti_count i = 0; i < n; i++) xyz[i * dims + d] = one[i];
    }
    int failed = err != TUTTI_OK ? cli_error_tutti()
                                 : write_values(t, "coordinates", "nodes", n, TUTTI_FLOAT64, xyz);
    free(xyz);
    free(one);
    return failed;
}

static int copy_block(transfer *t, const tutti_exodus_entity *e) {
    const carried all[] = {
        {"nodes", TUTTI_EXODUS_CONNECTIVITY, e->kind, 0, e->id, TUTTI_EXODUS_NODAL, TUTTI_INT64},
        {"edges", TUTTI_EXODUS_EDGES, e->kind, 0, e->id, TUTTI_EXODUS_EDGE_BLOCK, TUTTI_INT64},
        {"faces", TUTTI_EXODUS_FACES, e->kind, 0, e->id, TUTTI_EXODUS_FACE_BLOCK, TUTTI_INT64},
        {"attributes", TUTTI_EXODUS_ATTRIBUTES, e->kind, 0, e->id, -1, TUTTI_FLOAT64},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (copy_array(t, &all[i])) return 1;
    char *name = variable_name(e->kind, e->id, "nodes");
    const int failed = e->entries > 0 && (text_info(t, name, "topology", e->topology) ||
                                          text_info(t, name, "name", e->name));
    free(name);
    return failed;
}

static int copy_set(transfer *t, const tutti_exodus_entity *e) {
    static const int of[] = {TUTTI_EXODUS_NODAL, TUTTI_EXODUS_ELEMENT_BLOCK,
                             TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_EXODUS_EDGE_BLOCK,
                             TUTTI_EXODUS_FACE_BLOCK};
    const carried all[] = {
        {"members", TUTTI_EXODUS_MEMBERS, e->kind, 0, e->id, of[e->kind - TUTTI_EXODUS_NODE_SET],
         TUTTI_INT64},
        {"sides", TUTTI_EXODUS_SIDES, e->kind, 0, e->id, -1, TUTTI_INT64},
        {"attributes", TUTTI_EXODUS_ATTRIBUTES, e->kind, 0, e->id, -1, TUTTI_FLOAT64},
        {"factors", TUTTI_EXODUS_FACTORS, e->kind, 0, e->id, -1, TUTTI_FLOAT64},
    };
    /* for side sets, omit the last array, factors: a side may have several factors */
    const size_t n = e->kind == TUTTI_EXODUS_SIDE_SET ? 3 : 4;
    for (size_t i = 0; i < n; i++)
        if (copy_array(t, &all[i])) return 1;
    char *name = variable_name(e->kind, e->id, "members");
    const int failed = e->entries > 0 && text_info(t, name, "name", e->name);
    free(name);
    return failed;
}

/* ---- steps */

/* A variable of an entity; decompositions of this rank's share in the file and in the dataset. */
typedef struct {
    char *name, *list;
    tutti_exodus_field field;
    tutti_decomposition *here, *there;
} moved;

typedef struct {
    int n;
    moved *v;
} moves;

static int move_add(transfer *t, moves *m, int kind, tutti_count number, int variable) {
    const exodus_table *table = &t->o.of[kind];
    const int global = kind == TUTTI_EXODUS_GLOBAL, nodal = kind == TUTTI_EXODUS_NODAL;
    const int64_t id = global || nodal ? 0 : table->entity[number].id;
    const tutti_count all = global ? 1 : nodal ? t->o.p.nodes : table->entity[number].entries;
    tutti_count first, n;
    exodus_share(t->world, all, &first, &n);
    m->v = cli_realloc(m->v, ((size_t)m->n + 1) * sizeof *m->v);
    moved *x = &m->v[m->n++];
    *x = (moved){.list = list_name(kind, id),
                 .name = variable_name(kind, id, table->variable[variable])};
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    const tutti_variable_spec is = {.space = x->list, .type = TUTTI_FLOAT64};
    tutti_err err = tutti_dataset_variable(t->d, x->name, &is);
    if (err == TUTTI_OK) err = tutti_decomposition_create(t->d, x->list, &spec, &x->there);
    if (err == TUTTI_OK && !global)
        err = tutti_exodus_decomposition(t->x, (tutti_exodus_kind)kind, id, &spec, &x->here);
    x->field = (tutti_exodus_field){.kind = (tutti_exodus_kind)kind,
                                    .id = id,
                                    .variable = table->variable[variable],
                                    .type = TUTTI_FLOAT64,
                                    .buf = cli_malloc((size_t)(n + 1) * sizeof(double)),
                                    .entries = x->here};
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int moves_make(transfer *t, moves *m) {
    const tutti_count one = 1;
    *m = (moves){.n = 0};
    if (t->o.of[TUTTI_EXODUS_GLOBAL].variables > 0 &&
        tutti_dataset_grid(t->d, "global", 1, &one) != TUTTI_OK)
        return cli_error_tutti();
    for (int kind = 0; kind <= TUTTI_EXODUS_FACE_SET; kind++) {
        const exodus_table *table = &t->o.of[kind];
        const tutti_count n = kind == TUTTI_EXODUS_GLOBAL ? 1 : table->n;
        for (tutti_count i = 0; i < n; i++)
            for (int v = 0; v < table->variables; v++)
                if ((kind == TUTTI_EXODUS_GLOBAL || table->has[i * table->variables + v]) &&
                    move_add(t, m, kind, i, v))
                    return 1;
    }
    return 0;
}

static int copy_all(transfer *t) {
    moves m;
    tutti_count first = 1, last = 0;
    if (tutti_dataset_begin(t->d, TUTTI_TOPOLOGY, 0, 0) != TUTTI_OK) return cli_error_tutti();
    if (list_make(t, TUTTI_EXODUS_NODAL, 0, 0, t->o.p.nodes) || copy_coordinates(t) ||
        text_info(t, NULL, "title", t->o.title))
        return 1;
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind <= TUTTI_EXODUS_FACE_SET; kind++) {
        tutti_count before = 0;
        for (tutti_count i = 0; i < t->o.of[kind].n; i++) {
            const tutti_exodus_entity *e = &t->o.of[kind].entity[i];
            if (list_make(t, kind, e->id, before, e->entries) ||
                (exodus_is_block(kind) ? copy_block : copy_set)(t, e))
                return 1;
            before += e->entries;
        }
    }
    if (tutti_dataset_commit(t->d) == TUTTI_OK ? 0 : cli_error_tutti()) return 1;
    int failed = moves_make(t, &m) ||
                 exodus_steps_chosen(t->config, tutti_exodus_steps(t->x), &first, &last);
    for (tutti_count s = first; s <= last && !failed; s++) {
        const tutti_count index = s - first;
        tutti_exodus_field *field = cli_malloc((size_t)m.n * sizeof *field);
        tutti_put *puts = cli_malloc((size_t)m.n * sizeof *puts);
        double time = 0;
        for (int i = 0; i < m.n; i++) {
            field[i] = m.v[i].field;
            puts[i] = (tutti_put){m.v[i].name, m.v[i].there, TUTTI_FLOAT64, m.v[i].field.buf};
        }
        tutti_err err = tutti_exodus_times(t->x, s, 1, &time);
        if (err == TUTTI_OK && m.n > 0) err = tutti_exodus_get(t->x, s, m.n, field);
        if (err == TUTTI_OK) err = tutti_dataset_begin(t->d, TUTTI_STATE, index, time);
        if (err == TUTTI_OK && m.n > 0) err = tutti_dataset_put(t->d, m.n, puts);
        if (err == TUTTI_OK) err = tutti_dataset_commit(t->d);
        free(field);
        free(puts);
        failed = err == TUTTI_OK ? 0 : cli_error_tutti();
    }
    for (int i = 0; i < m.n; i++) {
        free(m.v[i].name);
        free(m.v[i].list);
        free(m.v[i].field.buf);
        tutti_decomposition_free(&m.v[i].here);
        tutti_decomposition_free(&m.v[i].there);
    }
    free(m.v);
    return failed;
}

/* Check that all items of a list have the same number of values. */
static int check_possible(const transfer *t) {
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind <= TUTTI_EXODUS_FACE_BLOCK; kind++)
        for (tutti_count i = 0; i < t->o.of[kind].n; i++) {
            const tutti_exodus_entity *e = &t->o.of[kind].entity[i];
            if (exodus_topology_is(e->topology, "nsided") ||
                exodus_topology_is(e->topology, "nfaced"))
                return cli_error(
                    "%s %lld has topology %s, which datasets cannot store; use 'tutti cp' to write "
                    "another Exodus file",
                    tutti_exodus_kind_name(kind), (long long)e->id, e->topology);
        }
    return 0;
}

int exodus_to_dataset(const cli_world *w, const data_config *c, const char *from, const char *to) {
    transfer t = {.world = w, .config = c, .from = from};
    cli_staged staged = {.path = NULL};
    const int mode =
        TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | (c->force ? TUTTI_TRUNCATE : TUTTI_EXCLUSIVE);
    if (tutti_exodus_open(w->comm, from, TUTTI_READ, NULL, &t.x) != TUTTI_OK)
        return cli_error_tutti();
    int failed = exodus_outline_read(t.x, &t.o) || check_possible(&t);
    if (!failed) failed = cli_stage_begin(w, to, c->force, &staged);
    if (!failed)
        failed = tutti_dataset_open(w->comm, staged.write_to, mode, NULL, &t.d) != TUTTI_OK &&
                 cli_error_tutti();
    if (!failed) failed = copy_all(&t);
    exodus_outline_free(&t.o);
    if (t.d && tutti_dataset_close(&t.d) != TUTTI_OK && !failed) failed = cli_error_tutti();
    if (staged.path) failed = cli_stage_end(w, &staged, failed);
    (void)tutti_exodus_close(&t.x);
    return failed;
}
