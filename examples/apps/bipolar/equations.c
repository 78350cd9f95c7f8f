/* The stationary equations of a semiconductor by van Roosbroeck, discretized on control volumes of
 * the nodes.
 *
 *   Poisson      DEBYE laplace(psi) = n - p - doping
 *   electrons    div J_n =  R,   J_n =  D_n grad n - D_n n grad psi
 *   holes        div J_p = -R,   J_p = -D_p grad p - D_p p grad psi
 *   Shockley, Read, Hall         R = (n p - 1) / (tau (n + 1) + tau (p + 1))
 *
 * Poisson's equation is solved by Newton's method with fixed quasi-Fermi levels, so that the
 * decoupled iteration converges: n is proportional to exp(psi), p to exp(-psi).  A continuity
 * equation is linear in its density if psi and the other density are fixed.
 *
 * Across a junction psi changes by many kT/q between two nodes, and n by the exponential of this
 * difference, which polynomials cannot approximate.  The flux of Scharfetter and Gummel is exact if
 * field and current are constant between the nodes:
 *
 *   J_ij = D / |ij| (B(+d) n_j - B(-d) n_i),   d = psi_j - psi_i,   B(x) = x / (exp(x) - 1)
 *
 * For holes, psi and J have the opposite sign.  The sums over the faces of control volumes are
 * matrices whose inverse has no negative entry if all faces have a positive area (domain.c);
 * densities then remain positive.  Values that depend on one node only (mobilities, densities as
 * functions of the potential) are computed by every rank that has the node.  Sums over neighbours
 * are computed by the owner, and copies are updated from the owner.
 *
 * Contacts are ohmic: they are neutral and in equilibrium, and psi is shifted by the applied
 * voltage.  At the rest of the surface the normal components of field and currents are 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Return the mobility by Caughey and Thomas in cm^2/Vs; doping: total doping in cm^-3. */
static double mobility(int carrier, double doping) {
    const double least = carrier == ELECTRONS ? 65 : 47.7,
                 most = carrier == ELECTRONS ? 1414 : 470.5;
    const double middle = carrier == ELECTRONS ? 8.5e16 : 6.3e16;
    const double power = carrier == ELECTRONS ? 0.72 : 0.76;
    return least + (most - least) / (1 + pow(doping / middle, power));
}

state *state_make(const domain *d, const device *device) {
    state *s = room(1, sizeof *s);
    double *contact = room(d->held, sizeof *contact);
    s->d = d;
    s->device = device;
    s->doping = room(d->held, sizeof(double));
    s->psi = room(d->held, sizeof(double));
    s->contact = room(d->held, sizeof *s->contact);
    s->residual = room(d->held, sizeof(double));
    s->update = room(d->held, sizeof(double));
    for (int c = 0; c < 2; c++) {
        s->diffusion[c] = room(d->held, sizeof(double));
        s->carrier[c] = room(d->held, sizeof(double));
    }
    s->a = matrix_make(d);

    for (int i = 0; i < d->held; i++) contact[i] = -1;
    for (int c = 0; c < device->contacts; c++) domain_surface(d, device->contact[c], c, contact);
    domain_refresh(d, 1, contact);
    for (int c = 0; c < device->contacts; c++) {
        double nodes = 0;
        for (int i = 0; i < d->own; i++) nodes += contact[i] == c;
        if (domain_sum(d, nodes) == 0) give_up(d, "the mesh has no surface", device->contact[c]);
    }
    for (int i = 0; i < d->held; i++) {
        double donors, acceptors;
        device->doping(d->at[i], &donors, &acceptors);
        s->contact[i] = (signed char)contact[i];
        s->doping[i] = (donors - acceptors) / UNIT_DENSITY;
        for (int c = 0; c < 2; c++)
            s->diffusion[c][i] =
                UNIT_VOLT * mobility(c, device->constant_mobility ? 0 : donors + acceptors);
        s->psi[i] = asinh(s->doping[i] / 2); /* the device is neutral and in equilibrium */
        s->carrier[ELECTRONS][i] = exp(s->psi[i]);
        s->carrier[HOLES][i] = exp(-s->psi[i]);
    }
    free(contact);
    return s;
}

