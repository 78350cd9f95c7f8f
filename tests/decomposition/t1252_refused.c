/* TEST ranks=1,2,3,5,8 timeout=120 */
/* An error in the spec of one rank, in the specs of two ranks together, or in the id map is reported on all ranks
 * with the same message, which names rank and entry; ranks in different calls or with different
 * arguments are detected; memory may run out anywhere; stale handles.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"

/* Every rank has EACH positions after those of the previous rank, and a copy of the first position
 * of the next rank; ids agree with the map. */
enum { EACH = 10 };
static id_map map = {.times = 7919, .plus = 5, .twice = -1, .negative = -1};
static tutti_count position[EACH + 1], memory[EACH + 1];
static int64_t ids[EACH + 1];
static unsigned char own[EACH + 1];

static int last(void) {
    return rank == ranks - 1;
}

static tutti__decomposed nodes(void) {
    return list_of((tutti_count)EACH * ranks, &map);
}

static tutti_decomposition_spec fine(tutti_decomposition_kind kind) {
    const tutti_count n = EACH + !last();
    for (tutti_count i = 0; i < n; i++) {
        position[i] = (tutti_count)EACH * rank + i;
        ids[i] = id_at(&map, position[i]);
        own[i] = i < EACH;
        memory[i] = i;
    }
    const int by_index = kind == TUTTI_BY_INDEX || kind == TUTTI_BY_BOTH;
    const int by_value = kind == TUTTI_BY_VALUE || kind == TUTTI_BY_BOTH;
    return (tutti_decomposition_spec){.kind = kind,
                                      .n = n,
                                      .index = by_index ? position : NULL,
                                      .ids = by_value ? ids : NULL,
                                      .own = own,
                                      .memory = memory,
                                      .whole = 1};
}

static void bad_lists(void) {
    char words[200];
    const tutti__decomposed space = nodes();
    const tutti_count end = space.view.entries;
    tutti_decomposition_spec s;
    check_where("lists");
    for (int both = 0; both < 2; both++) {
        s = fine(both ? TUTTI_BY_BOTH : TUTTI_BY_INDEX);
        if (last()) position[3] = end;
        snprintf(words, sizeof words, "rank %d: entry 3 has position %lld: must be in [0, %lld)",
                 ranks - 1, (long long)end, (long long)end);
        check_refused(&space, &s, TUTTI_ERR_ARG, words);
        s = fine(both ? TUTTI_BY_BOTH : TUTTI_BY_INDEX);
        if (last()) position[3] = -1;
        check_refused(&space, &s, TUTTI_ERR_ARG, "entry 3 has position -1");
        s = fine(both ? TUTTI_BY_BOTH : TUTTI_BY_VALUE);
        if (last()) ids[4] = -9;
        check_refused(&space, &s, TUTTI_ERR_ARG, "entry 4 has id -9, which is not in the id map");
        s = fine(both ? TUTTI_BY_BOTH : TUTTI_BY_VALUE);
        if (last()) ids[4] = 1;
        snprintf(words, sizeof words, "rank %d: entry 4 has id 1, which is not in the id map",
                 ranks - 1);
        check_refused(&space, &s, TUTTI_ERR_ARG, words);
        s = fine(both ? TUTTI_BY_BOTH : TUTTI_BY_VALUE);
        if (last()) ids[3] = ids[7];
        snprintf(words, sizeof words, "rank %d: duplicate id %lld (entries 3 and 7)", ranks - 1,
                 (long long)id_at(&map, end - 3));
        check_refused(&space, &s, TUTTI_ERR_ARG, words);
    }
    s = fine(TUTTI_BY_INDEX);
    if (last()) position[2] = position[6];
    snprintf(words, sizeof words, "rank %d: duplicate position %lld (entries 2 and 6)", ranks - 1,
             (long long)end - 4);
    check_refused(&space, &s, TUTTI_ERR_ARG, words);
    s = fine(TUTTI_BY_BOTH);
    if (last()) {
        position[3] = end - 6;
        position[4] = end - 7;
    }
    snprintf(words, sizeof words,
             "rank %d: entry 3: id %lld has position %lld in the id map, but field index has %lld",
             ranks - 1, (long long)id_at(&map, end - 7), (long long)end - 7, (long long)end - 6);
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, words);
    for (int kind = TUTTI_BY_INDEX; kind <= TUTTI_BY_BOTH; kind++) {
        s = fine((tutti_decomposition_kind)kind);
        if (last()) own[4] = 0;
        snprintf(words, sizeof words, "rank %d: no rank owns position %lld, which rank %d holds",
                 ranks - 1, (long long)end - 6, ranks - 1);
        check_refused(&space, &s, TUTTI_ERR_MISMATCH, words);
        if (ranks > 1) {
            s = fine((tutti_decomposition_kind)kind);
            if (rank == 0) own[EACH] = 1;
            check_refused(&space, &s, TUTTI_ERR_MISMATCH, "position 10 is owned by ranks 0 and 1");
            s = fine((tutti_decomposition_kind)kind);
            if (rank == 1) own[0] = 0;
            check_refused(&space, &s, TUTTI_ERR_MISMATCH,
                          "no rank owns position 10, which ranks 0 and 1 hold");
        }
        s = fine((tutti_decomposition_kind)kind);
        if (last()) s.n--;
        snprintf(words, sizeof words, "no rank holds position %lld; %lld of", (long long)end - 1,
                 (long long)end - 1);
        check_refused(&space, &s, TUTTI_ERR_MISMATCH, words);
    }
    s = fine(TUTTI_BY_RANK_ORDER);
    s.n = EACH + last();
    snprintf(words, sizeof words,
             "%d entries of rank %d after %lld entries of lower ranks exceed the space of %lld",
             EACH + 1, ranks - 1, (long long)end - EACH, (long long)end);
    if (last()) own[EACH] = 1;
    check_refused(&space, &s, TUTTI_ERR_ARG, words);
    s.n = EACH;
    if (last()) own[EACH - 1] = 0;
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, "no rank owns position");
}

