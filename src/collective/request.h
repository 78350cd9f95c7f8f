/* collective: a request: the arguments of one call on one rank, and its progress.  This struct
 * describes every transfer from the public call to the agreement on its outcome.
 *
 *   asked      set by the caller or a layer above (layer.h); the rest is 0
 *   found      the plan, and the values agreed on by all ranks (find.c)
 *   progress   state of the two halves (carry_out.c), execution mode (request.c)
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REQUEST_H
#define TUTTI_REQUEST_H

#include "collective/layer.h"
#include "engine/engine.h"
#include "file/operation.h"

enum {
    TUTTI__QUEUED,    /* the first half has not ended */
    TUTTI__SUBMITTED, /* the first half has ended; the rest may run in any order */
    TUTTI__COMPLETED, /* the outcome is known */
};

struct tutti__finding; /* find.h */

extern const tutti__class tutti__request_class;

struct tutti_request {
    tutti__handle handle; /* valid until the request is completed or abandoned */
    /* file, access, direction, buffer, memory limit; later also data of the engines */
    tutti__op op;
    struct {
        const char *name; /* name of the operation, for error messages */
        tutti__how how;
        /* the caller computes meanwhile, so background auto means io-only, and calls end itself */
        int ahead;
        tutti_err refused; /* error of this rank before the transfer; also the last error */
        tutti_off least;   /* reads: minimal file size; the same on all ranks */
        int64_t agrees;    /* hash of values that must be the same on all ranks; 0: no values */
        /* blocking calls: receives this rank's share of staging memory; or NULL */
        tutti_off *staging_out;
    } asked;
    struct { /* functions of a higher module, see tutti__transfer and tutti__task */
        tutti_err (*task)(void *context);
        void (*collected)(void *context, tutti_err outcome);
        void *context;
    } callback;
    struct {
        tutti_plan *plan;       /* plan of the caller, or plan found for this request */
        int owns_plan;          /* the plan is released at the end */
        tutti_off displacement; /* displacement from the access of the plan in bytes */
        tutti_off file_size;    /* size of the file, see tutti__file_end */
        int moved;              /* the bytes of this rank have been transferred */
        int done;      /* those of all ranks have been, and all ranks know it; implies moved */
        int apart;     /* not all ranks block: the final agreement has its own tag */
        int all_split; /* all ranks use a begin call, and complete it together in end */
    } found;
    struct {
        _Atomic int state; /* TUTTI__QUEUED, _SUBMITTED or _COMPLETED */
        int abandoned;
        int background; /* TUTTI_BACKGROUND_*, never auto */
        int resident;   /* the plan is resident and executed in two halves */
        int tag;        /* tag of the final agreement; -1: all ranks reach it in the same call */
        struct tutti__fiber *fiber;
        _Atomic uintptr_t owner; /* task without a file: thread that may run it */
        /* search without a fiber; NULL: a fiber or a blocking call searches */
        struct tutti__finding *finding;
    } progress;
    struct {
        int over;          /* the request is complete */
        tutti_err outcome; /* error code of this rank; after completion, of all ranks */
        tutti_off count;   /* bytes of this rank, after success */
        tutti_error_info error;
    } result;
    tutti_stats stats;
    tutti_access *access; /* copy of the access if the request outlives the call; or NULL */
    struct {
        tutti_request *of_file;
        tutti_request *active; /* next in the list active_requests */
        tutti_request *of_worker;
    } next;
};

/* ---- carry_out.c: begin and end of a request; both may block */
int tutti__request_is_valid(const tutti_request *r); /* check the invariants, for TUTTI_ASSERT */
/* Find the plan, and execute the part of the operation that needs the other ranks, e.g. the
 * exchange of a write.   Collective, except for a request that is already complete. */
void tutti__request_first_half(tutti_request *r);
/* Execute the rest of a request that is not complete: file access, the exchange of a read, the
 * agreement.   Collective. */
