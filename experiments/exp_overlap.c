/* tutti-experiments overlap: Dickens and Thakur, figures 4 to 7: the share of I/O that overlaps
 * with computation.
 *
 *   independent   every process writes its contiguous share before the computation; or a thread of
 *                 the program, or of the library (tutti_file_write_independent_start), writes it
 *                 during the computation
 *   collective    begin, compute, end: all work in begin; all by a thread; only file access by a thread
 *
 * Collective writes follow the paper: step 5, no overlap inside the operation; every process writes
 * its part in one large request, as far as a reasonable amount of staging memory allows.  With --op
 * read the order is reversed: file access comes first, and if it is asynchronous, the exchange is
 * in end.  Both operations are measured through the page cache and with O_DIRECT.  All variants of
 * a part use the same store, which can work asynchronously, so that the gain of a deeper queue is
 * not counted as overlap.  Further variants: plain sequential calls, and asynchronous file access
 * without computation.
 *
 * As in the paper, the compute phase consists of floating-point multiplications and takes as long
 * as the I/O alone on the largest number of processes.  That time is measured first for each part,
 * directory and operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"
#include "experiments/compute.h"

#include <pthread.h>
#include <string.h>

#define SEQUENTIAL "sequential"
#define THREAD "thread"
#define ALL "all"
#define IO_ONLY "io-only"
#define PEER "MPI begin/end"
#define ALONE "I/O alone"
#define EXCHANGE "exchange alone"
#define PLAIN "sequential, posix"
#define BEHIND "io-only, no compute"

static const struct {
    const char *figure, *calibration;
    int collective, direct;
} part_table[] = {
    {"independent", "independent alone", 0, 0},
    {"independent direct", "independent direct alone", 0, 1},
    {"collective", "collective alone", 1, 0},
    {"collective direct", "collective direct alone", 1, 1},
};
enum { PARTS = sizeof part_table / sizeof *part_table };

/* Maximum bytes of an aggregator's request, and of the messages of all ranks. */
static const tutti_off STAGING_MOST = 256 << 20;

/* The compute phase of a part, directory and operation. */
typedef struct {
    const char *dir;
    int part, is_read;
    double multiplications;
} overlap_load;

static double multiplications_of(const bench_entry *e) {
    return ((const overlap_load *)e->context)->multiplications;
}

/* Return the number of compute phases. */
static int loads_of(const experiment *x) {
    int op[2];
    return x->results.config->dirs.n * PARTS * experiment_ops(x, op);
}

static void overlap_defaults(bench_config *c, int quick) {
    c->write = 1;
    c->array = (quick ? 32 : 64) << 20;
    c->size = (quick ? 16 : 4) << 20;
    c->rounds = quick ? 3 : 7;
    c->iterations = quick ? 2 : 4;
}

/* ---- runners */

static tutti_err iterate_split(bench_job *job, bench_entry *e, tutti_off *count) {
    const double start = cli_now();
    const tutti_access *a = job->pattern->access;
    tutti_err err = job->is_write ? tutti_file_write_begin(job->file, a, job->user)
                                  : tutti_file_read_begin(job->file, a, job->user);
    if (err != TUTTI_OK) return err;
    const double begun = cli_now(), compute = compute_phase(multiplications_of(e));
    err = job->is_write ? tutti_file_write_end(job->file, count)
                        : tutti_file_read_end(job->file, count);
    e->now.begin += begun - start;
    e->now.compute += compute;
    e->now.end += cli_now() - begun - compute;
    if (err == TUTTI_OK) variant_stats(job, e);
    return err;
}

static int run_split(bench_job *job, bench_entry *e) {
    tutti_off count = 0;
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    for (int i = 0; i < e->iterations; i++)
        if (iterate_split(job, e, &count) != TUTTI_OK) return variant_failed(e);
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    return variant_count(job, e, count);
}

static const bench_runner split_runner = {.run = run_split, .end = variant_end};

typedef struct {
    bench_job *job;
    tutti_off count;
    char failure[256]; /* message of the first failure */
} thread_task;

static void task_note(thread_task *t, tutti_err err) {
    if (err != TUTTI_OK && !*t->failure)
        snprintf(t->failure, sizeof t->failure, "%s", tutti_last_message());
}

static void *move_share(void *argument) {
    thread_task *t = argument;
    const tutti_access *a = t->job->pattern->access;
    task_note(t, t->job->is_write
                     ? tutti_file_write_independent(t->job->file, a, t->job->user, &t->count)
                     : tutti_file_read_independent(t->job->file, a, t->job->user, &t->count));
    return NULL;
}

/* When independent access happens: before the computation; during it by a thread of the program; or by the
 * library. */
enum { THEN, BESIDE, STARTED };

