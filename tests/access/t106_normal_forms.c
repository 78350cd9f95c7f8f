/* TEST ranks=0 timeout=60 */
/* Normal forms: the same bytes described in different ways are equal and small; arguments that are
 * refused; printed descriptions; nesting depth.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

static void same(tutti_access *a, tutti_access *b) {
    CHECK(a && b && tutti_access_equal(a, b), " ");
    CHECK(tutti_access_hash(a) == tutti_access_hash(b), " ");
    tutti_access_free(&a);
    tutti_access_free(&b);
}

static void differ(tutti_access *a, tutti_access *b) {
    CHECK(a && b && !tutti_access_equal(a, b), " ");
    CHECK(tutti_access_hash(a) != tutti_access_hash(b), " ");
    tutti_access_free(&a);
    tutti_access_free(&b);
}

static tutti_access *contiguous(tutti_off offset, tutti_off bytes) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_contiguous(offset, bytes, &a));
    return a;
}
static tutti_access *vector(tutti_off offset, tutti_count n, tutti_off block, tutti_off stride) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_vector(offset, n, block, stride, &a));
    return a;
}
static tutti_access *tile(tutti_access *part, tutti_count n, tutti_off file, tutti_off memory) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_tile(part, n, file, memory, &a));
    tutti_access_free(&part);
    return a;
}
static tutti_access *concat(int n, tutti_access **parts) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_concat(n, (const tutti_access *const *)parts, NULL, &a));
    for (int i = 0; i < n; i++) tutti_access_free(&parts[i]);
    return a;
}
static tutti_access *runs(tutti_count n, const tutti_off *offsets, const tutti_off *lengths) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_runs(n, offsets, lengths, &a));
    return a;
}

static void normal_forms(void) {
    same(vector(10, 5, 4, 4), contiguous(10, 20));
    same(tile(vector(0, 3, 4, 8), 5, 24, 12), vector(0, 15, 4, 8));
    same(tile(contiguous(0, 4), 6, 10, 4), vector(0, 6, 4, 10));
    same(concat(3, (tutti_access *[]){contiguous(0, 4), contiguous(4, 6), contiguous(10, 1)}),
         contiguous(0, 11));
    same(concat(3, (tutti_access *[]){contiguous(5, 4), contiguous(15, 4), contiguous(25, 4)}),
         vector(5, 3, 4, 10));
    same(concat(2, (tutti_access *[]){vector(5, 3, 4, 10), vector(35, 2, 4, 10)}),
         vector(5, 5, 4, 10));
    same(runs(4, (tutti_off[]){0, 10, 20, 30}, (tutti_off[]){2, 2, 2, 2}), vector(0, 4, 2, 10));
    same(runs(3, (tutti_off[]){0, 3, 5}, (tutti_off[]){3, 2, 0}), contiguous(0, 5));
    same(runs(5, (tutti_off[]){9, 0, 0, 7, 7}, (tutti_off[]){0, 0, 0, 0, 0}), contiguous(3, 0));
    /* a list of the runs of two nested loops is equal to the loops */
    same(runs(6, (tutti_off[]){0, 10, 20, 100, 110, 120}, (tutti_off[]){4, 4, 4, 4, 4, 4}),
         tile(vector(0, 3, 4, 10), 2, 100, 12));
    /* interleaved vectors are equal to a section by rows whose memory is column-major */
    tutti_section f = {.ndims = 2, .element_size = 4, .shape = {8, 8}, .hi = {8, 4}}, m = f;
    m.order = TUTTI_COL_MAJOR;
    tutti_access *s = NULL;
    CHECK_OK(tutti_access_section(&f, &m, &s));
    same(tile(vector(0, 8, 4, 32), 4, 4, 32), s);
    /* a concatenation of the same bytes twice is equal to a tile */
    same(concat(2, (tutti_access *[]){contiguous(0, 8), contiguous(0, 8)}),
         tile(contiguous(0, 8), 2, 0, 8));
    same(vector(0, 1, 4, 77), contiguous(0, 4));
    differ(vector(0, 3, 4, 8), vector(0, 3, 4, 9));
    differ(vector(0, 3, 4, 8), vector(1, 3, 4, 8));
    differ(runs(3, (tutti_off[]){0, 10, 21}, (tutti_off[]){3, 3, 3}),
           runs(3, (tutti_off[]){0, 10, 22}, (tutti_off[]){3, 3, 3}));
}

/* An irregular list needs at most two bytes per item; clipped nested loops remain loops. */
static void test_compact(void) {
    const int64_t n = 10000;
    tutti_off *offsets = malloc((size_t)n * sizeof *offsets), at = 0;
    for (int64_t i = 0; i < n; i++) offsets[i] = at += 65 + rnd(50);
    tutti__side s = {0, NULL};
    CHECK_OK(tutti__side_list(n, offsets, NULL, 64, &s));
    CHECK(tutti__side_size(s) < (size_t)n * 2, "%zu bytes", tutti__side_size(s));
    tutti__side_free(&s);
    free(offsets);
    tutti_access *a = tile(vector(0, 100, 8, 16), 100, 10000, 800), *c = NULL;
    CHECK_OK(tutti_access_clip(a, 1235, 987654, &c));
    CHECK(tutti_access_size(c) < 1500, "%zu bytes", tutti_access_size(c));
    tutti_access_free(&c);
    tutti_access_free(&a);
}

