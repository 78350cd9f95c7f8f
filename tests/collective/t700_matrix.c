/* TEST ranks=1,2,3,5,8 timeout=240 */
/* Every method, exchange, node division, store, kind of domain, number of cycles: the same file, byte
 * for byte, and the same bytes read back.  A choice of combinations in which every pair of values
 * occurs; t701 runs the product.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/matrix.h"

int main(int argc, char **argv) {
    char path[512];
    int choice[AXES];
    (void)matrix_start(&argc, &argv, path, sizeof path);
    pairs *p = pairs_make(axes, AXES);
    while (pairs_next(p, choice) && matrix_run(choice, path))
        ;
    pairs_free(p);
    return matrix_end();
}
