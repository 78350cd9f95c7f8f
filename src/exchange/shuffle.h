/* exchange: transfers the bytes of one cycle between memory of the ranks and sub-buffers of the
 * aggregators, by messages in the steps of Dickens and Thakur, or by puts and gets as used by Feki
 * and Gabriel.
 *
 *   write ("shuffle")   own memory -> windows of other ranks;   memory of other ranks -> own window
 *   read  ("scatter")   windows of other ranks -> own memory;   own window -> memory of other ranks
 *
 * For one cycle and one sub-buffer the caller specifies the bytes: `of_memory` are those between
 * own memory and windows of other ranks, `of_window` those between the own window and their memory,
 * `own` those between own memory and the own window.  Then
 *
 *   init   begins the shuffle (steps 1 and 2 complete it)
 *   test   progresses without waiting, and returns whether the shuffle is complete
 *   wait   waits until the shuffle is complete
 *
 *   kind         synchronises       in init                          in wait
 *   steps 1, 2   sender, receiver   everything, in ring order        -
 *   steps 3, 4   sender, receiver   sends and receives begin         receives complete in any order
 *   step 5       sender, receiver   receives begin, blocking sends   receives complete in any order
 *   fence        all ranks          fence, puts or gets              fence
 *   lock         all ranks          non-blocking barrier             lock, put or get; barrier
 *
 * fence and lock are collective: every rank begins every cycle, in the same order.  With steps,
 * each rank begins only the cycles in which it has bytes to send or receive, in ascending order,
 * since messages between two ranks are matched in order.
 *
 * Bounded buffers cannot cause a deadlock with steps: in a cycle, sends start in the order of their
 * turns (turn i: to rank me + i) and receives in the same order (turn i: from rank me - i).
 * Consider the pending message with the lowest (cycle, turn): neither its sender nor its receiver
 * has an earlier pending message, so both have buffer space for it.  A blocking send (step 5)
 * starts only when all receives of its turn and of earlier turns have started.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SHUFFLE_H
#define TUTTI_SHUFFLE_H

#include <tutti/stats.h>
#include "access/side.h"
#include "exchange/message.h"
#include "exchange/rma_windows.h"
#include "exchange/segment.h"

/* The bytes of one cycle between this rank and another. */
typedef struct tutti__parcel {
    /* set by the caller */
    int peer;         /* rank at the other end, never this one */
    int turn;         /* result of tutti__ring_of_memory or tutti__ring_of_window */
    tutti_off lo, hi; /* window of the peer or of this rank, limited to the end of the file */
    tutti_off bytes;  /* number of bytes, > 0 */
    /* file side of this rank or of the peer; the parcel is its bytes in [lo, hi) */
    tutti__side side;
    /* set by the exchange */
    char *at; /* packed bytes */
    tutti__message message;
    int done; /* whether the message is complete and unpacked */
} tutti__parcel;

/* Parcels in the order of their turns. */
typedef struct tutti__parcels {
    int n;
    tutti__parcel *v; /* [n], owned by the caller, with capacity for the maximum number */
    char *area;       /* memory for packed bytes, of the size of a window; NULL: not needed */
    tutti_off used;   /* used bytes of `area` */
    /* parcels before index `first` have ended, those from `next` on have not begun */
    int first, next;
    int open; /* number of parcels that have begun and not ended */
} tutti__parcels;

/* The exchange of one cycle. */
typedef struct tutti__shuffle {
    /* set by the caller */
    int index;    /* index of the sub-buffer */
    char *buffer; /* the sub-buffer; NULL: this rank is not an aggregator */
    tutti_count cycle;
    tutti_off lo, hi; /* window of this rank; lo == hi: none in this cycle */
    tutti_off own;    /* bytes between memory and window of this rank */
    tutti__parcels of_memory, of_window;
    /* set by the exchange */
    int flying;          /* whether the shuffle has begun and not ended */
    int phase;           /* lock: FIRST_BARRIER, ... */
    MPI_Request barrier; /* lock: the pending barrier */
} tutti__shuffle;

