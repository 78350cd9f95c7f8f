/* fortran: arrays of Fortran as memory sides.
 *
 * An actual argument is passed without a copy, with its strides.  A contiguous argument is passed
 * as an address.  The elements of other arguments are described as a section of a larger array if
 * its strides allow it (the strides of a section of an array are multiples of those of the array,
 * for which their greatest common divisors are used), otherwise piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

/* ---- descriptors */

static tutti_type type_of(const CFI_cdesc_t *d) {
    const struct {
        CFI_type_t cfi;
        tutti_type type;
    } known[] = {{CFI_type_int8_t, TUTTI_INT8},
                 {CFI_type_int16_t, TUTTI_INT16},
                 {CFI_type_int32_t, TUTTI_INT32},
                 {CFI_type_int64_t, TUTTI_INT64},
                 {CFI_type_float, TUTTI_FLOAT32},
                 {CFI_type_double, TUTTI_FLOAT64},
                 {CFI_type_float_Complex, TUTTI_COMPLEX64},
                 {CFI_type_double_Complex, TUTTI_COMPLEX128}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (d->type == known[i].cfi) return known[i].type;
    return TUTTI_BYTES;
}

tutti__f_array tutti__f_array_of(const CFI_cdesc_t *d) {
    tutti__f_array v;
    memset(&v, 0, sizeof v);
    v.contiguous = 1;
    v.absent = !d;
    if (!d || !d->base_addr) return v;
    v.base = d->base_addr;
    v.element = v.bytes = (int64_t)d->elem_len;
    v.type = type_of(d);
    v.rank = (unsigned char)d->rank;
    for (int i = 0; i < v.rank; i++) {
        v.extent[i] = d->dim[i].extent;
        v.step[i] = d->dim[i].sm;
        if (v.extent[i] > 1 && v.step[i] != v.bytes) v.contiguous = 0;
        if (v.extent[i] < 0) { /* assumed-size: contiguous, of unknown length */
            v.contiguous = 1;
            v.bytes = -1;
            return v;
        }
        v.bytes *= v.extent[i];
    }
    if (v.bytes == 0) v.contiguous = 1;
    return v;
}

int tutti__f_holds(const tutti__f_array *v, tutti_type type, tutti_off element_size) {
    if (v->bytes == 0) return 1;
    if (type == TUTTI_BYTES) return v->contiguous || v->element == element_size;
    if (v->type == (int32_t)type) return 1;
    const int integer = v->type >= TUTTI_INT8 && v->type <= TUTTI_INT64;
    const int unsigned_one = type >= TUTTI_UINT8 && type <= TUTTI_UINT64;
    return integer && (unsigned_one || type == TUTTI_FLOAT16) &&
           v->element == tutti_type_size(type);
}

int64_t tutti__f_layout(const tutti__f_array *v) {
    uint64_t hash = 14695981039346656037u;
    if (v->contiguous) return 0;
    for (int i = 0; i < v->rank; i++) {
        hash = (hash ^ (uint64_t)v->extent[i]) * 1099511628211u;
        hash = (hash ^ (uint64_t)v->step[i]) * 1099511628211u;
    }
    return (int64_t)(hash | 1);
}

void *tutti__f_plain(const tutti__f_array *v, int64_t need, int refuse) {
    if (v->contiguous && (v->bytes < 0 || v->bytes >= need)) return v->base;
    if (refuse && v->bytes < need)
        tutti__f_set_local_error(TUTTI_ERR_ARG, "array has %lld bytes: %lld are required",
                                 (long long)v->bytes, (long long)need);
    else if (refuse)
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "array is not contiguous: must be contiguous for this call");
    return NULL;
}

/* ---- copies */

/* Copy all elements in their order to contiguous memory, or back. */
static void move_elements(const tutti__f_array *v, char *packed, int back) {
    int64_t run = v->element, at[CFI_MAX_RANK] = {0};
    char *place = v->base;
    int first = 0;
    while (first < v->rank && (v->step[first] == run || v->extent[first] == 1))
        run *= v->extent[first++];
    for (int64_t done = 0; done < v->bytes; done += run) {
        memcpy(back ? place : packed + done, back ? packed + done : place, (size_t)run);
        for (int d = first; d < v->rank; d++) {
            place += v->step[d];
            if (++at[d] < v->extent[d]) break;
            place -= v->step[d] * v->extent[d];
            at[d] = 0;
        }
    }
}

