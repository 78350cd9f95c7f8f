/* mpiio: views with repeated bytes, or with overlapping tiles.  MPI allows repeated bytes for files
 * that are only read (displacements must not decrease, but the bytes of a type, or of successive
 * tiles, may overlap).  Such views are rare, so they are expanded to pieces with positions in the
 * file and in memory, which form the access.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct {
    tutti_off at, bytes; /* offset and length in the file */
} piece;

struct mpiio_repeat {
    piece *pieces; /* [n] pieces of the view, in its order */
    tutti_count n;
};

static int complain_no_view_memory(void) {
    return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a view with repeated bytes");
}

/* ---- bytes of the view, tile by tile, on the memory side of an access */

static tutti_err tiles_access(const mpiio_view *v, tutti_count tiles, tutti_access **out) {
    return tutti_access_from_view(0, MPI_BYTE, 0, tiles, v->tile, out);
}

/* Function called for each piece of a tile. */
typedef int look_fn(void *context, const tutti_piece *p); /* returns 0 to stop */

static tutti_err tile_look(const mpiio_view *v, look_fn *look, void *context) {
    tutti_access *a = NULL;
    tutti_access_iter *it = NULL;
    tutti_piece p;
    tutti_err err = tiles_access(v, 1, &a);
    if (err == TUTTI_OK) err = tutti_access_iter_start(a, 0, &it);
    while (err == TUTTI_OK && tutti_access_iter_next(it, &p) && look(context, &p)) continue;
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
    return err;
}

typedef struct {
    tutti_off last;
    int legal;
} order;

static int look_at_order(void *context, const tutti_piece *p) {
    order *o = context;
    o->legal = p->memory >= o->last;
    o->last = p->memory;
    return o->legal;
}

int mpiio_repeat_legal(const mpiio_view *v) {
    order o = {0, 1};
    return tile_look(v, look_at_order, &o) == TUTTI_OK && o.legal;
}

typedef struct {
    tutti_off lo, hi;
} range;

static int look_at_bounds(void *context, const tutti_piece *p) {
    range *r = context;
    if (p->memory < r->lo) r->lo = p->memory;
    if (p->memory + p->bytes > r->hi) r->hi = p->memory + p->bytes;
    return 1;
}

int mpiio_repeat_bounds(const mpiio_view *v, MPI_Offset *lo, MPI_Offset *hi) {
    range r = {INT64_MAX, 0};
    const tutti_err err = tile_look(v, look_at_bounds, &r);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    *lo = r.lo;
    *hi = r.hi;
    return MPI_SUCCESS;
}

typedef struct {
    tutti_off end, bytes;
} part;

static int look_before(void *context, const tutti_piece *p) {
    part *x = context;
    if (p->memory >= x->end) return 0;
    const int whole = p->memory + p->bytes <= x->end;
    x->bytes += whole ? p->bytes : x->end - p->memory;
    return whole;
}

/* The count ends at the first piece that is not before `end`: later pieces may be before `end`
 * again, but are not counted. */
int mpiio_repeat_before(const mpiio_view *v, MPI_Offset end, MPI_Offset *out) {
    part x = {end, 0};
    const tutti_err err = tile_look(v, look_before, &x);
    *out = x.bytes;
    return mpiio_complain_tutti(err);
}

int mpiio_repeat_offset(const mpiio_view *v, MPI_Offset at, MPI_Offset *out) {
    tutti_access *a = NULL;
    tutti_piece p;
    tutti_err err = tiles_access(v, 1, &a);
    if (err == TUTTI_OK) err = tutti_access_seek(a, at % v->tile_size, &p);
    tutti_access_free(&a);
    if (err != TUTTI_OK) return mpiio_complain_tutti(err);
    *out = v->displacement + at / v->tile_size * v->tile_extent + p.memory;
    return MPI_SUCCESS;
}

/* ---- pieces */

static int piece_add(mpiio_repeat *r, tutti_count *capacity, piece p) {
    if (r->n == *capacity) {
        *capacity = 2 * *capacity + 64;
        piece *more = realloc(r->pieces, (size_t)*capacity * sizeof *more);
        if (!more) return complain_no_view_memory();
        r->pieces = more;
    }
    r->pieces[r->n++] = p;
    return MPI_SUCCESS;
}

/* List the pieces of bytes [from, to) of the view. */
static int pieces_find(mpiio_repeat *r, const mpiio_view *v, tutti_off from, tutti_off to) {
    tutti_access *a = NULL;
    tutti_access_iter *it = NULL;
    tutti_piece p;
    tutti_count capacity = 0;
    const tutti_count first = from / v->tile_size;
    const tutti_off skipped = first * v->tile_size;
    const tutti_off origin = v->displacement + first * v->tile_extent;
    tutti_err err = tiles_access(v, (to - 1) / v->tile_size - first + 1, &a);
    if (err == TUTTI_OK) err = tutti_access_iter_start(a, from - skipped, &it);
    int code = mpiio_complain_tutti(err);
    while (code == MPI_SUCCESS && tutti_access_iter_next(it, &p) && p.file < to - skipped) {
        const tutti_off left = to - skipped - p.file;
        code = piece_add(r, &capacity, (piece){origin + p.memory, p.bytes < left ? p.bytes : left});
    }
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
    return code;
}

