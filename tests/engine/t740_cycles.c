/* TEST ranks=1,2,3,5,8 timeout=240 */
/* The cyclic engine: steps 1 to 5 of Dickens and Thakur, fence and lock of Feki and Gabriel, each with every
 * pipeline, store, kind of domain and number of cycles, write the same file and read the same bytes, also
 * beyond the end of the file.  Runs combinations in which every pair of values occurs; t741 runs the
 * product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/ways.h"

int main(int argc, char **argv) {
    return matrix_pairs(argc, argv);
}
