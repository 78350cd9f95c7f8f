/* All definitions of an Exodus file in memory.  They are read from one file, merged from several files, or
 * defined in another file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int exodus_topology_is(const char *topology, const char *name) {
    size_t i = 0;
    for (; name[i]; i++)
        if (tolower((unsigned char)topology[i]) != tolower((unsigned char)name[i])) return 0;
    return !topology[i] || isdigit((unsigned char)topology[i]);
}

/* ---- additions */

static char *copy_of(const char *text) {
    return cli_strdup(text ? text : "");
}

static void longest_name(const char *name, int *longest) {
    const int n = name ? (int)strlen(name) : 0;
    if (n > *longest) *longest = n;
}

int exodus_name_length(const exodus_outline *o) {
    int longest = 32;
    for (int d = 0; d < 3; d++) longest_name(o->coordinate[d], &longest);
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        const exodus_table *t = &o->of[kind];
        for (tutti_count i = 0; i < t->n; i++) {
            longest_name(t->entity[i].name, &longest);
            for (int k = 0; t->attribute[i] && k < t->entity[i].attributes; k++)
                longest_name(t->attribute[i][k], &longest);
        }
        for (int v = 0; v < t->variables; v++) longest_name(t->variable[v], &longest);
        for (int p = 0; p < t->properties; p++) longest_name(t->property[p], &longest);
    }
    return longest < 255 ? longest : 255;
}

int exodus_variables_known(const data_config *c, int n, const exodus_outline *o) {
    for (int i = 0; i < c->variables.n; i++) {
        int known = 0;
        for (int k = 0; k < n * TUTTI_EXODUS_KINDS; k++) {
            const exodus_table *t = &o[k / TUTTI_EXODUS_KINDS].of[k % TUTTI_EXODUS_KINDS];
            for (int v = 0; v < t->variables; v++)
                known |= strcmp(t->variable[v], c->variables.item[i]) == 0;
        }
        if (!known) return cli_error("unknown variable '%s'", c->variables.item[i]);
    }
    return 0;
}

tutti_count exodus_outline_add(exodus_outline *o, const tutti_exodus_entity *e) {
    exodus_table *t = &o->of[e->kind];
    const size_t n = (size_t)t->n + 1, wide = (size_t)t->variables;
    if ((n & (n - 1)) == 0) { /* n is a power of two: double the capacity */
        t->entity = cli_realloc(t->entity, 2 * n * sizeof *t->entity);
        t->attribute = cli_realloc(t->attribute, 2 * n * sizeof *t->attribute);
        if (wide) t->has = cli_realloc(t->has, 2 * n * wide);
        for (int k = 0; k < t->properties; k++)
            t->value[k] = cli_realloc(t->value[k], 2 * n * sizeof *t->value[k]);
    }
    t->entity[n - 1] = *e;
    t->entity[n - 1].name = copy_of(e->name);
    t->entity[n - 1].topology = copy_of(e->topology);
    t->attribute[n - 1] = NULL;
    if (wide) memset(t->has + (n - 1) * wide, 0, wide);
    for (int k = 0; k < t->properties; k++) t->value[k][n - 1] = 0;
    return t->n++;
}

size_t exodus_table_room(tutti_count n) {
    size_t capacity = 1;
    while (capacity <= (size_t)n) capacity *= 2;
    return capacity;
}

/* ---- searches */

/* Ensure that the index can contain n numbers and is at most half full.  A table that has grown is empty. */
static void index_room(exodus_index *x, tutti_count n) {
    if (2 * (size_t)n <= x->capacity) return;
    free(x->slot);
    x->capacity = 2 * exodus_table_room(n);
    x->slot = cli_malloc(x->capacity * sizeof *x->slot);
    memset(x->slot, 0, x->capacity * sizeof *x->slot);
    x->n = 0;
}

