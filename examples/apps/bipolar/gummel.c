/* Gummel's iteration: Poisson's equation and both continuity equations are solved one after the
 * other, until the solution does not change.
 *
 * It converges fast if the equations are weakly coupled, at low and moderate currents.  If the
 * density of injected carriers is about that of the doping, it needs many iterations.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-8     /* maximum change of psi, in kT/q, and relative change of densities */
#define ON_THE_WAY 1e-2 /* the same for intermediate voltages */
#define MOST_VOLTS 1.0  /* maximum change of a voltage between two solutions */
#define MOST_TURNS 200
#define MOST_NEWTON 50

/* Iterate to the stationary state at the applied voltages.  Returns the number of iterations; -1:
 * no convergence. */
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
