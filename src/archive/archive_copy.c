/* archive: copy segments to archives and back.  One process, no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "archive/archive_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "metadata/content.h"
#include "archive/tar.h"
#include "metadata/trailer.h"

/* ---- files */

static tutti_err open_regular_file(const char *path, int flags, int *out) {
    struct stat st;
    const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd < 0) return tutti__error_sys(errno, -1, path);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *out = fd;
        return TUTTI_OK;
    }
    close(fd);
    TUTTI_FAIL(TUTTI_ERR_FORMAT, "'%s' is not a regular file", path);
}

static tutti_err sync_file(int fd, const char *path) {
    return fsync(fd) == 0 ? TUTTI_OK : tutti__error_sys(errno, -1, path);
}

static void format_data_path(const tutti__archiving *k, int64_t i, char *to, size_t capacity) {
    const tutti__datafile *f = tutti__model_file_id(k->model, tutti__archiving_row(k, i)->file);
    snprintf(to, capacity, "%s/%s", k->path, f->name);
}

/* Format the path of segment i in the archive; `version`: version of the archive's format. */
static tutti_err format_archive_path(const tutti__archiving *k, int64_t i, int version,
                                     const char *behind, char *to, size_t capacity) {
    char name[TUTTI__ARCHIVE_NAME];
    tutti__archive_name(version == 1 ? NULL : k->model->id, tutti__archiving_row(k, i), name);
    const int n = snprintf(to, capacity, "%s/%s%s", k->directory, name, behind);
    TUTTI_CHECK(n > 0 && (size_t)n < capacity, TUTTI_ERR_ARG,
                "a path in archive '%.60s' has %d bytes: at most %zu are allowed", k->directory, n,
                capacity - 1);
    return TUTTI_OK;
}

/* Verify that a file of the archive contains segment i with the checksum of its row. */
static tutti_err verify_archive(const tutti__archiving *k, int64_t i, int fd, const char *path) {
    const tutti__segment_row *g = tutti__archiving_row(k, i);
    char head[TUTTI__ARCHIVE_HEAD];
    struct stat st;
    uint64_t sum = 0;
    if (fstat(fd, &st) != 0) return tutti__error_sys(errno, -1, path);
    TUTTI_CHECK(st.st_size == TUTTI__ARCHIVE_HEAD + g->end - g->start, TUTTI_ERR_FORMAT,
                "'%s' has %lld bytes: archived segment %lld has %lld", path, (long long)st.st_size,
                (long long)g->id, (long long)(TUTTI__ARCHIVE_HEAD + g->end - g->start));
    TUTTI_TRY(tutti__bytes_read(fd, 0, head, sizeof head, path));
    TUTTI_TRY(tutti__archive_head_check(head, k->model->id, g, k->rows[i].sum));
    const tutti__content c = {.fd = fd, .at = TUTTI__ARCHIVE_HEAD, .name = path};
    TUTTI_TRY(tutti__content_sum(&c, g->end - g->start, &sum));
    TUTTI_CHECK(sum == k->rows[i].sum, TUTTI_ERR_FORMAT,
                "checksum mismatch in '%s': the file is damaged", path);
    return TUTTI_OK;
}

/* ---- to an archive */

/* Check for a file of this name; *is_there_out is whether it is a complete copy of this segment.  A
 * damaged copy of the segment will be replaced; any other file is an error, since it may be the
 * only copy of its data. */
static tutti_err find_existing_copy(const tutti__archiving *k, int64_t i, const char *path,
                                    int *is_there_out) {
    const tutti__segment_row *g = tutti__archiving_row(k, i);
    char head[TUTTI__ARCHIVE_HEAD] = "";
    int fd = -1;
    *is_there_out = 0;
    const tutti_err opened = open_regular_file(path, O_RDONLY, &fd);
    if (opened == TUTTI_ERR_NOT_FOUND) return TUTTI_OK;
    TUTTI_TRY(opened);
    const int ours = tutti__bytes_read(fd, 0, head, sizeof head, path) == TUTTI_OK &&
                     tutti__archive_head_check(head, k->model->id, g, k->rows[i].sum) == TUTTI_OK;
    *is_there_out = ours && verify_archive(k, i, fd, path) == TUTTI_OK;
    /* the copy may not have been synced */
    const tutti_err err = *is_there_out ? sync_file(fd, path) : TUTTI_OK;
    close(fd);
    TUTTI_CHECK(ours, TUTTI_ERR_EXISTS,
                "'%s' exists and does not contain this segment: archive to another directory",
                path);
    return err;
}

