/* direct: data sieving.  One request reads a section of the file, and the requested bytes are
 * copied from it.  A write, if options allow it, reads a section with holes, copies the requested
 * bytes into the section, and writes the section back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include <string.h>

#include "base/trace.h"
#include "exchange/staging.h"

/* Move the section [lo, hi); its first and last bytes are requested. */
static tutti_err move_section(tutti__op *op, tutti_off lo, tutti_off hi, char *stage) {
    const tutti_access *a = op->access;
    const tutti__user user = tutti__operation_user(op);
    tutti_io_run io = {op->shift + lo, stage, (size_t)(hi - lo)};
    tutti_off done = 0, copied = 0;
    const int full = tutti__side_bytes_in(a->file, lo, hi) == hi - lo;
    const double start = tutti__now();
    tutti_err err = TUTTI_OK;
    if (!op->is_write || !full) err = tutti__store_read(op->store, &io, 1, &done);
    if (err == TUTTI_OK && !op->is_write) {
        if (done < hi - lo)
            return tutti__error_set(TUTTI_ERR_TRUNCATED, 0, io.offset,
                                    "short read: %lld of %lld bytes", (long long)done,
                                    (long long)(hi - lo));
        err = tutti__user_from_stage(&user, lo, hi, stage, &copied);
    } else if (err == TUTTI_OK) {
        if (!full && done < hi - lo) memset(stage + done, 0, (size_t)(hi - lo - done));
        err = tutti__user_to_stage(&user, lo, hi, stage, &copied);
        if (err == TUTTI_OK) err = tutti__store_write(op->store, &io, 1);
    }
    op->moved += copied;
    op->stats->seconds_file += tutti__now() - start;
    op->stats->copied_bytes += copied;
    tutti__trace_event("store", "sieve", start, hi - lo, -1);
    return err;
}

tutti_off tutti__sieve_bytes(const tutti_file *f, tutti_off memory_limit) {
    const tutti_off size = f->opt.sieve_size;
    return memory_limit > 0 ? tutti__min(size, memory_limit / f->team->nodes.largest) : size;
}

tutti_off tutti__private_stage(const tutti__op *op, tutti_off most) {
    const tutti_file *f = op->file;
    const tutti_off share = tutti__max(f->opt.cb_buffer_size / f->team->nodes.largest, 1);
    return tutti__min(tutti__min(most, share), tutti__sieve_bytes(f, op->capacity));
}

/* The buffer is borrowed from the team: malloc would map new pages in each call, which takes longer
 * than the read itself. */
tutti_err tutti__run_sieve(tutti__op *op) {
    const tutti__side s = op->access->file;
    const tutti_off total = tutti__side_tell(s, op->eof);
    const tutti_off size =
        tutti__private_stage(op, tutti__sieve_stage(&op->file->opt, op->is_write, op->cold));
    tutti_off lo, hi, at = 0;
    tutti_err err = TUTTI_OK;
    if (total == 0) return TUTTI_OK;
    const tutti_off span = tutti__side_offset(s, total - 1) + 1 - tutti__side_lo(s);
    tutti__segment stage;
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)tutti__min(size, span), &stage));
    while (err == TUTTI_OK && tutti__operation_stretch(op, size, &at, &lo, &hi)) {
        err = move_section(op, lo, hi, stage.base);
        tutti__file_report(op->file, op->moved, total, "file");
    }
    tutti__staging_return(op->file->team, &stage);
    if (err == TUTTI_OK && op->checksums) err = tutti__checksum_own_blocks(op, 0);
    return err;
}
