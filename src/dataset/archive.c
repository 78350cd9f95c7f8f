/* dataset: archives.
 *
 *   archive   compare checksums, copy, sync, read back and compare; then one transaction says that the segments
 *             are there; then their bytes here are freed: a file without other segments is removed, elsewhere
 *             holes are made
 *   restore   compare, put the bytes back where they were, sync, read back and compare; then one transaction
 *             says that they are here
 *
 * Killed at any instant, the database says where the bytes certainly are; what lies elsewhere besides is used by
 * the next call, or means nothing.  Segments of an archive in a directory are dealt out to the ranks; a stream
 * is rank 0's.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/dataset_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/content.h"
#include "dataset/tar.h"

/* What a call is about. */
typedef struct {
    tutti_dataset *d;
    const char *name;           /* of the call */
    const char *directory;      /* or NULL: */
    const tutti_stream *stream; /* rank 0's */
    int64_t n;
    tutti_count *segment;  /* [n] numbers */
    tutti__archived *rows; /* [n] what the database is to say, or says, of them */
} task;

static void task_free(task *k) {
    tutti__free(k->segment);
    tutti__free(k->rows);
}

static const tutti__segment_row *row_of(const task *k, int64_t i) {
    return &k->d->model.segments[k->segment[i]];
}

static int mine(const task *k, int64_t i) {
    return k->directory ? i % k->d->team->size == k->d->team->rank : k->d->team->rank == 0;
}

/* ---- files */

static tutti_err file_open(const char *path, int flags, int *out) {
    struct stat st;
    const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd < 0) return tutti__error_sys(errno, -1, path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *out = fd;
        return TUTTI_OK;
    }
    close(fd);
    TUTTI_FAIL(TUTTI_ERR_FORMAT, "'%s' is no file", path);
}

static tutti_err file_sync(int fd, const char *path) {
    return fsync(fd) == 0 ? TUTTI_OK : tutti__error_sys(errno, -1, path);
}

static void data_path(const task *k, int64_t i, char *to, size_t room) {
    const tutti__datafile *f = tutti__model_file_id(&k->d->model, row_of(k, i)->file);
    tutti__dataset_data_path(k->d, f->name, to, room);
}

/* `version` of the archive's format. */
static tutti_err archive_path(const task *k, int64_t i, int version, const char *behind, char *to,
                              size_t room) {
    char name[TUTTI__ARCHIVE_NAME];
    tutti__archive_name(version == 1 ? NULL : k->d->model.id, row_of(k, i), name);
    const int n = snprintf(to, room, "%s/%s%s", k->directory, name, behind);
    TUTTI_CHECK(n > 0 && (size_t)n < room, TUTTI_ERR_ARG, "the name of the archive is too long");
    return TUTTI_OK;
}

/* The bytes of segment i in an archive's file are those that its row has the sum of. */
static tutti_err archive_verify(const task *k, int64_t i, int fd, const char *path) {
    const tutti__segment_row *g = row_of(k, i);
    char head[TUTTI__ARCHIVE_HEAD];
    struct stat st;
    uint64_t sum = 0;
    TUTTI_CHECK(fstat(fd, &st) == 0 && st.st_size == TUTTI__ARCHIVE_HEAD + g->end - g->start,
                TUTTI_ERR_FORMAT, "'%s' has not the size of segment %lld", path, (long long)g->id);
    TUTTI_TRY(tutti__bytes_read(fd, 0, head, sizeof head, path));
    TUTTI_TRY(tutti__archive_head_check(head, k->d->model.id, g, k->rows[i].sum));
    const tutti__content c = {.fd = fd, .at = TUTTI__ARCHIVE_HEAD, .name = path};
    TUTTI_TRY(tutti__content_sum(&c, g->end - g->start, &sum));
    TUTTI_CHECK(sum == k->rows[i].sum, TUTTI_ERR_FORMAT, "'%s' is damaged", path);
    return TUTTI_OK;
}

/* ---- which segments */

