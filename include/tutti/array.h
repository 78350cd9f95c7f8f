/* Tutti: arrays in files, larger than memory.
 *
 * An array has 1 to 16 dimensions and lies in one file (*global* placement) or in one file a rank
 * (*local* placement: every rank has its part, by a distribution, in a file of its own).  Slices of it are
 * read and written by all ranks together, each its own, through the collective engine: descriptions
 * are exchanged, every byte is read from the file once whoever wants it, and only named elements are
 * written.
 *
 * Collectivity as in file.h.  What is said to agree is compared before anything is done:
 * TUTTI_ERR_MISMATCH on all ranks if it does not (options: rank 0's are used).  An array belongs to
 * one thread at a time.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale array handle has no communicator: only that
 * rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARRAY_H
#define TUTTI_ARRAY_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>
#include <tutti/numbers.h>

TUTTI_BEGIN_DECLS

/** @name Slices: lo, lo + stride, ... below hi in each dimension, from 0
 *  Where hi <= lo in some dimension a slice selects nothing, and no bound matters.  A stride of 0 is 1. */
/**@{*/
typedef struct tutti_slice {
    tutti_count lo[TUTTI_MAX_DIMS];
    tutti_count hi[TUTTI_MAX_DIMS];
    tutti_count stride[TUTTI_MAX_DIMS]; /* >= 1; 0 is 1 */
    int64_t reserved[4];                /* 0: for later versions */
} tutti_slice;

/** The whole of an array of that shape.   Local.
 *  @return an empty slice (lo = hi = 0) if shape is NULL or ndims exceeds TUTTI_MAX_DIMS */
TUTTI_API tutti_slice tutti_slice_all(int ndims, const tutti_count *shape);

/** lower:upper:stride as Fortran and High Performance Fortran write it: from 1, upper included.   Local.
 *  @param[in] stride  NULL: all 1; 0 is 1
 *  @return TUTTI_ERR_ARG for a lower bound below 1 or a negative stride */
TUTTI_API tutti_err tutti_slice_fortran(int ndims, const tutti_count *lower,
                                        const tutti_count *upper, const tutti_count *stride,
                                        tutti_slice *out) TUTTI_MUST_USE;

/** Elements along each dimension, and in all; 0 as soon as one dimension has none.   Local.
 *  @param[out] shape_out  NULL, or [ndims]
 *  @return -1 if s is NULL or ndims is not 0 to TUTTI_MAX_DIMS; INT64_MAX if there are more elements */
TUTTI_API tutti_count tutti_slice_count(int ndims, const tutti_slice *s, tutti_count *shape_out);
/**@}*/

/** @name Distributions: which rank has which elements
 *  Ranks form a grid, the last dimension running fastest; procs[d] of them share dimension d. */
/**@{*/
typedef enum tutti_dist_kind {
    TUTTI_DIST_NONE,         /* not distributed: everybody in the grid's row has all of it */
    TUTTI_DIST_BLOCK,        /* one block each, ceil(n / procs) elements, the last ones less */
    TUTTI_DIST_CYCLIC,       /* one element each, in turn */
    TUTTI_DIST_BLOCK_CYCLIC, /* `block` elements each, in turn */
    TUTTI_DIST_RAGGED        /* [bounds[p], bounds[p + 1]) */
} tutti_dist_kind;

typedef struct tutti_dist_dim {
    tutti_dist_kind kind;
    int procs;                 /* TUTTI_DIST_NONE: 1 */
    tutti_count block;         /* of TUTTI_DIST_BLOCK_CYCLIC */
    const tutti_count *bounds; /* of TUTTI_DIST_RAGGED: [procs + 1], rising from 0 to n */
} tutti_dist_dim;

typedef struct tutti_distribution tutti_distribution;

/** Make one.   Local.   Nothing of the arguments is kept. */
TUTTI_API tutti_err tutti_distribution_make(int ndims, const tutti_count *shape,
                                            const tutti_dist_dim *dims,
                                            tutti_distribution **out) TUTTI_MUST_USE;
