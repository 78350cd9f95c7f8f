/* engine: the listings of cycles.h.  begin_shuffle and begin_read open the next cycle in a
 * sub-buffer and start its first phase; they return 0 if no cycle is left.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

static int sub_buffer_of(const tutti__run *r, tutti_count k) {
    return (int)(k % r->cycles->slots);
}

static void wait_for_shuffle(tutti__run *r, tutti_count k) {
    if (k >= 0) tutti__cycle_shuffle_wait(r, sub_buffer_of(r, k));
}

static void wait_for_store(tutti__run *r, tutti_count k) {
    if (k >= 0) tutti__cycle_store_wait(r, sub_buffer_of(r, k));
}

static void wait_for_all(tutti__run *r, tutti_count cycles) {
    for (tutti_count k = tutti__max(0, cycles - r->cycles->slots); k < cycles; k++) {
        wait_for_shuffle(r, k);
        wait_for_store(r, k);
    }
}

/* ---- writing: shuffle, then write */

static int begin_shuffle(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, sub_buffer_of(r, k));
    tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
    return 1;
}

static void write_none(tutti__run *r) {
    for (tutti_count k = 0; begin_shuffle(r, k); k++) {
        wait_for_shuffle(r, k);
        tutti__cycle_store(r, sub_buffer_of(r, k));
    }
}

static void write_comm(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots - 1 && begin_shuffle(r, begun)) begun++;
    for (tutti_count k = 0;; k++) {
        begun += begin_shuffle(r, begun);
        if (k == begun) return;
        wait_for_shuffle(r, k);
        tutti__cycle_store(r, sub_buffer_of(r, k));
    }
}

static void write_write(tutti__run *r) {
    tutti_count k = 0;
    for (; begin_shuffle(r, k); k++) {
        wait_for_shuffle(r, k);
        tutti__cycle_store_init(r, sub_buffer_of(r, k));
        wait_for_store(r, k - r->cycles->slots + 1);
    }
    wait_for_all(r, k);
}

static void write_write_comm(tutti__run *r) {
    int more = begin_shuffle(r, 0);
    wait_for_shuffle(r, 0);
    for (tutti_count k = 0; more; k++) {
        tutti__cycle_store_init(r, sub_buffer_of(r, k));
        more = begin_shuffle(r, k + 1);
        wait_for_store(r, k);
        wait_for_shuffle(r, k + 1);
    }
}

static void write_write_comm_2(tutti__run *r) {
    int more = begin_shuffle(r, 0);
    tutti_count k = 0;
    for (; more; k++) {
        wait_for_shuffle(r, k);
        tutti__cycle_store_init(r, sub_buffer_of(r, k));
        if (!tutti__cycle_more(r)) break;
        wait_for_store(r, k + 1 - r->cycles->slots);
        more = begin_shuffle(r, k + 1);
    }
    wait_for_all(r, k + 1);
}

/* ---- reading: read, then scatter */

static int begin_read(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, sub_buffer_of(r, k));
    tutti__cycle_store_init(r, sub_buffer_of(r, k));
    return 1;
}

static int read_blocking(tutti__run *r, tutti_count k) {
    if (!tutti__cycle_more(r)) return 0;
    tutti__cycle_open(r, sub_buffer_of(r, k));
    tutti__cycle_store(r, sub_buffer_of(r, k));
    return 1;
}

static void read_none(tutti__run *r) {
    for (tutti_count k = 0; read_blocking(r, k); k++) {
        tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
        wait_for_shuffle(r, k);
    }
}

static void read_comm(tutti__run *r) {
    tutti_count k = 0;
    for (; read_blocking(r, k); k++) {
        tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
        wait_for_shuffle(r, k - r->cycles->slots + 1);
    }
    wait_for_all(r, k);
}

static void read_write(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots - 1 && begin_read(r, begun)) begun++;
    for (tutti_count k = 0;; k++) {
        begun += begin_read(r, begun);
        if (k == begun) return;
        wait_for_store(r, k);
        tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
        wait_for_shuffle(r, k);
    }
}

static void read_write_comm(tutti__run *r) {
    int more = begin_read(r, 0);
    wait_for_store(r, 0);
    for (tutti_count k = 0; more; k++) {
        tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
        more = begin_read(r, k + 1);
        if (more) wait_for_store(r, k + 1);
        wait_for_shuffle(r, k);
    }
}

static void read_write_comm_2(tutti__run *r) {
    tutti_count begun = 0;
    while (begun < r->cycles->slots && begin_read(r, begun)) begun++;
    for (tutti_count k = 0; k < begun; k++) {
        wait_for_store(r, k);
        tutti__cycle_shuffle_init(r, sub_buffer_of(r, k));
        wait_for_shuffle(r, k);
        begun += begin_read(r, begun);
    }
}

/* ---- write-comm-2 in order of completion (messages): each sub-buffer is a state machine
 *
 *   write   IDLE -> FILL (shuffle) -> STORE (write) -> IDLE
 *   read    IDLE -> FETCH (read) -> SERVE (scatter) -> IDLE
 *
 * Shuffles begin in the order of their cycles. */

/* Advance sub-buffer k; return 0 if its current step has not ended. */
static int advance_sub_buffer(tutti__run *r, int k) {
    tutti__cycles *c = r->cycles;
    tutti__sub *b = &c->sub[k];
    switch (b->phase) {
    case TUTTI__IDLE:
        if (!(r->op->is_write ? begin_shuffle(r, k) : begin_read(r, k))) return 0;
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

static void run_by_completion(tutti__run *r) {
    tutti__cycles *c = r->cycles;
    for (int k = 0; k < c->slots; k++) c->sub[k].phase = TUTTI__IDLE;
    tutti__wait w = tutti__transfer_wait_begin(r->file->team);
    for (int busy = 1; busy;) {
        const tutti__turn turn = tutti__turn_begin(r);
        int moved = 0;
        for (int k = 0; k < c->slots; k++) moved |= advance_sub_buffer(r, k);
        busy = tutti__cycle_more(r);
        for (int k = 0; k < c->slots; k++) busy |= c->sub[k].phase != TUTTI__IDLE;
        if (moved)
            w = tutti__transfer_wait_begin(r->file->team);
        else if (busy)
            tutti__cycle_idle(r, &turn, &w);
    }
}

/* ---- the engine */

typedef void listing(tutti__run *r);

static void start_literal(tutti_plan *p, tutti__op *op) {
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
    if (halves & TUTTI__FIRST_HALF) start_literal(p, op);
    /* the memory of a resident plan is divided for two halves, even if they are executed at once */
    if (p->means.resident) {
        if (halves & TUTTI__FIRST_HALF) tutti__cycles_first_half(r);
        if (halves & TUTTI__SECOND_HALF) tutti__cycles_second_half(r);
    } else {
        tutti__cycle_first(r);
        if (pipeline == TUTTI_PIPELINE_WRITE_COMM_2 && !c->collective)
            run_by_completion(r);
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
