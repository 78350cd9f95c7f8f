/* decomposition: the entries of a space that a rank holds, as an object.
 *
 *   decomposition_make     creation of the object from a spec
 *   id_join                positions of ids in the id map
 *   decomposition_writers  writers of entries that several ranks hold
 *   decomposition_slice    slices as accesses, positions and runs
 *   slices_meet            comparison of the slices of all ranks (slice_compare)
 *   decomposition          the object: queries and accesses
 *
 * Lists of entries are stored as runs of consecutive entries, slices by their bounds.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DECOMPOSITION_IMPL_H
#define TUTTI_DECOMPOSITION_IMPL_H

#include <tutti/decomposition.h>
#include "base/handle.h"
#include "decomposition/directory.h"

extern const tutti__class tutti__decomposition_class;

/* A space in its current state, or in the state of a segment. */
typedef struct tutti__space_view {
    int space; /* index of the space in its object, the same on all ranks */
    int ndims; /* 1 for lists */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count entries; /* product of `shape` */
    /* identifies size and ids of the space; the same on all ranks, never reused by the object */
    int64_t stamp;
    int has_ids; /* 0: the id of position i is i */
} tutti__space_view;

typedef struct tutti__decomposition_facts {
    int64_t object;      /* identifies the dataset (> 0) or Exodus file (< 0) in this process */
    int64_t number;      /* number of the decomposition in its object; the same on all ranks */
    int space;           /* `space` of the view from which it was created */
    int64_t stamp;       /* `stamp` of this view */
    tutti_count entries; /* number of entries that this rank holds */
    tutti_count written; /* number of entries that this rank writes */
    int whole;           /* the ranks together hold every entry of the space */
} tutti__decomposition_facts;

/* Entries that are consecutive in the space, in the spec and in memory. */
typedef struct tutti__entry_run {
    tutti_count position; /* first position in the space */
    tutti_count place;    /* first index in the spec */
    tutti_count memory;   /* first position in the buffer, in entries */
    tutti_count n;
} tutti__entry_run;

/* Positions ascend from run to run. */
typedef struct tutti__entry_runs {
    tutti_count n;
    tutti_count entries; /* sum of the entries of all runs */
    tutti__entry_run *run;
} tutti__entry_runs;

/* An access of a decomposition, stored for later calls.  TUTTI__PACKED: contiguous in the file. */
enum { TUTTI__PACKED = 2 };
typedef struct tutti__sized_access {
    tutti_off item_bytes;
    int is_write; /* 0: read, 1: write, or TUTTI__PACKED */
    tutti_access *access;
    struct tutti__sized_access *next;
} tutti__sized_access;

struct tutti_decomposition {
    tutti__handle handle;
    tutti__decomposition_facts facts;
    int is_slice;

    /* lists */
    tutti__entry_runs held;    /* entries that this rank holds */
    tutti__entry_runs written; /* empty if this rank writes all entries that it holds */

    /* slices */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count of;    /* number of entries of the space */
    tutti_slice slice; /* strides are >= 1; all fields are 0 if the slice is empty */
    /* section of the array in memory; ndims 0: the slice is contiguous in memory */
    tutti_section memory;
    unsigned char *passed; /* [entries] 1: a higher rank also has the entry; NULL: no such entry */

    tutti__sized_access *accesses;
    int users;    /* number of pending operations that use the decomposition */
    int is_freed; /* the caller has freed the handle; the last user frees the memory */
};

/* Return whether reads and writes use the same list and access: this rank writes all entries that
 * it holds, or the entries are a slice. */
static inline int tutti__decomposition_writes_all(const tutti_decomposition *p) {
    return p->is_slice || p->facts.written == p->facts.entries;
}

/* ---- decomposition_make.c */

/* A space and the source of its ids. */
typedef struct tutti__decomposed {
    const char *name;
    tutti__space_view view;
    /* Read the ids of positions [lo, hi); each rank has its own range, which may be empty.
     * Collective; only called if view.has_ids. */
    tutti_err (*ids)(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                     int64_t *ids_out);
    void *from;
} tutti__decomposed;

/* Make a decomposition; the caller sets facts.object and facts.number.   Collective.
 * local_err: the error of this rank so far; after one, spec and space may be NULL. */
tutti_err tutti__decomposition_make(tutti__team *t, const tutti__decomposed *space,
                                    const tutti_decomposition_spec *spec, tutti_err local_err,
                                    tutti_decomposition **out) TUTTI_MUST_USE;

/* Make a decomposition from runs of the entries that this rank holds, and of the entries that it
 * writes.  Takes over the memory of both lists, also after an error.   Not collective. */
tutti_err tutti__decomposition_of_runs(const tutti__space_view *view, tutti__entry_runs local,
                                       tutti__entry_runs written,
                                       tutti_decomposition **out) TUTTI_MUST_USE;

/* ---- id_join.c */
/* Find the positions of n ids in the id map; -1: not in the map.   Collective.
 * sorted: the ids, ascending, each with its index in position_out */
tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *sorted, tutti_count *position_out) TUTTI_MUST_USE;

/* ---- decomposition_writers.c */

