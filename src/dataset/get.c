/* dataset: read variables of segments (get, follow) as the parts of one operation on a data file.
 * Compressed variables are read one by one before this operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/items.h"

#include <string.h>
#include "timestep/step_items.h"

/* An operation that reads parts of one file. */
typedef struct {
    tutti_file *file;
    tutti__item_list *items;
    tutti_off end;
    tutti_err local_err; /* error of this rank, which the operation reports to all ranks */
    tutti_error_info why;
} reading;

static tutti_err check_get_items(const tutti_dataset *d, tutti_count segment, tutti__item_list *b) {
    TUTTI_CHECK(d->mode & TUTTI_READ, TUTTI_ERR_MODE, "the dataset was not opened for reading");
    TUTTI_TRY(tutti__dataset_segment_check(d, segment));
    TUTTI_TRY(tutti__dataset_check_not_archived(d, segment));
    for (int i = 0; i < b->n; i++)
        TUTTI_TRY(tutti__item_check(d, &b->v[i], d->model.segments[segment].id));
    return TUTTI_OK;
}

/* Set entries that no rank has written to the fill value. */
static tutti_err fill_holes(const tutti__item *t) {
    unsigned char pattern[16];
    int size = 1;
    const int as = t->type == TUTTI_BYTES ? t->file_type : (int)t->type;
    const int order = t->type == TUTTI_BYTES ? t->v->order : TUTTI_NATIVE_ENDIAN;
    if (t->holes_n == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__fill_pattern(t->v->fill, as, order, pattern, &size));
    const tutti_count numbers = tutti__variable_numbers(t->v);
    for (tutti_count i = 0; i < t->holes_n; i++)
        for (tutti_count j = 0; j < numbers; j++)
            memcpy((char *)t->buf + (t->holes[i] * numbers + j) * size, pattern, (size_t)size);
    return TUTTI_OK;
}

/* Find the section of a variable in a segment, and verify it if option check_reads is set.
 * Collective; returns the same error on all ranks. */
static tutti_err find_section(tutti_dataset *d, const tutti__item *t, tutti_count segment,
                              tutti__section *out) {
    const tutti__known *k = NULL;
    TUTTI_TRY(tutti__sections_of(d, segment, &k));
    const tutti__section *s = tutti__section_find(k, t->v->id, 0);
    TUTTI_CHECK(s, TUTTI_ERR_NOT_FOUND, "segment %lld has no variable '%s'", (long long)segment,
                t->name);
    TUTTI_TRY(tutti__item_type_check(t, s->type));
    if (d->opt.check_reads && s->summed && !k->checked[s - k->sections]) {
        TUTTI_TRY(tutti__checksums_compare(d, &d->model.segments[segment], s, NULL));
        TUTTI_TRY(tutti__sections_of(d, segment, &k));
        s = tutti__section_find(k, t->v->id, 0);
        k->checked[s - k->sections] = 1;
    }
    *out = *s;
    return TUTTI_OK;
}

/* Add the bytes of a section that this rank reads as a part; read a compressed section at once.
 * Collective; returns the same error on all ranks; r->local_err is the error of this rank only. */
static tutti_err add_section_part(tutti_dataset *d, tutti__item *t, tutti_count segment,
                                  reading *r) {
    tutti__section s;
    TUTTI_TRY(find_section(d, t, segment, &s));
    t->file_type = s.type;
    if (t->v->compress > 0) {
        const tutti__compressed to = tutti__item_compressed(d, t, s.type);
        return tutti__compressed_get(d, r->file, &s, &to);
    }
    const tutti_off item = tutti__item_bytes(t->v, s.type);
    tutti_err local_err = TUTTI_OK;
    if (t->v->layout == TUTTI_RANKED) {
        tutti__ranked_reading ranked;
        TUTTI_TRY(tutti__ranked_reads(d, &s, item, t->entries, &ranked));
        t->access = ranked.access;
        t->holes = ranked.holes;
        t->holes_n = ranked.holes_n;
    } else {
        const tutti_access *access = NULL;
        local_err = tutti__decomposition_access(t->entries, item, 0, &access);
        if (local_err == TUTTI_OK) local_err = tutti_access_shift(access, s.start, 0, &t->access);
    }
    if (local_err == TUTTI_OK) local_err = fill_holes(t);
    if (local_err != TUTTI_OK && r->local_err == TUTTI_OK) {
        r->local_err = local_err;
        r->why = *tutti_last_error();
    }
    tutti__item_part(d, t, s.type, r->items);
    r->end = tutti__max(r->end, s.start + s.bytes);
    return TUTTI_OK;
}