/* ---- damaged descriptions are detected */

/* Check that a node with one of its fields increased by one is not valid. */
static void damage_node(tutti__side s, tutti__node *n) {
    tutti_off *const known[] = {&n->bytes, &n->hi, &n->runs, &n->grain};
    const int is_list = n->kind == TUTTI__LIST;
    for (int i = 0; i < 4; i++) {
        /* hi and grain of a list (fields 1, 3), and runs of a loop or concatenation (field 2) are
         * not checked */
        if (is_list ? i == 1 || i == 3 : i == 2 && n->kind != TUTTI__RUN) continue;
        *known[i] += 1;
        CHECK(!tutti__side_is_valid(s), "field %d of kind %d", i, (int)n->kind);
        *known[i] -= 1;
    }
    n->depth++;
    CHECK(!tutti__side_is_valid(s), "depth of kind %d", (int)n->kind);
    n->depth--;
    n->lo++;
    CHECK(!tutti__side_is_valid(s), "lo of kind %d", (int)n->kind);
    n->lo--;
    if (!is_list) {
        n->monotone = !n->monotone;
        CHECK(!tutti__side_is_valid(s), "order of kind %d", (int)n->kind);
        n->monotone = !n->monotone;
    }
    CHECK(tutti__side_is_valid(s), "kind %d", (int)n->kind);
}

static void damage_bytes(void) {
    const tutti_off at[] = {0, 10, 17, 40, 41 << 10};
    const tutti_off lengths[] = {3, 2, 9, 1, 5};
    tutti__side part[3], all = {0, NULL}, loop = {0, NULL};
    CHECK_OK(tutti__side_run(0, 8, &loop));
    CHECK_OK(tutti__side_vec(loop, 5, 20, &part[0]));
    CHECK_OK(tutti__side_list(5, at, lengths, 0, &part[1]));
    part[1].disp += 1000;
    CHECK_OK(tutti__side_run(90000, 100, &part[2]));
    CHECK_OK(tutti__side_cat(3, part, &all));
    CHECK_EQ(all.node->kind, TUTTI__CAT);
    CHECK_EQ(all.node->cat.n, 3);
    damage_node(all, all.node);
    for (int i = 0; i < 3; i++) damage_node(all, all.node->cat.part[i].node);
    damage_node(all, all.node->cat.part[0].node->vec.child);
    tutti__part *p = &all.node->cat.part[1];
    p->start++;
    CHECK(!tutti__side_is_valid(all), "start of a part");
    p->start--;
    tutti__node *node = p->node;
    p->node = NULL;
    CHECK(!tutti__node_is_valid(all.node), "an empty part");
    p->node = node;
    node->list.mark[0].code++;
    CHECK(!tutti__side_is_valid(all), "the first mark");
    node->list.mark[0].code--;
    all.disp = TUTTI__OFF_LIMIT;
    CHECK(!tutti__side_is_valid(all), "too far");
    all.disp = 0;

    tutti_access *a = NULL;
    tutti__side memory = {0, NULL};
    CHECK_OK(tutti__side_run(0, tutti__side_bytes(all), &memory));
    CHECK_OK(tutti__access_make(all, memory, &a));
    CHECK(tutti__access_is_valid(a), " ");
    tutti_access wrong = *a;
    wrong.memory.node = a->file.node->cat.part[0].node;
    CHECK(!tutti__access_is_valid(&wrong), "other bytes in memory");
    wrong = *a;
    wrong.file.disp = -1;
    CHECK(!tutti__access_is_valid(&wrong), "before the file");
    wrong = *a;
    wrong.repeats = (tutti__mapping){{1 << 20, a->memory.node}, {0, a->memory.node}};
    CHECK(!tutti__access_is_valid(&wrong), "repeats outside");
    tutti_access_free(&a);
}

