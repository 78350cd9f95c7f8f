/* direct: checksums of blocks that one rank writes all of.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include "access/copy_impl.h"
#include "exchange/staging.h"

/* Memory that has a block. */
typedef struct {
    const char *at; /* where it is, in one piece and as it will be in the file; NULL: it is not */
    int simple;     /* the access that it is in is one run on both sides */
} found;

/* Bytes [lo, hi) in an access that has them all. */
static found in_access(const tutti_access *a, char *buf, tutti_off lo, tutti_off hi) {
    tutti__cursor c;
    tutti__burst b;
    const int simple = tutti__side_runs(a->file) == 1 && tutti__side_runs(a->memory) == 1;
    tutti__cursor_seek(&c, a->memory, tutti__side_tell(a->file, lo));
    if (!tutti__cursor_peek(&c, &b) || b.bytes < hi - lo) return (found){NULL, 0};
    return (found){tutti__place(buf, b.offset), simple};
}

static found in_memory(const tutti__user *u, tutti_off lo, tutti_off hi) {
    const tutti__parts *p = u->parts;
    if (!p) return in_access(u->access, u->buf, lo, hi);
    lo += p->shift;
    hi += p->shift;
    for (int i = p->in_order ? p->batch->n : tutti__parts_first(p, lo);
         i < p->batch->n && p->io[i].still < hi; i++) {
        const tutti__batch_part *part = &p->batch->part[i];
        const tutti_off bytes = tutti__side_bytes_in(part->access.file, lo, hi);
        if (bytes == hi - lo && part->convert.identity)
            return in_access(&part->access, p->io[i].buf, lo, hi);
        if (bytes > 0) break;
    }
    return (found){NULL, 0};
}

static tutti_err block_add(tutti__op *op, tutti_off lo, tutti_off hi, char *stage, int but) {
    const tutti__user user = tutti__operation_user(op);
    const tutti_off by = op->shift - op->file->origin;
    tutti_off copied = 0;
    const found f = in_memory(&user, lo, hi);
    if (f.at && f.simple && but) return TUTTI_OK;
    if (!f.at) TUTTI_TRY(tutti__user_to_stage(&user, lo, hi, stage, &copied));
    op->stats->copied_bytes += copied;
    return tutti__sums_add(op->sums, lo + by, f.at ? f.at : stage, hi - lo);
}

tutti_err tutti__own_sums(tutti__op *op, int but) {
    const tutti__side s = op->access->file;
    const tutti_off by = op->shift - op->file->origin;
    tutti__segment stage;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)op->sums->bytes, &stage));
    tutti_off at = tutti__side_next(s, 0), end;
    while (at < TUTTI__OFF_END && err == TUTTI_OK) {
        const tutti_off lo = tutti__sums_next(op->sums, at + by, &end) - by, hi = end - by;
        if (tutti__side_bytes_in(s, lo, hi) == hi - lo)
            err = block_add(op, lo, hi, stage.base, but);
        at = tutti__side_next(s, hi);
    }
    tutti__staging_return(op->file->team, &stage);
    return err;
}
