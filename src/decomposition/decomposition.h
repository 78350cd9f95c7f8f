/* dataset: which entries of a space a rank holds, as an object.
 *
 *   decomposition_create   the call: opened on the dataset's ranks, then made
 *   decomposition_make     from a spec to the object, on a team, without a dataset
 *   decomposition_join     ids to positions, by the id map
 *   decomposition_writers  who writes what several hold
 *   decomposition_slice    slices of ranks against each other
 *   decomposition          the object: asked, walked, freed; its accesses
 *
 * Lists of entries are kept as runs: as short as the numbering is regular.  Slices are kept as they
 * are.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DECOMPOSITION_IMPL_H
#define TUTTI_DECOMPOSITION_IMPL_H

#include "dataset/dataset_impl.h"
#include "decomposition/directory.h"

/* Entries that follow each other in the space, in the spec and in memory. */
typedef struct tutti__entry_run {
    tutti_count position; /* in the space */
    tutti_count place;    /* in the spec */
    tutti_count memory;   /* in entries from the buffer */
    tutti_count n;
} tutti__entry_run;

/* Positions rise from run to run. */
typedef struct tutti__entry_runs {
    tutti_count n;
    tutti_count entries; /* of all runs */
    tutti__entry_run *run;
} tutti__entry_runs;

/* An access that has been asked for. */
enum { TUTTI__PACKED = 2 };
typedef struct tutti__sized_access {
    tutti_off item_bytes;
    int is_write; /* 0, 1, TUTTI__PACKED */
    tutti_access *access;
    struct tutti__sized_access *next;
} tutti__sized_access;

struct tutti_decomposition {
    tutti__handle handle;
    tutti__decomposition_facts facts;
    int is_slice;

    /* lists */
    tutti__entry_runs held;
    tutti__entry_runs written; /* empty if this rank writes all that it holds */

    /* slices */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count of;        /* entries of the space */
    tutti_slice slice;     /* strides >= 1; all 0 if it is empty */
    unsigned char *passed; /* [entries] 1: a higher rank has it too; NULL: none has any */

    tutti__sized_access *accesses;
};

/* A rank that writes all that it holds needs no second list, nor a second access. */
static inline int tutti__decomposition_writes_all(const tutti_decomposition *p) {
    return p->is_slice || p->facts.written == p->facts.entries;
}

/* ---- decomposition_make.c */

/* A space and where its ids come from. */
typedef struct tutti__decomposed {
    const char *name;
    tutti__space_view view;
    /* As tutti__dataset_ids; only called if view.has_ids. */
    tutti_err (*ids)(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                     int64_t *ids_out);
    void *from;
} tutti__decomposed;

/* Make one; facts.dataset and facts.number are the caller's business.   Collective.
 * mine: what this rank has against it before anything is looked at; spec and space may be NULL then. */
tutti_err tutti__decomposition_make(tutti__team *t, const tutti__decomposed *space,
                                    const tutti_decomposition_spec *spec, tutti_err mine,
                                    tutti_decomposition **out) TUTTI_MUST_USE;

/* One of a list whose writers are known, without the other ranks.   Local.
 * sorted: [n] positions, rising, with their places; mine: [n] in this order, 1: this rank writes it */
tutti_err tutti__decomposition_of_list(const tutti__space_view *view, tutti_count n,
                                       const tutti__numbered *sorted, const unsigned char *mine,
                                       tutti_decomposition **out) TUTTI_MUST_USE;

/* ---- decomposition_join.c */
/* Where n ids of this rank stand in the id map, -1: nowhere.   Collective.
 * sorted: the ids, rising, each with its place 0 ... n - 1 */
tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *sorted, tutti_count *position_out) TUTTI_MUST_USE;

/* ---- decomposition_writers.c */

/* What the ranks hold, and what came of it. */
typedef struct tutti__shared_out {
    tutti_count n;
    const tutti__numbered *sorted; /* [n] positions, rising, with their places in the spec */
    const unsigned char *own;      /* [n] by places, or NULL */
    int owners;                    /* the ranks say who owns what */
    tutti_count entries;           /* of the space */
    int whole;                     /* out: all of these are held */
    unsigned char *mine;           /* out: [n] in the order of `sorted`: 1: this rank writes it */
} tutti__shared_out;

/* Choose the writers.   must: an entry that nobody holds is an error.   Collective. */
tutti_err tutti__writers_choose(tutti__team *t, const tutti_replicas_choice *choice, int must,
                                tutti__shared_out *io) TUTTI_MUST_USE;
/* The error for that, `place` being the first such. */
tutti_err tutti__hole_error(tutti_count place, tutti_count held,
                            tutti_count entries) TUTTI_MUST_USE;

/* ---- decomposition_slice.c */
/* Is it a slice of the space?   Local. */
tutti_err tutti__slice_of_space(const tutti__space_view *view, const tutti_slice *s) TUTTI_MUST_USE;
/* p has its shape and slice: what higher ranks have of it, facts.written, facts.whole.
 * must: as above.   Collective. */
tutti_err tutti__slices_meet(tutti__team *t, int must, tutti_decomposition *p) TUTTI_MUST_USE;
/* It as an access.   Local. */
tutti_err tutti__slice_items(const tutti_decomposition *p, tutti_off item_bytes,
                             tutti_access **out) TUTTI_MUST_USE;
/* The positions of its entries, rising.   Local. */
void tutti__slice_positions(const tutti_decomposition *p, tutti_count *index_out);
/* As tutti__decomposition_runs, behind the runs that *out has; to be freed after an error too.   Local. */
tutti_err tutti__slice_runs(const tutti_decomposition *p, int is_write,
                            tutti__entry_runs *out) TUTTI_MUST_USE;

/* ---- decomposition.c */
/* Its entries as runs: those that this rank writes, or all that it holds.  tutti__free(out->run).   Local. */
tutti_err tutti__decomposition_runs(const tutti_decomposition *p, int is_write,
                                    tutti__entry_runs *out) TUTTI_MUST_USE;
/* Free it, listed as a handle or not; NULL is fine.   Local. */
void tutti__decomposition_destroy(tutti_decomposition *p);

#endif
