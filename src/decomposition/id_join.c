/* decomposition: the positions of ids in the id map.
 *
 * No rank has the whole map or all ids.  Every rank reads a share of the map.  The ids of the map,
 * with their positions, and the ids that ranks hold are joined by id; the answer to an id that a
 * rank holds is its position.
 *
 *     ids held          --.                .-->  position, or -1
 *                          |--> by id (join.h) --|
 *     (id, position)    --'                '-->  (ignored)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"
#include "decomposition/join.h"

typedef struct {
    int64_t id;
    tutti_count position; /* position in the map; -1: the position is requested */
} id_record;

/* The ids that this rank holds, and its share of the map. */
typedef struct {
    tutti_count n;
    const tutti__numbered *local; /* [n] ids, ascending, with their indices */
    tutti_count lo, hi;           /* positions of this rank's share of the map */
    int64_t *map;                 /* [hi - lo] ids of this rank's share of the map */
    id_record *record;            /* [n + hi - lo] ascending */
    /* [n + hi - lo] index of an id of this rank; -1: an id of the map */
    tutti_count *index;
} id_lists;

/* Sort this rank's share of the map by id.   v: memory, [2 (hi - lo)] */
static tutti_err sort_map(id_lists *l, tutti__numbered *v, const tutti__numbered **sorted_out) {
    const tutti_count share = l->hi - l->lo;
    TUTTI_ASSERT(l->map);
    for (tutti_count i = 0; i < share; i++) {
        TUTTI_CHECK(l->map[i] >= 0, TUTTI_ERR_FORMAT,
                    "id map has id %lld at position %lld: must be >= 0", (long long)l->map[i],
                    (long long)(l->lo + i));
        v[i] = (tutti__numbered){l->map[i], l->lo + i};
    }
    tutti__free(l->map);
    l->map = NULL;
    *sorted_out = tutti__numbered_sort(v, share, v + share);
    return TUTTI_OK;
}

/* Find the position of each received id.   out: [m] */
static tutti_err find_positions(const tutti__join *j, tutti_count *out) {
    const id_record *record = j->record;
    const tutti__numbered *v = j->sorted;
    for (tutti_count from = 0, to = 0; from < j->directory.m; from = to) {
        tutti_count position = -1;
        to = tutti__join_group_end(j, from);
        for (tutti_count k = from; k < to; k++) {
            const tutti_count here = record[v[k].index].position;
            TUTTI_CHECK(here < 0 || position < 0, TUTTI_ERR_FORMAT,
                        "duplicate id %lld in the id map (positions %lld and %lld)",
                        (long long)v[from].number, (long long)tutti__min(here, position),
                        (long long)tutti__max(here, position));
            position = tutti__max(position, here);
        }
        for (tutti_count k = from; k < to; k++) out[v[k].index] = position;
    }
    return TUTTI_OK;
}

tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *sorted, tutti_count *position_out) {
    id_lists l = {.n = n,
                  .local = sorted,
                  .lo = tutti_size_share(space->view.entries, t->size, t->rank),
                  .hi = tutti_size_share(space->view.entries, t->size, t->rank + 1)};
    tutti__join j = {.record = NULL};
    tutti_count *answer = NULL;
    /* The size comes from a file, so it is checked before the allocation. */
    const tutti_count share = l.hi - l.lo;
    if (share <= PTRDIFF_MAX / 64 - n) l.map = tutti__malloc((size_t)share * sizeof *l.map);
    tutti_err err = TUTTI_OK;
    if (!l.map)
        err = tutti__error_set(TUTTI_ERR_NOMEM, 0, -1,
                               "cannot allocate an id map of %lld ids per rank", (long long)share);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = space->ids(space->from, &space->view, l.lo, l.hi, l.map);
    if (err == TUTTI_OK) {
        /* Merge the ids of the map and those that this rank holds. */
        const tutti_count all = l.n + share;
        const tutti__numbered *map = NULL;
        tutti__numbered *v = tutti__malloc(2 * (size_t)share * sizeof *v);
        tutti_err local_err = v ? sort_map(&l, v, &map) : TUTTI_ERR_NOMEM;
        if (local_err == TUTTI_OK) {
            l.record = tutti__malloc((size_t)all * sizeof *l.record);
            l.index = tutti__malloc((size_t)all * sizeof *l.index);
            if (!l.record || !l.index) local_err = TUTTI_ERR_NOMEM;
        }
        for (tutti_count a = 0, b = 0; a + b < all && local_err == TUTTI_OK;) {
            const tutti_count k = a + b;
            const int is_local = b == share || (a < l.n && l.local[a].number < map[b].number);
            const tutti__numbered next = is_local ? l.local[a++] : map[b++];
            l.index[k] = is_local ? next.index : -1;
            l.record[k] = (id_record){next.number, is_local ? -1 : next.index};
        }
        tutti__free(v);
        err = tutti__join_make(t, local_err, (int)sizeof *l.record, n + l.hi - l.lo, l.record, &j);
    }
    tutti__free(l.record);
    if (err == TUTTI_OK) {
        tutti_count *position = tutti__malloc((size_t)j.directory.m * sizeof *position);
        const tutti_err local_err = position ? find_positions(&j, position) : TUTTI_ERR_NOMEM;
        err =
            tutti__join_answer(t, local_err, &j, (int)sizeof *position, position, (void **)&answer);
        tutti__free(position);
    }
    TUTTI_ASSERT(err != TUTTI_OK || (l.index && answer));
    for (tutti_count k = 0; k < n + l.hi - l.lo && err == TUTTI_OK; k++)
        if (l.index[k] >= 0) position_out[l.index[k]] = answer[k];
    tutti__join_free(&j);
    tutti__free(l.map);
    tutti__free(l.index);
    tutti__free(answer);
    return err;
}
