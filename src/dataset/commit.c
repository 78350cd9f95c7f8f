/* dataset: segments begin and are committed.
 *
 * A commit, in this order: all data is in the file; checksums; the trailer; all of that is on the device
 * (TUTTI_DURABLE); then one transaction of the database makes the segment part of the dataset, and those
 * that wait for the same commit.  Killed before its end, none of them is there, and their bytes are cut
 * off by the next writer.  A segment that waits is whole, with its trailer, since the next one lies
 * behind it; its rows are added to the database by the commit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/dataset_impl.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "comm/by_thread.h"

/* ---- where the next one lies */

/* Committed or not. */
static const tutti__segment_row *last_segment(const tutti_dataset *d) {
    if (d->now.under_way) return &d->now.segment;
    return d->model.segments_n > 0 ? &d->model.segments[d->model.segments_n - 1] : NULL;
}

static tutti_err begin_check(const tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                             double time) {
    const tutti__segment_row *last = last_segment(d);
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(kind == TUTTI_TOPOLOGY || kind == TUTTI_STATE, TUTTI_ERR_ARG,
                "segment kind %d is none", (int)kind);
    TUTTI_CHECK(!isnan(time), TUTTI_ERR_ARG, "the time is not a number");
    TUTTI_CHECK(!last || index > last->index || (index == last->index && (int)kind > last->kind),
                TUTTI_ERR_ARG, "time index %lld does not come after the last one, %lld",
                (long long)index, (long long)last->index);
    return TUTTI_OK;
}

static int64_t group_of(const tutti_dataset *d, int64_t index) {
    const int64_t n = d->opt.indices_per_file;
    const int64_t q = index / n;
    return index % n < 0 ? q - 1 : q;
}

/* Behind the last segment of the last file, or at the beginning of a new one.   Collective. */
static tutti_err place_choose(tutti_dataset *d, int64_t index, tutti__writing *w) {
    const tutti__model *m = &d->model;
    const tutti__segment_row *last = last_segment(d);
    const tutti__datafile *file = d->now.under_way ? &d->now.row
                                  : last           ? tutti__model_file_id(m, last->file)
                                                   : NULL;
    if (file && !d->now.under_way && !tutti__model_file_lives(m, file->id))
        file = NULL; /* it may be gone */
    if (file && d->opt.indices_per_file > 0 && group_of(d, index) != group_of(d, last->index))
        file = NULL;
    int continues = 1;
    if (file) TUTTI_TRY(d->container->continues(d, file, w->segment.kind, &continues));
    w->new_file = !file || !continues;
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
    return TUTTI_OK;
}

/* ---- rows of a commit that failed */

/* Rank 0, in a transaction: rows behind those of the last commit. */
static tutti_err rows_remove(tutti_dataset *d) {
    const tutti__model *m = &d->model;
    int64_t segment = 0, file = 0;
    for (int64_t i = 0; i < m->segments_n; i++) segment = tutti__max(segment, m->segments[i].id);
    for (int64_t i = 0; i < m->files_n; i++) file = tutti__max(file, m->files[i].id);
    while (++segment <= m->serial) {
        TUTTI_TRY(tutti__meta_remove_segment(d->meta, segment));
        TUTTI_TRY(tutti__meta_remove_file(d->meta, ++file)); /* at most one per segment */
    }
    return TUTTI_OK;
}

/* Rank 0. */
static tutti_err rows_undo(tutti_dataset *d) {
    TUTTI_TRY(tutti__meta_begin(d->meta));
    const tutti_err err = rows_remove(d);
    if (err == TUTTI_OK) return tutti__meta_commit(d->meta);
    tutti__meta_rollback(d->meta);
    return err;
}

/* ---- giving up */

/* Its bytes are gone; what came after it is gone already. */
static tutti_err bytes_remove(tutti_dataset *d, const tutti__writing *w) {
    if (w->new_file) {
        char path[4096];
        tutti__dataset_data_path(d, w->row.name, path, sizeof path);
        tutti_err err = tutti__dataset_file_close(d, &w->row);
        if (d->team->rank == 0 && unlink(path) != 0 && err == TUTTI_OK)
            err = tutti__error_sys(errno, -1, path);
        return tutti__dataset_agree(d, err);
    }
    return d->container->discard(d, w);
}