/* Elements that the call does not change are copied in and out as well. */
void *tutti__f_copy_begin(const tutti__f_array *v, const tutti__f_shape *s, void **copy) {
    if (s && !tutti__f_shape_fits(v, s)) return NULL;
    if (v->contiguous || !copy) return tutti__f_plain(v, 0, 1);
    *copy = malloc((size_t)v->bytes);
    if (*copy)
        move_elements(v, *copy, 0);
    else
        tutti__f_set_local_error(TUTTI_ERR_NOMEM,
                                 "out of memory for a contiguous copy of an array");
    return *copy;
}

void tutti__f_copy_end(const tutti__f_array *v, void *copy, int back) {
    if (copy && back) move_elements(v, copy, 1);
    free(copy);
}

/* ---- sections */

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Get the dimensions with more than one element, and their steps if elements have `element`
 * bytes. */
static tutti_err long_dims(const tutti__f_array *v, int64_t element, int64_t *extent, int64_t *step,
                           int *n_out) {
    int n = 0;
    for (int d = 0; d < v->rank; d++) {
        if (v->extent[d] == 1) continue;
        if (v->element != element && v->step[d] % v->element != 0)
            return tutti__f_error(TUTTI_ERR_UNSUPPORTED,
                                  "distance between array elements is %lld bytes: must be a "
                                  "multiple of the element size, %lld",
                                  (long long)v->step[d], (long long)v->element);
        extent[n] = v->extent[d];
        step[n++] = v->element == element ? v->step[d] : v->step[d] / v->element * element;
    }
    *n_out = n;
    return TUTTI_OK;
}

static int are_nested(int n, const int64_t *extent, const int64_t *step, int64_t element,
                      tutti_section *out) {
    int64_t unit[CFI_MAX_RANK + 1];
    unit[n] = 0;
    for (int d = n - 1; d >= 0; d--) {
        if (step[d] <= 0 || step[d] % element != 0) return 0;
        unit[d] = common_divisor(step[d], unit[d + 1]);
    }
    unit[0] = element;
    for (int d = 0; d < n; d++) {
        const int64_t stride = step[d] / unit[d], width = stride * (extent[d] - 1) + 1;
        out->shape[d] = d + 1 < n ? unit[d + 1] / unit[d] : width;
        out->stride[d] = stride;
        out->hi[d] = width;
        if (width > out->shape[d]) return 0;
    }
    return 1;
}

tutti_err tutti__f_section(const tutti__f_array *v, int64_t element, tutti_section *out) {
    int64_t extent[CFI_MAX_RANK], step[CFI_MAX_RANK];
    memset(out, 0, sizeof *out);
    out->order = TUTTI_COL_MAJOR;
    out->element_size = element;
    const tutti_err err = long_dims(v, element, extent, step, &out->ndims);
    if (err != TUTTI_OK) return err;
    if (!are_nested(out->ndims, extent, step, element, out))
        return tutti__f_error(
            TUTTI_ERR_UNSUPPORTED,
            "array has a negative stride, or the distance between its elements is not "
            "a multiple of the element size: pass a copy");
    if (out->ndims == 0) { /* one element */
        out->ndims = 1;
        out->shape[0] = out->hi[0] = out->stride[0] = 1;
    }
    return TUTTI_OK;
}

/* ---- accesses */

/* Return whether memory offsets equal stream positions. */
static int is_packed(const tutti_access *a) {
    tutti_access *line = NULL, *packed = NULL;
    int same = 0;
    if (tutti_access_contiguous(0, tutti_access_bytes(a), &line) == TUTTI_OK &&
        tutti_access_join(a, line, &packed) == TUTTI_OK)
        same = tutti_access_equal(a, packed);
    tutti_access_free(&line);
    tutti_access_free(&packed);
    return same;
}

/* Make an access with the file side of `a`, which is packed, and the first bytes of a section as
 * its memory. */
static tutti_err join_section(const tutti_access *a, const tutti_section *s, tutti_access **out) {
    tutti_access *all = NULL, *first = NULL;
    tutti_piece at;
    const tutti_off bytes = tutti_access_bytes(a);
    tutti_err err = tutti_access_section(s, NULL, &all);
    if (err == TUTTI_OK && bytes < tutti_access_bytes(all)) {
        err = tutti_access_seek(all, bytes, &at);
        if (err == TUTTI_OK) err = tutti_access_clip(all, 0, at.file, &first);
    }
    if (err == TUTTI_OK) err = tutti_access_join(a, first ? first : all, out);
    tutti_access_free(&all);
    tutti_access_free(&first);
    return err;
}

