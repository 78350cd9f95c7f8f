/* plan: predicted time of a request by every method.  The functions have no side effects.  Input are
 * parameters of the request (agreed on by all ranks), of the machine and of the file system; output
 * are candidates with predicted times.  Only + - * / and comparisons are used, so that all ranks
 * choose the same candidate.  docs/explanation/automatic-choices.md explains the formulas.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COST_H
#define TUTTI_COST_H

#include <tutti/options.h>
#include <tutti/profile.h>
#include "plan/domains.h"

/* Everything that the choice depends on. */
typedef struct tutti__cost_case {
    const tutti__summary *s;
    const tutti_options *opt; /* values that they set are not varied */
    const tutti_profile *profile;
    int is_write;
    int ranks, groups, largest; /* groups: ranks that share memory; the size of the largest */
    tutti_off align;            /* of file domains */
    int striped;                /* windows should not be smaller than stripes */
    int remote;                 /* the file is on other machines */
    int may_sieve;              /* writes: reading and rewriting is allowed */
    /* Buffers of a rank that exchanges cycle by cycle: tutti__exchange_buffers. */
    int (*buffers)(int exchange, int step, int slots);
} tutti__cost_case;

typedef struct tutti__candidate {
    int method, exchange, pipeline; /* never auto; exchange and pipeline: two-phase and root only */
    int aggregators;                /* two-phase and root only */
    tutti_off window;               /* the same; before it is fitted to alignment */
    double seconds;
} tutti__candidate;

#define TUTTI__CANDIDATES 64

/* Test whether each rank writes one run of a few pages to the page cache of one machine, or read one run of a
 * few bytes from it, with plans cached.  Then list is chosen regardless of predicted times: a repeated
 * request without staging takes little more time than the access itself. */
int tutti__cost_is_small(const tutti__cost_case *c);

/* The candidates, each with its best number of aggregators and window: the chosen one first, the
 * others by time.  Returns their number, at least 1.  Of nearly equal ones the first in this order
 * is chosen: list, sieve, two-phase, root, independent; shm before the other exchanges;
 * write-comm-2 before the other pipelines; many aggregators before few.  The option `method` = auto,
 * `tutti mesh tree` and `explain` all use this function. */
int tutti__cost_candidates(const tutti__cost_case *c, tutti__candidate out[TUTTI__CANDIDATES]);

/* Bytes that an aggregator should have at least: four times the request with which one rank comes
 * near to its best bandwidth (after Chaarawi and Gabriel), at least a block, at most a window. */
tutti_off tutti__cost_least(const tutti__cost_case *c, tutti_off window);

/* Runs whose memory pieces are shorter than this are copied through a stage instead of being entries
 * of an I/O vector. */
#define TUTTI__SCATTERED 4096

/* The buffer of the method sieve.  One that fits into a core's cache is faster than a large one if
 * the bytes come from the page cache; a device is faster in large requests. */
#define TUTTI__WARM_STAGE ((tutti_off)512 << 10)
static inline tutti_off tutti__sieve_stage(const tutti_options *o, int is_write, int cold) {
    const int large = is_write || cold || o->direct_io;
    return large ? o->sieve_size : tutti__min(o->sieve_size, TUTTI__WARM_STAGE);
}

/* Holes between runs that are read with them: one request instead of one per run. */
typedef struct tutti__gap {
    tutti_off bytes;
    int dense;      /* at least half of the extent is requested: small holes are not searched */
    double seconds; /* of the request that is saved; `bytes` are read in that time */
} tutti__gap;

/* The option sieve_gap; if that is 0: the bytes that are read in the time of one additional
 * request.  Writes: the option, or 32 KiB. */
tutti__gap tutti__cost_gap(const tutti__cost_case *c);

#endif
