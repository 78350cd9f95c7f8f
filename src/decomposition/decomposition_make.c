/* decomposition: creation of a decomposition from the specs of all ranks of a team.
 *
 *   by index        positions  --------------------.
 *   by value, both  ids  -> join with the id map  --+--> writers -> runs
 *   in rank order   after the entries of lower ranks  -------------> runs
 *   by slice        the slice, compared with those of higher ranks
 *
 * Errors of a rank's spec are part of the first agreement, before any exchange.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"

#include <string.h>

#include "base/hash.h"
#include "comm/call.h"
#include "comm/scan.h"
#include "comm/wait.h"
#include "decomposition/rules.h"

/* A decomposition under construction. */
typedef struct {
    tutti__team *team;
    const tutti__decomposed *space;
    const tutti_decomposition_spec *spec;
    int owners; /* the specs of all ranks have `own` */
    /* [2 n] positions or ids with their indices in the spec; memory of `sorted` */
    tutti__numbered *memory;
    tutti__numbered *sorted; /* [n] sorted entries: the first or second half of `memory` */
    tutti_count first;       /* in rank order: position of the first entry of this rank */
    /* [n] in the order of `sorted`: this rank writes the entry; NULL: all */
    unsigned char *writes;
    tutti_decomposition *p;
} making;

static int has_index(const tutti_decomposition_spec *s) {
    return s->kind == TUTTI_BY_INDEX || s->kind == TUTTI_BY_BOTH;
}

static int has_ids(const tutti_decomposition_spec *s) {
    return s->kind == TUTTI_BY_VALUE || s->kind == TUTTI_BY_BOTH;
}

/* ---- the spec of this rank */

