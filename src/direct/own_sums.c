/* direct: checksums of blocks that one rank writes all of.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include "access/copy_impl.h"
#include "exchange/staging.h"

/* Where [lo, hi) is in the user's memory, if it is there in one piece and as it will be in the
 * file. */
static const char *in_memory(const tutti__user *u, tutti_off lo, tutti_off hi) {
    tutti__cursor c;
    tutti__burst b;
    if (u->parts) return NULL;
    tutti__cursor_seek(&c, u->access->memory, tutti__side_tell(u->access->file, lo));
    if (!tutti__cursor_peek(&c, &b) || b.bytes < hi - lo) return NULL;
    return tutti__place(u->buf, b.offset);
}

static tutti_err block_add(tutti__op *op, tutti_off lo, char *stage) {
    const tutti__user user = tutti__operation_user(op);
    const tutti_off hi = lo + op->sums->bytes, by = op->shift - op->file->origin;
    tutti_off copied = 0;
    const char *at = in_memory(&user, lo, hi);
    if (!at) TUTTI_TRY(tutti__user_to_stage(&user, lo, hi, stage, &copied));
    op->stats->copied_bytes += copied;
    return tutti__sums_add(op->sums, lo + by, at ? at : stage, op->sums->bytes);
}

tutti_err tutti__own_sums(tutti__op *op) {
    const tutti__side s = op->access->file;
    const tutti_off block = op->sums->bytes, by = op->shift - op->file->origin;
    tutti__segment stage;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)block, &stage));
    tutti_off lo = tutti__side_next(s, 0);
    while (lo < TUTTI__OFF_END && err == TUTTI_OK) {
        const tutti_off first = tutti__align_up(lo + by, block) - by; /* the block from there on */
        if (tutti__side_bytes_in(s, first, first + block) == block)
            err = block_add(op, first, stage.base);
        lo = tutti__side_next(s, first + block);
    }
    tutti__staging_return(op->file->team, &stage);
    return err;
}
