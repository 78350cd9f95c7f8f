/* collective: repeated small requests need only one agreement, on the plan:
 *
 *   a read without staging     each rank reads first, then agrees.  If ranks disagree, they read
 *                              again
 *   a write without holes      each rank copies its bytes to their position in the shared memory of
 *                              the consensus (comm/consensus.c), then agrees.  If all ranks agree,
 *                              the first rank that detects it writes all bytes with one call and
 *                              reports the outcome to the other ranks; otherwise nothing has been
 *                              written
 *
 * If every rank writes its own pages, gathering is faster only for the smallest requests, since it
 * needs an additional copy, and one core writes everything.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include "base/trace.h"
#include "direct/direct.h"
#include "exchange/staging.h"

/* Limit of requests that are transferred before the agreement; for larger reads an additional
 * agreement is negligible. */
static const tutti_off READ_FIRST_BYTES = 256 << 10;
/* Limit of writes that are gathered, bytes of all ranks, if the plan has no staging; larger ones
 * are written by all ranks. */
static const tutti_off GATHER_BYTES = 16 << 10;

/* Return whether this rank may transfer its bytes before the agreement.  Another rank may refuse a
 * write, so only a read, or the write of a single rank, may go first. */
static int may_go_first(const tutti__op *op, const tutti_plan *p, tutti_off bytes) {
    if (op->is_write && (op->file->team->size > 1 || op->checksums)) return 0;
    if (p->cache.hits == 0 || p->run || op->file->layout.incoherent || op->file->atomic.on)
        return 0;
    if (p->choice.method != TUTTI_METHOD_LIST && p->choice.method != TUTTI_METHOD_INDEPENDENT)
        return 0;
    return bytes <= READ_FIRST_BYTES;
}

tutti_err tutti__small_begin(const tutti_request *r, tutti__finding *x) {
    const tutti_plan *p = x->match;
    const tutti__team *t = r->op.file->team;
    const tutti__consensus_memory *shared = &t->consensus;
    /* a rank that transfers bytes first does not know the size of the file, which is compared with
     * `least` */
    const int at_once = r->asked.least == 0 && r->progress.background != TUTTI_BACKGROUND_IO_ONLY;
    if (p && at_once) {
        tutti__op op = r->op;
        op.access = p->asked.access;
        if (op.parts)
            tutti__parts_start(op.parts, p->asked.batch, x->displacement);
        else
            op.buf = (char *)((uintptr_t)op.buf + (uintptr_t)(r->op.access->memory.disp -
                                                              p->asked.access->memory.disp));
        if (may_go_first(&r->op, p, x->bytes)) {
            op.shift = op.file->origin + op.base + x->displacement;
            op.eof = TUTTI__OFF_END;
            op.eof_unknown = 1;
            const int batch = p->choice.method == TUTTI_METHOD_INDEPENDENT ? 1 : TUTTI__LIST_BATCH;
            TUTTI_TRY(tutti__operation_under_way(tutti__run_list(&op, batch)));
            x->moved = 1;
            x->count = op.moved;
            return TUTTI_OK;
        }
        /* if every rank has its own core (spins), separate writes are as fast as gathering */
        const int gather = p->run || (shared->spins == 0 && p->cache.bytes <= GATHER_BYTES);
        if (p->cache.joint && shared->base && tutti__consensus_ready(t) && gather) {
            const int64_t place = tutti__plan_cache_place(p);
            const tutti__user user = tutti__operation_user(&op);
            TUTTI_TRY(tutti__user_to_stage(&user, p->cache.lo, p->cache.lo + p->cache.bytes,
                                           tutti__consensus_data(t), &x->count));
            /* ranks without bytes accept any plan */
            x->gathered = x->count > 0 ? (tutti__range){place, place} : tutti__range_none();
            r->op.stats->copied_bytes += x->count;
        }
    }
    /* an operation that waits for the other ranks needs the size of the file */
    return tutti__consensus_ready(t) ? tutti__file_end(&r->op, &x->size) : TUTTI_OK;
}

int tutti__small_is_gathered(const tutti_plan *p, const tutti__range *gathered) {
    return p->cache.joint && gathered->min == gathered->max &&
           gathered->min == tutti__plan_cache_place(p);
}

int tutti__small_claim(const tutti_file *f) {
    /* tests with injected faults of one rank need a fixed writer */
    return tutti__consensus_work_claim(f->team, f->opt.fault[0] ? 0 : -1);
}

tutti_err tutti__small_write(const tutti_plan *p, const tutti_request *r, tutti_off displacement) {
    const tutti_file *f = p->file;
    const tutti_off at = r->op.base + displacement + p->cache.lo;
    const tutti_io_run run = {f->origin + at, tutti__consensus_last_data(f->team),
                              (size_t)p->cache.bytes};
    const double start = tutti__now();
    tutti_err err = tutti__store_write(r->op.store, &run, 1);
    if (err == TUTTI_OK && r->op.checksums)
        err = tutti__checksums_add(r->op.checksums, at, run.memory, p->cache.bytes);
    err = tutti__operation_under_way(err);
    r->op.stats->seconds_file += tutti__now() - start;
    tutti__trace_event("store", "write", start, p->cache.bytes, -1);
    return err;
}

/* ---- shared memory for agreements and gathered bytes */

tutti_err tutti__consensus_make(tutti__team *t) {
    tutti__segment memory = {NULL, 0, 0};
    t->consensus.tried = 1;
    const size_t bytes = tutti__consensus_bytes(t);
    if (bytes == 0) return TUTTI_OK;
    int64_t missing = 0;
    { /* if this fails, messages are used */
        TUTTI_KEEP_LAST_ERROR;
        missing = t->nodes.size > 1 && tutti__segment_make(t, 1, bytes, &memory) != TUTTI_OK;
    }
    TUTTI_TRY(tutti__team_max(t, TUTTI_OK, &missing));
    if (missing)
        tutti__segment_drop(&memory);
    else
        tutti__consensus_use(t, memory.base);
    t->staging->consensus = memory;
    return TUTTI_OK;
}