/* Check that only fields of the kind are set; other fields usually mean that the kind is wrong. */
static tutti_err check_fields(const tutti_decomposition_spec *s) {
    static const char *const names[] = {
        [TUTTI_BY_INDEX] = "TUTTI_BY_INDEX",
        [TUTTI_BY_VALUE] = "TUTTI_BY_VALUE",
        [TUTTI_BY_BOTH] = "TUTTI_BY_BOTH",
        [TUTTI_BY_SLICE] = "TUTTI_BY_SLICE",
        [TUTTI_BY_RANK_ORDER] = "TUTTI_BY_RANK_ORDER",
    };
    const int by_slice = s->kind == TUTTI_BY_SLICE;
    int slice_has_bounds = 0;
    for (int d = 0; d < TUTTI_MAX_DIMS; d++)
        slice_has_bounds |= s->slice.lo[d] != 0 || s->slice.hi[d] != 0;
    const struct {
        const char *name;
        int is_set, belongs;
    } fields[] = {{"n", s->n != 0, !by_slice},
                  {"index", s->index != NULL, has_index(s)},
                  {"ids", s->ids != NULL, has_ids(s)},
                  {"own", s->own != NULL, !by_slice},
                  {"slice", slice_has_bounds, by_slice},
                  {"slice_memory", s->slice_memory != NULL, by_slice},
                  {"memory", s->memory != NULL, !by_slice}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        TUTTI_CHECK(fields[i].belongs || !fields[i].is_set, TUTTI_ERR_ARG,
                    "field `%s` is set but does not belong to kind %s", fields[i].name,
                    names[s->kind]);
    return TUTTI_OK;
}

static tutti_err check_spec(const tutti_decomposition_spec *s, const tutti__space_view *v) {
    TUTTI_CHECK(s->kind != TUTTI_DECOMPOSITION_UNSET, TUTTI_ERR_ARG, "field kind is not set");
    TUTTI_CHECK((int)s->kind >= TUTTI_BY_INDEX && (int)s->kind <= TUTTI_BY_RANK_ORDER,
                TUTTI_ERR_ARG, "unknown kind %d of decomposition", (int)s->kind);
    TUTTI_TRY(check_fields(s));
    TUTTI_CHECK(s->whole == 0 || s->whole == 1, TUTTI_ERR_ARG, "whole is %d: must be 0 or 1",
                s->whole);
    TUTTI_CHECK_RESERVED(s, "tutti_decomposition_spec");
    TUTTI_TRY(tutti__choice_check(&s->choice, s->own || s->n == 0 || s->kind == TUTTI_BY_SLICE));
    if (s->kind == TUTTI_BY_SLICE) return tutti__slice_of_space(v, &s->slice, s->slice_memory);
    TUTTI_CHECK(s->n >= 0 && s->n <= PTRDIFF_MAX / 64, TUTTI_ERR_ARG,
                "n is %lld: number of entries must be 0 to %lld", (long long)s->n,
                (long long)PTRDIFF_MAX / 64);
    TUTTI_CHECK(s->n == 0 || s->index || !has_index(s), TUTTI_ERR_ARG, "field index is NULL");
    TUTTI_CHECK(s->n == 0 || s->ids || !has_ids(s), TUTTI_ERR_ARG, "field ids is NULL");
    for (tutti_count i = 0; i < s->n && has_index(s); i++)
        TUTTI_CHECK(s->index[i] >= 0 && s->index[i] < v->entries, TUTTI_ERR_ARG,
                    "entry %lld has position %lld: must be in [0, %lld)", (long long)i,
                    (long long)s->index[i], (long long)v->entries);
    for (tutti_count i = 0; i < s->n && has_ids(s); i++)
        TUTTI_CHECK(s->ids[i] >= 0, TUTTI_ERR_ARG,
                    "entry %lld has id %lld, which is not in the id map", (long long)i,
                    (long long)s->ids[i]);
    return TUTTI_OK;
}

/* Sort the ids or positions of the entries; duplicates are an error. */
static tutti_err sort_entries(making *m, const int64_t *numbers, const char *what) {
    tutti_count j = 0;
    tutti__free(m->memory);
    TUTTI_TRY(tutti__numbers_sort(m->spec->n, numbers, &m->memory, &m->sorted, &j));
    TUTTI_CHECK(j == 0, TUTTI_ERR_ARG, "duplicate %s %lld (entries %lld and %lld)", what,
                (long long)m->sorted[j].number, (long long)m->sorted[j - 1].index,
                (long long)m->sorted[j].index);
    return TUTTI_OK;
}

/* Check the spec, allocate memory, and sort the entries of this rank. */
static tutti_err prepare_entries(making *m) {
    const tutti_decomposition_spec *s = m->spec;
    TUTTI_TRY(check_spec(s, &m->space->view));
    m->p = tutti__calloc(1, sizeof *m->p);
    if (!m->p) return TUTTI_ERR_NOMEM;
    if (!has_index(s) && !has_ids(s)) return TUTTI_OK;
    m->writes = tutti__malloc((size_t)s->n);
    if (!m->writes) return TUTTI_ERR_NOMEM;
    return has_ids(s) ? sort_entries(m, s->ids, "id") : sort_entries(m, s->index, "position");
}

/* ---- agreement */

/* First agreement of all ranks: on errors, the space, the kind, `whole`, the choice of writers, and
 * whether specs have `own`. */
static tutti_err agree_on_spec(making *m, tutti_err local_err) {
    const tutti_decomposition_spec *s = m->spec;
    tutti__range owners = tutti__range_none();
    uint64_t h = 0;
    if (local_err == TUTTI_OK) {
        h = tutti__hash(TUTTI__HASH_START, m->space->name, strlen(m->space->name));
        h = tutti__scramble(h ^ (uint64_t)m->space->view.stamp);
        h = tutti__scramble(
            h ^ ((uint64_t)s->kind << 8 | (uint64_t)s->whole << 16 | (uint64_t)s->choice.rule));
        h = tutti__scramble(h ^ s->choice.seed);
        h = tutti__hash(h, &s->choice.balance, sizeof s->choice.balance);
    }
    const tutti__call call = {.object = tutti__decomposition_class.name,
                              .name = "create",
                              .what = "the space, the kind, `whole` or the choice of writers",
                              .hash = h,
                              .ranges = 1,
                              .range = &owners};
    if (local_err == TUTTI_OK && s->n > 0 && s->kind != TUTTI_BY_SLICE)
        owners = (tutti__range){s->own != NULL, s->own != NULL};
    TUTTI_TRY(tutti__team_call(m->team, &call, local_err));
    TUTTI_CHECK(owners.min >= owners.max, TUTTI_ERR_MISMATCH,
                "field own is NULL on some ranks only");
    m->owners = owners.min == 1 && owners.max == 1;
    return TUTTI_OK;
}

/* ---- positions */

/* Replace the ids of this rank by their positions; position[i] is -1 if an id is not in the map. */
static tutti_err set_positions(making *m, const tutti_count *position) {
    const tutti_decomposition_spec *s = m->spec;
    TUTTI_ASSERT(position);
    for (tutti_count i = 0; i < s->n; i++) {
        TUTTI_CHECK(position[i] >= 0, TUTTI_ERR_ARG,
                    "entry %lld has id %lld, which is not in the id map", (long long)i,
                    (long long)s->ids[i]);
        TUTTI_CHECK(!has_index(s) || position[i] == s->index[i], TUTTI_ERR_MISMATCH,
                    "entry %lld: id %lld has position %lld in the id map, but field index has %lld",
                    (long long)i, (long long)s->ids[i], (long long)position[i],
                    (long long)s->index[i]);
    }
    return sort_entries(m, position, "position");
}

/* Add numbers of entries of consecutive ranks; an overflow results in INT64_MAX. */
static void append_entries(void *left, const void *right) {
    int64_t *n = left;
    const int64_t *more = right;
    if (!tutti_size_add(*n, *more, n)) *n = INT64_MAX;
}

static tutti_err place_in_rank_order(making *m) {
    static const int64_t none = 0;
    const tutti__scan_operation scan = {sizeof none, &none, append_entries};
    tutti__team *t = m->team;
    const int64_t n = m->spec->n;
    const tutti_count entries = m->space->view.entries;
    tutti_count covered = 0, behind = 0;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__team_scan(t, &scan, &n, &m->first, &behind));
    if (m->first <= entries && n > entries - m->first)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                               "%lld entries of rank %d after %lld entries of lower ranks "
                               "exceed the space of %lld",
                               (long long)n, t->rank, (long long)m->first, (long long)entries);
    covered = m->first;
    append_entries(&covered, &n);
    append_entries(&covered, &behind);
    /* Every entry has one holder; if owners are given, it must be the owner. */
    for (tutti_count i = 0; i < n && m->owners && err == TUTTI_OK; i++)
        if (!m->spec->own[i])
            err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1,
                                   "no rank owns position %lld, which rank %d holds",
                                   (long long)(m->first + i), t->rank);
    TUTTI_TRY(tutti__team_agree(t, err));
    m->p->facts.whole = covered == entries;
    return m->spec->whole && covered < entries ? tutti__hole_error(covered, covered, entries)
                                               : TUTTI_OK;
}

