/* TEST ranks=0 timeout=60 */
/* Checked sizes against 128-bit arithmetic: products of shapes, counts against bytes, shares.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/sizes.h>
#include "base/sizes.h"
#include "check.h"

/* Return a random size of any magnitude, often near a limit. */
static tutti_count any_size(void) {
    const int shift = (int)rnd(64);
    switch (rnd(5)) {
    case 0:
        return INT64_MAX - rnd(3);
    case 1:
        return (tutti_count)1 << (rnd(2) ? 62 : rnd(63));
    case 2:
        return rnd(5) - 1;
    default:
        return (tutti_count)(rnd64() >> 1) >> shift;
    }
}

static void test_product(void) {
    for (int i = 0; i < 100000; i++) {
        tutti_count shape[4], got = -7;
        const int ndims = (int)rnd(5);
        __int128 all = 1;
        int negative = 0, empty = 0, overflow = 0;
        for (int d = 0; d < ndims; d++) {
            shape[d] = any_size();
            negative |= shape[d] < 0;
            empty |= shape[d] == 0;
            if (!overflow && shape[d] > 0) all *= shape[d];
            overflow |= all > INT64_MAX;
        }
        const int fits = !negative && (empty || !overflow);
        CHECK_EQ(tutti_size_product(ndims, shape, &got), fits);
        CHECK_EQ(got, !fits ? -7 : empty ? 0 : (tutti_count)all);
    }
}

static void test_fits(void) {
    for (int i = 0; i < 100000; i++) {
        const tutti_count n = any_size(), size = any_size(), bytes = any_size();
        CHECK_EQ(tutti_size_fits(n, size, bytes),
                 n >= 0 && size >= 1 && bytes >= 0 && (__int128)n * size <= bytes);
        CHECK_EQ(tutti__has_shape(bytes, n, size),
                 n >= 0 && size >= 0 && (__int128)n * size == bytes);
    }
}

static void test_share(void) {
    for (int i = 0; i < 100000; i++) {
        const tutti_count size = any_size(), all = size < 0 ? 0 : size;
        const int parts = 1 + (int)(rnd64() >> (33 + rnd(31))) % INT32_MAX,
                  part = (int)(rnd64() % ((uint64_t)parts + 1));
        CHECK_EQ(tutti_size_share(all, parts, part), (tutti_count)((__int128)all * part / parts));
    }
    CHECK_EQ(tutti_size_share(INT64_MAX, INT32_MAX, INT32_MAX), INT64_MAX);
}

static void test_to_int(void) {
    int n = 7;
    CHECK(!tutti_size_to_int((tutti_off)INT_MAX + 1, &n) && n == 7);
    CHECK(!tutti_size_to_int((tutti_off)INT_MIN - 1, &n) && n == 7);
    CHECK(tutti_size_to_int(INT_MIN, &n) && n == INT_MIN);
}

int main(void) {
    check_seed(14);
    test_product();
    test_fits();
    test_share();
    test_to_int();
    return check_done();
}
