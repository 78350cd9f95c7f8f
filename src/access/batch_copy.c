/* access: copying between user memory, of one access or of parts, and a stage.
 *
 * Parts without conversion are copied like any access (copy.c).  Parts with conversion are
 * processed piece by piece; short pieces are queued, so that one call converts many of them:
 *
 *   out    memory -> gathered native values -> converted -> scattered to the stage
 *   in     stage -> gathered values -> converted -> scattered to memory
 *
 * The gathered values fit in the first-level cache.  Elements divided by a window, and long pieces,
 * are converted directly between stage and memory (convert.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/batch.h"

#include <string.h>
#include "access/copy_impl.h"

typedef enum { OUT, IN } direction;

/* ---- short pieces */

/* Maximum queued pieces; maximum bytes of a short piece; bytes at which the queue is converted. */
enum { PIECES = 256, SHORT = 256, GATHERED = 4096 };

typedef struct {
    tutti_count element; /* index of the first element */
    char *file, *memory; /* addresses in the stage and in user memory */
    tutti_off bytes;     /* bytes in the file */
} piece;

/* The conversion of a part within one window. */
typedef struct {
    const tutti__batch_part *part;
    direction direction;
    tutti__cuts *cuts;
    tutti_count bad;       /* first element whose value does not fit; -1: none so far */
    tutti_error_info info; /* error of element `bad` */
    tutti_err err;         /* other errors */
    int n;                 /* number of queued pieces */
    tutti_off gathered;    /* bytes of the queued pieces in the file */
    piece piece[PIECES];
} converter;

/* Record the result of a conversion; after TUTTI_ERR_VALUE, `bad` is the first element that does
 * not fit. */
static void record_outcome(converter *c, tutti_err err, tutti_count bad) {
    if (err == TUTTI_OK) return;
    if (err != TUTTI_ERR_VALUE) {
        c->err = err;
    } else if (c->bad < 0) {
        c->bad = bad;
        c->info = *tutti_last_error();
    }
}

static tutti_count queued_element(const converter *c, tutti_count k) {
    const tutti_off size = c->part->convert.file_size;
    for (int i = 0; i < c->n; i++) {
        if (k < c->piece[i].bytes / size) return c->piece[i].element + k;
        k -= c->piece[i].bytes / size;
    }
    return -1;
}

static void convert_queued(converter *c) {
    const tutti__conversion *v = &c->part->convert;
    const tutti_count n = c->gathered / v->file_size;
    char file[GATHERED + SHORT], memory[8 * (GATHERED + SHORT)];
    tutti_count bad = 0;
    char *f = file, *m = memory;
    for (int i = 0; i < c->n; i++) {
        const piece *p = &c->piece[i];
        const size_t in_memory = (size_t)tutti__scaled(v->scale, p->bytes);
        if (c->direction == OUT)
            memcpy(m, p->memory, in_memory);
        else
            memcpy(f, p->file, (size_t)p->bytes);
        m += in_memory;
        f += p->bytes;
    }
    const tutti_err err = c->direction == OUT ? tutti__convert_out(v, file, memory, n, &bad)
                                              : tutti__convert_in(v, memory, file, n, &bad);
    if (err != TUTTI_OK) record_outcome(c, err, queued_element(c, bad));
    f = file;
    m = memory;
    for (int i = 0; i < c->n; i++) {
        const piece *p = &c->piece[i];
        const size_t in_memory = (size_t)tutti__scaled(v->scale, p->bytes);
        if (c->direction == OUT)
            memcpy(p->file, f, (size_t)p->bytes);
        else
            memcpy(p->memory, m, in_memory);
        m += in_memory;
        f += p->bytes;
    }
    c->n = 0;
    c->gathered = 0;
}

/* ---- one part */

/* Convert or queue stream bytes [at, at + bytes), which are contiguous in the stage and in
 * memory. */
static void convert_piece(converter *c, tutti_off at, tutti_off bytes, char *file, char *memory) {
    const tutti__conversion *v = &c->part->convert;
    const int whole = at % v->file_size == 0 && bytes % v->file_size == 0;
    if (whole && bytes <= SHORT) {
        c->piece[c->n++] = (piece){at / v->file_size, file, memory, bytes};
        c->gathered += bytes;
        if (c->n == PIECES || c->gathered >= GATHERED) convert_queued(c);
        return;
    }
    const tutti__image image = {at, at + bytes, file, memory};
    tutti_count bad = 0;
    const tutti_err err = c->direction == OUT ? tutti__image_out(v, &image, &bad)
                                              : tutti__image_in(v, &image, c->cuts, &bad);
    record_outcome(c, err, bad);
}

