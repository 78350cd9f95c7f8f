/* Tutti: decompositions: which entries of an index space a rank holds.
 *
 * A decomposition is made once, and used for every variable on the space and every step:
 *
 *     tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = nodes, .ids = global_id};
 *     tutti_decomposition_create(d, "nodes", &spec, &mine);
 *     ...
 *     tutti_dataset_put(d, 1, &(tutti_put){"potential", mine, TUTTI_FLOAT64, u});
 *
 * Entries that several ranks hold are written once, by the rank that a rule of replicas chooses
 * (<tutti/replicas.h>), and read by all ranks that hold them.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale dataset handle has no
 * communicator: only that rank gets the error, and the others, which cannot detect it, wait.
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

/** How a rank names its entries.  The table lists the fields of tutti_decomposition_spec that
 *  belong to each kind; `kind`, `whole`, `choice` belong to all. */
typedef enum tutti_decomposition_kind {
    TUTTI_DECOMPOSITION_UNSET = 0, /* not a kind: fails with TUTTI_ERR_ARG */
    /* positions in the space, 0 ... size - 1, in any order: n, index, own, memory */
    TUTTI_BY_INDEX,
    TUTTI_BY_VALUE,     /* ids, located by the id map of the space: n, ids, own, memory */
    TUTTI_BY_BOTH,      /* positions and ids, which must agree: n, index, ids, own, memory */
    TUTTI_BY_SLICE,     /* a block of a grid, possibly strided: slice, slice_memory */
    TUTTI_BY_RANK_ORDER /* n entries after those of all lower ranks: n, own, memory */
} tutti_decomposition_kind;

/** The entries of this rank.  Initialize it with designated initializers or {0}, and set `kind`.
 *  A field that does not belong to the kind must be 0 or NULL; a slice counts as set if a `lo` or
 *  `hi` is not 0.  {.kind = TUTTI_BY_INDEX} with n = 0 is a rank without entries. */
typedef struct tutti_decomposition_spec {
    tutti_decomposition_kind kind; /* same on all ranks */
    tutti_count n;                 /* number of entries, >= 0 */
    const tutti_count *index;      /* [n] positions, no duplicates on a rank */
    const int64_t *ids;            /* [n] no duplicates on a rank */
    const unsigned char *own; /* [n] 1: this rank owns the entry; NULL on all ranks: no owners */
    tutti_slice slice;        /* lo, hi, stride of each dimension; a stride of 0 means 1 */
    /* [n] place of each entry in memory, in entries from `buf`; may be negative; NULL:
     * consecutive */
    const tutti_count *memory;
    int whole; /* 1: fail if an entry of the space is held by no rank; same on all ranks */
    /* which rank writes an entry that several hold; same on all ranks.  Slices: the highest rank */
    tutti_replicas_choice choice;
    /* The location of the slice in a larger array in memory, for example a block with ghost cells: shape has
     * the extents of that array and lo the origin of the slice in it, in entries.  hi may be 0 in all
     * dimensions, which means lo plus the extents of the slice; ndims and element_size may be 0; order
     * and stride are those of the array in memory.  NULL: packed, in the order of the grid */
    const tutti_section *slice_memory;
    int64_t reserved[7]; /* 0: for later versions */
} tutti_decomposition_spec;

/** Make a decomposition of a space, with the sizes of the current topology (that of the segment
 *  being written, if it is one).
 *  Collective; kind, `whole` and `choice` must be the same on all ranks.
 *  The spec is copied.  A rank needs memory for its entries, and for its share of the id map
 *  during the call.
 *  @return TUTTI_ERR_ARG if the kind is not set, a field does not belong to the kind, a
 *      position or slice is out of range, an id is not in the map, an entry is a duplicate on a
 *      rank, or there are more entries in rank order than the space has; TUTTI_ERR_MISMATCH if
 *      an entry has two owners or none, a position and an id do not agree, or no rank holds an
 *      entry although `whole` is 1; TUTTI_ERR_FORMAT if the id map has a duplicate. */
TUTTI_API tutti_err tutti_decomposition_create(tutti_dataset *d, const char *space,
                                               const tutti_decomposition_spec *spec,
                                               tutti_decomposition **out) TUTTI_MUST_USE;

/** Make a decomposition of a space with the sizes of a segment, to read data written before the
 *  last topology.
 *  Collective; `segment`, kind, `whole` and `choice` must be the same on all ranks.
 *  @param[in] segment  its number, or -1 for the current sizes.
 *  @return as tutti_decomposition_create. */
TUTTI_API tutti_err tutti_decomposition_create_at(tutti_dataset *d, const char *space,
                                                  tutti_count segment,
                                                  const tutti_decomposition_spec *spec,
                                                  tutti_decomposition **out) TUTTI_MUST_USE;

/** Free a decomposition and set the handle to NULL.
 *  Not collective.
 *  `p` and *p may be NULL. */
TUTTI_API void tutti_decomposition_free(tutti_decomposition **p);

/** Return the number of entries of this rank.
 *  Not collective. */
TUTTI_API tutti_count tutti_decomposition_entries(const tutti_decomposition *p);

/** Return the position of each entry of this rank in the space, in the order of the spec
 *  (slices: in the order of the grid).
 *  Not collective.
 *  @param[out] index_out  [tutti_decomposition_entries]. */
TUTTI_API tutti_err tutti_decomposition_positions(const tutti_decomposition *p,
                                                  tutti_count *index_out) TUTTI_MUST_USE;

TUTTI_END_DECLS
#endif
