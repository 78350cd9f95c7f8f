/* tutti-experiments dataset: what its parts share.
 *
 *   race     ways that take turns, round by round; each run has several laps (times)   dataset_race.c
 *   field    the numbers that are written, where they are, and checking them           dataset_field.c
 *   parts    visible, durable                                                          dataset_ways.c
 *            buffers, meshes: the paper's tables                                       dataset_papers.c
 *            commits, opening                                                          dataset_commits.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_DATASETS_H
#define TUTTI_CLI_DATASETS_H

#include "experiments/experiment.h"

/* ---- races */

enum { RACE_LAPS = 2 };

typedef struct racer {
    char name[64];
    const void *what; /* the part's own */
    void *state;      /* what stays from round to round; the part's own */
    char more[160];   /* ", "key": value": members of its JSON */
    int rounds;
    double *lap[RACE_LAPS]; /* [rounds] seconds; 0: it has none */
    char failure[400];
} racer;

typedef struct race {
    experiment *x;
    const char *title;
    int n;
    racer *racer;
    /* One run on all ranks: seconds of each lap, or 1 and a message on all ranks. */
    int (*run)(struct race *r, racer *of, double *lap_out);
    const void *data; /* the part's own */
} race;

/* It stays in place until the next one is added. */
racer *race_add(race *r, const char *name, const void *what);
/* Every round begins with another way.  A way that has failed is told of and runs no more. */
void race_run(race *r, int rounds);
void race_free(race *r);
/* As a part of the report: `more` are members of it. */
void race_report(const race *r, const char *dir, const char *more);

/* ---- fields: variables of float64 on a space of one dimension, which all ranks share */

enum { FIELD_NAME = 8 };

typedef struct field {
    const cli_world *w;
    uint64_t seed;
    int variables;
    tutti_count each, entries; /* of a rank, of all */
    tutti_count room;          /* that buffers have for entries of a rank */
    double *put, *got;         /* [variables * room] */
} field;

int field_make(field *f, const cli_world *w, const bench_config *c, int variables); /* agrees */
void field_free(field *f);
/* What variable v has at a position: a whole number that float32 has exactly. */
double field_value(const field *f, int v, tutti_count position);
/* The entries of this rank: runs of so many (mean), dealt out at random; 0: one block.  Positions to
 * be freed. */
tutti_count *field_deal(const field *f, tutti_count run, tutti_count *n_out);
void field_fill(const field *f, tutti_count n, const tutti_count *position);
/* Is what was got what was put?  0, or 1 and a message. */
int field_check(const field *f, tutti_count n, const tutti_count *position, int variables);

/* ---- for parts */

/* Where the files of a part are: a directory that is not there yet, removed at the end. */
const char *datasets_path(const experiment *x, const char *dir);
void datasets_remove(const experiment *x, const char *path);
/* A dataset that is made anew; settings "name=value ..." are of its data files. */
typedef struct dataset_way {
    const char *settings;
    int level, plain; /* plain: without checksums */
} dataset_way;
tutti_err datasets_open(const experiment *x, const char *path, const dataset_way *way,
                        tutti_dataset **out);
int datasets_part(const experiment *x, const char *part); /* is it to be measured? */
double datasets_cpu(void);                                /* of this process */

int datasets_ways(experiment *x, const char *dir, int level);
int datasets_buffers(experiment *x, const char *dir);
int datasets_meshes(experiment *x, const char *dir);
int datasets_commits(experiment *x, const char *dir);
int datasets_opening(experiment *x, const char *dir);

#endif
