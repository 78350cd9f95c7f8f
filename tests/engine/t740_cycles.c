/* TEST ranks=1,2,3,5,8 timeout=240 */
/* The cyclic engine: every exchange (steps 1 to 5 of Dickens and Thakur, fence and lock of Feki and
 * Gabriel), pipeline, store, kind of domain and number of cycles writes the same file and reads the
 * same bytes, also beyond the end of the file.  Runs combinations in which every pair of values
 * occurs; t741 runs the product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/ways.h"

int main(int argc, char **argv) {
    return matrix_pairs(argc, argv);
}
