/* Tutti: arrays in files, possibly larger than memory.
 *
 * An array has 1 to 16 dimensions.  It is stored in one file (*global* placement) or in one file
 * per rank (*local* placement, each rank has its part of a distribution).  All ranks together
 * read and write slices of it through the collective engine: every byte is read from the file
 * once, and only the selected elements are written.
 *
 * file.h defines the term "collective call".  Arguments that must be the same on all ranks are
 * compared first; if they differ, all ranks return TUTTI_ERR_MISMATCH (options: those of rank 0
 * are used).  One thread at a time may use an array.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale array handle has no communicator:
 * only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARRAY_H
#define TUTTI_ARRAY_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>
#include <tutti/element_types.h>

TUTTI_BEGIN_DECLS

/** @name Slices
 *  In each dimension a slice selects lo, lo + stride, ... below hi, counting from 0.  If hi <= lo
 *  in some dimension the slice is empty and the other bounds are ignored. */
/**@{*/
typedef struct tutti_slice {
    tutti_count lo[TUTTI_MAX_DIMS];
    tutti_count hi[TUTTI_MAX_DIMS];
    tutti_count stride[TUTTI_MAX_DIMS]; /* >= 1; 0 means 1 */
    int64_t reserved[4];                /* 0: for later versions */
} tutti_slice;

/** Return the slice that selects a whole array.
 *  Not collective.
 *  @return the slice; an empty one (lo = hi = 0) if shape is NULL or ndims exceeds
 *      TUTTI_MAX_DIMS. */
TUTTI_API tutti_slice tutti_slice_all(int ndims, const tutti_count *shape);

/** Convert Fortran bounds lower:upper:stride, which count from 1 and include the upper bound.
 *  Not collective.
 *  @param[in] stride  If NULL, the stride is 1 in all dimensions; an element 0 means 1.
 *  @return TUTTI_ERR_ARG if a lower bound is below 1 or a stride is negative. */
TUTTI_API tutti_err tutti_slice_fortran(int ndims, const tutti_count *lower,
                                        const tutti_count *upper, const tutti_count *stride,
                                        tutti_slice *out) TUTTI_MUST_USE;

/** Count the selected elements along each dimension and in total.
 *  Not collective.
 *  @param[out] shape_out  NULL, or [ndims] elements along each dimension.
 *  @return the total, 0 if one dimension selects nothing; -1 if s is NULL or ndims is not 0 to
 *      TUTTI_MAX_DIMS; INT64_MAX if the total does not fit. */
TUTTI_API tutti_count tutti_slice_count(int ndims, const tutti_slice *s, tutti_count *shape_out);
/**@}*/

/** @name Distributions
 *  A distribution assigns every element of an array to a rank.  Ranks form a grid whose last
 *  dimension varies fastest; procs[d] ranks share dimension d. */
/**@{*/
typedef enum tutti_dist_kind {
    TUTTI_DIST_NONE,         /* not distributed: all ranks along this dimension have all of it */
    TUTTI_DIST_BLOCK,        /* one block per rank, ceil(n / procs) elements, the last ones fewer */
    TUTTI_DIST_CYCLIC,       /* cyclic, one element at a time */
    TUTTI_DIST_BLOCK_CYCLIC, /* cyclic, `block` elements at a time */
    TUTTI_DIST_RAGGED        /* rank p has the indices bounds[p] ... bounds[p + 1] - 1 */
} tutti_dist_kind;

typedef struct tutti_dist_dim {
    tutti_dist_kind kind;
    int procs;                 /* number of ranks along the dimension; TUTTI_DIST_NONE: 1 */
    tutti_count block;         /* TUTTI_DIST_BLOCK_CYCLIC: elements per block */
    const tutti_count *bounds; /* TUTTI_DIST_RAGGED: [procs + 1] ascending from 0 to n */
} tutti_dist_dim;

typedef struct tutti_distribution tutti_distribution;

/** Make a distribution.
 *  Not collective.
 *  The arguments are copied.
 *  @return TUTTI_ERR_ARG if an extent, `procs`, `block` or `bounds` is invalid. */
