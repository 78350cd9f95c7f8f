/* collective: the interface of files for higher modules (arrays, replicas, meshes, datasets,
 * Exodus).  Those modules use only this interface: tutti_file, tutti_request and tutti_plan are
 * opaque here.  A module describes a transfer by a tutti__transfer and executes it with
 * tutti__transfer_run.  The first agreement of the transfer includes an error of this rank
 * (`local_err`), and compares a hash of values that must be the same on all ranks (`agrees`).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_LAYER_H
#define TUTTI_LAYER_H

#include <tutti/file.h>
#include <tutti/parts.h>
#include "base/sums.h"
#include "comm/team.h"

/* Execution mode of a request.  Ranks may use different modes for the same transfer: all writes
 * match each other, and all reads. */
typedef enum tutti__how {
    TUTTI__AT_ONCE,     /* the call blocks */
    TUTTI__SPLIT,       /* a begin call and an end call */
    TUTTI__STARTED,     /* a start call, then test or wait */
    TUTTI__PLAN_ONLY,   /* no transfer: the caller gets a plan */
    TUTTI__INDEPENDENT, /* only this rank takes part */
} tutti__how;

/* ---- transfers */

typedef struct tutti__transfer {
    const char *name; /* name of the operation, for error messages */
    tutti_file *file;
    int is_write;
    /* file position of offset 0 of the access (tutti__file_base); the same on all ranks */
    tutti_off base;
    const tutti_access *access; /* access with buffer `buf`; NULL: use `parts` */
    const void *buf;            /* buffer of `access`; must be writable for reads */
    int parts_n;
    const tutti_part *parts;
    tutti__how how; /* execution mode: TUTTI__AT_ONCE, _SPLIT or _STARTED */
    /* not blocking: the caller computes meanwhile, so background auto means io-only */
    int ahead;
    tutti_err local_err; /* error of this rank; also the last error of the thread */
    int64_t agrees;      /* hash of values that must be the same on all ranks; 0: no values */
    /* reads: minimal file size, the same on all ranks; a shorter file fails with
     * TUTTI_ERR_TRUNCATED */
    tutti_off least;
    tutti_off capacity; /* limit of staging memory per node in bytes; 0: use the options */
    /* writes: receives checksums of blocks that this rank writes; NULL: not requested */
    tutti__checksums *checksums;
    /* Started: called before test or wait returns the outcome; NULL: no callback.  The last error
     * of the thread is that of the transfer. */
    void (*collected)(void *context, tutti_err outcome);
    void *context;
    /* at once: receives this rank's share of staging memory; may be NULL */
    tutti_off *staging_out;
} tutti__transfer;

/* Execute or start a transfer, depending on t->how.  For started transfers a NULL r_out is an error
 * on all ranks; for blocking transfers r_out is ignored.   Collective. */
tutti_err tutti__transfer_run(const tutti__transfer *t, tutti_request **r_out) TUTTI_MUST_USE;
/* Check the arguments of this rank.   Not collective. */
tutti_err tutti__transfer_check(const tutti__transfer *t) TUTTI_MUST_USE;
/* Convert the code of an error that occurred after a transfer may have begun: replaces codes that
 * guarantee that the file was not changed.   Not collective. */
tutti_err tutti__operation_under_way(tutti_err err);

/* ---- requests */

/* Progress the request; return 1 if its outcome is known. */
int tutti__request_test(tutti_request *r);
void tutti__request_wait(tutti_request *r);
/* Wait until the request is complete or tutti__now() is about `end`; return whether it is complete.
 * Not for split operations. */
int tutti__request_wait_until(tutti_request *r, double end);
/* Return the outcome of a completed request, free it, and set *r to NULL. */
tutti_err tutti__request_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
int tutti__request_is_abandoned(const tutti_request *r); /* 0 if r is NULL */
/* Complete a request that its caller has abandoned; keeps the last error.  r may be NULL. */
void tutti__request_complete_abandoned(tutti_request *r);
/* Return this rank's share of the staging memory of a request in bytes, after its first half. */
tutti_off tutti__request_staging(const tutti_request *r);
/* Execute the first halves of all queued requests, which need the communicator; must be called
 * before any other collective call on the file. */
