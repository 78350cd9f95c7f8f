/* exodus_model: decoding of the header and the catalogue of a file, written by any program.
 *
 * Missing ids and names get the values that libexodusii returns: ids 1, 2, 3 ..., names "".
 * Variables of an unexpected shape or type fail with TUTTI_ERR_FORMAT.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* ---- extents of the catalogue */

static int ends_with(const char *name, size_t n, const char *tail) {
    const size_t k = strlen(tail);
    return n >= k && memcmp(name + n - k, tail, k) == 0;
}

static int is_catalogue(const char *name) {
    const size_t n = strlen(name);
    const char *prop = strstr(name, "_prop");
    return (prop && prop[5] >= '0' && prop[5] <= '9') || ends_with(name, n, "_status") ||
           ends_with(name, n, "_names") || ends_with(name, n, "_var_tab") ||
           ends_with(name, n, "_records") || strstr(name, "attrib_name") ||
           (strncmp(name, "name_", 5) == 0 && ends_with(name, n, "_var"));
}

static int compare_offsets(const void *a, const void *b) {
    const tutti__exodus_extent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

tutti_err tutti__exodus_catalogue_of(const tutti__cdf *c, tutti__exodus_catalogue *out) {
    enum { GAP = 1 << 16, MOST = 1 << 30 };
    tutti__exodus_catalogue w = {0};
    tutti_off sum = 0;
    for (tutti_count i = 0; i < c->vars_n; i++)
        if (!c->vars[i].is_record && is_catalogue(c->vars[i].name)) {
            TUTTI_CHECK(c->vars[i].bytes <= MOST, TUTTI_ERR_FORMAT,
                        "'%.60s' has %lld bytes: a list of names or ids has at most %d",
                        c->vars[i].name, (long long)c->vars[i].bytes, MOST);
            w.n++;
        }
    w.v = tutti__malloc((size_t)(w.n + 1) * sizeof *w.v);
    if (!w.v) return TUTTI_ERR_NOMEM;
    w.n = 0;
    for (tutti_count i = 0; i < c->vars_n; i++) {
        const tutti__cdf_var *v = &c->vars[i];
        if (v->is_record || !is_catalogue(v->name)) continue;
        w.v[w.n++] = (tutti__exodus_extent){v->begin, v->numbers * tutti__cdf_size(v->type), 0};
    }
    qsort(w.v, (size_t)w.n, sizeof *w.v, compare_offsets);
    tutti_count n = 0;
    for (tutti_count i = 0; i < w.n; i++) {
        tutti__exodus_extent *last = n > 0 ? &w.v[n - 1] : NULL;
        if (last && w.v[i].at <= last->at + last->bytes + GAP)
            last->bytes = tutti__max(last->bytes, w.v[i].at + w.v[i].bytes - last->at);
        else
            w.v[n++] = w.v[i];
    }
    w.n = n;
    for (tutti_count i = 0; i < n; i++) {
        w.v[i].data = (size_t)sum;
        sum += w.v[i].bytes;
        if (sum <= MOST) continue;
        tutti__free(w.v);
        TUTTI_FAIL(TUTTI_ERR_FORMAT, "the lists of names and ids of the file exceed 1 GiB");
    }
    w.bytes = (size_t)sum;
    *out = w;
    return TUTTI_OK;
}

/* ---- values */

typedef struct {
    const tutti__cdf *c;
    const tutti__exodus_catalogue *where;
    const char *data;
    tutti__exodus_model *m;
    tutti_count *unconfirmed; /* sum of the counts that no array confirms */
} reading;

static tutti_count find_length(const reading *r, const char *name) {
    const tutti_count d = tutti__cdf_find_dim(r->c, name);
    return d < 0 ? 0 : r->c->dims[d].length;
}

static tutti_count find_entity_length(const reading *r, const char *name, tutti_count number) {
    char full[64];
    return find_length(r, tutti__exodus_numbered(full, name, number));
}

/* Find the values of a variable of the catalogue with n rows; *out is NULL if the variable is
 * missing. */
static tutti_err find_values(const reading *r, const char *name, tutti_count n, int is_text,
                             const tutti__cdf_var **v_out, const char **out) {
    const tutti_count index = tutti__cdf_find_var(r->c, name);
    *out = NULL;
    if (index < 0 || n == 0) return TUTTI_OK;
    const tutti__cdf_var *v = &r->c->vars[index];
    TUTTI_CHECK(!v->is_record, TUTTI_ERR_FORMAT, "'%s' must not depend on the time step", name);
    TUTTI_CHECK((v->type == TUTTI__CDF_CHAR) == is_text && v->type != TUTTI__CDF_FLOAT &&
                    v->type != TUTTI__CDF_DOUBLE,
                TUTTI_ERR_FORMAT, "'%s' has netCDF type %d: must be %s", name, v->type,
                is_text ? "char" : "an integer type");
    TUTTI_CHECK(v->numbers % n == 0 && (is_text || v->numbers == n), TUTTI_ERR_FORMAT,
                "'%s' has %lld values: expected %lld%s", name, (long long)v->numbers, (long long)n,
                is_text ? " rows of equal length" : "");
    const tutti__exodus_extent behind = {.at = v->begin + 1};
    const tutti_count end =
        tutti__lower_bound_by(r->where->v, r->where->n, sizeof behind, &behind, compare_offsets);
    TUTTI_ASSERT(end > 0);
    const tutti__exodus_extent *e = &r->where->v[end - 1];
    *v_out = v;
    *out = r->data + e->data + (v->begin - e->at);
    return TUTTI_OK;
}

static int64_t integer_at(const tutti__cdf_var *v, const char *at, tutti_count i) {
    const tutti_off size = tutti__cdf_size(v->type);
    const unsigned char *p = (const unsigned char *)at + i * size;
    int64_t value = p[0] & 0x80 ? -1 : 0;
    for (tutti_off k = 0; k < size; k++) value = (int64_t)((uint64_t)value << 8 | p[k]);
    return value;
}

/* Copy a text of at most n bytes up to its first 0, and remove trailing blanks. */
static tutti_err copy_text(const char *from, tutti_off n, char **out) {
    size_t k = strnlen(from, (size_t)n);
    while (k > 0 && from[k - 1] == ' ') k--;
    char *p = tutti__malloc(k + 1);
    if (!p) return TUTTI_ERR_NOMEM;
    memcpy(p, from, k);
    p[k] = 0;
    *out = p;
    return TUTTI_OK;
}

/* Copy n texts, which the caller frees; if the variable is missing, all are "". */
static tutti_err read_texts(const reading *r, const char *name, tutti_count n, char **out) {
    const tutti__cdf_var *v = NULL;
    const char *at = NULL;
    TUTTI_TRY(find_values(r, name, n, 1, &v, &at));
    for (tutti_count i = 0; i < n; i++) {
        const tutti_off capacity = at ? v->numbers / n : 0;
        TUTTI_TRY(copy_text(at ? at + i * capacity : "", capacity, &out[i]));
    }
    return TUTTI_OK;
}

static tutti_err read_text_attribute(const reading *r, tutti_count var, const char *name,
                                     char **out) {
    const tutti__cdf_att *a = tutti__cdf_find_att(r->c, var, name);
    if (!a || a->type != TUTTI__CDF_CHAR) return copy_text("", 0, out);
    return copy_text(a->values, a->n, out);
}

static int read_integer_attribute(const reading *r, const char *name, int otherwise) {
    const tutti__cdf_att *a = tutti__cdf_find_att(r->c, -1, name);
    return a && a->type == TUTTI__CDF_INT && a->n == 1 ? *(const int32_t *)a->values : otherwise;
}

static int has_variable(const reading *r, const char *name) {
    return tutti__cdf_find_var(r->c, name) >= 0;
}

static tutti_err check_count(const char *name, tutti_count n, tutti_count most) {
    TUTTI_CHECK(n >= 0 && n <= most, TUTTI_ERR_FORMAT, "'%s' is %lld: must be 0 to %lld", name,
                (long long)n, (long long)most);
    return TUTTI_OK;
}

/* ---- counts and the bytes that confirm them
 *
 * A hostile file can have dimensions of any length.  A count is accepted if a fixed variable has as
 * many values, since decoding the header has checked that all bytes of fixed variables exist.  The
 * sum of all other counts is limited to UNLISTED, which limits memory and loops.  At most UNNAMED
 * entities or variables may lack ids and names: libexodusii always writes them, and each needs more
 * memory than an entry. */
enum { UNLISTED = 1 << 16, UNNAMED = 1 << 12 };

/* Return the number of values of a fixed variable; -1 if there is no such variable, or it has one
 * row per time step. */
static tutti_count count_fixed_values(const reading *r, const char *name) {
    const tutti_count v = name ? tutti__cdf_find_var(r->c, name) : -1;
    return v < 0 || r->c->vars[v].is_record ? -1 : r->c->vars[v].numbers;
}

static int is_listed(const reading *r, const char *name, tutti_count n) {
    return count_fixed_values(r, name) >= n;
}

static tutti_err add_unconfirmed(const reading *r, const char *what, tutti_count n) {
    TUTTI_CHECK(n >= 0 && n <= UNLISTED - *r->unconfirmed, TUTTI_ERR_FORMAT,
                "'%s' is %lld, but no array of the file has that many values", what, (long long)n);
    *r->unconfirmed += n;
    return TUTTI_OK;
}

/* Check an array of n entries with `each` values: if the file has it, its shape must match;
 * otherwise both counts are unconfirmed. */
static tutti_err check_array(const reading *r, const char *name, tutti_count n, tutti_count each) {
    const tutti_count all = count_fixed_values(r, name);
    TUTTI_CHECK(all < 0 || tutti__has_shape(all, n, each), TUTTI_ERR_FORMAT,
                "'%s' has %lld values: expected %lld * %lld", name, (long long)all, (long long)n,
                (long long)each);
    if (all >= 0) return TUTTI_OK;
    TUTTI_TRY(add_unconfirmed(r, name, n));
    return add_unconfirmed(r, name, each);
}

/* Check the array of entity i (the first is 1) of a kind. */
static tutti_err check_entity_array(const reading *r, const char *name, tutti_count i,
                                    tutti_count n, tutti_count each) {
    char full[64];
    return check_array(r, tutti__exodus_numbered(full, name, i), n, each);
}

static tutti_err check_nodes(const reading *r) {
    const tutti_exodus_parameters *p = &r->m->p;
    if (p->node_attributes > 0) TUTTI_TRY(check_array(r, "nattrb", p->nodes, p->node_attributes));
    if (is_listed(r, "coordx", p->nodes) || is_listed(r, "node_num_map", p->nodes) ||
        tutti__has_shape(count_fixed_values(r, "coord"), p->nodes, p->dims))
        return TUTTI_OK;
    return add_unconfirmed(r, "num_nodes", p->nodes);
}

/* ---- the whole file */

static tutti_err read_parameters(const reading *r) {
    tutti_exodus_parameters *p = &r->m->p;
    char *title = NULL;
    const tutti_count dims = find_length(r, "num_dim"),
                      attributes = find_length(r, "num_att_in_nblk");
    TUTTI_CHECK(dims >= 1 && dims <= 3, TUTTI_ERR_FORMAT,
                "not an Exodus file: dimension 'num_dim' is %lld: must be 1, 2 or 3",
                (long long)dims);
    TUTTI_TRY(check_count("num_att_in_nblk", attributes, 1 << 24));
    TUTTI_TRY(read_text_attribute(r, -1, "title", &title));
    p->title = title;
    char **names = tutti__calloc((size_t)dims + 1, sizeof *names);
    if (!names) return TUTTI_ERR_NOMEM;
    p->dims = (int)dims;
    p->coordinate_names = (const char *const *)names;
    TUTTI_TRY(read_texts(r, "coor_names", dims, names));
    p->nodes = find_length(r, "num_nodes");
    p->elements = find_length(r, "num_elem");
    p->edges = find_length(r, "num_edge");
    p->faces = find_length(r, "num_face");
    p->node_attributes = (int)attributes;
    p->has_node_ids = has_variable(r, "node_num_map");
    p->has_element_ids = has_variable(r, "elem_num_map");
    p->has_edge_ids = has_variable(r, "edge_num_map");
    p->has_face_ids = has_variable(r, "face_num_map");
    p->has_order = has_variable(r, "elem_map");
    tutti__exodus_table *t = &r->m->of[TUTTI_EXODUS_NODAL];
    t->row = tutti__calloc(1, sizeof *t->row);
    if (!t->row) return TUTTI_ERR_NOMEM;
    t->n = t->capacity = 1;
    t->row[0] = (tutti_exodus_entity){
        .kind = TUTTI_EXODUS_NODAL, .entries = p->nodes, .attributes = p->node_attributes};
    return check_nodes(r);
}

/* ---- entities */

static tutti_err read_block(const reading *r, tutti_exodus_entity *e, tutti_count i) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    char name[64], *topology = NULL;
    const tutti_count nodes = find_entity_length(r, k->per_entry, i);
    const int elements = e->kind == TUTTI_EXODUS_ELEMENT_BLOCK;
    const tutti_count edges = elements ? find_entity_length(r, "num_edg_per_el", i) : 0;
    const tutti_count faces = elements ? find_entity_length(r, "num_fac_per_el", i) : 0;
    tutti_count list = tutti__cdf_find_var(r->c, tutti__exodus_numbered(name, k->list, i));
    if (list < 0 && elements)
        list = tutti__cdf_find_var(r->c, tutti__exodus_numbered(name, "facconn", i));
    TUTTI_TRY(list >= 0 ? read_text_attribute(r, list, "elem_type", &topology)
                        : copy_text("", 0, &topology));
    e->topology = topology;
    if (tutti__exodus_is_listed(e)) {
        e->list_length = tutti__exodus_is_listed(e) == 1 ? nodes : faces;
        return TUTTI_OK;
    }
    TUTTI_TRY(check_count("nodes of an element", nodes, INT_MAX));
    TUTTI_TRY(check_count("edges of an element", edges, INT_MAX));
    TUTTI_TRY(check_count("faces of an element", faces, INT_MAX));
    e->nodes = (int)nodes;
    e->edges = (int)edges;
    e->faces = (int)faces;
    return TUTTI_OK;
}

