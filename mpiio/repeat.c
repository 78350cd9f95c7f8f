/* mpiio: views that name bytes twice, or whose tiles reach into one another.  MPI allows the former for files that are
 * only read (displacements must not decrease, but types may overlap, themselves or from tile to tile); an access of
 * Tutti names every byte once.  So each byte is read once, into memory of our own, and then copied to wherever
 * the view has it.  Bytes to be written are copied there too, in the view's order.
 *
 *   pieces   of the view, in its order:      [10,20) [15,25) [40,44)
 *   runs     the bytes of the file, once:    [10,25)         [40,44)      read, packed
 *
 * Such views are rare and are expanded piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "job.h"

typedef struct {
    tutti_off at, bytes; /* in the file */
    tutti_off packed;    /* where its first byte is among those read */
} piece;

struct mpiio_repeat {
    tutti_access *memory; /* of the program: the stream's bytes in its order */
    void *buf;
    piece *pieces, *runs;
    tutti_count n, n_runs;
    char *read;
};

static int no_memory(void) {
    return mpiio_complain(MPI_ERR_NO_MEM, "no memory for a view that names bytes twice");
}

/* ---- the view's bytes, one tile after the other: on the memory side of an access */

static tutti_err tiles_access(const mpiio_view *v, tutti_count tiles, tutti_access **out) {
    return tutti_access_from_view(0, MPI_BYTE, 0, tiles, v->tile, out);
}

/* Look at each piece of one tile. */
typedef int look_fn(void *context, const tutti_piece *p); /* 0: enough */

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

/* Up to the first that is not before the end: later ones may be again, but are not reached without it. */
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

/* ---- pieces and runs */

static int piece_add(mpiio_repeat *r, tutti_count *room, piece p) {
    if (r->n == *room) {
        *room = 2 * *room + 64;
        piece *more = realloc(r->pieces, (size_t)*room * sizeof *more);
        if (!more) return no_memory();
        r->pieces = more;
    }
    r->pieces[r->n++] = p;
    return MPI_SUCCESS;
}

/* Bytes [from, to) of the view. */
static int pieces_find(mpiio_repeat *r, const mpiio_view *v, tutti_off from, tutti_off to) {
    tutti_access *a = NULL;
    tutti_access_iter *it = NULL;
    tutti_piece p;
    tutti_count room = 0;
    const tutti_count first = from / v->tile_size;
    const tutti_off skipped = first * v->tile_size;
    const tutti_off origin = v->displacement + first * v->tile_extent;
    tutti_err err = tiles_access(v, (to - 1) / v->tile_size - first + 1, &a);
    if (err == TUTTI_OK) err = tutti_access_iter_start(a, from - skipped, &it);
    int code = mpiio_complain_tutti(err);
    while (code == MPI_SUCCESS && tutti_access_iter_next(it, &p) && p.file < to - skipped) {
        const tutti_off left = to - skipped - p.file;
        code = piece_add(r, &room, (piece){origin + p.memory, p.bytes < left ? p.bytes : left, 0});
    }
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
    return code;
}

