/* array: accesses of slices and of parts of distributions.
 *
 * A slice is a section.  In a part, each dimension is at most three series of indices (a partial
 * block, whole blocks, a partial block).  On both sides the loops are nested with the fastest
 * dimension of the file innermost, so that the size of the description does not depend on the
 * number of elements.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

/* ---- slices */

static tutti_err check_slice(const tutti_array_spec *spec, const tutti_slice *s) {
    const int empty = tutti_slice_count(spec->ndims, s, NULL) == 0;
    TUTTI_CHECK_RESERVED(s, "tutti_slice");
    for (int d = 0; d < spec->ndims; d++) {
        TUTTI_CHECK(s->stride[d] >= 0, TUTTI_ERR_ARG, "dimension %d: stride is %lld: must be >= 0",
                    d, (long long)s->stride[d]);
        TUTTI_CHECK(empty || (s->lo[d] >= 0 && s->hi[d] <= spec->shape[d]), TUTTI_ERR_ARG,
                    "dimension %d: slice [%lld, %lld) is outside the array's extent %lld", d,
                    (long long)s->lo[d], (long long)s->hi[d], (long long)spec->shape[d]);
    }
    return TUTTI_OK;
}

/* Return the memory section of the caller, with defaults for omitted fields. */
static tutti_section complete_frame(const tutti_array_spec *spec, const tutti_section *memory) {
    tutti_section m = *memory;
    if (m.ndims == 0) m.ndims = spec->ndims;
    if (m.element_size == 0) m.element_size = spec->element_size;
    return m;
}

tutti_err tutti__slice_access(const tutti_array_spec *spec, const tutti_slice *s,
                              const tutti_section *memory, tutti_access **out) {
    if (!s) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(s != NULL, TUTTI_ERR_ARG, "argument s is NULL");
    TUTTI_TRY(check_slice(spec, s));
    if (tutti_slice_count(spec->ndims, s, NULL) == 0) return tutti_access_contiguous(0, 0, out);
    tutti_section file = {.ndims = spec->ndims,
                          .order = spec->order,
                          .element_size = spec->element_size,
                          .offset = spec->offset};
    const size_t bytes = (size_t)spec->ndims * sizeof file.shape[0];
    memcpy(file.shape, spec->shape, bytes);
    memcpy(file.lo, s->lo, bytes);
    memcpy(file.hi, s->hi, bytes);
    memcpy(file.stride, s->stride, bytes);
    if (!memory) return tutti_access_section(&file, NULL, out);
    const tutti_section m = complete_frame(spec, memory);
    return tutti_access_section(&file, &m, out);
}

/* ---- parts */

/* Byte offsets of the indices of each dimension: index i is at first + i * step. */
typedef struct {
    tutti_off first[TUTTI_MAX_DIMS], step[TUTTI_MAX_DIMS];
} dim_places;

typedef struct {
    int n;
    tutti__series s[3];
} dim_series;

/* Compute the byte offsets of a section. */
static tutti_err compute_places(const tutti_section *s, dim_places *p) {
    tutti_off size = s->element_size;
    for (int k = 0; k < s->ndims; k++) {
        const int d = s->order == TUTTI_ROW_MAJOR ? s->ndims - 1 - k : k;
        const int several = s->hi[d] - s->lo[d] > s->stride[d];
        const tutti_count stride = several ? tutti__max(s->stride[d], 1) : 1;
        const int fits = tutti__mul_ok(size, s->lo[d], &p->first[d]) &&
                         tutti__mul_ok(size, stride, &p->step[d]) &&
                         tutti__mul_ok(size, tutti__max(s->shape[d], 1), &size);
        TUTTI_CHECK(fits && size <= TUTTI__OFF_LIMIT, TUTTI_ERR_OVERFLOW,
                    "dimension %d: size and offsets of the array must be < 2^62", d);
    }
    return TUTTI_OK;
}

