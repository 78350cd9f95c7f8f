/* dataset: segments come and go.
 *
 * A commit, in this order: all data is in the file; checksums; the trailer; all of that is on the device
 * (TUTTI_DURABLE); then one transaction of the database makes the segment part of the dataset.  Killed
 * before its end, the segment is not there, and its bytes are cut off by the next writer.
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

/* ---- begin */

static const tutti__segment_row *last_segment(const tutti__model *m) {
    return m->segments_n > 0 ? &m->segments[m->segments_n - 1] : NULL;
}

static tutti_err begin_check(const tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                             double time) {
    const tutti__segment_row *last = last_segment(&d->model);
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(kind == TUTTI_TOPOLOGY || kind == TUTTI_STATE, TUTTI_ERR_ARG,
                "segment kind %d is none", (int)kind);
    TUTTI_CHECK(!isnan(time), TUTTI_ERR_ARG, "the time is not a number");
    TUTTI_CHECK(!d->now.under_way, TUTTI_ERR_STATE,
                "a segment has begun and was neither committed nor discarded");
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

/* Behind the last segment of the last file, or at the beginning of a new one. */
static void place_choose(const tutti_dataset *d, int64_t index, tutti__writing *w) {
    const tutti__model *m = &d->model;
    const tutti__segment_row *last = last_segment(m);
    const tutti__datafile *file = last ? tutti__model_file_id(m, last->file) : NULL;
    if (file && !tutti__model_file_lives(m, file->id)) file = NULL; /* it may be gone */
    if (file && d->opt.indices_per_file > 0 && group_of(d, index) != group_of(d, last->index))
        file = NULL;
    w->new_file = !file;
    if (file) {
        w->row = *file;
        w->segment.start = TUTTI__SEGMENT_ALIGN;
        for (int64_t i = 0; i < m->segments_n; i++)
            if (m->segments[i].file == file->id)
                w->segment.start = tutti__max(w->segment.start, m->segments[i].end);
        w->segment.start = tutti__align_up(w->segment.start, TUTTI__SEGMENT_ALIGN);
    } else {
        for (int64_t i = 0; i < m->files_n; i++) w->row.id = tutti__max(w->row.id, m->files[i].id);
        w->row.id++;
        snprintf(w->row.name, sizeof w->row.name, "data-%06lld.tutti", (long long)w->row.id);
        w->segment.start = TUTTI__SEGMENT_ALIGN;
    }
    w->segment.file = w->row.id;
    w->end = w->segment.start;
}

static tutti_err bytes_write(tutti_file *f, tutti_off at, tutti_off bytes, const void *data) {
    tutti_access *access = NULL;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_write_independent(f, access, data, NULL);
    tutti_access_free(&access);
    return err;
}

void tutti__datafile_head(char head[TUTTI__SEGMENT_ALIGN]) {
    static const char magic[9] = {'T', 'U', 'T', 'T', 'I', 'D', 'A', 'T', TUTTI__FORMAT_VERSION};
    memset(head, 0, TUTTI__SEGMENT_ALIGN);
    memcpy(head, magic, sizeof magic);
}

static tutti_err header_write(tutti_file *f) {
    char *head = tutti__malloc(TUTTI__SEGMENT_ALIGN);
    if (!head) return TUTTI_ERR_NOMEM;
    tutti__datafile_head(head);
    const tutti_err err = bytes_write(f, 0, TUTTI__SEGMENT_ALIGN, head);
    tutti__free(head);
    return err;
}

tutti_err tutti_dataset_begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                              double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_live(d));
    tutti__dataset_same same = {"begin", "the segment's kind, index or time", 0};
    const int64_t words[] = {(int64_t)kind, index};
    same.hash = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    same.hash = tutti__hash(same.hash, &time, sizeof time);
    TUTTI_TRY(tutti__dataset_call(d, &same, begin_check(d, kind, index, time)));
    tutti__writing w = {.segment = {.kind = (int)kind, .index = index, .time = time}};
    w.segment.id = d->model.serial + 1;
    place_choose(d, index, &w);
    tutti_err err = tutti__dataset_file(d, &w.row, w.new_file, &w.file);
    if (err == TUTTI_OK && w.new_file)
        err = tutti__dataset_agree(d, d->team->rank == 0 ? header_write(w.file) : TUTTI_OK);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "begin", err);
    d->model.serial = w.segment.id; /* never given twice by this handle */
    w.under_way = 1;
    d->now = w;
    return TUTTI_OK;
}

