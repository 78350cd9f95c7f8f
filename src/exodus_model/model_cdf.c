/* exodus_model: encoding of a model as a netCDF header and a catalogue.
 *
 *   header | catalogue: status, ids, names, truth tables ... | arrays of the mesh | records
 *
 * The order is fixed, so that equal models give equal files.  netCDF has no dimensions of length 0,
 * so empty entities have neither dimensions nor variables.
 *
 * The functions for the catalogue are called three times: to define its variables, and after the
 * layout to find its end and to write its values.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

#include <string.h>

/* ---- dimensions */

static tutti_err define_dim(tutti__cdf *c, const char *name, tutti_count n) {
    return n > 0 ? tutti__cdf_add_dim(c, name, n, NULL) : TUTTI_OK;
}

static tutti_err define_entity_dim(tutti__cdf *c, const char *name, tutti_count number,
                                   tutti_count n) {
    char full[64];
    return define_dim(c, tutti__exodus_numbered(full, name, number), n);
}

static tutti_err define_entity_dims(tutti__cdf *c, const tutti_exodus_entity *e,
                                    tutti_count number) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    const int listed = tutti__exodus_is_listed(e);
    if (e->entries == 0) return TUTTI_OK;
    TUTTI_TRY(define_entity_dim(c, k->entries, number, e->entries));
    if (k->per_entry)
        TUTTI_TRY(define_entity_dim(c, k->per_entry, number,
                                    listed == 1   ? e->list_length
                                    : listed == 2 ? 0
                                                  : e->nodes));
    if (e->kind == TUTTI_EXODUS_ELEMENT_BLOCK) {
        TUTTI_TRY(define_entity_dim(c, "num_edg_per_el", number, listed ? 0 : e->edges));
        TUTTI_TRY(define_entity_dim(c, "num_fac_per_el", number,
                                    listed == 1   ? 0
                                    : listed == 2 ? e->list_length
                                                  : e->faces));
    }
    if (e->kind == TUTTI_EXODUS_SIDE_SET)
        TUTTI_TRY(define_entity_dim(c, k->factors_dim, number, e->factors));
    return define_entity_dim(c, k->attributes_dim, number, e->attributes);
}

static tutti_err define_dims(const tutti__exodus_model *m, tutti__cdf *c) {
    static const int ORDER[] = {
        TUTTI_EXODUS_ELEMENT_BLOCK, TUTTI_EXODUS_EDGE_BLOCK,  TUTTI_EXODUS_FACE_BLOCK,
        TUTTI_EXODUS_NODE_SET,      TUTTI_EXODUS_EDGE_SET,    TUTTI_EXODUS_FACE_SET,
        TUTTI_EXODUS_SIDE_SET,      TUTTI_EXODUS_ELEMENT_SET, TUTTI_EXODUS_NODE_MAP,
        TUTTI_EXODUS_EDGE_MAP,      TUTTI_EXODUS_FACE_MAP,    TUTTI_EXODUS_ELEMENT_MAP};
    TUTTI_TRY(define_dim(c, "len_string", 33));
    TUTTI_TRY(define_dim(c, "len_line", 81));
    TUTTI_TRY(define_dim(c, "four", 4));
    TUTTI_TRY(define_dim(c, "len_name", m->name_length + 1));
    TUTTI_TRY(tutti__cdf_add_dim(c, "time_step", 0, NULL));
    TUTTI_TRY(define_dim(c, "num_dim", m->p.dims));
    TUTTI_TRY(define_dim(c, "num_nodes", m->p.nodes));
    TUTTI_TRY(define_dim(c, "num_elem", m->p.elements));
    TUTTI_TRY(define_dim(c, "num_edge", m->p.edges));
    TUTTI_TRY(define_dim(c, "num_face", m->p.faces));
    for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++)
        TUTTI_TRY(define_dim(c, tutti__exodus_names_of[ORDER[i]].dim, m->of[ORDER[i]].n));
    TUTTI_TRY(define_dim(c, "num_qa_rec", m->qa_n));
    TUTTI_TRY(define_dim(c, "num_info", m->lines_n));
    if (m->p.nodes > 0) TUTTI_TRY(define_dim(c, "num_att_in_nblk", m->p.node_attributes));
    for (int k = 0; k < TUTTI_EXODUS_NODE_MAP; k++)
        TUTTI_TRY(define_dim(c, tutti__exodus_names_of[k].variables, m->of[k].variables_n));
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_NODE_MAP; k++)
        for (tutti_count i = 0; i < m->of[k].n; i++)
            TUTTI_TRY(define_entity_dims(c, &m->of[k].row[i], i + 1));
    return TUTTI_OK;
}

