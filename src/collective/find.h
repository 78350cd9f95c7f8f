/* collective: the plan of a request: one that is cached, or a new one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FIND_H
#define TUTTI_FIND_H

#include "collective/request.h"
#include "comm/call.h"
#include "comm/consensus.h"
#include "comm/vote.h"

/* The state of finding a plan: what this rank says of the request, and what all say. */
typedef struct tutti__finding {
    int phase;        /* 0: it begins */
    tutti_err mine;   /* what this rank has against it; its last error where finding goes on */
    tutti__call call; /* which this is, and all of it that agrees */
    tutti_off bytes;  /* this rank's, of all parts */
    tutti_off block;  /* the size of blocks whose checksums are wanted; 0: none */
    int inside;       /* it is carried out by a fiber, if it has to wait */
    int looks;        /* how often it was checked whether the others have answered */
    int64_t answers;  /* what is true of this rank */
    /* cached plans, the last used first: */
    int n;
    tutti__range range[TUTTI__RANGES]; /* this rank's displacement against each of them */
    tutti_plan *fits; /* the first that it can use, made for bytes as cold as its own; or NULL */
    int some;         /* it can use one, be they as cold or not */
    tutti_off displacement; /* against `fits`; then against the one that all can use */
    int cold;               /* this rank's bytes are; then: somebody's */
    tutti_off size;         /* see tutti__file_end */
    tutti_off background;   /* memory of a node that operations in the background have */
    int moved;              /* this rank's bytes have been moved already: */
    tutti_off count;        /* so many */
    tutti__range gathered;  /* the place of the plan that they lie in shared memory for, or -1 */
    int64_t all;            /* what is true of all ranks */
    tutti__range said[TUTTI__CONSENSUS_RANGES];
} tutti__finding;

/* ---- find.c */
/* Find the plan of a request, or make it: r->found; give it back with
 * tutti__plan_release.  `x`: from wherever finding is; NULL: from the beginning.  Collective,
 * agrees. */
tutti_err tutti__plan_find(tutti_request *r, tutti__finding *x) TUTTI_MUST_USE;
/* The same where nobody may be waited for, step by step, for a team that has a shared-memory
 * consensus: this rank says what it has to say, and later looks whether the others have.  `x`
 * begins with phase and mine. */
enum { TUTTI__FINDING_WAITS, TUTTI__FINDING_MOVE, TUTTI__FINDING_DONE, TUTTI__FINDING_GOES_ON };
/* MOVE: r->found.plan is known, now move this rank's bytes and tell how that went; DONE: all bytes have
 * been moved, and all agree; GOES_ON: tutti__plan_find is to go on.  Local. */
int tutti__finding_step(tutti_request *r, tutti__finding *x);
void tutti__finding_moved(const tutti_request *r, tutti__finding *x, tutti_err outcome);

/* ---- plan_cache.c */
/* Which of the cached plans suit this rank?   Local. */
void tutti__plan_cache_match(const tutti_request *r, tutti__finding *x);
/* The plan that everybody can use at one displacement, made for bytes as cold as somebody's are;
 * NULL: none.   The same on all ranks. */
tutti_plan *tutti__plan_cache_choose(const tutti_file *f, tutti__finding *x,
                                     const tutti__range *all);
/* Its place in the cache. */
int64_t tutti__plan_cache_place(const tutti_plan *p);
/* It is used again, by an operation that ends with tutti__plan_release. */
void tutti__plan_cache_take(tutti_plan *p);
void tutti__plan_cache_add(tutti_plan *p); /* a new one, which is in use.  All ranks. */
/* It goes; if it is in use, when it is released.  All ranks. */
void tutti__plan_cache_evict(tutti_plan *p);
void tutti__plan_cache_clear(tutti_file *f);
/* The operation that used it has ended: frees it, unless it is cached. */
void tutti__plan_release(tutti_plan **p);

/* ---- small.c: small requests that come again */
/* The cache has plans that suit this rank: what can it do before it knows what the others think of
 * x->fits?   Local. */
tutti_err tutti__small_begin(const tutti_request *r, tutti__finding *x) TUTTI_MUST_USE;
/* Have all gathered their bytes for this plan?  Then the first rank that claims it writes them and
 * tells the others how it went.  Local. */
int tutti__small_is_gathered(const tutti_plan *p, const tutti__range *gathered);
int tutti__small_claim(const tutti_file *f);
tutti_err tutti__small_write(const tutti_plan *p, const tutti_request *r,
                             tutti_off displacement) TUTTI_MUST_USE;
/* Agree by shared memory from now on, if it can be had.  Collective. */
tutti_err tutti__consensus_make(tutti__team *t) TUTTI_MUST_USE;

/* ---- plan_make.c */
/* Plan, from what all ranks have said.  Collective, agrees. */
tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) TUTTI_MUST_USE;
/* Make a cached plan ready to run.  `elsewhere`: memory that operations in the background have, as
 * agreed.  Collective; *awake_out is the same on all ranks: 0, it cannot be used any more. */
tutti_err tutti__plan_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) TUTTI_MUST_USE;

/* ---- choose.c */
void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out);
/* Is a good part of this rank's bytes not in the page cache?  A few pages, evenly spread over the
 * access, are sampled.  If the store cannot tell, the bytes count as cached; so do those of accesses
 * whose span (of all ranks) is below TUTTI__COLD_SPAN, where sampling takes too long.   Local. */
#define TUTTI__COLD_SPAN ((tutti_off)256 << 10)
int tutti__choose_cold(const tutti_file *f, const tutti_access *a, tutti_store *store);
/* Print the candidates with their predicted times, the chosen one first. */
void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write);
/* At open, rank 0: the profile for a path. */
void tutti__choose_profile(const char *path, const tutti_options *opt, tutti_profile *out);
/* At open: the store, if the profile knows that working in the background pays. */
int tutti__choose_store(const tutti_options *opt, const tutti_profile *p);

#endif
