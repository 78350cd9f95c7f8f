/* collective: the file object, the plan object and the two-phase engine behind them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_IMPL_H
#define TUTTI_COLLECTIVE_IMPL_H

#include <errno.h>
#include <pthread.h>
#include <tutti/file.h>
#include "comm/team.h"
#include "exchange/message.h"
#include "exchange/slot.h"
#include "plan/cost.h"
#include "plan/domains.h"
#include "store/store.h"

struct tutti_file {
    tutti__team *team;
    tutti_store *store;
    tutti_store *away; /* for operations in the background; NULL until there is one */
    tutti_options opt;
    tutti_profile profile; /* rank 0's: what the machine and the file system can do */
    char *path;
    int mode;
    tutti_off origin; /* offset 0 of accesses: the end of the file at open with TUTTI_APPEND */
    tutti_off align;  /* of file domains */
    int striped;      /* some rank knows stripes of the file */
    int incoherent;   /* several nodes, whose caches of the file may differ */
    int remote;       /* the file is on other machines: access takes time, not processor */
    int synchronous;  /* every write waits for the disk */
    int spare_cores;  /* every rank may use more than one core */
    int plans;        /* of the caller's, that have not been freed */
    tutti_plan *kept; /* remembered ones, the last used first; the same on all ranks (remember.c) */
    int kept_n;
    tutti_plan *blank;       /* room for the next one, or NULL */
    tutti_request *requests; /* operations under way, in the order in which they were started */
    int queue_stands;        /* while fibers are resumed: one of them waits to depart */
    struct tutti__worker *worker;  /* the thread of background `all`; NULL until it is needed */
    struct tutti__worker *helpers; /* threads for independent accesses that do not block */
    pthread_mutex_t lock;          /* of what threads share: the next two, and `helpers` */
    tutti_request *alone;          /* independent accesses under way, in any order */
    tutti_stats last, all;         /* of the last operation, and of all of them */
    tutti_stats aside;             /* what was done besides: opening, size, sync ... */
    _Atomic int atomic;            /* atomic mode */
    pthread_mutex_t turn;          /* atomic mode: one access of this rank at a time */
    pthread_mutex_t use;           /* recursive: see TUTTI_USE */
    int64_t planned_n;             /* plans made so far */
    int64_t explained;             /* the number of the one in `explain` */
    char explain[256];
    tutti_progress_fn *progress;
    void *progress_context;
    tutti_file *next_open; /* list of open files, for MPI_Finalize */
};

/* A guest leaves errno alone: the first line of every public call that may reach the system. */
static inline void tutti__errno_restore(const int *saved) {
    errno = *saved;
}
#define TUTTI_KEEP_ERRNO \
    __attribute__((cleanup(tutti__errno_restore), unused)) const int saved_errno_ = errno

/* Whoever calls for a file, or moves its operations on, has it for himself: in every public call that is not
 * for any thread.  NULL is fine. */
static inline tutti_file *tutti__use_begin(tutti_file *f) {
    if (f) pthread_mutex_lock(&f->use);
    return f;
}
static inline void tutti__use_end(tutti_file *const *f) {
    if (*f) pthread_mutex_unlock(&(*f)->use);
}
#define TUTTI_USE(f) \
    __attribute__((cleanup(tutti__use_end), unused)) tutti_file *const used_ = tutti__use_begin(f)

/* What an operation works with. */
typedef struct tutti__means {
    tutti_store *store;
    tutti_stats *stats;
    int resident; /* every window has memory of its own, so that file access can go on by itself */
} tutti__means;

/* ---- what an aggregator or a carrier knows of the ranks whose bytes it handles */

typedef struct tutti__source {
    int rank, group;
    tutti__side side; /* the rank's file side, at least where it touches the domain */
} tutti__source;

/* The sources of one group: they share a mirror, and one rank of theirs talks to the other end. */
typedef struct tutti__batch {
    int group;
    int first, n; /* sources */
    int peer;     /* the rank at the other end */
} tutti__batch;

typedef struct tutti__load {
    int aggregator;
    int n, batches;
    tutti__source *source; /* by group, then by rank */
    tutti__side *side;     /* [n] the same sides in a row */
    tutti__batch *batch;
} tutti__load;

