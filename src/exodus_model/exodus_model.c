/* exodus_model: what a file has: parameters, entities, variables.  Checked as it is said, so that the one who
 * says it hears of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/hash.h"

/* ---- ids */

/* Rows by id: open addressing; 0 is free, i + 1 is row i. */
struct tutti__exodus_ids {
    size_t room; /* a power of two */
    tutti_count slot[];
};

static size_t slot_of(const struct tutti__exodus_ids *t, int64_t id) {
    uint64_t h = (uint64_t)id * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32) & (t->room - 1);
}

/* Of rows with the same id only the first is entered: a long chain of them would take quadratic time. */
static void ids_enter(const tutti__exodus_table *t, tutti_count row) {
    struct tutti__exodus_ids *ids = t->ids;
    const int64_t id = t->row[row].id;
    size_t i = slot_of(ids, id);
    while (ids->slot[i] && t->row[ids->slot[i] - 1].id != id) i = (i + 1) & (ids->room - 1);
    if (!ids->slot[i]) ids->slot[i] = row + 1;
}

/* All of the rows, with room for as many again. */
static tutti_err ids_make(tutti__exodus_table *t, tutti_count n) {
    size_t room = 16;
    while (room < (size_t)n * 2) room *= 2;
    struct tutti__exodus_ids *ids = tutti__calloc(1, sizeof *ids + room * sizeof ids->slot[0]);
    if (!ids) return TUTTI_ERR_NOMEM;
    ids->room = room;
    tutti__free(t->ids);
    t->ids = ids;
    for (tutti_count i = 0; i < t->n; i++) ids_enter(t, i);
    return TUTTI_OK;
}

tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id) {
    if ((int)kind < 0 || kind >= TUTTI_EXODUS_KINDS) return -1;
    const tutti__exodus_table *t = &m->of[kind];
    if (kind == TUTTI_EXODUS_NODAL) return id == 0 && t->n == 1 ? 0 : -1;
    if (!t->ids) return -1;
    for (size_t i = slot_of(t->ids, id); t->ids->slot[i]; i = (i + 1) & (t->ids->room - 1))
        if (t->row[t->ids->slot[i] - 1].id == id) return t->ids->slot[i] - 1;
    return -1;
}

tutti_err tutti__exodus_model_index(tutti__exodus_model *m, tutti_exodus_kind kind) {
    const tutti__exodus_table *t = &m->of[kind];
    TUTTI_TRY(ids_make(&m->of[kind], t->n));
    for (tutti_count i = 0; i < t->n; i++) {
        const tutti_count first = tutti__exodus_model_find(m, kind, t->row[i].id);
        TUTTI_CHECK(first == i || (t->row[first].entries == 0 && t->row[i].entries == 0),
                    TUTTI_ERR_FORMAT, "duplicate %s id %lld (numbers %lld and %lld of the file)",
                    tutti__exodus_names_of[kind].word, (long long)t->row[i].id,
                    (long long)first + 1, (long long)i + 1);
    }
    return TUTTI_OK;
}

/* ---- freeing */

static void texts_free(char **v, tutti_count n) {
    for (tutti_count i = 0; v && i < n; i++) tutti__free(v[i]);
    tutti__free(v);
}

static void row_free(tutti_exodus_entity *e) {
    tutti__free((void *)(uintptr_t)e->name);
    tutti__free((void *)(uintptr_t)e->topology);
    *e = (tutti_exodus_entity){0};
}

static void attributes_free(tutti__exodus_table *t) {
    for (tutti_count i = 0; t->attributes && i < t->n; i++)
        if (t->attributes[i]) texts_free(t->attributes[i], t->row[i].attributes);
    tutti__free(t->attributes);
    t->attributes = NULL;
}

/* Its entities and what hangs on them. */
static void rows_free(tutti__exodus_table *t) {
    attributes_free(t);
    for (tutti_count i = 0; i < t->n; i++) row_free(&t->row[i]);
    tutti__free(t->row);
    tutti__free(t->ids);
    tutti__free(t->truth);
    tutti__free(t->before);
    texts_free(t->properties, t->properties_n);
    for (int i = 0; i < t->properties_n; i++) tutti__free(t->values[i]);
    tutti__free(t->values);
    *t = (tutti__exodus_table){.variables_n = t->variables_n, .variables = t->variables};
}

