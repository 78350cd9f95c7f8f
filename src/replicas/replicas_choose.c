/* replicas: choosing writers in one process, for any number of parts: the definition of what the
 * inspector does on many ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rules.h"

#include <string.h>

/* Items of the lists that have load, as the rules want them, and room to work in. */
typedef struct {
    tutti__items items;
    int64_t *number;
    tutti_off *bytes;
    tutti_count *start;
    int *holder, *owner;
    int *writer;    /* of the items */
    int *candidate; /* [parts] */
    tutti_replicas_share *shares;
    tutti_off *burden; /* [parts] */
    char *seen;        /* [parts] */
} work;

static void work_free(work *w) {
    void *const all[] = {w->number, w->bytes,     w->start,  w->holder, w->owner,
                         w->writer, w->candidate, w->shares, w->burden, w->seen};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
}

static tutti_err work_make(const tutti_replicas_lists *l, tutti_count held, work *w) {
    const size_t n = (size_t)l->n, parts = (size_t)l->parts;
    *w = (work){.number = tutti__calloc(n, sizeof *w->number),
                .bytes = tutti__calloc(n, sizeof *w->bytes),
                .start = tutti__calloc(n + 1, sizeof *w->start),
                .holder = tutti__calloc((size_t)held, sizeof *w->holder),
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

static tutti_err lists_check(const tutti_replicas_lists *l) {
    TUTTI_CHECK(l->n >= 0 && l->parts >= 1, TUTTI_ERR_ARG, "%lld items of %d parts",
                (long long)l->n, l->parts);
    TUTTI_CHECK(l->n == 0 || (l->start && l->holders), TUTTI_ERR_ARG, "there are no lists");
    TUTTI_CHECK(l->value_bytes >= 1, TUTTI_ERR_ARG, "a value of %lld bytes",
                (long long)l->value_bytes);
    TUTTI_CHECK_RESERVED(l, "the lists");
    for (tutti_count i = 0; i < l->n; i++)
        TUTTI_CHECK(l->start[i] >= 0 && l->start[i] < l->start[i + 1], TUTTI_ERR_ARG,
                    "no rank holds item %lld", (long long)i);
    return TUTTI_OK;
}

/* Item i's holders, rising; `seen` is clean before and after. */
static tutti_err holders_sorted(const tutti_replicas_lists *l, tutti_count i, char *seen,
                                int *out) {
    const int *v = l->holders + l->start[i];
    const tutti_count n = l->start[i + 1] - l->start[i];
    tutti_err err = TUTTI_OK;
    tutti_count k = 0;
    for (; k < n && err == TUTTI_OK; k++) {
        if (v[k] < 0 || v[k] >= l->parts || seen[v[k]])
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "item %lld is held by %d%s", (long long)i,
                                   v[k], v[k] < 0 || v[k] >= l->parts ? "" : " twice");
        else
            seen[v[k]] = 1;
        tutti_count at = k; /* they are few: by insertion */
        for (; at > 0 && out[at - 1] > v[k]; at--) out[at] = out[at - 1];
        out[at] = v[k];
    }
    for (tutti_count j = 0; j < k; j++)
        if (v[j] >= 0 && v[j] < l->parts) seen[v[j]] = 0;
    return err;
}

static tutti_err items_make(const tutti_replicas_lists *l, work *w, tutti_replicas_stats *stats) {
    tutti_off total = 0;
    tutti_count n = 0;
    for (tutti_count i = 0; i < l->n; i++) {
        const tutti_count load = l->loads ? l->loads[i] : l->load;
        const int64_t number = l->numbers ? l->numbers[i] : i;
        TUTTI_CHECK(number >= 0 && (!l->numbers || i == 0 || l->numbers[i - 1] < number),
                    TUTTI_ERR_ARG, "number %lld is negative, or not behind the one before",
                    (long long)number);
        TUTTI_CHECK(load >= 0, TUTTI_ERR_ARG, "item %lld has load %lld", (long long)number,
                    (long long)load);
        TUTTI_TRY(holders_sorted(l, i, w->seen, w->holder + w->start[n]));
        if (load == 0) continue;
        TUTTI_CHECK(tutti__mul_ok(load, l->value_bytes, &w->bytes[n]) &&
                        tutti__add_ok(total, w->bytes[n], &total) && total <= (tutti_off)1 << 62,
                    TUTTI_ERR_OVERFLOW, "the items take more than 2^62 bytes");
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

static void tally(const work *w, int parts) {
    memset(w->shares, 0, (size_t)parts * sizeof *w->shares);
    tutti__tally_add(&w->items, w->writer, -1, w->shares);
}

static void choose(const tutti_replicas_choice *c, int parts, work *w,
                   tutti_replicas_stats *stats) {
    tutti__carry carry = {0, w->candidate, TUTTI__AS_NEXT};
    const tutti_off limit = tutti__balance_limit(c, stats->bytes, parts);
    tutti__rule_of(c->rule)->fn(c, &w->items, &carry, w->writer);
    tutti__writers_fill(w->items.n, w->writer, carry.n > 0 ? carry.rank[0] : -1);
    tally(w, parts);
    stats->rule_intervals = tutti__tally_intervals(parts, w->shares);
    stats->rule_most = tutti__tally_most(parts, w->shares);
    for (int round = 0; round < TUTTI__BALANCE_ROUNDS; round++) {
        if (tutti__tally_most(parts, w->shares) <= limit) break;
        for (int k = 0; k < parts; k++) w->burden[k] = w->shares[k].bytes;
        for (int pass = 0; pass < TUTTI__BALANCE_PASSES; pass++) {
            tutti__burden b = tutti__balance_round(round, limit, stats->bytes / parts, w->burden);
            tutti__balance((tutti__balance_pass)pass, &w->items, &b, w->writer);
        }
        tally(w, parts);
    }
    TUTTI_ASSERT(tutti__writers_are_valid(&w->items, w->writer));
    tutti__tally_stats(parts, w->shares, limit, stats);
}

tutti_err tutti_replicas_choose_sized(const tutti_replicas_lists *lists,
                                      const tutti_replicas_choice *choice, int *writers_out,
                                      tutti_replicas_share *shares_out,
                                      tutti_replicas_stats *stats_out, size_t struct_size) {
    tutti_replicas_stats stats = {0};
    work w;
    TUTTI_CHECK(lists && choice && (writers_out || lists->n == 0), TUTTI_ERR_ARG, "NULL argument");
    TUTTI_TRY(lists_check(lists));
    TUTTI_TRY(tutti__choice_check(choice, 1));
    const tutti_count held = lists->n > 0 ? lists->start[lists->n] - lists->start[0] : 0;
    tutti_err err = work_make(lists, held, &w);
    if (err == TUTTI_OK) err = items_make(lists, &w, &stats);
    if (err == TUTTI_OK) {
        choose(choice, lists->parts, &w, &stats);
        for (tutti_count i = 0, k = 0; i < lists->n; i++) {
            const tutti_count load = lists->loads ? lists->loads[i] : lists->load;
            writers_out[i] = load > 0 ? w.writer[k++] : -1;
        }
        if (shares_out) memcpy(shares_out, w.shares, (size_t)lists->parts * sizeof *shares_out);
        if (stats_out) err = tutti__stats_give(&stats, stats_out, struct_size);
    }
    work_free(&w);
    return err;
}