/* Pieces that are contiguous in the file and in memory. */
typedef struct {
    tutti_off *file, *memory, *length;
    tutti_count n, capacity;
} pieces;

static int add_piece(pieces *p, tutti_off file, tutti_off memory, tutti_off length) {
    if (p->n == p->capacity) {
        const tutti_count capacity = 2 * p->capacity + 64;
        tutti_off **lists[] = {&p->file, &p->memory, &p->length};
        for (int i = 0; i < 3; i++) {
            tutti_off *more = realloc(*lists[i], (size_t)capacity * sizeof *more);
            if (!more) return 0;
            *lists[i] = more;
        }
        p->capacity = capacity;
    }
    p->file[p->n] = file;
    p->memory[p->n] = memory;
    p->length[p->n++] = length;
    return 1;
}

/* Return the position of byte `at` of the elements in their order. */
static int64_t place_of(int n, const int64_t *extent, const int64_t *step, int64_t element,
                        int64_t at) {
    int64_t place = at % element, i = at / element;
    for (int d = 0; d < n; d++) {
        place += i % extent[d] * step[d];
        i /= extent[d];
    }
    return place;
}

static tutti_err join_pieces(const tutti_access *a, const tutti__f_array *v, int64_t element,
                             tutti_access **out) {
    int64_t extent[CFI_MAX_RANK], step[CFI_MAX_RANK], run = element;
    tutti_access_iter *it = NULL;
    tutti_piece piece;
    pieces all = {0};
    int n = 0;
    tutti_err err = long_dims(v, element, extent, step, &n);
    for (int d = 0; err == TUTTI_OK && d < n && step[d] == run; d++) run *= extent[d];
    if (err == TUTTI_OK) err = tutti_access_iter_start(a, 0, &it);
    while (err == TUTTI_OK && tutti_access_iter_next(it, &piece))
        for (tutti_off done = 0, part; done < piece.bytes && err == TUTTI_OK; done += part) {
            const tutti_off at = piece.memory + done, left = run - at % run;
            part = piece.bytes - done < left ? piece.bytes - done : left;
            if (!add_piece(&all, piece.file + done, place_of(n, extent, step, element, at), part))
                err = tutti__f_error(TUTTI_ERR_NOMEM,
                                     "out of memory for the description of an array");
        }
    if (err == TUTTI_OK) err = tutti_access_pieces(all.n, all.file, all.memory, all.length, out);
    tutti_access_iter_free(&it);
    free(all.file);
    free(all.memory);
    free(all.length);
    return err;
}

tutti_err tutti__f_compose(const tutti_access *a, const tutti__f_array *v, int64_t element,
                           tutti_access **out) {
    tutti_section s;
    if (tutti_access_repeated(a) > 0)
        return tutti__f_error(TUTTI_ERR_UNSUPPORTED,
                              "access contains repeated bytes of the file, but the array is not "
                              "contiguous: pass a contiguous array");
    if (tutti__f_section(v, element, &s) == TUTTI_OK && is_packed(a))
        return join_section(a, &s, out);
    return join_pieces(a, v, element, out);
}

tutti__f_memory tutti__f_memory_begin(const tutti_access *a, const CFI_cdesc_t *buf) {
    const tutti__f_array v = tutti__f_array_of(buf);
    tutti__f_memory m = {.access = a, .base = v.base};
    tutti_off lo = 0, hi = 0;
    if (!a) return m;
    tutti_access_memory_bounds(a, &lo, &hi);
    if (lo < 0) {
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "lowest memory offset of the access is %lld: must be >= 0",
                                 (long long)lo);
        m.access = NULL;
    } else if (v.bytes >= 0 && hi > v.bytes) {
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "array has %lld bytes: the access needs bytes [%lld, %lld)",
                                 (long long)v.bytes, (long long)lo, (long long)hi);
        m.access = NULL;
    } else if (!v.contiguous && hi > lo) {
        const tutti_err err = tutti__f_compose(a, &v, v.element, &m.made);
        if (err != TUTTI_OK) tutti__f_set_local_error(err, "%s", tutti_last_error()->text);
        m.access = m.made;
    }
    return m;
}

void tutti__f_memory_end(tutti__f_memory *m) {
    tutti_access_free(&m->made);
    tutti__f_settled();
}
