/* Gummel's iteration: Poisson's equation and both continuity equations in turn, until nothing
 * changes any more.
 *
 * It converges fast as long as the equations hang together loosely: at low and moderate currents.
 *  When carriers that are injected become as many as the doping, it takes more and more turns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-8     /* the largest change of psi, in kT/q, and of densities, relative */
#define ON_THE_WAY 1e-2 /* the same at voltages in between */
#define MOST_VOLTS 1.0  /* from one solution to the next */
#define MOST_TURNS 200
#define MOST_NEWTON 50

/* To the stationary state at the voltages applied; returns the number of turns, -1: none was
 * found. */
static int converge(state *s, double enough) {
    for (int turns = 1; turns <= MOST_TURNS; turns++) {
        double change = poisson_step(s), step = change;
        const double exact = fmax(1e-3 * change, 0.1 * enough);
        for (int k = 1; k < MOST_NEWTON && step > exact; k++) step = poisson_step(s);
        for (int carrier = 0; carrier < 2; carrier++)
            change = fmax(change, continuity_step(s, carrier));
        if (change <= enough) return turns;
    }
    return -1;
}

int gummel(state *s, const double volts[CONTACTS]) {
    double from[CONTACTS], between[CONTACTS], way = 0, sum = 0;
    int turns = 0;
    memcpy(from, s->volts, sizeof from);
    for (int c = 0; c < CONTACTS; c++) way = fmax(way, fabs(volts[c] - from[c]));
    const int steps = way > MOST_VOLTS ? (int)ceil(way / MOST_VOLTS) : 1;
    for (int k = 1; k <= steps; k++) {
        for (int c = 0; c < CONTACTS; c++) between[c] = from[c] + (volts[c] - from[c]) * k / steps;
        apply(s, between);
        const int more = converge(s, k < steps ? ON_THE_WAY : ENOUGH);
        if (more < 0) return -1;
        turns += more;
    }
    for (int i = 0; i < s->d->own; i++) sum += s->psi[i] + s->carrier[0][i] + s->carrier[1][i];
    return isfinite(domain_sum(s->d, sum)) ? turns : -1;
}
