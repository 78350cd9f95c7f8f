/* metadata: find the segments of a data file by their trailers.
 *
 * The search starts at the end of the file: the start of a segment is the end of the previous one.
 * If there is no trailer at this point, the file was truncated or a trailer is damaged, and the
 * search continues page by page until it finds a trailer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/trailer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"
#include "base/sums.h"
#include "metadata/content.h"

/* ---- reading */

/* A part of the file in memory, for the search page by page. */
enum { WINDOW = 1 << 20 };
typedef struct {
    int fd;
    char *buf;
    tutti_off lo, hi;
} window;

static tutti__footer_kind read_footer(window *w, tutti_off end, int many, tutti__trailer *out) {
    tutti__footer f;
    const tutti_off at = end - (tutti_off)sizeof f;
    if (many && (at < w->lo || end > w->hi)) {
        w->lo = tutti__max(0, end - WINDOW);
        w->hi = end;
        if (tutti__bytes_read(w->fd, w->lo, w->buf, (size_t)(end - w->lo), "a data file") !=
            TUTTI_OK)
            w->hi = w->lo;
    }
    if (w->buf && at >= w->lo && end <= w->hi)
        memcpy(&f, w->buf + (at - w->lo), sizeof f);
    else if (tutti__bytes_read(w->fd, at, &f, sizeof f, "a data file") != TUTTI_OK)
        return TUTTI__FOOTER_NONE;
    return tutti__footer_parse(&f, end, out);
}

int tutti__trailer_rows(int fd, const tutti__trailer *t, char **rows_out) {
    const size_t checksums = 8 * (size_t)t->blocks, all = checksums + (size_t)t->rows;
    char *buf = tutti__malloc(all);
    if (!buf) return -1;
    int right = tutti__bytes_read(fd, t->trailer, buf, all, "a data file") == TUTTI_OK;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* a fuzzer cannot compute checksums */
    right = right && tutti__checksum_of(buf, all) == t->sum;
#endif
    if (right) {
        memmove(buf, buf + checksums, (size_t)t->rows);
        *rows_out = buf;
    } else {
        tutti__free(buf);
    }
    return right;
}

/* ---- finding */

/* Return whether the rows are valid and belong to this segment at this location. */
static int are_rows_valid(tutti__found *v) {
    const char *at = v->rows;
    size_t left = (size_t)v->at.rows;
    tutti__row r;
    int got = 0, segments = 0, files = 0, sections = 0;
    while ((got = tutti__row_next(&at, &left, &r)) == 1) {
        int64_t of = -1;
        tutti__size size;
        switch (r.table) {
        case TUTTI__ROW_SEGMENT:
            segments++;
            if (!tutti__row_segment(&r, &v->segment)) return 0;
            break;
        case TUTTI__ROW_FILE:
            files++;
            if (!tutti__row_file(&r, &v->file)) return 0;
            break;
        case TUTTI__ROW_SIZE:
            if (!tutti__row_size(&r, &size) || size.segment > v->segment.id) return 0;
            break;
        case TUTTI__ROW_SECTION:
            sections++;
            if (tutti__row_id(&r) != v->segment.id) return 0;
            break;
        case TUTTI__ROW_INFO:
            if (!tutti__row_info(&r, &of) || of > v->segment.id) return 0;
            break;
        case TUTTI__ROW_REMOVED:
            if (!tutti__row_removed(&r, &of) || of > v->segment.id) return 0;
            break;
        default:
            if (tutti__row_id(&r) < 1) return 0;
        }
    }
    const tutti__segment_row *g = &v->segment;
    return got == 0 && segments == 1 && files == 1 && sections == g->sections &&
           g->file == v->file.id && g->start == v->at.start && g->trailer == v->at.trailer &&
           g->end == v->at.end;
}

/* Add the segment that ends at t->end.  Returns 1, 0 if there is none, -1 if out of memory. */
static int add_segment(int fd, const tutti__trailer *t, tutti__found **out, int64_t *n_out) {
    char *rows = NULL;
    const int whole = tutti__trailer_rows(fd, t, &rows);
    if (whole != 1) return whole;
    tutti__found *v = tutti__table_grow(out, n_out, sizeof **out);
    if (v) {
        v->at = *t;
        v->rows = rows;
        if (are_rows_valid(v)) return 1;
        --*n_out;
    }
    tutti__free(rows);
    return v ? 0 : -1;
}

