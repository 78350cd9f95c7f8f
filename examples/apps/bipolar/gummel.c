/* Gummel's iteration: Poisson's equation and both continuity equations in turn, until nothing changes any more.
 *
 * It converges fast as long as the equations hang together loosely: at low and moderate currents.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-8     /* the largest change of psi, in kT/q, and of densities, relative */
#define ON_THE_WAY 1e-2 /* the same at voltages in between */
#define MOST_TURNS 200
#define MOST_VOLTS 1.0 /* from one solution to the next */

/* At the voltages applied. */
static int converge(state *s, double enough) {
    int turns = 0;
    for (double change = 1; change > enough && turns < MOST_TURNS; turns++) {
        const double first = change = poisson_step(s);
        for (double step = first; step > fmax(1e-3 * first, 0.1 * enough);) step = poisson_step(s);
        for (int carrier = 0; carrier < 2; carrier++)
            change = fmax(change, continuity_step(s, carrier));
    }
    return turns;
}

int gummel(state *s, const double volts[CONTACTS]) {
    double from[CONTACTS], between[CONTACTS], way = 0;
    int turns = 0;
    memcpy(from, s->volts, sizeof from);
    for (int c = 0; c < CONTACTS; c++) way = fmax(way, fabs(volts[c] - from[c]));
    const int steps = way > MOST_VOLTS ? (int)ceil(way / MOST_VOLTS) : 1;
    for (int k = 1; k <= steps; k++) {
        for (int c = 0; c < CONTACTS; c++) between[c] = from[c] + (volts[c] - from[c]) * k / steps;
        apply(s, between);
        turns += converge(s, k < steps ? ON_THE_WAY : ENOUGH);
    }
    return turns;
}
