/* Tile iterations against a serial reference: random arrays of 1 to 4 dimensions, regions, tiles,
 * halos, orders, budgets and options, in global and local placement; reading, writing, both, in
 * place; ranks with unequal numbers of tiles.  Elements are read and written, others are unchanged;
 * elements in two frames are not read again; memory use does not exceed the budget.  t1021 and t1022
 * run these cases at two thread levels.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_TILES_CASE_H
#define TUTTI_TESTS_TILES_CASE_H

#include <tutti/array.h>
#include "harness.h"

enum { MAX_ELEMENT = 16 };
enum { ONLY_READ, ONLY_WRITE, READ_WRITE, IN_PLACE, KINDS };

static int may_thread;
static char from_path[600], to_path[600], where[400];

typedef struct {
    int kind, local;
    tutti_array_spec from, to;
    tutti_distribution *dist; /* of the arrays in local placement, otherwise NULL */
    tutti_options opt;
    tutti_tiles_spec spec;
    tutti_slice region; /* region of this rank, if spec.region refers to it */
} walk_case;

/* ---- values: a byte of an element of the array that is read, and of the array that is written */

static unsigned char old_byte(tutti_count element, int byte) {
    return mix((uint64_t)element, (uint64_t)byte);
}

static unsigned char new_byte(tutti_count element, int byte) {
    return (unsigned char)(old_byte(element, byte) ^ 0x5a);
}

/* ---- numbers of elements */

static tutti_count number_of(const tutti_array_spec *a, const tutti_count *at) {
    tutti_count n = 0;
    for (int d = 0; d < a->ndims; d++) n = n * a->shape[d] + at[d];
    return n;
}

/* Return the number of an element in the array; `at` has local indices in local placement. */
static tutti_count element_of(const walk_case *c, const tutti_count *at) {
    tutti_count global[TUTTI_MAX_DIMS];
    if (!c->local) return number_of(&c->from, at);
    CHECK_OK(tutti_distribution_global(c->dist, rank, at, global));
    return number_of(&c->from, global);
}

/* Advance `at` to the next element of a slice in the given order; return 0 after the last. */
static int advance(int ndims, tutti_order order, const tutti_slice *s, tutti_count *at) {
    for (int i = 0; i < ndims; i++) {
        const int d = order == TUTTI_ROW_MAJOR ? ndims - 1 - i : i;
        if (++at[d] < s->hi[d]) return 1;
        at[d] = s->lo[d];
    }
    return 0;
}

/* Process all bytes of a packed slice; what: 0: compare with old values, 1: store new values, 2:
 * both. */
static void each_byte(const walk_case *c, const tutti_array_spec *a, const tutti_slice *s,
                      unsigned char *v, int what) {
    tutti_count at[TUTTI_MAX_DIMS];
    if (tutti_slice_count(a->ndims, s, NULL) == 0) return;
    memcpy(at, s->lo, sizeof at);
    do {
        const tutti_count e = element_of(c, at);
        for (int b = 0; b < (int)a->element_size; b++, v++) {
            if (what != 1) CHECK(*v == old_byte(e, b), "element %lld byte %d", (long long)e, b);
            if (what != 0) *v = new_byte(e, b);
        }
    } while (advance(a->ndims, a->order, s, at));
}

/* ---- random cases */

static tutti_array_spec random_array(void) {
    static const tutti_type types[] = {TUTTI_BYTES, TUTTI_INT8, TUTTI_FLOAT32, TUTTI_FLOAT64,
                                       TUTTI_COMPLEX128};
    static const int extents[] = {0, 2000, 60, 16, 8};
    tutti_array_spec a = {.ndims = 1 + (int)rnd(4), .type = types[rnd(5)]};
    a.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    a.element_size = a.type == TUTTI_BYTES ? 1 + rnd(MAX_ELEMENT) : tutti_type_size(a.type);
    for (int d = 0; d < a.ndims; d++) a.shape[d] = 1 + rnd(extents[a.ndims]);
    return a;
}

