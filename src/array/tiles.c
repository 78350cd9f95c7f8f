/* array: tile iterations.
 *
 *   next(k)   open   agree whether every rank continues
 *             end    writing k - 2, reading k        these overlapped with computation
 *             agree  on the outcome
 *             begin  writing k - 1, reading k + 1    these overlap with computation on tile k
 *             copy   the intersection of frames k and k + 1
 *
 * Buffers: two frames (tiles k and k + 1) and one core.  The core can be reused when its write has
 * begun, since the engine has copied the data.  With background `all` the engine does not copy, so
 * there are two cores.  The budget covers buffers and data in transfer.  If an array is updated in
 * place, the cores are in the frames.
 *
 * Collective reads of the written array first wait for the write of tile k - 1
 * (tutti__array_finish_tile_writes).
 *
 * Reading k + 1 and writing k - 1 never access the same bytes: the arrays differ, or halos are 0.
 * All ranks execute as many steps as the rank with the most tiles; ranks with fewer tiles take part
 * without elements.
 *
 * A `sequential` iteration, for comparison, writes k - 1 and reads k in next(k), and reuses
 * nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "array/tile_transfer.h"
#include "base/trace.h"

enum { RING = 3, ALIGN = 4096 }; /* largest number of buffers; their alignment */

static const tutti__class tiles_class = {"tiles", "tile iteration", "ended"};

struct tutti_tiles {
    tutti__handle handle; /* listed until tutti_tiles_end */
    tutti__tile_transfer reading, writing;
    tutti__tiling tiling;
    tutti__box_layout layout; /* layout of the array that is read */
    int in_place, sequential;
    int ins, outs; /* number of buffers in `in` and `out` */
    char *in[RING], *out[RING];
    tutti_count steps; /* number of tiles of the rank with the most tiles */
    tutti_count next;  /* number of the next tile to return */
    tutti__box kept;   /* intersection of the frame in transfer and the previous frame */
    tutti_off memory;  /* size of this struct and its buffers in bytes */
    tutti_err outcome; /* error that all further calls return */
    tutti_error_info error;
    tutti_tiles_stats stats;
};

static tutti_array *any_array(const tutti_tiles *t) {
    return t->reading.array ? t->reading.array : t->writing.array;
}

/* ---- tiles and their buffers */

typedef struct {
    tutti__box core, frame;
} tile_boxes;

static tile_boxes boxes_of(const tutti_tiles *t, tutti_count k) {
    tile_boxes b;
    tutti__tiling_core(&t->tiling, k, &b.core);
    tutti__tiling_frame(&t->tiling, &b.core, &b.frame);
    return b;
}

static char *in_buffer(const tutti_tiles *t, tutti_count k) {
    return t->ins ? t->in[k % t->ins] : NULL;
}

static char *out_buffer(const tutti_tiles *t, tutti_count k) {
    if (t->in_place) return in_buffer(t, k);
    return t->outs ? t->out[k % t->outs] : NULL;
}

static void fill_tile(const tutti_tiles *t, tutti_count k, tutti_tile *tile) {
    const int ndims = t->tiling.ndims;
    const tile_boxes b = boxes_of(t, k);
    memset(tile, 0, sizeof *tile);
    tile->more = k < t->steps;
    tile->core = tutti__box_slice(ndims, &b.core);
    tile->frame = tutti__box_slice(ndims, &b.frame);
    if (!tile->more) return;
    tile->in = in_buffer(t, k);
    tile->out = out_buffer(t, k);
    for (int d = 0; d < ndims; d++) {
        tile->in_shape[d] = b.frame.hi[d] - b.frame.lo[d];
        tile->out_shape[d] = b.core.hi[d] - b.core.lo[d];
    }
}

/* ---- memory */

/* Return an upper bound of the size of the descriptions of one read and one write in bytes. */
static tutti_off description_bytes(int ndims) {
    return (tutti_off)(2 * ndims + 1) * (256 + 160 * ndims);
}

/* Return whether the bytes of a tile are temporarily also in memory of the engine. */
static int is_staged(const tutti_tiles *t, const tutti__tile_transfer *f) {
    return f->array && !t->sequential && tutti__tile_transfer_is_staged(f->array);
}

