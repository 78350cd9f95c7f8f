/* This rank's part of the mesh, and the geometry of its tetrahedra.
 *
 * The library reads the mesh, numbers its nodes along Hilbert's curve, partitions them by METIS,
 * distributes the nodes with copies of their neighbours, and updates copies from their owners.
 * This file finds the neighbours of nodes and computes the faces between them.
 *
 * The control volume of a node consists of all points that are nearer to it than to any other node
 * (Voronoi).  Two neighbours have a common face, which bisects the edge between them at a right
 * angle; the flux along the edge passes through this face.  Inside a tetrahedron, the face of an
 * edge is spanned by the middle of the edge, the circumcentres of its two triangles, and the
 * circumcentre of the tetrahedron.  If a circumcentre is outside its triangle or tetrahedron, the
 * part of the face has a negative area.  Around an inner edge of a Delaunay mesh the sum is still
 * positive; around other edges, and at the surface, it may be negative.  Poisson's equation uses
 * the sum unchanged, which is of second order on any mesh.  The continuity equations do not allow
 * negative areas (equations.c), so that edges with such areas are counted.  Volumes are also sums
 * of such parts; they are at least a tenth of the node's share of its tetrahedra.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "bipolar: %s\n", tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void give_up(const domain *d, const char *why, const char *name) {
    if (d->rank == 0) {
        fprintf(stderr, "bipolar: %s '%s'\n", why, name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(d->comm); /* rank 0 ends the program before it reaches this barrier */
}

void *room(int64_t n, size_t size) {
    void *v = calloc((size_t)n + 1, size);
    if (v) return v;
    fprintf(stderr, "bipolar: no memory\n");
    exit(1);
}

double domain_sum(const domain *d, double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, d->comm);
    return mine;
}

double domain_max(const domain *d, double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, d->comm);
    return mine;
}

/* ---- vectors */

static void minus(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        out[k] = a[l] * b[m] - a[m] * b[l];
    }
}

/* ---- neighbours */