static tutti_err run_reading(tutti_dataset *d, const char *name, int64_t file, const reading *r) {
    const tutti__dataset_reading m = {.file = r->file,
                                      .name = name,
                                      .n = r->items->parts_n,
                                      .parts = r->items->parts,
                                      .least = r->end};
    if (r->local_err != TUTTI_OK) tutti__error_assign(&r->why);
    /* If a value of the file cannot be converted to the caller's type, name its variable in the
     * error. */
    const tutti_err err = tutti__dataset_read(&m, r->local_err);
    const tutti_error_info why = *tutti_last_error();
    const tutti__known *k = NULL;
    for (int64_t i = 0; err == TUTTI_ERR_VALUE && i < d->model.segments_n; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (g->file != file || why.offset < g->start || why.offset >= g->end) continue;
        const tutti_err found = tutti__sections_of(d, i, &k);
        tutti__error_assign(&why);
        if (found == TUTTI_OK) tutti__dataset_misfit(d, k->sections, k->n, err);
    }
    return err;
}

static tutti_err get_items(tutti__step_operation *of, tutti_err local_err) {
    tutti__dataset_operation *op = (tutti__dataset_operation *)of;
    tutti_dataset *d = op->dataset;
    tutti__item_list *b = &op->items;
    const tutti_count segment = op->segment;
    tutti_err err = local_err == TUTTI_OK ? check_get_items(d, segment, b) : local_err;
    tutti__call same = {.name = "get",
                        .what = "the segment, the variables, their types or decompositions"};
    if (err == TUTTI_OK) same.hash = tutti__hash(tutti__items_hash(b), &segment, sizeof segment);
    err = tutti__dataset_call(d, &same, err);
    if (err == TUTTI_OK) {
        reading r = {.items = b};
        const int64_t file = d->model.segments[segment].file;
        err = tutti__dataset_file(d, tutti__model_file_id(&d->model, file), &r.file);
        for (int i = 0; i < b->n && err == TUTTI_OK; i++)
            err = add_section_part(d, &b->v[i], segment, &r);
        if (err == TUTTI_OK) err = run_reading(d, "get", file, &r);
        err = tutti__dataset_check_unchanged(d, err);
    }
    return tutti__dataset_named(d, "get", err);
}

tutti_err tutti_dataset_get(tutti_dataset *d, tutti_count segment, int n, const tutti_get *gets) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__dataset_operation op = tutti__dataset_operation_of(d, TUTTI__STARTED_GET, get_items);
    op.segment = segment;
    const tutti_err err = tutti__items_of_gets(n, gets, &op.items);
    return tutti__step_operation_run(&op.of, err);
}

tutti_err tutti_dataset_get_start(tutti_dataset *d, tutti_count segment, int n,
                                  const tutti_get *gets, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_live(d));
    tutti__dataset_operation op = tutti__dataset_operation_of(d, TUTTI__STARTED_GET, get_items);
    op.segment = segment;
    const tutti_err err = tutti__items_of_gets(n, gets, &op.items);
    return tutti__dataset_operation_start(&op, err, r_out);
}

/* ---- follow */

