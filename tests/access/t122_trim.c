/* TEST ranks=0 timeout=120 */
/* Sides without what later ones cover, against one number a byte: who has it?
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/side_zoo.h"

enum { MOST = 9 };
static const size_t PLENTY = (size_t)1 << 30;

/* Trimmed sides have exactly the bytes that are theirs; returns how many bytes were lost. */
static int64_t check_trimmed(int n, const tutti__side *s, const tutti__side *trimmed, tutti_off lo,
                             tutti_off hi) {
    tutti_off top = 1;
    int64_t lost = 0;
    for (int i = 0; i < n; i++) top = tutti__max(top, tutti__side_hi(s[i]));
    signed char *owner = malloc((size_t)top);
    memset(owner, -1, (size_t)top);
    for (int i = 0; i < n; i++) {
        tutti_off *at = zoo_bytes(s[i]);
        for (tutti_off k = 0; k < tutti__side_bytes(s[i]); k++) owner[at[k]] = (signed char)i;
        free(at);
    }
    for (int i = 0; i < n; i++) {
        tutti_off *at = zoo_bytes(s[i]), *left = zoo_bytes(trimmed[i]), p = 0;
        int loses = 0, clipped = 0;
        for (tutti_off k = 0; k < tutti__side_bytes(s[i]); k++) {
            const int within = at[k] >= lo && at[k] < hi;
            clipped |= !within;
            loses |= within && owner[at[k]] != i;
            lost += within && owner[at[k]] != i;
            if (!within || owner[at[k]] != i) continue;
            if (p < tutti__side_bytes(trimmed[i]) && left[p] == at[k]) {
                p++;
                continue;
            }
            CHECK(0, "side %d of %d, [%lld, %lld): byte %lld", i, n, (long long)lo, (long long)hi,
                  (long long)at[k]);
            break;
        }
        CHECK_EQ(p, tutti__side_bytes(trimmed[i]));
        CHECK(tutti__side_monotone(trimmed[i]), " ");
        if (!loses && !clipped && s[i].node)
            CHECK(trimmed[i].node == s[i].node && trimmed[i].disp == s[i].disp, "not shared");
        free(at);
        free(left);
    }
    free(owner);
    return lost;
}

static void sides_free(int n, tutti__side *s) {
    for (int i = 0; i < n; i++) tutti__side_free(&s[i]);
}

static void random_sides(int64_t *lost, int *gave_up) {
    tutti__side s[MOST], trimmed[MOST];
    const int n = (int)rnd(MOST + 1), near = rnd(3) > 0;
    for (int i = 0; i < n; i++) {
        s[i] = zoo_any(1 + (int)rnd(4), 1);
        if (rnd(12) == 0) tutti__side_free(&s[i]);
        if (rnd(5) == 0 && i > 0) {
            tutti__side_free(&s[i]);
            s[i] = zoo_again(s[i - 1]);
        }
        if (s[i].node) s[i] = zoo_moved(s[i], rnd(near ? 300 : 20000));
    }
    tutti_off lo = 0, hi = (tutti_off)1 << 40;
    if (rnd(2)) lo = rnd(4000);
    if (rnd(2)) hi = lo + rnd(6000);
    for (int i = 0; i < n; i++) trimmed[i] = (tutti__side){-7, NULL};
    CHECK_OK(tutti__sides_trim(n, s, lo, hi, trimmed, PLENTY));
    *lost += check_trimmed(n, s, trimmed, lo, hi);
    size_t fresh = 0; /* what the new descriptions take is what it counts */
    for (int i = 0; i < n; i++)
        if (trimmed[i].node && trimmed[i].node != s[i].node) fresh += tutti__side_size(trimmed[i]);
    sides_free(n, trimmed);
    CHECK_OK(tutti__sides_trim(n, s, lo, hi, trimmed, fresh));
    sides_free(n, trimmed);
    if (fresh > 0) {
        for (int i = 0; i < n; i++) trimmed[i] = (tutti__side){-7, NULL};
        CHECK_ERR(tutti__sides_trim(n, s, lo, hi, trimmed, fresh - 1), TUTTI_ERR_UNSUPPORTED);
        for (int i = 0; i < n; i++) CHECK(trimmed[i].disp == -7, "written though it failed");
        ++*gave_up;
    }
    sides_free(n, s);
}

