/* A serial reference for the tests of arrays: a row-major array in memory; and random arrays, slices,
 * memory sections (frames) and distributions that are the same on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_ARRAYS_H
#define TUTTI_TESTS_ARRAYS_H

#include <math.h>
#include "harness.h"

enum { DIMS = 5, MOST_RANKS = 16 };

typedef struct {
    tutti_array_spec spec;
    tutti_off size; /* bytes of an element */
    tutti_count n;
    unsigned char *v; /* the n elements, row-major */
} picture;

/* ---- indices */

static inline int index_next(int ndims, const tutti_count *shape, tutti_count *at) {
    for (int d = ndims - 1; d >= 0; d--) {
        if (++at[d] < shape[d]) return 1;
        at[d] = 0;
    }
    return 0;
}

/* Return the position of the element at[0..ndims) in an array in `order`. */
static inline tutti_count place_of(int ndims, tutti_order order, const tutti_count *shape,
                                   const tutti_count *at) {
    tutti_count p = 0;
    for (int i = 0; i < ndims; i++) {
        const int d = order == TUTTI_ROW_MAJOR ? i : ndims - 1 - i;
        p = p * shape[d] + at[d];
    }
    return p;
}

static inline tutti_count product(int ndims, const tutti_count *shape) {
    tutti_count n = 1;
    for (int d = 0; d < ndims; d++) n *= shape[d];
    return n;
}

/* ---- pictures (reference arrays) */

static inline picture picture_make(const tutti_array_spec *spec) {
    picture p = {.spec = *spec, .size = spec->element_size};
    if (tutti_type_size(spec->type)) p.size = tutti_type_size(spec->type);
    p.n = product(spec->ndims, spec->shape);
    p.v = calloc((size_t)(p.n * p.size) + 1, 1);
    return p;
}

static inline void picture_free(picture *p) {
    free(p->v);
    memset(p, 0, sizeof *p);
}

static inline unsigned char *picture_at(const picture *p, const tutti_count *at) {
    return p->v + place_of(p->spec.ndims, TUTTI_ROW_MAJOR, p->spec.shape, at) * p->size;
}

/* Copy the elements of a slice between `packed`, in the order of the array, and the picture. */
static inline void picture_move(const picture *p, const tutti_slice *s, unsigned char *packed,
                                int is_write) {
    tutti_count shape[TUTTI_MAX_DIMS] = {0}, at[TUTTI_MAX_DIMS] = {0}, g[TUTTI_MAX_DIMS];
    const int nd = p->spec.ndims;
    if (tutti_slice_count(nd, s, shape) == 0) return;
    do {
        for (int d = 0; d < nd; d++) g[d] = s->lo[d] + at[d] * s->stride[d];
        unsigned char *to = packed + place_of(nd, p->spec.order, shape, at) * p->size;
        if (is_write)
            memcpy(picture_at(p, g), to, (size_t)p->size);
        else
            memcpy(to, picture_at(p, g), (size_t)p->size);
    } while (index_next(nd, shape, at));
}

/* Return the bytes that the array has in a file. */
static inline unsigned char *picture_bytes(const picture *p) {
    unsigned char *v = calloc((size_t)(p->n * p->size) + 1, 1);
    const tutti_slice all = tutti_slice_all(p->spec.ndims, p->spec.shape);
    picture_move(p, &all, v, 0);
    return v;
}

/* Check that the file contains the picture at `offset`; rank 0 reads it after a barrier. */
static inline void picture_is_in(const picture *p, const char *path, tutti_off offset) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int64_t n = 0;
        unsigned char *have = file_bytes(path, &n), *want = picture_bytes(p);
        CHECK(n >= offset + p->n * p->size, "%lld bytes in the file", (long long)n);
        for (tutti_off i = 0; i < p->n * p->size && offset + i < n; i++)
            if (have[offset + i] != want[i]) {
                CHECK(0, "element %lld, byte %lld", (long long)(i / p->size), (long long)i);
                break;
            }
        free(have);
        free(want);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- random arrays, slices, frames and distributions */

static inline tutti_array_spec random_spec(int ndims, tutti_count elements) {
    tutti_array_spec s = {.ndims = ndims, .order = rnd(2) ? TUTTI_COL_MAJOR : TUTTI_ROW_MAJOR};
    const tutti_type types[] = {TUTTI_FLOAT64, TUTTI_INT32, TUTTI_UINT8, TUTTI_COMPLEX128,
                                TUTTI_BYTES};
    s.type = types[rnd(5)];
    if (s.type == TUTTI_BYTES) s.element_size = 1 + rnd(13);
    double each = 1;
    while ((tutti_count)(each + 1) < 40 && pow(each + 1, ndims) < (double)elements) each++;
    for (int d = 0; d < ndims; d++) s.shape[d] = 1 + rnd((int64_t)(2 * each));
    return s;
}

enum { STRIDED, EMPTY, SINGLE, WHOLE, MISALIGNED, BLOCK_OF_MINE, SLICES };

