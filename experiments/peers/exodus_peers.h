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

enum { MOST_VARIABLES = 16, SPACES = 3 /* SPACES: nodes, two blocks */ };
extern int durable;
extern long edge, variables, steps; /* nodes along an edge; variables of nodes, and of each block */
extern char path[4096];

/* Entries of a space on this rank; the space is the nodes, or the elements of a block. */
typedef struct space {
    tutti_count all;
    tutti_count n, *position; /* [n] positions in the file, ascending */
    tutti_count owned;        /* number of entries that this rank writes */
    tutti_count *own;         /* [owned] indices of the owned entries */
    tutti_count first;        /* first position of this rank after renumbering */
    /* [n] positions after renumbering, in which the owned entries of each rank are contiguous */
    tutti_count *renumbered;
    tutti_count runs, *start, *length;                 /* [runs] runs of the owned entries */
    double *put[MOST_VARIABLES], *got[MOST_VARIABLES]; /* [n] values */
    double *packed[MOST_VARIABLES];                    /* [owned] values */
} space;
extern space at[SPACES];

tutti_count corner_of(tutti_count e, int c); /* node at corner c of element e */
void remove_file(void); /* remove the file and its auxiliary files; collective */
void must_tutti(tutti_err err);

/* A method of writing a step; which: argument of the functions, for methods that share them. */
typedef struct method {
    const char *name;
    int which;
    void (*open)(int which), (*write)(int which, int step), (*check)(int which),
        (*close)(int which);
} method;

extern const method tutti_methods[2], netcdf_methods[]; /* netcdf_methods ends with a NULL name */
void measure_sets(long n, int rounds);

#endif