/* ---- variables */

/* A variable with up to three dimensions, given by name; NULL ends the list. */
typedef struct {
    const char *name;
    int type;
    const char *dim[3];
} variable;

static tutti_err define_variable(tutti__cdf *c, const variable *v, tutti_count *out) {
    tutti_count dims[3], index = 0;
    int n = 0;
    /* a variable with an empty dimension is not defined */
    for (int i = 0; i < 3 && v->dim[i]; i++)
        if ((dims[n++] = tutti__cdf_find_dim(c, v->dim[i])) < 0) return TUTTI_OK;
    TUTTI_TRY(tutti__cdf_add_var(c, v->name, v->type, n, dims, &index));
    if (out) *out = index;
    return TUTTI_OK;
}

/* Set an attribute with its terminating 0, as libexodusii does, since readers rely on it. */
static tutti_err put_text_attribute(tutti__cdf *c, tutti_count var, const char *name,
                                    const char *value) {
    return tutti__cdf_put_att(c, var, name, TUTTI__CDF_CHAR, (tutti_count)strlen(value) + 1, value);
}

static int real_type(const tutti__exodus_model *m) {
    return m->real_bytes == 4 ? TUTTI__CDF_FLOAT : TUTTI__CDF_DOUBLE;
}

static int integer_type(int bytes) {
    return bytes == 8 ? TUTTI__CDF_INT64 : TUTTI__CDF_INT;
}

/* ---- the catalogue */

/* The source of the values of a variable of the catalogue. */
typedef struct {
    enum { STATUS, IDS, PROPERTY, NAMES, COORDINATES, QA, INFO, ATTRIBUTES, VARIABLES, TRUTH } what;
    int kind;
    tutti_count number; /* number of a property or an entity */
} source;

/* A pass over the catalogue: it defines variables (end is 0), finds the end, or writes values to
 * `bytes`, which begin at offset 0 of the file. */
typedef struct {
    const tutti__exodus_model *m;
    tutti__cdf *c;
    char *bytes;
    tutti_off end; /* end of the catalogue */
} catalogue_pass;

static const char *find_text(const tutti__exodus_model *m, const source *s, tutti_count i) {
    const tutti__exodus_table *t = &m->of[s->kind];
    switch (s->what) {
    case NAMES:
        return t->row[i].name ? t->row[i].name : "";
    case COORDINATES:
        return m->p.coordinate_names[i];
    case QA:
        return m->qa[i / 4][i % 4];
    case INFO:
        return m->lines[i];
    case ATTRIBUTES:
        return t->attributes && t->attributes[s->number] ? t->attributes[s->number][i] : "";
    default:
        return t->variables[i];
    }
}

static int64_t find_integer(const tutti__exodus_model *m, const source *s, tutti_count i) {
    const tutti__exodus_table *t = &m->of[s->kind];
    switch (s->what) {
    case STATUS:
        return t->row[i].entries > 0;
    case IDS:
        return t->row[i].id;
    case PROPERTY:
        return t->values[s->number][i];
    default:
        return tutti__exodus_model_has(m, (tutti_exodus_kind)s->kind, i / t->variables_n,
                                       (int)(i % t->variables_n));
    }
}

static void write_values(const catalogue_pass *w, const tutti__cdf_var *v, const source *s) {
    char *at = w->bytes + v->begin;
    const tutti_off size = tutti__cdf_size(v->type);
    if (v->type == TUTTI__CDF_CHAR) {
        const tutti_count capacity = w->c->dims[v->dim[v->ndims - 1]].length;
        for (tutti_count i = 0; i < v->numbers / capacity; i++)
            strncpy(at + i * capacity, find_text(w->m, s, i), (size_t)capacity - 1);
    } else {
        for (tutti_count i = 0; i < v->numbers; i++) {
            uint64_t value = (uint64_t)find_integer(w->m, s, i);
            for (tutti_off k = size; k-- > 0; value >>= 8) at[i * size + k] = (char)value;
        }
    }
}

