/* dataset: compressed variables are put: entries are converted and sent to the ranks that look after
 * their chunks; these fill them up, pack one after the other, and learn how many bytes the ranks before
 * them have.  What comes out does not depend on who held what.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/compressed.h"

#include <string.h>

/* ---- entries to keepers */

/* Records with their values, keeper by keeper, in *data.   Local. */
static tutti_err mail_write(const tutti__compressed *from, const tutti__chunk_walk *begin,
                            char **data, tutti__chunk_mail *mail) {
    tutti__conversion c;
    tutti__chunk_walk w = *begin;
    tutti__chunk_piece p;
    tutti_count pieces = 0, bad = 0;
    const tutti_off item = w.grid->item;
    const tutti_count numbers = tutti__variable_numbers(from->v);
    TUTTI_TRY(tutti__compressed_conversion(from, &c));
    while (tutti__chunk_walk_next(&w, &p)) pieces++;
    char *at = tutti__malloc((size_t)pieces * sizeof(tutti__chunk_record) +
                             (size_t)(w.runs->entries * item));
    if (!at) return TUTTI_ERR_NOMEM;
    *data = at;
    for (w = *begin; tutti__chunk_walk_next(&w, &p);) {
        const tutti__chunk_record r = {p.position, p.n};
        const char *memory = (const char *)from->buf + p.memory * numbers * c.memory_size;
        const size_t bytes = sizeof r + (size_t)(p.n * item);
        memcpy(at, &r, sizeof r);
        if (c.identity)
            memcpy(at + sizeof r, memory, (size_t)(p.n * item));
        else if (tutti__convert_out(&c, at + sizeof r, memory, p.n * numbers, &bad) != TUTTI_OK)
            return tutti__compressed_misfit(from, p.position, bad);
        TUTTI_TRY(tutti__chunk_mail_add(mail, p.keeper, at, bytes, 0));
        at += bytes;
    }
    return TUTTI_OK;
}

static tutti_err entries_send(tutti_dataset *d, const tutti__compressed *from,
                              const tutti__chunk_grid *g, int *n_in, tutti__sparse_message **in) {
    tutti__entry_runs runs = {0, 0, NULL};
    tutti__chunk_mail mail = {0};
    char *data = NULL;
    tutti_err err = tutti__decomposition_runs(from->entries, 1, &runs);
    const tutti__chunk_walk w = {.runs = &runs, .grid = g, .ranks = d->team->size};
    if (err == TUTTI_OK) err = mail_write(from, &w, &data, &mail);
    tutti__free(runs.run);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK)
        err =
            tutti__dataset_agree(d, tutti__sparse_exchange(d->team, (int)mail.n, mail.v, n_in, in));
    tutti__free(data);
    tutti__free(mail.v);
    if (err != TUTTI_OK) tutti__sparse_free(*n_in, in); /* of another rank */
    return err;
}

/* ---- chunks */

/* Chunks from `lo` on as they are before they are packed. */
static void chunks_fill(const tutti__chunk_grid *g, tutti_count lo, int n_in,
                        const tutti__sparse_message *in, char *raw) {
    for (int i = 0; i < n_in; i++) {
        const char *at = in[i].data, *end = at + in[i].bytes;
        while (at < end) {
            tutti__chunk_record r;
            memcpy(&r, at, sizeof r);
            const tutti__chunk_place to = tutti__chunk_find(g, r.position);
            const size_t bytes = (size_t)(r.n * g->item);
            memcpy(raw + (size_t)(to.chunk - lo) * g->raw + to.first * g->item, at + sizeof r,
                   bytes);
            at += sizeof r + bytes;
        }
    }
}

