/* segments: relations between the fields of a dataset that hold whenever a public call begins or
 * ends, asserted there in debug and sanitizer builds.  During a commit, its thread changes the
 * segments that have begun: they are not checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

/* The tables that all ranks have. */
static int is_model_valid(const tutti_dataset *d) {
    const tutti__model *m = &d->model;
    for (int64_t i = 0; i < m->segments_n; i++) {
        if (i > 0 && m->segments[i].id <= m->segments[i - 1].id) return 0;
        if (m->segments[i].id > m->serial || !tutti__model_file_id(m, m->segments[i].file))
            return 0;
    }
    for (int64_t i = 0; i < m->variables_n; i++)
        if (!tutti__model_space_id(m, m->variables[i].space)) return 0;
    return 1;
}

/* A segment that has begun: sections in the order of their places, none beyond its end. */
static int is_writing_valid(const tutti_dataset *d, const tutti__writing *w) {
    tutti_off at = w->segment.start;
    if (!w->under_way || !(d->mode & TUTTI_WRITE)) return 0;
    if (w->sections_n != w->progress_n || w->segment.file != w->row.id) return 0;
    if (w->end < w->segment.start || w->tail < 0) return 0;
    for (int64_t i = 0; i < w->sections_n; i++) {
        const tutti__section *s = &w->sections[i];
        if (s->start < at || s->bytes < 0 || s->segment != w->segment.id) return 0;
        if ((w->progress[i].puts > 0) != (w->progress[i].record != NULL)) return 0;
        at = s->start + s->bytes;
    }
    return at <= tutti__max(w->end, w->segment.start);
}

int tutti__dataset_is_valid(const tutti_dataset *d) {
    if (d->handle.class != &tutti__dataset_class || !d->team || !d->path || !d->container) return 0;
    if ((d->meta != NULL) != (d->team->rank == 0)) return 0;
    if (!(d->mode & (TUTTI_READ | TUTTI_WRITE))) return 0;
    for (const tutti__started *op = d->starts.first; op; op = op->next)
        if (op->queue != &d->starts || !op->request) return 0;
    if (d->commit) return d->message != NULL && d->commit_team != NULL;
    for (int64_t i = 0; i < d->files_n; i++) {
        if (!d->files[i].file || d->files[i].used > d->clock) return 0;
        for (int64_t k = 0; k < i; k++)
            if (d->files[k].id == d->files[i].id) return 0;
    }
    if (d->message || !is_model_valid(d)) return 0;
    if (!d->now.under_way) return d->waiting_n == 0 && d->now.sections_n == 0 && d->now.puts.n == 0;
    for (int64_t i = 0; i < d->waiting_n; i++)
        if (!is_writing_valid(d, &d->waiting[i])) return 0;
    if (d->now.puts.step != d || d->now.segment.id > d->model.serial) return 0;
    return d->now.file != NULL && is_writing_valid(d, &d->now);
}
