/* TEST ranks=0 timeout=60 */
/* The worked example of two-phase I/O (Dickens and Thakur, section 2): a 4 x 4 array of integers,
 * block-block over four processors, striped by rows.  Processor i writes row i; exactly the
 * elements that the paper lists are exchanged, and eight small requests become four.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan_test.h"

enum { INT = 4, ROW = 4 * INT };

/* Set moves[from][to] to the elements that are sent, one bit per element of the array. */
static void elements_moved(const tutti__domains *d, const tutti__side *side, unsigned moves[4][4]) {
    for (int from = 0; from < 4; from++) {
        tutti__route route;
        CHECK_OK(tutti__route_make(d, side[from], &route));
        for (int i = 0; i < route.n; i++) {
            tutti_off lo, hi;
            const tutti__stop stop = route.stop[i];
            CHECK_EQ(stop.cycle, 0);
            CHECK_EQ(tutti__route_next(d, side[from], stop.aggregator, 1), -1);
            tutti__domains_window(d, stop.aggregator, 0, &lo, &hi);
            for (tutti_off e = lo / INT; e < hi / INT; e++)
                if (tutti__side_bytes_in(side[from], e * INT, (e + 1) * INT) == INT)
                    moves[from][stop.aggregator] |= 1u << e;
        }
        tutti__route_free(&route);
    }
}

static unsigned element(int row, int col) {
    return 1u << (4 * row + col);
}

static void check_moves(const tutti__domains *d, const tutti__side *side) {
    unsigned moves[4][4] = {{0}}, expected[4][4] = {{0}};
    expected[0][1] = element(1, 0) | element(1, 1);
    expected[1][0] = element(0, 2) | element(0, 3);
    expected[2][3] = element(3, 0) | element(3, 1);
    expected[3][2] = element(2, 2) | element(2, 3);
    expected[0][0] = element(0, 0) | element(0, 1); /* these elements stay on rank 0 */
    expected[1][1] = element(1, 2) | element(1, 3);
    expected[2][2] = element(2, 0) | element(2, 1);
    expected[3][3] = element(3, 2) | element(3, 3);
    elements_moved(d, side, moves);
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++)
            CHECK(moves[from][to] == expected[from][to], "P%d -> P%d: %04x, not %04x", from, to,
                  moves[from][to], expected[from][to]);
}

/* Check that each aggregator has one cycle, one window of one row, and one run. */
static void check_requests(const tutti__domains *d, const tutti__side *side) {
    for (int a = 0; a < 4; a++) {
        tutti_off lo, hi;
        tutti__extents runs = {0};
        CHECK_EQ(tutti__domains_cycles(d, a), 1);
        tutti__domains_window(d, a, 0, &lo, &hi);
        CHECK_EQ(lo, a * ROW);
        CHECK_EQ(hi, (a + 1) * ROW);
        CHECK_OK(tutti__sides_union(4, side, lo, hi, 0, &runs));
        CHECK_EQ(runs.n, 1);
        if (runs.n == 1) CHECK(runs.v[0].offset == lo && runs.v[0].bytes == ROW, "row %d", a);
        tutti__extents_free(&runs);
    }
}

int main(void) {
    const long live = tutti__memory_live();
    tutti__side side[4];
    for (int r = 0; r < 4; r++) side[r] = side_block(4, INT, 2, r / 2, r % 2);
    CHECK_EQ(sides_summary(4, side).runs, 8);
    CHECK_EQ(sides_summary(4, side).bytes, 4 * ROW);

    const cut_options options = {TUTTI_DOMAINS_AUTO, 4, ROW, 1 << 20};
    const tutti__domains d = sides_domains(4, side, options);
    CHECK_EQ(d.kind, TUTTI_DOMAINS_EVEN);
    check_moves(&d, side);
    check_requests(&d, side);
    sides_free(4, side);
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
