/* nemesis: read the partition data of a file for the processor of a rank.  The first read gets the
 * ends of the pieces, the second the pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "exodus/entity_class.h"
#include "exodus/array_values.h"

enum {
    INT_NODES,
    BOR_NODES,
    EXT_NODES,
    INT_ELEMENTS,
    BOR_ELEMENTS,
    NODE_MAPS,
    ELEMENT_MAPS,
    PIECES
};
static const char *const ends_of[PIECES] = {"node_mapi_idx",  "node_mapb_idx", "node_mape_idx",
                                            "elem_mapi_idx",  "elem_mapb_idx", "n_comm_info_idx",
                                            "e_comm_info_idx"};
/* The array to which each list of ends refers. */
static const char *const array_of[PIECES] = {"node_mapi", "node_mapb",  "node_mape", "elem_mapi",
                                             "elem_mapb", "n_comm_ids", "e_comm_ids"};

/* The arrays returned to the caller, valid until the next call. */
struct tutti__nemesis_found {
    int64_t *nodes, *elements;
    int64_t *node_ids, *element_ids; /* ids of the maps */
    tutti_count *node_start, *element_start;
    int64_t *map_nodes, *map_elements;
    int *node_processors, *element_processors, *sides;
};

static void found_free(void *found) {
    struct tutti__nemesis_found *f = found;
    if (!f) return;
    void *const all[] = {f->nodes,      f->elements,        f->node_ids,          f->element_ids,
                         f->node_start, f->element_start,   f->map_nodes,         f->map_elements,
                         f->sides,      f->node_processors, f->element_processors};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    tutti__free(f);
}

typedef struct {
    tutti_exodus *x;
    int processor;
    tutti__values bundle;
    int64_t lo[PIECES], hi[PIECES];
    struct tutti__nemesis_found *f;
} reading;

/* Location of one or more numbers that are being read. */
typedef struct {
    tutti_type type;
    tutti_count index, n;
} fetch;

static int place_of(const tutti_exodus *x, const char *name, tutti__exodus_place *out) {
    const tutti_count var = tutti__cdf_find_var(&x->cdf, name);
    if (var < 0 || x->cdf.vars[var].is_record) return 0;
    const tutti__cdf_var *v = &x->cdf.vars[var];
    *out = (tutti__exodus_place){v->begin, v->numbers, 1, tutti__cdf_number(v->type), 0};
    return 1;
}

static tutti_err fetch_add(reading *r, const char *name, tutti_count first, tutti_count n,
                           fetch *out) {
    tutti__exodus_place at;
    *out = (fetch){.n = n};
    if (n == 0) return TUTTI_OK;
    TUTTI_CHECK(n > 0, TUTTI_ERR_FORMAT, "processor %d has %lld values of '%s': must be >= 0",
                r->processor, (long long)n, name);
    TUTTI_CHECK(place_of(r->x, name, &at), TUTTI_ERR_FORMAT,
                "processor %d has %lld values of '%s', but the file has no such variable",
                r->processor, (long long)n, name);
    TUTTI_CHECK(at.type == TUTTI_INT32 || at.type == TUTTI_INT64, TUTTI_ERR_FORMAT,
                "'%s' has type %s: must be an integer type", name, tutti_type_name(at.type));
    TUTTI_TRY(tutti__values_add(&r->bundle, &at, first, n, &out->index, NULL));
    out->type = at.type;
    return TUTTI_OK;
}

static int64_t read_number(const reading *r, const fetch *f, tutti_count i) {
    return tutti__values_ints(&r->bundle, f->type)[f->index + i];
}

/* ---- where pieces are */

/* Read the ends of the pieces of all arrays; if there is no list of ends, the whole array is one
 * piece. */
static tutti_err ends_read(reading *r, int wanted) {
    fetch f[PIECES] = {{.n = 0}};
    tutti__exodus_place at;
    tutti_err local_err = TUTTI_OK;
    const tutti_count lo = wanted && r->processor > 0 ? r->processor - 1 : 0;
    for (int k = 0; k < PIECES && local_err == TUTTI_OK && wanted; k++)
        if (place_of(r->x, ends_of[k], &at))
            local_err = fetch_add(r, ends_of[k], lo, r->processor - lo + 1, &f[k]);
    TUTTI_TRY(tutti__values_move(r->x, &r->bundle, 0, 0, NULL, local_err));
    for (int k = 0; k < PIECES && wanted && local_err == TUTTI_OK; k++) {
        if (f[k].n > 0) {
            r->hi[k] = read_number(r, &f[k], f[k].n - 1);
            r->lo[k] = r->processor > 0 ? read_number(r, &f[k], 0) : 0;
        } else if (place_of(r->x, array_of[k], &at)) {
            r->hi[k] = at.entries;
        }
        if (r->lo[k] < 0 || r->lo[k] > r->hi[k])
            local_err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "'%s': processor %d has range [%lld, %lld): must be >= 0 and not decrease",
                ends_of[k], r->processor, (long long)r->lo[k], (long long)r->hi[k]);
    }
    tutti__values_free(&r->bundle);
    return tutti__team_agree(r->x->team, local_err);
}

