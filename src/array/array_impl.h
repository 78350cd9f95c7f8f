/* array: arrays in files, on the file object and its engine.
 *
 *   array_types, slice, distribution    values: no file, no MPI
 *   array_header                        the header of a file, to and from bytes
 *   array_object                        the array object and its validity
 *   array_agree, array_pair             agreement of all ranks
 *   array_open, array_local             create, open, close
 *   part_access                         a slice or a part as an access
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
    int ranks; /* the product of all procs */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* bounds are in `bounds` below */
    tutti_count *bounds;                /* bounds of all ragged dimensions, concatenated */
    tutti_count n_bounds;
};

typedef struct tutti__prefetch tutti__prefetch; /* a slice that is being prefetched */

extern const tutti__class tutti__array_class;

struct tutti_array {
    TUTTI__OBJECT;            /* listed until closed; team and path are those of `head` or `file` */
    tutti_array_spec spec;    /* the whole array */
    tutti_array_spec local;   /* the elements in `file`: all of them, or this rank's part */
    tutti_off bytes;          /* size of the elements in `file` */
    tutti_distribution *dist; /* local placement; NULL: global placement */
    tutti_file *file;         /* the elements; in local placement only this rank opens it */
    tutti_file *head;         /* local placement: the descriptor, opened by all ranks */
    int mode;                 /* TUTTI_READ, TUTTI_WRITE */
    int raw;                  /* the file has no header */
    int part;                 /* the file is a part of a local placement */
    uint64_t version;         /* number of changes of the header, see tutti__header */
    int iterations;           /* tile iterations that have not ended */
    struct tutti__tile_transfer
        *tile_writes;            /* of the iterations, in the same order on all ranks */
    tutti__prefetch *prefetched; /* in the order in which they were started */
    _Atomic int64_t written;     /* number of writes that did not drop `prefetched` */
};

/* The team for agreements on an array. */
static inline tutti__team *tutti__array_team(const tutti_array *a) {
    return tutti__file_team(a->head ? a->head : a->file);
}

/* Record a write of this rank: slices prefetched earlier are out of date.   Not collective. */
static inline void tutti__array_written(tutti_array *a) {
    a->written++;
}

/* ---- array_types.c */
/* Complete and check a spec: element size, and extents that fit into 2^62 bytes.  *bytes_out is
 * the size of the elements. */
tutti_err tutti__spec_check(const tutti_array_spec *in, tutti_array_spec *out,
                            tutti_off *bytes_out) TUTTI_MUST_USE;
/* The dimension number k, counted from the slowest in the file. */
static inline int tutti__spec_dim(const tutti_array_spec *s, int k) {
    return s->order == TUTTI_ROW_MAJOR ? k : s->ndims - 1 - k;
}
/* Fail unless `have` equals the spec that the caller expects. */
tutti_err tutti__spec_expect(const tutti_array_spec *expect,
                             const tutti_array_spec *have) TUTTI_MUST_USE;
uint64_t tutti__spec_hash(uint64_t h, const tutti_array_spec *s); /* s may be NULL */

/* ---- distribution.c */
/* The indices of a rank's part in one dimension whose local indices are in [from, to), as at most
 * three series of `outer` blocks, `step` apart, of `inner` consecutive indices.  Returns the
 * number of series. */
typedef struct tutti__series {
    tutti_count first; /* index */
    tutti_count inner, outer, step;
    tutti_count local; /* local index of the first one, relative to `from` */
} tutti__series;
int tutti__distribution_series(const tutti_distribution *d, int rank, int dim, tutti_count from,
                               tutti_count to, tutti__series out[3]);
tutti_err tutti__distribution_copy(const tutti_distribution *d,
                                   tutti_distribution **out) TUTTI_MUST_USE;
int tutti__distribution_equal(const tutti_distribution *a, const tutti_distribution *b);
uint64_t tutti__distribution_hash(uint64_t h, const tutti_distribution *d);

/* ---- array_header.c */
typedef enum { TUTTI__GLOBAL, TUTTI__DESCRIPTOR, TUTTI__PART } tutti__placement;

typedef struct tutti__header {
    uint64_t version; /* counts the changes of the header */
    tutti__placement placement;
    tutti_array_spec spec;
    tutti_off bytes; /* size of the elements (descriptor: of the data after the header) */
    uint64_t id;     /* the same in a descriptor and its parts */
    int ranks, rank; /* local placement: number of parts, and number of this part */
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* descriptor: the distribution, without bounds */
} tutti__header;

void tutti__header_write(const tutti__header *h, unsigned char block[TUTTI__HEADER_BYTES]);
/* The bytes may be damaged or hostile; all fields are checked. */
tutti_err tutti__header_read(const unsigned char block[TUTTI__HEADER_BYTES],
                             tutti__header *out) TUTTI_MUST_USE;
/* 64-bit values in little-endian byte order. */
void tutti__store_le64(unsigned char *to, uint64_t v);
uint64_t tutti__load_le64(const unsigned char *from);

/* Set the length of an empty file, then write its header; a file without a header is not an array.
 * Not collective. */
tutti_err tutti__array_header_create(tutti_file *f, const tutti__header *h) TUTTI_MUST_USE;
/* Read the header of a file, and check that the file is long enough for it.   Not collective. */
tutti_err tutti__array_header_read(tutti_file *f, tutti__header *out) TUTTI_MUST_USE;
/* Write the header of `a` again from a->local.  If the write is interrupted, either the old or the
 * new header is valid.   Not collective. */
tutti_err tutti__array_header_update(tutti_array *a) TUTTI_MUST_USE;

