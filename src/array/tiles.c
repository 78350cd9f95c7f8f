/* array: tile walks.
 *
 *   next(k)   open   does everybody go on?
 *             end    writing k - 2, reading k        what went on while the caller computed
 *             agree  did it go well everywhere?
 *             begin  writing k - 1, reading k + 1    goes on while the caller computes tile k
 *             copy   what frames k and k + 1 have in common, from the one to the other
 *
 * Buffers: two frames (tile k, and k + 1) and a core, which is free again when writing has begun,
 * since the engine has taken its bytes; with background `all` it is not, so that there are two.
 * The budget is for buffers and for bytes on their way.  An array that is updated in place has its
 * cores where frames would be.
 *
 * Whoever reads the array that is written, all ranks together, first waits for k - 1
 * (tutti__array_catch_up).
 *
 * Reading k + 1 and writing k - 1 never name the same bytes: either they are different arrays, or
 * there are no halos.  All ranks make as many steps as the one with the most tiles; the others take
 * part with nothing.
 *
 * A walk for comparison (`sequential`) writes k - 1 and reads k in next(k), and keeps nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "array/tiles_io.h"
#include "base/trace.h"

enum { RING = 3, ALIGN = 4096 }; /* buffers, at most; where they begin */

static const tutti__class tiles_class = {"tiles", "tile walk", "ended"};

struct tutti_tiles {
    tutti__handle handle; /* until it is ended */
    tutti__tile_flight reading, writing;
    tutti__tiling tiling;
    tutti__grain grain; /* of the array that is read */
    int in_place, sequential;
    int ins, outs; /* buffers */
    char *in[RING], *out[RING];
    tutti_count steps; /* tiles of the rank that has most */
    tutti_count next;  /* the tile that is handed out next */
    tutti__box kept;   /* what the frame that is being read has in common with the one before */
    tutti_off memory;  /* of this and its buffers */
    tutti_err outcome; /* what it has failed with */
    tutti_error_info trouble;
    tutti_tiles_stats stats;
};

static tutti_array *any_array(const tutti_tiles *t) {
    return t->reading.array ? t->reading.array : t->writing.array;
}

/* ---- tiles and their places in memory */

typedef struct {
    tutti__box core, frame;
} tile_boxes;

static tile_boxes boxes_of(const tutti_tiles *t, tutti_count k) {
    tile_boxes b;
    tutti__tiling_core(&t->tiling, k, &b.core);
    tutti__tiling_frame(&t->tiling, &b.core, &b.frame);
    return b;
}

static char *in_of(const tutti_tiles *t, tutti_count k) {
    return t->ins ? t->in[k % t->ins] : NULL;
}

static char *out_of(const tutti_tiles *t, tutti_count k) {
    if (t->in_place) return in_of(t, k);
    return t->outs ? t->out[k % t->outs] : NULL;
}

static void tile_fill(const tutti_tiles *t, tutti_count k, tutti_tile *tile) {
    const int ndims = t->tiling.ndims;
    const tile_boxes b = boxes_of(t, k);
    memset(tile, 0, sizeof *tile);
    tile->more = k < t->steps;
    tile->core = tutti__box_slice(ndims, &b.core);
    tile->frame = tutti__box_slice(ndims, &b.frame);
    if (!tile->more) return;
    tile->in = in_of(t, k);
    tile->out = out_of(t, k);
    for (int d = 0; d < ndims; d++) {
        tile->in_shape[d] = b.frame.hi[d] - b.frame.lo[d];
        tile->out_shape[d] = b.core.hi[d] - b.core.lo[d];
    }
}

/* ---- memory */

/* Descriptions of one operation each way. */
static tutti_off descriptions(int ndims) {
    return (tutti_off)(2 * ndims + 1) * (256 + 160 * ndims);
}

/* Is what it moves in memory of the engine for a while, for each byte of a tile? */
static int is_staged(const tutti_tiles *t, const tutti__tile_flight *f) {
    return f->array && !t->sequential && tutti__tile_flight_staged(f->array);
}

/* What is on its way counts as much as it ever was. */
static tutti_off memory_of(const tutti_tiles *t) {
    return t->memory + t->reading.most + t->writing.most;
}

