/* store: files with a descriptor, shared by posix, uring, threads, aio and mem.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FDFILE_H
#define TUTTI_FDFILE_H

#include "store/span.h"

/* The interval [*lo, *hi), which may be empty, grows by [from, to). */
static inline void tutti__interval_grow(tutti_off *lo, tutti_off *hi, tutti_off from,
                                        tutti_off to) {
    const int empty = *lo >= *hi;
    *lo = empty || from < *lo ? from : *lo;
    *hi = empty || to > *hi ? to : *hi;
}

/* The state of write_behind.c for a file. */
typedef struct tutti__behind {
    tutti_off lo, hi; /* to be sent on */
    struct tutti__fdfile *next;
    int queued, known, useless;
} tutti__behind;

/* With direct_io there are two descriptors: blocks that are whole, aligned in the file and aligned
 * in memory use direct_fd, everything else (edges, misaligned memory) uses fd.  So a file never
 * grows beyond the written bytes, and no byte is read and written back. */
typedef struct tutti__fdfile {
    tutti_store base;
    int fd;
    int direct_fd;    /* -1: none */
    tutti_off align;  /* of blocks that go through direct_fd, 0: none do */
    size_t max_bytes; /* of one system call */
    int interrupt;    /* fault injection: pretend that every other call was interrupted */
    int flags;        /* TUTTI_STORE_READ ... */
    tutti__behind behind;
} tutti__fdfile;

/* One more flag to open with: only a file of our own, and not through a symbolic link. */
#define TUTTI__FDFILE_OWN 0x10000

/* Record that a file cannot be opened. */
tutti_err tutti__fdfile_cannot_open(int sys_errno) TUTTI_MUST_USE;

/* Open into `f`, whose first member the caller has set; on an error nothing is left open. */
tutti_err tutti__fdfile_open(tutti__fdfile *f, const char *path, int flags, int permissions,
                             const tutti_options *opt) TUTTI_MUST_USE;
/* Undo an open, because a later step failed. */
void tutti__fdfile_abandon(tutti__fdfile *f, const char *path);
/* Close the descriptors; the caller owns the struct. */
tutti_err tutti__fdfile_shut(tutti__fdfile *f) TUTTI_MUST_USE;

/* The layout that the file system reports. */
void tutti__layout_find(int fd, tutti_store_layout *layout);

/* Refuse operations for which the file was not opened and, without a signal, writes up to `end` that exceed
 * the process's file size limit. */
tutti_err tutti__fdfile_allows(const tutti__fdfile *f, int is_write, tutti_off end) TUTTI_MUST_USE;

/* All runs of a request; a read with direct_io queries the size of the file. */
tutti_err tutti__fdfile_span(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                             tutti__span *span_out) TUTTI_MUST_USE;
tutti_off tutti__runs_end(const tutti_io_run *runs, int n);

/* Operations that fit into the tables as they are. */
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

/* Entries that the tables of all stores on descriptors have. */
#define TUTTI__FDFILE_OPS                                                 \
    .size = tutti__fdfile_size, .resize = tutti__fdfile_resize,           \
    .preallocate = tutti__fdfile_preallocate, .sync = tutti__fdfile_sync, \
    .descriptor = tutti__fdfile_descriptor, .flush = tutti__fdfile_flush, \
    .refresh = tutti__fdfile_refresh, .is_cached = tutti__fdfile_cached,  \
    .lock = tutti__fdfile_lock

/* No more of that: before a file is closed. */
void tutti__fdfile_write_behind_end(tutti__fdfile *f);

#endif