/* ---- array_object.c */
/* Whether the fields of a published array agree with each other; for TUTTI_ASSERT. */
int tutti__array_is_valid(const tutti_array *a);
/* The end of a call: name the operation and the path in an error. */
static inline tutti_err tutti__array_named(const tutti_array *a, const char *operation,
                                           tutti_err err) {
    TUTTI_ASSERT(tutti__array_is_valid(a));
    return tutti__object_error(&a->object, operation, err);
}
/* Fail unless the array and its files may be used: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if
 * it is closed or MPI has been finalised.   Not collective. */
tutti_err tutti__array_live(const tutti_array *a) TUTTI_MUST_USE;
/* Fail unless elements may be read or written.   Not collective. */
tutti_err tutti__array_usable(const tutti_array *a, int is_write) TUTTI_MUST_USE;
void tutti__array_free(tutti_array *a);
/* The last step of create and open: publish the array, or add the context to the error and free
 * the array. path: NULL if the ranks have not agreed on it */
tutti_err tutti__array_publish(tutti_array *a, const char *operation, const char *path,
                               tutti_err err, tutti_array **a_out) TUTTI_MUST_USE;
/* Report the slabs of the array to the file; domains=array cuts between them.   Collective. */
void tutti__array_slabs(tutti_array *a);
/* Fail unless two arrays are open on the same ranks and use different bytes.   Not collective. */
tutti_err tutti__array_pair_check(const tutti_array *a, const tutti_array *b) TUTTI_MUST_USE;
/* Add operation and path to an error, if there is one. */
tutti_err tutti__array_error(const tutti_file *f, const char *operation, tutti_err err);

/* ---- array_agree.c */
/* Agree before there is a file: on the errors of all ranks and on a hash of the arguments.  The
 * error of a rank has its own path, since ranks may pass different paths.   Collective. */
tutti_err tutti__array_agree(MPI_Comm comm, const char *operation, const char *path,
                             tutti_err local_err, uint64_t hash) TUTTI_MUST_USE;
/* Agree on an error, and on the largest value of all ranks.   Collective. */
tutti_err tutti__array_vote(tutti_array *a, tutti_err local_err) TUTTI_MUST_USE;
tutti_err tutti__array_max(tutti_array *a, tutti_err local_err, int64_t *io) TUTTI_MUST_USE;
/* tutti__object_call after tutti__requests_settle(a->file), which must not be called by a fiber.   Collective. */
tutti_err tutti__array_call(tutti_array *a, const tutti__call *c,
                            tutti_err local_err) TUTTI_MUST_USE;
/* The same for a call on two arrays, either of which may be NULL; `local_err` and the hash cover
 * the rest. */
tutti_err tutti__arrays_call(tutti_array *from, tutti_array *to, const tutti__call *c,
                             tutti_err local_err) TUTTI_MUST_USE;
/* Hash of an array's identity (NULL: none); hash of a slice (NULL: of the whole array). */
uint64_t tutti__array_hash(uint64_t h, const tutti_array *a);
uint64_t tutti__slice_hash(uint64_t h, int ndims, const tutti_slice *s);
/* Rank 0 deletes the file, which stays open.   Collective. */
tutti_err tutti__file_delete_on_root(tutti_file *f) TUTTI_MUST_USE;

/* ---- array_open.c */
/* tutti_array_create; `how` is TUTTI_TRUNCATE, or TUTTI_EXCLUSIVE, which removes an incomplete
 * file.   Collective. */
tutti_err tutti__array_create(MPI_Comm comm, const char *path, int how,
                              const tutti_array_spec *spec, const tutti_options *opt,
                              tutti_array **a_out) TUTTI_MUST_USE;

/* ---- array_local.c */
/* Open this rank's part of the array in the descriptor a->head.   Collective. */
tutti_err tutti__array_open_part(tutti_array *a, const char *path, const tutti__header *h,
                                 const tutti_options *opt) TUTTI_MUST_USE;

/* ---- part_access.c */
/* The access of a slice of `spec`; it is empty if the slice is. */
tutti_err tutti__slice_access(const tutti_array_spec *spec, const tutti_slice *s,
                              const tutti_section *memory, tutti_access **out) TUTTI_MUST_USE;
/* The elements of a rank's part with local indices in [from, to) (NULL: all), of a distribution of
 * `within` (NULL: of the whole array). */
typedef struct tutti__array_part {
    const tutti_distribution *d;
    int rank;
    const tutti_slice *within;
    const tutti_count *from, *to;
} tutti__array_part;
tutti_err tutti__part_access(const tutti_array_spec *spec, const tutti__array_part *part,
                             const tutti_section *memory, tutti_access **out) TUTTI_MUST_USE;

/* ---- array_move.c */
/* Transfer the elements of an access.  `local_err` is this rank's error, `hash` covers what must
 * agree, or 0.   Collective. */
tutti_err tutti__array_transfer(tutti_array *a, const tutti_access *access, void *buf, int is_write,
                                tutti_err local_err, uint64_t hash) TUTTI_MUST_USE;

/* ---- tile_transfer.c */
/* Wait for the pending writes of tile iterations, before all ranks read or write elements.  The
 * iteration reports their errors.   Collective; in local placement not collective. */
void tutti__array_finish_tile_writes(tutti_array *a);

/* ---- array_prefetch.c */
/* *taken_out is 1 if a prefetched slice has been copied to `buf`.   Collective. */
tutti_err tutti__prefetch_take(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                               void *buf, int *taken_out) TUTTI_MUST_USE;
/* Wait for all prefetches and free them.   Collective. */
void tutti__prefetch_drop(tutti_array *a);
/* The same for a call that must not wait: the next call that may wait frees them.   Not
 * collective. */
void tutti__prefetch_drop_later(tutti_array *a);

#endif
