/* dataset: a dataset as its ranks have it.
 *
 *   meta            the database of one dataset, by one rank: no MPI
 *   model           spaces, variables, segments, sizes: what all ranks know of it
 *   decomposition   which entries of a space a rank holds
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DATASET_IMPL_H
#define TUTTI_DATASET_IMPL_H

#include <tutti/dataset.h>
#include "base/hash.h"
#include "collective/layer.h"
#include "comm/call.h"

/* ---- what decompositions need of datasets */

typedef enum tutti__space_kind { TUTTI__SPACE_GRID, TUTTI__SPACE_LIST } tutti__space_kind;

/* A space as it is now, or as of a segment. */
typedef struct tutti__space_view {
    int space; /* which of the dataset's, the same on all ranks */
    tutti__space_kind kind;
    int ndims; /* 1 for lists */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count entries; /* their product */
    /* Of size and ids: another one as soon as either changes.  The same on all ranks; never used
     * again by this dataset handle */
    int64_t stamp;
    int has_ids; /* 0: the id of position i is i */
} tutti__space_view;

/* May it be used?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after MPI_Finalize.   Local. */
tutti_err tutti__dataset_live(const tutti_dataset *d) TUTTI_MUST_USE;
/* Its ranks; belongs to the dataset.  Every collective call opens by tutti__team_call on it. */
tutti__team *tutti__dataset_team(const tutti_dataset *d);
/* A communicator of the same ranks to make replicas and open files on; the dataset's. */
MPI_Comm tutti__dataset_comm(const tutti_dataset *d);
/* Which dataset it is: no other of this process has the number.   Local. */
int64_t tutti__dataset_number(const tutti_dataset *d);
/* How many decompositions have been made of it: the same on all ranks.   Local. */
int64_t tutti__dataset_count(tutti_dataset *d);
/* A space as of a segment (-1: now, that of the segment being written if it is a topology).   Local.
 * TUTTI_ERR_NOT_FOUND: there is none; TUTTI_ERR_STATE: a list that has no size yet. */
tutti_err tutti__dataset_space(const tutti_dataset *d, const char *name, tutti_count segment,
                               tutti__space_view *out) TUTTI_MUST_USE;
/* The ids of positions [lo, hi); each rank's own, empty is fine.   Collective; the view agrees. */
tutti_err tutti__dataset_ids(tutti_dataset *d, const tutti__space_view *view, tutti_count lo,
                             tutti_count hi, int64_t *ids_out) TUTTI_MUST_USE;

/* ---- what datasets need of decompositions (decomposition.c) */

typedef struct tutti__decomposition_facts {
    int64_t dataset; /* tutti__dataset_number */
    int64_t number;  /* tutti__dataset_count when it was made: the same on all ranks */
    int space;       /* as in the view that it was made of */
    int64_t stamp;
    tutti_count entries; /* that this rank holds */
    tutti_count written; /* that it writes */
    int whole; /* the ranks together hold every entry of the space: found out, not asked */
} tutti__decomposition_facts;

/* May it be used?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale.   Local. */
tutti_err tutti__decomposition_live(const tutti_decomposition *p) TUTTI_MUST_USE;
void tutti__decomposition_facts_of(const tutti_decomposition *p, tutti__decomposition_facts *out);
/* Its entries as bytes of a file that begins with the space's first: those that this rank writes, or
 * all that it holds.  Both sides are in units of items of item_bytes, in the file's type (as parts.h
 * has it).  Kept with the decomposition: the same again costs nothing.   Local. */
tutti_err tutti__decomposition_access(tutti_decomposition *p, tutti_off item_bytes, int is_write,
                                      const tutti_access **out) TUTTI_MUST_USE;
/* Its entries one by one, in the order of the spec: position in the space, place in memory (in entries
 * from the buffer), and whether this rank writes it.  Each is [entries] or NULL.   Local. */
tutti_err tutti__decomposition_list(const tutti_decomposition *p, tutti_count *position_out,
                                    tutti_count *memory_out,
                                    unsigned char *writes_out) TUTTI_MUST_USE;

#endif