/* Entries of this rank and the choice of their writers; fields marked `out` are results. */
typedef struct tutti__shared_out {
    tutti_count n;
    const tutti__numbered *sorted; /* [n] positions, ascending, with their indices in the spec */
    /* [n] in the order of the spec: this rank owns the entry; NULL: unknown */
    const unsigned char *own;
    int owners;          /* the specs of all ranks have `own` */
    tutti_count entries; /* number of entries of the space */
    int whole;           /* out: the ranks together hold all entries of the space */
    /* out: [n] in the order of `sorted`; 1: this rank writes the entry */
    unsigned char *writes;
} tutti__shared_out;

/* Choose the writer of each entry.   must: an entry that no rank holds is an error.
 * Collective. */
tutti_err tutti__writers_choose(tutti__team *t, const tutti_replicas_choice *choice, int must,
                                tutti__shared_out *io) TUTTI_MUST_USE;
/* Set the error for an entry that no rank holds.   position: position of the first such entry */
tutti_err tutti__hole_error(tutti_count position, tutti_count covered,
                            tutti_count entries) TUTTI_MUST_USE;

/* ---- decomposition_slice.c */
/* Check that `s` is a slice of the space, and that the array `memory` (NULL: packed) contains it.
 * Not collective. */
tutti_err tutti__slice_of_space(const tutti__space_view *view, const tutti_slice *s,
                                const tutti_section *memory) TUTTI_MUST_USE;
/* Return the section of the array in memory that corresponds to a slice, with default values filled
 * in.   Not collective. */
tutti_section tutti__slice_section(int ndims, const tutti_slice *s, const tutti_section *memory);
/* Return the row-major position of index x in an array of that shape.   Not collective. */
tutti_count tutti__row_major_position(int ndims, const tutti_count *shape, const tutti_count *x);
/* Make the access of a slice in items of item_bytes.   Not collective. */
tutti_err tutti__slice_items(const tutti_decomposition *p, tutti_off item_bytes,
                             tutti_access **out) TUTTI_MUST_USE;
/* List the positions of the entries of a slice, ascending, and their positions in memory; each
 * array may be NULL.   Not collective. */
void tutti__slice_positions(const tutti_decomposition *p, tutti_count *index_out,
                            tutti_count *memory_out);
/* Like tutti__decomposition_runs, for a slice; appends to *out, which must also be freed after an
 * error.   Not collective. */
tutti_err tutti__slice_runs(const tutti_decomposition *p, int is_write,
                            tutti__entry_runs *out) TUTTI_MUST_USE;

/* ---- slices_meet.c */
/* Compare the slices of all ranks: set p->passed, facts.written and facts.whole.  The shape and the
 * slice of p must be set.   must: an entry that no rank holds is an error.   Collective. */
tutti_err tutti__slices_meet(tutti__team *t, int must, tutti_decomposition *p) TUTTI_MUST_USE;

/* ---- decomposition.c */
/* Check the invariants of the fields, for TUTTI_ASSERT. */
int tutti__decomposition_is_valid(const tutti_decomposition *p);
/* Keep a decomposition for a pending operation, even if the caller frees it; release it after the
 * operation.   Not collective. */
void tutti__decomposition_hold(tutti_decomposition *p);
void tutti__decomposition_release(tutti_decomposition *p);
/* Check a handle: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale.   Not collective. */
tutti_err tutti__decomposition_live(const tutti_decomposition *p) TUTTI_MUST_USE;
void tutti__decomposition_facts_of(const tutti_decomposition *p, tutti__decomposition_facts *out);
/* Get the access of the entries that this rank writes, or of all entries that it holds (is_write
 * 0), in a file that begins with the first entry of the space.  Both sides use items of item_bytes,
 * the size in the file (parts.h).  The decomposition owns the access.   Not collective. */
tutti_err tutti__decomposition_access(tutti_decomposition *p, tutti_off item_bytes, int is_write,
                                      const tutti_access **out) TUTTI_MUST_USE;
/* Get an access of the entries that this rank writes, contiguous in the file from offset 0 on, in
 * the order of the spec.  The decomposition owns the access.   Not collective. */
tutti_err tutti__decomposition_packed(tutti_decomposition *p, tutti_off item_bytes,
                                      const tutti_access **out) TUTTI_MUST_USE;
/* List the entries in the order of the spec: position in the space, position in the buffer in
 * entries, and whether this rank writes the entry.  Each array has [entries] elements or is NULL.
 * Not collective. */
tutti_err tutti__decomposition_list(const tutti_decomposition *p, tutti_count *position_out,
                                    tutti_count *memory_out,
                                    unsigned char *writes_out) TUTTI_MUST_USE;
/* List the entries that this rank writes, or all entries that it holds, as runs.  The caller frees
 * out->run with tutti__free.   Not collective. */
tutti_err tutti__decomposition_runs(const tutti_decomposition *p, int is_write,
                                    tutti__entry_runs *out) TUTTI_MUST_USE;
/* Free a decomposition, whether registered as a handle or not; NULL is ignored.   Not
 * collective. */
void tutti__decomposition_destroy(tutti_decomposition *p);

#endif
