/* archive: rebuild metadata from the trailers of segments.
 *
 * Spaces and variables are taken from the newest segment, since every trailer has all of them.
 * Infos are the changes in all trailers, oldest first (in version 1, every trailer has all infos).
 * A segment belongs to the dataset if its spaces and variables agree with those of the newest
 * segment, if no newer segment precedes it in time (otherwise it was erased), and if the topology
 * and the lists of entries that it needs exist.  The new database is validated like any other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "archive/repair_impl.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/sums.h"
#include "timestep/blocks.h"

void tutti__repair_lost(tutti__repair *r, int64_t n, const char *format, ...) {
    va_list args;
    if (n <= 0) return;
    r->report.lost += n;
    if (r->report.first_lost[0]) return;
    va_start(args, format);
    vsnprintf(r->report.first_lost, sizeof r->report.first_lost, format, args);
    va_end(args);
}

const tutti__listed_file *tutti__repair_file(const tutti__repair *r, const char *name) {
    for (int64_t i = 0; i < r->files_n; i++)
        if (strcmp(r->files[i].name, name) == 0) return &r->files[i];
    return NULL;
}

/* ---- rows */

int tutti__rows_within(const char *rows, size_t n, const char *of, size_t of_n, unsigned tables) {
    tutti__row a, b;
    int got = 0;
    while ((got = tutti__row_next(&rows, &n, &a)) == 1) {
        if (!(tables >> a.table & 1)) continue;
        do {
            if (tutti__row_next(&of, &of_n, &b) != 1) return 0;
        } while (a.n != b.n || memcmp(a.bytes, b.bytes, a.n) != 0);
    }
    return got == 0;
}

/* ---- the data of a segment and its checksums */

static int is_section_intact(int fd, tutti_off start, tutti_off bytes, const uint64_t *want,
                             char *block) {
    for (tutti_off at = start; at < start + bytes;) {
        const tutti_off end =
            tutti__min(tutti__align_down(at, TUTTI__BLOCK) + TUTTI__BLOCK, start + bytes);
        const ssize_t n = pread(fd, block, (size_t)(end - at), (off_t)at);
        if (n != end - at || tutti__checksum_of(block, (size_t)n) != le64toh(*want++)) return 0;
        at = end;
    }
    return 1;
}

int tutti__repair_sums_right(const tutti__listed_file *file, const tutti__found *v) {
    const char *rows = v->rows;
    size_t left = (size_t)v->at.rows;
    tutti__row r;
    int right = 1;
    int64_t n = 0;
    if (v->at.blocks == 0) return 1;
    uint64_t *checksums = tutti__malloc((size_t)v->at.blocks * sizeof *checksums);
    char *block = tutti__malloc(TUTTI__BLOCK);
    if (!checksums || !block) {
        tutti__free(checksums);
        tutti__free(block);
        return -1;
    }
    const ssize_t bytes = (ssize_t)(8 * v->at.blocks);
    right = pread(file->fd, checksums, (size_t)bytes, (off_t)v->at.trailer) == bytes;
    while (right && tutti__row_next(&rows, &left, &r) == 1) {
        if (r.table != TUTTI__ROW_SECTION || r.columns < 5) continue;
        const tutti_off start = r.cell[3].number, size = r.cell[4].number;
        right = start >= v->at.start && size >= 0 && size <= v->at.trailer - start &&
                tutti__blocks_of(start, size) <= v->at.blocks - n &&
                is_section_intact(file->fd, start, size, checksums + n, block);
        if (right) n += tutti__blocks_of(start, size);
    }
    tutti__free(checksums);
    tutti__free(block);
    return right;
}

/* ---- segments that belong to the dataset */

/* Select segments, newest first.  A segment that is older than another one but later in time, or
 * overlaps it, was erased. */
static tutti_err select_valid_segments(tutti__repair *r, unsigned char *is_kept,
                                       const tutti__found **base) {
    const tutti__found *last = NULL;
    int tried = 0;
    for (int64_t i = 0; i < r->found_n; i++) {
        const tutti__found *v = &r->found[i];
        const tutti__segment_row *a = &v->segment, *b = last ? &last->segment : NULL;
        if (b && !(a->id < b->id &&
                   (a->index < b->index || (a->index == b->index && a->kind < b->kind))))
            continue;
        if (last && v->segment.file == last->segment.file && v->at.end > last->at.start) continue;
        if (!tried++) { /* the commit of the newest segment may not have finished */
            const tutti__listed_file *f = tutti__repair_file(r, v->file.name);
            const int right = f ? tutti__repair_sums_right(f, v) : 0;
            if (right < 0) return TUTTI_ERR_NOMEM;
            if (!right) {
                tutti__repair_lost(r, 1, "the last segment (time index %lld): checksum mismatch",
                                   (long long)v->segment.index);
                continue;
            }
        }
        if (!*base) *base = v;
        if (!tutti__rows_within(v->rows, (size_t)v->at.rows, (*base)->rows,
                                (size_t)(*base)->at.rows,
                                1U << TUTTI__ROW_SPACE | 1U << TUTTI__ROW_VARIABLE)) {
            tutti__repair_lost(r, 1, "'%s' contains a segment of another dataset", v->file.name);
            continue;
        }
        is_kept[i] = 1;
        last = v;
    }
    return TUTTI_OK;
}

/* Return whether the sizes valid for a segment were set by it, initially, or by an existing
 * segment. */
