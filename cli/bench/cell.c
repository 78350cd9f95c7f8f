/* tutti bench: cells.  For one directory and pattern: allocate the buffers; for write and read:
 * run all entries in interleaved rounds (measure/measure.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- file systems */

void cell_name_file_system(const char *dir, char *out, size_t size) {
    static const struct {
        unsigned long type;
        const char *name;
    } known[] = {{0x01021994, "tmpfs"},  {0xef53, "ext"},         {0x58465342, "xfs"},
                 {0x9123683e, "btrfs"},  {0x794c7630, "overlay"}, {0x6969, "nfs"},
                 {0x0bd00bd0, "lustre"}, {0x65735546, "fuse"},    {0x2fc12fc1, "zfs"},
                 {0x858458f6, "ramfs"},  {0x01021997, "9p"},      {0x00c36400, "ceph"}};
    struct statfs fs;
    snprintf(out, size, "unknown");
    if (statfs(dir, &fs) != 0) return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned long)fs.f_type == known[i].type) snprintf(out, size, "%s", known[i].name);
}

/* ---- one cell */

typedef struct {
    bench_job *job;
    bench_cell *cell;
    cli_progress *progress;
    double share; /* fraction of the time budget at the end of this cell */
} cell_run;

static void run_entry(measure *m, measure_variant *v, double *value) {
    const cell_run *c = m->data;
    char what[512];
    snprintf(what, sizeof what, "%s %s on %d ranks in %s, round %d of %d",
             c->cell->is_write ? "write" : "read", c->cell->pattern, c->cell->ranks, c->cell->dir,
             m->round + 1, m->rounds);
    progress_step(c->progress, what);
    timing_run(c->job, (bench_entry *)v, value);
}

/* Called before each further round: all ranks make the same decision about time and signals, and slow entries
 * are skipped in later rounds. */
static int is_over(measure *m) {
    const cell_run *c = m->data;
    const double budget = c->job->config->budget;
    int up = budget > 0 && cli_now() - c->progress->started > budget * c->share;
    timing_let_rest(c->cell);
    MPI_Bcast(&up, 1, MPI_INT, 0, c->job->world->comm);
    return (up && m->round >= c->cell->least_rounds) || cli_stopped(c->job->world);
}

/* Create the file that the entries of a read cell read. */
static int write_input(bench_job *job) {
    bench_entry e = {.kind = ENTRY_LIMIT};
    bench_job writer = *job;
    writer.is_write = 1;
    content_fill(job->config->seed, job->share_lo, job->share, job->share_hi - job->share_lo);
    if (bench_create(job)) return 1;
    return cli_agree(job->world, bench_limit.run(&writer, &e));
}

static void reduce_integer(const cli_world *w, int64_t *x) {
    int64_t sum = 0;
    MPI_Allreduce(x, &sum, 1, MPI_INT64_T, MPI_SUM, w->comm);
    *x = sum;
}

static void reduce_seconds(const cli_world *w, double *x) {
    *x = cli_max(w, *x);
}

static int run_cell(bench_job *job, bench_cell *cell, cli_progress *progress, double share) {
    job->is_write = cell->is_write;
    job->cell = cell;
    cell->total = job->pattern->total;
    cell->runs = tutti_access_runs_count(job->pattern->access);
    reduce_integer(job->world, &cell->runs);
    if (cell->is_write && !(cell->scene && cell->scene->verify_write)) {
        content_fill_pieces(job->config->seed, job->pattern, job->user);
        content_fill(job->config->seed, job->share_lo, job->share, job->share_hi - job->share_lo);
    } else if (write_input(job)) {
        return 1;
    }
    cell_run run = {job, cell, progress, share};
    measure m = {.values = bench_values,
                 .rounds = job->config->rounds,
                 .data = &run,
                 .run = run_entry,
                 .stop = is_over};
    const long done = progress->done + (long)m.rounds * cell->entries;
    for (int i = 0; i < cell->entries; i++) measure_attach(&m, &cell->entry[i].v);
    measure_rounds(&m);
    free(m.variant);
    progress->done = done;
    for (int i = 0; i < cell->entries; i++) {
#define REDUCE(ctype, name, help)              \
    _Generic(cell->entry[i].stats.name, double \
             : reduce_seconds, default         \
             : reduce_integer)(job->world, &cell->entry[i].stats.name);
        TUTTI_STATS_TABLE(REDUCE)
#undef REDUCE
    }
    timing_ratios(cell);
    if (job->world->rank == 0) unlink(job->path);
    return 0;
}

