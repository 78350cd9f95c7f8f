/* replicas: the inspector: items that several ranks hold.  decomposition/writers.h chooses the
 * writers.
 *
 *   replicas_choose           the same for lists in one process
 *   coverage                  whether the ranks name all items of the file
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
    uint64_t id; /* the same on all ranks */

    /* this rank's items, in the order of the spec */
    tutti_count n;
    tutti_off value_bytes;
    tutti_off item_bytes;  /* size of each item, if `sizes` is NULL */
    tutti_off *sizes;      /* [n] size of each item */
    tutti_off *memory;     /* [n] offsets of the items; NULL: consecutive, all of one size */
    tutti_count *order;    /* [n] the items by ascending number; NULL: they are ascending */
    tutti_off *position;   /* [n] in the file */
    int *writer;           /* [n] */
    unsigned char *copied; /* [n] whether other ranks hold it too */
    tutti_access *writes;  /* the items that this rank writes */
    tutti_access *reads;   /* the items that it holds */

    /* the range of this rank in the directory */
    tutti__directory directory;
    tutti__shared_items shared;

    /* of all ranks */
    int64_t missing;              /* first number that no rank names: reads are refused; -1: none */
    tutti_off end;                /* of the last item in the file */
    tutti_replicas_share *shares; /* [ranks] */
    tutti_replicas_stats stats;
};

/* Entry j in ascending order of numbers. */
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
/* Send the positions that the holders give to the ranges, and check them.  positions: [n] of the
 * numbers that this rank sent to the directory.   Collective. */
tutti_err tutti__coverage_positions(tutti__team *t, const tutti__directory *d,
                                    const tutti_off *positions, tutti_off value_bytes,
                                    tutti__range_items *g) TUTTI_MUST_USE;
/* Test whether the ranks list all items of the file, or the items can be found without the others.
 * Sets `missing`, and `end` if positions are given.  items: of the spec.   Collective. */
tutti_err tutti__coverage_check(tutti__team *t, const tutti__range_items *g, tutti_count items,
                                tutti_replicas *r) TUTTI_MUST_USE;

/* ---- replicas.c */
/* Fail unless the inspector may be used: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is
 * stale or MPI has been finalised.   Not collective. */
int tutti__replicas_is_valid(const tutti_replicas *r);
/* Check that it is usable.  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after MPI_Finalize.  
 * Not collective. */
tutti_err tutti__replicas_live(const tutti_replicas *r) TUTTI_MUST_USE;

/* ---- copies_check.c */
/* All ranks are in the same call and mean this inspector.   t: a team of its ranks.  Collective. */
tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r,
                              const void *buf) TUTTI_MUST_USE;

#endif
