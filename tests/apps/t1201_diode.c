/* TEST ranks=1 timeout=60 */
/* The bipolar example on a diode along one axis, compared with textbook formulas (Sze): abrupt junction,
 * 1e17 cm^-3 on both sides, contacts 2 um from it, constant mobilities.
 *   - in equilibrium: built-in voltage, and the largest field, of the depletion approximation
 *   - 0.3 to 0.6 V, no recombination: Shockley's law for short sides,
 *       J = q n_i^2 (D_n + D_p) / (N W) (exp(V / V_T) - 1),   W = 2 um less the depleted part
 *   - 0.7 V, lifetimes of 1 ns: D / W becomes D / (L tanh(W / L)), L^2 = D tau; and the current that
 *       recombines in the depletion zone is added, q n_i pi V_T / (2 tau E) exp(V / 2 V_T)
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "bipolar/bipolar.h"

#include <math.h>

static const double doping = 1e17, length = 2e-4; /* of each side, in cm^-3 and cm */

/* Return half the width of the depletion zone in cm; store the field in its middle, in V/cm. */
static double depleted(double volts, double *field) {
    const double built_in = 2 * UNIT_VOLT * log(doping / UNIT_DENSITY);
    const double half =
        sqrt(PERMITTIVITY * (built_in - volts - 2 * UNIT_VOLT) / (UNIT_CHARGE * doping));
    *field = UNIT_CHARGE * doping * half / PERMITTIVITY;
    return half;
}

/* Compare the field along the edges at the junction with the depletion approximation, which decreases
 * linearly from the middle. */
static void check_field(const state *s) {
    const domain *d = s->d;
    double field;
    const double half = depleted(0, &field) / UNIT_LENGTH;
    int looked = 0;
    for (int i = 0; i < d->own; i++)
        for (int k = d->start[i]; k < d->start[i + 1] && d->at[i][0] == 2; k++) {
            const double dx = d->at[d->to[k]][0] - 2, rise = s->psi[d->to[k]] - s->psi[i];
            if (dx <= 0) continue;
            const double found = rise / dx * UNIT_VOLT / UNIT_LENGTH;
            const double want = field * (1 - dx / 2 / half);
            CHECK(fabs(found / want - 1) < 0.02, "field %g, textbook %g", found, want);
            looked++;
        }
    CHECK(domain_sum(d, looked) >= 9, "%d edges", looked);
}

static double saturation(double volts, double lifetime, int carrier) {
    double field;
    const double w = length - depleted(volts, &field);
    const double diffusion = UNIT_VOLT * (carrier == ELECTRONS ? 1414 : 470.5);
    const double l = sqrt(diffusion * lifetime), way = lifetime > 0 ? l * tanh(w / l) : w;
    return UNIT_CHARGE * UNIT_DENSITY * UNIT_DENSITY * diffusion / (doping * way);
}

static double textbook(double volts, double lifetime) {
    double field, j = 0;
    (void)depleted(volts, &field);
    for (int c = 0; c < 2; c++) j += saturation(volts, lifetime, c) * expm1(volts / UNIT_VOLT);
    if (lifetime > 0)
        j += UNIT_CHARGE * UNIT_DENSITY * M_PI * UNIT_VOLT / (2 * lifetime * field) *
             exp(volts / (2 * UNIT_VOLT));
    return j * 1e-8; /* current through an area of 1 um^2 */
}

static void check_current(state *s, double volts, double within) {
    double ampere[CONTACTS], bias[CONTACTS] = {volts};
    const int turns = gummel(s, bias);
    terminal_currents(s, ampere);
    const double want = textbook(volts, s->device->lifetime), ratio = ampere[0] / want;
    CHECK(turns > 0 && turns < 40, "%d turns at %g V", turns, volts);
    CHECK(fabs(ratio - 1) < within, "%.2f V: %.4e A, textbook %.4e A: %.4f", volts, ampere[0], want,
          ratio);
    CHECK(fabs(ampere[0] + ampere[1]) < 1e-4 * fabs(ampere[0]), "%.2f V: %g + %g", volts, ampere[0],
          ampere[1]);
    /* the current density is the same at all nodes, and has only an x component */
    for (int i = 0; i < s->d->own; i++) {
        double n[3], p[3];
        current_density(s, ELECTRONS, i, n);
        current_density(s, HOLES, i, p);
        CHECK(fabs((n[0] + p[0]) * 1e-8 / ampere[0] - 1) < 0.02, "%.2f V, x = %.3f: %g of %g",
              volts, s->d->at[i][0], (n[0] + p[0]) * 1e-8, ampere[0]);
        CHECK(fabs(n[1] + p[1]) + fabs(n[2] + p[2]) < 0.02 * fabs(n[0] + p[0]),
              "it leaves the axis");
    }
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1201);
    tutti_mesh *mesh = diode_bricks(MPI_COMM_WORLD, 0.01);
    domain *d = domain_make(MPI_COMM_WORLD, &mesh);
    state *s = state_make(d, &diode);
    double lowest = 0, zero[CONTACTS] = {0};

    CHECK(gummel(s, zero) > 0, "no equilibrium");
    check_field(s);
    for (int i = 0; i < d->own; i++) lowest = fmax(lowest, -s->psi[i]);
    lowest = domain_max(d, lowest) * UNIT_VOLT;
    CHECK(fabs(lowest / (UNIT_VOLT * log(doping / UNIT_DENSITY)) - 1) < 1e-3, "psi %g", lowest);

    for (int k = 3; k <= 6; k++) check_current(s, 0.1 * k, 0.01);
    state_free(s);

    device leaky = diode;
    leaky.lifetime = 1e-9;
    s = state_make(d, &leaky);
    check_current(s, 0.7, 0.03);
    state_free(s);
    domain_free(d);
    return harness_end();
}
