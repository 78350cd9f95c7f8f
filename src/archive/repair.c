/* archive: repair a dataset.
 *
 * Metadata that can be read and agrees with the data files is kept, except segments whose data is
 * missing.  Otherwise it is rebuilt from the data files, and the old metadata is kept under another
 * name.  No data file is changed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "archive/repair_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "segments/dataset_impl.h"

#define NEW_NAME TUTTI__META_NAME ".new"
#define DAMAGED ".damaged"

/* ---- the directory */

static int compare_names(const void *a, const void *b) {
    return strcmp(((const tutti__listed_file *)a)->name, ((const tutti__listed_file *)b)->name);
}

static tutti_err list_data_files(tutti__repair *r) {
    DIR *dir = opendir(r->directory);
    if (!dir) return tutti__error_sys(errno, -1, r->directory);
    struct dirent *e;
    tutti_err err = TUTTI_OK;
    while (err == TUTTI_OK && (e = readdir(dir))) {
        struct stat st;
        if (!tutti__file_name_right(e->d_name)) continue;
        tutti__listed_file *f = tutti__table_grow(&r->files, &r->files_n, sizeof *r->files);
        if (!f) {
            err = TUTTI_ERR_NOMEM;
            break;
        }
        snprintf(f->name, sizeof f->name, "%.*s", (int)sizeof f->name - 1, e->d_name);
        f->fd = openat(dirfd(dir), e->d_name,
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (f->fd >= 0 && (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode))) {
            close(f->fd);
            f->fd = -1;
        }
        if (f->fd >= 0) f->size = st.st_size;
    }
    closedir(dir);
    if (r->files_n) qsort(r->files, (size_t)r->files_n, sizeof *r->files, compare_names);
    r->report.files = (int)r->files_n;
    return err;
}

static int compare_newest_first(const void *a, const void *b) {
    const tutti__found *x = a, *y = b;
    if (x->segment.id != y->segment.id) return x->segment.id < y->segment.id ? 1 : -1;
    return strcmp(x->file.name, y->file.name);
}

/* ---- compare metadata that can be read with the data */

typedef enum { RIGHT, MISSING, DAMAGED_TRAILER, OTHER } agreement;

/* Operations of repair that differ between kinds of data files. */
typedef struct {
    /* Compare a segment of the database with its bytes in the data file. */
    tutti_err (*compare)(tutti__repair *r, tutti__meta *m, const tutti__model *model,
                         const tutti__segment_row *g, agreement *out);
    tutti_err (*rebuild)(tutti__repair *r, const char *name, int64_t generation);
} repairing;

/* Compare the header of the file, which represents all of its segments. */
static tutti_err netcdf_compare(tutti__repair *r, tutti__meta *m, const tutti__model *model,
                                const tutti__segment_row *g, agreement *out) {
    const tutti__datafile *row = tutti__model_file_id(model, g->file);
    const tutti__listed_file *f = tutti__repair_file(r, row->name);
    *out = MISSING;
    if (!f || f->fd < 0 || f->size < (g->sections ? g->end : TUTTI__NETCDF_HEAD)) return TUTTI_OK;
    if (r->compared != g->file) {
        int readable = 0;
        const tutti_err err = tutti__netcdf_compare(r->directory, m, model, row, &readable);
        if (err != TUTTI_OK && err != TUTTI_ERR_FORMAT && err != TUTTI_ERR_UNSUPPORTED) return err;
        r->compared = g->file;
        r->agrees = err == TUTTI_OK ? RIGHT : readable ? OTHER : DAMAGED_TRAILER;
    }
    *out = (agreement)r->agrees;
    return TUTTI_OK;
}