/* ---- runs */

/* Fill the runs of the entries that this rank writes (`written`) or holds; only count the runs if
 * out->run is NULL. */
static void fill_entry_runs(const making *m, int written, tutti__entry_runs *out) {
    tutti__entry_run last = {.n = 0};
    TUTTI_ASSERT(!written || m->writes);
    out->n = out->entries = 0;
    for (tutti_count j = 0; j < m->spec->n; j++) {
        if (written && !m->writes[j]) continue;
        /* index in the spec of entry j in ascending order */
        const tutti_count place = m->sorted ? m->sorted[j].index : j;
        const tutti__entry_run next =
            (tutti__entry_run){.position = m->sorted ? m->sorted[j].number : m->first + j,
                               .place = place,
                               .memory = m->spec->memory ? m->spec->memory[place] : place,
                               .n = 1};
        out->entries++;
        if (last.n > 0 &&
            (next.position - last.n == last.position && next.place - last.n == last.place &&
             next.memory > INT64_MIN + last.n && next.memory - last.n == last.memory)) {
            last.n++;
        } else {
            last = next;
            out->n++;
        }
        if (out->run) out->run[out->n - 1] = last;
    }
}

static tutti_err make_runs(const making *m, int written, tutti__entry_runs *out) {
    fill_entry_runs(m, written, out);
    out->run = tutti__malloc((size_t)out->n * sizeof *out->run);
    if (!out->run) return TUTTI_ERR_NOMEM;
    fill_entry_runs(m, written, out);
    return TUTTI_OK;
}

static tutti_err make_all_runs(making *m) {
    tutti_decomposition *p = m->p;
    p->facts.entries = m->spec->n;
    p->facts.written = m->spec->n;
    if (m->spec->kind == TUTTI_BY_RANK_ORDER && !m->spec->memory && m->spec->n > 0) {
        p->held = (tutti__entry_runs){1, m->spec->n, tutti__malloc(sizeof *p->held.run)};
        if (!p->held.run) return TUTTI_ERR_NOMEM;
        p->held.run[0] = (tutti__entry_run){m->first, 0, 0, m->spec->n};
        return TUTTI_OK;
    }
    TUTTI_TRY(make_runs(m, 0, &p->held));
    for (tutti_count j = 0; j < m->spec->n && m->writes; j++) p->facts.written -= !m->writes[j];
    return p->facts.written < p->facts.entries ? make_runs(m, 1, &p->written) : TUTTI_OK;
}

/* ---- the decomposition */

