/* access: several accesses in one operation, with type conversion.
 *
 *   batch   the parts of an operation, each an access and a conversion: immutable,
 *           shared by requests and plans.  The access of a part has bytes of the file on both sides:
 *           memory offsets are scaled when memory is accessed (<tutti/parts.h>)
 *   parts   a batch in one operation: its buffers, and partially received elements
 *   user    the memory of any operation: one access and its buffer, or parts
 *
 * Plans, windows and descriptions use one access of a batch only, `all`: the union of the bytes
 * of the file of its parts have together, and memory as if these were packed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BATCH_H
#define TUTTI_BATCH_H

#include <tutti/element_types.h>
#include "access/convert.h"
#include "access/side.h"

typedef struct tutti__batch_part {
    tutti_access access;
    tutti__conversion convert;
} tutti__batch_part;

typedef struct tutti__batch {
    atomic_int refs;
    int n;
    int largest;  /* the part with most bytes; -1: none has any */
    int converts; /* some part does */
    int united;   /* `all` is known, */
    int overlaps; /* and whether some bytes of the file are in several parts */
    tutti_off bytes;
    tutti_access all;
    tutti__batch_part part[];
} tutti__batch;

/* Empty parts; fill each with tutti__batch_put. */
tutti_err tutti__batch_make(int n, tutti__batch **out) TUTTI_MUST_USE;
/* Part i.  Fails with TUTTI_ERR_ARG for parts that parts.h does not allow. */
tutti_err tutti__batch_put(tutti__batch *b, int i, const tutti_access *a,
                           const tutti_conversion *convert) TUTTI_MUST_USE;
tutti__batch *tutti__batch_ref(tutti__batch *b);
void tutti__batch_drop(tutti__batch **b);
/* Compute `all`, by the rank that created it.  Takes time in proportion to its parts; if they
 * interleave, to their runs. */
tutti_err tutti__batch_unite(tutti__batch *b) TUTTI_MUST_USE;
/* Return whether the parts of both have the same shape in the file with a common displacement, and
 * that of b. */
int tutti__batch_alike(const tutti__batch *a, const tutti__batch *b, tutti_off *by_out);
size_t tutti__batch_size(const tutti__batch *b); /* its memory use in bytes */

/* One operation's. */
typedef struct tutti__parts {
    tutti__batch *batch;
    tutti_off shift; /* distance of the batch from the access that was planned */
    tutti_off end;   /* end of the file, if it was reached: an offset of the batch */
    int in_order;    /* parts overlap: a write uses the bytes of the last one */
    struct {
        char *buf;
        tutti_off reach, still; /* end of the parts up to this one, and start of those from it on */
        tutti__cuts cuts;
    } io[];
} tutti__parts;

/* Shares the batch; buffers are NULL. */
tutti_err tutti__parts_make(tutti__batch *b, tutti__parts **out) TUTTI_MUST_USE;
tutti_err tutti__parts_copy(const tutti__parts *p, tutti__parts **out) TUTTI_MUST_USE;
void tutti__parts_free(tutti__parts **p);
/* Before a transfer by a plan that was made for `planned`: the distance of these bytes from it. */
void tutti__parts_start(tutti__parts *p, const tutti__batch *planned, tutti_off shift);
/* The first part of the batch that may have bytes after file offset `lo`. */
int tutti__parts_first(const tutti__parts *p, tutti_off lo);
/* After a read: stream bytes before the end of the file, which is `end` unless it was reached before
 * (an offset of the plan), and their repeats, which are filled.   After a write: all bytes. */
tutti_off tutti__parts_count(tutti__parts *p, int is_write, tutti_off end);

typedef struct tutti__user {
    const tutti_access *access; /* in offsets of the plan */
    char *buf;
    tutti__parts *parts; /* NULL: `buf` is the memory of `access` */
    int trimmed;         /* parts have bytes that are not in `access`: they are not transferred */
} tutti__user;

/* Copy bytes with file offsets in [lo, hi) between user memory and a stage that begins at
 * offset lo.   *bytes_out: bytes of `access` there.  TUTTI_ERR_VALUE: some do not fit their type;
 * all are copied nevertheless. */
tutti_err tutti__user_to_stage(const tutti__user *u, tutti_off lo, tutti_off hi, void *stage,
                               tutti_off *bytes_out) TUTTI_MUST_USE;
tutti_err tutti__user_from_stage(const tutti__user *u, tutti_off lo, tutti_off hi,
                                 const void *stage, tutti_off *bytes_out) TUTTI_MUST_USE;

#endif
