/* engine: the listings of cycles.h.  In each of them `begin` takes the next cycle into a sub-buffer
 * and starts its first half; the result is 0 when there is none.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

static int slot(const tutti__run *r, tutti_count k) {
    return (int)(k % r->cycles->slots);
}

static void shuffle_wait(tutti__run *r, tutti_count k) {
    if (k >= 0) tutti__cycle_shuffle_wait(r, slot(r, k));
}

static void store_wait(tutti__run *r, tutti_count k) {
    if (k >= 0) tutti__cycle_store_wait(r, slot(r, k));
}

static void all_wait(tutti__run *r, tutti_count cycles) {
    for (tutti_count k = tutti__max(0, cycles - r->cycles->slots); k < cycles; k++) {
        shuffle_wait(r, k);
        store_wait(r, k);
    }
}

/* ---- writing: shuffle, then write */

static int shuffle_begin(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, slot(r, k));
    tutti__cycle_shuffle_init(r, slot(r, k));
    return 1;
}

static void write_none(tutti__run *r) {
    for (tutti_count k = 0; shuffle_begin(r, k); k++) {
        shuffle_wait(r, k);
        tutti__cycle_store(r, slot(r, k));
    }
}

static void write_comm(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots - 1 && shuffle_begin(r, begun)) begun++;
    for (tutti_count k = 0;; k++) {
        begun += shuffle_begin(r, begun);
        if (k == begun) return;
        shuffle_wait(r, k);
        tutti__cycle_store(r, slot(r, k));
    }
}

static void write_write(tutti__run *r) {
    tutti_count k = 0;
    for (; shuffle_begin(r, k); k++) {
        shuffle_wait(r, k);
        tutti__cycle_store_init(r, slot(r, k));
        store_wait(r, k - r->cycles->slots + 1);
    }
    all_wait(r, k);
}

static void write_write_comm(tutti__run *r) {
    int more = shuffle_begin(r, 0);
    shuffle_wait(r, 0);
    for (tutti_count k = 0; more; k++) {
        tutti__cycle_store_init(r, slot(r, k));
        more = shuffle_begin(r, k + 1);
        store_wait(r, k);
        shuffle_wait(r, k + 1);
    }
}

static void write_write_comm_2(tutti__run *r) {
    int more = shuffle_begin(r, 0);
    tutti_count k = 0;
    for (; more; k++) {
        shuffle_wait(r, k);
        tutti__cycle_store_init(r, slot(r, k));
        if (!tutti__cycle_more(r)) break;
        store_wait(r, k + 1 - r->cycles->slots);
        more = shuffle_begin(r, k + 1);
    }
    all_wait(r, k + 1);
}

/* ---- reading: read, then scatter */

static int read_begin(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, slot(r, k));
    tutti__cycle_store_init(r, slot(r, k));
    return 1;
}

static int read_all(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, slot(r, k));
    tutti__cycle_store(r, slot(r, k));
    return 1;
}

static void read_none(tutti__run *r) {
    for (tutti_count k = 0; read_all(r, k); k++) {
        tutti__cycle_shuffle_init(r, slot(r, k));
        shuffle_wait(r, k);
    }
}

static void read_comm(tutti__run *r) {
    tutti_count k = 0;
    for (; read_all(r, k); k++) {
        tutti__cycle_shuffle_init(r, slot(r, k));
        shuffle_wait(r, k - r->cycles->slots + 1);
    }
    all_wait(r, k);
}

static void read_write(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots - 1 && read_begin(r, begun)) begun++;
    for (tutti_count k = 0;; k++) {
        begun += read_begin(r, begun);
        if (k == begun) return;
        store_wait(r, k);
        tutti__cycle_shuffle_init(r, slot(r, k));
        shuffle_wait(r, k);
    }
}

static void read_write_comm(tutti__run *r) {
    int more = read_begin(r, 0);
    store_wait(r, 0);
    for (tutti_count k = 0; more; k++) {
        tutti__cycle_shuffle_init(r, slot(r, k));
        more = read_begin(r, k + 1);
        if (more) store_wait(r, k + 1);
        shuffle_wait(r, k);
    }
}

static void read_write_comm_2(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots && read_begin(r, begun)) begun++;
    for (tutti_count k = 0; k < begun; k++) {
        store_wait(r, k);
        tutti__cycle_shuffle_init(r, slot(r, k));
        shuffle_wait(r, k);
        begun += read_begin(r, begun);
    }
}