/* ---- giving up */

static void sizes_drop(tutti__model *m, int64_t segment) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->sizes_n; i++)
        if (m->sizes[i].segment != segment) m->sizes[n++] = m->sizes[i];
    m->sizes_n = n;
}

tutti_err tutti__dataset_give_up(tutti_dataset *d) {
    tutti__writing *w = &d->now;
    tutti_err err = TUTTI_OK;
    if (!w->under_way) return TUTTI_OK;
    if (w->new_file) {
        char path[4096];
        tutti__dataset_data_path(d, w->row.name, path, sizeof path);
        err = tutti__dataset_file_close(d, &w->row);
        if (d->team->rank == 0 && unlink(path) != 0 && err == TUTTI_OK)
            err = tutti__error_sys(errno, -1, path);
        err = tutti__dataset_agree(d, err);
    } else {
        err = tutti_file_resize(w->file, w->segment.start);
    }
    const tutti_error_info why = *tutti_last_error();
    sizes_drop(&d->model, w->segment.id);
    tutti__writing_free(d);
    tutti__dataset_forget(d);
    if (err != TUTTI_OK) tutti__error_assign(&why);
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
    const tutti__dataset_same same = {"discard", "nothing", 0};
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, discard_check(d)));
    return tutti__dataset_named(d, "discard", tutti__dataset_give_up(d));
}

/* ---- commit */

static tutti_err commit_check(const tutti_dataset *d) {
    TUTTI_TRY(discard_check(d));
    for (int64_t i = 0; i < d->now.sections_n; i++) {
        const int64_t r = d->now.states[i].record;
        const tutti__variable *v = tutti__model_variable_id(&d->model, d->now.sections[i].variable);
        TUTTI_CHECK(r >= 0 && d->now.records[r]->outcome == TUTTI_OK, TUTTI_ERR_STATE,
                    "'%s' could not be put: put it again, or discard the segment", v->name);
    }
    return TUTTI_OK;
}

/* Rank 0, in a transaction: all rows of the segment. */
static tutti_err rows_add(tutti_dataset *d) {
    const tutti__writing *w = &d->now;
    TUTTI_TRY(tutti__meta_add_fresh(d->meta, &d->model));
    if (w->new_file) TUTTI_TRY(tutti__meta_add_file(d->meta, &w->row));
    for (int64_t i = 0; i < d->model.sizes_n; i++)
        if (d->model.sizes[i].segment == w->segment.id)
            TUTTI_TRY(tutti__meta_add_size(d->meta, &d->model.sizes[i]));
    for (int64_t i = 0; i < w->sections_n; i++)
        TUTTI_TRY(tutti__meta_add_section(d->meta, &w->sections[i]));
    for (int64_t i = 0; i < w->infos_n; i++) TUTTI_TRY(tutti__meta_info_set(d->meta, &w->infos[i]));
    return tutti__meta_set(d->meta, "serial", w->segment.id);
}

/* Sums, rows, and at the very end the footer.  The segment's own row has the end of the trailer, which
 * depends on the length of the rows: numbers are of one length there. */
