/* TEST ranks=0 timeout=60 */
/* Choice of writers in one process: the mesh of 8 nodes of the paper (Tables 1 and 2); every rule is
 * compared with a simple implementation of its definition, and idg2 with the minimum number of intervals
 * by exhaustive search; the result is independent of the division of items into ranges; balance limits;
 * invalid lists.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "decomposition/rules.h"

enum { ITEMS = 64, PARTS = 12 };

/* Lists of the holders of each item, the owner first. */
typedef struct {
    int n, parts;
    int64_t number[ITEMS];
    tutti_count start[ITEMS + 1], load[ITEMS];
    int holder[ITEMS * PARTS];
} lists;

static tutti_replicas_lists lists_of(const lists *l) {
    return (tutti_replicas_lists){.n = l->n,
                                  .parts = l->parts,
                                  .start = l->start,
                                  .holders = l->holder,
                                  .numbers = l->number,
                                  .loads = l->load,
                                  .value_bytes = 8};
}

static int check_holds(const lists *l, int i, int part) {
    for (tutti_count k = l->start[i]; k < l->start[i + 1]; k++)
        if (l->holder[k] == part) return 1;
    return 0;
}

/* Make random lists: about one of `local` items has a single holder, one of `idle` no load (0: none). */
static void lists_random(lists *l, int n, int parts, int local, int idle) {
    l->n = n;
    l->parts = parts;
    int64_t number = 0;
    tutti_count at = 0;
    for (int i = 0; i < n; i++) {
        int many = local > 0 && rnd(local) == 0 ? 1 : 1 + (int)rnd(parts);
        l->start[i] = at;
        l->number[i] = number += 1 + rnd(3);
        l->load[i] = idle > 0 && rnd(idle) == 0 ? 0 : 1 + rnd(4);
        while (l->start[i] + many > at) {
            const int part = (int)rnd(parts);
            l->start[i + 1] = at; /* check_holds uses this value */
            if (!check_holds(l, i, part)) l->holder[at++] = part;
        }
        l->start[i + 1] = at;
    }
}

static int runs_of(const lists *l, const int *writer) {
    int last = -1, runs = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->load[i] == 0) continue;
        runs += writer[i] != last;
        last = writer[i];
    }
    return runs;
}

/* ---- the example of the paper */

static void test_paper(void) {
    static const int neighbours[][5] = {{1, 3, -1},    {0, 4, 7, -1},   {4, 5, 6, 7, -1},
                                        {0, 5, 7, -1}, {1, 2, 6, -1},   {2, 3, 7, -1},
                                        {2, 4, -1},    {1, 2, 3, 5, -1}};
    static const int metis[] = {0, 0, 1, 0, 1, 0, 1, 0};
    static const char *const table1[] = {"0", "0 1", "1 0", "0", "1 0", "0 1", "1", "0 1"};
    static const int table2[] = {0, 0, 0, 0, 0, 0, 1, 1};
    lists l = {.n = 8, .parts = 2};
    int writer[8];
    tutti_replicas_stats stats;
    for (int i = 0; i < 8; i++) { /* compare the classes of nodes with Figure 4 of the paper */
        tutti_count at = l.start[i];
        char text[16] = "";
        l.holder[at++] = metis[i];
        for (const int *k = neighbours[i]; *k >= 0; k++) {
            l.start[i + 1] = at;
            if (!check_holds(&l, i, metis[*k])) l.holder[at++] = metis[*k];
        }
        l.start[i + 1] = at;
        l.number[i] = i;
        l.load[i] = 1;
        for (tutti_count k = l.start[i]; k < at; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), k > l.start[i] ? " %d" : "%d",
                     l.holder[k]);
        CHECK(!strcmp(text, table1[i]), "node %d: partition list %s", i, text);
    }
    const tutti_replicas_lists in = lists_of(&l);
    const tutti_replicas_choice idg = {.rule = TUTTI_REPLICAS_IDG};
    CHECK_OK(tutti_replicas_choose(&in, &idg, writer, NULL, &stats));
    for (int i = 0; i < 8; i++) CHECK(writer[i] == table2[i], "node %d: %d", i, writer[i]);
    CHECK_EQ(stats.intervals, 2);
    CHECK_EQ(stats.shared, 5);
    CHECK_EQ(stats.copies, 13);
    CHECK(stats.replication == 62.5, "%g", stats.replication);
    CHECK(stats.mean_interval == 4 && stats.mean_of_means == 4, "%g", stats.mean_of_means);
    /* (6 items - 2 items) / mean of 4 */
    CHECK(stats.balance_items == 1, "%g", stats.balance_items);
    const tutti_replicas_choice own = {.rule = TUTTI_REPLICAS_OWN};
    CHECK_OK(tutti_replicas_choose(&in, &own, writer, NULL, &stats));
    for (int i = 0; i < 8; i++) CHECK_EQ(writer[i], metis[i]);
    CHECK_EQ(stats.intervals, 7);
    CHECK(stats.balance_items == 0.5, "%g", stats.balance_items);
}

