/* TEST ranks=0 timeout=60 */
/* The cost model: the default profile leads to the methods that are fastest in measurements, predictions
 * are monotonic in each value, options are respected, and equal values give equal choices.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "plan/cost.h"

static tutti_options opt;
static tutti_profile profile;
static tutti__summary sum;
static tutti__cost_case request;

/* Return a number of buffers that depends on neither exchange nor step. */
static int buffers(int exchange, int step, int slots) {
    (void)exchange;
    (void)step;
    return slots + 2;
}

/* Set a request of `ranks` ranks on `groups` nodes, with `bytes` bytes per rank in pieces of `piece`
 * bytes that together fill the fraction `density` of the extent. */
static void set_case(int is_write, int ranks, int groups, tutti_off bytes, tutti_off piece,
                     double density) {
    sum = (tutti__summary){.lo = 0,
                           .hi = (tutti_off)((double)(bytes * ranks) / density),
                           .bytes = bytes * ranks,
                           .runs = bytes / piece * ranks,
                           .ranks = ranks,
                           .max_bytes = bytes,
                           .run = piece,
                           .piece = piece,
                           .last = 1};
    /* pieces of ranks interleave, so that each rank has the whole extent, unless it has one piece only */
    sum.extents = sum.bytes;
    if (piece < bytes && __builtin_mul_overflow(sum.hi - sum.lo, ranks, &sum.extents))
        sum.extents = INT64_MAX;
    request = (tutti__cost_case){.s = &sum,
                                 .opt = &opt,
                                 .profile = &profile,
                                 .is_write = is_write,
                                 .ranks = ranks,
                                 .groups = groups,
                                 .largest = (ranks + groups - 1) / groups,
                                 .align = 4096,
                                 .buffers = buffers};
}

static void set_defaults(const char *type) {
    tutti_options_defaults(&opt);
    opt.plan_cache = 0; /* the rule for small requests does not apply */
    tutti_profile_defaults(&profile, type);
}

static tutti__candidate best(void) {
    tutti__candidate k[TUTTI__CANDIDATES];
    const int n = tutti__cost_candidates(&request, k);
    CHECK(n >= 1 && n <= TUTTI__CANDIDATES, "%d", n);
    for (int i = 0; i < n; i++) {
        CHECK(k[i].seconds > 0 && k[i].seconds < 1e30, "%d: %g s", i, k[i].seconds);
        CHECK(k[0].seconds <= 1.03 * k[i].seconds, "%d: %g, %g", i, k[0].seconds, k[i].seconds);
        CHECK(i < 2 || k[i - 1].seconds <= k[i].seconds, "%d is not sorted", i);
    }
    return k[0];
}

/* Return the predicted time of the best candidate of a method, or -1. */
static double seconds_of(int method) {
    tutti__candidate k[TUTTI__CANDIDATES];
    const int n = tutti__cost_candidates(&request, k);
    double least = -1;
    for (int i = 0; i < n; i++)
        if (k[i].method == method && (least < 0 || k[i].seconds < least)) least = k[i].seconds;
    return least;
}

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        const tutti__candidate b_ = best();                                                        \
        CHECK(b_.method == TUTTI_METHOD_##what,                                                    \
              "method %d: %s of %lld bytes by %d ranks, %.3f of the extent; list %g two-phase %g " \
              "sieve %g",                                                                          \
              b_.method, request.is_write ? "write" : "read", (long long)sum.run, request.ranks,   \
              (double)sum.bytes / (double)sum.hi, seconds_of(TUTTI_METHOD_LIST),                   \
              seconds_of(TUTTI_METHOD_TWO_PHASE), seconds_of(TUTTI_METHOD_SIEVE));                 \
    } while (0)

/* The choices agree with docs/appendix/results.md: 32 MiB per rank through the page cache; 2, 4 and
 * 8 ranks on 2 cores. */
