/* A bipolar transistor in the stationary state, in three dimensions, on any number of processes.
 *
 * Read the files in this order: device.c (the simulated device), domain.c (this rank's part of the
 * mesh), equations.c (the equations), linear.c (the linear solvers), gummel.c (the iteration),
 * results.c (the results file), picture.c (the plot), main.c (the program).
 *
 * All variables are scaled: lengths are in micrometres, potentials in kT/q, densities in n_i,
 * diffusion constants in cm^2/s.  The units below convert them to volts, amperes and cm^-3.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BIPOLAR_H
#define BIPOLAR_H

#include <stdint.h>
#include <tutti/tutti.h>

/* ---- silicon at 300 K */
#define UNIT_CHARGE 1.602177e-19                                   /* q, in C */
#define UNIT_VOLT 0.0258520                                        /* kT/q, in V */
#define UNIT_DENSITY 1.0e10                                        /* n_i, in cm^-3 */
#define UNIT_LENGTH 1.0e-4                                         /* 1 um in cm */
#define UNIT_TIME (UNIT_LENGTH * UNIT_LENGTH)                      /* in s, for D in cm^2/s */
#define UNIT_AMPERE (UNIT_CHARGE * UNIT_DENSITY * UNIT_LENGTH)     /* current, in A */
#define UNIT_AMPERE_CM2 (UNIT_CHARGE * UNIT_DENSITY / UNIT_LENGTH) /* current density, in A/cm^2 */
#define PERMITTIVITY (11.7 * 8.854188e-14)                         /* in F/cm */
/* The square of the intrinsic Debye length, in um^2: Poisson's equation is DEBYE * laplace(psi) =
 * n - p - doping. */
#define DEBYE (PERMITTIVITY * UNIT_VOLT / (UNIT_CHARGE * UNIT_DENSITY * UNIT_LENGTH * UNIT_LENGTH))

#define CONTACTS 4 /* maximum number of contacts */

/* ---- device.c: geometry and physics of the simulated device */
typedef struct device {
    const char *name;
    int contacts;
    const char *contact[CONTACTS]; /* names of surfaces of the mesh */
    void (*doping)(const double at[3], double *donors, double *acceptors); /* in cm^-3 */
    int constant_mobility; /* 1: as in pure silicon; 0: decreases with the doping */
    double lifetime;       /* of electrons and holes, in s; 0: no recombination */
} device;

extern const device transistor, diode;

/* Create a mesh without Gmsh; finest: distance of nodes at the junctions, in um.   Collective. */
tutti_mesh *transistor_bricks(MPI_Comm comm, double finest);
tutti_mesh *diode_bricks(MPI_Comm comm, double finest);

/* ---- brick.c: a box cut into bricks by planes, and these into tetrahedra */
#define MOST_LINES 200

typedef struct patch { /* a named part of the surface */
    const char *name;
    double low[3], high[3];
} patch;

typedef struct brick {
    int n[3];                   /* number of planes perpendicular to x, y and z */
    double line[3][MOST_LINES]; /* positions of the planes */
    int patches;                /* at most CONTACTS */
    const patch *patch;
    void (*move)(double at[3]); /* changes the position of a node; may be NULL */
} brick;

tutti_mesh *brick_mesh(MPI_Comm comm, const brick *b);

/* ---- domain.c: this rank's part of the mesh
 *
 * A rank owns some nodes and has copies of all their neighbours.  Own nodes come first, i < own,
 * then copies, own <= i < held.  The domain contains every tetrahedron with an own node, so that
 * the matrix row of an own node can be assembled without communication.  The neighbours of own node
 * i are to[start[i]] ... to[start[i + 1] - 1], ascending. */
typedef struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int own, held;
    int64_t nodes;         /* number of nodes of the whole mesh */
    const int64_t *number; /* [held] number of the node in the mesh, and position in files */
    const double (*at)[3]; /* [held] coordinates, in um */
    int cells;
    int (*cell)[4];          /* [cells] tetrahedra with an own node */
    unsigned char *cell_own; /* [cells] 1: owned by this rank; every cell has one owner */
    int *start, *to;         /* neighbours, see above */
    double *box;             /* for each entry of `to`: area of the common face / distance */
    double *volume;          /* [own] control volume of the node */
    int64_t edges, obtuse;   /* number of edges on all ranks, and of those with a negative area */
    tutti_mesh *mesh;
    tutti_mesh_part *part;
    tutti_mesh_part_view view;
} domain;