tutti_err tutti__dataset_give_up(tutti_dataset *d) {
    tutti_err err = TUTTI_OK;
    if (!d->now.under_way) return TUTTI_OK;
    if (d->has_rows && rows_undo(d) == TUTTI_OK) d->has_rows = 0; /* or with the next commit */
    for (int64_t i = d->waiting_n; i >= 0; i--) {
        const tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        err = TUTTI_ALSO(err, bytes_remove(d, w));
        tutti__model_sizes_drop(&d->model, w->segment.id);
    }
    tutti__writings_free(d);
    tutti__ncfile_free(&d->nc);
    tutti__dataset_forget(d);
    d->has_leftovers |= err != TUTTI_OK;
    return err;
}

static tutti_err none_started(const tutti_dataset *d) {
    for (int64_t i = 0; i < d->now.records_n; i++)
        TUTTI_CHECK(d->now.records[i]->outcome != TUTTI__PUT_UNKNOWN, TUTTI_ERR_STATE,
                    "a put has been started and not completed");
    return TUTTI_OK;
}

static tutti_err discard_check(const tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way, TUTTI_ERR_STATE, "no segment has begun");
    return none_started(d);
}

tutti_err tutti_dataset_discard(tutti_dataset *d) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "discard"};
    TUTTI_TRY(tutti__dataset_enter(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, discard_check(d)));
    return tutti__dataset_named(d, "discard", tutti__dataset_give_up(d));
}

/* ---- commit */

/* All sections of a segment have the bytes that were put. */
static tutti_err sections_check(const tutti_dataset *d, const tutti__writing *w) {
    for (int64_t i = 0; i < w->sections_n; i++) {
        const tutti__section_status is = tutti__section_status_of(&w->progress[i].state);
        const tutti__variable *v = tutti__model_variable_id(&d->model, w->sections[i].variable);
        const char *why = w->failed_sync ? "a sync failed" : "a put failed or was abandoned";
        if (is == TUTTI__SECTION_PARTIAL || is == TUTTI__SECTION_WHOLE) continue;
        TUTTI_CHECK(
            w == &d->now, TUTTI_ERR_STATE,
            "variable '%s' of a segment before begin_also is incomplete because %s: discard "
            "the segments",
            v->name, why);
        TUTTI_FAIL(TUTTI_ERR_STATE,
                   "variable '%s' is incomplete because %s: put it again with %s, or discard the "
                   "segment",
                   v->name, why,
                   w->failed_sync ? "all decompositions that it was put with, or as a whole"
                                  : "the same decomposition, or as a whole");
    }
    return TUTTI_OK;
}

static tutti_err commit_check(const tutti_dataset *d) {
    TUTTI_TRY(discard_check(d));
    for (int64_t i = 0; i < d->waiting_n; i++) TUTTI_TRY(sections_check(d, &d->waiting[i]));
    TUTTI_TRY(sections_check(d, &d->now));
    return d->container->commit_check(d);
}

/* Rank 0, in a transaction: what belongs to one segment. */
static tutti_err rows_of(tutti_dataset *d, const tutti__writing *w) {
    if (w->new_file) TUTTI_TRY(tutti__meta_add_file(d->meta, &w->row));
    for (int64_t i = 0; i < d->model.sizes_n; i++)
        if (d->model.sizes[i].segment == w->segment.id)
            TUTTI_TRY(tutti__meta_add_size(d->meta, &d->model.sizes[i]));
    for (int64_t i = 0; i < w->sections_n; i++)
        TUTTI_TRY(tutti__meta_add_section(d->meta, &w->sections[i]));
    return TUTTI_OK;
}

/* The same, of everything since the last commit; the row of the segment being written is missing. */
static tutti_err rows_add(tutti_dataset *d) {
    const tutti__writing *now = &d->now;
    if (d->has_rows) TUTTI_TRY(rows_remove(d));
    TUTTI_TRY(tutti__meta_add_fresh(d->meta, &d->model));
    for (int64_t i = 0; i < d->waiting_n; i++) {
        TUTTI_TRY(rows_of(d, &d->waiting[i]));
        TUTTI_TRY(tutti__meta_add_segment(d->meta, &d->waiting[i].segment));
    }
    TUTTI_TRY(rows_of(d, now));
    for (int64_t i = 0; i < now->infos_n; i++)
        TUTTI_TRY(tutti__meta_info_set(d->meta, &now->infos[i]));
    return tutti__meta_set(d->meta, "serial", now->segment.id);
}