tutti_err tutti__archive_copy(tutti__archiving *k, int64_t i) {
    const tutti__segment_row *g = tutti__archiving_row(k, i);
    const tutti_off bytes = g->end - g->start;
    char from[4096], to[4096], part[4096], head[TUTTI__ARCHIVE_HEAD];
    int in = -1, out = -1;
    uint64_t sum = 0;
    format_data_path(k, i, from, sizeof from);
    TUTTI_TRY(format_archive_path(k, i, 2, "", to, sizeof to));
    TUTTI_TRY(format_archive_path(k, i, 2, ".part", part, sizeof part));
    TUTTI_TRY(open_regular_file(from, O_RDONLY, &in));
    const tutti__content here = {.fd = in, .at = g->start, .name = from};
    tutti_err err = tutti__content_sum(&here, bytes, &k->rows[i].sum);
    int is_there = 0;
    if (err == TUTTI_OK) err = find_existing_copy(k, i, to, &is_there);
    if (err == TUTTI_OK && !is_there)
        err = open_regular_file(part, O_RDWR | O_CREAT | O_TRUNC, &out);
    if (err == TUTTI_OK && !is_there) {
        const tutti__content there = {.fd = out, .at = TUTTI__ARCHIVE_HEAD, .name = part};
        tutti__archive_head(k->model->id, g, k->rows[i].sum, head);
        err = tutti__bytes_write(out, 0, head, sizeof head, part);
        if (err == TUTTI_OK) err = tutti__content_copy(&here, &there, bytes, &sum);
        if (err == TUTTI_OK) err = sync_file(out, part);
        if (err == TUTTI_OK) err = verify_archive(k, i, out, part);
        if (err == TUTTI_OK && rename(part, to) != 0) err = tutti__error_sys(errno, -1, to);
        close(out);
    }
    close(in);
    return err;
}

tutti_err tutti__archive_send(tutti__archiving *k, int64_t i) {
    const tutti__segment_row *g = tutti__archiving_row(k, i);
    const tutti_off bytes = g->end - g->start;
    char from[4096], name[TUTTI__ARCHIVE_NAME], tar[TUTTI__TAR_HEADERS * TUTTI__TAR_BLOCK];
    char head[TUTTI__ARCHIVE_HEAD];
    uint64_t sum = 0;
    int in = -1;
    format_data_path(k, i, from, sizeof from);
    TUTTI_TRY(open_regular_file(from, O_RDONLY, &in));
    const tutti__content here = {.fd = in, .at = g->start, .name = from};
    const tutti__content there = {.fd = -1, .stream = k->stream};
    tutti_err err = tutti__content_sum(&here, bytes, &k->rows[i].sum);
    tutti__archive_name(k->model->id, g, name);
    const size_t n = tutti__tar_write(name, TUTTI__ARCHIVE_HEAD + bytes, tar);
    tutti__archive_head(k->model->id, g, k->rows[i].sum, head);
    if (err == TUTTI_OK) err = tutti__stream_write(k->stream, tar, n);
    if (err == TUTTI_OK) err = tutti__stream_write(k->stream, head, sizeof head);
    /* no padding is needed, since segments end at whole blocks */
    if (err == TUTTI_OK) err = tutti__content_copy(&here, &there, bytes, &sum);
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_IO, 0, g->start, "'%s' changed while it was copied", from);
    close(in);
    return err;
}

/* ---- from an archive */

/* Open the data file of segment i, or create it again. */
static tutti_err open_segment_file(const tutti__archiving *k, int64_t i, char *path,
                                   size_t capacity, int *out) {
    format_data_path(k, i, path, capacity);
    TUTTI_TRY(open_regular_file(path, O_RDWR | O_CREAT, out));
    if (tutti__model_file_in_use(k->model, tutti__archiving_row(k, i)->file)) return TUTTI_OK;
    char head[TUTTI__SEGMENT_ALIGN];
    tutti__datafile_head(head);
    const tutti_err err = tutti__bytes_write(*out, 0, head, sizeof head, path);
    if (err != TUTTI_OK) close(*out);
    return err;
}

/* Copy the bytes of segment i to their position, sync them and read them back. */
static tutti_err restore_segment(const tutti__archiving *k, int64_t i, const tutti__content *from) {
    const tutti__segment_row *g = tutti__archiving_row(k, i);
    const tutti_off bytes = g->end - g->start;
    char path[4096];
    int fd = -1;
    uint64_t sum = 0;
    TUTTI_TRY(open_segment_file(k, i, path, sizeof path, &fd));
    const tutti__content here = {.fd = fd, .at = g->start, .name = path};
    tutti_err err = tutti__content_copy(from, &here, bytes, &sum);
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "segment %lld of the archive is damaged",
                               (long long)g->id);
    if (err == TUTTI_OK) err = sync_file(fd, path);
    if (err == TUTTI_OK) err = tutti__content_sum(&here, bytes, &sum);
    if (err == TUTTI_OK && sum != k->rows[i].sum)
        err = tutti__error_set(TUTTI_ERR_IO, 0, g->start,
                               "'%s' does not contain the data that was written", path);
    close(fd);
    return err;
}

