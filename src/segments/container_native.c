/* segments: native data files (data-NNNNNN.tutti): a header, then segments, each with its trailer.
 * A segment is part of the dataset as soon as the transaction with its rows has ended.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <endian.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- all definitions and variables can be stored */

static tutti_err accept_space(const tutti__model *m, const char *name, int kind) {
    (void)m, (void)name, (void)kind;
    return TUTTI_OK;
}

static tutti_err accept_variable(const tutti__model *m, const tutti__variable *v) {
    (void)m, (void)v;
    return TUTTI_OK;
}

static tutti_err accept_type(const char *variable, int type) {
    (void)variable, (void)type;
    return TUTTI_OK;
}

static tutti_err accept_put(const tutti_dataset *d, const tutti__variable *v) {
    (void)d, (void)v;
    return TUTTI_OK;
}

static tutti_err accept_commit(const tutti_dataset *d) {
    (void)d;
    return TUTTI_OK;
}

static tutti_err accept_file(const tutti_dataset *d, const tutti__datafile *f) {
    (void)d, (void)f;
    return TUTTI_OK;
}

/* ---- begin and write */

static int is_always_known(const tutti_dataset *d, const tutti__datafile *file) {
    (void)d, (void)file;
    return 1;
}

static tutti_err load_nothing(tutti_dataset *d, const tutti__datafile *file) {
    (void)d, (void)file;
    return TUTTI_OK;
}

static int always_continues(const tutti_dataset *d, int kind) {
    (void)d, (void)kind;
    return 1;
}

/* Place the segment after the last segment of the file, committed or not. */
static void place_segment(const tutti_dataset *d, tutti__writing *w) {
    const tutti__model *m = &d->model;
    tutti_off end = TUTTI__SEGMENT_ALIGN;
    if (!w->new_file && d->now.under_way) end = d->now.segment.end;
    for (int64_t i = 0; i < m->segments_n && !w->new_file; i++)
        if (m->segments[i].file == w->row.id) end = tutti__max(end, m->segments[i].end);
    w->end = w->segment.start = tutti__align_up(end, TUTTI__SEGMENT_ALIGN);
}

static tutti_err prepare_file(tutti_dataset *d, const tutti__writing *w) {
    (void)d;
    return tutti__cut_here(w->file, w->segment.start);
}

/* Sections are aligned so that each block of checksums, and each page, belongs to one section. */
static tutti_off section_start(const tutti_dataset *d, const tutti__section *of, tutti_off bytes) {
    (void)of;
    return tutti__align_up(d->now.end, bytes >= TUTTI__BLOCK ? TUTTI__BLOCK : TUTTI__SECTION_ALIGN);
}

/* ---- commit */

/* The length of the trailer is estimated, since it is known only with its rows. */
static void end_segment(tutti_dataset *d) {
    tutti__segment_row *g = &d->now.segment;
    g->trailer = tutti__align_up(d->now.end, TUTTI__SECTION_ALIGN);
    g->end = g->trailer + TUTTI__SEGMENT_ALIGN;
}

/* Write the header of a new file, and the trailer. */
static tutti_err finish_segment(tutti_dataset *d, const tutti__trailer_spec *spec) {
    tutti__segment_row *g = &d->now.segment;
    char *buf = NULL;
    tutti_err err = TUTTI_OK;
    if (d->now.new_file) {
        char *head = tutti__malloc(TUTTI__SEGMENT_ALIGN);
        if (!head) return TUTTI_ERR_NOMEM;
        tutti__datafile_head(head);
        err = tutti__file_put(d->now.file, 0, TUTTI__SEGMENT_ALIGN, head);
        tutti__free(head);
    }
    if (err == TUTTI_OK) err = tutti__trailer_make(d->meta, spec, g, &buf);
    if (err == TUTTI_OK) err = tutti__file_put(d->now.file, g->trailer, g->end - g->trailer, buf);
    tutti__free(buf);
    return err;
}

static void ignore_committed(tutti_dataset *d) {
    (void)d;
}

static tutti_err set_nothing_aside(const tutti_dataset *d, tutti__ncfile *out) {
    (void)d, (void)out;
    return TUTTI_OK;
}

/* ---- discard and erase */

static tutti_err discard_bytes(tutti_dataset *d, const tutti__writing *w) {
    tutti_file *f = NULL;
    TUTTI_TRY(tutti__dataset_file(d, &w->row, &f));
    return tutti_file_resize(f, w->segment.start);
}

static tutti_err reclaim_file(const tutti_dataset *d, const tutti__datafile *f) {
    const tutti__model *m = &d->model;
    tutti_off end = TUTTI__SEGMENT_ALIGN;
    char path[4096];
    struct stat st;
    for (int64_t i = 0; i < m->segments_n; i++)
        if (m->segments[i].file == f->id && !tutti__model_archived(m, m->segments[i].id))
            end = tutti__max(end, m->segments[i].end);
    tutti__dataset_data_path(d, f->name, path, sizeof path);
    /* Remove a file whose segments are all archived. */
    if (!tutti__model_file_in_use(m, f->id))
        return unlink(path) == 0 || errno == ENOENT ? TUTTI_OK : tutti__error_sys(errno, -1, path);
    if (lstat(path, &st) != 0) return tutti__error_sys(errno, -1, path);
    TUTTI_CHECK(S_ISREG(st.st_mode), TUTTI_ERR_FORMAT, "'%s' is not a regular file", f->name);
    TUTTI_CHECK(st.st_size >= end, TUTTI_ERR_FORMAT,
                "'%s' has %lld bytes, but its segments end at %lld", f->name, (long long)st.st_size,
                (long long)end);
    if (st.st_size > end && truncate(path, end) != 0) return tutti__error_sys(errno, end, path);
    return tutti__gaps_mark(path, m, f);
}

const tutti__container tutti__container_native = {
    .name = "native",
    .extension = "tutti",
    .order = TUTTI_NATIVE_ENDIAN,
    .own_order = TUTTI_LITTLE_ENDIAN,
    .space_check = accept_space,
    .variable_check = accept_variable,
    .type_check = accept_type,
    .is_known = is_always_known,
    .load = load_nothing,
    .continues = always_continues,
    .place = place_segment,
    .prepare = prepare_file,
    .put_check = accept_put,
    .section_start = section_start,
    .commit_check = accept_commit,
    .end = end_segment,
    .finish = finish_segment,
    .committed = ignore_committed,
    .set_aside = set_nothing_aside,
    .discard = discard_bytes,
    .erase = tutti__infos_carry,
    .reclaim = reclaim_file,
    .file_check = accept_file,
    .compare = tutti__checksums_by_trailer,
};
