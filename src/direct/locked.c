/* direct: atomic mode.  Every access is carried out by its own rank, under a lock on its whole
 * extent in the file: shared to read, exclusive to write.  So whatever conflicts happens one after
 * the other.  Who holds a lock only accesses the file and waits for nobody, so nothing can hang;
 * ranks of one collective write that overlap write one after the other, in rank order, as ever.
 *
 * Threads of a rank share its open file, against which its own locks do not hold: one of them
 * accesses it at a time (f->atomic_turn).  The end of the file is looked for under the lock too: a
 * writer may be moving it.
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

/* Are there locks at all?  Asked far behind all bytes, where nobody else has any. */
tutti_err tutti__locks_try(tutti_file *f) {
    const tutti_off lo = TUTTI__OFF_LIMIT, hi = TUTTI__OFF_LIMIT + 1;
    const int kind = f->mode & TUTTI_WRITE ? TUTTI_STORE_WRITE : TUTTI_STORE_READ;
    TUTTI_TRY(tutti__store_lock(f->store, kind, lo, hi));
    return tutti__store_lock(f->store, 0, lo, hi);
}