/* Compare the counts of a block with its arrays. */
static tutti_err check_block(const reading *r, const tutti_exodus_entity *e, tutti_count i) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    const int list = tutti__exodus_is_listed(e);
    if (list) {
        TUTTI_TRY(check_entity_array(r, k->counts ? k->counts : k->list, i, e->entries, 1));
        return check_entity_array(r, list == 2 ? "facconn" : k->list, i, e->list_length, 1);
    }
    if (e->nodes > 0 || (e->edges == 0 && e->faces == 0))
        TUTTI_TRY(check_entity_array(r, k->list, i, e->entries, e->nodes));
    if (e->edges > 0) TUTTI_TRY(check_entity_array(r, "edgconn", i, e->entries, e->edges));
    if (e->faces > 0) TUTTI_TRY(check_entity_array(r, "facconn", i, e->entries, e->faces));
    return TUTTI_OK;
}

static tutti_err read_entity(const reading *r, tutti_exodus_entity *e, tutti_count i) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[e->kind];
    char name[64];
    if (tutti__exodus_is_map((int)e->kind)) {
        e->entries = tutti__exodus_model_total(r->m, e->kind);
        return TUTTI_OK;
    }
    e->entries = find_entity_length(r, k->entries, i);
    if (tutti__exodus_is_block((int)e->kind)) TUTTI_TRY(read_block(r, e, i));
    if (e->entries == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_is_block((int)e->kind)
                  ? check_block(r, e, i)
                  : check_entity_array(r, k->list, i, e->entries, 1));
    const tutti_count attributes = find_entity_length(r, k->attributes_dim, i);
    TUTTI_TRY(check_count("attributes of an entity", attributes, 1 << 24));
    e->attributes = (int)attributes;
    if (attributes > 0) TUTTI_TRY(check_entity_array(r, k->attributes, i, e->entries, attributes));
    if (k->factors) {
        const tutti_count n = count_fixed_values(r, tutti__exodus_numbered(name, k->factors, i));
        if (n > 0) e->factors = n;
    }
    return TUTTI_OK;
}

