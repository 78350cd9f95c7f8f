/* dataset: begin and discard segments.
 *
 * All ranks know the location of a segment without communication, and rank 0 prepares the file
 * before all ranks agree on the call.  Thus a segment that is appended to an open file begins with
 * one agreement.  Rank 0 creates a new data file, and then all ranks open it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- location of the next segment */

/* Return the last segment, committed or not, or NULL. */
static const tutti__segment_row *last_segment(const tutti_dataset *d) {
    if (d->now.under_way) return &d->now.segment;
    return d->model.segments_n > 0 ? &d->model.segments[d->model.segments_n - 1] : NULL;
}

static tutti_err begin_check(const tutti_dataset *d, const tutti__segment_row *g) {
    const tutti__segment_row *last = last_segment(d);
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(g->kind == TUTTI_TOPOLOGY || g->kind == TUTTI_STATE, TUTTI_ERR_ARG,
                "unknown segment kind %d", g->kind);
    TUTTI_CHECK(!isnan(g->time), TUTTI_ERR_ARG, "time of the segment is NaN");
    TUTTI_CHECK(!last || g->index > last->index ||
                    (g->index == last->index && g->kind > last->kind),
                TUTTI_ERR_ARG, "time index %lld is not greater than that of the last segment, %lld",
                (long long)g->index, (long long)last->index);
    return TUTTI_OK;
}

static int64_t file_group(const tutti_dataset *d, int64_t index) {
    const int64_t n = d->opt.indices_per_file;
    const int64_t q = index / n;
    return index % n < 0 ? q - 1 : q;
}

/* Return the file of the last segment if the next segment may be appended to it, or NULL if a new
 * file is needed. */
static const tutti__datafile *find_last_file(const tutti_dataset *d, int64_t index) {
    const tutti__model *m = &d->model;
    const tutti__segment_row *last = last_segment(d);
    const tutti__datafile *file = d->now.under_way ? &d->now.row
                                  : last           ? tutti__model_file_id(m, last->file)
                                                   : NULL;
    if (file && !d->now.under_way && !tutti__model_file_in_use(m, file->id)) return NULL;
    if (file && d->opt.indices_per_file > 0 && file_group(d, index) != file_group(d, last->index))
        return NULL;
    return file;
}

/* ---- discard */

/* Remove the bytes of a segment; those of later segments must already be removed.   Collective. */
static tutti_err remove_bytes(tutti_dataset *d, const tutti__writing *w) {
    if (!w->new_file) return d->container->discard(d, w);
    char path[4096];
    tutti__dataset_data_path(d, w->row.name, path, sizeof path);
    tutti_err err = tutti__dataset_file_close(d, &w->row);
    if (d->team->rank == 0 && unlink(path) != 0 && err == TUTTI_OK)
        err = tutti__error_sys(errno, -1, path);
    return tutti__team_agree(d->team, err);
}

tutti_err tutti__dataset_discard_begun(tutti_dataset *d) {
    tutti_err err = TUTTI_OK;
    if (!d->now.under_way) return TUTTI_OK;
    tutti__commit_rows_undo(d);
    for (int64_t i = d->waiting_n; i >= 0; i--) {
        const tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        err = TUTTI_ALSO(err, remove_bytes(d, w));
        tutti__model_sizes_drop(&d->model, w->segment.id);
    }
    tutti__writings_free(d);
    tutti__ncfile_free(&d->nc);
    tutti__dataset_clear_caches(d);
    d->has_leftovers |= err != TUTTI_OK;
    return err;
}

tutti_err tutti_dataset_discard(tutti_dataset *d) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "discard"};
    TUTTI_TRY(tutti__dataset_enter(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, tutti__dataset_discardable(d)));
    return tutti__dataset_named(d, "discard", tutti__dataset_discard_begun(d));
}

/* ---- begin */

