/* segments: the table of open data files; statistics.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tutti__dataset_data_path(const tutti_dataset *d, const char *name, char *to, size_t capacity) {
    snprintf(to, capacity, "%s/%s", d->path, name);
}

/* Close an open file and keep its statistics.   Collective. */
static tutti_err close_file(tutti_dataset *d, int64_t i) {
    tutti__file_stats_add(d->files[i].file, &d->stats);
    const tutti_err err = tutti_file_close(&d->files[i].file);
    d->files[i] = d->files[--d->files_n];
    return err;
}

tutti_err tutti__dataset_file_close(tutti_dataset *d, const tutti__datafile *row) {
    tutti_err err = TUTTI_OK;
    for (int64_t i = d->files_n - 1; i >= 0; i--)
        if (!row || d->files[i].id == row->id) err = TUTTI_ALSO(err, close_file(d, i));
    return err;
}

/* Maximum number of open files; the least recently used file is closed. */
enum { OPEN_FILES = 16 };

/* On rank 0, check that a data file is a regular file, not a symbolic link to another directory. */
static tutti_err check_regular_file(const char *path, const char *name) {
    struct stat st;
    TUTTI_CHECK(lstat(path, &st) != 0 || S_ISREG(st.st_mode), TUTTI_ERR_FORMAT,
                "'%s' is not a regular file", name);
    return TUTTI_OK;
}

tutti_file *tutti__dataset_file_find(tutti_dataset *d, const tutti__datafile *row) {
    for (int64_t i = 0; i < d->files_n; i++)
        if (d->files[i].id == row->id) {
            d->files[i].used = ++d->clock;
            return d->files[i].file;
        }
    return NULL;
}

tutti_err tutti__dataset_file_reserve(tutti_dataset *d) {
    if (!tutti__table_grow(&d->files, &d->files_n, sizeof *d->files)) return TUTTI_ERR_NOMEM;
    d->files_n--;
    return TUTTI_OK;
}

tutti_err tutti__dataset_file_create(const tutti_dataset *d, const tutti__datafile *row) {
    char path[4096];
    tutti__dataset_data_path(d, row->name, path, sizeof path);
    TUTTI_TRY(check_regular_file(path, row->name));
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 || close(fd) != 0) return tutti__error_sys(errno, -1, path);
    return TUTTI_OK;
}

tutti_err tutti__dataset_file_open(tutti_dataset *d, const tutti__datafile *row, tutti_file **out) {
    const int mode = TUTTI_READ | (d->mode & TUTTI_WRITE);
    char path[4096];
    tutti__dataset_data_path(d, row->name, path, sizeof path);
    TUTTI_TRY(tutti_file_open(d->team->comm, path, mode, &d->io, out));
    d->files[d->files_n++] = (tutti__open_file){row->id, *out, ++d->clock, 0};
    tutti_file_on_progress(*out, d->progress, d->progress_context);
    return TUTTI_OK;
}

tutti_err tutti__dataset_file(tutti_dataset *d, const tutti__datafile *row, tutti_file **out) {
    char path[4096];
    *out = tutti__dataset_file_find(d, row);
    if (*out) return TUTTI_OK;
    if (d->files_n >= OPEN_FILES) {
        int64_t oldest = -1;
        for (int64_t i = 0; i < d->files_n; i++)
            if (d->files[i].file != d->now.file &&
                (oldest < 0 || d->files[i].used < d->files[oldest].used))
                oldest = i;
        if (oldest >= 0) TUTTI_TRY(close_file(d, oldest));
    }
    tutti__dataset_data_path(d, row->name, path, sizeof path);
    tutti_err err = tutti__dataset_file_reserve(d);
    if (err == TUTTI_OK && d->team->rank == 0) err = check_regular_file(path, row->name);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    return tutti__dataset_file_open(d, row, out);
}

/* ---- statistics and progress */

void tutti_dataset_stats_sized(const tutti_dataset *d, tutti_stats *all_out, size_t struct_size) {
    if (all_out && tutti__dataset_live(d) == TUTTI_OK)
        tutti__step_object_stats(&d->base, all_out, struct_size);
}

void tutti_dataset_on_progress(tutti_dataset *d, tutti_progress_fn *fn, void *context) {
    if (tutti__dataset_live(d) == TUTTI_OK) tutti__step_object_on_progress(&d->base, fn, context);
}

/* ---- reading */

tutti_err tutti__dataset_read(const tutti__dataset_reading *r, tutti_err local_err) {
    const tutti__transfer t = {.name = r->name,
                               .file = r->file,
                               .parts_n = r->n,
                               .parts = r->parts,
                               .local_err = local_err,
                               .least = r->least};
    return tutti__transfer_run(&t, NULL);
}
