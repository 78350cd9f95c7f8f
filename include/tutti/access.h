/* Tutti: accesses.  An access says which bytes of a file go with which bytes of memory, in a few
 * numbers: nested strides stay nested, irregular runs are delta-encoded.
 *
 * Both sides are walked together.  Stream position p is the p-th byte in file order; the access
 * maps it to one file offset and one memory offset.  File offsets of a finished access strictly
 * increase along the stream; memory offsets may come in any order.
 *
 * A byte of the file may be named several times.  It is in the stream once, with the memory of its
 * last mention, which is what a write takes.  The mentions before that are kept beside the stream
 * as *repeats*: a read fills their memory too, and counts their bytes.  Only if two bytes of the
 * file are named for one byte of memory, it is undefined which of them a read leaves there, and in
 * repeats of them.
 *
 * Accesses are immutable and need no MPI.  All calls here are Local.  Different threads may use
 * one access at the same time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ACCESS_H
#define TUTTI_ACCESS_H

#include <tutti/types.h>
#include <tutti/error.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_access tutti_access;

#define TUTTI_MAX_DIMS 16

typedef enum tutti_order {
    TUTTI_ROW_MAJOR, /* C: the last dimension runs fastest */
    TUTTI_COL_MAJOR  /* Fortran: the first dimension runs fastest */
} tutti_order;

/** A section of an n-dimensional array: for each dimension d the indices lo[d], lo[d] + stride[d],
 *  ... below hi[d] (0-based, half-open) of an array of shape[d] elements.  Where hi[d] <= lo[d] in some
 *  dimension it selects nothing, and no bound matters: as for tutti_slice and in Fortran. */
typedef struct tutti_section {
    int ndims; /* 1 ... TUTTI_MAX_DIMS */
    tutti_order order;
    tutti_off element_size; /* bytes, > 0 */
    tutti_off offset;       /* where element (0, ..., 0) is, in bytes from the start */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_count lo[TUTTI_MAX_DIMS];
    tutti_count hi[TUTTI_MAX_DIMS];
    tutti_count stride[TUTTI_MAX_DIMS]; /* >= 1; 0 is 1 */
    int64_t reserved[4];                /* 0: for later versions */
} tutti_section;

/** @name Making accesses
 *  The memory side is packed (stream position = memory offset) unless said otherwise.  File offsets
 *  are >= 0.  Outputs are written only on success; free them with tutti_access_free. */
/**@{*/

/** `bytes` bytes at `offset`; 0 bytes are an empty access. */
TUTTI_API tutti_err tutti_access_contiguous(tutti_off offset, tutti_off bytes,
                                            tutti_access **out) TUTTI_MUST_USE;

/** A section of an array in the file.
 *  @param[in] memory  the section of an array in memory that holds it (ghost cells, another order:
 *      element (i, j, ...) of one goes with element (i, j, ...) of the other), with the same number
 *      of selected elements per dimension and the same element size; NULL: packed, in file's order */
TUTTI_API tutti_err tutti_access_section(const tutti_section *file, const tutti_section *memory,
                                         tutti_access **out) TUTTI_MUST_USE;

/** `count` blocks of `block` bytes, each `stride` bytes after the one before. */
TUTTI_API tutti_err tutti_access_vector(tutti_off offset, tutti_count count, tutti_off block,
                                        tutti_off stride, tutti_access **out) TUTTI_MUST_USE;

/** `n` runs in any order: run i is lengths[i] bytes at offsets[i]; memory follows the given order. */
TUTTI_API tutti_err tutti_access_runs(tutti_count n, const tutti_off *offsets,
                                      const tutti_off *lengths, tutti_access **out) TUTTI_MUST_USE;

/** `n` pieces in any order: lengths[i] bytes at file_offsets[i] go with those at memory_offsets[i],
 *  which may be negative.
 *  @param[in] memory_offsets  NULL: packed in the given order, as tutti_access_runs has it */
TUTTI_API tutti_err tutti_access_pieces(tutti_count n, const tutti_off *file_offsets,
                                        const tutti_off *memory_offsets, const tutti_off *lengths,
                                        tutti_access **out) TUTTI_MUST_USE;

/** `n` items of `item_size` bytes at offset + index[i] * item_size, in any order. */
TUTTI_API tutti_err tutti_access_indices(tutti_off offset, tutti_off item_size, tutti_count n,
                                         const tutti_count *index,
                                         tutti_access **out) TUTTI_MUST_USE;

/** One access after the other; memory of part i starts at memory_offsets[i], or, if that is NULL,
 *  where part i - 1 ends (packed). */
TUTTI_API tutti_err tutti_access_concat(int n, const tutti_access *const *parts,
                                        const tutti_off *memory_offsets,
                                        tutti_access **out) TUTTI_MUST_USE;

/** `count` copies of `a`, each shifted by `file_stride` in the file and `memory_stride` in memory. */
TUTTI_API tutti_err tutti_access_tile(const tutti_access *a, tutti_count count,
                                      tutti_off file_stride, tutti_off memory_stride,
                                      tutti_access **out) TUTTI_MUST_USE;

