/* decomposition: choices of writers, as functions of items and their holders, without MPI and
 * files.
 *
 * A rule proceeds along the file.  If the order of items is divided into ranges, one per rank, the
 * rule is called for a range with its state at the end of the previous range (`carry`).  It may
 * leave items open whose writer depends on later items (TUTTI__AS_NEXT); these get the writer of
 * the following item.  So the state is sent forward once, and choices are sent back once.
 *
 * An item that a single rank holds is *local*.  The state of a rule after a local item must not
 * depend on the items before it.  Then a rank can begin at the first local item of its range
 * without waiting, and the result is the same for every division into ranges.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RULES_H
#define TUTTI_RULES_H

#include <tutti/replicas.h>
#include "base/memory.h"

#define TUTTI__AS_NEXT (-1)

/* Items that follow each other in the file; every item has at least one byte. */
typedef struct tutti__items {
    tutti_count n;
    const int64_t *number;    /* [n] ascending */
    const tutti_off *bytes;   /* [n] size of each item in the file */
    const tutti_count *start; /* [n + 1] index in `holder`; need not begin with 0 */
    const int *holder;        /* holders of each item, ascending, at least one */
    const int *owner;         /* [n] owner of each item; NULL: unknown */
    int owner_behind;         /* owner of the item after the last one; -1: none or unknown */
} tutti__items;

static inline int tutti__items_local(const tutti__items *v, tutti_count i) {
    return v->start[i + 1] - v->start[i] == 1;
}
/* Return the items [from, to) of v. */
tutti__items tutti__items_part(const tutti__items *v, tutti_count from, tutti_count to);

/* The state of a rule between two items: a set of ranks, empty before the first item. */
typedef struct tutti__carry {
    int n;
    int *rank;  /* [n] ascending; capacity: number of ranks */
    int before; /* out: writer of the open items before the first item, or TUTTI__AS_NEXT */
} tutti__carry;

/* Set writer[0 ... n - 1]: for each item a rank that holds it, or TUTTI__AS_NEXT. */
typedef void tutti__rule_fn(const tutti_replicas_choice *c, const tutti__items *v,
                            tutti__carry *carry, int *writer);

typedef struct tutti__rule {
    const char *name;
    tutti__rule_fn *fn;
} tutti__rule;

/* Return the entry of a known rule.  To add a rule, add a line to TUTTI_RULE_TABLE and the function
 * by_NAME. */
const tutti__rule *tutti__rule_of(tutti_replicas_rule rule);
/* Check a choice.   owners: the owners of items are known */
tutti_err tutti__choice_check(const tutti_replicas_choice *c, int owners) TUTTI_MUST_USE;

/* Set the writer of open items to that of the following item; `behind` is the writer of the item
 * after the last one, TUTTI__AS_NEXT if it is not yet known. */
void tutti__writers_fill(tutti_count n, int *writer, int behind);
/* Check that every writer holds its items, for TUTTI_ASSERT. */
int tutti__writers_are_valid(const tutti__items *v, const int *writer);

/* Hash a number (SplitMix64). */
static inline uint64_t tutti__scramble(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- balance.c: a limit for the bytes per rank */

/* State of a balancing pass along the file. */
typedef struct tutti__burden {
    tutti_off limit;  /* maximal number of bytes per rank */
    int passes_on;    /* a rank may exceed the limit if it has less than the giving rank */
    tutti_off *bytes; /* [ranks] current bytes of each rank */
    int last;         /* writer of the previous item of the pass; -1: none */
} tutti__burden;

#define TUTTI__NO_LIMIT INT64_MAX
/* Return the limit in bytes; TUTTI__NO_LIMIT if the choice has none. */
tutti_off tutti__balance_limit(const tutti_replicas_choice *c, tutti_off bytes, int ranks);

/* The balancing passes of a round, executed in this order over all items, and the maximal number of
 * rounds. */
enum { TUTTI__BALANCE_ROUNDS = 9 };
typedef enum {
    TUTTI__SLIDE_FORWARD,  /* runs of ranks below the limit are extended at their end */
    TUTTI__SLIDE_BACKWARD, /* runs are extended at their start, beginning with the last item */
    TUTTI__CUT,            /* items of ranks above the limit move to another holder */
    TUTTI__BALANCE_PASSES
} tutti__balance_pass;
/* Return the state at the start of a round; execute a pass over items v, updating b and writer. */
tutti__burden tutti__balance_round(int round, tutti_off limit, tutti_off mean, tutti_off *bytes);
void tutti__balance(tutti__balance_pass pass, const tutti__items *v, tutti__burden *b, int *writer);

/* ---- tally.c: statistics of a choice */

/* Add the items and bytes that each rank writes to shares[ranks]; `before` is the writer of the
 * previous item; -1: none. */
void tutti__tally_add(const tutti__items *v, const int *writer, int before,
                      tutti_replicas_share *shares);
/* Return the number of intervals of all ranks; the largest share in bytes. */
tutti_count tutti__tally_intervals(int ranks, const tutti_replicas_share *shares);
tutti_off tutti__tally_most(int ranks, const tutti_replicas_share *shares);
/* Compute the statistics from shares; copies, shared, rule_intervals and rule_max_bytes must be
 * set. */
void tutti__tally_stats(int ranks, const tutti_replicas_share *shares, tutti_off limit,
                        tutti_replicas_stats *stats);
/* Copy the statistics to the struct of the caller, which may have fewer or more fields. */
tutti_err tutti__stats_give(const tutti_replicas_stats *stats, tutti_replicas_stats *out,
                            size_t struct_size) TUTTI_MUST_USE;

#endif