void tutti__requests_settle(tutti_file *f);
/* Check before closing that all plans have been freed and all requests completed; otherwise fail
 * with TUTTI_ERR_STATE.   Not collective. */
tutti_err tutti__requests_none(const tutti_file *f) TUTTI_MUST_USE;

/* A task is progressed like a started transfer: a fiber runs task(context), whose waits yield; then
 * the test or wait that completes the request calls collected(context, outcome).  A task is not
 * ordered with transfers that the caller starts, and needs a team that no other operation uses
 * meanwhile.  A transfer inside a task runs like a started transfer, and its `how` is ignored.  If
 * `file` is NULL, only the thread that started the task, or that tests or waits for it, runs it.
 * After tutti__task_make either start the task, which cannot fail, or drop it.   Not collective. */
typedef struct tutti__task {
    const char *name;
    tutti_file *file;
    tutti_err (*task)(void *context);
    void (*collected)(void *context, tutti_err outcome);
    void *context;
} tutti__task;
tutti_err tutti__task_make(const tutti__task *t, tutti_request **out) TUTTI_MUST_USE;
void tutti__task_start(tutti_request *r);
void tutti__task_drop(tutti_request **r);

/* ---- files */

/* Check a file handle: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale or MPI has been
 * finalized.   Not collective. */
tutti_err tutti__file_live(const tutti_file *f) TUTTI_MUST_USE;
/* Return whether MPI_Finalize closed the file while a thread or an operation still used it. */
int tutti__file_is_busy(const tutti_file *f);
tutti__team *tutti__file_team(const tutti_file *f); /* NULL: MPI_Finalize has closed the file */
const tutti_options *tutti__file_options(const tutti_file *f); /* the options in use */
const char *tutti__file_path(const tutti_file *f);
/* Return the base for accesses to the bytes from `at` on.  It is `at` if windows may be cut
 * relative to `at`, so that the same accesses at another base use the same plan; it is 0 if windows
 * must be cut at stripes.   Not collective; the same on all ranks. */
tutti_off tutti__file_base(const tutti_file *f, tutti_off at);
tutti_off tutti__file_origin(const tutti_file *f); /* file position of offset 0 of accesses */
/* Add the statistics of all operations of the file to *to.   Not collective. */
void tutti__file_stats_add(const tutti_file *f, tutti_stats *to);
/* Prevent other threads from using the file, over several calls; allow it again. */
void tutti__file_hold(tutti_file *f);
void tutti__file_release(tutti_file *f);
/* Declare that an array is stored in the file: `n` slabs of `slab` bytes from offset `at` on, at
 * whose boundaries domains=array cuts; n is 0 for no array.  Plans made for another array are
 * dropped.   Not collective, but all ranks must make the same call, between operations. */
void tutti__file_slabs(tutti_file *f, tutti_off at, tutti_off slab, tutti_count n);

/* ---- file access by this rank alone, without the engine.   Not collective; any thread. */

tutti_err tutti__write_here(tutti_file *f, tutti_off at, const void *data,
                            size_t bytes) TUTTI_MUST_USE;
/* Fails with TUTTI_ERR_TRUNCATED if the file has fewer bytes. */
tutti_err tutti__read_here(tutti_file *f, tutti_off at, void *to, size_t bytes) TUTTI_MUST_USE;
tutti_err tutti__size_here(const tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;
tutti_err tutti__resize_here(tutti_file *f, tutti_off size) TUTTI_MUST_USE;
/* Perform this rank's share of tutti_file_sync. */
tutti_err tutti__sync_here(tutti_file *f) TUTTI_MUST_USE;
/* Truncate the file to `size` bytes if it is longer. */
tutti_err tutti__cut_here(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/* ---- MPI */

/* Check that MPI can be used: TUTTI_ERR_STATE before MPI_Init and after MPI_Finalize.   Not
 * collective. */
tutti_err tutti__mpi_is_up(void) TUTTI_MUST_USE;
/* Check that files can be opened on `comm`.   Not collective. */
tutti_err tutti__comm_usable(MPI_Comm comm) TUTTI_MUST_USE;

#endif