/* What the steps of a commit pass on. */
typedef struct {
    tutti_dataset *dataset;
    int joined;      /* another segment of the same commit comes behind this one */
    uint64_t *table; /* of checksums, rank 0 */
    int64_t blocks;
} committing;

/* ---- the steps of a commit that take long, as jobs (comm/by_thread.h) */

/* The transaction up to its end, and what must be in the file before. */
static tutti_err prepare(void *context) {
    const committing *c = context;
    tutti_dataset *d = c->dataset;
    const tutti__trailer_spec spec = {c->table, c->blocks, c->joined, 1};
    if (d->now.has_tail) TUTTI_TRY(tutti__cut_here(d->now.file, d->now.end));
    TUTTI_TRY(tutti__meta_begin(d->meta));
    TUTTI_TRY(rows_add(d));
    for (int64_t i = 0; i < c->blocks; i++) c->table[i] = htole64(c->table[i]);
    return d->container->finish(d, &spec);
}

static tutti_err data_sync(void *context) {
    const committing *c = context;
    return tutti__sync_here(c->dataset->now.file);
}

static tutti_err directory_sync(void *context) {
    const committing *c = context;
    return tutti__meta_sync_directory(c->dataset->meta);
}

static tutti_err transaction_end(void *context) {
    const committing *c = context;
    return tutti__meta_commit(c->dataset->meta);
}

static tutti_err transaction_undo(void *context) {
    const committing *c = context;
    tutti__meta_rollback(c->dataset->meta);
    return TUTTI_OK;
}

static tutti_err publish(void *context) {
    const committing *c = context;
    return c->dataset->container->publish(c->dataset);
}

/* Publishing has failed: the rows that the database has already are removed. */
static tutti_err publish_undo(void *context) {
    const committing *c = context;
    return rows_undo(c->dataset);
}

static tutti__open_file *open_file_now(const tutti_dataset *d) {
    int64_t i = 0;
    while (d->files[i].id != d->now.row.id) i++;
    return &d->files[i];
}

/* By all ranks, or by rank 0 alone; all know how it went.   Collective. */
static tutti_err by_all(committing *c, tutti__job_fn *step) {
    return tutti__dataset_agree(c->dataset, tutti__by_thread(step, c));
}

static tutti_err by_root(committing *c, tutti__job_fn *step) {
    const int root = c->dataset->team->rank == 0;
    return tutti__dataset_agree(c->dataset, root ? tutti__by_thread(step, c) : TUTTI_OK);
}

/* ---- commit, blocking or started */

/* Everything that is now in the database is not fresh any more. */
static void model_settle(tutti_dataset *d) {
    for (int64_t i = 0; i < d->model.spaces_n; i++) d->model.spaces[i].fresh = 0;
    for (int64_t i = 0; i < d->model.variables_n; i++) d->model.variables[i].fresh = 0;
    for (int64_t i = 0; i < d->model.sizes_n; i++) d->model.sizes[i].fresh = 0;
}

/* Room for the rows of the model: they must not fail to be there once the database has them. */
static tutti_err model_room(tutti_dataset *d) {
    tutti__model *m = &d->model;
    int64_t segments = 0, files = 0;
    int full = 0;
    for (int64_t i = 0; i <= d->waiting_n && !full; i++) {
        const tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        full = !TUTTI__GROW(m, segments);
        segments += !full;
        if (full || !w->new_file) continue;
        full = !TUTTI__GROW(m, files);
        files += !full;
    }
    m->segments_n -= segments;
    m->files_n -= files;
    return full ? TUTTI_ERR_NOMEM : TUTTI_OK;
}

/* The segment being written is whole: sums and trailer are in the file, rows of all segments since the
 * last commit in a transaction of rank 0 that has not ended.   Collective. */
static tutti_err complete(committing *c) {
    tutti_dataset *d = c->dataset;
    const tutti__writing *w = &d->now;
    tutti__segment_row *g = &d->now.segment;
    tutti_err err = tutti__checksums_make(d, &c->table, &c->blocks);
    g->sections = (int)w->sections_n;
    d->container->end(d);
    if (err == TUTTI_OK) {
        err = by_root(c, prepare);
        d->now.has_tail = 1; /* the trailer */
    }
    if (err == TUTTI_OK) err = tutti__team_tell(tutti__dataset_team_now(d), g, (int)sizeof *g);
    tutti__free(c->table);
    return err;
}

