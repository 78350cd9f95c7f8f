/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Ranks that together list only some of the items of a file read and write correct values if they pass
 * positions.  Without positions, a read is refused unless the numbers prove that all items are listed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/held.h"

enum { ITEMS = 120, AT = 24 };
static char path[512];
static held all, some;
static mine_of m;
static tutti_off position[ITEMS + 1]; /* positions of the items of `all` */
static tutti_off given[ITEMS];        /* positions of this rank's items of `some` */

/* Write a file of random items; set their positions. */
static void file_make(int lay, int loads, tutti_off value_bytes) {
    tutti_replicas *r = NULL;
    held_random(&all, ITEMS, SPREAD, lay, loads);
    position[0] = 0;
    for (int i = 0; i < ITEMS; i++) position[i + 1] = position[i] + all.load[i] * value_bytes;
    held_mine(&all, value_bytes, 1, 0, &m);
    unsigned char *v = held_values(&m);
    tutti_file *f = open_with(path, "");
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
    CHECK_SAME(tutti_replicas_write(f, AT, r, v, 0), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_replicas_free(&r);
    free(v);
}

/* Select every `step`th item in [from, to); make this rank's spec and positions. */
static void choose_items(int from, int to, int step, tutti_off value_bytes) {
    some.n = 0;
    some.start[0] = 0;
    for (int i = from; i < to; i += step) {
        const int n = some.n++;
        some.number[n] = all.number[i];
        some.load[n] = all.load[i];
        some.start[n + 1] =
            some.start[n] + held_holders(SPREAD, n, to, some.holder + some.start[n]);
    }
    held_mine(&some, value_bytes, 1, 1, &m);
    for (tutti_count k = 0; k < m.spec.n; k++) given[k] = position[from + step * m.item[k]];
}

static void read_with(const tutti_replicas_spec *spec, tutti_err code, const char *words) {
    tutti_replicas *r = NULL;
    tutti_file *f = NULL;
    unsigned char *got = malloc((size_t)m.bytes + 1), *want = held_values(&m);
    memset(got, 0x5a, (size_t)m.bytes + 1);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, spec, &r), TUTTI_OK);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &f), TUTTI_OK);
    CHECK_SAME(tutti_replicas_read(f, AT, r, got), code);
    if (code == TUTTI_OK)
        CHECK(!memcmp(got, want, (size_t)m.bytes), "wrong values");
    else
        CHECK(strstr(tutti_last_message(), words), "%s", tutti_last_message());
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_replicas_free(&r);
    free(got);
    free(want);
}

static void create_refused(const tutti_replicas_spec *spec, tutti_err code, const char *words) {
    tutti_replicas *r = NULL;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, spec, &r), code);
    CHECK(strstr(tutti_last_message(), words), "%s", tutti_last_message());
    tutti_replicas_free(&r);
}

static void reading(int lay, int loads) {
    char words[80];
    tutti_replicas_spec s;
    file_make(lay, loads, 4);
    check_where("some items");
    choose_items(1, ITEMS, 2, 4);
    s = m.spec;
    snprintf(words, sizeof words, "no rank lists item 0:");
    read_with(&s, TUTTI_ERR_STATE, words);
    s.items = ITEMS;
    create_refused(&s, TUTTI_ERR_MISMATCH, "list 60 items, but items is 120: to access some");
    s.positions = given;
    read_with(&s, TUTTI_OK, "");
    s.items = 0;
    read_with(&s, TUTTI_OK, "");
    s.items = some.n - 1;
    create_refused(&s, TUTTI_ERR_MISMATCH, "list 60 items, but items is 59");
    check_where("all items");
    choose_items(0, ITEMS, 1, 4);
    s = m.spec;
    if (lay == DENSE)
        read_with(&s, TUTTI_OK, "");
    else
        read_with(&s, TUTTI_ERR_STATE, "no rank lists item");
    s.items = ITEMS;
    read_with(&s, TUTTI_OK, "");
    if (lay != DENSE) return;
    check_where("the first items");
    choose_items(0, ITEMS / 3, 1, 4);
    read_with(&m.spec, TUTTI_OK, "");
    check_where("one item missing");
    for (int hole = 1; hole < ITEMS - 1; hole += 41) {
        choose_items(0, ITEMS, 1, 4);
        tutti_count n = 0;
        for (tutti_count k = 0; k < m.spec.n; k++) {
            if (m.number[k] == hole) continue;
            m.number[n] = m.number[k];
            m.own[n] = m.own[k];
            m.load[n] = m.load[k];
            m.memory[n] = m.memory[k];
            n++;
        }
        m.spec.n = n;
        snprintf(words, sizeof words, "no rank lists item %d:", hole);
        read_with(&m.spec, TUTTI_ERR_STATE, words);
    }
}

