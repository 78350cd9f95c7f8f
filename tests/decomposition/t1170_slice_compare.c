/* TEST ranks=0 timeout=60 */
/* Slices of up to 10^6 simulated ranks are compared without a table of all slices: sums show whether they
 * divide the space; each slice is sent to few cells, and each cell receives few slices; and cells find
 * all overlaps of pairs of slices.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/slice_compare.h"

#include <string.h>

#include "check.h"

/* Return the block of rank `who` of n x n x n ranks, with ghost entries on each side. */
static tutti_slice block_of(int who, int n, tutti_count width, tutti_count ghosts) {
    tutti_slice s = {{0}, {0}, {0}, {0}};
    for (int d = 0; d < 3; d++, who /= n) {
        s.lo[d] = tutti__max(who % n * width - ghosts, 0);
        s.hi[d] = tutti__min((who % n + 1) * width + ghosts, n * width);
        s.stride[d] = 1;
    }
    return s;
}

static void add_words(const tutti_slice *s, int64_t *sums) {
    int64_t words[TUTTI__SLICE_WORDS];
    tutti__slice_words(3, s, words);
    for (int i = 0; i < TUTTI__SLICE_WORDS; i++) sums[i] += words[i];
}

/* The blocks of n^3 ranks divide the space; with one block shifted they do not. */
static void check_division(int n) {
    const tutti_count shape[3] = {n * 1024L, n * 1024L, n * 1024L};
    int64_t sums[TUTTI__SLICE_WORDS] = {0}, others[TUTTI__SLICE_WORDS];
    for (int r = 0; r < n * n * n; r++) {
        const tutti_slice s = block_of(r, n, 1024, 0);
        if (r == 1) memcpy(others, sums, sizeof sums);
        add_words(&s, sums);
        if (r > 0) add_words(&s, others);
    }
    CHECK(tutti__slices_divide(3, shape, sums), "%d^3 blocks", n);
    for (int d = 0; d < 3; d++) { /* shift block 0 by one entry */
        int64_t moved[TUTTI__SLICE_WORDS];
        tutti_slice s = block_of(0, n, 1024, 0);
        memcpy(moved, others, sizeof moved);
        s.lo[d]++;
        s.hi[d]++;
        add_words(&s, moved);
        CHECK(!tutti__slices_divide(3, shape, moved), "shifted in dimension %d", d);
    }
}

/* Rows distributed cyclically divide the space. */
static void check_comb(int ranks) {
    const tutti_count shape[3] = {ranks * 3L + 1, 5, 7};
    int64_t sums[TUTTI__SLICE_WORDS] = {0};
    for (int r = 0; r < ranks; r++) {
        tutti_slice s = tutti_slice_all(3, shape);
        s.lo[0] = r;
        s.stride[0] = ranks;
        add_words(&s, sums);
    }
    CHECK(tutti__slices_divide(3, shape, sums), "%d combs", ranks);
}

/* Check that each of n^3 ranks, whose blocks have ghost entries, sends and receives at most `most` messages. */
static void messages(int n, tutti_count most) {
    const int ranks = n * n * n;
    const tutti_count shape[3] = {n * 16L, n * 16L, n * 16L};
    int64_t shares[3] = {0};
    int *received = calloc((size_t)ranks, sizeof *received);
    for (int r = 0; r < ranks; r++) {
        const tutti_slice s = block_of(r, n, 16, 1);
        for (int d = 0; d < 3; d++) shares[d] += tutti__slice_share(&s, shape[d], d);
    }
    const tutti__cells c = tutti__cells_choose(3, shape, shares, ranks, ranks);
    CHECK(c.all <= ranks && c.all >= ranks / 3, "%lld cells of %d ranks", (long long)c.all, ranks);
    tutti_count largest = 0;
    for (int r = 0; r < ranks; r++) {
        const tutti_slice s = block_of(r, n, 16, 1);
        tutti_count sent = 0;
        int *cell = NULL;
        CHECK_OK(tutti__cells_of_slice(&c, &s, &sent, &cell));
        largest = tutti__max(largest, sent);
        for (tutti_count i = 0; i < sent; i++) received[cell[i]]++;
        tutti__free(cell);
    }
    for (int r = 0; r < ranks; r++) largest = tutti__max(largest, received[r]);
    CHECK(largest <= most, "%d ranks: up to %lld messages per rank", ranks, (long long)largest);
    free(received);
}

