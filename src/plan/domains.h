/* plan: file domains and windows of the aggregators.  Only arithmetic, no MPI.
 *
 *   summary    bounds, bytes and runs of the request of every rank, reduced over all ranks
 *   domains    computed from the summary and possibly a coarse histogram of bytes; the same on
 *              every rank
 *   windows    aggregator a accesses window (a, c) in its cycle c
 *
 *   even       | a=0: c0 c1 c2 | a=1: c0 c1 c2 | a=2: c0 c1 c2 |  equal parts of the extent
 *   balanced   | a=0: c0 | a=1: c0 c1 c2 c3      | a=2: c0 |      equal parts of requested bytes
 *   cyclic     | a0 c0 | a1 c0 | a2 c0 | a0 c1 | a1 c1 | a2 c1 |  blocks assigned round-robin
 *   array      | a=0 | a=1: c0 c1 | a=2: c0 c1 |                  parts of an array
 *
 * All boundaries are aligned, so that only one aggregator writes a given page or stripe.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DOMAINS_H
#define TUTTI_DOMAINS_H

#include "access/side.h"

/* ---- summary of the requests of all ranks */
typedef struct tutti__summary {
    tutti_off lo, hi; /* extent [lo, hi) of all requested bytes; lo > hi: none */
    /* bytes of all ranks; a byte that several ranks request counts once per rank */
    tutti_off bytes;
    tutti_off extents;   /* sum over the ranks of the bytes from first to last requested byte */
    tutti_count runs;    /* file runs of all ranks */
    tutti_count ranks;   /* ranks that have bytes */
    tutti_off max_bytes; /* largest number of bytes of a rank */
    tutti_off run;       /* smallest mean bytes per file run of a rank; INT64_MAX: none */
    tutti_off piece;     /* smallest mean bytes per piece that is contiguous in file and memory */
    int64_t first, last; /* smallest and largest hash of a rank's file side */
    tutti_off min_bytes; /* smallest number of bytes of a rank that has bytes */
    /* minimum and maximum over the ranks of their lo - rank * bytes */
    tutti_off start_min, start_max;
    /* reads: whether bytes of some rank are not in the page cache */
    int cold;
    /* writes: whether some rank has parts of blocks that need checksums */
    int broken;
} tutti__summary;

tutti__summary tutti__summary_empty(void);
/* Return the summary of one rank with `memory_runs` runs in memory (0: as many as in the file). */
tutti__summary tutti__summary_of(tutti__side file, tutti_count memory_runs);
/* Set start_min and start_max of the summary of one rank. */
void tutti__summary_set_rank(tutti__summary *s, int rank);
/* Return whether each of `ranks` ranks has one run of the same length, which begins where the run
 * of the previous rank ends. */
static inline int tutti__summary_is_in_rank_order(const tutti__summary *s, int ranks) {
    return s->ranks == ranks && s->runs == ranks && s->min_bytes == s->max_bytes &&
           s->start_min == s->start_max;
}
/* Return whether all ranks that have bytes request the same bytes. */
static inline int tutti__summary_is_common(const tutti__summary *s) {
    return s->ranks > 1 && s->first == s->last;
}
/* Return the combined summary of two sets of ranks. */
tutti__summary tutti__summary_merge(tutti__summary a, tutti__summary b);

/* ---- coarse histogram of the requested bytes of [lo, hi), for balanced domains */
#define TUTTI__HISTOGRAM 256
/* Add the bytes of a side to the buckets, which are equal parts of [lo, hi). */
void tutti__histogram_add(tutti__side file, tutti_off lo, tutti_off hi,
                          tutti_off bucket[TUTTI__HISTOGRAM]);

/* ---- domains */

/* An array in a file, divided along its slowest dimension into `n` slabs of `slab` bytes, of which
 * the first is at file offset `at`.  n is 0 if the file has no array. */
typedef struct tutti__slabs {
    tutti_off at, slab;
    tutti_count n;
} tutti__slabs;