/* ---- definitions of the rules */

/* Return the next item with a load from item i on in steps of `by`, or -1. */
static int loaded(const lists *l, int i, int by) {
    while (i >= 0 && i < l->n && l->load[i] == 0) i += by;
    return i >= 0 && i < l->n ? i : -1;
}

static void plain_idg(const lists *l, int *writer) {
    for (int i = 0; i < l->n; i++) {
        const int before = loaded(l, i - 1, -1), behind = loaded(l, i + 1, 1);
        writer[i] = l->load[i] == 0 ? -1 : l->holder[l->start[i]];
        if (l->load[i] == 0) continue;
        if (before >= 0 && check_holds(l, i, writer[before]))
            writer[i] = writer[before];
        else if (behind >= 0 && check_holds(l, i, l->holder[l->start[behind]]))
            writer[i] = l->holder[l->start[behind]];
    }
}

/* Return the minimum number of runs of items from i on over all choices of writers; `last` is the writer of
 * item i - 1. */
static int fewest(const lists *l, int i, int last) {
    int best = ITEMS + 1;
    if (i == l->n) return 0;
    if (l->load[i] == 0) return fewest(l, i + 1, last);
    for (tutti_count k = l->start[i]; k < l->start[i + 1]; k++) {
        const int part = l->holder[k], runs = (part != last) + fewest(l, i + 1, part);
        if (runs < best) best = runs;
    }
    return best;
}

static void test_definitions(void) {
    int writer[TUTTI_REPLICAS_RANDOM + 1][ITEMS], plain[ITEMS], again[ITEMS], runs[5];
    lists l;
    for (int trial = 0; trial < 4000; trial++) {
        const int small = trial < 3000;
        lists_random(&l, small ? 1 + (int)rnd(7) : (int)rnd(ITEMS), 1 + (int)rnd(small ? 4 : PARTS),
                     (int)rnd(4), (int)rnd(2) * 5);
        const tutti_replicas_lists in = lists_of(&l);
        for (int rule = 0; rule < 5; rule++) {
            const tutti_replicas_choice c = {.rule = (tutti_replicas_rule)rule, .seed = 7};
            tutti_replicas_stats stats;
            tutti_replicas_share shares[PARTS];
            tutti_count items = 0;
            CHECK_OK(tutti_replicas_choose(&in, &c, writer[rule], shares, &stats));
            for (int i = 0; i < l.n; i++)
                CHECK(l.load[i] == 0 ? writer[rule][i] == -1 : check_holds(&l, i, writer[rule][i]),
                      "rule %d gives item %d to %d", rule, i, writer[rule][i]);
            runs[rule] = runs_of(&l, writer[rule]);
            CHECK_EQ(stats.intervals, runs[rule]);
            for (int k = 0; k < l.parts; k++) items += shares[k].items;
            CHECK_EQ(stats.items, items);
        }
        if (small)
            CHECK(runs[TUTTI_REPLICAS_IDG2] == fewest(&l, 0, -1), "trial %d: %d runs, not %d",
                  trial, runs[TUTTI_REPLICAS_IDG2], fewest(&l, 0, -1));
        CHECK(runs[TUTTI_REPLICAS_IDG2] <= runs[TUTTI_REPLICAS_IDG], "trial %d", trial);
        plain_idg(&l, plain);
        CHECK(!memcmp(plain, writer[TUTTI_REPLICAS_IDG], (size_t)l.n * sizeof *plain), "idg, %d",
              trial);
        for (int i = 0; i < l.n; i++) {
            int low = PARTS;
            if (l.load[i] == 0) continue;
            for (int k = l.parts - 1; k >= 0; k--) low = check_holds(&l, i, k) ? k : low;
            CHECK_EQ(writer[TUTTI_REPLICAS_FIRST][i], low);
            CHECK_EQ(writer[TUTTI_REPLICAS_OWN][i], l.holder[l.start[i]]);
        }
        /* lists contain the holders of an item in any order */
        for (int i = 0; i < l.n; i++)
            for (tutti_count k = l.start[i] + 1; k + 1 < l.start[i + 1]; k++) {
                const int keep = l.holder[k];
                l.holder[k] = l.holder[k + 1];
                l.holder[k + 1] = keep;
            }
        const tutti_replicas_choice c = {.rule = TUTTI_REPLICAS_RANDOM, .seed = 7};
        CHECK_OK(tutti_replicas_choose(&in, &c, again, NULL, NULL));
        CHECK(!memcmp(again, writer[TUTTI_REPLICAS_RANDOM], (size_t)l.n * sizeof *again), "random");
    }
}

