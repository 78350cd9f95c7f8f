/* exodus_model: parameters, entities, variables and records of text of a file.  Each definition is
 * validated when it is made, so that the erroneous call reports the error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/hash.h"

/* ---- ids */

/* Hash table of rows by id, with open addressing; a slot is 0 if it is free, and i + 1 for row
 * i. */
struct tutti__exodus_ids {
    size_t capacity; /* number of slots, a power of two */
    tutti_count slot[];
};

static size_t hash_slot(const struct tutti__exodus_ids *t, int64_t id) {
    uint64_t h = (uint64_t)id * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32) & (t->capacity - 1);
}

/* Only the first row of each id is inserted, since long chains would take quadratic time. */
static void enter_id(const tutti__exodus_table *t, tutti_count row) {
    struct tutti__exodus_ids *ids = t->ids;
    const int64_t id = t->row[row].id;
    size_t i = hash_slot(ids, id);
    while (ids->slot[i] && t->row[ids->slot[i] - 1].id != id) i = (i + 1) & (ids->capacity - 1);
    if (!ids->slot[i]) ids->slot[i] = row + 1;
}

/* Build the hash table of all rows, with space for n rows. */
static tutti_err build_ids(tutti__exodus_table *t, tutti_count n) {
    size_t capacity = 16;
    while (capacity < (size_t)n * 2) capacity *= 2;
    struct tutti__exodus_ids *ids = tutti__calloc(1, sizeof *ids + capacity * sizeof ids->slot[0]);
    if (!ids) return TUTTI_ERR_NOMEM;
    ids->capacity = capacity;
    tutti__free(t->ids);
    t->ids = ids;
    for (tutti_count i = 0; i < t->n; i++) enter_id(t, i);
    return TUTTI_OK;
}

tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id) {
    if ((int)kind < 0 || kind >= TUTTI_EXODUS_KINDS) return -1;
    const tutti__exodus_table *t = &m->of[kind];
    if (kind == TUTTI_EXODUS_NODAL) return id == 0 && t->n == 1 ? 0 : -1;
    if (!t->ids) return -1;
    for (size_t i = hash_slot(t->ids, id); t->ids->slot[i]; i = (i + 1) & (t->ids->capacity - 1))
        if (t->row[t->ids->slot[i] - 1].id == id) return t->ids->slot[i] - 1;
    return -1;
}

tutti_err tutti__exodus_model_index(tutti__exodus_model *m, tutti_exodus_kind kind) {
    const tutti__exodus_table *t = &m->of[kind];
    TUTTI_TRY(build_ids(&m->of[kind], t->n));
    for (tutti_count i = 0; i < t->n; i++) {
        const tutti_count first = tutti__exodus_model_find(m, kind, t->row[i].id);
        TUTTI_CHECK(first == i || (t->row[first].entries == 0 && t->row[i].entries == 0),
                    TUTTI_ERR_FORMAT,
                    "duplicate %s id %lld (positions %lld and %lld in the file, counted from 1)",
                    tutti__exodus_names_of[kind].word, (long long)t->row[i].id,
                    (long long)first + 1, (long long)i + 1);
    }
    return TUTTI_OK;
}

/* ---- freeing */

static void free_texts(char **v, tutti_count n) {
    for (tutti_count i = 0; v && i < n; i++) tutti__free(v[i]);
    tutti__free(v);
}

static void free_row(tutti_exodus_entity *e) {
    tutti__free((void *)(uintptr_t)e->name);
    tutti__free((void *)(uintptr_t)e->topology);
    *e = (tutti_exodus_entity){0};
}

/* Free entities, their properties, attributes and truth table; variables are kept. */
static void free_rows(tutti__exodus_table *t) {
    for (tutti_count i = 0; t->attributes && i < t->n; i++)
        if (t->attributes[i]) free_texts(t->attributes[i], t->row[i].attributes);
    tutti__free(t->attributes);
    for (tutti_count i = 0; i < t->n; i++) free_row(&t->row[i]);
    tutti__free(t->row);
    tutti__free(t->ids);
    tutti__free(t->truth);
    tutti__free(t->before);
    free_texts(t->properties, t->properties_n);
    for (int i = 0; i < t->properties_n; i++) tutti__free(t->values[i]);
    tutti__free(t->values);
    *t = (tutti__exodus_table){.variables_n = t->variables_n, .variables = t->variables};
}

