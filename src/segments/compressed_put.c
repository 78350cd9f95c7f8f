/* segments: write compressed variables.  Entries are converted and sent to the owners of their
 * chunks.  Owners pad and compress their chunks, and an exclusive scan computes the offsets.  The
 * result does not depend on the decomposition.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/compressed.h"

#include <string.h>
#include "comm/collective_count.h"
#include "comm/wait.h"

/* ---- send entries to owners */

/* A variable that is being packed. */
typedef struct {
    const tutti__compressed *from;
    tutti__packed_section *out;
    tutti__chunk_grid grid;
    tutti_count lo, hi; /* chunks that this rank owns */
    char *sent;         /* records with their values */
    tutti_off *ends;    /* [hi - lo] ends of its frames, relative to the start of the first frame */
} compression;

/* Write records with their values to p->sent, ordered by owner.   Not collective. */
static tutti_err write_records(compression *p, int64_t variable, const tutti__chunk_walk *begin,
                               tutti__chunk_mail *mail) {
    tutti__conversion c;
    tutti__chunk_walk w = *begin;
    tutti__chunk_piece piece;
    tutti_count pieces = 0, bad = 0;
    const tutti_off item = w.grid->item;
    const tutti_count numbers = tutti__variable_numbers(p->from->v);
    TUTTI_TRY(tutti__compressed_conversion(p->from, &c));
    while (tutti__chunk_walk_next(&w, &piece)) pieces++;
    char *at = p->sent = tutti__malloc((size_t)pieces * sizeof(tutti__chunk_record) +
                                       (size_t)(w.runs->entries * item));
    if (!at) return TUTTI_ERR_NOMEM;
    tutti__chunk_mail_break(mail);
    for (w = *begin; tutti__chunk_walk_next(&w, &piece);) {
        const tutti__chunk_record r = {piece.position, piece.n, variable};
        const char *memory = (const char *)p->from->buf + piece.memory * numbers * c.memory_size;
        const size_t bytes = sizeof r + (size_t)(piece.n * item);
        memcpy(at, &r, sizeof r);
        if (c.identity)
            memcpy(at + sizeof r, memory, (size_t)(piece.n * item));
        else if (tutti__convert_out(&c, at + sizeof r, memory, piece.n * numbers, &bad) != TUTTI_OK)
            return tutti__compressed_misfit(p->from, piece.position, bad);
        TUTTI_TRY(tutti__chunk_mail_add(mail, piece.owner, at, bytes, 0));
        at += bytes;
    }
    return TUTTI_OK;
}

static tutti_err write_variable(const tutti_dataset *d, compression *p, int64_t variable,
                                tutti__chunk_mail *mail) {
    tutti__entry_runs runs = {0, 0, NULL};
    tutti_err err = tutti__decomposition_runs(p->from->entries, 1, &runs);
    const tutti__chunk_walk w = {.runs = &runs, .grid = &p->grid, .ranks = d->team->size};
    if (err == TUTTI_OK) err = write_records(p, variable, &w, mail);
    tutti__free(runs.run);
    return err;
}

/* ---- chunks */

/* Fill the padding after the last entries of a row. */
static tutti_err fill_padding(const tutti__compressed *from, const tutti__chunk_grid *g,
                              tutti_count lo, tutti_count hi, char *raw) {
    unsigned char pattern[16];
    int size = 1;
    TUTTI_TRY(tutti__fill_pattern(from->v->fill, from->type, from->v->order, pattern, &size));
    for (tutti_count k = lo; k < hi; k++) {
        char *chunk = raw + (size_t)(k - lo) * g->raw;
        for (size_t i = (size_t)(tutti__chunk_filled(g, k) * g->item); i < g->raw;
             i += (size_t)size)
            memcpy(chunk + i, pattern, (size_t)size);
    }
    return TUTTI_OK;
}

/* Compress n chunks to consecutive frames after the first piece; ends[i]: end of frame i, relative
 * to the start of the first frame. */
