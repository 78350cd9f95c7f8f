/* TEST ranks=0 timeout=60 */
/* The copy kernels against a loop over single bytes: random accesses, random ranges, both directions;
 * bytes outside the access are unchanged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "side_zoo.h"

#define GUARD 64

typedef struct {
    tutti_access a;
    tutti_off *file, *memory, bytes;
    tutti_off stage_lo, stage_hi, user_lo, user_hi; /* [lo, hi): offsets within each buffer */
    unsigned char *stage, *stage_wanted, *user, *user_wanted;
} fixture;

static tutti__side first_bytes(tutti__side s, tutti_off bytes) {
    tutti__side out = {0, NULL};
    CHECK_OK(tutti__side_slice(s, 0, bytes, &out));
    tutti__side_free(&s);
    return out;
}

static unsigned char *noise(tutti_off bytes) {
    unsigned char *p = malloc((size_t)bytes);
    for (tutti_off i = 0; i < bytes; i++) p[i] = (unsigned char)rnd64();
    return p;
}

static unsigned char *copy_of(const unsigned char *p, tutti_off bytes) {
    unsigned char *q = malloc((size_t)bytes);
    memcpy(q, p, (size_t)bytes);
    return q;
}

/* Create 201 to 300 items with holes between them; ascending, or in an order with steps of 7
 * items. */
static tutti__side many_items(int monotone) {
    enum { ITEMS = 300 };
    const tutti_off fixed = rnd(2) ? 64 >> rnd(4) : 0;
    tutti_off at[ITEMS], length[ITEMS], end = 0;
    tutti__side s = {0, NULL};
    for (int i = 0; i < ITEMS; i++) {
        const int k = monotone ? i : i * 7 % ITEMS;
        length[k] = fixed ? fixed : 1 + rnd(20);
        at[k] = end + 1 + rnd(40);
        end = at[k] + length[k];
    }
    CHECK_OK(tutti__side_list(ITEMS - rnd(100), at, fixed ? NULL : length, fixed, &s));
    return s;
}

/* Create up to 60 equal runs with a constant stride. */
static tutti__side many_runs(void) {
    const tutti_off bytes = 1 + rnd(rnd(2) ? 6 : 70);
    return zoo_vec(zoo_run(rnd(9), bytes), 1 + rnd(60), bytes + rnd(20));
}

static void make_sides(tutti__side *file, tutti__side *memory) {
    const int64_t kind = rnd(8);
    *file = kind == 0   ? zoo_vec(many_items(1), 1 + rnd(3), 32000)
            : kind == 1 ? many_runs()
                        : zoo_any(4, 1);
    if (kind == 0)
        *memory = zoo_vec(many_items((int)rnd(2)), 1 + rnd(3), 32000);
    else if (kind == 1)
        *memory = many_runs();
    else if (kind == 2)
        *memory = zoo_run(rnd(100), tutti__side_bytes(*file));
    else
        *memory = kind < 5 ? zoo_any(2, 1) : zoo_any(4, 0);
}

static void fixture_make(fixture *f) {
    tutti__side file, memory;
    make_sides(&file, &memory);
    f->bytes = tutti__min(tutti__side_bytes(file), tutti__side_bytes(memory));
    f->a = (tutti_access){.file = first_bytes(file, f->bytes),
                          .memory = first_bytes(memory, f->bytes)};
    f->file = zoo_bytes(f->a.file);
    f->memory = zoo_bytes(f->a.memory);
    f->stage_lo = tutti__side_lo(f->a.file) - GUARD;
    f->stage_hi = tutti__side_hi(f->a.file) + GUARD;
    f->user_lo = tutti__side_lo(f->a.memory) - GUARD;
    f->user_hi = tutti__side_hi(f->a.memory) + GUARD;
    f->stage = noise(f->stage_hi - f->stage_lo);
    f->user = noise(f->user_hi - f->user_lo);
    f->stage_wanted = copy_of(f->stage, f->stage_hi - f->stage_lo);
    f->user_wanted = copy_of(f->user, f->user_hi - f->user_lo);
}

static void fixture_free(fixture *f) {
    tutti__side_free(&f->a.file);
    tutti__side_free(&f->a.memory);
    free(f->file), free(f->memory);
    free(f->stage), free(f->user);
    free(f->stage_wanted), free(f->user_wanted);
}