static tutti_err visit_variable(catalogue_pass *w, const variable *v, const source *s) {
    tutti_count index = -1;
    if (w->bytes == NULL && w->end == 0) {
        TUTTI_TRY(define_variable(w->c, v, &index));
        if (index >= 0 && (s->what == IDS || s->what == PROPERTY))
            return put_text_attribute(w->c, index, "name",
                                      s->what == IDS ? "ID"
                                                     : w->m->of[s->kind].properties[s->number]);
        return TUTTI_OK;
    }
    index = tutti__cdf_find_var(w->c, v->name);
    if (index < 0) return TUTTI_OK;
    const tutti__cdf_var *there = &w->c->vars[index];
    if (w->bytes)
        write_values(w, there, s);
    else
        w->end = tutti__max(w->end, there->begin + there->bytes);
    return TUTTI_OK;
}

static tutti_err visit_attributes(catalogue_pass *w, int k) {
    const tutti__exodus_table *t = &w->m->of[k];
    const tutti__exodus_names *names = &tutti__exodus_names_of[k];
    char name[64], dimension[64];
    for (tutti_count i = 0; i < t->n; i++) {
        if (t->row[i].attributes == 0 || t->row[i].entries == 0) continue;
        const int nodal = k == TUTTI_EXODUS_NODAL;
        if (!nodal) {
            tutti__exodus_numbered(name, names->attribute_names, i + 1);
            tutti__exodus_numbered(dimension, names->attributes_dim, i + 1);
        }
        TUTTI_TRY(visit_variable(
            w,
            &(variable){nodal ? names->attribute_names : name,
                        TUTTI__CDF_CHAR,
                        {nodal ? names->attributes_dim : dimension, "len_name", NULL}},
            &(source){ATTRIBUTES, k, i}));
    }
    return TUTTI_OK;
}

static tutti_err visit_catalogue(catalogue_pass *w) {
    char name[64];
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        const tutti__exodus_names *names = &tutti__exodus_names_of[k];
        const int id_type = integer_type(w->m->id_bytes);
        if (names->status)
            TUTTI_TRY(visit_variable(w, &(variable){names->status, TUTTI__CDF_INT, {names->dim}},
                                     &(source){STATUS, k, 0}));
        for (int i = 0; i <= w->m->of[k].properties_n; i++)
            TUTTI_TRY(visit_variable(w,
                                     &(variable){tutti__exodus_numbered(name, names->prop, i + 1),
                                                 id_type,
                                                 {names->dim}},
                                     &(source){i ? PROPERTY : IDS, k, i - 1}));
        TUTTI_TRY(
            visit_variable(w, &(variable){names->names, TUTTI__CDF_CHAR, {names->dim, "len_name"}},
                           &(source){NAMES, k, 0}));
    }
    TUTTI_TRY(visit_variable(w, &(variable){"coor_names", TUTTI__CDF_CHAR, {"num_dim", "len_name"}},
                             &(source){COORDINATES, 0, 0}));
    TUTTI_TRY(visit_variable(
        w, &(variable){"qa_records", TUTTI__CDF_CHAR, {"num_qa_rec", "four", "len_string"}},
        &(source){QA, 0, 0}));
    TUTTI_TRY(visit_variable(w,
                             &(variable){"info_records", TUTTI__CDF_CHAR, {"num_info", "len_line"}},
                             &(source){INFO, 0, 0}));
    for (int k = 0; k < TUTTI_EXODUS_NODE_MAP; k++) {
        const tutti__exodus_names *names = &tutti__exodus_names_of[k];
        TUTTI_TRY(visit_variable(
            w, &(variable){names->variable_names, TUTTI__CDF_CHAR, {names->variables, "len_name"}},
            &(source){VARIABLES, k, 0}));
        if (names->truth && w->m->of[k].truth)
            TUTTI_TRY(visit_variable(
                w, &(variable){names->truth, TUTTI__CDF_INT, {names->dim, names->variables}},
                &(source){TRUTH, k, 0}));
    }
    for (int k = TUTTI_EXODUS_NODAL; k < TUTTI_EXODUS_NODE_MAP; k++)
        TUTTI_TRY(visit_attributes(w, k));
    return TUTTI_OK;
}

/* ---- arrays of the mesh */

/* Define a variable of an entity; its number is appended to the names. */
static tutti_err define_entity_variable(tutti__cdf *c, const variable *v, tutti_count number,
                                        tutti_count *out) {
    char name[64], dims[2][64];
    variable w = {tutti__exodus_numbered(name, v->name, number), v->type, {NULL}};
    for (int i = 0; i < 2 && v->dim[i]; i++)
        w.dim[i] = tutti__exodus_numbered(dims[i], v->dim[i], number);
    return define_variable(c, &w, out);
}