static tutti_err trailer_make(tutti_dataset *d, tutti__segment_row *g, const uint64_t *table,
                              int64_t blocks, char **out) {
    char *rows = NULL;
    size_t bytes = 0;
    TUTTI_TRY(tutti__meta_add_segment(d->meta, g));
    TUTTI_TRY(tutti__meta_rows(d->meta, g->id, &rows, &bytes));
    tutti__free(rows);
    rows = NULL;
    g->end = tutti__align_up(g->trailer + 8 * blocks + (tutti_off)bytes +
                                 (tutti_off)sizeof(tutti__footer),
                             TUTTI__SEGMENT_ALIGN);
    TUTTI_TRY(tutti__meta_end_segment(d->meta, g->id, g->end));
    TUTTI_TRY(tutti__meta_rows(d->meta, g->id, &rows, &bytes));
    const size_t size = (size_t)(g->end - g->trailer), sums = (size_t)(8 * blocks);
    char *buf = tutti__calloc(1, size);
    if (buf) {
        for (int64_t i = 0; i < blocks; i++) {
            const uint64_t le = htole64(table[i]);
            memcpy(buf + 8 * i, &le, sizeof le);
        }
        memcpy(buf + sums, rows, bytes);
        tutti__footer foot = {.version = htole64(TUTTI__FORMAT_VERSION),
                              .start = htole64((uint64_t)g->start),
                              .trailer = htole64((uint64_t)g->trailer),
                              .blocks = htole64((uint64_t)blocks),
                              .rows = htole64((uint64_t)bytes),
                              .sum = htole64(tutti__sum_of(buf, sums + bytes))};
        memcpy(foot.magic, TUTTI__FOOTER_MAGIC, sizeof foot.magic);
        memcpy(buf + size - sizeof foot, &foot, sizeof foot);
    }
    tutti__free(rows);
    *out = buf;
    return buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* ---- the steps of a commit that take long, as jobs (comm/by_thread.h) */

typedef struct {
    tutti_dataset *dataset;
    uint64_t *table; /* of checksums, rank 0 */
    int64_t blocks;
} committing;

/* The transaction up to its end, and the trailer in the file. */
static tutti_err prepare(void *context) {
    const committing *c = context;
    tutti_dataset *d = c->dataset;
    tutti__segment_row *g = &d->now.segment;
    char *buf = NULL;
    TUTTI_TRY(tutti__meta_begin(d->meta));
    tutti_err err = rows_add(d);
    if (err == TUTTI_OK) err = trailer_make(d, g, c->table, c->blocks, &buf);
    if (err == TUTTI_OK) err = bytes_write(d->now.file, g->trailer, g->end - g->trailer, buf);
    tutti__free(buf);
    return err;
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
    const tutti__segment_row *row = TUTTI__GROW(m, segments);
    if (!row) return TUTTI_ERR_NOMEM;
    m->segments_n--;
    if (!d->now.new_file) return TUTTI_OK;
    const tutti__datafile *file = TUTTI__GROW(m, files);
    if (!file) return TUTTI_ERR_NOMEM;
    m->files_n--;
    return TUTTI_OK;
}

/* The outline: in a call that blocks, or in a fiber whose waits yield. */
static tutti_err commit(void *context) {
    tutti_dataset *d = context;
    tutti__writing *w = &d->now;
    tutti__segment_row *g = &w->segment;
    committing c = {.dataset = d};
    const int durable = d->opt.level == TUTTI_DURABLE;
    tutti_err err = tutti__checksums_make(d, &c.table, &c.blocks);
    g->sections = (int)w->sections_n;
    g->trailer = tutti__align_up(w->end, TUTTI__SECTION_ALIGN);
    g->end = g->trailer + TUTTI__SEGMENT_ALIGN;
    if (err == TUTTI_OK) err = by_root(&c, prepare);
    if (err == TUTTI_OK) err = tutti__team_tell(tutti__dataset_team_now(d), g, (int)sizeof *g);
    if (err == TUTTI_OK && durable) err = by_all(&c, data_sync);
    if (err == TUTTI_OK && durable && w->new_file) err = by_root(&c, directory_sync);
    if (err == TUTTI_OK) err = by_root(&c, transaction_end);
    if (err != TUTTI_OK) {
        const tutti_error_info why = *tutti_last_error();
        if (d->team->rank == 0 && tutti__by_thread(transaction_undo, &c) == TUTTI_OK)
            tutti__error_assign(&why);
    }
    tutti__free(c.table);
    return tutti__dataset_named(d, "commit", err);
}

/* All ranks have what rank 0 has in the database. */
static void committed(void *context, tutti_err outcome) {
    tutti_dataset *d = context;
    tutti__model *m = &d->model;
    d->commit = NULL;
    if (outcome != TUTTI_OK) return;
    m->segments[m->segments_n++] = d->now.segment;
    if (d->now.new_file) m->files[m->files_n++] = d->now.row;
    model_settle(d);
    tutti__writing_free(d);
}

tutti_err tutti_dataset_commit(tutti_dataset *d) {
    TUTTI_KEEP_ERRNO;
    const tutti__dataset_same same = {"commit", "nothing", 0};
    TUTTI_TRY(tutti__dataset_live(d));
    tutti_err err = commit_check(d);
    if (err == TUTTI_OK) err = model_room(d);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    err = commit(d);
    committed(d, err);
    return err;
}

tutti_err tutti_dataset_commit_start(tutti_dataset *d, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__dataset_same same = {"commit_start", "nothing", 0};
    tutti_request *r = NULL;
    TUTTI_TRY(tutti__dataset_live(d));
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

/* ---- taking away */

tutti_err tutti__dataset_reclaim(const tutti_dataset *d) {
    for (int64_t i = 0; i < d->model.files_n; i++) {
        const tutti__datafile *f = &d->model.files[i];
        tutti_off end = TUTTI__SEGMENT_ALIGN;
        char path[4096];
        struct stat st;
        for (int64_t j = 0; j < d->model.segments_n; j++) {
            const tutti__segment_row *g = &d->model.segments[j];
            if (g->file == f->id && !tutti__model_archived(&d->model, g->id))
                end = tutti__max(end, g->end);
        }
        tutti__dataset_data_path(d, f->name, path, sizeof path);
        if (!tutti__model_file_lives(&d->model, f->id)) { /* all of it is archived */
            if (unlink(path) != 0 && errno != ENOENT) return tutti__error_sys(errno, -1, path);
            continue;
        }
        if (lstat(path, &st) != 0) return tutti__error_sys(errno, -1, path);
        TUTTI_CHECK(S_ISREG(st.st_mode), TUTTI_ERR_FORMAT, "'%s' is no file", f->name);
        TUTTI_CHECK(st.st_size >= end, TUTTI_ERR_FORMAT,
                    "'%s' has %lld bytes, but its segments end at %lld", f->name,
                    (long long)st.st_size, (long long)end);
        if (st.st_size > end && truncate(path, end) != 0) return tutti__error_sys(errno, end, path);
    }
    return TUTTI_OK;
}

static int file_in_use(const tutti__model *m, int64_t file, const unsigned char *goes) {
    for (int64_t i = 0; i < m->segments_n; i++)
        if (!goes[i] && m->segments[i].file == file) return 1;
    return 0;
}

/* Rank 0: one transaction. */
static tutti_err rows_remove(tutti_dataset *d, const unsigned char *goes) {
    const tutti__model *m = &d->model;
    TUTTI_TRY(tutti__meta_begin(d->meta));
    tutti_err err = TUTTI_OK;
    for (int64_t i = 0; i < m->segments_n && err == TUTTI_OK; i++)
        if (goes[i]) err = tutti__meta_remove_segment(d->meta, m->segments[i].id);
    for (int64_t i = 0; i < m->files_n && err == TUTTI_OK; i++)
        if (!file_in_use(m, m->files[i].id, goes))
            err = tutti__meta_remove_file(d->meta, m->files[i].id);
    if (err == TUTTI_OK) err = tutti__meta_set(d->meta, "generation", m->generation + 1);
    if (err == TUTTI_OK) return tutti__meta_commit(d->meta);
    const tutti_error_info why = *tutti_last_error();
    tutti__meta_rollback(d->meta);
    tutti__error_assign(&why);
    return err;
}

/* Take segments away: first from the database, then from the disk.   Collective. */
static tutti_err segments_remove(tutti_dataset *d, const unsigned char *goes) {
    tutti__model *m = &d->model;
    char path[4096];
    tutti_err err = d->team->rank == 0 ? rows_remove(d, goes) : TUTTI_OK;
    TUTTI_TRY(tutti__dataset_agree(d, err));
    for (int64_t i = m->files_n - 1; i >= 0; i--) {
        if (file_in_use(m, m->files[i].id, goes)) continue;
        const tutti__datafile row = m->files[i];
        const tutti_err got = tutti__dataset_file_close(d, &row);
        tutti__dataset_data_path(d, row.name, path, sizeof path);
        if (d->team->rank == 0) unlink(path); /* or the next writer does */
        if (err == TUTTI_OK) err = got;
        memmove(&m->files[i], &m->files[i + 1], (size_t)(m->files_n - i - 1) * sizeof *m->files);
        m->files_n--;
    }
    int64_t n = 0;
    for (int64_t i = 0; i < m->segments_n; i++) {
        if (goes[i])
            sizes_drop(m, m->segments[i].id);
        else
            m->segments[n++] = m->segments[i];
    }
    m->segments_n = n;
    n = 0;
    for (int64_t i = 0; i < m->archived_n; i++)
        if (tutti__model_segment_id(m, m->archived[i].segment)) m->archived[n++] = m->archived[i];
    m->archived_n = n;
    for (int64_t i = 0; i < m->files_n; i++) /* what is left of them is archived */
        if (!tutti__model_file_lives(m, m->files[i].id)) {
            const tutti_err got = tutti__dataset_file_close(d, &m->files[i]);
            if (err == TUTTI_OK) err = got;
        }
    m->generation++;
    tutti__dataset_forget(d);
    const tutti_err cut =
        tutti__dataset_agree(d, d->team->rank == 0 ? tutti__dataset_reclaim(d) : TUTTI_OK);
    return err != TUTTI_OK ? err : cut;
}

static tutti_err away_check(const tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(!d->now.under_way, TUTTI_ERR_STATE,
                "a segment has begun and was neither committed nor discarded");
    for (int64_t i = 0; i < d->files_n; i++) TUTTI_TRY(tutti__requests_none(d->files[i].file));
    return TUTTI_OK;
}

static tutti_err erase_check(const tutti_dataset *d, tutti_count segment) {
    TUTTI_TRY(away_check(d));
    if (segment == -1) return TUTTI_OK;
    return tutti__dataset_segment_check(d, segment);
}

tutti_err tutti_dataset_erase_after(tutti_dataset *d, tutti_count segment) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_live(d));
    const tutti__dataset_same same = {"erase", "the segment",
                                      tutti__hash(TUTTI__HASH_START, &segment, sizeof segment)};
    TUTTI_TRY(tutti__dataset_call(d, &same, erase_check(d, segment)));
    if (segment == d->model.segments_n - 1) return TUTTI_OK;
    unsigned char *goes = tutti__calloc((size_t)d->model.segments_n + 1, 1);
    tutti_err err = tutti__dataset_agree(d, goes ? TUTTI_OK : TUTTI_ERR_NOMEM);
    for (int64_t i = segment + 1; err == TUTTI_OK && i < d->model.segments_n; i++) goes[i] = 1;
    if (err == TUTTI_OK) err = segments_remove(d, goes);
    tutti__free(goes);
    return tutti__dataset_named(d, "erase", err);
}