/* Allocate n buffers, aligned so that O_DIRECT needs no copy. */
static tutti_err allocate_buffers(tutti_tiles *t, char **v, int n, tutti_off bytes) {
    for (int i = 0; i < n; i++) {
        v[i] = tutti__malloc_aligned(ALIGN, (size_t)bytes);
        if (!v[i]) return TUTTI_ERR_NOMEM;
        t->memory += bytes;
    }
    return TUTTI_OK;
}

static tutti_off element_bytes(const tutti_array *a) {
    return a ? a->local.element_size : 0;
}

static void tiles_free(tutti_tiles **pt) {
    tutti_tiles *t = *pt;
    if (!t) return;
    tutti__tile_transfer_cancel(&t->reading);
    tutti__tile_transfer_cancel(&t->writing);
    for (int i = 0; i < RING; i++) {
        tutti__free(t->in[i]);
        tutti__free(t->out[i]);
    }
    tutti__handle_remove(&t->handle);
    tutti__free(t);
    *pt = NULL;
}

/* ---- beginning */

static tutti_err check_arrays(const tutti_array *from, const tutti_array *to) {
    if (from) TUTTI_TRY(tutti__array_usable(from, 0));
    if (to) TUTTI_TRY(tutti__array_usable(to, 1));
    if (!from || !to) return TUTTI_OK;
    if (from != to) TUTTI_TRY(tutti__array_pair_check(from, to));
    TUTTI_CHECK(!from->dist == !to->dist, TUTTI_ERR_ARG,
                "array %s is in local placement, the other is not", from->dist ? "from" : "to");
    TUTTI_CHECK(!from->dist || tutti__distribution_equal(from->dist, to->dist), TUTTI_ERR_ARG,
                "the arrays are in local placement by different distributions");
    TUTTI_CHECK(from->local.ndims == to->local.ndims, TUTTI_ERR_ARG,
                "the arrays have %d and %d dimensions: must be equal", from->local.ndims,
                to->local.ndims);
    for (int d = 0; d < from->local.ndims; d++)
        TUTTI_CHECK(from->local.shape[d] == to->local.shape[d], TUTTI_ERR_ARG,
                    "dimension %d: the arrays have %lld and %lld elements: must be equal", d,
                    (long long)from->local.shape[d], (long long)to->local.shape[d]);
    return TUTTI_OK;
}

static tutti_err check_region(int ndims, const tutti_count *shape, const tutti_slice *of,
                              tutti__box *out) {
    const tutti_slice all = tutti_slice_all(ndims, shape);
    if (!of) of = &all;
    TUTTI_CHECK_RESERVED(of, "tutti_slice");
    memset(out, 0, sizeof *out);
    if (tutti_slice_count(ndims, of, NULL) == 0) return TUTTI_OK;
    for (int d = 0; d < ndims; d++) {
        TUTTI_CHECK(of->lo[d] >= 0 && of->hi[d] <= shape[d], TUTTI_ERR_ARG,
                    "dimension %d: slice [%lld, %lld) is outside the array's extent %lld", d,
                    (long long)of->lo[d], (long long)of->hi[d], (long long)shape[d]);
        TUTTI_CHECK(of->stride[d] == 0 || of->stride[d] == 1, TUTTI_ERR_ARG,
                    "dimension %d: stride is %lld: must be 0 or 1 for tiles", d,
                    (long long)of->stride[d]);
        out->lo[d] = of->lo[d];
        out->hi[d] = of->hi[d];
    }
    return TUTTI_OK;
}

/* Return the memory of the engine per rank for operations in the background: only tiles that fit
 * into this memory are read ahead.  A quarter of background_bytes is reserved for windows that are
 * not full. */
static tutti_off staging_limit(const tutti_array *a) {
    return tutti__file_options(a->file)->background_bytes / 4 * 3 /
           tutti__file_team(a->file)->nodes.largest;
}

/* Return the bytes per rank of the engine's windows for operations that are not in the
 * background. */
static tutti_off engine_window_bytes(const tutti_array *a, tutti_off budget) {
    if (!a) return 0;
    return tutti__min(budget / 8, tutti__file_options(a->file)->cb_buffer_size /
                                      tutti__file_team(a->file)->nodes.largest);
}

