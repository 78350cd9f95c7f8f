/* Tutti: decompositions: which entries of an index space a rank holds.
 *
 * Made once, and used for every variable on the space and every step:
 *
 *     tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = nodes, .ids = global_id};
 *     tutti_decomposition_create(d, "nodes", &spec, &mine);
 *     ...
 *     tutti_dataset_put(d, 1, &(tutti_put){"potential", mine, TUTTI_FLOAT64, u});
 *
 * Entries that several ranks hold are written once, by the rank that a rule of replicas chooses
 * (<tutti/replicas.h>), and read by all who hold them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DECOMPOSITION_H
#define TUTTI_DECOMPOSITION_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/array.h> /* tutti_slice */
#include <tutti/replicas.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_dataset tutti_dataset;
typedef struct tutti_decomposition tutti_decomposition;

/** How the entries of a rank are named. */
typedef enum tutti_decomposition_kind {
    TUTTI_BY_INDEX,   /* positions in the space, 0 ... size - 1, in any order */
    TUTTI_BY_VALUE,   /* ids; the position of an id is where it stands in the space's id map */
    TUTTI_BY_BOTH,    /* positions and ids, which must agree with the id map */
    TUTTI_BY_SLICE,   /* an n-d block, or with strides, of a grid; memory in the grid's order */
    TUTTI_AS_THEY_LIE /* n entries, behind those of the ranks before */
} tutti_decomposition_kind;

/** What this rank holds.  Begin with = {0} or name the fields. */
typedef struct tutti_decomposition_spec {
    tutti_decomposition_kind kind; /* agrees */
    tutti_count n;                 /* entries; 0 is fine.  Not for slices */
    const tutti_count *index;      /* [n] BY_INDEX, BY_BOTH; none twice on a rank */
    const int64_t *ids;            /* [n] BY_VALUE, BY_BOTH; none twice on a rank */
    const unsigned char *own;      /* [n] 1: this rank owns it; NULL on all ranks: nobody says */
    tutti_slice slice; /* BY_SLICE: lo, hi, stride of each dimension; a stride of 0 is 1 */
    /* [n] where each entry is in memory, in entries from `buf`, also before it; NULL: one after the
     * other.  Not for slices, nor is `own` */
    const tutti_count *memory;
    int whole; /* 1: every entry of the space must be held by some rank, otherwise an error; agrees */
    tutti_replicas_choice
        choice;          /* who writes what several hold; agrees.  Slices: the highest rank */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_decomposition_spec;

/** Make a decomposition of a space, as the dataset's topology now has it (that of the segment being
 *  written, if it is one).   Collective.   Nothing of the spec is kept.  Memory of a rank: O(its
 *  entries), and its share of the id map while it is made.
 *  @return the same on all ranks, with rank and place in the message: TUTTI_ERR_ARG for a position or
 *      slice out of range, an id that is not in the map, one twice on a rank, more entries as they lie
 *      than there are; TUTTI_ERR_MISMATCH for two owners, none, a position and an id that do not agree,
 *      an entry that nobody holds although `whole`; TUTTI_ERR_FORMAT for an id map with an id twice */
TUTTI_API tutti_err tutti_decomposition_create(tutti_dataset *d, const char *space,
                                               const tutti_decomposition_spec *spec,
                                               tutti_decomposition **out) TUTTI_MUST_USE;

/** The same of the space as it is in a segment: for reading what was written before the last topology.
 *  @param[in] segment  its number, or -1: as it is now */
TUTTI_API tutti_err tutti_decomposition_create_at(tutti_dataset *d, const char *space,
                                                  tutti_count segment,
                                                  const tutti_decomposition_spec *spec,
                                                  tutti_decomposition **out) TUTTI_MUST_USE;

/** Free it and null the handle; NULL is fine.   Local. */
TUTTI_API void tutti_decomposition_free(tutti_decomposition **p);

/** Entries of this rank.   Local. */
TUTTI_API tutti_count tutti_decomposition_entries(const tutti_decomposition *p);

/** The position in the space of each of them, in the order of the spec (slices: of memory).   Local.
 *  @param[out] index_out  [tutti_decomposition_entries] */
TUTTI_API tutti_err tutti_decomposition_positions(const tutti_decomposition *p,
                                                  tutti_count *index_out) TUTTI_MUST_USE;

TUTTI_END_DECLS
#endif
