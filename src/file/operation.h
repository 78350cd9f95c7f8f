/* file: the share of one rank of one operation: its bytes, their positions, its progress; and
 * the common start and end of all operations, for all methods.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPERATION_H
#define TUTTI_OPERATION_H

#include "access/batch.h"
#include "base/sums.h"
#include "file/file.h"

typedef struct tutti__op {
    tutti_file *file;
    tutti_store *store; /* the file's, or the one for the background */
    tutti_stats *stats;
    const tutti_access
        *access; /* of parts: the planned access; before planning, the largest of them */
    int is_write;
    char *buf;
    tutti__parts *parts; /* NULL: `buf` is the memory of `access` */
    tutti_off base;  /* offset 0 of the access of the request, relative to the origin of the file */
    tutti_off shift; /* file offset of the access's offset 0, once a plan is known */
    tutti_off eof;   /* reads: end of the file, relative to shift; writes: TUTTI__OFF_END */
    tutti_off zeros; /* writes: holes beyond this may be written as zeros; relative to shift */
    int eof_unknown; /* a short read has reached the end of the file */
    tutti_off moved; /* bytes of this rank that are done */
    tutti_off room;  /* limit of staging memory per node; 0: that of the options */
    int atomic;      /* every rank separately, under a lock */
    int cold;        /* reads: from a device, not from the page cache */
    int sole;        /* it is blocking, and this rank has no other pending operation in the file */
    tutti__sums *sums; /* writes: checksums of blocks written by this rank; NULL: not requested */
} tutti__op;

/* The memory that it moves bytes to or from. */
static inline tutti__user tutti__operation_user(const tutti__op *op) {
    return (tutti__user){op->access, op->buf, op->parts, 0};
}

/* ---- before */

/* Whether an access of the caller can be used.   Not collective. */
tutti_err tutti__access_usable(const tutti_access *a) TUTTI_MUST_USE;
/* Whether this rank may do that, with a usable access.   Not collective. */
tutti_err tutti__file_allows(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) TUTTI_MUST_USE;
/* The same with parts.  `bufs`: they have their buffers already. */
tutti_err tutti__file_allows_parts(const tutti_file *f, const tutti__parts *p, int bufs,
                                   int is_write) TUTTI_MUST_USE;
/* Start of the statistics; file accesses of this thread are counted in them from now on. */
void tutti__operation_begin(tutti_stats *stats);
/* The value of this rank for the first agreement: for reads the size of the file; for writes its
 * size if holes after it may be written as zeros, and otherwise TUTTI__OFF_END, which exceeds
 * every size.   Not collective. */
tutti_err tutti__file_end(const tutti__op *op, tutti_off *size_out) TUTTI_MUST_USE;
/* The next bytes from stream position *at on that are within `size` bytes of the file, and before
 * its end: [*lo_out, *hi_out), whose first and last byte belong to the access, and the position to
 * continue at.  Returns 0 if there are none.   Not collective. */
int tutti__operation_stretch(const tutti__op *op, tutti_off size, tutti_off *at, tutti_off *lo_out,
                             tutti_off *hi_out);
/* For nodes with separate caches: before a read, or a write with holes that may be read, drop
 * cached data that others may have changed; after a write flush delayed data, so that a later
 * operation reads it.   Not collective. */
tutti_err tutti__operation_refresh(const tutti__op *op) TUTTI_MUST_USE;
tutti_err tutti__operation_flush(const tutti__op *op) TUTTI_MUST_USE;

/* ---- after */

/* End of the statistics; names operation and file in the error, if there is one, and returns it. */
tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err);

/* ---- accounts */
void tutti__stats_add(tutti_stats *to, const tutti_stats *from);
/* Add to the file's statistics; `is_last`: it was an operation, whose own statistics are reported
 * as those of the last one.  Any thread. */
void tutti__stats_settle(tutti_file *f, const tutti_stats *stats, int is_last);
/* The program's progress callback, if it has one; never from a thread of the library. */
void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase);
/* From now on the calling thread runs operations in the background. */
void tutti__worker_mark(void);

#endif
