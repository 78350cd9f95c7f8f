/* archive: archive and restore segments.
 *
 *   archive   compare checksums, copy, sync, read back and compare; one transaction records that
 *             the segments are archived; then their bytes are freed: a data file without other
 *             segments is removed, others get holes
 *   restore   compare, copy the bytes to their data files, sync, read back and compare; one
 *             transaction records that they are restored
 *
 * If the process is killed at any time, the database refers to a complete copy; the next call
 * uses or ignores copies elsewhere.  Segments of an archive in a directory are distributed to the
 * ranks; rank 0 handles a stream.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "archive/archive_copy.h"
#include "metadata/content.h"
#include "archive/tar.h"

static void free_archiving(tutti__archiving *k) {
    tutti__free(k->segment);
    tutti__free(k->rows);
}

static int is_local_segment(const tutti_dataset *d, const tutti__archiving *k, int64_t i) {
    return k->directory ? i % d->team->size == d->team->rank : d->team->rank == 0;
}

/* ---- selection of segments */

static tutti_err check_range(const tutti_dataset *d, tutti_count first, tutti_count last) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(!d->container->archive_error, TUTTI_ERR_UNSUPPORTED, "%s",
                d->container->archive_error);
    TUTTI_CHECK(!d->now.under_way, TUTTI_ERR_STATE,
                "a segment has begun and was neither committed nor discarded");
    for (int64_t i = 0; i < d->files_n; i++) TUTTI_TRY(tutti__requests_none(d->files[i].file));
    TUTTI_TRY(tutti__dataset_segment_check(d, first));
    TUTTI_TRY(tutti__dataset_segment_check(d, last));
    TUTTI_CHECK(first <= last, TUTTI_ERR_ARG,
                "first is %lld and last is %lld: first must be <= last", (long long)first,
                (long long)last);
    return TUTTI_OK;
}

/* On rank 0, select the states of the range that are archived (if `archived`), or else those that
 * are not archived and that no other segment needs. */
static tutti_err select_segments(const tutti_dataset *d, tutti_count first, tutti_count last,
                                 int archived, unsigned char *is_selected) {
    int64_t *needed = NULL, n = 0;
    const tutti_err err = archived ? TUTTI_OK : tutti__meta_lists_shared(d->meta, &needed, &n);
    for (tutti_count i = first; i <= last && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        is_selected[i] =
            g->kind == TUTTI_STATE && (tutti__model_archived(&d->model, g->id) != NULL) == archived;
        for (int64_t k = 0; k < n; k++) is_selected[i] &= needed[k] != g->id;
    }
    tutti__free(needed);
    return err;
}

/* Open the call and select the segments.   Collective. */
static tutti_err begin_archive_call(tutti_dataset *d, tutti__archiving *k, tutti_count first,
                                    tutti_count last, int archived, tutti_err err) {
    uint64_t hash = tutti__hash(TUTTI__HASH_START, &first, sizeof first);
    k->path = d->path;
    k->model = &d->model;
    hash = tutti__hash(hash, &last, sizeof last);
    hash = tutti__hash_text(hash, k->directory);
    const tutti__call same = {
        .name = k->name, .what = "the segments or the location", .hash = hash};
    if (err == TUTTI_OK) err = check_range(d, first, last);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    const int64_t all = d->model.segments_n;
    unsigned char *is_selected = tutti__calloc((size_t)all + 1, 1);
    err = is_selected ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && d->team->rank == 0)
        err = select_segments(d, first, last, archived, is_selected);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, is_selected, (int)all);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(is_selected);
        k->segment = tutti__malloc((size_t)all * sizeof *k->segment + 1);
        k->rows = tutti__calloc((size_t)all + 1, sizeof *k->rows);
        for (int64_t i = 0; k->segment && k->rows && i < all; i++) {
            if (!is_selected[i]) continue;
            const tutti__archived *a = tutti__model_archived(&d->model, d->model.segments[i].id);
            if (a) k->rows[k->n] = *a;
            k->rows[k->n].segment = d->model.segments[i].id;
            k->segment[k->n++] = i;
        }
        err = tutti__team_agree(d->team, k->segment && k->rows ? TUTTI_OK : TUTTI_ERR_NOMEM);
    }
    tutti__free(is_selected);
    return err;
}