static void bad_maps(void) {
    char words[200];
    const tutti__decomposed space = nodes();
    const tutti_decomposition_spec s = fine(TUTTI_BY_VALUE);
    const tutti_count at = space.view.entries - 2;
    check_where("maps");
    map.twice = at;
    snprintf(words, sizeof words, "duplicate id %lld in the id map (positions %lld and %lld)",
             (long long)id_at(&map, at), (long long)at, (long long)at + 1);
    check_refused(&space, &s, TUTTI_ERR_FORMAT, words);
    map.twice = -1;
    map.negative = at;
    snprintf(words, sizeof words, "id map has id -5 at position %lld", (long long)at);
    check_refused(&space, &s, TUTTI_ERR_FORMAT, words);
    map.negative = -1;
    map.fails = TUTTI_ERR_IO;
    check_refused(&space, &s, TUTTI_ERR_IO, "the id map cannot be read");
    map.fails = TUTTI_OK;
    /* the size of the space is impossible */
    const tutti__decomposed huge = list_of((tutti_count)1 << 62, &map);
    tutti_decomposition_spec v = s;
    v.whole = 0;
    check_refused(&huge, &v, TUTTI_ERR_NOMEM, "an id map of");
}

static void bad_arguments(void) {
    const tutti__decomposed space = nodes();
    tutti_decomposition_spec s = fine(TUTTI_BY_BOTH);
    check_where("arguments");
    if (last()) s.index = NULL;
    check_refused(&space, &s, TUTTI_ERR_ARG, "field index is NULL");
    s = fine(TUTTI_BY_BOTH);
    if (last()) s.ids = NULL;
    check_refused(&space, &s, TUTTI_ERR_ARG, "field ids is NULL");
    s = fine(TUTTI_BY_INDEX);
    if (last()) s.n = -3;
    check_refused(&space, &s, TUTTI_ERR_ARG, "n is -3");
    s = fine(TUTTI_BY_INDEX);
    if (last()) s.reserved[6] = 1;
    check_refused(&space, &s, TUTTI_ERR_ARG, "reserved");
    s = fine(TUTTI_BY_INDEX);
    if (last()) s.choice.reserved[1] = 1;
    check_refused(&space, &s, TUTTI_ERR_ARG, "reserved");
    s = fine(TUTTI_BY_INDEX);
    if (last()) s.whole = 2;
    check_refused(&space, &s, TUTTI_ERR_ARG, "whole is 2");
    s = fine((tutti_decomposition_kind)9);
    check_refused(&space, &s, TUTTI_ERR_ARG, "unknown kind 9");
    s = fine(TUTTI_BY_INDEX);
    s.choice.rule = TUTTI_REPLICAS_OWN;
    s.own = NULL;
    check_refused(&space, &s, TUTTI_ERR_ARG, "needs owners");
    s = (tutti_decomposition_spec){.kind = TUTTI_BY_SLICE};
    s.slice.hi[0] = EACH * ranks + last();
    check_refused(&space, &s, TUTTI_ERR_ARG, "dimension 0: slice [0, ");
    s.slice.hi[0] = EACH * ranks;
    s.slice.stride[0] = -last();
    check_refused(&space, &s, TUTTI_ERR_ARG, "stride is -1");
    s.slice.stride[0] = 1;
    s.slice.lo[0] = -last();
    check_refused(&space, &s, TUTTI_ERR_ARG, "[-1, ");
    if (ranks == 1) return;
    s = fine(TUTTI_BY_INDEX);
    if (last()) s.own = NULL;
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, "field own is NULL on some ranks");
    s = fine(TUTTI_BY_INDEX);
    s.whole = last();
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, "disagree");
    s = fine(last() ? TUTTI_BY_INDEX : TUTTI_BY_BOTH);
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, "disagree on the space, the kind");
    s = fine(TUTTI_BY_INDEX);
    s.choice.seed = (uint64_t)last();
    check_refused(&space, &s, TUTTI_ERR_MISMATCH, "disagree");
    tutti__decomposed other = space;
    if (last()) other.name = "elements";
    s = fine(TUTTI_BY_INDEX);
    check_refused(&other, &s, TUTTI_ERR_MISMATCH, "disagree");
    other = space;
    other.view.stamp += last();
    check_refused(&other, &s, TUTTI_ERR_MISMATCH, "disagree");
}