/* Aligned, so that O_DIRECT can do without a copy. */
static tutti_err buffers_make(tutti_tiles *t, char **v, int n, tutti_off bytes) {
    for (int i = 0; i < n; i++) {
        v[i] = tutti__malloc_aligned(ALIGN, (size_t)bytes);
        if (!v[i]) return TUTTI_ERR_NOMEM;
        t->memory += bytes;
    }
    return TUTTI_OK;
}

static tutti_off element_of(const tutti_array *a) {
    return a ? a->mine.element_size : 0;
}

static void tiles_free(tutti_tiles **pt) {
    tutti_tiles *t = *pt;
    if (!t) return;
    tutti__tile_flight_cancel(&t->reading);
    tutti__tile_flight_cancel(&t->writing);
    for (int i = 0; i < RING; i++) {
        tutti__free(t->in[i]);
        tutti__free(t->out[i]);
    }
    tutti__handle_remove(&t->handle);
    tutti__free(t);
    *pt = NULL;
}

/* ---- beginning */

static tutti_err arrays_check(const tutti_array *from, const tutti_array *to) {
    if (from) TUTTI_TRY(tutti__array_usable(from, 0));
    if (to) TUTTI_TRY(tutti__array_usable(to, 1));
    if (!from || !to) return TUTTI_OK;
    if (from != to) TUTTI_TRY(tutti__array_pair_check(from, to));
    TUTTI_CHECK(!from->dist == !to->dist, TUTTI_ERR_ARG,
                "one array is in local placement, the other is not");
    TUTTI_CHECK(!from->dist || tutti__distribution_equal(from->dist, to->dist), TUTTI_ERR_ARG,
                "the arrays are in local placement by different distributions");
    TUTTI_CHECK(from->mine.ndims == to->mine.ndims, TUTTI_ERR_ARG,
                "the arrays have %d and %d dimensions", from->mine.ndims, to->mine.ndims);
    for (int d = 0; d < from->mine.ndims; d++)
        TUTTI_CHECK(from->mine.shape[d] == to->mine.shape[d], TUTTI_ERR_ARG,
                    "dimension %d: the arrays have %lld and %lld elements", d,
                    (long long)from->mine.shape[d], (long long)to->mine.shape[d]);
    return TUTTI_OK;
}

static tutti_err region_check(int ndims, const tutti_count *shape, const tutti_slice *of,
                              tutti__box *out) {
    const tutti_slice all = tutti_slice_all(ndims, shape);
    if (!of) of = &all;
    TUTTI_CHECK_RESERVED(of, "a slice");
    memset(out, 0, sizeof *out);
    if (tutti_slice_count(ndims, of, NULL) == 0) return TUTTI_OK;
    for (int d = 0; d < ndims; d++) {
        TUTTI_CHECK(of->lo[d] >= 0 && of->hi[d] <= shape[d], TUTTI_ERR_ARG,
                    "dimension %d: [%lld, %lld) is outside of the array's %lld", d,
                    (long long)of->lo[d], (long long)of->hi[d], (long long)shape[d]);
        TUTTI_CHECK(of->stride[d] == 0 || of->stride[d] == 1, TUTTI_ERR_ARG,
                    "dimension %d: stride %lld, tiles have none", d, (long long)of->stride[d]);
        out->lo[d] = of->lo[d];
        out->hi[d] = of->hi[d];
    }
    return TUTTI_OK;
}

static tutti_err spec_check(const tutti_tiles *t, const tutti_tiles_spec *spec) {
    TUTTI_CHECK(spec->order == TUTTI_ROW_MAJOR || spec->order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                "no such order: %d", (int)spec->order);
    TUTTI_CHECK_RESERVED(spec, "the spec of a walk");
    for (int d = 0; d < t->tiling.ndims; d++) {
        TUTTI_CHECK(spec->tile[d] >= 0, TUTTI_ERR_ARG, "dimension %d: tiles of %lld elements", d,
                    (long long)spec->tile[d]);
        TUTTI_CHECK(spec->halo[d] >= 0, TUTTI_ERR_ARG, "dimension %d: a halo of %lld elements", d,
                    (long long)spec->halo[d]);
        TUTTI_CHECK(!t->in_place || spec->halo[d] == 0, TUTTI_ERR_ARG,
                    "dimension %d: an array that is updated in place has no halo", d);
    }
    return TUTTI_OK;
}