static tutti_err native_compare(tutti__repair *r, tutti__meta *m, const tutti__model *model,
                                const tutti__segment_row *g, agreement *out) {
    const tutti__listed_file *f = tutti__repair_file(r, tutti__model_file_id(model, g->file)->name);
    tutti__footer foot;
    tutti__trailer t;
    char *rows = NULL, *ours = NULL;
    size_t n = 0;
    *out = MISSING;
    if (!f || f->fd < 0 || f->size < g->end) return TUTTI_OK;
    *out = DAMAGED_TRAILER;
    if (pread(f->fd, &foot, sizeof foot, (off_t)(g->end - (tutti_off)sizeof foot)) !=
            (ssize_t)sizeof foot ||
        tutti__footer_parse(&foot, g->end, &t) != TUTTI__FOOTER_SEGMENT)
        return TUTTI_OK;
    const int whole = tutti__trailer_rows(f->fd, &t, &rows);
    if (whole <= 0) return whole ? TUTTI_ERR_NOMEM : TUTTI_OK;
    const tutti_err err = tutti__meta_rows(m, g->id, TUTTI__ROW_INFO, &ours, &n);
    if (err == TUTTI_OK)
        *out =
            t.start == g->start && t.trailer == g->trailer &&
                    tutti__rows_within(rows, (size_t)t.rows, ours, n, (1U << TUTTI__ROW_INFO) - 1)
                ? RIGHT
                : OTHER;
    tutti__free(ours);
    tutti__free(rows);
    return err;
}

static const repairing CONTAINERS[] = {
    [TUTTI_CONTAINER_NATIVE] = {native_compare, tutti__rebuild},
    [TUTTI_CONTAINER_NETCDF] = {netcdf_compare, tutti__netcdf_rebuild},
};

/* Return whether the segment of a section needs a removed segment: the topology that set a size, or
 * a list of entries. */
static int needs_removed_segment(const tutti__model *m, const unsigned char *is_removed,
                                 const tutti__section *s) {
    const tutti__variable *v = tutti__model_variable_id(m, s->variable);
    const tutti__size *z = tutti__model_size(m, v->space, s->segment);
    const tutti__segment_row *a = z ? tutti__model_segment_id(m, z->segment) : NULL;
    const tutti__segment_row *b = tutti__model_segment_id(m, s->list_segment);
    return (a && is_removed[a - m->segments]) || (b && is_removed[b - m->segments]);
}

/* Compare all segments; is_removed[i]: the data of segment i, or of a segment that it needs, is
 * missing.  *broken_out: the metadata does not belong to this data. */
static tutti_err compare_segments(tutti__repair *r, tutti__meta *m, const tutti__model *model,
                                  unsigned char *is_removed, int *broken_out) {
    int64_t right = 0, newer = 0;
    for (int64_t i = 0; i < model->segments_n; i++) {
        const tutti__segment_row *g = &model->segments[i];
        tutti__section *sections = NULL;
        int64_t n = 0;
        agreement is = RIGHT;
        TUTTI_TRY(tutti__meta_sections(m, model, g, &sections, &n));
        tutti_err err = TUTTI_OK;
        if (!tutti__model_archived(model, g->id))
            err = CONTAINERS[model->container].compare(r, m, model, g, &is);
        is_removed[i] = is == MISSING;
        for (int64_t j = 0; j < n && !is_removed[i]; j++)
            is_removed[i] = needs_removed_segment(model, is_removed, &sections[j]);
        tutti__free(sections);
        TUTTI_TRY(err);
        right += is == RIGHT;
        r->report.damaged += is == DAMAGED_TRAILER;
        if (is == OTHER) *broken_out = 1;
    }
    for (int64_t i = 0; i < r->found_n; i++)
        newer += r->found[i].segment.id > model->serial && !r->found[i].at.joined;
    /* at most one commit may have been in progress */
    if (newer > 1 || (model->segments_n > 0 && right == 0 && r->found_n > 0)) *broken_out = 1;
    return TUTTI_OK;
}

/* Remove the rows of missing segments, and of files without segments, in one transaction. */
static tutti_err remove_missing_rows(tutti__meta *m, const tutti__model *model,
                                     const unsigned char *is_removed) {
    for (int64_t i = 0; i < model->segments_n; i++)
        if (is_removed[i]) TUTTI_TRY(tutti__meta_remove_segment(m, model->segments[i].id));
    for (int64_t i = 0; i < model->files_n; i++) {
        int used = 0;
        for (int64_t j = 0; j < model->segments_n && !used; j++)
            used = !is_removed[j] && model->segments[j].file == model->files[i].id;
        if (!used) TUTTI_TRY(tutti__meta_remove_file(m, model->files[i].id));
    }
    return tutti__meta_set(m, "generation", model->generation + 1);
}

