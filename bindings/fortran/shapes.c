/* fortran: comparison of the shape of an array with the entries that a call reads or writes.
 *
 * This is the only place that decides whether an array fits.  Calls with a slice, a part of a
 * distribution, a decomposition, an inspector of replicas or an Exodus entity describe what they
 * need as a tutti__f_shape.  Dimensions of one element are ignored on both sides.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdio.h>

enum { MOST = CFI_MAX_RANK + TUTTI_MAX_DIMS };

/* Extents of an array, without those that are 1. */
typedef struct {
    int n;
    int64_t extent[MOST];
} dims;

static void add_extent(dims *d, int64_t extent) {
    if (extent != 1 && d->n < MOST) d->extent[d->n++] = extent;
}

static int64_t times_of(const tutti__f_shape *s) {
    return s->times > 1 ? s->times : 1;
}

/* Return the shape that an array of elements of this size must have. */
static dims required_dims(const tutti__f_shape *s, int64_t element) {
    dims d = {.n = 0};
    if (s->item > 0 && element > 0) add_extent(&d, s->item / element);
    for (int i = 0; i < s->ndims; i++) add_extent(&d, s->count[i]);
    if (s->ndims == 0) add_extent(&d, s->entries);
    add_extent(&d, times_of(s));
    return d;
}

int64_t tutti__f_shape_bytes(const tutti__f_shape *s) {
    int64_t bytes = s->item > 0 ? s->item : 1;
    if (__builtin_mul_overflow(bytes, times_of(s), &bytes)) bytes = INT64_MAX;
    if (s->ndims == 0 && __builtin_mul_overflow(bytes, s->entries, &bytes)) bytes = INT64_MAX;
    for (int i = 0; i < s->ndims; i++) {
        if (s->count[i] <= 0) return 0;
        if (__builtin_mul_overflow(bytes, s->count[i], &bytes)) bytes = INT64_MAX;
    }
    return bytes;
}

/* Return whether an array with several dimensions fits: its extents must be those of an item, then
 * those of the slice or the number of entries of the list, then the number of times. */
static int dims_fit(const dims *have, const tutti__f_shape *s, int64_t element) {
    const int64_t item = s->item / element;
    int64_t product = 1;
    int at = 0;
    if (s->item % element != 0) return 0;
    while (at < have->n && product < item) product *= have->extent[at++];
    if (product != item) return 0;
    for (int i = 0; i < s->ndims; i++) {
        if (s->count[i] == 1) continue;
        if (at == have->n || have->extent[at++] != s->count[i]) return 0;
    }
    if (s->ndims == 0) {
        if (times_of(s) == 1 && at + 1 == have->n) return have->extent[at] >= s->entries;
        for (product = 1; at < have->n && product < s->entries;) product *= have->extent[at++];
        if (product != s->entries) return 0;
    }
    if (times_of(s) == 1) return at == have->n;
    return at + 1 == have->n && have->extent[at] >= s->times;
}

static void write_dims(const dims *d, char *out, size_t size) {
    size_t at = (size_t)snprintf(out, size, "(%s", d->n == 0 ? "1" : "");
    for (int i = 0; i < d->n && at + 24 < size; i++)
        at +=
            (size_t)snprintf(out + at, size - at, "%s%lld", i ? ", " : "", (long long)d->extent[i]);
    snprintf(out + at, size - at, ")");
}

int tutti__f_shape_fits(const tutti__f_array *v, const tutti__f_shape *s) {
    const int64_t need = tutti__f_shape_bytes(s);
    dims have = {.n = 0};
    if (need == 0 || v->bytes < 0) return 1;
    if (v->bytes < need) {
        tutti__f_set_local_error(TUTTI_ERR_ARG, "array has %lld bytes: at least %lld are required",
                                 (long long)v->bytes, (long long)need);
        return 0;
    }
    if (s->item <= 0) return 1;
    for (int i = 0; i < v->rank; i++) add_extent(&have, v->extent[i]);
    /* a list of elements may be longer than a list of entries, but not than a slice */
    if (have.n <= 1 && (v->bytes == need || s->ndims == 0 || times_of(s) > 1)) return 1;
    if (dims_fit(&have, s, v->element)) return 1;
    char its[200], wanted[200];
    const dims want = required_dims(s, v->element);
    write_dims(&have, its, sizeof its);
    write_dims(&want, wanted, sizeof wanted);
    tutti__f_set_local_error(TUTTI_ERR_ARG, "array has shape %s: must be %s", its, wanted);
    return 0;
}