static void iterate_independent(thread_task *task, bench_entry *e, int how) {
    pthread_t thread;
    const bench_job *job = task->job;
    const tutti_access *a = job->pattern->access;
    tutti_request *request = NULL;
    int threaded = 0;
    if (how == THEN) move_share(task);
    if (how == BESIDE) {
        threaded = pthread_create(&thread, NULL, move_share, task) == 0;
        if (!threaded) snprintf(task->failure, sizeof task->failure, "cannot start a thread");
    }
    if (how == STARTED)
        task_note(task, job->is_write
                            ? tutti_file_write_independent_start(job->file, a, job->user, &request)
                            : tutti_file_read_independent_start(job->file, a, job->user, &request));
    e->now.compute += compute_phase(multiplications_of(e));
    if (threaded) pthread_join(thread, NULL);
    if (request) task_note(task, tutti_request_wait(&request, &task->count));
    variant_stats(job, e);
}

/* Close is collective: a rank that failed must call it, too. */
static int run_independent(bench_job *job, bench_entry *e, int how) {
    thread_task task = {.job = job};
    if (variant_open(job, e) != TUTTI_OK) return variant_failed(e);
    for (int i = 0; i < e->iterations; i++) iterate_independent(&task, e, how);
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    if (*task.failure) return cli_error("%s", task.failure);
    return variant_count(job, e, task.count);
}

static int run_then(bench_job *job, bench_entry *e) {
    return run_independent(job, e, THEN);
}

static int run_beside(bench_job *job, bench_entry *e) {
    return run_independent(job, e, BESIDE);
}

static int run_started(bench_job *job, bench_entry *e) {
    return run_independent(job, e, STARTED);
}

static const bench_runner then_runner = {.run = run_then, .end = variant_end};
static const bench_runner beside_runner = {.run = run_beside, .end = variant_end};
static const bench_runner started_runner = {.run = run_started, .end = variant_end};

static int run_peer_split(bench_job *job, bench_entry *e) {
    const MPI_Datatype type = job->pattern->memory_type;
    MPI_File file;
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (peer_open(job, &file)) return 1;
    for (int i = 0; i < e->iterations && code == MPI_SUCCESS; i++) {
        code = job->is_write ? MPI_File_write_at_all_begin(file, 0, job->user, 1, type)
                             : MPI_File_read_at_all_begin(file, 0, job->user, 1, type);
        e->now.compute += compute_phase(multiplications_of(e));
        if (code == MPI_SUCCESS)
            code = job->is_write ? MPI_File_write_at_all_end(file, job->user, &status)
                                 : MPI_File_read_at_all_end(file, job->user, &status);
    }
    return peer_close(job, &file, code);
}

static const bench_runner peer_runner = {.run = run_peer_split};

/* ---- points */

/* Format the settings of the collective parts: every rank is an aggregator, whose part is one
 * window, with space for the messages of all ranks.  Options set by the user have precedence. */
static void stage_settings(const tutti_options *user, const bench_cell *point, char *out,
                           size_t size) {
    const tutti_off all = (3 * point->ranks + 2) * point->size, usual = 16 << 20;
    tutti_off staging = user->cb_buffer_size;
    if (staging == usual && all > usual) staging = all < STAGING_MOST ? all : STAGING_MOST;
    snprintf(out, size, "cb_nodes=%d window_size=%lld cb_buffer_size=%lld",
             user->cb_nodes ? user->cb_nodes : point->ranks,
             (long long)(user->window_size ? user->window_size : STAGING_MOST), (long long)staging);
}

static const bench_runner *runner_of(int part, const char *name) {
    if (strcmp(name, THREAD) == 0) return &beside_runner;
    if (part_table[part].collective) return &split_runner;
    const int started = strcmp(name, IO_ONLY) == 0 || strcmp(name, BEHIND) == 0;
    return started ? &started_runner : &then_runner;
}

/* Add a variant; load NULL: no computation. */
static void add_variant(const experiment *x, bench_cell *point, int part, const overlap_load *load,
                        const char *const variant[2]) {
    char common[256], full[352];
    /* Options common to the variants of a part; those of one variant follow them. */
    const int direct = part_table[part].direct;
    const tutti_options *user = &x->results.config->options;
    const tutti_off staging = point->size * point->ranks + (16 << 20);
    char stage[128] = "";
    if (part_table[part].collective) stage_settings(user, point, stage, sizeof stage);
    const int engine =
        part_table[part].collective && !user->exchange && !user->pipeline && !user->step;
    snprintf(
        common, sizeof common, "%s%s direct_io=%d background_bytes=%lld%s%s", stage,
        engine ? " exchange=two-sided step=5 pipeline=none" : "", direct,
        (long long)(staging > user->background_bytes ? staging : user->background_bytes),
        user->store ? "" : " store=", user->store ? "" : experiment_background_store(x, direct));
    snprintf(full, sizeof full, "%s %s", common, variant[1]);
    bench_entry *e = experiment_variant(x, point, variant[0], full);
    e->context = load;
    e->iterations = x->results.config->iterations;
    e->runner = runner_of(part, variant[0]);
    const int threaded = strcmp(variant[0], ALL) == 0 || strcmp(variant[0], THREAD) == 0;
    if (!threaded || x->thread_level >= MPI_THREAD_MULTIPLE) return;
    e->unavailable = 1;
    snprintf(e->v.failure, sizeof e->v.failure, "MPI does not provide MPI_THREAD_MULTIPLE");
}

