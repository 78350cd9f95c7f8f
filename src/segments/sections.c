/* segments: sections of committed segments, which are read on demand, and of segments being
 * written.  Sections are consecutive; large ones start at multiples of a block, so that a checksum
 * block or page belongs to one section.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <string.h>

/* ---- committed segments */

/* Maximum number of segments whose sections are cached. */
enum { KNOWN = 64 };

tutti_err tutti__sections_of(tutti_dataset *d, int64_t segment, const tutti__known **out) {
    const tutti__segment_row *g = &d->model.segments[segment];
    for (int64_t i = 0; i < d->known_n; i++)
        if (d->known[i].segment == g->id) {
            *out = &d->known[i];
            return TUTTI_OK;
        }
    tutti__section *rows = NULL;
    int64_t n = 0;
    tutti_err err = TUTTI_OK;
    if (d->team->rank == 0) err = tutti__meta_sections(d->meta, &d->model, g, &rows, &n);
    TUTTI_TRY(tutti__team_agree(d->team, err));
    size_t bytes = (size_t)n * sizeof *rows;
    void *received = rows;
    err = tutti__team_broadcast_bytes(d->team, &received, &bytes);
    if (err != TUTTI_OK) tutti__free(received);
    TUTTI_TRY(err);
    rows = received;
    n = (int64_t)(bytes / sizeof *rows);
    tutti__known *k = NULL;
    unsigned char *checked = tutti__calloc((size_t)n + 1, 1);
    if (d->known_n == KNOWN) {
        k = &d->known[0];
        tutti__free(k->sections);
        tutti__free(k->checked);
        memmove(k, k + 1, (KNOWN - 1) * sizeof *k);
        d->known_n--;
    }
    k = checked ? tutti__table_grow(&d->known, &d->known_n, sizeof *k) : NULL;
    err = tutti__team_agree(d->team, k ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        if (k) d->known_n--;
        tutti__free(rows);
        tutti__free(checked);
        return err;
    }
    *k = (tutti__known){g->id, n, rows, checked};
    *out = k;
    return TUTTI_OK;
}

const tutti__section *tutti__section_find(const tutti__known *k, int64_t variable, int64_t part) {
    for (int64_t i = 0; i < k->n; i++)
        if (k->sections[i].variable == variable && k->sections[i].part == part)
            return &k->sections[i];
    return NULL;
}

tutti_err tutti__section_read(tutti_file *f, tutti_off at, tutti_off bytes, void *to) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_read_independent(f, access, to, &count);
    tutti_access_free(&access);
    TUTTI_TRY(err);
    TUTTI_CHECK(count == bytes, TUTTI_ERR_TRUNCATED,
                "short read of a section: %lld of %lld bytes at offset %lld", (long long)count,
                (long long)bytes, (long long)at);
    return TUTTI_OK;
}

tutti_err tutti__file_put(tutti_file *f, tutti_off at, tutti_off bytes, const void *data) {
    tutti_access *access = NULL;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_write_independent(f, access, data, NULL);
    tutti_access_free(&access);
    return err;
}

/* ---- segments being written */

const tutti__writing *tutti__writing_of(const tutti_dataset *d, int64_t segment) {
    for (int64_t i = 0; i < d->waiting_n; i++)
        if (d->waiting[i].segment.id == segment) return &d->waiting[i];
    return d->now.under_way && d->now.segment.id == segment ? &d->now : NULL;
}

tutti__section *tutti__writing_section(const tutti__writing *w, int64_t variable, int64_t part) {
    for (int64_t i = 0; i < w->sections_n; i++)
        if (w->sections[i].variable == variable && w->sections[i].part == part)
            return &w->sections[i];
    return NULL;
}

tutti__section *tutti__section_now(const tutti_dataset *d, int64_t variable, int64_t part) {
    return tutti__writing_section(&d->now, variable, part);
}

tutti__section_progress *tutti__section_progress_of(const tutti_dataset *d,
                                                    const tutti__section *s) {
    return &d->now.progress[s - d->now.sections];
}

tutti_err tutti__tail_cut(tutti_dataset *d) {
    tutti__writing *w = &d->now;
    if (!w->tail) return TUTTI_OK;
    const int root = d->team->rank == 0;
    TUTTI_TRY(tutti__team_agree(d->team, root ? tutti__cut_here(w->file, w->tail) : TUTTI_OK));
    w->tail = 0;
    return TUTTI_OK;
}