static void random_options(tutti_options *opt) {
    static const char *const backgrounds[] = {"auto", "auto", "io-only", "none", "all"};
    static const char *const stores[] = {"auto", "threads", "uring", "posix"};
    static const char *const nodes[] = {"", "", "2", "single"};
    static const char *const methods[] = {"auto", "auto", "two-phase", "list"};
    static const char *const rooms[] = {"256m", "256m", "1m", "4k"};
    tutti_options_defaults(opt);
    CHECK_OK(tutti_options_set(opt, "background", backgrounds[rnd(may_thread ? 5 : 4)]));
    CHECK_OK(tutti_options_set(opt, "store", stores[rnd(4)]));
    CHECK_OK(tutti_options_set(opt, "nodes", nodes[rnd(4)]));
    CHECK_OK(tutti_options_set(opt, "method", methods[rnd(4)]));
    CHECK_OK(tutti_options_set(opt, "background_bytes", rooms[rnd(4)]));
    CHECK_OK(tutti_options_set(opt, "cb_buffer_size", rnd(2) ? "16m" : "64k"));
    CHECK_OK(tutti_options_set(opt, "direct_io", rnd(4) ? "0" : "1"));
}

/* Divide one dimension among the ranks: unequal parts, some empty.  Only `region` differs among ranks. */
static void random_regions(walk_case *c) {
    const int cut = (int)rnd(c->from.ndims);
    const tutti_count n = c->from.shape[cut];
    tutti_count lo = 0;
    c->region = tutti_slice_all(c->from.ndims, c->from.shape);
    for (int r = 0; r < ranks; r++) {
        tutti_count hi = r == ranks - 1 && rnd(2) ? n : lo + rnd(n - lo + 1);
        if (r == rank) {
            c->region.lo[cut] = lo;
            c->region.hi[cut] = hi;
        }
        lo = hi;
    }
    for (int d = 0; d < c->from.ndims; d++) { /* some elements belong to no rank */
        const tutti_count skip = rnd(3) ? 0 : rnd(c->from.shape[d]);
        if (d != cut) c->region.lo[d] = skip;
    }
    c->spec.region = &c->region;
    if (c->kind == ONLY_READ && rnd(3) == 0) c->spec.region = NULL;
}

static void random_parts(walk_case *c) {
    tutti_dist_dim dims[TUTTI_MAX_DIMS];
    const int cut = (int)rnd(c->from.ndims);
    for (int d = 0; d < c->from.ndims; d++) dims[d] = (tutti_dist_dim){TUTTI_DIST_NONE, 1, 0, NULL};
    dims[cut].kind = rnd(2) ? TUTTI_DIST_BLOCK : TUTTI_DIST_BLOCK_CYCLIC;
    dims[cut].procs = ranks;
    dims[cut].block = 1 + rnd(3);
    CHECK_OK(tutti_distribution_make(c->from.ndims, c->from.shape, dims, &c->dist));
}

/* Return the smallest budget of this rank: extent 1 in dimensions whose tile extent is not given. */
static tutti_off least_budget(const walk_case *c, const tutti_count *shape, const tutti_slice *of) {
    const int alone = c->spec.sequential, in_memory = c->opt.background == TUTTI_BACKGROUND_ALL;
    const int staged = !alone && !in_memory && c->opt.background != TUTTI_BACKGROUND_NONE;
    int ins = c->kind == ONLY_WRITE ? 0 : 1 + !alone + staged;
    int outs =
        c->kind == ONLY_WRITE || c->kind == READ_WRITE ? 1 + (in_memory && !alone) + staged : 0;
    if (c->kind == IN_PLACE) ins += (in_memory && !alone) + staged;
    tutti_count frame = 1, core = 1;
    if (tutti_slice_count(c->from.ndims, of, NULL) == 0) return 0;
    for (int d = 0; d < c->from.ndims; d++) {
        const tutti_count all = of->hi[d] - of->lo[d], halo = c->spec.halo[d];
        const tutti_count t = tutti__min(c->spec.tile[d] ? c->spec.tile[d] : 1, all);
        const tutti_count lo = tutti__max(of->lo[d] - halo, 0);
        const tutti_count hi = tutti__min(of->hi[d] + halo, shape[d]);
        core *= t;
        frame *= tutti__min(t + 2 * halo, hi - lo);
    }
    return ins * frame * c->from.element_size + outs * core * c->to.element_size;
}

