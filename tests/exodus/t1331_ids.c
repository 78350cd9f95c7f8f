/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Assignment of file positions to the numbers (ids) of all ranks: classes, copies, weights, ranks without items;
 * compared with a model in which every rank has all data; and invalid input.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "exodus_mesh/id_order.h"

static tutti__team *team;
static tutti__entity_class o;

enum { MOST = 400, CLASSES = 7 };

/* The model: all items, sorted by number; the same on all ranks. */
static int64_t number_of[MOST];
static int class_of[MOST];
static tutti_count weight_of[MOST];
static uint64_t holders[MOST]; /* bit r: rank r has the item */
static int items;

/* The items of this rank. */
static int64_t number[MOST];
static tutti_count weight[MOST], start[CLASSES + 1];
static uint64_t check[MOST];
static int64_t blocks[CLASSES] = {10, 20};
static int item[MOST];

static void world_random(int classes) {
    int64_t at = rnd(5);
    items = (int)rnd(rnd(4) ? MOST : 8);
    for (int i = 0; i < items; i++) {
        at += 1 + (rnd(3) ? 0 : rnd(1000000007));
        number_of[i] = at;
        class_of[i] = (int)rnd(classes);
        weight_of[i] = rnd(5);
        holders[i] = 1u << rnd(ranks);
        while (rnd(3) == 0) holders[i] |= 1u << rnd(ranks);
        if (ranks > 2 && rnd(2)) holders[i] &= ~(uint64_t)2; /* rank 1 has fewer items */
        if (!holders[i]) holders[i] = 1;
    }
}

static uint64_t check_of(const void *context, tutti_count i) {
    (void)context;
    return check[i];
}

static int64_t block_of(const void *context, tutti_count c) {
    (void)context;
    return blocks[c];
}

/* Create the arguments of tutti__ids_order(), with copies of `start` and `weights` in the global `o`. */
static tutti__ids ids_make(int classes, const int64_t *numbers, const tutti_count *weights) {
    const size_t n = (size_t)start[classes];
    o = (tutti__entity_class){.entities = classes};
    o.start = tutti__malloc(((size_t)classes + 1) * sizeof *o.start);
    memcpy(o.start, start, ((size_t)classes + 1) * sizeof *o.start);
    if (weights) o.weight = tutti__malloc((n + 1) * sizeof *o.weight);
    if (weights) memcpy(o.weight, weights, n * sizeof *o.weight);
    return (tutti__ids){.class = &o,
                        .what = "element",
                        .number = numbers,
                        .check = check_of,
                        .checked = "nodes",
                        .entity_id = block_of};
}

/* Assign positions to the items; all ranks return the same error. */
static tutti_err order_make(const tutti__ids *ids) {
    static const tutti_replicas_choice first = {.rule = TUTTI_REPLICAS_FIRST};
    tutti__ids_round round;
    CHECK_OK(tutti__ids_round_make(team, o.entities, 0, &round));
    tutti_err err = tutti__ids_order(team, &round, &first, 1, ids, TUTTI_OK);
    err = tutti__team_agree(team, err);
    tutti__ids_round_free(&round);
    return err;
}

/* Fill the arrays of this rank's items, class by class, in a rank-dependent order; return their number. */
static int local_items_make(int classes, tutti__ids *s) {
    int n = 0;
    for (int c = 0; c < classes; c++) {
        start[c] = n;
        for (int i = 0; i < items; i++)
            if (class_of[i] == c && holders[i] >> rank & 1) item[n++] = i;
        for (int i = n - 1; i > start[c]; i--) {
            const int j = (int)(start[c] + (int)(mix((uint64_t)i, (uint64_t)rank) %
                                                 (uint64_t)(i - start[c] + 1)));
            const int keep = item[i];
            item[i] = item[j];
            item[j] = keep;
        }
    }
    start[classes] = n;
    for (int k = 0; k < n; k++) {
        number[k] = number_of[item[k]];
        weight[k] = weight_of[item[k]];
        check[k] = (uint64_t)number[k] * 0x9e3779b97f4a7c15u;
    }
    *s = ids_make(classes, n > 0 ? number : NULL, weight);
    return n;
}

