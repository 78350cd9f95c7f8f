/* engine: the literal engine: the pipelines of Feki and Gabriel cycle by cycle, over any shuffle
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
 * In the background (resident plans) every window has its own memory, and its file access begins in
 * the first half and ends in the second.  The pipelines then differ only in the number of
 * concurrent exchanges, and in the start of the second phase (write: file access, read: exchange):
 * window by window, or when the first phase of all windows has ended (cycle_background.c):
 *
 *   write, first half; read, second half
 *   none         for k: shuffle(k); for k: write_init(k)     for k: read_wait(k); for k: scatter(k)
 *   comm         the same, with B exchanges at a time
 *   write        for k: shuffle(k); write_init(k)            for k: read_wait(k); scatter(k)
 *   write-comm   the same
 *   write-comm-2 the same, with B exchanges at a time
 *
 * With fence and lock, bytes are copied between the MPI window and the memory of the window, since
 * other operations may use the same MPI windows between the halves.
 *
 * Steps with k < 0 or k >= N are skipped; steps that are pending at the end are completed.
 * With messages, write-comm-2 proceeds in order of completion: each sub-buffer begins its
 * next step as soon as the previous one has ended.  Fence and lock need the listed order, in which
 * write-comm-2 is equivalent to `write`.  A blocking file access is one call per window; with comm
 * another thread makes the call, while the calling thread progresses the exchange.
 *
 * Cycles: with messages a rank executes the cycles in which it has bytes.  fence and lock are
 * collective: all ranks execute all cycles or, if most cycles would be empty, agree on the next
 * cycle with bytes.
 *
 * After an error a rank does not access the file any more, but executes all of its cycles.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CYCLES_H
#define TUTTI_CYCLES_H

#include "engine/run.h"
#include "engine/window_io.h"
#include "comm/minimum.h"
#include "comm/wait.h"
#include "exchange/shuffle.h"

/* A sub-buffer with its cycle. */
typedef struct tutti__sub {
    tutti__phase phase; /* used if steps proceed in order of completion */
    tutti__window_io io;
    int window;   /* resident: index of the window in `pending`; -1: none */
    double since; /* start time of the shuffle */
} tutti__sub;

typedef struct tutti__cycles {
    tutti__exchange exchange;
    tutti_file *file;            /* file of the plan; its team owns the buffers */
    int slots;                   /* number of sub-buffers; resident: of concurrent exchanges */
    tutti__window_io *pending;   /* resident: [windows] file accesses; else NULL */
    int windows;                 /* resident: number of windows of this rank */
    tutti__sub *sub;             /* [slots] sub-buffers */
    tutti__shuffle *shuffle;     /* [slots] exchanges */
    tutti__parcel *parcels;      /* parcels of all entries of `shuffle` */
    int *destinations, *sources; /* indices of destinations and of sources, in ring order */
    tutti_count cycles;          /* number of cycles of the longest domain */
    int collective;              /* all ranks execute the same cycles */
    int sparse;                  /* all ranks agree on the next cycle with bytes */
    tutti_count next;            /* number of the next cycle; TUTTI__NO_CYCLE: none */
    tutti__minimum agreed;
    char *packed;      /* bytes of parts in file order, followed by a buffer; NULL: no parts */
    tutti_off stretch; /* size of the buffer at the end of `packed` */
    tutti_file *pins;  /* file whose team keeps MPI windows for this plan; NULL: none */
} tutti__cycles;

#define TUTTI__NO_CYCLE INT64_MAX

/* ---- cycle_make.c: functions of the engine table, see engine.h */
tutti_err tutti__cycles_memory(tutti_plan *p) TUTTI_MUST_USE;
tutti_err tutti__cycles_make(tutti_plan *p) TUTTI_MUST_USE;
void tutti__cycles_free(tutti__run *r);
/* Release buffers and unpin the MPI windows of the team; allocate and pin them again. */
void tutti__cycles_sleep(tutti__run *r);
tutti_err tutti__cycles_wake(tutti_plan *p) TUTTI_MUST_USE;
int tutti__cycles_ready(const tutti_plan *p); /* always 1, since no staging memory is shared */
void tutti__cycles_prepare(const tutti_plan *p);
void tutti__cycles_abort(tutti__run *r);

/* ---- cycle_parts.c: copies between parts and packed memory */
tutti_err tutti__cycle_parts_memory(tutti_plan *p) TUTTI_MUST_USE;
void tutti__cycle_parts_pack(tutti__run *r);
void tutti__cycle_parts_unpack(tutti__run *r);

/* ---- cycle_background.c: begin and end of a resident plan */
void tutti__cycles_first_half(tutti__run *r);
void tutti__cycles_second_half(tutti__run *r);

/* ---- cycle_steps.c: steps of the listings; `k` is the number of the sub-buffer */
/* Start with the first cycle; must precede the other steps. */
void tutti__cycle_first(tutti__run *r);
int tutti__cycle_more(tutti__run *r); /* return whether another cycle exists */
void tutti__cycle_open(tutti__run *r, int k);
void tutti__cycle_shuffle_init(tutti__run *r, int k);
int tutti__cycle_shuffle_test(tutti__run *r, int k);
void tutti__cycle_shuffle_wait(tutti__run *r, int k);
/* Access the file for the window of sub-buffer k; blocks, and progresses the exchange in the
 * meantime. */
void tutti__cycle_store(tutti__run *r, int k);
void tutti__cycle_store_init(tutti__run *r, int k);
int tutti__cycle_store_test(tutti__run *r, int k);
void tutti__cycle_store_wait(tutti__run *r, int k);
/* Begin the file access of a window as soon as the option `stagger` allows it; wait for its end. */
void tutti__cycle_io_begin(tutti__run *r, tutti__window_io *io);
void tutti__cycle_io_wait(tutti__run *r, tutti__window_io *io);
/* Execute a turn of the wait `w` when no step could proceed.  The time since `turn` counts as file
 * access if a file access of this rank is pending. */
void tutti__cycle_idle(tutti__run *r, const tutti__turn *turn, tutti__wait *w);

#endif