void state_free(state *s) {
    for (int c = 0; c < 2; c++) {
        free(s->diffusion[c]);
        free(s->carrier[c]);
    }
    matrix_free(s->a);
    free(s->doping);
    free(s->psi);
    free(s->contact);
    free(s->residual);
    free(s->update);
    free(s);
}

/* Return whether a node has no equation: nodes at contacts and nodes without tetrahedra. */
static int is_fixed(const state *s, int i) {
    return s->contact[i] >= 0 || s->d->start[i] == s->d->start[i + 1];
}

void apply(state *s, const double volts[CONTACTS]) {
    memcpy(s->volts, volts, sizeof s->volts);
    for (int i = 0; i < s->d->held; i++)
        if (s->contact[i] >= 0)
            s->psi[i] = asinh(s->doping[i] / 2) + volts[s->contact[i]] / UNIT_VOLT;
}

/* ---- Poisson */

double poisson_step(state *s) {
    const domain *d = s->d;
    double *n = s->carrier[ELECTRONS], *p = s->carrier[HOLES], largest = 0;
    for (int i = 0; i < d->own; i++) {
        const int fixed = is_fixed(s, i);
        double charge = d->volume[i] * (n[i] - p[i] - s->doping[i]), stiffness = 0;
        for (int k = d->start[i]; k < d->start[i + 1]; k++) {
            const int j = d->to[k];
            charge += DEBYE * d->box[k] * (s->psi[i] - s->psi[j]);
            stiffness += DEBYE * d->box[k];
            s->a->off[k] = fixed || s->contact[j] >= 0 ? 0 : -DEBYE * d->box[k];
        }
        s->a->diagonal[i] = fixed ? 1 : stiffness + d->volume[i] * (n[i] + p[i]);
        s->residual[i] = fixed ? 0 : -charge;
    }
    s->krylov += solve_cg(s->a, s->residual, s->update, 1e-4);
    domain_refresh(d, 1, s->update);
    for (int i = 0; i < d->own; i++) largest = fmax(largest, fabs(s->update[i]));
    largest = domain_max(d, largest);
    for (int i = 0; i < d->held; i++) {
        double step = s->update[i];
        if (largest > 1) step = copysign(log1p(fabs(step)), step); /* limit exponentials */
        s->psi[i] += step;
        if (s->contact[i] >= 0) continue;
        n[i] *= exp(step);
        p[i] *= exp(-step);
    }
    return largest;
}

/* ---- continuity */

/* Compute B(x) and B(-x) = B(x) + x. */
static void bernoulli(double x, double *plus, double *minus) {
    const double a = fabs(x), b = a == 0 ? 1 : a > 700 ? 0 : a / expm1(a);
    *plus = x > 0 ? b : b + a;
    *minus = x > 0 ? b + a : b;
}

/* Return the face of edge k through which carriers flow.  A negative area would reverse the
 * direction of the flux and make densities negative; such edges have no flux. */
static double face(const domain *d, int k) {
    return fmax(d->box[k], 0);
}

/* Compute the coefficients of the flux by Scharfetter and Gummel: the current of electrons from own
 * node i to neighbour k, times |ij|, is to * (density at j) - from * (density at i); for holes it
 * has the opposite sign. */
static void flux(const state *s, int carrier, int i, int k, double *from, double *to) {
    const int j = s->d->to[k];
    const double d = 0.5 * (s->diffusion[carrier][i] + s->diffusion[carrier][j]);
    const double rise = s->psi[j] - s->psi[i];
    bernoulli(carrier == ELECTRONS ? rise : -rise, to, from);
    *to *= d;
    *from *= d;
}

