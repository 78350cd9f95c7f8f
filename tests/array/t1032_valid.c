/* TEST ranks=1,3 timeout=60 */
/* The validity predicate of the array object fails if any relation between fields is damaged, and
 * holds for undamaged arrays in both placements.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <stdlib.h>

#include "check.h"

#define DAMAGED(change)                             \
    do {                                            \
        struct tutti_array d = *a;                  \
        d.change;                                   \
        CHECK(!tutti__array_is_valid(&d), #change); \
    } while (0)

static void damage_any(const tutti_array *a) {
    static const tutti__class other = {"other", "other", "closed"};
    CHECK(tutti__array_is_valid(a));
    DAMAGED(handle.class = &other);
    DAMAGED(file = NULL);
    DAMAGED(team = NULL);
    DAMAGED(path = NULL);
    DAMAGED(mode = 0);
    DAMAGED(mode |= TUTTI_CREATE);
    DAMAGED(spec.ndims = 0);
    DAMAGED(spec.ndims++);
    DAMAGED(local.type = TUTTI_INT8);
    DAMAGED(local.order = TUTTI_COL_MAJOR);
    DAMAGED(local.element_size = 1);
    DAMAGED(local.offset = -1);
    DAMAGED(local.shape[0]++);
    DAMAGED(spec.shape[1]--);
    DAMAGED(bytes += 8);
    DAMAGED(iterations = -1);
}

static void damage_global(const tutti_array *a) {
    damage_any(a);
    DAMAGED(head = a->file);
    DAMAGED(raw = 1); /* raw arrays have no header */
    DAMAGED(spec.offset++);
}

static void damage_local(const tutti_array *a) {
    tutti_distribution other = *a->dist;
    damage_any(a);
    DAMAGED(head = NULL);
    DAMAGED(dist = NULL);
    DAMAGED(raw = 1);
    DAMAGED(part = 1);
    other.ranks++;
    DAMAGED(dist = &other);
    other = *a->dist;
    other.shape[0]++;
    DAMAGED(dist = &other);
    other = *a->dist;
    other.ndims--;
    DAMAGED(dist = &other);
}

int main(int argc, char **argv) {
    int ranks;
    char path[4096];
    tutti_array *a = NULL;
    tutti_distribution *d = NULL;
    const tutti_array_spec spec = {.type = TUTTI_FLOAT64, .ndims = 2, .shape = {6, 4}};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/valid.tta", getenv("TUTTI_TEST_DIR"));
    CHECK(tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a) == TUTTI_OK);
    damage_global(a);
    CHECK(tutti_array_close(&a) == TUTTI_OK);
    const tutti_dist_dim dims[] = {{.kind = TUTTI_DIST_BLOCK, .procs = ranks},
                                   {.kind = TUTTI_DIST_NONE}};
    CHECK(tutti_distribution_make(2, spec.shape, dims, &d) == TUTTI_OK);
    CHECK(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, d, NULL, &a) == TUTTI_OK);
    damage_local(a);
    CHECK(tutti_array_close(&a) == TUTTI_OK);
    tutti_distribution_free(&d);
    MPI_Finalize();
    return check_done();
}
