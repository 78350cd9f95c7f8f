/* tutti-experiments dataset: performance of datasets, and the tables of PDS/PIO by Sandia.
 *
 *   visible, durable   a step of 8 variables by every layout, decomposition and conversion, written and read,
 *                      compared with the limit of the file system              dataset_steps.c
 *   buffers            Table 1: one I/O server and many, buffers of 1 to 28 MB  dataset_papers.c
 *   meshes             Tables 2 and 3: steps of small meshes, with metadata     dataset_papers.c
 *   commits, opening   the cost of metadata, over many segments                 dataset_commits.c
 *
 * The variants are not cells of `tutti bench`, because they write a dataset instead of a file with known
 * bytes: this experiment has parts, but no points.  Goals are reported; a missed goal is not a failure.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void dataset_defaults(bench_config *c, int quick) {
    c->size = quick ? 64 << 10 : 32 << 20;
    c->rounds = quick ? 2 : 7;
    c->write = c->read = 1;
    c->all_parts = "visible,durable,buffers,meshes,commits,opening";
    cli_list_split(&c->parts, c->all_parts);
}

int datasets_part(const experiment *x, const char *part) {
    return cli_list_has(&x->results.config->parts, part);
}

double datasets_cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- directories */

const char *datasets_path(const experiment *x, const char *dir) {
    return cli_scratch(x->all, dir, "dataset");
}

void datasets_remove(const experiment *x, const char *path) {
    cli_barrier(x->all);
    if (x->all->rank == 0) {
        DIR *d = opendir(path); /* a dataset contains only files */
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
            char *name = cli_format("%s/%s", path, e->d_name);
            if (*e->d_name != '.' || strlen(e->d_name) > 2) unlink(name);
            free(name);
        }
        if (d) closedir(d);
        rmdir(path);
    }
    cli_barrier(x->all);
}

tutti_err datasets_open(const experiment *x, const char *path, const dataset_settings *variant,
                        tutti_dataset **out) {
    tutti_options io = x->results.config->options;
    tutti_dataset_options opt;
    tutti_dataset_options_init(&opt);
    opt.level = variant->level;
    opt.checksums = !variant->plain;
    opt.io = &io;
    char copy[200], *rest = NULL;
    tutti_err err = TUTTI_OK;
    snprintf(copy, sizeof copy, "%s", variant->settings ? variant->settings : "");
    for (char *s = strtok_r(copy, " ", &rest); s && err == TUTTI_OK;
         s = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(s, '=');
        if (!value) continue;
        *value++ = '\0';
        err = tutti_options_set(&io, s, value);
    }
    if (err != TUTTI_OK) return err;
    return tutti_dataset_open(x->all->comm, path,
                              TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, out);
}

/* ---- the experiment */

static void dataset_plan(experiment *x) {
    (void)x;
}

static int dataset_begin(experiment *x) {
    const bench_config *c = x->results.config;
    int failed = 0;
    for (int i = 0; i < c->dirs.n && !failed; i++) {
        const char *dir = c->dirs.item[i];
        if (datasets_part(x, "buffers")) failed = failed || datasets_buffers(x, dir);
        if (datasets_part(x, "meshes")) failed = failed || datasets_meshes(x, dir);
        if (datasets_part(x, "visible")) failed = failed || datasets_steps(x, dir, TUTTI_VISIBLE);
        if (datasets_part(x, "durable")) failed = failed || datasets_steps(x, dir, TUTTI_DURABLE);
        if (datasets_part(x, "commits")) failed = failed || datasets_commits(x, dir);
        if (datasets_part(x, "opening")) failed = failed || datasets_opening(x, dir);
        cli_scratch_remove(x->all);
    }
    return cli_agree(x->all, failed);
}

const experiment_kind experiment_dataset = {
    .name = "dataset",
    .also = "paper5",
    .title = "Datasets",
    .source = "After Sturtevant, Chen, Heermann, Christon and Greenberg, PDS/PIO, Tables 1 to 3.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "part,size,ways,op", .defaults = dataset_defaults},
    .plan = dataset_plan,
    .begin = dataset_begin,
};
