/* Processor time and memory of tutti_replicas_create, all ranks together.  Prints a markdown table.
 *
 * The items are the nodes of a cube of side^3 nodes, numbered along a Morton curve (so that numbers
 * are scattered in a rank's memory and have gaps), divided into boxes; a rank holds its box and one
 * layer of nodes around it, as a partition of an unstructured mesh holds its nodes and their
 * neighbours.
 *
 *   cpu      processor time of all ranks, least of the rounds: waiting is work here, since a rank
 *            that waits asks again and again
 *   peak     the most memory that was resident on a rank beyond what it had before, per item that
 *            it holds: the largest of all ranks
 *   kept     the same when the call has returned: what an inspector takes
 *   MiB all  peak of all ranks together
 *
 * usage: mpirun -n N replicas_inspector [-r rounds] [-R rule] [side ...]   (66 83 105 132)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "process.h"

static int rank, ranks;

/* ---- the mesh */

static int64_t spread(int64_t x) {
    int64_t out = 0;
    for (int bit = 0; bit < 20; bit++) out |= (x >> bit & 1) << (3 * bit);
    return out;
}

typedef struct {
    int lo[3], hi[3];
} box;

/* As near to cubes as the number of ranks allows. */
static box box_of(int side) {
    int grid[3] = {0, 0, 0}, rest = rank;
    box b;
    MPI_Dims_create(ranks, 3, grid);
    for (int d = 0; d < 3; d++) {
        const int k = rest % grid[d];
        rest /= grid[d];
        b.lo[d] = (int)((int64_t)side * k / grid[d]);
        b.hi[d] = (int)((int64_t)side * (k + 1) / grid[d]);
    }
    return b;
}

static int64_t count_of(const box *b) {
    return (int64_t)(b->hi[0] - b->lo[0]) * (b->hi[1] - b->lo[1]) * (b->hi[2] - b->lo[2]);
}

static int inside(const box *b, const int *x) {
    int in = 1;
    for (int d = 0; d < 3; d++) in &= x[d] >= b->lo[d] && x[d] < b->hi[d];
    return in;
}

/* This rank's nodes; *numbers_out and *own_out are to be freed. */
static tutti_count nodes(int side, int64_t **numbers_out, unsigned char **own_out) {
    const box own = box_of(side);
    box all = own;
    int x[3];
    tutti_count n = 0;
    for (int d = 0; d < 3; d++) {
        all.lo[d] = own.lo[d] > 0 ? own.lo[d] - 1 : 0;
        all.hi[d] = own.hi[d] < side ? own.hi[d] + 1 : side;
    }
    int64_t *numbers = malloc((size_t)count_of(&all) * sizeof *numbers);
    unsigned char *owns = malloc((size_t)count_of(&all));
    if (!numbers || !owns) MPI_Abort(MPI_COMM_WORLD, 1);
    for (x[2] = all.lo[2]; x[2] < all.hi[2]; x[2]++)
        for (x[1] = all.lo[1]; x[1] < all.hi[1]; x[1]++)
            for (x[0] = all.lo[0]; x[0] < all.hi[0]; x[0]++) {
                numbers[n] = spread(x[0]) | spread(x[1]) << 1 | spread(x[2]) << 2;
                owns[n++] = (unsigned char)inside(&own, x);
            }
    *numbers_out = numbers;
    *own_out = owns;
    return n;
}

/* ---- measuring */

static void measure(int side, tutti_replicas_rule rule, int rounds) {
    int64_t *numbers = NULL;
    unsigned char *own = NULL;
    double best = 1e9, wall = 1e9, peak = 0, kept = 0;
    tutti_replicas_stats s = {0};
    const tutti_replicas_spec spec = {.n = nodes(side, &numbers, &own),
                                      .numbers = numbers,
                                      .own = own,
                                      .load = 1,
                                      .value_bytes = 8,
                                      .choice = {.rule = rule}};
    for (int round = 0; round < rounds; round++) {
        tutti_replicas *r = NULL;
        forget_peak();
        const double before = status("VmRSS");
        MPI_Barrier(MPI_COMM_WORLD);
        const double w = clock_of(CLOCK_MONOTONIC), c = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        const tutti_err err = tutti_replicas_create(MPI_COMM_WORLD, &spec, &r);
        const double cpu = reduce(clock_of(CLOCK_PROCESS_CPUTIME_ID) - c, MPI_SUM);
        const double time = reduce(clock_of(CLOCK_MONOTONIC) - w, MPI_MAX);
        if (err || tutti_replicas_stats_get(r, &s)) {
            fprintf(stderr, "%s\n", tutti_last_message());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (round == 0) { /* later ones find memory that the allocator has kept */
            peak = status("VmHWM") - before;
            malloc_trim(0);
            kept = status("VmRSS") - before;
        }
        best = cpu < best ? cpu : best;
        wall = time < wall ? time : wall;
        tutti_replicas_free(&r);
    }
    const double each = reduce(peak / (double)spec.n, MPI_MAX);
    const double stays = reduce(kept / (double)spec.n, MPI_MAX);
    const double all = reduce(peak, MPI_SUM);
    if (rank == 0)
        printf("| %lld | %lld | %lld | %.3f | %.3f | %.0f | %.0f | %.0f |\n", (long long)s.items,
               (long long)s.copies, (long long)s.intervals, best, wall, each, stays,
               all / (1 << 20));
    free(numbers);
    free(own);
}

int main(int argc, char **argv) {
    static const int usual[] = {66, 83, 105, 132};
    tutti_replicas_rule rule = TUTTI_REPLICAS_IDG2;
    int rounds = 5, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "r:R:")) != -1) {
        const int bad = option == 'r'   ? (rounds = atoi(optarg)) < 1
                        : option == 'R' ? tutti_replicas_rule_parse(optarg, &rule) != TUTTI_OK
                                        : 1;
        if (bad) {
            if (rank == 0) fprintf(stderr, "usage: %s [-r rounds] [-R rule] [side ...]\n", argv[0]);
            MPI_Finalize();
            return 2;
        }
    }
    if (rank == 0)
        printf("%s, %d ranks, %d rounds\n\n"
               "| items | copies | intervals | cpu s | wall s | peak B / item | kept B / item | "
               "MiB all |\n"
               "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
               tutti_replicas_rule_name(rule), ranks, rounds);
    if (optind == argc)
        for (int i = 0; i < 4; i++) measure(usual[i], rule, rounds);
    for (int i = optind; i < argc; i++) measure(atoi(argv[i]), rule, rounds);
    MPI_Finalize();
    return 0;
}
