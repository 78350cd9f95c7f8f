/* netcdf: comparison of netCDF data files with the metadata, and their correction.  One process.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "netcdf/netcdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"
#include "metadata/content.h"

/* ---- load */

static tutti_err load_sections(tutti__meta *m, const tutti__model *model,
                               const tutti__segment_row *g, tutti__ncfile *f) {
    if (g->kind == TUTTI_TOPOLOGY) {
        f->topology = *g;
        f->area = g->start;
        return tutti__meta_sections(m, model, g, &f->fixed, &f->fixed_n);
    }
    f->first = *g;
    if (!f->area) f->area = g->start;
    return tutti__meta_sections(m, model, g, &f->state, &f->state_n);
}

tutti_err tutti__ncfile_load(tutti__meta *m, const tutti__model *model, int64_t file,
                             tutti__ncfile *out) {
    tutti__ncfile f = {.file = file, .defined = model->defined};
    tutti_err err = TUTTI_OK;
    for (int64_t i = 0; i < model->segments_n && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &model->segments[i];
        if (g->file != file) continue;
        const tutti_off bytes = f.first.end - f.first.start;
        if (g->kind == TUTTI_TOPOLOGY
                ? f.topology.id || f.first.id
                : f.first.id &&
                      (g->end - g->start != bytes || g->start != f.first.start + f.records * bytes))
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "segment %lld does not match the layout of its netCDF file",
                                   (long long)g->id);
        if (err == TUTTI_OK && (g->kind == TUTTI_TOPOLOGY || !f.first.id))
            err = load_sections(m, model, g, &f);
        f.records += g->kind == TUTTI_STATE;
    }
    if (err == TUTTI_OK)
        *out = f;
    else
        tutti__ncfile_free(&f);
    return err;
}

/* ---- the number of records */

static int open_data_file(const char *directory, const char *name, int flags) {
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
}

tutti_count tutti__netcdf_records(const char *directory, const char *name) {
    unsigned char head[TUTTI__NETCDF_HEAD];
    uint64_t n = 0;
    const int fd = open_data_file(directory, name, O_RDONLY);
    if (fd < 0) return -1;
    const int whole = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
    close(fd);
    if (!whole || memcmp(head, "CDF\5", 4) != 0) return -1;
    for (int i = 4; i < TUTTI__NETCDF_HEAD; i++) n = n << 8 | head[i];
    return n > INT64_MAX ? -1 : (tutti_count)n;
}

tutti_err tutti__netcdf_records_set(const char *directory, const char *name, tutti_count records,
                                    int durable) {
    const tutti__cdf five = {.version = 5};
    const int fd = open_data_file(directory, name, O_RDWR);
    if (fd < 0) return tutti__error_sys(errno, -1, name);
    tutti_err err = tutti__cdf_set_records(fd, &five, records);
    if (err == TUTTI_OK && durable && fdatasync(fd) != 0) err = tutti__error_sys(errno, 4, name);
    close(fd);
    return err;
}

tutti_err tutti__netcdf_extend(const char *directory, const char *name, tutti_off bytes) {
    struct stat st;
    const int fd = open_data_file(directory, name, O_RDWR);
    if (fd < 0) return tutti__error_sys(errno, -1, name);
    const int bad =
        fstat(fd, &st) != 0 || (st.st_size < bytes && tutti__limited_truncate(fd, bytes) != 0);
    const int why = errno;
    close(fd);
    return bad ? tutti__error_sys(why, bytes, name) : TUTTI_OK;
}

/* ---- the complete header */

/* Replace the first n bytes of the file, which has at least n bytes, with `want`.  The number of
 * records is written last, so that the file keeps the old one if the process is killed. */
static tutti_err correct_header(int fd, const char *want, size_t n, const char *name) {
    char *is = tutti__malloc(n);
    if (!is) return TUTTI_ERR_NOMEM;
    tutti_err err = tutti__bytes_read(fd, 0, is, n, name);
    const int differs = err == TUTTI_OK && memcmp(is, want, n) != 0;
    tutti__free(is);
    if (!differs) return err;
    TUTTI_TRY(tutti__bytes_write(fd, TUTTI__NETCDF_HEAD, want + TUTTI__NETCDF_HEAD,
                                 n - TUTTI__NETCDF_HEAD, name));
    TUTTI_TRY(tutti__bytes_write(fd, 0, want, TUTTI__NETCDF_HEAD, name));
    return fsync(fd) == 0 ? TUTTI_OK : tutti__error_sys(errno, -1, name);
}