tutti_err tutti__archive_fetch(const tutti__archiving *k, int64_t i) {
    char path[4096];
    int fd = -1;
    TUTTI_TRY(format_archive_path(k, i, 2, "", path, sizeof path));
    if (access(path, F_OK) != 0) { /* the segment may have been archived by version 1 */
        char old[4096];
        TUTTI_TRY(format_archive_path(k, i, 1, "", old, sizeof old));
        if (access(old, F_OK) == 0) memcpy(path, old, sizeof path);
    }
    TUTTI_TRY(open_regular_file(path, O_RDONLY, &fd));
    const tutti__content there = {.fd = fd, .at = TUTTI__ARCHIVE_HEAD, .name = path};
    tutti_err err = verify_archive(k, i, fd, path);
    if (err == TUTTI_OK) err = restore_segment(k, i, &there);
    close(fd);
    return err;
}

/* Return the segment of an entry of a tar archive, or -1 if there is none.  The name of the entry
 * may begin with "./". */
static int64_t find_entry_segment(const tutti__archiving *k, const tutti__tar_entry *e) {
    char name[TUTTI__ARCHIVE_NAME];
    const char *is = strncmp(e->name, "./", 2) == 0 ? e->name + 2 : e->name;
    for (int64_t i = 0; i < k->n && e->is_file; i++)
        for (int version = 1; version <= 2; version++) {
            tutti__archive_name(version == 1 ? NULL : k->model->id, tutti__archiving_row(k, i),
                                name);
            if (strcmp(is, name) == 0) return i;
        }
    return -1;
}

/* Read all entries of the stream. */
static tutti_err restore_stream_entries(const tutti__archiving *k, unsigned char *is_restored) {
    char block[TUTTI__TAR_BLOCK];
    tutti__tar_entry e;
    tutti_off pax = -1;
    int header = 1;
    for (;;) {
        TUTTI_TRY(tutti__stream_read(k->stream, block, sizeof block));
        TUTTI_TRY(tutti__tar_read(block, &e, &header));
        if (!header) return TUTTI_OK;
        if (pax >= 0 && !e.is_pax) e.bytes = pax;
        const int64_t i = find_entry_segment(k, &e);
        if (e.is_pax && e.bytes <= TUTTI__TAR_BLOCK) { /* longer pax headers contain no size */
            TUTTI_TRY(tutti__stream_read(k->stream, block, sizeof block));
            TUTTI_TRY(tutti__tar_pax(block, (size_t)e.bytes, &pax));
            continue;
        }
        pax = -1;
        if (i < 0 || is_restored[i]) {
            /* entries are padded to whole blocks */
            for (; e.bytes > 0; e.bytes -= TUTTI__TAR_BLOCK)
                TUTTI_TRY(tutti__stream_read(k->stream, block, sizeof block));
            continue;
        }
        const tutti__segment_row *g = tutti__archiving_row(k, i);
        const tutti__content there = {.fd = -1, .stream = k->stream};
        char head[TUTTI__ARCHIVE_HEAD];
        TUTTI_CHECK(e.bytes == TUTTI__ARCHIVE_HEAD + g->end - g->start, TUTTI_ERR_FORMAT,
                    "segment %lld of the archive has %lld bytes, expected %lld", (long long)g->id,
                    (long long)e.bytes, (long long)(TUTTI__ARCHIVE_HEAD + g->end - g->start));
        TUTTI_TRY(tutti__stream_read(k->stream, head, sizeof head));
        TUTTI_TRY(tutti__archive_head_check(head, k->model->id, g, k->rows[i].sum));
        TUTTI_TRY(restore_segment(k, i, &there));
        is_restored[i] = 1;
    }
}

tutti_err tutti__archive_fetch_stream(const tutti__archiving *k) {
    unsigned char *is_restored = tutti__calloc((size_t)k->n + 1, 1);
    char rest[65536];
    size_t n = 1;
    if (!is_restored) return TUTTI_ERR_NOMEM;
    tutti_err err = restore_stream_entries(k, is_restored);
    for (int64_t i = 0; i < k->n && err == TUTTI_OK; i++)
        if (!is_restored[i])
            err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1,
                                   "the archive does not contain segment %lld",
                                   (long long)tutti__archiving_row(k, i)->id);
    /* read past the end, so that a program that writes to a pipe is not killed */
    while (err == TUTTI_OK && n > 0 &&
           k->stream->read(k->stream->context, rest, sizeof rest, &n) == 0)
        continue;
    tutti__free(is_restored);
    return err;
}
