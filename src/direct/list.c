/* direct: list I/O accesses the runs of an operation in batches, one request per batch;
 * `independent` is list I/O with one file run per batch.  Pieces are contiguous in the file and in
 * memory.  Converted values, and memory that is much more scattered than the file, are copied
 * through a buffer (the stage), one section of the file at a time; holes are neither read nor
 * written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "direct/direct.h"

#include "access/copy_impl.h"
#include "base/trace.h"
#include "exchange/staging.h"

enum { FEW_RUNS = 16 };                            /* more runs than this need an allocated list */
static const tutti_off CHECKSUM_BYTES = 512 << 10; /* bytes per write if checksums are computed */

/* ---- batches */

typedef struct {
    tutti__op *op;
    tutti_io_run *io;
    int n, capacity;      /* runs in `io`: used, allocated */
    int file_runs, batch; /* file runs in `io`, and their maximal number */
    tutti_off requested;  /* total size of the runs in `io` */
    tutti_off total;      /* bytes of the operation, for progress reports */
    int at_eof;           /* a read has reached the end of the file */
} io_list;

static tutti_err submit_batch(io_list *l) {
    tutti_off done = 0;
    if (l->n == 0) return TUTTI_OK;
    const double start = tutti__now();
    tutti_err err;
    if (l->op->is_write) {
        err = tutti__store_write(l->op->store, l->io, l->n);
        done = l->requested;
    } else {
        err = tutti__store_read(l->op->store, l->io, l->n, &done);
    }
    l->op->stats->seconds_file += tutti__now() - start;
    tutti__trace_event("store", l->op->is_write ? "write" : "read", start, l->requested, -1);
    l->at_eof = l->op->eof_unknown && done < l->requested;
    if (err == TUTTI_OK && done < l->requested && !l->at_eof)
        err = tutti__error_set(TUTTI_ERR_TRUNCATED, 0, l->io[0].offset,
                               "short read: %lld of %lld bytes", (long long)done,
                               (long long)l->requested);
    l->op->moved += done;
    l->n = l->file_runs = 0;
    l->requested = 0;
    return err;
}

/* Add one piece, which is contiguous in the file and in memory. */
static tutti_err add_io_piece(io_list *l, tutti_off file, char *memory, tutti_off bytes) {
    const int joins = l->n > 0 && l->io[l->n - 1].offset + (tutti_off)l->io[l->n - 1].bytes == file;
    if (l->n == l->capacity || (!joins && l->file_runs == l->batch)) TUTTI_TRY(submit_batch(l));
    l->file_runs += !joins || l->n == 0;
    l->io[l->n++] = (tutti_io_run){file, memory, (size_t)bytes};
    l->requested += bytes;
    return TUTTI_OK;
}

/* Return whether checksums are computed while simple accesses are written. */
static int checksums_early(const tutti__op *op) {
    return op->is_write && op->checksums && !(op->parts && op->parts->in_order);
}

/* Write a long piece a few blocks at a time, so that each block is still in the processor cache
 * when it is written after its checksum has been computed. */
static tutti_err write_with_checksums(io_list *l, tutti_off file, char *memory, tutti_off bytes) {
    const tutti_off start = file - l->op->file->origin;
    const tutti_off some = tutti__max(CHECKSUM_BYTES, l->op->checksums->bytes);
    for (tutti_off at = 0, n; at < bytes; at += n) {
        const tutti_off end = tutti__checksums_floor(l->op->checksums, start + at + some, some);
        n = tutti__min(end - (start + at), bytes - at);
        TUTTI_TRY(tutti__checksums_add(l->op->checksums, start + at, memory + at, n));
        TUTTI_TRY(add_io_piece(l, file + at, memory + at, n));
        TUTTI_TRY(submit_batch(l));
        tutti__file_report(l->op->file, l->op->moved, l->total, "file");
    }
    return TUTTI_OK;
}

