/* decomposition: division of the points of all ranks into parts of about the same weight, on plain
 * arrays.
 *
 *   curve         points in the order of Hilbert's curve, by all ranks
 *   rcb           recursive coordinate bisection, on one rank
 *   graph_metis   METIS, on one rank
 *   rcm           reverse Cuthill-McKee numbering, on one rank
 *   partition     the parts of the points of all ranks
 *
 * Points are numbered 0 ... all - 1 and distributed in shares (shares.h).  The parts depend only on
 * the points and their order, not on the number of ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PARTITION_H
#define TUTTI_PARTITION_H

#include "decomposition/shares.h"

/* The points of this rank's share. */
typedef struct tutti__points {
    tutti_count all, first, n;
    const double *coordinates; /* [3 n] x y z, finite */
    /* [n] >= 0, sum over all ranks below 2^62; NULL: weights of this rank are 1 */
    const tutti_count *weight;
} tutti__points;

/* Neighbours of node i: to[start[i]] ... to[start[i + 1] - 1], ascending, without the node
 * itself. */
typedef struct tutti__graph {
    tutti_count nodes;
    tutti_count *start; /* [nodes + 1] index in `to` */
    tutti_count *to;
} tutti__graph;
static inline void tutti__graph_free(tutti__graph *g) {
    tutti__free(g->start);
    tutti__free(g->to);
    *g = (tutti__graph){.nodes = 0};
}

/* ---- curve.c */
typedef struct tutti__curve_point {
    uint64_t key;       /* position on the curve */
    tutti_count number; /* points with equal keys are ordered by number */
    int64_t weight;
} tutti__curve_point;
/* Return the position of cell x on Hilbert's curve through a grid of 2^bits cells along each of
 * `dims` axes.   Not collective. */
uint64_t tutti__hilbert(int dims, int bits, const uint32_t *x);
/* Sort all points in the order of the curve: ranks get consecutive pieces of the curve, in rank
 * order.  The caller frees *out with tutti__free.   Collective. */
tutti_err tutti__curve_sort(tutti__team *t, const tutti__points *p, tutti_count *n_out,
                            tutti__curve_point **out) TUTTI_MUST_USE;

/* ---- rcm.c */
/* Compute a reverse Cuthill-McKee numbering.   number_out[i]: the new number of node i.   Not
 * collective. */
tutti_err tutti__rcm(const tutti__graph *g, tutti_count *number_out) TUTTI_MUST_USE;

/* ---- graph_metis.c */
/* Return whether METIS is built in.   Not collective. */
int tutti__has_metis(void);
/* Return whether METIS is built in and suits the graph: with few nodes per part or very unequal
 * weights, METIS prints warnings or leaves parts empty.   Not collective. */
int tutti__metis_suits(const tutti__graph *g, const tutti_count *weight, int parts);
/* Partition by METIS; tutti__metis_suits must be true.  Fails with TUTTI_ERR_UNSUPPORTED without
 * METIS.   Not collective. */
tutti_err tutti__metis(const tutti__graph *g, const tutti_count *weight, int parts,
                       int *part_out) TUTTI_MUST_USE;

/* ---- partition.c; part_out: [n] parts of the points of this rank */
/* Gather the graph of `all` nodes on rank 0; other ranks get an empty graph.
 * Collective. */
tutti_err tutti__graph_gather(tutti__team *t, tutti_count all, const tutti__graph *g,
                              tutti__graph *out) TUTTI_MUST_USE;
/* Divide the points into consecutive pieces of Hilbert's curve.   Collective. */
tutti_err tutti__partition_by_curve(tutti__team *t, const tutti__points *p, int parts,
                                    int *part_out) TUTTI_MUST_USE;
/* Partition on rank 0 by METIS, or by recursive coordinate bisection if `g` is NULL, if METIS does
 * not suit, or if METIS leaves a part empty.   g: graph of this rank's points; NULL on all ranks or
 * on none.  *by_metis_out: METIS was used.   Collective. */
tutti_err tutti__partition_on_root(tutti__team *t, const tutti__points *p, const tutti__graph *g,
                                   int parts, int *part_out, int *by_metis_out) TUTTI_MUST_USE;

#endif