static void undo(committing *c) {
    TUTTI_KEEP_LAST_ERROR;
    if (c->dataset->team->rank == 0) (void)!tutti__by_thread(transaction_undo, c);
}

static void uncount(committing *c) {
    TUTTI_KEEP_LAST_ERROR;
    const int root = c->dataset->team->rank == 0;
    const tutti_err undone = root ? tutti__by_thread(publish_undo, c) : TUTTI_OK;
    c->dataset->has_rows = undone != TUTTI_OK; /* the next writer sees that records are missing */
}

/* A sync has failed.  Also bytes of earlier segments may be lost, unless this handle has synced them before: the
 * message, the same on all ranks, names them. */
static void sync_failed(tutti_dataset *d) {
    tutti_error_info info = *tutti_last_error();
    int64_t first = -1, last = -1;
    char text[sizeof info.text];
    tutti__sections_sync_failed(d);
    for (int64_t i = 0; i < d->model.segments_n && !open_file_now(d)->is_synced; i++) {
        if (d->model.segments[i].file != d->now.row.id) continue;
        if (first < 0) first = i;
        last = i;
    }
    if (first < 0) return;
    snprintf(text, sizeof text,
             "%.200s; segments %lld to %lld of '%s' are damaged too if they were committed with "
             "level TUTTI_VISIBLE: verify them",
             info.text, (long long)first, (long long)last, d->now.row.name);
    memcpy(info.text, text, sizeof text);
    tutti__error_assign(&info);
}

static tutti_err data_durable(committing *c) {
    tutti_dataset *d = c->dataset;
    const tutti_err err = by_all(c, data_sync);
    if (err == TUTTI_OK)
        open_file_now(d)->is_synced = 1;
    else
        sync_failed(d);
    return err;
}

static int has_new_file(const tutti_dataset *d) {
    int new_file = d->now.new_file;
    for (int64_t i = 0; i < d->waiting_n; i++) new_file |= d->waiting[i].new_file;
    return new_file;
}

/* The outline: in a call that blocks, or in a fiber whose waits yield. */
static tutti_err commit(void *context) {
    tutti_dataset *d = context;
    committing c = {.dataset = d};
    const int durable = d->opt.level == TUTTI_DURABLE;
    tutti_err err = complete(&c);
    if (err == TUTTI_OK && durable) err = data_durable(&c);
    if (err == TUTTI_OK && durable && has_new_file(d)) err = by_root(&c, directory_sync);
    if (err == TUTTI_OK) err = by_root(&c, transaction_end);
    if (err != TUTTI_OK) undo(&c);
    if (err == TUTTI_OK && d->container->publish) {
        model_settle(d);
        err = by_root(&c, publish);
        if (err != TUTTI_OK) uncount(&c);
    }
    return tutti__dataset_named(d, "commit", err);
}

static void model_add(tutti__model *m, const tutti__writing *w) {
    m->segments[m->segments_n++] = w->segment;
    if (w->new_file) m->files[m->files_n++] = w->row;
}

/* All ranks have what rank 0 has in the database. */
static void committed(void *context, tutti_err outcome) {
    tutti_dataset *d = context;
    d->commit = NULL;
    if (outcome != TUTTI_OK) return;
    d->has_rows = 0;
    d->container->committed(d);
    for (int64_t i = 0; i < d->waiting_n; i++) model_add(&d->model, &d->waiting[i]);
    model_add(&d->model, &d->now);
    model_settle(d);
    tutti__writings_free(d);
}

tutti_err tutti_dataset_commit(tutti_dataset *d) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "commit"};
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = commit_check(d);
    if (err == TUTTI_OK) err = model_room(d);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    err = commit(d);
    committed(d, err);
    return err;
}

tutti_err tutti_dataset_commit_start(tutti_dataset *d, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "commit_start"};
    tutti_request *r = NULL;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = tutti__dataset_idle(d);
    if (err == TUTTI_OK) err = commit_check(d);
    if (err == TUTTI_OK && !r_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the request");
    if (err == TUTTI_OK) err = model_room(d);
    if (err == TUTTI_OK) {
        const tutti__task task = {"commit", d->now.file, commit, committed, d};
        err = tutti__task_make(&task, &r);
    }
    err = tutti__dataset_call(d, &same, err);
    if (err == TUTTI_OK && !d->aside)
        err =
            tutti__dataset_named(d, "commit_start", tutti__team_take(d->team->comm, "", &d->aside));
    if (err != TUTTI_OK) {
        tutti__task_drop(&r);
        return err;
    }
    TUTTI_ASSERT(r && r_out);
    d->commit = *r_out = r;
    tutti__task_start(r);
    return TUTTI_OK;
}

