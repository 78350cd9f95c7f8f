/* TEST ranks=0 timeout=60 */
/* Random models are encoded as headers and catalogues, and decoded unchanged; modified headers
 * are refused or decoded, but cause no crash.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "exodus_model/exodus_model.h"

static const char *word(char *to, const char *begin, int most) {
    const int n = (int)rnd(most - (int)strlen(begin));
    strcpy(to, begin);
    for (int i = 0; i < n; i++) strcat(to, (const char[]){(char)('a' + rnd(26)), 0});
    return to;
}

static void make_objects(tutti__exodus_model *m) {
    static const char *const TOPOLOGIES[] = {"HEX8", "TET4", "WEDGE6", "nsided"};
    char title[96], name[64];
    tutti__exodus_model_init(m);
    m->real_bytes = rnd(2) ? 4 : 8;
    m->name_length = 32 + (int)rnd(30);
    CHECK_OK(
        tutti__exodus_model_parameters(m,
                                       &(tutti_exodus_parameters){.title = word(title, "", 80),
                                                                  .dims = 1 + (int)rnd(3),
                                                                  .nodes = rnd(3) ? rnd(5000) : 0,
                                                                  .node_attributes = (int)rnd(3),
                                                                  .has_node_ids = (int)rnd(2),
                                                                  .has_element_ids = (int)rnd(2),
                                                                  .has_order = (int)rnd(2)},
                                       1));
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        const int n = (int)rnd(6);
        const int block = tutti__exodus_is_block(k), set = tutti__exodus_is_set(k);
        for (int i = 0; i < n; i++) {
            const char *topology = TOPOLOGIES[rnd(k == TUTTI_EXODUS_EDGE_BLOCK ? 3 : 4)];
            tutti_exodus_entity e = {.kind = (tutti_exodus_kind)k,
                                     .id = rnd(20) ? i * 17 + 1 + rnd(17) : ((int64_t)1 << 33) + i,
                                     .name = rnd(2) ? word(name, "n", 30) : NULL,
                                     .entries = tutti__exodus_is_map(k) || !rnd(4) ? 0 : rnd(300)};
            if (block) {
                e.topology = topology;
                if (k == TUTTI_EXODUS_ELEMENT_BLOCK && strcmp(topology, "nsided") != 0) {
                    e.edges = (int)rnd(2) * 12;
                    e.faces = (int)rnd(2) * 6;
                }
                if (strcmp(topology, "nsided") == 0 && e.entries > 0)
                    e.list_length = e.entries * 5 + 1;
            }
            if (set && rnd(2)) e.factors = k == TUTTI_EXODUS_SIDE_SET ? e.entries * 4 : e.entries;
            if ((set || block) && !rnd(3)) e.attributes = (int)rnd(4);
            CHECK_OK(tutti__exodus_model_define(m, 1, &e));
        }
        const int64_t values[6] = {1, -2, 3, -4, 5, rnd(9) ? 0 : (int64_t)1 << 40};
        if (n > 0 && rnd(2))
            CHECK_OK(tutti__exodus_model_property(m, (tutti_exodus_kind)k, "MATERIAL", values, 1));
    }
    for (int k = 0; k < TUTTI_EXODUS_NODE_MAP; k++) {
        const char *names[] = {"alpha", "beta", "gamma"};
        unsigned char table[3 * 8];
        const int n = (int)rnd(4);
        for (int i = 0; i < 24; i++) table[i] = rnd(2) != 0;
        if (n == 0) continue;
        CHECK_OK(tutti__exodus_model_variables(m, (tutti_exodus_kind)k, n, names, 1));
        if (k >= TUTTI_EXODUS_ELEMENT_BLOCK && rnd(2))
            CHECK_OK(tutti__exodus_model_truth(m, (tutti_exodus_kind)k, table, 1));
    }
    if (rnd(2))
        CHECK_OK(tutti__exodus_model_qa(
            m, 2, (tutti_exodus_qa[]){{"p", "v", "d", "t"}, {"q", NULL, "", "u"}}, 1));
    if (rnd(2)) CHECK_OK(tutti__exodus_model_info(m, 2, (const char *[]){"one", "two"}, 1));
    CHECK_OK(tutti__exodus_model_settle(m));
    CHECK_OK(tutti__exodus_model_check(m));
}

static int text_same(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static void same_row(const tutti_exodus_entity *a, const tutti_exodus_entity *b) {
    const int there = a->entries > 0;
    CHECK(a->kind == b->kind && a->id == b->id && a->entries == b->entries, "id %lld and %lld",
          (long long)a->id, (long long)b->id);
    CHECK(text_same(a->name, b->name), "'%s', '%s'", a->name, b->name);
    if (there)
        CHECK(text_same(a->topology, b->topology) && a->nodes == b->nodes && a->edges == b->edges &&
                  a->faces == b->faces && a->attributes == b->attributes &&
                  a->factors == b->factors && a->list_length == b->list_length,
              "kind %d, entity %lld", (int)a->kind, (long long)a->id);
}

static void same_models(const tutti__exodus_model *a, const tutti__exodus_model *b) {
    CHECK(text_same(a->p.title, b->p.title), "'%s', '%s'", a->p.title, b->p.title);
    CHECK(a->p.dims == b->p.dims && a->p.nodes == b->p.nodes && a->p.elements == b->p.elements &&
              a->p.edges == b->p.edges && a->p.faces == b->p.faces,
          "counts");
    CHECK(a->real_bytes == b->real_bytes && a->id_bytes == b->id_bytes &&
              a->map_bytes == b->map_bytes && a->bulk_bytes == b->bulk_bytes &&
              a->name_length == b->name_length,
          "sizes");
    CHECK(a->qa_n == b->qa_n && a->lines_n == b->lines_n, "records");
    for (int i = 0; i < a->qa_n; i++) CHECK(memcmp(a->qa[i], b->qa[i], sizeof a->qa[i]) == 0, "qa");
    for (int i = 0; i < a->lines_n; i++) CHECK(strcmp(a->lines[i], b->lines[i]) == 0, "info");
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) {
        const tutti__exodus_table *s = &a->of[k], *t = &b->of[k];
        CHECK(s->n == t->n && s->variables_n == t->variables_n &&
                  s->properties_n == t->properties_n,
              "kind %d", k);
        if (s->n != t->n || s->variables_n != t->variables_n) continue;
        for (tutti_count i = 0; i < s->n && k > TUTTI_EXODUS_NODAL; i++) {
            same_row(&s->row[i], &t->row[i]);
            CHECK_EQ(tutti__exodus_model_find(b, (tutti_exodus_kind)k, s->row[i].id), i);
            for (int v = 0; v < s->variables_n; v++)
                CHECK_EQ(tutti__exodus_model_has(a, (tutti_exodus_kind)k, i, v),
                         tutti__exodus_model_has(b, (tutti_exodus_kind)k, i, v));
        }
        for (int v = 0; v < s->variables_n; v++)
            CHECK(text_same(s->variables[v], t->variables[v]), "variable %d", v);
        for (int v = 0; v < s->properties_n && v < t->properties_n; v++)
            CHECK(text_same(s->properties[v], t->properties[v]) &&
                      memcmp(s->values[v], t->values[v], (size_t)s->n * sizeof **s->values) == 0,
                  "property %d", v);
    }
}

/* Decode a model from the first `n` bytes of a file of `size` bytes; return TUTTI_OK or the error. */
static tutti_err read_back(const char *head, size_t n, tutti_off size, tutti__exodus_model *out) {
    tutti__cdf c;
    tutti__exodus_catalogue where = {0};
    char *data = NULL;
    TUTTI_TRY(tutti__cdf_decode(head, n, size, &c));
    tutti_err err = tutti__exodus_catalogue_of(&c, &where);
    if (err == TUTTI_OK) {
        data = calloc(1, where.bytes + 1);
        for (tutti_count i = 0; i < where.n; i++)
            if (where.v[i].at < (tutti_off)n)
                memcpy(data + where.v[i].data, head + where.v[i].at,
                       (size_t)tutti__min(where.v[i].bytes, (tutti_off)n - where.v[i].at));
        err = tutti__exodus_decode(&c, &where, data, out);
    }
    free(data);
    tutti__free(where.v);
    tutti__cdf_free(&c);
    return err;
}