/* Bytes in the background wait in memory of the engine, which is limited: tiles that keep to it are
 * really read ahead.  A part is left for windows that are not full. */
static tutti_off staging_of(const tutti_array *a) {
    return tutti__file_options(a->file)->background_bytes / 4 * 3 /
           tutti__file_team(a->file)->nodes.largest;
}

/* Windows of the engine for one operation at a time, where it does not go on in the background. */
static tutti_off windows_of(const tutti_array *a, tutti_off budget) {
    if (!a) return 0;
    return tutti__min(budget / 8, tutti__file_options(a->file)->cb_buffer_size /
                                      tutti__file_team(a->file)->nodes.largest);
}

/* What must be kept to: buffers, and the bytes on their way.  What should be: the engine's
 * windows, of which those in the background are not all full, have their place beside the
 * buffers, and its own limits hold. */
static int rooms_make(const tutti_tiles *t, tutti_off budget, tutti__room *rooms) {
    const tutti_array *from = t->reading.array, *to = t->writing.array;
    const tutti_off read = element_of(from), written = element_of(to);
    const int reads = is_staged(t, &t->reading), writes = is_staged(t, &t->writing);
    const tutti_off left =
        tutti__max(budget, 0) - (tutti_off)sizeof *t - descriptions(t->tiling.ndims);
    int n = 0;
    rooms[n++] = (tutti__room){(t->ins + reads) * read, (t->outs + writes) * written, left};
    rooms[n++] = (tutti__room){
        (2 * t->ins + 3 * reads) * read / 2, (2 * t->outs + 3 * writes) * written / 2,
        left - (reads ? 0 : windows_of(from, left)) - (writes ? 0 : windows_of(to, left))};
    if (reads) rooms[n++] = (tutti__room){read, t->in_place ? written : 0, staging_of(from)};
    if (writes && !t->in_place) rooms[n++] = (tutti__room){0, written, staging_of(to)};
    return n;
}

/* What the buffers have left of the budget is for operations: for each as much as its share of
 * the bytes.  Returns this rank's part of what each may have on a node. */
static void share_rest(const tutti_tiles *t, tutti_off budget, tutti_off *read_out,
                       tutti_off *written_out) {
    const tutti_off frame = tutti__tiling_frame_most(&t->tiling) * element_of(t->reading.array);
    const tutti_off core = tutti__tiling_core_most(&t->tiling) * element_of(t->writing.array);
    const tutti_off rest = tutti__max(budget - t->memory - descriptions(t->tiling.ndims), 0);
    const double share = (double)(frame + 1) / (double)(frame + core + 2);
    *read_out = t->writing.array ? (tutti_off)((double)rest * share) : rest;
    *written_out = t->reading.array ? rest - *read_out : rest;
}

static tutti_err tiling_make(tutti_tiles *t, const tutti_tiles_spec *spec) {
    const tutti_array_spec *a = &any_array(t)->mine;
    tutti__tiling *g = &t->tiling;
    tutti__room rooms[4];
    g->ndims = a->ndims;
    g->order = spec->order;
    TUTTI_TRY(spec_check(t, spec));
    TUTTI_TRY(region_check(a->ndims, a->shape, spec->of, &g->of));
    for (int d = 0; d < a->ndims; d++) {
        g->shape[d] = a->shape[d];
        g->tile[d] = spec->tile[d];
        g->halo[d] = tutti__min(spec->halo[d], a->shape[d]);
    }
    t->grain = (tutti__grain){a->ndims, a->order, a->element_size};
    const int n = rooms_make(t, spec->budget, rooms);
    g->beside = tutti__max(spec->budget, 0) - rooms[0].limit;
    return tutti__tiling_cut(g, a->order, n, rooms);
}

/* With background `all` what is written is in our memory until it has been. */
static void count_buffers(tutti_tiles *t) {
    const tutti_array *from = t->reading.array, *to = t->writing.array;
    const int held =
        !t->sequential && to && tutti__file_options(to->file)->background == TUTTI_BACKGROUND_ALL;
    if (from) t->ins = t->sequential ? 1 : 2;
    if (from && t->in_place) t->ins += held;
    if (to && !t->in_place) t->outs = 1 + held;
}

static tutti_err prepare_read(tutti_tiles *t, tutti_count k);