/** Free it and null the handle; NULL is fine.   Local. */
TUTTI_API void tutti_distribution_free(tutti_distribution **d);

/** Number of ranks that it has elements for (the product of all procs).   Local. */
TUTTI_API int tutti_distribution_ranks(const tutti_distribution *d);

/** The shape of a rank's part; all 0 for ranks outside of the grid.   Local.
 *  @return its number of elements */
TUTTI_API tutti_count tutti_distribution_part(const tutti_distribution *d, int rank,
                                              tutti_count *shape_out);

/** Whose is an element, and where in that rank's part?   Local.
 *  @param[out] rank_out, local_out  either may be NULL   @return TUTTI_ERR_ARG if it lies outside */
TUTTI_API tutti_err tutti_distribution_local(const tutti_distribution *d, const tutti_count *global,
                                             int *rank_out, tutti_count *local_out) TUTTI_MUST_USE;

/** Which element is that of a rank's part?   Local.   @return TUTTI_ERR_ARG if it lies outside */
TUTTI_API tutti_err tutti_distribution_global(const tutti_distribution *d, int rank,
                                              const tutti_count *local,
                                              tutti_count *global_out) TUTTI_MUST_USE;
/**@}*/

/** @name Arrays */
/**@{*/
typedef struct tutti_array tutti_array;

