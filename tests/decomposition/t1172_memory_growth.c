/* TEST ranks=16 timeout=120 builds=openmpi,mpich */
/* Bytes received and allocated per rank and call at least halve the growth of the number of ranks: with
 * the same data per rank, four times as many ranks need at most twice as many bytes per rank.
 * TUTTI_TEST_SHOW=1 prints the bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"
#include "comm/collective_count.h"
#include "decomposition/splitters.h"

enum { EACH = 300, SHARED = 4 }; /* entries per rank; entries shared with the next rank */
enum { FEW_BYTES = 200 };        /* growth that is always permitted */

typedef struct {
    int64_t received, allocated;
} bytes;

static bytes bytes_now(void) {
    return (bytes){tutti__received_bytes(), tutti__memory_allocated()};
}

/* Return the maximum over the ranks of the team of bytes since `then`. */
static bytes most_since(bytes then) {
    const bytes now = bytes_now();
    int64_t v[2] = {now.received - then.received, now.allocated - then.allocated};
    MPI_Allreduce(MPI_IN_PLACE, v, 2, MPI_INT64_T, MPI_MAX, team->comm);
    return (bytes){v[0], v[1]};
}

static bytes measure_creation(const tutti__decomposed *space, const tutti_decomposition_spec *spec,
                              tutti_count written) {
    tutti_decomposition *p = NULL;
    tutti__decomposition_facts facts;
    const bytes then = bytes_now();
    CHECK_OK(make_decomposition(space, spec, &p));
    const bytes most = most_since(then);
    tutti__decomposition_facts_of(p, &facts);
    int64_t all = facts.written;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, team->comm);
    CHECK_EQ(all, written);
    CHECK(facts.whole, "whole");
    tutti_decomposition_free(&p);
    return most;
}

enum { SLICES, GHOSTS, INDICES, IDS, RANK_ORDER, CASES };
static const char *const names[CASES] = {"slices", "slices with ghost entries", "indices", "ids",
                                         "rank order"};

static void measure_calls(MPI_Comm comm, bytes *out) {
    tutti_count index[EACH + SHARED];
    int64_t ids[EACH + SHARED];
    CHECK_OK(tutti__team_take(comm, "single", &team));
    const tutti_count all = (tutti_count)EACH * team->size, lo = (tutti_count)EACH * team->rank;
    const tutti_count hi = tutti__min(lo + EACH + SHARED, all);
    id_map map = {.times = 7919, .plus = 11, .twice = -1, .negative = -1};
    const tutti__decomposed list = list_of(all, NULL), mapped = list_of(all, &map);
    for (tutti_count i = lo; i < hi; i++) {
        index[i - lo] = i;
        ids[i - lo] = id_at(&map, i);
    }
    tutti_decomposition_spec s = {.kind = TUTTI_BY_SLICE, .whole = 1};
    s.slice.lo[0] = lo;
    s.slice.hi[0] = lo + EACH;
    out[SLICES] = measure_creation(&list, &s, all);
    s.slice.hi[0] = hi;
    out[GHOSTS] = measure_creation(&list, &s, all);
    s = (tutti_decomposition_spec){
        .kind = TUTTI_BY_INDEX, .n = hi - lo, .index = index, .whole = 1};
    out[INDICES] = measure_creation(&list, &s, all);
    s = (tutti_decomposition_spec){.kind = TUTTI_BY_VALUE, .n = hi - lo, .ids = ids, .whole = 1};
    out[IDS] = measure_creation(&mapped, &s, all);
    s = (tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = EACH, .whole = 1};
    out[RANK_ORDER] = measure_creation(&list, &s, all);
    tutti__team_give(&team);
}

int main(int argc, char **argv) {
    bytes few[CASES], many[CASES];
    MPI_Comm quarter;
    harness_begin(&argc, &argv, 1172);
    tutti__rank_groups_set_least(1); /* so that groups have 2 and 4 ranks */
    MPI_Comm_split(MPI_COMM_WORLD, rank / (ranks / 4), rank, &quarter);
    measure_calls(quarter, few);
    measure_calls(MPI_COMM_WORLD, many);
    for (int k = 0; k < CASES; k++) {
        if (getenv("TUTTI_TEST_SHOW") && rank == 0)
            printf("%-26s %3d, %3d ranks: received %lld, %lld; allocated %lld, %lld\n", names[k],
                   ranks / 4, ranks, (long long)few[k].received, (long long)many[k].received,
                   (long long)few[k].allocated, (long long)many[k].allocated);
        CHECK(many[k].received <= 2 * few[k].received + FEW_BYTES,
              "%s: %lld bytes received, %lld on a quarter", names[k], (long long)many[k].received,
              (long long)few[k].received);
        CHECK(many[k].allocated <= 2 * few[k].allocated + FEW_BYTES,
              "%s: %lld bytes allocated, %lld on a quarter", names[k], (long long)many[k].allocated,
              (long long)few[k].allocated);
    }
    tutti__rank_groups_set_least(TUTTI__SPLIT_GROUP);
    MPI_Comm_free(&quarter);
    return harness_end();
}
