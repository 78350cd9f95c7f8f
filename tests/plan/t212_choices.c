/* TEST ranks=0 timeout=60 */
/* The cost model distinguishes file runs from memory runs, sums the extents of the ranks and detects
 * common data.  The requests are those for which an earlier version chose a slow method.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "plan/cost.h"

static tutti_options opt;
static tutti_profile profile;
static tutti__summary sum;
static tutti__cost_case request;

static int buffers(int exchange, int step, int slots) {
    (void)exchange;
    (void)step;
    return slots + 2;
}

/* Set a request of `ranks` ranks on one node with the file sides `side` and `memory_runs` runs of memory
 * per rank. */
static void set_case(int ranks, const tutti__side *side, tutti_count memory_runs) {
    sum = tutti__summary_empty();
    for (int i = 0; i < ranks; i++)
        sum = tutti__summary_merge(sum, tutti__summary_of(side[i], memory_runs));
    request = (tutti__cost_case){.s = &sum,
                                 .opt = &opt,
                                 .profile = &profile,
                                 .ranks = ranks,
                                 .groups = 1,
                                 .largest = ranks,
                                 .align = 4096,
                                 .buffers = buffers};
}

/* Return the side of `runs` runs of `bytes` bytes, `every` bytes apart, the first at `at`. */
static tutti__side strided(tutti_off at, tutti_count runs, tutti_off bytes, tutti_off every) {
    tutti__side run = {0, NULL}, s = {0, NULL};
    CHECK_OK(tutti__side_run(at, bytes, &run));
    if (runs == 1) return run;
    CHECK_OK(tutti__side_vec(run, runs, every, &s));
    return s;
}

static tutti__candidate best(void) {
    tutti__candidate k[TUTTI__CANDIDATES];
    (void)tutti__cost_candidates(&request, k);
    return k[0];
}

static double seconds_of(int method) {
    tutti__candidate k[TUTTI__CANDIDATES];
    const int n = tutti__cost_candidates(&request, k);
    for (int i = 0; i < n; i++)
        if (k[i].method == method) return k[i].seconds;
    return -1;
}

static void set_defaults(void) {
    tutti_options_defaults(&opt);
    tutti_profile_defaults(&profile, "ext");
}

static void sides_free(int n, tutti__side *s) {
    while (n > 0) tutti__side_free(&s[--n]);
}

/* Contiguous reads of any size use list, because the cost of sieving includes all bytes that it reads. */
static void test_contiguous(void) {
    enum { RANKS = 4 };
    set_defaults();
    for (tutti_off mib = 1; mib <= 512; mib *= 2) {
        tutti__side s[RANKS];
        for (int i = 0; i < RANKS; i++) s[i] = strided((mib << 20) * i, 1, mib << 20, 0);
        set_case(RANKS, s, 1);
        CHECK_EQ(sum.extents, sum.bytes);
        CHECK_EQ(best().method, TUTTI_METHOD_LIST);
        CHECK(seconds_of(TUTTI_METHOD_SIEVE) > 1.2 * seconds_of(TUTTI_METHOD_LIST),
              "%lld MiB: sieve %g, list %g", (long long)mib, seconds_of(TUTTI_METHOD_SIEVE),
              seconds_of(TUTTI_METHOD_LIST));
        sides_free(RANKS, s);
    }
}

/* Test FLASH I/O: each of 24 variables has one run of 1.3 MiB per rank in the file and runs of 64
 * bytes in memory. */
static void test_flash(void) {
    enum { RANKS = 4, VARS = 24 };
    const tutti_off run = 4096 * 341, memory = VARS * run / 64;
    tutti__side s[RANKS];
    set_defaults();
    for (int i = 0; i < RANKS; i++) s[i] = strided(run * i, VARS, run, run * RANKS);
    set_case(RANKS, s, memory);
    CHECK_EQ(sum.runs, RANKS * VARS);
    CHECK_EQ(sum.run, run);
    CHECK_EQ(sum.piece, 64);
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
    const double scattered = best().seconds;
    set_case(RANKS, s, VARS);
    CHECK(best().seconds < 0.7 * scattered && best().seconds > 0.2 * scattered,
          "%g, in 64 bytes %g", best().seconds, scattered);
    /* between nodes, long runs are not exchanged */
    set_case(RANKS, s, memory);
    request.is_write = 1;
    request.groups = RANKS;
    request.largest = 1;
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
    /* long pieces are entries of I/O vectors, which are cheaper than copies */
    set_case(RANKS, s, VARS * run / 65536);
    CHECK(seconds_of(TUTTI_METHOD_LIST) < scattered, "%g", seconds_of(TUTTI_METHOD_LIST));
    sides_free(RANKS, s);
}