static void free_parameters(tutti_exodus_parameters *p) {
    tutti__free((void *)(uintptr_t)p->title);
    free_texts((char **)(uintptr_t)p->coordinate_names, p->dims);
    *p = (tutti_exodus_parameters){0};
}

void tutti__exodus_model_free(tutti__exodus_model *m) {
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        free_rows(&m->of[k]);
        free_texts(m->of[k].variables, m->of[k].variables_n);
    }
    free_parameters(&m->p);
    tutti__free(m->qa);
    tutti__free(m->lines);
    *m = (tutti__exodus_model){0};
}

void tutti__exodus_model_init(tutti__exodus_model *m) {
    *m = (tutti__exodus_model){.real_bytes = 8, .name_length = 32};
}

void tutti__exodus_model_forget(tutti__exodus_model *m) {
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) free_rows(&m->of[k]);
    m->p.nodes = m->p.elements = m->p.edges = m->p.faces = 0;
    m->p.has_node_ids = m->p.has_element_ids = m->p.has_edge_ids = m->p.has_face_ids = 0;
    m->p.has_order = 0;
    m->id_bytes = m->map_bytes = m->bulk_bytes = 0;
}

/* ---- texts */

static tutti_err check_text(const char *text, size_t most, const char *what) {
    TUTTI_CHECK(text, TUTTI_ERR_ARG, "%s is NULL", what);
    TUTTI_CHECK(strlen(text) <= most, TUTTI_ERR_ARG,
                "%s '%.40s...' has %zu bytes: at most %zu are allowed", what, text, strlen(text),
                most);
    return TUTTI_OK;
}

/* Copy n texts; *out is NULL after an error. */
static tutti_err copy_texts(int n, const char *const *from, char ***out) {
    char **v = tutti__calloc((size_t)n + 1, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        if (!(v[i] = tutti__strdup(from[i]))) {
            free_texts(v, i);
            return TUTTI_ERR_NOMEM;
        }
    *out = v;
    return TUTTI_OK;
}

static tutti_err check_names(const tutti__exodus_model *m, int n, const char *const *names,
                             const char *what) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 24, TUTTI_ERR_ARG, "%s: n is %d: must be 0 to 2^24", what, n);
    TUTTI_CHECK(names || n == 0, TUTTI_ERR_ARG, "%s: argument names is NULL, but n is %d", what, n);
    for (int i = 0; i < n; i++) {
        TUTTI_CHECK(names[i], TUTTI_ERR_ARG, "%s: names[%d] is NULL", what, i);
        TUTTI_TRY(check_text(names[i], (size_t)m->name_length, what));
    }
    return TUTTI_OK;
}

/* ---- parameters */

