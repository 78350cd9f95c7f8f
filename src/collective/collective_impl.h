/* collective: operations of all ranks together: plans found or made, requests under way, public calls.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_IMPL_H
#define TUTTI_COLLECTIVE_IMPL_H

#include "direct/direct.h"
#include "engine/engine.h"
#include "exchange/message.h"

/* What an operation asks for. */
typedef struct tutti__ask {
    tutti_file *file;
    const tutti_access *access;
    void *buf;
    int is_write;
    int fresh;      /* a plan of its own, not to be remembered */
    int at_once;    /* small requests may take a short cut (remember.c) */
    int how;        /* TUTTI__AT_ONCE ... */
    int inside;     /* carried out by a fiber, if it has to wait */
    int64_t agrees; /* beyond what the engine knows, see tutti__order */
} tutti__ask;

/* How an operation is carried out.  Ranks may differ in that: transfers of one direction match. */
enum { TUTTI__AT_ONCE, TUTTI__STARTED, TUTTI__SPLIT };

/* Which of the plans that are remembered would do (remember.c). */
typedef struct tutti__sought {
    int n;
    tutti__range range[TUTTI__RANGES]; /* of each plan: my displacement against it */
    tutti_plan
        *mine; /* the first that this rank can use, made for bytes as cold as its own, or NULL */
    int some;  /* it can use one, be they as cold or not */
    int cold;  /* this rank's bytes are; then: somebody's */
    tutti_off displacement; /* against that one */
    tutti_off size, background;
    int moved;   /* this rank's bytes have been read */
    int64_t all; /* what is true of all ranks, see find.c */
    tutti__range
        data;        /* the place of the plan for which this rank's bytes are on the board, or -1 */
    tutti_off count; /* they are so many */
} tutti__sought;

/* What it is carried out by. */
typedef struct tutti__found {
    tutti_plan *plan;
    char *buf;
    tutti_off displacement;
    tutti_off size;  /* of the file, as tutti__operation_ask has it */
    int moved, done; /* this rank's bytes have been moved; everybody's, and all agree on that */
    int apart;       /* some rank does not wait: the outcome is agreed on by a tag of its own */
    int split;       /* all ranks have begun a split operation */
    tutti_off count; /* this rank's bytes then */
} tutti__found;

/* ---- open.c */
/* Can files be opened on it?  Local. */
tutti_err tutti__comm_usable(MPI_Comm comm) TUTTI_MUST_USE;

/* ---- choose.c */
void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out);
/* Is a good part of what this rank wants not in the page cache?  A few pages are asked for, evenly spread.  What nobody
 * can tell is warm; so is what is small: asking is not worth it below TUTTI__COLD_BYTES of all ranks.   Local. */
#define TUTTI__COLD_BYTES ((tutti_off)256 << 10)
int tutti__choose_cold(const tutti_file *f, const tutti_access *a, tutti_store *store);
/* Print the candidates with their predicted times, the one that is taken first. */
void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write);
/* At open, rank 0: the profile for a path. */
void tutti__choose_profile(const char *path, const tutti_options *opt, tutti_profile *out);
/* At open: the store, if the profile knows that working in the background pays. */
int tutti__choose_store(const tutti_options *opt, const tutti_profile *p);

/* ---- plan_make.c */
/* Plan, from what all ranks have said.  Collective, agrees. */
tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) TUTTI_MUST_USE;
/* Make a plan that has slept ready to run.  `elsewhere`: memory that operations in the background
 * have, as agreed.  Collective; *awake_out is the same on all ranks: 0, it cannot be used any more. */
tutti_err tutti__two_phase_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) TUTTI_MUST_USE;

/* ---- find.c */
/* How a plan is found where nobody may be waited for: step by step.  A rank says what it has to
 * say, and later hears the others.  Often that is all there is to do; otherwise the rest takes
 * calls that wait. */
typedef struct tutti__search {
    tutti__ask ask;
    tutti__means means;
    tutti_err mine; /* what this rank has against it; its last error when the rest begins */
    int phase;
    int64_t yes;
    tutti_plan *plan; /* that one rank relays out for all */
    tutti__sought s;
    tutti__range r[TUTTI__CONSENSUS_RANGES];
} tutti__search;

enum { TUTTI__SEARCH_WAITS, TUTTI__SEARCH_DONE, TUTTI__SEARCH_GOES_ON };

/* Fill in, for a team that can nod.   Local. */
void tutti__search_begin(tutti__search *x, const tutti__ask *q, const tutti__means *means,
                         tutti_err mine);
/* DONE: all bytes have been moved, as *out tells, and all agree; GOES_ON: call the rest.  Local. */
int tutti__search_step(tutti__search *x, tutti__found *out);
tutti_err tutti__search_rest(tutti__search *x, tutti__found *out) TUTTI_MUST_USE;