/* ---- write-comm-2 where the order may follow completion: each sub-buffer by itself
 *
 *   write   IDLE -> FILL (shuffle) -> STORE (write) -> IDLE
 *   read    IDLE -> FETCH (read) -> SERVE (scatter) -> IDLE
 *
 * Shuffles begin in the order of their cycles. */

/* 1 if the sub-buffer has taken its next step. */
static int flow_step(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__sub *b = &c->sub[k];
    switch (b->phase) {
    case TUTTI__IDLE:
        if (!(r->op->is_write ? shuffle_begin(r, k) : read_begin(r, k))) return 0;
        b->phase = r->op->is_write ? TUTTI__FILL : TUTTI__FETCH;
        return 1;
    case TUTTI__FILL:
        if (!tutti__cycle_shuffle_test(r, k)) return 0;
        tutti__cycle_store_init(r, k);
        b->phase = TUTTI__STORE;
        return 1;
    case TUTTI__FETCH:
        if (!tutti__cycle_store_test(r, k)) return 0;
        for (int i = 0; i < c->slots; i++) /* an earlier cycle is still being read */
            if (c->sub[i].phase == TUTTI__FETCH && c->shuffle[i].cycle < c->shuffle[k].cycle)
                return 0;
        tutti__cycle_shuffle_init(r, k);
        b->phase = TUTTI__SERVE;
        return 1;
    default:
        if (!(b->phase == TUTTI__STORE ? tutti__cycle_store_test(r, k)
                                       : tutti__cycle_shuffle_test(r, k)))
            return 0;
        b->phase = TUTTI__IDLE;
        return 1;
    }
}

static void flow(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    for (int k = 0; k < c->slots; k++) c->sub[k].phase = TUTTI__IDLE;
    for (int busy = 1; busy;) {
        const tutti__turn turn = tutti__turn_begin(r);
        int moved = 0;
        for (int k = 0; k < c->slots; k++) moved |= flow_step(r, k);
        busy = tutti__cycle_more(r);
        for (int k = 0; k < c->slots; k++) busy |= c->sub[k].phase != TUTTI__IDLE;
        if (!moved && busy) tutti__cycle_idle(r, &turn);
    }
}

/* ---- all of it */

typedef void listing(tutti__run *r);

static void literal_start(tutti_plan *p, tutti__op *op) {
    tutti__run *r = p->run;
    tutti__cycles *c = r->cycles;
    tutti__run_start(r, op);
    c->exchange.access = r->access;
    c->exchange.user = op->parts ? c->packed : op->buf;
    c->exchange.stats = op->stats;
    if (p->means.resident)
        r->stage =
            (tutti__stage){p->memory.segment.base, 1, p->two->window_slots, p->two->domains.window};
    if (op->parts && op->is_write) tutti__cycle_parts_pack(r);
    tutti__exchange_start(&c->exchange, c->shuffle);
}

static tutti_err literal_run(tutti_plan *p, tutti__op *op, int halves) {
    static listing *const listings[][2] = {{read_none, write_none},
                                           {read_comm, write_comm},
                                           {read_write, write_write},
                                           {read_write_comm, write_write_comm},
                                           {read_write_comm_2, write_write_comm_2}};
    tutti__run *r = p->run;
    tutti__cycles *c = r->cycles;
    const int pipeline = r->two->pipeline;
    r->op = op;
    const tutti__turn all = tutti__turn_begin(r);
    if (halves & TUTTI__FIRST_HALF) literal_start(p, op);
    if (p->means.resident) { /* it was made for two halves */
        if (halves & TUTTI__FIRST_HALF) tutti__cycles_depart(r);
        if (halves & TUTTI__SECOND_HALF) tutti__cycles_arrive(r);
    } else {
        tutti__cycle_first(r);
        if (pipeline == TUTTI_PIPELINE_WRITE_COMM_2 && !c->collective)
            flow(r);
        else
            listings[pipeline - TUTTI_PIPELINE_NONE][op->is_write](r);
    }
    const int ends = halves & TUTTI__SECOND_HALF;
    if (ends && op->parts && !op->is_write && r->err == TUTTI_OK) tutti__cycle_parts_unpack(r);
    tutti__turn_rest_is_exchange(r, &all);
    return ends ? tutti__run_end(r) : TUTTI_OK;
}

const tutti__engine tutti__engine_literal = {.memory = tutti__cycles_memory,
                                             .make = tutti__cycles_make,
                                             .free = tutti__cycles_free,
                                             .sleep = tutti__cycles_sleep,
                                             .wake = tutti__cycles_wake,
                                             .ready = tutti__cycles_ready,
                                             .prepare = tutti__cycles_prepare,
                                             .run = literal_run,
                                             .abort = tutti__cycles_abort};