static tutti_err range_check(const tutti_dataset *d, tutti_count first, tutti_count last) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(
        !tutti__netcdf(d), TUTTI_ERR_UNSUPPORTED,
        "states of netCDF files cannot be archived: a record cannot be missing; archive the "
        "files");
    TUTTI_CHECK(!d->now.under_way, TUTTI_ERR_STATE,
                "a segment has begun and was neither committed nor discarded");
    for (int64_t i = 0; i < d->files_n; i++) TUTTI_TRY(tutti__requests_none(d->files[i].file));
    TUTTI_TRY(tutti__dataset_segment_check(d, first));
    TUTTI_TRY(tutti__dataset_segment_check(d, last));
    TUTTI_CHECK(first <= last, TUTTI_ERR_ARG, "segments %lld to %lld", (long long)first,
                (long long)last);
    return TUTTI_OK;
}

static int is_one_of(int64_t id, const int64_t *list, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (list[i] == id) return 1;
    return 0;
}

/* Rank 0: states of the range that nobody else needs and that are here (archived: are not). */
static tutti_err choose(const tutti_dataset *d, tutti_count first, tutti_count last, int archived,
                        unsigned char *takes) {
    int64_t *needed = NULL, n = 0;
    const tutti_err err = archived ? TUTTI_OK : tutti__meta_lists_shared(d->meta, &needed, &n);
    for (tutti_count i = first; i <= last && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        takes[i] = g->kind == TUTTI_STATE && !is_one_of(g->id, needed, n) &&
                   (tutti__model_archived(&d->model, g->id) != NULL) == archived;
    }
    tutti__free(needed);
    return err;
}

/* Open the call and find out what it is about.   Collective. */
static tutti_err task_begin(task *k, tutti_count first, tutti_count last, int archived,
                            tutti_err err) {
    tutti_dataset *d = k->d;
    uint64_t hash = tutti__hash(TUTTI__HASH_START, &first, sizeof first);
    hash = tutti__hash(hash, &last, sizeof last);
    hash = tutti__hash_text(hash, k->directory);
    const tutti__call same = {.name = k->name, .what = "the segments or the place", .hash = hash};
    if (err == TUTTI_OK) err = range_check(d, first, last);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    const int64_t all = d->model.segments_n;
    unsigned char *takes = tutti__calloc((size_t)all + 1, 1);
    err = takes ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK && d->team->rank == 0) err = choose(d, first, last, archived, takes);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = tutti__team_tell(d->team, takes, (int)all);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(takes);
        k->segment = tutti__malloc((size_t)all * sizeof *k->segment + 1);
        k->rows = tutti__calloc((size_t)all + 1, sizeof *k->rows);
        for (int64_t i = 0; k->segment && k->rows && i < all; i++) {
            if (!takes[i]) continue;
            const tutti__archived *a = tutti__model_archived(&d->model, d->model.segments[i].id);
            if (a) k->rows[k->n] = *a;
            k->rows[k->n].segment = d->model.segments[i].id;
            k->segment[k->n++] = i;
        }
        err = tutti__dataset_agree(d, k->segment && k->rows ? TUTTI_OK : TUTTI_ERR_NOMEM);
    }
    tutti__free(takes);
    return err;
}

/* ---- archive */

/* A file that has the name already: *is_there_out: it is this segment, whole.  A damaged copy of it is
 * replaced; any other file may be the only copy of something. */