/* Return the electric current of a carrier from node i to neighbour k, times |ij|. */
static double current_to(const state *s, int carrier, int i, int k) {
    const double *u = s->carrier[carrier];
    double from, to;
    flux(s, carrier, i, k, &from, &to);
    const double j = to * u[s->d->to[k]] - from * u[i];
    return carrier == ELECTRONS ? j : -j;
}

double continuity_step(state *s, int carrier) {
    const domain *d = s->d;
    double *u = s->carrier[carrier], largest = 0;
    const double *other = s->carrier[!carrier], lifetime = s->device->lifetime / UNIT_TIME;
    for (int i = 0; i < d->own; i++) {
        const int fixed = is_fixed(s, i);
        double leaving = 0, diagonal = 0;
        for (int k = d->start[i]; k < d->start[i + 1]; k++) {
            const int j = d->to[k];
            double from, to;
            flux(s, carrier, i, k, &from, &to);
            leaving += face(d, k) * (from * u[i] - to * u[j]);
            diagonal += face(d, k) * from;
            s->a->off[k] = fixed || s->contact[j] >= 0 ? 0 : -face(d, k) * to * u[j];
        }
        if (lifetime > 0) { /* recombination with a fixed denominator */
            const double slow = d->volume[i] / (lifetime * (u[i] + other[i] + 2));
            leaving += slow * (u[i] * other[i] - 1);
            diagonal += slow * other[i];
        }
        /* The unknown is the relative change of u, and each row is divided by its diagonal, because
         * densities span twenty orders of magnitude and the small ones determine the current. */
        const double scale = fixed ? 0 : 1 / (diagonal * u[i]);
        for (int k = d->start[i]; k < d->start[i + 1]; k++) s->a->off[k] *= scale;
        s->a->diagonal[i] = 1;
        s->residual[i] = -leaving * scale;
    }
    s->krylov += solve_bicgstab(s->a, s->residual, s->update, 1e-4);
    domain_refresh(d, 1, s->update);
    for (int i = 0; i < d->held; i++) {
        const double step = fmax(s->update[i], -0.9999); /* keep densities positive */
        u[i] += u[i] * step;
        if (i < d->own) largest = fmax(largest, fabs(step));
    }
    return domain_max(d, largest);
}

/* ---- currents */

void terminal_currents(const state *s, double ampere[CONTACTS]) {
    const domain *d = s->d;
    memset(ampere, 0, CONTACTS * sizeof *ampere);
    for (int i = 0; i < d->own; i++)
        for (int k = d->start[i]; k < d->start[i + 1] && s->contact[i] >= 0; k++)
            for (int c = 0; c < 2; c++)
                ampere[s->contact[i]] += UNIT_AMPERE * face(d, k) * current_to(s, c, i, k);
    MPI_Allreduce(MPI_IN_PLACE, ampere, CONTACTS, MPI_DOUBLE, MPI_SUM, d->comm);
}

/* Fit a vector to the currents along the edges of the node, by least squares. */
void current_density(const state *s, int carrier, int i, double out[3]) {
    const domain *d = s->d;
    double m[3][4] = {{0}};
    for (int k = d->start[i]; k < d->start[i + 1]; k++) {
        double e[3], length = 0;
        for (int x = 0; x < 3; x++) e[x] = d->at[d->to[k]][x] - d->at[i][x], length += e[x] * e[x];
        const double along = current_to(s, carrier, i, k); /* component along the edge */
        for (int x = 0; x < 3; x++) {
            for (int y = 0; y < 3; y++) m[x][y] += e[x] * e[y] / length;
            m[x][3] += e[x] * along / length;
        }
    }
    for (int x = 0; x < 3; x++) /* Gaussian elimination; the matrix is positive definite */
        for (int y = 0; y < 3; y++) {
            if (x == y || m[x][x] == 0) continue;
            const double factor = m[y][x] / m[x][x];
            for (int z = x; z < 4; z++) m[y][z] -= factor * m[x][z];
        }
    for (int x = 0; x < 3; x++) out[x] = m[x][x] > 0 ? UNIT_AMPERE_CM2 * m[x][3] / m[x][x] : 0;
}
