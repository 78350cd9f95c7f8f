/* collective: the file object, the plan object and the two-phase engine behind them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COLLECTIVE_IMPL_H
#define TUTTI_COLLECTIVE_IMPL_H

#include <errno.h>
#include <tutti/file.h>
#include "comm/team.h"
#include "exchange/message.h"
#include "exchange/slot.h"
#include "plan/domains.h"
#include "store/store.h"

struct tutti_file {
    tutti__team *team;
    tutti_store *store;
    tutti_options opt;
    char *path;
    int mode;
    tutti_off origin;      /* offset 0 of accesses: the end of the file at open with TUTTI_APPEND */
    tutti_off align;       /* of file domains */
    int striped;           /* some rank knows stripes of the file */
    int plans;             /* that have not been freed */
    int planned;           /* there has been a plan or a split operation */
    tutti_plan *split;     /* the split collective that has begun, or NULL */
    tutti_stats last, all; /* `last` is filled while an operation runs */
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
    int *agg_rank;      /* [domains.aggregators] */
    int my_agg;         /* -1: none */
    int homes, mirrors; /* slots of a member: for its own windows, for windows it carries */
    int stays;
    tutti__stay *stay; /* where my own bytes go, in the order of the walk within a cycle */
    tutti__load home;  /* all sources of my windows */
    int carries;
    tutti__load *carry; /* my group's sources of windows elsewhere that I carry, in walk order */
    int messages;       /* some bytes travel by message */
} tutti__two_phase;

struct tutti_plan {
    tutti_file *file;
    tutti_access *access;
    int is_write;
    int method;             /* never auto */
    tutti__two_phase *two;  /* methods two-phase and root */
    struct tutti__run *run; /* state of an operation, allocated with the plan */
    int in_turn; /* methods without exchange: ranks overlap, so they write one after the other */
    int started;
    tutti_err outcome; /* of what tutti_plan_start has done */
    tutti_error_info trouble;
    tutti_off count;
    int used; /* it has been run before */
    char explain[256];
};

/* ---- one operation.  What can vary from run to run of a plan. */
typedef struct tutti__op {
    tutti_plan *plan;
    tutti_file *file;
    char *buf;
    tutti_off shift; /* file offset of the access's offset 0 */
    tutti_off eof;   /* reads: end of the file, relative to shift; writes: TUTTI__OFF_END */
    tutti_off moved; /* bytes of this rank that are done */
} tutti__op;

/* ---- choose.c */
int tutti__method_choose(const tutti_file *f, const tutti__summary *s, int is_write, char *why,
                         size_t size);

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
tutti_err tutti__operation_plan(tutti_file *f, const tutti_access *a, int is_write, tutti_err mine,
                                tutti_off *size_out, tutti_plan **out) TUTTI_MUST_USE;
/* Move the bytes and agree on the outcome.  Collective.  `shift`: added to file offsets. */
tutti_err tutti__operation_run(tutti_plan *p, void *buf, tutti_off shift, tutti_off size,
                               tutti_off *count_out) TUTTI_MUST_USE;
/* The code for an error of this rank after bytes may have moved: never one that says "refused". */
tutti_err tutti__operation_under_way(tutti_err err);
/* Around every operation: start and end of its statistics; the end also names operation and file in the
 * error, if there is one, and returns it. */
double tutti__operation_begin(tutti_file *f);
tutti_err tutti__operation_end(tutti_file *f, const char *operation, double start, tutti_err err);
void tutti__file_report(tutti_file *f, tutti_off done, tutti_off total, const char *phase);
void tutti__plan_release(tutti_plan **p);

/* ---- open_files.c: what happens at MPI_Finalize, and the trace file */
tutti_err tutti__open_files_add(tutti_file *f) TUTTI_MUST_USE;
void tutti__open_files_remove(tutti_file *f);
/* The option `trace`: record from open on; write what was recorded at close (Collective, agrees). */
tutti_err tutti__trace_begin(const tutti_file *f) TUTTI_MUST_USE;
tutti_err tutti__trace_write(tutti_file *f) TUTTI_MUST_USE;

#endif
