/* dataset: where ids stand in the id map.
 *
 * Neither the map nor all ids are on any rank.  Every rank reads its share of the map and mentions
 * those ids, with their positions, and the ids that it holds, without, to a directory: both kinds of
 * mentions of an id meet on the rank that looks after it, which answers with the position.
 *
 *     ids held          --.                        .-->  position, or -1
 *                          |--> directory, by id --|
 *     (id, position)    --'                        '-->  (nothing of interest)
 *
 * Memory of a rank: what it mentions, and about as much of what others do.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/decomposition.h"

/* A mention. */
typedef struct {
    int64_t id;
    tutti_count position; /* -1: it is asked for */
} said;

/* What a rank mentions, and what it looks after. */
typedef struct {
    tutti_count n;         /* ids that it holds */
    tutti_count lo, hi;    /* its share of the map */
    int64_t *map;          /* [hi - lo] */
    tutti__numbered *v;    /* [2 (n + hi - lo)] */
    int64_t *number;       /* [n + hi - lo] rising */
    said *says;            /* likewise */
    tutti_count *answer;   /* likewise */
    said *came;            /* [m] */
    tutti__numbered *w;    /* [2 m] */
    tutti_count *decision; /* [m] */
} join;

static void join_free(join *j) {
    void *const all[] = {j->map, j->v, j->number, j->says, j->answer, j->came, j->w, j->decision};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
}

static tutti_count all_of(const join *j) {
    return j->n + j->hi - j->lo;
}

/* Sizes come from a file: as many bytes as there cannot be are refused, not counted. */
static tutti_err map_room(join *j) {
    const tutti_count share = j->hi - j->lo;
    TUTTI_CHECK(share <= PTRDIFF_MAX / 64 - j->n, TUTTI_ERR_NOMEM, "an id map of %lld ids a rank",
                (long long)share);
    j->map = tutti__malloc((size_t)share * sizeof *j->map);
    return j->map ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Everything that this rank mentions, rising.   mine: [n] */
static tutti_err mention(join *j, const tutti__numbered *mine) {
    const size_t all = (size_t)all_of(j);
    j->v = tutti__malloc(2 * all * sizeof *j->v);
    j->number = tutti__malloc(all * sizeof *j->number);
    j->says = tutti__malloc(all * sizeof *j->says);
    j->answer = tutti__malloc(all * sizeof *j->answer);
    if (!j->v || !j->number || !j->says || !j->answer) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < j->n; i++) j->v[i] = mine[i];
    for (tutti_count i = 0; i < j->hi - j->lo; i++) {
        TUTTI_CHECK(j->map[i] >= 0, TUTTI_ERR_FORMAT, "the id map has id %lld, at position %lld",
                    (long long)j->map[i], (long long)(j->lo + i));
        j->v[j->n + i] = (tutti__numbered){j->map[i], j->n + i};
    }
    tutti__numbered *sorted = tutti__numbered_sort(j->v, all_of(j), j->v + all);
    for (size_t k = 0; k < all; k++) {
        const tutti_count i = sorted[k].index;
        j->number[k] = sorted[k].number;
        j->says[k] = (said){sorted[k].number, i < j->n ? -1 : j->lo + i - j->n};
    }
    if (sorted != j->v) /* the order is needed for the answers */
        for (size_t k = 0; k < all; k++) j->v[k] = sorted[k];
    return TUTTI_OK;
}

static tutti_err room_for(join *j, tutti_count m) {
    j->came = tutti__malloc((size_t)m * sizeof *j->came);
    j->w = tutti__malloc(2 * (size_t)m * sizeof *j->w);
    j->decision = tutti__malloc((size_t)m * sizeof *j->decision);
    return j->came && j->w && j->decision ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* All mentions of this range have come. */
static tutti_err decide(join *j, tutti_count m) {
    for (tutti_count i = 0; i < m; i++) j->w[i] = (tutti__numbered){j->came[i].id, i};
    const tutti__numbered *w = tutti__numbered_sort(j->w, m, j->w + m);
    for (tutti_count from = 0, to = 0; from < m; from = to) {
        tutti_count position = -1;
        for (to = from; to < m && w[to].number == w[from].number; to++) {
            const tutti_count here = j->came[w[to].index].position;
            TUTTI_CHECK(here < 0 || position < 0, TUTTI_ERR_FORMAT,
                        "the id map has id %lld twice, at positions %lld and %lld",
                        (long long)w[from].number, (long long)tutti__min(here, position),
                        (long long)tutti__max(here, position));
            position = tutti__max(position, here);
        }
        for (tutti_count k = from; k < to; k++) j->decision[w[k].index] = position;
    }
    return TUTTI_OK;
}

static tutti_err ask(tutti__team *t, const tutti__directory *d, join *j) {
    TUTTI_TRY(tutti__team_agree(t, room_for(j, d->m)));
    TUTTI_TRY(tutti__directory_ask(t, d, (int)sizeof *j->says, j->says, j->came));
    TUTTI_TRY(tutti__team_agree(t, decide(j, d->m)));
    return tutti__directory_answer(t, d, (int)sizeof *j->answer, j->decision, j->answer);
}

tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *v, tutti_count *position_out) {
    const tutti_count each = space->view.entries / t->size, more = space->view.entries % t->size;
    join j = {.n = n, .lo = each * t->rank + tutti__min(t->rank, more)};
    tutti__directory d = {.ranks = 0};
    j.hi = j.lo + each + (t->rank < more);
    tutti_err err = tutti__team_agree(t, map_room(&j));
    if (err == TUTTI_OK) err = space->ids(space->from, &space->view, j.lo, j.hi, j.map);
    if (err == TUTTI_OK) err = tutti__team_agree(t, mention(&j, v));
    if (err == TUTTI_OK) err = tutti__directory_make(t, all_of(&j), j.number, &d);
    if (err == TUTTI_OK) err = ask(t, &d, &j);
    for (tutti_count k = 0; k < all_of(&j) && err == TUTTI_OK; k++)
        if (j.v[k].index < n) position_out[j.v[k].index] = j.answer[k];
    tutti__directory_free(&d);
    join_free(&j);
    return err;
}