tutti_err tutti__exodus_model_parameters(tutti__exodus_model *m, const tutti_exodus_parameters *p,
                                         int apply) {
    static const char *const XYZ[] = {"x", "y", "z"};
    TUTTI_CHECK(p, TUTTI_ERR_ARG, "argument p is NULL");
    TUTTI_CHECK_RESERVED(p, "the parameters");
    const tutti_count most = (tutti_count)1 << 58;
    TUTTI_CHECK(p->dims >= 1 && p->dims <= 3, TUTTI_ERR_ARG, "dims is %d: must be 1, 2 or 3",
                p->dims);
    const tutti_count counts[] = {p->nodes, p->elements, p->edges, p->faces};
    static const char *const counted[] = {"nodes", "elements", "edges", "faces"};
    for (int i = 0; i < 4; i++)
        TUTTI_CHECK(counts[i] >= 0 && counts[i] <= most, TUTTI_ERR_ARG,
                    "%s is %lld: must be 0 to 2^58", counted[i], (long long)counts[i]);
    TUTTI_CHECK(p->node_attributes >= 0 && p->node_attributes <= 1 << 24, TUTTI_ERR_ARG,
                "node_attributes is %d: must be 0 to 2^24", p->node_attributes);
    const char *title = p->title ? p->title : "";
    const char *const *names = p->coordinate_names ? p->coordinate_names : XYZ;
    TUTTI_TRY(check_text(title, 80, "the title"));
    TUTTI_TRY(check_names(m, p->dims, names, "coordinates"));
    if (!apply) return TUTTI_OK;
    tutti_exodus_parameters new = *p;
    char **copies = NULL;
    new.title = tutti__strdup(title);
    new.coordinate_names = NULL;
    tutti_exodus_entity *row = tutti__calloc(1, sizeof *row);
    if (!new.title || !row || copy_texts(p->dims, names, &copies) != TUTTI_OK) {
        tutti__free((void *)(uintptr_t) new.title);
        tutti__free(row);
        return TUTTI_ERR_NOMEM;
    }
    new.coordinate_names = (const char *const *)copies;
    free_parameters(&m->p);
    m->p = new;
    tutti__exodus_table *t = &m->of[TUTTI_EXODUS_NODAL];
    free_rows(t);
    *row = (tutti_exodus_entity){
        .kind = TUTTI_EXODUS_NODAL, .entries = p->nodes, .attributes = p->node_attributes};
    t->row = row;
    t->n = t->capacity = 1;
    return TUTTI_OK;
}

/* ---- entities */

int tutti__exodus_is_listed(const tutti_exodus_entity *e) {
    if (!e->topology) return 0;
    return strcasecmp(e->topology, "nsided") == 0 ? 1
                                                  : 2 * (strcasecmp(e->topology, "nfaced") == 0);
}

