/* decomposition: slices of a grid, one per rank.
 *
 * The access of a slice is a section; where slices of ranks overlap, the engine writes the data of
 * the highest rank.  slices_meet.c finds the overlaps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"

#include <string.h>

#include "decomposition/slice_compare.h"

/* ---- a slice, and its section in memory */

tutti_section tutti__slice_section(int ndims, const tutti_slice *s, const tutti_section *memory) {
    tutti_section out = {.ndims = ndims, .order = memory->order, .element_size = 1};
    tutti_count count[TUTTI_MAX_DIMS];
    int ends_given = 0;
    tutti_slice_count(ndims, s, count);
    for (int d = 0; d < ndims; d++) ends_given |= memory->hi[d] != 0;
    for (int d = 0; d < ndims; d++) {
        out.shape[d] = memory->shape[d];
        out.lo[d] = memory->lo[d];
        out.stride[d] = tutti__max(memory->stride[d], 1);
        out.hi[d] = memory->hi[d];
        /* a bound that overflows is set to INT64_MAX, which is outside the shape */
        if (!ends_given && (!tutti_size_multiply(count[d] - 1, out.stride[d], &out.hi[d]) ||
                            !tutti_size_add(out.hi[d], 1, &out.hi[d]) ||
                            !tutti_size_add(out.hi[d], out.lo[d], &out.hi[d])))
            out.hi[d] = INT64_MAX;
    }
    return out;
}

/* Check that the array in memory contains the slice. */
static tutti_err check_slice_memory(int ndims, const tutti_slice *s, const tutti_section *memory) {
    tutti_count count[TUTTI_MAX_DIMS], all;
    TUTTI_CHECK(memory->ndims == 0 || memory->ndims == ndims, TUTTI_ERR_ARG,
                "slice_memory has %d dimensions: must be 0 or %d, as the space", memory->ndims,
                ndims);
    TUTTI_CHECK(memory->order == TUTTI_ROW_MAJOR || memory->order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                "slice_memory: unknown order %d", (int)memory->order);
    TUTTI_CHECK(memory->offset == 0, TUTTI_ERR_ARG,
                "slice_memory: offset is %lld: must be 0 (buf is the address of element 0)",
                (long long)memory->offset);
    TUTTI_CHECK_RESERVED(memory, "tutti_section");
    tutti_slice_count(ndims, s, count);
    const tutti_section all_set = tutti__slice_section(ndims, s, memory);
    for (int d = 0; d < ndims; d++) {
        const tutti_count lo = all_set.lo[d], hi = all_set.hi[d];
        TUTTI_CHECK(memory->stride[d] >= 0, TUTTI_ERR_ARG,
                    "slice_memory, dimension %d: stride is %lld: must be >= 0", d,
                    (long long)memory->stride[d]);
        TUTTI_CHECK(lo >= 0 && hi <= memory->shape[d], TUTTI_ERR_ARG,
                    "slice_memory, dimension %d: slice [%lld, %lld) is outside the extent %lld", d,
                    (long long)lo, (long long)hi, (long long)memory->shape[d]);
        TUTTI_CHECK(
            (hi - lo + all_set.stride[d] - 1) / all_set.stride[d] == count[d], TUTTI_ERR_ARG,
            "slice_memory, dimension %d: [%lld, %lld) with stride %lld does not have "
            "the %lld elements of the slice",
            d, (long long)lo, (long long)hi, (long long)all_set.stride[d], (long long)count[d]);
    }
    TUTTI_CHECK(tutti_size_product(ndims, memory->shape, &all), TUTTI_ERR_ARG,
                "slice_memory: the array has more than 2^63 elements");
    return TUTTI_OK;
}

tutti_err tutti__slice_of_space(const tutti__space_view *view, const tutti_slice *s,
                                const tutti_section *memory) {
    const int empty = tutti_slice_count(view->ndims, s, NULL) == 0;
    TUTTI_CHECK_RESERVED(s, "tutti_slice");
    for (int d = 0; d < view->ndims; d++) {
        TUTTI_CHECK(s->stride[d] >= 0, TUTTI_ERR_ARG, "dimension %d: stride is %lld: must be >= 0",
                    d, (long long)s->stride[d]);
        TUTTI_CHECK(empty || (s->lo[d] >= 0 && s->hi[d] <= view->shape[d]), TUTTI_ERR_ARG,
                    "dimension %d: slice [%lld, %lld) is outside the extent %lld", d,
                    (long long)s->lo[d], (long long)s->hi[d], (long long)view->shape[d]);
    }
    return memory && !empty ? check_slice_memory(view->ndims, s, memory) : TUTTI_OK;
}