static walk_case random_case(void) {
    walk_case c;
    memset(&c, 0, sizeof c);
    c.kind = (int)rnd(KINDS);
    c.local = rnd(3) == 0;
    c.from = c.to = random_array();
    if (c.kind == READ_WRITE && rnd(2)) { /* the second array has another order and element size */
        c.to.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
        c.to.type = TUTTI_FLOAT32;
        c.to.element_size = 4;
    }
    random_options(&c.opt);
    c.spec.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    c.spec.sequential = rnd(5) == 0;
    for (int d = 0; d < c.from.ndims; d++) {
        c.spec.tile[d] = rnd(2) ? 0 : 1 + rnd(c.from.shape[d] + 2);
        if (c.kind != IN_PLACE) c.spec.halo[d] = rnd(2) ? rnd(3) : 0;
    }
    if (c.local)
        random_parts(&c);
    else
        random_regions(&c);
    return c;
}

/* ---- one tile iteration */

static tutti_array *create_array(const walk_case *c, const char *path, const tutti_array_spec *a) {
    tutti_array *out = NULL;
    CHECK_OK(c->local ? tutti_array_create_local(MPI_COMM_WORLD, path, a, c->dist, &c->opt, &out)
                      : tutti_array_create(MPI_COMM_WORLD, path, a, &c->opt, &out));
    return out;
}

/* Return the whole part of this rank; in global placement rank 0 has the whole array. */
static tutti_slice all_of(const walk_case *c, const tutti_array_spec *a) {
    tutti_count shape[TUTTI_MAX_DIMS] = {0};
    if (c->local)
        tutti_distribution_part(c->dist, rank, shape);
    else if (rank == 0)
        memcpy(shape, a->shape, sizeof shape);
    return tutti_slice_all(a->ndims, shape);
}

static void fill_array(const walk_case *c, tutti_array *a, const tutti_array_spec *spec) {
    const tutti_slice all = all_of(c, spec);
    const tutti_count n = tutti_slice_count(spec->ndims, &all, NULL);
    unsigned char *v = calloc(1, (size_t)(n * spec->element_size) + 1);
    each_byte(c, spec, &all, v, 1);
    for (tutti_off i = 0; i < n * spec->element_size; i++) /* change new to old values */
        v[i] ^= 0x5a;
    CHECK_OK(tutti_array_write(a, &all, NULL, v));
    free(v);
}

static int is_in_slice(int ndims, const tutti_slice *s, const tutti_count *at) {
    for (int d = 0; d < ndims; d++)
        if (at[d] < s->lo[d] || at[d] >= s->hi[d]) return 0;
    return 1;
}

