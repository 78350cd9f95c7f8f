/* decomposition: the entries of a space that a rank holds, as an object.
 *
 *   decomposition_make     from a spec to the object
 *   id_join                ids to positions, by the id map
 *   decomposition_writers  the writers of entries that several ranks hold
 *   decomposition_slice    slices as accesses, positions and runs
 *   slices_meet            slices of ranks compared with each other (slice_compare)
 *   decomposition          the object: queries and accesses
 *
 * Lists of entries are stored as runs: as short as the numbering is regular.  Slices are stored as slices.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DECOMPOSITION_IMPL_H
#define TUTTI_DECOMPOSITION_IMPL_H

#include <tutti/decomposition.h>
#include "base/handle.h"
#include "decomposition/directory.h"

extern const tutti__class tutti__decomposition_class;

/* A space in its current state, or as of a segment. */
typedef struct tutti__space_view {
    int space; /* index among those of its object, the same on all ranks */
    int ndims; /* 1 for lists */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count entries; /* their product */
    int64_t stamp; /* identifies size and ids; the same on all ranks, never reused by the object */
    int has_ids;   /* 0: the id of position i is i */
} tutti__space_view;

typedef struct tutti__decomposition_facts {
    int64_t object;      /* identifies the dataset (> 0) or Exodus file (< 0) in this process */
    int64_t number;      /* counts those of the object; the same on all ranks */
    int space;           /* of the view from which it was created */
    int64_t stamp;       /* likewise */
    tutti_count entries; /* that this rank holds */
    tutti_count written; /* that it writes */
    int whole;           /* the ranks together hold every entry of the space */
} tutti__decomposition_facts;

/* Entries that are consecutive in the space, in the spec and in memory. */
typedef struct tutti__entry_run {
    tutti_count position; /* in the space */
    tutti_count place;    /* index in the spec */
    tutti_count memory;   /* in entries from the begin of the buffer */
    tutti_count n;
} tutti__entry_run;

/* Positions ascend from run to run. */
typedef struct tutti__entry_runs {
    tutti_count n;
    tutti_count entries; /* of all runs */
    tutti__entry_run *run;
} tutti__entry_runs;

/* An access that was requested before. */
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
    tutti__entry_runs written; /* empty if this rank writes all of them */

    /* slices */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count of;        /* entries of the space */
    tutti_slice slice;     /* strides >= 1; all 0 if it is empty */
    tutti_section memory;  /* the array in memory that contains the slice; ndims 0: packed */
    unsigned char *passed; /* [entries] 1: a higher rank also has it; NULL: none */

    tutti__sized_access *accesses;
    int users;    /* pending operations that need it */
    int is_freed; /* by the caller: the last of them frees it */
};

/* whether this rank writes all entries that it holds: then one list and one access suffice */
static inline int tutti__decomposition_writes_all(const tutti_decomposition *p) {
    return p->is_slice || p->facts.written == p->facts.entries;
}

/* ---- decomposition_make.c */

/* A space and the source of its ids. */
typedef struct tutti__decomposed {
    const char *name;
    tutti__space_view view;
    /* Read the ids of positions [lo, hi), each rank its own, also none.  Collective; only called if
     * view.has_ids. */
    tutti_err (*ids)(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                     int64_t *ids_out);
    void *from;
} tutti__decomposed;

/* Make one; the caller sets facts.object and facts.number.   Collective.
 * local_err: the error of this rank so far; after one, spec and space may be NULL. */
tutti_err tutti__decomposition_make(tutti__team *t, const tutti__decomposed *space,
                                    const tutti_decomposition_spec *spec, tutti_err local_err,
                                    tutti_decomposition **out) TUTTI_MUST_USE;

/* Make one of runs whose writers are known: all entries of this rank, and those that it writes.   Not collective.
 * Takes over the memory of both, also in case of an error. */
tutti_err tutti__decomposition_of_runs(const tutti__space_view *view, tutti__entry_runs held,
                                       tutti__entry_runs written,
                                       tutti_decomposition **out) TUTTI_MUST_USE;

/* ---- id_join.c */
/* The positions of n ids in the id map; -1: not in the map.   Collective.
 * sorted: the ids, ascending, each with its index 0 ... n - 1 */
tutti_err tutti__ids_join(tutti__team *t, const tutti__decomposed *space, tutti_count n,
                          const tutti__numbered *sorted, tutti_count *position_out) TUTTI_MUST_USE;

/* ---- decomposition_writers.c */

