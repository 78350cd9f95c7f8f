/* dataset: variables of a call (items.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/items.h"

#include <string.h>
#include "timestep/step_items.h"

tutti_err tutti__items_make(int n, tutti__item_list *out) {
    *out = (tutti__item_list){.n = n,
                              .v = tutti__calloc((size_t)n, sizeof *out->v),
                              .parts = tutti__calloc(3 * (size_t)n, sizeof *out->parts)};
    return out->v && out->parts ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__items_of_puts(int n, const tutti_put *puts, tutti__item_list *out) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 20, TUTTI_ERR_ARG,
                "n is %d: number of variables must be 0 to 2^20", n);
    TUTTI_CHECK(puts || n == 0, TUTTI_ERR_ARG, "argument puts is NULL (n is %d)", n);
    TUTTI_TRY(tutti__items_make(n, out));
    for (int i = 0; i < n; i++)
        out->v[i] = (tutti__item){.name = puts[i].variable,
                                  .entries = puts[i].entries,
                                  .type = puts[i].type,
                                  .buf = (void *)(uintptr_t)puts[i].buf};
    return TUTTI_OK;
}

tutti_err tutti__items_of_gets(int n, const tutti_get *gets, tutti__item_list *out) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 20, TUTTI_ERR_ARG,
                "n is %d: number of variables must be 0 to 2^20", n);
    TUTTI_CHECK(gets || n == 0, TUTTI_ERR_ARG, "argument gets is NULL (n is %d)", n);
    TUTTI_TRY(tutti__items_make(n, out));
    for (int i = 0; i < n; i++)
        out->v[i] = (tutti__item){.name = gets[i].variable,
                                  .entries = gets[i].entries,
                                  .type = gets[i].type,
                                  .buf = gets[i].buf};
    return TUTTI_OK;
}

tutti_err tutti__items_keep(tutti__item_list *b) {
    size_t bytes = 0;
    for (int i = 0; i < b->n; i++) bytes += b->v[i].name ? strlen(b->v[i].name) + 1 : 0;
    char *to = b->names = tutti__malloc(bytes);
    if (!to) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < b->n; i++) {
        tutti__item *t = &b->v[i];
        TUTTI_TRY(tutti__decomposition_live(t->entries));
        tutti__decomposition_hold(t->entries);
        t->is_held = 1;
        if (!t->name) continue;
        t->name = strcpy(to, t->name);
        to += strlen(to) + 1;
    }
    return TUTTI_OK;
}

void tutti__items_free(tutti__item_list *b) {
    for (int i = 0; b->v && i < b->n; i++) {
        if (b->v[i].is_held) tutti__decomposition_release(b->v[i].entries);
        tutti_access_free(&b->v[i].access);
        tutti_access_free(&b->v[i].list_access);
        tutti_access_free(&b->v[i].head_access);
        tutti__free(b->v[i].positions);
        tutti__free(b->v[i].packed.data);
        tutti__free(b->v[i].holes);
    }
    tutti__free(b->v);
    tutti__free(b->parts);
    tutti__free(b->names);
    *b = (tutti__item_list){0};
}

uint64_t tutti__items_hash(const tutti__item_list *b) {
    uint64_t h = tutti__hash(TUTTI__HASH_START, &b->n, sizeof b->n);
    for (int i = 0; i < b->n; i++)
        h = tutti__item_hash(h, b->v[i].name, b->v[i].type, b->v[i].facts.number);
    return h;
}

tutti_err tutti__item_check(const tutti_dataset *d, tutti__item *t, int64_t segment) {
    TUTTI_CHECK(t->name, TUTTI_ERR_ARG, "the name of a variable is NULL");
    t->v = tutti__model_variable(&d->model, t->name);
    TUTTI_CHECK(t->v, TUTTI_ERR_NOT_FOUND, "variable '%.60s' does not exist", t->name);
    TUTTI_TRY(tutti__decomposition_live(t->entries));
    tutti__decomposition_facts_of(t->entries, &t->facts);
    const tutti__space *s = tutti__model_space_id(&d->model, t->v->space);
    TUTTI_CHECK(t->facts.object == d->number, TUTTI_ERR_ARG,
                "variable '%s': the decomposition belongs to another dataset", t->name);
    TUTTI_CHECK(s == &d->model.spaces[t->facts.space], TUTTI_ERR_ARG,
                "variable '%s' is defined on space '%s', but the decomposition on '%s'", t->name,
                s->name, d->model.spaces[t->facts.space].name);
    const tutti__size *z = tutti__model_size(&d->model, s->id, segment);
    TUTTI_CHECK(z && z->stamp == t->facts.stamp, TUTTI_ERR_STATE,
                "variable '%s': the decomposition belongs to another topology of space '%s'",
                t->name, s->name);
    TUTTI_CHECK(t->type == TUTTI_BYTES || tutti_type_size(t->type) > 0, TUTTI_ERR_ARG,
                "variable '%s': unknown type %d", t->name, (int)t->type);
    TUTTI_CHECK(t->buf || t->facts.entries == 0, TUTTI_ERR_ARG, "variable '%s': the buffer is NULL",
                t->name);
    return TUTTI_OK;
}

tutti_err tutti__item_type_check(const tutti__item *t, int file_type) {
    if (t->type == TUTTI_BYTES) return TUTTI_OK;
    return tutti__item_types_check(t->name, t->type, (tutti_type)file_type);
}

tutti__compressed tutti__item_compressed(const tutti_dataset *d, const tutti__item *t, int type) {
    return (tutti__compressed){t->v, type, t->entries, t->type, t->buf, d->opt.ieee};
}

void tutti__item_part(const tutti_dataset *d, const tutti__item *t, int file_type,
                      tutti__item_list *b) {
    tutti_part *part = &b->parts[b->parts_n++];
    *part = (tutti_part){.access = t->access, .buf = t->buf};
    if (t->type != TUTTI_BYTES)
        part->convert = (tutti_conversion){.file_type = (tutti_type)file_type,
                                           .memory_type = t->type,
                                           .file_order = (tutti_byte_order)t->v->order,
                                           .ieee = d->opt.ieee};
}

/* ---- operations */

static void release_items(tutti__step_operation *op) {
    tutti__items_free(&((tutti__dataset_operation *)op)->items);
}

tutti__dataset_operation tutti__dataset_operation_of(tutti_dataset *d, const char *name,
                                                     tutti_err (*run)(tutti__step_operation *op,
                                                                      tutti_err local_err)) {
    return (tutti__dataset_operation){
        .of = {.started.name = name, .object = &d->base, .run = run, .release = release_items},
        .dataset = d};
}

tutti_err tutti__dataset_operation_start(tutti__dataset_operation *op, tutti_err local_err,
                                         tutti_request **r_out) {
    if (local_err == TUTTI_OK) local_err = tutti__items_keep(&op->items);
    return tutti__step_operation_start(&op->of, sizeof *op, local_err, r_out);
}
