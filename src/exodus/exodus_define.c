/* exodus: definitions of the model, which are the same on all ranks, and their end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>

/* ---- hashes of arguments */

static uint64_t hash_texts(uint64_t h, int n, const char *const *texts) {
    h = tutti__hash(h, &n, sizeof n);
    for (int i = 0; i < n && texts; i++) h = tutti__hash_text(h, texts[i]);
    return h;
}

/* ---- calls: validate, agree, apply */

tutti_err tutti_exodus_init(tutti_exodus *x, const tutti_exodus_parameters *p) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_parameters(&x->model, p, 0);
    uint64_t h = 0;
    if (err == TUTTI_OK) {
        const int64_t words[] = {p->dims,         p->nodes,           p->elements,
                                 p->edges,        p->faces,           p->node_attributes,
                                 p->has_node_ids, p->has_element_ids, p->has_edge_ids,
                                 p->has_face_ids, p->has_order};
        h = tutti__hash(tutti__hash_text(TUTTI__HASH_START, p->title), words, sizeof words);
        h = hash_texts(h, p->coordinate_names ? p->dims : 0, p->coordinate_names);
    }
    TUTTI_TRY(tutti__exodus_call(x, "init", h, err));
    return tutti__team_agree(x->team, tutti__exodus_model_parameters(&x->model, p, 1));
}

/* Entities are validated by adding them to the model, and removed again if another rank refuses the
 * call. */
tutti_err tutti_exodus_define(tutti_exodus *x, tutti_count n, const tutti_exodus_entity *entities) {
    TUTTI_KEEP_ERRNO;
    tutti_count before[TUTTI_EXODUS_KINDS];
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    for (int k = 0; k < TUTTI_EXODUS_KINDS; k++) before[k] = x->model.of[k].n;
    if (err == TUTTI_OK) err = tutti__exodus_model_define(&x->model, n, entities);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        const tutti_exodus_entity *e = &entities[i];
        const int64_t words[] = {(int64_t)e->kind, e->id,         e->entries,
                                 e->nodes,         e->edges,      e->faces,
                                 e->list_length,   e->attributes, e->factors};
        h = tutti__hash_text(tutti__hash_text(h, e->name), e->topology);
        h = tutti__hash(h, words, sizeof words);
    }
    err = tutti__exodus_call(x, "define", h, err);
    if (err != TUTTI_OK) tutti__exodus_model_cut(&x->model, before);
    return err;
}

tutti_err tutti_exodus_variables(tutti_exodus *x, tutti_exodus_kind kind, int n,
                                 const char *const *names) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_variables(&x->model, kind, n, names, 0);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    if (err == TUTTI_OK) h = hash_texts(h, n, names);
    TUTTI_TRY(tutti__exodus_call(x, "variables", h, err));
    return tutti__team_agree(x->team, tutti__exodus_model_variables(&x->model, kind, n, names, 1));
}

tutti_err tutti_exodus_truth_table(tutti_exodus *x, tutti_exodus_kind kind,
                                   const unsigned char *table) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_truth(&x->model, kind, table, 0);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    if (err == TUTTI_OK) {
        const tutti__exodus_table *t = &x->model.of[kind];
        for (tutti_count i = 0; i < t->n * t->variables_n; i++)
            h = tutti__hash(h, table[i] ? "1" : "0", 1);
    }
    TUTTI_TRY(tutti__exodus_call(x, "truth", h, err));
    return tutti__team_agree(x->team, tutti__exodus_model_truth(&x->model, kind, table, 1));
}

tutti_err tutti_exodus_attribute_names(tutti_exodus *x, tutti_exodus_kind kind, int64_t id, int n,
                                       const char *const *names) {
    TUTTI_KEEP_ERRNO;
    tutti_count number = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_number(x, kind, id, &number);
    if (err == TUTTI_OK)
        err = tutti__exodus_model_attribute_names(&x->model, kind, number, n, names, 0);
    const int64_t words[] = {(int64_t)kind, id};
    uint64_t h = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    if (err == TUTTI_OK) h = hash_texts(h, n, names);
    TUTTI_TRY(tutti__exodus_call(x, "attribute_names", h, err));
    return tutti__team_agree(
        x->team, tutti__exodus_model_attribute_names(&x->model, kind, number, n, names, 1));
}