static void test_measured_regions(void) {
    static const int ranks[] = {2, 4, 8};
    set_defaults("ext");
    for (int i = 0; i < 3; i++) {
        for (tutti_off piece = 64; piece <= 256 << 10; piece *= 2) {
            set_case(1, ranks[i], 1, 32 << 20, piece, 1);
            EXPECT(TWO_PHASE);
            CHECK_EQ(best().exchange, TUTTI_EXCHANGE_SHM);
            CHECK_EQ(best().pipeline, TUTTI_PIPELINE_WRITE_COMM_2);
            CHECK_EQ(best().aggregators, ranks[i]);
            CHECK(best().window <= 512 << 10, "%lld", (long long)best().window);
        }
        for (tutti_off piece = 1 << 20; piece <= 32 << 20; piece *= 2) {
            set_case(1, ranks[i], 1, 32 << 20, piece, 1);
            EXPECT(TWO_PHASE);
            opt.direct_run = 1 << 20;
            EXPECT(LIST);
            opt.direct_run = 0;
            set_case(1, ranks[i], ranks[i], 32 << 20, piece, 1); /* each node has one rank */
            EXPECT(LIST);
        }
        for (tutti_off piece = 64; piece <= 2048; piece *= 2) {
            set_case(0, ranks[i], 1, 32 << 20, piece, 1);
            EXPECT(TWO_PHASE);
        }
        for (tutti_off piece = 4096; piece <= 1 << 20; piece *= 2) {
            set_case(0, ranks[i], 1, 32 << 20, piece, 1);
            EXPECT(LIST);
        }
        for (tutti_off piece = 4096; piece <= 512 << 10; piece *= 2) { /* holes are large */
            set_case(1, ranks[i], 1, 32 << 20, piece, 0.02);
            EXPECT(LIST);
        }
        for (tutti_off piece = 64; piece <= 1024; piece *= 4) {
            set_case(1, ranks[i], 1, 8 << 20, piece, 0.04);
            EXPECT(TWO_PHASE);
        }
        for (tutti_off piece = 512; piece <= 2048; piece *= 2) {
            set_case(0, ranks[i], 1, 8 << 20, piece, 0.01);
            EXPECT(LIST);
        }
    }
    set_case(0, 1, 1, 1 << 20, 32, 0.04); /* one rank reads with small holes */
    EXPECT(SIEVE);
    set_case(0, 1, 1, 1 << 20, 64, 0.01);
    EXPECT(LIST);
}

/* The larger the pieces, the better is the method list compared with two-phase. */
static void test_pieces(void) {
    static const char *const types[] = {"ext", "fuse"};
    for (int t = 0; t < 2; t++)
        for (int is_write = 0; is_write < 2; is_write++)
            for (int ranks = 1; ranks <= 64; ranks *= 4) {
                double before = 1e30;
                set_defaults(types[t]);
                opt.direct_run = INT64_MAX;
                for (tutti_off piece = 64; piece <= 16 << 20; piece *= 2) {
                    set_case(is_write, ranks, 1, 64 << 20, piece, 1);
                    const double ratio =
                        seconds_of(TUTTI_METHOD_LIST) / seconds_of(TUTTI_METHOD_TWO_PHASE);
                    CHECK(ratio <= before * 1.0001, "%s, %d ranks, pieces of %lld: %g after %g",
                          types[t], ranks, (long long)piece, ratio, before);
                    before = ratio;
                }
            }
}

/* More bytes take longer; a better value of the profile never makes a prediction slower. */
static void test_monotony(void) {
    const tutti_profile_info *row;
    tutti_profile usual;
    for (int round = 0; round < 2000; round++) {
        set_defaults(rnd(2) ? "ext" : "fuse");
        usual = profile;
        const int method[] = {TUTTI_METHOD_LIST, TUTTI_METHOD_TWO_PHASE, TUTTI_METHOD_ROOT};
        const tutti_off piece = (tutti_off)8 << rnd(16), bytes = piece * (1 + rnd(1000));
        const int ranks = 1 + (int)rnd(32), groups = 1 + (int)rnd(ranks), m = method[rnd(3)];
        const double density = rnd(2) ? 1 : 0.01 * (double)(1 + rnd(99));
        const int is_write = (int)rnd(2);
        set_case(is_write, ranks, groups, bytes, piece, density);
        opt.method = m;
        const double t = seconds_of(m);
        set_case(is_write, ranks, groups, 2 * bytes, piece, density);
        CHECK(seconds_of(m) >= 0.85 * t, "method %d: %g, twice the bytes %g", m, t, seconds_of(m));
        set_case(is_write, ranks, groups, bytes, piece, density);
        for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++) {
            double *x = (double *)(void *)((char *)&profile + row->field);
            const int net =
                strncmp(row->name, "net_", 4) == 0 || strncmp(row->name, "vote", 4) == 0;
            if (!net) continue;
            *x = strcmp(row->unit, "RATE") == 0 ? *x * 4 : *x / 4;
            CHECK(seconds_of(m) <= 1.11 * t, "a better %s: %g after %g", row->name, seconds_of(m),
                  t);
            profile = usual;
        }
    }
}

/* Set the profile of measurements on four hosts with GlusterFS, which differ in the network: sending all
 * data twice is faster only at 2 Gbit/s. */
static void set_hosts(double small, double large, double network) {
    set_defaults("fuse");
    profile.ranks = 1;
    profile.nodes = 4;
    profile.net_bandwidth = network;
    profile.write_all_512 = small / 8;
    profile.write_all_4k = small;
    profile.write_all_64k = profile.write_all_1m = large;
    profile.staged_write_512k = profile.staged_write_4m = large;
    profile.write_one_512 = small / 32;
    profile.write_one_4k = small / 4;
    profile.write_one_64k = profile.write_one_1m = large / 4;
}