/* For each kind, each field that does not belong to the kind is refused if set on one rank; so is an unset
 * kind. */
static void foreign_fields(void) {
    static const struct {
        const char *name;
        int kinds; /* the kinds to which the field belongs: bit 1 << kind */
    } fields[] = {{"n", ~(1 << TUTTI_BY_SLICE)},
                  {"index", 1 << TUTTI_BY_INDEX | 1 << TUTTI_BY_BOTH},
                  {"ids", 1 << TUTTI_BY_VALUE | 1 << TUTTI_BY_BOTH},
                  {"own", ~(1 << TUTTI_BY_SLICE)},
                  {"slice", 1 << TUTTI_BY_SLICE},
                  {"memory", ~(1 << TUTTI_BY_SLICE)},
                  {"slice_memory", 1 << TUTTI_BY_SLICE}};
    static const tutti_section section;
    static const char *const names[] = {NULL,
                                        "TUTTI_BY_INDEX",
                                        "TUTTI_BY_VALUE",
                                        "TUTTI_BY_BOTH",
                                        "TUTTI_BY_SLICE",
                                        "TUTTI_BY_RANK_ORDER"};
    const tutti__decomposed space = nodes();
    check_where("foreign fields");
    for (int kind = TUTTI_BY_INDEX; kind <= TUTTI_BY_RANK_ORDER; kind++)
        for (int i = 0; i < 7; i++) {
            char words[200];
            tutti_decomposition_spec s = {.kind = (tutti_decomposition_kind)kind};
            tutti_decomposition *p = NULL;
            CHECK_SAME(make_decomposition(&space, &s, &p), TUTTI_OK); /* no rank has entries */
            CHECK_EQ(tutti_decomposition_entries(p), 0);
            tutti_decomposition_free(&p);
            if (fields[i].kinds >> kind & 1) continue;
            if (last()) {
                s.n = i == 0;
                s.index = i == 1 ? position : NULL;
                s.ids = i == 2 ? ids : NULL;
                s.own = i == 3 ? own : NULL;
                s.slice.hi[0] = i == 4;
                s.memory = i == 5 ? memory : NULL;
                s.slice_memory = i == 6 ? &section : NULL;
            }
            snprintf(words, sizeof words, "field `%s` is set but does not belong to kind %s",
                     fields[i].name, names[kind]);
            check_refused(&space, &s, TUTTI_ERR_ARG, words);
        }
    /* a slice or a list is refused without a kind */
    check_refused(&space, &(tutti_decomposition_spec){.slice = {.hi = {EACH}}}, TUTTI_ERR_ARG,
                  "field kind is not set");
    tutti_decomposition_spec s = fine(TUTTI_BY_INDEX);
    if (last()) s.kind = TUTTI_DECOMPOSITION_UNSET;
    check_refused(&space, &s, TUTTI_ERR_ARG, "field kind is not set");
    /* strides alone do not define a slice */
    s = fine(TUTTI_BY_INDEX);
    s.slice.stride[0] = 1;
    tutti_decomposition *p = NULL;
    CHECK_SAME(make_decomposition(&space, &s, &p), TUTTI_OK);
    tutti_decomposition_free(&p);
}

