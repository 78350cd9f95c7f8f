/* dataset: write variables (put): all variables of a call are the parts of one operation on the
 * data file.
 *
 *   check      this rank's arguments; reserve memory for all that the put adds
 *   call       all ranks agree on the arguments; later errors of a single rank are reported by the
 *              first agreement of the operation
 *   define     exchange sizes of ranked variables for a new decomposition; compress variables
 *   place      create sections of variables that have none in this segment; the record
 *   base       write fill values of partially written sections, each rank its share
 *   operation  entries; headers and lists of entries of ranked variables are parts of it
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/items.h"

#include <string.h>

/* ---- check */

/* Compressed variables must be written whole, by a blocking call. */
static tutti_err check_compressed_put(const tutti__item *t, int is_started) {
    if (t->v->compress == 0) return TUTTI_OK;
    TUTTI_CHECK(
        !is_started, TUTTI_ERR_UNSUPPORTED,
        "variable '%s' is compressed: write it with tutti_dataset_put, not tutti_dataset_put_start",
        t->name);
    TUTTI_CHECK(t->facts.whole, TUTTI_ERR_UNSUPPORTED,
                "variable '%s' is compressed and must be written whole, but the decomposition "
                "omits entries",
                t->name);
    return TUTTI_OK;
}

/* Check that a ranked section has the entries of one decomposition.  If its put failed, another
 * decomposition may replace it. */
static tutti_err check_ranked_put(const tutti_dataset *d, const tutti__item *t) {
    const tutti__section *s = tutti__writing_section(&d->now, t->v->id, 0);
    if (t->v->layout != TUTTI_RANKED || !s) return TUTTI_OK;
    const tutti__section_progress *progress = tutti__section_progress_of(d, s);
    const int has_failed = tutti__section_status_of(&progress->state) == TUTTI__SECTION_FAILED;
    TUTTI_CHECK(
        progress->decomposition == t->facts.number ||
            (has_failed && !tutti__put_in_flight(&d->now.puts, s->variable, s->part)),
        TUTTI_ERR_STATE,
        "variable '%s' has layout ranked and was written with another decomposition: use the "
        "same one",
        t->name);
    return TUTTI_OK;
}

static tutti_err check_put_items(tutti_dataset *d, int is_started, tutti__item_list *b) {
    /* a thread of a commit may be reading the sections */
    TUTTI_TRY(tutti__step_object_idle(&d->base));
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way, TUTTI_ERR_STATE, "no segment has begun");
    for (int i = 0; i < b->n; i++) {
        tutti__item *t = &b->v[i];
        TUTTI_TRY(tutti__item_check(d, t, d->now.segment.id));
        TUTTI_TRY(tutti__item_type_check(t, t->v->put_type));
        TUTTI_TRY(check_compressed_put(t, is_started));
        TUTTI_TRY(check_ranked_put(d, t));
        TUTTI_TRY(d->container->put_check(d, t->v));
        for (int j = 0; j < i; j++)
            TUTTI_CHECK(b->v[j].v != t->v, TUTTI_ERR_ARG, "duplicate variable '%s'", t->name);
    }
    /* Reserve memory for all rows that the put may add. */
    const int64_t listed = d->listed_n;
    int fits = 1;
    for (int i = 0; i < b->n && fits; i++)
        fits = tutti__table_grow(&d->listed, &d->listed_n, sizeof *d->listed) != NULL;
    d->listed_n = listed;
    return fits ? tutti__sections_reserve(d, 2 * (int64_t)b->n) : TUTTI_ERR_NOMEM;
}

/* ---- define */

/* Compress variables.   Collective; returns the same error on all ranks. */
static tutti_err pack_compressed(tutti_dataset *d, tutti__item_list *b) {
    tutti__compressed from[TUTTI__PACKED_TOGETHER];
    tutti__packed_section *to[TUTTI__PACKED_TOGETHER];
    int n = 0;
    for (int i = 0; i < b->n; i++) {
        tutti__item *t = &b->v[i];
        if (t->v->compress > 0) {
            from[n] = tutti__item_compressed(d, t, t->v->put_type);
            to[n++] = &t->packed;
        }
        if (n > 0 && (n == TUTTI__PACKED_TOGETHER || i == b->n - 1)) {
            TUTTI_TRY(tutti__compressed_pack(d, n, from, to));
            n = 0;
        }
    }
    return TUTTI_OK;
}