/* ---- the cells of one directory and pattern, which share their buffers */

static void *make_buffer(tutti_off bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes ? (size_t)bytes : 1) != 0) p = NULL;
    if (p) memset(p, 0, (size_t)bytes);
    return p;
}

int cells_run(const bench_job *all, int n, bench_cell *cell, cli_progress *progress,
              const double share[2]) {
    bench_job job = *all;
    bench_pattern pattern;
    if (cli_agree(job.world,
                  cell->scene ? cell->scene->make(cell, job.world, &pattern)
                              : bench_pattern_make(cell->pattern, job.world, job.config, &pattern)))
        return 1;
    job.pattern = &pattern;
    job.path = cli_scratch(job.world, cell->dir, "bench");
    double free_bytes = 0;
    int failed = cli_directory_room(cell->dir, &free_bytes);
    if (!failed && free_bytes < 1.05 * (double)pattern.total)
        failed = cli_error("'%s' has %.0f bytes of free space: not enough for a file of %lld bytes",
                           cell->dir, free_bytes, (long long)pattern.total);
    if (!failed) {
        const cli_world *w = job.world;
        const tutti_off total = job.pattern->total;
        job.share_lo = total / w->ranks * w->rank;
        job.share_hi = w->rank == w->ranks - 1 ? total : job.share_lo + total / w->ranks;
        job.user = make_buffer(job.pattern->memory);
        job.share = make_buffer(job.share_hi - job.share_lo);
        failed = job.user && job.share
                     ? 0
                     : cli_error("cannot allocate the buffers; use a smaller --size");
    }
    failed = cli_agree(job.world, failed);
    for (int i = 0; i < n && !failed; i++)
        failed = run_cell(&job, &cell[i], progress,
                          share[0] + (share[1] - share[0]) * (i + 1) / (double)n);
    free(job.user);
    free(job.share);
    job.user = job.share = NULL;
    bench_pattern_free(&pattern);
    if (cell->scene && cell->scene->done) cell->scene->done(cell);
    cli_scratch_remove(job.world);
    return failed;
}

/* ---- results */

/* Store the name and version of the MPI library, and the path of the profile.  The text after the
 * first comma is omitted: it may name the build machine. */
void results_name_mpi(bench_results *r) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    for (char *s = text; *s; s++)
        if (*s == '\t') *s = ' ';
    snprintf(r->mpi, sizeof r->mpi, "%.*s", (int)sizeof r->mpi - 1, text);
    /* Store the path of the first profile that exists, in the library's search order. */
    const char *const given = r->config->options.profile;
    char user[sizeof r->profile] = "";
    const char *found = "built-in";
    if (tutti_profile_path(user, sizeof user) != TUTTI_OK) *user = '\0';
    if (access("/etc/tutti/profile", R_OK) == 0) found = "/etc/tutti/profile";
    if (*user && access(user, R_OK) == 0) found = user;
    if (*given) found = given;
    snprintf(r->profile, sizeof r->profile, "%s", found);
}

void results_count_failures(bench_results *r) {
    for (int i = 0; i < r->cells; i++)
        for (int k = 0; k < r->cell[i].entries; k++)
            r->failures += *r->cell[i].entry[k].v.failure && !r->cell[i].entry[k].unavailable;
}

void results_keep(bench_results *r, int cells) {
    for (int i = cells; i < r->cells; i++) {
        for (int k = 0; k < r->cell[i].entries; k++) measure_variant_free(&r->cell[i].entry[k].v);
        free(r->cell[i].entry);
    }
    if (cells < r->cells) r->cells = cells;
}

void results_free(bench_results *r) {
    results_keep(r, 0);
    free(r->cell);
}
