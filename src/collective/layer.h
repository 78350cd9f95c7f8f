/* collective: the interface of files for the modules above them (arrays, replicas, meshes, datasets,
 * Exodus), and all that those modules may use: tutti_file, tutti_request and tutti_plan are opaque
 * here.  A module describes a transfer by a tutti__transfer and has it carried out; an error of this
 * rank (`local_err`) is agreed on in the transfer's first agreement, where a hash of all that must be
 * the same on all ranks (`agrees`) is compared as well.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_LAYER_H
#define TUTTI_LAYER_H

#include <tutti/file.h>
#include <tutti/parts.h>
#include "base/sums.h"
#include "comm/team.h"

/* How a request is carried out.  Ranks may differ in that: transfers of one direction match. */
typedef enum tutti__how {
    TUTTI__AT_ONCE,     /* the call blocks */
    TUTTI__SPLIT,       /* begin and end */
    TUTTI__STARTED,     /* start, and test or wait */
    TUTTI__PLAN_ONLY,   /* no transfer: the caller requests its own plan */
    TUTTI__INDEPENDENT, /* no other rank takes part */
} tutti__how;

/* ---- transfers */

typedef struct tutti__transfer {
    const char *name; /* of the operation, for messages */
    tutti_file *file;
    int is_write;
    tutti_off base; /* where offset 0 of accesses is (tutti__file_base); the same on all ranks */
    const tutti_access *access; /* with `buf`; NULL: `parts`, possibly none */
    const void *buf;            /* reads: writable */
    int parts_n;
    const tutti_part *parts;
    tutti__how how;      /* at once, split or started */
    int ahead;           /* not blocking: the caller computes, so that background auto is io-only */
    tutti_err local_err; /* this rank's; its last error */
    int64_t agrees;      /* hash of values that must be the same on all ranks; 0: none */
    tutti_off least;     /* reads: a shorter file has lost bytes; the same on all ranks */
    tutti_off room;      /* limit of staging memory per node; 0: that of the options */
    tutti__sums *sums;   /* writes: checksums of blocks that this rank sends to the file; or NULL */
    /* Started: called when the outcome is collected, before it is returned; or NULL.  The last
     * error is that of the transfer. */
    void (*collected)(void *context, tutti_err outcome);
    void *context;
    tutti_off *staging_out; /* at once: this rank's share of staging memory; or NULL */
} tutti__transfer;

/* Execute it, or start it.  Started, r_out must not be NULL, which is an error on all ranks; at once
 * it is ignored.   Collective. */
tutti_err tutti__transfer_run(const tutti__transfer *t, tutti_request **r_out) TUTTI_MUST_USE;
/* Check the arguments of this rank.   Not collective. */
tutti_err tutti__transfer_check(const tutti__transfer *t) TUTTI_MUST_USE;
/* The code for an error of this rank after a transfer may have begun: excludes codes that
 * guarantee that nothing has been done.   Not collective. */
tutti_err tutti__operation_under_way(tutti_err err);

/* ---- requests */

int tutti__request_test(tutti_request *r); /* progress it; 1: its outcome is known */
void tutti__request_wait(tutti_request *r);
/* Its outcome; frees and nulls it. */
tutti_err tutti__request_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
int tutti__request_is_abandoned(const tutti_request *r); /* NULL: no */
/* Complete it if its caller has abandoned it; the last error stays.  r may be NULL. */
void tutti__request_complete_abandoned(tutti_request *r);
/* This rank's share of its staging memory, once its first half is done. */
tutti_off tutti__request_staging(const tutti_request *r);
/* Before any other collective call on the file: queued requests need the communicator first. */
void tutti__requests_settle(tutti_file *f);
/* Before closing: TUTTI_ERR_STATE if a plan has not been freed or a request has not been completed.
 * Not collective. */
tutti_err tutti__requests_none(const tutti_file *f) TUTTI_MUST_USE;

/* Another task, progressed like a started transfer: a fiber runs task(context), whose waits yield; then
 * collected(context, outcome) is called by the test or wait that completes the request.  It is not
 * ordered with transfers that the caller starts, and needs a team that no other operation uses meanwhile.  A transfer inside of it runs as
 * if it had been started there, and `how` is ignored.  Without a file (NULL) only the thread that started it, or
 * that tests or waits for it, runs it.
 * Make it, then start it, which cannot fail, or drop it.   Not collective. */
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

/* TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after MPI_Finalize.   Not collective. */
tutti_err tutti__file_live(const tutti_file *f) TUTTI_MUST_USE;
/* Return whether MPI_Finalize closed it while a thread or an operation still used it. */
int tutti__file_is_busy(const tutti_file *f);
tutti__team *tutti__file_team(const tutti_file *f); /* NULL: MPI_Finalize has closed the file */
const tutti_options *tutti__file_options(const tutti_file *f); /* those in force */
const char *tutti__file_path(const tutti_file *f);
/* A base for accesses to the bytes from `at` on: `at`, from which windows are then cut, so that the same
 * accesses at another base use the same plan; or 0, if only stripes have one writer each.   Not
 * collective; the same on all ranks. */
tutti_off tutti__file_base(const tutti_file *f, tutti_off at);
tutti_off tutti__file_origin(const tutti_file *f); /* where offset 0 of accesses is in the file */
/* Add the statistics of all its operations.   Not collective. */
void tutti__file_stats_add(const tutti_file *f, tutti_stats *to);
/* Keep other threads from using it, over several calls. */
void tutti__file_hold(tutti_file *f);
void tutti__file_release(tutti_file *f);
/* An array is stored in the file: from `at` on `n` slabs of `slab` bytes, between which domains=array
 * cuts; n 0: none.  Plans made for another array are dropped.   Not collective; all ranks alike, between
 * operations. */
void tutti__file_slabs(tutti_file *f, tutti_off at, tutti_off slab, tutti_count n);

/* ---- file access by this rank alone, without the engine.   Not collective; any thread. */

tutti_err tutti__write_here(tutti_file *f, tutti_off at, const void *data,
                            size_t bytes) TUTTI_MUST_USE;
/* TUTTI_ERR_TRUNCATED if the file ends before. */
tutti_err tutti__read_here(tutti_file *f, tutti_off at, void *to, size_t bytes) TUTTI_MUST_USE;
tutti_err tutti__size_here(const tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;
tutti_err tutti__resize_here(tutti_file *f, tutti_off size) TUTTI_MUST_USE;
/* This rank's share of tutti_file_sync. */
tutti_err tutti__sync_here(tutti_file *f) TUTTI_MUST_USE;
/* Truncate it to `size` bytes if it is longer. */
tutti_err tutti__cut_here(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/* ---- MPI */

/* TUTTI_ERR_STATE before MPI_Init and after MPI_Finalize.   Not collective. */
tutti_err tutti__mpi_is_up(void) TUTTI_MUST_USE;
/* Check that files can be opened on it.   Not collective. */
tutti_err tutti__comm_usable(MPI_Comm comm) TUTTI_MUST_USE;

#endif
