/* Time steps of many small variables in a dataset and in an Exodus file: begin, put of all variables, commit.
 *
 * Each rank writes a block of every variable; commits are visible, not durable, so that the library is
 * measured and not the disk.  The first step (plans, headers) is a warm-up.  Reported: seconds per step, and of
 * the put alone.
 *
 * usage: small_steps DIRECTORY [--variables N] [--bytes N] [--steps N] [--rounds N]
 *   --bytes   bytes of one variable per rank
 *   --steps   steps per round
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

enum { MAX_VARIABLES = 512 };

static long variables = 8, bytes = 4096, steps = 50, rounds = 5;
static char path[512], name[MAX_VARIABLES][16];
static double *values, *read_values;
static tutti_count n;      /* number of values of a variable per rank */
static double put_seconds; /* of all puts of the current round */

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

/* ---- datasets */

typedef struct {
    tutti_dataset *d;
    tutti_decomposition *rows;
    tutti_put put[MAX_VARIABLES];
    tutti_get get[MAX_VARIABLES];
    int64_t step;
} dataset_run;

static void open_dataset(dataset_run *r) {
    tutti_dataset_options opt;
    const tutti_count shape[1] = {n * standalone_ranks};
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    check_call(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE, &opt,
                                  &r->d));
    check_call(tutti_dataset_grid(r->d, "grid", 1, shape));
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE};
    spec.slice.lo[0] = n * standalone_rank;
    spec.slice.hi[0] = n * (standalone_rank + 1);
    check_call(tutti_decomposition_create(r->d, "grid", &spec, &r->rows));
    for (int i = 0; i < variables; i++) {
        const tutti_variable_spec v = {.space = "grid", .type = TUTTI_FLOAT64};
        check_call(tutti_dataset_variable(r->d, name[i], &v));
        r->put[i] = (tutti_put){
            .variable = name[i], .entries = r->rows, .type = TUTTI_FLOAT64, .buf = values};
        r->get[i] = (tutti_get){
            .variable = name[i], .entries = r->rows, .type = TUTTI_FLOAT64, .buf = read_values};
    }
}

static void write_dataset(void *run) {
    dataset_run *r = run;
    check_call(tutti_dataset_begin(r->d, TUTTI_STATE, r->step, (double)r->step));
    const double start = measure_now();
    check_call(tutti_dataset_put(r->d, (int)variables, r->put));
    put_seconds += measure_now() - start;
    check_call(tutti_dataset_commit(r->d));
    r->step++;
}

static void read_dataset(void *run) {
    dataset_run *r = run;
    check_call(tutti_dataset_get(r->d, tutti_dataset_segments(r->d) - 1, (int)variables, r->get));
    standalone_check(memcmp(values, read_values, (size_t)n * sizeof *values) == 0,
                     "values read differ from those written");
}

/* ---- Exodus files: all variables are nodal, and each rank has its own nodes */

typedef struct {
    tutti_exodus *x;
    tutti_exodus_field field[MAX_VARIABLES];
    double time;
} exodus_run;

static void open_exodus(exodus_run *r) {
    tutti_exodus_options opt;
    const char *names[MAX_VARIABLES];
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    check_call(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &r->x));
    check_call(tutti_exodus_init(r->x, &(tutti_exodus_parameters){.title = "steps", .dims = 1}));
    for (int i = 0; i < variables; i++) names[i] = name[i];
    check_call(tutti_exodus_variables(r->x, TUTTI_EXODUS_NODAL, (int)variables, names));
    int64_t *ids = standalone_alloc((size_t)n, sizeof *ids);
    for (tutti_count i = 0; i < n; i++) ids[i] = n * standalone_rank + i + 1;
    check_call(tutti_exodus_put_mesh(
        r->x, &(tutti_exodus_mesh){.nodes = n, .node_ids = ids, .coordinates = {values}}));
    free(ids);
    for (int i = 0; i < variables; i++)
        r->field[i] = (tutti_exodus_field){
            .kind = TUTTI_EXODUS_NODAL, .variable = name[i], .type = TUTTI_FLOAT64, .buf = values};
}

static void write_exodus(void *run) {
    exodus_run *r = run;
    check_call(tutti_exodus_begin(r->x, r->time++));
    const double start = measure_now();
    check_call(tutti_exodus_put(r->x, variables, r->field));
    put_seconds += measure_now() - start;
    check_call(tutti_exodus_commit(r->x));
}

/* ---- rounds */

typedef struct {
    const char *name;
    void (*step)(void *run);
} variant;

static void measure_steps(measure *m, measure_variant *v, double *value) {
    const variant *what = v->what;
    put_seconds = 0;
    const double start = standalone_together();
    for (long k = 0; k < steps; k++) what->step(m->data);
    value[0] = standalone_slowest((measure_now() - start) / (double)steps);
    value[1] = standalone_slowest(put_seconds / (double)steps);
}

static void report_steps(const char *title, int count, const variant *v, void *run) {
    static const char *const columns[] = {"seconds", "put_seconds", NULL};
    measure m = {.title = title,
                 .values = columns,
                 .rounds = (int)rounds,
                 .warmup = 1,
                 .data = run,
                 .run = measure_steps};
    for (int i = 0; i < count; i++) measure_add(&m, v[i].name, &v[i]);
    measure_rounds(&m);
    standalone_report(&m, "");
}

int main(int argc, char **argv) {
    const standalone_option options[] = {
        {"--variables", OPTION_NUMBER, &variables, 1, MAX_VARIABLES},
        {"--bytes", OPTION_NUMBER, &bytes, 8, 0},
        {"--steps", OPTION_NUMBER, &steps, 1, 0},
        {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
        {0}};
    const standalone program = {"small_steps", "DIRECTORY", options, 1};
    static dataset_run dataset;
    static exodus_run exodus;
    standalone_start_mpi(&program, &argc, &argv);
    n = bytes / (long)sizeof *values;
    values = standalone_alloc((size_t)n, sizeof *values);
    read_values = standalone_alloc((size_t)n, sizeof *values);
    for (tutti_count i = 0; i < n; i++) values[i] = (double)(standalone_rank * n + i);
    for (int i = 0; i < variables; i++) snprintf(name[i], sizeof name[i], "v%d", i);

    snprintf(path, sizeof path, "%s/small-steps.tutti", argv[0]);
    open_dataset(&dataset);
    report_steps("dataset", 2, (const variant[]){{"write", write_dataset}, {"read", read_dataset}},
                 &dataset);
    tutti_decomposition_free(&dataset.rows);
    check_call(tutti_dataset_close(&dataset.d));

    snprintf(path, sizeof path, "%s/small-steps.e", argv[0]);
    open_exodus(&exodus);
    report_steps("Exodus", 1, (const variant[]){{"write", write_exodus}}, &exodus);
    check_call(tutti_exodus_close(&exodus.x));
    free(values);
    free(read_values);
    return standalone_end_mpi();
}
