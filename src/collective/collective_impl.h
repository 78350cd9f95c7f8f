/* collective: the file object, the plan object and the two-phase engine behind them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_IMPL_H
#define TUTTI_COLLECTIVE_IMPL_H

#include <errno.h>
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
    int spare_cores;  /* every rank may use more than one core */
    int plans;        /* that have not been freed */
    int planned;      /* there has been a plan, a split or a non-blocking operation */
    tutti_request *requests; /* operations under way, in the order in which they were started */
    struct tutti__worker *worker; /* the thread of background `all`; NULL until it is needed */
    tutti_stats last, all;        /* of the last operation, and of everything */
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

/* What choose.c says of a request.  Where an option is auto, or 0, this counts. */
typedef struct tutti__choice {
    int method;             /* never auto */
    int exchange, pipeline; /* auto: no opinion */
    int aggregators;        /* 0: as many as have `least` bytes */
    tutti_off window;       /* 0: no opinion */
    tutti_off least;
    char why[160];
} tutti__choice;

struct tutti_plan {
    tutti_file *file;
    tutti_access *access;
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
    char explain[256];
};

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
} tutti__op;

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
void tutti__two_phase_free(tutti__two_phase **t);
size_t tutti__two_phase_size(const tutti__two_phase *t);

/* ---- run.c: carry a two-phase plan out */
tutti_err tutti__run_make(tutti_plan *p) TUTTI_MUST_USE; /* allocate p->run */
void tutti__run_free(struct tutti__run **r);
void tutti__run_prepare(
    const tutti_plan *p); /* close my slots; before the vote that starts a run */
tutti_err tutti__run_two_phase(tutti__op *op) TUTTI_MUST_USE; /* this rank's outcome */
/* The same in two parts, for a resident plan: writing, the first ends when all bytes are in
 * staging and on their way into the file; reading, when they are on their way out of it. */
void tutti__run_depart(tutti__op *op);
tutti_err tutti__run_arrive(tutti__op *op) TUTTI_MUST_USE;
void tutti__run_abort(struct tutti__run *r); /* wait for file accesses under way, and no more */

/* ---- direct.c: methods without exchange; this rank's outcome */
tutti_err tutti__run_list(tutti__op *op,
                          int batch) TUTTI_MUST_USE; /* batch: file runs per store call */
tutti_err tutti__run_sieve(tutti__op *op) TUTTI_MUST_USE;
int tutti__sieve_can_write(const tutti_file *f);

/* ---- operation.c: what all operations do before and after */

/* May this rank do that?  Local. */
tutti_err tutti__file_usable(const tutti_file *f, const tutti_access *a, const void *buf,
                             int is_write) TUTTI_MUST_USE;
/* Plan; `mine` is what this rank already has to complain about.  Collective, agrees.
 * *size_out: reads: the size of the file. */
tutti_err tutti__operation_plan(tutti_file *f, const tutti_access *a, int is_write,
                                const tutti__means *means, tutti_err mine, tutti_off *size_out,
                                tutti_plan **out) TUTTI_MUST_USE;
/* The vote that starts a run of a plan made before: may all, with the same displacement, and how long
 * is the file?   Collective, agrees. */
tutti_err tutti__operation_resume(tutti_plan *p, tutti_store *store, tutti_off displacement,
                                  tutti_err mine, tutti_off *size_out) TUTTI_MUST_USE;
/* An operation by a plan.  `size` is the size of the file.   Local. */
tutti__op tutti__operation_make(tutti_plan *p, const tutti__means *means, void *buf,
                                tutti_off displacement, tutti_off size);
/* Nodes with caches of their own: before a read forget what others may have changed, after a write
 * send on what this one holds back, so that a later operation finds it.  Local. */
tutti_err tutti__operation_refresh(const tutti__op *op) TUTTI_MUST_USE;
tutti_err tutti__operation_flush(const tutti__op *op) TUTTI_MUST_USE;
/* Move the bytes.  All ranks; this rank's outcome. */
tutti_err tutti__operation_move(tutti__op *op) TUTTI_MUST_USE;
/* Count what has been done once it is known to have gone well. */
void tutti__operation_done(const tutti__op *op);
/* The code for an error of this rank after bytes may have moved: never one that says "refused". */
tutti_err tutti__operation_under_way(tutti_err err);
/* Around every operation: start and end of its statistics; the end also names operation and file in the
 * error, if there is one, and returns it. */
void tutti__operation_begin(tutti_file *f, tutti_stats *stats);
tutti_err tutti__operation_end(tutti_file *f, tutti_stats *stats, const char *operation,
                               tutti_err err);
void tutti__stats_add(tutti_stats *to, const tutti_stats *from);
void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase);
void tutti__plan_release(tutti_plan **p);
void tutti__plan_segment_drop(tutti_plan *p);
/* May this plan be run with these?  Local. */
tutti_err tutti__plan_usable(const tutti_plan *p, const void *buf,
                             tutti_off displacement) TUTTI_MUST_USE;

/* ---- request.c: operations under way */
struct tutti_request {
    tutti_file *file;
    const char *name; /* of the operation */
    int split;        /* begun by a split collective */
    int background;   /* TUTTI_BACKGROUND_*, never auto */
    int is_write;
    tutti_access *access; /* until it is planned */
    tutti_plan *plan;     /* NULL: not yet */
    int owns_plan;
    void *buf;
    tutti_off displacement;
    tutti_err refused; /* what this rank has against it */
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
    tutti_request *next;      /* of the file */
    tutti_request *next_mine; /* of the thread: those with fibers */
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
} tutti__order;

/* Start.  A split operation goes as far as it goes in `begin`, and an error of that part is returned (there is
 * no request then); otherwise everything is told later. */
tutti_err tutti__request_start(tutti_file *f, const tutti__order *o,
                               tutti_request **out) TUTTI_MUST_USE;
/* Move it on; 1: it has arrived. */
int tutti__request_test(tutti_request *r);
void tutti__request_wait(tutti_request *r);
/* Its outcome; frees and nulls it. */
tutti_err tutti__request_collect(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;
/* The oldest split operation that has not ended, or NULL. */
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

/* ---- open_files.c: what happens at MPI_Finalize, and the trace file */
tutti_err tutti__open_files_add(tutti_file *f) TUTTI_MUST_USE;
void tutti__open_files_remove(tutti_file *f);
/* The option `trace`: record from open on; write what was recorded at close (Collective, agrees). */
tutti_err tutti__trace_begin(const tutti_file *f) TUTTI_MUST_USE;
tutti_err tutti__trace_write(tutti_file *f) TUTTI_MUST_USE;

#endif
