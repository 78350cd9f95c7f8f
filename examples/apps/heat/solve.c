/* Assembly of the matrices, integration in time, conjugate gradients.
 *
 * Time integration: the diagonally implicit method of two stages with g = 1 - sqrt(1/2)
 * (Alexander).  It is of second order like that of Crank and Nicolson, but damps oscillations.
 * Both stages have the same matrix:
 *
 *     (M + g dt K) k1 = F - K u
 *     (M + g dt K) k2 = F - K (u + (1 - g) dt k1)
 *     u += dt ((1 - g) k1 + g k2)
 *
 * Each value is computed by one rank, in an order that depends only on the ids of nodes and
 * elements.  Sums over ranks are exact for truncated values (domain_sum).  Results and files are
 * therefore identical, bit by bit, on any number of ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <math.h>
#include <stdlib.h>

struct problem {
    const domain *d;
    double dt;
    int rows;
    int *row;                    /* [rows] nodes that this rank computes */
    int *start, *to;             /* neighbours of each row, in ascending order of ids */
    double *mass, *stiff, *left; /* M, K, M + g dt K */
    double *diagonal;            /* [rows] diagonal of left */
    double *load;                /* [rows] F: heat flux through sides */
    double *r, *z, *q, *terms;   /* [rows] */
    double *p, *stage, *k[2];    /* [nodes] */
};

static const double given = 300, inflow = 100, g = 0.29289321881345248;

double exact(const double at[3], double time) {
    /* The stationary state plus a decaying mode of sines and cosines.  a1 + a2 = pi / 2, where a1
     * and a2 are the square roots of rate c / k in the two materials. */
    const double root = 2 * M_PI / 5, rate = root * root, x = at[0];
    const double steady = x < 1 ? inflow * x : inflow + inflow / 4 * (x - 1);
    const double mode = x < 1 ? sin(root * x) : sin(root) / cos(root / 4) * cos(root / 4 * (2 - x));
    return given + steady - 120 * exp(-rate * time) * mode;
}

typedef struct pair {
    int row, to;
    int64_t id;
} pair;

static int by_row_and_id(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->row != y->row) return x->row - y->row;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Find the neighbours of each row. */
static void make_graph(problem *p) {
    const domain *d = p->d;
    int *row_of = room(d->nodes, sizeof *row_of);
    for (int i = 0; i < d->nodes; i++) {
        row_of[i] = d->own[i] ? p->rows : -1;
        if (d->own[i]) p->row[p->rows++] = i;
    }
    int64_t n = 0;
    pair *all = room(64LL * d->in_block[0] + 16LL * d->in_block[1], sizeof *all);
    for (int e = 0; e < d->elements; e++) {
        const int corners = d->element[e].block == 0 ? 8 : 4, *node = d->element[e].node;
        for (int a = 0; a < corners; a++)
            for (int b = 0; b < corners && row_of[node[a]] >= 0; b++)
                all[n++] = (pair){row_of[node[a]], node[b], d->id[node[b]]};
    }
    qsort(all, (size_t)n, sizeof *all, by_row_and_id);
    p->start = room(p->rows + 1, sizeof *p->start);
    p->to = room(n, sizeof *p->to);
    int m = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || by_row_and_id(&all[i], &all[i - 1]) != 0) {
            p->to[m++] = all[i].to;
            p->start[all[i].row + 1] = m;
        }
    free(all);
    free(row_of);
}

