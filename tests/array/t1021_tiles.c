/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Tile iterations against a serial reference, without threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tiles_case.h"

int main(int argc, char **argv) {
    return walk_cases(&argc, &argv, MPI_THREAD_SINGLE, 36);
}
