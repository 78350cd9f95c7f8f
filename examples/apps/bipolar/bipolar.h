/* A bipolar transistor in the stationary state, in three dimensions, on any number of processes.
 *
 * Read in this order: device.c (what is simulated), domain.c (this rank's part of the mesh),
 * equations.c (what is solved), linear.c (how), gummel.c (the iteration), results.c (the file),
 * picture.c; main.c ties them together.
 *
 * Everything inside is scaled: lengths in micrometres, potentials in kT/q, densities in n_i,
 * diffusion constants in cm^2/s.  The units below lead back to volts, amperes and cm^-3.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BIPOLAR_H
#define BIPOLAR_H

#include <stdint.h>
#include <tutti/tutti.h>

/* ---- silicon at 300 K */
#define UNIT_CHARGE 1.602177e-19                                   /* q, C */
#define UNIT_VOLT 0.0258520                                        /* kT/q, V */
#define UNIT_DENSITY 1.0e10                                        /* n_i, cm^-3 */
#define UNIT_LENGTH 1.0e-4                                         /* 1 um in cm */
#define UNIT_TIME (UNIT_LENGTH * UNIT_LENGTH)                      /* s, with D in cm^2/s */
#define UNIT_AMPERE (UNIT_CHARGE * UNIT_DENSITY * UNIT_LENGTH)     /* A, of a current */
#define UNIT_AMPERE_CM2 (UNIT_CHARGE * UNIT_DENSITY / UNIT_LENGTH) /* A/cm^2, of its density */
#define PERMITTIVITY (11.7 * 8.854188e-14)                         /* F/cm */
/* Poisson's equation is DEBYE * laplace(psi) = n - p - doping: the square of the intrinsic Debye
 * length, um^2 */
#define DEBYE (PERMITTIVITY * UNIT_VOLT / (UNIT_CHARGE * UNIT_DENSITY * UNIT_LENGTH * UNIT_LENGTH))

#define CONTACTS 4 /* at most */

/* ---- device.c: geometry and physics of what is simulated */
typedef struct device {
    const char *name;
    int contacts;
    const char *contact[CONTACTS]; /* names of surfaces of the mesh */
    void (*doping)(const double at[3], double *donors, double *acceptors); /* cm^-3 */
    int constant_mobility; /* 1: that of pure silicon; 0: it falls with the doping */
    double lifetime;       /* of electrons and holes, s; 0: nothing recombines */
} device;

extern const device transistor, diode;

/* Meshes for them without Gmsh, `finest` um apart at the junctions.   Collective. */
tutti_mesh *transistor_bricks(MPI_Comm comm, double finest);
tutti_mesh *diode_bricks(MPI_Comm comm, double finest);

/* ---- brick.c: a box cut into bricks by planes, and these into tetrahedra */
#define MOST_LINES 200

typedef struct patch { /* a piece of the surface that has a name */
    const char *name;
    double low[3], high[3];
} patch;

typedef struct brick {
    int n[3];                   /* planes across x, y and z */
    double line[3][MOST_LINES]; /* where */
    int patches;                /* at most CONTACTS */
    const patch *patch;
    void (*move)(double at[3]); /* NULL, or puts a node elsewhere */
} brick;

tutti_mesh *brick_mesh(MPI_Comm comm, const brick *b);

/* ---- domain.c: this rank's part of the mesh
 *
 * A rank owns some nodes and holds copies of all their neighbours.  Own nodes come first,
 * i < own, then copies, own <= i < held.  Every tetrahedron that touches an own node is here, so
 * that the row of an own node can be summed up without asking anybody.  The neighbours of own
 * node i are to[start[i]] ... to[start[i + 1] - 1], ascending. */
