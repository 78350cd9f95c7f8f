/* tutti bench overlap: Dickens and Thakur, figures 4 to 7: how much of the input and output goes on
 * while the processes compute.
 *
 *   independent   every process writes its contiguous share: then computes, or a thread writes
 *   collective    begin, compute, end: all in begin; all by a thread; only file access so
 *
 * both through the page cache and with O_DIRECT.  As in the paper, the compute phase is floating-
 * point multiplications, as many as take as long as the input and output alone on the largest
 * number of processes: a point that is measured first, for each of the four and each directory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiment.h"
#include "compute.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENTIAL "sequential"
#define THREAD "thread"
#define ALL "all"
#define IO_ONLY "io-only"
#define PEER "MPI begin/end"
#define ALONE "I/O alone"
#define EXCHANGE "exchange alone"

#define OVERLAP_GOAL 80.0 /* per cent of the smaller of compute and file time */

static const struct {
    const char *figure, *calibration, *title, *paper;
    int collective, direct;
} part_table[] = {
    {"independent", "independent alone", "Independent conforming write", "figure 4", 0, 0},
    {"independent direct", "independent direct alone", "Independent conforming write with O_DIRECT",
     "figure 4", 0, 1},
    {"collective", "collective alone", "Collective write", "figures 5 and 6", 1, 0},
    {"collective direct", "collective direct alone", "Collective write with O_DIRECT", "figure 7",
     1, 1},
};
enum { PARTS = sizeof part_table / sizeof *part_table };

/* How long the compute phase is: one for each part and directory. */
typedef struct {
    const char *dir;
    int part;
    double multiplications;
} overlap_load;

static double multiplications_of(const bench_entry *e) {
    return ((const overlap_load *)e->context)->multiplications;
}

static void overlap_defaults(bench_config *c, int quick) {
    c->array = (quick ? 4 : 64) << 20;
    c->size = (quick ? 1 : 4) << 20;
    c->rounds = quick ? 3 : 7;
    c->iterations = quick ? 2 : 4;
}

/* ---- runners */

static tutti_err iterate_split(bench_job *job, bench_entry *e, tutti_off *count) {
    const double start = cli_now();
    tutti_err err = tutti_file_write_begin(job->file, job->pattern->access, job->user);
    if (err != TUTTI_OK) return err;
    const double begun = cli_now(), compute = compute_phase(multiplications_of(e));
    err = tutti_file_write_end(job->file, count);
    e->now.begin += begun - start;
    e->now.compute += compute;
    e->now.end += cli_now() - begun - compute;
    if (err == TUTTI_OK) tutti_way_stats(job, e);
    return err;
}

static int run_split(bench_job *job, bench_entry *e) {
    tutti_off count = 0;
    if (tutti_way_open(job, e) != TUTTI_OK) return tutti_way_failed(e);
    for (int i = 0; i < e->iterations; i++)
        if (iterate_split(job, e, &count) != TUTTI_OK) return tutti_way_failed(e);
    if (tutti_file_close(&job->file) != TUTTI_OK) return tutti_way_failed(e);
    return tutti_way_count(job, e, count);
}

static const bench_runner split_runner = {.run = run_split, .end = tutti_way_end};

typedef struct {
    bench_job *job;
    tutti_off count;
    char failure[256]; /* the first */
} thread_task;

static void *write_share(void *argument) {
    thread_task *t = argument;
    const bench_pattern *p = t->job->pattern;
    const tutti_err err =
        tutti_file_write_independent(t->job->file, p->access, t->job->user, &t->count);
    if (err != TUTTI_OK && !*t->failure)
        snprintf(t->failure, sizeof t->failure, "%s", tutti_last_message());
    return NULL;
}

