/* dataset: remove segments, first from the database, then from the data files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <errno.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

tutti_err tutti__dataset_reclaim(const tutti_dataset *d) {
    for (int64_t i = 0; i < d->model.files_n; i++)
        TUTTI_TRY(d->container->reclaim(d, &d->model.files[i]));
    return TUTTI_OK;
}

static int is_file_used(const tutti__model *m, int64_t file, const unsigned char *is_removed) {
    for (int64_t i = 0; i < m->segments_n; i++)
        if (!is_removed[i] && m->segments[i].file == file) return 1;
    return 0;
}

/* On rank 0, remove the rows of segments in one transaction. */
static tutti_err remove_segment_rows(tutti_dataset *d, const unsigned char *is_removed,
                                     tutti__info_carry *carry) {
    const tutti__model *m = &d->model;
    TUTTI_TRY(tutti__meta_begin(d->meta));
    tutti_err err = TUTTI_OK;
    for (int64_t i = 0; i < m->segments_n && err == TUTTI_OK; i++)
        if (is_removed[i]) err = tutti__meta_remove_segment(d->meta, m->segments[i].id);
    for (int64_t i = 0; i < m->files_n && err == TUTTI_OK; i++)
        if (!is_file_used(m, m->files[i].id, is_removed))
            err = tutti__meta_remove_file(d->meta, m->files[i].id);
    if (err == TUTTI_OK) err = tutti__meta_set(d->meta, "generation", m->generation + 1);
    if (err == TUTTI_OK) err = d->container->erase(carry);
    return tutti__meta_end(d->meta, err);
}

/* Remove segments.   Collective. */
static tutti_err remove_segments(tutti_dataset *d, const unsigned char *is_removed) {
    tutti__model *m = &d->model;
    char path[4096];
    tutti__info_carry carry = {.dataset = d, .goes = is_removed, .segment = -1};
    tutti_err err = d->team->rank == 0 ? remove_segment_rows(d, is_removed, &carry) : TUTTI_OK;
    TUTTI_TRY(tutti__team_agree(d->team, err));
    err = tutti__infos_carry_end(d, &carry);
    for (int64_t i = m->files_n - 1; i >= 0; i--) {
        if (is_file_used(m, m->files[i].id, is_removed)) continue;
        const tutti__datafile row = m->files[i];
        const tutti_err got = tutti__dataset_file_close(d, &row);
        tutti__dataset_data_path(d, row.name, path, sizeof path);
        if (d->team->rank == 0) unlink(path); /* otherwise the next writer removes the file */
        if (err == TUTTI_OK) err = got;
        memmove(&m->files[i], &m->files[i + 1], (size_t)(m->files_n - i - 1) * sizeof *m->files);
        m->files_n--;
    }
    int64_t n = 0;
    for (int64_t i = 0; i < m->segments_n; i++) {
        if (is_removed[i])
            tutti__model_sizes_drop(m, m->segments[i].id);
        else
            m->segments[n++] = m->segments[i];
    }
    m->segments_n = n;
    n = 0;
    for (int64_t i = 0; i < m->archived_n; i++)
        if (tutti__model_segment_id(m, m->archived[i].segment)) m->archived[n++] = m->archived[i];
    m->archived_n = n;
    /* close files whose remaining segments are all archived */
    for (int64_t i = 0; i < m->files_n; i++)
        if (!tutti__model_file_in_use(m, m->files[i].id)) {
            const tutti_err got = tutti__dataset_file_close(d, &m->files[i]);
            if (err == TUTTI_OK) err = got;
        }
    m->generation++;
    m->defined = 0; /* the definitions of the file that is now the last one are unknown */
    tutti__ncfile_free(&d->nc);
    tutti__dataset_clear_caches(d);
    const tutti_err cut =
        tutti__team_agree(d->team, d->team->rank == 0 ? tutti__dataset_reclaim(d) : TUTTI_OK);
    return err != TUTTI_OK ? err : cut;
}

/* Remove segment `first` and all later segments.   Collective. */
static tutti_err remove_segments_from(tutti_dataset *d, int64_t first) {
    if (first == d->model.segments_n) return TUTTI_OK;
    unsigned char *is_removed = tutti__calloc((size_t)d->model.segments_n + 1, 1);
    tutti_err err = tutti__team_agree(d->team, is_removed ? TUTTI_OK : TUTTI_ERR_NOMEM);
    for (int64_t i = first; err == TUTTI_OK && i < d->model.segments_n; i++) is_removed[i] = 1;
    if (err == TUTTI_OK) err = remove_segments(d, is_removed);
    tutti__free(is_removed);
    return err;
}