/* The entries of this rank, and their writers. */
typedef struct tutti__shared_out {
    tutti_count n;
    const tutti__numbered *sorted; /* [n] positions, ascending, with their indices in the spec */
    const unsigned char *own;      /* [n] by index, or NULL */
    int owners;                    /* the ranks name the owner of each entry */
    tutti_count entries;           /* of the space */
    int whole;                     /* out: all of these are held */
    unsigned char *writes;         /* out: [n] in the order of `sorted`: 1: this rank writes it */
} tutti__shared_out;

/* Choose the writers.   must: an entry that no rank holds is an error.   Collective. */
tutti_err tutti__writers_choose(tutti__team *t, const tutti_replicas_choice *choice, int must,
                                tutti__shared_out *io) TUTTI_MUST_USE;
/* The error for that; position: the first such entry. */
tutti_err tutti__hole_error(tutti_count position, tutti_count held,
                            tutti_count entries) TUTTI_MUST_USE;

/* ---- decomposition_slice.c */
/* Check that it is a slice of the space, and that `memory` (NULL: packed) contains it.   Not collective. */
tutti_err tutti__slice_of_space(const tutti__space_view *view, const tutti_slice *s,
                                const tutti_section *memory) TUTTI_MUST_USE;
/* The section of the array in memory that holds a slice: all fields set.   Not collective. */
tutti_section tutti__slice_section(int ndims, const tutti_slice *s, const tutti_section *memory);
/* The position of an index in an array of that shape, row-major.   Not collective. */
tutti_count tutti__row_major_position(int ndims, const tutti_count *shape, const tutti_count *x);
/* The slice as an access.   Not collective. */
tutti_err tutti__slice_items(const tutti_decomposition *p, tutti_off item_bytes,
                             tutti_access **out) TUTTI_MUST_USE;
/* The positions of its entries, ascending, and their positions in memory; each may be NULL.   Not
 * collective. */
void tutti__slice_positions(const tutti_decomposition *p, tutti_count *index_out,
                            tutti_count *memory_out);
/* As tutti__decomposition_runs; appends to *out, which must be freed after an error too.   Not collective. */
tutti_err tutti__slice_runs(const tutti_decomposition *p, int is_write,
                            tutti__entry_runs *out) TUTTI_MUST_USE;

/* ---- slices_meet.c */
/* p has its shape and slice: find the entries that higher ranks have too, facts.written, facts.whole.
 * must: as above.   Collective. */
tutti_err tutti__slices_meet(tutti__team *t, int must, tutti_decomposition *p) TUTTI_MUST_USE;

/* ---- decomposition.c */
/* Whether the fields agree with each other; for TUTTI_ASSERT. */
int tutti__decomposition_is_valid(const tutti_decomposition *p);
/* Keep a decomposition for a pending operation, also after the caller has freed it; release it
 * again.   Not collective. */
void tutti__decomposition_hold(tutti_decomposition *p);
void tutti__decomposition_release(tutti_decomposition *p);
/* Fail unless it is usable: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale.   Not collective. */
tutti_err tutti__decomposition_live(const tutti_decomposition *p) TUTTI_MUST_USE;
void tutti__decomposition_facts_of(const tutti_decomposition *p, tutti__decomposition_facts *out);
/* Its entries as bytes of a file that begins with the first entry of the space: those that this rank writes, or
 * all that it holds.  Both sides are in units of items of item_bytes, in the file's type (parts.h).
 * Kept with the decomposition for the next call.   Not collective. */
tutti_err tutti__decomposition_access(tutti_decomposition *p, tutti_off item_bytes, int is_write,
                                      const tutti_access **out) TUTTI_MUST_USE;
/* The entries that this rank writes as consecutive bytes from 0 on, in the order of the spec.  Kept likewise.
 * Not collective. */
tutti_err tutti__decomposition_packed(tutti_decomposition *p, tutti_off item_bytes,
                                      const tutti_access **out) TUTTI_MUST_USE;
/* Its entries one by one, in the order of the spec: position in the space, place in memory (in entries from
 * the begin of the buffer), and whether this rank writes it.  Each is [entries] or NULL.   Not collective. */
tutti_err tutti__decomposition_list(const tutti_decomposition *p, tutti_count *position_out,
                                    tutti_count *memory_out,
                                    unsigned char *writes_out) TUTTI_MUST_USE;
/* Its entries as runs: those that this rank writes, or all that it holds.  tutti__free(out->run).   Not collective. */
tutti_err tutti__decomposition_runs(const tutti_decomposition *p, int is_write,
                                    tutti__entry_runs *out) TUTTI_MUST_USE;
/* Free it, whether registered as a handle or not; NULL is ignored.   Not collective. */
void tutti__decomposition_destroy(tutti_decomposition *p);

#endif
