/* collective: methods in which every rank accesses the file for itself.
 *
 *   list    runs of the access in batches; `independent` is the same with one file run a batch
 *   sieve   read a stretch of the file at once and pick the named bytes out of it; to write, put
 *           them in and write the stretch back (only where that is allowed)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <string.h>

#include "base/trace.h"

enum { LIST_RUNS = 1024, FEW_RUNS = 16 }; /* of one call; without memory of its own */

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
    if (l->op->plan->is_write) {
        err = tutti__store_write(l->op->store, l->io, l->n);
        done = l->asked;
    } else {
        err = tutti__store_read(l->op->store, l->io, l->n, &done);
    }
    l->op->stats->seconds_file += tutti__now() - start;
    tutti__trace_event("store", l->op->plan->is_write ? "write" : "read", start, l->asked, -1);
    l->ended = l->op->alone && done < l->asked;
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

/* Contiguous in the file and in memory, as it often is. */
static tutti_err list_one(lister *l, const tutti_access *a, tutti_off total) {
    TUTTI_TRY(
        lister_add(l, l->op->shift + tutti__side_lo(a->file), tutti__side_lo(a->memory), total));
    return lister_flush(l);
}

static tutti_err list_pieces(lister *l) {
    const tutti_access *a = l->op->plan->access;
    const tutti_off total = tutti__side_tell(a->file, l->op->eof);
    tutti__cursor file, memory;
    tutti__burst fb, mb;
    if (tutti__side_runs(a->file) == 1 && tutti__side_runs(a->memory) == 1)
        return list_one(l, a, total);
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
    const tutti_access *a = op->plan->access;
    if (tutti__side_bytes(a->file) == 0) return TUTTI_OK;
    if (tutti__side_runs(a->file) + tutti__side_runs(a->memory) > FEW_RUNS) {
        l.room = LIST_RUNS;
        l.io = tutti__malloc(LIST_RUNS * sizeof *l.io);
        if (!l.io) return TUTTI_ERR_NOMEM;
    }
    const tutti_err err = list_pieces(&l);
    if (l.io != few) tutti__free(l.io);
    return err;
}

/* ---- sieve */

int tutti__sieve_can_write(const tutti_file *f) {
    return f->opt.rmw && (f->mode & TUTTI_READ) && (f->mode & TUTTI_WRITE);
}

/* One stretch [lo, hi), whose first and last bytes are named. */
static tutti_err sieve_stretch(tutti__op *op, tutti_off lo, tutti_off hi, char *stage) {
    const tutti_access *a = op->plan->access;
    tutti_io_run io = {op->shift + lo, stage, (size_t)(hi - lo)};
    tutti_off done = 0;
    const int full = tutti__side_bytes_in(a->file, lo, hi) == hi - lo;
    const double start = tutti__now();
    tutti_err err = TUTTI_OK;
    if (!op->plan->is_write || !full) err = tutti__store_read(op->store, &io, 1, &done);
    if (err == TUTTI_OK && !op->plan->is_write) {
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

static tutti_off offset_of(tutti__side s, tutti_off at) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti__cursor_seek(&c, s, at);
    (void)tutti__cursor_peek(&c, &b);
    return b.offset;
}

/* The buffer comes from the team, any thread may borrow: malloc would map fresh pages for each
 * call, which cost more than reading into them. */
tutti_err tutti__run_sieve(tutti__op *op) {
    const tutti__side s = op->plan->access->file;
    const tutti_off total = tutti__side_tell(s, op->eof), size = op->file->opt.sieve_size;
    tutti_err err = TUTTI_OK;
    if (total == 0) return TUTTI_OK;
    const tutti_off span = offset_of(s, total - 1) + 1 - offset_of(s, 0);
    tutti__segment stage;
    TUTTI_TRY(tutti__team_borrow(op->file->team, (size_t)tutti__min(size, span), &stage));
    for (tutti_off at = 0; at < total && err == TUTTI_OK;) {
        const tutti_off lo = offset_of(s, at), limit = tutti__min(lo + size, op->eof);
        const tutti_off next = tutti__side_tell(s, limit);
        err = sieve_stretch(op, lo, offset_of(s, next - 1) + 1, stage.base);
        at = next;
        tutti__file_report(op->file, op->moved, total, "file");
    }
    tutti__team_return(op->file->team, &stage);
    return err;
}
