/* fortran: slices and parts of arrays in files, and their arrays in memory.
 *
 * Element (i, j, ...) of the array in memory is element (i, j, ...) of the slice or part, for both
 * orders of the file.  A contiguous array of a column-major file needs no description.  A
 * contiguous array of rank 1 may contain all elements of a slice of more dimensions, in the order
 * of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <string.h>

/* Return the bytes from the start of memory to the end of the last element that a section
 * selects. */
static int64_t reach_of(const tutti_section *m, int ndims, int64_t element) {
    int64_t last = 0, width = 1;
    for (int i = 0; i < ndims; i++) {
        const int d = m->order == TUTTI_COL_MAJOR ? i : ndims - 1 - i;
        if (m->hi[d] <= m->lo[d]) return 0;
        last += (m->hi[d] - 1) * width;
        width *= m->shape[d];
    }
    return m->offset + (last + 1) * element;
}

static int refuse_type(const tutti__f_array *v, const tutti_array_spec *spec) {
    if (tutti__f_holds(v, spec->type, spec->element_size)) return 0;
    tutti__f_set_local_error(
        TUTTI_ERR_ARG,
        "array in memory has type %s (%lld bytes), but array in the file has type %s (%lld bytes)",
        tutti_type_name((tutti_type)v->type), (long long)v->element, tutti_type_name(spec->type),
        (long long)spec->element_size);
    return 1;
}

/* Return the number of dimensions with more than one element. */
static int long_dims(int n, const int64_t *extent) {
    int many = 0;
    for (int d = 0; d < n; d++) many += extent[d] != 1;
    return many;
}

/* Convert v to a section with the number of dimensions of the file, by adding dimensions of one
 * element. */
static tutti_err widen_shape(const tutti__f_array *v, int ndims, const tutti_count *count,
                             int64_t element, tutti_section *out) {
    tutti_section s;
    const tutti_err err = tutti__f_section(v, element, &s);
    if (err != TUTTI_OK) return err;
    memset(out, 0, sizeof *out);
    out->ndims = ndims;
    out->order = TUTTI_COL_MAJOR;
    out->element_size = element;
    for (int d = 0, i = 0; d < ndims; d++) {
        out->shape[d] = count[d] == 1 ? 1 : s.shape[i];
        out->hi[d] = count[d] == 1 ? 1 : s.hi[i];
        out->stride[d] = count[d] == 1 ? 1 : s.stride[i++];
    }
    return TUTTI_OK;
}

/* Set the arguments of the call for v; returns 0 if it is invalid. */
static int describe_slice(const tutti__f_array *v, const tutti_array_spec *spec,
                          const tutti_count *count, tutti__f_block *b) {
    const tutti__f_shape shape = {.item = spec->element_size, .ndims = spec->ndims, .count = count};
    if (refuse_type(v, spec)) return 0;
    if (b->memory) {
        const tutti__f_shape bytes = {.entries =
                                          reach_of(b->memory, spec->ndims, spec->element_size)};
        if (!tutti__f_plain(v, 0, 1) && v->bytes != 0) return 0;
        return tutti__f_shape_fits(v, &bytes);
    }
    if (tutti__f_shape_bytes(&shape) == 0) return 1;
    if (!tutti__f_shape_fits(v, &shape)) return 0;
    if (v->contiguous && (spec->order == TUTTI_COL_MAJOR || v->bytes < 0)) return 1;
    if (long_dims(v->rank, v->extent) == long_dims(spec->ndims, count) &&
        v->element == spec->element_size) {
        const tutti_err err = widen_shape(v, spec->ndims, count, spec->element_size, &b->made);
        if (err != TUTTI_OK) tutti__f_set_local_error(err, "%s", tutti_last_error()->text);
        b->memory = &b->made;
        return err == TUTTI_OK;
    }
    if (v->contiguous && long_dims(v->rank, v->extent) <= 1) return 1;
    tutti__f_set_local_error(TUTTI_ERR_ARG,
                             "%s: it must have the shape and the elements of the slice",
                             v->contiguous ? "array has another shape, and the file is row-major"
                                           : "array is not contiguous");
    return 0;
}

static tutti_array_spec spec_of(const tutti__f_array_handle *a) {
    tutti_array_spec spec;
    memset(&spec, 0, sizeof spec);
    tutti_array_describe(a->p, &spec);
    return spec;
}

void tutti__f_slice_begin(const tutti__f_array_handle *a, const tutti_slice *s,
                          const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *b) {
    const tutti_array_spec spec = spec_of(a);
    const tutti__f_array v = tutti__f_array_of(buf);
    tutti_count count[TUTTI_MAX_DIMS];
    memset(b, 0, sizeof *b);
    b->slice = s;
    b->memory = memory;
    b->base = v.base;
    if (spec.ndims == 0) return; /* a NULL or stale handle: the call reports it */
    tutti_slice_count(spec.ndims, s, count);
    if (!describe_slice(&v, &spec, count, b)) b->slice = NULL;
}

void tutti__f_part_begin(const tutti__f_array_handle *a, const tutti_distribution *d,
                         const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *b) {
    const tutti_array_spec spec = spec_of(a);
    const tutti__f_array v = tutti__f_array_of(buf);
    tutti_count count[TUTTI_MAX_DIMS] = {0};
    memset(b, 0, sizeof *b);
    b->d = d;
    b->memory = memory;
    b->base = v.base;
    if (spec.ndims == 0 || !d) return;
    tutti_distribution_part(d, (int)a->rank, count);
    if (!describe_slice(&v, &spec, count, b)) b->d = NULL;
}
