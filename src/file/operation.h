/* file: an operation as executed by one rank, and the start and end common to all methods.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OPERATION_H
#define TUTTI_OPERATION_H

#include "access/batch.h"
#include "base/sums.h"
#include "file/file.h"

typedef struct tutti__op {
    tutti_file *file;
    tutti_store *store; /* store or background_store of the file */
    tutti_stats *stats;
    /* with `parts`: the planned access; before planning, the largest part */
    const tutti_access *access;
    int is_write;
    char *buf;
    tutti__parts *parts; /* parts with several buffers; NULL: `buf` is the memory of `access` */
    tutti_off base;      /* offset 0 of the request's access, relative to the origin of the file */
    tutti_off shift;     /* file offset of offset 0 of `access`; valid when there is a plan */
    tutti_off eof;       /* reads: end of the file, relative to `shift`; writes: TUTTI__OFF_END */
    /* writes: holes at and after this offset may be written as zeros; relative to `shift` */
    tutti_off zeros;
    int eof_unknown;    /* whether a short read has reached the end of the file */
    tutti_off moved;    /* bytes of this rank transferred so far */
    tutti_off capacity; /* maximum bytes of staging memory per node; 0: that of the options */
    int atomic;         /* atomic mode: ranks access the file one after the other, under a lock */
    int cold;           /* reads: from a device, not from the page cache */
    /* whether the operation is blocking, and no other is pending on this rank in the file */
    int sole;
    tutti__checksums
        *checksums; /* writes: checksums of blocks written by this rank; NULL: not requested */
} tutti__op;

/* Return the user memory of the operation. */
static inline tutti__user tutti__operation_user(const tutti__op *op) {
    return (tutti__user){op->access, op->buf, op->parts, 0};
}

/* ---- start */

/* Check that an access of the caller is not NULL or freed.  Not collective. */
tutti_err tutti__access_usable(const tutti_access *a) TUTTI_MUST_USE;
/* Check the mode of the file, the buffer, and that offsets do not overflow.  Not collective. */
tutti_err tutti__file_allows(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) TUTTI_MUST_USE;
/* Like tutti__file_allows, for all parts.  `bufs`: whether the buffers of the parts are set and are
 * checked. */
tutti_err tutti__file_allows_parts(const tutti_file *f, const tutti__parts *p, int bufs,
                                   int is_write) TUTTI_MUST_USE;
/* Clear the statistics; file accesses of this thread are added to them until
 * tutti__operation_end. */
void tutti__operation_begin(tutti_stats *stats);
/* Get the size of the file; for writes TUTTI__OFF_END, which exceeds every size, if holes beyond
 * the end must not be written as zeros.  Not collective. */
tutti_err tutti__file_end(const tutti__op *op, tutti_off *size_out) TUTTI_MUST_USE;
/* Find the interval [*lo_out, *hi_out) of at most `size` bytes that begins with the byte of the
 * access at stream position *at, ends with a byte of the access, and does not exceed the end of the
 * file.  Advances *at; returns 0 if there are no more bytes.  Not collective. */
int tutti__operation_stretch(const tutti__op *op, tutti_off size, tutti_off *at, tutti_off *lo_out,
                             tutti_off *hi_out);
/* If nodes have caches of the file that may differ: before a read, or a write that may read holes,
 * drop cached data, which other nodes may have changed; after a write, flush delayed data, so that
 * other nodes can read it.  Not collective. */
tutti_err tutti__operation_refresh(const tutti__op *op) TUTTI_MUST_USE;
tutti_err tutti__operation_flush(const tutti__op *op) TUTTI_MUST_USE;

/* ---- end */

/* Complete the statistics of an operation; if `err` is an error, add operation and path.  Returns
 * `err`. */
tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err);

/* ---- statistics and progress */
void tutti__stats_add(tutti_stats *to, const tutti_stats *from);
/* Add to the statistics of the file; `is_last`: also set the statistics of the last operation.
 * Thread-safe. */
void tutti__stats_settle(tutti_file *f, const tutti_stats *stats, int is_last);
/* Call the program's progress callback, if it is set; no effect in a thread of the library. */
void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase);
/* Mark the calling thread as a thread of the library. */
void tutti__worker_mark(void);

#endif
