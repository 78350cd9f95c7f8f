/* replicas: the inspector: items that several ranks hold.
 *
 *   rules, balance, tally     who writes what, and what that comes to: no MPI
 *   replicas_choose           the same for lists in one process
 *   directory                 numbers dealt out to ranks by ranges
 *   range                     what the rank of a range works out of all mentions of its numbers
 *   coverage                  do the ranks name all items of the file?
 *   chain                     a rule along all ranges
 *   replicas                  the object: made of a spec, asked, freed
 *   copies_check              do copies agree?
 *   replicas_move             writing and reading
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPLICAS_IMPL_H
#define TUTTI_REPLICAS_IMPL_H

#include "base/handle.h"
#include "base/hash.h"
#include "collective/layer.h"
#include "comm/call.h"
#include "replicas/directory.h"
#include "replicas/rules.h"

/* Items of a range that several ranks hold, for comparing them later. */
typedef struct tutti__shared_items {
    tutti_count n;
    int64_t *number;      /* [n] rising */
    tutti_count *start;   /* [n + 1] in `mention` */
    tutti_count *mention; /* of the directory, by ranks */
} tutti__shared_items;

struct tutti_replicas {
    tutti__handle handle;
    tutti__team *team; /* of its own, until it is freed */
    uint64_t id;       /* the same on all ranks */

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

/* ---- range.c */

/* What a holder says of an item. */
typedef struct tutti__mention {
    int64_t number;
    tutti_count load;
    int64_t own;
} tutti__mention;

/* What it is told. */
typedef struct tutti__verdict {
    tutti_off position;
    int writer;
    int copied;
} tutti__verdict;

/* The items of a range, made of all mentions. */
typedef struct tutti__range_items {
    const char *what;        /* is numbered, for messages: "item" unless it is set otherwise */
    tutti_count m;           /* mentions */
    tutti__mention *came;    /* [m] in the order of the directory */
    tutti_off *given;        /* [m] positions that the holders give; NULL: they give none */
    tutti__numbered *sorted; /* [m] by numbers, then by holders */
    tutti__numbered *room;   /* [m] while sorting */
    tutti__items items;      /* those with load; the following are theirs */
    int64_t *number;
    tutti_off *bytes;
    tutti_count *start;
    int *holder, *owner;
    int *writer;
    tutti_off total; /* bytes of all; beyond 2^62: too many */
    tutti_count copies, shared;
} tutti__range_items;

/* Room for the mentions of a directory. */
tutti_err tutti__range_make(const tutti__directory *d, tutti__range_items *out) TUTTI_MUST_USE;
void tutti__range_free(tutti__range_items *g);
/* They have come: the items that they are of, checked.   Local. */
tutti_err tutti__range_group(const tutti__directory *d, tutti_off value_bytes, int owners,
                             tutti__range_items *g) TUTTI_MUST_USE;
/* What each holder is told, once writers are known; items begin at `position`.   verdicts: [m] */
void tutti__range_verdicts(const tutti__range_items *g, tutti_off position,
                           tutti__verdict *verdicts);
/* Those that several hold, to be kept.   Local. */
tutti_err tutti__range_shared(const tutti__range_items *g, tutti__shared_items *out) TUTTI_MUST_USE;

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

/* ---- chain.c */
/* Writers of all ranges' items, shares and statistics of all ranks; *position_out: where the items
 * of this range begin.   Collective. */
tutti_err tutti__chain_choose(tutti__team *t, const tutti_replicas_choice *c, tutti__range_items *g,
                              tutti_replicas *r, tutti_off *position_out) TUTTI_MUST_USE;

/* ---- replicas.c */
/* May it be used?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after MPI_Finalize.   Local. */
tutti_err tutti__replicas_live(const tutti_replicas *r) TUTTI_MUST_USE;

/* ---- copies_check.c */
/* All ranks are in the same call and mean this inspector.   t: a team of its ranks.  Collective. */
tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r,
                              const void *buf) TUTTI_MUST_USE;

#endif