static void run_trial(void) {
    const int classes = 1 + (int)rnd(CLASSES);
    tutti__ids s;
    tutti_count count[CLASSES] = {0}, weights[CLASSES] = {0};
    world_random(classes);
    const int n = local_items_make(classes, &s);
    CHECK_OK(same_everywhere(order_make(&s)));
    static tutti_count position[MOST], at[MOST];
    for (int i = 0; i < items; i++) {
        position[i] = count[class_of[i]]++;
        at[i] = weights[class_of[i]];
        weights[class_of[i]] += weight_of[i];
    }
    for (int k = 0; k < n; k++) {
        CHECK_EQ(o.position[k], o.before[class_of[item[k]]] + position[item[k]]);
        CHECK_EQ(o.at[k], at[item[k]]);
        CHECK_EQ(o.first[k], (holders[item[k]] & ((1u << rank) - 1)) == 0);
        CHECK_EQ(o.writes[k], o.first[k]);
        CHECK_EQ(o.sorted[k].number, o.position[o.sorted[k].index]);
        CHECK(k == 0 || o.sorted[k - 1].number < o.sorted[k].number, "not sorted");
    }
    for (int c = 0; c < classes; c++) {
        CHECK_EQ(o.count[c], count[c]);
        CHECK_EQ(o.weights[c], weights[c]);
        CHECK_EQ(o.before[c + 1], o.before[c] + count[c]);
    }
    tutti__entity_class_free(&o);
}

/* Items without numbers get positions in rank order. */
static void in_rank_order(void) {
    const tutti_count n[2] = {rank % 3, 4 - rank % 2};
    tutti_count before[2] = {0, 0};
    start[0] = 0;
    start[1] = n[0];
    start[2] = n[0] + n[1];
    const tutti__ids s = ids_make(2, NULL, NULL);
    for (int r = 0; r < rank; r++) {
        before[0] += r % 3;
        before[1] += 4 - r % 2;
    }
    CHECK_OK(same_everywhere(order_make(&s)));
    CHECK(o.plain && o.largest == 0, "no ids");
    for (int c = 0; c < 2; c++)
        for (tutti_count i = 0; i < n[c]; i++)
            CHECK_EQ(o.position[start[c] + i], o.before[c] + before[c] + i);
    tutti__entity_class_free(&o);
}

static void check_refused(tutti_err code, const char *words, const int64_t *numbers) {
    const tutti__ids s = ids_make(2, numbers, NULL);
    CHECK_SAME(order_make(&s), code);
    tutti__entity_class_free(&o);
    CHECK(strstr(tutti_last_message(), words), "'%s' is not in: %s", words, tutti_last_message());
}

static void test_refusals(void) {
    const int last = ranks - 1;
    for (int i = 0; i < 4; i++) number[i] = 100 * rank + i, check[i] = 1;
    start[0] = 0, start[1] = 2, start[2] = 4;
    if (rank == last) number[3] = number[0];
    check_refused(TUTTI_ERR_ARG, "(entries 0 and 3 on this rank)", number);
    if (ranks == 1) return;
    for (int i = 0; i < 4; i++) number[i] = 100 * rank + i;
    if (rank == last) number[3] = 0;
    check_refused(TUTTI_ERR_ARG, "element id 0 is in block 10 of rank 0 and in block 20 of rank",
                  number);
    if (rank == last) number[3] = 3, check[3] = 2;
    check_refused(TUTTI_ERR_MISMATCH, "element id 3: nodes differ between ranks", number);
    check_refused(TUTTI_ERR_MISMATCH, "element ids are given on some ranks only",
                  rank == last ? NULL : number);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1331);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &team));
    const account before = account_now();
    for (int k = 0; k < (ranks < 5 ? 40 : 12); k++) run_trial();
    in_rank_order();
    test_refusals();
    account_check(before);
    tutti__team_give(&team);
    MPI_Finalize();
    return check_done();
}
