/* TEST ranks=0 timeout=60 */
/* Checked integers against 128-bit arithmetic; the version.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include "base/memory.h"
#include "check.h"

/* Return a random number of any magnitude, often near a limit. */
static tutti_off any_number(void) {
    const int shift = (int)rnd(64);
    switch (rnd(6)) {
    case 0:
        return INT64_MAX - rnd(3);
    case 1:
        return INT64_MIN + rnd(3);
    case 2:
        return rnd(5) - 2;
    default:
        return (tutti_off)rnd64() >> shift;
    }
}

static int fits(__int128 x) {
    return x >= INT64_MIN && x <= INT64_MAX;
}

static void test_arithmetic(void) {
    for (int i = 0; i < 200000; ++i) {
        const tutti_off a = any_number(), b = any_number();
        const __int128 sum = (__int128)a + b, product = (__int128)a * b;
        tutti_off r = 0;
        CHECK_EQ(tutti__add_ok(a, b, &r), fits(sum));
        if (fits(sum)) CHECK_EQ(r, sum);
        CHECK_EQ(tutti__mul_ok(a, b, &r), fits(product));
        if (fits(product)) CHECK_EQ(r, product);
        CHECK_EQ(tutti__min(a, b), a < b ? a : b);
        CHECK_EQ(tutti__max(a, b), a < b ? b : a);
    }
}

static void test_alignment(void) {
    for (int i = 0; i < 100000; ++i) {
        const tutti_off a = 1 + rnd((tutti_off)1 << rnd(30));
        const tutti_off x = any_number() / 4;
        const tutti_off down = tutti__align_down(x, a), up = tutti__align_up(x, a);
        CHECK(down % a == 0 && down <= x && x - down < a, "%lld %lld", (long long)x, (long long)a);
        CHECK(up % a == 0 && up >= x && up - x < a, "%lld %lld", (long long)x, (long long)a);
    }
}

static void test_narrow(void) {
    int n = 77;
    CHECK_OK(tutti__narrow_int(INT_MAX, &n));
    CHECK_EQ(n, INT_MAX);
    CHECK_OK(tutti__narrow_int(INT_MIN, &n));
    CHECK_EQ(n, INT_MIN);
    CHECK_ERR(tutti__narrow_int((tutti_off)INT_MAX + 1, &n), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti__narrow_int((tutti_off)INT_MIN - 1, &n), TUTTI_ERR_OVERFLOW);
    CHECK_EQ(n, INT_MIN);
    CHECK(strstr(tutti_last_message(), "-2147483649"), "%s", tutti_last_message());
}

int main(void) {
    check_seed(3);
    test_arithmetic();
    test_alignment();
    test_narrow();
    CHECK_EQ(tutti_version(), TUTTI_VERSION);
    CHECK(strcmp(tutti_version_string(), TUTTI_VERSION_STRING) == 0);
    return check_done();
}
