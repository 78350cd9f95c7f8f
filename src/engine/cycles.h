/* engine: the pipeline cycle by cycle, as Feki and Gabriel write it down, over any shuffle
 * (exchange/shuffle.h).  N cycles are numbered 0 ... N-1, cycle k uses sub-buffer k mod B.
 *
 *   write        shuffle: bytes of all ranks into the aggregators' sub-buffers; write: to the file
 *   none         for k: shuffle(k); write(k)                                       one sub-buffer
 *   comm         shuffle_init(0 ... B-2); for k: shuffle_init(k+B-1); shuffle_wait(k); write(k)
 *   write        for k: shuffle(k); write_init(k); write_wait(k-B+1)
 *   write-comm   shuffle(0); for k: write_init(k); shuffle_init(k+1); write_wait(k);
 *                shuffle_wait(k+1)
 *   write-comm-2 shuffle_init(0); for k: shuffle_wait(k); write_init(k); write_wait(k+1-B);
 *                shuffle_init(k+1)
 *
 *   read         read: from the file into the aggregators' sub-buffers; scatter: to all ranks
 *   none         for k: read(k); scatter(k)
 *   comm         for k: read(k); scatter_init(k); scatter_wait(k-B+1)
 *   write        read_init(0 ... B-2); for k: read_init(k+B-1); read_wait(k); scatter(k)
 *   write-comm   read(0); for k: scatter_init(k); read_init(k+1); read_wait(k+1); scatter_wait(k)
 *   write-comm-2 read_init(0 ... B-1); for k: read_wait(k); scatter_init(k); scatter_wait(k);
 *                read_init(k+B)
 *
 * In the background (resident plans) every window has memory of its own, and its file access goes on
 * by itself: begun in the first half and waited for in the second.  What is left of the pipelines is how
 * many exchanges are under way at a time, and whether file access begins (writing), or the exchange
 * (reading), window by window or once all of the other has ended (cycle_away.c):
 *
 *   write, first half; read, second half
 *   none         for k: shuffle(k); for k: write_init(k)        for k: read_wait(k); for k: scatter(k)
 *   comm         the same, with B exchanges at a time
 *   write        for k: shuffle(k); write_init(k)               for k: read_wait(k); scatter(k)
 *   write-comm   the same
 *   write-comm-2 the same, with B exchanges at a time
 *
 * With fence and lock bytes are copied between the window of MPI and that memory, since
 * other operations use the same windows of MPI meanwhile.
 *
 * What does not exist (k < 0, k >= N) is left out; what is still open at the end is waited for.
 * With messages write-comm-2 follows completion instead of this order: each sub-buffer goes on to
 * its next step as soon as the last one has ended.  In this order, which fence and lock need, it
 * differs from `write` by name only.  File access that blocks is one call for a window; with comm a
 * thread makes it, while this one moves the exchange on.
 *
 * Which cycles: with messages a rank goes through those in which it has something to do.  fence and
 * lock are collective: all ranks go through all cycles; or, where most of them would be empty,
 * agree on the next one that is not.
 *
 * After an error this rank accesses no file any more; it goes through its cycles all the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CYCLES_H
#define TUTTI_CYCLES_H

#include "engine/run.h"
#include "engine/window_io.h"
#include "comm/minimum.h"
#include "exchange/shuffle.h"

/* A sub-buffer and the cycle it is in. */
typedef struct tutti__sub {
    tutti__phase phase; /* only where the order follows completion */
    tutti__window_io io;
    int away;     /* resident: which window of mine it is */
    double since; /* when its shuffle began */
} tutti__sub;

typedef struct tutti__cycles {
    tutti__exchange exchange;
    tutti_file *file;       /* its team lends memory */
    int slots;              /* sub-buffers; resident: exchanges at a time */
    tutti__window_io *away; /* [windows of mine] resident: their file access; NULL: it is not */
    int aways;
    tutti__sub *sub;             /* [slots] */
    tutti__shuffle *shuffle;     /* [slots] */
    tutti__parcel *parcels;      /* of all of them */
    int *destinations, *sources; /* in ring order */
    tutti_count cycles;          /* of the longest domain */
    int collective;              /* all ranks go through the same cycles */
    int sparse;                  /* and agree on them */
    tutti_count next;            /* the cycle that comes next, TUTTI__NO_CYCLE: none */
    tutti__minimum agreed;
    char *packed;      /* what parts have, in file order, and room for a stretch of the file; */
    tutti_off stretch; /* so many bytes; NULL: there are no parts */
    tutti_file *pins;  /* whose team has to keep its windows for this plan; NULL: nobody's */
} tutti__cycles;

#define TUTTI__NO_CYCLE INT64_MAX

/* ---- cycle_make.c: the engine's memory, see engine.h */
tutti_err tutti__cycles_memory(tutti_plan *p) TUTTI_MUST_USE;
tutti_err tutti__cycles_make(tutti_plan *p) TUTTI_MUST_USE;
void tutti__cycles_free(tutti__run *r);
/* Buffers are given back, and the team's windows of MPI let go; and the other way. */
void tutti__cycles_sleep(tutti__run *r);
tutti_err tutti__cycles_wake(tutti_plan *p) TUTTI_MUST_USE;
int tutti__cycles_ready(const tutti_plan *p); /* always: nothing is shared */
void tutti__cycles_prepare(const tutti_plan *p);
void tutti__cycles_abort(tutti__run *r);

/* ---- cycle_parts.c: between parts and packed memory */
tutti_err tutti__cycle_parts_memory(tutti_plan *p) TUTTI_MUST_USE;
void tutti__cycle_parts_pack(tutti__run *r);
void tutti__cycle_parts_unpack(tutti__run *r);

/* ---- cycle_away.c: both halves of a resident plan's run, but for what they share with others */
void tutti__cycles_depart(tutti__run *r);
void tutti__cycles_arrive(tutti__run *r);

/* ---- cycle_steps.c: what the listings are made of; `k` is the number of the sub-buffer */
void tutti__cycle_first(tutti__run *r); /* before all others */
int tutti__cycle_more(tutti__run *r);   /* is there another cycle? */
void tutti__cycle_open(tutti__run *r, int k);
void tutti__cycle_shuffle_init(tutti__run *r, int k);
int tutti__cycle_shuffle_test(tutti__run *r, int k);
void tutti__cycle_shuffle_wait(tutti__run *r, int k);
/* Blocks; the exchange moves on meanwhile. */
void tutti__cycle_store(tutti__run *r, int k);
void tutti__cycle_store_init(tutti__run *r, int k);
int tutti__cycle_store_test(tutti__run *r, int k);
void tutti__cycle_store_wait(tutti__run *r, int k);
/* The same of any window: it begins when it may; until it has ended. */
void tutti__cycle_io_begin(tutti__run *r, tutti__window_io *io);
void tutti__cycle_io_wait(tutti__run *r, tutti__window_io *io);
/* Nothing has moved since the turn began: let others.  Time while a file access of this rank is
 * under way is the file's. */
void tutti__cycle_idle(tutti__run *r, const tutti__turn *turn);

#endif
