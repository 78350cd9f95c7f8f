/* dataset: commit segments.
 *
 * A commit has these steps: complete all writes of data; write checksums and the trailer; sync the
 * file (TUTTI_DURABLE); then one transaction of the database adds the segment to the dataset,
 * together with the segments that wait for the same commit.  If the process is killed before the
 * end of the transaction, none of them is part of the dataset, and the next writer truncates their
 * bytes.  A segment that waits is complete, with its trailer, because the next segment follows it
 * in the file; the commit adds its rows to the database.  timestep/step_commit.h contains the
 * common steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "comm/by_thread.h"
#include "timestep/step_commit.h"

/* The result of a commit, which rank 0 broadcasts. */
typedef struct tutti__commit_message {
    tutti__commit_verdict verdict; /* must be first */
    tutti__segment_row segment;
    /* netCDF: the commit failed, and its rows could not be removed from the database */
    int64_t has_rows;
    uint64_t checksums[]; /* [sections] checksums */
} commit_message;

/* ---- checks and memory */

/* Check that all sections of a segment contain the data that was written to them. */
static tutti_err check_sections_complete(const tutti_dataset *d, const tutti__writing *w) {
    for (int64_t i = 0; i < w->sections_n; i++) {
        const tutti__section_status is = tutti__section_status_of(&w->progress[i].state);
        const tutti__variable *v = tutti__model_variable_id(&d->model, w->sections[i].variable);
        const char *why = w->failed_sync ? "a sync failed" : "a write failed or was abandoned";
        if (is == TUTTI__SECTION_PARTIAL || is == TUTTI__SECTION_WHOLE) continue;
        TUTTI_CHECK(
            w == &d->now, TUTTI_ERR_STATE,
            "variable '%s' of a segment before begin_also is incomplete because %s: discard "
            "the segments",
            v->name, why);
        TUTTI_FAIL(TUTTI_ERR_STATE,
                   "variable '%s' is incomplete because %s: write it again with %s, or discard the "
                   "segment",
                   v->name, why,
                   w->failed_sync ? "all decompositions used before, or as a whole"
                                  : "the same decomposition, or as a whole");
    }
    return TUTTI_OK;
}

tutti_err tutti__commit_check(const tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_discardable(d));
    for (int64_t i = 0; i < d->waiting_n; i++)
        TUTTI_TRY(check_sections_complete(d, &d->waiting[i]));
    TUTTI_TRY(check_sections_complete(d, &d->now));
    return d->container->commit_check(d);
}

static int message_size(const tutti_dataset *d) {
    return (int)(sizeof(commit_message) + (size_t)d->now.sections_n * sizeof(uint64_t));
}

/* Allocate the message that rank 0 broadcasts, and set the trailer and the end of the segment.
 * Not collective. */
static tutti_err reserve_message(tutti_dataset *d) {
    tutti__free(d->message);
    d->message = tutti__calloc(1, (size_t)message_size(d));
    if (!d->message) return TUTTI_ERR_NOMEM;
    d->now.segment.sections = (int)d->now.sections_n;
    d->container->end(d);
    return TUTTI_OK;
}

static tutti_err prepare_segments(tutti__step_object *o) {
    tutti_dataset *d = (tutti_dataset *)o;
    TUTTI_TRY(tutti__commit_check(d));
    /* Reserve rows of the model, since adding them must not fail after the database has them. */
    tutti__model *m = &d->model;
    const int64_t segments = m->segments_n, files = m->files_n;
    int fits = 1;
    for (int64_t i = 0; i <= d->waiting_n && fits; i++) {
        const tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        fits = TUTTI__GROW(m, segments) != NULL;
        if (fits && w->new_file) fits = TUTTI__GROW(m, files) != NULL;
    }
    m->segments_n = segments;
    m->files_n = files;
    TUTTI_TRY(fits ? TUTTI_OK : TUTTI_ERR_NOMEM);
    TUTTI_TRY(reserve_message(d));
    tutti__ncfile_free(&d->nc_next);
    return d->container->set_aside(d, &d->nc_next);
}

