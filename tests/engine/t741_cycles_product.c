/* TEST ranks=1,2,3,5,8 timeout=1800 tier=full */
/* The full product of exchanges, pipelines, stores and window sizes; the other choices are random.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/ways.h"

int main(int argc, char **argv) {
    static const char *const names[] = {"way", "pipeline", "store", "window_size"};
    return matrix_product(argc, argv, names, sizeof names / sizeof names[0]);
}
