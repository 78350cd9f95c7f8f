/* access: several accesses in one operation, with type conversion.
 *
 *   batch   the parts of an operation, each an access and a conversion; immutable, shared by
 *           requests and plans.  Memory offsets of a part count bytes as in the file, and are
 *           scaled when memory is accessed (<tutti/parts.h>)
 *   parts   the use of a batch in one operation: buffers, and partially received elements
 *   user    the memory of an operation: one access and its buffer, or parts
 *
 * Plans, windows and descriptions use only the access `all` of a batch: the union of the file sides
 * of its parts, with packed memory.
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
    int largest;              /* index of the part with most bytes; -1: no part has bytes */
    int converts;             /* whether any part has a conversion */
    int united;               /* whether `all` and `overlaps` are set */
    int overlaps;             /* whether some bytes of the file are in several parts */
    tutti_off bytes;          /* sum over the parts */
    tutti_access all;         /* union of the parts */
    tutti__batch_part part[]; /* [n] */
} tutti__batch;

/* Make a batch of n empty parts, each to be set by tutti__batch_put. */
tutti_err tutti__batch_make(int n, tutti__batch **out) TUTTI_MUST_USE;
/* Set part i.  Fails with TUTTI_ERR_ARG for parts that <tutti/parts.h> does not allow. */
tutti_err tutti__batch_put(tutti__batch *b, int i, const tutti_access *a,
                           const tutti_conversion *convert) TUTTI_MUST_USE;
tutti__batch *tutti__batch_ref(tutti__batch *b);
void tutti__batch_drop(tutti__batch **b);
/* Compute b->all.  Takes time proportional to the number of parts, or of runs if parts
 * interleave. */
tutti_err tutti__batch_unite(tutti__batch *b) TUTTI_MUST_USE;
/* Return whether the file sides of all parts of b are those of a, shifted by a common displacement,
 * *by_out. */
int tutti__batch_alike(const tutti__batch *a, const tutti__batch *b, tutti_off *by_out);
size_t tutti__batch_size(const tutti__batch *b); /* memory use in bytes */

/* The use of a batch in an operation. */
typedef struct tutti__parts {
    tutti__batch *batch;
    tutti_off shift; /* offset of the batch minus that of the planned access */
    tutti_off end;   /* end of the file as an offset of the batch; TUTTI__OFF_END: not reached */
    int in_order;    /* whether parts overlap: the last part determines the bytes of a write */
    struct {
        char *buf;
        /* largest end of parts 0 ... i; smallest start of parts i ... n-1 */
        tutti_off reach, still;
        tutti__cuts cuts;
    } io[]; /* [batch->n] */
} tutti__parts;

/* Make the parts of a new operation, with a reference to the batch; the buffers are NULL. */
tutti_err tutti__parts_make(tutti__batch *b, tutti__parts **out) TUTTI_MUST_USE;
tutti_err tutti__parts_copy(const tutti__parts *p, tutti__parts **out) TUTTI_MUST_USE;
void tutti__parts_free(tutti__parts **p);
/* Prepare a transfer by a plan that was made for the batch `planned`; `shift` is the offset of this
 * batch minus that of the planned batch. */
void tutti__parts_start(tutti__parts *p, const tutti__batch *planned, tutti_off shift);
/* Return the index of the first part that may have bytes after file offset `lo`. */
int tutti__parts_first(const tutti__parts *p, tutti_off lo);
/* After a read, copy the repeats and return the number of bytes read, including repeats; bytes
 * after the end of the file, the smaller of p->end and `end` (an offset of the plan), are not
 * counted.  After a write, return the bytes of all parts. */
tutti_off tutti__parts_count(tutti__parts *p, int is_write, tutti_off end);

/* The memory of an operation. */
typedef struct tutti__user {
    const tutti_access *access; /* access in offsets of the plan */
    char *buf;
    tutti__parts *parts; /* NULL: `buf` is the memory of `access` */
    int trimmed;         /* whether parts have bytes outside `access`, which are not transferred */
} tutti__user;

/* Copy bytes with file offsets in [lo, hi) between user memory and a stage that begins at offset
 * lo; *bytes_out is the number of bytes of u->access.  Fails with TUTTI_ERR_VALUE if some values do
 * not fit their type; all bytes are copied nevertheless. */
tutti_err tutti__user_to_stage(const tutti__user *u, tutti_off lo, tutti_off hi, void *stage,
                               tutti_off *bytes_out) TUTTI_MUST_USE;
tutti_err tutti__user_from_stage(const tutti__user *u, tutti_off lo, tutti_off hi,
                                 const void *stage, tutti_off *bytes_out) TUTTI_MUST_USE;

#endif
