/* TEST ranks=1,2,3,5,8 timeout=1800 tier=full */
/* The full product of exchanges, pipelines, stores and window sizes; the other choices are random.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/ways.h"

/* Is this axis part of the product? */
static int in_product(int axis) {
    static const char *const names[] = {"way", "pipeline", "store", "window_size"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(axes[axis].name, names[i]) == 0) return 1;
    return 0;
}

/* The next combination of the product; 0 after the last. */
static int product_next(int *choice) {
    for (int i = 0; i < AXES; i++) {
        if (!in_product(i)) continue;
        if (++choice[i] < axes[i].n) return 1;
        choice[i] = 0;
    }
    return 0;
}

int main(int argc, char **argv) {
    char path[512];
    int choice[AXES] = {0};
    (void)matrix_start(&argc, &argv, path, sizeof path);
    do {
        for (int i = 0; i < AXES; i++)
            if (!in_product(i)) choice[i] = (int)rnd(axes[i].n);
    } while (matrix_run(choice, path) && product_next(choice));
    return matrix_end();
}