static void copy_view(const tutti__space_view *v, tutti_decomposition *p) {
    p->facts.space = v->space;
    p->facts.stamp = v->stamp;
    p->ndims = v->ndims;
    p->of = v->entries;
    memcpy(p->shape, v->shape, (size_t)v->ndims * sizeof p->shape[0]);
}

static tutti_err build_decomposition(making *m) {
    TUTTI_ASSERT(m->p);
    copy_view(&m->space->view, m->p);
    if (m->spec->kind == TUTTI_BY_SLICE) {
        tutti_decomposition *p = m->p;
        const tutti_slice *slice = &m->spec->slice;
        p->is_slice = 1;
        p->facts.entries = tutti_slice_count(p->ndims, slice, NULL);
        for (int d = 0; d < p->ndims && p->facts.entries > 0; d++) {
            p->slice.lo[d] = slice->lo[d];
            p->slice.hi[d] = slice->hi[d];
            p->slice.stride[d] =
                tutti__max(tutti__min(slice->stride[d], slice->hi[d] - slice->lo[d]), 1);
        }
        if (m->spec->slice_memory && p->facts.entries > 0)
            p->memory = tutti__slice_section(p->ndims, slice, m->spec->slice_memory);
        return tutti__slices_meet(m->team, m->spec->whole, p);
    }
    if (m->spec->kind == TUTTI_BY_RANK_ORDER) {
        TUTTI_TRY(place_in_rank_order(m));
    } else {
        if (has_ids(m->spec)) {
            const tutti_decomposition_spec *s = m->spec;
            const tutti_count entries = m->space->view.entries;
            tutti_count *position = tutti__malloc((size_t)s->n * sizeof *position);
            tutti_err err = tutti__team_agree(m->team, position ? TUTTI_OK : TUTTI_ERR_NOMEM);
            if (err == TUTTI_OK && m->space->view.has_ids)
                err = tutti__ids_join(m->team, m->space, s->n, m->sorted, position);
            else if (err == TUTTI_OK)
                for (tutti_count i = 0; i < s->n && position; i++)
                    position[i] = s->ids[i] < entries ? s->ids[i] : -1;
            if (err == TUTTI_OK) err = tutti__team_agree(m->team, set_positions(m, position));
            tutti__free(position);
            TUTTI_TRY(err);
        }
        tutti__shared_out shared = {.n = m->spec->n,
                                    .sorted = m->sorted,
                                    .own = m->spec->own,
                                    .owners = m->owners,
                                    .entries = m->space->view.entries,
                                    .writes = m->writes};
        TUTTI_TRY(tutti__writers_choose(m->team, &m->spec->choice, m->spec->whole, &shared));
        m->p->facts.whole = shared.whole;
    }
    return tutti__team_agree(m->team, make_all_runs(m));
}

tutti_err tutti__decomposition_make(tutti__team *t, const tutti__decomposed *space,
                                    const tutti_decomposition_spec *spec, tutti_err local_err,
                                    tutti_decomposition **out) {
    making m = {.team = t, .space = space, .spec = spec};
    if (local_err == TUTTI_OK) local_err = prepare_entries(&m);
    tutti_err err = agree_on_spec(&m, local_err);
    if (err == TUTTI_OK) err = build_decomposition(&m);
    tutti__free(m.memory);
    tutti__free(m.writes);
    if (err == TUTTI_OK) {
        tutti__handle_add(&m.p->handle, &tutti__decomposition_class);
        TUTTI_ASSERT(tutti__decomposition_is_valid(m.p));
        *out = m.p;
        return TUTTI_OK;
    }
    tutti__decomposition_destroy(m.p);
    tutti__error_context("decomposition", NULL, -1);
    return err;
}

tutti_err tutti__decomposition_of_runs(const tutti__space_view *view, tutti__entry_runs local,
                                       tutti__entry_runs written, tutti_decomposition **out) {
    tutti_decomposition *p = tutti__calloc(1, sizeof *p);
    const int all = written.entries == local.entries;
    if (!p || all) tutti__free(written.run);
    if (!p) tutti__free(local.run);
    if (!p) return TUTTI_ERR_NOMEM;
    copy_view(view, p);
    p->facts.whole = 1;
    p->facts.entries = local.entries;
    p->facts.written = written.entries;
    p->held = local;
    if (!all) p->written = written;
    tutti__handle_add(&p->handle, &tutti__decomposition_class);
    TUTTI_ASSERT(tutti__decomposition_is_valid(p));
    *out = p;
    return TUTTI_OK;
}