static tutti_err archive_find(const task *k, int64_t i, const char *path, int *is_there_out) {
    const tutti__segment_row *g = row_of(k, i);
    char head[TUTTI__ARCHIVE_HEAD] = "";
    int fd = -1;
    *is_there_out = 0;
    const tutti_err opened = file_open(path, O_RDONLY, &fd);
    if (opened == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    TUTTI_TRY(opened);
    const int ours = tutti__bytes_read(fd, 0, head, sizeof head, path) == TUTTI_OK &&
                     tutti__archive_head_check(head, k->d->model.id, g, k->rows[i].sum) == TUTTI_OK;
    *is_there_out = ours && archive_verify(k, i, fd, path) == TUTTI_OK;
    const tutti_err err =
        *is_there_out ? file_sync(fd, path) : TUTTI_OK; /* its writer may have been
                                                                             killed before it did */
    close(fd);
    TUTTI_CHECK(ours, TUTTI_ERR_EXISTS,
                "'%s' exists and is not this segment: archive to another directory", path);
    return err;
}

/* One to a directory, unless it is there. */
static tutti_err segment_copy(task *k, int64_t i) {
    const tutti__segment_row *g = row_of(k, i);
    const tutti_off bytes = g->end - g->start;
    char from[4096], to[4096], part[4096], head[TUTTI__ARCHIVE_HEAD];
    int in = -1, out = -1;
    uint64_t sum = 0;
    data_path(k, i, from, sizeof from);
    TUTTI_TRY(archive_path(k, i, 2, "", to, sizeof to));
    TUTTI_TRY(archive_path(k, i, 2, ".part", part, sizeof part));
    TUTTI_TRY(file_open(from, O_RDONLY, &in));
    const tutti__content here = {.fd = in, .at = g->start, .name = from};
    tutti_err err = tutti__content_sum(&here, bytes, &k->rows[i].sum);
    int is_there = 0;
    if (err == TUTTI_OK) err = archive_find(k, i, to, &is_there);
    if (err == TUTTI_OK && !is_there) err = file_open(part, O_RDWR | O_CREAT | O_TRUNC, &out);
    if (err == TUTTI_OK && !is_there) {
        const tutti__content there = {.fd = out, .at = TUTTI__ARCHIVE_HEAD, .name = part};
        tutti__archive_head(k->d->model.id, g, k->rows[i].sum, head);
        err = tutti__bytes_write(out, 0, head, sizeof head, part);
        if (err == TUTTI_OK) err = tutti__content_copy(&here, &there, bytes, &sum);
        if (err == TUTTI_OK) err = file_sync(out, part);
        if (err == TUTTI_OK) err = archive_verify(k, i, out, part);
        if (err == TUTTI_OK && rename(part, to) != 0) err = tutti__error_sys(errno, -1, to);
        close(out);
    }
    close(in);
    return err;
}

/* All of them.   Collective. */
static tutti_err copy_to_directory(task *k) {
    tutti_dataset *d = k->d;
    const int root = d->team->rank == 0;
    tutti_err err = TUTTI_OK;
    if (root && mkdir(k->directory, 0777) != 0 && errno != EEXIST)
        err = tutti__error_sys(errno, -1, k->directory);
    TUTTI_TRY(tutti__dataset_agree(d, err));
    for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++)
        if (mine(k, i)) err = segment_copy(k, i);
    TUTTI_TRY(tutti__dataset_agree(d, err));
    for (int64_t i = 0; i < k->n; i++) { /* who copied it knows its sum */
        int64_t sum = (int64_t)k->rows[i].sum;
        TUTTI_TRY(tutti__team_sum(d->team, &sum, 1));
        k->rows[i].sum = (uint64_t)sum;
    }
    if (root) err = tutti__directory_sync(k->directory);
    if (root && err == TUTTI_OK) tutti__parent_sync(k->directory); /* it may be new */
    return tutti__dataset_agree(d, err);
}

static tutti_err segment_send(task *k, int64_t i) {
    const tutti__segment_row *g = row_of(k, i);
    const tutti_off bytes = g->end - g->start;
    char from[4096], name[TUTTI__ARCHIVE_NAME], tar[TUTTI__TAR_HEADERS * TUTTI__TAR_BLOCK];
    char head[TUTTI__ARCHIVE_HEAD];
    uint64_t sum = 0;
    int in = -1;
    data_path(k, i, from, sizeof from);
    TUTTI_TRY(file_open(from, O_RDONLY, &in));
    const tutti__content here = {.fd = in, .at = g->start, .name = from};
    const tutti__content there = {.fd = -1, .stream = k->stream};
    tutti_err err = tutti__content_sum(&here, bytes, &k->rows[i].sum);
    tutti__archive_name(k->d->model.id, g, name);
    const size_t n = tutti__tar_write(name, TUTTI__ARCHIVE_HEAD + bytes, tar);
    tutti__archive_head(k->d->model.id, g, k->rows[i].sum, head);
    if (err == TUTTI_OK) err = tutti__stream_write(k->stream, tar, n);
    if (err == TUTTI_OK) err = tutti__stream_write(k->stream, head, sizeof head);
    if (err == TUTTI_OK) err = tutti__content_copy(&here, &there, bytes, &sum); /* whole blocks */
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_IO, 0, g->start, "'%s' changes while it is copied", from);
    close(in);
    return err;
}

