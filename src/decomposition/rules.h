/* decomposition: choices of writers, as functions of items and their holders: no MPI, no files.
 *
 * A rule proceeds along the file.  If the order of items is divided into ranges, one rank each, it is
 * called for a range with its state at the end of the range before (`carry`), and may leave
 * items open whose writer depends on later items (TUTTI__AS_NEXT): these get the writer of the
 * following item.  So the state is sent forward once, and choices back once.
 *
 * An item that a single rank holds is *local*.  The state of a rule after a local item must not
 * depend on the items before it: then a range can begin at its first local item without waiting,
 * and the outcome is the same for every division of the order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_RULES_H
#define TUTTI_RULES_H

#include <tutti/replicas.h>
#include "base/memory.h"

#define TUTTI__AS_NEXT (-1)

/* Items that follow each other in the file; all have load. */
typedef struct tutti__items {
    tutti_count n;
    const int64_t *number;    /* [n] ascending */
    const tutti_off *bytes;   /* [n] of an item in the file */
    const tutti_count *start; /* [n + 1] in `holder`; need not begin with 0 */
    const int *holder;        /* ascending for each item, at least one */
    const int *owner;         /* [n]; NULL: unknown */
    int owner_behind;         /* writer of the item after the last one; -1: none or unknown */
} tutti__items;

static inline int tutti__items_local(const tutti__items *v, tutti_count i) {
    return v->start[i + 1] - v->start[i] == 1;
}
/* Items [from, to) of them. */
tutti__items tutti__items_part(const tutti__items *v, tutti_count from, tutti_count to);

/* The state of a rule between two items: ranks, ascending; none before the first item. */
typedef struct tutti__carry {
    int n;
    int *rank;  /* [ranks] */
    int before; /* out: the writer of the open items before the first, or TUTTI__AS_NEXT */
} tutti__carry;

/* Writers of all items in writer[0 ... n - 1]: a rank that holds the item, or TUTTI__AS_NEXT. */
typedef void tutti__rule_fn(const tutti_replicas_choice *c, const tutti__items *v,
                            tutti__carry *carry, int *writer);

typedef struct tutti__rule {
    const char *name;
    tutti__rule_fn *fn;
} tutti__rule;

/* A known rule.  To add one: a line in TUTTI_RULE_TABLE, and the function by_NAME. */
const tutti__rule *tutti__rule_of(tutti_replicas_rule rule);
/* Check a choice.   owners: they are known */
tutti_err tutti__choice_check(const tutti_replicas_choice *c, int owners) TUTTI_MUST_USE;

/* Open items get the writer of the following item; `behind` is the writer after the last one, TUTTI__AS_NEXT
 * if it is not yet known. */
void tutti__writers_fill(tutti_count n, int *writer, int behind);
/* Every writer holds its items: for TUTTI_ASSERT. */
int tutti__writers_are_valid(const tutti__items *v, const int *writer);

/* A well-mixed number. */
static inline uint64_t tutti__scramble(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- balance.c: a limit for the bytes per rank */

/* The state along the file. */
typedef struct tutti__burden {
    tutti_off limit;  /* the most bytes per rank */
    int passes_on;    /* a rank may exceed that if it has less than the rank that gives */
    tutti_off *bytes; /* [ranks] current bytes of each rank */
    int last;         /* the writer of the item just passed, -1: none */
} tutti__burden;

/* The limit in bytes; TUTTI__NO_LIMIT: none. */
#define TUTTI__NO_LIMIT INT64_MAX
tutti_off tutti__balance_limit(const tutti_replicas_choice *c, tutti_off bytes, int ranks);

/* The balancing passes, run in this order over all items, and the maximum number of rounds. */
enum { TUTTI__BALANCE_ROUNDS = 9 };
typedef enum {
    TUTTI__SLIDE_FORWARD,  /* runs grow at their end */
    TUTTI__SLIDE_BACKWARD, /* runs grow at their start, from the last item to the first */
    TUTTI__CUT,            /* items of ranks above the limit move to another holder below it */
    TUTTI__BALANCE_PASSES
} tutti__balance_pass;
/* The state at the start of a round. */
tutti__burden tutti__balance_round(int round, tutti_off limit, tutti_off mean, tutti_off *bytes);
void tutti__balance(tutti__balance_pass pass, const tutti__items *v, tutti__burden *b, int *writer);

/* ---- tally.c: statistics of a choice */

/* Add the bytes that ranks write of these items to [ranks] shares; `before` is the writer of the
 * previous item,
 * -1: none. */
void tutti__tally_add(const tutti__items *v, const int *writer, int before,
                      tutti_replicas_share *shares);
/* Number of intervals and the largest share. */
tutti_count tutti__tally_intervals(int ranks, const tutti_replicas_share *shares);
tutti_off tutti__tally_most(int ranks, const tutti_replicas_share *shares);
/* The statistics from shares; copies, shared, rule_intervals, rule_max_bytes are there already. */
void tutti__tally_stats(int ranks, const tutti_replicas_share *shares, tutti_off limit,
                        tutti_replicas_stats *stats);
/* Fill the struct of the caller, which may have fewer or more fields. */
tutti_err tutti__stats_give(const tutti_replicas_stats *stats, tutti_replicas_stats *out,
                            size_t struct_size) TUTTI_MUST_USE;

#endif