/* The rule random selects all holders about equally often, and depends on the seed. */
static void random_is_even(void) {
    enum { N = 20000 };
    static tutti_count start[N + 1];
    static int holder[4 * N], writer[N], other[N];
    tutti_replicas_share shares[4];
    for (int i = 0; i < N; i++) {
        start[i + 1] = start[i] + 4;
        for (int k = 0; k < 4; k++) holder[start[i] + k] = k;
    }
    const tutti_replicas_lists in = {
        .n = N, .parts = 4, .start = start, .holders = holder, .load = 1, .value_bytes = 1};
    tutti_replicas_choice c = {.rule = TUTTI_REPLICAS_RANDOM, .seed = 1};
    int same = 0;
    CHECK_OK(tutti_replicas_choose(&in, &c, writer, shares, NULL));
    for (int k = 0; k < 4; k++)
        CHECK(shares[k].items > N / 4 - 300 && shares[k].items < N / 4 + 300, "%lld",
              (long long)shares[k].items);
    c.seed = 2;
    CHECK_OK(tutti_replicas_choose(&in, &c, other, NULL, NULL));
    for (int i = 0; i < N; i++) same += writer[i] == other[i];
    CHECK(same > N / 4 - 300 && same < N / 4 + 300, "%d", same);
}

/* ---- ranges of items */

/* A rule that is applied to consecutive ranges of items, with the state after the previous range, gives the
 * result for all items. */