/* ---- the two-phase part of a plan */

typedef struct tutti__stay {
    int aggregator;
    tutti_count first; /* its first cycle with bytes of this rank */
    int member;        /* whose slot in my group's stage: the aggregator's, or the carrier's */
    int mirror;        /* the aggregator is in another group: through a carrier */
} tutti__stay;

typedef struct tutti__two_phase {
    tutti__groups *groups;
    int shared;  /* groups are the team's nodes */
    int ordered; /* ranks overlap: everything by message, placed in rank order */
    tutti__domains domains;
    int *agg_rank;       /* [domains.aggregators] */
    int my_agg;          /* -1: none */
    int homes, mirrors;  /* slots of a member: for its own windows, for windows it carries */
    tutti_off elsewhere; /* resident: memory that other operations have, as agreed */
    int pipeline;        /* TUTTI_PIPELINE_*, never auto */
    int stepwise;        /* cycle by cycle (cycles.h), with this exchange: */
    int kind, step;      /* TUTTI_EXCHANGE_TWO_SIDED in step 1 ... 5, _FENCE or _LOCK */
    tutti_off bytes;     /* of all ranks */
    int stays;
    tutti__stay *stay; /* where my own bytes go, in the order of the walk within a cycle */
    tutti__load home;  /* all sources of my windows */
    int carries;
    tutti__load *carry; /* my group's sources of windows elsewhere that I carry, in walk order */
    int messages;       /* some bytes travel by message */
} tutti__two_phase;

/* A plan whose descriptions take more than this on some rank is not remembered. */
#define TUTTI__KEPT_BYTES ((tutti_off)4 << 20)

/* What choose.c says of a request.  Where an option is auto, or 0, this counts. */
typedef struct tutti__choice {
    int method;             /* never auto */
    int exchange, pipeline; /* auto: no opinion */
    int aggregators;        /* 0: as many as have `least` bytes */
    tutti_off window;       /* 0: no opinion */
    tutti_off least;
    char why[160];
} tutti__choice;

enum { TUTTI__KEPT = 1, TUTTI__BUSY = 2 };

struct tutti_plan {
    tutti_file *file;
    int64_t number;
    tutti_access *access; /* `own`, unless it is somebody else's */
    tutti_access own;
    int is_write;
    tutti__means means;     /* of the operation that makes it; `resident`: it came out so */
    tutti__segment segment; /* resident: its staging memory */
    tutti_off held;         /* what that counts of background_bytes */
    tutti__choice choice;
    int method;             /* never auto */
    tutti__two_phase *two;  /* methods two-phase and root */
    struct tutti__run *run; /* state of an operation, allocated with the plan */
    int in_turn; /* methods without exchange: ranks overlap, so they write one after the other */
    tutti_request *request; /* that tutti_plan_start has made, or NULL */
    int used;               /* it has been run before */
    /* remembered plans */
    _Atomic int marks;    /* TUTTI__KEPT: it is one; TUTTI__BUSY: an operation runs by it */
    int resident, inside; /* what it was asked for: the background, by a fiber */
    int heavy;            /* too large to be kept */
    int makeshift;        /* memory was short when it was made: the next one may do better */
    int joint;            /* a small write without holes: one rank can do it for all */
    tutti_off lo, bytes;  /* of all ranks */
    int hits;
    tutti_plan *older;
    char explain[256];
};

/* What an operation asks for. */
typedef struct tutti__ask {
    tutti_file *file;
    const tutti_access *access;
    void *buf;
    int is_write;
    int fresh;      /* a plan of its own, not to be remembered */
    int at_once;    /* small requests may take a short cut (remember.c) */
    int how;        /* TUTTI__AT_ONCE ... */
    int64_t agrees; /* beyond what the engine knows, see tutti__order */
} tutti__ask;

/* How an operation is carried out.  Ranks may differ in that: transfers of one direction match. */
enum { TUTTI__AT_ONCE, TUTTI__STARTED, TUTTI__SPLIT };

/* What it is carried out by. */
typedef struct tutti__found {
    tutti_plan *plan;
    char *buf;
    tutti_off displacement;
    tutti_off size;  /* reads: of the file */
    int moved, done; /* this rank's bytes have been moved; everybody's, and all agree on that */
    int apart;       /* some rank does not wait: the outcome is agreed on by a tag of its own */
    int split;       /* all ranks have begun a split operation */
    tutti_off count; /* this rank's bytes then */
} tutti__found;

