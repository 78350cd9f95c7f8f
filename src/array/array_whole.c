/* array: calls on all elements: fill, resize, sync.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* Buffer size of a rank during a fill, unless one element is larger. */
static const tutti_off FILL_BYTES = 1 << 20;

/* ---- fill: ranks write chunks round-robin, in file order */

typedef struct {
    tutti_count elements, chunk;
    /* first element of this rank, and distance of its chunks in elements */
    tutti_count first, step;
    tutti_count turns;
    char *buf;
} fill_state;

static tutti_err prepare_fill(const tutti_array *a, const void *element, fill_state *f) {
    const tutti__team *t = tutti__array_team(a);
    const tutti_off size = a->local.element_size;
    const int ranks = a->head ? 1 : t->size;
    TUTTI_TRY(tutti__array_usable(a, 1));
    TUTTI_CHECK(element != NULL, TUTTI_ERR_ARG, "argument element is NULL");
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

static tutti_err fill_chunk(tutti_array *a, const fill_state *f, tutti_count turn) {
    const tutti_off size = a->local.element_size;
    const tutti_count lo = f->first + turn * f->step;
    const tutti_count n = tutti__max(tutti__min(f->chunk, f->elements - lo), 0);
    tutti_access *access = NULL;
    tutti_err err = tutti_access_contiguous(n ? a->local.offset + lo * size : 0, n * size, &access);
    if (a->head) {
        if (err == TUTTI_OK) err = tutti_file_write_independent(a->file, access, f->buf, NULL);
    } else {
        err = tutti__array_transfer(a, access, f->buf, 1, err, 0);
    }
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_fill(tutti_array *a, const void *element) {
    TUTTI_KEEP_ERRNO;
    fill_state f = {.buf = NULL};
    TUTTI_TRY(tutti__array_live(a));
    tutti__prefetch_drop(a);
    /* The element must be the same on all ranks. */
    const tutti_err local_err = prepare_fill(a, element, &f);
    tutti__call call = {
        .name = "fill", .what = "the element to fill with", .hash = TUTTI__HASH_START};
    if (local_err == TUTTI_OK)
        call.hash = tutti__hash(call.hash, element, (size_t)a->local.element_size);
    tutti_err err = tutti__array_call(a, &call, local_err);
    const int agreed = err == TUTTI_OK;
    if (agreed) tutti__array_finish_tile_writes(a);
    for (tutti_count i = 0; i < f.turns && err == TUTTI_OK; i++) err = fill_chunk(a, &f, i);
    tutti__free(f.buf);
    if (a->head && agreed) err = tutti__array_vote(a, tutti__operation_under_way(err));
    return tutti__array_named(a, "fill", err);
}

/* ---- resize */

static tutti_err check_resize(const tutti_array *a, tutti_count n, tutti_array_spec *spec_out,
                              tutti_off *bytes_out) {
    tutti_array_spec s = a->spec;
    TUTTI_TRY(tutti__array_usable(a, 1));
    TUTTI_CHECK(!a->head && !a->part, TUTTI_ERR_UNSUPPORTED,
                "cannot resize an array in local placement");
    TUTTI_CHECK(a->iterations == 0, TUTTI_ERR_STATE,
                "array has %d tile iterations that have not ended", a->iterations);
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "extent is %lld: must be >= 0", (long long)n);
    s.shape[tutti__spec_dim(&s, 0)] = n;
    return tutti__spec_check(&s, spec_out, bytes_out);
}

static tutti_err update_header(void *array) {
    return tutti__array_header_update(array);
}

/* Change the size of the array.  The header is written last when the array grows, and first when it
 * shrinks, so that the elements in the header always exist in the file. */
static tutti_err change_size(tutti_array *a, const tutti_array_spec *spec, tutti_off bytes) {
    const tutti_array before = *a;
    const tutti_off end = spec->offset + bytes;
    const tutti_off old_end = a->spec.offset + a->bytes;
    tutti_off size = 0;
    /* Bytes after an array with a header remain from an interrupted resize; bytes after a raw array
     * belong to the caller. */
    TUTTI_TRY(tutti_file_size(a->file, &size));
    TUTTI_CHECK(!a->raw || size <= old_end, TUTTI_ERR_UNSUPPORTED,
                "cannot resize: %lld bytes follow the array in the file",
                (long long)(size - old_end));
    if (size > old_end) TUTTI_TRY(tutti_file_resize(a->file, old_end));
    if (bytes > a->bytes) TUTTI_TRY(tutti_file_resize(a->file, end));
    a->spec = a->local = *spec;
    a->bytes = bytes;
    if (!a->raw) a->version++;
    const tutti_err err =
        a->raw ? TUTTI_OK : tutti__on_root(tutti__file_team(a->file), update_header, a);
    if (err != TUTTI_OK) {
        a->spec = a->local = before.spec;
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
    tutti__prefetch_drop(a);
    tutti__range r = tutti__range_of(n);
    const tutti__call call = {.name = "resize", .ranges = 1, .range = &r};
    tutti_err err = tutti__array_call(a, &call, check_resize(a, n, &spec, &bytes));
    if (err == TUTTI_OK && r.min != r.max)
        err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1,
                               "ranks pass different extents, from %lld to %lld", (long long)r.min,
                               (long long)r.max);
    if (err == TUTTI_OK) err = change_size(a, &spec, bytes);
    return tutti__array_named(a, "resize", err);
}

/* ---- sync */

tutti_err tutti_array_sync(tutti_array *a) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__array_finish_tile_writes(a);
    tutti_err err = tutti_file_sync(a->file);
    if (a->head) err = tutti__array_vote(a, err);
    return a->head && err == TUTTI_OK ? tutti_file_sync(a->head) : err;
}
