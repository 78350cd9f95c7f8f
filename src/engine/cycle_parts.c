/* engine: parts in the literal engine, whose exchanges send from user memory, some without a copy.
 * Parts, which may need a conversion, are packed in file order into separate memory before the
 * exchange of a write, and unpacked after the exchange of a read.  The staged engine does not need
 * this additional copy.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cycles.h"

#include "direct/direct.h"

tutti_err tutti__cycle_parts_memory(tutti_plan *p) {
    tutti__cycles *c = p->run->cycles;
    const tutti__side s = p->asked.access->file;
    if (!p->asked.batch || c->packed || !s.node) return TUTTI_OK;
    c->stretch = tutti__min(tutti__sieve_bytes(p->file, p->means.memory_limit),
                            tutti__side_hi(s) - tutti__side_lo(s));
    c->packed = tutti__malloc((size_t)(tutti__side_bytes(s) + c->stretch));
    return c->packed ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

void tutti__cycle_parts_pack(tutti__run *r) {
    const tutti__cycles *c = r->cycles;
    const tutti__op *op = r->op;
    const tutti__side s = op->access->file;
    const tutti__user user = tutti__operation_user(op);
    char *stage = c->packed + tutti__side_bytes(s);
    tutti_off at = 0, lo, hi, bytes;
    for (tutti_off from = 0; tutti__operation_stretch(op, c->stretch, &at, &lo, &hi); from = at) {
        const tutti_err err = tutti__user_to_stage(&user, lo, hi, stage, &bytes);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
        op->stats->copied_bytes += tutti__side_pack(s, lo, hi, stage, lo, c->packed + from);
    }
}

void tutti__cycle_parts_unpack(tutti__run *r) {
    const tutti__cycles *c = r->cycles;
    const tutti__op *op = r->op;
    const tutti__side s = op->access->file;
    const tutti__user user = tutti__operation_user(op);
    char *stage = c->packed + tutti__side_bytes(s);
    tutti_off at = 0, lo, hi, bytes;
    for (tutti_off from = 0; tutti__operation_stretch(op, c->stretch, &at, &lo, &hi); from = at) {
        op->stats->copied_bytes += tutti__side_unpack(s, lo, hi, stage, lo, c->packed + from);
        const tutti_err err = tutti__user_from_stage(&user, lo, hi, stage, &bytes);
        if (err != TUTTI_OK) tutti__run_fail(r, err);
    }
}
