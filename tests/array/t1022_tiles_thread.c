/* TEST ranks=3 timeout=120 own=1 */
/* The cases of t1021 with MPI_THREAD_MULTIPLE, where the option background may be `all`.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles_case.h"

int main(int argc, char **argv) {
    return walk_cases(&argc, &argv, MPI_THREAD_MULTIPLE, 24);
}