static void test_networks(void) {
    for (int is_write = 0; is_write < 2; is_write++) { /* with the default profile */
        set_defaults("fuse");
        set_case(is_write, 4, 4, 4 << 20, 4096, 1);
        EXPECT(TWO_PHASE);
    }
    for (int is_write = 0; is_write < 2; is_write++) { /* with measured values of Fast Ethernet */
        set_defaults("fuse");
        profile.ranks = 1;
        profile.nodes = 4;
        profile.net_latency = 2e-5;
        profile.net_bandwidth = 1e7;
        profile.vote = 2.4e-4;
        profile.write_one_4k = 1e7;
        profile.read_one_4k = 1.2e7;
        profile.write_one_64k = profile.write_one_1m = 1.2e7;
        profile.read_one_64k = profile.read_one_1m = 1.2e7;
        profile.write_all_4k = 2.9e7;
        profile.read_all_4k = 3.7e7;
        profile.write_all_64k = profile.write_all_1m = 4.8e7;
        profile.read_all_64k = profile.read_all_1m = 4.9e7;
        profile.staged_write_512k = profile.staged_write_4m = 4.7e7;
        profile.staged_read_512k = profile.staged_read_4m = 4.7e7;
        set_case(is_write, 4, 4, 4 << 20, 4096, 1);
        EXPECT(LIST);
    }
    set_hosts(3.5e7, 5e8, 2.3e8);
    set_case(1, 4, 4, 16 << 20, 4096, 1);
    EXPECT(TWO_PHASE);
    set_hosts(3.4e7, 4.4e7, 1.19e7);
    EXPECT(LIST);
    opt.store = TUTTI_STORE_THREADS; /* file access and exchange share the network */
    profile.overlap_threads = 1;
    EXPECT(LIST);
    set_case(1, 4, 4, 16 << 20, 256, 1); /* requests are too small for list */
    EXPECT(TWO_PHASE);
}

static void test_options(void) {
    tutti__candidate k[TUTTI__CANDIDATES];
    set_defaults("ext");
    set_case(1, 8, 2, 8 << 20, 4096, 1);
    for (int m = TUTTI_METHOD_INDEPENDENT; m <= TUTTI_METHOD_TWO_PHASE; m++) {
        opt.method = m;
        const int n = tutti__cost_candidates(&request, k);
        for (int i = 0; i < n; i++) CHECK_EQ(k[i].method, m);
    }
    opt.method = TUTTI_METHOD_LIST;
    opt.method_read = TUTTI_METHOD_TWO_PHASE;
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
    request.is_write = 0;
    CHECK_EQ(best().method, TUTTI_METHOD_TWO_PHASE);
    opt.method = TUTTI_METHOD_TWO_PHASE;
    opt.cb_nodes = 3;
    opt.window_size = 64 << 10;
    for (int x = TUTTI_EXCHANGE_SHM; x <= TUTTI_EXCHANGE_LOCK; x++)
        for (int pipe = TUTTI_PIPELINE_NONE; pipe <= TUTTI_PIPELINE_WRITE_COMM_2; pipe++) {
            opt.exchange = x;
            opt.pipeline = pipe;
            CHECK_EQ(tutti__cost_candidates(&request, k), 1);
            CHECK_EQ(k[0].exchange, x);
            CHECK_EQ(k[0].pipeline, pipe);
            CHECK_EQ(k[0].aggregators, 3);
            CHECK_EQ(k[0].window, 64 << 10);
        }
    opt.step = 2; /* a step implies messages */
    opt.exchange = TUTTI_EXCHANGE_AUTO;
    opt.sub_buffers = 1;
    CHECK_EQ(best().exchange, TUTTI_EXCHANGE_TWO_SIDED);
    CHECK_EQ(best().pipeline, TUTTI_PIPELINE_NONE);
    opt.step = 0;
    opt.cb_nodes = 100;
    CHECK_EQ(best().aggregators, 8);
    opt.method = opt.method_read = TUTTI_METHOD_AUTO;
    opt.direct_run = 4096;
    CHECK_EQ(best().method, TUTTI_METHOD_LIST);
}

/* An overlapping pipeline is chosen if it is faster. */
static void test_pipelines(void) {
    set_defaults("ext");
    opt.method = TUTTI_METHOD_TWO_PHASE;
    opt.direct_io = 1;
    opt.cb_buffer_size = 1 << 30;
    set_case(1, 4, 1, 64 << 20, 512, 1);
    const double alone = best().seconds;
    opt.store = TUTTI_STORE_URING;
    CHECK(best().seconds < 0.95 * alone, "%g after %g", best().seconds, alone);
    CHECK_EQ(best().pipeline, TUTTI_PIPELINE_WRITE_COMM_2);
    CHECK(best().window > 512 << 10, "%lld", (long long)best().window);
    opt.pipeline = TUTTI_PIPELINE_NONE;
    CHECK(best().seconds >= alone, "%g after %g", best().seconds, alone);
}

