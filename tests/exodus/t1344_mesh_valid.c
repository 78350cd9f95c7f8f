/* TEST ranks=0 timeout=20 */
/* tutti__entity_class_is_valid() and tutti__holders_is_valid() detect each damaged relation between fields.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "exodus_mesh/distribute.h"

enum { ENTITIES = 2, ENTRIES = 3 };

static struct {
    tutti_count start[ENTITIES + 1], count[ENTITIES], before[ENTITIES + 1], position[ENTRIES];
    tutti__numbered sorted[ENTRIES];
} a;
static tutti__entity_class f;

static void make_class(void) {
    a.start[0] = 0, a.start[1] = 2, a.start[2] = 3;
    a.count[0] = 4, a.count[1] = 1;
    a.before[0] = 0, a.before[1] = 4, a.before[2] = 5;
    a.position[0] = 3, a.position[1] = 1, a.position[2] = 4;
    a.sorted[0] = (tutti__numbered){1, 1};
    a.sorted[1] = (tutti__numbered){3, 0};
    a.sorted[2] = (tutti__numbered){4, 2};
    f = (tutti__entity_class){.entities = ENTITIES,
                              .n = ENTRIES,
                              .all = 5,
                              .start = a.start,
                              .count = a.count,
                              .before = a.before,
                              .position = a.position,
                              .sorted = a.sorted};
    CHECK(tutti__entity_class_is_valid(&f), "a valid class");
}

#define DAMAGED(change)                                                     \
    do {                                                                    \
        make_class();                                                       \
        change;                                                             \
        CHECK(!tutti__entity_class_is_valid(&f), "not found: %s", #change); \
    } while (0)

static tutti__id_interval interval[2];
static int holder[3];
static tutti__holders h;

static void make_holders(void) {
    interval[0] = (tutti__id_interval){.number = 10, .count = 3, .holders = 0, .holders_n = 2};
    interval[1] = (tutti__id_interval){.number = 13, .count = 1, .holders = 2, .holders_n = 1};
    holder[0] = 2, holder[1] = 5, holder[2] = 4;
    h = (tutti__holders){.all = 20, .n = 2, .interval = interval, .holder = holder};
    CHECK(tutti__holders_is_valid(&h, 10, 14), "valid holders");
}

#define HOLDERS_DAMAGED(change)                                                \
    do {                                                                       \
        make_holders();                                                        \
        change;                                                                \
        CHECK(!tutti__holders_is_valid(&h, 10, 14), "not found: %s", #change); \
    } while (0)

int main(void) {
    DAMAGED(f.n = 2);
    DAMAGED(f.all = 6);
    DAMAGED(f.start = NULL);
    DAMAGED(a.start[0] = 1);
    DAMAGED(a.start[1] = 4);
    DAMAGED(a.count[0] = 3);
    DAMAGED(a.before[1] = 3);
    DAMAGED(a.sorted[0].index = 2);
    DAMAGED(a.sorted[0].number = 3);
    DAMAGED(a.sorted[2].number = 5);
    DAMAGED(a.position[1] = 2);
    HOLDERS_DAMAGED(interval[0].number = 9);
    HOLDERS_DAMAGED(interval[0].count = 2);
    HOLDERS_DAMAGED(interval[1].count = 2);
    HOLDERS_DAMAGED(interval[1].holders_n = 0);
    HOLDERS_DAMAGED(holder[1] = 2);
    HOLDERS_DAMAGED(h.n = 1);
    return check_done();
}
