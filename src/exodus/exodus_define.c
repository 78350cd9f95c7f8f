/* exodus: definitions, and their end: all ranks have the same model, rank 0 writes it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>

/* ---- what agrees */

static uint64_t hash_texts(uint64_t h, int n, const char *const *texts) {
    h = tutti__hash(h, &n, sizeof n);
    for (int i = 0; i < n && texts; i++) h = tutti__hash_text(h, texts[i]);
    return h;
}

static uint64_t hash_parameters(const tutti_exodus_parameters *p) {
    const int64_t words[] = {p->dims,         p->nodes,           p->elements,
                             p->edges,        p->faces,           p->node_attributes,
                             p->has_node_ids, p->has_element_ids, p->has_edge_ids,
                             p->has_face_ids, p->has_order};
    uint64_t h = tutti__hash_text(TUTTI__HASH_START, p->title);
    h = tutti__hash(h, words, sizeof words);
    return hash_texts(h, p->coordinate_names ? p->dims : 0, p->coordinate_names);
}

static uint64_t hash_entities(tutti_count n, const tutti_exodus_entity *v) {
    uint64_t h = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    for (tutti_count i = 0; i < n; i++) {
        const tutti_exodus_entity *e = &v[i];
        const int64_t words[] = {(int64_t)e->kind, e->id,   e->entries,    e->nodes,  e->edges,
                                 e->faces,         e->list, e->attributes, e->factors};
        h = tutti__hash_text(tutti__hash_text(h, e->name), e->topology);
        h = tutti__hash(h, words, sizeof words);
    }
    return h;
}

/* ---- the calls: what this rank has against it is told before; the model changes on all or on none,
 * since all say the same */

/* A definition is carried out on this rank, and undone if another refuses: it cannot, having said the same,
 * but by lack of memory.  Then the handle can only be closed. */
static tutti_err defined(tutti_exodus *x, const char *name, uint64_t hash, tutti_err mine) {
    return tutti__exodus_call(x, name, hash, mine);
}

tutti_err tutti_exodus_init(tutti_exodus *x, const tutti_exodus_parameters *p) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_parameters(&x->model, p);
    return defined(x, "init", err == TUTTI_OK ? hash_parameters(p) : 0, err);
}

tutti_err tutti_exodus_define(tutti_exodus *x, tutti_count n, const tutti_exodus_entity *entities) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_define(&x->model, n, entities);
    return defined(x, "define", err == TUTTI_OK ? hash_entities(n, entities) : 0, err);
}

tutti_err tutti_exodus_variables(tutti_exodus *x, tutti_exodus_kind kind, int n,
                                 const char *const *names) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_variables(&x->model, kind, n, names);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    return defined(x, "variables", err == TUTTI_OK ? hash_texts(h, n, names) : 0, err);
}

tutti_err tutti_exodus_truth(tutti_exodus *x, tutti_exodus_kind kind, const unsigned char *table) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_truth(&x->model, kind, table);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    if (err == TUTTI_OK) {
        const tutti__exodus_table *t = &x->model.of[kind];
        h = tutti__hash(h, t->truth, (size_t)t->n * (size_t)t->variables_n);
    }
    return defined(x, "truth", h, err);
}

tutti_err tutti_exodus_attribute_names(tutti_exodus *x, tutti_exodus_kind kind, int64_t id, int n,
                                       const char *const *names) {
    TUTTI_KEEP_ERRNO;
    tutti_count number = 0;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_number(x, kind, id, &number);
    if (err == TUTTI_OK)
        err = tutti__exodus_model_attribute_names(&x->model, kind, number, n, names);
    const int64_t words[] = {(int64_t)kind, id};
    uint64_t h = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    return defined(x, "attribute_names", err == TUTTI_OK ? hash_texts(h, n, names) : 0, err);
}

tutti_err tutti_exodus_property(tutti_exodus *x, tutti_exodus_kind kind, const char *name,
                                const int64_t *values) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_property(&x->model, kind, name, values);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    if (err == TUTTI_OK) {
        h = tutti__hash_text(h, name);
        h = tutti__hash(h, values, (size_t)x->model.of[kind].n * sizeof *values);
    }
    return defined(x, "property", h, err);
}

tutti_err tutti_exodus_put_qa(tutti_exodus *x, int n, const tutti_exodus_qa *records) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_qa(&x->model, n, records);
    uint64_t h = TUTTI__HASH_START;
    if (err == TUTTI_OK) h = tutti__hash(h, x->model.qa, (size_t)n * sizeof *x->model.qa);
    return defined(x, "put_qa", h, err);
}

tutti_err tutti_exodus_put_info(tutti_exodus *x, int n, const char *const *lines) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_info(&x->model, n, lines);
    return defined(x, "put_info", err == TUTTI_OK ? hash_texts(TUTTI__HASH_START, n, lines) : 0,
                   err);
}

/* ---- their end */

static tutti_err header_make(tutti_exodus *x, struct tutti__nemesis *nemesis) {
    const tutti__cdf_align align = {.records = x->opt.alignment ? x->opt.alignment : 4096};
    TUTTI_TRY(tutti__exodus_encode(&x->model, &x->cdf));
    if (nemesis) TUTTI_TRY(tutti__nemesis_define(nemesis, &x->cdf));
    return tutti__cdf_layout(&x->cdf, &align);
}

static tutti_err settle(tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_model_settle(&x->model));
    TUTTI_TRY(tutti__exodus_model_check(&x->model));
    TUTTI_CHECK(!x->opt.nemesis || x->partition, TUTTI_ERR_STATE,
                "what Nemesis has is found from a mesh: tutti_exodus_put_mesh");
    return TUTTI_OK;
}

tutti_err tutti__exodus_finish_definitions(tutti_exodus *x) {
    struct tutti__nemesis *nemesis = NULL;
    TUTTI_TRY(tutti__exodus_agree(x, settle(x)));
    if (x->opt.nemesis) TUTTI_TRY(tutti__nemesis_make(x, &nemesis));
    tutti_err err = tutti__exodus_agree(x, header_make(x, nemesis));
    if (err == TUTTI_OK) err = tutti__exodus_file_make(x);
    const int made = err == TUTTI_OK;
    if (made) {
        x->defining = 0;
        x->topology++;
        err = tutti__exodus_agree(
            x, tutti__exodus_region_make(x, x->cdf.header_bytes, x->cdf.fixed_end, &x->mesh));
    }
    if (err == TUTTI_OK && nemesis) err = tutti__nemesis_write(x, nemesis);
    if (nemesis) tutti__nemesis_free(&nemesis);
    if (!made) tutti__cdf_free(&x->cdf);
    return err;
}

tutti_err tutti_exodus_end_definitions(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_TRY(tutti__exodus_call(x, "end_definitions", 0, tutti__exodus_defining(x)));
    return tutti__exodus_named(x, "end_definitions", tutti__exodus_finish_definitions(x));
}
