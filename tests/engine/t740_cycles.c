/* TEST ranks=1,2,3,5,8 timeout=240 */
/* The cyclic engine: Dickens and Thakur's steps 1 to 5, Feki and Gabriel's fence and lock, each under every
 * pipeline, store, kind of domain and number of cycles: the same file, byte for byte, and the same
 * bytes read back, also past the end of the file.  Combinations in which every pair of values occurs; t741
 * runs the product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/ways.h"

int main(int argc, char **argv) {
    return matrix_pairs(argc, argv);
}
