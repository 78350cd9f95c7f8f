/* plan: what a request would cost, each way it can go.  Pure: the numbers of the request (agreed on
 * by all ranks), of the machine and of the file system go in, candidates with predicted times come
 * out.  Only + - * / and comparisons are used, and all ranks have the same numbers, so that all
 * choose alike.  docs/tuning.md explains the formulae.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_COST_H
#define TUTTI_COST_H

#include <tutti/options.h>
#include <tutti/profile.h>
#include "plan/domains.h"

/* What is known when a way is chosen. */
typedef struct tutti__cost_case {
    const tutti__summary *s;
    const tutti_options *opt; /* what they fix is not varied */
    const tutti_profile *profile;
    int is_write;
    int ranks, groups, largest; /* groups: ranks that share memory; the size of the largest */
    tutti_off align;            /* of file domains */
    int striped;                /* windows should not be smaller than stripes */
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

/* The candidates, each with its best number of aggregators and window: the one to take first, the
 * others by time.  Returns how many, at least 1.  Of those that are as good as equal the one that
 * comes first in this order is taken: list, sieve, two-phase, root, independent; shm before the
 * other exchanges; write-comm-2 before the other pipelines; many aggregators before few. */
int tutti__cost_candidates(const tutti__cost_case *c, tutti__candidate out[TUTTI__CANDIDATES]);

/* Bytes that an aggregator should have at least: four times the request with which one rank comes
 * near to its best bandwidth (after Chaarawi and Gabriel), at least a block, at most a window. */
tutti_off tutti__cost_least(const tutti__cost_case *c, tutti_off window);

/* Holes between pieces that are read along with them: one request instead of one for each. */
typedef struct tutti__gap {
    tutti_off bytes;
    int dense;      /* at least half of the extent is wanted: nobody looks for small holes */
    double seconds; /* of the request that is saved; as many bytes are read in that time */
} tutti__gap;

/* What the option sieve_gap says; if that is 0: the bytes that are read in the time of one more
 * request.  Writes: what it says, or 32 KiB. */
tutti__gap tutti__cost_gap(const tutti__cost_case *c);

#endif
