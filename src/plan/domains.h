/* plan: file domains and windows of the aggregators.  Pure arithmetic, no MPI.
 *
 *   summarise  every rank: bounds, bytes, runs of its side      (reduced over all ranks)
 *   domains    from the sum (and a coarse histogram of bytes)   the same on every rank, O(1) memory
 *   windows    aggregator a accesses window (a, c) in its c-th cycle
 *
 *   even       | a=0: c0 c1 c2 | a=1: c0 c1 c2 | a=2: c0 c1 c2 |     equal cuts of the extent
 *   balanced   | a=0: c0 | a=1: c0 c1 c2 c3      | a=2: c0 |         equal cuts of the bytes in it
 *   cyclic     | a0 c0 | a1 c0 | a2 c0 | a0 c1 | a1 c1 | a2 c1 |     blocks assigned round-robin
 *   array      | a=0 | a=1: c0 c1 | a=2: c0 c1 |                     cuts of an array, not of the
 *                                                                    request
 *
 * All cuts are aligned, so that only one aggregator writes a given page or stripe.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DOMAINS_H
#define TUTTI_DOMAINS_H

#include "access/side.h"

/* ---- summary of the requests of all ranks */
typedef struct tutti__summary {
    tutti_off lo, hi;    /* bounds; lo > hi: no bytes at all */
    tutti_off bytes;     /* sum; a byte that several ranks request counts once per rank */
    tutti_off extents;   /* sum of the ranks' own extents, from first to last byte */
    tutti_count runs;    /* sum of runs of the file */
    tutti_count ranks;   /* ranks that have bytes */
    tutti_off max_bytes; /* of one rank */
    tutti_off run;       /* shortest mean file run of a rank; INT64_MAX: none */
    tutti_off piece;     /* the same for pieces, which are contiguous in the file and in memory */
    int64_t first, last; /* smallest and largest hash of a rank's file side */
    tutti_off min_bytes; /* of one rank that has bytes */
    tutti_off start_min, start_max; /* of lo - rank * bytes, see tutti__summary_is_in_rank_order */
    int cold;                       /* reads: the bytes of some rank are not in the page cache */
    int broken;                     /* writes: some rank has parts of blocks that need checksums */
} tutti__summary;

tutti__summary tutti__summary_empty(void);
/* Of one rank with `memory_runs` runs in memory (0: as many as in the file). */
tutti__summary tutti__summary_of(tutti__side file, tutti_count memory_runs);
/* Record the rank that it describes. */
void tutti__summary_set_rank(tutti__summary *s, int rank);
/* Test whether each of `ranks` ranks has one run of the same length, which begins where that of
 * the previous rank ends.  Then no two ranks share bytes. */
static inline int tutti__summary_is_in_rank_order(const tutti__summary *s, int ranks) {
    return s->ranks == ranks && s->runs == ranks && s->min_bytes == s->max_bytes &&
           s->start_min == s->start_max;
}
/* Return whether all ranks that have bytes request the same ones. */
static inline int tutti__summary_is_common(const tutti__summary *s) {
    return s->ranks > 1 && s->first == s->last;
}
tutti__summary tutti__summary_merge(tutti__summary a, tutti__summary b);

/* ---- coarse histogram of the bytes touched over [lo, hi), for balanced domains */
#define TUTTI__HISTOGRAM 256
void tutti__histogram_add(tutti__side file, tutti_off lo, tutti_off hi,
                          tutti_off bucket[TUTTI__HISTOGRAM]);

/* ---- domains */

/* An array in a file, cut along its slowest dimension: from `at` on `n` slabs (columns, in
 * column-major order) of `slab` bytes.  n is 0 if the file has no array. */
typedef struct tutti__slabs {
    tutti_off at, slab;
    tutti_count n;
} tutti__slabs;

