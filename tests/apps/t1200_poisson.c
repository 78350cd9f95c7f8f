/* TEST ranks=1,3 timeout=60 */
/* Geometry and Poisson equation of the bipolar example: linear solutions are exact, others converge
 * with second order, on tetrahedra of any shape; control volumes fill the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "bipolar/bipolar.h"

#include <math.h>

/* Deform the interior of the unit cube; its surface is unchanged. */
static void deform(double at[3]) {
    const double x = at[0], y = at[1], z = at[2];
    const double bump = 4 * x * (1 - x) * 4 * y * (1 - y) * 4 * z * (1 - z);
    at[0] += 0.08 * bump * sin(5 * y);
    at[1] += 0.06 * bump * cos(4 * z);
    at[2] += 0.07 * bump * sin(6 * x + 1);
}

static domain *cube(int n, void (*move)(double at[3])) {
    brick b = {.n = {n, n, n}, .move = move};
    for (int x = 0; x < 3; x++)
        for (int k = 0; k < n; k++) b.line[x][k] = (double)k / (n - 1);
    tutti_mesh *mesh = brick_mesh(MPI_COMM_WORLD, &b);
    domain *d = domain_make(MPI_COMM_WORLD, &mesh);
    CHECK(mesh == NULL, "the domain takes the mesh over");
    return d;
}

static int on_surface(const double at[3]) {
    for (int x = 0; x < 3; x++)
        if (at[x] < 1e-9 || at[x] > 1 - 1e-9) return 1;
    return 0;
}

static double linear(const double at[3]) {
    return 1 + 2 * at[0] - 3 * at[1] + 0.5 * at[2];
}

static double wave(const double at[3]) {
    return sin(M_PI * at[0]) * sin(M_PI * at[1]) * sin(M_PI * at[2]);
}

/* Solve -laplace(u) = source * u with the exact u on the surface; returns the error in the
 * 2-norm. */
static double solve_system(const domain *d, double (*exact)(const double[3]), double source) {
    matrix *a = matrix_make(d);
    double *b = room(d->held, sizeof *b), *u = room(d->held, sizeof *u), error = 0;
    for (int i = 0; i < d->own; i++) {
        const int fixed = on_surface(d->at[i]);
        a->diagonal[i] = fixed;
        b[i] = (fixed ? 1 : source * d->volume[i]) * exact(d->at[i]);
        for (int k = d->start[i]; k < d->start[i + 1] && !fixed; k++) {
            const int edge = on_surface(d->at[d->to[k]]);
            a->diagonal[i] += d->box[k];
            a->off[k] = edge ? 0 : -d->box[k];
            if (edge) b[i] += d->box[k] * exact(d->at[d->to[k]]);
        }
    }
    const int steps = solve_cg(a, b, u, 1e-12);
    CHECK(steps < 200, "%d steps", steps);
    /* BiCGSTAB must find the same solution as CG */
    double *v = room(d->held, sizeof *v), differ = 0;
    (void)solve_bicgstab(a, b, v, 1e-12);
    for (int i = 0; i < d->own; i++) {
        error += d->volume[i] * pow(u[i] - exact(d->at[i]), 2);
        differ = fmax(differ, fabs(u[i] - v[i]));
    }
    CHECK(differ < 1e-9, "CG and BiCGSTAB differ by %g", differ);
    matrix_free(a);
    free(b);
    free(u);
    free(v);
    return sqrt(domain_sum(d, error));
}

static void check_geometry(const domain *d, int bent) {
    double volume = 0;
    for (int i = 0; i < d->own; i++) {
        volume += d->volume[i];
        /* the faces of an interior node are closed: the sum of their normals is 0 */
        for (int x = 0; x < 3; x++) {
            double left = 0;
            for (int k = d->start[i]; k < d->start[i + 1]; k++)
                left += d->box[k] * (d->at[d->to[k]][x] - d->at[i][x]);
            CHECK(on_surface(d->at[i]) || fabs(left) < 1e-15, "node %d: %g left over", i, left);
        }
    }
    volume = domain_sum(d, volume);
    CHECK(fabs(volume - 1) < 1e-12, "control volumes have %.15g", volume);
    CHECK((d->obtuse == 0) == !bent, "%lld obtuse", (long long)d->obtuse);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1200);
    for (int bent = 0; bent < 2; bent++) {
        domain *coarse = cube(7, bent ? deform : NULL), *fine = cube(13, bent ? deform : NULL);
        check_where(bent ? "bent" : "straight");
        CHECK_EQ(fine->nodes, 13 * 13 * 13);
        check_geometry(fine, bent);
        const double e0 = solve_system(fine, linear, 0);
        CHECK(e0 < 1e-11, "a linear function has the error %g", e0);
        const double source = 3 * M_PI * M_PI;
        const double e1 = solve_system(coarse, wave, source), e2 = solve_system(fine, wave, source);
        CHECK(log2(e1 / e2) > 1.85 && log2(e1 / e2) < 2.3, "errors %g, %g: order %.2f", e1, e2,
              log2(e1 / e2));
        domain_free(coarse);
        domain_free(fine);
    }
    return harness_end();
}