static tutti_err copy_to_stream(task *k) {
    static const char end[2 * TUTTI__TAR_BLOCK];
    tutti_err err = TUTTI_OK;
    if (k->d->team->rank == 0) {
        for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++) err = segment_send(k, i);
        if (err == TUTTI_OK) err = tutti__stream_write(k->stream, end, sizeof end);
        if (err == TUTTI_OK) err = tutti__stream_write(k->stream, NULL, 0);
    }
    TUTTI_TRY(tutti__dataset_agree(k->d, err));
    for (int64_t i = 0; i < k->n; i++)
        TUTTI_TRY(tutti__team_tell(k->d->team, &k->rows[i], (int)sizeof k->rows[i]));
    return TUTTI_OK;
}

/* The database and all ranks know.   Collective. */
static tutti_err mark(task *k) {
    tutti_dataset *d = k->d;
    tutti__model *m = &d->model;
    const int64_t n = m->archived_n + k->n;
    tutti__archived *rows = NULL;
    int64_t rows_n = 0;
    tutti_err err = TUTTI_OK;
    for (int64_t a = 0, b = 0; rows_n < n && err == TUTTI_OK;) { /* both are by segment */
        tutti__archived *to = tutti__table_grow(&rows, &rows_n, sizeof *rows);
        const int old =
            b == k->n || (a < m->archived_n && m->archived[a].segment < k->rows[b].segment);
        if (to)
            *to = old ? m->archived[a++] : k->rows[b++];
        else
            err = TUTTI_ERR_NOMEM;
    }
    unsigned char *goes = tutti__calloc((size_t)m->segments_n + 1, 1);
    err = tutti__dataset_agree(d, goes ? err : TUTTI_ERR_NOMEM);
    tutti__info_carry carry = {.dataset = d, .goes = goes, .segment = -1};
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(goes);
        const tutti__meta_step also = {tutti__infos_carry, &carry};
        for (int64_t i = 0; i < k->n; i++) goes[k->segment[i]] = 1;
        if (d->team->rank == 0)
            err = tutti__meta_archive(d->meta, k->rows, k->n, m->generation + 1, &also);
        err = tutti__dataset_agree(d, err);
    }
    tutti__free(goes);
    if (err == TUTTI_OK) err = tutti__infos_carried(d, &carry);
    if (err != TUTTI_OK) {
        tutti__free(rows);
        return err;
    }
    tutti__free(m->archived);
    m->archived = rows;
    m->archived_n = rows_n;
    m->generation++;
    tutti__dataset_forget(d);
    return TUTTI_OK;
}