tutti_err tutti__trailers_find(int fd, tutti__found **out, int64_t *n_out, int *torn_out) {
    struct stat st;
    window w = {.fd = fd, .buf = tutti__malloc(WINDOW)};
    int torn = 0, first = 1, got = w.buf ? 0 : -1;
    *torn_out = 0;
    if (w.buf && fstat(fd, &st) != 0) got = -2;
    tutti_off end = got == 0 ? tutti__align_down(st.st_size, TUTTI__SEGMENT_ALIGN) : 0;
    while (end > TUTTI__SEGMENT_ALIGN && got >= 0) {
        tutti__trailer t;
        const tutti__footer_kind kind = read_footer(&w, end, torn, &t);
        got = kind == TUTTI__FOOTER_SEGMENT ? add_segment(fd, &t, out, n_out)
                                            : kind == TUTTI__FOOTER_GAP;
        if (got == 1) {
            end = t.start;
            torn = first = 0;
        } else {
            *torn_out += !torn && !first;
            torn = 1;
            end -= TUTTI__SEGMENT_ALIGN;
        }
    }
    tutti__free(w.buf);
    if (got == -2) return tutti__error_sys(errno, -1, "cannot determine the size of a data file");
    return got < 0 ? TUTTI_ERR_NOMEM : TUTTI_OK;
}

void tutti__found_free(tutti__found *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) tutti__free(v[i].rows);
    tutti__free(v);
}

/* ---- removed segments */

/* Overwrite footers between lo and hi, from the lowest to the highest: if the process is killed,
 * the chain that starts at hi still exists, and the next writer repeats the call. */
static tutti_err mark_gap(int fd, tutti_off lo, tutti_off hi) {
    static const tutti__footer none;
    tutti__footer mark;
    tutti__trailer t;
    window w = {.fd = fd};
    tutti_off *ends = NULL;
    int64_t n = 0;
    tutti__footer_kind kind = read_footer(&w, hi, 0, &t);
    if (kind == TUTTI__FOOTER_GAP && t.start == lo) return TUTTI_OK;
    for (tutti_off at = hi; at > lo && kind != TUTTI__FOOTER_NONE && t.start >= lo;) {
        tutti_off *end =
            kind == TUTTI__FOOTER_SEGMENT ? tutti__table_grow(&ends, &n, sizeof *ends) : NULL;
        if (kind == TUTTI__FOOTER_SEGMENT && !end) {
            tutti__free(ends);
            return TUTTI_ERR_NOMEM;
        }
        if (end) *end = at;
        at = t.start;
        kind = at > lo ? read_footer(&w, at, 0, &t) : TUTTI__FOOTER_NONE;
    }
    int bad = 0;
    while (n > 0 && !bad) {
        const tutti_off at = ends[--n] - (tutti_off)sizeof none;
        if (ends[n] != hi) bad = tutti__limited_pwrite(fd, &none, sizeof none, at);
    }
    tutti__footer_gap(lo, &mark);
    if (!bad) bad = tutti__limited_pwrite(fd, &mark, sizeof mark, hi - (tutti_off)sizeof mark);
    tutti__free(ends);
    return bad ? tutti__error_sys(errno, hi, "cannot write the footer of a removed segment")
               : TUTTI_OK;
}

tutti_err tutti__gaps_mark(const char *path, const tutti__model *model, const tutti__datafile *f) {
    tutti_off end = TUTTI__SEGMENT_ALIGN;
    tutti_err err = TUTTI_OK;
    int fd = -1;
    for (int64_t i = 0; i < model->segments_n && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &model->segments[i];
        if (g->file != f->id) continue;
        if (g->start > end) {
            if (fd < 0) fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
            err = fd < 0 ? tutti__error_sys(errno, -1, path) : mark_gap(fd, end, g->start);
        }
        end = tutti__max(end, g->end);
    }
    if (fd >= 0) close(fd);
    return err;
}