tutti_err tutti_exodus_property(tutti_exodus *x, tutti_exodus_kind kind, const char *name,
                                const int64_t *values) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_property(&x->model, kind, name, values, 0);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    if (err == TUTTI_OK) {
        h = tutti__hash_text(h, name);
        h = tutti__hash(h, values, (size_t)x->model.of[kind].n * sizeof *values);
    }
    TUTTI_TRY(tutti__exodus_call(x, "property", h, err));
    return tutti__team_agree(x->team,
                             tutti__exodus_model_property(&x->model, kind, name, values, 1));
}

tutti_err tutti_exodus_put_qa(tutti_exodus *x, int n, const tutti_exodus_qa *records) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_qa(&x->model, n, records, 0);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        const char *const text[] = {records[i].program, records[i].version, records[i].date,
                                    records[i].time};
        h = hash_texts(h, 4, text);
    }
    TUTTI_TRY(tutti__exodus_call(x, "put_qa", h, err));
    return tutti__team_agree(x->team, tutti__exodus_model_qa(&x->model, n, records, 1));
}

tutti_err tutti_exodus_put_info(tutti_exodus *x, int n, const char *const *lines) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defining(x);
    if (err == TUTTI_OK) err = tutti__exodus_model_info(&x->model, n, lines, 0);
    const uint64_t h = err == TUTTI_OK ? hash_texts(TUTTI__HASH_START, n, lines) : 0;
    TUTTI_TRY(tutti__exodus_call(x, "put_info", h, err));
    return tutti__team_agree(x->team, tutti__exodus_model_info(&x->model, n, lines, 1));
}

/* ---- end of definitions */

/* Complete the model and compute the layout of the header. */
static tutti_err make_header(tutti_exodus *x, const tutti__exodus_addition *more) {
    const tutti__cdf_align align = {.records = x->opt.alignment ? x->opt.alignment : 4096};
    TUTTI_TRY(tutti__exodus_model_settle(&x->model));
    TUTTI_TRY(tutti__exodus_model_check(&x->model));
    TUTTI_CHECK(!x->opt.nemesis || more, TUTTI_ERR_STATE,
                "option nemesis requires a mesh: call tutti_exodus_put_mesh");
    TUTTI_TRY(tutti__exodus_encode(&x->model, &x->cdf));
    if (more) TUTTI_TRY(more->define(more->state, &x->cdf));
    return tutti__cdf_layout(&x->cdf, &align);
}

tutti_err tutti__exodus_finish_definitions(tutti_exodus *x, const tutti__exodus_addition *more,
                                           tutti_err local_err) {
    const tutti__exodus_model before = x->model; /* the model without derived counts and sizes */
    if (local_err == TUTTI_OK) local_err = make_header(x, more);
    if (local_err == TUTTI_OK)
        local_err = tutti__exodus_region_make(x, x->cdf.header_bytes, x->cdf.fixed_end, &x->mesh);
    tutti_err err = tutti__team_agree(x->team, local_err);
    if (err == TUTTI_OK) err = tutti__exodus_file_make(x);
    if (err == TUTTI_OK) {
        x->defining = 0;
        x->topology++;
        return TUTTI_OK;
    }
    tutti__region_free(&x->mesh);
    tutti__cdf_free(&x->cdf);
    x->model.p = before.p;
    x->model.id_bytes = before.id_bytes;
    x->model.map_bytes = before.map_bytes;
    x->model.bulk_bytes = before.bulk_bytes;
    return err;
}

tutti_err tutti_exodus_end_definitions(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    TUTTI_TRY(tutti__exodus_call(x, "end_definitions", 0, tutti__exodus_defining(x)));
    tutti_err err = tutti__exodus_finish_definitions(x, NULL, TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__exodus_file_publish(x);
    return tutti__exodus_named(x, "end_definitions", err);
}
