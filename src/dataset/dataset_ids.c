/* dataset: write and read id maps, the variables "SPACE:ids" of topology segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm/sparse.h"

/* ---- uniqueness */

static int compare_ids(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int hash_owner(int64_t id, int ranks) {
    return (int)(tutti__hash(TUTTI__HASH_START, &id, sizeof id) % (uint64_t)ranks);
}

/* Check that no id is a duplicate.  Each id is sent to a rank that its hash determines, and that
 * rank finds duplicates.   Collective. */
static tutti_err check_ids_unique(tutti__team *t, tutti_count n, const int64_t *ids) {
    const size_t ranks = (size_t)t->size;
    int64_t *sorted = tutti__malloc((size_t)n * sizeof *sorted), *received = NULL;
    tutti_count *start = tutti__calloc(ranks + 2, sizeof *start);
    tutti__sparse_message *out = tutti__malloc(ranks * sizeof *out), *in = NULL;
    int sent = 0, n_in = 0;
    tutti_err err = sorted && start && out ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; err == TUTTI_OK && i < n; i++) start[hash_owner(ids[i], t->size) + 2]++;
    for (size_t r = 0; err == TUTTI_OK && r < ranks; r++) start[r + 2] += start[r + 1];
    for (tutti_count i = 0; err == TUTTI_OK && i < n; i++)
        sorted[start[hash_owner(ids[i], t->size) + 1]++] = ids[i];
    for (int r = 0; err == TUTTI_OK && r < t->size; r++)
        if (start[r + 1] > start[r])
            out[sent++] = (tutti__sparse_message){
                r, (size_t)(start[r + 1] - start[r]) * sizeof *sorted, sorted + start[r]};
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = tutti__sparse_exchange(t, sent, out, &n_in, &in);
    if (err == TUTTI_OK) {
        size_t all = 0;
        for (int i = 0; i < n_in; i++) all += in[i].bytes;
        received = tutti__malloc(all);
        if (!received) err = TUTTI_ERR_NOMEM;
        for (size_t i = 0, at = 0; received && i < (size_t)n_in; at += in[i++].bytes)
            memcpy((char *)received + at, in[i].data, in[i].bytes);
        if (received) qsort(received, all / sizeof *received, sizeof *received, compare_ids);
        for (size_t i = 1; received && err == TUTTI_OK && i < all / sizeof *received; i++)
            if (received[i] == received[i - 1])
                err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "duplicate id %lld",
                                       (long long)received[i]);
        err = tutti__team_agree(t, err);
    }
    tutti__sparse_free(n_in, &in);
    tutti__free(received);
    tutti__free(sorted);
    tutti__free(start);
    tutti__free(out);
    return err;
}

/* ---- writing */

static tutti_err check_ids(const tutti_dataset *d, const char *space, tutti_count n,
                           const int64_t *ids, tutti__space **s) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way && d->now.segment.kind == TUTTI_TOPOLOGY, TUTTI_ERR_STATE,
                "no topology segment has begun");
    TUTTI_CHECK(space, TUTTI_ERR_ARG, "the name of the space is NULL");
    *s = tutti__model_space(&d->model, space);
    TUTTI_CHECK(*s, TUTTI_ERR_NOT_FOUND, "space '%.60s' does not exist", space);
    TUTTI_CHECK((*s)->kind == TUTTI__SPACE_LIST, TUTTI_ERR_ARG,
                "space '%s' is a grid: only lists have ids", space);
    TUTTI_CHECK(n >= 0 && n <= (tutti_count)1 << 48, TUTTI_ERR_ARG,
                "n is %lld: number of ids must be 0 to 2^48", (long long)n);
    TUTTI_CHECK(ids || n == 0, TUTTI_ERR_ARG, "argument ids is NULL");
    for (tutti_count i = 0; i < n; i++)
        TUTTI_CHECK(ids[i] >= 0, TUTTI_ERR_ARG, "entry %lld has id %lld: ids must be >= 0",
                    (long long)i, (long long)ids[i]);
    char name[TUTTI__NAME + 16];
    snprintf(name, sizeof name, "%s:ids", (*s)->name);
    const tutti__variable *map = tutti__model_variable(&d->model, name);
    const tutti__section *old = map ? tutti__writing_section(&d->now, map->id, 0) : NULL;
    const int again = old && tutti__section_status_of(&tutti__section_progress_of(d, old)->state) !=
                                 TUTTI__SECTION_WHOLE;
    for (int64_t i = 0; i < d->now.sections_n && !again; i++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, d->now.sections[i].variable);
        TUTTI_CHECK(
            !v || v->space != (*s)->id, TUTTI_ERR_STATE,
            "cannot write ids of space '%s': variable '%s' has already been written to this "
            "segment",
            (*s)->name, v->name);
    }
    return TUTTI_OK;
}

/* Compute a hash of all ids and their positions.   Collective. */
static tutti_err hash_ids(tutti_dataset *d, tutti_count before, tutti_count n, const int64_t *ids,
                          uint64_t *out) {
    uint64_t sum = 0;
    for (tutti_count i = 0; i < n; i++) {
        const int64_t words[] = {before + i, ids[i]};
        sum += tutti__hash(TUTTI__HASH_START, words, sizeof words);
    }
    int64_t all = (int64_t)(sum >> 16); /* shifted, so that the sum over ranks does not overflow */
    TUTTI_TRY(tutti__team_sum(d->team, &all, 1));
    *out = (uint64_t)all;
    return TUTTI_OK;
}