typedef struct tutti__domains {
    int kind;           /* TUTTI_DOMAINS_EVEN, _BALANCED, _CYCLIC or _ARRAY */
    int aggregators;    /* >= 1 */
    tutti_off lo, hi;   /* lo is aligned down; hi is the end of the bytes */
    tutti_off align;    /* > 0 */
    tutti_off window;   /* bytes of a window, a multiple of align; less if memory is short */
    tutti_off share;    /* EVEN: bytes of the largest domain, a multiple of align */
    tutti_off first;    /* the summary's lo, where the histogram begins */
    tutti__slabs slabs; /* ARRAY */
    tutti_off before[TUTTI__HISTOGRAM + 1]; /* BALANCED: bytes before each bucket of [first, hi) */
} tutti__domains;

/* Decide whether the histogram is needed, from the summary only: the bytes may be so unevenly distributed
 * over [lo, hi) that equal cuts would leave aggregators idle. */
int tutti__domains_want_histogram(const tutti__summary *s, int kind_option);

/* Rules for cutting a request into domains. */
typedef struct tutti__domain_rule {
    int kind; /* the option `domains`: AUTO is BALANCED if `bucket` is given and uneven, else EVEN */
    int aggregators;
    tutti_off align;
    tutti_off window;        /* rounded down to `align`, never to 0, and at most the whole extent */
    const tutti_off *bucket; /* the histogram over the summary's [lo, hi), for BALANCED; or NULL */
    /* Not NULL: `kind` is ignored, and domains are blocks of an array.  Aggregator a has the bytes of
     * the request, possibly none, in slabs floor(n * a / A) and on.  Cuts are aligned down. */
    const tutti__slabs *slabs;
} tutti__domain_rule;

void tutti__domains_make(const tutti__summary *s, const tutti__domain_rule *rule,
                         tutti__domains *out);

/* Consistency check for assertions: O(1). */
int tutti__domains_is_valid(const tutti__domains *d);

/* Window (a, c): [*lo, *hi), empty if the domain has no such cycle. */
void tutti__domains_window(const tutti__domains *d, int a, tutti_count c, tutti_off *lo,
                           tutti_off *hi);
/* The number of cycles of a domain. */
tutti_count tutti__domains_cycles(const tutti__domains *d, int a);
/* The window of a file offset in [lo, hi). */
void tutti__domains_find(const tutti__domains *d, tutti_off offset, int *a_out, tutti_count *c_out);
/* The extent of a domain: EVEN, BALANCED, ARRAY: its one interval; CYCLIC: [lo, hi) of the whole. */
void tutti__domains_extent(const tutti__domains *d, int a, tutti_off *lo, tutti_off *hi);

/* ---- the route of one rank through its windows: all aggregators with bytes of its side in their
 * domains, each with the next such cycle */
typedef struct tutti__stop {
    int aggregator;
    tutti_count cycle; /* next cycle with bytes of this side; -1: no more */
} tutti__stop;

typedef struct tutti__route {
    tutti__stop *stop; /* by aggregator, ascending */
    int n;
} tutti__route;

/* The aggregators that a side touches, in O(touched aggregators * depth), not O(aggregators);
 * CYCLIC: O(touched windows * depth) if the side misses some aggregators. */
tutti_err tutti__route_make(const tutti__domains *d, tutti__side file,
                            tutti__route *out) TUTTI_MUST_USE;
void tutti__route_free(tutti__route *r);
/* The first cycle >= c in which a side has bytes in aggregator a's domain, or -1. */
tutti_count tutti__route_next(const tutti__domains *d, tutti__side file, int a, tutti_count c);

/* ---- aggregators: placement from the topology */
typedef struct tutti__topology {
    int ranks;
    int groups;          /* sets of ranks that share staging memory */
    const int *group_of; /* [ranks] */
} tutti__topology;

/* Choose the aggregators: `wanted` of them (0: all ranks; never more than ranks), distributed
 * evenly over the groups and, inside one, over its ranks, in rank order; only
 * bytes / min_bytes if the request is small (but at least 1), min_bytes >= 1.
 * rank_of_out[ranks]: the aggregators' ranks, in the order of the domains: by group, then by rank,
 * so that neighbours in the file share a node if possible.   Returns their number. */
int tutti__aggregators_choose(const tutti__topology *t, int wanted, tutti_off bytes,
                              tutti_off min_bytes, int *rank_of_out);

#endif
