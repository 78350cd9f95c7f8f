/* mpitype: a view and a buffer of MPI-IO as an access.
 *
 * The file side is a window [skip, skip + bytes) of the byte stream of filetypes (tiles) repeated,
 * starting at the displacement; it has at most three parts:
 *
 *   displacement   tile     tile     tile     tile     tile
 *   |............|--##-##-|-###-##-|-###-##-|-###-##-|-##-----|
 *                   head      a VEC of complete tiles   tail
 *
 * The memory side is one VEC of memtypes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mpitype.h>
#include "mpitype/mpitype_impl.h"

/* Bytes [from, to) of the stream of repeated filetypes. */
typedef struct {
    tutti_off displacement, from, to;
} window;

/* Check that displacements increase within a tile and are not negative, as MPI requires. */
static tutti_err check_tile(const tutti__layout *tile) {
    if (tutti__side_bytes(tile->side) == 0) return TUTTI_OK;
    const tutti_off lo = tutti__side_lo(tile->side);
    TUTTI_CHECK(tutti__side_monotone(tile->side), TUTTI_ERR_ARG,
                "displacements of the filetype must increase");
    TUTTI_CHECK(lo >= 0, TUTTI_ERR_ARG, "filetype has displacement %lld: must be >= 0",
                (long long)lo);
    return TUTTI_OK;
}

/* Check that tiles do not overlap, if the window has bytes of several tiles. */
static tutti_err check_tiling(const tutti__layout *tile, const window *w) {
    const tutti_off size = tutti__side_bytes(tile->side);
    TUTTI_CHECK(size > 0, TUTTI_ERR_ARG, "filetype has size 0, but the access has bytes");
    const tutti_off span = tutti__side_hi(tile->side) - tutti__side_lo(tile->side);
    TUTTI_CHECK(w->from / size == (w->to - 1) / size || tile->extent >= span, TUTTI_ERR_ARG,
                "filetype overlaps itself when repeated: its bytes span %lld, its extent is %lld",
                (long long)span, (long long)tile->extent);
    return TUTTI_OK;
}

/* Make a side of bytes [from, to) of each of `count` tiles, starting with tile `first`; if count >
 * 1, the window must be the complete tile. */
static tutti_err some_tiles(const tutti__layout *tile, const window *w, tutti_count first,
                            tutti_count count, tutti__side *out) {
    const tutti_off size = tutti__side_bytes(tile->side);
    tutti__side side;
    tutti_off at;
    if (count == 0 || w->from >= w->to) {
        *out = (tutti__side){0, NULL};
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__off_mul(first, tile->extent, &at));
    TUTTI_TRY(tutti__off_add(at, w->displacement, &at));
    if (w->from == 0 && w->to == size)
        TUTTI_TRY(tutti__side_vec(tutti__side_share(tile->side), count, tile->extent, &side));
    else
        TUTTI_TRY(tutti__side_slice(tile->side, w->from, w->to, &side));
    return tutti__side_shift(side, at, out);
}

/* Make the sides of the partial tile at the start (head), the complete tiles, and the partial tile
 * at the end (tail); each may be empty. */
static tutti_err window_parts(const tutti__layout *tile, const window *w, tutti__side part[3]) {
    const tutti_off size = tutti__side_bytes(tile->side);
    const tutti_count first = w->from / size, last = w->to / size;
    const window head = {w->displacement, w->from % size, first == last ? w->to % size : size};
    const window body = {w->displacement, 0, size};
    const window tail = {w->displacement, 0, first == last ? 0 : w->to % size};
    const tutti_count whole = first == last ? 0 : last - first - (head.from > 0);
    const tutti_count body_at = first + (head.from > 0);
    TUTTI_TRY(some_tiles(tile, &head, first, head.from > 0 || first == last, &part[0]));
    tutti_err err = some_tiles(tile, &body, body_at, whole, &part[1]);
    if (err != TUTTI_OK) goto undo_head;
    err = some_tiles(tile, &tail, last, 1, &part[2]);
    if (err != TUTTI_OK) goto undo_body;
    return TUTTI_OK;
undo_body:
    tutti__side_free(&part[1]);
undo_head:
    tutti__side_free(&part[0]);
    return err;
}

