/* TEST ranks=1,3 timeout=60 */
/* Values that do not fit into the type in the file: blocking and nonblocking puts and gets report rank, variable,
 * position and value on all ranks; with the option ieee such values become infinities.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "dataset/datasets.h"

enum { ENTRIES = 60, PARTS = 3, NUMBERS = 3 };

static char path[512];
static tutti_dataset *d;
static tutti_decomposition *local_part;
static tutti_count lo, hi;
static double v[PARTS][ENTRIES * NUMBERS];
static const char *const name[PARTS] = {"flux", "speed", "rough"};

static void open_file(int ieee) {
    tutti_dataset_options opt = visible();
    opt.ieee = ieee;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                  &d),
               TUTTI_OK);
    tutti_variable_spec s = {.space = "grid", .type = TUTTI_FLOAT32};
    CHECK_SAME(tutti_dataset_grid(d, "grid", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(d, name[0], &s), TUTTI_OK);
    s.item = TUTTI_VECTOR;
    s.components = NUMBERS;
    s.order = TUTTI_BIG_ENDIAN;
    CHECK_SAME(tutti_dataset_variable(d, name[1], &s), TUTTI_OK);
    s.item = TUTTI_SCALAR;
    s.components = 0;
    s.type = TUTTI_INT16;
    s.layout = TUTTI_RANKED;
    CHECK_SAME(tutti_dataset_variable(d, name[2], &s), TUTTI_OK);
    lo = ENTRIES * rank / ranks;
    hi = ENTRIES * (rank + 1) / ranks;
    const tutti_decomposition_spec part_spec = {.kind = TUTTI_BY_RANK_ORDER, .n = hi - lo};
    CHECK_SAME(tutti_decomposition_create(d, "grid", &part_spec, &local_part), TUTTI_OK);
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < ENTRIES * NUMBERS; k++) v[i][k] = k % 50;
}

static void test_closed(void) {
    tutti_decomposition_free(&local_part);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static tutti_err put_all(int starts) {
    tutti_request *r = NULL;
    tutti_put p[PARTS];
    for (int i = 0; i < PARTS; i++) p[i] = (tutti_put){name[i], local_part, TUTTI_FLOAT64, v[i]};
    if (!starts) return tutti_dataset_put(d, PARTS, p);
    const tutti_err err = tutti_dataset_put_start(d, PARTS, p, &r);
    return err == TUTTI_OK ? tutti_request_wait(&r, NULL) : err;
}

/* Let the last rank write `bad` to an entry of variable `part`; the error message must contain rank, variable,
 * position and value. */
static void check_message(int part, tutti_count entry, int number, double bad, const char *text) {
    const int numbers = part == 1 ? NUMBERS : 1;
    char who[32];
    snprintf(who, sizeof who, "rank %d", ranks - 1);
    for (int starts = 0; starts < 2; starts++) {
        double *at = &v[part][(entry - lo) * numbers + number], keep = 0;
        if (rank == ranks - 1) {
            keep = *at;
            *at = bad;
        }
        CHECK_SAME(put_all(starts), TUTTI_ERR_VALUE);
        const char *m = tutti_last_message();
        CHECK(strstr(m, text) && strstr(m, who), "'%s' says neither '%s' nor '%s'", m, text, who);
        CHECK_EQ(tutti_last_error()->rank, ranks - 1);
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
        if (rank == ranks - 1) *at = keep;
    }
}

static void test_refused(void) {
    char text[128];
    open_file(0);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    check_message(0, ENTRIES - 2, 0, -1e300,
                  "variable 'flux', entry 58: -1.0000000000000001e+300 does not");
    check_message(1, ENTRIES - 1, 2, 7e99,
                  "variable 'speed', entry 59, component 2: 6.9999999999999995e+99 does not fit");
    snprintf(text, sizeof text, "variable 'rough', element %d: 40000 does not fit int16",
             ENTRIES - 3 - ENTRIES * (ranks - 1) / ranks);
    check_message(2, ENTRIES - 3, 0, 40000, text);
    CHECK_SAME(put_all(0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    int8_t small[ENTRIES * NUMBERS];
    v[0][0] = 1000;
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 1, 0), TUTTI_OK);
    CHECK_SAME(put_all(0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"flux", local_part, TUTTI_INT8, small}),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_get(d, 1, 1, &(tutti_get){"flux", local_part, TUTTI_INT8, small}),
               TUTTI_ERR_VALUE);
    CHECK(strstr(tutti_last_message(), "variable 'flux', entry 0: 1000"), "%s",
          tutti_last_message());
    test_closed();
}

static void test_infinite(void) {
    float got[ENTRIES * NUMBERS];
    open_file(1);
    v[0][1] = -1e300;
    v[1][4] = 1e39;
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 0, 0), TUTTI_OK);
    CHECK_SAME(put_all(0), TUTTI_OK);
    v[2][0] = 1e300; /* an integer type has no infinity */
    CHECK_SAME(put_all(0), TUTTI_ERR_VALUE);
    v[2][0] = 0;
    CHECK_SAME(put_all(1), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"flux", local_part, TUTTI_FLOAT32, got}),
               TUTTI_OK);
    CHECK(isinf(got[1]) && got[1] < 0 && got[0] == 0, "%g, %g", (double)got[0], (double)got[1]);
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"speed", local_part, TUTTI_FLOAT32, got}),
               TUTTI_OK);
    CHECK(isinf(got[4]) && got[4] > 0 && got[3] == 3, "%g, %g", (double)got[3], (double)got[4]);
    test_closed();
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1274);
    snprintf(path, sizeof path, "%s/t1274", check_dir());
    test_refused();
    test_infinite();
    dataset_remove(path);
    return harness_end();
}