/* ---- pieces */

static tutti_err take_numbers(const reading *r, int n, const fetch *f, int64_t **out) {
    tutti_count all = 0, k = 0;
    for (int i = 0; i < n; i++) all += f[i].n;
    int64_t *v = *out = tutti__malloc((size_t)(all + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        for (tutti_count q = 0; q < f[i].n; q++) v[k++] = read_number(r, &f[i], q);
    return TUTTI_OK;
}

static tutti_err take_ints(const reading *r, const fetch *f, int **out) {
    int *v = *out = tutti__malloc((size_t)(f->n + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count q = 0; q < f->n; q++) v[q] = (int)read_number(r, f, q);
    return TUTTI_OK;
}

/* Compute the start of each map of a kind within the pieces that are read next. */
static tutti_err starts_take(const reading *r, int by, const fetch *ends, tutti_count **out,
                             tutti_count *first_out) {
    /* skip: 1 if the end of the preceding map was also read */
    const tutti_count maps = r->hi[by] - r->lo[by], skip = ends->n - maps;
    tutti_count *v = *out = tutti__calloc((size_t)maps + 1, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    *first_out = skip > 0 ? read_number(r, ends, 0) : 0;
    for (tutti_count k = 0; k < maps; k++) {
        v[k + 1] = read_number(r, ends, k + skip) - *first_out;
        TUTTI_CHECK(*first_out >= 0, TUTTI_ERR_FORMAT,
                    "communication maps of processor %d begin at %lld: must be >= 0", r->processor,
                    (long long)*first_out);
        TUTTI_CHECK(v[k + 1] >= v[k], TUTTI_ERR_FORMAT,
                    "communication map %lld of processor %d ends before it begins", (long long)k,
                    r->processor);
    }
    return TUTTI_OK;
}

/* Read the ends of this processor's maps, and of the preceding map. */
static tutti_err map_ends_add(reading *r, int by, const char *name, fetch *out) {
    const tutti_count maps = r->hi[by] - r->lo[by], lo = r->lo[by] > 0 ? r->lo[by] - 1 : 0;
    return fetch_add(r, name, lo, maps > 0 ? r->hi[by] - lo : 0, out);
}

enum { FIVE = 5, NODE_IDS = FIVE, ELEMENT_IDS, NODE_ENDS, ELEMENT_ENDS, FETCHES };

static tutti_err pieces_add(reading *r, fetch *f) {
    for (int k = 0; k < FIVE; k++)
        TUTTI_TRY(fetch_add(r, array_of[k], r->lo[k], r->hi[k] - r->lo[k], &f[k]));
    for (int k = NODE_MAPS; k < PIECES; k++)
        TUTTI_TRY(
            fetch_add(r, array_of[k], r->lo[k], r->hi[k] - r->lo[k], &f[NODE_IDS + k - NODE_MAPS]));
    TUTTI_TRY(map_ends_add(r, NODE_MAPS, "n_comm_data_idx", &f[NODE_ENDS]));
    return map_ends_add(r, ELEMENT_MAPS, "e_comm_data_idx", &f[ELEMENT_ENDS]);
}

enum { MAP_NODES, MAP_NODE_RANKS, MAP_ELEMENTS, MAP_SIDES, MAP_ELEMENT_RANKS, MAPPED };

static tutti_err mapped_add(reading *r, const tutti_count *first, fetch *f) {
    const tutti_count n = r->f->node_start[r->hi[NODE_MAPS] - r->lo[NODE_MAPS]];
    const tutti_count m = r->f->element_start[r->hi[ELEMENT_MAPS] - r->lo[ELEMENT_MAPS]];
    TUTTI_TRY(fetch_add(r, "n_comm_nids", first[0], n, &f[MAP_NODES]));
    TUTTI_TRY(fetch_add(r, "n_comm_proc", first[0], n, &f[MAP_NODE_RANKS]));
    TUTTI_TRY(fetch_add(r, "e_comm_eids", first[1], m, &f[MAP_ELEMENTS]));
    TUTTI_TRY(fetch_add(r, "e_comm_sids", first[1], m, &f[MAP_SIDES]));
    return fetch_add(r, "e_comm_proc", first[1], m, &f[MAP_ELEMENT_RANKS]);
}

static tutti_err read_all(reading *r) {
    fetch f[FETCHES] = {{.n = 0}}, mapped[MAPPED] = {{.n = 0}};
    tutti_count first[2] = {0, 0};
    TUTTI_TRY(ends_read(r, r->processor >= 0));
    tutti_err err = pieces_add(r, f);
    TUTTI_TRY(tutti__values_move(r->x, &r->bundle, 0, 0, NULL, err));
    struct tutti__nemesis_found *out = r->f = tutti__calloc(1, sizeof *r->f);
    err = out ? take_numbers(r, 3, f, &out->nodes) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = take_numbers(r, 2, f + INT_ELEMENTS, &out->elements);
    if (err == TUTTI_OK) err = take_numbers(r, 1, &f[NODE_IDS], &out->node_ids);
    if (err == TUTTI_OK) err = take_numbers(r, 1, &f[ELEMENT_IDS], &out->element_ids);
    if (err == TUTTI_OK)
        err = starts_take(r, NODE_MAPS, &f[NODE_ENDS], &out->node_start, &first[0]);
    if (err == TUTTI_OK)
        err = starts_take(r, ELEMENT_MAPS, &f[ELEMENT_ENDS], &out->element_start, &first[1]);
    tutti__values_free(&r->bundle);
    if (err == TUTTI_OK) err = mapped_add(r, first, mapped);
    TUTTI_TRY(tutti__values_move(r->x, &r->bundle, 0, 0, NULL, err));
    TUTTI_ASSERT(out);
    err = take_numbers(r, 1, &mapped[MAP_NODES], &out->map_nodes);
    if (err == TUTTI_OK) err = take_ints(r, &mapped[MAP_NODE_RANKS], &out->node_processors);
    if (err == TUTTI_OK) err = take_numbers(r, 1, &mapped[MAP_ELEMENTS], &out->map_elements);
    if (err == TUTTI_OK) err = take_ints(r, &mapped[MAP_SIDES], &out->sides);
    if (err == TUTTI_OK) err = take_ints(r, &mapped[MAP_ELEMENT_RANKS], &out->element_processors);
    return tutti__team_agree(r->x->team, err);
}

/* ---- the call */

static tutti_err check_call(const tutti_exodus *x, int processor, const tutti_exodus_nemesis *out,
                            int *processors) {
    TUTTI_CHECK(!x->defining, TUTTI_ERR_STATE,
                "the file has no mesh: call tutti_exodus_put_mesh first");
    const tutti_count in_file = tutti__cdf_find_dim(&x->cdf, "num_procs_file");
    const tutti_count all = tutti__cdf_find_dim(&x->cdf, "num_processors");
    TUTTI_CHECK(in_file >= 0 && all >= 0, TUTTI_ERR_NOT_FOUND, "the file has no Nemesis partition");
    const tutti_count n = x->cdf.dims[in_file].length;
    TUTTI_CHECK(processor >= -1 && processor < n, TUTTI_ERR_ARG,
                "processor %d does not exist (the file has %lld)", processor, (long long)n);
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    *processors = (int)tutti__min(x->cdf.dims[all].length, INT_MAX);
    return TUTTI_OK;
}

tutti_err tutti_exodus_nemesis_get(tutti_exodus *x, int processor, tutti_exodus_nemesis *out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    reading r = {.x = x, .processor = processor};
    int processors = 0;
    TUTTI_TRY(tutti__exodus_call(x, "nemesis_get", 0, check_call(x, processor, out, &processors)));
    const tutti_err err = read_all(&r);
    tutti__values_free(&r.bundle);
    if (err != TUTTI_OK) {
        found_free(r.f);
        return tutti__exodus_named(x, "nemesis_get", err);
    }
    const struct tutti__nemesis_found *f = r.f;
    tutti__exodus_result_set(&x->nemesis_read, r.f, found_free);
    *out = (tutti_exodus_nemesis){.processors = processors,
                                  .internal_nodes = r.hi[INT_NODES] - r.lo[INT_NODES],
                                  .border_nodes = r.hi[BOR_NODES] - r.lo[BOR_NODES],
                                  .external_nodes = r.hi[EXT_NODES] - r.lo[EXT_NODES],
                                  .nodes = f->nodes,
                                  .internal_elements = r.hi[INT_ELEMENTS] - r.lo[INT_ELEMENTS],
                                  .border_elements = r.hi[BOR_ELEMENTS] - r.lo[BOR_ELEMENTS],
                                  .elements = f->elements,
                                  .node_maps = (int)(r.hi[NODE_MAPS] - r.lo[NODE_MAPS]),
                                  .element_maps = (int)(r.hi[ELEMENT_MAPS] - r.lo[ELEMENT_MAPS]),
                                  .node_map_ids = f->node_ids,
                                  .element_map_ids = f->element_ids,
                                  .node_map_start = f->node_start,
                                  .node_map_nodes = f->map_nodes,
                                  .node_map_processors = f->node_processors,
                                  .element_map_start = f->element_start,
                                  .element_map_elements = f->map_elements,
                                  .element_map_sides = f->sides,
                                  .element_map_processors = f->element_processors};
    return TUTTI_OK;
}
