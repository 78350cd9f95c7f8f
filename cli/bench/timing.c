/* One run of one entry, and the statistics of many runs.
 *
 *   write   delete the file | prepare | barrier | TIME | reopen, verify every byte | delete
 *   read    overwrite the buffer | prepare | barrier | TIME | verify every byte of the buffer
 *
 * With --cold the file is dropped from the page cache before each read.  With --fsync the time of a write
 * ends when the bytes of all ranks are on the device; each variant syncs with its own call.
 *
 * A rank that has finished sleeps until the others have, so that waiting does not use a core.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int changes_file(const bench_job *job) {
    return job->is_write && job->cell && job->cell->scene && job->cell->scene->verify_write;
}

static void delete_file(const bench_job *job, const bench_entry *e) {
    if (changes_file(job)) return;
    if (job->world->rank == 0) unlink(job->path);
    if (!e->checkable && tutti_file_delete(job->path, &e->options) != TUTTI_OK) return;
}

/* Create the file on rank 0, for runners that would create it on all ranks: on some network file systems,
 * creating one name concurrently fails or hangs. */
int bench_create(const bench_job *job) {
    int failed = 0;
    if (job->world->rank == 0) {
        const int fd = open(job->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || close(fd) != 0) failed = cli_error_errno("create", job->path);
    }
    return cli_agree(job->world, failed);
}

static int prepare_run(bench_job *job, bench_entry *e, const bench_runner *r) {
    if (job->is_write)
        delete_file(job, e);
    else if (r->uses_share)
        memset(job->share, 0xa5, (size_t)(job->share_hi - job->share_lo));
    else
        memset(job->user, 0xa5, (size_t)job->pattern->memory);
    if (!job->is_write && job->config->cold) { /* each node has its own page cache */
        const int first = job->world->rank == 0 || !job->world->one_node;
        if (cli_agree(job->world, first && cli_file_forget(job->path))) return 1;
    }
    if (job->is_write && r->needs_file && bench_create(job)) return 1;
    cli_barrier(job->world);
    return cli_agree(job->world, r->prepare ? r->prepare(job, e) : 0);
}

static int check_buffer(const bench_job *job, const bench_runner *r) {
    const uint64_t seed = job->config->seed;
    const tutti_off bad = r->uses_share ? content_check(seed, job->share_lo, job->share,
                                                        job->share_hi - job->share_lo)
                                        : content_check_pieces(seed, job->pattern, job->user);
    if (bad < 0) return 0;
    return cli_error("'%s' has a wrong byte at offset %lld", job->path, (long long)bad);
}

static int verify_run(const bench_job *job, const bench_entry *e, const bench_runner *r) {
    struct stat st;
    int failed;
    if (!job->is_write)
        failed = check_buffer(job, r);
    else if (changes_file(job))
        failed = job->cell->scene->verify_write(job, e);
    else if (stat(job->path, &st) != 0)
        failed = cli_error_errno("cannot access", job->path);
    else if (st.st_size != (off_t)job->pattern->total)
        failed = cli_error("'%s' has %lld bytes instead of %lld", job->path, (long long)st.st_size,
                           (long long)job->pattern->total);
    else
        failed = content_check_file(job->config->seed, job->path, job->share_lo, job->share_hi);
    return cli_agree(job->world, failed);
}

const char *const bench_values[MEASURE_VALUES + 1] = {"seconds",       "seconds_exchange",
                                                      "seconds_file",  "seconds_compute",
                                                      "seconds_begin", "seconds_end"};