/* Check that elements of all regions have new values, and others their old values or 0. */
static void check_written(const walk_case *c, tutti_array *a, const tutti_array_spec *spec,
                          int in_place) {
    const tutti_slice all = all_of(c, spec);
    const tutti_count n = tutti_slice_count(spec->ndims, &all, NULL);
    tutti_slice *of = malloc((size_t)ranks * sizeof *of);
    unsigned char *v = malloc((size_t)(n * spec->element_size) + 1), *p = v;
    tutti_count at[TUTTI_MAX_DIMS];
    MPI_Allgather(&c->region, sizeof *of, MPI_BYTE, of, sizeof *of, MPI_BYTE, MPI_COMM_WORLD);
    CHECK_OK(tutti_array_read(a, &all, NULL, v));
    memcpy(at, all.lo, sizeof at);
    if (n > 0) do {
            const tutti_count e = element_of(c, at);
            int written = c->local;
            for (int r = 0; r < ranks && !written; r++)
                written = is_in_slice(spec->ndims, &of[r], at);
            for (int b = 0; b < (int)spec->element_size; b++, p++) {
                const unsigned char old = in_place ? old_byte(e, b) : 0;
                CHECK(*p == (written ? new_byte(e, b) : old), "element %lld", (long long)e);
            }
        } while (advance(spec->ndims, spec->order, &all, at));
    free(of);
    free(v);
}

/* Set the shape of the tiled array (or part) and the region of this rank. */
static void extents_of(const walk_case *c, tutti_count *shape, tutti_slice *of) {
    memcpy(shape, c->from.shape, sizeof c->from.shape);
    if (c->local) tutti_distribution_part(c->dist, rank, shape);
    *of = c->spec.region ? *c->spec.region : tutti_slice_all(c->from.ndims, shape);
}

/* Check the statistics after the last tile. */
static void check_stats(const walk_case *c, const tutti_tiles_stats *s, tutti_count tiles,
                        tutti_off framed, tutti_off cored, int dims_cut) {
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_slice of;
    tutti_off once = c->from.element_size;
    extents_of(c, shape, &of);
    CHECK_EQ(s->tiles, tiles);
    CHECK(s->memory <= c->spec.budget, "%lld bytes of %lld", (long long)s->memory,
          (long long)c->spec.budget);
    CHECK_EQ(s->written_bytes, c->kind == ONLY_READ ? 0 : cored * c->to.element_size);
    if (c->kind == ONLY_WRITE) CHECK_EQ(s->read_bytes, 0);
    if (c->kind == ONLY_WRITE) return;
    CHECK_EQ(s->read_bytes + s->reused_bytes, framed * c->from.element_size);
    if (c->spec.sequential) CHECK_EQ(s->reused_bytes, 0);
    if (tiles == 0 || dims_cut > 1 || c->spec.sequential) return;
    for (int d = 0; d < c->from.ndims; d++) /* each element is read once */
        once *= tutti__min(of.hi[d] + c->spec.halo[d], shape[d]) -
                tutti__max(of.lo[d] - c->spec.halo[d], 0);
    CHECK_EQ(s->read_bytes, once);
}

static int count_cut_dims(const walk_case *c, const tutti_tile *tile, const tutti_slice *of) {
    int n = 0;
    for (int d = 0; d < c->from.ndims; d++)
        n += tile->core.hi[d] - tile->core.lo[d] < of->hi[d] - of->lo[d];
    return n;
}

/* Check the values of a tile and store the new ones. */
static void process_tile(const walk_case *c, const tutti_tile *tile) {
    const int empty = tutti_slice_count(c->from.ndims, &tile->core, NULL) == 0;
    CHECK_EQ(tile->in != NULL, c->kind != ONLY_WRITE);
    CHECK_EQ(tile->out != NULL, c->kind != ONLY_READ);
    if (empty) return;
    for (int d = 0; d < c->from.ndims; d++) {
        CHECK_EQ(tile->in_shape[d], tile->frame.hi[d] - tile->frame.lo[d]);
        CHECK_EQ(tile->out_shape[d], tile->core.hi[d] - tile->core.lo[d]);
    }
    if (tile->in) each_byte(c, &c->from, &tile->frame, (unsigned char *)tile->in, 0);
    if (tile->out) each_byte(c, &c->to, &tile->core, tile->out, c->kind == IN_PLACE ? 2 : 1);
}