static tutti_err part_convert(tutti__parts *p, int i, direction d, tutti_off lo, tutti_off hi,
                              char *stage) {
    converter c; /* not zeroed, since the queue is large */
    c.part = &p->batch->part[i];
    c.direction = d;
    c.cuts = &p->io[i].cuts;
    c.bad = -1;
    c.err = TUTTI_OK;
    c.n = 0;
    c.gathered = 0;
    /* convert the bytes of the part in [lo, hi), which are offsets of the batch */
    const tutti_access *a = &c.part->access;
    const tutti__conversion *v = &c.part->convert;
    const tutti_off from = tutti__side_tell(a->file, lo), to = tutti__side_tell(a->file, hi);
    tutti__cursor file, memory;
    tutti__burst f, m;
    tutti__cursor_seek(&file, a->file, from);
    tutti__cursor_seek(&memory, a->memory, from);
    for (tutti_off at = from; at < to;) {
        (void)tutti__cursor_peek(&file, &f);
        (void)tutti__cursor_peek(&memory, &m);
        const tutti_off n = tutti__min(tutti__min(f.bytes, m.bytes), to - at);
        /* runs consist of complete elements */
        const tutti_off element = m.offset - at % v->file_size;
        convert_piece(&c, at, n, stage + (f.offset - lo),
                      tutti__place(p->io[i].buf, tutti__scaled(v->scale, element)));
        tutti__cursor_skip(&file, n);
        tutti__cursor_skip(&memory, n);
        at += n;
    }
    if (c.n > 0) convert_queued(&c);
    if (c.err != TUTTI_OK || c.bad < 0) return c.err;
    return tutti__error_set(
        TUTTI_ERR_VALUE, 0,
        tutti__side_offset(c.part->access.file, c.bad * c.part->convert.file_size),
        "part %d, element %lld: %.200s", i, (long long)c.bad, c.info.text);
}

/* ---- user memory */

enum { SMALL = 32 << 10 }; /* maximum bytes for which using cursors takes as long as copying */

/* Copy a small part that is one run on both sides, the common case; returns 0 for other parts. */
static int run_move(const tutti_access *a, char *buf, direction d, tutti_off lo, tutti_off hi,
                    char *stage) {
    const tutti_off start = tutti__side_lo(a->file);
    const tutti_off from = tutti__max(lo, start), to = tutti__min(hi, tutti__side_hi(a->file));
    if (to - from > SMALL || tutti__side_runs(a->file) > 1 || tutti__side_runs(a->memory) > 1)
        return 0;
    char *memory = tutti__place(buf, tutti__side_lo(a->memory) + from - start);
    if (d == OUT)
        memcpy(stage + (from - lo), memory, (size_t)(to - from));
    else
        memcpy(memory, stage + (from - lo), (size_t)(to - from));
    return 1;
}

/* Copy the bytes of all parts in [lo, hi), part by part, so that the last part determines
 * overlapping bytes. */
static tutti_err parts_move(tutti__parts *p, direction d, tutti_off lo, tutti_off hi, char *stage) {
    tutti_err err = TUTTI_OK;
    tutti_error_info first;
    lo += p->shift;
    hi += p->shift;
    const int n = p->batch->n;
    for (int i = tutti__parts_first(p, lo); i < n && p->io[i].still < hi; i++) {
        const tutti_access *a = &p->batch->part[i].access;
        if (!a->file.node || tutti__side_lo(a->file) >= hi || tutti__side_hi(a->file) <= lo)
            continue;
        tutti_err one = TUTTI_OK;
        if (!p->batch->part[i].convert.identity)
            one = part_convert(p, i, d, lo, hi, stage);
        else if (run_move(a, p->io[i].buf, d, lo, hi, stage))
            continue;
        else if (d == OUT)
            (void)tutti__access_to_stage(a, p->io[i].buf, lo, hi, stage, lo);
        else
            (void)tutti__access_from_stage(a, p->io[i].buf, lo, hi, stage, lo);
        if (one == TUTTI_OK || err != TUTTI_OK) continue;
        err = one;
        first = *tutti_last_error();
    }
    if (err != TUTTI_OK) tutti__error_assign(&first);
    return err;
}

tutti_err tutti__user_to_stage(const tutti__user *u, tutti_off lo, tutti_off hi, void *stage,
                               tutti_off *bytes_out) {
    if (!u->parts) {
        *bytes_out = tutti__access_to_stage(u->access, u->buf, lo, hi, stage, lo);
        return TUTTI_OK;
    }
    *bytes_out = tutti__side_bytes_in(u->access->file, lo, hi);
    /* copy only the bytes of u->access, run by run */
    if (u->trimmed) {
        const tutti__side file = u->access->file;
        tutti__cursor c;
        tutti__burst b;
        tutti_err err = TUTTI_OK;
        tutti_error_info first;
        tutti__cursor_seek(&c, file, tutti__side_tell(file, lo));
        while (tutti__cursor_peek(&c, &b) && b.offset < hi) {
            const tutti_off end = tutti__min(b.offset + b.bytes, hi);
            const tutti_err one = parts_move(u->parts, OUT, b.offset, end, stage + (b.offset - lo));
            tutti__cursor_skip(&c, end - b.offset);
            if (one == TUTTI_OK || err != TUTTI_OK) continue;
            err = one;
            first = *tutti_last_error();
        }
        if (err != TUTTI_OK) tutti__error_assign(&first);
        return err;
    }
    return parts_move(u->parts, OUT, lo, hi, stage);
}

tutti_err tutti__user_from_stage(const tutti__user *u, tutti_off lo, tutti_off hi,
                                 const void *stage, tutti_off *bytes_out) {
    if (!u->parts) {
        *bytes_out = tutti__access_from_stage(u->access, u->buf, lo, hi, stage, lo);
        return TUTTI_OK;
    }
    *bytes_out = tutti__side_bytes_in(u->access->file, lo, hi);
    return parts_move(u->parts, IN, lo, hi, (char *)(uintptr_t)stage);
}
