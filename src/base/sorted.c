/* base: searching and sorting ascending arrays.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/sorted.h"

#include <stdlib.h>

tutti_count tutti__lower_bound(const int64_t *v, tutti_count n, int64_t x) {
    tutti_count lo = 0, hi = n;
    while (lo < hi) {
        const tutti_count mid = lo + (hi - lo) / 2;
        if (v[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

tutti_count tutti__lower_bound_by(const void *items, tutti_count n, size_t size, const void *key,
                                  int (*compare)(const void *item, const void *key)) {
    tutti_count lo = 0, hi = n;
    while (lo < hi) {
        const tutti_count mid = lo + (hi - lo) / 2;
        if (compare((const char *)items + (size_t)mid * size, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

tutti_count tutti__sorted_find(const int64_t *v, tutti_count n, int64_t x) {
    if (n > 0 && x >= v[0] && x - v[0] < n && v[x - v[0]] == x) return x - v[0];
    const tutti_count at = tutti__lower_bound(v, n, x);
    return at < n && v[at] == x ? at : -1;
}

tutti_count tutti__interval_of(const int64_t *start, tutti_count n, int64_t x) {
    const tutti_count at = x < INT64_MAX ? tutti__lower_bound(start, n, x + 1) : n;
    return at > 0 ? at - 1 : 0;
}

int tutti__compare_int64(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

tutti_count tutti__sort_unique(int64_t *v, tutti_count n) {
    enum { SHORT = 64 };
    tutti_count kept = 0, ascending = n > 0;
    while (ascending < n && v[ascending - 1] <= v[ascending]) ascending++;
    if (n > SHORT && ascending < n) qsort(v, (size_t)n, sizeof *v, tutti__compare_int64);
    for (tutti_count i = ascending; i < n && n <= SHORT; i++) { /* insertion sort */
        const int64_t x = v[i];
        tutti_count j = i;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
    for (tutti_count i = 0; i < n; i++)
        if (kept == 0 || v[i] != v[kept - 1]) v[kept++] = v[i];
    return kept;
}
