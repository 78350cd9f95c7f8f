/* collective: the plan of a request: one that is cached, or a new one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FIND_H
#define TUTTI_FIND_H

#include "collective/request.h"
#include "comm/call.h"
#include "comm/consensus.h"
#include "comm/vote.h"

/* The state of finding a plan: the contribution of this rank, and the values agreed on by all ranks. */
typedef struct tutti__finding {
    int phase;           /* 0: not started */
    tutti_err local_err; /* this rank's error before anything is done; its last error */
    tutti_err err;       /* of all ranks, if the last step was TUTTI__FIND_END */
    tutti__call call;    /* the call and its arguments that must agree */
    tutti_off bytes;     /* bytes of all parts of this rank */
    tutti_off block;     /* size of blocks whose checksums are requested; 0: none */
    int inside;          /* a fiber executes the request if it has to wait */
    int polls;           /* number of polls before all ranks answered */
    int64_t answers;     /* bits that are set on this rank */
    /* cached plans, the last used first: */
    int n;
    tutti__range range[TUTTI__RANGES]; /* the displacement of this rank from each of them */
    tutti_plan *
        match; /* the first plan that this rank can use, with the same page cache residency; or NULL */
    int has_match;          /* whether a plan matches, regardless of page cache residency */
    tutti_off displacement; /* against `match`; then against the plan that all ranks can use */
    int cold;               /* whether bytes of this rank are not cached; later: of any rank */
    tutti_off size;         /* see tutti__file_end */
    tutti_off background;   /* memory of a node that operations in the background use */
    int moved;              /* whether this rank's bytes have already been transferred */
    tutti_off count;        /* bytes transferred, if `moved` */
    tutti__range gathered;  /* position of the plan whose bytes are in shared memory, or -1 */
    int64_t all;            /* bits that are set on all ranks */
    tutti__range range_of_all[TUTTI__CONSENSUS_RANGES];
} tutti__finding;

/* ---- find.c: no file access; carry_out.c calls it */
/* Set the local part, before communication; x begins with phase 0 and local_err.   Not
 * collective. */
void tutti__find_start(const tutti_request *r, tutti__finding *x);
/* One step towards a plan.  Every call, blocking or not, is a loop over steps; after the last one
 * all ranks have the same x->err, and r->found if that is TUTTI_OK; the caller releases
 * r->found.plan with tutti__plan_release. */
typedef enum {
    TUTTI__FIND_WAIT,  /* other ranks have not answered: call again, or tutti__find_wait first */
    TUTTI__FIND_WRITE, /* all bytes are in shared memory: write them, then tutti__find_written */
    TUTTI__FIND_MOVE,  /* move this rank's bytes by r->found.plan, then tutti__find_moved */
    TUTTI__FIND_BLOCK, /* the next step waits for messages, which this caller may not */
    TUTTI__FIND_END
} tutti__find_result;
tutti__find_result tutti__find_step(tutti_request *r, tutti__finding *x, int may_block);
/* After TUTTI__FIND_WAIT, in a call that blocks: until other ranks have answered. */
void tutti__find_wait(const tutti_request *r, const tutti__finding *x);
void tutti__find_written(const tutti_request *r, tutti__finding *x, tutti_err outcome);
void tutti__find_moved(const tutti_request *r, tutti__finding *x, tutti_err outcome);

/* ---- carry_out.c */
/* Steps, with the file accesses between them, until one waits and `may_block` is 0, or the end. */
tutti__find_result tutti__find_progress(tutti_request *r, tutti__finding *x, int may_block);
/* A cached plan, or a new one: r->found; from r->progress.finding on, if it exists.   Collective,
 * agrees. */
tutti_err tutti__plan_find(tutti_request *r) TUTTI_MUST_USE;

/* ---- plan_cache.c */
/* Find the cached plans that this rank can use.   Not collective. */
void tutti__plan_cache_match(const tutti_request *r, tutti__finding *x);
/* The plan that all ranks can use at one displacement, made for the same page cache residency;
 * NULL: none.   The same on all ranks. */
tutti_plan *tutti__plan_cache_choose(const tutti_file *f, tutti__finding *x,
                                     const tutti__range *all);
/* Its position in the cache. */
int64_t tutti__plan_cache_place(const tutti_plan *p);
/* It is used again, by an operation that ends with tutti__plan_release. */
void tutti__plan_cache_take(tutti_plan *p);
void tutti__plan_cache_add(tutti_plan *p); /* a new one, which is in use.  All ranks. */
/* Remove it; if it is in use, when it is released.  All ranks. */
void tutti__plan_cache_evict(tutti_plan *p);
void tutti__plan_cache_clear(tutti_file *f);
/* The operation that used it has ended: frees it, unless it is cached. */
void tutti__plan_release(tutti_plan **p);

/* ---- small.c: small requests that are repeated */
/* The cache has plans that this rank can use: read, or gather bytes to be written, before the other
 * ranks have answered about x->match.   Not collective. */
tutti_err tutti__small_begin(const tutti_request *r, tutti__finding *x) TUTTI_MUST_USE;
/* If all ranks have gathered their bytes for this plan, the first rank that claims it writes them.
 *  Not collective. */
int tutti__small_is_gathered(const tutti_plan *p, const tutti__range *gathered);
int tutti__small_claim(const tutti_file *f);
tutti_err tutti__small_write(const tutti_plan *p, const tutti_request *r,
                             tutti_off displacement) TUTTI_MUST_USE;
/* Agree by shared memory from now on, if it can be had.  Collective. */
tutti_err tutti__consensus_make(tutti__team *t) TUTTI_MUST_USE;

/* ---- plan_make.c */
/* Make a plan from the summary of all ranks.  Collective, agrees. */
tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) TUTTI_MUST_USE;
/* Make a cached plan ready to run.  `elsewhere`: memory that operations in the background have, as
 * agreed.  Collective; *awake_out is the same on all ranks: 0: it can no longer be used. */
tutti_err tutti__plan_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) TUTTI_MUST_USE;

/* ---- choose.c */
void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out);
/* Return whether a significant part of the bytes of this rank is not in the page cache.  A few
 * pages, evenly spread over the access, are sampled.  If unknown to the store, the bytes count as
 * cached; so do those of accesses
 * whose span (of all ranks) is below TUTTI__COLD_SPAN, where sampling takes too long.   Local. */
#define TUTTI__COLD_SPAN ((tutti_off)256 << 10)
int tutti__choose_cold(const tutti_file *f, const tutti_access *a, tutti_store *store);
/* Print the candidates with their predicted times, the chosen one first. */
void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write);
/* At open, rank 0: the profile for a path. */
void tutti__choose_profile(const char *path, const tutti_options *opt, tutti_profile *out);
/* At open: the store, if the profile shows that background access is faster. */
int tutti__choose_store(const tutti_options *opt, const tutti_profile *p);

#endif
