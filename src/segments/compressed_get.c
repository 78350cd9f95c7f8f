/* segments: read compressed variables.  Each rank requests entries from the owners of their chunks.
 * An owner decompresses each requested chunk once and answers with values in their file type, which
 * the receiver converts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/compressed.h"

#include <stdio.h>
#include <string.h>

/* ---- headers and chunks in the file */

/* Add variable, segment and, unless it is -1, the chunk to an error. */
static tutti_err add_error_context(const tutti_dataset *d, const tutti__section *s,
                                   tutti_count chunk, tutti_err err) {
    const tutti__variable *v = tutti__model_variable_id(&d->model, s->variable);
    const tutti__segment_row *g = tutti__model_segment_id(&d->model, s->segment);
    char where[48] = "";
    if (err != TUTTI_ERR_FORMAT && err != TUTTI_ERR_TRUNCATED) return err;
    const tutti_error_info why = *tutti_last_error();
    if (chunk >= 0) snprintf(where, sizeof where, ", chunk %lld", (long long)chunk);
    return tutti__error_set(err, 0, why.offset, "variable '%s' in segment %lld%s: %.200s",
                            v ? v->name : "?", g ? (long long)(g - d->model.segments) : -1, where,
                            why.text);
}

static tutti_err read_chunk_header(const tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                   tutti__chunk_grid *out) {
    const tutti__variable *v = tutti__model_variable_id(&d->model, s->variable);
    unsigned char head[TUTTI__CHUNKS_HEADER];
    tutti__chunked of;
    TUTTI_CHECK(v, TUTTI_ERR_FORMAT, "unknown variable id %lld", (long long)s->variable);
    TUTTI_CHECK(tutti__chunked_of(d, v, s->type, s->segment, &of), TUTTI_ERR_FORMAT,
                "the space of variable '%s' has no size in this segment", v->name);
    TUTTI_CHECK(s->bytes >= (tutti_off)sizeof head, TUTTI_ERR_FORMAT,
                "the section has %lld bytes: a chunk header needs %zu", (long long)s->bytes,
                sizeof head);
    TUTTI_TRY(tutti__section_read(f, s->start, sizeof head, head));
    return tutti__chunks_head_read(head, &of, s->bytes, out);
}

tutti_err tutti__compressed_grid(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                 tutti__chunk_grid *out) {
    tutti_err err = TUTTI_OK;
    if (d->team->rank == 0) err = add_error_context(d, s, -1, read_chunk_header(d, f, s, out));
    TUTTI_TRY(tutti__team_agree(d->team, err));
    return tutti__team_broadcast(d->team, out, (int)sizeof *out);
}

tutti_err tutti__compressed_table(tutti_file *f, const tutti__section *s,
                                  const tutti__chunk_grid *g, tutti_count first, tutti_count n,
                                  tutti_off *bounds_out) {
    const int less = first == 0; /* the first frame begins after the table */
    bounds_out[0] = tutti__chunks_begin(g);
    if (n == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__section_read(f, s->start + TUTTI__CHUNKS_HEADER + 8 * (first - !less),
                                  8 * (n + !less), bounds_out + less));
    tutti__chunks_table_turn(bounds_out + less, n + !less);
    return tutti__chunks_table_check(g, first, n, bounds_out[0], bounds_out + 1, s->bytes);
}

/* Decompression of the chunks that this rank owns, one by one. */
typedef struct {
    const tutti_dataset *d;
    tutti_file *f;
    const tutti__section *s;
    const tutti__chunk_grid *grid;
    tutti_count lo, hi;
    tutti_off *bounds; /* [hi - lo + 1] bounds of the chunks in the section */
    tutti__chunk_codec codec;
    size_t capacity;
    char *frame, *raw;
} unpacker;

static void free_unpacker(unpacker *u) {
    tutti__chunk_codec_free(&u->codec);
    tutti__free(u->bounds);
    tutti__free(u->frame);
    tutti__free(u->raw);
}

static tutti_err create_unpacker(unpacker *u) {
    const tutti_count n = u->hi - u->lo;
    if (n == 0) return TUTTI_OK;
    u->bounds = tutti__malloc((size_t)(n + 1) * sizeof *u->bounds);
    u->raw = tutti__malloc(u->grid->raw);
    u->capacity = tutti__chunk_bound(u->grid->raw);
    u->frame = tutti__malloc(u->capacity);
    if (!u->bounds || !u->raw || !u->frame) return TUTTI_ERR_NOMEM;
    TUTTI_TRY(tutti__chunk_codec_make(u->grid, 0, &u->codec));
    return add_error_context(u->d, u->s, -1,
                             tutti__compressed_table(u->f, u->s, u->grid, u->lo, n, u->bounds));
}