/* Find a plan that is remembered, or make one; `mine` is what this rank already has to complain
 * about.  Give it back with tutti__plan_release.  Collective, agrees. */
tutti_err tutti__operation_find(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                                tutti__found *out) TUTTI_MUST_USE;

/* ---- move.c */
/* What the first agreement asks this rank of the file: reads, its size; writes, its size if holes
 * behind it may be written as zeros, and TUTTI__OFF_END, which outvotes every size, if they may
 * not.   Local. */
tutti_err tutti__operation_ask(tutti_file *f, tutti_store *store, int is_write,
                               tutti_off *size_out) TUTTI_MUST_USE;
/* Open a run of a plan made before, io->plan: may all, with the same io->displacement, and how long
 * is the file?   Collective, agrees. */
tutti_err tutti__operation_resume(tutti__found *io, tutti_store *store, int how,
                                  tutti_err mine) TUTTI_MUST_USE;
/* The agreement on how it went.  Collective. */
tutti_err tutti__operation_agree(tutti_file *f, const tutti__found *found,
                                 tutti_err mine) TUTTI_MUST_USE;
/* An operation by a plan.  `size`: as agreed by what all were asked.   Local. */
tutti__op tutti__operation_make(const tutti_plan *p, const tutti__means *means, void *buf,
                                tutti_off displacement, tutti_off size);
/* Move the bytes.  All ranks; this rank's outcome. */
tutti_err tutti__operation_move(tutti_plan *p, tutti__op *op) TUTTI_MUST_USE;
/* Written in the background: a sync that may follow should not find all of it still to do.  Local. */
void tutti__operation_write_behind(const tutti_plan *p, const tutti__op *op);
/* Keep why it was done so. */
void tutti__operation_explain(tutti_file *f, const tutti_plan *p);

/* ---- plan.c */
/* May this plan be run with these?  Local. */
tutti_err tutti__plan_usable(const tutti_plan *p, const void *buf,
                             tutti_off displacement) TUTTI_MUST_USE;

/* ---- independent.c */
/* Tell what came of an access under way; frees and nulls it. */
tutti_err tutti__independent_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
int tutti__independent_arrived(const tutti_request *r);
/* Has this rank any independent access under way?  Any thread. */
int tutti__independent_any(tutti_file *f);
void tutti__independent_wait(tutti_request *r,
                             long microseconds); /* until it has, but not for longer */
void tutti__independent_abandon(tutti_request *r);
/* Wait for all of them; their requests outlive the file.   Local. */
void tutti__independent_end(tutti_file *f);

/* ---- plan_cache.c: plans that are remembered */
/* Which of them suit?   Local. */
void tutti__plan_cache_match(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                             tutti__sought *s);
/* What this rank can do before it knows what the others think of the plan that it can use.   Local. */
tutti_err tutti__small_begin(const tutti__ask *q, const tutti__means *means,
                             tutti__sought *s) TUTTI_MUST_USE;
/* Have all put their bytes for this plan on the board? */
int tutti__small_is_gathered(const tutti_plan *p, const tutti__range *data);
/* Then one rank writes them, who has claimed it, and tells the others how it went.  Local. */
int tutti__small_claim(const tutti_file *f);
tutti_err tutti__small_write(const tutti_plan *p, const tutti__means *means,
                             tutti_off displacement) TUTTI_MUST_USE;
/* The plan that everybody can use, with the same displacement, made for bytes as `cold` as somebody's are; NULL:
 * none.   The same on all ranks. */
tutti_plan *tutti__plan_cache_choose(const tutti_file *f, const tutti__sought *s,
                                     const tutti__range *range, tutti_off *displacement_out);
/* It is used again: for an operation that ends with tutti__plan_release. */
void tutti__plan_cache_take(tutti_plan *p);
/* Remember a new plan, which is in use.  All ranks. */
void tutti__plan_cache_add(tutti_plan *p);
void tutti__plan_release(tutti_plan **p); /* it has ended: frees it, unless it is remembered */
/* No longer.  All ranks; what is in use is freed when it is released. */
void tutti__plan_cache_evict(tutti_plan *p);
void tutti__plan_cache_clear(tutti_file *f); /* all of them */
/* Operations go on and on: agree by shared memory from now on, if it can be had.  Collective. */
tutti_err tutti__consensus_wish(tutti__team *t) TUTTI_MUST_USE;