static void check_same(const fixture *f) {
    CHECK(!memcmp(f->stage, f->stage_wanted, (size_t)(f->stage_hi - f->stage_lo)), "stage");
    CHECK(!memcmp(f->user, f->user_wanted, (size_t)(f->user_hi - f->user_lo)), "user memory");
}

static void check_stage(fixture *f, tutti_off lo, tutti_off hi, int out) {
    unsigned char *user0 = f->user - f->user_lo;
    tutti_off n = 0, got;
    for (tutti_off i = 0; i < f->bytes; i++) {
        if (f->file[i] < lo || f->file[i] >= hi) continue;
        unsigned char *s = &f->stage_wanted[f->file[i] - f->stage_lo];
        unsigned char *u = &f->user_wanted[f->memory[i] - f->user_lo];
        if (out)
            *s = *u;
        else
            *u = *s;
        n++;
    }
    if (out)
        got = tutti__access_to_stage(&f->a, user0, lo, hi, f->stage, f->stage_lo);
    else
        got = tutti__access_from_stage(&f->a, user0, lo, hi, f->stage, f->stage_lo);
    CHECK_EQ(got, n);
    check_same(f);
}

static void check_side_pack(fixture *f, tutti_off lo, tutti_off hi) {
    unsigned char *packed = noise(f->bytes + 1), *wanted = copy_of(packed, f->bytes + 1);
    tutti_off n = 0;
    for (tutti_off i = 0; i < f->bytes; i++)
        if (f->file[i] >= lo && f->file[i] < hi) wanted[n++] = f->stage[f->file[i] - f->stage_lo];
    CHECK_EQ(tutti__side_pack(f->a.file, lo, hi, f->stage, f->stage_lo, packed), n);
    CHECK(!memcmp(packed, wanted, (size_t)f->bytes + 1), "packed");
    n = 0;
    for (tutti_off i = 0; i < f->bytes; i++) packed[i] = (unsigned char)rnd64();
    for (tutti_off i = 0; i < f->bytes; i++)
        if (f->file[i] >= lo && f->file[i] < hi)
            f->stage_wanted[f->file[i] - f->stage_lo] = packed[n++];
    CHECK_EQ(tutti__side_unpack(f->a.file, lo, hi, f->stage, f->stage_lo, packed), n);
    check_same(f);
    free(packed), free(wanted);
}

static void check_user_pack(fixture *f, tutti_off from, tutti_off to) {
    unsigned char *user0 = f->user - f->user_lo;
    unsigned char *packed = noise(f->bytes + 1), *wanted = copy_of(packed, f->bytes + 1);
    for (tutti_off i = from; i < to; i++) wanted[i - from] = f->user[f->memory[i] - f->user_lo];
    tutti_access_pack(&f->a, user0, from, to, packed);
    CHECK(!memcmp(packed, wanted, (size_t)f->bytes + 1), "packed");
    tutti_access_unpack(&f->a, user0, from, to, packed);
    check_same(f);
    for (tutti_off i = from; i < to; i++) packed[i - from] = (unsigned char)rnd64();
    for (tutti_off i = from; i < to; i++)
        f->user_wanted[f->memory[i] - f->user_lo] = packed[i - from];
    tutti_access_unpack(&f->a, user0, from, to, packed);
    check_same(f);
    free(packed), free(wanted);
}

static void check_ranges(fixture *f) {
    for (int k = 0; k < 4; k++) {
        const tutti_off span = f->stage_hi - f->stage_lo;
        tutti_off lo = f->stage_lo + rnd(span), hi = lo + rnd(f->stage_hi - lo + 1);
        if (k == 0) lo = f->stage_lo, hi = f->stage_hi;
        check_stage(f, lo, hi, 1);
        check_stage(f, lo, hi, 0);
        check_side_pack(f, lo, hi);
        const tutti_off from = k ? rnd(f->bytes) : 0;
        check_user_pack(f, from, k ? from + rnd(f->bytes - from + 1) : f->bytes);
    }
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(200);
    for (int i = 0; i < 1200; i++) {
        fixture f;
        fixture_make(&f);
        check_ranges(&f);
        fixture_free(&f);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
