/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Output buffers of infos and of notes of Exodus files: if the capacity is too small on one rank, all ranks return the
 * same error, and no buffer is written beyond its capacity.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>
#include "dataset/datasets.h"
#include "exodus/sample.h"

enum { LENGTH = 500 };
static char path[512], file[512];
static tutti_dataset *d;
static tutti_exodus *x;

static tutti_err info_get(tutti_type *type, tutti_count *n, void *to) {
    return tutti_dataset_info_get(d, NULL, "long", type, n, to);
}

static tutti_err note_get(tutti_type *type, tutti_count *n, void *to) {
    return tutti_exodus_note_get(x, "long", type, n, to);
}

/* Call `get`; rank `few` has a capacity of only `capacity` elements, all other ranks enough (few = -1: all ranks). */
static void check_get(tutti_err (*get)(tutti_type *, tutti_count *, void *), int few,
                      tutti_count capacity) {
    const tutti_count local = few == rank ? capacity : LENGTH;
    tutti_type type = TUTTI_INT8;
    tutti_count n = local;
    /* the size is exact: ASan detects overruns */
    double *to = malloc((size_t)local * sizeof *to + 1);
    for (tutti_count i = 0; i < local; i++) to[i] = -1;
    CHECK_SAME(get(&type, &n, to), few < 0 ? TUTTI_OK : TUTTI_ERR_ARG);
    for (tutti_count i = 0; i < local; i++)
        CHECK(to[i] == (few < 0 ? (double)i : -1), "element %d is %g", (int)i, to[i]);
    if (few < 0)
        CHECK(type == TUTTI_FLOAT64 && n == LENGTH, "%d of type %d", (int)n, (int)type);
    else
        CHECK_EQ(n, local);
    free(to);
    n = -5; /* the capacity is ignored without a buffer */
    CHECK_SAME(get(&type, &n, NULL), TUTTI_OK);
    CHECK_EQ(n, LENGTH);
}

int main(int argc, char **argv) {
    double values[LENGTH];
    const tutti_dataset_options opt = visible();
    tutti_exodus_options options;
    harness_begin(&argc, &argv, 1288);
    snprintf(path, sizeof path, "%s/t1288.tutti", check_dir());
    snprintf(file, sizeof file, "%s/t1288.e", check_dir());
    dataset_remove(path);
    for (int i = 0; i < LENGTH; i++) values[i] = i;
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_OK);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "long", TUTTI_FLOAT64, LENGTH, values), TUTTI_OK);
    tutti_exodus_options_init(&options);
    sample_write(MPI_COMM_WORLD, file, &options, 1);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, file, TUTTI_READ | TUTTI_WRITE, &options, &x),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_note_set(x, "long", TUTTI_FLOAT64, LENGTH, values), TUTTI_OK);
    for (int few = -1; few < ranks; few++)
        for (tutti_count capacity = 0; capacity < LENGTH; capacity += LENGTH - 1) {
            check_get(info_get, few, capacity);
            check_get(note_get, few, capacity);
        }
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    dataset_remove(path);
    if (rank == 0) (void)unlink(file);
    return harness_end();
}