void tutti__request_second_half(tutti_request *r);
/* Transfer the bytes of a plan that is not executed in the background.  Every rank takes part, also
 * after an error.  Returns the error code of this rank.   Collective, unless the plan has no
 * staging. */
tutti_err tutti__move_bytes(tutti_plan *p, tutti__op *op) TUTTI_MUST_USE;
/* Set r->op and r->progress from the plan that was found: displacement, end of the file, execution
 * mode.   Not collective. */
void tutti__placed(tutti_request *r);
/* Check that the plan can be run with the buffers of `op` at this displacement.   Not
 * collective. */
tutti_err tutti__plan_usable(const tutti_plan *p, const tutti__op *op,
                             tutti_off displacement) TUTTI_MUST_USE;
/* Check the arguments of this rank.   Not collective. */
tutti_err tutti__request_usable(const tutti_request *r) TUTTI_MUST_USE;

/* Store the explanation of the plan, for tutti_file_explain. */
void tutti__plan_explained(tutti_file *f, const tutti_plan *p);

/* ---- request.c: pending requests */
/* Begin and end a request: used by tutti_file_write and tutti_file_read.   Collective, agrees. */
tutti_err tutti__request_run(tutti_request *r, tutti_off *count_out) TUTTI_MUST_USE;
/* Start the request `asked`.  A split operation executes its begin phase; if that fails, its
 * error is returned and no request is created; all other errors are returned by test or wait. */
tutti_err tutti__request_start(const tutti_request *asked, tutti_request **out) TUTTI_MUST_USE;
/* Return the oldest split operation that has not ended, excluding operations that their caller
 * ends itself (`ahead`); NULL: none. */
tutti_request *tutti__request_split(const tutti_file *f);
/* Wait for abandoned requests, and end the threads of the file; on all ranks. */
void tutti__requests_end(tutti_file *f);
/* Free the requests at MPI_Finalize, as far as possible without other ranks.  Returns 0 if a thread
 * or a fiber still uses the file. */
int tutti__requests_drop(tutti_file *f);

/* ---- calls.c */
/* Start a request: implements tutti_file_write_start and tutti_file_read_start.  A NULL r_out is
 * reported as an error on all ranks.   Collective. */
tutti_err tutti__start(const tutti_request *asked, tutti_request **r_out) TUTTI_MUST_USE;

/* ---- parts.c */
/* Request parts of the caller instead of one access; if that is impossible, r->asked.refused is
 * set.  The caller frees r->op.parts when the request has been executed or copied. */
void tutti__ask_parts(tutti_request *r, int n, const tutti_part *parts);
/* Set the buffers for a run of r->found.plan; after an error r->asked.refused is set. */
void tutti__ask_bufs(tutti_request *r, int n, void *const *bufs);

/* ---- independent.c */
/* Execute a request on this rank only.   Not collective. */
tutti_err tutti__independent(tutti_request *r, tutti_off *count_out) TUTTI_MUST_USE;
/* Return the outcome of a completed access, free the request, and set *r to NULL. */
tutti_err tutti__independent_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
/* Wait until the access is complete, but at most for this time. */
void tutti__independent_wait(tutti_request *r, long microseconds);
void tutti__independent_abandon(tutti_request *r);
/* Wait for all independent accesses of the file; their requests may outlive the file.   Not
 * collective. */
void tutti__independent_end(tutti_file *f);

/* ---- handles.c: validity of handles: TUTTI_ERR_ARG if NULL, TUTTI_ERR_STATE if stale or after
 * MPI_Finalize.   Not collective. */
tutti_err tutti__plan_live(const tutti_plan *p) TUTTI_MUST_USE;
/* Check a request; if MPI_Finalize has made it unusable, also free it and set *r to NULL. */
tutti_err tutti__request_live(tutti_request **r) TUTTI_MUST_USE;
/* Set the handle of a file that is not live to NULL, and free the rest of the file. */
void tutti__file_forget(tutti_file **f);
/* Count down the plans that the caller owns. */
void tutti__plan_count_freed(tutti_file *f);

#endif