void timing_run(bench_job *job, bench_entry *e, double *value) {
    const bench_runner *r = e->runner;
    double seconds = 0;
    e->now = (bench_phases){0};
    int failed = prepare_run(job, e, r);
    if (!failed) {
        cli_barrier(job->world);
        MPI_Barrier(job->world->comm);
        const double start = cli_now();
        failed = r->run(job, e);
        seconds = cli_elapsed(job->world, start, cli_now());
        failed = cli_agree(job->world, failed);
    }
    if (failed) snprintf(e->v.failure, sizeof e->v.failure, "%.500s", cli_message());
    if (r->end) r->end(job, e);
    if (!failed && e->checkable && verify_run(job, e, r))
        snprintf(e->v.failure, sizeof e->v.failure, "%.500s", cli_message());
    if (!*e->v.failure) {
        /* Compute the samples of the run. */
        const bench_phases *now = &e->now;
        double sum[] = {now->exchange, now->file, now->compute, now->begin, now->end};
        double aggregators = e->stats.windows > 0;
        cli_sums(job->world, 1, &aggregators);
        /* Time of exchange and file access is averaged over the aggregators if there are any: other ranks
         * cannot always determine what they wait for (tutti/stats.h). */
        if (aggregators > 0 && e->stats.windows == 0) sum[0] = sum[1] = 0;
        cli_sums(job->world, 5, sum);
        value[0] = seconds / e->iterations;
        for (int i = 0; i < 5; i++)
            value[1 + i] =
                sum[i] / ((i < 2 && aggregators > 0 ? aggregators : (double)job->world->ranks) *
                          e->iterations);
    }
    if (job->is_write) delete_file(job, e);
}

/* ---- statistics */

const bench_entry *timing_limit(const bench_cell *cell) {
    return cell->entries && cell->entry[0].v.rounds ? &cell->entry[0] : NULL;
}

void timing_ratios(bench_cell *cell) {
    const bench_entry *limit = timing_limit(cell);
    double bare = 0; /* median of the faster bare reference (pieces, staging); 0: not measured */
    for (int i = 0; i < cell->entries; i++) {
        bench_entry *e = &cell->entry[i];
        double q[5];
        for (int k = 0; k < 5; k++) q[k] = measure_quantile(e->v.sample[0], e->v.rounds, 0.25 * k);
        e->time = (bench_summary){.min = q[0], .q1 = q[1], .median = q[2], .q3 = q[3], .max = q[4]};
        if ((e->kind == ENTRY_PIECES || e->kind == ENTRY_STAGING) && e->v.rounds &&
            (bare == 0 || e->time.median < bare))
            bare = e->time.median;
    }
    for (int i = 0; i < cell->entries; i++) {
        bench_entry *e = &cell->entry[i];
        if (!e->v.rounds) continue;
        if (limit) {
            e->to_limit = e->time.median / limit->time.median;
            const int n = e->v.rounds < limit->v.rounds ? e->v.rounds : limit->v.rounds;
            double *ratio = cli_malloc((size_t)n * sizeof *ratio);
            for (int k = 0; k < n; k++) ratio[k] = e->v.sample[0][k] / limit->v.sample[0][k];
            e->to_limit_paired = measure_quantile(ratio, n, 0.5);
            free(ratio);
        }
        if (bare > 0) e->to_bare = e->time.median / bare;
    }
}

void timing_let_rest(bench_cell *cell) {
    double fastest = 0;
    for (int i = 0; i < cell->entries && cell->patience > 0; i++) {
        const bench_entry *e = &cell->entry[i];
        const double median = measure_quantile(e->v.sample[0], e->v.rounds, 0.5);
        if (e->v.rounds >= BENCH_TRIAL && !*e->v.failure && (fastest == 0 || median < fastest))
            fastest = median;
    }
    for (int i = 0; i < cell->entries && fastest > 0; i++) {
        bench_entry *e = &cell->entry[i];
        const int trial = e->kind == ENTRY_PEER ? BENCH_TRIAL_PEER : BENCH_TRIAL;
        if (e->stays || e->v.rounds < trial) continue;
        /* the noise of a median decreases with the number of rounds */
        double patience = cell->patience;
        if (cell->tightens && e->kind != ENTRY_PEER)
            patience = 1 + (patience - 1) * BENCH_TRIAL / e->v.rounds;
        e->v.is_resting |= measure_quantile(e->v.sample[0], e->v.rounds, 0.5) > patience * fastest;
    }
}

double bench_goal(const bench_cell *cell) {
    if (cell->no_goal) return 0;
    if (!cell->is_write) return BENCH_GOAL_READ;
    return strncmp(cell->pattern, "irregular", 9) == 0 ? BENCH_GOAL_WRITE_IRREGULAR
                                                       : BENCH_GOAL_WRITE;
}

double bench_ratio_judged(const bench_cell *cell, const bench_entry *e) {
    return cell->is_write ? e->to_limit : e->to_bare;
}

double bench_bandwidth(const bench_cell *cell, const bench_entry *e, double seconds) {
    return e->v.rounds && seconds > 0 ? (double)cell->total / seconds / (1 << 20) : 0;
}