static tutti_err make_tiling(tutti_tiles *t, const tutti_tiles_spec *spec) {
    const tutti_array_spec *a = &any_array(t)->local;
    tutti__tiling *g = &t->tiling;
    tutti__tile_limit limits[4];
    g->ndims = a->ndims;
    g->order = spec->order;
    TUTTI_CHECK(spec->order == TUTTI_ROW_MAJOR || spec->order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                "unknown order %d", (int)spec->order);
    TUTTI_CHECK_RESERVED(spec, "tutti_tiles_spec");
    for (int d = 0; d < t->tiling.ndims; d++) {
        TUTTI_CHECK(spec->tile[d] >= 0, TUTTI_ERR_ARG, "dimension %d: tile is %lld: must be >= 0",
                    d, (long long)spec->tile[d]);
        TUTTI_CHECK(spec->halo[d] >= 0, TUTTI_ERR_ARG, "dimension %d: halo is %lld: must be >= 0",
                    d, (long long)spec->halo[d]);
        TUTTI_CHECK(!t->in_place || spec->halo[d] == 0, TUTTI_ERR_ARG,
                    "dimension %d: halo is %lld: must be 0 for an array that is updated in place",
                    d, (long long)spec->halo[d]);
    }
    TUTTI_TRY(check_region(a->ndims, a->shape, spec->region, &g->of));
    for (int d = 0; d < a->ndims; d++) {
        g->shape[d] = a->shape[d];
        g->tile[d] = spec->tile[d];
        g->halo[d] = tutti__min(spec->halo[d], a->shape[d]);
    }
    t->layout = (tutti__box_layout){a->ndims, a->order, a->element_size};
    /* The first limit is mandatory: buffers and data in transfer fit into the budget.  The other
     * limits are desirable: the windows of the engine also fit into the budget, and data in the
     * background fits into the memory of the engine. */
    const tutti_array *from = t->reading.array, *to = t->writing.array;
    const tutti_off read = element_bytes(from), written = element_bytes(to);
    const int reads = is_staged(t, &t->reading), writes = is_staged(t, &t->writing);
    const tutti_off left =
        tutti__max(spec->budget, 0) - (tutti_off)sizeof *t - description_bytes(t->tiling.ndims);
    int n = 0;
    limits[n++] = (tutti__tile_limit){(t->ins + reads) * read, (t->outs + writes) * written, left};
    limits[n++] = (tutti__tile_limit){(2 * t->ins + 3 * reads) * read / 2,
                                      (2 * t->outs + 3 * writes) * written / 2,
                                      left - (reads ? 0 : engine_window_bytes(from, left)) -
                                          (writes ? 0 : engine_window_bytes(to, left))};
    if (reads)
        limits[n++] = (tutti__tile_limit){read, t->in_place ? written : 0, staging_limit(from)};
    if (writes && !t->in_place) limits[n++] = (tutti__tile_limit){0, written, staging_limit(to)};
    g->overhead = tutti__max(spec->budget, 0) - limits[0].limit;
    return tutti__tiling_cut(g, a->order, n, limits);
}

static tutti_err prepare_read(tutti_tiles *t, tutti_count k);

/* The local part of tutti_tiles_begin.   Not collective. */
static tutti_err make_tiles(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec,
                            tutti_tiles **out) {
    tutti_tiles *t = tutti__calloc(1, sizeof *t);
    if (!t) return TUTTI_ERR_NOMEM;
    *out = t;
    t->reading.array = from;
    t->writing.array = to;
    t->writing.is_write = 1;
    t->in_place = from == to;
    t->sequential = spec->sequential != 0;
    t->memory = sizeof *t;
    /* With background `all` written bytes remain in memory of the library until the write has
     * ended. */
    const int is_held =
        !t->sequential && to && tutti__file_options(to->file)->background == TUTTI_BACKGROUND_ALL;
    if (from) t->ins = t->sequential ? 1 : 2;
    if (from && t->in_place) t->ins += is_held;
    if (to && !t->in_place) t->outs = 1 + is_held;
    TUTTI_TRY(check_arrays(from, to));
    TUTTI_TRY(make_tiling(t, spec));
    const tutti_off frame = tutti__tiling_frame_max(&t->tiling) * element_bytes(from);
    const tutti_off core = tutti__tiling_core_max(&t->tiling) * element_bytes(to);
    TUTTI_TRY(allocate_buffers(t, t->in, t->ins, frame));
    TUTTI_TRY(allocate_buffers(t, t->out, t->outs, core));
    return t->sequential ? TUTTI_OK : prepare_read(t, 0);
}

