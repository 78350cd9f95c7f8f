/* exchange: transfers the bytes of one cycle between memory of the ranks and sub-buffers of the
 * aggregators, by messages in the steps of Dickens and Thakur, or by puts and gets as used by Feki
 * and Gabriel.
 *
 *   write ("shuffle")   own memory -> windows of others;   memory of others -> own window
 *   read  ("scatter")   windows of others -> own memory;   own window -> memory of others
 *
 * For one cycle and one sub-buffer the caller specifies the bytes: `mine` are those between
 * own memory and windows of other ranks, `theirs` those between the own window and their memory,
 * `own` those between own memory and the own window.  Then
 *
 *   init   begins it (the blocking steps do all of it)
 *   test   progress without waiting; returns whether it has ended
 *   wait   until it has ended
 *
 *   kind         who synchronises      in init                       in wait
 *   steps 1, 2   sender and receiver   everything, in ring order     -
 *   steps 3, 4   sender and receiver   sends and receives begin      arrivals, in any order
 *   step 5       sender and receiver   receives begin, all is sent   arrivals, in any order
 *   fence        all ranks             fence, puts or gets           fence
 *   lock         all ranks             barrier (does not block)      lock, put or get; barrier
 *
 * fence and lock are collective: every rank begins every cycle, and in the same order.  With steps
 * each rank begins, in ascending order, the cycles in which it has something to do: between two
 * ranks messages are matched in order.
 *
 * Bounded buffers cannot deadlock the steps: in a cycle, sends leave in the order of their turns
 * (turn i: to rank me + i) and receives are posted in the same order (turn i: from rank me - i).
 * Consider the pending message with the lowest (cycle, turn): its sender has
 * no earlier one, nor has its receiver, so both have space for it.  A send that blocks (step 5)
 * starts only when all receives of its turn and before are posted.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SHUFFLE_H
#define TUTTI_SHUFFLE_H

#include <tutti/stats.h>
#include "access/side.h"
#include "exchange/message.h"
#include "exchange/rma_windows.h"
#include "exchange/segment.h"

typedef struct tutti__parcel {
    /* the caller's */
    int peer;         /* rank at the other end, never this one */
    int turn;         /* tutti__ring_mine, tutti__ring_theirs */
    tutti_off lo, hi; /* the window (clipped at the end of the file), of the peer or of this rank */
    tutti_off bytes;  /* > 0 */
    tutti__side side; /* the bytes of it: the file side of this rank, or of the peer */
    /* the exchange's */
    char *at; /* packed */
    tutti__message message;
    int done;
} tutti__parcel;

/* In the order of their turns. */
typedef struct tutti__parcels {
    int n;
    tutti__parcel *v; /* owned by the caller, with capacity for the maximum number */
    char *area;       /* memory for packed bytes, of one window; NULL: none is needed */
    tutti_off used;   /* of it */
    int first, next;  /* all before `first` have ended, none from `next` on has begun */
    int open;         /* begun and not ended */
} tutti__parcels;

typedef struct tutti__shuffle {
    /* the caller's */
    int index;    /* of the sub-buffer */
    char *buffer; /* the sub-buffer; NULL: this rank is no aggregator */
    tutti_count cycle;
    tutti_off lo, hi; /* my window; lo == hi: none in this cycle */
    tutti_off own;
    tutti__parcels mine, theirs;
    /* the exchange's */
    int flying;          /* begun and not ended */
    int phase;           /* lock */
    MPI_Request barrier; /* lock */
} tutti__shuffle;

struct tutti__exchange;
typedef struct tutti__shuffle_ops {
    const char *name;
    void (*init)(struct tutti__exchange *x, tutti__shuffle *s);
    int (*test)(struct tutti__exchange *x, tutti__shuffle *s);
    void (*wait)(struct tutti__exchange *x, tutti__shuffle *s); /* absent: test and yield */
} tutti__shuffle_ops;
extern const tutti__shuffle_ops tutti__shuffle_blocking, /* steps 1, 2 */
    tutti__shuffle_posted,                               /* steps 3, 4, 5 */
    tutti__shuffle_fence, tutti__shuffle_lock;