static void release_message(tutti__step_object *o) {
    tutti_dataset *d = (tutti_dataset *)o;
    tutti__free(d->message);
    d->message = NULL;
    tutti__ncfile_free(&d->nc_next);
}

/* ---- rows.   Rank 0 */

/* Remove the rows that are newer than the last commit, in a transaction. */
static tutti_err remove_uncommitted_rows(tutti_dataset *d) {
    const tutti__model *m = &d->model;
    int64_t segment = 0, file = 0;
    for (int64_t i = 0; i < m->segments_n; i++) segment = tutti__max(segment, m->segments[i].id);
    for (int64_t i = 0; i < m->files_n; i++) file = tutti__max(file, m->files[i].id);
    while (++segment <= m->serial) {
        TUTTI_TRY(tutti__meta_remove_segment(d->meta, segment));
        /* a segment has at most one new file */
        TUTTI_TRY(tutti__meta_remove_file(d->meta, ++file));
    }
    return TUTTI_OK;
}

static tutti_err undo_commit_rows(tutti_dataset *d) {
    TUTTI_TRY(tutti__meta_begin(d->meta));
    const tutti_err err = remove_uncommitted_rows(d);
    if (err == TUTTI_OK) return tutti__meta_commit(d->meta);
    tutti__meta_rollback(d->meta);
    return err;
}

void tutti__commit_rows_undo(tutti_dataset *d) {
    /* if this fails, the next commit removes the rows */
    if (d->has_rows && d->team->rank == 0 && undo_commit_rows(d) == TUTTI_OK) d->has_rows = 0;
}

/* Add the rows of one segment, in a transaction. */
static tutti_err add_segment_rows(tutti_dataset *d, const tutti__writing *w) {
    if (w->new_file) TUTTI_TRY(tutti__meta_add_file(d->meta, &w->row));
    for (int64_t i = 0; i < d->model.sizes_n; i++)
        if (d->model.sizes[i].segment == w->segment.id)
            TUTTI_TRY(tutti__meta_add_size(d->meta, &d->model.sizes[i]));
    for (int64_t i = 0; i < w->sections_n; i++)
        TUTTI_TRY(tutti__meta_add_section(d->meta, &w->sections[i]));
    return TUTTI_OK;
}

/* ---- the steps of rank 0 */

/* Set the checksums of sections, start the transaction, and write all data that must be in the file
 * before the transaction ends. */
static tutti_err finish_commit(tutti_dataset *d, uint64_t *table, int64_t n, int is_joined) {
    const tutti__trailer_spec spec = {table, n, is_joined, 1};
    tutti__writing *w = &d->now;
    int64_t first = 0;
    for (int64_t i = 0; table && i < w->sections_n; i++) {
        tutti__section *s = &w->sections[i];
        const int64_t blocks = tutti__blocks_of(s->start, s->bytes);
        s->sum = tutti__checksum_of_blocks(table + first, blocks);
        s->summed = 1;
        first += blocks;
    }
    for (int64_t i = 0; i < n; i++) table[i] = htole64(table[i]);
    if (w->tail) TUTTI_TRY(tutti__cut_here(w->file, w->tail));
    TUTTI_TRY(tutti__meta_begin(d->meta));
    /* Add the rows of all segments since the last commit, except the row of the current segment
     * itself. */
    const tutti__writing *now = &d->now;
    if (d->has_rows) TUTTI_TRY(remove_uncommitted_rows(d));
    TUTTI_TRY(tutti__meta_add_fresh(d->meta, &d->model));
    for (int64_t i = 0; i < d->waiting_n; i++) {
        TUTTI_TRY(add_segment_rows(d, &d->waiting[i]));
        TUTTI_TRY(tutti__meta_add_segment(d->meta, &d->waiting[i].segment));
    }
    TUTTI_TRY(add_segment_rows(d, now));
    for (int64_t i = 0; i < now->infos_n; i++)
        TUTTI_TRY(tutti__meta_info_set(d->meta, &now->infos[i]));
    TUTTI_TRY(tutti__meta_set(d->meta, "serial", now->segment.id));
    return d->container->finish(d, &spec);
}

