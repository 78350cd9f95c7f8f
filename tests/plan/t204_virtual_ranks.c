/* TEST ranks=0 timeout=120 */
/* Thousands of simulated ranks in one process: the routes of all ranks fill the windows of all
 * aggregators exactly.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

typedef struct {
    const tutti__domains *d;
    tutti_count *first; /* [aggregators + 1], index in `filled` of the first window */
    tutti_off *filled;  /* bytes that arrive in each window */
    int *senders;       /* [aggregators], number of ranks that send to each aggregator */
} ledger;

static void ledger_open(ledger *l, const tutti__domains *d) {
    *l = (ledger){.d = d};
    l->first = calloc((size_t)d->aggregators + 1, sizeof *l->first);
    l->senders = calloc((size_t)d->aggregators, sizeof *l->senders);
    for (int a = 0; a < d->aggregators; a++)
        l->first[a + 1] = l->first[a] + tutti__domains_cycles(d, a);
    l->filled = calloc((size_t)l->first[d->aggregators] + 1, sizeof *l->filled);
}

/* Add all bytes that one rank sends; return their number. */
static tutti_off ledger_add(ledger *l, tutti__side side) {
    tutti__route route;
    tutti_off sum = 0, lo, hi;
    CHECK_OK(tutti__route_make(l->d, side, &route));
    for (int i = 0; i < route.n; i++) {
        const int a = route.stop[i].aggregator;
        l->senders[a]++;
        for (tutti_count c = route.stop[i].cycle; c >= 0;
             c = tutti__route_next(l->d, side, a, c + 1)) {
            tutti__domains_window(l->d, a, c, &lo, &hi);
            const tutti_off bytes = tutti__side_bytes_in(side, lo, hi);
            CHECK(bytes > 0, "an empty visit");
            l->filled[l->first[a] + c] += bytes;
            sum += bytes;
        }
    }
    tutti__route_free(&route);
    return sum;
}

/* Check that every window is full, since the request has no holes. */
static void ledger_check_full(const ledger *l) {
    for (int a = 0; a < l->d->aggregators; a++)
        for (tutti_count c = 0; c < l->first[a + 1] - l->first[a]; c++) {
            tutti_off lo, hi;
            tutti__domains_window(l->d, a, c, &lo, &hi);
            CHECK_EQ(l->filled[l->first[a] + c], hi - lo);
        }
}

static int ledger_most_senders(const ledger *l) {
    int most = 0;
    for (int a = 0; a < l->d->aggregators; a++)
        if (l->senders[a] > most) most = l->senders[a];
    return most;
}

static void ledger_close(ledger *l) {
    free(l->first);
    free(l->filled);
    free(l->senders);
}

/* A distribution of an array: side(rank) is the part of a rank; most_senders is the maximum number of
 * senders per aggregator. */
typedef struct {
    int ranks;
    tutti__side (*side)(int rank);
    int most_senders;
} pattern;

/* Return the block of a rank: 65536 x 65536 doubles in 64 x 64 blocks. */
static tutti__side block_block(int rank) {
    return side_block(65536, 8, 64, rank / 64, rank % 64);
}

/* Return the block of a rank: 1024 x 1024 x 1024 floats in 16 x 16 x 16 blocks. */
static tutti__side block_3d(int rank) {
    const tutti_off n = 1024, edge = n / 16, row = n * 4;
    const tutti_off x = rank % 16 * edge, y = rank / 16 % 16 * edge, z = rank / 256 * edge;
    tutti__side s = side_strided((z * n + y) * row + x * 4, edge, edge * 4, row);
    CHECK_OK(tutti__side_vec(s, edge, n * row, &s));
    return s;
}

/* Return the rows of a rank: rows of 12288 bytes, distributed cyclically over 2048 ranks, 50 per
 * rank. */
static tutti__side cyclic_rows(int rank) {
    return side_strided((tutti_off)rank * 12288, 50, 12288, 2048 * 12288);
}

static void check_pattern(const pattern *p, cut_options options) {
    tutti__side *side = calloc((size_t)p->ranks, sizeof *side);
    for (int r = 0; r < p->ranks; r++) side[r] = p->side(r);
    const tutti__domains d = sides_domains(p->ranks, side, options);
    ledger l;
    ledger_open(&l, &d);
    for (int r = 0; r < p->ranks; r++)
        CHECK_EQ(ledger_add(&l, side[r]), tutti__side_bytes(side[r]));
    ledger_check_full(&l);
    CHECK(ledger_most_senders(&l) <= p->most_senders, "%d senders", ledger_most_senders(&l));
    ledger_close(&l);
    sides_free(p->ranks, side);
    free(side);
}

int main(void) {
    const long live = tutti__memory_live();
    const pattern blocks = {4096, block_block, 192}, cubes = {4096, block_3d, 512},
                  rows = {2048, cyclic_rows, 512};
    for (int kind = TUTTI_DOMAINS_EVEN; kind <= TUTTI_DOMAINS_CYCLIC; kind++) {
        check_pattern(&blocks, (cut_options){kind, 4096, 1 << 20, 8 << 20});
        check_pattern(&blocks, (cut_options){kind, 1000, 4096, 16 << 20});
        check_pattern(&cubes, (cut_options){kind, 1024, 1 << 16, 1 << 20});
        check_pattern(&rows, (cut_options){kind, 500, 4096, 1 << 20});
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
