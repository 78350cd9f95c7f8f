/* TEST ranks=0 timeout=60 */
/* The cost model and the page cache: cold (not cached) bytes are read by few long requests, including
 * holes that the device reads in less time than one more request takes.
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

/* Set a request in which 4 ranks read the same `columns` pieces of `piece` bytes, `every` bytes apart. */
static void set_common(tutti_off piece, tutti_off columns, tutti_off every, int cold) {
    sum = (tutti__summary){.hi = (columns - 1) * every + piece,
                           .bytes = 4 * piece * columns,
                           .extents = 4 * ((columns - 1) * every + piece),
                           .runs = 4 * columns,
                           .ranks = 4,
                           .max_bytes = piece * columns,
                           .run = piece,
                           .piece = piece,
                           .cold = cold};
    request = (tutti__cost_case){.s = &sum,
                                 .opt = &opt,
                                 .profile = &profile,
                                 .ranks = 4,
                                 .groups = 1,
                                 .largest = 4,
                                 .align = 4096,
                                 .buffers = buffers};
}

static tutti__candidate best(void) {
    tutti__candidate k[TUTTI__CANDIDATES];
    (void)tutti__cost_candidates(&request, k);
    return k[0];
}

static void set_defaults(void) {
    tutti_options_defaults(&opt);
    tutti_profile_defaults(&profile, "ext");
}

/* Test Table 1 of Thakur and Choudhary: common sections of 4096 x 4096 doubles, by columns. */
static void test_sections(void) {
    static const struct {
        tutti_off piece, columns;
        int warm; /* fastest method for cached bytes in measurements with 4 ranks */
    } table[] = {{800, 100, TUTTI_METHOD_LIST},
                 {808, 101, TUTTI_METHOD_LIST},
                 {3208, 401, TUTTI_METHOD_TWO_PHASE},
                 {264, 897, TUTTI_METHOD_TWO_PHASE},
                 {128, 4096, TUTTI_METHOD_TWO_PHASE}};
    set_defaults();
    for (int i = 0; i < 5; i++) {
        set_common(table[i].piece, table[i].columns, 32768, 0);
        CHECK(best().method == table[i].warm, "warm, %d: %d", i, best().method);
        const double warm = best().seconds;
        set_common(table[i].piece, table[i].columns, 32768, 1);
        CHECK(best().method == TUTTI_METHOD_TWO_PHASE, "cold, %d: %d", i, best().method);
        CHECK(best().seconds > 4 * warm, "%d: %g, warm %g", i, best().seconds, warm);
        CHECK(tutti__cost_gap(&request).bytes >= 32768, "%d", i);
        CHECK_EQ(best().aggregators, 4); /* their number depends on the bytes read */
    }
    set_common(524288, 1, 524288, 1); /* one piece, which the kernel reads once for all ranks */
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
    set_common(524288, 1, 524288, 0);
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
}

/* `cold` affects only reads through the page cache. */
static void test_only_reads(void) {
    set_defaults();
    for (int direct = 0; direct < 2; direct++)
        for (int is_write = 0; is_write < 2; is_write++) {
            set_common(800, 100, 32768, 0);
            opt.direct_io = direct;
            request.is_write = is_write;
            const double warm = best().seconds;
            sum.cold = 1;
            const double cold = best().seconds;
            CHECK((cold > warm) == (!direct && !is_write), "%g, cold %g", warm, cold);
        }
}

static tutti_off gap(int cold) {
    sum.cold = cold;
    return tutti__cost_gap(&request).bytes;
}

/* A hole is read if reading it takes no longer than one more request. */
static void test_gaps(void) {
    set_defaults();
    set_common(800, 100, 32768, 0);
    const tutti_off warm = gap(0), cold = gap(1);
    CHECK(warm >= 256 && warm <= 8192, "%lld", (long long)warm);
    CHECK(cold >= 32768 && cold <= 1 << 20, "%lld", (long long)cold);
    profile.direct_read_one_4k /= 4; /* the device has a higher latency */
    profile.direct_read_all_4k /= 4;
    CHECK(gap(1) >= 3 * cold && gap(1) <= 5 * cold, "%lld", (long long)gap(1));
    CHECK_EQ(gap(0), warm);
    set_defaults();
    profile.direct_read_one_1m /= 8; /* the device has a lower bandwidth */
    profile.direct_read_all_1m /= 8;
    CHECK(gap(1) <= cold / 4, "%lld", (long long)gap(1));
    CHECK_EQ(gap(0), warm);
    set_defaults();
    opt.sieve_gap = 777; /* the option takes precedence */
    CHECK(gap(0) == 777 && gap(1) == 777, "%lld, %lld", (long long)gap(0), (long long)gap(1));
    opt.sieve_gap = 0;
    request.is_write = 1;
    CHECK_EQ(gap(0), 32 << 10);
    set_common(20000, 100, 32768, 0); /* the request is dense: holes are ignored */
    CHECK_EQ(gap(0), 32 << 10);
    CHECK(tutti__cost_gap(&request).dense, "half of the extent");
    CHECK(gap(1) >= 32 << 10, "%lld", (long long)gap(1));
}

/* Longer holes are not read, so that the predicted time does not depend on their length. */
static void test_far_apart(void) {
    set_defaults();
    set_common(800, 100, 8 << 20, 1);
    const double far = best().seconds;
    set_common(800, 100, 64 << 20, 1);
    CHECK(best().seconds < 1.05 * far, "%g, %g", best().seconds, far);
}

int main(void) {
    test_sections();
    test_only_reads();
    test_gaps();
    test_far_apart();
    return check_done();
}
