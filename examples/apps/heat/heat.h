/* Transient heat in a rod of two materials: what its files have in common.
 *
 * To be read in this order: bricks.c makes the mesh, hexahedra and tetrahedra; results.c writes it into an
 * Exodus file, hands it out again to any number of ranks, and writes and reads the steps; domain.c is
 * what a rank has of it, and who has copies; elements.c integrates over an element; solve.c assembles,
 * steps through time, and sums so that nothing depends on the number of ranks; main.c.
 *
 * The rod lies between x = 0 and x = 2, with a square of side 1 across:
 *
 *     c u_t = div(k grad u)      block 1, hexahedra, x < 1: k = 1, c = 1;   block 2, tetrahedra: k = 4, c = 1/4
 *     u = 300                    node set 10, the face x = 0
 *     k du/dn = 100              side set 20, the face x = 2;    elsewhere 0
 *
 * has, since k c is the same in both, the solution of exact() below.  The other case, the spot, is heated
 * through a round place of its upper face, above both materials; its flux falls off to the rim as the distribution factors say.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef HEAT_H
#define HEAT_H

#include <mpi.h>
#include <tutti/exodus.h>

enum { HEXES = 1, TETS = 2, COLD = 10, HEATED = 20 }; /* ids of blocks and sets */

typedef struct settings {
    int cells;    /* along one unit of length */
    int spot;     /* 0: the rod that has an exact solution */
    double dt;    /* between steps of time */
    int every;    /* number of steps from one written step to the next */
    int straight; /* 1: cells are not bent; for tests */
} settings;

/** @name Bricks */
/**@{*/
/** This rank's part of the mesh, for tutti_exodus_put_mesh; pieces of equal size, by element. */
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
    int place; /* in its block, as it was read */
    int node[8];
} element;

typedef struct side {
    int element; /* in the domain's list */
    int number;  /* Exodus', from 1 */
    double factor[4];
} side;

typedef struct domain {
    MPI_Comm comm;
    int rank, ranks;
    int nodes;             /* held, copies included */
    int64_t *id;           /* [nodes] */
    double (*at)[3];       /* [nodes] */
    unsigned char *own;    /* [nodes] 1: this rank computes it */
    unsigned char *cold;   /* [nodes] 1: its temperature is given */
    int elements;          /* in ascending order of their ids */
    element *element;      /* all that have a node of this rank's, at least */
    int in_block[2];       /* elements held of each block */
    int sides, set_sides;  /* heated ones; members of the set as they were read */
    side *side;            /* in ascending order of element and number */
    tutti_count all_nodes; /* of all ranks */
    /* Nodes to send to and to receive from each rank: [ranks + 1] offsets into the lists. */
    int *give_start, *give, *take_start, *take;
    double *given, *taken;
} domain;

/** All elements of the mesh must be there that have a node of this rank's own elements.
 *  @param[in] own  how many of each block are its own, the first ones */
domain *domain_make(MPI_Comm comm, const tutti_exodus_mesh *m, const tutti_count own[2]);
void domain_free(domain *d);
/** Copies get the values of those who compute them. */
void domain_exchange(const domain *d, double *values);
/** The sum over all ranks, the same whatever rank has which of them. */
double domain_sum(const domain *d, int n, const double *values);
/**@}*/

/** @name Elements */
/**@{*/
extern const double conductivity[2], capacity[2]; /* of the two blocks */
/** Integrals over an element, of products of its shape functions and of their gradients: [8][8], corner by corner. */
void element_matrices(const domain *d, const element *e, double mass[8][8], double stiff[8][8]);
/** The heat flux at the centre of an element, -k grad u. */
void element_flux(const domain *d, const element *e, const double *u, double flux_out[3]);
/** Integrals of the shape functions of a side's corners, each weighted by the factors: how many corners.
 *  @param[out] node_out, load_out  [4] */
int side_load(const domain *d, const side *s, int node_out[4], double load_out[4]);
double element_volume(const domain *d, const element *e);
/**@}*/

/** @name Solution */
/**@{*/
typedef struct problem problem;
problem *problem_make(const domain *d, const settings *s);
void problem_free(problem *p);
/** One step of time; copies in u are up to date, before and after.   @return steps of conjugate gradients */
int problem_step(problem *p, double *u);
/** The integral of c u: the energy in the rod. */
double problem_energy(const problem *p, const double *u);
/** How far u is from the exact solution of the rod, in the 2-norm. */
double problem_error(const problem *p, const double *u, double time);
double exact(const double at[3], double time);
/**@}*/

/** @name Results */
/**@{*/
typedef struct results results;
/** A new file with the mesh, without steps. */
void results_create(MPI_Comm comm, const char *path, const settings *s);
/** Open it, and deal its mesh out.   @param[out] s_out  as it was created with */
results *results_open(MPI_Comm comm, const char *path, tutti_exodus_partitioner by,
                      settings *s_out);
domain *results_domain(const results *r);
/** Steps in the file, and the last of them.   @return how many; 0: u_out is not touched */
int results_last(results *r, double *time_out, double *u_out);
void results_write(results *r, const problem *p, double time, double *u);
void results_close(results *r);
/**@}*/

/** Memory, or the end. */
void *room(int64_t n, size_t size);
/** A call that has to go well. */
void must(tutti_err err);
/** The end of all ranks, with a message. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