static void test_cuts(void) {
    lists l;
    for (int trial = 0; trial < 2000; trial++) {
        int whole[ITEMS], writer[ITEMS + 1], owner[ITEMS], sorted[ITEMS * PARTS], buffer[PARTS];
        tutti_off bytes[ITEMS];
        lists_random(&l, 1 + (int)rnd(ITEMS), 1 + (int)rnd(PARTS), (int)rnd(6), 0);
        const tutti_replicas_lists in = lists_of(&l);
        const tutti_replicas_choice c = {.rule = (tutti_replicas_rule)rnd(5), .seed = 3};
        CHECK_OK(tutti_replicas_choose(&in, &c, whole, NULL, NULL));
        for (int i = 0; i < l.n; i++) {
            tutti_count at = l.start[i];
            owner[i] = l.holder[at];
            bytes[i] = 1;
            for (int k = 0; k < l.parts; k++)
                if (check_holds(&l, i, k)) sorted[at++] = k;
        }
        const tutti__items all = {l.n, l.number, bytes, l.start, sorted, owner, -1};
        tutti__carry carry = {0, buffer, TUTTI__AS_NEXT};
        for (int from = 0, to; from < l.n; from = to) {
            to = from + 1 + (int)rnd(l.n - from);
            const tutti__items part = tutti__items_part(&all, from, to);
            carry.before = TUTTI__AS_NEXT;
            /* at a local item the rule can start with a new state */
            if (from > 0 && tutti__items_local(&all, from) && rnd(2)) {
                int forgotten[PARTS];
                tutti__carry fresh = {0, forgotten, TUTTI__AS_NEXT}, known = carry;
                const tutti__items one = tutti__items_part(&all, from, from + 1);
                tutti__rule_of(c.rule)->fn(&c, &one, &known, &writer[from]);
                tutti__rule_of(c.rule)->fn(&c, &part, &fresh, &writer[from]);
                carry.before = known.before;
                carry.n = fresh.n;
                memcpy(buffer, forgotten, sizeof buffer);
            } else {
                tutti__rule_of(c.rule)->fn(&c, &part, &carry, &writer[from]);
            }
            if (from > 0 && carry.before != TUTTI__AS_NEXT) writer[from - 1] = carry.before;
        }
        tutti__writers_fill(l.n, writer, carry.n > 0 ? buffer[0] : -1);
        CHECK(!memcmp(writer, whole, (size_t)l.n * sizeof *whole), "rule %d, trial %d", c.rule,
              trial);
    }
}

/* ---- balance limits */

static void test_balance(void) {
    lists l;
    int writer[ITEMS];
    tutti_replicas_stats stats;
    tutti_replicas_choice c = {.rule = TUTTI_REPLICAS_IDG2, .balance = 1};
    /* all ranks hold all items: one writer is the minimum, and the limit requires one run per rank */
    l.n = 60;
    l.parts = 6;
    for (int i = 0; i < l.n; i++) {
        l.start[i + 1] = 6 * (i + 1);
        l.load[i] = 1;
        l.number[i] = i;
        for (int k = 0; k < 6; k++) l.holder[6 * i + k] = k;
    }
    l.start[0] = 0;
    const tutti_replicas_lists in = lists_of(&l);
    CHECK_OK(tutti_replicas_choose(&in, &c, writer, NULL, &stats));
    CHECK_EQ(stats.rule_intervals, 1);
    CHECK_EQ(stats.rule_max_bytes, 480);
    CHECK_EQ(stats.intervals, 6);
    CHECK_EQ(stats.max_bytes, 80);
    CHECK_EQ(stats.min_bytes, 80);
    CHECK(stats.balanced && stats.balance_bytes == 0, "%g", stats.balance_bytes);
    /* the heuristic never increases the largest share, and its statistics are correct */
    int reached = 0, trials = 0;
    for (; trials < 1000; trials++) {
        tutti_replicas_stats bare;
        lists_random(&l, 40 + (int)rnd(ITEMS - 40), 2 + (int)rnd(5), 1 + (int)rnd(8), 0);
        const tutti_replicas_lists some = lists_of(&l);
        c.rule = (tutti_replicas_rule)rnd(5);
        c.balance = 0;
        CHECK_OK(tutti_replicas_choose(&some, &c, writer, NULL, &bare));
        CHECK(bare.balanced && bare.intervals == bare.rule_intervals, "without a limit");
        c.balance = 1 + (double)rnd(100) / 100;
        CHECK_OK(tutti_replicas_choose(&some, &c, writer, NULL, &stats));
        for (int i = 0; i < l.n; i++) CHECK(check_holds(&l, i, writer[i]), "item %d", i);
        CHECK_EQ(stats.rule_intervals, bare.intervals);
        CHECK_EQ(stats.rule_max_bytes, bare.max_bytes);
        CHECK_EQ(stats.intervals, runs_of(&l, writer));
        CHECK(stats.max_bytes <= bare.max_bytes, "%lld after %lld", (long long)stats.max_bytes,
              (long long)bare.max_bytes);
        CHECK_EQ(stats.balanced,
                 (double)stats.max_bytes <= c.balance * (double)stats.bytes / l.parts + 1);
        reached += stats.balanced;
    }
    CHECK(reached > trials * 9 / 10, "a limit was reached in %d of %d cases", reached, trials);
}

