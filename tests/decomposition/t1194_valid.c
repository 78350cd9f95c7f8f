/* TEST ranks=2,3 timeout=60 */
/* The validity predicate of the decomposition fails if any relation between fields is damaged, and holds
 * for undamaged lists and slices.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"

#define DAMAGED(change)                                     \
    do {                                                    \
        struct tutti_decomposition d = *p;                  \
        d.change;                                           \
        CHECK(!tutti__decomposition_is_valid(&d), #change); \
    } while (0)

/* Damage one value in place, check the predicate, and restore the value. */
#define DAMAGED_VALUE(place, value)                       \
    do {                                                  \
        const int64_t before = (place);                   \
        (place) = (value);                                \
        CHECK(!tutti__decomposition_is_valid(p), #place); \
        (place) = before;                                 \
        CHECK(tutti__decomposition_is_valid(p), #place);  \
    } while (0)

static void damage_any(const tutti_decomposition *p) {
    tutti__sized_access none = {.item_bytes = 8};
    CHECK(tutti__decomposition_is_valid(p));
    DAMAGED(facts.entries = -1);
    DAMAGED(facts.entries++);
    DAMAGED(facts.written = -1);
    DAMAGED(facts.written = p->facts.entries + 1);
    DAMAGED(of = p->facts.entries - 1);
    DAMAGED(is_slice = !p->is_slice);
    DAMAGED(accesses = &none);
}

static void damage_list(tutti_decomposition *p) {
    unsigned char passed[8] = {0};
    damage_any(p);
    DAMAGED(passed = passed);
    DAMAGED(held.entries++);
    DAMAGED(held.n--);
    DAMAGED(facts.written--); /* `written` must be the number of entries that this rank writes */
    DAMAGED_VALUE(p->held.run[0].n, 0);
    DAMAGED_VALUE(p->held.run[0].n, p->held.run[0].n + 1);
    DAMAGED_VALUE(p->held.run[0].place, -1);
    DAMAGED_VALUE(p->held.run[0].position, -1);
    DAMAGED_VALUE(p->held.run[p->held.n - 1].position, p->of);
    if (p->written.n > 0) DAMAGED(written.n--);
}

static void damage_slice(tutti_decomposition *p) {
    damage_any(p);
    DAMAGED(held.run = (tutti__entry_run *)p);
    DAMAGED(ndims = 0);
    DAMAGED(slice.lo[0] = -1);
    DAMAGED(slice.hi[0]++);
    DAMAGED(slice.stride[1] = 0);
    DAMAGED(shape[0] = 0);
    DAMAGED(facts.written--);
    if (p->passed) DAMAGED(passed = NULL);
}

int main(int argc, char **argv) {
    tutti_decomposition *p = NULL;
    decomposed_begin(&argc, &argv, 1194);
    /* consecutive ranks share an entry, so that some ranks do not write all their entries */
    const tutti_count index[4] = {4 * rank + 4, 4 * rank, 4 * rank + 1, 4 * rank + 3};
    const tutti__decomposed list = list_of(4 * ranks + 1, NULL);
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = 4, .index = index};
    CHECK(make_decomposition(&list, &spec, &p) == TUTTI_OK);
    damage_list(p);
    tutti_decomposition_free(&p);
    /* slices of consecutive ranks overlap by one row */
    const tutti__decomposed grid = {
        .name = "grid", .view = {.ndims = 2, .shape = {ranks + 1, 5}, .entries = 5 * (ranks + 1)}};
    spec = (tutti_decomposition_spec){
        .kind = TUTTI_BY_SLICE, .slice = {.lo = {rank, 0}, .hi = {rank + 2, 5}, .stride = {1, 2}}};
    CHECK(make_decomposition(&grid, &spec, &p) == TUTTI_OK);
    damage_slice(p);
    tutti_decomposition_free(&p);
    return decomposed_end();
}