/* Make a loop over one dimension around `child`, by local indices (by_number, for memory) or by
 * global indices (for the file).  Consumes `child`. */
static tutti_err make_dim_side(tutti__side child, const dim_series *k, tutti_off step,
                               int by_number, tutti__side *out) {
    tutti__side part[3];
    for (int i = 0; i < k->n; i++) {
        const tutti__series *s = &k->s[i];
        const tutti_off first = (by_number ? s->local : s->first) * step;
        const tutti_off apart = (by_number ? s->inner : s->step) * step;
        tutti__side side = {child.disp + first, tutti__node_ref(child.node)};
        tutti_err err = tutti__side_vec(side, s->inner, step, &side);
        if (err == TUTTI_OK) err = tutti__side_vec(side, s->outer, apart, &side);
        if (err != TUTTI_OK) {
            while (i > 0) tutti__side_free(&part[--i]);
            tutti__side_free(&child);
            return err;
        }
        part[i] = side;
    }
    tutti__side_free(&child);
    return tutti__side_cat(k->n, part, out);
}

static tutti_err nest_dim_sides(const tutti_array_spec *spec, const dim_series *k,
                                const dim_places *p, tutti_off offset, int by_number,
                                tutti__side *out) {
    tutti__side s = {0, NULL};
    for (int d = 0; d < spec->ndims; d++) offset += p->first[d];
    TUTTI_TRY(tutti__side_run(offset, spec->element_size, &s));
    for (int i = spec->ndims - 1; i >= 0; i--) {
        const int d = tutti__spec_dim(spec, i);
        TUTTI_TRY(make_dim_side(s, &k[d], p->step[d], by_number, &s));
    }
    *out = s;
    return TUTTI_OK;
}

static tutti_err check_part(const tutti_array_spec *spec, const tutti__array_part *part) {
    const tutti_distribution *d = part->d;
    tutti_count shape[TUTTI_MAX_DIMS];
    TUTTI_CHECK(d != NULL, TUTTI_ERR_ARG, "argument d is NULL");
    TUTTI_CHECK(d->ndims == spec->ndims, TUTTI_ERR_ARG,
                "the distribution has %d dimensions, the array %d: must be equal", d->ndims,
                spec->ndims);
    memcpy(shape, spec->shape, sizeof shape);
    if (part->within) {
        TUTTI_TRY(check_slice(spec, part->within));
        (void)tutti_slice_count(spec->ndims, part->within, shape);
    }
    for (int i = 0; i < d->ndims; i++)
        TUTTI_CHECK(d->shape[i] == shape[i], TUTTI_ERR_ARG,
                    "dimension %d: distribution has %lld elements, but the %s has %lld", i,
                    (long long)d->shape[i], part->within ? "slice" : "array", (long long)shape[i]);
    return TUTTI_OK;
}

