/* tutti-experiments dataset: common declarations of its parts.
 *
 *   comparison                variants in interleaved rounds                       comparison.c
 *   field                     the values written, their positions, verification    dataset_field.c
 *   parts visible, durable                                                         dataset_steps.c
 *   parts buffers, meshes     the tables of the paper                              dataset_papers.c
 *   parts commits, opening                                                         dataset_commits.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_DATASETS_H
#define TUTTI_CLI_DATASETS_H

#include "experiments/experiment.h"

/* ---- comparisons: variants measured on all ranks in interleaved rounds (measure/measure.h) */

typedef struct comparison {
    measure m; /* samples: seconds of writing, seconds of reading (0: no reading) */
    experiment *x;
    const void *data; /* private data of the part */
    /* Run a variant once; set the seconds of writing and reading.  Returns 0 or, after printing a
     * message, 1 on all ranks.   Collective. */
    int (*run)(struct comparison *c, measure_variant *v, double *seconds_out);
    cli_progress progress;
} comparison;

/* comparison_run measures the variants of c->m, which are added by measure_add.  comparison_report reports
 * them as a part of the experiment; more: further JSON members. */
void comparison_run(comparison *c);
void comparison_report(const comparison *c, const char *dir, const char *more);
/* Synchronise all ranks and return the start time. */
double comparison_start(const cli_world *w);

/* ---- fields: variables of float64 on a space of one dimension, distributed over all ranks */

enum { FIELD_NAME = 8 };

typedef struct field {
    const cli_world *w;
    uint64_t seed;
    int variables;
    tutti_count each, entries; /* entries per rank, and of all ranks */
    tutti_count capacity;      /* capacity of buffers, in entries per rank */
    double *put, *got;         /* [variables * capacity] values to write, values read */
} field;

/* Allocate the buffers.  Returns 0 or, after printing a message, 1 on all ranks.   Collective. */
int field_make(field *f, const cli_world *w, const bench_config *c, int variables);
void field_free(field *f);
/* Return the value of variable v at a position: an integer that float32 represents exactly. */
double field_value(const field *f, int v, tutti_count position);
/* Return the positions of this rank's entries: runs of mean length `run`, distributed at random; run = 0: one
 * block.  The result must be freed. */
tutti_count *field_deal(const field *f, tutti_count run, tutti_count *n_out);
void field_fill(const field *f, tutti_count n, const tutti_count *position);
/* Compare the values that were read with those that were written.  Returns 0, or 1 after printing a
 * message. */
int field_check(const field *f, tutti_count n, const tutti_count *position, int variables);

/* ---- functions for the parts */

/* Return the directory for the files of a part.  It must not exist and is removed at the end. */
const char *datasets_path(const experiment *x, const char *dir);
void datasets_remove(const experiment *x, const char *path);
/* Settings of a dataset, which is created again for each run; settings: "name=value ..." for its data files. */
typedef struct dataset_settings {
    const char *settings;
    int level, plain; /* plain: without checksums */
} dataset_settings;
tutti_err datasets_open(const experiment *x, const char *path, const dataset_settings *variant,
                        tutti_dataset **out);
int datasets_part(const experiment *x, const char *part); /* return whether the part is measured */
double datasets_cpu(void); /* return the processor seconds of this process */

int datasets_steps(experiment *x, const char *dir, int level);
int datasets_buffers(experiment *x, const char *dir);
int datasets_meshes(experiment *x, const char *dir);
int datasets_commits(experiment *x, const char *dir);
int datasets_opening(experiment *x, const char *dir);

#endif
