/* segments: the dataset object: agreements between ranks and the broadcast of the metadata.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <string.h>

const tutti__class tutti__dataset_class = {"dataset", "dataset", "closed"};

tutti_err tutti__dataset_live(const tutti_dataset *d) {
    return tutti__object_live(d, &tutti__dataset_class);
}

/* ---- agreement */

tutti_err tutti__dataset_enter(tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_live(d));
    tutti__step_object_enter(&d->base);
    return TUTTI_OK;
}

tutti_err tutti__dataset_writable(const tutti_dataset *d) {
    TUTTI_CHECK(d->mode & TUTTI_WRITE, TUTTI_ERR_MODE, "the dataset was not opened for writing");
    return TUTTI_OK;
}

tutti_err tutti__dataset_discardable(const tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way, TUTTI_ERR_STATE, "no segment has begun");
    TUTTI_TRY(tutti__start_queue_empty(&d->starts, TUTTI__STARTED_PUT));
    return tutti__puts_ended(&d->now.puts);
}

tutti_err tutti__dataset_segment_check(const tutti_dataset *d, tutti_count segment) {
    TUTTI_CHECK(segment >= 0 && segment < d->model.segments_n, TUTTI_ERR_NOT_FOUND,
                "segment %lld does not exist (dataset has %lld)", (long long)segment,
                (long long)d->model.segments_n);
    return TUTTI_OK;
}

tutti_err tutti__dataset_check_not_archived(const tutti_dataset *d, tutti_count segment) {
    const tutti__archived *a = tutti__model_archived(&d->model, d->model.segments[segment].id);
    TUTTI_CHECK(!a, TUTTI_ERR_STATE, "segment %lld is archived in '%s': restore it first",
                (long long)segment, a->place);
    return TUTTI_OK;
}

tutti_err tutti__dataset_check_unchanged(tutti_dataset *d, tutti_err err) {
    const tutti_error_info why = *tutti_last_error();
    int64_t now = d->model.generation;
    if (d->mode & TUTTI_WRITE) return err;
    tutti_err here = d->team->rank == 0 ? tutti__meta_generation(d->meta, &now) : TUTTI_OK;
    if (here == TUTTI_OK && now != d->model.generation)
        here = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                                "a writer has removed or archived segments: refresh the dataset");
    here = tutti__team_agree(d->team, here);
    if (err == TUTTI_OK || here == TUTTI_ERR_STATE) return here;
    tutti__error_assign(&why);
    return err;
}

/* ---- the model on all ranks */

/* Broadcast a table, with the capacity that tutti__table_grow expects. */
static tutti_err broadcast_table(tutti_dataset *d, void *table, int64_t n, size_t size) {
    void *rows = NULL;
    tutti_err err = TUTTI_OK;
    size_t capacity = 8;
    while (capacity < (size_t)n) capacity *= 2;
    memcpy(&rows, table, sizeof rows);
    if (d->team->rank != 0) {
        rows = tutti__malloc(capacity * size);
        if (!rows) err = TUTTI_ERR_NOMEM;
        memcpy(table, &rows, sizeof rows);
    }
    TUTTI_TRY(tutti__team_agree(d->team, err));
    const int64_t step = (1 << 30) / (int64_t)size;
    for (int64_t at = 0; at < n && err == TUTTI_OK; at += step)
        err = tutti__team_broadcast(d->team, (char *)rows + at * (int64_t)size,
                                    (int)(tutti__min(step, n - at) * (int64_t)size));
    return err;
}

static tutti_err broadcast_model(tutti_dataset *d, tutti__model *m) {
    tutti__model received = *m;
    TUTTI_TRY(tutti__team_broadcast(d->team, &received, (int)sizeof received));
    if (d->team->rank != 0) {
        *m = received;
        m->spaces = NULL;
        m->variables = NULL;
        m->sizes = NULL;
        m->files = NULL;
        m->segments = NULL;
        m->archived = NULL;
    }
    TUTTI_TRY(broadcast_table(d, &m->spaces, m->spaces_n, sizeof *m->spaces));
    TUTTI_TRY(broadcast_table(d, &m->variables, m->variables_n, sizeof *m->variables));
    TUTTI_TRY(broadcast_table(d, &m->sizes, m->sizes_n, sizeof *m->sizes));
    TUTTI_TRY(broadcast_table(d, &m->files, m->files_n, sizeof *m->files));
    TUTTI_TRY(broadcast_table(d, &m->archived, m->archived_n, sizeof *m->archived));
    return broadcast_table(d, &m->segments, m->segments_n, sizeof *m->segments);
}

tutti_err tutti__dataset_load(tutti_dataset *d, tutti__model *out) {
    tutti_err err = TUTTI_OK;
    *out = (tutti__model){0};
    if (d->team->rank == 0) err = tutti__meta_load(d->meta, out);
    if (d->team->rank == 0 && err == TUTTI_OK) {
        out->published = tutti__netcdf_published(d->path, out);
        if (!(d->mode & TUTTI_WRITE)) tutti__model_truncate(out, out->published);
    }
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = broadcast_model(d, out);
    if (err != TUTTI_OK) tutti__model_free(out);
    for (int64_t i = 0; i < out->sizes_n && err == TUTTI_OK; i++) {
        /* known sizes keep their stamps; new sizes get new stamps */
        tutti__size *s = &out->sizes[i];
        for (int64_t j = 0; j < d->model.sizes_n && s->stamp == 0; j++) {
            const tutti__size *old = &d->model.sizes[j];
            if (old->space == s->space && old->segment == s->segment) s->stamp = old->stamp;
        }
        if (s->stamp == 0) s->stamp = ++d->stamps;
    }
    return err;
}

void tutti__places_free(tutti__places *at) {
    tutti__free(at->place);
    tutti__free(at->holes);
    tutti_access_free(&at->access);
}

void tutti__dataset_clear_caches(tutti_dataset *d) {
    for (int64_t i = 0; i < d->known_n; i++) {
        tutti__free(d->known[i].sections);
        tutti__free(d->known[i].checked);
    }
    tutti__free(d->known);
    d->known = NULL;
    d->known_n = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < d->places_n; i++) {
        if (tutti__model_segment_id(&d->model, d->places[i].segment))
            d->places[n++] = d->places[i];
        else
            tutti__places_free(&d->places[i]);
    }
    d->places_n = n;
    n = 0;
    for (int64_t i = 0; i < d->listed_n; i++)
        if (tutti__model_segment_id(&d->model, d->listed[i].segment) &&
            !tutti__model_archived(&d->model, d->listed[i].segment))
            d->listed[n++] = d->listed[i];
    d->listed_n = n;
}