/* Return the slot of the first row with this id, or the free slot for it. */
static tutti_count *id_slot(const exodus_table *t, int64_t id) {
    uint64_t at = (uint64_t)id * 0x9e3779b97f4a7c15u >> 32;
    for (;; at++) {
        tutti_count *s = &t->ids.slot[at & (t->ids.capacity - 1)];
        if (*s == 0 || t->entity[*s - 1].id == id) return s;
    }
}

static tutti_count *name_slot(const exodus_table *t, const char *name) {
    uint64_t at = 0;
    for (const char *c = name; *c; c++) at = (at ^ (unsigned char)*c) * 0x9e3779b97f4a7c15u;
    for (at >>= 32;; at++) {
        tutti_count *s = &t->names.slot[at & (t->names.capacity - 1)];
        if (*s == 0 || strcmp(t->variable[*s - 1], name) == 0) return s;
    }
}

tutti_count exodus_find(exodus_outline *o, tutti_exodus_kind kind, int64_t id) {
    exodus_table *t = &o->of[kind];
    if (t->n == 0) return -1;
    index_room(&t->ids, t->n);
    while (t->ids.n < t->n) {
        tutti_count *s = id_slot(t, t->entity[t->ids.n++].id);
        if (*s == 0) *s = t->ids.n;
    }
    return *id_slot(t, id) - 1;
}

int exodus_find_variable(exodus_outline *o, tutti_exodus_kind kind, const char *name) {
    exodus_table *t = &o->of[kind];
    if (t->variables == 0) return -1;
    index_room(&t->names, t->variables);
    while (t->names.n < t->variables) {
        tutti_count *s = name_slot(t, t->variable[t->names.n++]);
        if (*s == 0) *s = t->names.n;
    }
    return (int)(*name_slot(t, name) - 1);
}

/* ---- variables */

/* Add columns to `has` for the variables from number `old` on. */
static void has_widen(exodus_table *t, int old) {
    const size_t was = (size_t)old, wide = (size_t)t->variables;
    if (was == wide) return;
    unsigned char *has = cli_array((tutti_count)exodus_table_room(t->n), (tutti_count)wide, 1);
    memset(has, 0, exodus_table_room(t->n) * wide);
    for (size_t i = 0; i < (size_t)t->n && was; i++) memcpy(has + i * wide, t->has + i * was, was);
    free(t->has);
    t->has = has;
}

void exodus_outline_variables(exodus_outline *o, tutti_exodus_kind kind, int n, char *const *names,
                              int *number_out) {
    exodus_table *t = &o->of[kind];
    const int old = t->variables;
    if (n > 0) t->variable = cli_realloc(t->variable, (size_t)(old + n) * sizeof *t->variable);
    for (int v = 0; v < n; v++) {
        number_out[v] = exodus_find_variable(o, kind, names[v]);
        if (number_out[v] >= 0) continue;
        t->variable[t->variables] = cli_strdup(names[v]);
        number_out[v] = t->variables++;
    }
    has_widen(t, old);
}

/* ---- reading a file */

static void attributes_read(const tutti_exodus *x, exodus_table *t, tutti_count i, int kind,
                            int64_t id) {
    const int n = t->entity[i].attributes;
    if (n < 1) return;
    t->attribute[i] = cli_malloc((size_t)n * sizeof *t->attribute[i]);
    for (int k = 0; k < n; k++)
        t->attribute[i][k] =
            copy_of(tutti_exodus_attribute_name(x, (tutti_exodus_kind)kind, id, k));
}

static int properties_read(const tutti_exodus *x, exodus_outline *o, tutti_exodus_kind kind) {
    exodus_table *t = &o->of[kind];
    const char *name;
    for (int k = 0; (name = tutti_exodus_property_name(x, kind, k)); k++) {
        const size_t n = (size_t)k + 1;
        t->property = cli_realloc(t->property, n * sizeof *t->property);
        t->value = cli_realloc(t->value, n * sizeof *t->value);
        t->property[k] = cli_strdup(name);
        t->value[k] = cli_malloc(exodus_table_room(t->n) * sizeof *t->value[k]);
        t->properties = (int)n;
        if (tutti_exodus_property_get(x, kind, name, t->value[k]) != TUTTI_OK)
            return cli_error_tutti();
    }
    return 0;
}