static void walk_tiles(const walk_case *c, tutti_array *from, tutti_array *to) {
    tutti_tiles *t = NULL;
    tutti_tile tile;
    tutti_tiles_stats stats;
    tutti_count tiles = 0, framed = 0, cored = 0, shape[TUTTI_MAX_DIMS];
    tutti_slice of;
    int dims_cut = 0, more = 1;
    extents_of(c, shape, &of);
    CHECK_OK(tutti_tiles_begin(from, to, &c->spec, &t));
    while (t && more) {
        CHECK_OK(tutti_tiles_next(t, &tile));
        more = tile.more;
        if (!more) break;
        process_tile(c, &tile);
        const tutti_count n = tutti_slice_count(c->from.ndims, &tile.core, NULL);
        if (n > 0) dims_cut = (int)tutti__max(dims_cut, count_cut_dims(c, &tile, &of));
        tiles += n > 0;
        cored += n;
        framed += tutti_slice_count(c->from.ndims, &tile.frame, NULL);
    }
    CHECK_EQ(cored, tutti_slice_count(c->from.ndims, &of, NULL));
    tutti_tiles_stats_get(t, &stats);
    check_stats(c, &stats, tiles, framed, cored, dims_cut);
    CHECK_OK(tutti_tiles_next(t, &tile)); /* the iteration remains ended */
    CHECK_EQ(tile.more, 0);
    CHECK_OK(tutti_tiles_end(&t));
    CHECK(t == NULL, "the handle is not nulled");
}

/* Choose a budget between the minimum and a large value: the same for all ranks, and sufficient for each. */
static void choose_budget(walk_case *c) {
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_slice of;
    extents_of(c, shape, &of);
    const int64_t share = rnd(4), mine = least_budget(c, shape, &of);
    int64_t most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    c->spec.budget = 20000 + most * (1 + share);
}

static void describe_case(const walk_case *c, int round) {
    static const char *const kinds[] = {"read", "write", "read-write", "in place"};
    int n = snprintf(where, sizeof where, "rank %d of %d, round %d: %s%s%s, budget %lld,", rank,
                     ranks, round, kinds[c->kind], c->local ? ", local" : "",
                     c->spec.sequential ? ", sequential" : "", (long long)c->spec.budget);
    for (int d = 0; d < c->from.ndims; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, " %lld/%lld+%lld",
                      (long long)c->from.shape[d], (long long)c->spec.tile[d],
                      (long long)c->spec.halo[d]);
    check_where(where);
}

static void round_run(int round) {
    walk_case c = random_case();
    tutti_array *from = NULL, *to = NULL;
    c.spec.region = c.spec.region ? &c.region : NULL;
    choose_budget(&c);
    describe_case(&c, round);
    if (c.kind != ONLY_WRITE) from = create_array(&c, from_path, &c.from);
    if (from) fill_array(&c, from, &c.from);
    if (c.kind == READ_WRITE || c.kind == ONLY_WRITE) to = create_array(&c, to_path, &c.to);
    if (c.kind == IN_PLACE) to = from;
    walk_tiles(&c, from, to);
    if (to) check_written(&c, to, &c.to, c.kind == IN_PLACE);
    if (to && to != from) CHECK_OK(tutti_array_close(&to));
    if (from) CHECK_OK(tutti_array_close(&from));
    tutti_distribution_free(&c.dist);
}

static int walk_cases(int *argc, char ***argv, int threads, int rounds) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(argc, argv, threads, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    may_thread = threads == MPI_THREAD_MULTIPLE && level == MPI_THREAD_MULTIPLE;
    check_seed(871 + (unsigned)ranks);
    snprintf(from_path, sizeof from_path, "%s", scratch_path("from"));
    snprintf(to_path, sizeof to_path, "%s", scratch_path("to"));
    if (ranks > 3) rounds /= 2; /* more ranks take longer per round */
    for (int i = 0; i < rounds; i++) round_run(i);
    return harness_end();
}

#endif
