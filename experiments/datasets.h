/* tutti-experiments dataset: common declarations of its parts.
 *
 *   comparison   variants in interleaved rounds                                        comparison.c
 *   field    the values that are written, their positions, and verification           dataset_field.c
 *   parts    visible, durable                                                          dataset_steps.c
 *            buffers, meshes: the tables of the paper                                       dataset_papers.c
 *            commits, opening                                                          dataset_commits.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_DATASETS_H
#define TUTTI_CLI_DATASETS_H

#include "experiments/experiment.h"

/* ---- comparisons: variants measured on all ranks in interleaved rounds (measure/measure.h) */

typedef struct comparison {
    measure m; /* samples: seconds of writing, of reading (0: none) */
    experiment *x;
    const void *data; /* the part's own */
    /* One run on all ranks: seconds of writing and reading, or 1 and a message on all ranks. */
    int (*run)(struct comparison *c, measure_variant *v, double *seconds_out);
    cli_progress progress;
} comparison;

/* Run the variants of c->m (measure_add), report them as a part of the experiment (`more` are
 * members of its JSON), and keep them until comparison_free. */
void comparison_run(comparison *c);
void comparison_report(const comparison *c, const char *dir, const char *more);
/* For runs: synchronise all ranks and return the start time. */
double comparison_start(const cli_world *w);

/* ---- fields: variables of float64 on a space of one dimension, which all ranks share */

enum { FIELD_NAME = 8 };

typedef struct field {
    const cli_world *w;
    uint64_t seed;
    int variables;
    tutti_count each, entries; /* entries per rank, and of all ranks */
    tutti_count room;          /* capacity of buffers, in entries per rank */
    double *put, *got;         /* [variables * room] */
} field;

int field_make(field *f, const cli_world *w, const bench_config *c, int variables); /* agrees */
void field_free(field *f);
/* The value of variable v at a position: an integer that float32 represents exactly. */
double field_value(const field *f, int v, tutti_count position);
/* The entries of this rank: runs of this mean length, distributed at random; 0: one block.  Positions to
 * be freed. */
tutti_count *field_deal(const field *f, tutti_count run, tutti_count *n_out);
void field_fill(const field *f, tutti_count n, const tutti_count *position);
/* Compare the values read with those written; return 0, or 1 and a message. */
int field_check(const field *f, tutti_count n, const tutti_count *position, int variables);

/* ---- for parts */

/* The directory for the files of a part: it must not exist, and is removed at the end. */
const char *datasets_path(const experiment *x, const char *dir);
void datasets_remove(const experiment *x, const char *path);
/* A dataset that is created again for each run; settings "name=value ..." are of its data files. */
typedef struct dataset_settings {
    const char *settings;
    int level, plain; /* plain: without checksums */
} dataset_settings;
tutti_err datasets_open(const experiment *x, const char *path, const dataset_settings *variant,
                        tutti_dataset **out);
int datasets_part(const experiment *x, const char *part); /* whether it is measured */
double datasets_cpu(void);                                /* of this process */

int datasets_steps(experiment *x, const char *dir, int level);
int datasets_buffers(experiment *x, const char *dir);
int datasets_meshes(experiment *x, const char *dir);
int datasets_commits(experiment *x, const char *dir);
int datasets_opening(experiment *x, const char *dir);

#endif