/* Everything that this rank can do alone. */
static tutti_err tiles_make(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec,
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
    count_buffers(t);
    TUTTI_TRY(arrays_check(from, to));
    TUTTI_TRY(tiling_make(t, spec));
    const tutti_off frame = tutti__tiling_frame_most(&t->tiling) * element_of(from);
    const tutti_off core = tutti__tiling_core_most(&t->tiling) * element_of(to);
    TUTTI_TRY(buffers_make(t, t->in, t->ins, frame));
    TUTTI_TRY(buffers_make(t, t->out, t->outs, core));
    return t->sequential ? TUTTI_OK : prepare_read(t, 0);
}

/* Staging memory of a node: as much for each of its ranks as the rank with the least has left. */
static void room_give(tutti__tile_flight *f, tutti_off each) {
    if (f->array) f->room = tutti__max(each * tutti__file_team(f->array->file)->nodes.largest, 1);
}

/* One agreement: may all begin, in the same way, and how many steps will there be? */
static tutti_err begin_agree(tutti_array *from, tutti_array *to, tutti_tiles *t, tutti_off budget,
                             tutti_err mine) {
    enum { STEPS, READ, WRITTEN, NUMBERS };
    tutti__range r[NUMBERS] = {tutti__range_none(), tutti__range_none(), tutti__range_none()};
    tutti__call same = {.object = tiles_class.name,
                        .name = "begin",
                        .what = "the walk: its arrays, or whether it is sequential",
                        .hash = TUTTI__HASH_START,
                        .ranges = NUMBERS,
                        .range = r};
    if (mine == TUTTI_OK) {
        tutti_off read, written;
        same.hash = tutti__array_hash(same.hash, t->reading.array);
        same.hash = tutti__array_hash(same.hash, t->writing.array);
        same.hash = tutti__hash(same.hash, &t->sequential, sizeof t->sequential);
        share_rest(t, budget, &read, &written);
        r[STEPS] = tutti__range_of(t->tiling.tiles);
        r[READ] = tutti__range_of(read);
        r[WRITTEN] = tutti__range_of(written);
    }
    TUTTI_TRY(tutti__arrays_call(from, to, &same, mine));
    TUTTI_ASSERT(t);
    t->steps = r[STEPS].max;
    room_give(&t->reading, r[READ].min);
    room_give(&t->writing, r[WRITTEN].min);
    return TUTTI_OK;
}

/* From now on (1), or no longer (-1), the arrays know of this walk. */
static void count_walks(tutti_tiles *t, int more) {
    if (t->reading.array) t->reading.array->walks += more;
    if (t->writing.array && !t->in_place) t->writing.array->walks += more;
    if (!t->writing.array) return;
    if (more > 0)
        tutti__tile_flight_join(&t->writing);
    else
        tutti__tile_flight_leave(&t->writing);
}

/* Other walks may be writing to these arrays.  Collective. */
static void catch_up(const tutti_tiles *t) {
    if (t->reading.array) tutti__array_catch_up(t->reading.array);
    if (t->writing.array && !t->in_place) tutti__array_catch_up(t->writing.array);
}

/* Errors are the same on all ranks, so that they name a file that is. */
static tutti_err named(const tutti_array *a, tutti_err err) {
    return tutti__object_error(&a->object, "tiles", err);
}

/* Arrays stay open until their walks have ended, but for MPI_Finalize. */
static tutti_err tiles_live(const tutti_tiles *t) {
    TUTTI_TRY(tutti__handle_check(t, &tiles_class));
    if (t->reading.array) TUTTI_TRY(tutti__array_live(t->reading.array));
    return t->writing.array ? tutti__array_live(t->writing.array) : TUTTI_OK;
}

static tutti_err begin_check(const tutti_array *from, const tutti_array *to,
                             const tutti_tiles_spec *spec, tutti_tiles **t_out) {
    TUTTI_CHECK(from || to, TUTTI_ERR_ARG, "no array to walk over");
    if (from) TUTTI_TRY(tutti__array_live(from));
    if (to) TUTTI_TRY(tutti__array_live(to));
    TUTTI_CHECK(spec && t_out, TUTTI_ERR_ARG, "no spec or nowhere to put the walk");
    return TUTTI_OK;
}

