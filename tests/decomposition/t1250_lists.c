/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Lists of entries by index, by value and by both, in any order, on several ranks, with holes:
 * positions, writers and bytes are those of a serial model.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"

static char path[512];
static held h;
static mine_of m;
static tutti_count position[HELD_ITEMS], memory[HELD_ITEMS];
static int64_t ids[HELD_ITEMS];
static unsigned char writes[HELD_ITEMS];
static int writer_of[HELD_ITEMS], writer_at[HELD_ITEMS * 1001];

static const tutti_decomposition_kind kinds[] = {TUTTI_BY_INDEX, TUTTI_BY_VALUE, TUTTI_BY_BOTH};

/* Positions of entries in memory: consecutive; or scattered, in another order, some before `buf`;
 * or in the order of the space, regardless of their order in the list. */
enum { AS_LISTED, SCATTERED, AS_THE_SPACE, MEMORIES };
static void memory_random(tutti_count n, int how) {
    const int given = how == SCATTERED;
    const tutti_count step = n % 7 == 0 ? 5 : 7; /* prime to n */
    for (tutti_count i = 0; i < n; i++)
        memory[i] = given && n % 35 != 0 ? 3 * ((i * step + rank) % n) - n : given ? -2 * i : i;
    for (tutti_count i = 0; i < n && how == AS_THE_SPACE; i++) memory[i] = position[i];
}

/* Return the lowest position that no rank has. */
static tutti_count first_missing(tutti_count entries) {
    for (int i = 0; i < h.n; i++)
        if (h.number[i] != i) return i;
    return h.n < entries ? h.n : -1;
}

static void run_trial(int k) {
    char where[200];
    id_map map = id_map_random();
    const int lay = (int)rnd(2) ? DENSE : GAPS, spread = (int)rnd(SPREADS), with_own = (int)rnd(2);
    const int with_memory = (int)rnd(MEMORIES), with_map = rnd(4) > 0, whole = rnd(3) == 0;
    const tutti_decomposition_kind kind = kinds[rnd(3)];
    tutti_replicas_choice choice = {.rule = (tutti_replicas_rule)rnd(5), .seed = rnd64()};
    if (!with_own && (choice.rule == TUTTI_REPLICAS_IDG || choice.rule == TUTTI_REPLICAS_OWN))
        choice.rule = TUTTI_REPLICAS_IDG2;
    if (rnd(4) == 0) choice.balance = 1.2;
    held_random(&h, 1 + (int)rnd(90), spread, lay, 0);
    held_mine(&h, 1, rnd(3) > 0, 0, &m);
    const tutti_count n = m.spec.n, behind = rnd(2) ? 0 : rnd(30);
    const tutti_count entries = h.number[h.n - 1] + 1 + behind;
    const tutti__decomposed space = list_of(entries, with_map ? &map : NULL);
    for (tutti_count i = 0; i < n; i++) {
        position[i] = m.number[i];
        ids[i] = with_map ? id_at(&map, position[i]) : position[i];
    }
    memory_random(n, with_memory);
    snprintf(where, sizeof where, "trial %d: kind %d, %s, %d of %lld entries, rule %s%s%s", k, kind,
             lay == DENSE ? "dense" : "gaps", h.n, (long long)entries,
             tutti_replicas_rule_name(choice.rule), with_own ? ", owners" : "",
             with_map ? ", ids" : "");
    check_where(where);
    const tutti_decomposition_spec spec = {.kind = kind,
                                           .n = n,
                                           .index = kind != TUTTI_BY_VALUE ? position : NULL,
                                           .ids = kind != TUTTI_BY_INDEX ? ids : NULL,
                                           .own = with_own ? m.own : NULL,
                                           .memory = with_memory ? memory : NULL,
                                           .whole = whole,
                                           .choice = choice};
    const tutti_count missing = first_missing(entries);
    if (whole && missing >= 0) {
        char words[120];
        snprintf(words, sizeof words, "no rank holds position %lld; %d of the space's %lld",
                 (long long)missing, h.n, (long long)entries);
        check_refused(&space, &spec, TUTTI_ERR_MISMATCH, words);
        return;
    }
    tutti_decomposition *p = NULL;
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    if (!p) return;
    tutti_replicas_lists lists = held_lists(&h, 1);
    CHECK_OK(tutti_replicas_choose(&lists, &choice, writer_of, NULL, NULL));
    for (tutti_count i = 0; i < entries; i++) writer_at[i] = -1;
    for (int i = 0; i < h.n; i++) writer_at[h.number[i]] = writer_of[i];
    for (tutti_count i = 0; i < n; i++) writes[i] = writer_at[position[i]] == rank;
    const ought o = {n, entries, position, memory, writes, missing < 0};
    lists_are(p, &o);
    if (k % 2 == 0) check_transfers(path, p, &o, 1 + rnd(9), writer_at);
    tutti_decomposition_free(&p);
    CHECK(p == NULL, "freed");
}

/* Regular lists of entries become compact accesses, regardless of which rank lists them. */
static void test_compact(void) {
    enum { EACH = 5000 };
    static tutti_count index[EACH];
    const tutti__decomposed space = list_of((tutti_count)EACH * ranks, NULL);
    tutti_decomposition *p = NULL;
    const tutti_access *a = NULL;
    check_where("compact");
    for (int i = 0; i < EACH; i++) index[i] = (tutti_count)EACH * rank + i;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = EACH, .index = index, .whole = 1};
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    CHECK_EQ(p->held.n, 1);
    CHECK_OK(tutti__decomposition_access(p, 8, 1, &a));
    CHECK(tutti_access_size(a) < 1000, "%zu bytes", tutti_access_size(a));
    tutti_decomposition_free(&p);
}

/* Test lists in a space larger than any memory: memory use depends neither on the size of the space
 * nor on the entries of other ranks. */
static void test_sparse(void) {
    enum { EACH = 2000 };
    static tutti_count index[EACH];
    const tutti_count entries = (tutti_count)1 << 50;
    const tutti__decomposed space = list_of(entries, NULL);
    tutti_decomposition *p = NULL;
    const tutti_access *a = NULL;
    check_where("sparse");
    for (int i = 0; i < EACH; i++) index[i] = entries - 1 - i * ((tutti_count)1 << 39);
    tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_VALUE, .n = rank == 0 ? EACH : 0, .ids = index};
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    CHECK_EQ(tutti_decomposition_entries(p), spec.n);
    CHECK_EQ(p->held.n, spec.n);
    CHECK_OK(tutti__decomposition_access(p, 8, 0, &a));
    CHECK_EQ(tutti_access_bytes(a), 8 * spec.n);
    CHECK_ERR(tutti__decomposition_access(p, 1 << 20, 0, &a),
              rank == 0 ? TUTTI_ERR_OVERFLOW : TUTTI_OK);
    CHECK_ERR(tutti__decomposition_access(p, 0, 0, &a), TUTTI_ERR_ARG);
    tutti_decomposition_free(&p);
    spec = (tutti_decomposition_spec){
        .kind = TUTTI_BY_INDEX, .n = rank == 0 ? EACH : 0, .index = index, .whole = 1};
    check_refused(&space, &spec, TUTTI_ERR_MISMATCH,
                  "no rank holds position 0; 2000 of the space's");
}

int main(int argc, char **argv) {
    decomposed_begin(&argc, &argv, 1250);
    snprintf(path, sizeof path, "%s/t1250.dat", check_dir());
    for (int k = 0; k < (ranks > 3 ? 16 : 50); k++) run_trial(k);
    test_compact();
    test_sparse();
    file_remove(path);
    return decomposed_end();
}
