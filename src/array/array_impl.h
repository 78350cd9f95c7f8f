/* array: arrays in files.
 *
 *   array_types, slice, distribution    types and their functions, without files and MPI
 *   array_header                        the header of a file
 *   array_object                        the array object and its validity
 *   array_agree, array_pair             agreement of all ranks
 *   array_open, array_local             create, open, close
 *   part_access                         access of a slice or a part
 *   array_move, array_prefetch          read, write, prefetch
 *   array_whole, array_copy             fill, resize, partitions, copy
 *   tiles*, tile_transfer               iteration over arrays larger than memory
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARRAY_IMPL_H
#define TUTTI_ARRAY_IMPL_H

#include <tutti/array.h>
#include "access/side.h"
#include "comm/vote.h"
#include "layer/object.h"

/* The header occupies one block, so that the elements after it are aligned. */
#define TUTTI__HEADER_BYTES 4096

struct tutti_distribution {
    int ndims;
    int ranks; /* product of procs over all dimensions */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* dim[d].bounds points into `bounds` */
    tutti_count *bounds;                /* bounds of all ragged dimensions, concatenated */
    tutti_count n_bounds;
};

typedef struct tutti__prefetch tutti__prefetch; /* a slice that is being prefetched */

extern const tutti__class tutti__array_class;

struct tutti_array {
    TUTTI__OBJECT;         /* team and path belong to `head`, or else to `file` */
    tutti_array_spec spec; /* spec of the whole array */
    /* spec of the elements in `file`: all elements, or this rank's part */
    tutti_array_spec local;
    tutti_off bytes;          /* size of the elements in `file` */
    tutti_distribution *dist; /* distribution of a local placement; NULL: global placement */
    /* file of the elements; in local placement opened by this rank only */
    tutti_file *file;
    /* local placement: descriptor, opened by all ranks; otherwise NULL */
    tutti_file *head;
    int mode;         /* bits TUTTI_READ, TUTTI_WRITE */
    int raw;          /* the file has no header */
    int part;         /* the file is a part of a local placement */
    uint64_t version; /* number of changes of the header, see tutti__header */
    int iterations;   /* number of tile iterations that have not ended */
    /* writes of the iterations to this array, in the same order on all ranks */
    struct tutti__tile_transfer *tile_writes;
    tutti__prefetch *prefetched; /* list of prefetches, in the order of their start */
    _Atomic int64_t written;     /* number of writes that did not drop `prefetched` */
};

/* Return the team for agreements on an array. */
static inline tutti__team *tutti__array_team(const tutti_array *a) {
    return tutti__file_team(a->head ? a->head : a->file);
}

/* Record a write of this rank, after which slices prefetched earlier are out of date.   Not
 * collective. */
static inline void tutti__array_written(tutti_array *a) {
    a->written++;
}

/* ---- array_types.c */
/* Complete and check a spec: element size, and extents that fit into 2^62 bytes.  *bytes_out is
 * the size of the elements. */
tutti_err tutti__spec_check(const tutti_array_spec *in, tutti_array_spec *out,
                            tutti_off *bytes_out) TUTTI_MUST_USE;
/* Return dimension k, counted from the slowest in the file. */
static inline int tutti__spec_dim(const tutti_array_spec *s, int k) {
    return s->order == TUTTI_ROW_MAJOR ? k : s->ndims - 1 - k;
}
/* Check that `have` equals the spec that the caller expects. */
tutti_err tutti__spec_expect(const tutti_array_spec *expect,
                             const tutti_array_spec *have) TUTTI_MUST_USE;
uint64_t tutti__spec_hash(uint64_t h, const tutti_array_spec *s); /* s may be NULL */

/* ---- distribution.c */
/* Indices of a part in one dimension: `outer` blocks at distance `step`, each of `inner`
 * consecutive indices. */
typedef struct tutti__series {
    tutti_count first; /* first global index */
    tutti_count inner, outer, step;
    tutti_count local; /* local index of `first`, relative to `from` */
} tutti__series;
/* List the indices of a rank's part in dimension `dim` with local indices in [from, to) as at most
 * three series; return the number of series. */