/* ---- archive */

/* Copy all segments to the directory, each on one rank.   Collective. */
static tutti_err copy_to_directory(tutti_dataset *d, tutti__archiving *k) {
    const int root = d->team->rank == 0;
    tutti_err err = TUTTI_OK;
    if (root && mkdir(k->directory, 0777) != 0 && errno != EEXIST)
        err = tutti__error_sys(errno, -1, k->directory);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++)
        if (is_local_segment(d, k, i)) err = tutti__archive_copy(k, i);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    /* the rank that copied the segment has its checksum, others have 0 */
    for (int64_t i = 0; i < k->n; i++) {
        int64_t sum = (int64_t)k->rows[i].sum;
        TUTTI_TRY(tutti__team_sum(d->team, &sum, 1));
        k->rows[i].sum = (uint64_t)sum;
    }
    if (root) err = tutti__directory_sync(k->directory);
    if (root && err == TUTTI_OK) tutti__parent_sync(k->directory); /* the directory may be new */
    return tutti__team_agree(d->team, err);
}

static tutti_err copy_to_stream(tutti_dataset *d, tutti__archiving *k) {
    static const char end[2 * TUTTI__TAR_BLOCK];
    tutti_err err = TUTTI_OK;
    if (d->team->rank == 0) {
        for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++) err = tutti__archive_send(k, i);
        if (err == TUTTI_OK) err = tutti__stream_write(k->stream, end, sizeof end);
        if (err == TUTTI_OK) err = tutti__stream_write(k->stream, NULL, 0);
    }
    TUTTI_TRY(tutti__team_agree(d->team, err));
    for (int64_t i = 0; i < k->n; i++)
        TUTTI_TRY(tutti__team_broadcast(d->team, &k->rows[i], (int)sizeof k->rows[i]));
    return TUTTI_OK;
}

/* Record the archived segments in the database and on all ranks.   Collective. */
static tutti_err mark_archived(tutti_dataset *d, tutti__archiving *k) {
    tutti__model *m = &d->model;
    const int64_t n = m->archived_n + k->n;
    tutti__archived *rows = NULL;
    int64_t rows_n = 0;
    tutti_err err = TUTTI_OK;
    /* merge both lists, which are sorted by segment */
    for (int64_t a = 0, b = 0; rows_n < n && err == TUTTI_OK;) {
        tutti__archived *to = tutti__table_grow(&rows, &rows_n, sizeof *rows);
        const int old =
            b == k->n || (a < m->archived_n && m->archived[a].segment < k->rows[b].segment);
        if (to)
            *to = old ? m->archived[a++] : k->rows[b++];
        else
            err = TUTTI_ERR_NOMEM;
    }
    unsigned char *is_removed = tutti__calloc((size_t)m->segments_n + 1, 1);
    err = tutti__team_agree(d->team, is_removed ? err : TUTTI_ERR_NOMEM);
    tutti__info_carry carry = {.dataset = d, .goes = is_removed, .segment = -1};
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(is_removed);
        const tutti__meta_step also = {tutti__infos_carry, &carry};
        for (int64_t i = 0; i < k->n; i++) is_removed[k->segment[i]] = 1;
        if (d->team->rank == 0)
            err = tutti__meta_archive(d->meta, k->rows, k->n, m->generation + 1, &also);
        err = tutti__team_agree(d->team, err);
    }
    tutti__free(is_removed);
    if (err == TUTTI_OK) err = tutti__infos_carry_end(d, &carry);
    if (err != TUTTI_OK) {
        tutti__free(rows);
        return err;
    }
    tutti__free(m->archived);
    m->archived = rows;
    m->archived_n = rows_n;
    m->generation++;
    tutti__dataset_clear_caches(d);
    return TUTTI_OK;
}