static tutti_err finish_segment(void *dataset, uint64_t *table, int64_t n) {
    return finish_commit(dataset, table, n, 0);
}

static tutti_err finish_joined(void *dataset, uint64_t *table, int64_t n) {
    return finish_commit(dataset, table, n, 1);
}

/* Fill in the message that rank 0 broadcasts. */
static void fill_message(tutti_dataset *d) {
    d->message->segment = d->now.segment;
    for (int64_t i = 0; i < d->now.sections_n; i++)
        d->message->checksums[i] = d->now.sections[i].sum;
}

/* Record that all rows of the model are in the database. */
static void mark_model_stored(tutti_dataset *d) {
    for (int64_t i = 0; i < d->model.spaces_n; i++) d->model.spaces[i].fresh = 0;
    for (int64_t i = 0; i < d->model.variables_n; i++) d->model.variables[i].fresh = 0;
    for (int64_t i = 0; i < d->model.sizes_n; i++) d->model.sizes[i].fresh = 0;
}

/* Commit the transaction; containers with another commit point publish the segment afterwards. */
static tutti_err publish_segment(void *dataset) {
    tutti_dataset *d = dataset;
    int has_new_file = d->now.new_file;
    for (int64_t i = 0; i < d->waiting_n; i++) has_new_file |= d->waiting[i].new_file;
    if (d->opt.level == TUTTI_DURABLE && has_new_file)
        TUTTI_TRY(tutti__meta_sync_directory(d->meta));
    TUTTI_TRY(tutti__meta_commit(d->meta));
    fill_message(d);
    if (!d->container->publish) return TUTTI_OK;
    mark_model_stored(d);
    const tutti_err err = d->container->publish(d);
    if (err != TUTTI_OK) {
        TUTTI_KEEP_LAST_ERROR;
        /* if the rows remain, the next writer detects that their records are missing */
        d->message->has_rows = undo_commit_rows(d) != TUTTI_OK;
    }
    return err;
}

static tutti_err undo_transaction(void *dataset) {
    const tutti_dataset *d = dataset;
    tutti__meta_rollback(d->meta);
    return TUTTI_OK;
}

/* Undo the transaction of a segment that waits; the commit adds its rows again. */
static tutti_err publish_joined(void *dataset) {
    fill_message(dataset);
    return undo_transaction(dataset);
}

static const tutti__commit_steps WHOLE = {finish_segment, publish_segment, undo_transaction};
static const tutti__commit_steps JOINED = {finish_joined, publish_joined, undo_transaction};

/* ---- syncs */

static tutti__open_file *open_file_now(const tutti_dataset *d) {
    int64_t i = 0;
    while (d->files[i].id != d->now.row.id) i++;
    return &d->files[i];
}

/* Report a failed sync.  Data of earlier segments may also be lost, unless this handle has synced
 * it before; the message, which is the same on all ranks, names them. */
static void report_failed_sync(tutti_dataset *d) {
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
             "%.200s; segments %lld to %lld of '%s' may be damaged if they were committed with "
             "level TUTTI_VISIBLE: verify them",
             info.text, (long long)first, (long long)last, d->now.row.name);
    memcpy(info.text, text, sizeof text);
    tutti__error_assign(&info);
}

tutti_err tutti__commit_sync(tutti_dataset *d) {
    const tutti_err err = tutti__team_agree(d->team, tutti__sync_here(d->now.file));
    if (err == TUTTI_OK)
        open_file_now(d)->is_synced = 1;
    else
        report_failed_sync(d);
    return err;
}

/* ---- the commit */