/* A write changes only the listed items. */
static void test_writing(void) {
    tutti_replicas *r = NULL;
    int64_t n = 0;
    file_make(GAPS, 4, 8);
    check_where("writing");
    choose_items(5, ITEMS, 7, 8);
    m.spec.positions = given;
    unsigned char *v = malloc((size_t)m.bytes + 1), *items = held_file(&all, 8, &n);
    unsigned char *want = calloc(1, (size_t)(AT + n) + 1);
    memset(v, 0x77, (size_t)m.bytes + 1);
    for (int i = 5; i < ITEMS; i += 7)
        memset(items + position[i], 0x77, (size_t)(position[i + 1] - position[i]));
    memcpy(want + AT, items, (size_t)n);
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &f), TUTTI_OK);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &m.spec, &r), TUTTI_OK);
    CHECK_SAME(tutti_replicas_write(f, AT, r, v, TUTTI_REPLICAS_CHECK), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, want, AT + n, "some items written");
    tutti_replicas_free(&r);
    free(v);
    free(items);
    free(want);
}

/* Test a file that ends within the last listed item. */
static void short_file(void) {
    file_make(DENSE, 0, 8);
    check_where("short file");
    choose_items(ITEMS / 2, ITEMS, 1, 8);
    m.spec.positions = given;
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_resize(f, AT + position[ITEMS] - 1), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    read_with(&m.spec, TUTTI_ERR_TRUNCATED, "");
}

/* Test invalid positions of items 3 and 9, which all ranks list. */
static void bad_positions(void) {
    int64_t number[] = {3, 9};
    tutti_off at[] = {40, 80};
    const int last = rank == ranks - 1;
    tutti_replicas_spec s = {
        .n = 2, .numbers = number, .load = 5, .value_bytes = 8, .positions = at};
    check_where("positions");
    tutti_replicas *r = NULL;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &s, &r), TUTTI_OK);
    CHECK(r && tutti_replicas_positions(r)[1] == 80 && tutti_replicas_bytes(r) == 80, "positions");
    tutti_replicas_free(&r);
    at[1] = 79;
    create_refused(&s, TUTTI_ERR_ARG, "item 9 has position 79, before the end of item 3 (80)");
    at[1] = last ? -1 : 80;
    create_refused(&s, TUTTI_ERR_ARG, "item 9 has position -1");
    at[1] = last ? ((tutti_off)1 << 62) - 39 : 80;
    create_refused(&s, TUTTI_ERR_ARG, "bytes: must be within [0, 2^62)");
    at[1] = 80;
    s.items = -1;
    create_refused(&s, TUTTI_ERR_ARG, "items is -1");
    s.items = 0;
    if (ranks == 1) return;
    at[1] = last ? 88 : 80;
    create_refused(&s, TUTTI_ERR_MISMATCH, "item 9 has position");
    at[1] = 80;
    s.positions = last ? NULL : at;
    create_refused(&s, TUTTI_ERR_MISMATCH, "field positions is NULL on some ranks");
    s.positions = at;
    s.items = last ? 3 : 2;
    create_refused(&s, TUTTI_ERR_MISMATCH, "items");
    /* items of two ranks overlap */
    number[0] = 2 * rank;
    at[0] = 30 * rank;
    s = (tutti_replicas_spec){
        .n = 1, .numbers = number, .load = 5, .value_bytes = 8, .positions = at};
    create_refused(&s, TUTTI_ERR_ARG, "before the end of item");
    /* ranks without items need not give positions */
    at[0] = 40 * rank;
    if (last) s.n = 0, s.positions = NULL;
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &s, &r), TUTTI_OK);
    tutti_replicas_free(&r);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1106);
    snprintf(path, sizeof path, "%s/t1106.dat", check_dir());
    reading(DENSE, 0);
    reading(DENSE, 4);
    reading(GAPS, 4);
    test_writing();
    short_file();
    bad_positions();
    file_remove(path);
    return harness_end();
}