static void parameters_free(tutti_exodus_parameters *p) {
    tutti__free((void *)(uintptr_t)p->title);
    texts_free((char **)(uintptr_t)p->coordinate_names, p->dims);
    *p = (tutti_exodus_parameters){0};
}

void tutti__exodus_model_free(tutti__exodus_model *m) {
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        rows_free(&m->of[k]);
        texts_free(m->of[k].variables, m->of[k].variables_n);
    }
    parameters_free(&m->p);
    tutti__free(m->qa);
    tutti__free(m->lines);
    *m = (tutti__exodus_model){0};
}

void tutti__exodus_model_init(tutti__exodus_model *m) {
    *m = (tutti__exodus_model){.real_bytes = 8, .name_length = 32};
}

void tutti__exodus_model_forget(tutti__exodus_model *m) {
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) rows_free(&m->of[k]);
    m->p.nodes = m->p.elements = m->p.edges = m->p.faces = 0;
    m->p.has_node_ids = m->p.has_element_ids = m->p.has_edge_ids = m->p.has_face_ids = 0;
    m->p.has_order = 0;
    m->id_bytes = m->map_bytes = m->bulk_bytes = 0;
}

/* ---- texts */

static tutti_err text_check(const char *text, size_t most, const char *what) {
    TUTTI_CHECK(text, TUTTI_ERR_ARG, "%s is NULL", what);
    TUTTI_CHECK(strlen(text) <= most, TUTTI_ERR_ARG, "%s '%.40s...' has %zu bytes: at most %zu",
                what, text, strlen(text), most);
    return TUTTI_OK;
}

/* Copies of n texts; *out is NULL after an error. */
static tutti_err texts_copy(int n, const char *const *from, char ***out) {
    char **v = tutti__calloc((size_t)n + 1, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        if (!(v[i] = tutti__strdup(from[i]))) {
            texts_free(v, i);
            return TUTTI_ERR_NOMEM;
        }
    *out = v;
    return TUTTI_OK;
}

static tutti_err names_check(const tutti__exodus_model *m, int n, const char *const *names,
                             const char *what) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 24 && (names || n == 0), TUTTI_ERR_ARG, "%d names of %s%s", n,
                what, names ? "" : " at NULL");
    for (int i = 0; i < n; i++) TUTTI_TRY(text_check(names[i], (size_t)m->name_length, what));
    return TUTTI_OK;
}

/* ---- parameters */