/* Behind the last entries of a row. */
static tutti_err padding_fill(const tutti__compressed *from, const tutti__chunk_grid *g,
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

/* Frames of n chunks, one after the other behind the first piece; ends[]: where each ends, counted from
 * the beginning of the first. */
static tutti_err chunks_pack(const tutti__chunk_grid *g, int level, const char *raw, tutti_count n,
                             tutti_off *ends, tutti__packed_section *io) {
    tutti__chunk_codec codec = {0};
    const size_t bound = tutti__chunk_bound(g->raw);
    size_t room = (size_t)io->size[0], used = room, bytes = 0;
    tutti_err err = n > 0 ? tutti__chunk_codec_make(g, level, &codec) : TUTTI_OK;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        if (room - used < bound) {
            room = used + bound + used / 2;
            char *more = tutti__realloc(io->data, room);
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

/* Bytes of frames on ranks before this one, and on all.   Collective. */
static tutti_err frames_before(tutti_dataset *d, int64_t mine, int64_t *before, int64_t *all) {
    int64_t lower = 0;
    TUTTI_MPI(MPI_Exscan(&mine, &lower, 1, MPI_INT64_T, MPI_SUM, d->team->comm));
    *before = d->team->rank == 0 ? 0 : lower;
    *all = mine;
    return tutti__team_sum(d->team, all, 1);
}

tutti_err tutti__compressed_pack(tutti_dataset *d, const tutti__compressed *from,
                                 tutti__packed_section *out) {
    tutti__chunked of;
    tutti__chunk_grid g;
    int n_in = 0;
    tutti__sparse_message *in = NULL;
    tutti_count lo, hi;
    char *raw = NULL;
    tutti_off *ends = NULL;
    int64_t before = 0, all = 0;
    const int head = d->team->rank == 0 ? TUTTI__CHUNKS_HEADER : 0;
    *out = (tutti__packed_section){0};
    TUTTI_CHECK(tutti__chunked_of(d, from->v, from->type, d->now.segment.id, &of), TUTTI_ERR_STATE,
                "variable '%s': its space has no size", from->v->name); /* on all ranks alike */
    tutti__chunks_cut(&of, d->chunk_bytes, &g);
    TUTTI_TRY(entries_send(d, from, &g, &n_in, &in));
    tutti__chunks_share(&g, d->team->size, d->team->rank, &lo, &hi);
    const tutti_count n = hi - lo;
    raw = tutti__malloc((size_t)n * g.raw);
    ends = tutti__malloc((size_t)n * sizeof *ends);
    out->size[0] = head + 8 * n;
    out->data = tutti__malloc((size_t)out->size[0]);
    tutti_err err =
        raw && ends && out->data ? padding_fill(from, &g, lo, hi, raw) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) chunks_fill(&g, lo, n_in, in, raw);
    tutti__sparse_free(n_in, &in);
    if (err == TUTTI_OK) err = chunks_pack(&g, from->v->compress, raw, n, ends, out);
    tutti__free(raw);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK)
        err = tutti__dataset_agree(d, frames_before(d, out->size[1], &before, &all));
    if (err == TUTTI_OK) {
        const tutti_off begin = tutti__chunks_begin(&g);
        for (tutti_count i = 0; i < n; i++) ends[i] += begin + before;
        tutti__chunks_table_turn(ends, n);
        if (head) tutti__chunks_head(&g, (unsigned char *)out->data);
        if (n > 0) memcpy(out->data + head, ends, (size_t)n * sizeof *ends);
        out->at[0] = head ? 0 : TUTTI__CHUNKS_HEADER + 8 * lo;
        out->at[1] = begin + before;
        out->bytes = begin + all;
    } else {
        tutti__free(out->data);
        *out = (tutti__packed_section){0};
    }
    tutti__free(ends);
    return err;
}

tutti_err tutti__packed_section_access(const tutti__packed_section *p, tutti_off start,
                                       tutti_access **out) {
    const tutti_off file[] = {start + p->at[0], start + p->at[1]}, memory[] = {0, p->size[0]};
    const int none = p->size[0] == 0, pieces = !none + (p->size[1] > 0);
    return tutti_access_pieces(pieces, file + none, memory + none, p->size + none, out);
}
