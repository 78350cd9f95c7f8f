/* TEST ranks=0 timeout=60 */
/* The formulas in docs/explanation/automatic-choices.md are those of the cost model: tests/plan/formulas.py
 * evaluates the formulas for random requests and profiles.
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

static void profile_random(void) {
    const tutti_profile_info *row;
    tutti_profile_defaults(&profile, rnd(2) ? "ext" : NULL);
    for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++) {
        double *x = (double *)(void *)((char *)&profile + row->field);
        if (strcmp(row->unit, "RATE") == 0) *x *= (double)(50 + rnd(100)) / 100;
    }
    profile.ranks = (double)(1 + rnd(4));
    profile.nodes = (double)(1 + rnd(3));
}

static void request_random(void) {
    const int ranks = 1 + (int)rnd(32), groups = 1 + (int)rnd(ranks);
    const tutti_off run = (tutti_off)1 << rnd(22), runs = 1 + rnd(2000), own = run * runs;
    const tutti_off extent = own * (1 + rnd(3)) + rnd(1 << 20);
    sum = (tutti__summary){.hi = rnd(2) ? extent * ranks : extent,
                           .bytes = own * ranks,
                           .extents = extent * ranks,
                           .runs = runs * ranks,
                           .ranks = ranks,
                           .max_bytes = own,
                           .run = run,
                           .piece = tutti__max(run >> rnd(12), 1),
                           .last = (int64_t)rnd(2),
                           .cold = (int)rnd(2)};
    request = (tutti__cost_case){.s = &sum,
                                 .opt = &opt,
                                 .profile = &profile,
                                 .is_write = (int)rnd(2),
                                 .ranks = ranks,
                                 .groups = groups,
                                 .largest = (ranks + groups - 1) / groups,
                                 .align = 4096,
                                 .may_sieve = 1,
                                 .buffers = buffers};
}

static tutti__candidate predicted(int method) {
    tutti__candidate k[TUTTI__CANDIDATES];
    opt.method = method;
    CHECK_EQ(tutti__cost_candidates(&request, k), 1);
    return k[0];
}

static void case_print(FILE *f) {
    const tutti_profile_info *row;
    tutti_options_defaults(&opt);
    opt.exchange = TUTTI_EXCHANGE_SHM;
    opt.pipeline = TUTTI_PIPELINE_WRITE_COMM_2;
    opt.cb_nodes = 1 + (int)rnd(request.ranks);
    opt.window_size = (tutti_off)4096 << rnd(8);
    opt.cb_buffer_size = (tutti_off)1 << 34;
    opt.store = rnd(2) ? TUTTI_STORE_URING : TUTTI_STORE_POSIX;
    profile.overlap_uring = 0.5;
    const int uring = opt.store == TUTTI_STORE_URING;
    const tutti__candidate two = predicted(TUTTI_METHOD_TWO_PHASE);
    fprintf(f, "{\"predicted\": {\"list\": %.17g, \"sieve\": %.17g, \"two_phase\": %.17g}, ",
            predicted(TUTTI_METHOD_LIST).seconds, predicted(TUTTI_METHOD_SIEVE).seconds,
            two.seconds);
    fprintf(
        f,
        "\"is_write\": %d, \"cold\": %d, \"ranks\": %d, \"active\": %lld, \"groups\": %d, "
        "\"largest\": %d, \"aggregators\": %d, \"window\": %lld, \"bytes\": %lld, "
        "\"extent\": %lld, \"extents\": %lld, \"run\": %lld, \"piece\": %lld, \"common\": %d, "
        "\"sieve_buffer\": %lld, \"gap\": %lld, \"overlap\": %g, \"asynchronous\": %.17g, "
        "\"profile\": {\"x\": 0",
        request.is_write, sum.cold, request.ranks, (long long)sum.ranks, request.groups,
        request.largest, two.aggregators, (long long)two.window, (long long)sum.bytes,
        (long long)(sum.hi - sum.lo),
        (long long)tutti__max(tutti__min(sum.extents, (sum.hi - sum.lo) * sum.ranks), sum.bytes),
        (long long)sum.run, (long long)sum.piece, tutti__summary_is_common(&sum),
        (long long)tutti__sieve_stage(&opt, request.is_write, sum.cold && !request.is_write),
        (long long)tutti__cost_gap(&request).bytes, uring ? 0.5 : 0.0,
        uring ? profile.async_uring : 0.0);
    for (int i = 0; (row = tutti_profile_row(i)) != NULL; i++)
        fprintf(f, ", \"%s\": %.17g", row->name,
                *(const double *)(const void *)((const char *)&profile + row->field));
    fprintf(f, "}}\n");
}

int main(void) {
    char path[600], command[2000];
    check_seed(213);
    snprintf(path, sizeof path, "%s/cases", check_dir());
    FILE *f = fopen(path, "w");
    CHECK(f != NULL, "%s", path);
    for (int i = 0; f && i < 500; i++) {
        profile_random();
        request_random();
        case_print(f);
    }
    if (f) fclose(f);
    snprintf(command, sizeof command,
             "python3 %s/tests/plan/formulas.py %s/docs/explanation/automatic-choices.md %s",
             TUTTI_SOURCE_DIR, TUTTI_SOURCE_DIR, path);
    const int code = system(command); /* NOLINT(cert-env33-c) */
    CHECK(code == 0, "the formulas of docs/explanation/automatic-choices.md differ");
    return check_done();
}
