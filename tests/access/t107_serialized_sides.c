/* TEST ranks=0 timeout=60 */
/* Sides in messages to other ranks: the received side has the same bytes within the range of the clip.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/side.h"
#include "check.h"

static tutti_access *random_access(void) {
    tutti_access *a = NULL;
    const int n = 1 + (int)rnd(600);
    tutti_off *off = malloc((size_t)n * sizeof *off), *len = malloc((size_t)n * sizeof *len),
              at = rnd(100);
    const tutti_off fixed = rnd(2) ? 1 + rnd(9) : 0;
    for (int i = 0; i < n; i++) {
        off[i] = at;
        len[i] = fixed ? fixed : 1 + rnd(20);
        at += len[i] + (rnd(5) ? rnd(30) : rnd(5000));
    }
    if (rnd(4) == 0)
        CHECK_OK(tutti_access_vector(rnd(50), n, 5, 6 + rnd(9), &a));
    else
        CHECK_OK(tutti_access_runs(n, off, len, &a));
    free(off);
    free(len);
    return a;
}

/* Check that sides a and b contain the same bytes in [lo, hi). */
static void compare_values(tutti__side a, tutti__side b, tutti_off lo, tutti_off hi) {
    for (int k = 0; k < 20; k++) {
        const tutti_off x = lo + rnd(hi - lo + 1), y = x + rnd(hi - x + 1);
        CHECK_EQ(tutti__side_bytes_in(a, x, y), tutti__side_bytes_in(b, x, y));
        const tutti_off p = tutti__side_next(a, x), q = tutti__side_next(b, x);
        CHECK((p < hi ? p : hi) == (q < hi ? q : hi), "next of %lld: %lld, %lld", (long long)x,
              (long long)p, (long long)q);
    }
    tutti__extents e = {0}, f = {0};
    CHECK_OK(tutti__sides_union(1, &a, lo, hi, 0, &e));
    CHECK_OK(tutti__sides_union(1, &b, lo, hi, 0, &f));
    CHECK(e.n == f.n && (e.n == 0 || memcmp(e.v, f.v, e.n * sizeof *e.v) == 0), "unions differ");
    tutti__extents_free(&e);
    tutti__extents_free(&f);
}

int main(void) {
    check_seed(7);
    const long live = tutti__memory_live();
    for (int round = 0; round < 400; round++) {
        tutti_access *a = random_access();
        const tutti_off end = tutti__side_hi(a->file) + 50, lo = rnd(end),
                        hi = lo + 1 + rnd(end - lo);
        const size_t size = tutti__side_to_message(a->file, lo, hi, NULL, 0);
        unsigned char *buf = malloc(size);
        tutti__side b = {0, NULL};
        CHECK_EQ(tutti__side_to_message(a->file, lo, hi, buf, size), size);
        CHECK_OK(tutti__side_from_message(buf, size, &b));
        compare_values(a->file, b, lo, hi);
        tutti__side_free(&b);
        tutti__memory_fail_after(1);
        const tutti_err err = tutti__side_from_message(buf, size, &b);
        CHECK(err == TUTTI_ERR_NOMEM || (err == TUTTI_OK && !b.node), "%s", tutti_error_name(err));
        tutti__memory_fail_after(0);
        free(buf);
        tutti_access_free(&a);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
