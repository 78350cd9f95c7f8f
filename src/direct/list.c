/* direct: list I/O: the runs of the access in batches, each one request; `independent` is the same
 * with one run of the file a batch.  Pieces are contiguous in the file and in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include <string.h>

#include "base/trace.h"

enum { FEW_RUNS = 16 }; /* of one call without memory of its own */

/* ---- list */

typedef struct {
    tutti__op *op;
    tutti_io_run *io;
    int n, room;
    int file_runs, batch;
    tutti_off asked;
    int ended; /* the file has */
} lister;

static tutti_err lister_flush(lister *l) {
    tutti_off done = 0;
    if (l->n == 0) return TUTTI_OK;
    const double start = tutti__now();
    tutti_err err;
    if (l->op->is_write) {
        err = tutti__store_write(l->op->store, l->io, l->n);
        done = l->asked;
    } else {
        err = tutti__store_read(l->op->store, l->io, l->n, &done);
    }
    l->op->stats->seconds_file += tutti__now() - start;
    tutti__trace_event("store", l->op->is_write ? "write" : "read", start, l->asked, -1);
    l->ended = l->op->eof_unknown && done < l->asked;
    if (err == TUTTI_OK && done < l->asked && !l->ended)
        err =
            tutti__error_set(TUTTI_ERR_TRUNCATED, 0, l->io[0].offset, "%lld of %lld bytes are gone",
                             (long long)(l->asked - done), (long long)l->asked);
    l->op->moved += done;
    l->n = l->file_runs = 0;
    l->asked = 0;
    return err;
}

/* One piece, contiguous in the file and in memory. */
static tutti_err lister_add(lister *l, tutti_off file, tutti_off memory, tutti_off bytes) {
    const int joins = l->n > 0 && l->io[l->n - 1].offset + (tutti_off)l->io[l->n - 1].bytes == file;
    if (l->n == l->room || (!joins && l->file_runs == l->batch)) TUTTI_TRY(lister_flush(l));
    l->file_runs += !joins || l->n == 0;
    l->io[l->n++] = (tutti_io_run){file, l->op->buf + memory, (size_t)bytes};
    l->asked += bytes;
    return TUTTI_OK;
}

static tutti_err list_pieces(lister *l) {
    const tutti_access *a = l->op->access;
    const tutti_off total = tutti__side_tell(a->file, l->op->eof);
    tutti__cursor file, memory;
    tutti__burst fb, mb;
    if (tutti__side_runs(a->file) == 1 && tutti__side_runs(a->memory) == 1) { /* as it often is */
        const tutti_off at = l->op->shift + tutti__side_lo(a->file);
        TUTTI_TRY(lister_add(l, at, tutti__side_lo(a->memory), total));
        return lister_flush(l);
    }
    tutti__cursor_seek(&file, a->file, 0);
    tutti__cursor_seek(&memory, a->memory, 0);
    for (tutti_off at = 0; at < total && !l->ended;) {
        (void)tutti__cursor_peek(&file, &fb);
        (void)tutti__cursor_peek(&memory, &mb);
        const tutti_off n = tutti__min(tutti__min(fb.bytes, mb.bytes), total - at);
        TUTTI_TRY(lister_add(l, l->op->shift + fb.offset, mb.offset, n));
        tutti__cursor_skip(&file, n);
        tutti__cursor_skip(&memory, n);
        at += n;
        tutti__file_report(l->op->file, l->op->moved, total, "file");
    }
    return lister_flush(l);
}

tutti_err tutti__run_list(tutti__op *op, int batch) {
    tutti_io_run few[FEW_RUNS];
    lister l = {.op = op, .io = few, .room = FEW_RUNS, .batch = batch};
    const tutti_access *a = op->access;
    if (tutti__side_bytes(a->file) == 0) return TUTTI_OK;
    if (tutti__side_runs(a->file) + tutti__side_runs(a->memory) > FEW_RUNS) {
        l.room = TUTTI__LIST_BATCH;
        l.io = tutti__malloc(TUTTI__LIST_BATCH * sizeof *l.io);
        if (!l.io) return TUTTI_ERR_NOMEM;
    }
    const tutti_err err = list_pieces(&l);
    if (l.io != few) tutti__free(l.io);
    return err;
}
