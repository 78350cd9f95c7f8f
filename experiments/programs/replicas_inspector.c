/* Processor time and memory of tutti_replicas_create, summed over all ranks.
 *
 * The items are the nodes of a cube of side^3 nodes, numbered along a Morton curve, so that numbers
 * in a rank's memory are scattered and have gaps.  The cube is divided into boxes; a rank has its
 * box and one layer of nodes around it, as a partition of an unstructured mesh has its nodes and
 * their neighbours.
 *
 *   cpu_seconds   processor time of all ranks, which includes waiting, since a waiting rank polls
 *   peak_bytes    maximum resident memory of a rank beyond that before the call, per item on the rank;
 *                 in the first round only, since later rounds reuse memory of the allocator
 *   kept_bytes    the same after the call has returned
 *   all_bytes     peak of all ranks together
 *
 * usage: mpirun -n N replicas_inspector [--rounds N] [--rule NAME] [side ...]   (66 83 105 132)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <mpi.h>
#include <stdlib.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

/* ---- the mesh */

static int64_t spread_items(int64_t x) {
    int64_t out = 0;
    for (int bit = 0; bit < 20; bit++) out |= (x >> bit & 1) << (3 * bit);
    return out;
}

typedef struct {
    int lo[3], hi[3];
} box;

/* Return the box of this rank; boxes are as close to cubes as the number of ranks allows. */
static box box_of(int side) {
    int grid[3] = {0, 0, 0}, rest = standalone_rank;
    box b;
    MPI_Dims_create(standalone_ranks, 3, grid);
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

static int is_inside(const box *b, const int *x) {
    int in = 1;
    for (int d = 0; d < 3; d++) in &= x[d] >= b->lo[d] && x[d] < b->hi[d];
    return in;
}

/* List this rank's nodes; *numbers_out and *own_out must be freed. */
static tutti_count list_nodes(int side, int64_t **numbers_out, unsigned char **own_out) {
    const box own = box_of(side);
    box all = own;
    int x[3];
    tutti_count n = 0;
    for (int d = 0; d < 3; d++) {
        all.lo[d] = own.lo[d] > 0 ? own.lo[d] - 1 : 0;
        all.hi[d] = own.hi[d] < side ? own.hi[d] + 1 : side;
    }
    int64_t *numbers = standalone_alloc((size_t)count_of(&all), sizeof *numbers);
    unsigned char *owns = standalone_alloc((size_t)count_of(&all), 1);
    for (x[2] = all.lo[2]; x[2] < all.hi[2]; x[2]++)
        for (x[1] = all.lo[1]; x[1] < all.hi[1]; x[1]++)
            for (x[0] = all.lo[0]; x[0] < all.hi[0]; x[0]++) {
                numbers[n] = spread_items(x[0]) | spread_items(x[1]) << 1 | spread_items(x[2]) << 2;
                owns[n++] = (unsigned char)is_inside(&own, x);
            }
    *numbers_out = numbers;
    *own_out = owns;
    return n;
}

/* ---- measuring */

static void run_case(measure *m, measure_variant *v, double *value) {
    const tutti_replicas_spec *spec = m->data;
    tutti_replicas *r = NULL;
    tutti_replicas_stats s = {0};
    measure_reset_peak();
    const double before = measure_status("VmRSS"), n = (double)spec->n;
    const double start = standalone_together(), cpu = measure_cpu();
    const tutti_err err = tutti_replicas_create(MPI_COMM_WORLD, spec, &r);
    value[1] = standalone_sum(measure_cpu() - cpu);
    value[0] = standalone_slowest(measure_now() - start);
    if (err || tutti_replicas_stats_get(r, &s)) standalone_fail("%s", tutti_last_message());
    const double peak = measure_status("VmHWM") - before;
    malloc_trim(0);
    const double kept = measure_status("VmRSS") - before;
    for (int i = 2; i < 5 && m->round > 0; i++) value[i] = v->sample[i][0];
    if (m->round == 0) {
        value[2] = standalone_slowest(peak / n);
        value[3] = standalone_slowest(kept / n);
        value[4] = standalone_sum(peak);
    }
    snprintf(v->more, sizeof v->more, ", \"items\": %lld, \"copies\": %lld, \"intervals\": %lld",
             (long long)s.items, (long long)s.copies, (long long)s.intervals);
    tutti_replicas_free(&r);
}

static void measure_side(int side, tutti_replicas_rule rule, int rounds) {
    static const char *const values[] = {"seconds",    "cpu_seconds", "peak_bytes",
                                         "kept_bytes", "all_bytes",   NULL};
    int64_t *numbers = NULL;
    unsigned char *own = NULL;
    char title[32];
    tutti_replicas_spec spec = {.n = list_nodes(side, &numbers, &own),
                                .numbers = numbers,
                                .own = own,
                                .load = 1,
                                .value_bytes = 8,
                                .choice = {.rule = rule}};
    snprintf(title, sizeof title, "%d^3 nodes", side);
    measure m = {
        .title = title, .values = values, .rounds = rounds, .data = &spec, .run = run_case};
    measure_add(&m, tutti_replicas_rule_name(rule), NULL);
    measure_rounds(&m);
    standalone_report(&m, "");
    free(numbers);
    free(own);
}

int main(int argc, char **argv) {
    static char *usual[] = {"66", "83", "105", "132"};
    tutti_replicas_rule rule = TUTTI_REPLICAS_IDG2;
    long rounds = 5;
    const char *rule_name = "idg2";
    const standalone_option options[] = {
        {"--rounds", OPTION_NUMBER, &rounds, 1, 0}, {"--rule", OPTION_TEXT, &rule_name, 0, 0}, {0}};
    const standalone program = {"replicas_inspector", "[side ...]", options, 0};
    const int n = standalone_start_mpi(&program, &argc, &argv);
    if (tutti_replicas_rule_parse(rule_name, &rule) != TUTTI_OK)
        standalone_fail("%s", tutti_last_message());
    for (int i = 0; i < (n ? n : 4); i++)
        measure_side(atoi(n ? argv[i] : usual[i]), rule, (int)rounds);
    return standalone_end_mpi();
}
