/* Equality of values: the rule of all diff commands.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <math.h>

int cli_numbers_differ(const long double a[2], const long double b[2], const double limit[2],
                       long double difference_out[2]) {
    long double apart[2] = {0, 0}, x[2] = {0, 0}, y[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) {
            if (isfinite(a[i])) x[i] = y[i] = a[i];
            continue;
        }
        if (!isfinite(a[i]) || !isfinite(b[i])) {
            difference_out[0] = difference_out[1] = (long double)INFINITY;
            return 1;
        }
        x[i] = a[i];
        y[i] = b[i];
        apart[i] = a[i] - b[i];
    }
    const long double by = hypotl(apart[0], apart[1]);
    const long double size = fmaxl(hypotl(x[0], x[1]), hypotl(y[0], y[1]));
    if (by == 0 || by <= (long double)limit[0] + (long double)limit[1] * size) return 0;
    difference_out[0] = by;
    difference_out[1] = by / size; /* size > 0: two finite values that differ are not both 0 */
    return 1;
}
