/* exodus: decompositions of nodes, blocks and sets, by position or by id.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>

/* The id map of a decomposition. */
typedef struct {
    tutti_exodus *x;
    tutti_exodus_kind kind;
    tutti_count before; /* number of entries of the map that belong to earlier blocks */
} id_map;

static int has_map(const tutti_exodus *x, tutti_exodus_kind kind) {
    const tutti_exodus_parameters *p = &x->model.p;
    switch (kind) {
    case TUTTI_EXODUS_NODAL:
        return p->has_node_ids;
    case TUTTI_EXODUS_ELEMENT_BLOCK:
        return p->has_element_ids;
    case TUTTI_EXODUS_EDGE_BLOCK:
        return p->has_edge_ids;
    case TUTTI_EXODUS_FACE_BLOCK:
        return p->has_face_ids;
    default:
        return 0;
    }
}

/* Read ids [lo, hi) of a decomposition's map.   Collective if there is a map. */
static tutti_err read_ids(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                          int64_t *ids_out) {
    const id_map *m = from;
    tutti__exodus_place place;
    tutti_access *access = NULL;
    (void)view;
    if (!has_map(m->x, m->kind)) {
        for (tutti_count i = lo; i < hi; i++) ids_out[i - lo] = m->before + i + 1;
        return TUTTI_OK;
    }
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_IDS, .kind = m->kind};
    tutti_err err = tutti__exodus_place_of(m->x, &a, &place);
    if (err == TUTTI_OK) {
        const tutti_off size = tutti_type_size(place.type);
        err = tutti_access_contiguous(lo < hi ? place.at + (m->before + lo) * size : 0,
                                      (hi - lo) * size, &access);
    }
    const tutti_part part = {.access = access,
                             .buf = ids_out,
                             .convert = {.file_type = place.type,
                                         .memory_type = TUTTI_INT64,
                                         .file_order = TUTTI_BIG_ENDIAN}};
    err = tutti__exodus_transfer(m->x, 0, 1, &part, err);
    tutti_access_free(&access);
    return err;
}

/* Replace ids by positions if there is no map: ids are then positions + 1, and no search is
 * needed. */
static tutti_err convert_ids_to_positions(const tutti_exodus *x, tutti_exodus_kind kind,
                                          tutti_count number, const tutti_decomposition_spec *spec,
                                          tutti_decomposition_spec *out) {
    const tutti_count before =
        tutti__exodus_is_block((int)kind) ? tutti__exodus_model_before(&x->model, kind, number) : 0;
    const tutti_count entries = x->model.of[kind].row[number].entries;
    if (spec->kind != TUTTI_BY_VALUE || has_map(x, kind) || !spec->ids ||
        !tutti_size_fits(spec->n, sizeof *spec->ids, PTRDIFF_MAX))
        return TUTTI_OK;
    tutti_count *index = tutti__malloc((size_t)spec->n * sizeof *index);
    if (!index) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < spec->n; i++) {
        if (spec->ids[i] > before && spec->ids[i] - before <= entries) {
            index[i] = spec->ids[i] - before - 1;
            continue;
        }
        tutti__free(index);
        TUTTI_FAIL(TUTTI_ERR_ARG, "entry %lld has id %lld: ids must be %lld to %lld", (long long)i,
                   (long long)spec->ids[i], (long long)before + 1, (long long)(before + entries));
    }
    out->kind = TUTTI_BY_INDEX;
    out->index = index;
    out->ids = NULL;
    return TUTTI_OK;
}

static int64_t make_stamp(const tutti_exodus *x, tutti_count number) {
    return x->topology << 40 | number;
}

tutti_err tutti__exodus_decompose(tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                                  const tutti_decomposition_spec *spec, tutti_err local_err,
                                  tutti_decomposition **out) {
    tutti_decomposition_spec own = {0};
    tutti__decomposed space = {.name = ""};
    id_map map = {.x = x, .kind = kind};
    if (local_err == TUTTI_OK) {
        const tutti_count entries = x->model.of[kind].row[number].entries;
        own = *spec;
        local_err = convert_ids_to_positions(x, kind, number, spec, &own);
        if (tutti__exodus_is_block((int)kind))
            map.before = tutti__exodus_model_before(&x->model, kind, number);
        space = (tutti__decomposed){.name = tutti__exodus_names_of[kind].word,
                                    .view = {.space = (int)kind,
                                             .ndims = 1,
                                             .shape = {entries},
                                             .entries = entries,
                                             .stamp = make_stamp(x, number),
                                             .has_ids = 1},
                                    .ids = read_ids,
                                    .from = &map};
    }
    tutti_decomposition *p = NULL;
    const tutti_err err = tutti__decomposition_make(x->team, &space, &own, local_err, &p);
    if (spec && own.index != spec->index) tutti__free((void *)(uintptr_t)own.index);
    TUTTI_TRY(err);
    p->facts.object = -x->number; /* negative, since datasets have numbers larger than 0 */
    p->facts.number = ++x->count;
    *out = p;
    return TUTTI_OK;
}

tutti_err tutti__exodus_decomposes(const tutti_exodus *x, const tutti_decomposition *p,
                                   tutti_exodus_kind kind, tutti_count number) {
    tutti__decomposition_facts f;
    const char *word = tutti__exodus_names_of[kind].word;
    TUTTI_TRY(tutti__decomposition_live(p));
    tutti__decomposition_facts_of(p, &f);
    TUTTI_CHECK(f.object == -x->number, TUTTI_ERR_ARG,
                "the decomposition belongs to another file or dataset");
    TUTTI_CHECK(f.stamp >> 40 == x->topology, TUTTI_ERR_STATE,
                "the decomposition belongs to an earlier mesh of the file");
    TUTTI_CHECK(f.space == (int)kind && f.stamp == make_stamp(x, number), TUTTI_ERR_ARG,
                "the decomposition does not belong to %s %lld", word,
                (long long)x->model.of[kind].row[number].id);
    return TUTTI_OK;
}

tutti_err tutti_exodus_decomposition(tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                     const tutti_decomposition_spec *spec,
                                     tutti_decomposition **out) {
    TUTTI_KEEP_ERRNO;
    tutti_count number = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defined(x);
    if (err == TUTTI_OK && (!spec || !out))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL", spec ? "out" : "spec");
    if (err == TUTTI_OK && tutti__exodus_is_map((int)kind))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               "%ss have no decompositions: use those of nodes or blocks",
                               tutti__exodus_names_of[kind].word);
    if (err == TUTTI_OK) err = tutti__exodus_number(x, kind, id, &number);
    uint64_t hash = tutti__hash(TUTTI__HASH_START, &kind, sizeof kind);
    hash = tutti__hash(hash, &id, sizeof id);
    TUTTI_TRY(tutti__exodus_call(x, "decomposition", hash, err));
    TUTTI_ASSERT(spec && out);
    return tutti__exodus_named(x, "decomposition",
                               tutti__exodus_decompose(x, kind, number, spec, TUTTI_OK, out));
}