tutti_err tutti__slice_items(const tutti_decomposition *p, tutti_off item_bytes,
                             tutti_access **out) {
    tutti_section file = {.ndims = p->ndims, .order = TUTTI_ROW_MAJOR, .element_size = item_bytes};
    const size_t bytes = (size_t)p->ndims * sizeof file.shape[0];
    if (p->facts.entries == 0) return tutti_access_contiguous(0, 0, out);
    memcpy(file.shape, p->shape, bytes);
    memcpy(file.lo, p->slice.lo, bytes);
    memcpy(file.hi, p->slice.hi, bytes);
    memcpy(file.stride, p->slice.stride, bytes);
    tutti_section memory = p->memory;
    memory.element_size = item_bytes;
    return tutti_access_section(&file, memory.ndims > 0 ? &memory : NULL, out);
}

/* Position in memory in entries: base + the sum of index * step over the dimensions. */
typedef struct {
    tutti_count base, step[TUTTI_MAX_DIMS];
} memory_map;

static memory_map map_memory(const tutti_decomposition *p) {
    memory_map m = {0};
    tutti_count shape[TUTTI_MAX_DIMS], unit = 1;
    const tutti_section *s = p->memory.ndims > 0 ? &p->memory : NULL;
    const int is_row_major = !s || s->order == TUTTI_ROW_MAJOR;
    tutti_slice_count(p->ndims, &p->slice, shape);
    for (int i = 0; i < p->ndims; i++) {
        const int d = is_row_major ? p->ndims - 1 - i : i;
        m.step[d] = unit * (s ? s->stride[d] : 1);
        m.base += unit * (s ? s->lo[d] : 0);
        unit *= s ? s->shape[d] : shape[d];
    }
    return m;
}

/* Return the position in memory of the entry with index x in the space. */
static tutti_count memory_place(const tutti_decomposition *p, const memory_map *m,
                                const tutti_count *x) {
    tutti_count at = m->base;
    for (int d = 0; d < p->ndims; d++)
        at += (x[d] - p->slice.lo[d]) / p->slice.stride[d] * m->step[d];
    return at;
}

tutti_count tutti__row_major_position(int ndims, const tutti_count *shape, const tutti_count *x) {
    tutti_count at = 0;
    for (int d = 0; d < ndims; d++) at = at * shape[d] + x[d];
    return at;
}

void tutti__slice_positions(const tutti_decomposition *p, tutti_count *index_out,
                            tutti_count *memory_out) {
    tutti_count x[TUTTI_MAX_DIMS], n = 0;
    tutti__indices all = {.ndims = p->ndims};
    if (p->facts.entries == 0) return;
    const memory_map map = map_memory(p);
    for (int d = 0; d < p->ndims; d++) {
        x[d] = all.from[d] = p->slice.lo[d];
        all.to[d] = p->slice.hi[d];
        all.step[d] = p->slice.stride[d];
    }
    do {
        if (index_out) index_out[n] = tutti__row_major_position(p->ndims, p->shape, x);
        if (memory_out) memory_out[n] = memory_place(p, &map, x);
        n++;
    } while (tutti__indices_next(&all, x));
}

tutti_err tutti__slice_runs(const tutti_decomposition *p, int is_write, tutti__entry_runs *out) {
    tutti_count x[TUTTI_MAX_DIMS];
    tutti__indices all = {.ndims = p->ndims};
    const unsigned char *passed = is_write ? p->passed : NULL;
    const int last = p->ndims - 1;
    if (p->facts.entries == 0) return TUTTI_OK;
    const memory_map map = map_memory(p);
    for (int d = 0; d < p->ndims; d++) {
        x[d] = all.from[d] = p->slice.lo[d];
        all.to[d] = p->slice.hi[d];
        all.step[d] = p->slice.stride[d];
    }
    const tutti_count step = all.step[last], n = (all.to[last] - all.from[last] + step - 1) / step;
    /* tutti__indices_next must iterate over rows, not over single entries */
    all.step[last] = all.to[last] - all.from[last];
    const tutti_count together = step == 1 && map.step[last] == 1 && !passed ? n : 1;
    tutti_count place = 0;
    do {
        const tutti_count row = tutti__row_major_position(p->ndims, p->shape, x);
        const tutti_count row_memory = memory_place(p, &map, x);
        for (tutti_count i = 0; i < n; i += together, place += together) {
            const tutti_count position = row + i * step, memory = row_memory + i * map.step[last];
            if (passed && passed[place]) continue;
            tutti__entry_run *r = out->n > 0 ? &out->run[out->n - 1] : NULL;
            out->entries += together;
            if (r && r->position + r->n == position && r->memory + r->n == memory) {
                r->n += together;
                continue;
            }
            r = tutti__table_grow(&out->run, &out->n, sizeof *r);
            if (!r) return TUTTI_ERR_NOMEM;
            *r = (tutti__entry_run){position, place, memory, together};
        }
    } while (tutti__indices_next(&all, x));
    return TUTTI_OK;
}