int tutti__distribution_series(const tutti_distribution *d, int rank, int dim, tutti_count from,
                               tutti_count to, tutti__series out[3]);
tutti_err tutti__distribution_copy(const tutti_distribution *d,
                                   tutti_distribution **out) TUTTI_MUST_USE;
int tutti__distribution_equal(const tutti_distribution *a, const tutti_distribution *b);
uint64_t tutti__distribution_hash(uint64_t h, const tutti_distribution *d);

/* ---- array_header.c */
typedef enum { TUTTI__GLOBAL, TUTTI__DESCRIPTOR, TUTTI__PART } tutti__placement;

typedef struct tutti__header {
    uint64_t version; /* number of changes of the header */
    tutti__placement placement;
    tutti_array_spec spec;
    tutti_off bytes; /* size of the elements (descriptor: of the data after the header) */
    uint64_t id;     /* random number, the same in a descriptor and its parts */
    int ranks, rank; /* local placement: number of parts, and number of this part */
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* descriptor: the distribution, without bounds */
} tutti__header;

void tutti__header_write(const tutti__header *h, unsigned char block[TUTTI__HEADER_BYTES]);
/* Read a header from bytes; all fields are validated. */
tutti_err tutti__header_read(const unsigned char block[TUTTI__HEADER_BYTES],
                             tutti__header *out) TUTTI_MUST_USE;
/* Store and load a 64-bit value in little-endian byte order. */
void tutti__store_le64(unsigned char *to, uint64_t v);
uint64_t tutti__load_le64(const unsigned char *from);

/* Set the length of an empty file, then write its header; a file without a header is not an array.
 * Not collective. */
tutti_err tutti__array_header_create(tutti_file *f, const tutti__header *h) TUTTI_MUST_USE;
/* Read the header of a file, and check that the file is long enough for the array.   Not
 * collective. */
tutti_err tutti__array_header_read(tutti_file *f, tutti__header *out) TUTTI_MUST_USE;
/* Write the header of `a` again from a->local.  If the write is interrupted, either the old or the
 * new header is valid.   Not collective. */
tutti_err tutti__array_header_update(tutti_array *a) TUTTI_MUST_USE;

/* ---- array_object.c */
/* Check the invariants of a published array, for TUTTI_ASSERT. */
int tutti__array_is_valid(const tutti_array *a);
/* At the end of a call, add the operation and the path to the error, if any; return `err`. */
static inline tutti_err tutti__array_named(const tutti_array *a, const char *operation,
                                           tutti_err err) {
    TUTTI_ASSERT(tutti__array_is_valid(a));
    return tutti__object_error(&a->object, operation, err);
}
/* Check a handle and its files: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is closed or MPI
 * has been finalised.   Not collective. */
tutti_err tutti__array_live(const tutti_array *a) TUTTI_MUST_USE;
/* Check that the mode of the array allows reading or writing elements.   Not collective. */
tutti_err tutti__array_usable(const tutti_array *a, int is_write) TUTTI_MUST_USE;
void tutti__array_free(tutti_array *a);
/* The last step of create and open: publish the array, or add the context to the error and free the
 * array.   path: NULL if the ranks have not agreed on the path. */
tutti_err tutti__array_publish(tutti_array *a, const char *operation, const char *path,
                               tutti_err err, tutti_array **a_out) TUTTI_MUST_USE;
/* Pass the slabs of the array to the file, for domains=array.   Collective. */
void tutti__array_slabs(tutti_array *a);
/* Check that two arrays are open on the same ranks and use different bytes.   Not collective. */
tutti_err tutti__array_pair_check(const tutti_array *a, const tutti_array *b) TUTTI_MUST_USE;
/* Add the operation and the path of f to the error, if any; return `err`. */
tutti_err tutti__array_error(const tutti_file *f, const char *operation, tutti_err err);

/* ---- array_agree.c */
/* Agree on the errors of all ranks and on a hash of the arguments, before a file is open.  The
 * error of a rank contains the path of this rank, since ranks may pass different paths.
 * Collective. */
