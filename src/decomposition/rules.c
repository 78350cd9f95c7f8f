/* decomposition: the rules that choose writers.
 *
 * idg2 ends a run only where no rank holds all of its items.  S(i) are the holders of item i, and C
 * the ranks that hold every item of the run so far:
 *
 *     C := S(0);  next item:  C and S(i) have a rank in common -> C := C and S(i)
 *                             otherwise                        -> close the run, C := S(i)
 *
 * The k-th run of idg2 ends no earlier than the k-th run of any other valid choice (by induction:
 * run k + 1 of the other choice begins no later, and while it continues, its writer is in C).  So
 * no choice has fewer runs.  The writer of a run is any rank of its final C.  The number of runs
 * does not depend on this rank, since the next run begins with an item that no rank in C holds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rules.h"

#include <string.h>

tutti__items tutti__items_part(const tutti__items *v, tutti_count from, tutti_count to) {
    tutti__items part = *v;
    part.n = to - from;
    part.number += from;
    part.bytes += from;
    part.start += from;
    if (v->owner) {
        part.owner += from;
        if (to < v->n) part.owner_behind = v->owner[to];
    }
    return part;
}

void tutti__writers_fill(tutti_count n, int *writer, int behind) {
    for (tutti_count i = n - 1; i >= 0; i--) {
        if (writer[i] == TUTTI__AS_NEXT) writer[i] = behind;
        behind = writer[i];
    }
}

/* ---- sets of ranks, ascending */

typedef struct {
    const int *v;
    tutti_count n;
} set;

static set item_holders(const tutti__items *v, tutti_count i) {
    return (set){v->holder + v->start[i], v->start[i + 1] - v->start[i]};
}

static int rank_holds(set s, int rank) {
    tutti_count lo = 0, hi = s.n;
    while (hi - lo > 8) {
        const tutti_count mid = (lo + hi) / 2;
        if (s.v[mid] <= rank)
            lo = mid;
        else
            hi = mid;
    }
    while (lo < hi && s.v[lo] != rank) lo++;
    return lo < hi;
}

/* Intersect `carry` with `s`; return 0 if the intersection is empty, and leave `carry`
 * unchanged. */
static int intersect_carry(tutti__carry *carry, set s) {
    int n = 0;
    tutti_count j = 0;
    if (carry->n == 1) return rank_holds(s, carry->rank[0]);
    for (int i = 0; i < carry->n && j < s.n;) {
        if (carry->rank[i] == s.v[j]) { /* n <= i: overwritten entries have been processed */
            carry->rank[n++] = carry->rank[i++];
            j++;
        } else if (carry->rank[i] < s.v[j]) {
            i++;
        } else {
            j++;
        }
    }
    if (n > 0) carry->n = n;
    return n > 0;
}

static void set_carry(tutti__carry *carry, set s) {
    carry->n = (int)s.n;
    memcpy(carry->rank, s.v, (size_t)s.n * sizeof *s.v);
}

int tutti__writers_are_valid(const tutti__items *v, const int *writer) {
    for (tutti_count i = 0; i < v->n; i++)
        if (!rank_holds(item_holders(v, i), writer[i])) return 0;
    return 1;
}

/* ---- the rules */

static void by_own(const tutti_replicas_choice *c, const tutti__items *v, tutti__carry *carry,
                   int *writer) {
    (void)c, (void)carry;
    memcpy(writer, v->owner, (size_t)v->n * sizeof *writer);
}

static void by_first(const tutti_replicas_choice *c, const tutti__items *v, tutti__carry *carry,
                     int *writer) {
    (void)c, (void)carry;
    for (tutti_count i = 0; i < v->n; i++) writer[i] = item_holders(v, i).v[0];
}

/* Select a rank of a set by a hash of the seed and the item number. */
static int pick_rank(const tutti_replicas_choice *c, int64_t number, const int *rank,
                     tutti_count n) {
    return rank[tutti__scramble(tutti__scramble(c->seed) ^ (uint64_t)number) % (uint64_t)n];
}