/* Rank 0: segments that later ones need stay: who set sizes, who has lists of entries. */
static tutti_err needed_stay(tutti_dataset *d, int64_t first_kept, unsigned char *goes) {
    const tutti__model *m = &d->model;
    int64_t *lists = NULL, n = 0;
    if (first_kept < m->segments_n) {
        const int64_t id = m->segments[first_kept].id;
        for (int64_t i = 0; i < m->spaces_n; i++) {
            const tutti__size *z = tutti__model_size(m, m->spaces[i].id, id);
            const tutti__segment_row *g = z ? tutti__model_segment_id(m, z->segment) : NULL;
            if (g) goes[g - m->segments] = 0;
        }
        const tutti_err err = tutti__meta_list_segments(d->meta, id, &lists, &n);
        for (int64_t i = 0; i < n && err == TUTTI_OK; i++) {
            const tutti__segment_row *g = tutti__model_segment_id(m, lists[i]);
            if (g) goes[g - m->segments] = 0;
        }
        tutti__free(lists);
        return err;
    }
    return TUTTI_OK;
}

static tutti_err drop_check(const tutti_dataset *d, int keep) {
    TUTTI_TRY(away_check(d));
    TUTTI_CHECK(keep >= 0, TUTTI_ERR_ARG, "%d files to keep", keep);
    return TUTTI_OK;
}