static tutti_err read_attribute_names(const reading *r, int kind) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    tutti__exodus_table *t = &r->m->of[kind];
    char name[64];
    for (tutti_count i = 0; i < t->n && k->attribute_names; i++) {
        const int n = t->row[i].attributes;
        const char *names = kind == TUTTI_EXODUS_NODAL
                                ? k->attribute_names
                                : tutti__exodus_numbered(name, k->attribute_names, i + 1);
        if (n == 0 || !has_variable(r, names)) continue;
        if (!t->attributes)
            t->attributes = tutti__calloc((size_t)t->capacity, sizeof *t->attributes);
        if (!t->attributes) return TUTTI_ERR_NOMEM;
        t->attributes[i] = tutti__calloc((size_t)n + 1, sizeof **t->attributes);
        if (!t->attributes[i]) return TUTTI_ERR_NOMEM;
        TUTTI_TRY(read_texts(r, names, n, t->attributes[i]));
    }
    return TUTTI_OK;
}

/* Read the properties: prop1 has the ids, the others have names. */
static tutti_err read_properties(const reading *r, int kind, int64_t *ids) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    const tutti_count n = r->m->of[kind].n;
    int64_t *numbers = tutti__malloc((size_t)n * sizeof *numbers);
    tutti_err err = numbers ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) ids[i] = i + 1;
    for (tutti_count i = 1; err == TUTTI_OK; i++) {
        char full[64], *name = NULL;
        const tutti__cdf_var *v = NULL;
        const char *at = NULL;
        tutti__exodus_numbered(full, k->prop, i);
        err = find_values(r, full, n, 0, &v, &at);
        if (err != TUTTI_OK || !at) break;
        for (tutti_count j = 0; j < n; j++) (i == 1 ? ids : numbers)[j] = integer_at(v, at, j);
        if (i == 1) continue;
        err = read_text_attribute(r, v - r->c->vars, "name", &name);
        if (err == TUTTI_OK && name[0])
            err = tutti__exodus_model_property(r->m, (tutti_exodus_kind)kind, name, numbers, 1);
        tutti__free(name);
    }
    tutti__free(numbers);
    return err;
}