/* ---- one operation.  What can vary from run to run of a plan. */
typedef struct tutti__op {
    tutti_plan *plan;
    tutti_file *file;
    tutti_store *store;
    tutti_stats *stats;
    char *buf;
    tutti_off shift; /* file offset of the access's offset 0 */
    tutti_off eof;   /* reads: end of the file, relative to shift; writes: TUTTI__OFF_END */
    tutti_off moved; /* bytes of this rank that are done */
    int resident;    /* the plan is, and is carried out so */
    int atomic;      /* every rank by itself, under a lock */
    int alone; /* the size of the file is not known: a read that comes short has met its end */
} tutti__op;

/* ---- file.c */
/* Can files be opened on it?  Local. */
tutti_err tutti__comm_usable(MPI_Comm comm) TUTTI_MUST_USE;

/* ---- windows.c */
/* The first cycle >= `from` in which a load has bytes, or -1. */
tutti_count tutti__load_cycle(const tutti__domains *d, const tutti__load *l, tutti_count from);

/* ---- choose.c */
void tutti__choose(const tutti_file *f, const tutti__summary *s, int is_write, tutti__choice *out);
/* Print the candidates with their predicted times, the one that is taken first. */
void tutti__choose_explain(const tutti_file *f, const tutti__summary *s, int is_write);
/* At open, rank 0: the profile for a path. */
tutti_err tutti__choose_profile(const char *path, const tutti_options *opt,
                                tutti_profile *out) TUTTI_MUST_USE;
/* At open: the store, if the profile knows that working in the background pays. */
int tutti__choose_store(const tutti_options *opt, const tutti_profile *p);

/* ---- two_phase_plan.c */
/* The memory whose size depends on the team only.  Local; before the vote that starts planning. */
tutti_err tutti__two_phase_alloc(tutti_plan *p) TUTTI_MUST_USE;
/* Collective; agrees on the outcome.  `singles`: use messages only; `ordered`: and place in rank order.
 * Where shared memory is missing or ranks overlap (*overlap_out) it plans again in that way. */
tutti_err tutti__two_phase_make(tutti_plan *p, const tutti__summary *s, int singles, int ordered,
                                int *overlap_out) TUTTI_MUST_USE;
/* Make a plan that has slept ready to run.  `elsewhere`: memory that operations in the background have, as
 * agreed.  Collective; *awake_out is the same on all ranks: 0, it cannot be used any more. */
tutti_err tutti__two_phase_wake(tutti_plan *p, tutti_off elsewhere, int *awake_out) TUTTI_MUST_USE;
void tutti__two_phase_free(tutti__two_phase **t);
size_t tutti__two_phase_size(const tutti__two_phase *t);

/* ---- run.c: carry a two-phase plan out */
tutti_err tutti__run_make(tutti_plan *p) TUTTI_MUST_USE; /* allocate p->run */
void tutti__run_free(struct tutti__run **r);
/* Close my slots; before a vote, unless they are known to be closed on all ranks, as they are after a run. */
void tutti__run_prepare(const tutti_plan *p);
int tutti__run_ready(const tutti_plan *p);
/* A plan that is only remembered gives memory back; and takes it again.   Local. */
void tutti__run_sleep(struct tutti__run *r);
tutti_err tutti__run_wake(tutti_plan *p) TUTTI_MUST_USE;
tutti_err tutti__run_two_phase(tutti__op *op) TUTTI_MUST_USE; /* this rank's outcome */
/* The same in two parts, for a resident plan: writing, the first ends when all bytes are in
 * staging and on their way into the file; reading, when they are on their way out of it. */
void tutti__run_depart(tutti__op *op);
tutti_err tutti__run_arrive(tutti__op *op) TUTTI_MUST_USE;
void tutti__run_abort(struct tutti__run *r); /* wait for file accesses under way, and no more */

/* ---- atomic.c: atomic mode */
/* Carry a method without exchange out under a lock on its extent. */
tutti_err tutti__run_atomic(tutti__op *op) TUTTI_MUST_USE;

