/* plan: which ranks aggregate.
 *
 * Groups are filled to a common level: every group gives min(its size, level) ranks, and what is
 * then still wanted comes one each from groups that have more, evenly spaced among them.  Inside a
 * group the chosen ranks are evenly spaced too, the first always among them.
 * The output array is the only memory: the ranks are sorted into it by group, the groups are then
 * runs of it, and each run is thinned in place.
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

/* The end of the group that begins at `from` in the sorted ranks. */
static int group_end(const tutti__topology *t, const int *rank, int from) {
    int to = from + 1;
    while (to < t->ranks && t->group_of[rank[to]] == t->group_of[rank[from]]) to++;
    return to;
}

/* Ranks chosen if every group gives `level`; *larger_out: groups that could give more. */
static int filled_to(const tutti__topology *t, const int *rank, int level, int *larger_out) {
    int sum = 0, larger = 0;
    for (int from = 0, to; from < t->ranks; from = to) {
        to = group_end(t, rank, from);
        sum += to - from < level ? to - from : level;
        larger += to - from > level;
    }
    *larger_out = larger;
    return sum;
}

/* The highest level that takes at most n ranks. */
static int level_for(const tutti__topology *t, const int *rank, int n) {
    int lo = 0, hi = n + 1, larger;
    while (hi - lo > 1) {
        const int mid = lo + (hi - lo) / 2;
        if (filled_to(t, rank, mid, &larger) <= n)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Keep n evenly spread ones of the sorted ranks, in place. */
static void thin(const tutti__topology *t, int n, int *rank) {
    int larger, out = 0, k = 0;
    const int level = level_for(t, rank, n);
    const int extra = n - filled_to(t, rank, level, &larger);
    for (int from = 0, to; from < t->ranks; from = to) {
        to = group_end(t, rank, from);
        const int size = to - from;
        int take = size < level ? size : level;
        if (larger > 0 && size > level) take += (tutti_off)k++ * extra % larger < extra;
        for (int i = 0; i < take; i++) rank[out++] = rank[from + tutti__cut(size, i, take)];
    }
}

int tutti__aggregators_choose(const tutti__topology *t, int wanted, tutti_off bytes,
                              tutti_off min_bytes, int *rank_of_out) {
    int n = wanted > 0 && wanted < t->ranks ? wanted : t->ranks;
    const tutti_off worth = tutti__max(bytes / tutti__max(min_bytes, 1), 1);
    if (worth < n) n = (int)worth;

    int sorted = 1; /* by group, as they mostly are */
    for (int r = 0; r < t->ranks; r++) {
        rank_of_out[r] = r;
        if (r > 0 && t->group_of[r] < t->group_of[r - 1]) sorted = 0;
    }
    if (!sorted)
        qsort_r(rank_of_out, (size_t)t->ranks, sizeof *rank_of_out, rank_order,
                (void *)t->group_of);
    if (n < t->ranks) thin(t, n, rank_of_out);
    return n;
}
