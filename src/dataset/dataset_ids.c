/* dataset: id maps: the variable "SPACE:ids" of a topology segment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm/sparse.h"

/* ---- are they different? */

static int rising(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int rank_of(int64_t id, int ranks) {
    return (int)(tutti__hash(TUTTI__HASH_START, &id, sizeof id) % (uint64_t)ranks);
}

/* Every id goes to the rank that its hash names, which sees it twice.   Collective. */
static tutti_err ids_differ(tutti__team *t, tutti_count n, const int64_t *ids) {
    const size_t ranks = (size_t)t->size;
    int64_t *sorted = tutti__malloc((size_t)n * sizeof *sorted), *came = NULL;
    tutti_count *start = tutti__calloc(ranks + 2, sizeof *start);
    tutti__sparse_message *out = tutti__malloc(ranks * sizeof *out), *in = NULL;
    int sent = 0, n_in = 0;
    tutti_err err = sorted && start && out ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; err == TUTTI_OK && i < n; i++) start[rank_of(ids[i], t->size) + 2]++;
    for (size_t r = 0; err == TUTTI_OK && r < ranks; r++) start[r + 2] += start[r + 1];
    for (tutti_count i = 0; err == TUTTI_OK && i < n; i++)
        sorted[start[rank_of(ids[i], t->size) + 1]++] = ids[i];
    for (int r = 0; err == TUTTI_OK && r < t->size; r++)
        if (start[r + 1] > start[r])
            out[sent++] = (tutti__sparse_message){
                r, (size_t)(start[r + 1] - start[r]) * sizeof *sorted, sorted + start[r]};
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = tutti__sparse_exchange(t, sent, out, &n_in, &in);
    if (err == TUTTI_OK) {
        size_t all = 0;
        for (int i = 0; i < n_in; i++) all += in[i].bytes;
        came = tutti__malloc(all);
        if (!came) err = TUTTI_ERR_NOMEM;
        for (size_t i = 0, at = 0; came && i < (size_t)n_in; at += in[i++].bytes)
            memcpy((char *)came + at, in[i].data, in[i].bytes);
        if (came) qsort(came, all / sizeof *came, sizeof *came, rising);
        for (size_t i = 1; came && err == TUTTI_OK && i < all / sizeof *came; i++)
            if (came[i] == came[i - 1])
                err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "id %lld is there twice",
                                       (long long)came[i]);
        err = tutti__team_agree(t, err);
    }
    tutti__sparse_free(n_in, &in);
    tutti__free(came);
    tutti__free(sorted);
    tutti__free(start);
    tutti__free(out);
    return err;
}

/* ---- writing */

static tutti__section *section_of_ids(const tutti_dataset *d, const tutti__space *space) {
    char name[TUTTI__NAME + 16];
    snprintf(name, sizeof name, "%s:ids", space->name);
    const tutti__variable *v = tutti__model_variable(&d->model, name);
    return v ? tutti__writing_section(&d->now, v->id, 0) : NULL;
}

static tutti_err ids_check(const tutti_dataset *d, const char *space, tutti_count n,
                           const int64_t *ids, tutti__space **s) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way && d->now.segment.kind == TUTTI_TOPOLOGY, TUTTI_ERR_STATE,
                "no topology segment has begun");
    TUTTI_CHECK(space, TUTTI_ERR_ARG, "the name of the space is NULL");
    *s = tutti__model_space(&d->model, space);
    TUTTI_CHECK(*s, TUTTI_ERR_NOT_FOUND, "there is no space '%.60s'", space);
    TUTTI_CHECK((*s)->kind == TUTTI__SPACE_LIST, TUTTI_ERR_ARG, "space '%s' is a grid", space);
    TUTTI_CHECK(n >= 0 && n <= (tutti_count)1 << 48 && (ids || n == 0), TUTTI_ERR_ARG, "%lld ids%s",
                (long long)n, ids ? "" : " at NULL");
    for (tutti_count i = 0; i < n; i++)
        TUTTI_CHECK(ids[i] >= 0, TUTTI_ERR_ARG, "id %lld of entry %lld is negative",
                    (long long)ids[i], (long long)i);
    const tutti__section *old = section_of_ids(d, *s);
    const int again = old && tutti__section_status_of(&tutti__section_progress_of(d, old)->state) !=
                                 TUTTI__SECTION_WHOLE;
    for (int64_t i = 0; i < d->now.sections_n && !again; i++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, d->now.sections[i].variable);
        TUTTI_CHECK(!v || v->space != (*s)->id, TUTTI_ERR_STATE,
                    "variable '%s' has been written to this segment already", v->name);
    }
    return TUTTI_OK;
}

