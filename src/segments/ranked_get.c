/* segments: read ranked sections (ranked_put.c describes their format).  Each rank owns a block of
 * positions of the space, and determines the index of each of these positions from the list of
 * entries; readers request the indices of their positions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <endian.h>
#include <string.h>
#include "comm/sparse.h"

enum { HEAD = TUTTI__RANKED_HEAD }; /* number of values before the table */

/* ---- accesses by index */

/* Pieces of items; pieces that are adjacent on both sides are merged. */
typedef struct {
    tutti_count n;
    tutti_off *file, *memory, *length;
} pieces;

static void add_piece(pieces *p, tutti_off file, tutti_off memory, tutti_off bytes) {
    const tutti_count k = p->n - 1;
    if (k >= 0 && p->file[k] + p->length[k] == file && p->memory[k] + p->length[k] == memory) {
        p->length[k] += bytes;
        return;
    }
    p->file[p->n] = file;
    p->memory[p->n] = memory;
    p->length[p->n++] = bytes;
}

/* ---- lookup of positions */

static tutti_err read_header(tutti_file *f, const tutti__section *s, tutti_off item,
                             tutti__ranked_head *out) {
    int64_t head[2] = {0, 0};
    TUTTI_CHECK(s->bytes >= 8 * HEAD, TUTTI_ERR_FORMAT,
                "a ranked section has %lld bytes: its header needs %d", (long long)s->bytes,
                (int)(8 * HEAD));
    TUTTI_TRY(tutti__section_read(f, s->start, sizeof head, head));
    return tutti__ranked_head_take(head, s, item, out);
}

/* A position and its index in the list. */
typedef struct {
    int64_t position, place;
} placed;

/* Distribution of positions to owners. */
typedef struct {
    tutti_count entries, block;
} blocks;

static int position_owner(const blocks *b, tutti_count position) {
    return (int)(position / b->block);
}

/* Send records to the owners of their positions; `v` is sorted by owner.   Collective. */
static tutti_err send_sorted(tutti__team *t, const blocks *b, const placed *v, tutti_count n,
                             int *n_in, tutti__sparse_message **in) {
    tutti__sparse_message *out = tutti__malloc(((size_t)t->size + 1) * sizeof *out);
    int k = 0;
    tutti_err err = out ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0, j = 0; i < n && err == TUTTI_OK; i = j) {
        const int to = position_owner(b, v[i].position);
        for (j = i; j < n && position_owner(b, v[j].position) == to; j++) continue;
        out[k++] =
            (tutti__sparse_message){to, (size_t)(j - i) * sizeof *v, (void *)(uintptr_t)(v + i)};
    }
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = tutti__sparse_exchange(t, k, out, n_in, in);
    tutti__free(out);
    return err;
}

/* Sort records by owner (stable counting sort). */
static tutti_err sort_by_owner(const blocks *b, int ranks, const placed *from, tutti_count n,
                               placed *to, tutti_count *index) {
    tutti_count *start = tutti__calloc((size_t)ranks + 1, sizeof *start);
    if (!start) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) start[position_owner(b, from[i].position) + 1]++;
    for (int r = 0; r < ranks; r++) start[r + 1] += start[r];
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count at = start[position_owner(b, from[i].position)]++;
        to[at] = from[i];
        if (index) index[at] = i;
    }
    tutti__free(start);
    return TUTTI_OK;
}

/* Read this rank's share of the list as records sorted by owner. */
static tutti_err read_list(const tutti_dataset *d, tutti_file *f, const tutti__section *list,
                           const blocks *b, placed **out, tutti_count *n_out) {
    const tutti_count all = list->bytes / 8;
    const tutti_count lo =
        all / d->team->size * d->team->rank + tutti__min(all % d->team->size, d->team->rank);
    const tutti_count n = all / d->team->size + (d->team->rank < all % d->team->size);
    int64_t *position = tutti__malloc((size_t)n * sizeof *position);
    placed *v = tutti__malloc(2 * (size_t)n * sizeof *v);
    tutti_err err = position && v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__section_read(f, list->start + 8 * lo, 8 * n, position);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
        v[n + i] = (placed){(int64_t)le64toh((uint64_t)position[i]), lo + i};
        if (v[n + i].position < 0 || v[n + i].position >= b->entries)
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "invalid position %lld in a list of entries: the space has %lld entries",
                (long long)v[n + i].position, (long long)b->entries);
    }
    if (err == TUTTI_OK) err = sort_by_owner(b, d->team->size, v + n, n, v, NULL);
    tutti__free(position);
    if (err == TUTTI_OK) {
        *out = v;
        *n_out = n;
    } else {
        tutti__free(v);
    }
    return err;
}