static tutti_err define_block_arrays(const tutti__exodus_model *m, tutti__cdf *c,
                                     const tutti_exodus_entity *e, tutti_count i) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    const int bulk = integer_type(m->bulk_bytes), listed = tutti__exodus_is_listed(e);
    const int elements = e->kind == TUTTI_EXODUS_ELEMENT_BLOCK;
    const char *per_face = "num_fac_per_el";
    tutti_count index = -1;
    if (listed != 2)
        TUTTI_TRY(
            define_entity_variable(c,
                                   listed ? &(variable){k->list, bulk, {k->per_entry}}
                                          : &(variable){k->list, bulk, {k->entries, k->per_entry}},
                                   i, &index));
    if (index >= 0) TUTTI_TRY(put_text_attribute(c, index, "elem_type", e->topology));
    if (elements && e->edges > 0 && !listed)
        TUTTI_TRY(define_entity_variable(
            c, &(variable){"edgconn", bulk, {k->entries, "num_edg_per_el"}}, i, NULL));
    if (elements && (listed == 2 || (!listed && e->faces > 0))) {
        TUTTI_TRY(define_entity_variable(c,
                                         listed
                                             ? &(variable){"facconn", bulk, {per_face}}
                                             : &(variable){"facconn", bulk, {k->entries, per_face}},
                                         i, &index));
        if (listed && index >= 0) TUTTI_TRY(put_text_attribute(c, index, "elem_type", e->topology));
    }
    if (!listed || !k->counts) return TUTTI_OK;
    index = -1;
    TUTTI_TRY(define_entity_variable(c, &(variable){k->counts, bulk, {k->entries}}, i, &index));
    if (index < 0) return TUTTI_OK;
    TUTTI_TRY(put_text_attribute(c, index, "entity_type1", listed == 2 ? "FACE" : "NODE"));
    return put_text_attribute(c, index, "entity_type2", elements ? "ELEM" : "FACE");
}

static tutti_err define_set_arrays(const tutti__exodus_model *m, tutti__cdf *c,
                                   const tutti_exodus_entity *e, tutti_count i) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    const int bulk = integer_type(m->bulk_bytes);
    TUTTI_TRY(define_entity_variable(c, &(variable){k->list, bulk, {k->entries}}, i, NULL));
    if (k->extra)
        TUTTI_TRY(define_entity_variable(c, &(variable){k->extra, bulk, {k->entries}}, i, NULL));
    if (e->factors == 0) return TUTTI_OK;
    const char *length = e->kind == TUTTI_EXODUS_SIDE_SET ? k->factors_dim : k->entries;
    return define_entity_variable(c, &(variable){k->factors, real_type(m), {length}}, i, NULL);
}

static tutti_err define_arrays(const tutti__exodus_model *m, tutti__cdf *c) {
    char name[64];
    static const char *const XYZ[] = {"coordx", "coordy", "coordz"};
    const int real = real_type(m), map = integer_type(m->map_bytes);
    const variable maps[] = {{"node_num_map", map, {"num_nodes"}},
                             {"elem_num_map", map, {"num_elem"}},
                             {"edge_num_map", map, {"num_edge"}},
                             {"face_num_map", map, {"num_face"}},
                             {"elem_map", map, {"num_elem"}}};
    const int has[] = {m->p.has_node_ids, m->p.has_element_ids, m->p.has_edge_ids,
                       m->p.has_face_ids, m->p.has_order};
    for (int d = 0; d < m->p.dims; d++)
        TUTTI_TRY(define_variable(c, &(variable){XYZ[d], real, {"num_nodes"}}, NULL));
    for (int i = 0; i < 5; i++)
        if (has[i]) TUTTI_TRY(define_variable(c, &maps[i], NULL));
    TUTTI_TRY(
        define_variable(c, &(variable){"nattrb", real, {"num_nodes", "num_att_in_nblk"}}, NULL));
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++) {
        const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
        for (tutti_count i = 0; i < m->of[kind].n; i++) {
            const tutti_exodus_entity *e = &m->of[kind].row[i];
            if (e->entries == 0) continue;
            if (tutti__exodus_is_map(kind)) {
                tutti__exodus_numbered(name, k->list, i + 1);
                TUTTI_TRY(define_variable(
                    c, &(variable){name, integer_type(m->map_bytes), {k->entries}}, NULL));
                continue;
            }
            TUTTI_TRY(tutti__exodus_is_block(kind) ? define_block_arrays(m, c, e, i + 1)
                                                   : define_set_arrays(m, c, e, i + 1));
            if (e->attributes > 0)
                TUTTI_TRY(define_entity_variable(
                    c, &(variable){k->attributes, real_type(m), {k->entries, k->attributes_dim}},
                    i + 1, NULL));
        }
    }
    return TUTTI_OK;
}