static tutti_err check_follow(const tutti_dataset *d, tutti_count first, tutti_count last,
                              const tutti_get *get, tutti__item *t) {
    TUTTI_CHECK(d->mode & TUTTI_READ, TUTTI_ERR_MODE, "the dataset was not opened for reading");
    TUTTI_TRY(tutti__dataset_segment_check(d, first));
    TUTTI_TRY(tutti__dataset_segment_check(d, last));
    TUTTI_CHECK(first <= last, TUTTI_ERR_ARG,
                "first is %lld and last is %lld: first must be <= last", (long long)first,
                (long long)last);
    TUTTI_CHECK(get, TUTTI_ERR_ARG, "argument get is NULL");
    *t = (tutti__item){
        .name = get->variable, .entries = get->entries, .type = get->type, .buf = get->buf};
    TUTTI_TRY(tutti__item_check(d, t, d->model.segments[last].id));
    TUTTI_CHECK(t->type != TUTTI_BYTES || t->v->type == TUTTI_BYTES, TUTTI_ERR_ARG,
                "variable '%s': the memory type cannot be TUTTI_BYTES, because its type may differ "
                "between segments",
                t->name);
    return TUTTI_OK;
}

/* Read the sections of segments [*at, last] that are stored in the same file, in one operation. */
static tutti_err follow_in_file(tutti_dataset *d, const tutti__item *of, tutti_off step,
                                tutti_count *at, tutti_count last, tutti_count *count) {
    const int64_t file = d->model.segments[*at].file;
    const tutti_count most = 1024;
    tutti_count segment = *at;
    tutti__item_list b = {0};
    reading r = {.items = &b};
    tutti_err err =
        tutti__team_agree(d->team, tutti__items_make((int)tutti__min(most, last - *at + 1), &b));
    if (err == TUTTI_OK && tutti__model_file_in_use(&d->model, file))
        err = tutti__dataset_file(d, tutti__model_file_id(&d->model, file), &r.file);
    for (int n = 0; err == TUTTI_OK && segment <= last && n < b.n; segment++) {
        const tutti__known *k = NULL;
        if (d->model.segments[segment].file != file) break;
        err = tutti__sections_of(d, segment, &k);
        if (err != TUTTI_OK || !tutti__section_find(k, of->v->id, 0)) continue;
        err = tutti__dataset_check_not_archived(d, segment);
        if (err != TUTTI_OK) break;
        tutti__item *t = &b.v[n++];
        *t = *of;
        t->buf = of->buf ? (char *)of->buf + step * *count : NULL;
        err = tutti__team_agree(d->team, tutti__item_check(d, t, d->model.segments[segment].id));
        if (err == TUTTI_OK) err = add_section_part(d, t, segment, &r);
        ++*count;
    }
    if (err == TUTTI_OK && r.file) err = run_reading(d, "follow", file, &r);
    tutti__items_free(&b);
    *at = segment;
    return err;
}

tutti_err tutti_dataset_follow(tutti_dataset *d, tutti_count first, tutti_count last,
                               const tutti_get *get, tutti_count *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti__item t = {0};
    tutti_count count = 0, extent = 0;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = check_follow(d, first, last, get, &t);
    if (err == TUTTI_OK) err = tutti__item_extent(t.entries, &extent);
    tutti__call same = {.name = "follow",
                        .what = "the segments, the variable, its type or decomposition"};
    if (err == TUTTI_OK) {
        const tutti__item_list b = {.n = 1, .v = &t};
        const int64_t words[] = {first, last};
        same.hash = tutti__hash(tutti__items_hash(&b), words, sizeof words);
    }
    err = tutti__dataset_call(d, &same, err);
    if (err == TUTTI_OK) {
        const tutti_off step = extent * tutti__item_bytes(t.v, t.type);
        for (tutti_count at = first; err == TUTTI_OK && at <= last;)
            err = follow_in_file(d, &t, step, &at, last, &count);
        err = tutti__dataset_check_unchanged(d, err);
    }
    if (err == TUTTI_OK && count_out) *count_out = count;
    return tutti__dataset_named(d, "follow", err);
}