/* Set the staging memory per node from `each`, the minimum over ranks of the memory per rank. */
static void share_staging(tutti__tile_transfer *f, tutti_off each) {
    if (f->array)
        f->memory_limit = tutti__max(each * tutti__file_team(f->array->file)->nodes.largest, 1);
}

/* Agree on errors, arguments, the number of steps and the staging memory. */
static tutti_err agree_on_begin(tutti_array *from, tutti_array *to, tutti_tiles *t,
                                tutti_off budget, tutti_err local_err) {
    enum { STEPS, READ, WRITTEN, NUMBERS };
    tutti__range r[NUMBERS] = {tutti__range_none(), tutti__range_none(), tutti__range_none()};
    tutti__call call = {.object = tiles_class.name,
                        .name = "begin",
                        .what = "the arrays or the field sequential of the tile iteration",
                        .hash = TUTTI__HASH_START,
                        .ranges = NUMBERS,
                        .range = r};
    if (local_err == TUTTI_OK) {
        tutti_off read, written;
        call.hash = tutti__array_hash(call.hash, t->reading.array);
        call.hash = tutti__array_hash(call.hash, t->writing.array);
        call.hash = tutti__hash(call.hash, &t->sequential, sizeof t->sequential);
        /* Operations share the rest of the budget in proportion to their bytes. */
        const tutti_off frame =
            tutti__tiling_frame_max(&t->tiling) * element_bytes(t->reading.array);
        const tutti_off core = tutti__tiling_core_max(&t->tiling) * element_bytes(t->writing.array);
        const tutti_off rest =
            tutti__max(budget - t->memory - description_bytes(t->tiling.ndims), 0);
        const double share = (double)(frame + 1) / (double)(frame + core + 2);
        read = t->writing.array ? (tutti_off)((double)rest * share) : rest;
        written = t->reading.array ? rest - read : rest;
        r[STEPS] = tutti__range_of(t->tiling.tiles);
        r[READ] = tutti__range_of(read);
        r[WRITTEN] = tutti__range_of(written);
    }
    TUTTI_TRY(tutti__arrays_call(from, to, &call, local_err));
    TUTTI_ASSERT(t);
    t->steps = r[STEPS].max;
    share_staging(&t->reading, r[READ].min);
    share_staging(&t->writing, r[WRITTEN].min);
    return TUTTI_OK;
}

/* Register (1) or unregister (-1) the iteration with its arrays. */
static void register_with_arrays(tutti_tiles *t, int more) {
    if (t->reading.array) t->reading.array->iterations += more;
    if (t->writing.array && !t->in_place) t->writing.array->iterations += more;
    if (!t->writing.array) return;
    if (more > 0)
        tutti__tile_transfer_join(&t->writing);
    else
        tutti__tile_transfer_leave(&t->writing);
}

/* Wait for the writes of other iterations to these arrays.   Collective. */
static void finish_other_writes(const tutti_tiles *t) {
    if (t->reading.array) tutti__array_finish_tile_writes(t->reading.array);
    if (t->writing.array && !t->in_place) tutti__array_finish_tile_writes(t->writing.array);
}

/* Add the context to an error that all ranks have: the path of a file that all ranks share. */
static tutti_err add_context(const tutti_array *a, tutti_err err) {
    return tutti__array_named(a, "tiles", err);
}

/* Check the handle and its arrays, which stay open until their iterations have ended, except after
 * MPI_Finalize. */
static tutti_err check_tiles_live(const tutti_tiles *t) {
    TUTTI_TRY(tutti__handle_check(t, &tiles_class));
    if (t->reading.array) TUTTI_TRY(tutti__array_live(t->reading.array));
    return t->writing.array ? tutti__array_live(t->writing.array) : TUTTI_OK;
}

