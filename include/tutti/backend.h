/* Tutti: interface for authors of stores.
 *
 * A store is a const table of operations that transfer bytes between memory and a file.
 * src/store/store_null.c is a commented template.
 *
 * A store is used by one process.  The library never calls two operations of one store at the
 * same time, except that begun requests may be pending together, and that a store which is
 * `reentrant` may get write, read, size, lock, flush and refresh from several threads at once.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BACKEND_H
#define TUTTI_BACKEND_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/options.h>
#include <tutti/stats.h>

TUTTI_BEGIN_DECLS

/** A run: contiguous in the file and in memory. */
typedef struct tutti_io_run {
    tutti_off offset;
    void *memory; /* only read, not changed, by a write */
    size_t bytes;
} tutti_io_run;

/** Properties of an open file. */
typedef struct tutti_store_layout {
    tutti_off block;        /* preferred unit of access (page, file system block), > 0 */
    tutti_off stripe;       /* stripe unit of a parallel file system, 0: none */
    tutti_off direct_align; /* alignment of offsets and addresses for O_DIRECT, 0: not possible */
    int client_cache;       /* other machines may see bytes late (FUSE, NFS ...) */
    int synchronous;        /* every write waits for the disk (mounted sync) */
} tutti_store_layout;

/** An open file of a store; stores embed it as first member of their own struct. */
typedef struct tutti_store {
    const struct tutti_store_ops *ops;
    tutti_stats *stats; /* counts requests, bytes and system calls; never NULL */
    tutti_store_layout layout;
    void *guard; /* used by the library */
} tutti_store;

/** A begun request; stores embed it as first member of their own struct. */
typedef struct tutti_store_request {
    tutti_store *store;
    double ended; /* seconds of CLOCK_MONOTONIC when it ended; 0: unknown */
} tutti_store_request;

#define TUTTI_STORE_READ 1   /* open for reading */
#define TUTTI_STORE_WRITE 2  /* open for writing */
#define TUTTI_STORE_CREATE 4 /* create the file if it does not exist */
#define TUTTI_STORE_EXCL 8   /* fail if it exists */

/** The operations of a store.  Those marked (d) may be NULL; the default is given in the
 *  parentheses. */
typedef struct tutti_store_ops {
    const char *name;
    int asynchronous; /* whether begin works in the background */
    int reentrant;    /* whether several threads may use the store at once, see above */

    /** Open `path`, and fill in the layout. */
    tutti_err (*open)(const char *path, int flags, int permissions, const tutti_options *opt,
                      tutti_stats *stats, tutti_store **store_out);
    /** Close and free, even after an error. */
    tutti_err (*close)(tutti_store *s);

    /** Write or read all runs, in any order; partial transfers and interruptions are continued.
     *  Reading stops at the end of the file: *done_out is the number of bytes, in the order of the
     *  list, that exist; memory of bytes beyond is not changed.  After an error the message
     *  contains the offset. */
    tutti_err (*write)(tutti_store *s, const tutti_io_run *runs, int n);
    tutti_err (*read)(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out);

    /** (d: done at once) Begin a write or read; `runs` is copied, the memory must stay until
     *  finish. */
    tutti_err (*begin)(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                       tutti_store_request **r_out);
    /** (d: always complete) Return whether a request has ended.  Never waits. */
    int (*test)(tutti_store_request *r);
    /** (d) Wait for a request and free it; done_out as for read (writes: all bytes). */
    tutti_err (*finish)(tutti_store_request *r, tutti_off *done_out);

    tutti_err (*size)(tutti_store *s, tutti_off *size_out);
    tutti_err (*resize)(tutti_store *s, tutti_off size);
    /** (d: resize if larger) Allocate space for [0, size); never shrinks. */
    tutti_err (*preallocate)(tutti_store *s, tutti_off size);
    /** (d: nothing) Make written bytes durable. */
    tutti_err (*sync)(tutti_store *s);
    /** (d: -1, none) Return a descriptor of the file, to open it once more. */
    int (*descriptor)(const tutti_store *s);
    /** (d: nothing) Make written bytes visible to other machines. */
    tutti_err (*flush)(tutti_store *s);
    /** (d: nothing) Drop cached data of this machine, so that it sees bytes that others flushed. */
    tutti_err (*refresh)(tutti_store *s);
    /** (d: nothing) Wait for a lock on [lo, hi) of the file against all other programs: kind
     *  TUTTI_STORE_READ for a shared lock, TUTTI_STORE_WRITE for an exclusive one, 0 to release it.
     *  Fails with TUTTI_ERR_UNSUPPORTED if the file system has no locks. */
    tutti_err (*lock)(tutti_store *s, int kind, tutti_off lo, tutti_off hi);
    /** (d: nothing) A sync is likely to follow: start to write back the bytes of [lo, hi).  Never
     *  waits. */
    void (*start_writeback)(tutti_store *s, tutti_off lo, tutti_off hi);
    /** (d: unknown) Return whether the page of byte `offset` can be read without waiting for a
     *  device: 1: it is in memory; 0: it is not; -1: unknown, or the file ends before it.  Never
     *  waits.  May be called by any thread at any time. */
    int (*is_cached)(tutti_store *s, tutti_off offset);
} tutti_store_ops;

TUTTI_END_DECLS
#endif
