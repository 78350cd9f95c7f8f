/* Tutti: for authors of stores.  A store is one const table of operations that moves bytes between
 * memory and a file.  src/store/store_null.c is the commented template.
 *
 * A store is used by one process; tutti never calls two operations of one store at the same time,
 * except that begun requests may be in flight together, and that a store which is `reentrant` gets
 * write, read, size, lock, flush and refresh from several threads at once, whatever goes on besides.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_BACKEND_H
#define TUTTI_BACKEND_H

#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/options.h>
#include <tutti/stats.h>

TUTTI_BEGIN_DECLS

/** One run: contiguous in the file and in memory. */
typedef struct tutti_io_run {
    tutti_off offset;
    void *memory; /* only read from when writing */
    size_t bytes;
} tutti_io_run;

/** What a store says of its file once it is open. */
typedef struct tutti_store_layout {
    tutti_off block;        /* preferred unit of access (page, file system block), > 0 */
    tutti_off stripe;       /* stripe unit of a parallel file system, 0: none */
    tutti_off direct_align; /* what O_DIRECT needs of offsets and addresses, 0: not possible */
    int client_cache; /* other machines may see bytes late, and this one theirs (FUSE, NFS ...) */
    int synchronous;  /* every write waits for the disk: mounted so */
} tutti_store_layout;

/** An open file of a store; stores put this first in a struct of their own. */
typedef struct tutti_store {
    const struct tutti_store_ops *ops;
    tutti_stats
        *stats; /* requests, bytes and system calls that no operation asks for; never NULL */
    tutti_store_layout layout;
    void *guard; /* tutti's own */
} tutti_store;

/** A begun request; stores put this first in a struct of their own. */
typedef struct tutti_store_request {
    tutti_store *store;
    double ended; /* seconds of CLOCK_MONOTONIC when it ended, as far as test knows; 0: unknown */
} tutti_store_request;

#define TUTTI_STORE_READ 1   /* open for reading */
#define TUTTI_STORE_WRITE 2  /* open for writing */
#define TUTTI_STORE_CREATE 4 /* create the file if it is not there */
#define TUTTI_STORE_EXCL 8   /* and refuse if it is */

/** The operations.  Those marked (d) may be absent: the default is described there. */
typedef struct tutti_store_ops {
    const char *name;
    int asynchronous; /* begin really works in the background */
    int reentrant;    /* see above */

    /** Open `path`; on success the store's layout is filled in. */
    tutti_err (*open)(const char *path, int flags, int permissions, const tutti_options *opt,
                      tutti_stats *stats, tutti_store **store_out);
    /** Close and free, also after an error of close itself. */
    tutti_err (*close)(tutti_store *s);

    /** Write or read all runs, in any order; partial transfers and interruptions are continued.
     *  Reading stops at the end of the file: *done_out is how many bytes of the list, in list
     *  order, were there (bytes behind are untouched).  On an error the offset is in the message. */
    tutti_err (*write)(tutti_store *s, const tutti_io_run *runs, int n);
    tutti_err (*read)(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out);

    /** (d: done at once) Begin a write or read; `runs` is copied, the memory must stay until finish. */
    tutti_err (*begin)(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                       tutti_store_request **r_out);
    /** (d: always complete) Has it ended?  Never waits. */
    int (*test)(tutti_store_request *r);
    /** (d) Wait for it and free it; done_out as for read (writes: all bytes). */
    tutti_err (*finish)(tutti_store_request *r, tutti_off *done_out);

    tutti_err (*size)(tutti_store *s, tutti_off *size_out);
    tutti_err (*resize)(tutti_store *s, tutti_off size);
    /** (d: resize if larger) Make sure that [0, size) has space; never shrinks. */
    tutti_err (*preallocate)(tutti_store *s, tutti_off size);
    /** (d: nothing) Bytes written so far survive a crash of the machine. */
    tutti_err (*sync)(tutti_store *s);
    /** (d: -1, none) A descriptor of the file, to open the same one once more. */
    int (*descriptor)(const tutti_store *s);
    /** (d: nothing) Bytes written so far have left this machine: others that look will see them. */
    tutti_err (*flush)(tutti_store *s);
    /** (d: nothing) What this machine has cached is forgotten: it will see what others flushed. */
    tutti_err (*refresh)(tutti_store *s);
    /** (d: nothing) Wait for a lock on [lo, hi) of the file against everybody else who has it open: kind
     *  TUTTI_STORE_READ for one that others may share, TUTTI_STORE_WRITE for one that they may not, 0 to
     *  give it back.  TUTTI_ERR_UNSUPPORTED: the file system has none. */
    tutti_err (*lock)(tutti_store *s, int kind, tutti_off lo, tutti_off hi);
    /** (d: nothing) A sync is likely to follow, but not at once: bytes of [lo, hi) written or begun so far had better
     *  be on their way to the disk by then.  Never waits. */
    void (*hasten)(tutti_store *s, tutti_off lo, tutti_off hi);
    /** (d: unknown) Could the page that has byte `offset` be read without waiting for a device?  1:
     *  yes, it is in memory; 0: no; -1: unknown, or the file ends before it.  Never waits.  Any
     *  thread, at any time. */
    int (*cached)(tutti_store *s, tutti_off offset);
} tutti_store_ops;

TUTTI_END_DECLS
#endif