/* The state of a rank for all cycles of an operation. */
typedef struct tutti__exchange {
    const tutti__shuffle_ops *ops;
    tutti__team *team;
    int kind;         /* TUTTI_EXCHANGE_TWO_SIDED, _FENCE or _LOCK */
    int step;         /* two-sided: 1 ... 5 */
    int slots;        /* sub-buffers */
    tutti_off window; /* the largest window of any rank */
    /* of one operation */
    int is_write, tag;
    const tutti_access *access;
    char *user;
    tutti_stats *stats;
    tutti_off moved; /* own bytes that have been sent or received */
    /* inside */
    char *memory;             /* all areas, and the sub-buffers if they are no windows of MPI */
    tutti__segment lent;      /* by the team: where that is */
    char *send, *receive;     /* one at a time */
    struct tutti__puts *puts; /* fence, lock */
    int flights;
    tutti__shuffle *flight[TUTTI__RMA_WINDOWS]; /* begun and not ended, oldest first */
    tutti_err err;                              /* the first error */
    tutti_error_info info;
} tutti__exchange;

/* The turn of the ring of a message: sends to rank me + turn, receives from rank me - turn. */
int tutti__ring_mine(const tutti__team *t, int peer, int is_write);
int tutti__ring_theirs(const tutti__team *t, int peer, int is_write);

/* The maximum number of buffers of the size of a window per rank. */
int tutti__exchange_buffers(int kind, int step, int slots);

/* The buffers that this rank needs. */
typedef struct tutti__needs {
    int slots;
    tutti_off window;
    int aggregates;   /* it has windows */
    int mine, theirs; /* such parcels exist in some cycle */
    int is_write;
} tutti__needs;
/* Allocate them and give the shuffles (needs->slots of them) their areas and, unless they are
 * windows of MPI, their sub-buffers.   Not collective. */
tutti_err tutti__exchange_make(tutti__exchange *x, tutti__team *t, int kind, int step,
                               const tutti__needs *needs, tutti__shuffle *shuffles) TUTTI_MUST_USE;
/* `team`: the one it was made for, or NULL if that has been freed. */
void tutti__exchange_free(tutti__exchange *x, tutti__team *team);

/* Before the first cycle of an operation: sets its tag and clears the error.   Not collective, but
 * called on all ranks. */
void tutti__exchange_start(tutti__exchange *x, tutti__shuffle *shuffles);
void tutti__shuffle_init(tutti__exchange *x, tutti__shuffle *s);
/* One that is not flying has ended. */
int tutti__shuffle_test(tutti__exchange *x, tutti__shuffle *s);
void tutti__shuffle_wait(tutti__exchange *x, tutti__shuffle *s);
/* Progress all pending exchanges. */
void tutti__exchange_progress(tutti__exchange *x);

/* ---- for the kinds of exchange */
void tutti__exchange_fail(tutti__exchange *x, tutti_err err); /* keep the first error */
void tutti__exchange_fail_mpi(tutti__exchange *x, int code, const char *what);
void tutti__exchange_own(tutti__exchange *x, const tutti__shuffle *s); /* copy `own` */
/* Between a parcel's packed bytes and where they belong: my memory, or the sub-buffer. */
void tutti__mine_pack(tutti__exchange *x, const tutti__parcel *p, char *packed);
void tutti__mine_unpack(tutti__exchange *x, const tutti__parcel *p, const char *packed);
void tutti__theirs_pack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                        char *packed);
void tutti__theirs_unpack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                          const char *packed);
void tutti__exchange_sent(tutti__exchange *x, tutti_off bytes); /* count a message */

/* ---- shuffle_rma.c */
tutti_err tutti__puts_make(struct tutti__puts **out) TUTTI_MUST_USE;

#endif
