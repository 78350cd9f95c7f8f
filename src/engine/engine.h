/* engine: execution of two-phase plans.  There are two engines:
 *
 *   staged    windows open as they become ready, in memory that the ranks of a node share; relays
 *             exchange messages between nodes (run.h)
 *   literal   cycle by cycle, as in the listings of the papers, over an exchange that they use
 *             (cycles.h)
 *
 * An engine keeps its state in the plan (p->run).  The state is allocated with the plan, so that
 * execution allocates almost no memory.  All ranks use the same engine.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ENGINE_H
#define TUTTI_ENGINE_H

#include "file/operation.h"
#include "twophase/plan.h"

typedef struct tutti__run tutti__run;

enum { TUTTI__FIRST_HALF = 1, TUTTI__SECOND_HALF = 2, TUTTI__BOTH_HALVES = 3 };

struct tutti__engine {
    /* Ensure shared staging memory, or MPI windows.   Collective; returns the error code of this
     * rank. */
    tutti_err (*memory)(tutti_plan *p);
    tutti_err (*make)(tutti_plan *p); /* allocate p->run */
    void (*free)(tutti__run *r);
    /* Release memory that a cached plan does not need; allocate it again.   Not collective. */
    void (*sleep)(tutti__run *r);
    tutti_err (*wake)(tutti_plan *p);
    /* Test whether staging memory is divided into slots for this plan, and all slots are closed;
     * divide it (before an agreement of the ranks).  After a run the memory is ready again. */
    int (*ready)(const tutti_plan *p);
    void (*prepare)(const tutti_plan *p);
    /* Execute the plan at once or, if it is resident, in two halves.  The first half of a write
     * ends when all bytes are in staging and their file accesses have begun; the first half of a
     * read ends when the file accesses have begun.   Collective; returns the error code of this
     * rank.  The second half also returns an error of the first half. */
    tutti_err (*run)(tutti_plan *p, tutti__op *op, int halves);
    void (*abort)(tutti__run *r); /* wait for pending file accesses, ignoring their outcome */
};

/* ---- plan_life.c */
/* Allocate a plan, with all memory that depends only on the size of the team.   Not collective. */
tutti_err tutti__plan_alloc(tutti_file *f, tutti_plan **out) TUTTI_MUST_USE;
void tutti__plan_run_free(tutti_plan *p); /* free p->run if the plan has one */
void tutti__plan_destroy(tutti_plan **p);

extern const tutti__engine tutti__engine_staged, tutti__engine_literal;

#endif