/* Determine the indices of this rank's block of positions. */
static tutti_err create_directory(tutti_dataset *d, tutti_file *f, const tutti__section *list,
                                  const blocks *b, tutti_count **out) {
    placed *local_entries = NULL;
    tutti_count n = 0;
    int n_in = 0;
    tutti__sparse_message *in = NULL;
    tutti_count *place = tutti__malloc((size_t)b->block * sizeof *place);
    tutti_err err = place ? read_list(d, f, list, b, &local_entries, &n) : TUTTI_ERR_NOMEM;
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = send_sorted(d->team, b, local_entries, n, &n_in, &in);
    for (tutti_count i = 0; err == TUTTI_OK && i < b->block; i++) place[i] = -1;
    for (int i = 0; i < n_in && err == TUTTI_OK; i++) {
        const placed *v = in[i].data;
        for (size_t j = 0; j < in[i].bytes / sizeof *v; j++)
            place[v[j].position - b->block * d->team->rank] = v[j].place;
    }
    tutti__sparse_free(n_in, &in);
    tutti__free(local_entries);
    if (err == TUTTI_OK)
        *out = place;
    else
        tutti__free(place);
    return err;
}

/* Request indices from the owners.  Answers arrive in rank order, as the requests were sent.
 * Collective. */
static tutti_err request_places(tutti_dataset *d, const blocks *b, const tutti_count *directory,
                                const tutti_count *position, tutti_count n,
                                tutti_count *place_out) {
    int n_in = 0, answers_n = 0;
    tutti__sparse_message *in = NULL, *answers = NULL;
    placed *v = tutti__malloc(2 * (size_t)n * sizeof *v);
    tutti_count *index = tutti__malloc((size_t)n * sizeof *index);
    tutti_err err = v && index ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; err == TUTTI_OK && i < n; i++) v[n + i] = (placed){position[i], i};
    if (err == TUTTI_OK) err = sort_by_owner(b, d->team->size, v + n, n, v, index);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = send_sorted(d->team, b, v, n, &n_in, &in);
    for (int i = 0; i < n_in && err == TUTTI_OK; i++) {
        placed *q = in[i].data;
        for (size_t j = 0; j < in[i].bytes / sizeof *q; j++)
            q[j].place = directory[q[j].position - b->block * d->team->rank];
    }
    if (err == TUTTI_OK) err = tutti__sparse_exchange(d->team, n_in, in, &answers_n, &answers);
    tutti_count at = 0;
    for (int i = 0; i < answers_n && err == TUTTI_OK; i++) {
        const placed *q = answers[i].data;
        for (size_t j = 0; j < answers[i].bytes / sizeof *q && at < n; j++)
            place_out[index[at++]] = q[j].place;
    }
    tutti__sparse_free(n_in, &in);
    tutti__sparse_free(answers_n, &answers);
    tutti__free(v);
    tutti__free(index);
    return err;
}

/* Maximum number of cached tutti__places. */
enum { PLACES = 16 };

static tutti_err compute_places(tutti_dataset *d, tutti_file *f, const tutti__section *list,
                                tutti_decomposition *p, tutti__places *out) {
    tutti__decomposition_facts facts;
    tutti_count *directory = NULL;
    tutti__decomposition_facts_of(p, &facts);
    const tutti__space *space = &d->model.spaces[facts.space];
    const tutti__size *z = tutti__model_size(&d->model, space->id, list->segment);
    blocks b = {0, 0};
    tutti_err err = TUTTI_OK;
    if (!z || z->stamp != facts.stamp || !tutti__shape_right(z->ndims, z->shape, &b.entries))
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                               "the list of entries of space '%s' belongs to another topology",
                               space->name);
    b.block = b.entries / d->team->size + 1;
    tutti_count *position = tutti__malloc((size_t)facts.entries * sizeof *position);
    out->n = facts.entries;
    out->place = tutti__malloc((size_t)facts.entries * sizeof *out->place);
    if (!position || !out->place) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__decomposition_list(p, position, NULL, NULL);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = create_directory(d, f, list, &b, &directory);
    if (err == TUTTI_OK)
        err = request_places(d, &b, directory, position, facts.entries, out->place);
    tutti__free(directory);
    tutti__free(position);
    if (err != TUTTI_OK) {
        tutti__free(out->place);
        out->place = NULL;
    }
    return err;
}

/* Find the list of a section, and its file.   Collective. */
static tutti_err find_list(tutti_dataset *d, const tutti__section *s, int space,
                           tutti__section *out, tutti_file **f) {
    const tutti__segment_row *g = tutti__model_segment_id(&d->model, s->list_segment);
    const tutti__known *k = NULL;
    TUTTI_CHECK(g, TUTTI_ERR_FORMAT,
                "the segment with the list of entries does not exist (id %lld)",
                (long long)s->list_segment);
    TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &k));
    const tutti__variable *v = tutti__ranked_lists(d, d->model.spaces[space].id);
    const tutti__section *list = v ? tutti__section_find(k, v->id, s->list_part) : NULL;
    TUTTI_CHECK(list, TUTTI_ERR_FORMAT, "the list of entries '%s:entries' does not exist",
                d->model.spaces[space].name);
    TUTTI_CHECK(list->bytes % 8 == 0, TUTTI_ERR_FORMAT,
                "the list of entries '%s:entries' has %lld bytes: must be a multiple of 8",
                d->model.spaces[space].name, (long long)list->bytes);
    *out = *list;
    return tutti__dataset_file(d, tutti__model_file_id(&d->model, g->file), f);
}

