/* decomposition: a limit to the bytes that one rank writes.
 *
 * Reaching a hard limit with the fewest intervals is NP-hard, so this is a heuristic of three
 * passes along the file that track the bytes of each rank.  The first two passes move the boundary
 * between two runs while the writer of one run also holds items of the other; this adds no
 * interval, and may remove one.  The third pass divides runs: an item of a rank above the limit is
 * assigned to the writer of the previous item, if that rank holds the item and is below the limit,
 * otherwise to the holder with the fewest bytes.  The pass continues with the following items until
 * the rank is below the limit.
 *
 * This is not sufficient if the neighbours of a rank also exceed the limit.  Then the passes are
 * repeated, and a rank may get more than the limit if it has less than the giving rank, so that the
 * excess spreads over several ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/rules.h"

tutti_off tutti__balance_limit(const tutti_replicas_choice *c, tutti_off bytes, int ranks) {
    if (c->balance == 0) return TUTTI__NO_LIMIT;
    const double limit = c->balance * (double)bytes / ranks;
    return limit < 0x1p62 ? (tutti_off)limit + (limit > (double)(tutti_off)limit) : TUTTI__NO_LIMIT;
}

/* Later rounds use a slightly lower limit, since moves between two ranks end when they have nearly
 * the same number of bytes. */
tutti__burden tutti__balance_round(int round, tutti_off limit, tutti_off mean, tutti_off *bytes) {
    const tutti_off aim = round > 0 ? limit - tutti__max(limit - mean, 0) / 8 : limit;
    return (tutti__burden){aim, round > 0, bytes, -1};
}

/* Return the rank to which item i is moved; -1: the item is not moved. */
static int find_new_writer(const tutti__items *v, tutti_count i, const tutti__burden *b, int writer,
                           int cut) {
    int found = -1;
    for (tutti_count k = v->start[i]; k < v->start[i + 1]; k++) {
        const int rank = v->holder[k];
        /* The new writer must remain within the limit or, if passes_on, have no more than the
         * giving rank keeps. */
        const tutti_off left = b->passes_on ? b->bytes[writer] - v->bytes[i] : 0;
        if (rank == writer || b->bytes[rank] > tutti__max(b->limit, left) - v->bytes[i]) continue;
        if (rank == b->last) return rank;
        if (cut && (found < 0 || b->bytes[rank] < b->bytes[found])) found = rank;
    }
    return found;
}

void tutti__balance(tutti__balance_pass pass, const tutti__items *v, tutti__burden *b,
                    int *writer) {
    const int backward = pass == TUTTI__SLIDE_BACKWARD, cut = pass == TUTTI__CUT;
    for (tutti_count k = 0; k < v->n; k++) {
        const tutti_count i = backward ? v->n - 1 - k : k;
        const int from = writer[i];
        if (b->bytes[from] > b->limit && !tutti__items_local(v, i)) {
            const int to = find_new_writer(v, i, b, from, cut);
            if (to >= 0) {
                b->bytes[from] -= v->bytes[i];
                b->bytes[to] += v->bytes[i];
                writer[i] = to;
            }
        }
        b->last = writer[i];
    }
}