typedef struct tutti__domains {
    int kind;           /* TUTTI_DOMAINS_EVEN, _BALANCED, _CYCLIC or _ARRAY */
    int aggregators;    /* >= 1 */
    tutti_off lo, hi;   /* extent of the requested bytes; lo is aligned down */
    tutti_off align;    /* alignment of domains and windows in bytes, > 0 */
    tutti_off window;   /* bytes of a window, a multiple of align */
    tutti_off share;    /* EVEN: bytes of the largest domain, a multiple of align */
    tutti_off first;    /* first requested byte, where the histogram begins */
    tutti__slabs slabs; /* ARRAY only */
    tutti_off before[TUTTI__HISTOGRAM + 1]; /* BALANCED: bytes before each bucket of [first, hi) */
} tutti__domains;

/* Return whether the histogram is needed, because the bytes may be distributed so unevenly over
 * [lo, hi) that equal parts would leave aggregators idle. */
int tutti__domains_want_histogram(const tutti__summary *s, int kind_option);

/* Parameters of the division of a request into domains. */
typedef struct tutti__domain_rule {
    int kind; /* option `domains`; AUTO is BALANCED if `bucket` is set and uneven, else EVEN */
    int aggregators;
    tutti_off align; /* alignment of boundaries, bytes */
    /* bytes; rounded down to a multiple of `align`, and limited to the extent */
    tutti_off window;
    /* [TUTTI__HISTOGRAM] histogram over the summary's [lo, hi); NULL: none */
    const tutti_off *bucket;
    /* If not NULL, `kind` is ignored, and domain a begins at slab floor(n * a / aggregators) of the
     * array, aligned down; it may have no bytes of the request. */
    const tutti__slabs *slabs;
} tutti__domain_rule;

void tutti__domains_make(const tutti__summary *s, const tutti__domain_rule *rule,
                         tutti__domains *out);

/* Check consistency in O(1) time, for assertions. */
int tutti__domains_is_valid(const tutti__domains *d);

/* Get window (a, c) as [*lo, *hi), empty if domain a has no cycle c. */
void tutti__domains_window(const tutti__domains *d, int a, tutti_count c, tutti_off *lo,
                           tutti_off *hi);
/* Return the number of cycles of a domain. */
tutti_count tutti__domains_cycles(const tutti__domains *d, int a);
/* Find the window (*a_out, *c_out) that contains a file offset in [lo, hi). */
void tutti__domains_find(const tutti__domains *d, tutti_off offset, int *a_out, tutti_count *c_out);
/* Get the extent [*lo, *hi) of domain a; for CYCLIC it is that of all domains. */
void tutti__domains_extent(const tutti__domains *d, int a, tutti_off *lo, tutti_off *hi);

/* ---- route of a rank: all aggregators whose domains have bytes of its file side, each with the
 * next cycle with such bytes */
typedef struct tutti__stop {
    int aggregator;
    tutti_count cycle; /* next cycle with bytes of this side; -1: none */
} tutti__stop;

typedef struct tutti__route {
    tutti__stop *stop; /* [n], sorted by aggregator */
    int n;
} tutti__route;

/* Find the n aggregators whose domains have bytes of a side, in O(n * depth of the side) time; for
 * CYCLIC in O(windows with bytes * depth) if n is less than the number of aggregators. */
tutti_err tutti__route_make(const tutti__domains *d, tutti__side file,
                            tutti__route *out) TUTTI_MUST_USE;
void tutti__route_free(tutti__route *r);
/* Return the first cycle >= c of domain a in which a side has bytes; -1: none. */
tutti_count tutti__route_next(const tutti__domains *d, tutti__side file, int a, tutti_count c);

/* ---- placement of the aggregators on the ranks */
typedef struct tutti__topology {
    int ranks;
    int groups;          /* number of sets of ranks that share staging memory */
    const int *group_of; /* [ranks] group of each rank */
} tutti__topology;

/* Choose `wanted` aggregators (0, or more than ranks: all ranks), distributed evenly over the
 * groups and over the ranks of each group; at most max(1, bytes / min_bytes) for small requests,
 * min_bytes >= 1.  rank_of_out, with space for t->ranks items, gets the ranks of the aggregators in
 * the order of the domains: by group, then by rank, so that neighbouring domains are on the same
 * node if possible.  Returns the number of aggregators. */
int tutti__aggregators_choose(const tutti__topology *t, int wanted, tutti_off bytes,
                              tutti_off min_bytes, int *rank_of_out);

#endif
