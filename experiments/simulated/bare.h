/* A two-phase write as in ROMIO, without agreements and without files: compared with the calls of Tutti on
 * simulated machines.  The code was written for this purpose and is not from ROMIO.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_BARE_H
#define SIMULATED_BARE_H

#include <stdint.h>

/* The runs of bytes of this rank, ascending.  The runs of all ranks fill a file without gaps. */
typedef struct bare_runs {
    int n;
    const int64_t *offset;
    int64_t length; /* bytes of each run */
    int64_t file;   /* bytes of the file */
} bare_runs;

/* Exchange bounds as ROMIO does: every rank gets the first and last offset of all others (two MPI_Allgather). */
void bare_bounds(const bare_runs *runs);
/* How the data is exchanged: by a message to every aggregator that gets data, as in ROMIO, or by MPI_Alltoallv,
 * which also sends empty messages. */
typedef enum { BARE_MESSAGES, BARE_ALLTOALLV } bare_exchange;

/* Write: the counts of runs are exchanged by MPI_Alltoall, the runs by messages to their aggregators, then
 * the data.  Every rank is an aggregator; domains are equal parts of the file.  Collective. */
void bare_write(const bare_runs *runs, const char *data, bare_exchange exchange);

#endif
