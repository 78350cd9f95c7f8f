/* array: arrays in files, on the file object and its engine.
 *
 *   array_types, slice, distribution    values: no file, no MPI
 *   array_header                        what stands in a file, to and from bytes
 *   array_object                        the array object
 *   array_agree, array_pair             what all ranks agree on
 *   array_open, array_local             create, open, close
 *   part_access                         a slice or a part as an access
 *   array_move, array_ahead             read, write, prefetch
 *   array_whole, array_copy             fill, resize, partitions, copy
 *   tiles*                              walks over arrays larger than memory
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARRAY_IMPL_H
#define TUTTI_ARRAY_IMPL_H

#include <tutti/array.h>
#include "access/side.h"
#include "comm/vote.h"
#include "layer/object.h"

/* The file starts with a block for the header, so that elements are aligned. */
#define TUTTI__HEADER_BYTES 4096

struct tutti_distribution {
    int ndims;
    int ranks; /* the product of all procs */
    tutti_count shape[TUTTI_MAX_DIMS];
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* bounds are in `bounds` below */
    tutti_count *bounds;                /* of all ragged dimensions, one after the other */
    tutti_count n_bounds;
};

typedef struct tutti__ahead tutti__ahead; /* a slice that is being prefetched */

extern const tutti__class tutti__array_class;

struct tutti_array {
    TUTTI__OBJECT; /* handle until it is closed; team and path of `head` or `file`, once it is complete */
    tutti_array_spec spec;    /* the whole array */
    tutti_array_spec mine;    /* what `file` holds: the whole array, or this rank's part of it */
    tutti_off bytes;          /* of the elements in `file` */
    tutti_distribution *dist; /* local placement; NULL: global */
    tutti_file *file; /* where the elements are; local placement: opened by this rank alone */
    tutti_file *head; /* local placement: the descriptor, opened by all; otherwise NULL */
    int mode;         /* TUTTI_READ, TUTTI_WRITE */
    int raw;          /* there is no header */
    int part;         /* part of a local placement, opened by itself as an array */
    uint64_t version; /* of the header, see tutti__header */
    int walks;        /* tile walks that have not ended */
    struct tutti__tile_flight *behind; /* what they write, of the same walks on all ranks */
    tutti__ahead *ahead;     /* prefetched slices, in the order in which they were started */
    _Atomic int64_t written; /* counts writes that leave `ahead` as it is, see below */
};

/* The ranks of an array, for agreements. */
static inline tutti__team *tutti__array_team(const tutti_array *a) {
    return tutti__file_team(a->head ? a->head : a->file);
}

/* This rank writes elements: what has been prefetched before is no longer true here.  Local. */
static inline void tutti__array_written(tutti_array *a) {
    a->written++;
}

/* ---- array_types.c */
/* Complete and check a spec: element size, extents that fit into 2^62 bytes.   *bytes_out: of the
 * elements. */
tutti_err tutti__spec_check(const tutti_array_spec *in, tutti_array_spec *out,
                            tutti_off *bytes_out) TUTTI_MUST_USE;
/* The dimension number k, counted from the slowest in the file. */
static inline int tutti__spec_dim(const tutti_array_spec *s, int k) {
    return s->order == TUTTI_ROW_MAJOR ? k : s->ndims - 1 - k;
}
/* Is `have` what the caller counts on? */
tutti_err tutti__spec_expect(const tutti_array_spec *expect,
                             const tutti_array_spec *have) TUTTI_MUST_USE;
uint64_t tutti__spec_hash(uint64_t h, const tutti_array_spec *s); /* NULL is fine */

/* ---- distribution.c */
/* The indices of a rank's part in one dimension that have local numbers [from, to), as at most
 * three series: `outer` times, `step` apart, `inner` neighbours.  Returns how many series. */
typedef struct tutti__series {
    tutti_count first; /* index */
    tutti_count inner, outer, step;
    tutti_count local; /* number of the first one, from `from` on */
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
    tutti_off bytes; /* of the elements (descriptor: of what follows the header) */
    uint64_t id;     /* the same in a descriptor and its parts */
    int ranks, rank; /* local placement: parts; and which this one is */
    tutti_dist_dim dim[TUTTI_MAX_DIMS]; /* descriptor: the distribution, without bounds */
} tutti__header;

void tutti__header_write(const tutti__header *h, unsigned char block[TUTTI__HEADER_BYTES]);
/* Trusts nothing. */
tutti_err tutti__header_read(const unsigned char block[TUTTI__HEADER_BYTES],
                             tutti__header *out) TUTTI_MUST_USE;
/* 64-bit numbers as they stand in files. */
void tutti__put64(unsigned char *to, uint64_t v);
uint64_t tutti__get64(const unsigned char *from);

/* An empty file gets its length, then its header: only with it the file is an array.   This rank
 * alone. */