/** The file side of `file` with the file side of `memory` as its memory side, byte for byte in
 *  stream order; both must have the same number of bytes.  Repeats of the two are left out. */
TUTTI_API tutti_err tutti_access_join(const tutti_access *file, const tutti_access *memory,
                                      tutti_access **out) TUTTI_MUST_USE;

/** The part of `a` whose file bytes lie in [lo, hi); memory offsets stay as they are. */
TUTTI_API tutti_err tutti_access_clip(const tutti_access *a, tutti_off lo, tutti_off hi,
                                      tutti_access **out) TUTTI_MUST_USE;

/** The same access elsewhere: all file offsets `file` bytes further on, all memory offsets `memory`;
 *  either may be negative.  Takes no time: descriptions are shared. */
TUTTI_API tutti_err tutti_access_shift(const tutti_access *a, tutti_off file, tutti_off memory,
                                       tutti_access **out) TUTTI_MUST_USE;

/** The same access once more. */
TUTTI_API tutti_err tutti_access_copy(const tutti_access *a, tutti_access **out) TUTTI_MUST_USE;

/** Free an access and null the handle; NULL and a handle that is NULL are fine. */
TUTTI_API void tutti_access_free(tutti_access **a);
/**@}*/

/** @name Asking */
/**@{*/
/** Number of bytes of the stream: of different bytes in the file. */
TUTTI_API tutti_off tutti_access_bytes(const tutti_access *a);

/** Number of bytes of the repeats.  A read of everything returns tutti_access_bytes + this, a write
 *  tutti_access_bytes. */
TUTTI_API tutti_off tutti_access_repeated(const tutti_access *a);

/** File bounds [lo, hi); an empty access gives [0, 0). */
TUTTI_API void tutti_access_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi);

/** Bounds of the memory offsets [lo, hi), also of repeats; an access that has been freed gives [0, 0). */
TUTTI_API void tutti_access_memory_bounds(const tutti_access *a, tutti_off *lo, tutti_off *hi);

/** Number of contiguous runs in the file. */
TUTTI_API tutti_count tutti_access_runs_count(const tutti_access *a);

/** Bytes of the access in the file range [lo, hi). */
TUTTI_API tutti_off tutti_access_bytes_in(const tutti_access *a, tutti_off lo, tutti_off hi);

/** Memory that the description itself takes. */
TUTTI_API size_t tutti_access_size(const tutti_access *a);

/** Structural hash and equality of both sides and of repeats: equal descriptions of equal
 *  bytes.  Two accesses that were built the same way are equal; the same bytes described in
 *  different ways usually are too. */
TUTTI_API uint64_t tutti_access_hash(const tutti_access *a);
TUTTI_API int tutti_access_equal(const tutti_access *a, const tutti_access *b);

/** One piece: contiguous in the file and in memory. */
typedef struct tutti_piece {
    tutti_off file;
    tutti_off memory;
    tutti_off bytes;
} tutti_piece;

/** A walk over the pieces of an access in file order; repeats are not visited. */
typedef struct tutti_access_iter tutti_access_iter;

/** Start a walk at a stream position.  The access must outlive the walk. */
TUTTI_API tutti_err tutti_access_iter_start(const tutti_access *a, tutti_off stream,
                                            tutti_access_iter **out) TUTTI_MUST_USE;
/** Go on by one piece.
 *  @return 1 and the next piece, or 0 at the end */
TUTTI_API int tutti_access_iter_next(tutti_access_iter *it, tutti_piece *piece);
/** End a walk and null the handle; NULL and a handle that is NULL are fine. */
TUTTI_API void tutti_access_iter_free(tutti_access_iter **it);

/** Where stream position `p` is, 0 <= p < bytes: file and memory offset, and how far the piece goes on. */
TUTTI_API tutti_err tutti_access_seek(const tutti_access *a, tutti_off p,
                                      tutti_piece *piece) TUTTI_MUST_USE;
/**@}*/

/** @name Passing on */
/**@{*/
/** Write the access as bytes that any machine reads back (both sides, and repeats).
 *  @param[out] buf  NULL: only tell the size   @return the size in bytes */
TUTTI_API size_t tutti_access_serialise(const tutti_access *a, void *buf, size_t size);

/** Read what tutti_access_serialise wrote.  The input may be hostile: whatever is not a sound
 *  description is refused with TUTTI_ERR_FORMAT. */
TUTTI_API tutti_err tutti_access_parse(const void *buf, size_t size,
                                       tutti_access **out) TUTTI_MUST_USE;

/** A one-line description for people, e.g. "4096 x [16384 bytes every 65536] at 0".
 *  @return the length it has, as snprintf does */
TUTTI_API int tutti_access_describe(const tutti_access *a, char *buf, size_t size);
/**@}*/

/** @name Moving bytes by an access
 *  `user` is the address of memory offset 0; `stream` bytes are packed in file order. */
/**@{*/
/** Copy stream bytes [from, to) out of user memory into `packed`; and back, to repeats too. */
TUTTI_API void tutti_access_pack(const tutti_access *a, const void *user, tutti_off from,
                                 tutti_off to, void *packed);
TUTTI_API void tutti_access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                                   const void *packed);
/**@}*/

TUTTI_END_DECLS
#endif
