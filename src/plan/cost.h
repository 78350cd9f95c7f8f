/* plan: prediction of the time of a request with every method.  The input is parameters of the
 * request (the same on all ranks), of the machine and of the file system; the output is candidates
 * with predicted times.  Only + - * / and comparisons are used, so that all ranks choose the same
 * candidate.  docs/explanation/automatic-choices.md explains the formulas.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COST_H
#define TUTTI_COST_H

#include <tutti/options.h>
#include <tutti/profile.h>
#include "plan/domains.h"

/* Input of the prediction. */
typedef struct tutti__cost_case {
    const tutti__summary *s;
    const tutti_options *opt; /* options that are set restrict the candidates */
    const tutti_profile *profile;
    int is_write;
    int ranks, groups, largest; /* ranks; groups that share memory; ranks of the largest group */
    tutti_off align;            /* alignment of file domains, bytes */
    /* whether the file is striped: windows should not be smaller than stripes */
    int striped;
    int remote; /* whether the file is on other machines */
    /* writes: whether reading and rewriting bytes between runs is allowed */
    int may_sieve;
    /* Number of window-sized buffers per rank in the literal engine: tutti__exchange_buffers. */
    int (*buffers)(int exchange, int step, int slots);
} tutti__cost_case;

typedef struct tutti__candidate {
    /* option values, never auto; exchange and pipeline: two-phase and root only */
    int method, exchange, pipeline;
    int aggregators;  /* two-phase and root only */
    tutti_off window; /* bytes, two-phase and root only; not yet aligned */
    double seconds;   /* predicted time */
} tutti__candidate;

#define TUTTI__CANDIDATES 64 /* maximum number of candidates */

/* Return whether each rank writes one run of a few pages to the page cache of one machine, or reads
 * one run of a few bytes from it, with the option plan_cache.  Then list is chosen regardless of
 * predicted times, since the overhead of a repeated request without staging is small. */
int tutti__cost_is_small(const tutti__cost_case *c);

/* Predict the times of all candidates, each with its best number of aggregators and window.  The
 * chosen candidate is the first, and the others are sorted by time.  Returns their number, at least
 * 1.  Among candidates with nearly equal times, the first in this order is chosen: list, sieve,
 * two-phase, root, independent; shm before the other exchanges; write-comm-2 before the other
 * pipelines; more aggregators before fewer.  The option `method` = auto, `tutti mesh tree` and
 * `explain` use this function. */
int tutti__cost_candidates(const tutti__cost_case *c, tutti__candidate out[TUTTI__CANDIDATES]);

/* Return the minimum bytes per aggregator: four times the size of a request with which one rank
 * reaches 80% of its best bandwidth (after Chaarawi and Gabriel), at most `window`, and at least
 * c->align. */
tutti_off tutti__cost_least(const tutti__cost_case *c, tutti_off window);

/* Runs whose memory pieces are shorter than this are copied through a stage instead of being
 * entries of an I/O vector. */
#define TUTTI__SCATTERED 4096

#define TUTTI__WARM_STAGE ((tutti_off)512 << 10)
/* Return the bytes of the buffer of the method sieve.  For bytes from the page cache it is at most
 * TUTTI__WARM_STAGE, which fits into a core's cache; a device is faster with large requests. */
static inline tutti_off tutti__sieve_stage(const tutti_options *o, int is_write, int cold) {
    const int large = is_write || cold || o->direct_io;
    return large ? o->sieve_size : tutti__min(o->sieve_size, TUTTI__WARM_STAGE);
}

/* Size up to which holes between runs are read with the runs in one request. */
typedef struct tutti__gap {
    tutti_off bytes; /* maximum size of such a hole */
    /* whether at least half of the extent is requested, and `bytes` is the minimum */
    int dense;
    /* predicted time of an additional request, in which `bytes` bytes could be read */
    double seconds;
} tutti__gap;

/* Return the option sieve_gap.  If it is 0: for reads, the bytes that can be read in the time of an
 * additional request, at least 32 KiB for dense requests; for writes, 32 KiB. */
tutti__gap tutti__cost_gap(const tutti__cost_case *c);

#endif
