/* TEST ranks=1,2,3,5,8 timeout=240 */
/* Every method, exchange, node division, store, kind of domain, number of cycles: the same file, byte
 * for byte, and the same bytes read back.  A choice of combinations in which every pair of values
 * occurs; t701 runs the product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/matrix.h"

int main(int argc, char **argv) {
    return matrix_pairs(argc, argv);
}
