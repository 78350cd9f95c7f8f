/* store: files with a descriptor, used by the stores posix, uring, threads, aio and mem.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FDFILE_H
#define TUTTI_FDFILE_H

#include "store/span.h"

/* Extend the interval [*lo, *hi), which may be empty, to include [from, to). */
static inline void tutti__interval_grow(tutti_off *lo, tutti_off *hi, tutti_off from,
                                        tutti_off to) {
    const int empty = *lo >= *hi;
    *lo = empty || from < *lo ? from : *lo;
    *hi = empty || to > *hi ? to : *hi;
}

/* State of a file in write_behind.c. */
typedef struct tutti__behind {
    tutti_off lo, hi;           /* bytes whose writeback has to be started */
    struct tutti__fdfile *next; /* next file of the queue */
    /* whether the file is in the queue; whether it uses the thread; whether writeback must not be
     * started */
    int queued, known, useless;
} tutti__behind;

/* With direct_io there are two descriptors: direct_fd for complete blocks that are aligned both in
 * the file and in memory, fd for all other bytes (edges, misaligned memory).  Thus a file never
 * grows beyond the written bytes, and no byte is read and written back. */
typedef struct tutti__fdfile {
    tutti_store base;
    int fd;
    int direct_fd;    /* descriptor with O_DIRECT; -1: none */
    tutti_off align;  /* alignment and size of blocks for direct_fd; 0: direct_fd is not used */
    size_t max_bytes; /* maximum bytes of one system call */
    int interrupt;    /* fault injection: handle every second call as interrupted */
    int flags;        /* TUTTI_STORE_READ ... */
    tutti__behind behind;
} tutti__fdfile;

/* Additional flag for tutti__fdfile_open: the file must belong to this user and not be a symbolic
 * link. */
#define TUTTI__FDFILE_OWN 0x10000

/* Record that a file cannot be opened, and return the error code. */
tutti_err tutti__fdfile_cannot_open(int sys_errno) TUTTI_MUST_USE;

/* Open a file and set *f, whose member `base` the caller has set; after an error no descriptor is
 * open. */
tutti_err tutti__fdfile_open(tutti__fdfile *f, const char *path, int flags, int permissions,
                             const tutti_options *opt) TUTTI_MUST_USE;
/* Undo tutti__fdfile_open after a later step has failed. */
void tutti__fdfile_abandon(tutti__fdfile *f, const char *path);
/* Close the descriptors; the caller frees the struct. */
tutti_err tutti__fdfile_shut(tutti__fdfile *f) TUTTI_MUST_USE;

/* Get the layout that the file system reports. */
void tutti__layout_find(int fd, tutti_store_layout *layout);

/* Check that the file was opened for this kind of access and, for writes, that their end `end` does
 * not exceed the file size limit of the process. */
tutti_err tutti__fdfile_allows(const tutti__fdfile *f, int is_write, tutti_off end) TUTTI_MUST_USE;

/* Return a span of all runs of a request; for reads with direct_io, the size of the file is
 * queried. */
tutti_err tutti__fdfile_span(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                             tutti__span *span_out) TUTTI_MUST_USE;
/* Return the file offset after the last byte of all runs. */
tutti_off tutti__runs_end(const tutti_io_run *runs, int n);

/* Operations for the tables of stores. */
tutti_err tutti__fdfile_write(tutti_store *s, const tutti_io_run *runs, int n);
tutti_err tutti__fdfile_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out);
tutti_err tutti__fdfile_size(tutti_store *s, tutti_off *size_out);
tutti_err tutti__fdfile_resize(tutti_store *s, tutti_off size);
tutti_err tutti__fdfile_preallocate(tutti_store *s, tutti_off size);
tutti_err tutti__fdfile_sync(tutti_store *s);
int tutti__fdfile_descriptor(const tutti_store *s);
tutti_err tutti__fdfile_flush(tutti_store *s);
tutti_err tutti__fdfile_refresh(tutti_store *s);
tutti_err tutti__fdfile_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi); /* lock.c */
void tutti__fdfile_write_behind(tutti_store *s, tutti_off lo, tutti_off hi); /* write_behind.c */

int tutti__fdfile_cached(tutti_store *s, tutti_off offset); /* cached.c */

/* Common entries of the tables of stores with descriptors. */
#define TUTTI__FDFILE_OPS                                                 \
    .size = tutti__fdfile_size, .resize = tutti__fdfile_resize,           \
    .preallocate = tutti__fdfile_preallocate, .sync = tutti__fdfile_sync, \
    .descriptor = tutti__fdfile_descriptor, .flush = tutti__fdfile_flush, \
    .refresh = tutti__fdfile_refresh, .is_cached = tutti__fdfile_cached,  \
    .lock = tutti__fdfile_lock

/* Stop starting writeback for a file, before it is closed. */
void tutti__fdfile_write_behind_end(tutti__fdfile *f);

#endif
