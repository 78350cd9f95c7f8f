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

/* What a rank mentions, and what it looks after; freed as soon as it is no longer needed. */
typedef struct {
    tutti_count n;               /* ids that it holds */
    const tutti__numbered *mine; /* [n] rising, with their places */
    tutti_count lo, hi;          /* its share of the map */
    int64_t *map;                /* [hi - lo] */
    int64_t *number;             /* [n + hi - lo] rising */
    said *says;                  /* likewise */
    tutti_count *place;          /* likewise: of an id that it holds; -1: one of the map */
    said *came;                  /* [m] */
    tutti_count *decision;       /* [m] */
    tutti_count *answer;         /* [n + hi - lo] */
} join;

static void drop(void *address) {
    void **p = address;
    tutti__free(*p);
    *p = NULL;
}

static void join_free(join *j) {
    void *const all[] = {j->map, j->number, j->says, j->place, j->came, j->decision, j->answer};
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

/* The share of the map, in the order of its ids.   v: [2 (hi - lo)] */
static tutti_err map_sort(join *j, tutti__numbered *v, const tutti__numbered **sorted_out) {
    const tutti_count share = j->hi - j->lo;
    TUTTI_ASSERT(j->map);
    for (tutti_count i = 0; i < share; i++) {
        TUTTI_CHECK(j->map[i] >= 0, TUTTI_ERR_FORMAT, "the id map has id %lld, at position %lld",
                    (long long)j->map[i], (long long)(j->lo + i));
        v[i] = (tutti__numbered){j->map[i], j->lo + i};
    }
    drop(&j->map);
    *sorted_out = tutti__numbered_sort(v, share, v + share);
    return TUTTI_OK;
}

/* Everything that this rank mentions, rising: both lists merged. */
static tutti_err mention(join *j) {
    const tutti_count share = j->hi - j->lo;
    const size_t all = (size_t)all_of(j);
    const tutti__numbered *map = NULL;
    tutti__numbered *v = tutti__malloc(2 * (size_t)share * sizeof *v);
    tutti_err err = v ? map_sort(j, v, &map) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) {
        j->number = tutti__malloc(all * sizeof *j->number);
        j->says = tutti__malloc(all * sizeof *j->says);
        j->place = tutti__malloc(all * sizeof *j->place);
        if (!j->number || !j->says || !j->place) err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count a = 0, b = 0; a + b < all_of(j) && err == TUTTI_OK;) {
        const tutti_count k = a + b;
        const int held = b == share || (a < j->n && j->mine[a].number < map[b].number);
        const tutti__numbered next = held ? j->mine[a++] : map[b++];
        j->number[k] = next.number;
        j->place[k] = held ? next.index : -1;
        j->says[k] = (said){next.number, held ? -1 : next.index};
    }
    tutti__free(v);
    return err;
}

/* All mentions of this range have come.   v: [2 m] */
static tutti_err decide(join *j, tutti_count m, tutti__numbered *v) {
    for (tutti_count i = 0; i < m; i++) v[i] = (tutti__numbered){j->came[i].id, i};
    const tutti__numbered *w = tutti__numbered_sort(v, m, v + m);
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

/* The answers to all mentions, and room for those that this rank gets. */
static tutti_err answers_make(join *j, tutti_count m) {
    tutti__numbered *v = tutti__malloc(2 * (size_t)m * sizeof *v);
    j->decision = tutti__malloc((size_t)m * sizeof *j->decision);
    const tutti_err err = v && j->decision ? decide(j, m, v) : TUTTI_ERR_NOMEM;
    tutti__free(v);
    drop(&j->came);
    if (err == TUTTI_OK) j->answer = tutti__malloc((size_t)all_of(j) * sizeof *j->answer);
    return err == TUTTI_OK && !j->answer ? TUTTI_ERR_NOMEM : err;
}

static tutti_err ask(tutti__team *t, const tutti__directory *d, join *j) {
    j->came = tutti__malloc((size_t)d->m * sizeof *j->came);
    TUTTI_TRY(tutti__team_agree(t, j->came ? TUTTI_OK : TUTTI_ERR_NOMEM));
    TUTTI_TRY(tutti__directory_ask(t, d, (int)sizeof *j->says, j->says, j->came));
    drop(&j->says);
    TUTTI_TRY(tutti__team_agree(t, answers_make(j, d->m)));
    return tutti__directory_answer(t, d, (int)sizeof *j->answer, j->decision, j->answer);
}

tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *sorted, tutti_count *position_out) {
    const tutti_count each = space->view.entries / t->size, more = space->view.entries % t->size;
    join j = {.n = n, .mine = sorted, .lo = each * t->rank + tutti__min(t->rank, more)};
    tutti__directory d = {.ranks = 0};
    j.hi = j.lo + each + (t->rank < more);
    tutti_err err = tutti__team_agree(t, map_room(&j));
    if (err == TUTTI_OK) err = space->ids(space->from, &space->view, j.lo, j.hi, j.map);
    if (err == TUTTI_OK) err = tutti__team_agree(t, mention(&j));
    if (err == TUTTI_OK) err = tutti__directory_make(t, all_of(&j), j.number, &d);
    drop(&j.number);
    if (err == TUTTI_OK) err = ask(t, &d, &j);
    TUTTI_ASSERT(err != TUTTI_OK || (j.place && j.answer));
    for (tutti_count k = 0; k < all_of(&j) && err == TUTTI_OK; k++)
        if (j.place[k] >= 0) position_out[j.place[k]] = j.answer[k];
    tutti__directory_free(&d);
    join_free(&j);
    return err;
}
