/* TEST ranks=1,2,3,5,8 timeout=120 */
/* An error in the items of one rank, or of two ranks together, is reported on all ranks with the same
 * message, which names the item and the ranks; different copies are detected, and so are ranks in
 * different calls or with different arguments; any allocation may fail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/held.h"

static char path[512];
static held h;
static mine_of m;

static int last(void) {
    return rank == ranks - 1;
}

/* Rank r owns the items 10 (r + 1) to 10 (r + 1) + 9 and has a copy of the first item of rank r + 1. */
enum { EACH = 10 };
static int64_t number[EACH + 2];
static unsigned char own[EACH + 2];
static tutti_count load[EACH + 2];

static tutti_replicas_spec fine(void) {
    const int copy = !last();
    for (int i = 0; i < EACH + copy; i++) {
        number[i] = EACH * (rank + 1) + i;
        own[i] = i < EACH;
        load[i] = 2;
    }
    return (tutti_replicas_spec){
        .n = EACH + copy, .numbers = number, .own = own, .loads = load, .value_bytes = 8};
}

/* Check that all ranks return this code with a message that contains `words`. */
static void check_refused(const tutti_replicas_spec *spec, tutti_err code, const char *words) {
    tutti_replicas *r = NULL;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, spec, &r), code);
    CHECK(strstr(tutti_last_message(), words), "'%s', not '%s'", tutti_last_message(), words);
    CHECK(r == NULL, "there is an inspector");
    tutti_replicas_free(&r);
}

static void bad_lists(void) {
    char words[160];
    tutti_replicas_spec s = fine();
    check_where("lists");
    if (last()) number[3] = -7;
    check_refused(&s, TUTTI_ERR_ARG, "item 3 has number -7");
    s = fine();
    if (last()) number[3] = number[5];
    snprintf(words, sizeof words, "rank %d: duplicate number %d (items 3 and 5)", ranks - 1,
             EACH * ranks + 5);
    check_refused(&s, TUTTI_ERR_ARG, words);
    s = fine();
    if (last()) load[2] = -1;
    check_refused(&s, TUTTI_ERR_ARG, "has load -1");
    s = fine();
    if (last()) load[2] = INT64_MAX / 4;
    check_refused(&s, TUTTI_ERR_OVERFLOW, "values of 8 bytes");
    s = fine();
    for (int i = 0; i < s.n; i++) load[i] = (int64_t)1 << 57;
    check_refused(&s, TUTTI_ERR_OVERFLOW, "exceed 2^63 bytes");
    s = fine();
    if (last()) own[4] = 0;
    snprintf(words, sizeof words, "no rank owns item %d, which rank %d holds", EACH * ranks + 4,
             ranks - 1);
    check_refused(&s, TUTTI_ERR_MISMATCH, words);
    if (ranks > 1) {
        s = fine();
        if (rank == 0) own[EACH] = 1;
        check_refused(&s, TUTTI_ERR_MISMATCH, "item 20 is owned by ranks 0 and 1");
        s = fine();
        if (rank == 1) own[0] = 0;
        check_refused(&s, TUTTI_ERR_MISMATCH, "no rank owns item 20, which ranks 0 and 1 hold");
        s = fine();
        if (rank == 0) load[EACH] = 3;
        check_refused(&s, TUTTI_ERR_MISMATCH, "item 20 has load 3 on rank 0 and 2 on rank 1");
        s = fine();
        if (rank == 1) load[0] = 0; /* a load of 0 also counts as a difference */
        check_refused(&s, TUTTI_ERR_MISMATCH, "item 20 has load 2 on rank 0 and 0 on rank 1");
    }
    if (ranks == 8) { /* the lowest number is reported; long lists of ranks are truncated */
        s = fine();
        number[EACH] = 5;
        own[EACH] = 1;
        load[EACH] = 2;
        s.n = EACH + 1;
        if (rank == 0) own[0] = 0;
        check_refused(&s, TUTTI_ERR_MISMATCH, "item 5 is owned by ranks 0, 1, 2, 3, 4, 5, 6 and 7");
    }
}

static void bad_arguments(void) {
    tutti_replicas *r = NULL;
    tutti_replicas_spec s = fine();
    check_where("arguments");
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, last() ? NULL : &s, &r), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &s, last() ? NULL : &r), TUTTI_ERR_ARG);
    if (last()) s.numbers = NULL;
    check_refused(&s, TUTTI_ERR_ARG, "field numbers is NULL");
    s = fine();
    if (last()) s.value_bytes = 0;
    check_refused(&s, TUTTI_ERR_ARG, "value_bytes is 0");
    s = fine();
    if (last()) s.reserved[5] = 1;
    check_refused(&s, TUTTI_ERR_ARG, "reserved");
    s = fine();
    if (last()) s.choice.rule = (tutti_replicas_rule)17;
    check_refused(&s, TUTTI_ERR_ARG, "unknown rule 17");
    s = fine();
    if (last()) s.n = -1;
    check_refused(&s, TUTTI_ERR_ARG, "n is -1");
    if (ranks == 1) return;
    s = fine();
    if (last()) s.value_bytes = 4;
    check_refused(&s, TUTTI_ERR_MISMATCH, "disagree on value_bytes");
    s = fine();
    s.choice.seed = (uint64_t)last();
    check_refused(&s, TUTTI_ERR_MISMATCH, "disagree");
    s = fine();
    if (last()) s.own = NULL;
    check_refused(&s, TUTTI_ERR_MISMATCH, "field own is NULL on some ranks");
    s = fine(); /* a rank without items need not set `own` */
    if (last()) s = (tutti_replicas_spec){.value_bytes = 8};
    if (rank == ranks - 2) s.n = EACH;
    s.choice.rule = TUTTI_REPLICAS_OWN;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &s, &r), TUTTI_OK);
    tutti_replicas_free(&r);
}

