/* simulated: counts of MPI calls of this rank, by simulated/smpi.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATED_SMPI_COUNT_H
#define SIMULATED_SMPI_COUNT_H

#include <stdint.h>

typedef struct smpi_count {
    int64_t messages, bytes;  /* point-to-point messages sent, and their bytes */
    int64_t collectives;      /* calls of collective MPI functions */
    int64_t collective_bytes; /* bytes of their send and receive buffers */
} smpi_count;

/* Return the counts since the program began.  Not collective. */
smpi_count smpi_counted(void);

#endif
