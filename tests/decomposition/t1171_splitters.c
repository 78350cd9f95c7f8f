/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Division of numbers into ranges: in groups of any size every rank finds the ranges of its numbers,
 * ranges are adjacent and of similar size, and if a rank runs out of memory, all ranks return its error.
 * Sketches of 10^6 simulated ranks give groups of similar size.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"
#include "base/sorted.h"
#include "decomposition/splitters.h"

enum { MOST = 3000 };
static int64_t number[2][MOST];
static int64_t first[2][HELD_RANKS], end[2][HELD_RANKS];

/* ---- sketches, without communication */

/* Make the sketch of the ranks [from, to), each with 20 numbers of a clustered distribution. */
static int virtual_sketch(int from, int to, tutti__sample *out) {
    if (to - from == 1) {
        int64_t own[20];
        for (int i = 0; i < 20; i++) {
            const int64_t x = rnd(1 << 20);
            own[i] = x * x % 1000003 * (i % 3 ? 1 : 1000);
        }
        const tutti__number_set set = {20, own, sizeof *own};
        return tutti__sketch_make(&set, 0, 2, out);
    }
    tutti__sample a[TUTTI__SKETCH_SAMPLES], b[TUTTI__SKETCH_SAMPLES],
        both[2 * TUTTI__SKETCH_SAMPLES];
    const int middle = from + (to - from) / 2;
    const int na = virtual_sketch(from, middle, a), nb = virtual_sketch(middle, to, b);
    const int n = tutti__sketch_merge(TUTTI__SKETCH_SAMPLES, na, a, nb, b, both);
    CHECK(n <= TUTTI__SKETCH_SAMPLES, "%d samples", n);
    memcpy(out, both, (size_t)n * sizeof *out);
    return n;
}

static void many_virtual_ranks(void) {
    enum { RANKS = 1000000, SHOWN = 100000 };
    static tutti__sample v[TUTTI__SKETCH_SAMPLES];
    const tutti__rank_groups g = tutti__rank_groups_of(RANKS, 0);
    CHECK(g.size == 1000 && g.n == 1000, "%d groups of %d", g.n, g.size);
    int64_t *bound = calloc((size_t)g.n, sizeof *bound);
    int *count = calloc((size_t)g.n, sizeof *count), largest = 0;
    const int n = virtual_sketch(0, RANKS, v);
    uint64_t all = 0;
    for (int i = 0; i < n; i++) all += v[i].weight;
    CHECK_EQ((int64_t)all, (int64_t)RANKS * 20);
    const tutti__weight_division by_size = {g.n, g.size, g.ranks};
    tutti__sketch_bounds(n, v, 0, &by_size, bound);
    for (int i = 0; i < SHOWN * 20; i++) {
        const int64_t x = rnd(1 << 20);
        count[tutti__interval_of(bound, g.n, x * x % 1000003 * (i % 3 ? 1 : 1000))]++;
    }
    for (int k = 0; k < g.n; k++) largest = count[k] > largest ? count[k] : largest;
    CHECK(largest < 6 * SHOWN * 20 / g.n, "largest group has %d numbers, mean %d", largest,
          SHOWN * 20 / g.n);
    free(bound);
    free(count);
}

/* Merging two sketches with repeated numbers gives the same result in both orders. */
static void merge_both_orders(int most) {
    tutti__sample v[2][100], ab[200], ba[200];
    int n[2];
    for (int i = 0; i < 2; i++) {
        int64_t own[2][60];
        const tutti__number_set first_set = {60, own[0], sizeof own[0][0]};
        const tutti__number_set second_set = {rnd(60), own[1], sizeof own[1][0]};
        for (int k = 0; k < 120; k++) own[k / 60][k % 60] = rnd(20) * rnd(20);
        n[i] = tutti__sketch_make(&first_set, 0, 20, v[i]);
        n[i] += tutti__sketch_make(&second_set, 1, 20, v[i] + n[i]);
    }
    const int m = tutti__sketch_merge(most, n[0], v[0], n[1], v[1], ab);
    CHECK_EQ(tutti__sketch_merge(most, n[1], v[1], n[0], v[0], ba), m);
    CHECK(memcmp(ab, ba, (size_t)m * sizeof *ab) == 0, "orders differ");
    for (int i = 1; i < m; i++)
        CHECK(tutti__sample_compare(&ab[i - 1], &ab[i]) < 0, "sample %d repeats", i);
}

/* ---- division by all ranks */

