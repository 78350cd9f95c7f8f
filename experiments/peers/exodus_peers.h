/* exodus_peers: common declarations of its files.
 *
 *   exodus_peers.c          the mesh, the limit, rounds
 *   exodus_peers_tutti.c    Tutti; node sets
 *   exodus_peers_netcdf.c   PnetCDF and parallel netCDF-4
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_PEERS_H
#define TUTTI_EXODUS_PEERS_H

#include <tutti/tutti.h>
#include "measure/standalone.h"

enum { MOST_VARIABLES = 16, SPACES = 3 /* nodes, two blocks */ };
extern int durable;
extern long edge, variables, steps; /* nodes along an edge; variables of nodes, and of each block */
extern char path[4096];

/* Positions of nodes, or of elements of a block, in the file. */
typedef struct space {
    tutti_count all;
    tutti_count n, *position;          /* local, ascending */
    tutti_count owned;                 /* of these, written by this rank */
    tutti_count *own;                  /* [owned] indices of local ones */
    tutti_count first;                 /* first position of this rank if they were contiguous */
    tutti_count *renumbered;           /* [n] and all positions then */
    tutti_count runs, *start, *length; /* of owned ones */
    double *put[MOST_VARIABLES], *got[MOST_VARIABLES]; /* [n] */
    double *packed[MOST_VARIABLES];                    /* [owned] */
} space;
extern space at[SPACES];

tutti_count corner_of(tutti_count e, int c); /* node of a corner of an element */
void remove_file(void);                      /* and its auxiliary files.  Collective */
void must_tutti(tutti_err err);

/* One variant to write a step: `which` distinguishes variants of the same functions. */
typedef struct method {
    const char *name;
    int which;
    void (*open)(int which), (*write)(int which, int step), (*check)(int which),
        (*close)(int which);
} method;

extern const method tutti_methods[2], netcdf_methods[]; /* the latter end with a NULL name */
void measure_sets(long n, int rounds);

#endif