static tutti_err read_entities(const reading *r, int kind) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    tutti__exodus_table *t = &r->m->of[kind];
    const tutti_count n = find_length(r, k->dim);
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(check_count(k->dim, n, 1 << 24));
    char ids_name[64];
    TUTTI_CHECK(n <= UNNAMED || is_listed(r, k->names, n) || is_listed(r, k->status, n) ||
                    is_listed(r, tutti__exodus_numbered(ids_name, k->prop, 1), n),
                TUTTI_ERR_FORMAT,
                "'%s' is %lld, but the file has no ids, names or status of that length", k->dim,
                (long long)n);
    char **names = tutti__calloc((size_t)n, sizeof *names);
    int64_t *ids = tutti__malloc((size_t)n * sizeof *ids);
    t->row = tutti__calloc((size_t)n, sizeof *t->row);
    tutti_err err = names && ids && t->row ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        t->n = t->capacity = n;
        for (tutti_count i = 0; i < n; i++) t->row[i].kind = (tutti_exodus_kind)kind;
        err = read_texts(r, k->names, n, names);
    }
    if (err == TUTTI_OK) err = read_properties(r, kind, ids);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        t->row[i].id = ids[i];
        if (names[i][0]) {
            t->row[i].name = names[i];
            names[i] = NULL;
        }
        err = read_entity(r, &t->row[i], i + 1);
    }
    for (tutti_count i = 0; names && i < n; i++) tutti__free(names[i]);
    tutti__free(names);
    tutti__free(ids);
    TUTTI_TRY(err);
    return tutti__exodus_model_index(r->m, (tutti_exodus_kind)kind);
}