/* Move the last row to its position in the order of offsets. */
static tutti__section *sort_last_row(tutti__writing *w) {
    int64_t i = w->sections_n - 1;
    const tutti__section last = w->sections[i];
    const tutti__section_progress progress = w->progress[i];
    for (; i > 0 && w->sections[i - 1].start > last.start; i--) {
        w->sections[i] = w->sections[i - 1];
        w->progress[i] = w->progress[i - 1];
    }
    w->sections[i] = last;
    w->progress[i] = progress;
    return &w->sections[i];
}

tutti_err tutti__sections_reserve(tutti_dataset *d, int64_t n) {
    tutti__writing *w = &d->now;
    const int64_t sections = w->sections_n, progress = w->progress_n;
    int fits = 1;
    for (int64_t i = 0; i < n && fits; i++)
        fits = tutti__table_grow(&w->sections, &w->sections_n, sizeof *w->sections) &&
               tutti__table_grow(&w->progress, &w->progress_n, sizeof *w->progress);
    w->sections_n = sections;
    w->progress_n = progress;
    return fits ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti__section *tutti__section_new(tutti_dataset *d, const tutti__section *of, tutti_off bytes) {
    tutti__writing *w = &d->now;
    const int64_t i = w->sections_n++;
    w->progress_n++;
    w->sections[i] = *of;
    w->sections[i].segment = w->segment.id;
    w->sections[i].start = d->container->section_start(d, of, bytes);
    w->sections[i].bytes = bytes;
    w->end = tutti__max(w->end, w->sections[i].start + bytes);
    w->progress[i] = (tutti__section_progress){.needs_base = 1};
    return sort_last_row(w);
}

/* Remove the row of a section. */
static void remove_section_row(tutti__writing *w, int64_t i) {
    const tutti__section *s = &w->sections[i];
    const int64_t behind = w->sections_n - 1 - i;
    if (behind == 0 && w->end == s->start + s->bytes) {
        w->end = s->start;
        w->tail = w->tail ? tutti__min(w->tail, w->end) : w->end;
    }
    memmove(&w->sections[i], &w->sections[i + 1], (size_t)behind * sizeof *w->sections);
    memmove(&w->progress[i], &w->progress[i + 1], (size_t)behind * sizeof *w->progress);
}

void tutti__section_move(tutti_dataset *d, tutti__section *s, tutti_off bytes) {
    tutti__writing *w = &d->now;
    const int64_t i = s - w->sections, last = w->sections_n - 1;
    tutti__section moved = *s;
    const tutti__section_progress progress = w->progress[i];
    remove_section_row(w, i);
    moved.start = d->container->section_start(d, &moved, bytes);
    moved.bytes = bytes;
    w->end = tutti__max(w->end, moved.start + bytes);
    w->sections[last] = moved;
    w->progress[last] = progress;
    (void)sort_last_row(w);
}

void tutti__section_drop(tutti_dataset *d, tutti__section *s) {
    tutti__writing *w = &d->now;
    const int64_t i = s - w->sections;
    tutti__section_state_free(&w->progress[i].state);
    remove_section_row(w, i);
    w->sections_n--;
    w->progress_n--;
}

tutti_err tutti__section_target(tutti_dataset *d, tutti__put_record *record,
                                const tutti__section *s, int64_t decomposition, int is_whole) {
    tutti__section_progress *progress = tutti__section_progress_of(d, s);
    progress->record = record;
    progress->puts++;
    return tutti__put_target_add(record, &(tutti__put_target){.variable = s->variable,
                                                              .part = s->part,
                                                              .entries = decomposition,
                                                              .is_whole = is_whole,
                                                              .is_own = s->part > 0});
}

void tutti__sections_sync_failed(tutti_dataset *d) {
    for (int64_t i = 0; i <= d->waiting_n; i++) {
        tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        if (w->row.id != d->now.row.id) continue;
        w->failed_sync = 1;
        for (int64_t k = 0; k < w->sections_n; k++) {
            tutti__section_sync_failed(&w->progress[k].state);
            w->progress[k].needs_base = 1;
        }
    }
}

static void free_writing(tutti__writing *w) {
    tutti__puts_free(&w->puts);
    for (int64_t i = 0; i < w->progress_n; i++) tutti__section_state_free(&w->progress[i].state);
    for (int64_t i = 0; i < w->infos_n; i++) tutti__free(w->infos[i].value);
    tutti__free(w->infos);
    tutti__free(w->sections);
    tutti__free(w->progress);
    *w = (tutti__writing){0};
}

void tutti__writings_free(tutti_dataset *d) {
    for (int64_t i = 0; i < d->waiting_n; i++) free_writing(&d->waiting[i]);
    tutti__free(d->waiting);
    d->waiting = NULL;
    d->waiting_n = 0;
    free_writing(&d->now);
}
