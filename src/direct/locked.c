/* direct: atomic mode.  Every rank accesses the file itself, under a lock on the whole extent of
 * its access: shared to read, exclusive to write.  Conflicting accesses are therefore serialized.
 * A rank that has a lock only accesses the file and does not wait for other ranks, so no deadlock
 * is possible.  Ranks of one collective write that overlap write one after the other, in rank
 * order.
 *
 * Locks do not exclude threads of the same rank, which share its open file, so a mutex
 * (f->atomic.turn) admits one thread at a time.  The end of the file is determined under the lock,
 * too, since a writer may move it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

tutti_err tutti__run_atomic(tutti__op *op) {
    const tutti__side file = op->access->file;
    const tutti_off lo = op->shift + tutti__side_lo(file), hi = op->shift + tutti__side_hi(file);
    const int kind = op->is_write ? TUTTI_STORE_WRITE : TUTTI_STORE_READ;
    if (tutti__side_bytes(file) == 0) return TUTTI_OK;
    op->eof = TUTTI__OFF_END;
    op->eof_unknown = 1;
    pthread_mutex_lock(&op->file->atomic.turn);
    tutti_err err = tutti__store_lock(op->file->store, kind, lo, hi);
    if (err == TUTTI_OK) {
        err = tutti__operation_refresh(op);
        if (err == TUTTI_OK) err = tutti__run_list(op, TUTTI__LIST_BATCH);
        if (err == TUTTI_OK) err = tutti__operation_flush(op);
        err = TUTTI_ALSO(err, tutti__store_lock(op->file->store, 0, lo, hi));
    }
    pthread_mutex_unlock(&op->file->atomic.turn);
    return err;
}

/* Lock and unlock a byte beyond all possible bytes of files, where no other lock can conflict. */
tutti_err tutti__locks_try(tutti_file *f) {
    const tutti_off lo = TUTTI__OFF_LIMIT, hi = TUTTI__OFF_LIMIT + 1;
    const int kind = f->mode & TUTTI_WRITE ? TUTTI_STORE_WRITE : TUTTI_STORE_READ;
    TUTTI_TRY(tutti__store_lock(f->store, kind, lo, hi));
    return tutti__store_lock(f->store, 0, lo, hi);
}