/* Test the common sections IV and V of Thakur and Choudhary on a disk with few requests per
 * second. */
static void test_common(void) {
    static const struct {
        tutti_off bytes, columns, every;
    } table[] = {{33 * 4, 897, 16384}, {16 * 4, 4096, 16384}};
    for (int ranks = 2; ranks <= 32; ranks *= 2)
        for (int i = 0; i < 2; i++) {
            tutti__side s[32];
            set_defaults();
            profile.direct_read_one_4k = profile.direct_read_all_4k = 4096 * 3000.0;
            profile.direct_read_one_64k = profile.direct_read_all_64k = 1.9e8;
            profile.direct_read_one_1m = profile.direct_read_all_1m = 2.1e8;
            for (int r = 0; r < ranks; r++)
                s[r] = strided(0, table[i].columns, table[i].bytes, table[i].every);
            set_case(ranks, s, 1);
            sum.cold = 1;
            CHECK(tutti__summary_is_common(&sum), "%d ranks", ranks);
            CHECK(best().method == TUTTI_METHOD_TWO_PHASE || best().method == TUTTI_METHOD_SIEVE,
                  "%d ranks, case %d: method %d", ranks, i, best().method);
            /* list is limited by the request rate of the device for any number of ranks */
            CHECK(seconds_of(TUTTI_METHOD_LIST) > 0.8 * (double)table[i].columns / 3000,
                  "%d ranks: %g s", ranks, seconds_of(TUTTI_METHOD_LIST));
            /* the file is read once, not once per rank */
            CHECK(best().seconds < 1.5 * (double)sum.hi / 2.1e8, "%d ranks: %g s", ranks,
                  best().seconds);
            s[0].disp += 8;
            set_case(ranks, s, 1);
            CHECK(!tutti__summary_is_common(&sum), "one rank differs");
            sides_free(ranks, s);
        }
}

/* Test interleaved pieces without holes: the extent of each rank is the extent of all ranks, so
 * that sieving reads the whole file on each rank. */
static void test_extents(void) {
    enum { RANKS = 4 };
    tutti__side s[RANKS];
    set_defaults();
    for (int i = 0; i < RANKS; i++) s[i] = strided(512 * i, 65536, 512, 512 * RANKS);
    set_case(RANKS, s, 1);
    CHECK(sum.extents > 3 * (sum.hi - sum.lo), "%lld", (long long)sum.extents);
    CHECK_EQ(best().method, TUTTI_METHOD_TWO_PHASE);
    CHECK(seconds_of(TUTTI_METHOD_SIEVE) > 1.5 * best().seconds, "each rank reads all of it");
    sides_free(RANKS, s);
    /* if each rank has a separate part of the file, sieving reads each part once */
    for (int i = 0; i < RANKS; i++) s[i] = strided((tutti_off)(1 << 27) * i, 65536, 512, 1024);
    set_case(RANKS, s, 1);
    CHECK(seconds_of(TUTTI_METHOD_SIEVE) < seconds_of(TUTTI_METHOD_LIST), "%g, %g",
          seconds_of(TUTTI_METHOD_SIEVE), seconds_of(TUTTI_METHOD_LIST));
    sides_free(RANKS, s);
}

/* A summary detects that ranks have one run each, of equal length, in rank order without overlap or hole. */
static void test_rank_order(void) {
    for (int kind = 0; kind < 6; kind++) {
        enum { RANKS = 5 };
        tutti__summary all = tutti__summary_empty();
        for (int i = 0; i < RANKS; i++) {
            /* kind 1: reverse order; kind 2: overlap */
            const int at = kind == 1 ? RANKS - 1 - i : kind == 2 && i == 3 ? 2 : i;
            const tutti_off bytes = kind == 3 && i == 4 ? 90 : 100;
            tutti__side s = strided(1000 + 100 * at, kind == 4 && i == 1 ? 2 : 1,
                                    kind == 4 && i == 1 ? 50 : bytes, 60);
            tutti__summary one =
                kind == 5 && i == 0 ? tutti__summary_empty() : tutti__summary_of(s, 0);
            tutti__summary_set_rank(&one, i);
            all = tutti__summary_merge(all, one);
            tutti__side_free(&s);
        }
        CHECK(tutti__summary_is_in_rank_order(&all, RANKS) == (kind == 0), "case %d", kind);
    }
}

int main(void) {
    test_rank_order();
    test_contiguous();
    test_flash();
    test_common();
    test_extents();
    return check_done();
}