TUTTI_API tutti_err tutti_distribution_make(int ndims, const tutti_count *shape,
                                            const tutti_dist_dim *dims,
                                            tutti_distribution **out) TUTTI_MUST_USE;
/** Free a distribution and set the handle to NULL.
 *  Not collective.
 *  `d` and *d may be NULL. */
TUTTI_API void tutti_distribution_free(tutti_distribution **d);

/** Return the number of ranks of a distribution, the product of all procs.
 *  Not collective. */
TUTTI_API int tutti_distribution_ranks(const tutti_distribution *d);

/** Return the shape of the part of a rank; 0 in all dimensions for ranks outside the grid.
 *  Not collective.
 *  @return the number of elements of the part. */
TUTTI_API tutti_count tutti_distribution_part(const tutti_distribution *d, int rank,
                                              tutti_count *shape_out);

/** Find the rank of an element and its local index in the part of that rank.
 *  Not collective.
 *  @param[out] rank_out, local_out  either may be NULL.
 *  @return TUTTI_ERR_ARG if the element is outside the array. */
TUTTI_API tutti_err tutti_distribution_local(const tutti_distribution *d, const tutti_count *global,
                                             int *rank_out, tutti_count *local_out) TUTTI_MUST_USE;

/** Find the global index of an element of the part of a rank.
 *  Not collective.
 *  @return TUTTI_ERR_ARG if the element is outside the part. */
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
    tutti_order order; /* order of the elements in the file */
    tutti_type type;
    /* TUTTI_BYTES: bytes per element; otherwise 0 or the size of the type */
    tutti_off element_size;
    tutti_off offset;    /* file offset of element (0, ..., 0); ignored by create */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_array_spec;

/** Create an array in a new file; an existing file is replaced.
 *  Collective; all arguments must be the same on all ranks.
 *  Elements that have not been written are zero.
 *  @param[out] a_out  open for reading and writing; close it with tutti_array_close. */
TUTTI_API tutti_err tutti_array_create(MPI_Comm comm, const char *path,
                                       const tutti_array_spec *spec, const tutti_options *opt,
                                       tutti_array **a_out) TUTTI_MUST_USE;

/** Create an array in local placement: the part of rank r is in the file `path`.r, and `path`
 *  describes the array.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] d  a distribution for as many ranks as comm has; it is copied. */
TUTTI_API tutti_err tutti_array_create_local(MPI_Comm comm, const char *path,
                                             const tutti_array_spec *spec,
                                             const tutti_distribution *d, const tutti_options *opt,
                                             tutti_array **a_out) TUTTI_MUST_USE;

/** Open an array that tutti_array_create or tutti_array_create_local made.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] mode    TUTTI_READ, TUTTI_WRITE or both.
 *  @param[in] expect  NULL, or the expected array; offset and element_size are compared only if
 *      they are not 0.
 *  @return TUTTI_ERR_FORMAT if the file is not an array or is damaged; TUTTI_ERR_MISMATCH if
 *      the array differs from `expect`, or is in local placement made by a different number of
 *      ranks. */
TUTTI_API tutti_err tutti_array_open(MPI_Comm comm, const char *path, int mode,
                                     const tutti_array_spec *expect, const tutti_options *opt,
                                     tutti_array **a_out) TUTTI_MUST_USE;

/** Describe the array in a file without opening it, including one in local placement made by a
 *  different number of ranks.
 *  Not collective.
 *  @param[in] opt     NULL: options of the environment.
 *  @param[out] d_out  NULL, or its distribution in local placement, to be freed; NULL in global
 *      placement.
 *  @return TUTTI_ERR_FORMAT if the file is not an array or is damaged. */
TUTTI_API tutti_err tutti_array_inspect(const char *path, const tutti_options *opt,
                                        tutti_array_spec *spec_out,
                                        tutti_distribution **d_out) TUTTI_MUST_USE;

/** Open any file as an array.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] mode  as for tutti_file_open, without TUTTI_APPEND.  With TUTTI_CREATE the file
 *      is created or extended to hold the array.
 *  @return TUTTI_ERR_FORMAT if the file is too short. */
TUTTI_API tutti_err tutti_array_open_raw(MPI_Comm comm, const char *path, int mode,
                                         const tutti_array_spec *spec, const tutti_options *opt,
                                         tutti_array **a_out) TUTTI_MUST_USE;