/* Nest up to 40 levels; the depth remains within its limit, and the bytes are correct at every level. */
static void test_depths(void) {
    tutti_access *a = contiguous(0, 1);
    model m = {0, 0, NULL, NULL, NULL};
    model_add(&m, 0, 0);
    for (int level = 0; level < 40; level++) {
        const int64_t n = m.n, apart = m.file[n - 1] + 2 + level % 3;
        if (level % 5 == 4 || n > 3000) { /* append only one byte: the model remains short */
            const tutti_off at[2] = {0, n};
            tutti_access *parts[2] = {a, contiguous(apart, 1)};
            CHECK_OK(tutti_access_concat(2, (const tutti_access *const *)parts, at, &a));
            tutti_access_free(&parts[0]);
            tutti_access_free(&parts[1]);
            model_add(&m, apart, n);
        } else {
            a = tile(a, 2, apart, n);
            for (int64_t i = 0; i < n; i++) model_add(&m, m.file[i] + apart, m.memory[i] + n);
        }
        check_model(a, &m);
        CHECK(a->file.node->depth <= TUTTI__MAX_DEPTH, " ");
    }
    tutti_access_free(&a);
    model_free(&m);
    /* create loops that cannot be merged, with slightly more and slightly fewer runs than the limit
     * for a list */
    tutti__side s = {0, NULL};
    CHECK_OK(tutti__side_run(0, 1, &s));
    tutti_err err = TUTTI_OK;
    for (int level = 0; level < 30 && err == TUTTI_OK; level++)
        err =
            tutti__side_vec(s, level < 18 ? 1 + level % 2 : 3, (tutti_off)3 << (level * 3 / 2), &s);
    if (err == TUTTI_OK) tutti__side_free(&s);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_UNSUPPORTED, "%s", tutti_last_message());
}

static void test_refused(void) {
    tutti_access *a = NULL;
    tutti_off minus = -1, one = 1, huge = INT64_MAX;
    CHECK_ERR(tutti_access_contiguous(-1, 5, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_contiguous(0, -5, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_contiguous(INT64_MAX, 5, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_vector(0, -1, 1, 1, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_vector(0, 1, -1, 1, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_vector(10, 3, 4, -8, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_vector(0, INT64_MAX / 2, 8, 8, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_vector(0, INT64_MAX / 2, 8, 9, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_vector(0, 3, 8, INT64_MAX, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_runs(1, &minus, &one, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_runs(1, &one, &minus, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_runs(1, &one, &huge, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_runs(1, &huge, &one, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_runs(-1, &one, &one, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_runs(1, NULL, &one, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_indices(0, 4, 1, &minus, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_indices(0, 4, 1, &huge, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_indices(0, 0, 1, &one, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_concat(-1, NULL, NULL, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_section(NULL, NULL, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_copy(NULL, &a), TUTTI_ERR_ARG);
    tutti_access *b = vector(5, 2, 3, 10), *none = NULL;
    CHECK_ERR(tutti_access_tile(b, -1, 1, 1, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_tile(b, 3, -4, 1, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_tile(b, 3, INT64_MAX / 2, 1, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_tile(b, 3, 100, INT64_MIN, &a), TUTTI_ERR_OVERFLOW);
    CHECK_ERR(tutti_access_concat(1, (const tutti_access *const *)&none, NULL, &a), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_concat(1, (const tutti_access *const *)&b, &huge, &a),
              TUTTI_ERR_OVERFLOW);
    CHECK(a == NULL, " ");
    tutti_access_free(&b);
    tutti_access_free(&b);
    tutti_access_free(NULL);
}

static void described(tutti_access *a, const char *expect) {
    char text[128];
    CHECK_EQ(tutti_access_describe(a, text, sizeof text), strlen(expect));
    CHECK(strcmp(text, expect) == 0, "\"%s\"", text);
    tutti_access_free(&a);
}

static void test_descriptions(void) {
    described(contiguous(7, 100), "100 bytes at 7");
    described(contiguous(7, 0), "empty");
    described(vector(0, 4096, 16384, 65536), "4096 x [16384 bytes every 65536] at 0");
    described(tile(vector(3, 5, 8, 16), 4, 100, 40), "4 x [5 x [8 bytes every 16] every 100] at 3");
    described(runs(3, (tutti_off[]){1, 10, 21}, (tutti_off[]){3, 3, 3}), "3 runs of 3 bytes at 1");
    described(runs(2, (tutti_off[]){1, 10}, (tutti_off[]){3, 4}), "2 runs, 7 bytes at 1");
    described(vector(40, 3, 4, -8),
              "3 x [4 bytes every 8] at 24; memory 3 x [4 bytes every -4] at 8");
}

/* Call all queries with empty accesses. */
static void test_empty(void) {
    tutti_access *a = contiguous(100, 0), *b = NULL;
    tutti_off lo = 1, hi = 1;
    tutti_access_bounds(a, &lo, &hi);
    CHECK(lo == 0 && hi == 0, " ");
    CHECK_EQ(tutti_access_bytes_in(a, 0, 1000), 0);
    CHECK_EQ(tutti_access_runs_count(a), 0);
    CHECK_OK(tutti_access_clip(a, 0, 5, &b));
    same(tile(a, 100, 5, 5), b);
    same(concat(0, NULL), contiguous(0, 0));
    CHECK_EQ(tutti_access_bytes(NULL), 0);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240606);
    normal_forms();
    test_compact();
    damage_bytes();
    test_depths();
    test_refused();
    test_descriptions();
    test_empty();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
