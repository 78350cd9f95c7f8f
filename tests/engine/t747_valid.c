/* TEST ranks=0 timeout=20 */
/* The predicates that debug builds assert between the steps of an engine: correct states are
 * valid, and each damaged field is detected.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/options.h>
#include "check.h"
#include "engine/run.h"

/* Damage one field, check the predicate, and restore the field. */
#define NOTICED(what, wrong, valid)                \
    do {                                           \
        const __typeof__(what) right = what;       \
        what = (wrong);                            \
        CHECK(!(valid), "%s = %s", #what, #wrong); \
        what = right;                              \
        CHECK(valid, "%s put right", #what);       \
    } while (0)

static void check_domains(void) {
    const tutti__summary s = {.lo = 5000, .hi = 70000, .bytes = 65000, .runs = 1, .ranks = 1};
    tutti__domains d;
    const tutti__domain_rule rule = {TUTTI_DOMAINS_EVEN, 3, 4096, 8192, NULL, NULL};
    tutti__domains_make(&s, &rule, &d);
    NOTICED(d.kind, TUTTI_DOMAINS_AUTO, tutti__domains_is_valid(&d));
    NOTICED(d.kind, TUTTI_DOMAINS_BALANCED, tutti__domains_is_valid(&d)); /* needs a histogram */
    NOTICED(d.aggregators, 0, tutti__domains_is_valid(&d));
    NOTICED(d.align, 0, tutti__domains_is_valid(&d));
    NOTICED(d.window, 0, tutti__domains_is_valid(&d));
    NOTICED(d.lo, d.lo + 1, tutti__domains_is_valid(&d));
    NOTICED(d.hi, d.first - 1, tutti__domains_is_valid(&d));
    NOTICED(d.share, d.share + 1, tutti__domains_is_valid(&d));
}

/* The state of rank 0 of 3, in two groups {0, 1} and {2}; rank 0 is aggregator 0 of 2 and relays to
 * aggregator 1. */
typedef struct {
    tutti__groups groups;
    tutti__destination destination[2];
    tutti__source source[3], relayed[2];
    tutti__sender_group senders[2], mates;
    tutti__incoming relay;
    int agg_rank[2];
    tutti__two_phase two;
} example;

static void example_make(example *x) {
    const tutti__summary s = {.lo = 0, .hi = 1 << 20, .bytes = 1 << 20, .runs = 3, .ranks = 3};
    *x = (example){.groups = {.n = 2, .size = 2, .largest = 2},
                   .destination = {{0, 0, 0, 0}, {1, 0, 1, 1}},
                   .source = {{.rank = 0}, {.rank = 1}, {.rank = 2, .group = 1}},
                   .relayed = {{.rank = 0}, {.rank = 1}},
                   .senders = {{0, 0, 2, 0}, {1, 2, 1, 2}},
                   .mates = {0, 0, 2, 2},
                   .agg_rank = {0, 2}};
    x->relay = (tutti__incoming){
        .aggregator = 1, .n = 2, .sender_groups = 1, .source = x->relayed, .senders = &x->mates};
    x->two = (tutti__two_phase){
        .groups = &x->groups,
        .shared = 1,
        .agg_rank = x->agg_rank,
        .window_slots = 2,
        .relay_slots = 2,
        .pipeline = TUTTI_PIPELINE_WRITE_COMM_2,
        .messages = 1,
        .destinations = 2,
        .destination = x->destination,
        .incoming = {.n = 3, .sender_groups = 2, .source = x->source, .senders = x->senders},
        .relays = 1,
        .relay = &x->relay};
    const tutti__domain_rule rule = {TUTTI_DOMAINS_EVEN, 2, 4096, 65536, NULL, NULL};
    tutti__domains_make(&s, &rule, &x->two.domains);
}

static void check_two_phase(void) {
    example x;
    example_make(&x);
    tutti__two_phase *t = &x.two;
    NOTICED(t->domains.window, 0, tutti__two_phase_is_valid(t));
    NOTICED(t->my_agg, 2, tutti__two_phase_is_valid(t));
    /* a rank that is not an aggregator receives no bytes */
    NOTICED(t->my_agg, -1, tutti__two_phase_is_valid(t));
    NOTICED(t->window_slots, 0, tutti__two_phase_is_valid(t));
    NOTICED(t->relay_slots, 0, tutti__two_phase_is_valid(t));
    NOTICED(t->pipeline, TUTTI_PIPELINE_AUTO, tutti__two_phase_is_valid(t));
    NOTICED(t->literal, 1, tutti__two_phase_is_valid(t)); /* `literal` contradicts the relays */
    NOTICED(x.destination[1].aggregator, 2, tutti__two_phase_is_valid(t));
    NOTICED(x.destination[1].first, -1, tutti__two_phase_is_valid(t));
    NOTICED(x.destination[1].member, 2, tutti__two_phase_is_valid(t));
    NOTICED(x.source[1].rank, 0, tutti__two_phase_is_valid(t)); /* the rank is a duplicate */
    NOTICED(x.source[2].group, 0, tutti__two_phase_is_valid(t));
    NOTICED(x.senders[0].n, 1, tutti__two_phase_is_valid(t)); /* a rank belongs to no group */
    NOTICED(x.senders[1].peer, -1, tutti__two_phase_is_valid(t));
    NOTICED(x.relay.aggregator, 2, tutti__two_phase_is_valid(t));
    NOTICED(x.relay.sender_groups, 0, tutti__two_phase_is_valid(t));
}

static void check_run(void) {
    example x;
    example_make(&x);
    tutti_access access = {.file = {0}};
    tutti__op op = {.is_write = 1};
    tutti_count next[2] = {0, -1};
    tutti__run r = {.op = &op,
                    .access = &access,
                    .two = &x.two,
                    .window_slots = 2,
                    .relay_slots = 2,
                    .destination_next = next,
                    .total = 100};
    NOTICED(r.access, NULL, tutti__run_is_valid(&r));
    NOTICED(r.window_next, -2, tutti__run_is_valid(&r));
    NOTICED(r.window_slots, 3, tutti__run_is_valid(&r));
    NOTICED(r.relay_slots, 3, tutti__run_is_valid(&r));
    NOTICED(next[1], -2, tutti__run_is_valid(&r));
    NOTICED(r.done, 101, tutti__run_is_valid(&r));
}

/* Test two windows of the aggregator that are being filled, and one that is relayed. */
static void check_window(void) {
    example x;
    example_make(&x);
    tutti__op op = {.is_write = 1};
    tutti__slot slot[3];
    tutti__window w[3] = {0};
    tutti__run r = {.op = &op, .two = &x.two, .window_slots = 2, .relay_slots = 1, .window = w};
    for (int i = 0; i < 3; i++) {
        const tutti__incoming *l = i < 2 ? &x.two.incoming : &x.relay;
        tutti__slot_make(&slot[i]);
        w[i] = (tutti__window){.slot = &slot[i], .incoming = l, .hi = 65536};
        CHECK(tutti__window_is_valid(&r, &w[i]), "idle %d", i);
        w[i].phase = TUTTI__FILL;
        CHECK(!tutti__window_is_valid(&r, &w[i]), "filled with a closed slot");
        tutti__slot_open(&slot[i], tutti__slot_key(l->aggregator, 0));
        NOTICED(w[i].cycle, 1, tutti__window_is_valid(&r, &w[i])); /* the slot is that of cycle 0 */
        NOTICED(w[i].phase, TUTTI__IDLE, tutti__window_is_valid(&r, &w[i]));
        /* the phase belongs to reads */
        NOTICED(w[i].phase, TUTTI__SERVE, tutti__window_is_valid(&r, &w[i]));
        NOTICED(w[i].hi, w[i].lo, tutti__window_is_valid(&r, &w[i]));
        NOTICED(w[i].hi, 65537, tutti__window_is_valid(&r, &w[i]));
        /* there are more bytes than expected */
        NOTICED(w[i].local, 1, tutti__window_is_valid(&r, &w[i]));
        NOTICED(w[i].aux_used, 65537, tutti__window_is_valid(&r, &w[i]));
        NOTICED(w[i].traffics, 3, tutti__window_is_valid(&r, &w[i]));
        NOTICED(w[i].io.request, (tutti_store_request *)&op, tutti__window_is_valid(&r, &w[i]));
        tutti__slot_close(&slot[i]);
        w[i].phase = i < 2 ? TUTTI__STORE : TUTTI__SEND;
        NOTICED(w[i].phase, i < 2 ? TUTTI__SEND : TUTTI__STORE, tutti__window_is_valid(&r, &w[i]));
        NOTICED(op.is_write, 0, tutti__window_is_valid(&r, &w[i]));
    }
}

static void check_window_io(void) {
    char stage[100];
    tutti_io_run run[2] = {{1010, stage, 20}, {1050, stage + 40, 60}};
    tutti__window_io w = {.lo = 10, .hi = 110, .total = 80, .stage = stage, .shift = 1000};
    w.run = run;
    w.n = w.capacity = 2;
    w.requested = 80;
    NOTICED(w.capacity, 1, tutti__window_io_is_valid(&w, 1));
    NOTICED(w.requested, 79, tutti__window_io_is_valid(&w, 1));
    NOTICED(w.total, 101, tutti__window_io_is_valid(&w, 1));
    NOTICED(w.lo, 11, tutti__window_io_is_valid(&w, 1));
    NOTICED(w.hi, 109, tutti__window_io_is_valid(&w, 1));
    NOTICED(run[0].bytes, 41, tutti__window_io_is_valid(&w, 1)); /* the run overlaps the next one */
    NOTICED(run[1].bytes, 0, tutti__window_io_is_valid(&w, 1));
    /* the memory belongs to another run */
    NOTICED(run[1].memory, stage, tutti__window_io_is_valid(&w, 1));
}

int main(void) {
    check_domains();
    check_two_phase();
    check_run();
    check_window();
    check_window_io();
    return check_done();
}