/* ---- results */

static tutti_err define_results(const tutti__exodus_model *m, tutti__cdf *c) {
    const int real = real_type(m);
    char name[64], dimension[64];
    TUTTI_TRY(
        define_variable(c, &(variable){"vals_glo_var", real, {"time_step", "num_glo_var"}}, NULL));
    for (int v = 0; v < m->of[TUTTI_EXODUS_NODAL].variables_n; v++) {
        tutti__exodus_numbered(name, "vals_nod_var", v + 1);
        TUTTI_TRY(define_variable(c, &(variable){name, real, {"time_step", "num_nodes"}}, NULL));
    }
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_NODE_MAP; kind++) {
        const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
        for (int v = 0; v < m->of[kind].variables_n; v++)
            for (tutti_count i = 0; i < m->of[kind].n; i++) {
                if (m->of[kind].row[i].entries == 0 ||
                    !tutti__exodus_model_has(m, (tutti_exodus_kind)kind, i, v))
                    continue;
                tutti__exodus_values_name(name, kind, i, v);
                tutti__exodus_numbered(dimension, k->entries, i + 1);
                TUTTI_TRY(
                    define_variable(c, &(variable){name, real, {"time_step", dimension}}, NULL));
            }
    }
    return TUTTI_OK;
}

/* ---- encoding */

static tutti_err put_integer_attribute(tutti__cdf *c, const char *name, int32_t value) {
    return tutti__cdf_put_att(c, -1, name, TUTTI__CDF_INT, 1, &value);
}

static tutti_err put_attributes(const tutti__exodus_model *m, tutti__cdf *c) {
    const float version = 6.02f;
    const int status =
        (m->map_bytes == 8) << 10 | (m->id_bytes == 8) << 11 | (m->bulk_bytes == 8) << 12;
    TUTTI_TRY(tutti__cdf_put_att(c, -1, "api_version", TUTTI__CDF_FLOAT, 1, &version));
    TUTTI_TRY(tutti__cdf_put_att(c, -1, "version", TUTTI__CDF_FLOAT, 1, &version));
    TUTTI_TRY(put_integer_attribute(c, "floating_point_word_size", m->real_bytes));
    TUTTI_TRY(put_integer_attribute(c, "file_size", 1));
    TUTTI_TRY(put_integer_attribute(c, "maximum_name_length", m->name_length));
    TUTTI_TRY(put_integer_attribute(c, "int64_status", status));
    return put_text_attribute(c, -1, "title", m->p.title);
}

tutti_err tutti__exodus_encode(const tutti__exodus_model *m, tutti__cdf *c) {
    catalogue_pass w = {.m = m, .c = c};
    tutti__cdf_init(c, 5);
    tutti_err err = define_dims(m, c);
    if (err == TUTTI_OK) err = put_attributes(m, c);
    if (err == TUTTI_OK)
        err = define_variable(c, &(variable){"time_whole", real_type(m), {"time_step"}}, NULL);
    if (err == TUTTI_OK) err = visit_catalogue(&w);
    if (err == TUTTI_OK) err = define_arrays(m, c);
    if (err == TUTTI_OK) err = define_results(m, c);
    if (err != TUTTI_OK) tutti__cdf_free(c);
    return err;
}

tutti_err tutti__exodus_head(const tutti__exodus_model *m, const tutti__cdf *c, void **bytes_out,
                             size_t *n_out) {
    catalogue_pass w = {.m = m, .c = (tutti__cdf *)(uintptr_t)c, .end = c->header_bytes};
    void *header = NULL;
    TUTTI_TRY(visit_catalogue(&w));
    TUTTI_TRY(tutti__cdf_encode(c, &header));
    w.bytes = tutti__calloc(1, (size_t)w.end);
    tutti_err err = w.bytes ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        memcpy(w.bytes, header, (size_t)c->header_bytes);
        err = visit_catalogue(&w);
    }
    tutti__free(header);
    if (err != TUTTI_OK) {
        tutti__free(w.bytes);
        return err;
    }
    *bytes_out = w.bytes;
    *n_out = (size_t)w.end;
    return TUTTI_OK;
}
