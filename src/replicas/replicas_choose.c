/* replicas: choice of writers in one process, for any number of parts.  The inspector on many ranks
 * has the same result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rules.h"

#include <string.h>

/* The items with load > 0 in the form that the rules expect, and memory for intermediate
 * results. */
typedef struct {
    tutti__items items;
    int64_t *number;
    tutti_off *bytes;
    tutti_count *start;
    int *holder, *owner;
    int *writer;    /* [items.n] writer of each item */
    int *candidate; /* [parts] memory for the state of the rule */
    tutti_replicas_share *shares;
    tutti_off *burden; /* [parts] bytes that each part writes */
    char *seen;        /* [parts] marks for the search for duplicates */
} choice_state;

static tutti_err allocate_state(const tutti_replicas_lists *l, tutti_count copies,
                                choice_state *w) {
    const size_t n = (size_t)l->n, parts = (size_t)l->parts;
    *w = (choice_state){.number = tutti__calloc(n, sizeof *w->number),
                        .bytes = tutti__calloc(n, sizeof *w->bytes),
                        .start = tutti__calloc(n + 1, sizeof *w->start),
                        .holder = tutti__calloc((size_t)copies, sizeof *w->holder),
                        .owner = tutti__calloc(n, sizeof *w->owner),
                        .writer = tutti__calloc(n, sizeof *w->writer),
                        .candidate = tutti__calloc(parts, sizeof *w->candidate),
                        .shares = tutti__calloc(parts, sizeof *w->shares),
                        .burden = tutti__calloc(parts, sizeof *w->burden),
                        .seen = tutti__calloc(parts, 1)};
    const int all = w->number && w->bytes && w->start && w->holder && w->owner && w->writer &&
                    w->candidate && w->shares && w->burden && w->seen;
    return all ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Check and sort the holders of item i; `seen` must be all 0, also on return. */
static tutti_err sort_holders(const tutti_replicas_lists *l, tutti_count i, char *seen, int *out) {
    const int *v = l->holders + l->start[i];
    const tutti_count n = l->start[i + 1] - l->start[i];
    tutti_err err = TUTTI_OK;
    tutti_count k = 0;
    for (; k < n && err == TUTTI_OK; k++) {
        if (v[k] < 0 || v[k] >= l->parts)
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "item %lld has holder %d: must be 0 to %d",
                                   (long long)i, v[k], l->parts - 1);
        else if (seen[v[k]])
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "item %lld: duplicate holder %d",
                                   (long long)i, v[k]);
        else
            seen[v[k]] = 1;
        tutti_count at = k; /* few elements: insertion sort */
        for (; at > 0 && out[at - 1] > v[k]; at--) out[at] = out[at - 1];
        out[at] = v[k];
    }
    for (tutti_count j = 0; j < k; j++)
        if (v[j] >= 0 && v[j] < l->parts) seen[v[j]] = 0;
    return err;
}

static tutti_err make_items(const tutti_replicas_lists *l, choice_state *w,
                            tutti_replicas_stats *stats) {
    tutti_off total = 0;
    tutti_count n = 0;
    for (tutti_count i = 0; i < l->n; i++) {
        const tutti_count load = l->loads ? l->loads[i] : l->load;
        const int64_t number = l->numbers ? l->numbers[i] : i;
        TUTTI_CHECK(number >= 0, TUTTI_ERR_ARG, "item %lld has number %lld: must be >= 0",
                    (long long)i, (long long)number);
        TUTTI_CHECK(!l->numbers || i == 0 || l->numbers[i - 1] < number, TUTTI_ERR_ARG,
                    "item %lld has number %lld: must be larger than the previous one, %lld",
                    (long long)i, (long long)number, (long long)l->numbers[i - 1]);
        TUTTI_CHECK(load >= 0, TUTTI_ERR_ARG, "item %lld has load %lld: must be >= 0",
                    (long long)number, (long long)load);
        TUTTI_TRY(sort_holders(l, i, w->seen, w->holder + w->start[n]));
        if (load == 0) continue;
        TUTTI_CHECK(tutti__mul_ok(load, l->value_bytes, &w->bytes[n]) &&
                        tutti__add_ok(total, w->bytes[n], &total) && total <= (tutti_off)1 << 62,
                    TUTTI_ERR_OVERFLOW,
                    "the items up to %lld, with %lld values of %lld bytes, exceed 2^62 bytes",
                    (long long)number, (long long)load, (long long)l->value_bytes);
        w->number[n] = number;
        w->owner[n] = l->holders[l->start[i]];
        w->start[n + 1] = w->start[n] + (l->start[i + 1] - l->start[i]);
        stats->shared += w->start[n + 1] - w->start[n] > 1;
        n++;
    }
    stats->copies = w->start[n];
    stats->bytes = total;
    w->items = (tutti__items){.n = n,
                              .number = w->number,
                              .bytes = w->bytes,
                              .start = w->start,
                              .holder = w->holder,
                              .owner = w->owner,
                              .owner_behind = -1};
    return TUTTI_OK;
}