static tutti_err compress_chunks(const tutti__chunk_grid *g, int level, const char *raw,
                                 tutti_count n, tutti_off *ends, tutti__packed_section *io) {
    tutti__chunk_codec codec = {0};
    const size_t bound = tutti__chunk_bound(g->raw);
    size_t capacity = (size_t)io->size[0], used = capacity, bytes = 0;
    tutti_err err = n > 0 ? tutti__chunk_codec_make(g, level, &codec) : TUTTI_OK;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        if (capacity - used < bound) {
            capacity = used + bound + used / 2;
            char *more = tutti__realloc(io->data, capacity);
            err = more ? TUTTI_OK : TUTTI_ERR_NOMEM;
            if (more) io->data = more;
        }
        if (err == TUTTI_OK)
            err =
                tutti__chunk_pack(&codec, raw + (size_t)i * g->raw, io->data + used, bound, &bytes);
        used += bytes;
        ends[i] = (tutti_off)used - io->size[0];
    }
    io->size[1] = (tutti_off)used - io->size[0];
    tutti__chunk_codec_free(&codec);
    return err;
}

/* Compress this rank's chunks of a variable, after the space for the table.   Not collective. */
static tutti_err compress_variable(compression *p, int64_t variable, int head, int n_in,
                                   const tutti__sparse_message *in) {
    const tutti_count n = p->hi - p->lo;
    char *raw = tutti__malloc((size_t)n * p->grid.raw);
    p->ends = tutti__malloc((size_t)n * sizeof *p->ends);
    p->out->size[0] = head + 8 * n;
    p->out->data = tutti__malloc((size_t)p->out->size[0]);
    tutti_err err = raw && p->ends && p->out->data
                        ? fill_padding(p->from, &p->grid, p->lo, p->hi, raw)
                        : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        /* copy the records to the uncompressed chunks of the variable */
        const tutti__chunk_grid *g = &p->grid;
        for (int i = 0; i < n_in; i++) {
            const char *at = in[i].data, *end = at + in[i].bytes;
            while (at < end) { /* the records of one variable are consecutive in a message */
                tutti__chunk_record r;
                memcpy(&r, at, sizeof r);
                if (r.variable != variable) break;
                const tutti__chunk_place to = tutti__chunk_find(g, r.position);
                const size_t bytes = (size_t)(r.n * g->item);
                memcpy(raw + (size_t)(to.chunk - p->lo) * g->raw + to.first * g->item,
                       at + sizeof r, bytes);
                at += sizeof r + bytes;
            }
        }
        err = compress_chunks(&p->grid, p->from->v->compress, raw, n, p->ends, p->out);
    }
    tutti__free(raw);
    return err;
}

/* Set the header, this rank's rows of the table, and the offsets of this rank's pieces. */
static void complete_variable(compression *p, int head, tutti_off before, tutti_off all) {
    tutti__packed_section *out = p->out;
    const tutti_count n = p->hi - p->lo;
    const tutti_off begin = tutti__chunks_begin(&p->grid);
    for (tutti_count i = 0; i < n; i++) p->ends[i] += begin + before;
    tutti__chunks_table_turn(p->ends, n);
    if (head) tutti__chunks_head(&p->grid, (unsigned char *)out->data);
    if (n > 0) memcpy(out->data + head, p->ends, (size_t)n * sizeof *p->ends);
    out->at[0] = head ? 0 : TUTTI__CHUNKS_HEADER + 8 * p->lo;
    out->at[1] = begin + before;
    out->bytes = begin + all;
}

/* ---- several variables */

#define TOGETHER_BYTES ((tutti_off)8 << 20) /* maximum per rank, unless one variable is larger */

/* Compute the bytes of frames on lower ranks and on all ranks, and agree on errors.
 * Collective. */