/* ---- invalid calls */

static void test_refused(void) {
    const tutti_count start[] = {0, 2, 3}, none[] = {0, 2, 2};
    const int good[] = {1, 0, 1}, twice[] = {1, 1, 0}, outside[] = {0, 2, 1};
    const int64_t falling[] = {5, 4};
    const tutti_count loads[] = {1, -1};
    const tutti_replicas_choice fine = {0};
    int writer[2] = {9, 9};
    const tutti_replicas_lists base = {
        .n = 2, .parts = 2, .start = start, .holders = good, .load = 1, .value_bytes = 8};
    tutti_replicas_lists l = base;
    CHECK_OK(tutti_replicas_choose(&l, &fine, writer, NULL, NULL));
#define REFUSED(field, value) \
    l = base;                 \
    l.field = value;          \
    CHECK_ERR(tutti_replicas_choose(&l, &fine, writer, NULL, NULL), TUTTI_ERR_ARG)
    REFUSED(start, none);
    REFUSED(holders, twice);
    REFUSED(holders, outside);
    REFUSED(holders, NULL);
    REFUSED(numbers, falling);
    REFUSED(loads, loads);
    REFUSED(n, -1);
    REFUSED(parts, 0);
    REFUSED(value_bytes, 0);
    REFUSED(reserved[3], 1);
    l = base;
    l.load = INT64_MAX / 2;
    CHECK_ERR(tutti_replicas_choose(&l, &fine, writer, NULL, NULL), TUTTI_ERR_OVERFLOW);
    const tutti_replicas_choice bad[] = {{.rule = (tutti_replicas_rule)5},
                                         {.rule = (tutti_replicas_rule)-1},
                                         {.balance = 0.5},
                                         {.balance = -1},
                                         {.reserved = {1}}};
    for (int i = 0; i < 5; i++)
        CHECK_ERR(tutti_replicas_choose(&base, &bad[i], writer, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_replicas_choose(NULL, &fine, writer, NULL, NULL), TUTTI_ERR_ARG);
    l = (tutti_replicas_lists){.parts = 3, .value_bytes = 1};
    tutti_replicas_stats stats;
    CHECK_OK(tutti_replicas_choose(&l, &fine, NULL, NULL, &stats));
    CHECK(stats.intervals == 0 && stats.mean_interval == 0 && stats.balanced, "nothing at all");
}

static void test_names(void) {
    for (int i = 0; i < 5; i++) {
        tutti_replicas_rule rule = TUTTI_REPLICAS_IDG2;
        CHECK_OK(
            tutti_replicas_rule_parse(tutti_replicas_rule_name((tutti_replicas_rule)i), &rule));
        CHECK_EQ(rule, i);
    }
    tutti_replicas_rule rule;
    CHECK_ERR(tutti_replicas_rule_parse("idg3", &rule), TUTTI_ERR_ARG);
    CHECK(!strcmp(tutti_replicas_rule_name((tutti_replicas_rule)99), ""), "no name");
}

/* Structs of other sizes, as in other versions: common fields are set, others are 0. */
static void test_sizes(void) {
    const tutti_replicas_lists l = {.parts = 2, .value_bytes = 1};
    const tutti_replicas_choice c = {0};
    char buffer[sizeof(tutti_replicas_stats) + 16];
    memset(buffer, 1, sizeof buffer);
    CHECK_OK(tutti_replicas_choose_sized(&l, &c, NULL, NULL, (tutti_replicas_stats *)buffer, 4));
    CHECK(buffer[0] == 2 && buffer[4] == 1, "%d %d", buffer[0], buffer[4]);
    CHECK_OK(tutti_replicas_choose_sized(&l, &c, NULL, NULL, (tutti_replicas_stats *)buffer,
                                         sizeof buffer));
    CHECK(buffer[sizeof buffer - 1] == 0, "%d", buffer[sizeof buffer - 1]);
}

int main(void) {
    check_seed(1100);
    test_paper();
    test_definitions();
    test_cuts();
    random_is_even();
    test_balance();
    test_refused();
    test_names();
    test_sizes();
    return check_done();
}