/* On rank 0, punch a hole for each archived segment in a file that is still in use; returns the
 * bytes freed. */
static tutti_off punch_holes(const tutti_dataset *d, const tutti__datafile *f, tutti_count first,
                             tutti_count last) {
    char path[4096];
    tutti_off freed = 0;
    tutti__dataset_data_path(d, f->name, path, sizeof path);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return 0;
    for (tutti_count i = first; i <= last; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (g->file != f->id || !tutti__model_archived(&d->model, g->id)) continue;
        if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, g->start,
                      g->end - g->start) == 0)
            freed += g->end - g->start;
    }
    close(fd);
    return freed;
}

static tutti_err archive_segments(tutti_dataset *d, tutti__archiving *k, const char *place,
                                  tutti_count first, tutti_count last, tutti_off *freed_out) {
    for (int64_t i = 0; i < k->n; i++) {
        TUTTI_TRY(tutti__checksums_compare(d, tutti__archiving_row(k, i), NULL, NULL));
        snprintf(k->rows[i].place, sizeof k->rows[i].place, "%s", place ? place : "");
    }
    TUTTI_TRY(k->directory ? copy_to_directory(d, k) : copy_to_stream(d, k));
    if (!place) return TUTTI_OK;
    if (k->n > 0) TUTTI_TRY(mark_archived(d, k));
    /* Free the bytes of all archived segments of the range. */
    const tutti_error_info before = *tutti_last_error();
    tutti_err err = TUTTI_OK;
    tutti_off freed = 0;
    for (tutti_count i = first; i <= last; i++) { /* segments of one file are consecutive */
        const tutti__segment_row *g = &d->model.segments[i];
        const tutti__datafile *f = tutti__model_file_id(&d->model, g->file);
        if (i > first && g[-1].file == g->file) continue;
        const int lives = tutti__model_file_in_use(&d->model, f->id);
        struct stat st;
        char path[4096];
        if (!lives) {
            const tutti_err got = tutti__dataset_file_close(d, f);
            if (err == TUTTI_OK) err = got;
        }
        if (d->team->rank != 0) continue;
        tutti__dataset_data_path(d, f->name, path, sizeof path);
        if (lives)
            freed += punch_holes(d, f, first, last);
        else if (lstat(path, &st) == 0 && unlink(path) == 0)
            freed += st.st_size - TUTTI__SEGMENT_ALIGN;
    }
    /* a file that was already removed is not an error */
    if (err == TUTTI_OK) tutti__error_assign(&before);
    /* no sync is needed: after a crash, a file that reappears is ignored */
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, &freed, (int)sizeof freed);
    if (err == TUTTI_OK && freed_out) *freed_out = freed;
    return err;
}

static tutti_err check_location(const char *place) {
    TUTTI_CHECK(place && place[0], TUTTI_ERR_ARG, "the location of the archive is %s",
                place ? "empty" : "NULL");
    TUTTI_CHECK(tutti__text_valid(place, TUTTI__PLACE), TUTTI_ERR_ARG,
                "invalid location '%.60s' of the archive: must be UTF-8 of at most %d bytes "
                "without control characters",
                place, TUTTI__PLACE - 1);
    return TUTTI_OK;
}

tutti_err tutti_dataset_archive(tutti_dataset *d, tutti_count first, tutti_count last,
                                const char *to, tutti_off *freed_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__archiving k = {.name = "archive", .directory = to ? to : ""};
    if (freed_out) *freed_out = 0;
    tutti_err err = begin_archive_call(d, &k, first, last, 0, check_location(to));
    if (err == TUTTI_OK) err = archive_segments(d, &k, to, first, last, freed_out);
    free_archiving(&k);
    return tutti__dataset_named(d, "archive", err);
}

