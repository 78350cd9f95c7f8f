/* TEST ranks=0 timeout=60 */
/* Searches of ascending arrays and sorting without duplicates, against loops over all values: empty arrays,
 * duplicates, gaps, values below and above all, arrays on both sides of the limit for insertion.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "base/sorted.h"

enum { MOST = 200 };

static void search_item(const int64_t *v, tutti_count n, int64_t x) {
    tutti_count below = 0, found = -1, interval = 0;
    for (tutti_count i = 0; i < n; i++) {
        below += v[i] < x;
        if (v[i] <= x) interval = i;
        if (v[i] == x && found < 0) found = i;
    }
    CHECK_EQ(tutti__lower_bound(v, n, x), below);
    CHECK_EQ(tutti__lower_bound_by(v, n, sizeof *v, &x, tutti__compare_int64), below);
    CHECK_EQ(tutti__interval_of(v, n, x), interval);
    const tutti_count at = tutti__sorted_find(v, n, x);
    CHECK(found < 0 ? at == -1 : at >= 0 && v[at] == x, "%lld is at %lld", (long long)x,
          (long long)at);
}

int main(void) {
    static int64_t v[MOST], w[MOST];
    check_seed(16);
    for (int trial = 0; trial < 2000; trial++) {
        const tutti_count n = rnd(rnd(3) ? 12 : MOST);
        const int64_t span = 1 + rnd(rnd(2) ? 8 : 1000);
        for (tutti_count i = 0; i < n; i++) v[i] = w[i] = rnd(span);
        const tutti_count kept = tutti__sort_unique(w, n);
        for (tutti_count i = 1; i < kept; i++)
            CHECK(w[i - 1] < w[i], "%lld of %lld", (long long)i, (long long)kept);
        for (tutti_count i = 0; i < n; i++)
            CHECK(tutti__sorted_find(w, kept, v[i]) >= 0, "%lld is missing", (long long)v[i]);
        for (tutti_count i = 0; i < kept; i++) {
            tutti_count k = 0;
            while (k < n && v[k] != w[i]) k++;
            CHECK(k < n, "%lld was not there", (long long)w[i]);
        }
        for (int64_t x = -1; x <= span; x += 1 + rnd(3)) search_item(w, kept, x);
        qsort(v, (size_t)n, sizeof *v, tutti__compare_int64); /* the values have duplicates */
        for (int64_t x = -1; x <= span; x += 1 + rnd(3)) search_item(v, n, x);
    }
    CHECK_EQ(tutti__interval_of(v, 0, INT64_MAX), 0);
    return check_done();
}
