/* Integrals over elements and sides: trilinear hexahedra by 2 x 2 x 2 Gauss points, their sides by
 * 2 x 2 Gauss points; linear tetrahedra and their sides exactly.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <math.h>
#include <string.h>

const double conductivity[2] = {1, 4}, capacity[2] = {1, 0.25};

/* the points are at -gauss and gauss, with weight 1 */
static const double gauss = 0.57735026918962576;

/* The corners of a hexahedron in reference coordinates. */
static const double sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                  {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

/* Invert a matrix; returns its determinant. */
static double invert(const double m[3][3], double out[3][3]) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out[c][r] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
        }
    const double det = m[0][0] * out[0][0] + m[0][1] * out[1][0] + m[0][2] * out[2][0];
    for (int i = 0; i < 9; i++) out[i / 3][i % 3] /= det;
    return det;
}

/* Compute the shape functions of a hexahedron at q, and their gradients in space.  Returns the
 * determinant of the Jacobian. */
static double hex_shape(const domain *d, const element *e, const double q[3], double f[8],
                        double g[8][3]) {
    double own[8][3], jacobian[3][3] = {{0}}, inverse[3][3];
    for (int a = 0; a < 8; a++) {
        double v[3];
        for (int c = 0; c < 3; c++) v[c] = 1 + sign[a][c] * q[c];
        f[a] = v[0] * v[1] * v[2] / 8;
        for (int c = 0; c < 3; c++) own[a][c] = sign[a][c] * v[(c + 1) % 3] * v[(c + 2) % 3] / 8;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) jacobian[r][c] += own[a][r] * d->at[e->node[a]][c];
    }
    const double det = invert((const double(*)[3])jacobian, inverse);
    for (int a = 0; a < 8; a++)
        for (int c = 0; c < 3; c++)
            g[a][c] =
                inverse[c][0] * own[a][0] + inverse[c][1] * own[a][1] + inverse[c][2] * own[a][2];
    return det;
}

/* Compute the gradients of the shape functions of a tetrahedron.  Returns its volume. */
static double tet_shape(const domain *d, const element *e, double g[4][3]) {
    double edge[3][3], inverse[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) edge[r][c] = d->at[e->node[r + 1]][c] - d->at[e->node[0]][c];
    const double det = invert((const double(*)[3])edge, inverse);
    for (int c = 0; c < 3; c++) {
        g[0][c] = 0;
        for (int a = 1; a < 4; a++) {
            g[a][c] = inverse[c][a - 1];
            g[0][c] -= g[a][c];
        }
    }
    return det / 6;
}

void element_matrices(const domain *d, const element *e, double mass[8][8], double stiff[8][8]) {
    memset(mass, 0, 64 * sizeof **mass);
    memset(stiff, 0, 64 * sizeof **stiff);
    const double k = conductivity[e->block], heat = capacity[e->block];
    double f[8], g[8][3];
    if (e->block == 1) {
        const double volume = tet_shape(d, e, g);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                mass[a][b] = heat * volume * (a == b ? 0.1 : 0.05);
                stiff[a][b] =
                    k * volume * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
            }
        return;
    }
    for (int p = 0; p < 8; p++) {
        const double q[3] = {sign[p][0] * gauss, sign[p][1] * gauss, sign[p][2] * gauss};
        const double w = hex_shape(d, e, q, f, g);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                mass[a][b] += heat * w * f[a] * f[b];
                stiff[a][b] += k * w * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
            }
    }
}

void element_flux(const domain *d, const element *e, const double *u, double flux_out[3]) {
    double f[8], g[8][3];
    const int n = e->block == 0 ? 8 : 4;
    if (e->block == 0)
        (void)hex_shape(d, e, (const double[]){0, 0, 0}, f, g);
    else
        (void)tet_shape(d, e, g);
    for (int c = 0; c < 3; c++) {
        flux_out[c] = 0;
        for (int a = 0; a < n; a++) flux_out[c] -= conductivity[e->block] * g[a][c] * u[e->node[a]];
    }
}

double element_volume(const domain *d, const element *e) {
    double f[8], g[8][3], volume = 0;
    if (e->block == 1) return tet_shape(d, e, g);
    for (int p = 0; p < 8; p++) {
        const double q[3] = {sign[p][0] * gauss, sign[p][1] * gauss, sign[p][2] * gauss};
        volume += hex_shape(d, e, q, f, g);
    }
    return volume;
}

static double length_of_product(const double a[3], const double b[3]) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
                 z = a[0] * b[1] - a[1] * b[0];
    return sqrt(x * x + y * y + z * z);
}

/* Integrate over a triangle.  The result is exact, since the factors are linear. */
static void triangle_load(const domain *d, const int node[3], const double factor[3],
                          double load[3]) {
    double a[3], b[3];
    for (int c = 0; c < 3; c++) {
        a[c] = d->at[node[1]][c] - d->at[node[0]][c];
        b[c] = d->at[node[2]][c] - d->at[node[0]][c];
    }
    const double area = length_of_product(a, b) / 2;
    for (int i = 0; i < 3; i++)
        load[i] = area / 12 * (factor[0] + factor[1] + factor[2] + factor[i]);
}

static void square_load(const domain *d, const int node[4], const double factor[4],
                        double load[4]) {
    for (int i = 0; i < 4; i++) load[i] = 0;
    for (int p = 0; p < 4; p++) {
        const double r = sign[p][0] * gauss, s = sign[p][1] * gauss;
        double f[4], along[3] = {0}, across[3] = {0}, here = 0;
        for (int a = 0; a < 4; a++) {
            const double x = 1 + sign[a][0] * r, y = 1 + sign[a][1] * s;
            f[a] = x * y / 4;
            here += f[a] * factor[a];
            for (int c = 0; c < 3; c++) {
                along[c] += sign[a][0] * y / 4 * d->at[node[a]][c];
                across[c] += sign[a][1] * x / 4 * d->at[node[a]][c];
            }
        }
        const double w = length_of_product(along, across);
        for (int a = 0; a < 4; a++) load[a] += w * here * f[a];
    }
}

int side_load(const domain *d, const side *s, int node_out[4], double load_out[4]) {
    const element *e = &d->element[s->element];
    int which[9];
    const int corners =
        tutti_exodus_side_nodes(e->block == 0 ? "HEX8" : "TET4", 0, 3, s->number, which);
    for (int a = 0; a < corners; a++) node_out[a] = e->node[which[a]];
    if (corners == 3)
        triangle_load(d, node_out, s->factor, load_out);
    else
        square_load(d, node_out, s->factor, load_out);
    return corners;
}
