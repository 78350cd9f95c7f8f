/* decomposition: statistics of a choice of writers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rules.h"

#include <string.h>

void tutti__tally_add(const tutti__items *v, const int *writer, int before,
                      tutti_replicas_share *shares) {
    for (tutti_count i = 0; i < v->n; i++) {
        tutti_replicas_share *s = &shares[writer[i]];
        s->items++;
        s->bytes += v->bytes[i];
        s->intervals += writer[i] != before;
        before = writer[i];
    }
}

tutti_count tutti__tally_intervals(int ranks, const tutti_replicas_share *shares) {
    tutti_count sum = 0;
    for (int k = 0; k < ranks; k++) sum += shares[k].intervals;
    return sum;
}

tutti_off tutti__tally_most(int ranks, const tutti_replicas_share *shares) {
    tutti_off most = 0;
    for (int k = 0; k < ranks; k++) most = tutti__max(most, shares[k].bytes);
    return most;
}

/* Compute the imbalance by formula (1) of Filgueira et al.: (most - least) / mean. */
static double compute_balance(tutti_off most, tutti_off least, tutti_off sum, int ranks) {
    return sum > 0 ? (double)(most - least) * ranks / (double)sum : 0;
}

void tutti__tally_stats(int ranks, const tutti_replicas_share *shares, tutti_off limit,
                        tutti_replicas_stats *stats) {
    tutti_count most = 0, least = INT64_MAX;
    double means = 0;
    stats->ranks = ranks;
    stats->writers = 0;
    stats->items = stats->bytes = 0;
    stats->min_bytes = INT64_MAX;
    for (int k = 0; k < ranks; k++) {
        const tutti_replicas_share *s = &shares[k];
        most = tutti__max(most, s->items);
        least = tutti__min(least, s->items);
        stats->items += s->items;
        stats->bytes += s->bytes;
        stats->min_bytes = tutti__min(stats->min_bytes, s->bytes);
        stats->writers += s->items > 0;
        if (s->items > 0) means += (double)s->items / (double)s->intervals;
    }
    stats->max_bytes = tutti__tally_most(ranks, shares);
    stats->intervals = tutti__tally_intervals(ranks, shares);
    stats->replication = stats->items > 0 ? 100 * (double)stats->shared / (double)stats->items : 0;
    stats->mean_interval =
        stats->intervals > 0 ? (double)stats->items / (double)stats->intervals : 0;
    stats->mean_of_means = stats->writers > 0 ? means / stats->writers : 0;
    stats->balance_items = compute_balance(most, least, stats->items, ranks);
    stats->balance_bytes = compute_balance(stats->max_bytes, stats->min_bytes, stats->bytes, ranks);
    stats->balanced = stats->max_bytes <= limit;
}

tutti_err tutti__stats_give(const tutti_replicas_stats *stats, tutti_replicas_stats *out,
                            size_t struct_size) {
    const size_t known = sizeof *stats < struct_size ? sizeof *stats : struct_size;
    TUTTI_CHECK(out != NULL, TUTTI_ERR_ARG, "argument out is NULL");
    memset(out, 0, struct_size);
    memcpy(out, stats, known);
    return TUTTI_OK;
}