/* Distribute a mesh to the ranks; takes ownership of the mesh.   Collective. */
domain *domain_make(MPI_Comm comm, tutti_mesh **mesh);
void domain_free(domain *d);

/* Set v[i] = value for the nodes of the named surface.  All own nodes of the surface are set, but
 * copies only if one of their triangles is on this rank.   Not collective. */
void domain_surface(const domain *d, const char *name, int value, double *v);

/* Update copies from their owners, `width` doubles per node.   Collective. */
void domain_refresh(const domain *d, int width, double *v);

double domain_sum(const domain *d, double mine);
double domain_max(const domain *d, double mine);

/* Allocate zeroed memory, or end the program. */
void *room(int64_t n, size_t size);
/* End the program with the library's message if `err` is an error. */
void must(tutti_err err);
/* End the program on all ranks; rank 0 prints the reason.   Collective. */
void give_up(const domain *d, const char *why, const char *name);

/* ---- linear.c: sparse matrices over own nodes and their neighbours, and solvers */
typedef struct matrix {
    const domain *d;
    double *diagonal;   /* [own] */
    double *off;        /* off-diagonal entries, in the order of d->to */
    double *lu, *pivot; /* factors of the block of own nodes */
    double *work;       /* work space of the solvers */
} matrix;

matrix *matrix_make(const domain *d);
void matrix_free(matrix *a);

/* Solve a x = b, starting with x = 0, until the norm of the residual is at most `relative` times
 * that of b.  x has `held` values.   Collective.   Returns the number of iterations. */
int solve_cg(matrix *a, const double *b, double *x, double relative);
int solve_bicgstab(matrix *a, const double *b, double *x, double relative);

/* ---- equations.c: the equations, in scaled variables; all arrays have [held] nodes */
typedef struct state {
    const domain *d;
    const device *device;
    double *doping;           /* donors minus acceptors */
    double *diffusion[2];     /* of electrons and of holes, in cm^2/s */
    signed char *contact;     /* contact of the node; -1: none */
    double volts[CONTACTS];   /* applied voltages, in V */
    double *psi, *carrier[2]; /* potential; densities of electrons and holes */
    matrix *a;
    double *residual, *update;
    int krylov; /* total number of iterations of the linear solvers */
} state;

enum { ELECTRONS, HOLES };

state *state_make(const domain *d, const device *device);
void state_free(state *s);

/* Apply voltages to the contacts.  Only the values at contacts change. */
void apply(state *s, const double volts[CONTACTS]);

/* Perform a Newton step of Poisson's equation, in which densities depend on the potential.  Returns
 * the largest change.   Collective. */
double poisson_step(state *s);

/* Solve the continuity equation of a carrier for its density.  Returns the largest relative
 * change.   Collective. */
double continuity_step(state *s, int carrier);

/* Compute the currents through the contacts into the device, in A.   Collective. */
void terminal_currents(const state *s, double ampere[CONTACTS]);

/* Compute the current density of a carrier at own node i, in A/cm^2. */
void current_density(const state *s, int carrier, int i, double out[3]);

/* ---- gummel.c: iterate to the stationary state at these voltages.  Returns the number of
 * iterations; -1: no convergence.   Collective. */
int gummel(state *s, const double volts[CONTACTS]);

/* ---- results.c: the results file; all functions are collective */
typedef struct results results;

results *results_create(const char *path, const domain *d);
/* Open an existing file and read the state of its last point. */
results *results_continue(const char *path, state *s);
/* Append the state as a point. */
void results_write(results *r, const state *s);
/* Describe in one line how a point is written. */
void results_describe(const results *r, char *text, size_t size);
void results_close(results *r);

/* ---- picture.c: the potential at y = 0, as SVG.   Collective. */
void picture_write(const char *path, const state *s);

#endif
