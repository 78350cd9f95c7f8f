/* segments: rewrite infos whose trailers are removed with their segments.
 *
 * A trailer contains the changes of infos since the previous trailer.  When a segment is removed or
 * archived, changes that are still valid are written again, together with those of the newest
 * remaining segment, to a second trailer directly after the trailer of that segment, if the segment
 * is the last one of its file.  The first trailer is valid until the transaction ends; if the
 * transaction does not end, the next writer truncates the second trailer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "metadata/content.h"

/* Return the index of the newest remaining segment if it is the last one of its file, otherwise
 * -1. */
static int64_t find_last_remaining(const tutti__model *m, const unsigned char *goes) {
    int64_t i = m->segments_n - 1;
    while (i >= 0 && (goes[i] || tutti__model_archived(m, m->segments[i].id))) i--;
    if (i < 0 || i == m->segments_n - 1) return i;
    return m->segments[i + 1].file == m->segments[i].file ? -1 : i;
}

/* Read the checksums of a trailer; *out is NULL if the trailer is damaged. */
static tutti_err read_trailer_sums(int fd, const char *path, const tutti__segment_row *g,
                                   tutti__trailer *t, uint64_t **out) {
    tutti__footer foot;
    char *rows = NULL;
    *out = NULL;
    TUTTI_TRY(tutti__bytes_read(fd, g->end - (tutti_off)sizeof foot, &foot, sizeof foot, path));
    if (tutti__footer_parse(&foot, g->end, t) != TUTTI__FOOTER_SEGMENT || t->start != g->start)
        return TUTTI_OK;
    const int whole = tutti__trailer_rows(fd, t, &rows);
    if (whole <= 0) return whole ? TUTTI_ERR_NOMEM : TUTTI_OK;
    tutti__free(rows);
    *out = tutti__malloc((size_t)(8 * t->blocks) + 1);
    if (!*out) return TUTTI_ERR_NOMEM;
    return tutti__bytes_read(fd, t->trailer, *out, (size_t)(8 * t->blocks), path);
}

tutti_err tutti__infos_carry(void *context) {
    tutti__info_carry *c = context;
    const tutti_dataset *d = c->dataset;
    int64_t n = 0;
    char path[4096];
    c->segment = -1;
    TUTTI_TRY(tutti__meta_infos_orphaned(d->meta, &n));
    if (n > 0) c->segment = find_last_remaining(&d->model, c->goes);
    if (c->segment < 0) return TUTTI_OK;
    const int64_t file = d->model.segments[c->segment].file;
    tutti__dataset_data_path(d, tutti__model_file_id(&d->model, file)->name, path, sizeof path);
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return tutti__error_sys(errno, -1, path);
    tutti__meta *m = c->dataset->meta;
    const tutti__segment_row *g = &c->dataset->model.segments[c->segment];
    tutti__trailer t;
    uint64_t *checksums = NULL;
    char *buf = NULL;
    c->row = *g;
    c->row.trailer = g->end;
    tutti_err err = read_trailer_sums(fd, path, g, &t, &checksums);
    if (err == TUTTI_OK && !checksums) c->segment = -1; /* a repair will report the damage */
    if (err == TUTTI_OK && checksums) {
        /* is_joined is 0, since the commit of this segment has ended */
        const tutti__trailer_spec spec = {checksums, t.blocks, 0, 0};
        err = tutti__meta_infos_unwritten(m, g->id); /* the first trailer becomes invalid */
        if (err == TUTTI_OK) err = tutti__meta_end_segment(m, &c->row);
        if (err == TUTTI_OK) err = tutti__trailer_make(m, &spec, &c->row, &buf);
        if (err == TUTTI_OK)
            err = tutti__bytes_write(fd, c->row.trailer, buf, (size_t)(c->row.end - c->row.trailer),
                                     path);
        if (err == TUTTI_OK && fsync(fd) != 0) err = tutti__error_sys(errno, -1, path);
        /* the next writer truncates the file */
        if (err != TUTTI_OK && ftruncate(fd, g->end) != 0) c->segment = -1;
    }
    tutti__free(checksums);
    tutti__free(buf);
    close(fd);
    return err;
}

tutti_err tutti__infos_carry_end(tutti_dataset *d, tutti__info_carry *c) {
    TUTTI_TRY(tutti__team_broadcast(d->team, &c->segment, (int)sizeof c->segment));
    TUTTI_TRY(tutti__team_broadcast(d->team, &c->row, (int)sizeof c->row));
    if (c->segment >= 0) d->model.segments[c->segment] = c->row;
    return TUTTI_OK;
}