/* ---- copies that differ */

static void test_copies(void) {
    tutti_file *f = open_with(path, "");
    for (int trial = 0; trial < 12; trial++) {
        char words[200], where[40];
        tutti_replicas *r = NULL;
        const tutti_off value_bytes = trial == 11 ? 20000 : 1 + rnd(12);
        held_random(&h, trial == 11 ? 20 : 120, SPREAD, GAPS, 5);
        held_mine(&h, value_bytes, 1, trial % 2, &m);
        CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
        unsigned char *v = held_values(&m);
        snprintf(where, sizeof where, "copies, trial %d", trial);
        check_where(where);
        CHECK_SAME(tutti_replicas_check(r, v), TUTTI_OK);
        /* change one holder's copy of up to two items; the item with the lower index is reported */
        int found = -1, low = -1, other = -1, value = 0;
        for (int k = 0; k < 2; k++) {
            const int i = (int)rnd(h.n), who = (int)rnd(ranks);
            const int byte = (int)rnd(h.load[i] * value_bytes + 1);
            if (h.start[i + 1] - h.start[i] < 2 || !held_by(&h, i, who) ||
                byte >= h.load[i] * value_bytes || (found >= 0 && i == found))
                continue;
            for (tutti_count j = 0; j < m.spec.n; j++)
                if (m.item[j] == i && rank == who) v[m.memory[j] + byte] ^= 1 << (trial % 8);
            if (found >= 0 && i > found) continue;
            found = i;
            value = byte / (int)value_bytes;
            low = who;
            for (int q = 0; q < ranks; q++)
                if (q != who && held_by(&h, i, q)) {
                    other = q; /* `other` is the lowest other holder */
                    break;
                }
            if (other < low) { /* the lower rank is reported first */
                const int keep = low;
                low = other;
                other = keep;
            }
        }
        if (found < 0) {
            CHECK_SAME(tutti_replicas_check(r, v), TUTTI_OK);
        } else {
            CHECK_SAME(tutti_replicas_check(r, v), TUTTI_ERR_MISMATCH);
            snprintf(words, sizeof words, "copies of item %lld differ in value %d: bytes ",
                     (long long)h.number[found], value);
            CHECK(strstr(tutti_last_message(), words), "'%s', not '%s'", tutti_last_message(),
                  words);
            snprintf(words, sizeof words, " on rank %d", low);
            CHECK(strstr(tutti_last_message(), words), "'%s', not '%s'", tutti_last_message(),
                  words);
            snprintf(words, sizeof words, " on rank %d", other);
            CHECK(strstr(tutti_last_message(), words), "'%s', not '%s'", tutti_last_message(),
                  words);
            /* a checked write of different copies writes nothing */
            tutti_off size = 0;
            CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
            CHECK_SAME(tutti_replicas_write(f, 0, r, v, TUTTI_REPLICAS_CHECK), TUTTI_ERR_MISMATCH);
            CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
            CHECK_EQ(size, 0);
        }
        /* this write does not check the copies */
        CHECK_SAME(tutti_replicas_write(f, 0, r, v, 0), TUTTI_OK);
        free(v);
        tutti_replicas_free(&r);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* ---- ranks in different calls */

/* Check that all ranks return TUTTI_ERR_MISMATCH with a message that contains `words`. */
static void meet_ranks(tutti_err err, const char *words) {
    int bad = err != TUTTI_ERR_MISMATCH || !strstr(tutti_last_error()->text, words), any = 0;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(!any, "%s: %s", tutti_error_name(err), tutti_last_message());
}

static void test_different(void) {
    tutti_file *f = open_with(path, ""), *alone = NULL;
    tutti_replicas *r = NULL, *q = NULL;
    tutti_array *a = NULL;
    const tutti_array_spec spec = {.ndims = 1, .shape = {10}, .type = TUTTI_INT8};
    held_random(&h, 60, SPREAD, GAPS, 3);
    held_mine(&h, 8, 1, 0, &m);
    m.spec.items = h.n; /* numbers have gaps */
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &q), TUTTI_OK);
    unsigned char *v = held_values(&m);
    const tutti_access *w = tutti_replicas_write_access(r);
    /* the first calls are compared by messages, later ones by consensus in shared memory */
    for (int again = 0; again < (ranks > 2 ? 2 : 6) && ranks > 1; again++) {
        check_where("different calls");
        meet_ranks(tutti_replicas_write(f, 0, r, v, last() ? TUTTI_REPLICAS_CHECK : 0),
                   "called tutti_replicas_check");
        meet_ranks(last() ? tutti_replicas_write(f, 0, r, v, TUTTI_REPLICAS_CHECK)
                          : tutti_file_sync(f),
                   "called tutti_replicas_check");
        meet_ranks(last() ? tutti_replicas_write(f, 0, r, v, 0) : tutti_replicas_read(f, 0, r, v),
                   "called tutti_file_read");
        meet_ranks(last() ? tutti_replicas_write(f, 0, r, v, 0) : tutti_file_write(f, w, v, NULL),
                   "disagree");
        meet_ranks(tutti_replicas_write(f, last(), r, v, again % 2), "disagree");
        meet_ranks(tutti_replicas_write(f, 0, last() ? r : q, v, again % 2), "disagree");
        CHECK_SAME(tutti_replicas_write(f, 0, r, v, again % 2), TUTTI_OK);
        meet_ranks(last() ? tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &q)
                          : tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a),
                   "called tutti_replicas_create");
    }
    CHECK_SAME(tutti_replicas_write(f, 0, r, v, TUTTI_REPLICAS_CHECK), TUTTI_OK);
    check_where("refused");
    for (int flags = 0; flags < 2; flags++) {
        CHECK_SAME(tutti_replicas_write(f, 0, last() ? NULL : r, v, flags), TUTTI_ERR_ARG);
        if (tutti_access_bytes(tutti_replicas_read_access(r)) > 0 || !last())
            CHECK_SAME(tutti_replicas_write(f, 0, r, last() ? NULL : v, flags), TUTTI_ERR_ARG);
        CHECK_SAME(tutti_replicas_write(f, last() ? -1 : 0, r, v, flags),
                   ranks > 1 && flags ? TUTTI_ERR_MISMATCH : TUTTI_ERR_ARG);
    }
    CHECK_SAME(tutti_replicas_write(f, 0, r, v, 6), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_replicas_check(r, last() ? NULL : v), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_replicas_read(f, INT64_MAX, r, v), TUTTI_ERR_OVERFLOW);
    CHECK_SAME(tutti_replicas_read(f, 1, r, v), TUTTI_ERR_TRUNCATED); /* the file is too short */
    CHECK_SAME(tutti_replicas_read(f, 0, r, v), TUTTI_OK);
    if (ranks > 1) {
        CHECK_OK(tutti_file_open(MPI_COMM_SELF, path, TUTTI_READ, NULL, &alone));
        CHECK_ERR(tutti_replicas_read(alone, 0, r, v), TUTTI_ERR_ARG);
        CHECK(strstr(tutti_last_message(), "different communicators"), "%s", tutti_last_message());
        CHECK_OK(tutti_file_close(&alone));
    }
    /* a handle becomes invalid when it is freed */
    tutti_replicas *stale = r;
    tutti_replicas_free(&r);
    CHECK_SAME(tutti_replicas_write(f, 0, last() ? stale : q, v, 1), TUTTI_ERR_STATE);
    CHECK(!tutti_replicas_write_access(stale) && !tutti_replicas_read_access(stale) &&
              !tutti_replicas_positions(stale) && !tutti_replicas_writers(stale) &&
              tutti_replicas_bytes(stale) == 0,
          "stale");
    tutti_replicas_stats stats;
    tutti_replicas_share share;
    CHECK_ERR(tutti_replicas_check(stale, v), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_stats_get(stale, &stats), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_replicas_share_get(q, ranks, &share), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_replicas_share_get(q, 0, NULL), TUTTI_ERR_ARG);
    tutti_replicas_free(&stale);
    tutti_replicas_free(&q);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    free(v);
}