/* Rank 0: a hole for each archived segment of a file that stays; bytes freed. */
static tutti_off holes_make(const tutti_dataset *d, const tutti__datafile *f, tutti_count first,
                            tutti_count last) {
    char path[4096];
    int fd = -1;
    tutti_off freed = 0;
    tutti__dataset_data_path(d, f->name, path, sizeof path);
    if (file_open(path, O_RDWR, &fd) != TUTTI_OK) return 0;
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

/* Whatever of the range is archived need not be here any more.   Collective. */
static tutti_err bytes_free(tutti_dataset *d, tutti_count first, tutti_count last,
                            tutti_off *freed_out) {
    const tutti_error_info before = *tutti_last_error();
    tutti_err err = TUTTI_OK;
    tutti_off freed = 0;
    for (tutti_count i = first; i <= last; i++) { /* segments of one file follow each other */
        const tutti__segment_row *g = &d->model.segments[i];
        const tutti__datafile *f = tutti__model_file_id(&d->model, g->file);
        if (i > first && g[-1].file == g->file) continue;
        const int lives = tutti__model_file_lives(&d->model, f->id);
        struct stat st;
        char path[4096];
        if (!lives) {
            const tutti_err got = tutti__dataset_file_close(d, f);
            if (err == TUTTI_OK) err = got;
        }
        if (d->team->rank != 0) continue;
        tutti__dataset_data_path(d, f->name, path, sizeof path);
        if (lives)
            freed += holes_make(d, f, first, last);
        else if (lstat(path, &st) == 0 && unlink(path) == 0)
            freed += st.st_size - TUTTI__SEGMENT_ALIGN;
    }
    if (err == TUTTI_OK) tutti__error_assign(&before); /* a file that was gone already is fine */
    err = tutti__dataset_agree(d, err); /* no sync: a file that comes back is not used */
    if (err == TUTTI_OK) err = tutti__team_tell(d->team, &freed, (int)sizeof freed);
    if (err == TUTTI_OK && freed_out) *freed_out = freed;
    return err;
}

static tutti_err archive(task *k, const char *place, tutti_count first, tutti_count last,
                         tutti_off *freed_out) {
    tutti_dataset *d = k->d;
    for (int64_t i = 0; i < k->n; i++) {
        TUTTI_TRY(tutti__checksums_compare(d, row_of(k, i), NULL, NULL));
        snprintf(k->rows[i].place, sizeof k->rows[i].place, "%s", place ? place : "");
    }
    TUTTI_TRY(k->directory ? copy_to_directory(k) : copy_to_stream(k));
    if (!place) return TUTTI_OK;
    if (k->n > 0) TUTTI_TRY(mark(k));
    return bytes_free(d, first, last, freed_out);
}

static tutti_err place_check(const char *place) {
    TUTTI_CHECK(place && place[0], TUTTI_ERR_ARG, "the place of the archive is empty");
    TUTTI_CHECK(tutti__text_valid(place, TUTTI__PLACE), TUTTI_ERR_ARG,
                "the place of the archive is longer than %d bytes, or not valid UTF-8 text",
                TUTTI__PLACE - 1);
    return TUTTI_OK;
}

tutti_err tutti_dataset_archive(tutti_dataset *d, tutti_count first, tutti_count last,
                                const char *to, tutti_off *freed_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    task k = {.d = d, .name = "archive", .directory = to ? to : ""};
    if (freed_out) *freed_out = 0;
    tutti_err err = task_begin(&k, first, last, 0, place_check(to));
    if (err == TUTTI_OK) err = archive(&k, to, first, last, freed_out);
    task_free(&k);
    return tutti__dataset_named(d, "archive", err);
}

static tutti_err stream_check(const tutti_dataset *d, const tutti_stream *s, int writes) {
    if (d->team->rank != 0) return TUTTI_OK;
    TUTTI_CHECK(s && (writes ? s->write != NULL : s->read != NULL), TUTTI_ERR_ARG,
                "the stream has no function to %s by", writes ? "write" : "read");
    return s->place && writes ? place_check(s->place) : TUTTI_OK;
}

tutti_err tutti_dataset_archive_stream(tutti_dataset *d, tutti_count first, tutti_count last,
                                       const tutti_stream *to, tutti_off *freed_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    task k = {.d = d, .name = "archive_stream", .stream = to};
    char place[TUTTI__PLACE] = "";
    if (freed_out) *freed_out = 0;
    tutti_err err = task_begin(&k, first, last, 0, stream_check(d, to, 1));
    if (d->team->rank == 0 && err == TUTTI_OK && to->place)
        snprintf(place, sizeof place, "%s", to->place);
    if (err == TUTTI_OK) err = tutti__team_tell(d->team, place, (int)sizeof place);
    if (err == TUTTI_OK) err = archive(&k, place[0] ? place : NULL, first, last, freed_out);
    task_free(&k);
    return tutti__dataset_named(d, "archive", err);
}

/* ---- restore */

/* The data file of segment i, made anew if it is gone. */
static tutti_err data_open(const task *k, int64_t i, char *path, size_t room, int *out) {
    data_path(k, i, path, room);
    TUTTI_TRY(file_open(path, O_RDWR | O_CREAT, out));
    if (tutti__model_file_lives(&k->d->model, row_of(k, i)->file)) return TUTTI_OK;
    char head[TUTTI__SEGMENT_ALIGN];
    tutti__datafile_head(head);
    const tutti_err err = tutti__bytes_write(*out, 0, head, sizeof head, path);
    if (err != TUTTI_OK) close(*out);
    return err;
}

/* Bytes from somewhere are those of segment i: at their place, on the device, read back. */
static tutti_err segment_put(const task *k, int64_t i, const tutti__content *from) {
    const tutti__segment_row *g = row_of(k, i);
    const tutti_off bytes = g->end - g->start;
    char path[4096];
    int fd = -1;
    uint64_t sum = 0;
    TUTTI_TRY(data_open(k, i, path, sizeof path, &fd));
    const tutti__content here = {.fd = fd, .at = g->start, .name = path};
    tutti_err err = tutti__content_copy(from, &here, bytes, &sum);
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "the archive's segment %lld is damaged",
                               (long long)g->id);
    if (err == TUTTI_OK) err = file_sync(fd, path);
    if (err == TUTTI_OK) err = tutti__content_sum(&here, bytes, &sum);
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_IO, 0, g->start, "'%s' has not what was written", path);
    close(fd);
    return err;
}

