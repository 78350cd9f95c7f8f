/* segments: common functions for writing and reading compressed variables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/compressed.h"

int tutti__chunked_of(const tutti_dataset *d, const tutti__variable *v, int type, int64_t segment,
                      tutti__chunked *out) {
    const tutti__size *z = tutti__model_size(&d->model, v->space, segment);
    if (!z) return 0;
    *out = (tutti__chunked){
        .ndims = z->ndims,
        .shape = z->shape,
        .item = tutti__item_bytes(v, type),
        .number = type == TUTTI_BYTES ? 1 : (int)tutti_type_size((tutti_type)type),
    };
    return 1;
}

void tutti__chunks_share(const tutti__chunk_grid *g, int ranks, int rank, tutti_count *lo,
                         tutti_count *hi) {
    const tutti_count each = g->chunks / ranks, rest = g->chunks % ranks;
    *lo = each * rank + tutti__min(rank, rest);
    *hi = *lo + each + (rank < rest);
}

int tutti__chunk_owner(const tutti__chunk_grid *g, int ranks, tutti_count chunk) {
    const tutti_count each = g->chunks / ranks, rest = g->chunks % ranks;
    if (chunk < (each + 1) * rest) return (int)(chunk / (each + 1));
    return (int)(rest + (chunk - (each + 1) * rest) / each);
}

int tutti__chunk_walk_next(tutti__chunk_walk *w, tutti__chunk_piece *out) {
    while (w->k < w->runs->n && w->done == w->runs->run[w->k].n) {
        w->k++;
        w->done = 0;
    }
    if (w->k == w->runs->n) return 0;
    const tutti__entry_run *r = &w->runs->run[w->k];
    const tutti__chunk_place at = tutti__chunk_find(w->grid, r->position + w->done);
    *out = (tutti__chunk_piece){.position = r->position + w->done,
                                .memory = r->memory + w->done,
                                .n = tutti__min(r->n - w->done, at.left),
                                .owner = tutti__chunk_owner(w->grid, w->ranks, at.chunk)};
    w->done += out->n;
    return 1;
}

enum { MOST = 64 << 20 }; /* maximum bytes of a message, and of its answer */

void tutti__chunk_mail_break(tutti__chunk_mail *m) {
    m->answer = (size_t)MOST + 1;
}

tutti_err tutti__chunk_mail_add(tutti__chunk_mail *m, int owner, char *at, size_t bytes,
                                size_t answer) {
    tutti__sparse_message *last = m->n > 0 ? &m->v[m->n - 1] : NULL;
    if (!last || last->rank != owner || last->bytes > MOST || m->answer > MOST) {
        TUTTI_CHECK(m->n < INT32_MAX - 1, TUTTI_ERR_OVERFLOW,
                    "a compressed variable requires more than %d messages", INT32_MAX - 1);
        last = tutti__table_grow(&m->v, &m->n, sizeof *last);
        if (!last) return TUTTI_ERR_NOMEM;
        *last = (tutti__sparse_message){.rank = owner, .data = at};
        m->answer = 0;
    }
    last->bytes += bytes;
    m->answer += answer;
    return TUTTI_OK;
}

tutti_err tutti__compressed_conversion(const tutti__compressed *c, tutti__conversion *out) {
    const tutti_conversion in = {.file_type = (tutti_type)c->type,
                                 .memory_type = c->memory_type,
                                 .file_order = (tutti_byte_order)c->v->order,
                                 .ieee = c->ieee};
    if (c->memory_type != TUTTI_BYTES) return tutti__conversion_make(&in, out);
    const int size = c->type == TUTTI_BYTES ? 1 : (int)tutti_type_size((tutti_type)c->type);
    *out = (tutti__conversion){.identity = 1, .file_size = size, .memory_size = size};
    return TUTTI_OK;
}

tutti_err tutti__compressed_misfit(const tutti__compressed *c, tutti_count position,
                                   tutti_count bad) {
    const char *why = tutti_last_error()->text;
    const tutti_count numbers = tutti__variable_numbers(c->v);
    if (numbers == 1)
        TUTTI_FAIL(TUTTI_ERR_VALUE, "variable '%s', position %lld: %.200s", c->v->name,
                   (long long)(position + bad), why);
    TUTTI_FAIL(TUTTI_ERR_VALUE, "variable '%s', position %lld, component %lld: %.200s", c->v->name,
               (long long)(position + bad / numbers), (long long)(bad % numbers), why);
}
