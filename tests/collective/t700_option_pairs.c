/* TEST ranks=1,2,3,5,8 timeout=240 */
/* Every method, exchange, node division, store, kind of domain and number of cycles writes the same
 * file and reads the same bytes.  Runs combinations in which every pair of values occurs; t701 runs
 * the product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/matrix.h"

int main(int argc, char **argv) {
    return matrix_pairs(argc, argv);
}