/* Of all ids and their positions.   Collective. */
static tutti_err ids_hash(tutti_dataset *d, tutti_count before, tutti_count n, const int64_t *ids,
                          uint64_t *out) {
    uint64_t sum = 0;
    for (tutti_count i = 0; i < n; i++) {
        const int64_t words[] = {before + i, ids[i]};
        sum += tutti__hash(TUTTI__HASH_START, words, sizeof words);
    }
    int64_t all = (int64_t)(sum >> 16); /* the sum over ranks does not overflow */
    TUTTI_TRY(tutti__team_sum(d->team, &all, 1));
    *out = (uint64_t)all;
    return TUTTI_OK;
}

/* The size of the space and the section.  A put that failed is repeated with the same ids: the space stays as it is.
 * Collective. */
static tutti_err ids_place(tutti_dataset *d, const tutti__space *space, const tutti__variable *v,
                           tutti_count all, uint64_t hash) {
    const tutti__section new = {.variable = v->id, .type = TUTTI_INT64};
    tutti__section *s = tutti__section_now(d, v->id, 0);
    if (s) {
        TUTTI_CHECK(
            s->bytes == 8 * all && tutti__section_progress_of(d, s)->content == hash,
            TUTTI_ERR_STATE,
            "these are not the ids of space '%s' that could not be written: repeat those, or "
            "discard the segment",
            space->name); /* on all ranks alike */
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__space_resize(d, space->id, 1, &all, 1));
    s = tutti__section_new(d, &new, 8 * all);
    tutti__section_progress_of(d, s)->content = hash;
    return TUTTI_OK;
}