static bench_cell *add_point(experiment *x, const overlap_load *load, const char *figure,
                             int ranks) {
    const bench_config *c = x->results.config;
    const int collective = part_table[load->part].collective;
    return experiment_point(x, &(point_spec){.figure = figure,
                                             .dir = load->dir,
                                             .is_read = load->is_read,
                                             .pattern = collective ? "square2d" : "ior",
                                             .ranks = ranks,
                                             .size = collective ? c->array / ranks : c->size});
}

typedef const char *variant_row[2]; /* [0] name, [1] settings */

static const variant_row collective_variants[] = {
    {SEQUENTIAL, "method=two-phase background=none"},
    {PLAIN, "method=two-phase background=none store=posix"},
    {ALL, "method=two-phase background=all"},
    {IO_ONLY, "method=two-phase background=io-only"}};
static const variant_row independent_variants[] = {{SEQUENTIAL, "method=independent"},
                                                   {PLAIN, "method=independent store=posix"},
                                                   {THREAD, "method=independent"},
                                                   {IO_ONLY, "method=independent"}};
enum { VARIANTS = sizeof collective_variants / sizeof *collective_variants };

static void add_part(experiment *x, const overlap_load *load, const overlap_load *nothing) {
    const int part = load->part, collective = part_table[part].collective;
    const variant_row *variants = collective ? collective_variants : independent_variants;
    bench_cell *point = add_point(x, load, part_table[part].calibration, experiment_most_ranks(x));
    add_variant(x, point, part, nothing, (variant_row){ALONE, variants[0][1]});
    for (int i = 0; i < x->worlds; i++) {
        point = add_point(x, load, part_table[part].figure, x->world[i].ranks);
        for (int k = 0; k < VARIANTS; k++) add_variant(x, point, part, load, variants[k]);
        add_variant(x, point, part, nothing, (variant_row){BEHIND, variants[VARIANTS - 1][1]});
        if (!collective) continue;
        if (!load->is_read)
            add_variant(x, point, part, nothing,
                        (variant_row){EXCHANGE, "method=two-phase background=none store=null"});
        if (!part_table[part].direct) {
            bench_entry *peer = experiment_reference(x, point, ENTRY_PEER, PEER);
            peer->runner = &peer_runner;
            peer->context = load;
            peer->iterations = x->results.config->iterations;
        }
    }
}

static void overlap_plan(experiment *x) {
    const bench_config *c = x->results.config;
    int op[2];
    const int ops = experiment_ops(x, op), loads = loads_of(x);
    overlap_load *load = cli_malloc((size_t)(loads + 1) * sizeof *load);
    overlap_load *nothing = &load[loads];
    x->data = load;
    *nothing = (overlap_load){0};
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = 0; i < ops; i++)
            for (int p = 0; p < PARTS; p++, load++) {
                *load = (overlap_load){.dir = c->dirs.item[d], .part = p, .is_read = op[i]};
                add_part(x, load, nothing);
            }
}

/* Minimum I/O time: the overlap of shorter phases would be hidden by noise. */
static const double LEAST_PHASE = 1e-3; /* seconds */

static void refuse_load(experiment *x, const overlap_load *load, double seconds) {
    for (int i = 0; i < x->results.cells; i++)
        for (int k = 0; k < x->results.cell[i].entries; k++) {
            bench_entry *e = &x->results.cell[i].entry[k];
            if (e->context != load) continue;
            e->unavailable = 1;
            snprintf(e->v.failure, sizeof e->v.failure,
                     "file access takes %.2f ms, too short for a compute phase; use a larger --%s",
                     1e3 * seconds, part_table[load->part].collective ? "array" : "size");
        }
}

/* Called after each point.  The point with only I/O determines the compute phase of its part. */
static void overlap_measured(experiment *x, const cli_world *w, const bench_cell *point) {
    overlap_load *load = x->data;
    const bench_entry *e = &point->entry[0];
    if (strcmp(e->v.name, ALONE) != 0) return;
    /* computation makes all other variants longer */
    const int is_long = e->v.rounds && e->time.min >= LEAST_PHASE;
    const double n = is_long ? compute_calibrate(w, e->time.median) : 0;
    for (int i = 0; i < loads_of(x); i++) {
        if (strcmp(point->figure, part_table[load[i].part].calibration) != 0 ||
            strcmp(point->dir, load[i].dir) != 0 || point->is_write == load[i].is_read)
            continue;
        load[i].multiplications = n;
        if (e->v.rounds && !is_long) refuse_load(x, &load[i], e->time.min);
        FILE *f = is_long ? experiment_part(x, part_table[load[i].part].figure, point->dir) : NULL;
        if (f)
            fprintf(f, ", \"operation\": \"%s\", \"multiplications\": %.0f}",
                    load[i].is_read ? "read" : "write", n);
    }
}

const experiment_kind experiment_overlap = {
    .name = "overlap",
    .title = "Computation overlapped with writing",
    .source = "After Dickens and Thakur, figures 4 to 7.",
    .threads = MPI_THREAD_MULTIPLE,
    .scope = {.takes = "procs,array,size,iterations,op", .defaults = overlap_defaults},
    .plan = overlap_plan,
    .measured = overlap_measured,
};