static tutti__section_state *find_section_state(void *dataset, int64_t variable, int64_t part) {
    const tutti_dataset *d = dataset;
    const tutti__section *s = tutti__section_now(d, variable, part);
    return s ? &tutti__section_progress_of(d, s)->state : NULL;
}

/* Choose the location of the segment; rank 0 prepares its file if the file is open or new.   Not
 * collective. */
static tutti_err prepare_segment(tutti_dataset *d, const tutti__datafile *file, tutti__writing *w) {
    const int root = d->team->rank == 0;
    /* the segment begins after the last segment of its file, or at the beginning of a new file */
    const tutti__model *m = &d->model;
    w->new_file = !file || !d->container->continues(d, w->segment.kind);
    if (w->new_file) {
        w->row.id = d->now.row.id;
        for (int64_t i = 0; i < m->files_n; i++) w->row.id = tutti__max(w->row.id, m->files[i].id);
        w->row.id++;
        snprintf(w->row.name, sizeof w->row.name, "data-%06lld.%s", (long long)w->row.id,
                 d->container->extension);
    } else {
        w->row = *file;
    }
    w->segment.file = w->row.id;
    d->container->place(d, w);
    TUTTI_TRY(tutti__dataset_file_reserve(d));
    if (w->new_file) return root ? tutti__dataset_file_create(d, &w->row) : TUTTI_OK;
    w->file = tutti__dataset_file_find(d, &w->row);
    return root && w->file ? d->container->prepare(d, w) : TUTTI_OK;
}

/* Return whether the segment can be prepared without communication before all ranks agree on the
 * call. */
static int can_prepare(const tutti_dataset *d, const tutti__datafile *file) {
    return !file || d->container->is_known(d, file);
}

/* Remove the new file of a segment that does not begin.  If that fails, the next file of that name
 * is truncated.   Not collective if the file has not been opened. */
static void undo_prepare(tutti_dataset *d, const tutti__writing *w) {
    TUTTI_KEEP_LAST_ERROR;
    char path[4096];
    if (!w->new_file) return;
    if (tutti__dataset_file_find(d, &w->row)) {
        if (remove_bytes(d, w) != TUTTI_OK) d->has_leftovers = 1;
        return;
    }
    tutti__dataset_data_path(d, w->row.name, path, sizeof path);
    if (d->team->rank == 0) unlink(path);
}

/* Begin the segment, after all ranks have agreed on the call.   Collective, unless the segment is
 * prepared and its file is open. */
static tutti_err begin_agreed(tutti_dataset *d, const tutti__datafile *file, int is_prepared,
                              tutti__writing *w) {
    const int root = d->team->rank == 0;
    if (!is_prepared) {
        TUTTI_TRY(d->container->load(d, file));
        const tutti_err err = tutti__team_agree(d->team, prepare_segment(d, file, w));
        if (err != TUTTI_OK) undo_prepare(d, w);
        TUTTI_TRY(err);
    }
    if (w->file) return TUTTI_OK;
    tutti_err err = w->new_file ? tutti__dataset_file_open(d, &w->row, &w->file)
                                : tutti__dataset_file(d, &w->row, &w->file);
    if (err == TUTTI_OK && !w->new_file)
        err = tutti__team_agree(d->team, root ? d->container->prepare(d, w) : TUTTI_OK);
    if (err != TUTTI_OK) undo_prepare(d, w);
    return err;
}

/* Enter the state in which the segment can be written, after all ranks have prepared it. */
static void set_writing_state(tutti_dataset *d, tutti__writing *w) {
    if (!d->now.under_way) d->has_leftovers = 0;
    if (w->new_file) {
        tutti__ncfile_free(&d->nc);
        d->nc.file = w->row.id;
        d->nc.area = w->area;
    }
    d->model.serial = w->segment.id; /* this handle never assigns an id twice */
    w->under_way = 1;
    w->puts.state_of = find_section_state;
    w->puts.step = d;
}