/* The write, before the compute phase or beside it. */
static void iterate_independent(thread_task *task, bench_entry *e, int beside) {
    pthread_t thread;
    const int started = beside && pthread_create(&thread, NULL, write_share, task) == 0;
    if (beside && !started) snprintf(task->failure, sizeof task->failure, "cannot start a thread");
    if (!beside) write_share(task);
    e->now.compute += compute_phase(multiplications_of(e));
    if (started) pthread_join(thread, NULL);
    tutti_way_stats(task->job, e);
}

/* Closing is collective: a rank that failed does it too. */
static int run_independent(bench_job *job, bench_entry *e, int beside) {
    thread_task task = {.job = job};
    if (tutti_way_open(job, e) != TUTTI_OK) return tutti_way_failed(e);
    for (int i = 0; i < e->iterations; i++) iterate_independent(&task, e, beside);
    if (tutti_file_close(&job->file) != TUTTI_OK) return tutti_way_failed(e);
    if (*task.failure) return cli_error("%s", task.failure);
    return tutti_way_count(job, e, task.count);
}

static int run_then(bench_job *job, bench_entry *e) {
    return run_independent(job, e, 0);
}

static int run_beside(bench_job *job, bench_entry *e) {
    return run_independent(job, e, 1);
}

static const bench_runner then_runner = {.run = run_then, .end = tutti_way_end};
static const bench_runner beside_runner = {.run = run_beside, .end = tutti_way_end};

static int run_peer_split(bench_job *job, bench_entry *e) {
    const MPI_Datatype type = job->pattern->memory_type;
    MPI_File file;
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (peer_open(job, &file)) return 1;
    for (int i = 0; i < e->iterations && code == MPI_SUCCESS; i++) {
        code = MPI_File_write_at_all_begin(file, 0, job->user, 1, type);
        e->now.compute += compute_phase(multiplications_of(e));
        if (code == MPI_SUCCESS) code = MPI_File_write_at_all_end(file, job->user, &status);
    }
    return peer_close(job, &file, code);
}

static const bench_runner peer_runner = {.run = run_peer_split};

/* ---- points */

static void add_way(const experiment *x, bench_cell *point, const overlap_load *load,
                    const char *name, const char *settings) {
    const int direct = part_table[load->part].direct;
    const tutti_off room = point->size * point->ranks + (16 << 20);
    const tutti_off user = x->results.config->options.background_bytes;
    char full[160];
    snprintf(full, sizeof full, "%s direct_io=%d background_bytes=%lld", settings, direct,
             (long long)(room > user ? room : user));
    bench_entry *e = experiment_way(x, point, name, full);
    e->context = load;
    e->iterations = x->results.config->iterations;
    if (strcmp(name, THREAD) == 0)
        e->runner = &beside_runner;
    else if (part_table[load->part].collective || strcmp(name, IO_ONLY) == 0)
        e->runner = &split_runner;
    else
        e->runner = &then_runner;
    const int threaded = strcmp(name, ALL) == 0 || strcmp(name, THREAD) == 0;
    if (!threaded || x->thread_level >= MPI_THREAD_MULTIPLE) return;
    e->unavailable = 1;
    snprintf(e->failure, sizeof e->failure, "MPI does not grant MPI_THREAD_MULTIPLE");
}

static bench_cell *add_point(experiment *x, const overlap_load *load, const char *figure,
                             int ranks) {
    const bench_config *c = x->results.config;
    const int collective = part_table[load->part].collective;
    return experiment_point(x, &(point_spec){.figure = figure,
                                             .dir = load->dir,
                                             .pattern = collective ? "square2d" : "ior",
                                             .ranks = ranks,
                                             .size = collective ? c->array / ranks : c->size});
}

