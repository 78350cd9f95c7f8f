/* The compute phase: a chain of floating-point multiplications, each of which depends on the previous one,
 * so that the compiler cannot remove them; memory is not accessed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/compute.h"

double compute_phase(double multiplications) {
    static volatile double sink = 1.5;
    const double start = cli_now(), up = 1.25, down = 0.8;
    double value = sink;
    for (int64_t i = (int64_t)multiplications / 2; i > 0; i--) {
        value *= up;
        value *= down;
    }
    sink = value;
    return cli_now() - start;
}

double compute_calibrate(const cli_world *w, double seconds) {
    double n = 1 << 20, took = 0;
    for (;; n *= 2) {
        cli_barrier(w);
        MPI_Barrier(w->comm);
        took = cli_max(w, compute_phase(n));
        if (took > 0.05 || n > 1e12) break;
    }
    return n * seconds / took;
}
