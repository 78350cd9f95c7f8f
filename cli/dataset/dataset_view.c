/* The values of a variable in a segment, read piece by piece in the order of the space.  Pieces are small,
 * since variables may be larger than memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/npy.h"
#include "dataset/cmd_dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16 << 20 }; /* bytes of a piece */

/* Parse a slice of the space and, for items of several values, of the values. */
static int slice_take(dataset_view *v, const tutti_array_spec *space, const char *text) {
    const int more = v->row->values_per_item > 1;
    tutti_array_spec spec = *space;
    tutti_slice slice;
    if (more && space->ndims == TUTTI_MAX_DIMS)
        return cli_error("'%s' has %d dimensions with its values per item: must be <= %d",
                         v->row->name, space->ndims + more, TUTTI_MAX_DIMS);
    spec.ndims += more;
    if (more) spec.shape[space->ndims] = v->row->values_per_item;
    if (array_section_parse(text, 0, &spec, &slice)) return 1;
    v->ndims = spec.ndims;
    v->count = tutti_slice_count(spec.ndims, &slice, v->shape);
    for (int d = 0; d < spec.ndims; d++) {
        v->lo[d] = slice.lo[d];
        v->stride[d] = slice.stride[d] > 0 ? slice.stride[d] : 1;
    }
    const int last = space->ndims;
    v->component[0] = more ? slice.lo[last] : 0;
    v->component[1] = more ? slice.hi[last] : 1;
    v->component[2] = more ? v->stride[last] : 1;
    v->entries.slice = slice;
    if (more) v->entries.slice.lo[last] = v->entries.slice.hi[last] = 0;
    if (more) v->entries.slice.stride[last] = 0;
    v->entries.count = tutti_slice_count(space->ndims, &v->entries.slice, v->entries.shape);
    return 0;
}

int dataset_view_open(const dataset_catalogue *c, const tutti_variable_row *row,
                      tutti_count segment, const char *slice, dataset_view *out) {
    tutti_section_row section;
    tutti_array_spec space = {.type = TUTTI_BYTES};
    *out = (dataset_view){.of = c, .row = row};
    const int has = dataset_has(c, segment, row->name, &section);
    if (has <= 0)
        return has < 0 ? 1
                       : cli_error("segment %lld of '%s' has no variable '%s'", (long long)segment,
                                   c->path, row->name);
    if (tutti_dataset_segment(c->d, segment, &out->segment) != TUTTI_OK ||
        tutti_dataset_shape(c->d, row->spec.space, segment, &space.ndims, space.shape) != TUTTI_OK)
        return cli_error_tutti();
    /* The type in memory is that of the file, but float16 is converted to float32. */
    out->get_type = section.type == TUTTI_FLOAT16 ? TUTTI_FLOAT32 : section.type;
    const tutti_type type = out->get_type == TUTTI_BYTES ? TUTTI_UINT8 : out->get_type;
    const tutti_off size = tutti_type_size(type);
    out->number = (tutti_array_spec){.ndims = 1, .shape = {1}, .type = type, .element_size = size};
    space.element_size = size * row->values_per_item;
    array_side_plan(&out->entries, &space);
    if (slice_take(out, &space, slice)) return 1;
    const tutti_count most = PIECE / space.element_size > 0 ? PIECE / space.element_size : 1;
    array_walk_start(&out->walk, &out->entries, TUTTI_ROW_MAJOR, most);
    const tutti_count capacity = out->entries.count < most ? out->entries.count : most;
    out->buffer = cli_array(capacity, space.element_size, 1);
    return 0;
}

void dataset_view_close(dataset_view *v) {
    free(v->buffer);
    v->buffer = NULL;
}

/* Remove the values that are not selected from the n items in the buffer.  Returns the number of
 * values left. */
static tutti_count choose_numbers(dataset_view *v, tutti_count n) {
    const size_t size = (size_t)v->number.element_size;
    const tutti_count all = v->row->values_per_item;
    char *to = v->buffer;
    if (v->component[0] == 0 && v->component[1] == all && v->component[2] == 1) return n * all;
    for (tutti_count i = 0; i < n; i++)
        for (tutti_count k = v->component[0]; k < v->component[1]; k += v->component[2]) {
            memmove(to, v->buffer + (size_t)(i * all + k) * size, size);
            to += size;
        }
    return (tutti_count)((size_t)(to - v->buffer) / size);
}