static void fill_numbers(int k, int set, tutti_count n) {
    const int pattern = k % 4;
    for (tutti_count i = 0; i < n; i++)
        number[set][i] = pattern == 0   ? rnd(1 << 30)
                         : pattern == 1 ? rank * 5000 + i
                         : pattern == 2 ? i / 7
                                        : rnd(50) * rnd(1000);
}

static void check_ranges(const tutti__splitters *s, int set, tutti_count n) {
    MPI_Allgather(&s->first[set], 1, MPI_INT64_T, first[set], 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Allgather(&s->end[set], 1, MPI_INT64_T, end[set], 1, MPI_INT64_T, MPI_COMM_WORLD);
    CHECK(first[set][0] == 0 && end[set][ranks - 1] == INT64_MAX, "ends");
    for (int r = 1; r < ranks; r++) CHECK_EQ(first[set][r], end[set][r - 1]);
    for (tutti_count i = 0; i < n; i++) {
        const int64_t x = number[set][i];
        const tutti__range_start *at = &s->start[tutti__splitters_find(s, set, x)];
        CHECK(at->set == set && first[set][at->rank] <= x && x < end[set][at->rank],
              "%lld: rank %d", (long long)x, at->rank);
        CHECK_EQ(at->first, first[set][at->rank]);
    }
}

static void check_balance(const tutti__splitters *s, tutti_count n) {
    int64_t counts[HELD_RANKS] = {0}, all = 0;
    for (tutti_count i = 0; i < n; i++)
        counts[s->start[tutti__splitters_find(s, 0, number[0][i])].rank]++;
    MPI_Allreduce(MPI_IN_PLACE, counts, ranks, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) all += counts[r];
    for (int r = 0; r < ranks; r++)
        CHECK(counts[r] <= 2 * all / ranks + 20, "rank %d has %lld of %lld numbers", r,
              (long long)counts[r], (long long)all);
}

static void trial(int k, int group_size) {
    char where[80];
    const tutti_count n[2] = {rnd(4) ? rnd(MOST) : 0, rnd(2) ? rnd(30) : 0};
    tutti__split split = {.sum = {rank, 1}};
    tutti__splitters s = {.sets = 0};
    tutti__splitting *p = NULL;
    snprintf(where, sizeof where, "trial %d, groups of %d", k, group_size);
    check_where(where);
    for (int set = 0; set < 2; set++) {
        fill_numbers(k, set, n[set]);
        split.set[set] = (tutti__number_set){n[set], number[set], sizeof number[set][0]};
    }
    CHECK_OK(tutti__splitting_make(team, group_size, 2, &p));
    CHECK_SAME(tutti__splitters_make(p, TUTTI_OK, &split, &s), TUTTI_OK);
    CHECK(split.sum[0] == ranks * (ranks - 1) / 2 && split.sum[1] == ranks, "sums");
    for (int set = 0; set < 2; set++) check_ranges(&s, set, n[set]);
    if (k % 4 == 0) check_balance(&s, n[0]);
    tutti__splitters_free(&s);
    tutti__splitting_free(&p);
}

static void no_memory(int group_size) {
    check_where("no memory");
    for (long at = 1, done = 0; !done; at++) {
        tutti__split split = {.set = {{100, number[0], sizeof number[0][0]}}};
        tutti__splitters s = {.sets = 0};
        tutti__splitting *p = NULL;
        fill_numbers(0, 0, 100);
        CHECK_OK(tutti__splitting_make(team, group_size, 1, &p));
        if (rank == ranks - 1) tutti__memory_fail_after(at);
        const tutti_err err = same_everywhere(tutti__splitters_make(p, TUTTI_OK, &split, &s));
        tutti__memory_fail_after(0);
        done = err == TUTTI_OK;
        CHECK(done || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
        tutti__splitters_free(&s);
        tutti__splitting_free(&p);
        if (at >= 200) break;
    }
    tutti__split split = {.sum = {0}};
    tutti__splitters s = {.sets = 0};
    tutti__splitting *p = NULL;
    CHECK_OK(tutti__splitting_make(team, group_size, 1, &p));
    CHECK_SAME(tutti__splitters_make(p, rank == 0 ? TUTTI_ERR_FORMAT : TUTTI_OK, &split, &s),
               TUTTI_ERR_FORMAT);
    tutti__splitting_free(&p);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1171);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &team));
    for (int size = 0; size <= 4; size++)
        for (int k = 0; k < 12; k++) trial(k, size);
    no_memory(0);
    no_memory(2);
    for (int k = 0; k < 100; k++) merge_both_orders(3 + k % 40);
    if (ranks == 1) many_virtual_ranks();
    tutti__team_give(&team);
    return harness_end();
}