/* ---- place.   Local, and the same on all ranks, but for the records */

/* Return the bytes of a new section; -1: too many. */
static tutti_off section_bytes(const tutti_dataset *d, const tutti__item *t) {
    const tutti__size *z = tutti__model_size(&d->model, t->v->space, d->now.segment.id);
    tutti_count entries = 0;
    tutti_off bytes = 0;
    if (t->v->compress > 0) return t->packed.bytes;
    if (!tutti__shape_right(z->ndims, z->shape, &entries) ||
        !tutti__mul_ok(entries, tutti__item_bytes(t->v, t->v->put_type), &bytes))
        return -1;
    return bytes;
}

/* Find the section of a variable, or create it.  A compressed section that was packed again is
 * moved, since its length changes. */
static tutti_err place_section(tutti_dataset *d, const tutti__item *t) {
    tutti__section *s = tutti__section_now(d, t->v->id, 0);
    tutti_off end = 0;
    if (s && t->sizes && tutti__section_progress_of(d, s)->decomposition != t->facts.number) {
        tutti__ranked_drop(d, s);
        s = NULL;
    }
    const tutti_off bytes = section_bytes(d, t);
    if (s && t->v->compress > 0 && t->packed.data) tutti__section_move(d, s, bytes);
    if (s) return TUTTI_OK;
    if (t->sizes) {
        (void)tutti__ranked_new(d, t->v, t->facts.number, t->sizes);
        return TUTTI_OK;
    }
    TUTTI_CHECK(
        bytes >= 0 && tutti__add_ok(d->now.end, bytes, &end) && end <= (tutti_off)1 << 59,
        TUTTI_ERR_OVERFLOW,
        "variable '%s' has %lld bytes, after offset %lld: a data file has at most 2^59 bytes",
        t->name, (long long)bytes, (long long)d->now.end);
    const tutti__section new = {.variable = t->v->id, .type = t->v->put_type};
    (void)tutti__section_new(d, &new, bytes);
    return TUTTI_OK;
}

/* Register the put with its sections, whose state then depends on its outcome.   Not collective;
 * the error is that of this rank. */
static tutti_err add_targets(tutti_dataset *d, const tutti__item_list *b,
                             tutti__put_record *record) {
    for (int i = 0; i < b->n; i++) {
        const tutti__item *t = &b->v[i];
        const tutti__section *s = tutti__section_now(d, t->v->id, 0);
        const tutti__section *list = t->sizes ? tutti__ranked_list(d, t->v, t->facts.number) : NULL;
        TUTTI_TRY(tutti__section_target(d, record, s, t->facts.number, t->facts.whole || t->sizes));
        if (list && tutti__section_progress_of(d, list)->needs_base &&
            tutti__section_progress_of(d, list)->record != record)
            TUTTI_TRY(tutti__section_target(d, record, list, t->facts.number, 1));
    }
    return TUTTI_OK;
}

/* ---- base.   Local, also in its errors */

/* Write the fill value to this rank's share of a section; write zeros only if `even_zero`. */
static tutti_err fill_section(const tutti_dataset *d, const tutti__variable *v,
                              const tutti__section *s, int even_zero) {
    enum { PIECE = 4 << 20 };
    unsigned char pattern[16];
    int size = 1, is_zero = 1;
    TUTTI_TRY(tutti__fill_pattern(v->fill, s->type, v->order, pattern, &size));
    for (int i = 0; i < size; i++) is_zero = is_zero && pattern[i] == 0;
    if (is_zero && !even_zero) return TUTTI_OK;
    const tutti_off share = tutti__align_up(s->bytes / d->team->size + 1, TUTTI__BLOCK);
    const tutti_off lo = tutti__min(share * d->team->rank, s->bytes);
    const tutti_off hi = tutti__min(lo + share, s->bytes);
    const tutti_off piece = tutti__min(PIECE, share);
    if (lo == hi) return TUTTI_OK;
    char *buf = tutti__malloc((size_t)piece);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_off i = 0; buf && i < piece; i++) buf[i] = (char)pattern[i % size];
    for (tutti_off at = lo; at < hi && err == TUTTI_OK; at += piece)
        err = tutti__file_put(d->now.file, s->start + at, tutti__min(piece, hi - at), buf);
    tutti__free(buf);
    return err;
}

