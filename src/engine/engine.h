/* engine: carries a two-phase plan out.  Two engines do the same by different means:
 *
 *   staged    windows open as they get ready, in memory that the ranks of a node share; between
 *             nodes relays exchange messages (run.h)
 *   literal   cycle by cycle, as the papers' listings go, over one of their exchanges (cycles.h)
 *
 * An engine keeps its state in the plan (p->run), allocated with it, so that running needs hardly
 * any memory.  All ranks take the same engine, since they decide by what they have agreed on.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ENGINE_H
#define TUTTI_ENGINE_H

#include "file/operation.h"
#include "twophase/plan.h"

typedef struct tutti__run tutti__run;

enum { TUTTI__FIRST_HALF = 1, TUTTI__SECOND_HALF = 2, TUTTI__BOTH_HALVES = 3 };

struct tutti__engine {
    /* Staging memory that ranks share, or windows of MPI.   Collective; this rank's outcome. */
    tutti_err (*memory)(tutti_plan *p);
    tutti_err (*make)(tutti_plan *p); /* allocate p->run */
    void (*free)(tutti__run *r);
    /* A plan that is only cached gives memory back; and takes it again.   Local. */
    void (*sleep)(tutti__run *r);
    tutti_err (*wake)(tutti_plan *p);
    /* Is staging memory divided as this plan wants it, with all slots closed?  Make it so, before
     * an agreement; after a run it still is. */
    int (*ready)(const tutti_plan *p);
    void (*prepare)(const tutti_plan *p);
    /* All of it, or, for a resident plan, in two halves: writing, the first ends when all bytes are
     * in staging and on their way into the file; reading, when they are on their way out of it.
     * Collective; this rank's outcome, which the first half keeps for the second. */
    tutti_err (*run)(tutti_plan *p, tutti__op *op, int halves);
    void (*abort)(tutti__run *r); /* wait for file accesses under way, and no more */
};

/* ---- plan_life.c */
/* Room for a plan: all memory whose size depends on the team only.   Local. */
tutti_err tutti__plan_alloc(tutti_file *f, tutti_plan **out) TUTTI_MUST_USE;
void tutti__plan_run_free(tutti_plan *p); /* the engine's part, if it has one */
void tutti__plan_destroy(tutti_plan **p);

extern const tutti__engine tutti__engine_staged, tutti__engine_literal;

#endif