static tutti_err counts_check(const tutti_exodus_parameters *p) {
    const tutti_count most = (tutti_count)1 << 58;
    TUTTI_CHECK(p->dims >= 1 && p->dims <= 3, TUTTI_ERR_ARG, "%d dimensions: 1, 2 or 3", p->dims);
    TUTTI_CHECK(p->nodes >= 0 && p->nodes <= most && p->elements >= 0 && p->elements <= most &&
                    p->edges >= 0 && p->edges <= most && p->faces >= 0 && p->faces <= most,
                TUTTI_ERR_ARG, "%lld nodes, %lld elements, %lld edges, %lld faces",
                (long long)p->nodes, (long long)p->elements, (long long)p->edges,
                (long long)p->faces);
    TUTTI_CHECK(p->node_attributes >= 0 && p->node_attributes <= 1 << 24, TUTTI_ERR_ARG,
                "%d attributes of nodes", p->node_attributes);
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_parameters(tutti__exodus_model *m, const tutti_exodus_parameters *p,
                                         int apply) {
    static const char *const XYZ[] = {"x", "y", "z"};
    TUTTI_CHECK(p, TUTTI_ERR_ARG, "the parameters are NULL");
    TUTTI_CHECK_RESERVED(p, "the parameters");
    TUTTI_TRY(counts_check(p));
    const char *title = p->title ? p->title : "";
    const char *const *names = p->coordinate_names ? p->coordinate_names : XYZ;
    TUTTI_TRY(text_check(title, 80, "the title"));
    TUTTI_TRY(names_check(m, p->dims, names, "coordinates"));
    if (!apply) return TUTTI_OK;
    tutti_exodus_parameters new = *p;
    char **copies = NULL;
    new.title = tutti__strdup(title);
    new.coordinate_names = NULL;
    tutti_exodus_entity *row = tutti__calloc(1, sizeof *row);
    if (!new.title || !row || texts_copy(p->dims, names, &copies) != TUTTI_OK) {
        tutti__free((void *)(uintptr_t) new.title);
        tutti__free(row);
        return TUTTI_ERR_NOMEM;
    }
    new.coordinate_names = (const char *const *)copies;
    parameters_free(&m->p);
    m->p = new;
    tutti__exodus_table *t = &m->of[TUTTI_EXODUS_NODAL];
    rows_free(t);
    *row = (tutti_exodus_entity){
        .kind = TUTTI_EXODUS_NODAL, .entries = p->nodes, .attributes = p->node_attributes};
    t->row = row;
    t->n = t->room = 1;
    return TUTTI_OK;
}

/* ---- entities */

int tutti__exodus_is_listed(const tutti_exodus_entity *e) {
    if (!e->topology) return 0;
    return strcasecmp(e->topology, "nsided") == 0 ? 1
                                                  : 2 * (strcasecmp(e->topology, "nfaced") == 0);
}

static tutti_err entity_check(const tutti__exodus_model *m, const tutti_exodus_entity *e) {
    const tutti_count most = (tutti_count)1 << 58;
    const int kind = (int)e->kind;
    TUTTI_CHECK(kind >= TUTTI_EXODUS_ELEMENT_BLOCK && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG,
                "kind %d is none of blocks, sets or maps", kind);
    const char *word = tutti__exodus_names_of[kind].word;
    const long long id = (long long)e->id;
    TUTTI_CHECK_RESERVED(e, word);
    TUTTI_CHECK(e->id >= 0, TUTTI_ERR_ARG, "%s has id %lld: ids must be >= 0", word, id);
    if (e->name) TUTTI_TRY(text_check(e->name, (size_t)m->name_length, word));
    TUTTI_CHECK(e->entries >= 0 && e->entries <= most && e->list_length >= 0 &&
                    e->list_length <= most && e->factors >= 0 && e->factors <= most,
                TUTTI_ERR_ARG, "%s %lld has %lld entries, %lld factors, %lld in its list", word, id,
                (long long)e->entries, (long long)e->factors, (long long)e->list_length);
    TUTTI_CHECK(e->nodes >= 0 && e->edges >= 0 && e->faces >= 0 && e->attributes >= 0 &&
                    e->attributes <= 1 << 24,
                TUTTI_ERR_ARG, "%s %lld: %d nodes, %d edges, %d faces, %d attributes of an entry",
                word, id, e->nodes, e->edges, e->faces, e->attributes);
    const int block = tutti__exodus_is_block(kind), set = tutti__exodus_is_set(kind);
    if (block) {
        TUTTI_CHECK(e->topology && e->topology[0], TUTTI_ERR_ARG, "%s %lld has no topology", word,
                    id);
        TUTTI_TRY(text_check(e->topology, 32, "a topology"));
    }
    TUTTI_CHECK(kind == TUTTI_EXODUS_ELEMENT_BLOCK || (!e->edges && !e->faces), TUTTI_ERR_ARG,
                "%s %lld: only elements have edges and faces", word, id);
    TUTTI_CHECK(block || (!e->nodes && !e->list_length), TUTTI_ERR_ARG,
                "%s %lld: only blocks have nodes of entries and lists", word, id);
    TUTTI_CHECK(set || !e->factors, TUTTI_ERR_ARG, "%s %lld: only sets have factors", word, id);
    TUTTI_CHECK(set || block || !e->attributes, TUTTI_ERR_ARG, "%s %lld: maps have no attributes",
                word, id);
    return TUTTI_OK;
}

static tutti_err row_make(const tutti_exodus_entity *e, tutti_exodus_entity *out) {
    *out = *e;
    out->name = NULL;
    out->topology = NULL;
    if (e->name && e->name[0] && !(out->name = tutti__strdup(e->name))) return TUTTI_ERR_NOMEM;
    if (tutti__exodus_is_block((int)e->kind)) {
        if (!(out->topology = tutti__strdup(e->topology))) return TUTTI_ERR_NOMEM;
        if (out->nodes == 0 && !tutti__exodus_is_listed(e))
            out->nodes = tutti_exodus_topology_nodes(e->topology);
        TUTTI_CHECK(out->nodes > 0 || tutti__exodus_is_listed(e), TUTTI_ERR_ARG,
                    "%s %lld: how many nodes has '%s'?", tutti__exodus_names_of[e->kind].word,
                    (long long)e->id, e->topology);
    }
    return TUTTI_OK;
}

static tutti_err entity_add(tutti__exodus_model *m, const tutti_exodus_entity *e) {
    TUTTI_TRY(entity_check(m, e));
    tutti__exodus_table *t = &m->of[e->kind];
    const char *word = tutti__exodus_names_of[e->kind].word;
    TUTTI_CHECK(!t->truth && t->properties_n == 0, TUTTI_ERR_STATE,
                "%s %lld: entities are defined before truth tables and properties", word,
                (long long)e->id);
    TUTTI_CHECK(tutti__exodus_model_find(m, e->kind, e->id) < 0, TUTTI_ERR_ARG, "duplicate %s %lld",
                word, (long long)e->id);
    if (t->n == t->room) {
        const tutti_count room = t->room ? 2 * t->room : 8;
        tutti_exodus_entity *rows = tutti__realloc(t->row, (size_t)room * sizeof *rows);
        if (!rows) return TUTTI_ERR_NOMEM;
        t->row = rows;
        if (t->attributes) {
            char ***names = tutti__realloc(t->attributes, (size_t)room * sizeof *names);
            if (!names) return TUTTI_ERR_NOMEM;
            memset(names + t->n, 0, (size_t)(room - t->n) * sizeof *names);
            t->attributes = names;
        }
        TUTTI_TRY(ids_make(t, room));
        t->room = room;
    }
    const tutti_err err = row_make(e, &t->row[t->n]);
    if (err != TUTTI_OK) {
        row_free(&t->row[t->n]);
        return err;
    }
    ids_enter(t, t->n++);
    tutti__free(t->before);
    t->before = NULL;
    return TUTTI_OK;
}

void tutti__exodus_model_cut(tutti__exodus_model *m, const tutti_count n[TUTTI_EXODUS_KINDS]) {
    TUTTI_KEEP_LAST_ERROR;
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__exodus_table *t = &m->of[k];
        if (t->n == n[k]) continue;
        while (t->n > n[k]) row_free(&t->row[--t->n]);
        memset(t->ids->slot, 0, t->ids->room * sizeof t->ids->slot[0]);
        for (tutti_count i = 0; i < t->n; i++) ids_enter(t, i);
    }
}