/* Add a header or a list of entries as a part. */
static tutti_err add_base_part(tutti__item_list *b, tutti_off at, tutti_off bytes, const void *data,
                               tutti_access **access) {
    TUTTI_TRY(tutti_access_contiguous(at, bytes, access));
    b->parts[b->parts_n++] = (tutti_part){.access = *access, .buf = (void *)(uintptr_t)data};
    return TUTTI_OK;
}

/* Write the fill values of a section, and add its header and its list of entries as parts.  If the
 * put fails, restore_base marks them as missing again. */
static tutti_err write_base(tutti_dataset *d, tutti__item *t, const tutti__put_record *record,
                            tutti__item_list *b) {
    const tutti__section *s = tutti__section_now(d, t->v->id, 0);
    tutti__section_progress *progress = tutti__section_progress_of(d, s);
    const int needs_base = progress->needs_base;
    progress->needs_base = 0;
    t->wrote_base = needs_base;
    if (!t->sizes)
        return needs_base && !t->facts.whole ? fill_section(d, t->v, s, progress->puts > 1)
                                             : TUTTI_OK;
    const tutti__section *list = tutti__ranked_list(d, t->v, t->facts.number);
    progress = list ? tutti__section_progress_of(d, list) : NULL;
    if (progress && progress->needs_base && progress->record == record) {
        progress->needs_base = 0;
        t->wrote_base |= 2;
        TUTTI_TRY(tutti__ranked_positions(t->entries, &t->positions));
        TUTTI_TRY(add_base_part(b, list->start + 8 * t->sizes->before, 8 * t->facts.written,
                                t->positions, &t->list_access));
    }
    if (!needs_base || d->team->rank != 0) return TUTTI_OK;
    return add_base_part(b, s->start, t->sizes->bytes, t->sizes->head, &t->head_access);
}

static void restore_base(tutti_dataset *d, const tutti__item_list *b) {
    for (int i = 0; i < b->n; i++) {
        const tutti__item *t = &b->v[i];
        const tutti__section *s = tutti__section_now(d, t->v->id, 0);
        const tutti__section *list =
            t->wrote_base & 2 ? tutti__ranked_list(d, t->v, t->facts.number) : NULL;
        if (s && t->wrote_base & 1) tutti__section_progress_of(d, s)->needs_base = 1;
        if (list) tutti__section_progress_of(d, list)->needs_base = 1;
    }
}

/* ---- operation */

/* Add this rank's entries of a variable as a part. */
static tutti_err add_entries_part(const tutti_dataset *d, tutti__item *t, tutti__item_list *b) {
    const tutti__section *s = tutti__section_now(d, t->v->id, 0);
    const tutti_off bytes = tutti__item_bytes(t->v, s->type);
    const tutti_access *access = NULL;
    TUTTI_TRY(tutti__item_type_check(t, s->type));
    if (t->v->compress > 0) {
        TUTTI_TRY(tutti__packed_section_access(&t->packed, s->start, &t->access));
        b->parts[b->parts_n++] = (tutti_part){.access = t->access, .buf = t->packed.data};
        return TUTTI_OK;
    }
    if (t->sizes) {
        TUTTI_TRY(tutti__decomposition_packed(t->entries, bytes, &access));
        TUTTI_TRY(tutti_access_shift(access, s->start + t->sizes->bytes + t->sizes->before * bytes,
                                     0, &t->access));
    } else {
        TUTTI_TRY(tutti__decomposition_access(t->entries, bytes, 1, &access));
        TUTTI_TRY(tutti_access_shift(access, s->start, 0, &t->access));
    }
    tutti__item_part(d, t, s->type, b);
    return TUTTI_OK;
}

static tutti_err write_placed_sections(tutti_dataset *d, tutti__item_list *b,
                                       tutti__put_record *record) {
    tutti__transfer t = {.name = "put", .file = d->now.file, .is_write = 1};
    t.local_err = add_targets(d, b, record);
    for (int i = 0; i < b->n && t.local_err == TUTTI_OK; i++) {
        t.local_err = write_base(d, &b->v[i], record, b);
        if (t.local_err == TUTTI_OK) t.local_err = add_entries_part(d, &b->v[i], b);
    }
    t.parts_n = b->parts_n;
    t.parts = b->parts;
    for (int i = 0; i < b->n && d->opt.checksums && !t.checksums; i++) {
        const tutti__section *s = tutti__section_now(d, b->v[i].v->id, 0);
        const tutti__section *list =
            b->v[i].sizes ? tutti__ranked_list(d, b->v[i].v, b->v[i].facts.number) : NULL;
        if (s->bytes >= TUTTI__BLOCK || (list && list->bytes >= TUTTI__BLOCK))
            t.checksums = &record->checksums; /* a section has a complete block */
    }
    const tutti_err err = tutti__transfer_run(&t, NULL);
    if (err != TUTTI_OK) restore_base(d, b);
    tutti__dataset_misfit(d, d->now.sections, d->now.sections_n, err);
    return err;
}

