/* TEST ranks=1,2,3,5,8 timeout=120 */
/* The inspector on many ranks gives the same positions, writers, shares and statistics as the rules in one
 * process, for items with all distributions and numberings; no rank processes much more than its share of
 * the items; owners are optional for most rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/held.h"

static held h;
static mine_of m;

static void same_stats(const tutti_replicas_stats *a, const tutti_replicas_stats *b) {
    CHECK_EQ(a->ranks, b->ranks);
    CHECK_EQ(a->writers, b->writers);
    CHECK_EQ(a->items, b->items);
    CHECK_EQ(a->copies, b->copies);
    CHECK_EQ(a->shared, b->shared);
    CHECK_EQ(a->bytes, b->bytes);
    CHECK_EQ(a->intervals, b->intervals);
    CHECK_EQ(a->min_bytes, b->min_bytes);
    CHECK_EQ(a->max_bytes, b->max_bytes);
    CHECK_EQ(a->rule_intervals, b->rule_intervals);
    CHECK_EQ(a->rule_max_bytes, b->rule_max_bytes);
    CHECK_EQ(a->balanced, b->balanced);
    CHECK(a->replication == b->replication && a->mean_interval == b->mean_interval &&
              a->mean_of_means == b->mean_of_means && a->balance_items == b->balance_items &&
              a->balance_bytes == b->balance_bytes,
          "means");
}

/* Compare the inspector with the rules, for the items of this rank and in total. */
static void compare_values(const tutti_replicas *r, const tutti_replicas_choice *c) {
    static int writer[HELD_ITEMS];
    tutti_replicas_share shares[HELD_RANKS], share;
    tutti_replicas_stats want, got;
    tutti_off position[HELD_ITEMS + 1], written = 0, kept = 0;
    const tutti_replicas_lists lists = held_lists(&h, m.spec.value_bytes);
    position[0] = 0;
    for (int i = 0; i < h.n; i++) position[i + 1] = position[i] + h.load[i] * m.spec.value_bytes;
    CHECK_OK(tutti_replicas_choose(&lists, c, writer, shares, &want));
    CHECK_OK(tutti_replicas_stats_get(r, &got));
    same_stats(&got, &want);
    for (int k = 0; k < ranks; k++) {
        CHECK_OK(tutti_replicas_share_get(r, k, &share));
        CHECK(!memcmp(&share, &shares[k], sizeof share), "share of rank %d", k);
    }
    for (tutti_count k = 0; k < m.spec.n; k++) {
        const int i = m.item[k];
        CHECK(tutti_replicas_positions(r)[k] == position[i], "item %lld at %lld, not %lld",
              (long long)h.number[i], (long long)tutti_replicas_positions(r)[k],
              (long long)position[i]);
        CHECK(tutti_replicas_writers(r)[k] == writer[i], "item %lld by %d, not %d",
              (long long)h.number[i], tutti_replicas_writers(r)[k], writer[i]);
        kept += h.load[i] * m.spec.value_bytes;
        if (writer[i] == rank) written += h.load[i] * m.spec.value_bytes;
    }
    CHECK_EQ(tutti_access_bytes(tutti_replicas_write_access(r)), written);
    CHECK_EQ(tutti_access_bytes(tutti_replicas_read_access(r)), kept);
    CHECK_EQ(tutti_replicas_bytes(r), position[h.n]);
    CHECK_EQ(tutti_access_runs_count(tutti_replicas_write_access(r)), shares[rank].intervals);
}

static void test_cases(void) {
    for (int trial = 0; trial<60; trial += ranks> 3 ? 2 : 1) {
        char where[80];
        const int spread = trial % SPREADS, lay = trial / SPREADS % LAYS;
        const tutti_replicas_choice c = {.rule = (tutti_replicas_rule)(trial % 7 % 5),
                                         .seed = (uint64_t)trial,
                                         .balance = trial % 3 ? 0 : 1 + (double)rnd(30) / 100};
        tutti_replicas *r = NULL;
        held_random(&h, trial % 11 == 10 ? (int)rnd(ranks + 1) : (int)rnd(HELD_ITEMS), spread, lay,
                    trial % 4 ? 4 : 0);
        held_mine(&h, 1 + rnd(9), trial % 2, trial % 5 == 0, &m);
        m.spec.choice = c;
        if (trial % 4 == 0) {
            m.spec.loads = NULL;
            m.spec.load = 1;
        }
        snprintf(where, sizeof where, "trial %d: spread %d, lay %d, rule %s", trial, spread, lay,
                 tutti_replicas_rule_name(c.rule));
        check_where(where);
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
        if (r) compare_values(r, &c);
        tutti_replicas_free(&r);
        CHECK(r == NULL, "freed");
    }
}

/* Only rules that need owners refuse a spec without owners. */
static void no_owners(void) {
    check_where("no owners");
    for (int rule = 0; rule < 5; rule++) {
        tutti_replicas *r = NULL;
        const tutti_replicas_choice c = {.rule = (tutti_replicas_rule)rule};
        const int needs = rule == TUTTI_REPLICAS_IDG || rule == TUTTI_REPLICAS_OWN;
        held_random(&h, 100, SPREAD, GAPS, 3);
        held_mine(&h, 8, 1, 0, &m);
        m.spec.choice = c;
        m.spec.own = NULL;
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r),
                   needs ? TUTTI_ERR_ARG : TUTTI_OK);
        if (needs)
            CHECK(strstr(tutti_last_message(), "needs owners"), "%s", tutti_last_message());
        else if (r)
            compare_values(r, &c);
        tutti_replicas_free(&r);
    }
}

/* If numbers cluster, and items are on one rank, on all ranks or on half of the ranks, each rank still
 * processes about its share of the list entries. */
static void test_ranges(void) {
    enum { N = 20000 };
    static int64_t number[N];
    for (int kind = 0; kind < 3; kind++) {
        tutti_replicas *r = NULL;
        tutti_replicas_spec spec = {.numbers = number, .load = 1, .value_bytes = 1};
        for (int i = 0; i < N; i++) {
            const int holds = kind == 0 ? rank == 0 : kind == 1 ? 1 : (i + rank) % 2;
            if (holds) number[spec.n++] = i < N / 2 ? i : ((int64_t)1 << 50) + (int64_t)i * i * i;
        }
        check_where(kind == 0 ? "on one" : kind == 1 ? "everywhere" : "on half");
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), TUTTI_OK);
        const tutti_off all = sum_all(spec.n);
        if (r)
            CHECK(r->directory.m <= all / ranks * 5 / 4 + ranks, "%lld of %lld mentions",
                  (long long)r->directory.m, (long long)all);
        tutti_replicas_free(&r);
    }
}

/* Test a communicator of some ranks that is freed before the inspector; MPI_COMM_NULL is
 * refused. */
static void test_communicators(void) {
    MPI_Comm part;
    tutti_replicas *r = NULL;
    const int64_t number[] = {3, 1};
    const tutti_replicas_spec spec = {.n = 2, .numbers = number, .load = 1, .value_bytes = 4};
    check_where("communicators");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    CHECK_OK(tutti_replicas_create(part, &spec, &r));
    MPI_Comm_free(&part);
    CHECK(r && tutti_replicas_positions(r)[0] == 4, "number 3 comes behind 1");
    tutti_replicas_free(&r);
    CHECK_ERR(tutti_replicas_create(MPI_COMM_NULL, &spec, &r), TUTTI_ERR_ARG);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1101);
    test_cases();
    no_owners();
    test_ranges();
    test_communicators();
    return harness_end();
}