static void by_random(const tutti_replicas_choice *c, const tutti__items *v, tutti__carry *carry,
                      int *writer) {
    (void)carry;
    for (tutti_count i = 0; i < v->n; i++) {
        const set s = item_holders(v, i);
        writer[i] = pick_rank(c, v->number[i], s.v, s.n);
    }
}

/* The rule idg of Filgueira et al.; `carry` is the writer of the previous item. */
static void by_idg(const tutti_replicas_choice *c, const tutti__items *v, tutti__carry *carry,
                   int *writer) {
    (void)c;
    int last = carry->n > 0 ? carry->rank[0] : -1;
    for (tutti_count i = 0; i < v->n; i++) {
        const set s = item_holders(v, i);
        const int next = i + 1 < v->n ? v->owner[i + 1] : v->owner_behind;
        if (!rank_holds(s, last)) last = rank_holds(s, next) ? next : v->owner[i];
        writer[i] = last;
    }
    if (v->n > 0) set_carry(carry, (set){&last, 1});
}

/* The rule idg2; `carry` is the set C of the header of this file.  The number of the item after a
 * run selects the writer among the candidates, so that different candidates write different
 * runs. */
static void by_idg2(const tutti_replicas_choice *c, const tutti__items *v, tutti__carry *carry,
                    int *writer) {
    for (tutti_count i = 0; i < v->n; i++) {
        const set s = item_holders(v, i);
        writer[i] = TUTTI__AS_NEXT;
        if (carry->n > 0 && intersect_carry(carry, s)) continue;
        if (carry->n > 0)
            *(i > 0 ? &writer[i - 1] : &carry->before) =
                pick_rank(c, v->number[i], carry->rank, carry->n);
        set_carry(carry, s);
    }
}

#define RULE(name, text, help) [TUTTI_REPLICAS_##name] = {#text, by_##text},
static const tutti__rule rules[] = {TUTTI_RULE_TABLE(RULE)};
#undef RULE
enum { RULES = sizeof rules / sizeof rules[0] };

static int is_known_rule(tutti_replicas_rule rule) {
    return (int)rule >= 0 && (int)rule < RULES;
}

const tutti__rule *tutti__rule_of(tutti_replicas_rule rule) {
    TUTTI_ASSERT(is_known_rule(rule));
    return &rules[rule];
}

const char *tutti_replicas_rule_name(tutti_replicas_rule rule) {
    return is_known_rule(rule) ? rules[rule].name : "";
}

tutti_err tutti_replicas_rule_parse(const char *name, tutti_replicas_rule *out) {
    TUTTI_CHECK(name && out, TUTTI_ERR_ARG, "argument %s is NULL", name ? "out" : "name");
    for (int i = 0; i < RULES; i++)
        if (strcmp(name, rules[i].name) == 0) {
            *out = (tutti_replicas_rule)i;
            return TUTTI_OK;
        }
    TUTTI_FAIL(TUTTI_ERR_ARG, "unknown rule '%s'", name);
}

tutti_err tutti__choice_check(const tutti_replicas_choice *c, int owners) {
    TUTTI_CHECK(is_known_rule(c->rule), TUTTI_ERR_ARG, "unknown rule %d", (int)c->rule);
    const int needs_owners = c->rule == TUTTI_REPLICAS_IDG || c->rule == TUTTI_REPLICAS_OWN;
    TUTTI_CHECK(owners || !needs_owners, TUTTI_ERR_ARG, "rule '%s' needs owners: field own is NULL",
                rules[c->rule].name);
    TUTTI_CHECK(c->balance == 0 || (c->balance >= 1 && c->balance <= 1e15), TUTTI_ERR_ARG,
                "balance is %g: must be 0 or 1 to 1e15", c->balance);
    TUTTI_CHECK_RESERVED(c, "tutti_replicas_choice");
    return TUTTI_OK;
}
