/* The overlap of file access and computation of a Jacobi sweep with tile iterations.
 *
 * Two arrays of doubles are larger than the memory of the iteration; each rank has a block of rows,
 * with a halo of one row.  The same sweep is done by a sequential iteration (read, compute, write)
 * and by an overlapped iteration, which reads the next tile and writes the previous tile during the
 * computation.  Both are interleaved with a sequential sweep without computation.  The computation
 * is repeated until it takes about as long as file access.  Reported per sweep: seconds, and
 * seconds of computation on the slowest rank.  Hidden is (sequential - overlapped) / min(compute,
 * file): 1 is the maximum if reading and writing share one disk.
 *
 * usage: jacobi_overlap DIRECTORY [--size N] [--tiles N] [--rounds N] [--buffered]
 *   --tiles      tiles per rank
 *   --buffered   through the page cache (default: O_DIRECT, so that access takes time)
 *
 * Other options of the library are taken from the environment.
 *
 * A disk limited by control groups (scripts/throttle.sh) accumulates a budget of a tenth of a
 * second while it is idle: a tile should take several times as long.  For example 32 MiB in 8 tiles
 * at 8 MiB/s:
 *
 *   scripts/throttle.sh up DIRECTORY 8m 128m
 *   scripts/throttle.sh run DIRECTORY scripts/mpirun.sh openmpi 2 jacobi_overlap DIRECTORY --tiles 8
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

static volatile double sink; /* prevents the compiler from removing repeated computation */

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

static void relax_rows(const tutti_tile *tile, tutti_count n) {
    const tutti_count width = tile->in_shape[1];
    double *out = tile->out;
    for (tutti_count i = tile->core.lo[0]; i < tile->core.hi[0]; i++) {
        const double *in =
            (const double *)tile->in + (i - tile->frame.lo[0]) * width - tile->frame.lo[1];
        for (tutti_count j = tile->core.lo[1]; j < tile->core.hi[1]; j++) {
            const int edge = i == 0 || j == 0 || i == n - 1 || j == n - 1;
            *out++ = edge ? in[j] : 0.25 * (in[j - width] + in[j + width] + in[j - 1] + in[j + 1]);
        }
    }
    if (out != tile->out) sink = out[-1];
}

enum { FILE_ALONE, SEQUENTIAL, OVERLAPPED };

typedef struct {
    tutti_array *a[2];
    tutti_tiles_spec spec;
    int passes;
    tutti_off memory; /* bytes of memory in the last sweep */
} scene;

/* Sweep from array `from` to the other array; each tile is computed s->passes times.  Returns the seconds of
 * computation. */
static double run_sweep(scene *s, int from, int kind) {
    tutti_array_spec array;
    tutti_tiles_spec spec = s->spec;
    tutti_tiles_stats stats;
    tutti_tiles *walk = NULL;
    tutti_tile tile;
    double computing = 0;
    spec.sequential = kind != OVERLAPPED;
    tutti_array_describe(s->a[from], &array);
    check_call(tutti_tiles_begin(s->a[from], s->a[1 - from], &spec, &walk));
    for (;;) {
        check_call(tutti_tiles_next(walk, &tile));
        if (!tile.more) break;
        const double since = measure_now();
        for (int i = 0; i < s->passes && kind != FILE_ALONE; i++) relax_rows(&tile, array.shape[0]);
        computing += measure_now() - since;
    }
    tutti_tiles_stats_get(walk, &stats);
    s->memory = stats.memory;
    check_call(tutti_tiles_end(&walk));
    return standalone_slowest(computing);
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const double start = standalone_together();
    value[1] = run_sweep(m->data, m->round & 1, (int)(intptr_t)v->what);
    value[0] = standalone_slowest(measure_now() - start);
}

/* Return the number of repetitions for which computing a tile takes as long as file access. */
static int passes_for(scene *s) {
    s->passes = 1;
    for (int i = 0; i < 2; i++)
        (void)run_sweep(s, i, SEQUENTIAL); /* allocates file blocks of both arrays */
    const double start = standalone_together();
    (void)run_sweep(s, 0, FILE_ALONE);
    const double seconds = standalone_slowest(measure_now() - start),
                 once = run_sweep(s, 1, SEQUENTIAL);
    const double passes = seconds / (once > 0 ? once : 1e-9);
    return passes < 1 ? 1 : passes > 1e6 ? 1000000 : (int)(passes + 0.5);
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", "compute_seconds", NULL};
    static const char *const names[] = {"file alone", "sequential", "overlapped"};
    long n = 2048, tiles = 16, rounds = 5;
    int buffered = 0;
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &n, 1, 0},
                                         {"--tiles", OPTION_NUMBER, &tiles, 1, 0},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--buffered", OPTION_FLAG, &buffered, 0, 0},
                                         {0}};
    const standalone program = {"jacobi_overlap", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    const int rank = standalone_rank, ranks = standalone_ranks;
    const tutti_array_spec array = {.ndims = 2, .shape = {n, n}, .type = TUTTI_FLOAT64};
    tutti_slice rows = tutti_slice_all(2, array.shape);
    rows.lo[0] = n * rank / ranks;
    rows.hi[0] = n * (rank + 1) / ranks;
    const tutti_count height = (n / ranks + tiles - 1) / tiles;
    scene s = {.spec = {.budget = (3 * (height + 2) + 2 * height) * n * 8 + (64 << 10),
                        .region = &rows,
                        .tile = {height, n},
                        .halo = {1, 1}}};
    tutti_options opt;
    char path[2][4096], more[96];
    check_call(tutti_options_init(&opt));
    if (!buffered) opt.direct_io = 1;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/jacobi_overlap.%d", argv[0], i);
        check_call(tutti_array_create(MPI_COMM_WORLD, path[i], &array, &opt, &s.a[i]));
    }
    s.passes = passes_for(&s);
    measure m = {
        .title = "sweeps", .values = values, .rounds = (int)rounds, .data = &s, .run = run_case};
    for (int k = 0; k < 3; k++) measure_add(&m, names[k], (const void *)(intptr_t)k);
    measure_rounds(&m);
    snprintf(more, sizeof more, ", \"passes\": %d, \"tile_rows\": %lld, \"memory\": %lld", s.passes,
             (long long)height, (long long)s.memory);
    standalone_report(&m, more);
    for (int i = 0; i < 2; i++) {
        check_call(tutti_array_close(&s.a[i]));
        if (rank == 0) check_call(tutti_file_delete(path[i], NULL));
    }
    return standalone_end_mpi();
}