/* ---- variables of results */

static tutti_err read_truth_table(const reading *r, int kind) {
    enum { TABLE = 1 << 20 };
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    tutti__exodus_table *t = &r->m->of[kind];
    const tutti_count n = t->n * t->variables_n;
    const tutti__cdf_var *v = NULL;
    const char *at = NULL;
    char name[64];
    int all = 1;
    if (n == 0 || !k->truth) return TUTTI_OK;
    TUTTI_TRY(find_values(r, k->truth, n, 0, &v, &at));
    TUTTI_CHECK(at || n <= tutti__max(r->c->vars_n, TABLE), TUTTI_ERR_FORMAT,
                "the file has %d variables of %lld %ss, but no truth table", t->variables_n,
                (long long)t->n, k->word);
    t->truth = tutti__malloc((size_t)n);
    if (!t->truth) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count entity = i / t->variables_n, variable = i % t->variables_n;
        tutti__exodus_values_name(name, kind, entity, (int)variable);
        t->truth[i] = (!at || integer_at(v, at, i) != 0) &&
                      (t->row[entity].entries == 0 || has_variable(r, name));
        all &= t->truth[i];
    }
    if (all && !at) {
        tutti__free(t->truth);
        t->truth = NULL;
    }
    return TUTTI_OK;
}

