/* replicas: do the ranks name all items of the file?
 *
 * The position of an item is the sum of the sizes of all items with smaller numbers.  Ranks that
 * name only some of these would compute it wrong.  So positions are known only if
 *
 *     numbers are 0, 1, 2, ... without a gap, or
 *     the spec says how many items the file has, and the ranks name as many, or
 *     the spec has the positions.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include "comm/wait.h"

/* One range, as all ranks learn of it. */
typedef struct {
    int64_t count;       /* different numbers; 0: the others do not apply */
    int64_t first, last; /* numbers */
    int64_t missing;     /* the first number between them that is missing; -1: none */
    int64_t begin, end;  /* in the file, where positions are given; otherwise 0 */
} range_coverage;
enum { WORDS = sizeof(range_coverage) / sizeof(int64_t) };

/* The end of an item whose position is given; item_check has compared the loads of its copies. */
static tutti_off item_end(const tutti__range_items *g, tutti_off value_bytes, tutti_count j) {
    const tutti_count i = g->sorted[j].index;
    return g->given[i] + g->came[i].load * value_bytes;
}

/* Copies have one position, and items do not overlap.   Local. */
static tutti_err positions_check(const tutti__range_items *g, tutti_off value_bytes,
                                 const tutti__directory *d) {
    for (tutti_count j = 1; j < g->m; j++) {
        const tutti__numbered *a = &g->sorted[j - 1], *b = &g->sorted[j];
        TUTTI_CHECK(
            a->number != b->number || g->given[a->index] == g->given[b->index], TUTTI_ERR_MISMATCH,
            "item %lld has position %lld on rank %d and %lld on rank %d", (long long)a->number,
            (long long)g->given[a->index], tutti__directory_source(d, a->index),
            (long long)g->given[b->index], tutti__directory_source(d, b->index));
        TUTTI_CHECK(a->number == b->number || item_end(g, value_bytes, j - 1) <= g->given[b->index],
                    TUTTI_ERR_ARG,
                    "item %lld has position %lld, before the end of item %lld (%lld)",
                    (long long)b->number, (long long)g->given[b->index], (long long)a->number,
                    (long long)item_end(g, value_bytes, j - 1));
    }
    return TUTTI_OK;
}

tutti_err tutti__coverage_positions(tutti__team *t, const tutti__directory *d,
                                    const tutti_off *positions, tutti_off value_bytes,
                                    tutti__range_items *g) {
    static const tutti_off none; /* of a rank without items */
    if (!positions) positions = &none;
    g->given = tutti__malloc((size_t)g->m * sizeof *g->given);
    TUTTI_TRY(tutti__team_agree(t, g->given ? TUTTI_OK : TUTTI_ERR_NOMEM));
    TUTTI_TRY(tutti__directory_send(t, d, (int)sizeof *positions, positions, g->given));
    return tutti__team_agree(t, positions_check(g, value_bytes, d));
}

static range_coverage local_coverage(const tutti__range_items *g, tutti_off value_bytes) {
    range_coverage c = {.missing = -1};
    for (tutti_count j = 0; j < g->m; j++) {
        const int64_t number = g->sorted[j].number;
        if (c.count > 0 && number == c.last) continue;
        if (c.count == 0) c.first = number;
        if (c.count > 0 && c.missing < 0 && number > c.last + 1) c.missing = c.last + 1;
        c.last = number;
        c.count++;
    }
    if (g->given && g->m > 0) {
        c.begin = g->given[g->sorted[0].index];
        c.end = item_end(g, value_bytes, g->m - 1);
    }
    return c;
}

/* The first number of a range behind `last` that is missing; -1: none. */
static int64_t missing_in(const range_coverage *c, int64_t last) {
    return c->first > last + 1 ? last + 1 : c->missing;
}

/* The same on all ranks. */
static tutti_err ranges_check(int ranks, const range_coverage *c, const tutti__range_items *g,
                              tutti_count items, tutti_replicas *r) {
    tutti_count count = 0;
    int64_t last = -1;
    r->missing = -1;
    for (int k = 0; k < ranks; k++) {
        if (c[k].count == 0) continue;
        TUTTI_CHECK(!g->given || r->end <= c[k].begin, TUTTI_ERR_ARG,
                    "item %lld has position %lld, before the end of item %lld (%lld)",
                    (long long)c[k].first, (long long)c[k].begin, (long long)last,
                    (long long)r->end);
        if (r->missing < 0) r->missing = missing_in(&c[k], last);
        r->end = c[k].end;
        last = c[k].last;
        count += c[k].count;
    }
    TUTTI_CHECK(items == 0 || count == items || (g->given && count < items), TUTTI_ERR_MISMATCH,
                "all ranks together name %lld items, but items is %lld%s", (long long)count,
                (long long)items, count < items ? ": to access some of them, set positions" : "");
    if (items > 0 || g->given) r->missing = -1;
    return TUTTI_OK;
}

static tutti_err gather(tutti__team *t, const range_coverage *mine, range_coverage *all) {
    MPI_Request q;
    TUTTI_MPI(MPI_Iallgather(mine, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T, t->comm, &q));
    return tutti__team_finish(1, &q);
}

tutti_err tutti__coverage_check(tutti__team *t, const tutti__range_items *g, tutti_count items,
                                tutti_replicas *r) {
    const range_coverage mine = local_coverage(g, r->value_bytes);
    range_coverage *all = tutti__malloc((size_t)t->size * sizeof *all);
    tutti_err err = tutti__team_agree(t, all ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) err = gather(t, &mine, all);
    if (err == TUTTI_OK) err = ranges_check(t->size, all, g, items, r);
    tutti__free(all);
    return err;
}
