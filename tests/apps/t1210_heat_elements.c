/* TEST ranks=1 timeout=60 own=1 */
/* The finite elements of the heat example, on one rank: volumes and areas are exact, linear temperatures have the exact flux and no
 * residual, sums do not depend on their order, and the rod of two materials converges with the second order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "heat/heat.h"

#include <math.h>

static domain *make_objects(const settings *s, bricks **b_out) {
    bricks *b = bricks_make(MPI_COMM_WORLD, s);
    const tutti_count own[2] = {b->blocks[0].n, b->blocks[1].n};
    *b_out = b;
    return domain_make(MPI_COMM_WORLD, &b->mesh, own);
}

static double linear(const double at[3]) {
    return 3 + 2 * at[0] - 5 * at[1] + 0.5 * at[2];
}

static void check_elements(const domain *d, int cells) {
    double volume[2] = {0, 0}, area = 0;
    double *u = room(d->nodes, sizeof *u);
    for (int i = 0; i < d->nodes; i++) u[i] = linear(d->at[i]);
    for (int e = 0; e < d->elements; e++) {
        const element *el = &d->element[e];
        const double k = conductivity[el->block], want[3] = {-2 * k, 5 * k, -0.5 * k};
        double mass[8][8], stiff[8][8], flux[3], sum = 0;
        element_matrices(d, el, mass, stiff);
        element_flux(d, el, u, flux);
        for (int c = 0; c < 3; c++)
            CHECK(fabs(flux[c] - want[c]) < 1e-10, "flux %g, not %g", flux[c], want[c]);
        for (int a = 0; a < 8; a++) {
            double row = 0;
            for (int b = 0; b < 8; b++) {
                CHECK(fabs(stiff[a][b] - stiff[b][a]) < 1e-14, "not symmetric");
                row += stiff[a][b];
                sum += mass[a][b];
            }
            CHECK(fabs(row) < 1e-13, "a constant has the residual %g", row);
        }
        const double v = element_volume(d, el);
        CHECK(v > 0 && fabs(sum - capacity[el->block] * v) < 1e-15, "mass %g, volume %g", sum, v);
        volume[el->block] += v;
    }
    for (int s = 0; s < d->sides; s++) {
        int node[4];
        double load[4];
        const int corners = side_load(d, &d->side[s], node, load);
        CHECK(corners == 3, "%d corners", corners);
        for (int a = 0; a < corners; a++) area += load[a];
    }
    CHECK(fabs(volume[0] - 1) < 1e-12 && fabs(volume[1] - 1) < 1e-12, "volumes %.15g, %.15g",
          volume[0], volume[1]);
    CHECK(fabs(area - 1) < 1e-13, "the end has the area %.15g", area);
    CHECK_EQ(d->nodes, (2 * cells + 1) * (cells + 1) * (cells + 1));
    CHECK_EQ(d->elements, 7 * cells * cells * cells);
    free(u);
}

static void check_sums(const domain *d) {
    enum { N = 1000 };
    double v[N], back[N];
    for (int i = 0; i < N; i++) v[i] = ((double)rnd(2000001) - 1e6) * pow(10, (double)rnd(8));
    for (int i = 0; i < N; i++) back[i] = v[N - 1 - i];
    const double one = domain_sum(d, N, v), other = domain_sum(d, N, back);
    long double exactly = 0;
    for (int i = 0; i < N; i++) exactly += v[i];
    CHECK(one == other, "%.17g, %.17g", one, other);
    CHECK(fabs(one - (double)exactly) <= 1e-4, "%.17g, not %.17Lg", one, exactly);
    CHECK(domain_sum(d, 0, v) == 0, "nothing has a sum");
}

static double solve_system(int cells, int steps) {
    const settings s = {.cells = cells, .dt = 0.4 / steps, .every = 1};
    bricks *b;
    domain *d = make_objects(&s, &b);
    problem *p = problem_make(d, &s);
    double *u = room(d->nodes, sizeof *u);
    for (int i = 0; i < d->nodes; i++) u[i] = exact(d->at[i], 0);
    for (int k = 0; k < steps; k++)
        CHECK(problem_step(p, u) < 1000, "no end of conjugate gradients");
    const double error = problem_error(p, u, steps * s.dt);
    free(u);
    problem_free(p);
    domain_free(d);
    bricks_free(b);
    return error;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_seed(1210);
    const settings s = {.cells = 4, .dt = 0.1, .every = 1};
    bricks *b;
    domain *d = make_objects(&s, &b);
    check_elements(d, s.cells);
    check_sums(d);
    domain_free(d);
    bricks_free(b);
    const double coarse = solve_system(3, 5), fine = solve_system(6, 10),
                 order = log2(coarse / fine);
    CHECK(order > 1.85 && order < 2.2, "errors %g, %g: order %.2f", coarse, fine, order);
    MPI_Finalize();
    return check_done();
}
