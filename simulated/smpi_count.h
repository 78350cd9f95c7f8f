/* simulated: what the calls of MPI in simulated/smpi.c have counted on this rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_SMPI_COUNT_H
#define SIMULATED_SMPI_COUNT_H

#include <stdint.h>

typedef struct smpi_count {
    int64_t messages, bytes;  /* sent from rank to rank */
    int64_t collectives;      /* calls that take part in a collective operation of MPI */
    int64_t collective_bytes; /* that this rank contributes to them and receives from them */
} smpi_count;

/* Since the program began.   Not collective. */
smpi_count smpi_counted(void);

#endif
