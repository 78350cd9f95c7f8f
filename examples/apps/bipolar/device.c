/* The simulated device: its doping, its contacts, and a mesh of bricks.
 *
 * The transistor is a planar npn transistor, of which a quarter is simulated: x = 0 and y = 0 are
 * planes of symmetry.  z is the depth in micrometres.  Contacts are named surfaces of the mesh;
 * transistor.geo and diode.geo are geometries for Gmsh.  Meshes of bricks do not need Gmsh; they
 * are used by the tests, and if Gmsh is not installed.
 *
 *            emitter        base
 *         ___=======_______=======_________  z = 0
 *        |   n+    |                |      |
 *        |_________/     p          |      |
 *        |                          /      |
 *        |_________________________/       |
 *        |            n                    |
 *        |_________________________________|
 *        |            n+                   |
 *        ===================================  z = 2
 *                  collector
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdlib.h>

/* Return the doping after diffusion through a window that extends to x and y, relative to its
 * peak. */
static double window(const double at[3], double x, double y, double depth) {
    const double side = 0.7 * depth; /* lateral diffusion is smaller */
    return 0.25 * erfc((at[0] - x) / side) * erfc((at[1] - y) / side) *
           exp(-at[2] * at[2] / (depth * depth));
}

static void transistor_doping(const double at[3], double *donors, double *acceptors) {
    const double up = (2.0 - at[2]) / 0.35;
    *donors = 1e16 + 8e18 * window(at, 0.8, 0.8, 0.16) + 2e18 * exp(-up * up);
    *acceptors = 6e17 * window(at, 2.3, 1.5, 0.42);
}

/* Compute the doping of an abrupt junction in the middle. */
static void diode_doping(const double at[3], double *donors, double *acceptors) {
    *donors = at[0] > 2 ? 1e17 : at[0] == 2 ? 0.5e17 : 0;
    *acceptors = at[0] < 2 ? 1e17 : at[0] == 2 ? 0.5e17 : 0;
}

const device transistor = {.name = "transistor",
                           .contacts = 3,
                           .contact = {"emitter", "base", "collector"},
                           .doping = transistor_doping,
                           .lifetime = 1e-7};

const device diode = {.name = "diode",
                      .contacts = 2,
                      .contact = {"anode", "cathode"},
                      .doping = diode_doping,
                      .constant_mobility = 1};

/* ---- meshes of bricks */

/* Create points from 0 to `length`, which include the centres.  Their distance is `finest` at the
 * centres, and increases by `growth` times the distance from the nearest centre.  Returns the
 * number of points. */
static int graded(double length, const double *centre, int centres, double finest, double growth,
                  double *out) {
    int n = 0;
    double at = 0;
    out[n++] = 0;
    for (int c = 0; c <= centres; c++) { /* points up to the next centre, finally up to the end */
        const double end = c < centres ? centre[c] : length, begin = at;
        const int first = n;
        if (end - begin < 1e-9) continue;
        while (at < end && n < MOST_LINES) {
            double nearest = length;
            for (int k = 0; k < centres; k++) nearest = fmin(nearest, fabs(at - centre[k]));
            at += finest + growth * nearest;
            out[n++] = at;
        }
        for (int k = first; k < n; k++) /* scale the distances so that the last point is exact */
            out[k] = begin + (out[k] - begin) * (end - begin) / (at - begin);
        at = end;
    }
    return n;
}

tutti_mesh *transistor_bricks(MPI_Comm comm, double finest) {
    static const patch patches[] = {{"emitter", {0, 0, 0}, {0.7, 0.7, 0}},
                                    {"base", {1.5, 0, 0}, {2.2, 1.2, 0}},
                                    {"collector", {0, 0, 2}, {3, 2, 2}}};
    brick b = {.patches = 3, .patch = patches};
    b.n[0] = graded(3, (double[]){0.7, 0.9, 1.5, 2.2, 2.45}, 5, 2 * finest, 0.5, b.line[0]);
    b.n[1] = graded(2, (double[]){0.7, 0.9, 1.2, 1.65}, 4, 2 * finest, 0.5, b.line[1]);
    b.n[2] = graded(2, (double[]){0.28, 0.85}, 2, finest, 0.3, b.line[2]);
    return brick_mesh(comm, &b);
}

tutti_mesh *diode_bricks(MPI_Comm comm, double finest) {
    static const patch patches[] = {{"anode", {0, 0, 0}, {0, 1, 1}},
                                    {"cathode", {4, 0, 0}, {4, 1, 1}}};
    brick b = {
        .patches = 2, .patch = patches, .n = {0, 3, 3}, .line = {{0}, {0, 0.5, 1}, {0, 0.5, 1}}};
    b.n[0] = graded(4, (double[]){2}, 1, finest, 0.2, b.line[0]);
    return brick_mesh(comm, &b);
}