static void add_part(experiment *x, const overlap_load *load, const overlap_load *nothing) {
    const int collective = part_table[load->part].collective;
    const char *none = collective ? "method=two-phase background=none" : "method=independent";
    bench_cell *point =
        add_point(x, load, part_table[load->part].calibration, experiment_most_ranks(x));
    add_way(x, point, load, ALONE, none);
    point->entry[0].context = nothing;
    for (int i = 0; i < x->worlds; i++) {
        point = add_point(x, load, part_table[load->part].figure, x->world[i].ranks);
        add_way(x, point, load, SEQUENTIAL, none);
        if (collective) {
            add_way(x, point, load, ALL, "method=two-phase background=all");
            add_way(x, point, load, IO_ONLY, "method=two-phase background=io-only");
        } else {
            add_way(x, point, load, THREAD, "method=independent");
            add_way(x, point, load, IO_ONLY, "background=io-only");
        }
        if (!collective) continue;
        add_way(x, point, load, EXCHANGE, "method=two-phase background=none store=null");
        point->entry[point->entries - 1].context = nothing;
        if (part_table[load->part].direct) continue;
        bench_entry *peer = experiment_reference(x, point, ENTRY_PEER, PEER);
        peer->runner = &peer_runner;
        peer->context = load;
        peer->iterations = x->results.config->iterations;
    }
}

static void overlap_plan(experiment *x) {
    const bench_config *c = x->results.config;
    overlap_load *load = cli_malloc((size_t)(c->dirs.n * PARTS + 1) * sizeof *load);
    overlap_load *nothing = &load[c->dirs.n * PARTS];
    x->data = load;
    *nothing = (overlap_load){0};
    for (int d = 0; d < c->dirs.n; d++)
        for (int p = 0; p < PARTS; p++, load++) {
            *load = (overlap_load){.dir = c->dirs.item[d], .part = p};
            add_part(x, load, nothing);
        }
}

/* A point of I/O alone says how long the compute phase of its part is. */
static void overlap_measured(experiment *x, const cli_world *w, const bench_cell *point) {
    overlap_load *load = x->data;
    if (strcmp(point->entry[0].name, ALONE) != 0) return;
    const double n = point->entry[0].rounds ? compute_calibrate(w, point->entry[0].time.median) : 0;
    for (int i = 0; i < x->results.config->dirs.n * PARTS; i++)
        if (strcmp(part_table[load[i].part].calibration, point->figure) == 0 &&
            strcmp(load[i].dir, point->dir) == 0)
            load[i].multiplications = n;
}

/* ---- exhibits */

typedef struct {
    double compute, io, file; /* seconds of the sequential way */
} overlap_times;

/* Exchange is what the operation takes with a store that moves nothing; the rest of it is file access. */
static overlap_times times_of(const bench_cell *point) {
    const bench_entry *sequential = point_entry(point, SEQUENTIAL);
    const bench_entry *exchange = point_entry(point, EXCHANGE);
    const double compute = point_phase(sequential, offsetof(bench_phases, compute));
    const double io = fmax(sequential->time.median - compute, 1e-9);
    const double rest = exchange ? io - exchange->time.median : io;
    return (overlap_times){.compute = compute, .io = io, .file = fmax(rest, 1e-9)};
}

/* Per cent of the smaller of compute and `other` that a way hides. */
static exhibit_value hidden(const bench_cell *point, const bench_entry *e, double other) {
    return point_hidden(point_entry(point, SEQUENTIAL), e, fmin(times_of(point).compute, other));
}

static void put_hidden(exhibit *e, const char *row, const bench_cell *point) {
    const overlap_times t = times_of(point);
    exhibit_put_number(e, row, "compute ms", t.compute * 1e3);
    exhibit_put_number(e, row, "I/O ms", t.io * 1e3);
    exhibit_put_number(e, row, "file ms", t.file * 1e3);
    for (int i = 0; i < point->entries; i++) {
        const bench_entry *way = &point->entry[i];
        char column[64];
        if (strcmp(way->name, SEQUENTIAL) == 0 || strcmp(way->name, EXCHANGE) == 0 || !way->rounds)
            continue;
        snprintf(column, sizeof column, "%s %%", way->name);
        exhibit_put(e, row, column, hidden(point, way, t.io));
        if (way->kind == ENTRY_PEER) continue;
        snprintf(column, sizeof column, "%s, file %%", way->name);
        exhibit_put(e, row, column, hidden(point, way, t.file));
    }
}

