/* Tutti: accesses: which bytes of a file correspond to which bytes of memory.
 *
 * An access is a compact description: nested strides stay nested, and irregular runs are
 * delta-encoded.
 *
 * An access has a file side and a memory side.  Stream position p is the p-th byte in file
 * order; the access maps it to one file offset and one memory offset.  File offsets increase
 * strictly along the stream; memory offsets may be in any order.
 *
 * A byte of the file may be named several times.  It is in the stream once, with the memory of
 * its last mention, which a write uses.  Earlier mentions are kept as *repeats*: a read fills
 * their memory too, and counts their bytes.  If two bytes of the file are named for one byte of
 * memory, it is undefined which of them a read stores there.
 *
 * Accesses are immutable and need no MPI.  No call in this header is collective.  Different
 * threads may use one access at the same time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ACCESS_H
#define TUTTI_ACCESS_H

#include <tutti/types.h>
#include <tutti/error.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_access tutti_access;

#define TUTTI_MAX_DIMS 16

typedef enum tutti_order {
    TUTTI_ROW_MAJOR, /* C: the last dimension varies fastest */
    TUTTI_COL_MAJOR  /* Fortran: the first dimension varies fastest */
} tutti_order;

/** A section of an n-dimensional array: in dimension d the indices lo[d], lo[d] + stride[d],
 *  ... below hi[d], of an array with shape[d] elements.  Indices count from 0.  If hi[d] <=
 *  lo[d] in some dimension, the section is empty and the other bounds are ignored. */
typedef struct tutti_section {
    int ndims; /* 1 ... TUTTI_MAX_DIMS */
    tutti_order order;
    tutti_off element_size; /* bytes, > 0 */
    tutti_off offset;       /* position of element (0, ..., 0) in bytes */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count lo[TUTTI_MAX_DIMS];
    tutti_count hi[TUTTI_MAX_DIMS];
    tutti_count stride[TUTTI_MAX_DIMS]; /* >= 1; 0 means 1 */
    int64_t reserved[4];                /* 0: for later versions */
} tutti_section;

/** @name Making accesses
 *  Memory is packed (memory offset = stream position), except where a function has an argument
 *  for it.  File offsets must be >= 0.  Free an access with tutti_access_free. */
/**@{*/

/** Describe `bytes` contiguous bytes at `offset`.
 *  Not collective.
 *  0 bytes make an empty access. */
TUTTI_API tutti_err tutti_access_contiguous(tutti_off offset, tutti_off bytes,
                                            tutti_access **out) TUTTI_MUST_USE;

/** Describe a section of an array in the file.
 *  Not collective.
 *  @param[in] memory  the section of an array in memory that holds the data, for example with
 *      ghost cells or in another order.  Element (i, j, ...) of one corresponds to element (i,
 *      j, ...) of the other.  Both sections must select the same number of elements per
 *      dimension and have the same element size.  NULL: packed, in the order of the file.
 *  @return TUTTI_ERR_ARG if a bound is outside the shape or the sections do not match. */
TUTTI_API tutti_err tutti_access_section(const tutti_section *file, const tutti_section *memory,
                                         tutti_access **out) TUTTI_MUST_USE;

/** Describe `count` blocks of `block` bytes, `stride` bytes apart, the first at `offset`.
 *  Not collective. */
TUTTI_API tutti_err tutti_access_vector(tutti_off offset, tutti_count count, tutti_off block,
                                        tutti_off stride, tutti_access **out) TUTTI_MUST_USE;

/** Describe `n` runs in any order: run i is lengths[i] bytes at offsets[i].
 *  Not collective.
 *  Memory is packed in the given order. */
TUTTI_API tutti_err tutti_access_runs(tutti_count n, const tutti_off *offsets,
                                      const tutti_off *lengths, tutti_access **out) TUTTI_MUST_USE;

/** Describe `n` pieces in any order: lengths[i] bytes at file_offsets[i] of the file and
 *  memory_offsets[i] of memory.
 *  Not collective.
 *  Memory offsets may be negative.
 *  @param[in] memory_offsets  NULL: packed in the given order. */
TUTTI_API tutti_err tutti_access_pieces(tutti_count n, const tutti_off *file_offsets,
                                        const tutti_off *memory_offsets, const tutti_off *lengths,
                                        tutti_access **out) TUTTI_MUST_USE;

/** Describe `n` items of `item_size` bytes at offset + index[i] * item_size, in any order.
 *  Not collective. */
TUTTI_API tutti_err tutti_access_indices(tutti_off offset, tutti_off item_size, tutti_count n,
                                         const tutti_count *index,
                                         tutti_access **out) TUTTI_MUST_USE;

/** Concatenate accesses.
 *  Not collective.
 *  @param[in] memory_offsets  where the memory of each part starts.  NULL: packed, part after
 *      part. */
TUTTI_API tutti_err tutti_access_concat(int n, const tutti_access *const *parts,
                                        const tutti_off *memory_offsets,
                                        tutti_access **out) TUTTI_MUST_USE;

/** Repeat an access `count` times, each copy shifted by `file_stride` in the file and
 *  `memory_stride` in memory.
 *  Not collective. */
TUTTI_API tutti_err tutti_access_tile(const tutti_access *a, tutti_count count,
                                      tutti_off file_stride, tutti_off memory_stride,
                                      tutti_access **out) TUTTI_MUST_USE;

/** Combine the file side of `file` with the file side of `memory` as memory side, byte by byte
 *  in stream order.
 *  Not collective.
 *  Both must have the same number of bytes.  Repeats are dropped. */