static int by_key(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Find the neighbours of each own node, in ascending order. */
static void find_neighbours(domain *d) {
    int64_t *key = room(12 * (int64_t)d->cells, sizeof *key), n = 0;
    for (int c = 0; c < d->cells; c++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                if (a != b && d->cell[c][a] < d->own)
                    key[n++] = (int64_t)d->cell[c][a] * d->held + d->cell[c][b];
    qsort(key, (size_t)n, sizeof *key, by_key);
    d->start = room(d->own + 1, sizeof *d->start);
    d->to = room(n, sizeof *d->to);
    int entries = 0;
    for (int64_t k = 0; k < n; k++) {
        if (k > 0 && key[k] == key[k - 1]) continue;
        d->to[entries++] = (int)(key[k] % d->held);
        d->start[key[k] / d->held + 1] = entries;
    }
    for (int i = 0; i < d->own; i++) /* set the start of nodes without neighbours */
        if (d->start[i + 1] < d->start[i]) d->start[i + 1] = d->start[i];
    free(key);
}

/* Return the index of neighbour j of own node i in d->to. */
static int entry_of(const domain *d, int i, int j) {
    int low = d->start[i], high = d->start[i + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (d->to[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- control volumes */

typedef struct tetrahedron {
    double at[4][3];
    double gradient[4][3]; /* of the linear shape functions of the corners */
    double volume;
    double centre[3]; /* circumcentre */
} tetrahedron;

static void tetrahedron_of(const domain *d, const int cell[4], tetrahedron *t) {
    double e[4][3], normal[4][3];
    for (int a = 0; a < 4; a++) {
        memcpy(t->at[a], d->at[cell[a]], sizeof t->at[a]);
        minus(t->at[a], t->at[0], e[a]);
    }
    for (int a = 1; a < 4; a++) cross(e[1 + a % 3], e[1 + (a + 1) % 3], normal[a]);
    const double six = dot(e[1], normal[1]); /* signed, so that both orientations are valid */
    t->volume = fabs(six) / 6;
    for (int k = 0; k < 3; k++) {
        t->centre[k] = t->at[0][k];
        t->gradient[0][k] = 0;
        for (int a = 1; a < 4; a++) {
            t->gradient[a][k] = normal[a][k] / six;
            t->gradient[0][k] -= t->gradient[a][k];
            t->centre[k] += 0.5 * dot(e[a], e[a]) * t->gradient[a][k];
        }
    }
}

/* Return the part of the face of edge (a, b) that triangle (a, b, c) spans with the circumcentre of
 * tetrahedron (a, b, c, o): half the distance from the edge to the circumcentre of the triangle,
 * times the distance from there to the circumcentre of the tetrahedron.  Both distances are
 * positive towards the inside. */
static double face_area(const tetrahedron *t, int a, int b, int c, int o) {
    double ca[3], cb[3], normal[3], ab[3], up[3];
    minus(t->at[a], t->at[c], ca);
    minus(t->at[b], t->at[c], cb);
    minus(t->at[b], t->at[a], ab);
    minus(t->centre, t->at[a], up);
    cross(ca, cb, normal);
    const double from_edge = 0.5 * sqrt(dot(ab, ab)) * dot(ca, cb) / sqrt(dot(normal, normal));
    const double *inside = t->gradient[o]; /* points from the triangle to o */
    return 0.5 * from_edge * dot(up, inside) / sqrt(dot(inside, inside));
}

static void measure(domain *d) {
    double found[2] = {0, 0};
    d->box = room(d->start[d->own], sizeof(double));
    d->volume = room(d->own, sizeof(double));
    double *around = room(d->own, sizeof *around); /* volume of the adjacent tetrahedra */
    for (int c = 0; c < d->cells; c++) {
        tetrahedron t;
        tetrahedron_of(d, d->cell[c], &t);
        for (int a = 0; a < 4; a++) {
            const int i = d->cell[c][a];
            if (i >= d->own) continue;
            around[i] += t.volume;
            for (int k = 1; k < 4; k++) {
                const int b = (a + k) % 4, e = (a + k % 3 + 1) % 4, f = 6 - a - b - e;
                const int entry = entry_of(d, i, d->cell[c][b]);
                double ab[3];
                minus(t.at[b], t.at[a], ab);
                const double length = sqrt(dot(ab, ab));
                const double area = face_area(&t, a, b, e, f) + face_area(&t, a, b, f, e);
                d->box[entry] += area / length;
                d->volume[i] += area * length / 6; /* volume of the pyramid of node and face */
            }
        }
    }
    for (int i = 0; i < d->own; i++) {
        d->volume[i] = fmax(d->volume[i], 0.025 * around[i]);
        for (int k = d->start[i]; k < d->start[i + 1]; k++)
            if (d->number[i] < d->number[d->to[k]]) { /* count each edge once */
                found[0]++;
                found[1] += d->box[k] < -1e-9 * cbrt(around[i]);
            }
    }
    free(around);
    MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_DOUBLE, MPI_SUM, d->comm);
    d->edges = (int64_t)found[0];
    d->obtuse = (int64_t)found[1];
}

/* ---- the domain */

domain *domain_make(MPI_Comm comm, tutti_mesh **mesh) {
    domain *d = room(1, sizeof *d);
    tutti_mesh_view slice;
    tutti_mesh_part_view *p = &d->view;
    d->comm = comm;
    d->mesh = *mesh;
    *mesh = NULL;
    MPI_Comm_rank(comm, &d->rank);
    MPI_Comm_size(comm, &d->ranks);

    must(tutti_mesh_renumber(d->mesh, TUTTI_MESH_CURVE));
    must(tutti_mesh_view_get(d->mesh, &slice));
    int *part_of = room(slice.nodes, sizeof *part_of);
    must(tutti_mesh_partition(d->mesh, d->ranks, TUTTI_MESH_METIS, NULL, part_of));
    must(tutti_mesh_part_make(d->mesh, part_of, &d->part));
    must(tutti_mesh_part_get(d->part, p));
    free(part_of);

    d->nodes = p->all_nodes;
    d->own = (int)p->own_nodes;
    d->held = (int)p->nodes;
    d->number = p->number;
    d->at = (const double(*)[3])p->coordinates;
    d->cell = room(p->elements, sizeof *d->cell);
    d->cell_own = room(p->elements, sizeof *d->cell_own);
    for (tutti_count e = 0; e < p->elements; e++) {
        if (p->type[e] != TUTTI_MESH_TET) continue;
        d->cell_own[d->cells] = p->element_own[e];
        memcpy(d->cell[d->cells++], p->node + p->start[e], sizeof *d->cell);
    }
    find_neighbours(d);
    measure(d);
    return d;
}

void domain_free(domain *d) {
    tutti_mesh_part_free(&d->part);
    tutti_mesh_free(&d->mesh);
    free(d->cell);
    free(d->cell_own);
    free(d->start);
    free(d->to);
    free(d->box);
    free(d->volume);
    free(d);
}

void domain_refresh(const domain *d, int width, double *v) {
    must(tutti_mesh_part_exchange(d->part, v, width));
}

void domain_surface(const domain *d, const char *name, int value, double *v) {
    const tutti_mesh_part_view *p = &d->view;
    const tutti_mesh_group *group;
    const int groups = tutti_mesh_groups(d->mesh, &group);
    for (int g = 0; g < groups; g++) {
        if (group[g].dim != 2 || strcmp(group[g].name, name) != 0) continue;
        for (tutti_count e = 0; e < p->elements; e++)
            if (p->type[e] == TUTTI_MESH_TRIANGLE && p->physical[e] == group[g].tag)
                for (tutti_count k = p->start[e]; k < p->start[e + 1]; k++) v[p->node[k]] = value;
    }
}