tutti_err tutti__array_agree(MPI_Comm comm, const char *operation, const char *path,
                             tutti_err local_err, uint64_t hash) TUTTI_MUST_USE;
/* Agree on the errors of all ranks; tutti__array_max also computes the maximum of *io over all
 * ranks.   Collective. */
tutti_err tutti__array_vote(tutti_array *a, tutti_err local_err) TUTTI_MUST_USE;
tutti_err tutti__array_max(tutti_array *a, tutti_err local_err, int64_t *io) TUTTI_MUST_USE;
/* Settle the requests of a->file, then call tutti__object_call.  Must not be called in a fiber.
 * Collective. */
tutti_err tutti__array_call(tutti_array *a, const tutti__call *c,
                            tutti_err local_err) TUTTI_MUST_USE;
/* Like tutti__array_call, for a call on two arrays, either of which may be NULL; other argument
 * errors are in `local_err`. */
tutti_err tutti__arrays_call(tutti_array *from, tutti_array *to, const tutti__call *c,
                             tutti_err local_err) TUTTI_MUST_USE;
/* Add to hash h the identity of an array (NULL: no array); a slice (NULL: the whole array). */
uint64_t tutti__array_hash(uint64_t h, const tutti_array *a);
uint64_t tutti__slice_hash(uint64_t h, int ndims, const tutti_slice *s);
/* Rank 0 deletes the file, which stays open.   Collective. */
tutti_err tutti__file_delete_on_root(tutti_file *f) TUTTI_MUST_USE;

/* ---- array_open.c */
/* Implement tutti_array_create.  `how` is TUTTI_TRUNCATE, or TUTTI_EXCLUSIVE; with the latter an
 * incomplete file is removed.   Collective. */
tutti_err tutti__array_create(MPI_Comm comm, const char *path, int how,
                              const tutti_array_spec *spec, const tutti_options *opt,
                              tutti_array **a_out) TUTTI_MUST_USE;

/* ---- array_local.c */
/* Open this rank's part of the array in the descriptor a->head.   Collective. */
tutti_err tutti__array_open_part(tutti_array *a, const char *path, const tutti__header *h,
                                 const tutti_options *opt) TUTTI_MUST_USE;

/* ---- part_access.c */
/* Make the access of a slice of `spec`; an empty slice has an empty access. */
tutti_err tutti__slice_access(const tutti_array_spec *spec, const tutti_slice *s,
                              const tutti_section *memory, tutti_access **out) TUTTI_MUST_USE;
/* The elements of the part of `rank` in distribution `d`. */
typedef struct tutti__array_part {
    const tutti_distribution *d;
    int rank;
    const tutti_slice *within;    /* the distributed slice; NULL: the whole array */
    const tutti_count *from, *to; /* [ndims] bounds of local indices; NULL: the whole part */
} tutti__array_part;
tutti_err tutti__part_access(const tutti_array_spec *spec, const tutti__array_part *part,
                             const tutti_section *memory, tutti_access **out) TUTTI_MUST_USE;

/* ---- array_move.c */
/* Transfer the elements of an access.  local_err: error of this rank; hash: of values that must be
 * the same on all ranks, or 0.   Collective. */
tutti_err tutti__array_transfer(tutti_array *a, const tutti_access *access, void *buf, int is_write,
                                tutti_err local_err, uint64_t hash) TUTTI_MUST_USE;

/* ---- tile_transfer.c */
/* Wait for the pending writes of tile iterations; must be called before all ranks read or write
 * elements.  The iteration reports errors of these writes.   Collective; in local placement not
 * collective. */
void tutti__array_finish_tile_writes(tutti_array *a);

/* ---- array_prefetch.c */
/* If all ranks have prefetched slice s, copy it to `buf`, and set *taken_out to 1.   Collective. */
tutti_err tutti__prefetch_take(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                               void *buf, int *taken_out) TUTTI_MUST_USE;
/* Wait for all prefetches and free them.   Collective. */
void tutti__prefetch_drop(tutti_array *a);
/* Mark all prefetches as dropped, without waiting; the next call that may wait frees them.   Not
 * collective. */
void tutti__prefetch_drop_later(tutti_array *a);

#endif