static tutti_err check_entity(const tutti__exodus_model *m, const tutti_exodus_entity *e) {
    const tutti_count most = (tutti_count)1 << 58;
    const int kind = (int)e->kind;
    TUTTI_CHECK(kind >= TUTTI_EXODUS_ELEMENT_BLOCK && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG,
                "kind is %d: must be a kind of blocks, sets or maps", kind);
    const char *word = tutti__exodus_names_of[kind].word;
    const long long id = (long long)e->id;
    TUTTI_CHECK_RESERVED(e, word);
    TUTTI_CHECK(e->id >= 0, TUTTI_ERR_ARG, "%s has id %lld: ids must be >= 0", word, id);
    if (e->name) TUTTI_TRY(check_text(e->name, (size_t)m->name_length, word));
    const struct {
        const char *field;
        tutti_count n, most;
    } counts[] = {{"entries", e->entries, most},         {"list_length", e->list_length, most},
                  {"factors", e->factors, most},         {"nodes", e->nodes, INT32_MAX},
                  {"edges", e->edges, INT32_MAX},        {"faces", e->faces, INT32_MAX},
                  {"attributes", e->attributes, 1 << 24}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        TUTTI_CHECK(counts[i].n >= 0 && counts[i].n <= counts[i].most, TUTTI_ERR_ARG,
                    "%s %lld: %s is %lld: must be 0 to %lld", word, id, counts[i].field,
                    (long long)counts[i].n, (long long)counts[i].most);
    const int block = tutti__exodus_is_block(kind), set = tutti__exodus_is_set(kind);
    if (block) {
        TUTTI_CHECK(e->topology && e->topology[0], TUTTI_ERR_ARG, "%s %lld has no topology", word,
                    id);
        TUTTI_TRY(check_text(e->topology, 32, "a topology"));
    }
    TUTTI_CHECK(kind == TUTTI_EXODUS_ELEMENT_BLOCK || (!e->edges && !e->faces), TUTTI_ERR_ARG,
                "%s %lld: only elements have edges and faces", word, id);
    TUTTI_CHECK(block || (!e->nodes && !e->list_length), TUTTI_ERR_ARG,
                "%s %lld: nodes is %d and list_length is %lld: must be 0 except for blocks", word,
                id, e->nodes, (long long)e->list_length);
    TUTTI_CHECK(set || !e->factors, TUTTI_ERR_ARG, "%s %lld: only sets have distribution factors",
                word, id);
    TUTTI_CHECK(set || block || !e->attributes, TUTTI_ERR_ARG, "%s %lld: maps have no attributes",
                word, id);
    return TUTTI_OK;
}

static tutti_err copy_entity(const tutti_exodus_entity *e, tutti_exodus_entity *out) {
    *out = *e;
    out->name = NULL;
    out->topology = NULL;
    if (e->name && e->name[0] && !(out->name = tutti__strdup(e->name))) return TUTTI_ERR_NOMEM;
    if (tutti__exodus_is_block((int)e->kind)) {
        if (!(out->topology = tutti__strdup(e->topology))) return TUTTI_ERR_NOMEM;
        if (out->nodes == 0 && !tutti__exodus_is_listed(e))
            out->nodes = tutti_exodus_topology_nodes(e->topology);
        TUTTI_CHECK(out->nodes > 0 || tutti__exodus_is_listed(e), TUTTI_ERR_ARG,
                    "%s %lld: unknown topology '%s': set the number of nodes",
                    tutti__exodus_names_of[e->kind].word, (long long)e->id, e->topology);
    }
    return TUTTI_OK;
}

static tutti_err add_entity(tutti__exodus_model *m, const tutti_exodus_entity *e) {
    TUTTI_TRY(check_entity(m, e));
    tutti__exodus_table *t = &m->of[e->kind];
    const char *word = tutti__exodus_names_of[e->kind].word;
    TUTTI_CHECK(!t->truth && t->properties_n == 0, TUTTI_ERR_STATE,
                "%s %lld: entities must be defined before truth tables and properties", word,
                (long long)e->id);
    TUTTI_CHECK(tutti__exodus_model_find(m, e->kind, e->id) < 0, TUTTI_ERR_ARG, "duplicate %s %lld",
                word, (long long)e->id);
    if (t->n == t->capacity) {
        const tutti_count capacity = t->capacity ? 2 * t->capacity : 8;
        tutti_exodus_entity *rows = tutti__realloc(t->row, (size_t)capacity * sizeof *rows);
        if (!rows) return TUTTI_ERR_NOMEM;
        t->row = rows;
        if (t->attributes) {
            char ***names = tutti__realloc(t->attributes, (size_t)capacity * sizeof *names);
            if (!names) return TUTTI_ERR_NOMEM;
            memset(names + t->n, 0, (size_t)(capacity - t->n) * sizeof *names);
            t->attributes = names;
        }
        TUTTI_TRY(build_ids(t, capacity));
        t->capacity = capacity;
    }
    const tutti_err err = copy_entity(e, &t->row[t->n]);
    if (err != TUTTI_OK) {
        free_row(&t->row[t->n]);
        return err;
    }
    enter_id(t, t->n++);
    tutti__free(t->before);
    t->before = NULL;
    return TUTTI_OK;
}

void tutti__exodus_model_cut(tutti__exodus_model *m, const tutti_count n[TUTTI_EXODUS_KINDS]) {
    TUTTI_KEEP_LAST_ERROR;
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__exodus_table *t = &m->of[k];
        if (t->n == n[k]) continue;
        while (t->n > n[k]) free_row(&t->row[--t->n]);
        memset(t->ids->slot, 0, t->ids->capacity * sizeof t->ids->slot[0]);
        for (tutti_count i = 0; i < t->n; i++) enter_id(t, i);
    }
}

tutti_err tutti__exodus_model_define(tutti__exodus_model *m, tutti_count n,
                                     const tutti_exodus_entity *entities) {
    tutti_count before[TUTTI_EXODUS_KINDS];
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %lld: number of entities must be >= 0", (long long)n);
    TUTTI_CHECK(entities || n == 0, TUTTI_ERR_ARG, "argument entities is NULL, but n is %lld",
                (long long)n);
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) before[k] = m->of[k].n;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) err = add_entity(m, &entities[i]);
    if (err != TUTTI_OK) tutti__exodus_model_cut(m, before);
    return err;
}

/* ---- variables, attributes, properties */