static tutti_err exchange_frame_sizes(tutti_dataset *d, int n, const int64_t *local,
                                      int64_t *before, int64_t *all, tutti_err err) {
    MPI_Request r;
    tutti__collective_add();
    TUTTI_MPI(MPI_Iexscan(local, before, n, MPI_INT64_T, MPI_SUM, d->team->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (int i = 0; i < n; i++) {
        if (d->team->rank == 0) before[i] = 0;
        all[i] = local[i];
    }
    all[n] = err != TUTTI_OK;
    const tutti_error_info why = *tutti_last_error();
    TUTTI_TRY(tutti__team_sum(d->team, all, n + 1));
    if (all[n] == 0) return TUTTI_OK;
    if (err != TUTTI_OK) tutti__error_assign(&why);
    return tutti__team_agree(d->team, err);
}

static tutti_err compress_group(tutti_dataset *d, int n, compression *p) {
    const int head = d->team->rank == 0 ? TUTTI__CHUNKS_HEADER : 0;
    tutti__chunk_mail mail = {0};
    tutti__sparse_message *in = NULL;
    int n_in = 0;
    int64_t local[TUTTI__PACKED_TOGETHER] = {0}, before[TUTTI__PACKED_TOGETHER] = {0},
            all[TUTTI__PACKED_TOGETHER + 1];
    tutti_err err = TUTTI_OK;
    for (int i = 0; i < n && err == TUTTI_OK; i++) err = write_variable(d, &p[i], i, &mail);
    const int sent = err == TUTTI_OK ? (int)mail.n : 0; /* a rank with an error also takes part */
    err = TUTTI_ALSO(err, tutti__sparse_exchange(d->team, sent, mail.v, &n_in, &in));
    tutti__free(mail.v);
    for (int i = 0; i < n; i++) {
        tutti__free(p[i].sent);
        tutti__chunks_share(&p[i].grid, d->team->size, d->team->rank, &p[i].lo, &p[i].hi);
        if (err == TUTTI_OK) err = compress_variable(&p[i], i, head, n_in, in);
        local[i] = p[i].out->size[1];
    }
    tutti__sparse_free(n_in, &in);
    err = exchange_frame_sizes(d, n, local, before, all, err);
    for (int i = 0; i < n; i++) {
        if (err == TUTTI_OK) {
            complete_variable(&p[i], head, before[i], all[i]);
        } else {
            tutti__free(p[i].out->data);
            *p[i].out = (tutti__packed_section){0};
        }
        tutti__free(p[i].ends);
    }
    return err;
}

tutti_err tutti__compressed_pack(tutti_dataset *d, int n, const tutti__compressed *from,
                                 tutti__packed_section *const *out) {
    for (int i = 0; i < n;) {
        compression p[TUTTI__PACKED_TOGETHER] = {0};
        tutti_off bytes = 0;
        int k = 0;
        for (; k < TUTTI__PACKED_TOGETHER && i + k < n; k++) {
            tutti__chunked of;
            p[k] = (compression){.from = &from[i + k], .out = out[i + k]};
            *p[k].out = (tutti__packed_section){0};
            /* The error is the same on all ranks. */
            TUTTI_CHECK(
                tutti__chunked_of(d, from[i + k].v, from[i + k].type, d->now.segment.id, &of),
                TUTTI_ERR_STATE, "variable '%s': the space has no size", from[i + k].v->name);
            tutti__chunks_cut(&of, d->chunk_bytes, &p[k].grid);
            bytes += (tutti_off)p[k].grid.raw * p[k].grid.chunks / d->team->size;
            if (k > 0 && bytes > TOGETHER_BYTES) break;
        }
        TUTTI_TRY(compress_group(d, k, p));
        i += k;
    }
    return TUTTI_OK;
}

tutti_err tutti__packed_section_access(const tutti__packed_section *p, tutti_off start,
                                       tutti_access **out) {
    const tutti_off file[] = {start + p->at[0], start + p->at[1]}, memory[] = {0, p->size[0]};
    const int none = p->size[0] == 0, pieces = !none + (p->size[1] > 0);
    return tutti_access_pieces(pieces, file + none, memory + none, p->size + none, out);
}
