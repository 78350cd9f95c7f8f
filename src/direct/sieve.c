/* direct: data sieving: a stretch of the file is read at once and the named bytes are picked out
 * of it; to write, they are put in and the stretch is written back (only where that is allowed).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include <string.h>

#include "base/trace.h"
#include "exchange/staging.h"

/* One stretch [lo, hi), whose first and last bytes are named. */
static tutti_err sieve_stretch(tutti__op *op, tutti_off lo, tutti_off hi, char *stage) {
    const tutti_access *a = op->access;
    tutti_io_run io = {op->shift + lo, stage, (size_t)(hi - lo)};
    tutti_off done = 0;
    const int full = tutti__side_bytes_in(a->file, lo, hi) == hi - lo;
    const double start = tutti__now();
    tutti_err err = TUTTI_OK;
    if (!op->is_write || !full) err = tutti__store_read(op->store, &io, 1, &done);
    if (err == TUTTI_OK && !op->is_write) {
        if (done < hi - lo)
            return tutti__error_set(TUTTI_ERR_TRUNCATED, 0, io.offset,
                                    "%lld of %lld bytes are gone", (long long)(hi - lo - done),
                                    (long long)(hi - lo));
        op->moved += tutti__access_from_stage(a, op->buf, lo, hi, stage, lo);
    } else if (err == TUTTI_OK) {
        if (!full && done < hi - lo) memset(stage + done, 0, (size_t)(hi - lo - done));
        op->moved += tutti__access_to_stage(a, op->buf, lo, hi, stage, lo);
        err = tutti__store_write(op->store, &io, 1);
    }
    op->stats->seconds_file += tutti__now() - start;
    op->stats->copied_bytes += tutti__side_bytes_in(a->file, lo, hi);
    tutti__trace_event("store", "sieve", start, hi - lo, -1);
    return err;
}

tutti_off tutti__sieve_bytes(const tutti_file *f, tutti_off room) {
    const tutti_off size = f->opt.sieve_size;
    return room > 0 ? tutti__min(size, room / f->team->nodes.largest) : size;
}

static tutti_off offset_of(tutti__side s, tutti_off at) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti__cursor_seek(&c, s, at);
    (void)tutti__cursor_peek(&c, &b);
    return b.offset;
}

/* The buffer comes from the team, and any thread may borrow: malloc would map fresh pages for
 * each call, which cost more than reading into them. */
tutti_err tutti__run_sieve(tutti__op *op) {
    const tutti__side s = op->access->file;
    const tutti_off total = tutti__side_tell(s, op->eof),
                    size = tutti__sieve_bytes(op->file, op->room);
    tutti_err err = TUTTI_OK;
    if (total == 0) return TUTTI_OK;
    const tutti_off span = offset_of(s, total - 1) + 1 - offset_of(s, 0);
    tutti__segment stage;
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)tutti__min(size, span), &stage));
    for (tutti_off at = 0; at < total && err == TUTTI_OK;) {
        const tutti_off lo = offset_of(s, at), limit = tutti__min(lo + size, op->eof);
        const tutti_off next = tutti__side_tell(s, limit);
        err = sieve_stretch(op, lo, offset_of(s, next - 1) + 1, stage.base);
        at = next;
        tutti__file_report(op->file, op->moved, total, "file");
    }
    tutti__staging_return(op->file->team, &stage);
    return err;
}