static tutti_err ids_write(tutti_dataset *d, const tutti__variable *v, tutti_count before,
                           tutti_count n, const int64_t *ids, tutti__put_record *record) {
    const tutti__section *s = tutti__section_now(d, v->id, 0);
    tutti_access *access = NULL;
    tutti_err mine = tutti__section_target(d, record, s, 0, 1);
    if (mine == TUTTI_OK) mine = tutti_access_contiguous(s->start + 8 * before, 8 * n, &access);
    const tutti_part part = {.access = access,
                             .buf = (void *)(uintptr_t)ids,
                             .convert = {.file_type = TUTTI_INT64,
                                         .memory_type = TUTTI_INT64,
                                         .file_order = (tutti_byte_order)v->order}};
    const tutti__transfer t = {.name = "ids",
                               .file = d->now.file,
                               .is_write = 1,
                               .parts_n = 1,
                               .parts = &part,
                               .local_err = mine,
                               .sums = &record->sums};
    const tutti_err err = tutti__put_transfer(record, &t, NULL);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_dataset_ids(tutti_dataset *d, const char *space, tutti_count n,
                            const int64_t *ids) {
    TUTTI_KEEP_ERRNO;
    tutti__space *s = NULL;
    tutti__variable *v = NULL;
    int64_t all = n, before = 0;
    uint64_t hash = 0;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti__call same = {
        .name = "ids", .what = "the space", .hash = tutti__hash_text(TUTTI__HASH_START, space)};
    tutti__put_record *record = NULL;
    tutti_err err = ids_check(d, space, n, ids, &s);
    if (err == TUTTI_OK) err = tutti__sections_reserve(d, 1);
    if (err == TUTTI_OK) err = tutti__put_new(&d->now.puts, 1, &record);
    err = tutti__dataset_call(d, &same, err);
    if (err != TUTTI_OK) tutti__put_drop(&record);
    TUTTI_TRY(err);
    err = ids_differ(d->team, n, ids);
    if (err == TUTTI_OK) err = tutti__team_sum(d->team, &all, 1);
    if (err == TUTTI_OK &&
        MPI_Exscan(&n, &before, 1, MPI_INT64_T, MPI_SUM, d->team->comm) != MPI_SUCCESS)
        err = tutti__error_mpi(MPI_ERR_OTHER, "MPI_Exscan");
    if (d->team->rank == 0) before = 0;
    if (err == TUTTI_OK && all < d->container->least_entries)
        err = tutti__error_set(TUTTI_ERR_UNSUPPORTED, 0, -1,
                               "list '%s' has no entries: %s has no dimensions of length 0", space,
                               d->container->name);
    if (err == TUTTI_OK) err = tutti__own_variable(d, s, "ids", &v);
    if (err == TUTTI_OK) err = ids_hash(d, before, n, ids, &hash);
    if (err == TUTTI_OK) err = ids_place(d, s, v, all, hash);
    if (err == TUTTI_OK) err = tutti__tail_cut(d);
    if (err == TUTTI_OK)
        err = ids_write(d, v, before, n, ids, record);
    else
        tutti__put_drop(&record);
    return tutti__dataset_named(d, "ids", err);
}

/* ---- reading */

/* Where the map of a view lies.   Collective. */
static tutti_err map_find(tutti_dataset *d, const tutti__space_view *view, tutti__section *out,
                          tutti_file **f, int *order_out) {
    const tutti__size *z = NULL;
    const tutti__space *s = &d->model.spaces[view->space];
    char name[TUTTI__NAME + 16];
    for (int64_t i = 0; i < d->model.sizes_n; i++)
        if (d->model.sizes[i].stamp == view->stamp) z = &d->model.sizes[i];
    TUTTI_CHECK(z, TUTTI_ERR_STATE, "space '%s' has another topology now", s->name);
    snprintf(name, sizeof name, "%s:ids", s->name);
    const tutti__variable *v = tutti__model_variable(&d->model, name);
    const tutti__section *found = NULL;
    const tutti__writing *w = tutti__writing_of(d, z->segment);
    if (v && w) {
        found = tutti__writing_section(w, v->id, 0);
        TUTTI_TRY(tutti__dataset_file(d, &w->row, f));
    } else if (v) {
        const tutti__segment_row *g = tutti__model_segment_id(&d->model, z->segment);
        const tutti__known *k = NULL;
        TUTTI_CHECK(g, TUTTI_ERR_FORMAT, "the ids of space '%s' have no segment", s->name);
        TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &k));
        found = tutti__section_find(k, v->id, 0);
        if (found) TUTTI_TRY(tutti__dataset_file(d, tutti__model_file_id(&d->model, g->file), f));
    }
    TUTTI_CHECK(found && found->type == TUTTI_INT64, TUTTI_ERR_FORMAT,
                "the ids of space '%s' are not there", s->name);
    *out = *found;
    *order_out = v->order;
    return TUTTI_OK;
}

tutti_err tutti__dataset_ids(tutti_dataset *d, const tutti__space_view *view, tutti_count lo,
                             tutti_count hi, int64_t *ids_out) {
    tutti__section s;
    tutti_file *f = NULL;
    tutti_access *access = NULL;
    int order = TUTTI_LITTLE_ENDIAN;
    if (!view->has_ids) {
        for (tutti_count i = lo; i < hi; i++) ids_out[i - lo] = i;
        return TUTTI_OK;
    }
    TUTTI_TRY(map_find(d, view, &s, &f, &order));
    const tutti_err mine = tutti_access_contiguous(s.start + 8 * lo, 8 * (hi - lo), &access);
    const tutti_part part = {.access = access,
                             .buf = ids_out,
                             .convert = {.file_type = TUTTI_INT64,
                                         .memory_type = TUTTI_INT64,
                                         .file_order = (tutti_byte_order)order}};
    const tutti__dataset_reading m = {
        .file = f, .name = "read ids", .n = 1, .parts = &part, .least = s.start + s.bytes};
    const tutti_err err = tutti__dataset_read(&m, mine);
    tutti_access_free(&access);
    return err;
}