static tutti__call describe_begin_call(const char *name, const tutti__segment_row *g) {
    const int64_t words[] = {g->kind, g->index};
    uint64_t hash = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    hash = tutti__hash(hash, &g->time, sizeof g->time);
    return (tutti__call){.name = name, .what = "the segment's kind, index or time", .hash = hash};
}

tutti_err tutti_dataset_begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                              double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__writing w = {
        .segment = {.id = d->model.serial + 1, .kind = (int)kind, .index = index, .time = time}};
    const tutti__call same = describe_begin_call("begin", &w.segment);
    const tutti__datafile *file = NULL;
    int is_prepared = 0;
    tutti_err err = d->now.under_way
                        ? tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                                           "a segment has begun and was neither committed nor "
                                           "discarded")
                        : begin_check(d, &w.segment);
    if (err == TUTTI_OK && !d->commit) {
        file = find_last_file(d, index);
        is_prepared = can_prepare(d, file);
        if (is_prepared) err = prepare_segment(d, file, &w);
    }
    err = tutti__dataset_call(d, &same, err);
    if (err != TUTTI_OK) {
        if (is_prepared) undo_prepare(d, &w);
        return err;
    }
    err = begin_agreed(d, file, is_prepared, &w);
    if (err == TUTTI_OK) {
        set_writing_state(d, &w);
        d->now = w;
    }
    return tutti__dataset_named(d, "begin", err);
}

/* ---- begin_also: the current segment is complete and is committed together with the next one */

/* Prepare the next segment while the one being written is still d->now.   Collective. */
static tutti_err begin_next_segment(tutti_dataset *d, tutti__writing *w) {
    const tutti__datafile *file = find_last_file(d, w->segment.index);
    const int is_prepared = can_prepare(d, file);
    tutti_err err =
        is_prepared ? tutti__team_agree(d->team, prepare_segment(d, file, w)) : TUTTI_OK;
    if (err != TUTTI_OK) undo_prepare(d, w);
    if (err == TUTTI_OK) err = begin_agreed(d, file, is_prepared, w);
    if (err == TUTTI_OK && d->opt.level == TUTTI_DURABLE && w->row.id != d->now.row.id) {
        err = tutti__commit_sync(d); /* the commit syncs the last file */
        if (err != TUTTI_OK) undo_prepare(d, w);
    }
    return err;
}

static tutti_err begin_also(tutti_dataset *d, tutti__writing *w) {
    tutti__ncfile before = d->nc;
    TUTTI_TRY(tutti__commit_set_aside(d));
    tutti__writing *waiting = tutti__table_grow(&d->waiting, &d->waiting_n, sizeof *waiting);
    tutti_err err = waiting ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (waiting) d->waiting_n--;
    if (err == TUTTI_OK) err = d->container->set_aside(d, &d->nc);
    const int has_copy = err == TUTTI_OK;
    err = tutti__team_agree(d->team, err);
    w->segment.id = d->model.serial + 1;
    if (err == TUTTI_OK) err = begin_next_segment(d, w);
    if (has_copy) tutti__ncfile_free(err == TUTTI_OK ? &before : &d->nc);
    if (has_copy && err != TUTTI_OK) d->nc = before;
    TUTTI_TRY(err);
    set_writing_state(d, w);
    w->infos = d->now.infos; /* the commit writes the infos of all segments */
    w->infos_n = d->now.infos_n;
    d->now.infos = NULL;
    d->now.infos_n = 0;
    d->waiting[d->waiting_n++] = d->now;
    d->now = *w;
    return TUTTI_OK;
}

tutti_err tutti_dataset_begin_also(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                   double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__writing w = {.segment = {.kind = (int)kind, .index = index, .time = time}};
    const tutti__call same = describe_begin_call("begin_also", &w.segment);
    tutti_err err = tutti__commit_check(d);
    if (err == TUTTI_OK) err = begin_check(d, &w.segment);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    return tutti__dataset_named(d, "begin_also", begin_also(d, &w));
}