/* Execute the steps of a commit, after its checks.   Collective on the team of the commit. */
static tutti_err run_commit_steps(tutti_dataset *d, tutti__team *team,
                                  const tutti__commit_steps *steps) {
    tutti__block_list blocks = {0};
    tutti__checksum *known = NULL;
    tutti__step_commit c = {.team = team,
                            .file = d->now.file,
                            .is_durable = steps == &WHOLE && d->opt.level == TUTTI_DURABLE,
                            .has_checksums = d->opt.checksums && d->now.sections_n > 0,
                            .steps = steps,
                            .step = d,
                            .verdict = &d->message->verdict,
                            .verdict_bytes = message_size(d)};
    if (c.has_checksums) {
        c.local_err = tutti__checksums_known(d, &blocks, &known, &c.known_n);
        c.blocks = &blocks;
        c.known = known;
    }
    const tutti_err err = tutti__step_commit_run(&c);
    d->now.tail = d->now.end; /* includes the trailer */
    if (err == TUTTI_OK) {
        d->now.segment = d->message->segment;
        for (int64_t i = 0; c.has_checksums && i < d->now.sections_n; i++) {
            d->now.sections[i].sum = d->message->checksums[i];
            d->now.sections[i].summed = 1;
        }
    }
    if (c.is_sync_failed)
        report_failed_sync(d);
    else if (err == TUTTI_OK && c.is_durable)
        open_file_now(d)->is_synced = 1;
    if (err != TUTTI_OK) d->has_rows |= d->message->has_rows != 0;
    tutti__blocks_free(&blocks);
    tutti__free(known);
    return err;
}

tutti_err tutti__commit_set_aside(tutti_dataset *d) {
    tutti_err err = tutti__team_agree(d->team, reserve_message(d));
    if (err == TUTTI_OK) err = run_commit_steps(d, d->team, &JOINED);
    release_message(&d->base);
    return err;
}

static void add_to_model(tutti__model *m, const tutti__writing *w) {
    m->segments[m->segments_n++] = w->segment;
    if (w->new_file) m->files[m->files_n++] = w->row;
}

/* Add the committed segments to the model of all ranks. */
static void add_segments_to_model(tutti__step_object *o, tutti_err outcome) {
    tutti_dataset *d = (tutti_dataset *)o;
    if (outcome == TUTTI_OK) {
        d->has_rows = 0;
        d->container->committed(d);
        for (int64_t i = 0; i < d->waiting_n; i++) add_to_model(&d->model, &d->waiting[i]);
        add_to_model(&d->model, &d->now);
        mark_model_stored(d);
        tutti__writings_free(d);
    }
    release_message(o);
}

static tutti_err compare_commit_calls(tutti__step_object *o, const char *name,
                                      tutti_err local_err) {
    return tutti__step_object_call(o, &(tutti__call){.name = name}, local_err);
}

static tutti_err commit_segments(tutti__step_object *o, tutti__team *team) {
    return run_commit_steps((tutti_dataset *)o, team, &WHOLE);
}

/* ---- the table for timestep/step_object.h */

static int is_dataset_valid(const tutti__step_object *o) {
    return tutti__dataset_is_valid((const tutti_dataset *)o);
}

static tutti_file *data_file_at(const tutti__step_object *o, int64_t i) {
    const tutti_dataset *d = (const tutti_dataset *)o;
    return i < d->files_n ? d->files[i].file : NULL;
}

static tutti_file *file_of_segment(const tutti__step_object *o) {
    return ((const tutti_dataset *)o)->now.file;
}

const tutti__step_kind tutti__dataset_kind = {.class = &tutti__dataset_class,
                                              .is_valid = is_dataset_valid,
                                              .file = data_file_at,
                                              .file_of_step = file_of_segment,
                                              .commit_prepare = prepare_segments,
                                              .commit_agree = compare_commit_calls,
                                              .commit_refuse = release_message,
                                              .commit_run = commit_segments,
                                              .commit_end = add_segments_to_model};

/* ---- public calls */

tutti_err tutti_dataset_commit(tutti_dataset *d) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    return tutti__step_object_commit(&d->base);
}

tutti_err tutti_dataset_commit_start(tutti_dataset *d, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    return tutti__step_object_commit_start(&d->base, r_out);
}