static tutti_err read_variables(const reading *r, int kind) {
    const tutti__exodus_names *k = &tutti__exodus_names_of[kind];
    tutti__exodus_table *t = &r->m->of[kind];
    const tutti_count n = find_length(r, k->variables);
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(check_count(k->variables, n, 1 << 24));
    TUTTI_CHECK(n <= UNNAMED || is_listed(r, k->variable_names, n), TUTTI_ERR_FORMAT,
                "'%s' is %lld, but '%s' has fewer names", k->variables, (long long)n,
                k->variable_names);
    tutti_off table;
    TUTTI_CHECK(tutti__mul_ok(n, t->n, &table) && table <= (tutti_off)1 << 30, TUTTI_ERR_FORMAT,
                "the truth table of %lld variables and %lld entities exceeds 2^30 bytes",
                (long long)n, (long long)t->n);
    t->variables = tutti__calloc((size_t)n + 1, sizeof *t->variables);
    if (!t->variables) return TUTTI_ERR_NOMEM;
    t->variables_n = (int)n;
    TUTTI_TRY(read_texts(r, k->variable_names, n, t->variables));
    return read_truth_table(r, kind);
}

/* ---- records of text */

static tutti_err read_text_records(const reading *r) {
    tutti__exodus_model *m = r->m;
    const tutti__cdf_var *v = NULL;
    const char *at = NULL;
    const tutti_count qa = find_length(r, "num_qa_rec"), lines = find_length(r, "num_info");
    TUTTI_TRY(check_count("num_qa_rec", qa, 1 << 20));
    TUTTI_TRY(check_count("num_info", lines, 1 << 24));
    TUTTI_TRY(find_values(r, "qa_records", qa * 4, 1, &v, &at));
    if (at && qa > 0) {
        const tutti_off capacity = v->numbers / (qa * 4);
        m->qa = tutti__calloc((size_t)qa + 1, sizeof *m->qa);
        if (!m->qa) return TUTTI_ERR_NOMEM;
        m->qa_n = (int)qa;
        for (tutti_count i = 0; i < qa * 4; i++)
            memcpy(m->qa[i / 4][i % 4], at + i * capacity,
                   strnlen(at + i * capacity, (size_t)tutti__min(capacity, 32)));
    }
    TUTTI_TRY(find_values(r, "info_records", lines, 1, &v, &at));
    if (!at || lines == 0) return TUTTI_OK;
    const tutti_off capacity = v->numbers / lines;
    m->lines = tutti__calloc((size_t)lines + 1, sizeof *m->lines);
    if (!m->lines) return TUTTI_ERR_NOMEM;
    m->lines_n = (int)lines;
    for (tutti_count i = 0; i < lines; i++)
        memcpy(m->lines[i], at + i * capacity,
               strnlen(at + i * capacity, (size_t)tutti__min(capacity, 80)));
    return TUTTI_OK;
}