/* Each aggregator has enough bytes, and their number is limited if more writers do not increase the
 * bandwidth. */
static void test_aggregators(void) {
    set_defaults("ext");
    opt.method = TUTTI_METHOD_TWO_PHASE;
    set_case(1, 8, 1, 16 << 10, 512, 1);
    CHECK_EQ(best().aggregators, 1);
    set_case(1, 8, 1, 64 << 20, 512, 1);
    CHECK_EQ(best().aggregators, 8);
    profile.ranks = 8; /* more writers reduce the bandwidth */
    profile.write_all_64k = profile.write_all_1m = profile.staged_write_512k =
        profile.staged_write_4m = 3e8;
    CHECK_EQ(best().aggregators, 1);
    opt.method = TUTTI_METHOD_AUTO; /* auto does not select root */
    EXPECT(TWO_PHASE);
    opt.method = TUTTI_METHOD_TWO_PHASE;
    set_case(1, 8, 4, 64 << 20, 512, 1);
    CHECK(best().aggregators <= 4, "%d", best().aggregators);
    CHECK_EQ(tutti__cost_least(&request, INT64_MAX), 256 << 10);
    set_defaults("ext");
    /* the difference is noise */
    profile.read_all_1m = profile.read_all_64k = 0.92 * profile.read_one_1m;
    set_case(0, 2, 1, 8 << 20, 512, 1);
    EXPECT(TWO_PHASE);
    CHECK_EQ(best().aggregators, 2);
}

/* All valid requests and profiles give a candidate, and the same one when repeated. */
static void test_any(void) {
    const tutti_profile_info *row;
    for (int round = 0; round < 5000; round++) {
        set_defaults(rnd(2) ? "ext" : "nfs");
        for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++) {
            double *x = (double *)(void *)((char *)&profile + row->field);
            if (*x > 1 && rnd(2)) *x *= (double)(1 + rnd(1000)) / 100;
        }
        profile.fence = profile.lock = rnd(2) ? 1e-4 : 0;
        const int ranks = 1 + (int)rnd(rnd(2) ? 8 : 100000);
        set_case((int)rnd(2), ranks, 1 + (int)rnd(ranks), (tutti_off)1 << rnd(30), 1 + rnd(1 << 20),
                 0.001 * (double)(1 + rnd(3000)));
        sum.lo = rnd(2) ? 0 : rnd(sum.hi);
        request.striped = (int)rnd(2);
        request.may_sieve = (int)rnd(2);
        opt.direct_io = (int)rnd(2);
        opt.store = (int)rnd(5);
        const tutti__candidate a = best(), b = best();
        CHECK(memcmp(&a, &b, sizeof a) == 0, "two choices");
        CHECK(a.method != TUTTI_METHOD_AUTO, "auto");
    }
    sum = (tutti__summary){.lo = INT64_MAX, .hi = INT64_MIN, .run = INT64_MAX};
    tutti__candidate k[TUTTI__CANDIDATES];
    set_defaults(NULL);
    CHECK_EQ(tutti__cost_candidates(&request, k), 1);
    CHECK_EQ(k[0].method, TUTTI_METHOD_LIST);
}

/* If plans are cached, one run of a few pages per rank uses the method list regardless of the model. */
static void test_small(void) {
    for (int is_write = 0; is_write < 2; is_write++) {
        set_defaults("ext");
        set_case(is_write, 4, 1, 8192, 8192, 1);
        CHECK(!tutti__cost_is_small(&request), "without a plan cache");
        opt.plan_cache = 8;
        CHECK(tutti__cost_is_small(&request), "8 KiB per rank");
        tutti__candidate k[TUTTI__CANDIDATES];
        (void)tutti__cost_candidates(&request, k);
        CHECK_EQ(k[0].method, TUTTI_METHOD_LIST);
        sum.piece = 64; /* pieces in memory have 64 bytes */
        CHECK_EQ(tutti__cost_is_small(&request), !is_write);
        set_case(is_write, 4, 1, 128 << 10, 128 << 10, 1);
        CHECK(!tutti__cost_is_small(&request), "128 KiB per rank");
        set_case(is_write, 4, 1, 8192, 4096, 1);
        CHECK(!tutti__cost_is_small(&request), "two runs per rank");
    }
}

int main(void) {
    check_seed(110);
    test_small();
    test_measured_regions();
    test_pieces();
    test_monotony();
    test_networks();
    test_options();
    test_pipelines();
    test_aggregators();
    test_any();
    return check_done();
}
