/* direct: checksums of blocks that one rank writes completely.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include "access/copy_impl.h"
#include "exchange/staging.h"

/* A block in user memory. */
typedef struct {
    const char *at; /* address; NULL if the block is not contiguous or needs a conversion */
    int is_simple;  /* the access has one run in the file and one in memory */
} user_block;

/* Find file bytes [lo, hi) in memory; the access must contain all of them. */
static user_block find_in_access(const tutti_access *a, char *buf, tutti_off lo, tutti_off hi) {
    tutti__cursor c;
    tutti__burst b;
    const int simple = tutti__side_runs(a->file) == 1 && tutti__side_runs(a->memory) == 1;
    tutti__cursor_seek(&c, a->memory, tutti__side_tell(a->file, lo));
    if (!tutti__cursor_peek(&c, &b) || b.bytes < hi - lo) return (user_block){NULL, 0};
    return (user_block){tutti__place(buf, b.offset), simple};
}

static user_block find_in_memory(const tutti__user *u, tutti_off lo, tutti_off hi) {
    const tutti__parts *p = u->parts;
    if (!p) return find_in_access(u->access, u->buf, lo, hi);
    lo += p->shift;
    hi += p->shift;
    for (int i = p->in_order ? p->batch->n : tutti__parts_first(p, lo);
         i < p->batch->n && p->io[i].still < hi; i++) {
        const tutti__batch_part *part = &p->batch->part[i];
        const tutti_off bytes = tutti__side_bytes_in(part->access.file, lo, hi);
        if (bytes == hi - lo && part->convert.identity)
            return find_in_access(&part->access, p->io[i].buf, lo, hi);
        if (bytes > 0) break;
    }
    return (user_block){NULL, 0};
}

tutti_err tutti__checksum_own_blocks(tutti__op *op, int skip_simple) {
    const tutti__side s = op->access->file;
    const tutti__user user = tutti__operation_user(op);
    const tutti_off by = op->shift - op->file->origin;
    tutti__segment stage;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)op->checksums->bytes, &stage));
    tutti_off end;
    for (tutti_off at = tutti__side_next(s, 0); at < TUTTI__OFF_END && err == TUTTI_OK;) {
        const tutti_off lo = tutti__checksums_next(op->checksums, at + by, &end) - by,
                        hi = end - by;
        at = tutti__side_next(s, hi);
        /* other ranks write a part of the block */
        if (tutti__side_bytes_in(s, lo, hi) != hi - lo) continue;
        const user_block b = find_in_memory(&user, lo, hi);
        if (b.at && b.is_simple && skip_simple) continue;
        tutti_off copied = 0;
        if (!b.at) err = tutti__user_to_stage(&user, lo, hi, stage.base, &copied);
        op->stats->copied_bytes += copied;
        if (err == TUTTI_OK)
            err = tutti__checksums_add(op->checksums, lo + by, b.at ? b.at : stage.base, hi - lo);
    }
    tutti__staging_return(op->file->team, &stage);
    return err;
}