/* ---- independent.c */
/* Tell what came of an access under way; frees and nulls it. */
tutti_err tutti__alone_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
int tutti__alone_arrived(const tutti_request *r);
void tutti__alone_wait(tutti_request *r, long microseconds); /* until it has, but not for longer */
void tutti__alone_abandon(tutti_request *r);
/* Wait for all of them; their requests outlive the file.   Local. */
void tutti__alone_end(tutti_file *f);

/* ---- direct.c: methods without exchange; this rank's outcome */
tutti_err tutti__run_list(tutti__op *op,
                          int batch) TUTTI_MUST_USE; /* batch: file runs per store call */
tutti_err tutti__run_sieve(tutti__op *op) TUTTI_MUST_USE;
int tutti__sieve_can_write(const tutti_file *f);

/* ---- operation.c: what all operations do before and after */

/* May this rank do that?  Local. */
tutti_err tutti__file_usable(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) TUTTI_MUST_USE;
/* Plan, from what all ranks have said.  Collective, agrees. */
tutti_err tutti__plan_make(tutti_plan *p, const tutti__summary *s) TUTTI_MUST_USE;

/* ---- find.c */
/* Find a plan that is remembered, or make one; `mine` is what this rank already has to complain about.  Give it
 * back with tutti__plan_release.  Collective, agrees. */
tutti_err tutti__operation_find(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                                tutti__found *out) TUTTI_MUST_USE;
/* ---- operation.c again */
/* Open a run of a plan made before, io->plan: may all, with the same io->displacement, and how long
 * is the file?   Collective, agrees. */
tutti_err tutti__operation_resume(tutti__found *io, tutti_store *store, int how,
                                  tutti_err mine) TUTTI_MUST_USE;
/* The agreement on how it went.  Collective. */
tutti_err tutti__operation_agree(tutti_file *f, const tutti__found *found,
                                 tutti_err mine) TUTTI_MUST_USE;
/* An operation by a plan.  `size` is the size of the file.   Local. */
tutti__op tutti__operation_make(tutti_plan *p, const tutti__means *means, void *buf,
                                tutti_off displacement, tutti_off size);
/* Nodes with caches of their own: before a read, or a write with holes that may be read, forget what others may
 * have changed, after a write send on what this one holds back, so that a later operation finds it.  Local. */
tutti_err tutti__operation_refresh(const tutti__op *op) TUTTI_MUST_USE;
tutti_err tutti__operation_flush(const tutti__op *op) TUTTI_MUST_USE;
/* Every rank for itself.   Local. */
tutti_err tutti__operation_direct(tutti__op *op) TUTTI_MUST_USE;
/* Move the bytes.  All ranks; this rank's outcome. */
tutti_err tutti__operation_move(tutti__op *op) TUTTI_MUST_USE;
/* Written in the background: a sync that may follow should not find all of it still to do.   Local. */
void tutti__operation_hasten(const tutti__op *op);
/* Count what has been done once it is known to have gone well; what was read goes to all places it
 * is mentioned for. */
void tutti__operation_done(tutti__op *op);
/* Keep why it was done so. */
void tutti__operation_explain(tutti_file *f, const tutti_plan *p);
/* Reads: is the file as long as it must be?  The same everywhere. */
tutti_err tutti__operation_long_enough(tutti_off size, tutti_off least) TUTTI_MUST_USE;
/* The code for an error of this rank after bytes may have moved: never one that says "refused". */
tutti_err tutti__operation_under_way(tutti_err err);
/* Around every operation: start and end of its statistics; the end also names operation and file in the
 * error, if there is one, and returns it. */
void tutti__operation_begin(tutti_stats *stats);
tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err);
void tutti__stats_add(tutti_stats *to, const tutti_stats *from);
/* An operation has ended: add what it did to the file's statistics.  Any thread. */
void tutti__stats_settle(tutti_file *f, const tutti_stats *stats);
void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase);
void tutti__plan_release(tutti_plan **p); /* frees it, unless it is remembered */
void tutti__plan_destroy(tutti_plan **p);
void tutti__plan_segment_drop(tutti_plan *p);
/* May this plan be run with these?  Local. */
tutti_err tutti__plan_usable(const tutti_plan *p, const void *buf,
                             tutti_off displacement) TUTTI_MUST_USE;