/** Close an array and set the handle to NULL, even after an error.
 *  Collective.
 *  Prefetched slices are dropped.
 *  @return TUTTI_ERR_STATE if a tile iteration has not ended; the array then stays open. */
TUTTI_API tutti_err tutti_array_close(tutti_array **a);

/** Return the description of the whole array, for any placement.
 *  Not collective. */
TUTTI_API void tutti_array_describe(const tutti_array *a, tutti_array_spec *spec_out);

/** Return the distribution of an array in local placement.
 *  Not collective.
 *  @return a distribution that belongs to the array; NULL in global placement. */
TUTTI_API const tutti_distribution *tutti_array_distribution(const tutti_array *a);

/** Return the file of an array, for statistics and options; in local placement the file of this
 *  rank.
 *  Not collective.
 *  @return a file that belongs to the array: do not close it. */
TUTTI_API tutti_file *tutti_array_file(tutti_array *a);

/** Set every element to the same value.
 *  Collective; `element` must be the same on all ranks. */
TUTTI_API tutti_err tutti_array_fill(tutti_array *a, const void *element) TUTTI_MUST_USE;

/** Change the extent of the slowest dimension.
 *  Collective; `n` must be the same on all ranks.
 *  New elements are zero.  A raw array must be at the end of its file.
 *  @return TUTTI_ERR_UNSUPPORTED in local placement, including for a part of it that is opened by
 *      itself. */
TUTTI_API tutti_err tutti_array_resize(tutti_array *a, tutti_count n) TUTTI_MUST_USE;

/** Make all written data durable and visible to all programs.
 *  Collective.
 *  After an error, the same on all ranks, the operating system may have dropped any element that
 *  was written since the last successful sync: write those elements again.  The error is reported
 *  once; a later sync succeeds although they are lost. */
TUTTI_API tutti_err tutti_array_sync(tutti_array *a) TUTTI_MUST_USE;
/**@}*/

/** @name Reading and writing slices
 *  Every rank selects its own slice, which may be empty.  In local placement, see tutti_array(3),
 *  indices refer to the part of this rank, and nothing is exchanged.
 *  @param[in] memory  the location of the slice in a larger array in memory (ghost cells, another
 *      order, strides); it must select as many elements per dimension.  ndims and element_size may
 *      be 0.  If NULL, the slice is packed, in the order of the array. */
/**@{*/
/** Read or write a slice.
 *  Collective.
 *  `buf` contains elements of the type of the array; values are not converted.  It may be NULL if
 *  the slice is empty.  A rank that could not make its slice passes NULL for `s`; all ranks then
 *  return the last error of that rank.  If several ranks write the same element, the value of the
 *  highest rank is stored, unless the option `check` is set.
 *
 *  A later collective read through the same handle sees the written elements.  tutti_array_close
 *  makes them visible to other programs, tutti_array_sync also durable.
 *
 *  The option `method` selects the algorithm; see tutti-options(7).  `auto` uses the method with
 *  the lowest predicted time.  Writes use `sieve` only with the option `rmw` and a file that is
 *  also open for reading; otherwise they use `list`.
 *  @return TUTTI_ERR_ARG if a slice exceeds the array: nothing is transferred; TUTTI_ERR_OVERLAP
 *      if ranks write the same element and the option `check` is set. */