static tutti_err remove_missing_segments(tutti__repair *r, tutti__meta *m,
                                         const tutti__model *model,
                                         const unsigned char *is_removed) {
    int64_t n = 0;
    for (int64_t i = 0; i < model->segments_n; i++) {
        if (is_removed[i] && n++ == 0)
            tutti__repair_lost(r, 1, "the segment with time index %lld: data in '%s' is missing",
                               (long long)model->segments[i].index,
                               tutti__model_file_id(model, model->segments[i].file)->name);
    }
    r->report.segments = model->segments_n - n;
    if (n == 0) return TUTTI_OK;
    r->report.lost = n;
    TUTTI_TRY(tutti__meta_begin(m));
    return tutti__meta_end(m, remove_missing_rows(m, model, is_removed));
}

/* Check whether the old metadata can be kept; *broken_out: it must be rebuilt, *generation_out: its
 * generation, if readable.  Metadata of a newer version is not damaged, but refused, if no data
 * file has a trailer of a known version. */
static tutti_err check_old_metadata(tutti__repair *r, int *broken_out, int64_t *generation_out) {
    tutti__meta *m = NULL;
    tutti__model model = {0};
    unsigned char *is_removed = NULL;
    int64_t version = 0;
    tutti__meta_options opt = r->options;
    opt.version_out = &version;
    tutti_err err = tutti__meta_open(r->directory, &opt, &m);
    if (err == TUTTI_OK) err = tutti__meta_integrity(m);
    if (err == TUTTI_OK) err = tutti__meta_load(m, &model);
    if (err == TUTTI_OK) {
        tutti__model_truncate(&model, tutti__netcdf_published(r->directory, &model));
        *generation_out = model.generation;
        is_removed = tutti__calloc((size_t)model.segments_n + 1, 1);
        err = is_removed ? compare_segments(r, m, &model, is_removed, broken_out) : TUTTI_ERR_NOMEM;
    }
    /* Metadata of a newer version may be unreadable for any reason; it is refused if a native data
     * file has data. */
    int newer = 0;
    for (int64_t i = 0; i < r->files_n && version > TUTTI__FORMAT_VERSION && !r->found_n; i++)
        newer |= !tutti__netcdf_name(r->files[i].name) && r->files[i].size > TUTTI__SEGMENT_ALIGN;
    if (!newer && (err == TUTTI_ERR_FORMAT || err == TUTTI_ERR_NOT_FOUND || err == TUTTI_ERR_IO)) {
        err = TUTTI_OK;
        for (int64_t i = 0; i < model.segments_n && !*broken_out && err == TUTTI_OK; i++) {
            int64_t *id = tutti__table_grow(&r->known, &r->known_n, sizeof *r->known);
            if (id) *id = model.segments[i].id;
            err = id ? TUTTI_OK : TUTTI_ERR_NOMEM;
        }
        *broken_out = 1;
    }
    if (err == TUTTI_OK && !*broken_out) err = remove_missing_segments(r, m, &model, is_removed);
    tutti__free(is_removed);
    tutti__model_free(&model);
    tutti__meta_close(&m);
    return err;
}

/* ---- replacement of the old database */

/* Find an unused name: NAME.damaged, NAME.damaged-2, ... */
static void find_free_name(const char *directory, const char *name, char *out, size_t capacity) {
    struct stat st;
    char path[4300];
    for (int i = 1; i < 1000000; i++) {
        if (i == 1)
            snprintf(out, capacity, "%s" DAMAGED, name);
        else
            snprintf(out, capacity, "%s" DAMAGED "-%d", name, i);
        snprintf(path, sizeof path, "%s/%s", directory, out);
        if (lstat(path, &st) != 0) return;
    }
}

