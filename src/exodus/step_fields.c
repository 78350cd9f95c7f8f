/* exodus: fields of a call as parts of one operation (exodus_steps.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_steps.h"

#include "timestep/step_items.h"

tutti_part tutti__step_part(const tutti_access *access, void *buf, tutti_type file,
                            tutti_type memory) {
    return (tutti_part){
        .access = access,
        .buf = buf,
        .convert = {.file_type = file, .memory_type = memory, .file_order = TUTTI_BIG_ENDIAN}};
}

static tutti_err check_global(const tutti_exodus *x, const tutti_exodus_field *f, tutti_count step,
                              tutti__step_item *t) {
    const int n = x->model.of[TUTTI_EXODUS_GLOBAL].variables_n;
    int variable = 0;
    TUTTI_CHECK(f->id == 0, TUTTI_ERR_ARG, "global variables: id is %lld: must be 0",
                (long long)f->id);
    TUTTI_CHECK(!f->entries, TUTTI_ERR_ARG, "global variables: entries is not NULL: must be NULL");
    if (f->variable)
        variable = tutti__exodus_model_variable(&x->model, TUTTI_EXODUS_GLOBAL, f->variable);
    TUTTI_CHECK(n > 0, TUTTI_ERR_NOT_FOUND, "the file has no global variables");
    TUTTI_CHECK(variable >= 0, TUTTI_ERR_NOT_FOUND, "the file has no global variable '%.60s'",
                f->variable);
    TUTTI_TRY(tutti__exodus_place_of_field(x, TUTTI_EXODUS_GLOBAL, 0, variable, step, &t->place));
    if (!f->variable) t->place.entries = n;
    t->written = f->variable ? variable : -1;
    t->is_whole = !f->variable || n == 1;
    t->variable = tutti__cdf_find_var(&x->cdf, tutti__exodus_names_of[f->kind].values);
    TUTTI_CHECK(f->buf, TUTTI_ERR_ARG, "global variables: buf is NULL");
    return TUTTI_OK;
}

static tutti_err check_entries(const tutti_exodus *x, const tutti_exodus_field *f,
                               tutti_count number, int variable, tutti__step_item *t) {
    tutti__decomposition_facts facts;
    t->entries = f->entries;
    if (f->entries) {
        TUTTI_TRY(tutti__exodus_decomposes(x, f->entries, f->kind, number));
    } else {
        const tutti__exodus_local *h = tutti__exodus_local_of(x, f->kind, number);
        TUTTI_CHECK(h, TUTTI_ERR_STATE,
                    "%s %lld, variable '%s': entries is NULL: call put_mesh or get_mesh first, or "
                    "pass a decomposition",
                    tutti__exodus_names_of[f->kind].word, (long long)f->id, f->variable);
        t->entries = h->entries;
    }
    tutti__decomposition_facts_of(t->entries, &facts);
    if (f->entries) t->decomposition = facts.number;
    TUTTI_CHECK(f->buf || facts.entries == 0, TUTTI_ERR_ARG, "variable '%s': buf is NULL",
                f->variable);
    /* in files without "large model" all nodal variables are one array */
    if (t->place.entries > 0) {
        char name[64];
        tutti__exodus_values_name(name, (int)f->kind, number, variable);
        t->variable = tutti__cdf_find_var(&x->cdf, name);
        if (t->variable < 0 && f->kind == TUTTI_EXODUS_NODAL)
            t->variable = tutti__cdf_find_var(&x->cdf, tutti__exodus_names_of[f->kind].values);
    }
    if (t->variable >= 0) {
        const int64_t words[] = {facts.number, variable};
        t->written = (int64_t)(tutti__hash(TUTTI__HASH_START, words, sizeof words) >> 1);
        t->is_whole = facts.whole && x->cdf.vars[t->variable].numbers == t->place.entries;
    }
    return TUTTI_OK;
}