/* ---- decoding */

static tutti_err decode_model(const reading *r) {
    static const char *const REALS[] = {"coordx", "coord", "time_whole"};
    const int status = read_integer_attribute(r, "int64_status", 0);
    const tutti_count name = find_length(r, "len_name");
    tutti__exodus_model *m = r->m;
    m->real_bytes = read_integer_attribute(r, "floating_point_word_size", 8) == 4 ? 4 : 8;
    for (int i = 2; i >= 0; i--) {
        const tutti_count v = tutti__cdf_find_var(r->c, REALS[i]);
        if (v >= 0) m->real_bytes = r->c->vars[v].type == TUTTI__CDF_FLOAT ? 4 : 8;
    }
    m->map_bytes = status & 1 << 10 ? 8 : 4;
    m->id_bytes = status & 1 << 11 ? 8 : 4;
    m->bulk_bytes = status & 1 << 12 ? 8 : 4;
    m->name_length = (int)tutti__max(32, tutti__min(name - 1, 255));
    TUTTI_TRY(read_parameters(r));
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++)
        TUTTI_TRY(read_entities(r, k));
    for (int k = 0; k < TUTTI_EXODUS_NODE_MAP; k++) TUTTI_TRY(read_variables(r, k));
    for (int k = TUTTI_EXODUS_NODAL; k < TUTTI_EXODUS_NODE_MAP; k++)
        TUTTI_TRY(read_attribute_names(r, k));
    TUTTI_TRY(read_text_records(r));
    TUTTI_TRY(tutti__exodus_model_settle(r->m));
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k <= TUTTI_EXODUS_FACE_BLOCK; k++) {
        const tutti__exodus_table *t = &r->m->of[k];
        const tutti_count total = tutti__exodus_model_total(r->m, (tutti_exodus_kind)k);
        const tutti_count sum = t->n ? t->before[t->n - 1] + t->row[t->n - 1].entries : 0;
        TUTTI_CHECK(sum == total, TUTTI_ERR_FORMAT,
                    "the %ss have %lld entries, but the file has %lld",
                    tutti__exodus_names_of[k].word, (long long)sum, (long long)total);
    }
    return TUTTI_OK;
}

tutti_err tutti__exodus_decode(const tutti__cdf *c, const tutti__exodus_catalogue *where,
                               const void *data, tutti__exodus_model *out) {
    tutti__exodus_model_init(out);
    tutti_count unconfirmed = 0;
    const reading r = {c, where, data, out, &unconfirmed};
    const tutti_err err = decode_model(&r);
    if (err != TUTTI_OK) {
        TUTTI_KEEP_LAST_ERROR;
        tutti__exodus_model_free(out);
    }
    return err;
}