static int by_place(const void *a, const void *b) {
    const piece *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* What pieces cover, sorted, each byte once. */
static int runs_find(mpiio_repeat *r) {
    r->runs = calloc((size_t)r->n + 1, sizeof *r->runs);
    if (!r->runs) return no_memory();
    memcpy(r->runs, r->pieces, (size_t)r->n * sizeof *r->runs);
    qsort(r->runs, (size_t)r->n, sizeof *r->runs, by_place);
    tutti_count last = 0;
    for (tutti_count i = 1; i < r->n; i++) {
        const tutti_off end = r->runs[last].at + r->runs[last].bytes;
        const tutti_off mine = r->runs[i].at + r->runs[i].bytes;
        if (r->runs[i].at > end) {
            r->runs[++last] = r->runs[i];
            r->runs[last].packed = r->runs[last - 1].packed + r->runs[last - 1].bytes;
        } else if (mine > end) {
            r->runs[last].bytes = mine - r->runs[last].at;
        }
    }
    r->n_runs = last + 1;
    return MPI_SUCCESS;
}

/* The run that has a byte. */
static const piece *run_of(const mpiio_repeat *r, tutti_off at) {
    tutti_count lo = 0, hi = r->n_runs;
    while (hi - lo > 1) {
        const tutti_count mid = lo + (hi - lo) / 2;
        if (r->runs[mid].at <= at)
            lo = mid;
        else
            hi = mid;
    }
    return &r->runs[lo];
}

static int runs_access(const piece *runs, tutti_count n, tutti_access **out) {
    tutti_off *at = calloc((size_t)n * 2 + 1, sizeof *at);
    if (!at) return no_memory();
    tutti_off *bytes = at + n;
    for (tutti_count i = 0; i < n; i++) at[i] = runs[i].at, bytes[i] = runs[i].bytes;
    const tutti_err err = tutti_access_runs(n, at, bytes, out);
    free(at);
    return mpiio_complain_tutti(err);
}

/* ---- a job's bytes */

void mpiio_repeat_free(mpiio_repeat **repeat) {
    mpiio_repeat *r = *repeat;
    *repeat = NULL;
    if (!r) return;
    tutti_access_free(&r->memory);
    free(r->pieces);
    free(r->runs);
    free(r->read);
    free(r);
}

/* Memory of our own instead of the program's. */
static int memory_make(mpiio_job *job, tutti_off bytes) {
    job->repeat->read = malloc((size_t)bytes + 1);
    if (!job->repeat->read) return no_memory();
    job->buf = job->repeat->read;
    return MPI_SUCCESS;
}

static int reads_make(mpiio_job *job) {
    mpiio_repeat *r = job->repeat;
    int code = runs_find(r);
    if (code != MPI_SUCCESS) return code;
    const piece *end = &r->runs[r->n_runs - 1];
    code = memory_make(job, end->packed + end->bytes);
    return code == MPI_SUCCESS ? runs_access(r->runs, r->n_runs, &job->access) : code;
}

/* Tiles may interleave, but not name a byte twice. */
static int writes_make(mpiio_job *job) {
    mpiio_repeat *r = job->repeat;
    int code = runs_find(r);
    if (code != MPI_SUCCESS) return code;
    const piece *end = &r->runs[r->n_runs - 1];
    if (end->packed + end->bytes != job->bytes)
        return mpiio_complain(MPI_ERR_ARG, "tiles of the filetype overlap, and are written to");
    code = memory_make(job, job->bytes);
    if (code != MPI_SUCCESS) return code;
    tutti_access_pack(r->memory, r->buf, 0, job->bytes, r->read);
    return runs_access(r->pieces, r->n, &job->access);
}

int mpiio_repeat_make(mpiio_job *job, MPI_Count count, MPI_Datatype type) {
    mpiio_repeat *r = calloc(1, sizeof *r);
    if (!r) return no_memory();
    job->repeat = r;
    r->buf = job->buf;
    int code =
        mpiio_complain_tutti(tutti_access_from_view(0, MPI_BYTE, 0, count, type, &r->memory));
    if (code == MPI_SUCCESS) code = pieces_find(r, &job->file->view, job->at, job->at + job->bytes);
    if (code != MPI_SUCCESS) return code;
    return job->call.is_write ? writes_make(job) : reads_make(job);
}

/* Of `moved` bytes read, how many bytes of the view are there, from its beginning without a gap: all before the
 * end of the file. */
MPI_Offset mpiio_repeat_deliver(mpiio_repeat *r, tutti_off moved) {
    tutti_off stream = 0;
    for (tutti_count i = 0; i < r->n; i++) {
        const piece *p = &r->pieces[i], *run = run_of(r, p->at);
        const tutti_off packed = run->packed + (p->at - run->at), there = moved - packed;
        const tutti_off take = there < 0 ? 0 : there < p->bytes ? there : p->bytes;
        if (take > 0)
            tutti_access_unpack(r->memory, r->buf, stream, stream + take, r->read + packed);
        stream += take;
        if (take < p->bytes) break;
    }
    return stream;
}