/* ---- failing allocations on one rank */

static void no_memory(void) {
    tutti_replicas *r = NULL;
    held_random(&h, 40, SPREAD, GAPS, 3);
    held_mine(&h, 8, 1, 1, &m);
    unsigned char *v = held_values(&m);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK); /* creates teams */
    const long live = tutti__memory_live();
    check_where("no memory");
    for (int check = 0; check < 2; check++)
        for (long at = 1, done = 0; !done; at++) {
            tutti_replicas *q = NULL;
            if (last()) tutti__memory_fail_after(at);
            tutti_err err = check ? tutti_replicas_check(r, v)
                                  : tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &q);
            tutti__memory_fail_after(0);
            err = same_everywhere(err);
            done = err == TUTTI_OK;
            CHECK(done || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
            CHECK(at < 100, "goes on and on");
            CHECK((q != NULL) == (done && !check), "what came of it");
            tutti_replicas_free(&q);
            if (at >= 100) break;
        }
    CHECK_EQ(tutti__memory_live(), live);
    tutti_replicas_free(&r);
    free(v);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1103);
    snprintf(path, sizeof path, "%s/t1103.dat", check_dir());
    bad_lists();
    bad_arguments();
    test_copies();
    test_different();
    if (ranks <= 2) no_memory();
    file_remove(path);
    return harness_end();
}
