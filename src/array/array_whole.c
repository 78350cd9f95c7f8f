/* array: what concerns all elements: fill, resize, sync.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* Memory of a rank while it fills; more only if one element is larger. */
static const tutti_off FILL_BYTES = 1 << 20;

/* ---- fill: ranks take turns of `chunk` elements, in the order of the file */

typedef struct {
    tutti_count elements, chunk;
    tutti_count first, step; /* this rank's first one, and how far its next turn is */
    tutti_count turns;
    char *buf;
} filler;

static tutti_err filler_make(const tutti_array *a, const void *element, filler *f) {
    const tutti__team *t = tutti__array_team(a);
    const tutti_off size = a->mine.element_size;
    const int ranks = a->head ? 1 : t->size;
    TUTTI_TRY(tutti__array_usable(a, 1));
    TUTTI_CHECK(element != NULL, TUTTI_ERR_ARG, "the element is NULL");
    f->elements = a->bytes / size;
    f->chunk = tutti__max(tutti__min(FILL_BYTES / size, f->elements), 1);
    f->first = a->head ? 0 : t->rank * f->chunk;
    f->step = ranks * f->chunk;
    f->turns = f->elements / f->step + (f->elements % f->step != 0);
    f->buf = tutti__malloc((size_t)(f->chunk * size));
    if (!f->buf) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < f->chunk; i++) memcpy(f->buf + i * size, element, (size_t)size);
    return TUTTI_OK;
}

static tutti_err fill_turn(tutti_array *a, const filler *f, tutti_count turn) {
    const tutti_off size = a->mine.element_size;
    const tutti_count lo = f->first + turn * f->step;
    const tutti_count n = tutti__max(tutti__min(f->chunk, f->elements - lo), 0);
    tutti_access *access = NULL;
    tutti_err err = tutti_access_contiguous(n ? a->mine.offset + lo * size : 0, n * size, &access);
    if (a->head) {
        if (err == TUTTI_OK) err = tutti_file_write_independent(a->file, access, f->buf, NULL);
    } else {
        err = tutti__array_transfer(a, access, f->buf, 1, err, 0);
    }
    tutti_access_free(&access);
    return err;
}

/* All ranks have the same element. */
static tutti_err element_agree(tutti_array *a, const void *element, tutti_err mine) {
    tutti__call same = {
        .name = "fill", .what = "the element to fill with", .hash = TUTTI__HASH_START};
    if (mine == TUTTI_OK) same.hash = tutti__hash(same.hash, element, (size_t)a->mine.element_size);
    return tutti__array_call(a, &same, mine);
}

tutti_err tutti_array_fill(tutti_array *a, const void *element) {
    TUTTI_KEEP_ERRNO;
    filler f = {.buf = NULL};
    TUTTI_TRY(tutti__array_live(a));
    tutti__ahead_drop(a);
    tutti_err err = element_agree(a, element, filler_make(a, element, &f));
    const int agreed = err == TUTTI_OK;
    if (agreed) tutti__array_catch_up(a);
    for (tutti_count i = 0; i < f.turns && err == TUTTI_OK; i++) err = fill_turn(a, &f, i);
    tutti__free(f.buf);
    if (a->head && agreed) err = tutti__array_vote(a, tutti__operation_under_way(err));
    return tutti__object_error(&a->object, "fill", err);
}

/* ---- resize */

static tutti_err resize_check(const tutti_array *a, tutti_count n, tutti_array_spec *spec_out,
                              tutti_off *bytes_out) {
    tutti_array_spec s = a->spec;
    TUTTI_TRY(tutti__array_usable(a, 1));
    TUTTI_CHECK(!a->head && !a->part, TUTTI_ERR_UNSUPPORTED,
                "an array in local placement keeps its shape");
    TUTTI_CHECK(a->walks == 0, TUTTI_ERR_STATE, "%d tile walks have not ended", a->walks);
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "%lld elements", (long long)n);
    s.shape[tutti__spec_dim(&s, 0)] = n;
    return tutti__spec_check(&s, spec_out, bytes_out);
}

static tutti_err resize_agree(tutti_array *a, tutti_count n, tutti_err mine) {
    tutti__range r = tutti__range_of(n);
    const tutti__call call = {.name = "resize", .ranges = 1, .range = &r};
    TUTTI_TRY(tutti__array_call(a, &call, mine));
    TUTTI_CHECK(r.min == r.max, TUTTI_ERR_MISMATCH, "extents from %lld to %lld", (long long)r.min,
                (long long)r.max);
    return TUTTI_OK;
}

/* Bytes behind an array with a header are left from a resize that was cut off, those behind a raw
 * one are somebody's. */
static tutti_err tail_drop(tutti_array *a, tutti_off end) {
    tutti_off size = 0;
    TUTTI_TRY(tutti_file_size(a->file, &size));
    TUTTI_CHECK(!a->raw || size <= end, TUTTI_ERR_UNSUPPORTED,
                "%lld bytes follow the array in the file", (long long)(size - end));
    return size > end ? tutti_file_resize(a->file, end) : TUTTI_OK;
}

static tutti_err header_update(void *array) {
    return tutti__array_header_update(array);
}

/* Growing, the header comes last, shrinking, first: it never promises bytes that are not there. */
static tutti_err resize_to(tutti_array *a, const tutti_array_spec *spec, tutti_off bytes) {
    const tutti_array before = *a;
    const tutti_off end = spec->offset + bytes;
    TUTTI_TRY(tail_drop(a, a->spec.offset + a->bytes));
    if (bytes > a->bytes) TUTTI_TRY(tutti_file_resize(a->file, end));
    a->spec = a->mine = *spec;
    a->bytes = bytes;
    a->version++;
    const tutti_err err =
        a->raw ? TUTTI_OK : tutti__on_root(tutti__file_team(a->file), header_update, a);
    if (err != TUTTI_OK) {
        a->spec = a->mine = before.spec;
        a->bytes = before.bytes;
        return err;
    }
    tutti__array_slabs(a);
    return bytes < before.bytes ? tutti_file_resize(a->file, end) : TUTTI_OK;
}

tutti_err tutti_array_resize(tutti_array *a, tutti_count n) {
    TUTTI_KEEP_ERRNO;
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__array_live(a));
    tutti_array_spec spec = a->spec;
    tutti__ahead_drop(a);
    tutti_err err = resize_agree(a, n, resize_check(a, n, &spec, &bytes));
    if (err == TUTTI_OK) err = resize_to(a, &spec, bytes);
    return tutti__object_error(&a->object, "resize", err);
}

/* ---- sync */

tutti_err tutti_array_sync(tutti_array *a) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__array_catch_up(a);
    tutti_err err = tutti_file_sync(a->file);
    if (a->head) err = tutti__array_vote(a, err);
    return a->head && err == TUTTI_OK ? tutti_file_sync(a->head) : err;
}