static tutti_err correct_file(int fd, const tutti__ncfile *f, const void *header, tutti_off bytes,
                              const char *name) {
    struct stat st;
    const tutti_off end = f->records ? f->first.start + f->records * (f->first.end - f->first.start)
                          : f->fixed_n ? f->topology.end
                                       : bytes;
    const tutti_off area = tutti__min(f->area, end);
    if (fstat(fd, &st) != 0) return tutti__error_sys(errno, -1, name);
    TUTTI_CHECK(st.st_size >= end, TUTTI_ERR_FORMAT,
                "'%s' has %lld bytes, but its segments end at %lld", name, (long long)st.st_size,
                (long long)end);
    char *want = tutti__calloc(1, (size_t)area); /* the header is followed by zeros */
    if (!want) return TUTTI_ERR_NOMEM;
    memcpy(want, header, (size_t)bytes);
    tutti_err err = correct_header(fd, want, (size_t)area, name);
    tutti__free(want);
    if (err == TUTTI_OK && st.st_size > end && ftruncate(fd, end) != 0)
        err = tutti__error_sys(errno, end, name);
    return err;
}

tutti_err tutti__netcdf_correct(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f) {
    tutti__ncfile is;
    void *header = NULL;
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__ncfile_load(m, model, f->id, &is));
    tutti_err err = tutti__netcdf_header(model, &is, &header, &bytes);
    const int fd = err == TUTTI_OK ? open_data_file(directory, f->name, O_RDWR) : -1;
    if (err == TUTTI_OK)
        err = fd < 0 ? tutti__error_sys(errno, -1, f->name)
                     : correct_file(fd, &is, header, bytes, f->name);
    if (fd >= 0) close(fd);
    tutti__free(header);
    tutti__ncfile_free(&is);
    return err;
}

/* ---- compare */

static tutti_err compare_variables(const tutti__cdf *want, const tutti__cdf *is, const char *name) {
    for (tutti_count i = 0; i < want->vars_n; i++) {
        const tutti__cdf_var *a = &want->vars[i];
        const tutti_count at = tutti__cdf_find_var(is, a->name);
        const tutti__cdf_var *b = at < 0 ? NULL : &is->vars[at];
        int same = b && a->type == b->type && a->ndims == b->ndims && a->begin == b->begin &&
                   a->is_record == b->is_record;
        for (int d = a->is_record; same && d < a->ndims; d++)
            same = want->dims[a->dim[d]].length == is->dims[b->dim[d]].length;
        TUTTI_CHECK(same, TUTTI_ERR_FORMAT,
                    "the netCDF header of '%s' and the metadata differ in variable '%s'", name,
                    a->name);
    }
    TUTTI_CHECK(!want->records || is->record_bytes == want->record_bytes, TUTTI_ERR_FORMAT,
                "the netCDF header of '%s' has records of %lld bytes, the metadata %lld", name,
                (long long)is->record_bytes, (long long)want->record_bytes);
    return TUTTI_OK;
}

tutti_err tutti__netcdf_compare(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f, int *readable_out) {
    char path[4300];
    tutti__ncfile file;
    tutti__cdf want, is;
    void *bytes = NULL;
    size_t n = 0;
    tutti_off size = 0;
    snprintf(path, sizeof path, "%s/%s", directory, f->name);
    TUTTI_TRY(tutti__cdf_read_header(path, &bytes, &n, &size));
    tutti_err err = tutti__cdf_decode(bytes, n, size, &is);
    tutti__free(bytes);
    TUTTI_TRY(err);
    err = tutti__ncfile_load(m, model, f->id, &file);
    if (err == TUTTI_OK) {
        err = tutti__netcdf_rows(model, &file, &want);
        tutti__ncfile_free(&file);
    }
    if (err == TUTTI_OK) {
        err = compare_variables(&want, &is, f->name);
        if (readable_out) *readable_out = err != TUTTI_OK;
        if (err == TUTTI_OK && is.records < want.records)
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "the netCDF header of '%s' has %lld records, the metadata have %lld states",
                f->name, (long long)is.records, (long long)want.records);
        tutti__cdf_free(&want);
    }
    tutti__cdf_free(&is);
    return err;
}

/* ---- a commit that was not finished */

int64_t tutti__netcdf_published(const char *directory, const tutti__model *model) {
    int64_t first = model->segments_n;
    while (first > 0 && model->commit > 0 && model->segments[first - 1].id >= model->commit)
        first--;
    for (int64_t i = first; i < model->segments_n; i++) {
        const tutti__segment_row *g = &model->segments[i];
        tutti_count states = 0;
        if (g->kind != TUTTI_STATE) continue;
        for (int64_t j = 0; j <= i; j++)
            states += model->segments[j].kind == TUTTI_STATE && model->segments[j].file == g->file;
        const tutti_count records =
            tutti__netcdf_records(directory, tutti__model_file_id(model, g->file)->name);
        if (records >= 0 && records < states) return first;
    }
    return model->segments_n;
}