static tutti_err check_list_size(tutti_count listed, tutti_count entries) {
    TUTTI_CHECK(listed == entries, TUTTI_ERR_FORMAT,
                "the list of entries has %lld entries, but the section %lld", (long long)listed,
                (long long)entries);
    return TUTTI_OK;
}

static tutti_err find_places(tutti_dataset *d, const tutti__section *s, tutti_decomposition *p,
                             tutti_count entries, tutti__places **out) {
    tutti__decomposition_facts facts;
    tutti__section list;
    tutti_file *f = NULL;
    tutti__decomposition_facts_of(p, &facts);
    for (int64_t i = 0; i < d->places_n; i++)
        if (d->places[i].decomposition == facts.number && d->places[i].segment == s->list_segment &&
            d->places[i].part == s->list_part) {
            *out = &d->places[i];
            return check_list_size(d->places[i].entries, entries);
        }
    TUTTI_TRY(find_list(d, s, facts.space, &list, &f));
    TUTTI_TRY(check_list_size(list.bytes / 8, entries));
    tutti__places new = {.decomposition = facts.number,
                         .segment = s->list_segment,
                         .part = s->list_part,
                         .entries = entries};
    TUTTI_TRY(compute_places(d, f, &list, p, &new));
    if (d->places_n == PLACES) {
        tutti__places_free(&d->places[0]);
        memmove(d->places, d->places + 1, (PLACES - 1) * sizeof *d->places);
        d->places_n--;
    }
    tutti__places *at = tutti__table_grow(&d->places, &d->places_n, sizeof *at);
    const tutti_err err = tutti__team_agree(d->team, at ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        if (at) d->places_n--;
        tutti__free(new.place);
        return err;
    }
    *at = new;
    *out = at;
    return TUTTI_OK;
}

/* Make an access of the entries of a rank, relative to the first entry, and list the entries that
 * have no value; made once for each size of items.   Not collective. */
static tutti_err create_places_access(tutti__places *at, tutti_decomposition *p, tutti_off item) {
    const size_t n = (size_t)at->n;
    if (at->access && at->item == item) return TUTTI_OK;
    tutti_access_free(&at->access);
    tutti__free(at->holes);
    at->holes_n = 0;
    at->holes = tutti__malloc(n * sizeof *at->holes);
    tutti_count *memory = tutti__malloc(n * sizeof *memory);
    const size_t bytes = n * sizeof(tutti_off);
    pieces list = {0, tutti__malloc(bytes), tutti__malloc(bytes), tutti__malloc(bytes)};
    const int has_memory = memory && at->holes && list.file && list.memory && list.length;
    tutti_err err = has_memory ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__decomposition_list(p, NULL, memory, NULL);
    for (size_t i = 0; err == TUTTI_OK && i < n; i++) {
        if (at->place[i] < 0)
            at->holes[at->holes_n++] = memory[i];
        else
            add_piece(&list, at->place[i] * item, memory[i] * item, item);
    }
    if (err == TUTTI_OK)
        err = tutti_access_pieces(list.n, list.file, list.memory, list.length, &at->access);
    if (err == TUTTI_OK) at->item = item;
    tutti__free(list.file);
    tutti__free(list.memory);
    tutti__free(list.length);
    tutti__free(memory);
    return err;
}

tutti_err tutti__ranked_reads(tutti_dataset *d, const tutti__section *s, tutti_off item,
                              tutti_decomposition *p, tutti__ranked_reading *out) {
    const tutti__segment_row *g = tutti__model_segment_id(&d->model, s->segment);
    tutti_file *f = NULL;
    tutti__ranked_head head = {0, 0};
    tutti__places *places = NULL;
    tutti__ranked_reading r = {0};
    tutti_err err = tutti__dataset_file(d, tutti__model_file_id(&d->model, g->file), &f);
    TUTTI_TRY(err);
    if (d->team->rank == 0) err = read_header(f, s, item, &head);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    TUTTI_TRY(tutti__team_broadcast(d->team, &head, (int)sizeof head));
    TUTTI_TRY(find_places(d, s, p, head.entries, &places));
    err = create_places_access(places, p, item);
    if (err == TUTTI_OK) {
        const size_t bytes = (size_t)places->holes_n * sizeof *r.holes;
        r.holes_n = places->holes_n;
        r.holes = tutti__malloc(bytes);
        if (!r.holes) err = TUTTI_ERR_NOMEM;
        if (r.holes && bytes > 0) memcpy(r.holes, places->holes, bytes);
    }
    if (err == TUTTI_OK)
        err = tutti_access_shift(places->access, s->start + tutti__ranked_header((int)head.ranks),
                                 0, &r.access);
    err = tutti__team_agree(d->team, err);
    if (err != TUTTI_OK) {
        tutti__free(r.holes);
        tutti_access_free(&r.access);
        return err;
    }
    *out = r;
    return TUTTI_OK;
}
