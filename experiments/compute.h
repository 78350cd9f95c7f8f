/* The compute phase of an experiment: so many floating-point multiplications.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_COMPUTE_H
#define TUTTI_CLI_COMPUTE_H

#include "common/cli.h"

/* Multiply that often. @return seconds it took */
double compute_phase(double multiplications);

/* How many multiplications take `seconds` if all ranks do them at once.  Collective. */
double compute_calibrate(const cli_world *w, double seconds);

#endif