/* Set the size of the space and create the section.  After a failed write, the same ids must be
 * written again, and the space keeps its size.   Collective. */
static tutti_err place_ids(tutti_dataset *d, const tutti__space *space, const tutti__variable *v,
                           tutti_count all, uint64_t hash) {
    const tutti__section new = {.variable = v->id, .type = TUTTI_INT64};
    tutti__section *s = tutti__section_now(d, v->id, 0);
    if (s) { /* the error is the same on all ranks */
        TUTTI_CHECK(s->bytes == 8 * all && tutti__section_progress_of(d, s)->content == hash,
                    TUTTI_ERR_STATE,
                    "the ids of space '%s' differ from those of the write that failed: repeat that "
                    "write, or discard the segment",
                    space->name);
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__space_resize(d, space->id, 1, &all, 1));
    s = tutti__section_new(d, &new, 8 * all);
    tutti__section_progress_of(d, s)->content = hash;
    return TUTTI_OK;
}

static tutti_err write_ids(tutti_dataset *d, const tutti__variable *v, tutti_count before,
                           tutti_count n, const int64_t *ids, tutti__put_record *record) {
    const tutti__section *s = tutti__section_now(d, v->id, 0);
    tutti_access *access = NULL;
    tutti_err local_err = tutti__section_target(d, record, s, 0, 1);
    if (local_err == TUTTI_OK)
        local_err = tutti_access_contiguous(s->start + 8 * before, 8 * n, &access);
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
                               .local_err = local_err,
                               .checksums = &record->checksums};
    const tutti_err err = tutti__transfer_run(&t, NULL);
    tutti__put_end(record, err);
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
    tutti_err err = check_ids(d, space, n, ids, &s);
    if (err == TUTTI_OK) err = tutti__sections_reserve(d, 1);
    if (err == TUTTI_OK) err = tutti__put_new(&d->now.puts, 1, &record);
    err = tutti__dataset_call(d, &same, err);
    if (err != TUTTI_OK) tutti__put_drop(&record);
    TUTTI_TRY(err);
    err = check_ids_unique(d->team, n, ids);
    if (err == TUTTI_OK) err = tutti__team_sum(d->team, &all, 1);
    if (err == TUTTI_OK &&
        MPI_Exscan(&n, &before, 1, MPI_INT64_T, MPI_SUM, d->team->comm) != MPI_SUCCESS)
        err = tutti__error_mpi(MPI_ERR_OTHER, "MPI_Exscan");
    if (d->team->rank == 0) before = 0;
    if (err == TUTTI_OK && all < d->container->least_entries)
        err = tutti__error_set(TUTTI_ERR_UNSUPPORTED, 0, -1,
                               "list '%s' has no entries: %s cannot store dimensions of length 0",
                               space, d->container->name);
    if (err == TUTTI_OK) err = tutti__own_variable(d, s, "ids", &v);
    if (err == TUTTI_OK) err = hash_ids(d, before, n, ids, &hash);
    if (err == TUTTI_OK) err = place_ids(d, s, v, all, hash);
    if (err == TUTTI_OK) err = tutti__tail_cut(d);
    if (err == TUTTI_OK)
        err = write_ids(d, v, before, n, ids, record);
    else
        tutti__put_drop(&record);
    return tutti__dataset_named(d, "ids", err);
}

/* ---- reading */

/* Find the section with the id map of a view, and its file.   Collective. */
static tutti_err find_id_map(tutti_dataset *d, const tutti__space_view *view, tutti__section *out,
                             tutti_file **f, int *order_out) {
    const tutti__size *z = NULL;
    const tutti__space *s = &d->model.spaces[view->space];
    char name[TUTTI__NAME + 16];
    for (int64_t i = 0; i < d->model.sizes_n; i++)
        if (d->model.sizes[i].stamp == view->stamp) z = &d->model.sizes[i];
    TUTTI_CHECK(z, TUTTI_ERR_STATE, "the topology of space '%s' has changed", s->name);
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
        TUTTI_CHECK(g, TUTTI_ERR_FORMAT, "the segment with the ids of space '%s' does not exist",
                    s->name);
        TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &k));
        found = tutti__section_find(k, v->id, 0);
        if (found) TUTTI_TRY(tutti__dataset_file(d, tutti__model_file_id(&d->model, g->file), f));
    }
    TUTTI_CHECK(found, TUTTI_ERR_FORMAT, "the ids of space '%s' are missing", s->name);
    TUTTI_CHECK(found->type == TUTTI_INT64, TUTTI_ERR_FORMAT,
                "the ids of space '%s' have type %s: must be int64", s->name,
                tutti_type_name((tutti_type)found->type));
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
    TUTTI_TRY(find_id_map(d, view, &s, &f, &order));
    const tutti_err local_err = tutti_access_contiguous(s.start + 8 * lo, 8 * (hi - lo), &access);
    const tutti_part part = {.access = access,
                             .buf = ids_out,
                             .convert = {.file_type = TUTTI_INT64,
                                         .memory_type = TUTTI_INT64,
                                         .file_order = (tutti_byte_order)order}};
    const tutti__dataset_reading m = {
        .file = f, .name = "read ids", .n = 1, .parts = &part, .least = s.start + s.bytes};
    const tutti_err err = tutti__dataset_read(&m, local_err);
    tutti_access_free(&access);
    return err;
}