static tutti_err describe_memory(MPI_Datatype memtype, tutti_count count, tutti__side *out) {
    tutti__layout element;
    tutti__side all;
    tutti_off bytes;
    TUTTI_TRY(tutti__layout_get(memtype, &element));
    const tutti_err err = tutti__off_mul(tutti__side_bytes(element.side), count, &bytes);
    if (err != TUTTI_OK) {
        tutti__layout_free(&element);
        return err;
    }
    TUTTI_TRY(tutti__side_vec(element.side, count, element.extent, &all));
    return tutti__side_shift(all, 0, out); /* checks that the bounds do not overflow */
}

/* ---- views */

struct tutti_view {
    tutti_off displacement;
    tutti__layout tile;
    int checked; /* whether check_tile(&tile) has succeeded */
};

static tutti_err view_init(tutti_view *v, tutti_off displacement, MPI_Datatype filetype) {
    TUTTI_CHECK(displacement >= 0, TUTTI_ERR_ARG, "displacement is %lld: must be >= 0",
                (long long)displacement);
    TUTTI_CHECK(filetype != MPI_DATATYPE_NULL, TUTTI_ERR_ARG,
                "argument filetype is MPI_DATATYPE_NULL");
    v->displacement = displacement;
    v->checked = 0;
    return tutti__layout_get(filetype, &v->tile);
}

tutti_err tutti_view_make(tutti_off displacement, MPI_Datatype filetype, tutti_view **v_out) {
    TUTTI_CHECK(v_out, TUTTI_ERR_ARG, "argument v_out is NULL");
    tutti_view *v = tutti__malloc(sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    tutti__recent_view(+1);
    tutti_err err = view_init(v, displacement, filetype);
    if (err != TUTTI_OK) goto undo_malloc;
    err = check_tile(&v->tile);
    if (err != TUTTI_OK) goto undo_layout;
    v->checked = 1;
    *v_out = v;
    return TUTTI_OK;
undo_layout:
    tutti__layout_free(&v->tile);
undo_malloc:
    tutti__free(v);
    tutti__recent_view(-1);
    return err;
}

void tutti_view_free(tutti_view **v) {
    if (!v || !*v) return;
    tutti__layout_free(&(*v)->tile);
    tutti__free(*v);
    tutti__recent_view(-1);
    *v = NULL;
}

void tutti_view_bounds(const tutti_view *v, tutti_off *lo, tutti_off *hi) {
    const int any = tutti__side_bytes(v->tile.side) > 0;
    *lo = any ? tutti__side_lo(v->tile.side) : 0;
    *hi = any ? tutti__side_hi(v->tile.side) : 0;
}

tutti_err tutti_view_access(const tutti_view *v, tutti_off bytes_skipped, tutti_count count,
                            MPI_Datatype memtype, tutti_access **out) {
    tutti__side file = {0, NULL}, memory;
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(v, TUTTI_ERR_ARG, "argument v is NULL");
    TUTTI_CHECK(bytes_skipped >= 0, TUTTI_ERR_ARG, "number of bytes to skip is %lld: must be >= 0",
                (long long)bytes_skipped);
    TUTTI_CHECK(count >= 0, TUTTI_ERR_ARG, "count is %lld: must be >= 0", (long long)count);
    TUTTI_TRY(describe_memory(memtype, count, &memory));
    window w = {.displacement = v->displacement, .from = bytes_skipped};
    tutti_err err = tutti__off_add(w.from, tutti__side_bytes(memory), &w.to);
    if (err == TUTTI_OK && w.to > w.from && !v->checked) err = check_tile(&v->tile);
    if (err == TUTTI_OK && w.to > w.from) {
        tutti__side part[3];
        err = check_tiling(&v->tile, &w);
        if (err == TUTTI_OK) err = window_parts(&v->tile, &w, part);
        if (err == TUTTI_OK) err = tutti__side_cat(3, part, &file);
    }
    if (err != TUTTI_OK) {
        tutti__side_free(&memory);
        return err;
    }
    return tutti__access_make(file, memory, out);
}

tutti_err tutti_access_from_view(tutti_off displacement, MPI_Datatype filetype,
                                 tutti_off bytes_skipped, tutti_count count, MPI_Datatype memtype,
                                 tutti_access **out) {
    tutti_view v;
    TUTTI_TRY(view_init(&v, displacement, filetype));
    const tutti_err err = tutti_view_access(&v, bytes_skipped, count, memtype, out);
    tutti__layout_free(&v.tile);
    return err;
}
