/* A two-phase write and read as ROMIO does it, without agreements and without files: the comparison for the calls of
 * Tutti on simulated machines.  Written for it; no code of ROMIO.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_BARE_H
#define SIMULATED_BARE_H

#include <stdint.h>

/* The runs of bytes of this rank, ascending, in a file that the ranks divide without gaps. */
typedef struct bare_runs {
    int n;
    const int64_t *offset;
    int64_t length; /* of each */
    int64_t file;   /* bytes of all ranks */
} bare_runs;

/* ROMIO's description of a request: every rank gets the first and last offset of all others (two MPI_Allgather). */
void bare_bounds(const bare_runs *runs);
/* The counts of runs by MPI_Alltoall, the runs by messages to their aggregators, the data by MPI_Alltoallv.  Every rank
 * is an aggregator; domains are equal parts of the file.   Collective. */
void bare_write(const bare_runs *runs, const char *data);

#endif
