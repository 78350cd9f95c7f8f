/* Sparse matrices and Krylov solvers.
 *
 * A matrix has a row for each own node and a column for each node of the rank; its sparsity pattern
 * is the graph of the domain.  A product with a vector needs the values of copies, so that copies
 * are updated first.  These updates and the dot products are the only communication.  Both solvers
 * are preconditioned by ILU(0) of the block of own nodes.  The number of iterations therefore
 * depends on the number of ranks; the solution depends on it only within the tolerance.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 1000

matrix *matrix_make(const domain *d) {
    matrix *a = room(1, sizeof *a);
    const int entries = d->start[d->own];
    a->d = d;
    a->diagonal = room(d->own, sizeof(double));
    a->pivot = room(d->own, sizeof(double));
    a->off = room(entries, sizeof(double));
    a->lu = room(entries, sizeof(double));
    a->work = room(8 * (int64_t)d->held, sizeof(double));
    return a;
}

void matrix_free(matrix *a) {
    free(a->diagonal);
    free(a->pivot);
    free(a->off);
    free(a->lu);
    free(a->work);
    free(a);
}

/* Compute y = a x. */
static void multiply(const matrix *a, double *x, double *y) {
    const domain *d = a->d;
    domain_refresh(d, 1, x);
    for (int i = 0; i < d->own; i++) {
        double sum = a->diagonal[i] * x[i];
        for (int k = d->start[i]; k < d->start[i + 1]; k++) sum += a->off[k] * x[d->to[k]];
        y[i] = sum;
    }
}

/* Compute ILU(0), Gaussian elimination without fill-in.  `lu` has L (with unit diagonal) below the
 * diagonal and U above it; `pivot` is the diagonal of U. */
static void factorise(matrix *a) {
    const domain *d = a->d;
    int *place = room(d->own, sizeof *place); /* index of column j in row i, plus 1 */
    memcpy(a->lu, a->off, sizeof(double) * (size_t)d->start[d->own]);
    for (int i = 0; i < d->own; i++) {
        double pivot = a->diagonal[i];
        for (int k = d->start[i]; k < d->start[i + 1]; k++)
            if (d->to[k] < d->own) place[d->to[k]] = k + 1;
        for (int k = d->start[i]; k < d->start[i + 1] && d->to[k] < i; k++) {
            const int row = d->to[k];
            const double factor = a->lu[k] /= a->pivot[row];
            for (int m = d->start[row + 1] - 1; m >= d->start[row] && d->to[m] > row; m--) {
                if (d->to[m] == i)
                    pivot -= factor * a->lu[m];
                else if (d->to[m] < d->own && place[d->to[m]])
                    a->lu[place[d->to[m]] - 1] -= factor * a->lu[m];
            }
        }
        for (int k = d->start[i]; k < d->start[i + 1]; k++)
            if (d->to[k] < d->own) place[d->to[k]] = 0;
        /* keep the pivot positive, even if the matrix has positive off-diagonal entries */
        a->pivot[i] = pivot > 0.01 * a->diagonal[i] ? pivot : a->diagonal[i];
    }
    free(place);
}

/* Compute y = (LU)^-1 x. */
static void precondition(const matrix *a, const double *x, double *y) {
    const domain *d = a->d;
    for (int i = 0; i < d->own; i++) {
        double sum = x[i];
        for (int k = d->start[i]; k < d->start[i + 1] && d->to[k] < i; k++)
            sum -= a->lu[k] * y[d->to[k]];
        y[i] = sum;
    }
    for (int i = d->own - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = d->start[i + 1] - 1; k >= d->start[i] && d->to[k] > i; k--)
            if (d->to[k] < d->own) sum -= a->lu[k] * y[d->to[k]];
        y[i] = sum / a->pivot[i];
    }
}

/* Compute the dot products (x, y) and (x, z) over all ranks, in one reduction. */
static void dots(const domain *d, const double *x, const double *y, const double *z,
                 double out[2]) {
    out[0] = out[1] = 0;
    for (int i = 0; i < d->own; i++) out[0] += x[i] * y[i], out[1] += x[i] * z[i];
    MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_DOUBLE, MPI_SUM, d->comm);
}

static double dot(const domain *d, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < d->own; i++) sum += x[i] * y[i];
    return domain_sum(d, sum);
}

/* Solve by conjugate gradients, for symmetric positive definite matrices. */
int solve_cg(matrix *a, const double *b, double *x, double relative) {
    const domain *d = a->d;
    const int n = d->own;
    double *r = a->work, *z = r + d->held, *p = z + d->held, *q = p + d->held;
    factorise(a);
    memset(x, 0, sizeof(double) * (size_t)d->held);
    memcpy(r, b, sizeof(double) * (size_t)n);
    double rz = 0, stop = 0;
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        precondition(a, r, z);
        const double next = dot(d, r, z), beta = steps ? next / rz : 0;
        if (steps == 0) stop = relative * relative * next;
        if (next <= stop) return steps;
        rz = next;
        for (int i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
        multiply(a, p, q);
        const double alpha = rz / dot(d, p, q);
        for (int i = 0; i < n; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    }
    return MOST_STEPS;
}

/* Solve by stabilised biconjugate gradients (van der Vorst), for any other matrix. */
int solve_bicgstab(matrix *a, const double *b, double *x, double relative) {
    const domain *d = a->d;
    const int n = d->own, held = d->held;
    double *r = a->work, *shadow = r + held, *p = shadow + held, *v = p + held;
    double *ph = v + held, *rh = ph + held, *t = rh + held;
    double rho = 1, alpha = 1, omega = 1, stop = 0, sums[2];
    factorise(a);
    memset(x, 0, sizeof(double) * (size_t)held);
    memset(p, 0, sizeof(double) * (size_t)n);
    memset(v, 0, sizeof(double) * (size_t)n);
    memcpy(r, b, sizeof(double) * (size_t)n);
    memcpy(shadow, b, sizeof(double) * (size_t)n);
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        dots(d, r, r, shadow, sums);
        if (steps == 0) stop = relative * relative * sums[0];
        /* breakdown (0): the next iteration of the caller restarts the solver */
        if (sums[0] <= stop || sums[1] == 0 || omega == 0) return steps;
        const double beta = sums[1] / rho * (alpha / omega);
        rho = sums[1];
        for (int i = 0; i < n; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
        precondition(a, p, ph);
        multiply(a, ph, v);
        alpha = rho / dot(d, shadow, v);
        for (int i = 0; i < n; i++) r[i] -= alpha * v[i]; /* called s in textbooks */
        precondition(a, r, rh);
        multiply(a, rh, t);
        dots(d, t, r, t, sums);
        omega = sums[1] > 0 ? sums[0] / sums[1] : 0;
        for (int i = 0; i < n; i++) x[i] += alpha * ph[i] + omega * rh[i], r[i] -= omega * t[i];
    }
    return MOST_STEPS;
}