static tutti_err segment_fetch(const task *k, int64_t i) {
    char path[4096];
    int fd = -1;
    TUTTI_TRY(archive_path(k, i, 2, "", path, sizeof path));
    if (access(path, F_OK) != 0) { /* archived by version 1? */
        char old[4096];
        TUTTI_TRY(archive_path(k, i, 1, "", old, sizeof old));
        if (access(old, F_OK) == 0) memcpy(path, old, sizeof path);
    }
    TUTTI_TRY(file_open(path, O_RDONLY, &fd));
    const tutti__content there = {.fd = fd, .at = TUTTI__ARCHIVE_HEAD, .name = path};
    tutti_err err = archive_verify(k, i, fd, path);
    if (err == TUTTI_OK) err = segment_put(k, i, &there);
    close(fd);
    return err;
}

static tutti_err stream_skip(const tutti_stream *s, tutti_off bytes) {
    char block[TUTTI__TAR_BLOCK];
    for (; bytes > 0; bytes -= (tutti_off)sizeof block)
        TUTTI_TRY(tutti__stream_read(s, block, sizeof block)); /* entries end at whole blocks */
    return TUTTI_OK;
}

/* Which of the segments an entry of a tar archive is; -1: none.  "./" may stand before its name. */
static int64_t entry_of(const task *k, const tutti__tar_entry *e) {
    char name[TUTTI__ARCHIVE_NAME];
    const char *is = strncmp(e->name, "./", 2) == 0 ? e->name + 2 : e->name;
    for (int64_t i = 0; i < k->n && e->is_file; i++)
        for (int version = 1; version <= 2; version++) {
            tutti__archive_name(version == 1 ? NULL : k->d->model.id, row_of(k, i), name);
            if (strcmp(is, name) == 0) return i;
        }
    return -1;
}

static tutti_err entry_fetch(const task *k, int64_t i, tutti_off bytes) {
    const tutti__segment_row *g = row_of(k, i);
    const tutti__content there = {.fd = -1, .stream = k->stream};
    char head[TUTTI__ARCHIVE_HEAD];
    TUTTI_CHECK(bytes == TUTTI__ARCHIVE_HEAD + g->end - g->start, TUTTI_ERR_FORMAT,
                "the archive's segment %lld has %lld bytes", (long long)g->id, (long long)bytes);
    TUTTI_TRY(tutti__stream_read(k->stream, head, sizeof head));
    TUTTI_TRY(tutti__archive_head_check(head, k->d->model.id, g, k->rows[i].sum));
    return segment_put(k, i, &there);
}