TUTTI_API tutti_err tutti_access_join(const tutti_access *file, const tutti_access *memory,
                                      tutti_access **out) TUTTI_MUST_USE;

/** Restrict an access to the file bytes in [lo, hi).
 *  Not collective.
 *  Memory offsets do not change. */
TUTTI_API tutti_err tutti_access_clip(const tutti_access *a, tutti_off lo, tutti_off hi,
                                      tutti_access **out) TUTTI_MUST_USE;

/** Shift all file offsets by `file` and all memory offsets by `memory` bytes.
 *  Not collective.
 *  Both may be negative.  The description is shared, so that the call takes constant time. */
TUTTI_API tutti_err tutti_access_shift(const tutti_access *a, tutti_off file, tutti_off memory,
                                       tutti_access **out) TUTTI_MUST_USE;

/** Copy an access.
 *  Not collective. */
TUTTI_API tutti_err tutti_access_copy(const tutti_access *a, tutti_access **out) TUTTI_MUST_USE;

/** Free an access and set the handle to NULL.
 *  Not collective.
 *  `a` and *a may be NULL. */
TUTTI_API void tutti_access_free(tutti_access **a);
/**@}*/

/** @name Querying */
/**@{*/
/** Return the number of bytes of the stream, that is of different bytes in the file.
 *  Not collective. */
TUTTI_API tutti_off tutti_access_bytes(const tutti_access *a);

/** Return the number of bytes of the repeats.
 *  Not collective.
 *  A complete read returns tutti_access_bytes plus this number, a write returns
 *  tutti_access_bytes. */
TUTTI_API tutti_off tutti_access_repeated(const tutti_access *a);

/** Return the bounds [lo, hi) of the file offsets.
 *  Not collective.
 *  An empty access has the bounds [0, 0). */
TUTTI_API void tutti_access_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi);

/** Return the bounds [lo, hi) of the memory offsets, repeats included.
 *  Not collective.
 *  An access that has been freed has the bounds [0, 0). */
TUTTI_API void tutti_access_memory_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi);

/** Return the number of contiguous runs in the file.
 *  Not collective. */
TUTTI_API tutti_count tutti_access_runs_count(const tutti_access *a);

/** Return the number of bytes of the access in the file range [lo, hi).
 *  Not collective. */
TUTTI_API tutti_off tutti_access_bytes_in(const tutti_access *a, tutti_off lo, tutti_off hi);

/** Return the number of bytes that the description occupies.
 *  Not collective. */
TUTTI_API size_t tutti_access_size(const tutti_access *a);

/** Return a hash of the description, or compare two descriptions; both sides and repeats count.
 *  Not collective.
 *  Accesses that were built in the same way are equal.  The same bytes described in different
 *  ways are usually equal too. */
TUTTI_API uint64_t tutti_access_hash(const tutti_access *a);
TUTTI_API int tutti_access_equal(const tutti_access *a, const tutti_access *b);

/** A piece: contiguous in the file and in memory. */
typedef struct tutti_piece {
    tutti_off file;
    tutti_off memory;
    tutti_off bytes;
} tutti_piece;

/** An iterator over the pieces of an access in file order; repeats are not visited. */
typedef struct tutti_access_iter tutti_access_iter;

/** Start an iteration at a stream position.
 *  Not collective.
 *  The access must exist until the iterator is freed. */
TUTTI_API tutti_err tutti_access_iter_start(const tutti_access *a, tutti_off stream,
                                            tutti_access_iter **out) TUTTI_MUST_USE;
/** Return the next piece.
 *  Not collective.
 *  @return 1 if there is a piece, 0 at the end. */
TUTTI_API int tutti_access_iter_next(tutti_access_iter *it, tutti_piece *piece);
/** Free an iterator and set the handle to NULL.
 *  Not collective.
 *  `it` and *it may be NULL. */
TUTTI_API void tutti_access_iter_free(tutti_access_iter **it);

/** Find stream position `p`: its file offset, its memory offset, and the bytes up to the end of
 *  the piece.
 *  Not collective.
 *  @return TUTTI_ERR_ARG if p is not in 0 ... bytes - 1. */
TUTTI_API tutti_err tutti_access_seek(const tutti_access *a, tutti_off p,
                                      tutti_piece *piece) TUTTI_MUST_USE;
/**@}*/

/** @name Serializing */
/**@{*/
/** Write an access, with both sides and repeats, in a portable form.
 *  Not collective.
 *  @param[out] buf  NULL: only the size is returned.
 *  @return the size in bytes. */
TUTTI_API size_t tutti_access_serialise(const tutti_access *a, void *buf, size_t size);

/** Read an access that tutti_access_serialise wrote.
 *  Not collective.
 *  The input need not be trusted.
 *  @return TUTTI_ERR_FORMAT if it is not a valid description. */
TUTTI_API tutti_err tutti_access_parse(const void *buf, size_t size,
                                       tutti_access **out) TUTTI_MUST_USE;

/** Describe an access in one line of text, for example "4096 x [16384 bytes every 65536] at 0".
 *  Not collective.
 *  @return the length of the text, as snprintf does. */
TUTTI_API int tutti_access_describe(const tutti_access *a, char *buf, size_t size);
/**@}*/

/** @name Packing
 *  `user` is the address of memory offset 0; `packed` bytes are in file order. */
/**@{*/
/** Copy stream bytes [from, to) from user memory to `packed`, or back; unpack also fills
 *  repeats.
 *  Not collective. */
TUTTI_API void tutti_access_pack(const tutti_access *a, const void *user, tutti_off from,
                                 tutti_off to, void *packed);
TUTTI_API void tutti_access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                                   const void *packed);
/**@}*/

TUTTI_END_DECLS
#endif