/* Move stream bytes [0, total) of an access whose offset 0 is at file offset `shift`. */
static tutti_err move_access(io_list *l, const tutti_access *a, char *buf, tutti_off shift,
                             tutti_off total) {
    tutti__cursor file, memory;
    tutti__burst fb, mb;
    if (tutti__side_runs(a->file) == 1 && tutti__side_runs(a->memory) == 1) {
        char *at = tutti__place(buf, tutti__side_lo(a->memory));
        const tutti_off from = shift + tutti__side_lo(a->file);
        return checksums_early(l->op) ? write_with_checksums(l, from, at, total)
                                      : add_io_piece(l, from, at, total);
    }
    tutti__cursor_seek(&file, a->file, 0);
    tutti__cursor_seek(&memory, a->memory, 0);
    for (tutti_off at = 0; at < total && !l->at_eof;) {
        (void)tutti__cursor_peek(&file, &fb);
        (void)tutti__cursor_peek(&memory, &mb);
        const tutti_off n = tutti__min(tutti__min(fb.bytes, mb.bytes), total - at);
        TUTTI_TRY(add_io_piece(l, shift + fb.offset, tutti__place(buf, mb.offset), n));
        tutti__cursor_skip(&file, n);
        tutti__cursor_skip(&memory, n);
        at += n;
        tutti__file_report(l->op->file, l->op->moved, l->total, "file");
    }
    return TUTTI_OK;
}

/* ---- parts */

/* Parts are moved one after the other if they overlap, or if the end of the file is unknown. */
static tutti_err move_parts(io_list *l) {
    tutti__op *op = l->op;
    tutti__parts *p = op->parts;
    const tutti_off eof = op->eof < TUTTI__OFF_END ? op->eof + p->shift : op->eof;
    l->total = p->batch->bytes;
    const int one_by_one = op->eof_unknown || (op->is_write && p->in_order);
    for (int i = 0; i < p->batch->n; i++) {
        const tutti_access *a = &p->batch->part[i].access;
        const tutti_off total = tutti__side_tell(a->file, eof), before = op->moved;
        if (total > 0) TUTTI_TRY(move_access(l, a, p->io[i].buf, op->shift - p->shift, total));
        if (one_by_one) TUTTI_TRY(submit_batch(l));
        if (!l->at_eof) continue;
        p->end = tutti__min(p->end, tutti__side_offset(a->file, op->moved - before));
        l->at_eof = 0;
    }
    return submit_batch(l);
}

/* ---- transfers through a buffer (the stage) */

/* Add the checksums of the runs in the section [lo, hi), which is in `stage`; `from` is the stream
 * position of its first byte. */
static tutti_err checksum_section(const tutti__op *op, tutti_off from, tutti_off lo, tutti_off hi,
                                  const char *stage) {
    const tutti_off by = op->shift - op->file->origin;
    tutti_off begin = lo, end = lo; /* bounds of the current run */
    tutti__cursor c;
    tutti__burst b;
    tutti__cursor_seek(&c, op->access->file, from);
    while (tutti__cursor_peek(&c, &b) && b.offset < hi) {
        const tutti_off n = tutti__min(b.bytes, hi - b.offset);
        if (b.offset != end) {
            TUTTI_TRY(
                tutti__checksums_add(op->checksums, begin + by, stage + (begin - lo), end - begin));
            begin = b.offset;
        }
        end = b.offset + n;
        tutti__cursor_skip(&c, n);
    }
    return tutti__checksums_add(op->checksums, begin + by, stage + (begin - lo), end - begin);
}

/* Move the section [lo, hi) of the file through `stage`; `from` is the stream position of its first
 * byte. */