typedef struct tutti_array_spec {
    int ndims; /* 1 ... TUTTI_MAX_DIMS */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_order order; /* in the file */
    tutti_type type;
    tutti_off element_size; /* of TUTTI_BYTES; otherwise 0 or the type's */
    tutti_off offset; /* of element (0, ..., 0) in the file; create chooses it, raw arrays say it */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_array_spec;

/** Create an array in a new file (an old one of that name is replaced).   Collective, all arguments agree.
 *  Elements that nobody has written are zero.  The offset in the spec does not matter.
 *  @param[out] a_out  open for reading and writing; close it with tutti_array_close */
TUTTI_API tutti_err tutti_array_create(MPI_Comm comm, const char *path,
                                       const tutti_array_spec *spec, const tutti_options *opt,
                                       tutti_array **a_out) TUTTI_MUST_USE;

/** The same in local placement: rank r's part is in the file `path`.r, `path` says what belongs
 *  together.   Collective, all arguments agree.
 *  @param[in] d  for as many ranks as comm has; is copied */
TUTTI_API tutti_err tutti_array_create_local(MPI_Comm comm, const char *path,
                                             const tutti_array_spec *spec,
                                             const tutti_distribution *d, const tutti_options *opt,
                                             tutti_array **a_out) TUTTI_MUST_USE;

/** Open what create or create_local made.   Collective, all arguments agree.
 *  @param[in] mode    TUTTI_READ, TUTTI_WRITE or both
 *  @param[in] expect  NULL, or what the caller counts on: otherwise TUTTI_ERR_MISMATCH (offset and
 *      element_size count only where they are not 0)
 *  @return TUTTI_ERR_FORMAT: no array, or a damaged one; TUTTI_ERR_MISMATCH also for a
 *      local placement made by another number of ranks */
TUTTI_API tutti_err tutti_array_open(MPI_Comm comm, const char *path, int mode,
                                     const tutti_array_spec *expect, const tutti_options *opt,
                                     tutti_array **a_out) TUTTI_MUST_USE;

/** What the array in a file is, without opening it; also one in local placement that was made by
 *  another number of ranks.   Local.
 *  @param[in]  opt    NULL: those of the environment
 *  @param[out] d_out  NULL, or its distribution in local placement, to be freed; NULL in global one
 *  @return TUTTI_ERR_FORMAT: no array, or a damaged one */
TUTTI_API tutti_err tutti_array_inspect(const char *path, const tutti_options *opt,
                                        tutti_array_spec *spec_out,
                                        tutti_distribution **d_out) TUTTI_MUST_USE;

/** Take any file as an array.   Collective, all arguments agree.
 *  @param[in] mode  as for tutti_file_open, without TUTTI_APPEND; with TUTTI_CREATE the file is made, or
 *      made longer, to hold it, otherwise TUTTI_ERR_FORMAT if it is too short */
TUTTI_API tutti_err tutti_array_open_raw(MPI_Comm comm, const char *path, int mode,
                                         const tutti_array_spec *spec, const tutti_options *opt,
                                         tutti_array **a_out) TUTTI_MUST_USE;

/** Close it and null the handle, also if an error is returned.   Collective.   What was prefetched is
 *  dropped; tile walks must have ended: otherwise TUTTI_ERR_STATE, and it stays open. */
TUTTI_API tutti_err tutti_array_close(tutti_array **a);

/** What it is: the whole array, whatever its placement.   Local. */
TUTTI_API void tutti_array_describe(const tutti_array *a, tutti_array_spec *spec_out);

/** Its distribution in local placement; NULL in global placement.   Local.   @return the array's */
TUTTI_API const tutti_distribution *tutti_array_distribution(const tutti_array *a);

/** The file behind it, for statistics and options (local placement: this rank's own).   Local.
 *  @return the array's: do not close it */
TUTTI_API tutti_file *tutti_array_file(tutti_array *a);

/** Set every element.   Collective, the element agrees. */
TUTTI_API tutti_err tutti_array_fill(tutti_array *a, const void *element) TUTTI_MUST_USE;

/** Change the extent of the slowest dimension.   Collective, n agrees.   New elements are zero.
 *  Global placement only (a part of a local one that is opened by itself keeps its shape, too); a raw
 *  array must be the last thing in its file.   @return TUTTI_ERR_UNSUPPORTED otherwise */
TUTTI_API tutti_err tutti_array_resize(tutti_array *a, tutti_count n) TUTTI_MUST_USE;

/** What was written is durable and visible to all when this returns.   Collective.
 *  After an error, the same on all ranks, the operating system may have dropped any element that was written since the
 *  last successful sync: write those elements again.  The error is reported once; a later sync succeeds although they are
 *  lost. */
TUTTI_API tutti_err tutti_array_sync(tutti_array *a) TUTTI_MUST_USE;
/**@}*/

/** @name Reading and writing slices
 *  Every rank names a slice of its own, an empty one (hi <= lo) is fine.  In local placement a slice
 *  counts in this rank's part, and nothing is exchanged.
 *  @param[in] memory  where it lies in a larger array in memory (ghost cells, another order, strides): as many
 *      selected elements per dimension; its ndims and element_size may be 0.  NULL: packed, in
 *      the array's order
 *  Elements that several ranks write: the highest rank wins. */
/**@{*/
/** Collective.   Option `method` two-phase: Thakur and Choudhary's Extended Two-Phase Method; independent and
 *  sieve: the direct method without and with data sieving; auto: what promises to be quickest. */
TUTTI_API tutti_err tutti_array_read(tutti_array *a, const tutti_slice *s,
                                     const tutti_section *memory, void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write(tutti_array *a, const tutti_slice *s,
                                      const tutti_section *memory, const void *buf) TUTTI_MUST_USE;

/** Local: the direct method, of this rank alone (option `method` sieve: reads with data sieving). */
TUTTI_API tutti_err tutti_array_read_independent(tutti_array *a, const tutti_slice *s,
                                                 const tutti_section *memory,
                                                 void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_independent(tutti_array *a, const tutti_slice *s,
                                                  const tutti_section *memory,
                                                  const void *buf) TUTTI_MUST_USE;

/** Start, for tutti_request_test and tutti_request_wait.   See "Non-blocking collectives" in file.h.
 *  In local placement the outcome is this rank's own. */
TUTTI_API tutti_err tutti_array_read_start(tutti_array *a, const tutti_slice *s,
                                           const tutti_section *memory, void *buf,
                                           tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_start(tutti_array *a, const tutti_slice *s,
                                            const tutti_section *memory, const void *buf,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** The part that a distribution gives this rank, in one call.   Collective, d agrees.   In local placement d
 *  is the array's own and within is NULL.
 *  @param[in] within  NULL: `d` distributes the whole array; otherwise the elements of this slice, which
 *      agrees (in both cases d was made for that shape)
 *  @param[in] memory  as above, with the shape of the part; NULL: packed in the array's order */
TUTTI_API tutti_err tutti_array_read_part(tutti_array *a, const tutti_distribution *d,
                                          const tutti_slice *within, const tutti_section *memory,
                                          void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_part(tutti_array *a, const tutti_distribution *d,
                                           const tutti_slice *within, const tutti_section *memory,
                                           const void *buf) TUTTI_MUST_USE;

/** Partitioned in-core: cut the slowest dimension so that a partition, evenly shared by `ranks` ranks, takes
 *  at most `budget` bytes on each.   Local.   @return how many there are; 0: one index is already too much */
TUTTI_API tutti_count tutti_array_partitions(const tutti_array *a, int ranks, tutti_off budget);
/** Partition k of n.   Local. */
TUTTI_API tutti_slice tutti_array_partition(const tutti_array *a, tutti_count n, tutti_count k);

/** Copy all elements into another array of the same shape and element: other placement, other
 *  order, other file.   Collective on the ranks of both, the arrays agree.   Between local
 *  placements by different distributions the way is through a new file for all, TO.copy (or, if
 *  there is one, TO.copy.1 and so on), which is removed.
 *  @param[in] budget  memory for elements on each rank, in bytes, at least one element; the least
 *      of all ranks counts
 *  @param[in] progress  NULL, or called now and then
 *  @return TUTTI_ERR_ARG also if both lie in the same bytes of one file, by whatever name; on all
 *      ranks if one has something against it, or passes NULL for one of the arrays.  But the ranks
 *      meet by the arrays that they pass: if some pass only `from` and others only `to`, or
 *      somebody neither, they wait for each other for ever */
TUTTI_API tutti_err tutti_array_copy(tutti_array *from, tutti_array *to, tutti_off budget,
                                     tutti_progress_fn *progress, void *context) TUTTI_MUST_USE;
/**@}*/

/** @name Reading ahead */
/**@{*/
/** Start reading a slice; the next tutti_array_read of the same slice, on all ranks, takes what has come.
 *  Collective.   Several may be under way; a write to the array through this handle drops them.  What goes
 *  wrong on the way is told by that read.  Memory: the slice's, until it is read or dropped. */
TUTTI_API tutti_err tutti_array_prefetch(tutti_array *a, const tutti_slice *s) TUTTI_MUST_USE;
/** Drop what was prefetched and not read.   Collective. */
TUTTI_API tutti_err tutti_array_prefetch_drop(tutti_array *a) TUTTI_MUST_USE;
/**@}*/

/** @name Tiles: walk over arrays that do not fit into memory
 *
 *      tutti_tiles_begin(old, new, &spec, &t)
 *      while (tutti_tiles_next(t, &tile) == TUTTI_OK && tile.more)
 *          compute tile.out from tile.in
 *      tutti_tiles_end(&t)
 *
 *  While a tile is worked on, the next one is read and the one before written.  What two tiles that follow each
 *  other have in common (halos) is read once. */
/**@{*/
typedef struct tutti_tiles tutti_tiles;

typedef struct tutti_tiles_spec {
    /* bytes of memory on each rank: tiles, and what is on its way to or from the file, which is
     * this rank's share of the engine's staging memory */
    tutti_off budget;
    /* this rank's elements, stride 1; NULL: all (local placement: its part) */
    const tutti_slice *of;
    /* extents of a tile; 0: as large as the budget allows */
    tutti_count tile[TUTTI_MAX_DIMS];
    /* elements on both sides that are read too, cut at the array's end */
    tutti_count halo[TUTTI_MAX_DIMS];
    tutti_order order;   /* in which tiles follow each other */
    int sequential;      /* 1: nothing ahead, nothing behind, nothing kept: for comparison */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_tiles_spec;

typedef struct tutti_tile {
    int more;          /* 0: the walk is over, everywhere */
    tutti_slice core;  /* its elements; empty if only other ranks have tiles left */
    tutti_slice frame; /* with halo */
    const void *in; /* the frame's elements, packed in the array's order; NULL: no array to read */
    void *out;      /* the core's, to be filled; NULL: no array to write */
    tutti_count in_shape[TUTTI_MAX_DIMS], out_shape[TUTTI_MAX_DIMS];
    int64_t reserved[8]; /* 0 */
} tutti_tile;

/** Begin a walk.   Collective.   The arrays and `sequential` agree; the rest of the spec is each
 *  rank's own, and `of` disjoint where there is `to`.
 *  @param[in] from  is read; NULL: nothing is
 *  @param[in] to    is written; NULL: nothing is; the same as `from`: `out` comes filled with the core's
 *      elements, to be updated, and halos must be 0.  Otherwise shapes and placement (a local one:
 *      also the distribution) are the same and no bytes are, as by two handles of one array; order and
 *      elements may differ
 *  @return TUTTI_ERR_ARG if the budget is too small for the least tile; TUTTI_ERR_MISMATCH on all
 *      ranks if some pass NULL for an array that others pass, but for what tutti_array_copy says of
 *      ranks that pass different ones only */
TUTTI_API tutti_err tutti_tiles_begin(tutti_array *from, tutti_array *to,
                                      const tutti_tiles_spec *spec,
                                      tutti_tiles **t_out) TUTTI_MUST_USE;
/** The next tile; what was done to the one before is written.   Collective.   That may still go
 *  on when this returns; but whatever all ranks do together by the same handle (read, write,
 *  prefetch, copy, fill, sync, another walk) waits for it and finds it done, in local placement
 *  also what one rank does.  Others (independent and non-blocking calls in global placement, other
 *  handles) may find it done only when the next call has returned.  What goes wrong is told by
 *  that one.
 *  @return TUTTI_ERR_MISMATCH if some ranks are in another call for the array that the walk reads
 *      (or, if it reads none, writes): nothing has been done, and it may be called again */
TUTTI_API tutti_err tutti_tiles_next(tutti_tiles *t, tutti_tile *tile_out) TUTTI_MUST_USE;
/** End a walk, also before its end, and null the handle.   Collective.   Waits for what is being
 *  written; the tile that next gave last is not.   @return what went wrong since then;
 *      TUTTI_ERR_MISMATCH as above: the walk goes on */
TUTTI_API tutti_err tutti_tiles_end(tutti_tiles **t) TUTTI_MUST_USE;

typedef struct tutti_tiles_stats {
    tutti_count tiles;    /* so far, of this rank */
    tutti_off read_bytes; /* from the array */
    tutti_off kept_bytes; /* that did not have to be read again */
    tutti_off written_bytes;
    tutti_off memory;       /* in use, the most so far; never above the budget */
    double seconds_waiting; /* in next */
} tutti_tiles_stats;

/** tutti_tiles_stats_get for bindings of other languages, which say how many bytes they have for
 *  the struct.   Local. */
TUTTI_API void tutti_tiles_stats_sized(const tutti_tiles *t, tutti_tiles_stats *out,
                                       size_t struct_size);

/** What it did so far.   Local. */
static inline void tutti_tiles_stats_get(const tutti_tiles *t, tutti_tiles_stats *out) {
    tutti_tiles_stats_sized(t, out, sizeof *out);
}
/**@}*/

TUTTI_END_DECLS
#endif
