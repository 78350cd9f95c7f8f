/* replicas: test whether the ranks list all items of the file.
 *
 * The position of an item is the sum of the sizes of all items with smaller numbers.  If the ranks
 * list only some of these items, a wrong position would be computed.  So positions are known only
 * if
 *
 *     numbers are 0, 1, 2, ... without a gap, or
 *     the spec has the number of items in the file, and the ranks list as many, or
 *     the spec has the positions.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include "comm/scan.h"

/* Coverage of consecutive ranges. */
typedef struct {
    int64_t count;       /* number of distinct item numbers; 0: the other fields are not valid */
    int64_t first, last; /* lowest and highest number */
    int64_t missing;     /* first missing number between `first` and `last`; -1: none */
    int64_t begin, end;  /* offsets in the file, if positions are given; otherwise 0 */
    /* First item whose position is before the end of the previous item, or -1; its position; number
     * and end of the previous item. */
    int64_t overlapping, position, previous, previous_end;
} coverage;

static void append_coverage(void *left, const void *right) {
    coverage *l = left;
    const coverage *r = right;
    if (r->count == 0) return;
    if (l->count == 0) {
        *l = *r;
        return;
    }
    if (l->overlapping < 0 && l->end > r->begin) {
        l->overlapping = r->first;
        l->position = r->begin;
        l->previous = l->last;
        l->previous_end = l->end;
    } else if (l->overlapping < 0) {
        l->overlapping = r->overlapping;
        l->position = r->position;
        l->previous = r->previous;
        l->previous_end = r->previous_end;
    }
    if (l->missing < 0) l->missing = r->first > l->last + 1 ? l->last + 1 : r->missing;
    l->count += r->count;
    l->last = r->last;
    l->end = r->end;
}

/* Return the end offset of an item whose position is given.  tutti__range_group has checked that
 * all copies have the same load. */
static tutti_off item_end(const tutti__range_items *g, tutti_off value_bytes, tutti_count j) {
    const tutti_count i = g->sorted[j].index;
    return g->given[i] + g->received[i].load * value_bytes;
}

/* Check that copies have the same position, and that items do not overlap.   Not collective. */
static tutti_err check_positions(const tutti__range_items *g, tutti_off value_bytes,
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
    static const tutti_off none; /* replaces NULL on a rank without items */
    if (!positions) positions = &none;
    g->given = tutti__malloc((size_t)g->m * sizeof *g->given);
    TUTTI_TRY(tutti__team_agree(t, g->given ? TUTTI_OK : TUTTI_ERR_NOMEM));
    TUTTI_TRY(tutti__directory_send(t, d, (int)sizeof *positions, positions, g->given));
    return tutti__team_agree(t, check_positions(g, value_bytes, d));
}

tutti_err tutti__coverage_check(tutti__team *t, const tutti__range_items *g, tutti_count items,
                                tutti_replicas *r) {
    static const coverage none = {.missing = -1, .overlapping = -1};
    const tutti__scan_operation scan = {sizeof none, &none, append_coverage};
    coverage own = none, all, behind;
    for (tutti_count j = 0; j < g->m; j++) {
        const int64_t number = g->sorted[j].number;
        if (own.count > 0 && number == own.last) continue;
        if (own.count == 0) own.first = number;
        if (own.count > 0 && own.missing < 0 && number > own.last + 1) own.missing = own.last + 1;
        own.last = number;
        own.count++;
    }
    if (g->given && g->m > 0) {
        own.begin = g->given[g->sorted[0].index];
        own.end = item_end(g, r->value_bytes, g->m - 1);
    }
    TUTTI_TRY(tutti__team_scan(t, &scan, &own, &all, &behind));
    append_coverage(&all, &own);
    append_coverage(&all, &behind);
    /* `all` covers the ranges of all ranks, so these checks have the same result on all ranks. */
    TUTTI_CHECK(!g->given || all.overlapping < 0, TUTTI_ERR_ARG,
                "item %lld has position %lld, before the end of item %lld (%lld)",
                (long long)all.overlapping, (long long)all.position, (long long)all.previous,
                (long long)all.previous_end);
    TUTTI_CHECK(items == 0 || all.count == items || (g->given && all.count < items),
                TUTTI_ERR_MISMATCH, "all ranks together list %lld items, but items is %lld%s",
                (long long)all.count, (long long)items,
                all.count < items ? ": to access some of them, set positions" : "");
    r->end = all.end;
    r->missing = all.count > 0 && all.first > 0 ? 0 : all.missing;
    if (items > 0 || g->given) r->missing = -1;
    return TUTTI_OK;
}
