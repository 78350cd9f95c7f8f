/* TEST ranks=2,3 timeout=60 */
/* The validity predicate of the inspector fails if any relation between fields is damaged, and holds for
 * undamaged inspectors with items of equal and of different sizes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include "check.h"

enum { N = 4 };

#define DAMAGED(change)                                \
    do {                                               \
        struct tutti_replicas d = *r;                  \
        d.change;                                      \
        CHECK(!tutti__replicas_is_valid(&d), #change); \
    } while (0)

/* Damage one value in place, check the predicate, and restore the value. */
#define DAMAGED_VALUE(place, value)                  \
    do {                                             \
        const int64_t before = (place);              \
        (place) = (value);                           \
        CHECK(!tutti__replicas_is_valid(r), #place); \
        (place) = before;                            \
        CHECK(tutti__replicas_is_valid(r), #place);  \
    } while (0)

static void damage_bytes(tutti_replicas *r) {
    static const tutti__class other = {"other", "other", "freed"};
    CHECK(tutti__replicas_is_valid(r));
    DAMAGED(handle.class = &other);
    DAMAGED(team = NULL);
    DAMAGED(n = N - 1);
    DAMAGED(n = -1);
    DAMAGED(value_bytes = 0);
    DAMAGED(item_bytes += 8); /* contradicts the accesses */
    DAMAGED(missing = -2);
    DAMAGED(position = NULL);
    DAMAGED(writer = NULL);
    DAMAGED(copied = NULL);
    DAMAGED(writes = NULL);
    DAMAGED(reads = NULL);
    if (tutti_access_bytes(r->writes) < tutti_access_bytes(r->reads)) DAMAGED(reads = r->writes);
    DAMAGED(shares = NULL);
    DAMAGED(stats.ranks++);
    DAMAGED(directory.ranks--);
    DAMAGED(directory.n--);
    DAMAGED(shared.n = r->directory.m + 1);
    DAMAGED(end = 8);
    if (r->sizes) DAMAGED(memory = NULL);
    DAMAGED_VALUE(r->order[0], N);
    DAMAGED_VALUE(r->position[0], -8);
    DAMAGED_VALUE(r->writer[0], r->team->size);
    DAMAGED_VALUE(r->shares[r->team->rank].bytes, -1);
    if (r->sizes) DAMAGED_VALUE(r->sizes[0], -8);
}

int main(int argc, char **argv) {
    int rank;
    tutti_replicas *r = NULL;
    const tutti_count loads[N] = {1, 2, 3, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* consecutive ranks share an item; the numbers are not ascending */
    const int64_t numbers[N] = {3 * rank + 3, 3 * rank + 2, 3 * rank + 1, 3 * rank};
    tutti_replicas_spec spec = {.n = N, .numbers = numbers, .load = 1, .value_bytes = 8};
    CHECK(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r) == TUTTI_OK);
    damage_bytes(r);
    tutti_replicas_free(&r);
    spec.loads = loads;
    CHECK(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r) == TUTTI_OK);
    damage_bytes(r);
    tutti_replicas_free(&r);
    MPI_Finalize();
    return check_done();
}