/* ---- random slices: every pair that overlaps is found once */

enum { RANKS = 12 };

static tutti_slice random_slice(int ndims, const tutti_count *shape) {
    tutti_slice s = {{0}, {0}, {0}, {0}};
    for (int d = 0; d < ndims; d++) {
        s.lo[d] = rnd(shape[d]);
        s.hi[d] = s.lo[d] + 1 + rnd(shape[d] - s.lo[d]);
        s.stride[d] = 1 + rnd(tutti__min(s.hi[d] - s.lo[d], 4));
    }
    return s;
}

/* Return how many cells report the overlap of the slice of `rank` with the slice `higher`. */
static int count_found(const tutti__cells *c, const tutti_slice *slice, int rank,
                       const tutti_slice *higher) {
    int n = 0;
    for (int cell = 0; cell < c->all; cell++) {
        tutti__rank_slice v[RANKS];
        tutti__slice_overlap *found = NULL;
        tutti_count received = 0, overlaps = 0;
        memset(v, 0, sizeof v);
        for (int r = 0; r < RANKS; r++) {
            tutti_count sent = 0;
            int *to = NULL, is_sent = 0;
            CHECK_OK(tutti__cells_of_slice(c, &slice[r], &sent, &to));
            for (tutti_count i = 0; i < sent; i++) is_sent += to[i] == cell;
            CHECK(is_sent <= 1, "sent %d times", is_sent);
            if (is_sent) v[received++] = (tutti__rank_slice){r, slice[r]};
            tutti__free(to);
        }
        CHECK_OK(tutti__cell_compare(c, cell, received, v, &overlaps, &found));
        for (tutti_count i = 0; i < overlaps; i++)
            n += found[i].rank == rank &&
                 memcmp(&v[found[i].higher].slice, higher, sizeof *higher) == 0;
        tutti__free(found);
    }
    return n;
}

static void overlaps(int k) {
    const int ndims = 1 + k % 3;
    tutti_count shape[3];
    int64_t shares[3] = {0};
    tutti_slice slice[RANKS];
    for (int d = 0; d < ndims; d++) shape[d] = 1 + rnd(30);
    for (int r = 0; r < RANKS; r++) {
        slice[r] = r > 0 && rnd(4) == 0 ? slice[rnd(r)] : random_slice(ndims, shape);
        for (int d = 0; d < ndims; d++) shares[d] += tutti__slice_share(&slice[r], shape[d], d);
    }
    const tutti__cells c = tutti__cells_choose(ndims, shape, shares, RANKS, RANKS);
    for (int a = 0; a < RANKS; a++) {
        const int b = (int)rnd(RANKS);
        tutti__indices both;
        int equal_above = 0, is_highest = 1;
        for (int r = 0; r < RANKS; r++) {
            equal_above |= r > a && memcmp(&slice[r], &slice[a], sizeof slice[a]) == 0;
            is_highest &= r <= b || memcmp(&slice[r], &slice[b], sizeof slice[b]) != 0;
        }
        const int equal = memcmp(&slice[a], &slice[b], sizeof slice[a]) == 0;
        if (!is_highest || (equal_above && !equal)) continue;
        const int ought = b > a && tutti__slices_intersect(ndims, &slice[a], &slice[b], &both);
        CHECK_EQ(count_found(&c, slice, a, &slice[b]), ought);
    }
}

int main(void) {
    check_seed(1170);
    check_division(1);
    check_division(2);
    check_division(100);
    check_comb(1);
    check_comb(1000);
    messages(8, 64);
    messages(100, 64);
    for (int k = 0; k < 200; k++) overlaps(k);
    return check_done();
}