/* One rank makes a different call on the same communicator: all ranks get an error, and no rank hangs. */
static void test_different(void) {
    const tutti__decomposed space = nodes();
    const tutti_decomposition_spec s = fine(TUTTI_BY_VALUE);
    tutti_decomposition *p = NULL;
    for (int again = 0; again < 4 && ranks > 1; again++) {
        const tutti__call call = {.object = "file", .name = "sync"};
        check_where("different calls");
        const tutti_err err =
            last() ? make_decomposition(&space, &s, &p) : tutti__team_call(team, &call, TUTTI_OK);
        CHECK_EQ(err, TUTTI_ERR_MISMATCH);
        CHECK(strstr(tutti_last_message(), "called tutti_decomposition_create"), "%s",
              tutti_last_message());
        CHECK_SAME(make_decomposition(&space, &s, &p), TUTTI_OK);
        tutti_decomposition_free(&p);
    }
    /* an error that the caller has found takes precedence */
    tutti_err local_err = TUTTI_OK;
    check_where("refused before");
    if (last()) local_err = tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "there is no space 'x'");
    CHECK_SAME(tutti__decomposition_make(team, last() ? NULL : &space, last() ? NULL : &s,
                                         local_err, last() ? NULL : &p),
               TUTTI_ERR_NOT_FOUND);
}

static void test_stale(void) {
    const tutti__decomposed space = nodes();
    const tutti_decomposition_spec s = fine(TUTTI_BY_INDEX);
    tutti_decomposition *p = NULL, *q = NULL;
    const tutti_access *a = NULL;
    check_where("stale");
    CHECK_SAME(make_decomposition(&space, &s, &p), TUTTI_OK);
    CHECK_ERR(tutti_decomposition_positions(p, NULL), TUTTI_ERR_ARG);
    q = p;
    tutti_decomposition_free(&p);
    tutti_decomposition_free(&p);
    tutti_decomposition_free(NULL);
    CHECK_EQ(tutti_decomposition_entries(q), 0);
    CHECK_EQ(tutti_decomposition_entries(NULL), 0);
    CHECK_ERR(tutti_decomposition_positions(q, position), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_decomposition_positions(NULL, position), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__decomposition_access(q, 8, 0, &a), TUTTI_ERR_STATE);
    tutti_decomposition_free(&q);
    CHECK(q == NULL, "freed");
}

static void no_memory(void) {
    const tutti__decomposed space = nodes();
    tutti_decomposition_spec specs[] = {
        fine(TUTTI_BY_BOTH), fine(TUTTI_BY_RANK_ORDER), {.kind = TUTTI_BY_SLICE}};
    tutti_decomposition *p = NULL;
    specs[1].n = EACH;
    specs[2].slice = tutti_slice_all(1, space.view.shape);
    CHECK_SAME(make_decomposition(&space, &specs[0], &p), TUTTI_OK);
    tutti_decomposition_free(&p);
    const long live = tutti__memory_live();
    check_where("no memory");
    for (int k = 0; k < 3; k++)
        for (long at = 1, done = 0; !done; at++) {
            const tutti_access *w = NULL, *r = NULL;
            if (rank == 0) tutti__memory_fail_after(at);
            tutti_err err = make_decomposition(&space, &specs[k], &p);
            if (err == TUTTI_OK) err = tutti__decomposition_access(p, 8, 1, &w);
            if (err == TUTTI_OK) err = tutti__decomposition_access(p, 8, 0, &r);
            tutti__memory_fail_after(0);
            err = tutti__team_agree(team, err);
            err = same_everywhere(err);
            done = err == TUTTI_OK;
            CHECK(done || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
            tutti_decomposition_free(&p);
            CHECK(at < 200, "goes on and on");
            if (at >= 200) break;
        }
    CHECK_EQ(tutti__memory_live(), live);
}

int main(int argc, char **argv) {
    decomposed_begin(&argc, &argv, 1252);
    bad_lists();
    bad_maps();
    bad_arguments();
    foreign_fields();
    test_different();
    test_stale();
    if (ranks <= 3) no_memory();
    return decomposed_end();
}