struct tutti__exchange;
typedef struct tutti__shuffle_ops {
    const char *name;
    void (*init)(struct tutti__exchange *x, tutti__shuffle *s);
    int (*test)(struct tutti__exchange *x, tutti__shuffle *s);
    void (*wait)(struct tutti__exchange *x, tutti__shuffle *s); /* NULL: test and yield in a loop */
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
    int slots;        /* number of sub-buffers */
    tutti_off window; /* bytes of the largest window of any rank */
    /* for one operation */
    int is_write, tag;
    const tutti_access *access;
    char *user;
    tutti_stats *stats;
    tutti_off moved; /* bytes of this rank's request transferred so far */
    /* internal */
    char *memory;             /* all areas, and the sub-buffers if they are not MPI windows */
    tutti__segment lent;      /* segment of `memory`, borrowed from the team */
    char *send, *receive;     /* areas common to all sub-buffers; NULL: each has its own */
    struct tutti__puts *puts; /* fence, lock */
    int flights;
    /* [flights] begun and not ended shuffles, oldest first */
    tutti__shuffle *flight[TUTTI__RMA_WINDOWS];
    tutti_err err;         /* the first error of this rank */
    tutti_error_info info; /* details of `err` */
} tutti__exchange;

/* Return the turn of the parcel between this rank and `peer`, in `of_memory` or `of_window`: sends go to
 * rank me + turn, receives come from rank me - turn (modulo ranks). */
int tutti__ring_of_memory(const tutti__team *t, int peer, int is_write);
int tutti__ring_of_window(const tutti__team *t, int peer, int is_write);

/* Return the maximum number of window-sized buffers per rank. */
int tutti__exchange_buffers(int kind, int step, int slots);

/* Parameters that determine the buffers of this rank. */
typedef struct tutti__needs {
    int slots;                /* number of sub-buffers */
    tutti_off window;         /* bytes of the largest window of any rank */
    int aggregates;           /* whether this rank has windows */
    int of_memory, of_window; /* whether the list of that name has parcels in any cycle */
    int is_write;
} tutti__needs;
/* Allocate the buffers of this rank, and assign areas and, unless they are MPI windows, sub-buffers
 * to the needs->slots items of `shuffles`.  Not collective. */
tutti_err tutti__exchange_make(tutti__exchange *x, tutti__team *t, int kind, int step,
                               const tutti__needs *needs, tutti__shuffle *shuffles) TUTTI_MUST_USE;
/* Release the buffers; `team` is NULL if the team has been freed. */
void tutti__exchange_free(tutti__exchange *x, tutti__team *team);

/* Prepare the first cycle of an operation: set its tag and clear the error.  Does not communicate;
 * all ranks must call it. */
void tutti__exchange_start(tutti__exchange *x, tutti__shuffle *shuffles);
void tutti__shuffle_init(tutti__exchange *x, tutti__shuffle *s);
/* Test whether the shuffle is complete; true if it has not begun. */
int tutti__shuffle_test(tutti__exchange *x, tutti__shuffle *s);
void tutti__shuffle_wait(tutti__exchange *x, tutti__shuffle *s);
/* Progress all pending shuffles. */
void tutti__exchange_progress(tutti__exchange *x);

/* ---- functions for the implementations of the exchanges */
void tutti__exchange_fail(tutti__exchange *x, tutti_err err); /* record the first error */
void tutti__exchange_fail_mpi(tutti__exchange *x, int code, const char *what);
void tutti__exchange_own(tutti__exchange *x, const tutti__shuffle *s); /* copy the s->own bytes */
/* Copy the bytes of a parcel between its packed bytes and this rank's memory (of_memory) or sub-buffer
 * (of_window). */
void tutti__memory_pack(tutti__exchange *x, const tutti__parcel *p, char *packed);
void tutti__memory_unpack(tutti__exchange *x, const tutti__parcel *p, const char *packed);
void tutti__window_pack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                        char *packed);
void tutti__window_unpack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                          const char *packed);
/* add a message to the statistics */
void tutti__exchange_sent(tutti__exchange *x, tutti_off bytes);

/* ---- shuffle_rma.c */
tutti_err tutti__puts_make(struct tutti__puts **out) TUTTI_MUST_USE;

#endif