/* Execute the put after all ranks have agreed on the call; `record` registers it with the sections.
 * Collective. */
static tutti_err put_after_agreement(tutti_dataset *d, tutti__item_list *b,
                                     tutti__put_record *record) {
    /* define the library's own variables, and exchange sizes of ranked sections that are still
     * unknown */
    tutti__variable *lists = NULL;
    tutti__ranked_trim(d);
    for (int i = 0; i < b->n; i++) {
        const tutti__item *t = &b->v[i];
        if (tutti__model_variable(&d->model, t->name)->layout != TUTTI_RANKED) continue;
        TUTTI_TRY(tutti__own_variable(d, &d->model.spaces[t->facts.space], "entries", &lists));
        if (!tutti__ranked_sizes_of(d, t->facts.number))
            TUTTI_TRY(tutti__ranked_sizes_exchange(d, &t->facts));
    }
    for (int i = 0; i < b->n; i++) { /* the tables may have been reallocated */
        tutti__item *t = &b->v[i];
        t->v = tutti__model_variable(&d->model, t->name);
        if (t->v->layout != TUTTI_RANKED) continue;
        t->sizes = tutti__ranked_sizes_of(d, t->facts.number);
        TUTTI_TRY(tutti__ranked_fits(t->v, t->sizes));
    }
    const tutti_err packed = pack_compressed(d, b);
    const tutti_error_info why = *tutti_last_error();
    /* Also place data that could not be packed, since it must be written again.  Large sections
     * begin at blocks; small ones follow. */
    for (int is_large = 1; is_large >= 0; is_large--)
        for (int i = 0; i < b->n; i++)
            if ((section_bytes(d, &b->v[i]) >= TUTTI__BLOCK) == is_large)
                TUTTI_TRY(place_section(d, &b->v[i]));
    if (packed == TUTTI_OK) {
        TUTTI_TRY(tutti__tail_cut(d));
        return write_placed_sections(d, b, record);
    }
    (void)!add_targets(d, b, record);
    tutti__error_assign(&why);
    return packed;
}

static tutti_err put_items(tutti__step_operation *of, tutti_err local_err) {
    tutti__dataset_operation *op = (tutti__dataset_operation *)of;
    tutti_dataset *d = op->dataset;
    tutti__item_list *b = &op->items;
    tutti__put_record *record = NULL;
    const int is_started = of->started.request != NULL;
    tutti_err err = local_err == TUTTI_OK ? check_put_items(d, is_started, b) : local_err;
    if (err == TUTTI_OK) err = tutti__put_new(&d->now.puts, 2 * (int64_t)b->n, &record);
    const tutti__call same = {.name = "put",
                              .what = "the variables, their types or decompositions",
                              .hash = err == TUTTI_OK ? tutti__items_hash(b) : 0};
    err = tutti__dataset_call(d, &same, err);
    if (err != TUTTI_OK) tutti__put_drop(&record);
    of->record = record;
    if (record) err = put_after_agreement(d, b, record);
    return tutti__dataset_named(d, "put", err);
}

tutti_err tutti_dataset_put(tutti_dataset *d, int n, const tutti_put *puts) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti__dataset_operation op = tutti__dataset_operation_of(d, TUTTI__STARTED_PUT, put_items);
    const tutti_err err = tutti__items_of_puts(n, puts, &op.items);
    return tutti__step_operation_run(&op.of, err);
}

tutti_err tutti_dataset_put_start(tutti_dataset *d, int n, const tutti_put *puts,
                                  tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__dataset_live(d));
    tutti__dataset_operation op = tutti__dataset_operation_of(d, TUTTI__STARTED_PUT, put_items);
    const tutti_err err = tutti__items_of_puts(n, puts, &op.items);
    return tutti__dataset_operation_start(&op, err, r_out);
}
