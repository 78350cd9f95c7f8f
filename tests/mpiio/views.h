/* Random views of a file, each with its map: the offsets of the bytes of the view in the file.
 *
 * The filetypes obey the standard: copies of one etype, holes of complete etypes, no byte twice, increasing
 * displacements.  The views of all ranks are equal, or unrelated, or parts of one array or tile (distributed slots,
 * cyclic rows, boxes of an array, a distributed array), so that ranks interleave without writing the same byte.
 * Every rank creates the views of all ranks, because it needs their maps.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_VIEWS_H
#define TUTTI_TESTS_VIEWS_H

#include "mpitype/random_type.h"

enum { MAX_RANKS = 16, MAX_SLOTS = 48 };

/* Use only types that the MPI libraries' own MPI-IO supports.  1: no empty blocks, no holes in etypes or pairs, little
 * nesting; 2: also only simple filetypes. */
static int types_tame;

typedef struct {
    int64_t disp;
    mapped_type etype, type;
} view;

/* Return the file offset of byte `s` of the view. */
static inline int64_t view_at(const view *v, int64_t s) {
    return v->disp + s / v->type.n * v->type.extent + v->type.at[s % v->type.n];
}

/* Return the number of bytes of the view before offset `end` of the file. */
static inline int64_t view_bytes_before(const view *v, int64_t end) {
    int64_t lo = 0,
            hi = end > v->disp ? (end - v->disp) / v->type.extent * v->type.n + v->type.n : 0;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (view_at(v, mid) < end)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- types */

/* Create a duplicate of a type, which may be predefined. */
static inline mapped_type duplicate(const mapped_type *m) {
    mapped_type d = {.type = MPI_DATATYPE_NULL};
    map_add(&d, m, 1, 0);
    MPI_OK(MPI_Type_dup(m->type, &d.type));
    map_close(&d);
    return d;
}

static inline mapped_type made_of(int kind, const random_args *a, const mapped_type *child) {
    mapped_type m = {.type = MPI_DATATYPE_NULL};
    MPI_OK(make_simple(kind, a, child, &m));
    map_close(&m);
    return m;
}

/* Create a type of a short and an int: with the alignment of C, which has a hole between them, or packed. */
static inline mapped_type make_pair(int packed) {
    const int length[2] = {1, 1};
    const MPI_Aint address[2] = {0, packed ? 2 : 4};
    const MPI_Datatype types[2] = {MPI_SHORT, MPI_INT};
    mapped_type part[2], m = {.type = MPI_DATATYPE_NULL}, r = m;
    for (int i = 0; i < 2; i++) {
        map_named(&part[i], types[i]);
        map_add(&m, &part[i], 1, address[i]);
        free_mapped(&part[i]);
    }
    MPI_OK(MPI_Type_create_struct(2, length, address, types, &m.type));
    map_close(&m);
    map_add(&r, &m, 1, 0);
    MPI_OK(MPI_Type_create_resized(m.type, 0, packed ? 6 : 8, &r.type));
    map_close(&r);
    free_mapped(&m);
    return r;
}

static inline mapped_type random_etype(void) {
    const MPI_Datatype named[] = {MPI_BYTE, MPI_BYTE, MPI_SHORT, MPI_INT, MPI_INT, MPI_DOUBLE};
    mapped_type leaf, m;
    const int kind = (int)rnd(types_tame ? 8 : 10);
    const random_args three = {.n = 3};
    map_named(&leaf, kind < 6 ? named[kind] : MPI_SHORT);
    if (kind < 7) return leaf;
    m = kind == 7 ? made_of(CONTIGUOUS, &three, &leaf) : make_pair(kind == 8);
    free_mapped(&leaf);
    return m;
}

static inline random_args etype_args(MPI_Aint extent, MPI_Aint unit) {
    random_args a = make_args(extent, 1);
    MPI_Aint at = 0;
    if (types_tame) a.n += a.n == 0, a.block += a.block == 0, a.stride += a.block;
    a.bytes = a.block * extent + unit * (MPI_Aint)rnd(4);
    for (int i = 0; i < a.n; i++) {
        if (types_tame) a.length[i] = a.block;
        if (types_tame) a.place[i] = i * (a.block + 2) + (int)rnd(3);
        a.address[i] = at + unit * (MPI_Aint)rnd(4);
        at = a.address[i] + extent * (a.length[i] > a.block ? a.length[i] : a.block);
        a.address_c[i] = a.address[i];
    }
    return a;
}

static inline int resize(const mapped_type *child, MPI_Aint unit, mapped_type *out) {
    MPI_Aint lb, span;
    MPI_OK(MPI_Type_get_true_extent(child->type, &lb, &span));
    if (child->n == 0) lb = span = 0; /* Open MPI returns extreme bounds for empty types */
    span = lb > 0 ? span + lb : span;
    map_add(out, child, 1, 0);
    return MPI_Type_create_resized(child->type, types_tame || rnd(3) ? 0 : unit * (MPI_Aint)rnd(3),
                                   (span + unit - 1) / unit * unit + unit * (MPI_Aint)rnd(4),
                                   &out->type);
}

/* Create a random type of copies of `etype`. */
static inline mapped_type over_etype(const mapped_type *etype, int depth) {
    mapped_type child[4], made = {.type = MPI_DATATYPE_NULL};
    int kind = (int)rnd(12);
    if (types_tame && kind == 10) kind = CONTIGUOUS;
    if (depth == 0) return duplicate(etype);
    for (int i = 0; i < 4; i++) child[i] = i ? *etype : over_etype(etype, depth - 1);
    const random_args a = etype_args(child[0].extent, etype->extent);
    const random_array array = make_array();
    int code;
    if (kind < 8)
        code = make_simple(kind, &a, child, &made);
    else if (kind == 8)
        code = make_struct(&a, child, &made);
    else if (kind == 9)
        code = make_subarray(&array, child, &made);
    else if (kind == 10)
        code = make_darray(&array, child, &made);
    else
        code = resize(child, etype->extent, &made);
    if (code == MPI_SUCCESS && is_small(made.type)) {
        map_close(&made);
        free_mapped(&child[0]);
        return made;
    }
    if (code == MPI_SUCCESS) free_mapped(&made);
    if (code != MPI_SUCCESS) free(made.at);
    return child[0];
}

static inline int is_filetype(const mapped_type *m, const mapped_type *etype) {
    if (m->n == 0 || m->at[0] < 0 || m->extent % etype->extent) return 0;
    for (int64_t i = 1; i < m->n; i++)
        if (m->at[i] <= m->at[i - 1]) return 0;
    return m->at[m->n - 1] < m->at[0] + m->extent;
}

static inline mapped_type random_filetype(const mapped_type *etype) {
    for (int i = 0; i < 20 && types_tame < 2; i++) {
        mapped_type m = over_etype(etype, types_tame ? 1 : 1 + (int)rnd(3));
        if (is_filetype(&m, etype)) return m;
        free_mapped(&m);
    }
    return duplicate(etype);
}

/* ---- views of ranks that are parts of one tile */

/* Resize `m` to the extent of a complete tile; frees `m`. */
static inline mapped_type tile_of(mapped_type m, MPI_Aint extent) {
    mapped_type t = {.type = MPI_DATATYPE_NULL};
    map_add(&t, &m, 1, 0);
    MPI_OK(MPI_Type_create_resized(m.type, 0, extent, &t.type));
    map_close(&t);
    free_mapped(&m);
    return t;
}

/* Distribute the slots of a tile over the ranks at random; some slots belong to no rank. */
static inline void distribute_slots(view *v, int np, const mapped_type *unit) {
    const int slots = 4 + (int)rnd(MAX_SLOTS - 4), kind = INDEXED + (int)rnd(5);
    int owner[MAX_SLOTS], run = 0;
    for (int s = 0; s < slots; s++) {
        if (run-- == 0) run = (int)rnd(4);
        owner[s] = s && run ? owner[s - 1] : (int)rnd(np + 1);
    }
    for (int r = 0; r < np; r++) {
        int length[MAX_SLOTS], place[MAX_SLOTS], n = 0;
        MPI_Aint address[MAX_SLOTS];
        MPI_Datatype types[MAX_SLOTS];
        mapped_type m = {.type = MPI_DATATYPE_NULL};
        for (int s = 0; s < slots; s++) {
            if (owner[s] != r) continue;
            types[n] = unit->type, length[n] = 1, place[n] = s, address[n] = s * unit->extent;
            map_add(&m, unit, 1, address[n++]);
        }
        if (n == 0) types[0] = unit->type;
        if (kind == INDEXED) MPI_OK(MPI_Type_indexed(n, length, place, unit->type, &m.type));
        if (kind == HINDEXED)
            MPI_OK(MPI_Type_create_hindexed(n, length, address, unit->type, &m.type));
        if (kind == INDEXED_BLOCK)
            MPI_OK(MPI_Type_create_indexed_block(n, 1, place, unit->type, &m.type));
        if (kind == HINDEXED_BLOCK)
            MPI_OK(MPI_Type_create_hindexed_block(n, 1, address, unit->type, &m.type));
        if (kind > HINDEXED_BLOCK)
            MPI_OK(MPI_Type_create_struct(n, length, address, types, &m.type));
        map_close(&m);
        v[r].type = tile_of(m, slots * unit->extent);
    }
}

/* Distribute rows cyclically; the displacement of each rank is its first row. */
static inline void distribute_rows(view *v, int np, const mapped_type *unit) {
    const int rows = 1 + (int)rnd(6), row = 1 + (int)rnd(5), gap = (int)rnd(2);
    for (int r = 0; r < np; r++) {
        const random_args a = {.n = rows, .block = row, .stride = (np + gap) * row};
        v[r].type = tile_of(made_of(VECTOR, &a, unit), (MPI_Aint)rows * a.stride * unit->extent);
        v[r].disp += r * row * unit->extent;
    }
}

/* Distribute boxes of an array (subarray) or a distributed array (darray) over a grid of ranks. */
static inline void distribute_boxes(view *v, int np, const mapped_type *unit) {
    random_array a = make_array();
    const int distributed = (int)rnd(2);
    int cells = 1;
    memset(a.grid, 0, sizeof a.grid);
    MPI_OK(MPI_Dims_create(np, a.ndims, a.grid));
    a.procs = np;
    for (int d = 0; d < a.ndims; d++) {
        a.size[d] = a.grid[d] * (1 + (int)rnd(4)) + (distributed ? (int)rnd(3) : 0);
        a.distrib[d] = rnd(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        a.arg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        a.sub[d] = a.size[d] / a.grid[d];
        cells *= a.size[d];
    }
    for (a.rank = 0; a.rank < np; a.rank++) {
        mapped_type m = {.type = MPI_DATATYPE_NULL};
        for (int d = a.ndims - 1, left = a.rank; d >= 0; left /= a.grid[d--])
            a.start[d] = left % a.grid[d] * a.sub[d];
        if ((distributed ? make_darray : make_subarray)(&a, unit, &m) == MPI_SUCCESS)
            map_close(&m);
        else
            m = (mapped_type){.type = MPI_DATATYPE_NULL};
        if (m.n && is_filetype(&m, unit)) {
            v[a.rank].type = m;
            continue;
        }
        if (m.type != MPI_DATATYPE_NULL) free_mapped(&m);
        v[a.rank].type = tile_of(duplicate(unit), cells * unit->extent);
        v[a.rank].disp += cells * unit->extent * 100; /* a rank without cells uses another range */
    }
}

/* ---- complete views */

static inline void views_free(view *v, int np) {
    for (int r = 0; r < np; r++) {
        free_mapped(&v[r].type);
        free_mapped(&v[r].etype);
    }
}

/* Create views for `np` ranks on a file of about `file_bytes` bytes; return whether all views are equal. */
static inline int random_views(view *v, int np, int64_t file_bytes, int same) {
    const int kind = same ? (int)rnd(2) : (int)rnd(7);
    const uint64_t before = check_state_;
    const int64_t disp = rnd(3) ? rnd(200) : 0;
    const random_args some = {.n = 1 + (int)rnd(4)};
    uint64_t after = 0;
    for (int r = 0; r < np; r++) { /* all ranks have the same etype */
        check_state_ = before;
        v[r].etype = random_etype();
        v[r].disp = disp;
        after = check_state_;
    }
    check_state_ = after;
    mapped_type unit = made_of(CONTIGUOUS, &some, &v[0].etype);
    if (kind == 4) distribute_slots(v, np, &unit);
    if (kind == 5) distribute_rows(v, np, &unit);
    if (kind == 6) distribute_boxes(v, np, &unit);
    free_mapped(&unit);
    const uint64_t own = rnd64();
    for (int r = 0; r < np && kind < 4; r++) {
        if (kind <= 1) check_state_ = own;
        v[r].type = kind ? random_filetype(&v[r].etype) : duplicate(&v[r].etype);
        if (kind == 2) v[r].disp += file_bytes / np * r;
    }
    for (int r = 0; r < np; r++) {
        if (v[r].type.n)
            continue; /* a rank without bytes gets a contiguous view beyond the data of all ranks */
        free_mapped(&v[r].type);
        v[r].type = duplicate(&v[r].etype);
        v[r].disp = file_bytes * 2;
    }
    return kind <= 1;
}

#endif
