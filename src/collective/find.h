/* collective: search for the plan of a request: a cached plan, or a new one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FIND_H
#define TUTTI_FIND_H

#include "collective/request.h"
#include "comm/call.h"
#include "comm/consensus.h"
#include "comm/vote.h"

/* State of the search for a plan: the contribution of this rank, and the values agreed on by all
 * ranks. */
typedef struct tutti__finding {
    int phase;           /* step (find.c); 0: not started */
    tutti_err local_err; /* error of this rank; also the last error of the thread */
    tutti_err err;       /* outcome on all ranks, after TUTTI__FIND_END */
    /* the call, and a hash of the arguments that must be the same on all ranks */
    tutti__call call;
    tutti_off bytes; /* size of the request of this rank */
    tutti_off block; /* block size of the requested checksums; 0: no checksums */
    int inside;      /* a fiber executes the request if waiting is necessary */
    int polls;       /* number of polls before all ranks answered */
    int64_t answers; /* bits set on this rank (find.c) */
    /* number of compared cached plans, last used first */
    int n;
    tutti__range range[TUTTI__RANGES]; /* [n] displacement of this rank's request from each plan */
    /* first plan that fits this rank, with the same page cache residency; NULL: none */
    tutti_plan *match;
    int has_match; /* a plan matches, regardless of page cache residency */
    /* displacement of the request in bytes: from `match`, later from the plan that fits all
     * ranks */
    tutti_off displacement;
    int cold;             /* bytes are not in the page cache: on this rank, later on any rank */
    tutti_off size;       /* size of the file, see tutti__file_end */
    tutti_off background; /* bytes per node that operations in the background use */
    int moved;            /* the bytes of this rank have already been transferred */
    tutti_off count;      /* bytes transferred, if `moved` */
    /* cache position of the plan for which bytes were gathered; -1: none */
    tutti__range gathered;
    int64_t all; /* bits set on all ranks */
    /* number of used items of `range`: n, or the numbers of a contribution to a new plan
     * (find.c) */
    int numbers;
    /* [numbers] sums over all ranks of the numbers of a contribution */
    int64_t sum_of_all[TUTTI__RANGES];
    tutti__range range_of_all[TUTTI__CONSENSUS_RANGES];
} tutti__finding;

/* ---- find.c: no file access; carry_out.c calls it */
/* Set the contribution of this rank, before communication; x->phase must be 0, and x->local_err be
 * set.   Not collective. */
void tutti__find_start(const tutti_request *r, tutti__finding *x);
/* Outcome of a step of the search. */
typedef enum {
    TUTTI__FIND_WAIT,  /* other ranks have not answered: call again, or tutti__find_wait first */
    TUTTI__FIND_WRITE, /* all bytes are in shared memory: write them, then tutti__find_written */
    TUTTI__FIND_MOVE,  /* transfer this rank's bytes with r->found.plan, then tutti__find_moved */
    TUTTI__FIND_BLOCK, /* the next step waits for messages, but may_block is 0 */
    TUTTI__FIND_END    /* the search has ended; see x->err */
} tutti__find_result;
/* Execute one step of the search.  Every call, blocking or not, is a loop over steps.  After the
 * last step all ranks have the same x->err; if it is TUTTI_OK, r->found is set, and the caller
 * releases r->found.plan with tutti__plan_release. */
tutti__find_result tutti__find_step(tutti_request *r, tutti__finding *x, int may_block);
/* Wait until other ranks have answered; for a blocking call after TUTTI__FIND_WAIT. */
void tutti__find_wait(const tutti_request *r, const tutti__finding *x);
void tutti__find_written(const tutti_request *r, tutti__finding *x, tutti_err outcome);
void tutti__find_moved(const tutti_request *r, tutti__finding *x, tutti_err outcome);

/* ---- carry_out.c */
/* Execute steps, and the file accesses between them, until the search ends, or must wait although
 * `may_block` is 0. */
tutti__find_result tutti__find_progress(tutti_request *r, tutti__finding *x, int may_block);
/* Set r->found to a cached plan or a new one, continuing the search r->progress.finding if it is
 * not NULL.   Collective, agrees. */
tutti_err tutti__plan_find(tutti_request *r) TUTTI_MUST_USE;

/* ---- plan_cache.c */
/* Find the cached plans that this rank can use.   Not collective. */
void tutti__plan_cache_match(const tutti_request *r, tutti__finding *x);
/* Return the plan that all ranks can use at one displacement, made for the same page cache
 * residency; NULL: none.  The result is the same on all ranks. */
tutti_plan *tutti__plan_cache_choose(const tutti_file *f, tutti__finding *x,
                                     const tutti__range *all);
/* Return the position of a plan in the cache. */
int64_t tutti__plan_cache_place(const tutti_plan *p);
/* Use a cached plan again, for an operation that ends with tutti__plan_release. */
void tutti__plan_cache_take(tutti_plan *p);
void tutti__plan_cache_add(tutti_plan *p); /* add a new plan, which is in use; on all ranks */
/* Remove a plan from the cache on all ranks; free it when no operation uses it. */
void tutti__plan_cache_evict(tutti_plan *p);
void tutti__plan_cache_clear(tutti_file *f);
/* End the use of a plan by an operation; free the plan unless it is cached. */
void tutti__plan_release(tutti_plan **p);

/* ---- small.c: small requests that are repeated */
/* If the cache has a plan that fits this rank (x->match), read, or gather bytes to be written,
 * before the other ranks have answered.   Not collective. */
tutti_err tutti__small_begin(const tutti_request *r, tutti__finding *x) TUTTI_MUST_USE;
/* Test whether all ranks have gathered their bytes for this plan; claim the write, which succeeds
 * on one rank; write the bytes of all ranks.   Not collective. */
int tutti__small_is_gathered(const tutti_plan *p, const tutti__range *gathered);
int tutti__small_claim(const tutti_file *f);
tutti_err tutti__small_write(const tutti_plan *p, const tutti_request *r,
                             tutti_off displacement) TUTTI_MUST_USE;
/* Allocate shared memory for agreements, and use it from now on; without it messages are used.
 * Collective. */
tutti_err tutti__consensus_make(tutti__team *t) TUTTI_MUST_USE;

/* ---- plan_make.c */
/* Make a plan from the summary of all ranks.  Collective, agrees. */
tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) TUTTI_MUST_USE;
/* Make a cached plan ready to run.  `elsewhere`: agreed memory of operations in the background.
 * Collective.  *awake_out is the same on all ranks; 0: the plan can no longer be used. */
tutti_err tutti__plan_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) TUTTI_MUST_USE;

/* ---- choose.c */
void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out);
#define TUTTI__COLD_SPAN ((tutti_off)256 << 10)
/* Return whether a significant part of the bytes of this rank is not in the page cache.  A few
 * pages, evenly spread over the access, are sampled.  Bytes count as cached if the store cannot
 * determine it, or if the span of the access (of all ranks) is below TUTTI__COLD_SPAN, where
 * sampling takes too long.   Not collective. */
int tutti__choose_cold(const tutti_file *f, const tutti_access *a, tutti_store *store);
/* Print the candidates with their predicted times, the chosen one first. */
void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write);
/* Load the profile for a path, on rank 0 when a file is opened. */
void tutti__choose_profile(const char *path, const tutti_options *opt, tutti_profile *out);
/* Return the store for a file that is opened: an asynchronous one if the profile shows that it is
 * faster. */
int tutti__choose_store(const tutti_options *opt, const tutti_profile *p);

#endif