/* ---- begin */

static uint64_t begin_hash(tutti_segment_kind kind, int64_t index, double time) {
    const int64_t words[] = {(int64_t)kind, index};
    return tutti__hash(tutti__hash(TUTTI__HASH_START, words, sizeof words), &time, sizeof time);
}

/* The segment does not begin.  If the file cannot be removed, the next one of that name is emptied.   Collective. */
static void new_file_remove(tutti_dataset *d, const tutti__writing *w) {
    TUTTI_KEEP_LAST_ERROR;
    if (w->new_file && bytes_remove(d, w) != TUTTI_OK) d->has_leftovers = 1;
}

/* A segment behind the last one.   Collective. */
static tutti_err begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index, double time,
                       tutti__writing *out) {
    tutti__writing w = {.segment = {.kind = (int)kind, .index = index, .time = time}};
    w.segment.id = d->model.serial + 1;
    TUTTI_TRY(place_choose(d, index, &w));
    TUTTI_TRY(tutti__dataset_file(d, &w.row, w.new_file, &w.file));
    const int root = d->team->rank == 0;
    const tutti_err err = tutti__dataset_agree(d, root ? d->container->prepare(d, &w) : TUTTI_OK);
    if (err != TUTTI_OK) {
        new_file_remove(d, &w);
        return err;
    }
    if (!d->now.under_way) d->has_leftovers = 0;
    d->model.serial = w.segment.id; /* never given twice by this handle */
    w.under_way = 1;
    *out = w;
    return TUTTI_OK;
}

tutti_err tutti_dataset_begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                              double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti__call same = {.name = "begin",
                              .what = "the segment's kind, index or time",
                              .hash = begin_hash(kind, index, time)};
    tutti_err err = d->now.under_way
                        ? tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                                           "a segment has begun and was neither committed nor "
                                           "discarded")
                        : begin_check(d, kind, index, time);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    return tutti__dataset_named(d, "begin", begin(d, kind, index, time, &d->now));
}

/* The segment being written is whole and waits; the rows go into the database by the commit. */
static tutti_err put_aside(tutti_dataset *d) {
    committing c = {.dataset = d, .joined = 1};
    const tutti_err err = complete(&c);
    undo(&c);
    return err;
}

static tutti_err begin_also(tutti_dataset *d, tutti_segment_kind kind, int64_t index, double time) {
    tutti__writing w, *waiting = NULL;
    tutti__ncfile before = d->nc;
    TUTTI_TRY(put_aside(d));
    waiting = tutti__table_grow(&d->waiting, &d->waiting_n, sizeof *waiting);
    tutti_err err = waiting ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (waiting) d->waiting_n--;
    if (err == TUTTI_OK) err = d->container->set_aside(d, &d->nc);
    const int aside = err == TUTTI_OK;
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = begin(d, kind, index, time, &w);
    if (err == TUTTI_OK && d->opt.level == TUTTI_DURABLE && w.row.id != d->now.row.id) {
        err = data_durable(&(committing){.dataset = d}); /* the commit syncs the last file */
        if (err != TUTTI_OK) new_file_remove(d, &w);
    }
    if (aside) tutti__ncfile_free(err == TUTTI_OK ? &before : &d->nc);
    if (aside && err != TUTTI_OK) d->nc = before;
    TUTTI_TRY(err);
    w.infos = d->now.infos; /* the commit writes all of them */
    w.infos_n = d->now.infos_n;
    d->now.infos = NULL;
    d->now.infos_n = 0;
    d->waiting[d->waiting_n++] = d->now;
    d->now = w;
    return TUTTI_OK;
}

tutti_err tutti_dataset_begin_also(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                   double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti__call same = {.name = "begin_also",
                              .what = "the segment's kind, index or time",
                              .hash = begin_hash(kind, index, time)};
    tutti_err err = commit_check(d);
    if (err == TUTTI_OK) err = begin_check(d, kind, index, time);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    return tutti__dataset_named(d, "begin_also", begin_also(d, kind, index, time));
}
