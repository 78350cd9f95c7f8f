/* TEST ranks=0 timeout=60 */
/* Layout of slots and buffers: nothing overlaps, flags are in separate cache lines, buffers begin on page
 * boundaries, the size is correct; keys are distinct, and a slot is found by its key only while open.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "exchange/slot.h"

/* Mark [at, at + bytes) as used; check that no byte is used twice. */
static void use_object(unsigned char *used, const char *base, const void *at, size_t bytes) {
    const size_t from = (size_t)((const char *)at - base);
    for (size_t i = 0; i < bytes; i++) CHECK(used[from + i]++ == 0, "byte %zu twice", from + i);
}

static void layout(int members, int slots, tutti_off window) {
    const size_t bytes = tutti__stage_bytes(members, slots, window);
    tutti__stage s = {tutti__malloc_aligned(4096, bytes), members, slots, window};
    unsigned char *used = calloc(1, bytes + 1);
    for (int m = 0; m < members; m++)
        for (int i = 0; i < slots; i++) {
            tutti__slot *slot = tutti__stage_slot(&s, m, i);
            char *buffer = tutti__stage_buffer(&s, m, i);
            CHECK_EQ((uintptr_t)slot % 64, 0);
            CHECK_EQ((uintptr_t)buffer % 4096, 0);
            CHECK((char *)(slot + 1) <= s.base + bytes && buffer + window <= s.base + bytes,
                  "too small");
            use_object(used, s.base, slot, sizeof *slot);
            use_object(used, s.base, buffer, (size_t)window);
        }
    free(used);
    tutti__free(s.base);
}

static void test_keys(void) {
    const int a[] = {0, 1, 2, 1000, (1 << 22) - 1};
    const tutti_count c[] = {0, 1, 2, 65536, ((tutti_count)1 << TUTTI__CYCLE_BITS) - 1};
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < i; j++)
            CHECK(tutti__slot_key(a[i / 5], c[i % 5]) != tutti__slot_key(a[j / 5], c[j % 5]),
                  "%d and %d", i, j);
    for (int i = 0; i < 25; i++) CHECK(tutti__slot_key(a[i / 5], c[i % 5]) >= 0, "%d", i);
}

static void test_life(void) {
    tutti__stage s = {tutti__malloc_aligned(4096, tutti__stage_bytes(2, 3, 100)), 2, 3, 100};
    const int64_t key = tutti__slot_key(1, 7);
    for (int i = 0; i < 6; i++) tutti__slot_make(tutti__stage_slot(&s, i / 3, i % 3));
    CHECK_EQ(tutti__stage_find(&s, 1, 0, 3, key), -1);
    tutti__slot *slot = tutti__stage_slot(&s, 1, 2);
    for (int again = 0; again < 2; again++) {
        tutti__slot_open(slot, key);
        CHECK_EQ(tutti__stage_find(&s, 1, 0, 3, key), 2);
        CHECK_EQ(tutti__stage_find(&s, 1, 0, 2, key), -1); /* the open slot is not requested */
        CHECK_EQ(tutti__stage_find(&s, 0, 0, 3, key), -1);
        CHECK_EQ(tutti__stage_find(&s, 1, 0, 3, key + 1), -1);
        CHECK(tutti__slot_is_done(slot, 0) && !tutti__slot_is_done(slot, 30),
              "opened with nothing");
        tutti__slot_moved(slot, 10);
        tutti__slot_moved(slot, 20);
        CHECK(tutti__slot_is_done(slot, 30), "10 and 20 are 30");
        tutti__slot_close(slot);
        CHECK_EQ(tutti__stage_find(&s, 1, 0, 3, key), -1);
        CHECK(tutti__slot_writer_enter(slot) && !tutti__slot_writer_enter(slot), "one at a time");
        tutti__slot_writer_leave(slot);
    }
    tutti__free(s.base);
}

int main(void) {
    const tutti_off window[] = {1, 64, 4095, 4096, 4097, 70000};
    const long live = tutti__memory_live();
    for (int members = 1; members <= 9; members += 2)
        for (int slots = 1; slots <= 6; slots++)
            for (int w = 0; w < 6; w++) layout(members, slots, window[w]);
    test_keys();
    test_life();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