static tutti_err check_kind(int kind) {
    TUTTI_CHECK(kind >= 0 && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG, "unknown kind %d", kind);
    return TUTTI_OK;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Check that all names differ and none is empty; sorts the copies. */
static tutti_err check_distinct(int n, char **copies, const char *word) {
    qsort(copies, (size_t)n, sizeof *copies, compare_texts);
    for (int i = 0; i < n; i++) {
        TUTTI_CHECK(copies[i][0], TUTTI_ERR_ARG, "%s: a variable has an empty name", word);
        TUTTI_CHECK(i == 0 || strcmp(copies[i - 1], copies[i]) != 0, TUTTI_ERR_ARG,
                    "%s: duplicate variable '%s'", word, copies[i]);
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_variables(tutti__exodus_model *m, tutti_exodus_kind kind, int n,
                                        const char *const *names, int apply) {
    TUTTI_TRY(check_kind((int)kind));
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(!tutti__exodus_is_map((int)kind), TUTTI_ERR_ARG, "%ss have no variables", word);
    tutti__exodus_table *t = &m->of[kind];
    TUTTI_CHECK(t->variables_n == 0, TUTTI_ERR_STATE, "%s: %d variables are already defined", word,
                t->variables_n);
    TUTTI_TRY(check_names(m, n, names, "variables"));
    char **copies = NULL;
    TUTTI_TRY(copy_texts(n, names, &copies));
    if (!apply) {
        const tutti_err err = check_distinct(n, copies, word);
        free_texts(copies, n);
        return err;
    }
    free_texts(t->variables, t->variables_n);
    t->variables = copies;
    t->variables_n = n;
    return TUTTI_OK;
}

int tutti__exodus_model_variable(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                 const char *name) {
    const tutti__exodus_table *t = &m->of[kind];
    for (int i = 0; name && i < t->variables_n; i++)
        if (strcmp(t->variables[i], name) == 0) return i;
    return -1;
}

int tutti__exodus_model_has(const tutti__exodus_model *m, tutti_exodus_kind kind,
                            tutti_count number, int variable) {
    const tutti__exodus_table *t = &m->of[kind];
    if (variable < 0 || variable >= t->variables_n) return 0;
    if (kind == TUTTI_EXODUS_GLOBAL || kind == TUTTI_EXODUS_NODAL) return number == 0;
    if (number < 0 || number >= t->n) return 0;
    return !t->truth || t->truth[number * t->variables_n + variable];
}

tutti_err tutti__exodus_model_truth(tutti__exodus_model *m, tutti_exodus_kind kind,
                                    const unsigned char *table, int apply) {
    TUTTI_TRY(check_kind((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const size_t n = (size_t)t->n * (size_t)t->variables_n;
    TUTTI_CHECK(tutti__exodus_is_block((int)kind) || tutti__exodus_is_set((int)kind), TUTTI_ERR_ARG,
                "%s: only blocks and sets have truth tables", tutti__exodus_names_of[kind].word);
    TUTTI_CHECK(t->variables_n > 0, TUTTI_ERR_STATE,
                "%s: no variables are defined: define them before the truth table",
                tutti__exodus_names_of[kind].word);
    TUTTI_CHECK(table || n == 0, TUTTI_ERR_ARG, "argument table is NULL");
    if (!apply) return TUTTI_OK;
    unsigned char *copy = tutti__malloc(n);
    if (!copy) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) copy[i] = table[i] != 0;
    tutti__free(t->truth);
    t->truth = copy;
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_attribute_names(tutti__exodus_model *m, tutti_exodus_kind kind,
                                              tutti_count number, int n, const char *const *names,
                                              int apply) {
    TUTTI_TRY(check_kind((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(number >= 0 && number < t->n, TUTTI_ERR_NOT_FOUND,
                "%s number %lld does not exist (the file has %lld)", word, (long long)number,
                (long long)t->n);
    TUTTI_CHECK(n == t->row[number].attributes, TUTTI_ERR_ARG,
                "n is %d: must be %d, the number of attributes of %s %lld", n,
                t->row[number].attributes, word, (long long)t->row[number].id);
    TUTTI_TRY(check_names(m, n, names, "attributes"));
    if (!apply) return TUTTI_OK;
    char **copies = NULL;
    if (!t->attributes) {
        t->attributes = tutti__calloc((size_t)t->capacity, sizeof *t->attributes);
        if (!t->attributes) return TUTTI_ERR_NOMEM;
    }
    TUTTI_TRY(copy_texts(n, names, &copies));
    free_texts(t->attributes[number], n);
    t->attributes[number] = copies;
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_property(tutti__exodus_model *m, tutti_exodus_kind kind,
                                       const char *name, const int64_t *values, int apply) {
    TUTTI_TRY(check_kind((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(kind >= TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_ERR_ARG,
                "%s: only blocks, sets and maps have properties", word);
    TUTTI_TRY(check_text(name, (size_t)m->name_length, "a property"));
    TUTTI_CHECK(name[0], TUTTI_ERR_ARG, "%s: name of the property is empty", word);
    TUTTI_CHECK(strcmp(name, "ID") != 0, TUTTI_ERR_ARG,
                "%s: property name 'ID' is reserved: use another name", word);
    TUTTI_CHECK(values || t->n == 0, TUTTI_ERR_ARG, "property '%s': argument values is NULL", name);
    for (int i = 0; i < t->properties_n; i++)
        TUTTI_CHECK(strcmp(t->properties[i], name) != 0, TUTTI_ERR_ARG,
                    "%s: duplicate property '%s'", word, name);
    if (!apply) return TUTTI_OK;
    const size_t capacity = (size_t)t->properties_n + 1;
    char **names = tutti__realloc(t->properties, capacity * sizeof *names);
    if (!names) return TUTTI_ERR_NOMEM;
    t->properties = names;
    int64_t **all = tutti__realloc(t->values, capacity * sizeof *all);
    if (!all) return TUTTI_ERR_NOMEM;
    t->values = all;
    names[capacity - 1] = tutti__strdup(name);
    all[capacity - 1] = tutti__malloc((size_t)t->n * sizeof **all);
    if (!names[capacity - 1] || !all[capacity - 1]) {
        tutti__free(names[capacity - 1]);
        tutti__free(all[capacity - 1]);
        return TUTTI_ERR_NOMEM;
    }
    if (t->n > 0) memcpy(all[capacity - 1], values, (size_t)t->n * sizeof **all);
    t->properties_n++;
    return TUTTI_OK;
}

/* ---- records of text */

tutti_err tutti__exodus_model_qa(tutti__exodus_model *m, int n, const tutti_exodus_qa *records,
                                 int apply) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 20, TUTTI_ERR_ARG,
                "n is %d: number of QA records must be 0 to 2^20", n);
    TUTTI_CHECK(records || n == 0, TUTTI_ERR_ARG, "argument records is NULL, but n is %d", n);
    char(*new)[4][33] = tutti__calloc((size_t)n + 1, sizeof *new);
    tutti_err err = new ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        const char *const text[] = {records[i].program, records[i].version, records[i].date,
                                    records[i].time};
        for (int j = 0; j < 4 && err == TUTTI_OK; j++) {
            if (!text[j]) continue;
            err = check_text(text[j], 32, "a QA record");
            if (err == TUTTI_OK) memcpy(new[i][j], text[j], strlen(text[j]) + 1);
        }
    }
    if (err != TUTTI_OK || !apply) {
        tutti__free(new);
        return err;
    }
    tutti__free(m->qa);
    m->qa = new;
    m->qa_n = n;
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_info(tutti__exodus_model *m, int n, const char *const *lines,
                                   int apply) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 24, TUTTI_ERR_ARG, "n is %d: number of lines must be 0 to 2^24",
                n);
    TUTTI_CHECK(lines || n == 0, TUTTI_ERR_ARG, "argument lines is NULL, but n is %d", n);
    char(*new)[81] = tutti__calloc((size_t)n + 1, sizeof *new);
    tutti_err err = new ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        err = check_text(lines[i], 80, "a line of info");
        if (err == TUTTI_OK) memcpy(new[i], lines[i], strlen(lines[i]) + 1);
    }
    if (err != TUTTI_OK || !apply) {
        tutti__free(new);
        return err;
    }
    tutti__free(m->lines);
    m->lines = new;
    m->lines_n = n;
    return TUTTI_OK;
}