static tutti_err check_field(const tutti_exodus *x, const tutti_exodus_field *f, tutti_count step,
                             tutti__step_item *t) {
    tutti_count number = 0;
    TUTTI_CHECK_RESERVED(f, "a field");
    TUTTI_CHECK((int)f->kind >= 0 && f->kind < TUTTI_EXODUS_NODE_MAP, TUTTI_ERR_ARG,
                "kind %d has no variables", (int)f->kind);
    t->variable = -1;
    if (f->kind == TUTTI_EXODUS_GLOBAL) return check_global(x, f, step, t);
    const char *word = tutti__exodus_names_of[f->kind].word;
    TUTTI_CHECK(f->variable, TUTTI_ERR_ARG, "the name of a %s variable is NULL", word);
    const int variable = tutti__exodus_model_variable(&x->model, f->kind, f->variable);
    TUTTI_CHECK(variable >= 0, TUTTI_ERR_NOT_FOUND, "the file has no %s variable '%.60s'", word,
                f->variable);
    TUTTI_TRY(tutti__exodus_number(x, f->kind, f->id, &number));
    TUTTI_CHECK(tutti__exodus_model_has(&x->model, f->kind, number, variable), TUTTI_ERR_NOT_FOUND,
                "%s %lld has no variable '%s' according to the truth table", word, (long long)f->id,
                f->variable);
    TUTTI_TRY(tutti__exodus_place_of_field(x, f->kind, number, variable, step, &t->place));
    return check_entries(x, f, number, variable, t);
}

/* Add this rank's bytes of a field, if it has any. */
static tutti_err add_part(const tutti_exodus *x, const tutti_exodus_field *f,
                          const tutti__step_place *at, tutti__step_item *t, tutti__step_batch *b) {
    const tutti_off size = tutti_type_size(t->place.type), start = t->place.at - at->base;
    const tutti_access *access = NULL;
    if (f->kind == TUTTI_EXODUS_GLOBAL) {
        if (at->is_write && x->team->rank != 0) return TUTTI_OK;
        TUTTI_TRY(tutti_access_contiguous(start, t->place.entries * size, &t->access));
    } else {
        if (t->place.entries == 0) return TUTTI_OK;
        TUTTI_TRY(tutti__decomposition_access(t->entries, size, at->is_write, &access));
        TUTTI_TRY(tutti_access_shift(access, start, 0, &t->access));
    }
    b->parts[b->parts_n++] = tutti__step_part(t->access, f->buf, t->place.type, f->type);
    return TUTTI_OK;
}

tutti_err tutti__step_batch_make(const tutti_exodus *x, const tutti__step_place *at, tutti_count n,
                                 const tutti_exodus_field *fields, tutti__step_batch *b) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 24, TUTTI_ERR_ARG,
                "n is %lld: number of fields must be 0 to 2^24", (long long)n);
    TUTTI_CHECK(fields || n == 0, TUTTI_ERR_ARG, "argument fields is NULL, but n is %lld",
                (long long)n);
    b->n = n;
    b->items = tutti__calloc((size_t)n + 1, sizeof *b->items);
    b->parts = tutti__calloc((size_t)n + 1, sizeof *b->parts);
    if (!b->items || !b->parts) return TUTTI_ERR_NOMEM;
    b->hash = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    for (tutti_count i = 0; i < n; i++) {
        const tutti_exodus_field *f = &fields[i];
        tutti__step_item *t = &b->items[i];
        TUTTI_TRY(check_field(x, f, at->step, t));
        TUTTI_TRY(tutti__item_types_check(f->variable, f->type, t->place.type));
        const int64_t words[] = {(int64_t)f->kind, f->id};
        b->hash = tutti__hash(b->hash, words, sizeof words);
        b->hash = tutti__item_hash(b->hash, f->variable, f->type, t->decomposition);
    }
    for (tutti_count i = 0; i < n; i++) TUTTI_TRY(add_part(x, &fields[i], at, &b->items[i], b));
    return TUTTI_OK;
}

void tutti__step_batch_free(tutti__step_batch *b) {
    for (tutti_count i = 0; b->items && i <= b->n; i++) tutti_access_free(&b->items[i].access);
    tutti__free(b->items);
    tutti__free(b->parts);
    *b = (tutti__step_batch){0};
}

/* ---- operations */

static void release_batch(tutti__step_operation *op) {
    tutti__step_batch_free(&((tutti__exodus_operation *)op)->batch);
}

tutti__exodus_operation tutti__exodus_operation_of(tutti_exodus *x, const char *name,
                                                   tutti_err (*run)(tutti__step_operation *op,
                                                                    tutti_err local_err)) {
    return (tutti__exodus_operation){
        .of = {.started.name = name, .object = &x->base, .run = run, .release = release_batch},
        .exodus = x};
}