static void count_shares(const choice_state *w, int parts) {
    memset(w->shares, 0, (size_t)parts * sizeof *w->shares);
    tutti__tally_add(&w->items, w->writer, -1, w->shares);
}

static void apply_rule(const tutti_replicas_choice *c, int parts, choice_state *w,
                       tutti_replicas_stats *stats) {
    tutti__carry carry = {0, w->candidate, TUTTI__AS_NEXT};
    const tutti_off limit = tutti__balance_limit(c, stats->bytes, parts);
    tutti__rule_of(c->rule)->fn(c, &w->items, &carry, w->writer);
    tutti__writers_fill(w->items.n, w->writer, carry.n > 0 ? carry.rank[0] : -1);
    count_shares(w, parts);
    stats->rule_intervals = tutti__tally_intervals(parts, w->shares);
    stats->rule_max_bytes = tutti__tally_most(parts, w->shares);
    for (int round = 0; round < TUTTI__BALANCE_ROUNDS; round++) {
        if (tutti__tally_most(parts, w->shares) <= limit) break;
        for (int k = 0; k < parts; k++) w->burden[k] = w->shares[k].bytes;
        for (int pass = 0; pass < TUTTI__BALANCE_PASSES; pass++) {
            tutti__burden b = tutti__balance_round(round, limit, stats->bytes / parts, w->burden);
            tutti__balance((tutti__balance_pass)pass, &w->items, &b, w->writer);
        }
        count_shares(w, parts);
    }
    TUTTI_ASSERT(tutti__writers_are_valid(&w->items, w->writer));
    tutti__tally_stats(parts, w->shares, limit, stats);
}

tutti_err tutti_replicas_choose_sized(const tutti_replicas_lists *lists,
                                      const tutti_replicas_choice *choice, int *writers_out,
                                      tutti_replicas_share *shares_out,
                                      tutti_replicas_stats *stats_out, size_t struct_size) {
    tutti_replicas_stats stats = {0};
    choice_state w;
    TUTTI_CHECK(lists && choice && (writers_out || lists->n == 0), TUTTI_ERR_ARG,
                "argument %s is NULL",
                !lists   ? "lists"
                : choice ? "writers_out"
                         : "choice");
    TUTTI_CHECK(lists->n >= 0, TUTTI_ERR_ARG, "n is %lld: must be >= 0", (long long)lists->n);
    TUTTI_CHECK(lists->parts >= 1, TUTTI_ERR_ARG, "parts is %d: must be >= 1", lists->parts);
    TUTTI_CHECK(lists->n == 0 || (lists->start && lists->holders), TUTTI_ERR_ARG,
                "field %s is NULL", lists->start ? "holders" : "start");
    TUTTI_CHECK(lists->value_bytes >= 1, TUTTI_ERR_ARG, "value_bytes is %lld: must be >= 1",
                (long long)lists->value_bytes);
    TUTTI_CHECK_RESERVED(lists, "tutti_replicas_lists");
    for (tutti_count i = 0; i < lists->n; i++)
        TUTTI_CHECK(lists->start[i] >= 0 && lists->start[i] < lists->start[i + 1], TUTTI_ERR_ARG,
                    "item %lld has the range [%lld, %lld) of holders: must be >= 0 and not empty",
                    (long long)i, (long long)lists->start[i], (long long)lists->start[i + 1]);
    TUTTI_TRY(tutti__choice_check(choice, 1));
    const tutti_count copies = lists->n > 0 ? lists->start[lists->n] - lists->start[0] : 0;
    tutti_err err = allocate_state(lists, copies, &w);
    if (err == TUTTI_OK) err = make_items(lists, &w, &stats);
    if (err == TUTTI_OK) {
        apply_rule(choice, lists->parts, &w, &stats);
        for (tutti_count i = 0, k = 0; i < lists->n; i++) {
            const tutti_count load = lists->loads ? lists->loads[i] : lists->load;
            writers_out[i] = load > 0 ? w.writer[k++] : -1;
        }
        if (shares_out) memcpy(shares_out, w.shares, (size_t)lists->parts * sizeof *shares_out);
        if (stats_out) err = tutti__stats_give(&stats, stats_out, struct_size);
    }
    void *const all[] = {w.number, w.bytes,     w.start,  w.holder, w.owner,
                         w.writer, w.candidate, w.shares, w.burden, w.seen};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    return err;
}