static tutti_err rename_in(const char *directory, const char *from, const char *to) {
    char a[4300], b[4300];
    snprintf(a, sizeof a, "%s/%s", directory, from);
    snprintf(b, sizeof b, "%s/%s", directory, to);
    if (rename(a, b) != 0 && errno != ENOENT) return tutti__error_sys(errno, -1, b);
    return TUTTI_OK;
}

static tutti_err sync_names(const tutti__repair *r) {
    return r->options.durable ? tutti__directory_sync(r->directory) : TUTTI_OK;
}

/* Replace the database.  The journal is renamed first and durably, since it must never exist
 * together with the new database.  rename_unused_files() syncs the last name. */
static tutti_err replace_database(tutti__repair *r) {
    static const char *const ENDS[] = {"-journal", "-wal", "-shm"};
    char from[4300], to[4300], kept[sizeof r->report.backup];
    struct stat st;
    find_free_name(r->directory, TUTTI__META_NAME, kept, sizeof kept);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        char is[64], becomes[sizeof kept + 16];
        snprintf(is, sizeof is, TUTTI__META_NAME "%s", ENDS[i]);
        snprintf(becomes, sizeof becomes, "%s%s", kept, ENDS[i]);
        snprintf(from, sizeof from, "%s/%s", r->directory, is);
        if (lstat(from, &st) == 0 && (st.st_size > 0 || !S_ISREG(st.st_mode)))
            TUTTI_TRY(rename_in(r->directory, is, becomes));
    }
    snprintf(from, sizeof from, "%s/" TUTTI__META_NAME, r->directory);
    if (lstat(from, &st) == 0) {
        snprintf(to, sizeof to, "%s/%s", r->directory, kept);
        if (link(from, to) != 0) /* without hard links, the database is missing for an instant */
            TUTTI_TRY(rename_in(r->directory, TUTTI__META_NAME, kept));
        memcpy(r->report.backup, kept, sizeof kept);
    }
    TUTTI_TRY(sync_names(r));
    return rename_in(r->directory, NEW_NAME, TUTTI__META_NAME);
}

/* Rename data files that no table lists: a writer would remove them, but they may contain data
 * whose metadata was lost. */
static tutti_err rename_unused_files(tutti__repair *r) {
    tutti__meta *m = NULL;
    tutti__model model = {0};
    TUTTI_TRY(tutti__meta_open(r->directory, &r->options, &m));
    tutti_err err = tutti__meta_load(m, &model);
    int64_t missing = 0;
    for (int64_t i = 0; i < r->known_n && err == TUTTI_OK; i++)
        missing += !tutti__model_segment_id(&model, r->known[i]);
    tutti__repair_lost(r, missing - r->report.lost,
                       "segments of the old metadata are missing in the data files");
    for (int64_t i = 0; i < r->files_n && err == TUTTI_OK; i++) {
        char name[TUTTI__NAME + 32];
        int used = r->files[i].size <= TUTTI__SEGMENT_ALIGN && r->files[i].fd >= 0;
        for (int64_t j = 0; j < model.files_n && !used; j++)
            used = strcmp(model.files[j].name, r->files[i].name) == 0;
        if (used) continue;
        find_free_name(r->directory, r->files[i].name, name, sizeof name);
        err = rename_in(r->directory, r->files[i].name, name);
    }
    tutti__model_free(&model);
    if (err == TUTTI_OK) err = sync_names(r);
    tutti__meta_close(&m);
    return err;
}

/* ---- the call */