/* Blocks of a matrix with a ghost column at each side: what is left are loops as before. */
static void ghost_columns(void) {
    enum { RANKS = 8, ROWS = 5000, COLUMN = 100, WIDTH = RANKS * COLUMN };
    tutti__side s[RANKS], trimmed[RANKS];
    for (int i = 0; i < RANKS; i++) {
        const tutti_off lo = i > 0 ? i * COLUMN - 1 : 0;
        const tutti_off hi = i < RANKS - 1 ? (i + 1) * COLUMN + 1 : WIDTH;
        s[i] = zoo_vec(zoo_run(lo, hi - lo), ROWS, WIDTH);
    }
    CHECK_OK(tutti__sides_trim(RANKS, s, 0, INT64_MAX, trimmed, 8000));
    for (int i = 0; i < RANKS; i++) {
        const tutti_off lo = i > 0 ? i * COLUMN - 1 : 0;
        const tutti_off hi = i < RANKS - 1 ? (i + 1) * COLUMN - 1 : WIDTH;
        const tutti__side right = zoo_vec(zoo_run(lo, hi - lo), ROWS, WIDTH);
        CHECK(tutti__side_equal(trimmed[i], right), "block %d", i);
        tutti__side_free((tutti__side *)&right);
    }
    sides_free(RANKS, s);
    sides_free(RANKS, trimmed);
}

/* Many slices of a file that meet at their ends: only what meets is looked at, however many runs
 * there are. */
static void far_slices(void) {
    enum { RANKS = 2000 };
    const tutti_off runs = 1000000, slice = 64 * runs;
    tutti__side s[RANKS], trimmed[RANKS];
    for (int i = 0; i < RANKS; i++) s[i] = zoo_vec(zoo_run(i * slice, 32), runs + 2, 64);
    CHECK_OK(tutti__sides_trim(RANKS, s, 0, INT64_MAX, trimmed, PLENTY));
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQ(tutti__side_bytes(trimmed[i]), 32 * (runs + (i == RANKS - 1 ? 2 : 0)));
        CHECK(tutti__side_size(trimmed[i]) < 500, " ");
    }
    sides_free(RANKS, s);
    sides_free(RANKS, trimmed);
}

/* More runs than it looks at. */
static void too_many(void) {
    tutti__side s[2] = {zoo_vec(zoo_run(0, 32), (tutti_off)1 << 30, 64),
                        zoo_vec(zoo_run(31, 32), (tutti_off)1 << 30, 64)};
    tutti__side trimmed[2];
    CHECK_ERR(tutti__sides_trim(2, s, 0, INT64_MAX, trimmed, PLENTY), TUTTI_ERR_UNSUPPORTED);
    sides_free(2, s);
}

static void no_memory(void) {
    tutti__side s[4], trimmed[4];
    tutti_err err = TUTTI_ERR_NOMEM;
    for (int i = 0; i < 4; i++) s[i] = zoo_moved(zoo_list(1), 100 * i);
    const long live = tutti__memory_live();
    for (int i = 1; i < 300 && err != TUTTI_OK; i++) {
        tutti__memory_fail_after(i);
        err = tutti__sides_trim(4, s, 0, INT64_MAX, trimmed, PLENTY);
        tutti__memory_fail_after(0);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
        if (err != TUTTI_OK) CHECK_EQ(tutti__memory_live(), live);
    }
    CHECK_OK(err);
    sides_free(4, trimmed);
    sides_free(4, s);
}

int main(void) {
    const long live = tutti__memory_live();
    int64_t lost = 0;
    int gave_up = 0;
    check_seed(20261118);
    for (int i = 0; i < 3000 && check_failures_ < 10; i++) random_sides(&lost, &gave_up);
    CHECK(lost > 100000 && gave_up > 500, "%lld bytes lost, %d times too large", (long long)lost,
          gave_up);
    ghost_columns();
    far_slices();
    too_many();
    no_memory();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