/* Return a random slice of the given kind; BLOCK_OF_MINE: the block of rank `who` of `many`. */
static inline tutti_slice random_slice(int kind, int ndims, const tutti_count *shape, int who,
                                       int many) {
    tutti_slice s = tutti_slice_all(ndims, shape);
    for (int d = 0; d < ndims; d++) {
        const tutti_count n = shape[d];
        switch (kind) {
        case STRIDED:
            s.lo[d] = rnd(n);
            s.hi[d] = s.lo[d] + 1 + rnd(n - s.lo[d]);
            s.stride[d] = 1 + rnd(4);
            break;
        case SINGLE:
            s.lo[d] = rnd(n);
            s.hi[d] = s.lo[d] + 1;
            s.stride[d] = 1 + rnd(1000);
            break;
        case MISALIGNED:
            s.lo[d] = rnd(n) / 2;
            s.hi[d] = n - rnd(n - s.lo[d]);
            break;
        case BLOCK_OF_MINE:
            if (d > 0) break;
            s.lo[d] = n * who / many;
            s.hi[d] = n * (who + 1) / many;
            break;
        case EMPTY:
            if (d == 0) s.hi[d] = s.lo[d] = rnd(2) ? n : -3;
            break;
        default:
            break;
        }
    }
    return s;
}

/* Memory for the elements of a slice: packed, or a section of a larger array of any order. */
typedef struct {
    tutti_section section;
    int framed;
    size_t bytes;
    unsigned char *memory;
} frame;

static inline frame random_frame(const picture *p, const tutti_count *shape, int framed) {
    frame f = {.framed = framed};
    tutti_section *m = &f.section;
    const int nd = p->spec.ndims;
    m->order = framed && rnd(2) ? (tutti_order)(1 - (int)p->spec.order) : p->spec.order;
    m->ndims = rnd(2) ? nd : 0;
    m->element_size = rnd(2) ? p->size : 0;
    m->offset = framed ? rnd(20) : 0;
    for (int d = 0; d < nd; d++) {
        m->stride[d] = framed ? 1 + rnd(2) : 1;
        m->lo[d] = framed ? rnd(3) : 0;
        m->hi[d] = m->lo[d] + (shape[d] > 0 ? (shape[d] - 1) * m->stride[d] + 1 : 0);
        m->shape[d] = m->hi[d] + (framed ? rnd(3) : 0);
    }
    f.bytes = (size_t)(m->offset + product(nd, m->shape) * p->size);
    f.memory = malloc(f.bytes + 1);
    return f;
}

static inline const tutti_section *frame_section(const frame *f) {
    return f->framed ? &f->section : NULL;
}

static inline void frame_fill(frame *f, uint64_t key) {
    for (size_t i = 0; i < f->bytes; i++) f->memory[i] = mix(key, i);
}

/* Copy elements between `packed`, in the order of the array, and the frame. */
static inline void frame_move(const picture *p, frame *f, const tutti_count *shape,
                              unsigned char *packed, int into_frame) {
    tutti_count at[TUTTI_MAX_DIMS] = {0}, m[TUTTI_MAX_DIMS];
    const int nd = p->spec.ndims;
    if (product(nd, shape) == 0) return;
    do {
        for (int d = 0; d < nd; d++) m[d] = f->section.lo[d] + at[d] * f->section.stride[d];
        unsigned char *to = f->memory + f->section.offset +
                            place_of(nd, f->section.order, f->section.shape, m) * p->size;
        unsigned char *from = packed + place_of(nd, p->spec.order, shape, at) * p->size;
        memcpy(into_frame ? to : from, into_frame ? from : to, (size_t)p->size);
    } while (index_next(nd, shape, at));
}

static inline void frame_free(frame *f) {
    free(f->memory);
    memset(f, 0, sizeof *f);
}

/* A distribution: its kind and number of ranks in each dimension, and bounds of irregular blocks. */
typedef struct {
    tutti_dist_dim dim[TUTTI_MAX_DIMS];
    tutti_count bounds[TUTTI_MAX_DIMS][MOST_RANKS + 1];
} scheme;

static inline void random_scheme(scheme *s, int ndims, const tutti_count *shape, int many) {
    int left = many;
    memset(s, 0, sizeof *s);
    for (int d = 0; d < ndims; d++) s->dim[d].procs = 1;
    for (int f = 2; left > 1;) {
        if (left % f) {
            f++;
            continue;
        }
        s->dim[rnd(ndims)].procs *= f;
        left /= f;
    }
    for (int d = 0; d < ndims; d++) {
        tutti_dist_dim *k = &s->dim[d];
        k->kind = (tutti_dist_kind)(1 + rnd(4));
        if (k->procs == 1 && rnd(2)) k->kind = TUTTI_DIST_NONE;
        k->block = 1 + rnd(5);
        k->bounds = s->bounds[d];
        for (int p = 1; p <= k->procs; p++) {
            const tutti_count before = s->bounds[d][p - 1];
            s->bounds[d][p] = p == k->procs ? shape[d] : before + rnd(shape[d] - before + 1);
        }
    }
}

#endif
