/* plan: selection of the aggregators.
 *
 * Every group contributes min(its size, level) ranks, with the same level for all groups.  Each
 * remaining aggregator comes from a different larger group, and these groups are evenly spaced.
 * Inside a group the chosen ranks are evenly spaced and include the first rank.  The algorithm is
 * in place: ranks are sorted by group in the output array, and each group is then reduced to its
 * chosen ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "plan/domains.h"
#include "plan/scale.h"

static int rank_order(const void *x, const void *y, void *group_of) {
    const int a = *(const int *)x, b = *(const int *)y;
    const int ga = ((const int *)group_of)[a], gb = ((const int *)group_of)[b];
    if (ga != gb) return ga < gb ? -1 : 1;
    return (a > b) - (a < b);
}

/* Return the end of the group that begins at index `from` of the sorted ranks. */
static int end_of_ranks(const tutti__topology *t, const int *rank, int from) {
    int to = from + 1;
    while (to < t->ranks && t->group_of[rank[to]] == t->group_of[rank[from]]) to++;
    return to;
}

/* Return the number of ranks chosen at this level; *larger_out is the number of groups with more ranks than
 * `level`. */
static int count_at_level(const tutti__topology *t, const int *rank, int level, int *larger_out) {
    int sum = 0, larger = 0;
    for (int from = 0, to; from < t->ranks; from = to) {
        to = end_of_ranks(t, rank, from);
        sum += to - from < level ? to - from : level;
        larger += to - from > level;
    }
    *larger_out = larger;
    return sum;
}

int tutti__aggregators_choose(const tutti__topology *t, int wanted, tutti_off bytes,
                              tutti_off min_bytes, int *rank_of_out) {
    int n = wanted > 0 && wanted < t->ranks ? wanted : t->ranks;
    const tutti_off worth = tutti__max(bytes / tutti__max(min_bytes, 1), 1);
    if (worth < n) n = (int)worth;

    int sorted = 1; /* whether the ranks are already in the order of their groups, the usual case */
    for (int r = 0; r < t->ranks; r++) {
        rank_of_out[r] = r;
        if (r > 0 && t->group_of[r] < t->group_of[r - 1]) sorted = 0;
    }
    if (!sorted)
        qsort_r(rank_of_out, (size_t)t->ranks, sizeof *rank_of_out, rank_order,
                (void *)t->group_of);
    /* Reduce the sorted ranks to the n chosen ranks. */
    if (n < t->ranks) {
        int larger, out = 0, k = 0;
        int level = 0; /* the highest level at which at most n ranks are chosen */
        for (int above = n + 1; above - level > 1;) {
            const int mid = level + (above - level) / 2;
            if (count_at_level(t, rank_of_out, mid, &larger) <= n)
                level = mid;
            else
                above = mid;
        }
        const int extra = n - count_at_level(t, rank_of_out, level, &larger);
        for (int from = 0, to; from < t->ranks; from = to) {
            to = end_of_ranks(t, rank_of_out, from);
            const int size = to - from;
            int take = size < level ? size : level;
            if (larger > 0 && size > level) take += (tutti_off)k++ * extra % larger < extra;
            for (int i = 0; i < take; i++)
                rank_of_out[out++] = rank_of_out[from + tutti__cut(size, i, take)];
        }
    }
    return n;
}
