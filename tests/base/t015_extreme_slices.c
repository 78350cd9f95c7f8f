/* TEST ranks=0 timeout=60 */
/* Slices of NULL, of too many dimensions and of extreme bounds give the documented values.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/array.h>
#include "check.h"

int main(void) {
    tutti_count shape[TUTTI_MAX_DIMS + 1] = {3, 4}, out[2] = {7, 7};
    tutti_slice s = tutti_slice_all(2, NULL);
    CHECK_EQ(tutti_slice_count(2, &s, NULL), 0);
    s = tutti_slice_all(TUTTI_MAX_DIMS + 1, shape);
    CHECK_EQ(tutti_slice_count(1, &s, NULL), 0);
    CHECK_EQ(tutti_slice_count(2, NULL, NULL), -1);
    CHECK_EQ(tutti_slice_count(2, NULL, out), -1);
    CHECK_EQ(tutti_slice_count(-1, &s, out), -1);
    CHECK_EQ(tutti_slice_count(TUTTI_MAX_DIMS + 1, &s, NULL), -1);
    CHECK(out[0] == 7 && out[1] == 7);
    s = tutti_slice_all(2, shape);
    CHECK_EQ(tutti_slice_count(2, &s, out), 12);
    CHECK_EQ(tutti_slice_count(0, &s, NULL), 1);
    s.lo[0] = INT64_MIN;
    s.hi[0] = INT64_MAX;
    CHECK_EQ(tutti_slice_count(2, &s, NULL), INT64_MAX);
    s.stride[0] = INT64_MAX;
    CHECK(tutti_slice_count(1, &s, NULL) > 0);
    return check_done();
}