tutti_err tutti_dataset_drop_oldest(tutti_dataset *d, int keep) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_live(d));
    const tutti__dataset_same same = {"drop", "how many files to keep",
                                      tutti__hash(TUTTI__HASH_START, &keep, sizeof keep)};
    const tutti__model *m = &d->model;
    TUTTI_TRY(tutti__dataset_call(d, &same, drop_check(d, keep)));
    if (m->files_n <= keep) return TUTTI_OK;
    const int64_t last = m->files[m->files_n - keep - 1].id; /* the newest file that goes */
    unsigned char *goes = tutti__calloc((size_t)m->segments_n + 1, 1);
    int64_t first_kept = 0;
    tutti_err err = tutti__dataset_agree(d, goes ? TUTTI_OK : TUTTI_ERR_NOMEM);
    for (; err == TUTTI_OK && first_kept < m->segments_n && m->segments[first_kept].file <= last;
         first_kept++)
        goes[first_kept] = 1;
    if (err == TUTTI_OK && d->team->rank == 0) err = needed_stay(d, first_kept, goes);
    if (goes) err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = tutti__team_tell(d->team, goes, (int)m->segments_n);
    if (err == TUTTI_OK) err = segments_remove(d, goes);
    tutti__free(goes);
    return tutti__dataset_named(d, "drop", err);
}