static tutti_err move_section_staged(io_list *l, tutti_off from, tutti_off lo, tutti_off hi,
                                     char *stage) {
    tutti__op *op = l->op;
    const tutti__user user = tutti__operation_user(op);
    const tutti__side s = op->access->file;
    const tutti_off before = op->moved;
    tutti_off copied = 0;
    tutti__cursor c;
    tutti__burst b;
    if (op->is_write) TUTTI_TRY(tutti__user_to_stage(&user, lo, hi, stage, &copied));
    if (op->is_write && op->checksums) TUTTI_TRY(checksum_section(op, from, lo, hi, stage));
    tutti__cursor_seek(&c, s, from);
    while (!l->at_eof && tutti__cursor_peek(&c, &b) && b.offset < hi) {
        const tutti_off n = tutti__min(b.bytes, hi - b.offset);
        TUTTI_TRY(add_io_piece(l, op->shift + b.offset, stage + (b.offset - lo), n));
        tutti__cursor_skip(&c, n);
    }
    TUTTI_TRY(submit_batch(l));
    if (!op->is_write) {
        const tutti_off end = tutti__side_offset(s, from + op->moved - before);
        TUTTI_TRY(tutti__user_from_stage(&user, lo, tutti__min(hi, end), stage, &copied));
        if (l->at_eof && op->parts) op->parts->end = end + op->parts->shift;
    }
    op->stats->copied_bytes += copied;
    return TUTTI_OK;
}

static tutti_err move_staged(io_list *l) {
    tutti__op *op = l->op;
    const tutti__side s = op->access->file;
    const tutti_off block = op->is_write && op->checksums ? op->checksums->bytes : 1;
    const tutti_off size = tutti__max(tutti__private_stage(op, TUTTI__WARM_STAGE), block);
    tutti_off lo, hi, at = 0;
    tutti__segment stage;
    tutti_err err = TUTTI_OK;
    const tutti_off span = tutti__side_hi(s) - tutti__side_lo(s);
    TUTTI_TRY(tutti__staging_borrow(op->file->team, (size_t)tutti__min(size, span), &stage));
    for (tutti_off from = 0; err == TUTTI_OK && !l->at_eof; from = at) {
        if (from >= tutti__side_bytes(s)) break;
        /* with checksums, sections end at block boundaries, so that no block is divided */
        const tutti_off begin = tutti__side_offset(s, from) + op->shift - op->file->origin;
        const tutti_off most =
            block > 1 ? tutti__checksums_floor(op->checksums, begin + size, block) - begin : size;
        if (!tutti__operation_stretch(op, most, &at, &lo, &hi)) break;
        err = move_section_staged(l, from, lo, hi, stage.base);
    }
    tutti__staging_return(op->file->team, &stage);
    return err;
}

/* ---- the method */

tutti_err tutti__run_list(tutti__op *op, int batch) {
    tutti_io_run few[FEW_RUNS];
    io_list l = {.op = op, .io = few, .capacity = FEW_RUNS, .batch = batch};
    const tutti_access *a = op->access;
    const tutti__batch *b = op->parts ? op->parts->batch : NULL;
    if (tutti__side_bytes(a->file) == 0) return TUTTI_OK;
    if (op->parts || tutti__side_runs(a->file) + tutti__side_runs(a->memory) > FEW_RUNS) {
        l.capacity = TUTTI__LIST_BATCH;
        l.io = tutti__malloc(TUTTI__LIST_BATCH * sizeof *l.io);
        if (!l.io) return TUTTI_ERR_NOMEM;
    }
    /* In scattered memory, many I/O vector entries take longer than a copy through the stage. */
    tutti_count runs = b ? 0 : tutti__side_runs(a->memory);
    for (int i = 0; b && i < b->n; i++) runs += tutti__side_runs(b->part[i].access.memory);
    const int scattered = runs > 2 * tutti__side_runs(a->file) + FEW_RUNS &&
                          tutti__side_bytes(a->file) / runs < TUTTI__SCATTERED;
    const int staged = (b && b->converts) || scattered;
    tutti_err err = TUTTI_OK;
    if (staged) {
        err = move_staged(&l);
    } else if (op->parts) {
        err = move_parts(&l);
    } else {
        l.total = tutti__side_tell(a->file, op->eof);
        if (l.total > 0) err = move_access(&l, a, op->buf, op->shift, l.total);
        if (err == TUTTI_OK) err = submit_batch(&l);
    }
    if (l.io != few) tutti__free(l.io);
    if (err == TUTTI_OK && op->checksums && !staged)
        err = tutti__checksum_own_blocks(op, checksums_early(op));
    return err;
}