/* ---- request.c: operations under way */
struct tutti_request {
    tutti__handle handle; /* until it is completed or abandoned */
    tutti_file *file;     /* NULL: closed meanwhile */
    const char *name;     /* of the operation */
    int independent;      /* an independent access: nobody else takes part */
    int split;            /* begun by a split collective */
    int ahead;            /* as ordered */
    int background;       /* TUTTI_BACKGROUND_*, never auto */
    int is_write;
    tutti_access *access; /* until it is planned */
    tutti_plan *plan;     /* NULL: not yet */
    int owns_plan;
    void *buf;
    tutti_off displacement;
    tutti_err refused; /* what this rank has against it */
    tutti_off least;
    int64_t agrees;
    int all_split; /* all ranks have begun it: they end it together */
    tutti_off room;
    _Atomic int state; /* TUTTI__QUEUED ... */
    int tag; /* of the agreement that ends it; -1: all ranks come to it in the same call */
    tutti__op op;
    int resident; /* the plan is, and is carried out so */
    tutti_stats stats;
    tutti_off count;
    int over;          /* nothing is left to do */
    tutti_err outcome; /* this rank's until it has arrived, then everybody's */
    tutti_error_info trouble;
    int abandoned;
    struct tutti__fiber *fiber;
    tutti_request *next;            /* of the file */
    tutti_request *next_travelling; /* those with fibers */
    tutti_request *next_work;       /* of a worker: what it has to do */
    int light;                      /* travelling without a fiber, as far as that goes, by this: */
    int looks;                      /* how often it has been looked whether the others are there */
    tutti__search search;
};

enum {
    TUTTI__QUEUED,  /* planning, and exchange of a write, wait for their turn or go on */
    TUTTI__AWAY,    /* what is left needs nobody else, but for the agreement */
    TUTTI__ARRIVED, /* the outcome is known */
};

/* Which request a call makes; a NULL access means the plan. */
typedef struct tutti__order {
    const char *name;
    const tutti_access *access;
    tutti_plan *plan;
    void *buf;
    tutti_off displacement;
    int is_write, split;
    tutti_err refused; /* what the caller's layer has against it on this rank; its last error */
    tutti_off least;   /* reads: a shorter file has lost bytes; agrees */
    int64_t agrees; /* a hash of what else agrees, compared before anything is done; 0: nothing */
    /* staging memory of a node that the operation may have, agrees; if that is too little, bytes
     * go straight between memory and file.  0: what the options allow */
    tutti_off room;
    tutti_off *staging_out; /* calls that block: this rank's share of what it had; or NULL */
    int ahead; /* the caller is going to compute: background auto is io-only; who has the request ends it */
} tutti__order;

/* All of it that agrees. */
static inline int64_t tutti__order_agrees(const tutti__order *o) {
    const uint64_t prime = 1099511628211u, own = (uint64_t)o->agrees;
    return (int64_t)(((own * prime ^ (uint64_t)o->least) * prime ^ (uint64_t)o->room) >> 1);
}

/* ---- transfer.c: tutti_file_write and tutti_file_read */
tutti_err tutti__file_transfer(tutti_file *f, const tutti__order *o,
                               tutti_off *count_out) TUTTI_MUST_USE;

/* ---- plan.c: tutti_file_write_start and tutti_file_read_start; r_out may be NULL, which is an error */
tutti_err tutti__file_start(tutti_file *f, const tutti__order *o,
                            tutti_request **r_out) TUTTI_MUST_USE;

/* Start.  A split operation goes as far as it goes in `begin`, and an error of that part is returned (there is
 * no request then); otherwise everything is told later. */
tutti_err tutti__request_start(tutti_file *f, const tutti__order *o,
                               tutti_request **out) TUTTI_MUST_USE;
/* Move it on; 1: it has arrived. */
int tutti__request_test(tutti_request *r);
void tutti__request_wait(tutti_request *r);
/* Its outcome; frees and nulls it. */
tutti_err tutti__request_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
/* This rank's share of the staging memory that it has; it has departed. */
tutti_off tutti__request_staging(const tutti_request *r);
/* The oldest split operation that has not ended and is no walk's, or NULL. */
tutti_request *tutti__request_split(const tutti_file *f);
/* Before any other collective call on the file: what is queued needs the communicator first. */
void tutti__requests_settle(tutti_file *f);
/* Before closing: are there any that somebody has still to complete?  Local. */
tutti_err tutti__requests_none(const tutti_file *f) TUTTI_MUST_USE;
/* Wait for those that were abandoned, and end the thread.  All ranks. */
void tutti__requests_end(tutti_file *f);
/* At MPI_Finalize: as far as it goes without the others.  0: a thread still works on the file. */
int tutti__requests_drop(tutti_file *f);
/* ---- handles.c: may it be used?  TUTTI_ERR_ARG: NULL; TUTTI_ERR_STATE: stale, or after
 * MPI_Finalize.  Local. */
tutti_err tutti__file_live(const tutti_file *f) TUTTI_MUST_USE;
tutti_err tutti__plan_live(const tutti_plan *p) TUTTI_MUST_USE;
/* One that is of no use any more is freed and nulled. */
tutti_err tutti__request_live(tutti_request **r) TUTTI_MUST_USE;
/* Null a file handle that is not live, and free what is left of it. */
void tutti__file_forget(tutti_file **f);
/* One of the caller's plans less. */
void tutti__plan_gone(tutti_file *f);

#endif
