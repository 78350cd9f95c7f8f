/* collective: the public calls that move bytes at once, all ranks together.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

/* Move the bytes and agree, as far as that is left to do.  Collective. */
static tutti_err move_and_agree(tutti__op *op, const tutti__found *found, tutti_off *count_out) {
    tutti_plan *p = found->plan;
    tutti_file *f = op->file;
    tutti_err err = TUTTI_OK;
    if (!found->moved) err = tutti__operation_under_way(tutti__operation_move(p, op));
    err = tutti__operation_agree(f, found, err);
    p->used = 1;
    op->stats->operations++;
    tutti__operation_explain(f, p);
    if (err != TUTTI_OK) return err;
    tutti__operation_done(op);
    if (count_out) *count_out = op->moved;
    return TUTTI_OK;
}

static tutti_err transfer(tutti_file *f, const tutti__order *o, tutti_stats *stats,
                          tutti_off *count_out) {
    const tutti__means means = {f->store, stats, 0, o->room};
    /* who reads first and asks then does not learn the file's size, which `least` is held against */
    const tutti__ask ask = {f,
                            o->access,
                            o->buf,
                            o->is_write,
                            .at_once = o->least == 0,
                            .how = TUTTI__AT_ONCE,
                            .agrees = tutti__order_agrees(o)};
    tutti__found found;
    tutti_err err = o->refused;
    if (err == TUTTI_OK) err = tutti__file_usable(f, o->access, o->buf, o->is_write);
    TUTTI_TRY(tutti__operation_find(&ask, &means, err, &found));
    err = tutti__operation_long_enough(found.size, o->least);
    if (err == TUTTI_OK) {
        tutti__op op =
            tutti__operation_make(found.plan, &means, found.buf, found.displacement, found.size);
        op.moved = found.count;
        if (o->staging_out) *o->staging_out = tutti__plan_staging(found.plan);
        err = move_and_agree(&op, &found, count_out);
    }
    tutti__plan_release(&found.plan);
    return err;
}

tutti_err tutti__file_transfer(tutti_file *f, const tutti__order *o, tutti_off *count_out) {
    tutti_stats stats;
    TUTTI_USE(f);
    tutti__requests_settle(f);
    tutti__operation_begin(&stats);
    const tutti_err err = transfer(f, o, &stats, count_out);
    return tutti__operation_end(f, &stats, o->name, err);
}

tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                           tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    const tutti__order order = {.name = "write", .access = a, .buf = (void *)buf, .is_write = 1};
    return tutti__file_transfer(f, &order, count_out);
}

tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    const tutti__order order = {.name = "read", .access = a, .buf = buf};
    return tutti__file_transfer(f, &order, count_out);
}

static tutti_err plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_stats *stats,
                          tutti_off *count_out) {
    const tutti__means means = {p->file->store, stats, 0, 0};
    tutti__found found = {.plan = p, .displacement = displacement};
    const tutti_err mine = tutti__plan_usable(p, buf, displacement);
    TUTTI_TRY(tutti__operation_resume(&found, means.store, TUTTI__AT_ONCE, mine));
    stats->plan_reuses += p->used;
    tutti__op op = tutti__operation_make(p, &means, buf, displacement, found.size);
    return move_and_agree(&op, &found, count_out);
}

tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    tutti_stats stats;
    TUTTI_TRY(tutti__plan_live(p));
    tutti_file *f = p->file;
    TUTTI_USE(f);
    tutti__requests_settle(f);
    tutti__operation_begin(&stats);
    const tutti_err err = plan_run(p, buf, displacement, &stats, count_out);
    return tutti__operation_end(f, &stats, p->is_write ? "write" : "read", err);
}