/* ---- remember.c: plans that are remembered */
typedef struct tutti__sought {
    int n;
    tutti__range range[TUTTI__RANGES]; /* of each plan: my displacement against it */
    tutti_plan *mine;                  /* the first that this rank can use, or NULL */
    tutti_off displacement;            /* against that one */
    tutti_off size, background;
    int moved;   /* this rank's bytes have been read */
    int64_t all; /* what is true of all ranks, see find.c */
    tutti__range
        data;        /* the place of the plan for which this rank's bytes are on the board, or -1 */
    tutti_off count; /* they are so many */
} tutti__sought;

/* Which of them suit?   Local. */
void tutti__remember_seek(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                          tutti__sought *s);
/* What this rank can do before it knows what the others think of the plan that it can use.   Local. */
tutti_err tutti__remember_move(const tutti__ask *q, const tutti__means *means,
                               tutti__sought *s) TUTTI_MUST_USE;
/* Have all put their bytes for this plan on the board? */
int tutti__remember_is_joint(const tutti_plan *p, const tutti__range *data);
/* Then one rank writes them.   Collective, agrees. */
tutti_err tutti__remember_joint(const tutti_plan *p, const tutti__means *means,
                                tutti_off displacement) TUTTI_MUST_USE;
/* The plan that everybody can use, with the same displacement; NULL: none.   The same on all ranks. */
tutti_plan *tutti__remember_pick(const tutti_file *f, int n, const tutti__range *range,
                                 tutti_off *displacement_out);
/* It is used again: for an operation that ends with tutti__plan_release. */
void tutti__remember_use(tutti_plan *p);
/* Remember a new plan, which is in use.  All ranks. */
void tutti__remember_keep(tutti_plan *p);
/* The operation that used it has ended; 0: nobody remembers it any more, it is the caller's to free. */
int tutti__remember_rest(tutti_plan *p);
/* No longer.  All ranks; what is in use is freed when it is released. */
void tutti__remember_drop(tutti_plan *p);
void tutti__remember_end(tutti_file *f); /* all of them */
/* Operations go on and on: agree by shared memory from now on, if it can be had.  Collective. */
tutti_err tutti__board_wish(tutti__team *t) TUTTI_MUST_USE;

/* ---- request.c: operations under way */
struct tutti_request {
    tutti_file *file;
    const char *name; /* of the operation */
    int alone;        /* an independent access: nobody else takes part */
    int split;        /* begun by a split collective */
    int ahead;        /* as ordered */
    int background;   /* TUTTI_BACKGROUND_*, never auto */
    int is_write;
    tutti_access *access; /* until it is planned */
    tutti_plan *plan;     /* NULL: not yet */
    int owns_plan;
    void *buf;
    tutti_off displacement;
    tutti_err refused; /* what this rank has against it */
    tutti_off least;
    int64_t agrees;
    int all_split;     /* all ranks have begun it: they end it together */
    _Atomic int state; /* TUTTI__QUEUED ... */
    int tag;           /* of the agreement that ends it */
    tutti__op op;
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
    int ahead; /* the caller is going to compute: background auto is io-only; who has the request ends it */
} tutti__order;

/* All of it that agrees. */
static inline int64_t tutti__order_agrees(const tutti__order *o) {
    return (int64_t)(((uint64_t)o->agrees * 1099511628211u ^ (uint64_t)o->least) >> 1);
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
/* Does the calling thread run an operation behind the caller's back? */
int tutti__is_worker(void);

/* ---- file.c */
/* The flags to open a store with, and which one: what is asked for, or what suits accesses that go on by
 * themselves. */
int tutti__file_flags(const tutti_file *f);
int tutti__file_store(const tutti_options *opt, int by_itself);

/* ---- open_files.c: what happens at MPI_Finalize, and the trace file */
tutti_err tutti__open_files_add(tutti_file *f) TUTTI_MUST_USE;
void tutti__open_files_remove(tutti_file *f);
/* The option `trace`: record from open on; write what was recorded at close (Collective, agrees). */
tutti_err tutti__trace_begin(const tutti_file *f) TUTTI_MUST_USE;
tutti_err tutti__trace_write(tutti_file *f) TUTTI_MUST_USE;

#endif