tutti_err tutti_tiles_begin(tutti_array *from, tutti_array *to, const tutti_tiles_spec *spec,
                            tutti_tiles **t_out) {
    TUTTI_KEEP_ERRNO;
    tutti_tiles *t = NULL;
    tutti_err err = begin_check(from, to, spec, t_out);
    if (err == TUTTI_OK) err = tiles_make(from, to, spec, &t);
    err = begin_agree(from, to, t, spec ? spec->budget : 0, err);
    if (err != TUTTI_OK) {
        tiles_free(&t);
        return err;
    }
    catch_up(t);
    count_walks(t, 1);
    if (t->steps == 0) tutti__tile_flight_cancel(&t->reading);
    tutti__tile_flight_begin(&t->reading);
    tutti__handle_add(&t->handle, &tiles_class);
    *t_out = t;
    return TUTTI_OK;
}

/* ---- steps */

static tutti_err prepare_write(tutti_tiles *t, tutti_count k) {
    const tile_boxes b = boxes_of(t, k);
    const tutti_count n = tutti__box_count(t->tiling.ndims, &b.core);
    const tutti__packed at = {&b.core, out_of(t, k)};
    if (!t->writing.array) return TUTTI_OK;
    TUTTI_TRY(tutti__tile_flight_prepare(&t->writing, n > 0, &b.core, &at));
    t->stats.written_bytes += n * element_of(t->writing.array);
    return TUTTI_OK;
}

/* The frame of tile k, without what it shares with the one before, which is in memory. */
static tutti_err prepare_read(tutti_tiles *t, tutti_count k) {
    const int ndims = t->tiling.ndims;
    const tile_boxes b = boxes_of(t, k), before = boxes_of(t, t->sequential ? -1 : k - 1);
    const tutti__packed at = {&b.frame, in_of(t, k)};
    tutti__fetch fetch;
    if (!t->reading.array) return TUTTI_OK;
    tutti__tiling_fetch(&t->tiling, &t->grain, &before.frame, &b.frame, &fetch);
    TUTTI_TRY(tutti__tile_flight_prepare(&t->reading, fetch.n, fetch.read, &at));
    t->kept = fetch.kept;
    const tutti_off kept = tutti__box_count(ndims, &fetch.kept) * t->grain.element;
    t->stats.kept_bytes += kept;
    t->stats.read_bytes += tutti__box_count(ndims, &b.frame) * t->grain.element - kept;
    return TUTTI_OK;
}

static void copy_kept(const tutti_tiles *t, tutti_count to) {
    const tile_boxes a = boxes_of(t, to - 1), b = boxes_of(t, to);
    const tutti__packed have = {&a.frame, in_of(t, to - 1)}, want = {&b.frame, in_of(t, to)};
    tutti__box_copy(&t->grain, &t->kept, &have, &want);
}

/* Is everybody here, to take the same step (tile k, or -1: the end), and has nothing against it?
 * TUTTI_ERR_MISMATCH: some are in another call, nothing has been done, and the walk stays as it is.
 * Otherwise all ranks are together, whatever this returns. */
static tutti_err step_open(tutti_tiles *t, tutti_count step, tutti_err mine) {
    enum { STEP, NUMBERS };
    tutti__range r[NUMBERS] = {tutti__range_of(step)};
    tutti__call same = {.object = tiles_class.name,
                        .name = "next",
                        .what = "the walk",
                        .hash = TUTTI__HASH_START,
                        .ranges = NUMBERS,
                        .range = r};
    same.hash = tutti__array_hash(same.hash, t->reading.array);
    same.hash = tutti__array_hash(same.hash, t->writing.array);
    TUTTI_TRY(tutti__array_call(any_array(t), &same, mine));
    TUTTI_CHECK(r[STEP].min == r[STEP].max, TUTTI_ERR_STATE,
                "some ranks have ended the walk, others go on");
    return TUTTI_OK;
}

/* End both; the first trouble counts. */
static tutti_err land(tutti_tiles *t) {
    const tutti_err wrote = tutti__tile_flight_end(&t->writing);
    return TUTTI_ALSO(wrote, tutti__tile_flight_end(&t->reading));
}

/* Trouble on the way is everybody's. */
static tutti_err trouble_share(tutti_tiles *t, tutti_err mine) {
    return tutti__array_vote(any_array(t), mine);
}