static int table_read(const tutti_exodus *x, exodus_outline *o, tutti_exodus_kind kind) {
    exodus_table *t = &o->of[kind];
    const tutti_count n = kind == TUTTI_EXODUS_NODAL ? 1 : tutti_exodus_entities(x, kind);
    for (tutti_count i = 0; i < n; i++) {
        tutti_exodus_entity e = {.kind = kind, .attributes = o->p.node_attributes};
        if (kind != TUTTI_EXODUS_NODAL && tutti_exodus_entity_get(x, kind, i, &e) != TUTTI_OK)
            return cli_error_tutti();
        exodus_outline_add(o, &e);
        attributes_read(x, t, i, kind, e.id);
    }
    /* Duplicate names are kept. */
    t->variables = tutti_exodus_variable_count(x, kind);
    t->variable = cli_malloc((size_t)t->variables * sizeof *t->variable);
    for (int v = 0; v < t->variables; v++)
        t->variable[v] = cli_strdup(tutti_exodus_variable_name(x, kind, v));
    has_widen(t, 0);
    for (tutti_count i = 0; i < n; i++)
        for (int v = 0; v < t->variables; v++)
            t->has[i * t->variables + v] =
                kind == TUTTI_EXODUS_NODAL || (unsigned char)tutti_exodus_has(x, kind, i, v);
    return kind == TUTTI_EXODUS_NODAL ? 0 : properties_read(x, o, kind);
}

int exodus_outline_read(const tutti_exodus *x, exodus_outline *out) {
    *out = (exodus_outline){.qas = 0};
    if (tutti_exodus_parameters_get(x, &out->p) != TUTTI_OK) return cli_error_tutti();
    out->title = copy_of(out->p.title);
    for (int d = 0; d < out->p.dims && d < 3; d++)
        out->coordinate[d] = copy_of(out->p.coordinate_names ? out->p.coordinate_names[d]
                                                             : (const char *[]){"x", "y", "z"}[d]);
    out->p.title = out->title;
    out->p.coordinate_names = NULL;
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++)
        if (table_read(x, out, (tutti_exodus_kind)kind)) return 1;
    const int n = tutti_exodus_qa_count(x);
    const char *line;
    out->qa = cli_malloc((size_t)n * sizeof *out->qa);
    for (int i = 0; i < n; i++) {
        tutti_exodus_qa q;
        if (tutti_exodus_qa_get(x, i, &q) != TUTTI_OK) return cli_error_tutti();
        const char *const text[4] = {q.program, q.version, q.date, q.time};
        for (int k = 0; k < 4; k++) out->qa[i][k] = copy_of(text[k]);
        out->qas++;
    }
    for (int i = 0; (line = tutti_exodus_info_line(x, i)); i++) {
        out->line = cli_realloc(out->line, ((size_t)i + 1) * sizeof *out->line);
        out->line[out->lines++] = cli_strdup(line);
    }
    return 0;
}

/* ---- definition of a file */

static tutti_err entities_define(const exodus_outline *o, tutti_exodus *to) {
    tutti_count n = 0;
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++)
        n += o->of[kind].n;
    tutti_exodus_entity *all = cli_malloc((size_t)n * sizeof *all);
    n = 0;
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++)
        for (tutti_count i = 0; i < o->of[kind].n; i++) {
            all[n] = o->of[kind].entity[i];
            all[n].entries = all[n].factors = all[n].list_length = 0; /* put_mesh sets the counts */
            if (exodus_is_block(kind) && !all[n].topology[0]) {
                /* other programs omit the topology of empty blocks */
                all[n].topology = "EMPTY";
                all[n].nodes = 1;
            }
            n++;
        }
    const tutti_err err = n > 0 ? tutti_exodus_define(to, n, all) : TUTTI_OK;
    free(all);
    return err;
}