static tutti_err make_memory_side(const tutti_array_spec *spec, const dim_series *k,
                                  const tutti_count *shape, const tutti_section *memory,
                                  tutti__side *out) {
    dim_places p = {{0}, {0}};
    tutti_off bytes = spec->element_size;
    if (memory) {
        const tutti_section m = complete_frame(spec, memory);
        TUTTI_CHECK_RESERVED(&m, "tutti_section");
        /* The memory section must have exactly the shape of the part. */
        TUTTI_CHECK(m.ndims == spec->ndims, TUTTI_ERR_ARG,
                    "the array has %d dimensions, the memory section %d: must be equal",
                    spec->ndims, m.ndims);
        TUTTI_CHECK(m.order == TUTTI_ROW_MAJOR || m.order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                    "memory section: unknown order %d", (int)m.order);
        TUTTI_CHECK(m.element_size == spec->element_size, TUTTI_ERR_ARG,
                    "element_size differs: %lld in the file, %lld in memory",
                    (long long)spec->element_size, (long long)m.element_size);
        TUTTI_CHECK(m.offset >= -TUTTI__OFF_LIMIT && m.offset <= TUTTI__OFF_LIMIT,
                    TUTTI_ERR_OVERFLOW, "memory section: offset is %lld: must be in (-2^62, 2^62)",
                    (long long)m.offset);
        for (int d = 0; d < m.ndims; d++) {
            const tutti_count stride = m.stride[d] ? m.stride[d] : 1;
            TUTTI_CHECK(stride >= 0, TUTTI_ERR_ARG,
                        "memory section, dimension %d: stride is %lld: must be >= 0", d,
                        (long long)stride);
            TUTTI_CHECK(m.lo[d] >= 0 && m.lo[d] <= m.hi[d] && m.hi[d] <= m.shape[d], TUTTI_ERR_ARG,
                        "memory section, dimension %d: [%lld, %lld) is not inside the extent %lld",
                        d, (long long)m.lo[d], (long long)m.hi[d], (long long)m.shape[d]);
            const tutti_count width = m.hi[d] - m.lo[d];
            const tutti_count n = width / stride + (width % stride != 0);
            TUTTI_CHECK(
                n == shape[d], TUTTI_ERR_ARG,
                "dimension %d: the memory section has %lld elements, the part %lld: must be equal",
                d, (long long)n, (long long)shape[d]);
        }
        TUTTI_TRY(compute_places(&m, &p));
        return nest_dim_sides(spec, k, &p, m.offset, 1, out);
    }
    for (int d = 0; d < spec->ndims; d++) bytes *= shape[d];
    return tutti__side_run(0, bytes, out);
}

/* Compute the series of all dimensions, and the shape of the part in *shape_out.  Returns 0 if the
 * part is empty. */
static tutti_count compute_series(const tutti__array_part *part, dim_series *k,
                                  tutti_count *shape_out) {
    const tutti_distribution *d = part->d;
    tutti_count all = tutti_distribution_part(d, part->rank, shape_out);
    for (int i = 0; i < d->ndims && all > 0; i++) {
        const tutti_count from = part->from ? part->from[i] : 0;
        const tutti_count to = part->to ? part->to[i] : shape_out[i];
        k[i].n = tutti__distribution_series(d, part->rank, i, from, to, k[i].s);
        shape_out[i] = tutti__max(to - from, 0);
    }
    for (int i = 0; i < d->ndims; i++)
        if (shape_out[i] == 0) all = 0;
    return all;
}

tutti_err tutti__part_access(const tutti_array_spec *spec, const tutti__array_part *part,
                             const tutti_section *memory, tutti_access **out) {
    dim_series k[TUTTI_MAX_DIMS] = {{0}};
    tutti_count shape[TUTTI_MAX_DIMS] = {0};
    tutti__side file = {0, NULL}, mem = {0, NULL};
    dim_places p = {{0}, {0}};
    TUTTI_TRY(check_part(spec, part));
    if (compute_series(part, k, shape) == 0) return tutti_access_contiguous(0, 0, out);
    /* The section of the array that is distributed. */
    tutti_section whole = {.ndims = spec->ndims,
                           .order = spec->order,
                           .element_size = spec->element_size,
                           .offset = spec->offset};
    for (int d = 0; d < spec->ndims; d++) {
        whole.shape[d] = spec->shape[d];
        whole.lo[d] = part->within ? part->within->lo[d] : 0;
        whole.hi[d] = part->within ? part->within->hi[d] : spec->shape[d];
        whole.stride[d] = part->within ? part->within->stride[d] : 1;
    }
    TUTTI_TRY(compute_places(&whole, &p));
    TUTTI_TRY(make_memory_side(spec, k, shape, memory, &mem));
    const tutti_err err = nest_dim_sides(spec, k, &p, whole.offset, 0, &file);
    if (err != TUTTI_OK) {
        tutti__side_free(&mem);
        return err;
    }
    return tutti__access_make(file, mem, out);
}