static tutti_err step_ahead(tutti_tiles *t, tutti_count k, tutti_err opened) {
    tutti_err err = TUTTI_ALSO(opened, land(t));
    if (opened != TUTTI_OK) return opened;
    if (err == TUTTI_OK && k > 0) err = prepare_write(t, k - 1);
    if (err == TUTTI_OK && k + 1 < t->steps) err = prepare_read(t, k + 1);
    TUTTI_TRY(trouble_share(t, err));
    catch_up(t);
    tutti__tile_flight_begin(&t->writing);
    const int reads = t->reading.prepared;
    tutti__tile_flight_begin(&t->reading);
    if (reads) copy_kept(t, k + 1);
    return TUTTI_OK;
}

static tutti_err step_alone(tutti_tiles *t, tutti_count k, tutti_err opened) {
    tutti_err err = opened;
    TUTTI_TRY(err);
    if (k > 0) err = prepare_write(t, k - 1);
    if (err == TUTTI_OK && k < t->steps) err = prepare_read(t, k);
    TUTTI_TRY(trouble_share(t, err));
    catch_up(t);
    err = tutti__tile_flight_run(&t->writing);
    if (err == TUTTI_OK) err = tutti__tile_flight_run(&t->reading);
    return any_array(t)->dist ? trouble_share(t, err) : err;
}

static tutti_err failed(tutti_tiles *t, tutti_err err) {
    tutti__tile_flight_cancel(&t->reading);
    tutti__tile_flight_cancel(&t->writing);
    t->outcome = named(any_array(t), err);
    t->trouble = *tutti_last_error();
    return err;
}

tutti_err tutti_tiles_next(tutti_tiles *t, tutti_tile *tile_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(t != NULL, TUTTI_ERR_ARG, "the walk is NULL");
    TUTTI_TRY(tiles_live(t));
    const double since = tutti__now();
    tutti_err err = t->outcome;
    if (err != TUTTI_OK) { /* told again, as often as somebody asks */
        tutti__error_assign(&t->trouble);
        return err;
    }
    if (!tile_out) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the tile");
    if (t->next <= t->steps) {
        err = step_open(t, t->next, err);
        if (err == TUTTI_ERR_MISMATCH) return named(any_array(t), err);
        err = t->sequential ? step_alone(t, t->next, err) : step_ahead(t, t->next, err);
        t->stats.seconds_waiting += tutti__now() - since;
        if (err != TUTTI_OK) return failed(t, err);
        t->stats.tiles += t->next < t->tiling.tiles;
        t->next++;
    }
    if (!tile_out) return err; /* the walk was over before */
    tile_fill(t, t->next - 1, tile_out);
    return TUTTI_OK;
}

/* What was read ahead is not wanted any more, so that it does not matter whether it could be. */
tutti_err tutti_tiles_end(tutti_tiles **pt) {
    TUTTI_KEEP_ERRNO;
    if (!pt || !*pt) return TUTTI_OK;
    tutti_tiles *t = *pt;
    tutti_err err = tiles_live(t);
    if (err != TUTTI_OK) {
        *pt = NULL;
        if (!tutti__handle_alive(&t->handle, &tiles_class)) return err;
        const int over =
            tutti__tile_flight_forget(&t->reading) & tutti__tile_flight_forget(&t->writing);
        count_walks(t, -1);
        if (over) tiles_free(&t);
        return err;
    }
    tutti_array *any = any_array(t);
    if (t->outcome == TUTTI_OK) {
        const tutti_err opened = step_open(t, -1, TUTTI_OK);
        if (opened == TUTTI_ERR_MISMATCH) return named(any, opened);
        err = TUTTI_ALSO(opened, tutti__tile_flight_end(&t->writing));
        {
            TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
            (void)!tutti__tile_flight_end(&t->reading);
        }
        if (opened == TUTTI_OK) err = trouble_share(t, err);
    }
    count_walks(t, -1);
    tiles_free(pt);
    return named(any, err);
}

void tutti_tiles_stats_sized(const tutti_tiles *t, tutti_tiles_stats *out, size_t struct_size) {
    if (!t || !out || !tutti__handle_alive(&t->handle, &tiles_class)) return;
    tutti_tiles_stats now = t->stats;
    now.memory = memory_of(t);
    memset(out, 0, struct_size);
    memcpy(out, &now, struct_size < sizeof now ? struct_size : sizeof now);
}