static tutti_err repair_locked(tutti__repair *r) {
    int broken = 0;
    int64_t generation = 0;
    struct stat st;
    char path[4300];
    TUTTI_TRY(list_data_files(r));
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, r->directory);
    TUTTI_CHECK(r->files_n > 0 || lstat(path, &st) == 0, TUTTI_ERR_NOT_FOUND,
                "'%s' does not contain a dataset or data files", r->directory);
    for (int64_t i = 0; i < r->files_n; i++) {
        const tutti__listed_file *f = &r->files[i];
        int torn = 0;
        int64_t n = r->found_n;
        if (f->fd < 0 || tutti__netcdf_name(f->name)) continue;
        TUTTI_TRY(tutti__trailers_find(f->fd, &r->found, &r->found_n, &torn));
        r->torn += torn;
        /* a renamed file does not belong to this dataset */
        for (int64_t j = n; j < r->found_n; j++)
            if (strcmp(r->found[j].file.name, f->name) == 0)
                r->found[n++] = r->found[j];
            else
                tutti__free(r->found[j].rows);
        r->found_n = n;
    }
    if (r->found_n) qsort(r->found, (size_t)r->found_n, sizeof *r->found, compare_newest_first);
    TUTTI_TRY(check_old_metadata(r, &broken, &generation));
    if (broken) {
        /* The new generation must exceed all earlier generations; in damaged metadata, the
         * generation may be any number. */
        const int64_t now = (int64_t)time(NULL), most = INT64_MAX / 2;
        const int64_t next = tutti__max(generation < most ? generation + 1 : 0, now);
        r->report.damaged = 0;
        r->report.rebuilt = 1;
        /* the default; without metadata, the names of files determine the container */
        int container = TUTTI_CONTAINER_NATIVE;
        for (int64_t i = 0; i < r->files_n && r->found_n == 0; i++)
            if (tutti__netcdf_name(r->files[i].name)) container = TUTTI_CONTAINER_NETCDF;
        TUTTI_TRY(CONTAINERS[container].rebuild(r, NEW_NAME, next));
        TUTTI_TRY(replace_database(r));
    }
    return broken || r->report.lost ? rename_unused_files(r) : TUTTI_OK;
}

static tutti_err repair_directory(const char *path, const tutti_dataset_options *opt,
                                  tutti_repair_report *out) {
    struct stat st;
    int lock = -1;
    tutti__repair r = {.directory = path,
                       .options = {.mode = TUTTI_READ | TUTTI_WRITE,
                                   .durable = opt->level == TUTTI_DURABLE,
                                   .without_locks = opt->without_locks,
                                   .busy = opt->lock_timeout,
                                   .locked = 1}};
    if (stat(path, &st) != 0)
        return tutti__error_sys(errno, -1, "cannot access the directory of the dataset");
    TUTTI_CHECK(S_ISDIR(st.st_mode), TUTTI_ERR_FORMAT,
                "'%s' is not a directory: datasets are directories", path);
    tutti_err err = tutti__dataset_lock(path, opt->without_locks, &lock);
    if (err == TUTTI_OK) err = repair_locked(&r);
    TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
    for (int64_t i = 0; i < r.files_n; i++)
        if (r.files[i].fd >= 0) close(r.files[i].fd);
    tutti__free(r.files);
    tutti__free(r.known);
    tutti__found_free(r.found, r.found_n);
    if (lock >= 0) close(lock);
    *out = r.report;
    return err;
}

tutti_err tutti_dataset_repair_sized(MPI_Comm comm, const char *path,
                                     const tutti_dataset_options *opt, tutti_repair_report *out,
                                     size_t struct_size) {
    TUTTI_KEEP_ERRNO;
    tutti_dataset_options options;
    tutti_repair_report report = {0};
    tutti__team *team = NULL;
    tutti_err err = tutti__dataset_options_take(opt, &options);
    if (err == TUTTI_OK && !(path && path[0] && strlen(path) < 3800))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument path %s",
                               !path     ? "is NULL"
                               : path[0] ? "has more than 3799 bytes"
                                         : "is empty");
    const tutti__call call = {.name = "repair", .what = "the dataset to repair: its path"};
    TUTTI_TRY(tutti__object_begin(comm, &tutti__dataset_class, &call, path, err, &team));
    err = tutti__team_agree(
        team, team->rank == 0 && path ? repair_directory(path, &options, &report) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_broadcast(team, &report, (int)sizeof report);
    tutti__team_give(&team);
    if (err != TUTTI_OK) {
        tutti__error_context("repair", path, -1);
        return err;
    }
    if (out) {
        tutti__struct_copy(out, struct_size, &report, sizeof report);
    }
    return TUTTI_OK;
}