tutti_err tutti__dataset_recover(tutti_dataset *d) {
    return remove_segments_from(d, d->model.published);
}

static tutti_err check_removal(const tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(!d->now.under_way, TUTTI_ERR_STATE,
                "a segment has begun and was neither committed nor discarded");
    return tutti__start_queue_empty(&d->starts, NULL);
}

tutti_err tutti_dataset_erase_after(tutti_dataset *d, tutti_count segment) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti__call same = {.name = "erase",
                              .what = "the segment",
                              .hash = tutti__hash(TUTTI__HASH_START, &segment, sizeof segment)};
    tutti_err err = check_removal(d);
    if (err == TUTTI_OK && segment != -1) err = tutti__dataset_segment_check(d, segment);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    return tutti__dataset_named(d, "erase", remove_segments_from(d, segment + 1));
}

/* On rank 0, clear is_removed[] for every segment that a remaining segment needs: the last topology
 * before it, the segments that set the sizes of its spaces, and those with lists of entries of its
 * sections.  A segment kept for this reason may need further segments; all of them are older, so
 * one backward pass is enough. */
static tutti_err keep_needed_segments(const tutti_dataset *d, unsigned char *is_removed) {
    const tutti__model *m = &d->model;
    const size_t spaces = (size_t)m->spaces_n;
    tutti__list_use *uses = NULL;
    int64_t n = 0, use = 0;
    int topology = 0; /* whether a remaining segment needs an earlier topology */
    /* [spaces] whether a remaining segment needs the segment that set the size */
    unsigned char *size = tutti__calloc(spaces + 1, 1);
    tutti_err err = size ? tutti__meta_list_uses(d->meta, &uses, &n) : TUTTI_ERR_NOMEM;
    for (int64_t i = m->segments_n - 1; i >= 0 && err == TUTTI_OK; i--) {
        const tutti__segment_row *g = &m->segments[i];
        if (g->kind == TUTTI_TOPOLOGY && topology) is_removed[i] = 0;
        for (int64_t k = 0; k < m->sizes_n; k++)
            if (m->sizes[k].segment == g->id &&
                size[tutti__model_space_id(m, m->sizes[k].space) - m->spaces])
                is_removed[i] = 0;
        if (!is_removed[i]) {
            topology = 1;
            memset(size, 1, spaces);
        }
        for (int64_t k = 0; k < m->sizes_n; k++)
            if (m->sizes[k].segment == g->id)
                size[tutti__model_space_id(m, m->sizes[k].space) - m->spaces] = 0;
        if (g->kind == TUTTI_TOPOLOGY) topology = 0;
        while (use < n && uses[use].segment > g->id) use++;
        for (; use < n && uses[use].segment == g->id; use++) {
            const tutti__segment_row *list = tutti__model_segment_id(m, uses[use].list_segment);
            if (list && !is_removed[i]) is_removed[list - m->segments] = 0;
        }
    }
    tutti__free(size);
    tutti__free(uses);
    return err;
}

tutti_err tutti_dataset_drop_oldest(tutti_dataset *d, int keep) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    const tutti__call same = {.name = "drop",
                              .what = "the number of files to keep",
                              .hash = tutti__hash(TUTTI__HASH_START, &keep, sizeof keep)};
    const tutti__model *m = &d->model;
    tutti_err err = check_removal(d);
    if (err == TUTTI_OK && keep < 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "keep is %d: number of files must be >= 0",
                               keep);
    TUTTI_TRY(tutti__dataset_call(d, &same, err));
    if (m->files_n <= keep) return TUTTI_OK;
    const int64_t last = m->files[m->files_n - keep - 1].id; /* the newest file to remove */
    unsigned char *is_removed = tutti__calloc((size_t)m->segments_n + 1, 1);
    int64_t first_kept = 0;
    err = tutti__team_agree(d->team, is_removed ? TUTTI_OK : TUTTI_ERR_NOMEM);
    for (; err == TUTTI_OK && first_kept < m->segments_n && m->segments[first_kept].file <= last;
         first_kept++)
        is_removed[first_kept] = 1;
    if (err == TUTTI_OK && d->team->rank == 0) err = keep_needed_segments(d, is_removed);
    if (is_removed) err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(d->team, is_removed, (int)m->segments_n);
    if (err == TUTTI_OK) err = remove_segments(d, is_removed);
    tutti__free(is_removed);
    return tutti__dataset_named(d, "drop", err);
}