int dataset_view_next(dataset_view *v) {
    array_box box;
    tutti_decomposition *selected = NULL;
    v->done += v->n;
    v->n = 0;
    if (v->count == 0 || !array_walk_next(&v->walk, &box)) return 0;
    v->piece = array_box_slice(&v->entries, &box);
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .slice = v->piece};
    tutti_dataset *d = v->of->d;
    const tutti_count g = v->segment.number;
    tutti_err err = tutti_decomposition_create_at(d, v->row->spec.space, g, &spec, &selected);
    const tutti_get get = {v->row->name, selected, v->get_type, v->buffer};
    if (err == TUTTI_OK) err = tutti_dataset_get(d, g, 1, &get);
    if (err == TUTTI_OK) v->n = choose_numbers(v, tutti_decomposition_entries(selected));
    if (err != TUTTI_OK) cli_error_tutti();
    tutti_decomposition_free(&selected);
    return err == TUTTI_OK ? 1 : -1;
}

double dataset_view_value(const dataset_view *v, tutti_count i) {
    const char *at = v->buffer + i * v->number.element_size;
    const double re = (double)array_element_value(v->number.type, at, 0);
    if (!array_type_is_complex(v->number.type)) return re;
    return hypot(re, (double)array_element_value(v->number.type, at, 1));
}

void dataset_view_index(const dataset_view *v, tutti_count i, tutti_count *out) {
    tutti_count rest = v->done + i;
    for (int d = v->ndims - 1; d >= 0; d--) {
        out[d] = v->lo[d] + v->stride[d] * (rest % v->shape[d]);
        rest /= v->shape[d];
    }
}

int dataset_view_extremes(dataset_view *v, double out[3]) {
    long double sum = 0;
    tutti_count n = 0;
    int more;
    out[0] = out[1] = out[2] = NAN;
    while ((more = dataset_view_next(v)) > 0)
        for (tutti_count i = 0; i < v->n; i++) {
            const double value = dataset_view_value(v, i);
            if (!isfinite(value)) continue;
            sum += (long double)value;
            n++;
            out[0] = fmin(out[0], value);
            out[2] = fmax(out[2], value);
        }
    if (n > 0) out[1] = (double)(sum / (long double)n);
    return more < 0;
}

/* ---- .npy */

static int npy_begin(const dataset_view *v, tutti_count views, int several, FILE *f,
                     const char *path) {
    tutti_array_spec spec = {.ndims = v->ndims + several,
                             .type = v->number.type,
                             .element_size = v->number.element_size,
                             .order = TUTTI_ROW_MAJOR};
    char header[NPY_ROOM];
    if (spec.ndims > TUTTI_MAX_DIMS)
        return cli_error("'%s' has %d dimensions in the output: must be <= %d", v->row->name,
                         spec.ndims, TUTTI_MAX_DIMS);
    spec.shape[0] = views;
    for (int d = 0; d < v->ndims; d++) spec.shape[d + several] = v->shape[d];
    const size_t n = npy_make(&spec, header);
    return fwrite(header, 1, n, f) == n ? 0 : cli_error_errno("cannot write", path);
}

int dataset_npy_write(const dataset_catalogue *c, const tutti_variable_row *row, tutti_count first,
                      tutti_count last, const char *slice, const char *path) {
    tutti_section_row section;
    dataset_view begin = {.count = 0};
    tutti_count views = 0;
    int failed = 0, has = 0;
    for (tutti_count g = first; g <= last && has >= 0; g++)
        views += (has = dataset_has(c, g, row->name, &section)) > 0;
    if (has < 0) return 1;
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    for (tutti_count g = first, n = 0; g <= last && !failed; g++) {
        dataset_view v;
        if (first != last && (has = dataset_has(c, g, row->name, &section)) <= 0) {
            failed = has < 0;
            continue;
        }
        failed = dataset_view_open(c, row, g, slice, &v);
        if (!failed && n == 0) {
            begin = v;
            failed = npy_begin(&v, views, first != last, f, path);
        }
        if (!failed &&
            !(begin.ndims == v.ndims && begin.number.type == v.number.type &&
              memcmp(begin.shape, v.shape, (size_t)begin.ndims * sizeof *begin.shape) == 0))
            failed = cli_error("segment %lld has another shape or type than the first: choose one "
                               "with -s",
                               (long long)g);
        int more = 0;
        while (!failed && (more = dataset_view_next(&v)) > 0)
            if (fwrite(v.buffer, (size_t)v.number.element_size, (size_t)v.n, f) != (size_t)v.n)
                failed = cli_error_errno("cannot write", path);
        failed |= more < 0;
        dataset_view_close(&v);
        n++;
    }
    return cli_output_close(f, path, failed);
}
