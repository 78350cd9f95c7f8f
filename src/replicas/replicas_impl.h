/* replicas: the inspector: items that several ranks hold.  Writers are chosen by decomposition/writers.h.
 *
 *   replicas_choose           the same for lists in one process
 *   coverage                  do the ranks name all items of the file?
 *   replicas                  the object: made of a spec, queried, freed
 *   copies_check              do copies agree?
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
    tutti_off item_bytes;  /* of each, where `sizes` is NULL */
    tutti_off *sizes;      /* [n] bytes of each */
    tutti_off *memory;     /* [n] where they begin; NULL: one after the other, all of a size */
    tutti_count *order;    /* [n] the items by rising numbers; NULL: as they are */
    tutti_off *position;   /* [n] in the file */
    int *writer;           /* [n] */
    unsigned char *copied; /* [n] others hold it too */
    tutti_access *writes;  /* what this rank writes */
    tutti_access *reads;   /* what it holds */

    /* its range of all items */
    tutti__directory directory;
    tutti__shared_items shared;

    /* of all ranks */
    int64_t missing; /* first number that no rank names, so that reading is refused; -1: none */
    tutti_off end;   /* of the last item in the file */
    tutti_replicas_share *shares; /* [ranks] */
    tutti_replicas_stats stats;
};

/* Place j of the rising order. */
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
/* Positions that the holders give: sent to the ranges and checked.   positions: [n] of the numbers
 * that this rank told the directory.   Collective. */
tutti_err tutti__coverage_positions(tutti__team *t, const tutti__directory *d,
                                    const tutti_off *positions, tutti_off value_bytes,
                                    tutti__range_items *g) TUTTI_MUST_USE;
/* Are the items of all ranges all that the file has, or can they be found without the others?  Sets
 * `missing`, and `end` if positions are given.   items: of the spec.   Collective. */
tutti_err tutti__coverage_check(tutti__team *t, const tutti__range_items *g, tutti_count items,
                                tutti_replicas *r) TUTTI_MUST_USE;

/* ---- replicas.c */
/* May it be used?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after MPI_Finalize.   Local. */
tutti_err tutti__replicas_live(const tutti_replicas *r) TUTTI_MUST_USE;

/* ---- copies_check.c */
/* All ranks are in the same call and mean this inspector.   t: a team of its ranks.  Collective. */
tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r,
                              const void *buf) TUTTI_MUST_USE;

#endif