static tutti_err check_stream(const tutti_dataset *d, const tutti_stream *s, int writes) {
    if (d->team->rank != 0) return TUTTI_OK;
    TUTTI_CHECK(s, TUTTI_ERR_ARG, "argument %s is NULL", writes ? "to" : "from");
    TUTTI_CHECK(writes ? s->write != NULL : s->read != NULL, TUTTI_ERR_ARG,
                "function %s of the stream is NULL", writes ? "write" : "read");
    return s->location && writes ? check_location(s->location) : TUTTI_OK;
}

tutti_err tutti_dataset_archive_stream(tutti_dataset *d, tutti_count first, tutti_count last,
                                       const tutti_stream *to, tutti_off *freed_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__archiving k = {.name = "archive_stream", .stream = to};
    char place[TUTTI__PLACE] = "";
    if (freed_out) *freed_out = 0;
    tutti_err err = begin_archive_call(d, &k, first, last, 0, check_stream(d, to, 1));
    if (d->team->rank == 0 && err == TUTTI_OK && to->location)
        snprintf(place, sizeof place, "%s", to->location);
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, place, (int)sizeof place);
    if (err == TUTTI_OK)
        err = archive_segments(d, &k, place[0] ? place : NULL, first, last, freed_out);
    free_archiving(&k);
    return tutti__dataset_named(d, "archive", err);
}

/* ---- restore */

static tutti_err restore_segments(tutti_dataset *d, tutti__archiving *k) {
    tutti_err err = TUTTI_OK;
    if (k->n == 0) return TUTTI_OK;
    for (int64_t i = 0; k->directory && i < k->n && err == TUTTI_OK; i++)
        if (is_local_segment(d, k, i)) err = tutti__archive_fetch(k, i);
    if (!k->directory && d->team->rank == 0) err = tutti__archive_fetch_stream(k);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    /* Record in the database and on all ranks that the segments are restored. */
    tutti__model *m = &d->model;
    const int root = d->team->rank == 0;
    TUTTI_TRY(tutti__team_agree(d->team, root ? tutti__meta_sync_directory(d->meta) : TUTTI_OK));
    TUTTI_TRY(tutti__team_agree(
        d->team, root ? tutti__meta_restore(d->meta, k->rows, k->n, m->generation + 1) : TUTTI_OK));
    int64_t n = 0;
    for (int64_t a = 0, b = 0; a < m->archived_n; a++) {
        if (b < k->n && m->archived[a].segment == k->rows[b].segment)
            b++;
        else
            m->archived[n++] = m->archived[a];
    }
    m->archived_n = n;
    m->generation++;
    tutti__dataset_clear_caches(d);
    for (int64_t i = 0; i < k->n; i++) /* compare the restored data with its checksums */
        TUTTI_TRY(tutti__checksums_compare(d, tutti__archiving_row(k, i), NULL, NULL));
    return TUTTI_OK;
}

tutti_err tutti_dataset_restore(tutti_dataset *d, tutti_count first, tutti_count last,
                                const char *from) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__archiving k = {.name = "restore", .directory = from ? from : ""};
    tutti_err err = begin_archive_call(d, &k, first, last, 1, check_location(from));
    if (err == TUTTI_OK) err = restore_segments(d, &k);
    free_archiving(&k);
    return tutti__dataset_named(d, "restore", err);
}

tutti_err tutti_dataset_restore_stream(tutti_dataset *d, tutti_count first, tutti_count last,
                                       const tutti_stream *from) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__archiving k = {.name = "restore_stream", .stream = from};
    tutti_err err = begin_archive_call(d, &k, first, last, 1, check_stream(d, from, 0));
    if (err == TUTTI_OK) err = restore_segments(d, &k);
    free_archiving(&k);
    return tutti__dataset_named(d, "restore", err);
}