tutti_err tutti_tiles_begin(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec,
                            tutti_tiles **t_out) {
    TUTTI_KEEP_ERRNO;
    tutti_tiles *t = NULL;
    tutti_err err = TUTTI_OK;
    if (!from && !to)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               "arguments from and to are both NULL: at least one is required");
    if (from) err = tutti__array_live(from);
    if (err == TUTTI_OK && to) err = tutti__array_live(to);
    if (err == TUTTI_OK && (!spec || !t_out))
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL", spec ? "t_out" : "spec");
    if (err == TUTTI_OK) err = make_tiles(from, to, spec, &t);
    err = agree_on_begin(from, to, t, spec ? spec->budget : 0, err);
    if (err != TUTTI_OK) {
        tiles_free(&t);
        return err;
    }
    finish_other_writes(t);
    register_with_arrays(t, 1);
    if (t->steps == 0) tutti__tile_transfer_cancel(&t->reading);
    tutti__tile_transfer_begin(&t->reading);
    tutti__handle_add(&t->handle, &tiles_class);
    *t_out = t;
    return TUTTI_OK;
}

/* ---- steps */

static tutti_err prepare_write(tutti_tiles *t, tutti_count k) {
    const tile_boxes b = boxes_of(t, k);
    const tutti_count n = tutti__box_count(t->tiling.ndims, &b.core);
    const tutti__packed at = {&b.core, out_buffer(t, k)};
    if (!t->writing.array) return TUTTI_OK;
    TUTTI_TRY(tutti__tile_transfer_prepare(&t->writing, n > 0, &b.core, &at));
    t->stats.written_bytes += n * element_bytes(t->writing.array);
    return TUTTI_OK;
}

/* Prepare to read the frame of tile k without its intersection with the previous frame, which is in
 * memory. */
static tutti_err prepare_read(tutti_tiles *t, tutti_count k) {
    const int ndims = t->tiling.ndims;
    const tile_boxes b = boxes_of(t, k), before = boxes_of(t, t->sequential ? -1 : k - 1);
    const tutti__packed at = {&b.frame, in_buffer(t, k)};
    tutti__tile_read fetch;
    if (!t->reading.array) return TUTTI_OK;
    tutti__tiling_plan_read(&t->tiling, &t->layout, &before.frame, &b.frame, &fetch);
    TUTTI_TRY(tutti__tile_transfer_prepare(&t->reading, fetch.n, fetch.read, &at));
    t->kept = fetch.kept;
    const tutti_off kept = tutti__box_count(ndims, &fetch.kept) * t->layout.element;
    t->stats.reused_bytes += kept;
    t->stats.read_bytes += tutti__box_count(ndims, &b.frame) * t->layout.element - kept;
    return TUTTI_OK;
}

/* Agree that all ranks take the same step (tile `step`, or -1: the end) and have no error.  With
 * TUTTI_ERR_MISMATCH some ranks are in another call, nothing has been done, and the iteration is
 * unchanged.  Otherwise all ranks have entered the step. */
static tutti_err open_step(tutti_tiles *t, tutti_count step, tutti_err local_err) {
    enum { STEP, NUMBERS };
    tutti__range r[NUMBERS] = {tutti__range_of(step)};
    tutti__call call = {.object = tiles_class.name,
                        .name = "next",
                        .what = "the tile iteration",
                        .hash = TUTTI__HASH_START,
                        .ranges = NUMBERS,
                        .range = r};
    call.hash = tutti__array_hash(call.hash, t->reading.array);
    call.hash = tutti__array_hash(call.hash, t->writing.array);
    TUTTI_TRY(tutti__array_call(any_array(t), &call, local_err));
    TUTTI_CHECK(r[STEP].min == r[STEP].max, TUTTI_ERR_STATE,
                "some ranks have ended the tile iteration, others continue");
    return TUTTI_OK;
}

/* Agree on errors: all ranks return the error of any rank. */
static tutti_err share_error(tutti_tiles *t, tutti_err local_err) {
    return tutti__array_vote(any_array(t), local_err);
}

