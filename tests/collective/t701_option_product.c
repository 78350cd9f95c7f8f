/* TEST ranks=1,2,3,5,8 timeout=1800 tier=full */
/* The full product of method, exchange, store, kind of domain and number of cycles; the other choices are random.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/matrix.h"

int main(int argc, char **argv) {
    static const char *const names[] = {"method", "exchange", "store", "domains", "cb_buffer_size"};
    return matrix_product(argc, argv, names, sizeof names / sizeof names[0]);
}