/* ---- access of a job */

void mpiio_repeat_free(mpiio_repeat **repeat) {
    mpiio_repeat *r = *repeat;
    *repeat = NULL;
    if (!r) return;
    free(r->pieces);
    free(r);
}

/* Pieces of the view, divided at the pieces of memory, in three arrays: file offsets, memory
 * offsets, bytes. */
typedef struct {
    tutti_off *v[3];
    tutti_count n, capacity;
} matched;

static int matched_add(matched *m, tutti_off file, tutti_off memory, tutti_off bytes) {
    const tutti_off values[] = {file, memory, bytes};
    if (m->n == m->capacity) {
        m->capacity = 2 * m->capacity + 64;
        for (int k = 0; k < 3; k++) {
            tutti_off *more = realloc(m->v[k], (size_t)m->capacity * sizeof *more);
            if (!more) return complain_no_view_memory();
            m->v[k] = more;
        }
    }
    for (int k = 0; k < 3; k++) m->v[k][m->n] = values[k];
    m->n++;
    return MPI_SUCCESS;
}

/* Match the bytes of the view, in its order, with the bytes of memory, in the order of the
 * datatype. */
static int match_bytes(const mpiio_repeat *r, tutti_access_iter *memory, matched *out) {
    tutti_piece m = {0, 0, 0};
    int code = MPI_SUCCESS;
    for (tutti_count i = 0; i < r->n; i++) {
        piece p = r->pieces[i];
        while (p.bytes > 0 && code == MPI_SUCCESS) {
            if (m.bytes == 0 && !tutti_access_iter_next(memory, &m)) return MPI_SUCCESS;
            const tutti_off n = p.bytes < m.bytes ? p.bytes : m.bytes;
            code = matched_add(out, p.at, m.memory, n);
            p = (piece){p.at + n, p.bytes - n};
            m.memory += n;
            m.bytes -= n;
        }
    }
    return code;
}

static int access_of(const mpiio_repeat *r, MPI_Count count, MPI_Datatype type,
                     tutti_access **out) {
    tutti_access *memory = NULL;
    tutti_access_iter *it = NULL;
    matched m = {{NULL, NULL, NULL}, 0, 0};
    tutti_err err = tutti_access_from_view(0, MPI_BYTE, 0, count, type, &memory);
    if (err == TUTTI_OK) err = tutti_access_iter_start(memory, 0, &it);
    int code = mpiio_complain_tutti(err);
    if (code == MPI_SUCCESS) code = match_bytes(r, it, &m);
    if (code == MPI_SUCCESS)
        code = mpiio_complain_tutti(tutti_access_pieces(m.n, m.v[0], m.v[1], m.v[2], out));
    tutti_access_iter_free(&it);
    tutti_access_free(&memory);
    for (int k = 0; k < 3; k++) free(m.v[k]);
    return code;
}

int mpiio_repeat_make(mpiio_job *job, MPI_Count count, MPI_Datatype type) {
    mpiio_repeat *r = calloc(1, sizeof *r);
    if (!r) return complain_no_view_memory();
    job->repeat = r;
    int code = pieces_find(r, &job->file->view, job->at, job->at + job->bytes);
    if (code == MPI_SUCCESS) code = access_of(r, count, type, &job->access);
    if (code != MPI_SUCCESS) return code;
    /* interleaved tiles are allowed, tiles with common bytes are not */
    if (job->call.is_write && tutti_access_repeated(job->access) > 0)
        return mpiio_complain(
            MPI_ERR_ARG, "the filetype overlaps itself when repeated: such views can only be read");
    return MPI_SUCCESS;
}

/* Find the end of the file by bisection: the offset before which the pieces have `moved` bytes. */
static tutti_off end_of_file(const mpiio_repeat *r, tutti_off moved) {
    tutti_off lo = 0, hi = INT64_MAX;
    while (lo < hi) {
        const tutti_off mid = lo + (hi - lo) / 2;
        tutti_off before = 0;
        for (tutti_count i = 0; i < r->n; i++) {
            const tutti_off there = mid - r->pieces[i].at;
            before += there < 0 ? 0 : there < r->pieces[i].bytes ? there : r->pieces[i].bytes;
        }
        if (before < moved)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

MPI_Offset mpiio_repeat_count(const mpiio_repeat *r, tutti_off moved) {
    const tutti_off end = end_of_file(r, moved);
    tutti_off stream = 0;
    for (tutti_count i = 0; i < r->n; i++) {
        const piece *p = &r->pieces[i];
        if (p->at + p->bytes > end) return stream + (p->at < end ? end - p->at : 0);
        stream += p->bytes;
    }
    return stream;
}
