/* collective: a request: the arguments of one call on one rank, and its progress.  This struct describes
 * every transfer from the public call to the agreement on its outcome.
 *
 *   asked      set by the caller or a layer above (layer.h); the rest is 0
 *   found      the plan, and the values agreed on by all ranks (find.c)
 *   progress   its two halves (carry_out.c), its execution mode (request.c)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REQUEST_H
#define TUTTI_REQUEST_H

#include "collective/layer.h"
#include "engine/engine.h"
#include "file/operation.h"

enum {
    TUTTI__QUEUED,    /* the first half has not ended */
    TUTTI__SUBMITTED, /* the first half has ended: only the agreement needs other ranks */
    TUTTI__COMPLETED, /* the outcome is known */
};

struct tutti__finding; /* find.h */

extern const tutti__class tutti__request_class;

struct tutti_request {
    tutti__handle handle; /* until it is completed or abandoned */
    tutti__op op;         /* file, access, direction, buffer, room; then also data of the engines */
    struct {
        const char *name; /* of the operation, for messages */
        tutti__how how;
        int ahead; /* the caller computes meanwhile: background auto is io-only; it calls end itself */
        tutti_err refused; /* this rank's error before anything is done; its last error */
        tutti_off least;   /* reads: a shorter file has lost bytes; the same on all ranks */
        int64_t agrees;    /* hash of further values that must be the same on all ranks; 0: none */
        tutti_off *staging_out; /* calls that block: this rank's share of staging memory; or NULL */
    } asked;
    struct { /* of a layer, see tutti__transfer and tutti__task */
        tutti_err (*task)(void *context);
        void (*collected)(void *context, tutti_err outcome);
        void *context;
    } callback;
    struct {
        tutti_plan *plan;       /* the caller's, or the one that was found */
        int owns_plan;          /* it is released at the end */
        tutti_off displacement; /* against the plan's access */
        tutti_off file_size;    /* as tutti__file_end has it */
        int moved, done;        /* this rank's bytes have been moved; all ranks', and all agree */
        int apart;              /* some rank does not wait: the outcome has its own tag */
        int all_split;          /* all ranks have begun it by begin: they end it together */
    } found;
    struct {
        _Atomic int state; /* TUTTI__QUEUED ... */
        int abandoned;
        int background; /* TUTTI_BACKGROUND_*, never auto */
        int resident;   /* the plan is, and is carried out so */
        int tag;        /* of the agreement that ends it; -1: all ranks reach it in the same call */
        struct tutti__fiber *fiber;
        _Atomic uintptr_t owner; /* a task without a file: the thread that may run it */
        struct tutti__finding
            *finding; /* NULL: only a fiber, or a call that blocks, finds a plan */
    } progress;
    struct {
        int over;          /* nothing is left to do */
        tutti_err outcome; /* of this rank until it is complete, then of all ranks */
        tutti_off count;   /* bytes of this rank, if it succeeded */
        tutti_error_info error;
    } result;
    tutti_stats stats;
    tutti_access *access; /* its own copy, if it outlives the call; parts have one too */
    struct {
        tutti_request *of_file;
        tutti_request *active; /* those that progress in calls of the library */
        tutti_request *of_worker;
    } next;
};

/* ---- carry_out.c: begin and end of a request; both may block */
int tutti__request_is_valid(const tutti_request *r); /* for TUTTI_ASSERT */
/* Find the plan, and do the part that needs the other ranks: the exchange of a write.   Collective, except
 * for a request that is already complete. */
void tutti__request_first_half(tutti_request *r);
/* The rest, unless it is over: file access, the exchange of a read, the agreement.   Collective. */
void tutti__request_second_half(tutti_request *r);
/* Transfer the bytes of a plan that is not executed in the background.  Every rank takes part, also
 * after an error.  Returns the outcome of this rank.   Collective, unless the plan has no staging. */
tutti_err tutti__move_bytes(tutti_plan *p, tutti__op *op) TUTTI_MUST_USE;
/* A plan was found: which store, where in the file.   Local. */
void tutti__placed(tutti_request *r);
/* Check that this plan can be run with these buffers.   Local. */
tutti_err tutti__plan_usable(const tutti_plan *p, const tutti__op *op,
                             tutti_off displacement) TUTTI_MUST_USE;
/* Check the arguments of this rank.   Local. */
tutti_err tutti__request_usable(const tutti_request *r) TUTTI_MUST_USE;

/* Store the explanation. */
void tutti__plan_explained(tutti_file *f, const tutti_plan *p);

/* ---- request.c: pending requests */
/* Begin and end a request: used by tutti_file_write and tutti_file_read.   Collective, agrees. */
tutti_err tutti__request_run(tutti_request *r, tutti_off *count_out) TUTTI_MUST_USE;
/* Start the request `asked`.  A split operation executes its begin phase; if that fails, its
 * error is returned and no request is created; all other errors are returned by test or wait. */
tutti_err tutti__request_start(const tutti_request *asked, tutti_request **out) TUTTI_MUST_USE;
/* Return the oldest split operation that has not ended, excluding
 * operations that their caller ends itself (`ahead`); NULL: none. */
tutti_request *tutti__request_split(const tutti_file *f);
/* Wait for those that were abandoned, and end the thread.  All ranks. */
void tutti__requests_end(tutti_file *f);
/* At MPI_Finalize: as far as possible without other ranks.  0: a thread still works on the file. */
int tutti__requests_drop(tutti_file *f);

/* ---- calls.c */
/* Start it: the work of tutti_file_write_start and tutti_file_read_start.  r_out may be NULL, which
 * is an error on all ranks.   Collective. */
tutti_err tutti__start(const tutti_request *asked, tutti_request **r_out) TUTTI_MUST_USE;

/* ---- parts.c */
/* Request parts of the caller instead of one access; if that is impossible, r->asked.refused is set.
 * Free r->op.parts when the request has been carried out or copied. */
void tutti__ask_parts(tutti_request *r, int n, const tutti_part *parts);
/* The same for a plan of parts. */
void tutti__ask_bufs(tutti_request *r, int n, void *const *bufs);

/* ---- independent.c */
/* Execute a request on this rank only.   Local. */
tutti_err tutti__independent(tutti_request *r, tutti_off *count_out) TUTTI_MUST_USE;
/* Return the outcome of a pending access; frees it and sets it to NULL. */
tutti_err tutti__independent_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
/* Until it has arrived, but not for longer. */
void tutti__independent_wait(tutti_request *r, long microseconds);
void tutti__independent_abandon(tutti_request *r);
/* Wait for all of them; their requests may outlive the file.   Local. */
void tutti__independent_end(tutti_file *f);

/* ---- handles.c: validity  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after
 * MPI_Finalize.  Local. */
tutti_err tutti__plan_live(const tutti_plan *p) TUTTI_MUST_USE;
/* One that is of no use any more is freed and nulled. */
tutti_err tutti__request_live(tutti_request **r) TUTTI_MUST_USE;
/* Null a file handle that is not live, and free the rest of it. */
void tutti__file_forget(tutti_file **f);
/* One of the caller's plans less. */
void tutti__plan_count_freed(tutti_file *f);

#endif
