/* The compute phase of an experiment: a given number of floating-point multiplications.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_COMPUTE_H
#define TUTTI_CLI_COMPUTE_H

#include "common/cli.h"

/* Perform this many multiplications.  @return the time in seconds */
double compute_phase(double multiplications);

/* Return the number of multiplications that take `seconds` if all ranks compute at the same time.
 * Collective. */
double compute_calibrate(const cli_world *w, double seconds);

#endif