int exodus_outline_define(const exodus_outline *o, tutti_exodus *to) {
    tutti_exodus_parameters p = {.title = o->title,
                                 .dims = o->p.dims,
                                 .coordinate_names = (const char *const *)o->coordinate,
                                 .node_attributes = o->p.node_attributes,
                                 .has_node_ids = o->with_id_maps,
                                 .has_element_ids = o->with_id_maps,
                                 .has_edge_ids = o->with_id_maps && o->p.edges > 0,
                                 .has_face_ids = o->with_id_maps && o->p.faces > 0,
                                 .has_order = o->p.has_order};
    tutti_exodus_qa *qa = cli_malloc((size_t)o->qas * sizeof *qa);
    for (int i = 0; i < o->qas; i++)
        qa[i] = (tutti_exodus_qa){o->qa[i][0], o->qa[i][1], o->qa[i][2], o->qa[i][3]};
    tutti_err err = tutti_exodus_init(to, &p);
    if (err == TUTTI_OK) err = entities_define(o, to);
    for (int k = 0; k < TUTTI_EXODUS_KINDS && err == TUTTI_OK; k++) {
        const tutti_exodus_kind kind = (tutti_exodus_kind)k;
        const exodus_table *t = &o->of[kind];
        for (tutti_count i = 0; i < t->n && err == TUTTI_OK; i++) {
            int named = 0;
            for (int a = 0; t->attribute[i] && a < t->entity[i].attributes; a++)
                named |= t->attribute[i][a][0] != '\0';
            if (named)
                err =
                    tutti_exodus_attribute_names(to, kind, t->entity[i].id, t->entity[i].attributes,
                                                 (const char *const *)t->attribute[i]);
        }
        for (int i = 0; i < t->properties && t->n > 0 && err == TUTTI_OK; i++)
            err = tutti_exodus_property(to, kind, t->property[i], t->value[i]);
        /* > 0: already defined for an earlier topology */
        const int defined = tutti_exodus_variable_count(to, kind);
        if (t->variables > 0 && defined == 0 && err == TUTTI_OK)
            err = tutti_exodus_variables(to, kind, t->variables, (const char *const *)t->variable);
        if (t->variables > 0 && t->n > 0 && kind >= TUTTI_EXODUS_ELEMENT_BLOCK && err == TUTTI_OK)
            err = tutti_exodus_truth_table(to, kind, t->has);
    }
    if (err == TUTTI_OK && o->qas) err = tutti_exodus_put_qa(to, o->qas, qa);
    if (err == TUTTI_OK && o->lines)
        err = tutti_exodus_put_info(to, o->lines, (const char *const *)o->line);
    free(qa);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- freeing */

void exodus_outline_free(exodus_outline *o) {
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        exodus_table *t = &o->of[kind];
        for (tutti_count i = 0; i < t->n; i++) {
            for (int k = 0; t->attribute[i] && k < t->entity[i].attributes; k++)
                free(t->attribute[i][k]);
            free(t->attribute[i]);
            free((char *)(uintptr_t)t->entity[i].name);
            free((char *)(uintptr_t)t->entity[i].topology);
        }
        for (int k = 0; k < t->variables; k++) free(t->variable[k]);
        for (int k = 0; k < t->properties; k++) {
            free(t->property[k]);
            free(t->value[k]);
        }
        free(t->entity);
        free(t->attribute);
        free(t->variable);
        free(t->has);
        free(t->property);
        free(t->value);
        free(t->ids.slot);
        free(t->names.slot);
    }
    for (int i = 0; i < o->qas; i++)
        for (int k = 0; k < 4; k++) free(o->qa[i][k]);
    for (int i = 0; i < o->lines; i++) free(o->line[i]);
    for (int d = 0; d < 3; d++) free(o->coordinate[d]);
    free(o->qa);
    free(o->line);
    free(o->title);
    *o = (exodus_outline){.qas = 0};
}

void exodus_mesh_warn(const cli_world *w, const tutti_exodus *x, const char *name) {
    const char *warning = tutti_exodus_mesh_warning(x);
    if (w->rank == 0 && *warning) fprintf(stderr, "tutti %s: %s\n", name, warning);
}