/* Rank 0: everything that the stream has. */
static tutti_err stream_fetch(const task *k, unsigned char *got) {
    char block[TUTTI__TAR_BLOCK];
    tutti__tar_entry e;
    tutti_off pax = -1;
    int header = 1;
    for (;;) {
        TUTTI_TRY(tutti__stream_read(k->stream, block, sizeof block));
        TUTTI_TRY(tutti__tar_read(block, &e, &header));
        if (!header) return TUTTI_OK;
        if (pax >= 0 && !e.is_pax) e.bytes = pax;
        const int64_t i = entry_of(k, &e);
        if (e.is_pax && e.bytes <= TUTTI__TAR_BLOCK) { /* what is longer has no size for us */
            TUTTI_TRY(tutti__stream_read(k->stream, block, sizeof block));
            TUTTI_TRY(tutti__tar_pax(block, (size_t)e.bytes, &pax));
            continue;
        }
        pax = -1;
        if (i < 0 || got[i]) {
            TUTTI_TRY(stream_skip(k->stream, e.bytes));
            continue;
        }
        TUTTI_TRY(entry_fetch(k, i, e.bytes));
        got[i] = 1;
    }
}

static tutti_err stream_fetch_all(const task *k) {
    unsigned char *got = tutti__calloc((size_t)k->n + 1, 1);
    char rest[65536];
    size_t n = 1;
    if (!got) return TUTTI_ERR_NOMEM;
    tutti_err err = stream_fetch(k, got);
    for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++)
        if (!got[i])
            err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "the archive has no segment %lld",
                                   (long long)row_of(k, i)->id);
    /* what is behind the end is read too: a program that writes it need not die of it */
    while (err == TUTTI_OK && n > 0 &&
           k->stream->read(k->stream->context, rest, sizeof rest, &n) == 0)
        continue;
    tutti__free(got);
    return err;
}

/* Not archived any more, in the database and on all ranks.   Collective. */
static tutti_err unmark(task *k) {
    tutti_dataset *d = k->d;
    tutti__model *m = &d->model;
    const int root = d->team->rank == 0;
    TUTTI_TRY(tutti__dataset_agree(d, root ? tutti__meta_sync_directory(d->meta) : TUTTI_OK));
    TUTTI_TRY(tutti__dataset_agree(
        d, root ? tutti__meta_restore(d->meta, k->rows, k->n, m->generation + 1) : TUTTI_OK));
    int64_t n = 0;
    for (int64_t a = 0, b = 0; a < m->archived_n; a++) {
        if (b < k->n && m->archived[a].segment == k->rows[b].segment)
            b++;
        else
            m->archived[n++] = m->archived[a];
    }
    m->archived_n = n;
    m->generation++;
    tutti__dataset_forget(d);
    return TUTTI_OK;
}

static tutti_err restore(task *k) {
    tutti_err err = TUTTI_OK;
    if (k->n == 0) return TUTTI_OK;
    for (int64_t i = 0; k->directory && i < k->n && err == TUTTI_OK; i++)
        if (mine(k, i)) err = segment_fetch(k, i);
    if (!k->directory && k->d->team->rank == 0) err = stream_fetch_all(k);
    TUTTI_TRY(tutti__dataset_agree(k->d, err));
    TUTTI_TRY(unmark(k));
    for (int64_t i = 0; i < k->n; i++) /* and they are what the rest of the metadata says */
        TUTTI_TRY(tutti__checksums_compare(k->d, row_of(k, i), NULL, NULL));
    return TUTTI_OK;
}

tutti_err tutti_dataset_restore(tutti_dataset *d, tutti_count first, tutti_count last,
                                const char *from) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    task k = {.d = d, .name = "restore", .directory = from ? from : ""};
    tutti_err err = task_begin(&k, first, last, 1, place_check(from));
    if (err == TUTTI_OK) err = restore(&k);
    task_free(&k);
    return tutti__dataset_named(d, "restore", err);
}

tutti_err tutti_dataset_restore_stream(tutti_dataset *d, tutti_count first, tutti_count last,
                                       const tutti_stream *from) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    task k = {.d = d, .name = "restore_stream", .stream = from};
    tutti_err err = task_begin(&k, first, last, 1, stream_check(d, from, 0));
    if (err == TUTTI_OK) err = restore(&k);
    task_free(&k);
    return tutti__dataset_named(d, "restore", err);
}