static tutti_err step_overlapped(tutti_tiles *t, tutti_count k, tutti_err opened) {
    /* end both transfers; return the first error */
    const tutti_err wrote = tutti__tile_transfer_end(&t->writing);
    tutti_err err = TUTTI_ALSO(wrote, tutti__tile_transfer_end(&t->reading));
    if (opened != TUTTI_OK) return opened;
    if (err == TUTTI_OK && k > 0) err = prepare_write(t, k - 1);
    if (err == TUTTI_OK && k + 1 < t->steps) err = prepare_read(t, k + 1);
    TUTTI_TRY(share_error(t, err));
    finish_other_writes(t);
    tutti__tile_transfer_begin(&t->writing);
    const int reads = t->reading.prepared;
    tutti__tile_transfer_begin(&t->reading);
    if (reads) { /* copy the intersection of the frames */
        const tile_boxes a = boxes_of(t, k), b = boxes_of(t, k + 1);
        const tutti__packed have = {&a.frame, in_buffer(t, k)},
                            want = {&b.frame, in_buffer(t, k + 1)};
        tutti__box_copy(&t->layout, &t->kept, &have, &want);
    }
    return TUTTI_OK;
}

static tutti_err step_sequential(tutti_tiles *t, tutti_count k, tutti_err opened) {
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(opened);
    if (k > 0) err = prepare_write(t, k - 1);
    if (err == TUTTI_OK && k < t->steps) err = prepare_read(t, k);
    TUTTI_TRY(share_error(t, err));
    finish_other_writes(t);
    err = tutti__tile_transfer_run(&t->writing);
    if (err == TUTTI_OK) err = tutti__tile_transfer_run(&t->reading);
    return any_array(t)->dist ? share_error(t, err) : err;
}

tutti_err tutti_tiles_next(tutti_tiles *t, tutti_tile *tile_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(t != NULL, TUTTI_ERR_ARG, "argument t is NULL");
    TUTTI_TRY(check_tiles_live(t));
    const double since = tutti__now();
    tutti_err err = t->outcome;
    if (err != TUTTI_OK) { /* every further call returns the same error */
        tutti__error_assign(&t->error);
        return err;
    }
    if (!tile_out) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument tile_out is NULL");
    if (t->next <= t->steps) {
        err = open_step(t, t->next, err);
        if (err == TUTTI_ERR_MISMATCH) return add_context(any_array(t), err);
        err = t->sequential ? step_sequential(t, t->next, err) : step_overlapped(t, t->next, err);
        t->stats.seconds_waiting += tutti__now() - since;
        if (err != TUTTI_OK) {
            tutti__tile_transfer_cancel(&t->reading);
            tutti__tile_transfer_cancel(&t->writing);
            t->outcome = add_context(any_array(t), err);
            t->error = *tutti_last_error();
            return err;
        }
        t->stats.tiles += t->next < t->tiling.tiles;
        t->next++;
    }
    if (!tile_out) return err; /* the iteration had already ended */
    fill_tile(t, t->next - 1, tile_out);
    return TUTTI_OK;
}

/* Data that was read ahead is not needed, so errors of the pending read are ignored. */
tutti_err tutti_tiles_end(tutti_tiles **pt) {
    TUTTI_KEEP_ERRNO;
    if (!pt || !*pt) return TUTTI_OK;
    tutti_tiles *t = *pt;
    tutti_err err = check_tiles_live(t);
    if (err != TUTTI_OK) {
        *pt = NULL;
        if (!tutti__handle_alive(&t->handle, &tiles_class)) return err;
        const int over =
            tutti__tile_transfer_abandon(&t->reading) & tutti__tile_transfer_abandon(&t->writing);
        register_with_arrays(t, -1);
        if (over) tiles_free(&t);
        return err;
    }
    tutti_array *any = any_array(t);
    if (t->outcome == TUTTI_OK) {
        const tutti_err opened = open_step(t, -1, TUTTI_OK);
        if (opened == TUTTI_ERR_MISMATCH) return add_context(any, opened);
        err = TUTTI_ALSO(opened, tutti__tile_transfer_end(&t->writing));
        {
            TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
            (void)!tutti__tile_transfer_end(&t->reading);
        }
        if (opened == TUTTI_OK) err = share_error(t, err);
    }
    register_with_arrays(t, -1);
    tiles_free(pt);
    return add_context(any, err);
}

void tutti_tiles_stats_sized(const tutti_tiles *t, tutti_tiles_stats *out, size_t struct_size) {
    if (!t || !out || !tutti__handle_alive(&t->handle, &tiles_class)) return;
    tutti_tiles_stats now = t->stats;
    /* add the largest size of data in transfer */
    now.memory = t->memory + t->reading.most + t->writing.most;
    tutti__struct_copy(out, struct_size, &now, sizeof now);
}