tutti_err tutti__exodus_model_define(tutti__exodus_model *m, tutti_count n,
                                     const tutti_exodus_entity *entities) {
    tutti_count before[TUTTI_EXODUS_KINDS];
    TUTTI_CHECK(n >= 0 && (entities || n == 0), TUTTI_ERR_ARG, "%lld entities%s", (long long)n,
                entities ? "" : " at NULL");
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) before[k] = m->of[k].n;
    tutti_err err = TUTTI_OK;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) err = entity_add(m, &entities[i]);
    if (err != TUTTI_OK) tutti__exodus_model_cut(m, before);
    return err;
}

/* ---- variables, attributes, properties */

static tutti_err kind_check(int kind) {
    TUTTI_CHECK(kind >= 0 && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG, "there is no kind %d", kind);
    return TUTTI_OK;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that are different, and none is "". */
static tutti_err names_differ(int n, char **copies, const char *word) {
    qsort(copies, (size_t)n, sizeof *copies, by_text);
    for (int i = 0; i < n; i++) {
        TUTTI_CHECK(copies[i][0], TUTTI_ERR_ARG, "%s: a variable has no name", word);
        TUTTI_CHECK(i == 0 || strcmp(copies[i - 1], copies[i]) != 0, TUTTI_ERR_ARG,
                    "%s: variable '%s' is there twice", word, copies[i]);
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_variables(tutti__exodus_model *m, tutti_exodus_kind kind, int n,
                                        const char *const *names, int apply) {
    TUTTI_TRY(kind_check((int)kind));
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(!tutti__exodus_is_map((int)kind), TUTTI_ERR_ARG, "a %s has no variables", word);
    tutti__exodus_table *t = &m->of[kind];
    TUTTI_CHECK(t->variables_n == 0, TUTTI_ERR_STATE, "%s: there are %d variables already", word,
                t->variables_n);
    TUTTI_TRY(names_check(m, n, names, "variables"));
    char **copies = NULL;
    TUTTI_TRY(texts_copy(n, names, &copies));
    if (!apply) {
        const tutti_err err = names_differ(n, copies, word);
        texts_free(copies, n);
        return err;
    }
    texts_free(t->variables, t->variables_n);
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
    TUTTI_TRY(kind_check((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const size_t n = (size_t)t->n * (size_t)t->variables_n;
    TUTTI_CHECK(tutti__exodus_is_block((int)kind) || tutti__exodus_is_set((int)kind), TUTTI_ERR_ARG,
                "%s: only blocks and sets have truth tables", tutti__exodus_names_of[kind].word);
    TUTTI_CHECK(t->variables_n > 0, TUTTI_ERR_STATE, "%s: there are no variables yet",
                tutti__exodus_names_of[kind].word);
    TUTTI_CHECK(table || n == 0, TUTTI_ERR_ARG, "the truth table is NULL");
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
    TUTTI_TRY(kind_check((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(number >= 0 && number < t->n, TUTTI_ERR_NOT_FOUND, "%s: there is none such", word);
    TUTTI_CHECK(n == t->row[number].attributes, TUTTI_ERR_ARG, "%s %lld has %d attributes, not %d",
                word, (long long)t->row[number].id, t->row[number].attributes, n);
    TUTTI_TRY(names_check(m, n, names, "attributes"));
    if (!apply) return TUTTI_OK;
    char **copies = NULL;
    if (!t->attributes) {
        t->attributes = tutti__calloc((size_t)t->room, sizeof *t->attributes);
        if (!t->attributes) return TUTTI_ERR_NOMEM;
    }
    TUTTI_TRY(texts_copy(n, names, &copies));
    texts_free(t->attributes[number], n);
    t->attributes[number] = copies;
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_property(tutti__exodus_model *m, tutti_exodus_kind kind,
                                       const char *name, const int64_t *values, int apply) {
    TUTTI_TRY(kind_check((int)kind));
    tutti__exodus_table *t = &m->of[kind];
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_CHECK(kind >= TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_ERR_ARG,
                "%s: blocks, sets and maps have properties", word);
    TUTTI_TRY(text_check(name, (size_t)m->name_length, "a property"));
    TUTTI_CHECK(name[0] && strcmp(name, "ID") != 0, TUTTI_ERR_ARG, "'%s' is no name for a property",
                name);
    TUTTI_CHECK(values || t->n == 0, TUTTI_ERR_ARG, "property '%s': the values are NULL", name);
    for (int i = 0; i < t->properties_n; i++)
        TUTTI_CHECK(strcmp(t->properties[i], name) != 0, TUTTI_ERR_ARG,
                    "%s: property '%s' is there twice", word, name);
    if (!apply) return TUTTI_OK;
    const size_t room = (size_t)t->properties_n + 1;
    char **names = tutti__realloc(t->properties, room * sizeof *names);
    if (!names) return TUTTI_ERR_NOMEM;
    t->properties = names;
    int64_t **all = tutti__realloc(t->values, room * sizeof *all);
    if (!all) return TUTTI_ERR_NOMEM;
    t->values = all;
    names[room - 1] = tutti__strdup(name);
    all[room - 1] = tutti__malloc((size_t)t->n * sizeof **all);
    if (!names[room - 1] || !all[room - 1]) {
        tutti__free(names[room - 1]);
        tutti__free(all[room - 1]);
        return TUTTI_ERR_NOMEM;
    }
    if (t->n > 0) memcpy(all[room - 1], values, (size_t)t->n * sizeof **all);
    t->properties_n++;
    return TUTTI_OK;
}

/* ---- records of text */

tutti_err tutti__exodus_model_qa(tutti__exodus_model *m, int n, const tutti_exodus_qa *records,
                                 int apply) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 20 && (records || n == 0), TUTTI_ERR_ARG, "%d records of QA",
                n);
    char(*new)[4][33] = tutti__calloc((size_t)n + 1, sizeof *new);
    tutti_err err = new ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        const char *const text[] = {records[i].program, records[i].version, records[i].date,
                                    records[i].time};
        for (int j = 0; j < 4 && err == TUTTI_OK; j++) {
            if (!text[j]) continue;
            err = text_check(text[j], 32, "a QA record");
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
    TUTTI_CHECK(n >= 0 && n <= 1 << 24 && (lines || n == 0), TUTTI_ERR_ARG, "%d lines of info", n);
    char(*new)[81] = tutti__calloc((size_t)n + 1, sizeof *new);
    tutti_err err = new ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        err = text_check(lines[i], 80, "a line of info");
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
