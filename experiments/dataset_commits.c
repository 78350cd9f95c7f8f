/* tutti-experiments dataset: the cost of metadata.
 *
 *   commits   commit 1000 segments of tiny data; the last commits should take no longer than the first
 *   opening   open a dataset of 10 000 segments with 50 variables each, and query every section
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <stdlib.h>

enum { SOME = 4, MANY = 50 };

/* A dataset of tiny variables; every rank has some entries of each variable. */
typedef struct {
    tutti_dataset *d;
    tutti_decomposition *share;
    int variables;
    double values[8];
} tiny;

static tutti_err tiny_open(const experiment *x, const char *path, int level, int variables,
                           tiny *out) {
    const dataset_settings variant = {.level = level};
    const tutti_count each = 8, entries = each * x->all->ranks;
    *out = (tiny){.variables = variables};
    tutti_err err = datasets_open(x, path, &variant, &out->d);
    if (err == TUTTI_OK) err = tutti_dataset_grid(out->d, "space", 1, &entries);
    for (int v = 0; v < variables && err == TUTTI_OK; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        err = tutti_dataset_variable(
            out->d, name, &(tutti_variable_spec){.space = "space", .type = TUTTI_FLOAT64});
    }
    if (err != TUTTI_OK) return err;
    return tutti_decomposition_create(
        out->d, "space",
        &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = each, .whole = 1},
        &out->share);
}

static void tiny_close(const experiment *x, const char *path, tiny *t, int removes) {
    tutti_decomposition_free(&t->share);
    if (t->d && tutti_dataset_close(&t->d) != TUTTI_OK) t->d = NULL;
    if (removes) datasets_remove(x, path);
}

/* Write a segment; *commit: seconds of its commit, *all: seconds of the whole segment. */
static tutti_err tiny_step(const experiment *x, tiny *t, int64_t step, double *commit,
                           double *all) {
    tutti_put puts[MANY];
    char names[MANY][16];
    for (int v = 0; v < t->variables; v++) {
        snprintf(names[v], sizeof names[v], "v%d", v);
        puts[v] = (tutti_put){names[v], t->share, TUTTI_FLOAT64, t->values};
    }
    (void)x;
    const double start = cli_now();
    tutti_err err = tutti_dataset_begin(t->d, TUTTI_STATE, step, (double)step);
    if (err == TUTTI_OK) err = tutti_dataset_put(t->d, t->variables, puts);
    const double put = cli_now();
    if (err == TUTTI_OK) err = tutti_dataset_commit(t->d);
    *commit = cli_now() - put;
    *all = cli_now() - start;
    return err;
}

/* ---- commits */

int datasets_commits(experiment *x, const char *dir) {
    const int n = x->results.config->quick ? 40 : 1000;
    const char *path = datasets_path(x, dir);
    double *commit = cli_malloc((size_t)n * sizeof *commit),
           *all = cli_malloc((size_t)n * sizeof *all);
    int failed = 0;
    for (int level = 0; level < 2 && !failed; level++) {
        tiny t;
        tutti_err err = tiny_open(x, path, level ? TUTTI_DURABLE : TUTTI_VISIBLE, SOME, &t);
        for (int i = 0; i < n && err == TUTTI_OK; i++)
            err = tiny_step(x, &t, i, &commit[i], &all[i]);
        failed = err == TUTTI_OK ? 0 : cli_error_tutti();
        FILE *f = failed ? NULL : experiment_part(x, "commits", dir);
        if (f) {
            fprintf(f, ", \"level\": \"%s\", \"variables\": %d", level ? "durable" : "visible",
                    SOME);
            experiment_json_seconds(f, "commit", n, commit);
            experiment_json_seconds(f, "step", n, all);
            fputs("}", f);
        }
        tiny_close(x, path, &t, 1);
    }
    free(commit);
    free(all);
    return cli_agree(x->all, failed);
}

/* ---- opening */

static int look_at_all(tutti_dataset *d) {
    const tutti_count n = tutti_dataset_segments(d), variables = tutti_dataset_variables(d);
    for (tutti_count s = 0; s < n; s++)
        for (tutti_count v = 0; v < variables; v++) {
            tutti_variable_row row;
            tutti_section_row section;
            if (tutti_dataset_variable_row(d, v, &row) != TUTTI_OK ||
                tutti_dataset_section_row(d, s, row.name, &section) != TUTTI_OK)
                return cli_error_tutti();
        }
    return 0;
}

/* Measure the processor time of opening the dataset and of querying every section.  Rank 0 only. */
static int open_alone(const char *path, double *open_out, double *look_out) {
    tutti_dataset *d = NULL;
    const double start = datasets_cpu();
    if (tutti_dataset_open(MPI_COMM_SELF, path, TUTTI_READ, NULL, &d) != TUTTI_OK)
        return cli_error_tutti();
    const double opened = datasets_cpu();
    int failed = look_at_all(d);
    *open_out = opened - start;
    *look_out = datasets_cpu() - opened;
    if (tutti_dataset_close(&d) != TUTTI_OK && !failed) failed = cli_error_tutti();
    return failed;
}

static int measure_opening(experiment *x, const char *path, double *open_out, double *look_out,
                           double *all_out) {
    const cli_world *w = x->all;
    tutti_dataset *d = NULL;
    int failed = w->rank == 0 ? open_alone(path, open_out, look_out) : 0;
    if (cli_agree(w, failed)) return 1;
    MPI_Barrier(w->comm);
    const double start = cli_now();
    const tutti_err err = tutti_dataset_open(w->comm, path, TUTTI_READ, NULL, &d);
    *all_out = cli_elapsed(w, start, cli_now());
    if (d && tutti_dataset_close(&d) != TUTTI_OK) d = NULL;
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

int datasets_opening(experiment *x, const char *dir) {
    const int segments = x->results.config->quick ? 100 : 10000, rounds = x->results.config->rounds;
    const char *path = datasets_path(x, dir);
    double *seconds[3], unused;
    tiny t;
    for (int i = 0; i < 3; i++) {
        seconds[i] = cli_malloc((size_t)rounds * sizeof **seconds);
        for (int k = 0; k < rounds; k++) seconds[i][k] = 0;
    }
    tutti_err err = tiny_open(x, path, TUTTI_VISIBLE, MANY, &t);
    for (int i = 0; i < segments && err == TUTTI_OK; i++)
        err = tiny_step(x, &t, i, &unused, &unused);
    int failed = err == TUTTI_OK ? 0 : cli_error_tutti();
    tiny_close(x, path, &t, 0);
    for (int k = 0; k < rounds && !failed; k++)
        failed = measure_opening(x, path, &seconds[0][k], &seconds[1][k], &seconds[2][k]);
    FILE *f = failed ? NULL : experiment_part(x, "opening", dir);
    if (f) {
        fprintf(f, ", \"segments\": %d, \"variables\": %d", segments, MANY);
        experiment_json_seconds(f, "open", rounds, seconds[0]);
        experiment_json_seconds(f, "look", rounds, seconds[1]);
        experiment_json_seconds(f, "all", rounds, seconds[2]);
        fputs("}", f);
    }
    datasets_remove(x, path);
    for (int i = 0; i < 3; i++) free(seconds[i]);
    return cli_agree(x->all, failed);
}