static tutti_err read_chunk(unpacker *u, tutti_count chunk) {
    const tutti_off from = u->bounds[chunk - u->lo], bytes = u->bounds[chunk - u->lo + 1] - from;
    TUTTI_CHECK((size_t)bytes <= u->capacity, TUTTI_ERR_FORMAT,
                "the frame has %lld bytes: at most %zu are possible for %zu uncompressed bytes",
                (long long)bytes, u->capacity, u->grid->raw);
    TUTTI_TRY(tutti__section_read(u->f, u->s->start + from, bytes, u->frame));
    return tutti__chunk_unpack(&u->codec, u->frame, (size_t)bytes, u->raw);
}

static tutti_err load_chunk(unpacker *u, tutti_count chunk) {
    return add_error_context(u->d, u->s, chunk, read_chunk(u, chunk));
}

static tutti_err verify_section(tutti_dataset *d, tutti_file *f, const tutti__section *s) {
    tutti__chunk_grid g = {0};
    TUTTI_TRY(tutti__compressed_grid(d, f, s, &g));
    unpacker u = {.d = d, .f = f, .s = s, .grid = &g};
    tutti__chunks_share(&g, d->team->size, d->team->rank, &u.lo, &u.hi);
    tutti_err err = create_unpacker(&u);
    for (tutti_count k = u.lo; k < u.hi && err == TUTTI_OK; k++) err = load_chunk(&u, k);
    free_unpacker(&u);
    return tutti__team_agree(d->team, err);
}

tutti_err tutti__compressed_verify(tutti_dataset *d, const tutti__segment_row *g) {
    const tutti__known *k = NULL;
    tutti_file *f = NULL;
    TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &k));
    for (int64_t i = 0; i < k->n; i++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, k->sections[i].variable);
        if (v->compress == 0) continue;
        if (!f) TUTTI_TRY(tutti__dataset_file(d, tutti__model_file_id(&d->model, g->file), &f));
        TUTTI_TRY(verify_section(d, f, &k->sections[i]));
    }
    return TUTTI_OK;
}

/* ---- requests and answers */

/* Write the requests of this rank, ordered by owner.   Not collective. */
static tutti_err write_requests(const tutti__chunk_walk *begin, char **data,
                                tutti__chunk_mail *mail) {
    tutti__chunk_walk w = *begin;
    tutti__chunk_piece p;
    tutti_count pieces = 0;
    while (tutti__chunk_walk_next(&w, &p)) pieces++;
    char *at = tutti__malloc((size_t)pieces * sizeof(tutti__chunk_record));
    if (!at) return TUTTI_ERR_NOMEM;
    *data = at;
    for (w = *begin; tutti__chunk_walk_next(&w, &p); at += sizeof(tutti__chunk_record)) {
        const tutti__chunk_record r = {p.position, p.n, 0};
        memcpy(at, &r, sizeof r);
        TUTTI_TRY(tutti__chunk_mail_add(mail, p.owner, at, sizeof r, (size_t)(p.n * w.grid->item)));
    }
    return TUTTI_OK;
}

/* Progress in answering a message with requests. */
typedef struct {
    const tutti__chunk_record *next, *end;
    char *to;
} request_cursor;

/* Answer all requests, message by message; each requested chunk is decompressed once.   Not
 * collective. */