static int place(const problem *p, int row, int node) {
    int low = p->start[row], high = p->start[row + 1] - 1;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (p->d->id[p->to[mid]] < p->d->id[node])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void assemble(problem *p) {
    const domain *d = p->d;
    int *row_of = room(d->nodes, sizeof *row_of);
    for (int i = 0; i < d->nodes; i++) row_of[i] = -1;
    for (int i = 0; i < p->rows; i++) row_of[p->row[i]] = i;
    for (int e = 0; e < d->elements; e++) {
        double mass[8][8], stiff[8][8];
        const int corners = d->element[e].block == 0 ? 8 : 4, *node = d->element[e].node;
        element_matrices(d, &d->element[e], mass, stiff);
        for (int a = 0; a < corners; a++)
            for (int b = 0; b < corners && row_of[node[a]] >= 0; b++) {
                const int k = place(p, row_of[node[a]], node[b]);
                p->mass[k] += mass[a][b];
                p->stiff[k] += stiff[a][b];
                p->left[k] += mass[a][b] + g * p->dt * stiff[a][b];
            }
    }
    for (int i = 0; i < p->rows; i++) p->diagonal[i] = p->left[place(p, i, p->row[i])];
    for (int s = 0; s < d->sides; s++) {
        int node[4];
        double load[4];
        const int corners = side_load(d, &d->side[s], node, load);
        for (int a = 0; a < corners; a++)
            if (row_of[node[a]] >= 0) p->load[row_of[node[a]]] += inflow * load[a];
    }
    free(row_of);
}

problem *problem_make(const domain *d, const settings *s) {
    problem *p = room(1, sizeof *p);
    p->d = d;
    p->dt = s->dt;
    p->row = room(d->nodes, sizeof *p->row);
    make_graph(p);
    double **entries[] = {&p->mass, &p->stiff, &p->left};
    for (int i = 0; i < 3; i++) *entries[i] = room(p->start[p->rows], sizeof(double));
    double **vectors[] = {&p->diagonal, &p->load, &p->r, &p->z, &p->q, &p->terms};
    for (int i = 0; i < 6; i++) *vectors[i] = room(p->rows, sizeof(double));
    double **held[] = {&p->p, &p->stage, &p->k[0], &p->k[1]};
    for (int i = 0; i < 4; i++) *held[i] = room(d->nodes, sizeof(double));
    assemble(p);
    return p;
}

void problem_free(problem *p) {
    if (!p) return;
    void *all[] = {p->row, p->start, p->to, p->mass,  p->stiff, p->left,  p->diagonal, p->load,
                   p->r,   p->z,     p->q,  p->terms, p->p,     p->stage, p->k[0],     p->k[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(p);
}

static double dot(const problem *p, const double *a, const double *b) {
    for (int i = 0; i < p->rows; i++) p->terms[i] = a[i] * b[i];
    return domain_sum(p->d, p->rows, p->terms);
}

/* Compute out = matrix v. */
static void multiply(const problem *p, const double *matrix, const double *v, double *out) {
    for (int i = 0; i < p->rows; i++) {
        out[i] = 0;
        for (int k = p->start[i]; k < p->start[i + 1]; k++) out[i] += matrix[k] * v[p->to[k]];
    }
}

/* Solve left k = F - stiff u, starting with k = 0; k is 0 where the temperature is prescribed.
 * @return the number of iterations */
static int solve(const problem *p, const double *u, double *k) {
    const domain *d = p->d;
    multiply(p, p->stiff, u, p->q);
    for (int i = 0; i < p->rows; i++) {
        p->r[i] = d->cold[p->row[i]] ? 0 : p->load[i] - p->q[i];
        p->z[i] = p->r[i] / p->diagonal[i];
        p->p[p->row[i]] = p->z[i];
        k[p->row[i]] = 0;
    }
    double rho = dot(p, p->r, p->z);
    const double goal = rho * 1e-24 + 1e-40;
    int steps = 0;
    for (; rho > goal && steps < 10000; steps++) {
        domain_exchange(d, p->p);
        multiply(p, p->left, p->p, p->q);
        for (int i = 0; i < p->rows; i++) {
            if (d->cold[p->row[i]]) p->q[i] = 0;
            p->z[i] = p->p[p->row[i]];
        }
        const double alpha = rho / dot(p, p->q, p->z);
        for (int i = 0; i < p->rows; i++) {
            k[p->row[i]] += alpha * p->z[i];
            p->r[i] -= alpha * p->q[i];
            p->z[i] = p->r[i] / p->diagonal[i];
        }
        const double before = rho;
        rho = dot(p, p->r, p->z);
        for (int i = 0; i < p->rows; i++)
            p->p[p->row[i]] = p->z[i] + rho / before * p->p[p->row[i]];
    }
    return steps;
}

int problem_step(problem *p, double *u) {
    int steps = solve(p, u, p->k[0]);
    for (int i = 0; i < p->rows; i++) {
        const int at = p->row[i];
        p->stage[at] = u[at] + (1 - g) * p->dt * p->k[0][at];
    }
    domain_exchange(p->d, p->stage);
    steps += solve(p, p->stage, p->k[1]);
    for (int i = 0; i < p->rows; i++) {
        const int at = p->row[i];
        u[at] += p->dt * ((1 - g) * p->k[0][at] + g * p->k[1][at]);
    }
    domain_exchange(p->d, u);
    return steps;
}

double problem_energy(const problem *p, const double *u) {
    for (int i = 0; i < p->rows; i++) {
        p->terms[i] = 0;
        for (int k = p->start[i]; k < p->start[i + 1]; k++) p->terms[i] += p->mass[k] * u[p->to[k]];
    }
    return domain_sum(p->d, p->rows, p->terms);
}

double problem_error(const problem *p, const double *u, double time) {
    for (int i = 0; i < p->rows; i++) {
        double volume = 0;
        for (int k = p->start[i]; k < p->start[i + 1]; k++) volume += p->mass[k];
        const double off = u[p->row[i]] - exact(p->d->at[p->row[i]], time);
        p->terms[i] = volume * off * off;
    }
    return sqrt(domain_sum(p->d, p->rows, p->terms));
}