typedef struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int own, held;
    int64_t nodes;         /* of the whole mesh */
    const int64_t *number; /* [held] a node's number in the mesh: its place in files */
    const double (*at)[3]; /* [held] where it is, um */
    int cells;
    int (*cell)[4];          /* tetrahedra that touch an own node */
    unsigned char *cell_own; /* 1: this rank's; each is one rank's */
    int *start, *to;         /* neighbours, see above */
    double *box;             /* beside `to`: area of the face in between, over the distance */
    double *volume;          /* [own] the control volume of the node */
    int64_t edges, obtuse;   /* pairs of neighbours, all ranks; those with a negative area */
    tutti_mesh *mesh;
    tutti_mesh_part *part;
    tutti_mesh_part_view view;
} domain;

/* Divide a mesh among the ranks; takes the mesh over.   Collective. */
domain *domain_make(MPI_Comm comm, tutti_mesh **mesh);
void domain_free(domain *d);

/* Set v[i] = value at the nodes of the surface of that name, as far as this rank knows: at own
 * nodes always. */
void domain_surface(const domain *d, const char *name, int value, double *v);

/* Copies get the values of their owners: `width` doubles per node.   Collective. */
void domain_refresh(const domain *d, int width, double *v);

double domain_sum(const domain *d, double mine);
double domain_max(const domain *d, double mine);

/* Memory or the end. */
void *room(int64_t n, size_t size);
/* Success or the end, with the library's message. */
void must(tutti_err err);
/* The end, on all ranks: rank 0 says why.   Collective. */
void give_up(const domain *d, const char *why, const char *name);

/* ---- linear.c: sparse matrices over own nodes and their neighbours, and solvers */
typedef struct matrix {
    const domain *d;
    double *diagonal;   /* [own] */
    double *off;        /* beside d->to */
    double *lu, *pivot; /* the factors of the block of own nodes */
    double *work;       /* what the solvers need */
} matrix;

matrix *matrix_make(const domain *d);
void matrix_free(matrix *a);

/* Solve a x = b, from x = 0, until the norm of the residual is `relative` of b's.  x has room
 * for all held nodes. Collective.   Returns the number of iterations. */
int solve_cg(matrix *a, const double *b, double *x, double relative);
int solve_bicgstab(matrix *a, const double *b, double *x, double relative);

/* ---- equations.c: what is solved, in scaled variables; all arrays have [held] nodes */
typedef struct state {
    const domain *d;
    const device *device;
    double *doping;           /* donors less acceptors */
    double *diffusion[2];     /* of electrons and of holes, cm^2/s */
    signed char *contact;     /* at this node, -1: none */
    double volts[CONTACTS];   /* applied, in volts */
    double *psi, *carrier[2]; /* potential; electrons and holes */
    matrix *a;
    double *residual, *update;
    int krylov; /* iterations of the linear solvers so far */
} state;

enum { ELECTRONS, HOLES };

state *state_make(const domain *d, const device *device);
void state_free(state *s);

/* Put these voltages on the contacts: the values there follow, all others stay. */
void apply(state *s, const double volts[CONTACTS]);

/* One Newton step of Poisson's equation, densities following the potential; returns the largest
 * change.   Collective. */
double poisson_step(state *s);

/* Solve the continuity equation of a carrier for its density; returns the largest relative
 * change.   Collective. */
double continuity_step(state *s, int carrier);

/* Currents through the contacts into the device, A.   Collective. */
void terminal_currents(const state *s, double ampere[CONTACTS]);

/* The vector of a carrier's current density at own node i, A/cm^2. */
void current_density(const state *s, int carrier, int i, double out[3]);

/* ---- gummel.c: to the stationary state at these voltages; returns the number of turns, -1:
 * none was found.   Collective. */
int gummel(state *s, const double volts[CONTACTS]);

/* ---- results.c: the file of results; all of these are collective */
typedef struct results results;

results *results_create(const char *path, const domain *d);
/* Continue an existing file: read the state of its last point. */
results *results_continue(const char *path, state *s);
/* Append the state as one more point. */
void results_write(results *r, const state *s);
/* A line on how it is written. */
void results_describe(const results *r, char *text, size_t size);
void results_close(results *r);

/* ---- picture.c: the potential at y = 0, as SVG.   Collective. */
void picture_write(const char *path, const state *s);

#endif
