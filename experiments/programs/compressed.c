/* Compressed variables of a dataset compared with an uncompressed variable: seconds of put (with the commit,
 * level visible) and of get by blocks of rows, and bytes in the file.
 *
 * The field is float64 on a cube: a smooth function with noise in the last 24 bits, which can be compressed
 * only in part.
 *
 * usage: mpirun -n N compressed DIRECTORY [--rounds N] [--extent N]   default: 5 rounds, 256 (128 MiB)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

static const int levels[] = {0, 1, 3};
enum { LEVELS = sizeof levels / sizeof levels[0] };

typedef struct {
    tutti_dataset *d;
    tutti_decomposition *rows;
    tutti_count lo, hi, n;
    double *values;
} scene;

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

static void fill_field(double *v, tutti_count lo, tutti_count hi, tutti_count n, int round) {
    for (tutti_count i = lo; i < hi; i++)
        for (tutti_count j = 0; j < n; j++)
            for (tutti_count k = 0; k < n; k++) {
                const double x = 300 +
                                 20 * sin(0.05 * (double)(i + round)) * cos(0.04 * (double)j) +
                                 5 * sin(0.03 * (double)k);
                uint64_t bits;
                memcpy(&bits, &x, sizeof bits);
                bits ^=
                    (uint64_t)(i * 7919 + j * 104729 + k * 1299709) * 2654435761U >> 16 & 0xffffff;
                memcpy(v++, &bits, sizeof bits);
            }
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const scene *s = m->data;
    const int64_t step = tutti_dataset_segments(s->d);
    tutti_section_row row;
    fill_field(s->values, s->lo, s->hi, s->n, m->round);
    double start = standalone_together();
    check_call(tutti_dataset_begin(s->d, TUTTI_STATE, step, m->round));
    check_call(
        tutti_dataset_put(s->d, 1, &(tutti_put){v->name, s->rows, TUTTI_FLOAT64, s->values}));
    check_call(tutti_dataset_commit(s->d));
    value[0] = standalone_together() - start;
    const tutti_count segment = tutti_dataset_segments(s->d) - 1;
    start = standalone_together();
    check_call(tutti_dataset_get(s->d, segment, 1,
                                 &(tutti_get){v->name, s->rows, TUTTI_FLOAT64, s->values}));
    value[1] = standalone_together() - start;
    check_call(tutti_dataset_section_row(s->d, segment, v->name, &row));
    value[2] = (double)row.bytes;
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", "read_seconds", "stored_bytes", NULL};
    long rounds = 5, extent = 256;
    const standalone_option options[] = {{"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--extent", OPTION_NUMBER, &extent, 1, 2048},
                                         {0}};
    const standalone program = {"compressed", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    scene s = {.n = extent,
               .lo = extent * standalone_rank / standalone_ranks,
               .hi = extent * (standalone_rank + 1) / standalone_ranks};
    measure m = {
        .title = "cube", .values = values, .rounds = (int)rounds, .data = &s, .run = run_case};
    tutti_dataset_options opt;
    const tutti_decomposition_spec rows = {.kind = TUTTI_BY_SLICE,
                                           .slice = {.lo = {s.lo}, .hi = {s.hi, s.n, s.n}}};
    s.values = standalone_alloc((size_t)((s.hi - s.lo) * s.n * s.n), sizeof *s.values);
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    check_call(tutti_dataset_open(MPI_COMM_WORLD, argv[0],
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                  &s.d));
    check_call(tutti_dataset_grid(s.d, "cube", 3, (tutti_count[]){s.n, s.n, s.n}));
    for (int i = 0; i < LEVELS; i++) {
        char name[16];
        snprintf(name, sizeof name, "level%d", levels[i]);
        measure_add(&m, name, &levels[i]);
        check_call(tutti_dataset_variable(
            s.d, name,
            &(tutti_variable_spec){.space = "cube", .type = TUTTI_FLOAT64, .compress = levels[i]}));
    }
    check_call(tutti_decomposition_create(s.d, "cube", &rows, &s.rows));
    measure_rounds(&m);
    char more[48];
    snprintf(more, sizeof more, ", \"bytes\": %.0f", 8.0 * (double)(s.n * s.n * s.n));
    standalone_report(&m, more);
    tutti_decomposition_free(&s.rows);
    check_call(tutti_dataset_close(&s.d));
    free(s.values);
    return standalone_end_mpi();
}
