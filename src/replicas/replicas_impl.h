/* replicas: the inspector: items that several ranks hold.  decomposition/writers.h chooses the
 * writers.
 *
 *   replicas_choose           choice of writers for lists in one process
 *   coverage                  check whether the ranks list all items of the file
 *   replicas                  the object: creation, validity, queries, release
 *   copies_check              comparison of copies
 *   replicas_move             writing and reading
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPLICAS_IMPL_H
#define TUTTI_REPLICAS_IMPL_H

#include "decomposition/writers.h"
#include "layer/object.h"

extern const tutti__class tutti__replicas_class;

struct tutti_replicas {
    TUTTI__OBJECT;
    uint64_t id; /* identifies the inspector, the same on all ranks */

    /* this rank's items, in the order of the spec */
    tutti_count n;
    tutti_off value_bytes;
    tutti_off item_bytes; /* size of each item, if `sizes` is NULL */
    tutti_off *sizes;     /* [n] size of each item */
    /* [n] byte offsets of the items in the buffer; NULL: consecutive, of equal size */
    tutti_off *memory;
    tutti_count *order;    /* [n] indices of the items by ascending number; NULL: numbers ascend */
    tutti_off *position;   /* [n] byte offset of each item in the file */
    int *writer;           /* [n] rank that writes each item */
    unsigned char *copied; /* [n] whether other ranks also hold the item */
    tutti_access *writes;  /* access of the items that this rank writes */
    tutti_access *reads;   /* access of the items that this rank holds */

    /* the range of this rank in the directory */
    tutti__directory directory;
    tutti__shared_items shared;

    /* values that are the same on all ranks */
    /* first number that no rank lists, so that reads fail; -1: none */
    int64_t missing;
    tutti_off end;                /* end offset of the last item in the file */
    tutti_replicas_share *shares; /* [ranks] items and bytes that each rank writes */
    tutti_replicas_stats stats;
};

/* Return the index of item j in ascending order of numbers. */
static inline tutti_count tutti__replicas_item(const tutti_replicas *r, tutti_count j) {
    return r->order ? r->order[j] : j;
}
static inline tutti_off tutti__replicas_size(const tutti_replicas *r, tutti_count i) {
    return r->sizes ? r->sizes[i] : r->item_bytes;
}
static inline tutti_off tutti__replicas_memory(const tutti_replicas *r, tutti_count i) {
    return r->memory ? r->memory[i] : i * r->item_bytes;
}

/* ---- coverage.c */
/* Send the positions that the holders pass to the ranks of the ranges, and check them.   positions:
 * [n], in the order of the numbers that this rank sent to the directory.   Collective. */
tutti_err tutti__coverage_positions(tutti__team *t, const tutti__directory *d,
                                    const tutti_off *positions, tutti_off value_bytes,
                                    tutti__range_items *g) TUTTI_MUST_USE;
/* Check whether the positions of the items can be determined: the ranks list all items of the file,
 * or positions are given.  Sets r->missing, and r->end if positions are given.   items: field of
 * the spec.   Collective. */
tutti_err tutti__coverage_check(tutti__team *t, const tutti__range_items *g, tutti_count items,
                                tutti_replicas *r) TUTTI_MUST_USE;

/* ---- replicas.c */
/* Check the invariants of an inspector, for TUTTI_ASSERT.   Not collective. */
int tutti__replicas_is_valid(const tutti_replicas *r);
/* Check a handle: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale or MPI has been
 * finalized.   Not collective. */
tutti_err tutti__replicas_live(const tutti_replicas *r) TUTTI_MUST_USE;

/* ---- copies_check.c */
/* Compare all copies of each item bitwise.   t: a team of the ranks of the inspector.   Collective;
 * all ranks must be in the same call for the same inspector. */
tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r,
                              const void *buf) TUTTI_MUST_USE;

#endif