static void round_trip(void) {
    tutti__exodus_model m, back;
    tutti__cdf c;
    char *head = NULL;
    size_t n = 0;
    make_objects(&m);
    CHECK_OK(tutti__exodus_encode(&m, &c));
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    CHECK_OK(tutti__exodus_head(&m, &c, (void **)&head, &n));
    const tutti_err err = read_back(head, n, c.fixed_end, &back);
    CHECK_OK(err);
    if (err == TUTTI_OK) {
        same_models(&m, &back);
        tutti__exodus_model_free(&back);
    }
    for (int i = 0; i < 200; i++) { /* change one byte or four bytes */
        const size_t at = (size_t)rnd((int64_t)n - 4);
        char was[4];
        memcpy(was, head + at, 4);
        for (int k = 0; k < (rnd(2) ? 4 : 1); k++) head[at + (size_t)k] = (char)rnd(256);
        if (read_back(head, n, c.fixed_end, &back) == TUTTI_OK) tutti__exodus_model_free(&back);
        memcpy(head + at, was, 4);
    }
    tutti__free(head);
    tutti__cdf_free(&c);
    tutti__exodus_model_free(&m);
}

/* Invalid arguments are refused. */
static void test_refused(void) {
    tutti__exodus_model m;
    const tutti_exodus_entity good = {
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8", .entries = 3};
    tutti_exodus_entity e[2] = {good, good};
    const char *names[] = {"a", "b", "a"};
    char name[64] = "a name that has more than thirty-two bytes";
    tutti__exodus_model_init(&m);
    CHECK_ERR(tutti__exodus_model_check(&m), TUTTI_ERR_STATE);
    CHECK_ERR(tutti__exodus_model_parameters(&m, NULL, 1), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__exodus_model_parameters(&m, &(tutti_exodus_parameters){.dims = 4}, 1),
              TUTTI_ERR_ARG);
    CHECK_ERR(
        tutti__exodus_model_parameters(&m, &(tutti_exodus_parameters){.dims = 3, .nodes = -1}, 1),
        TUTTI_ERR_ARG);
    CHECK_OK(tutti__exodus_model_parameters(&m, &(tutti_exodus_parameters){.dims = 3}, 1));
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG); /* the ids are duplicates */
    CHECK_EQ(m.of[TUTTI_EXODUS_ELEMENT_BLOCK].n, 0);
    e[1].id = -1;
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG);
    e[1] = (tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 2};
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG); /* the topology is missing */
    e[1].topology = "BLOB";
    /* the number of nodes is unknown */
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG);
    e[1] = (tutti_exodus_entity){.kind = TUTTI_EXODUS_NODE_SET, .id = 2, .name = name};
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG);
    e[1].name = NULL;
    e[1].nodes = 4;
    CHECK_ERR(tutti__exodus_model_define(&m, 2, e), TUTTI_ERR_ARG);
    CHECK_OK(tutti__exodus_model_define(&m, 1, e));
    CHECK_ERR(tutti__exodus_model_define(&m, 1, e), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__exodus_model_variables(&m, TUTTI_EXODUS_NODAL, 3, names, 0), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__exodus_model_variables(&m, TUTTI_EXODUS_NODE_MAP, 1, names, 0), TUTTI_ERR_ARG);
    CHECK_ERR(
        tutti__exodus_model_truth(&m, TUTTI_EXODUS_ELEMENT_BLOCK, (const unsigned char *)"x", 0),
        TUTTI_ERR_STATE);
    CHECK_ERR(tutti__exodus_model_attribute_names(&m, TUTTI_EXODUS_ELEMENT_BLOCK, 0, 2, names, 0),
              TUTTI_ERR_ARG);
    CHECK_ERR(tutti__exodus_model_property(&m, TUTTI_EXODUS_ELEMENT_BLOCK, "ID", (int64_t[]){1}, 0),
              TUTTI_ERR_ARG);
    m.p.elements = 4;
    CHECK_OK(tutti__exodus_model_settle(&m));
    /* the blocks have only 3 of 4 elements */
    CHECK_ERR(tutti__exodus_model_check(&m), TUTTI_ERR_ARG);
    tutti__exodus_model_free(&m);
}

int main(void) {
    check_seed(1312);
    for (int i = 0; i < 25; i++) round_trip();
    test_refused();
    return check_done();
}
