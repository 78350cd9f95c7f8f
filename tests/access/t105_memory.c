/* TEST ranks=0 timeout=60 */
/* Out of memory: with the k-th allocation failing, for every k that occurs, each constructor either
 * succeeds or returns TUTTI_ERR_NOMEM, writes no output and leaks nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

static tutti_access *nest, *list, *ghost; /* created before allocations fail */
static unsigned char wire[4096];
static size_t wire_size;

static tutti_err make_contiguous(tutti_access **a) {
    return tutti_access_contiguous(5, 9, a);
}
static tutti_err make_vector(tutti_access **a) {
    return tutti_access_vector(0, 5, 3, 7, a);
}
static tutti_err make_backwards(tutti_access **a) {
    return tutti_access_vector(90, 5, 3, -7, a);
}
static tutti_err make_covered(tutti_access **a) {
    return tutti_access_vector(0, 9, 5, 3, a);
}

static tutti_err make_runs(tutti_access **a) {
    const tutti_off offsets[6] = {70, 10, 40, 12, 90, 0}, lengths[6] = {3, 5, 1, 9, 2, 4};
    return tutti_access_runs(6, offsets, lengths, a);
}
static tutti_err make_indices(tutti_access **a) {
    const tutti_count index[5] = {1, 2, 5, 9, 11};
    return tutti_access_indices(3, 4, 5, index, a);
}
static tutti_err make_section(tutti_access **a) {
    const tutti_section f = {
        .ndims = 3, .element_size = 4, .shape = {6, 6, 6}, .lo = {1, 1, 1}, .hi = {5, 4, 3}};
    tutti_section m = f;
    m.order = TUTTI_COL_MAJOR;
    return tutti_access_section(&f, &m, a);
}
static tutti_err make_concat(tutti_access **a) {
    const tutti_access *const parts[4] = {nest, list, ghost, nest};
    return tutti_access_concat(4, parts, NULL, a);
}
static tutti_err make_concat_at(tutti_access **a) {
    const tutti_access *const parts[3] = {nest, ghost, list};
    const tutti_off offsets[3] = {1000, 0, -500};
    return tutti_access_concat(3, parts, offsets, a);
}
static tutti_err make_tile(tutti_access **a) {
    return tutti_access_tile(ghost, 3, 5000, 7, a);
}
static tutti_err make_tile_list(tutti_access **a) {
    return tutti_access_tile(list, 3, 2, 50, a);
}
static tutti_err make_join(tutti_access **a) {
    return tutti_access_join(nest, nest, a);
}
static tutti_err make_clip(tutti_access **a) {
    return tutti_access_clip(ghost, 30, 333, a);
}
static tutti_err make_clip_list(tutti_access **a) {
    return tutti_access_clip(list, 5, 75, a);
}
static tutti_err make_copy(tutti_access **a) {
    return tutti_access_copy(ghost, a);
}
static tutti_err make_parsed(tutti_access **a) {
    return tutti_access_parse(wire, wire_size, a);
}

static tutti_err (*const makers[])(tutti_access **) = {
    make_contiguous, make_vector,    make_backwards, make_covered, make_runs,      make_indices,
    make_section,    make_concat,    make_concat_at, make_tile,    make_tile_list, make_join,
    make_clip,       make_clip_list, make_copy,      make_parsed};

static void exhaust_memory(int which) {
    const long live = tutti__memory_live();
    for (long k = 1; k < 1000; k++) {
        tutti_access *a = NULL;
        tutti__memory_fail_after(k);
        const tutti_err err = makers[which](&a);
        tutti__memory_fail_after(0);
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, "maker %d, k %ld: %s", which, k,
              tutti_last_message());
        CHECK((err == TUTTI_OK) == (a != NULL), "maker %d, k %ld", which, k);
        tutti_access_free(&a);
        CHECK(tutti__memory_live() == live, "maker %d leaks, k %ld", which, k);
        if (err == TUTTI_OK) return;
    }
    CHECK(0, "maker %d never works", which);
}

static void exhaust_iter(void) {
    tutti_access_iter *it = NULL;
    tutti__memory_fail_after(1);
    CHECK_ERR(tutti_access_iter_start(nest, 0, &it), TUTTI_ERR_NOMEM);
    tutti__memory_fail_after(0);
    CHECK(it == NULL, " ");
    tutti_access_iter_free(&it);
}

/* Create and clip random accesses with one failing allocation. */
static void exhaust_random(void) {
    model m = {0, 0, NULL, NULL, NULL};
    tutti_access *a = random_access((int)rnd(5), &m), *b = NULL;
    const long live = tutti__memory_live();
    const tutti_access *const twice[2] = {a, ghost};
    tutti__memory_fail_after(1 + rnd(12));
    tutti_err err = rnd(2) ? tutti_access_clip(a, rnd(100), rnd(400), &b)
                           : tutti_access_concat(2, twice, NULL, &b);
    tutti__memory_fail_after(0);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM, "%s", tutti_last_message());
    tutti_access_free(&b);
    CHECK_EQ(tutti__memory_live(), live);
    tutti_access_free(&a);
    model_free(&m);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240605);
    CHECK_OK(tutti_access_vector(3, 7, 4, 11, &nest));
    CHECK_OK(make_runs(&list));
    CHECK_OK(make_section(&ghost));
    tutti_access *all = NULL;
    CHECK_OK(make_concat(&all));
    wire_size = tutti_access_serialise(all, wire, sizeof wire);
    tutti_access_free(&all);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) exhaust_memory((int)i);
    exhaust_iter();
    for (int i = 0; i < 2000 && check_failures_ < 20; i++) exhaust_random();
    tutti_access_free(&nest);
    tutti_access_free(&list);
    tutti_access_free(&ghost);
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
