/* Transient heat conduction in a rod of two materials: common declarations.
 *
 * Read the files in this order: bricks.c creates the mesh of hexahedra and tetrahedra; results.c
 * writes it to an Exodus file, distributes it to any number of ranks, and writes and reads the
 * steps; domain.c has the part of a rank and the exchange of copies; elements.c integrates over
 * elements; solve.c assembles the matrices and integrates in time, with sums that do not depend on
 * the number of ranks; main.c.
 *
 * The rod extends from x = 0 to x = 2; its cross section is a square of side 1:
 *
 *     c u_t = div(k grad u)      k = 1, c = 1 for x < 1 (block 1, hexahedra)
 *                                k = 4, c = 1/4 for x > 1 (block 2, tetrahedra)
 *     u = 300                    on the face x = 0 (node set 10)
 *     k du/dn = 100              on the face x = 2 (side set 20), 0 on other faces
 *
 * Since k c is the same in both materials, exact() below is the solution.  In the other case
 * (`spot`), the rod is heated through a circle on its upper face, above both materials.  The
 * distribution factors of the side set are the flux, which decreases towards the boundary of the
 * circle.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>
#include <tutti/exodus.h>

enum { HEXES = 1, TETS = 2, COLD = 10, HEATED = 20 }; /* ids of blocks and sets */

typedef struct settings {
    int cells;    /* cells per unit of length */
    int spot;     /* 1: heated through a circle; 0: the case with an exact solution */
    double dt;    /* length of a time step */
    int every;    /* write every n-th step */
    int straight; /* 1: cells are not distorted; for tests */
} settings;

/** @name Bricks */
/**@{*/
/** The part of the mesh on this rank, for tutti_exodus_put_mesh; ranks have equal numbers of
 * elements. */
typedef struct bricks {
    tutti_exodus_mesh mesh;
    tutti_exodus_elements blocks[2];
    tutti_exodus_members cold, heated;
} bricks;
bricks *bricks_make(MPI_Comm comm, const settings *s);
void bricks_free(bricks *b);
/**@}*/

/** @name Domain: elements and nodes of a rank */
/**@{*/
typedef struct element {
    int64_t id;
    int block; /* 0: hexahedron, 1: tetrahedron */
    int place; /* index in its block, in the order of get_mesh */
    int node[8];
} element;

typedef struct side {
    int element; /* index in the list of the domain */
    int number;  /* number of the side in Exodus, from 1 */
    double factor[4];
} side;

typedef struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int nodes;             /* number of nodes, copies included */
    int64_t *id;           /* [nodes] */
    double (*at)[3];       /* [nodes] coordinates */
    unsigned char *own;    /* [nodes] 1: this rank computes the node */
    unsigned char *cold;   /* [nodes] 1: the temperature is prescribed */
    int elements;          /* number of elements, ghost elements included */
    element *element;      /* [elements] in ascending order of ids */
    int in_block[2];       /* number of elements of each block */
    int sides, set_sides;  /* heated sides; members of the set in the order of get_mesh */
    side *side;            /* [sides] in ascending order of element and number */
    tutti_count all_nodes; /* number of nodes of the mesh */
    /* nodes to send to and to receive from each rank; [ranks + 1] offsets of the lists */
    int *give_start, *give, *take_start, *take;
    double *given, *taken;
} domain;

/** Create the domain of this rank from its part of the mesh, which must contain all elements with a
 * node of this rank's own elements.
 *  @param[in] own  number of own elements of each block, which come first */
domain *domain_make(MPI_Comm comm, const tutti_exodus_mesh *m, const tutti_count own[2]);
void domain_free(domain *d);
/** Update copies from the ranks that compute the nodes. */
void domain_exchange(const domain *d, double *values);
/** Return the sum over all ranks, independent of the distribution of the values. */
double domain_sum(const domain *d, int n, const double *values);
/**@}*/

/** @name Elements */
/**@{*/
extern const double conductivity[2], capacity[2]; /* of each block */
/** Integrate the products of an element's shape functions (mass) and of their gradients (stiff). */
void element_matrices(const domain *d, const element *e, double mass[8][8], double stiff[8][8]);
/** Compute the heat flux -k grad u at the centre of an element. */
void element_flux(const domain *d, const element *e, const double *u, double flux_out[3]);
/** Integrate the shape functions of the corners of a side, weighted by the factors.
 *  @param[out] node_out, load_out  [4] node and integral of each corner
 *  @return the number of corners */
int side_load(const domain *d, const side *s, int node_out[4], double load_out[4]);
double element_volume(const domain *d, const element *e);
/**@}*/

/** @name Solution */
/**@{*/
typedef struct problem problem;
problem *problem_make(const domain *d, const settings *s);
void problem_free(problem *p);
/** Perform a time step.  Copies in u must be up to date, and are up to date afterwards.
 *  @return the number of iterations of conjugate gradients */
int problem_step(problem *p, double *u);
/** Return the energy in the rod: the integral of c u. */
double problem_energy(const problem *p, const double *u);
/** Return the 2-norm of the difference between u and the exact solution. */
double problem_error(const problem *p, const double *u, double time);
double exact(const double at[3], double time);
/**@}*/

/** @name Results */
/**@{*/
typedef struct results results;
/** Create a file with the mesh and without steps. */
void results_create(MPI_Comm comm, const char *path, const settings *s);
/** Open a file and distribute its mesh.
 *  @param[out] s_out  the settings with which the file was created */
results *results_open(MPI_Comm comm, const char *path, tutti_exodus_partitioner by,
                      settings *s_out);
domain *results_domain(const results *r);
/** Read the last step.
 *  @return the number of steps in the file; 0: u_out is unchanged */
int results_last(results *r, double *time_out, double *u_out);
void results_write(results *r, const problem *p, double time, double *u);
void results_close(results *r);
/**@}*/

/** Allocate zeroed memory, or end the program. */
void *room(int64_t n, size_t size);
/** End the program with the library's message if `err` is an error. */
void must(tutti_err err);
/** Print a message and end all ranks. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