static tutti_err write_answers(unpacker *u, int n, const tutti__sparse_message *in, char **data,
                               tutti__sparse_message *out) {
    const tutti__chunk_grid *g = u->grid;
    request_cursor *a = tutti__malloc((size_t)n * sizeof *a);
    size_t all = 0;
    tutti_err err = a ? create_unpacker(u) : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        a[i].next = in[i].data;
        a[i].end = a[i].next + in[i].bytes / sizeof *a[i].next;
        out[i] = (tutti__sparse_message){.rank = in[i].rank};
        for (const tutti__chunk_record *r = a[i].next; r < a[i].end; r++)
            out[i].bytes += (size_t)(r->n * g->item);
        all += out[i].bytes;
    }
    if (err == TUTTI_OK && !(*data = tutti__malloc(all))) err = TUTTI_ERR_NOMEM;
    char *at = *data;
    for (int i = 0; i < n && err == TUTTI_OK; at += out[i++].bytes) out[i].data = a[i].to = at;
    while (err == TUTTI_OK) {
        tutti_count chunk = u->hi; /* the first chunk that is still requested */
        for (int i = 0; i < n; i++)
            if (a[i].next < a[i].end)
                chunk = tutti__min(chunk, tutti__chunk_find(g, a[i].next->position).chunk);
        if (chunk == u->hi) break;
        err = load_chunk(u, chunk);
        for (int i = 0; i < n && err == TUTTI_OK; i++)
            for (; a[i].next < a[i].end; a[i].next++) {
                const tutti__chunk_place p = tutti__chunk_find(g, a[i].next->position);
                const size_t bytes = (size_t)(a[i].next->n * g->item);
                if (p.chunk != chunk) break;
                memcpy(a[i].to, u->raw + p.first * g->item, bytes);
                a[i].to += bytes;
            }
    }
    tutti__free(a);
    return err;
}

/* Copy the answers to memory.  They arrive in ascending order of owners, as the requests were sent.
 * Not collective. */
static tutti_err copy_answers(const tutti__compressed *to, const tutti__chunk_walk *begin, int n,
                              const tutti__sparse_message *in) {
    tutti__conversion c;
    tutti__chunk_walk w = *begin;
    tutti__chunk_piece p;
    tutti_count bad = 0;
    size_t at = 0;
    const tutti_count numbers = tutti__variable_numbers(to->v);
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__compressed_conversion(to, &c));
    for (int i = 0; tutti__chunk_walk_next(&w, &p);) {
        const size_t bytes = (size_t)(p.n * w.grid->item);
        char *memory = (char *)to->buf + p.memory * numbers * c.memory_size;
        while (i < n && at == in[i].bytes) {
            i++;
            at = 0;
        }
        TUTTI_ASSERT(i < n && in[i].rank == p.owner && at + bytes <= in[i].bytes);
        const char *from = (const char *)in[i].data + at;
        if (c.identity)
            memcpy(memory, from, bytes);
        else if (tutti__convert_in(&c, memory, from, p.n * numbers, &bad) != TUTTI_OK &&
                 err == TUTTI_OK)
            err = tutti__compressed_misfit(to, p.position, bad);
        at += bytes;
    }
    return err;
}

tutti_err tutti__compressed_get(tutti_dataset *d, tutti_file *f, const tutti__section *s,
                                const tutti__compressed *to) {
    tutti__chunk_grid g = {0};
    tutti__entry_runs runs = {0, 0, NULL};
    tutti__chunk_mail mail = {0};
    tutti__sparse_message *requests = NULL, *answers = NULL, *received = NULL;
    int requests_n = 0, received_n = 0;
    char *data = NULL, *answer = NULL;
    TUTTI_TRY(tutti__compressed_grid(d, f, s, &g));
    tutti_err err = tutti__decomposition_runs(to->entries, 0, &runs);
    const tutti__chunk_walk w = {.runs = &runs, .grid = &g, .ranks = d->team->size};
    if (err == TUTTI_OK) err = write_requests(&w, &data, &mail);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) {
        err = tutti__sparse_exchange(d->team, (int)mail.n, mail.v, &requests_n, &requests);
        unpacker u = {.d = d, .f = f, .s = s, .grid = &g};
        tutti__chunks_share(&g, d->team->size, d->team->rank, &u.lo, &u.hi);
        if (requests_n == 0) u.hi = u.lo; /* no chunk is decompressed */
        if (err == TUTTI_OK && !(answers = tutti__malloc((size_t)requests_n * sizeof *answers)))
            err = TUTTI_ERR_NOMEM;
        if (err == TUTTI_OK) err = write_answers(&u, requests_n, requests, &answer, answers);
        free_unpacker(&u);
        err = tutti__team_agree(d->team, err);
    }
    if (err == TUTTI_OK) {
        err = tutti__sparse_exchange(d->team, requests_n, answers, &received_n, &received);
        /* a rank that is out of memory has sent no answers */
        err = tutti__team_agree(d->team, err);
        if (err == TUTTI_OK)
            err = tutti__team_agree(d->team, copy_answers(to, &w, received_n, received));
    }
    tutti__sparse_free(requests_n, &requests);
    tutti__sparse_free(received_n, &received);
    tutti__free(answers);
    tutti__free(answer);
    tutti__free(data);
    tutti__free(mail.v);
    tutti__free(runs.run);
    return err;
}