tutti_err tutti__array_found(tutti_file *f, const tutti__header *h) TUTTI_MUST_USE;
/* The header of a file, by this rank alone; the file is long enough for what it says. */
tutti_err tutti__array_identify(tutti_file *f, tutti__header *out) TUTTI_MUST_USE;
/* Write this rank's header of `a` again with its `mine`; the old one or the new one counts whatever
 * happens. */
tutti_err tutti__array_header_update(tutti_array *a) TUTTI_MUST_USE;

/* ---- array_object.c */
/* May it be used, and its files?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: closed, or after
 * MPI_Finalize.   Local. */
tutti_err tutti__array_live(const tutti_array *a) TUTTI_MUST_USE;
/* May elements be read (written)?  Local. */
tutti_err tutti__array_usable(const tutti_array *a, int is_write) TUTTI_MUST_USE;
void tutti__array_free(tutti_array *a);
/* The end of every way to get an array: hand it over, or name the error and give it up.
 * path: NULL if the ranks have not agreed on it */
tutti_err tutti__array_hand_over(tutti_array *a, const char *operation, const char *path,
                                 tutti_err err, tutti_array **a_out) TUTTI_MUST_USE;
/* Tell the file where the array's slabs are: what domains=array cuts between.  All ranks. */
void tutti__array_slabs(tutti_array *a);
/* Two handles: are they open on the same ranks, and not in the same bytes of one file?  Local. */
tutti_err tutti__array_pair_check(const tutti_array *a, const tutti_array *b) TUTTI_MUST_USE;
/* Add operation and file to an error, if there is one. */
tutti_err tutti__array_named(const tutti_file *f, const char *operation, tutti_err err);

/* ---- array_agree.c */
/* Before there is a file: does every rank agree, and with the same arguments (a hash of them)?
 * The error of a rank has its own path, as the others may have another.   Collective. */
tutti_err tutti__array_agree(MPI_Comm comm, const char *operation, const char *path, tutti_err mine,
                             uint64_t same) TUTTI_MUST_USE;
/* An agreement on an open array, and on the largest of all ranks' numbers.   Collective. */
tutti_err tutti__array_vote(tutti_array *a, tutti_err mine) TUTTI_MUST_USE;
tutti_err tutti__array_max(tutti_array *a, tutti_err mine, int64_t *io) TUTTI_MUST_USE;
/* tutti__object_call after tutti__requests_settle(a->file), which must not be called by a fiber.   Collective. */
tutti_err tutti__array_call(tutti_array *a, const tutti__call *c, tutti_err mine) TUTTI_MUST_USE;
/* The same for a call on two arrays, either of which may be NULL; `mine` and the hash cover the rest. */
tutti_err tutti__arrays_call(tutti_array *from, tutti_array *to, const tutti__call *c,
                             tutti_err mine) TUTTI_MUST_USE;
/* Which array it is (NULL: none); elements of a slice (NULL: of everything). */
uint64_t tutti__array_hash(uint64_t h, const tutti_array *a);
uint64_t tutti__slice_hash(uint64_t h, int ndims, const tutti_slice *s);
/* Rank 0 removes the name of an open file.   Collective. */
tutti_err tutti__root_deletes(tutti_file *f) TUTTI_MUST_USE;

/* ---- array_open.c */
/* tutti_array_create; `how` is TUTTI_TRUNCATE, or TUTTI_EXCLUSIVE: then what could not be
 * finished is removed. Collective. */
tutti_err tutti__array_create(MPI_Comm comm, const char *path, int how,
                              const tutti_array_spec *spec, const tutti_options *opt,
                              tutti_array **a_out) TUTTI_MUST_USE;

/* ---- array_local.c */
/* Collective: what is in a->head is a descriptor; open this rank's part. */
tutti_err tutti__array_open_part(tutti_array *a, const char *path, const tutti__header *h,
                                 const tutti_options *opt) TUTTI_MUST_USE;

/* ---- part_access.c */
/* A slice of `spec`; an empty one gives an empty access. */
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
/* All ranks: move by an access that each has made; `mine` is what a rank has against it, `same` a
 * hash of what agrees, or 0. */
tutti_err tutti__array_transfer(tutti_array *a, const tutti_access *access, void *buf, int is_write,
                                tutti_err mine, uint64_t same) TUTTI_MUST_USE;

/* ---- tiles_io.c */
/* Before all ranks read or write elements: what tile walks are writing has been written.  What
 * goes wrong is told by the walk.  Collective; in local placement of this rank alone. */
void tutti__array_catch_up(tutti_array *a);

/* ---- array_ahead.c */
/* Reading: *taken_out is 1 if what was prefetched has been put into `buf`.  Collective. */
tutti_err tutti__ahead_take(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                            void *buf, int *taken_out) TUTTI_MUST_USE;
/* Wait for all, and free them.  Collective. */
void tutti__ahead_drop(tutti_array *a);
/* The same for a call that must not wait: the next one that may does the rest.  Local, on all
 * ranks. */
void tutti__ahead_drop_later(tutti_array *a);

#endif
