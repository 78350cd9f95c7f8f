/* TEST ranks=1,3,5 timeout=120 */
/* Random sequences of calls on a dataset, compared with a serial model (sequences.h).
 *
 * Argument: number of sequences (default: 2, full tier: 40).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/sequences.h"

int main(int argc, char **argv) {
    return sequences_run(argc, argv, 1283);
}