TUTTI_API tutti_err tutti_array_read(tutti_array *a, const tutti_slice *s,
                                     const tutti_section *memory, void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write(tutti_array *a, const tutti_slice *s,
                                      const tutti_section *memory, const void *buf) TUTTI_MUST_USE;

/** Read or write a slice by this rank alone.
 *  Not collective.
 *  If ranks write the same element, the stored value is undefined.  If the option `method` is
 *  `sieve`, reads use data sieving; writes never do. */
TUTTI_API tutti_err tutti_array_read_independent(tutti_array *a, const tutti_slice *s,
                                                 const tutti_section *memory,
                                                 void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_independent(tutti_array *a, const tutti_slice *s,
                                                  const tutti_section *memory,
                                                  const void *buf) TUTTI_MUST_USE;

/** Start to read or write a slice; complete the request with tutti_request_test or
 *  tutti_request_wait.
 *  Collective, non-blocking: see "Non-blocking collectives" in file.h.
 *  In local placement the outcome is that of this rank.
 *  @return the errors of tutti_array_write; TUTTI_ERR_OVERLAP for writes only. */
TUTTI_API tutti_err tutti_array_read_start(tutti_array *a, const tutti_slice *s,
                                           const tutti_section *memory, void *buf,
                                           tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_start(tutti_array *a, const tutti_slice *s,
                                            const tutti_section *memory, const void *buf,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** Read or write the part of this rank in a distribution.
 *  Collective; `d` and `within` must be the same on all ranks.
 *  In local placement `d` must be the distribution of the array and `within` NULL.
 *  @param[in] within  The slice whose elements `d` distributes; if NULL, `d` distributes the whole
 *      array.  `d` must have been made for that shape.
 *  @param[in] memory  The location of the part in a larger array in memory, with the shape of the
 *      part; if NULL, the part is packed in the order of the array.
 *  @return the errors of tutti_array_write; TUTTI_ERR_OVERLAP for writes only. */
TUTTI_API tutti_err tutti_array_read_part(tutti_array *a, const tutti_distribution *d,
                                          const tutti_slice *within, const tutti_section *memory,
                                          void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_array_write_part(tutti_array *a, const tutti_distribution *d,
                                           const tutti_slice *within, const tutti_section *memory,
                                           const void *buf) TUTTI_MUST_USE;

/** Cut the slowest dimension into partitions of which each, shared evenly by `ranks` ranks,
 *  needs at most `budget` bytes per rank.
 *  Not collective.
 *  @return the number of partitions; 0 if one index already needs more. */
TUTTI_API tutti_count tutti_array_partitions(const tutti_array *a, int ranks, tutti_off budget);
/** Return partition k of n, 0 <= k < n.
 *  Not collective. */
TUTTI_API tutti_slice tutti_array_partition(const tutti_array *a, tutti_count n, tutti_count k);

/** Copy all elements to another array of the same shape and type, with any placement and order.
 *  Collective on the ranks of both; the arrays must be the same on all ranks.
 *  Between local placements with different distributions the data goes through a temporary file
 *  TO.copy (or TO.copy.1 and so on), which is removed.
 *  @param[in] budget    memory for elements per rank in bytes, at least one element; the least
 *      of all ranks is used.
 *  @param[in] progress  NULL, or a callback.
 *  @return TUTTI_ERR_ARG if both arrays occupy the same bytes of a file, or a rank passes NULL
 *      for one of them.  If some ranks pass only `from` and others only `to`, or a rank passes
 *      neither, they wait for each other forever. */
TUTTI_API tutti_err tutti_array_copy(tutti_array *from, tutti_array *to, tutti_off budget,
                                     tutti_progress_fn *progress, void *context) TUTTI_MUST_USE;
/**@}*/

/** @name Prefetching */
/**@{*/
/** Start to read a slice in the background; the next tutti_array_read of the same slices, on
 *  all ranks, uses the data.
 *  Collective.
 *  Several slices may be pending; a write to the array through this handle drops them.  Errors
 *  are returned by the read.  The slice occupies memory until it is read or dropped. */
TUTTI_API tutti_err tutti_array_prefetch(tutti_array *a, const tutti_slice *s) TUTTI_MUST_USE;
/** Drop prefetched slices that have not been read.
 *  Collective. */
TUTTI_API tutti_err tutti_array_prefetch_drop(tutti_array *a) TUTTI_MUST_USE;
/**@}*/

/** @name Tiles
 *  Iterate over arrays that do not fit into memory:
 *
 *      tutti_tiles_begin(old, new, &spec, &t)
 *      while (tutti_tiles_next(t, &tile) == TUTTI_OK && tile.more)
 *          compute tile.out from tile.in
 *      tutti_tiles_end(&t)
 *
 *  While the program processes a tile, the next one is read and the previous one is written.
 *  Elements that consecutive tiles share (halos) are read once. */
/**@{*/
typedef struct tutti_tiles tutti_tiles;

typedef struct tutti_tiles_spec {
    /* bytes of memory per rank: tiles, pending reads and writes, and the share of this rank of
     * the engine's staging memory */
    tutti_off budget;
    /* elements of this rank, stride 1; NULL: all (local placement: its part) */
    const tutti_slice *region;
    /* extents of a tile; 0: as large as the budget allows */
    tutti_count tile[TUTTI_MAX_DIMS];
    /* number of further elements that are read on both sides, clipped to the array */
    tutti_count halo[TUTTI_MAX_DIMS];
    tutti_order order;   /* order of the tiles */
    int sequential;      /* 1: no prefetch, background writes or reuse, for comparison */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_tiles_spec;

typedef struct tutti_tile {
    int more;          /* 0: the iteration has ended, on all ranks */
    tutti_slice core;  /* elements of the tile; empty if only other ranks have tiles left */
    tutti_slice frame; /* the core with its halo */
    /* elements of the frame, packed in the order of the array; NULL: no array to read */
    const void *in;
    void *out; /* elements of the core, to be filled; NULL: no array to write */
    tutti_count in_shape[TUTTI_MAX_DIMS], out_shape[TUTTI_MAX_DIMS];
    int64_t reserved[8]; /* 0 */
} tutti_tile;

/** Begin a tile iteration.
 *  Collective; the arrays and `sequential` must be the same on all ranks.
 *  The rest of the spec is local; `region` must be disjoint if there is an array to write.
 *  @param[in] from  array to read, or NULL.
 *  @param[in] to    array to write, or NULL.  If it is the same as `from`, `out` is filled with
 *      the elements of the core, and halos must be 0.  Otherwise shape, placement and (local
 *      placement) distribution must be the same, and the arrays must not share bytes; order and
 *      type may differ.
 *  @return TUTTI_ERR_ARG if the budget is too small for the smallest tile; TUTTI_ERR_MISMATCH
 *      if only some ranks pass NULL for an array, except as tutti_array_copy documents. */
TUTTI_API tutti_err tutti_tiles_begin(tutti_array *from, tutti_array *to,
                                      const tutti_tiles_spec *spec,
                                      tutti_tiles **t_out) TUTTI_MUST_USE;
/** Return the next tile, and write the previous one.
 *  Collective.
 *  The write may be pending when the call returns.  Collective calls through the same handle
 *  (read, write, prefetch, copy, fill, sync, another iteration) wait for it; in local placement
 *  independent calls do so too.  Independent and non-blocking calls in global placement, and
 *  other handles, may see the elements only when the next call has returned.  Errors of the write
 *  are returned by the next call.
 *  @return TUTTI_ERR_MISMATCH if some ranks make another call for the array that is read (or,
 *      if none is read, written); nothing has changed, and the call may be repeated. */
TUTTI_API tutti_err tutti_tiles_next(tutti_tiles *t, tutti_tile *tile_out) TUTTI_MUST_USE;
/** End a tile iteration, even before its end, and set the handle to NULL.
 *  Collective.
 *  Waits for pending writes; the last tile returned is not written.
 *  @return the error of a pending write; TUTTI_ERR_MISMATCH as above: the iteration continues. */
TUTTI_API tutti_err tutti_tiles_end(tutti_tiles **t) TUTTI_MUST_USE;

typedef struct tutti_tiles_stats {
    tutti_count tiles;      /* number of tiles of this rank so far */
    tutti_off read_bytes;   /* bytes read from the array */
    tutti_off reused_bytes; /* bytes that were reused instead of read again */
    tutti_off written_bytes;
    tutti_off memory;       /* largest memory use so far, at most the budget */
    double seconds_waiting; /* time spent waiting in tutti_tiles_next */
} tutti_tiles_stats;

/** Variant of tutti_tiles_stats_get for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API void tutti_tiles_stats_sized(const tutti_tiles *t, tutti_tiles_stats *out,
                                       size_t struct_size);

/** Return statistics of a tile iteration.
 *  Not collective. */
static inline void tutti_tiles_stats_get(const tutti_tiles *t, tutti_tiles_stats *out) {
    tutti_tiles_stats_sized(t, out, sizeof *out);
}
/**@}*/

TUTTI_END_DECLS
#endif