static void show_part(experiment *x, const overlap_load *load) {
    char title[120];
    x->group = load->dir;
    exhibit *lines = experiment_exhibit(x, EXHIBIT_LINES, part_table[load->part].figure,
                                        part_table[load->part].title);
    lines->axis = "processes";
    lines->unit = "milliseconds per iteration";
    exhibit_note(
        lines,
        "One iteration is a compute phase of %.1f million multiplications and one write; a "
        "run is %d of them, from open to close. Dickens and Thakur, %s.",
        load->multiplications / 1e6, x->results.config->iterations, part_table[load->part].paper);
    snprintf(title, sizeof title, "Hidden: %s", part_table[load->part].title);
    exhibit *table = experiment_exhibit(x, EXHIBIT_TABLE, "hidden", title);
    table->axis = "processes";
    table->decimals = 1;
    exhibit_note(
        table, "Of the smaller of compute and I/O (file: of compute and file access), how much the "
               "other hides, in per cent: medians and quartiles of the differences to the "
               "sequential way, round by round. Below 0: it takes longer than one after the "
               "other.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        const bench_entry *sequential = point_entry(point, SEQUENTIAL);
        char row[16];
        if (strcmp(point->figure, part_table[load->part].figure) != 0 ||
            strcmp(point->dir, load->dir) != 0 || !sequential)
            continue;
        snprintf(row, sizeof row, "%d", point->ranks);
        for (int k = 0; k < point->entries; k++)
            if (point->entry[k].rounds && strcmp(point->entry[k].name, EXCHANGE) != 0)
                exhibit_put(lines, row, point->entry[k].name, point_milliseconds(&point->entry[k]));
        put_hidden(table, row, point);
    }
}

static void find_hidden(experiment *x) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        const bench_entry *sequential = point_entry(point, SEQUENTIAL);
        const bench_entry *way = point_entry(point, IO_ONLY);
        if (!sequential || !way || strncmp(point->figure, "collective", 10) != 0 ||
            point->ranks != experiment_most_ranks(x))
            continue;
        const int direct = strcmp(point->figure, "collective direct") == 0;
        const exhibit_value of_file = hidden(point, way, times_of(point).file);
        const finding_grade grade = of_file.mid >= OVERLAP_GOAL ? FINDING_MET : FINDING_MISSED;
        experiment_finding(
            x, direct ? grade : FINDING_PLAIN,
            "%s, %d processes, %s: io-only hides %.0f %% (quartiles %.0f to %.0f) of "
            "the smaller of compute and file access%s; begin takes %.1f ms, end %.1f ms.",
            point->dir, point->ranks, direct ? "O_DIRECT" : "page cache", of_file.mid, of_file.lo,
            of_file.hi, direct ? " (goal: 80 %)" : "",
            1e3 * point_phase(way, offsetof(bench_phases, begin)),
            1e3 * point_phase(way, offsetof(bench_phases, end)));
        if (way->stats.foreground > 0)
            experiment_finding(x, FINDING_PLAIN,
                               "%s, %d processes: background_bytes had no room for it; the file "
                               "access of io-only was done in begin.",
                               point->dir, point->ranks);
    }
}

static void overlap_judge(experiment *x) {
    const overlap_load *load = x->data;
    for (int i = 0; i < x->results.config->dirs.n * PARTS; i++) show_part(x, &load[i]);
    find_hidden(x);
}

const experiment_kind experiment_overlap = {
    .name = "overlap",
    .title = "Computation overlapped with writing",
    .source = "After Dickens and Thakur, figures 4 to 7.",
    .threads = MPI_THREAD_MULTIPLE,
    .scope = {.takes = "procs,array,size,iterations", .defaults = overlap_defaults},
    .plan = overlap_plan,
    .measured = overlap_measured,
    .judge = overlap_judge,
};