static int are_sizes_known(const tutti__repair *r, const unsigned char *is_kept,
                           const tutti__found *v) {
    const char *rows = v->rows;
    size_t left = (size_t)v->at.rows;
    tutti__row row;
    while (tutti__row_next(&rows, &left, &row) == 1) {
        if (row.table != TUTTI__ROW_SIZE) continue;
        const int64_t of = tutti__row_id(&row);
        int there = of == 0 || of == v->segment.id;
        for (int64_t i = 0; i < r->found_n && !there; i++)
            there = is_kept[i] && r->found[i].segment.id == of;
        if (!there) return 0;
    }
    return 1;
}

/* ---- into the database */

/* Add the rows of a trailer that describe the dataset (`common`), or its segment; without infos. */
static tutti_err add_trailer_rows(tutti__meta *m, const tutti__found *v, int common) {
    const char *rows = v->rows;
    size_t left = (size_t)v->at.rows;
    tutti__row r;
    while (tutti__row_next(&rows, &left, &r) == 1) {
        const int64_t of = tutti__row_id(&r);
        if (r.table == TUTTI__ROW_FILE || r.table >= TUTTI__ROW_INFO) continue;
        const int is_common = r.table == TUTTI__ROW_SPACE || r.table == TUTTI__ROW_VARIABLE ||
                              (r.table == TUTTI__ROW_SIZE && !of);
        if (is_common != common || (!common && of != v->segment.id)) continue;
        TUTTI_TRY(tutti__meta_row_add(m, &r));
    }
    return TUTTI_OK;
}

static tutti_err add_all_rows(tutti__repair *r, tutti__meta *m, const unsigned char *is_kept,
                              const tutti__found *base, int64_t generation) {
    int64_t serial = 0;
    if (base) TUTTI_TRY(add_trailer_rows(m, base, 1));
    for (int64_t i = r->found_n - 1; i >= 0; i--) {
        const tutti__found *v = &r->found[i];
        serial = tutti__max(serial, v->segment.id);
        if (!is_kept[i]) continue;
        int known = 0;
        for (int64_t j = i + 1; j < r->found_n && !known; j++)
            known = is_kept[j] && r->found[j].file.id == v->file.id;
        if (!known) TUTTI_TRY(tutti__meta_add_file(m, &v->file));
        TUTTI_TRY(add_trailer_rows(m, v, 0));
        TUTTI_TRY(
            tutti__meta_infos_apply(m, v->segment.id, v->at.version, v->rows, (size_t)v->at.rows));
    }
    TUTTI_TRY(tutti__meta_set(m, "serial", serial));
    return tutti__meta_set(m, "generation", generation);
}

/* Validate the database, and remove segments that have invalid sections or need a missing segment;
 * *again_out: whether a segment was removed. */
static tutti_err validate_database(tutti__repair *r, tutti__meta *m, int *again_out) {
    tutti__model model;
    *again_out = 0;
    TUTTI_TRY(tutti__meta_load(m, &model));
    tutti_err err = tutti__meta_begin(m);
    for (int64_t i = 0; i < model.segments_n && err == TUTTI_OK; i++) {
        tutti__section *sections = NULL;
        int64_t n = 0;
        err = tutti__meta_sections(m, &model, &model.segments[i], &sections, &n);
        tutti__free(sections);
        if (err != TUTTI_ERR_FORMAT && err != TUTTI_ERR_STATE) continue;
        tutti__repair_lost(r, 1, "%s", tutti_last_error()->text);
        *again_out = 1;
        err = tutti__meta_remove_segment(m, model.segments[i].id);
    }
    r->report.segments = model.segments_n;
    tutti__model_free(&model);
    if (err == TUTTI_OK) err = tutti__meta_infos_prune(m);
    return tutti__meta_end(m, err);
}

static tutti_err fill_database(tutti__repair *r, tutti__meta *m, int64_t generation) {
    const tutti__found *base = NULL;
    int again = 1;
    unsigned char *is_kept = tutti__calloc((size_t)r->found_n + 1, 1);
    tutti_err err = is_kept ? select_valid_segments(r, is_kept, &base) : TUTTI_ERR_NOMEM;
    for (int64_t i = r->found_n - 1; i >= 0 && err == TUTTI_OK; i--) {
        if (!is_kept[i] || are_sizes_known(r, is_kept, &r->found[i])) continue;
        is_kept[i] = 0;
        tutti__repair_lost(r, 1, "the segment with time index %lld: topology is missing",
                           (long long)r->found[i].segment.index);
    }
    if (err == TUTTI_OK) err = tutti__meta_begin(m);
    if (err == TUTTI_OK) err = add_all_rows(r, m, is_kept, base, generation);
    if (err == TUTTI_OK) err = tutti__meta_commit(m);
    while (err == TUTTI_OK && again) err = validate_database(r, m, &again);
    tutti__free(is_kept);
    return err != TUTTI_OK ? err : tutti__meta_integrity(m);
}

tutti_err tutti__rebuild(tutti__repair *r, const char *name, int64_t generation) {
    char path[4200];
    tutti__meta *m = NULL;
    tutti__meta_options opt = r->options;
    snprintf(path, sizeof path, "%s/%s", r->directory, name);
    unlink(path); /* a repair that was killed may have left this file */
    snprintf(path, sizeof path, "%s/%s-journal", r->directory, name);
    unlink(path);
    opt.name = name;
    opt.mode |= TUTTI_CREATE;
    TUTTI_TRY(tutti__meta_open(r->directory, &opt, &m));
    tutti_err err = fill_database(r, m, generation);
    tutti__meta_close(&m);
    if (r->torn)
        tutti__repair_lost(r, r->torn, "the data files have %d ranges without a valid trailer",
                           r->torn);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", r->directory, name);
    if (err != TUTTI_OK) unlink(path);
    return err;
}
