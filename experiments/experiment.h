/* The experiments of `tutti-experiments`: what papers measured, on this machine.
 *
 *   experiment   its kind says which points there are   exp_*.c
 *     point      a cell (bench.h) on the first so many ranks: all of its variants are interleaved
 *     part       what is measured beside points
 *   report       all of it as JSON, from which tutti_experiments makes tables, figures and verdicts
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXPERIMENT_H
#define TUTTI_CLI_EXPERIMENT_H

#include "bench/bench.h"

/* ---- experiments */

typedef struct experiment experiment;

typedef struct experiment_kind {
    const char *name, *title;
    const char *also;   /* NULL, or another name */
    const char *source; /* which figures of which paper: a sentence */
    int threads;        /* level that MPI is asked for */
    bench_scope scope;
    void (*plan)(experiment *x); /* add the points */
    /* NULL, or what comes before the points are measured: collective; 0, or 1 and a message. */
    int (*begin)(experiment *x);
    /* NULL, or called when a point has been measured, on its ranks. */
    void (*measured)(experiment *x, const cli_world *w, const bench_cell *point);
    void (*end)(experiment *x); /* NULL, or undo what `plan` and points have made; all ranks */
} experiment_kind;

struct experiment {
    const experiment_kind *kind;
    const cli_world *all;
    bench_results results; /* its cells are the points */
    int worlds;            /* one for each number of processes, increasing */
    cli_world *world;
    int thread_level; /* that MPI granted */
    int has_uring;    /* the store can be had */
    void *data;       /* the kind's own; freed with the experiment */
    FILE *parts;      /* rank 0: JSON of what is measured beside points, in `text` */
    char *text;
    size_t size;
    int n_parts;
};

extern const experiment_kind experiment_steps, experiment_overlap, experiment_pipelines,
    experiment_primitives, experiment_sections, experiment_auto, experiment_mesh,
    experiment_dataset, experiment_exodus;

/* Measure and report an experiment_kind.  Collective.  @return the exit code */
int experiment_run(const cli_world *w, const bench_config *c, const void *what);

/* ---- for kinds: making points.  What is returned stays in place until the next one is added. */

typedef struct point_spec {
    const char *figure, *dir, *pattern;
    int is_read;
    int ranks;
    tutti_off size; /* of one rank */
} point_spec;

bench_cell *experiment_point(experiment *x, const point_spec *spec);
/* A variant of Tutti: the user's options, and over them "name=value name=value". */
bench_entry *experiment_variant(const experiment *x, bench_cell *point, const char *name,
                                const char *settings);
bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name);
int experiment_most_ranks(const experiment *x);
/* The operations of --op, writes first: out[i] is 1 for reads.  A kind takes "op" in its scope and says in its defaults
 * what is measured without a word (c->write, c->read).  @return how many */
int experiment_ops(const experiment *x, int out[2]);
/* Settings that make two-phase variants of a point alike but for what is compared: aggregators, windows,
 * and room for them; what the user has said stands. */
void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size);
tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct);
/* The store that works in the background: uring for direct access if it can be had, or threads. */
const char *experiment_background_store(const experiment *x, int direct);

/* ---- for kinds: what is measured beside points */

/* Begin an object of the list "parts" of the JSON: its name and directory; the caller adds ", members" and closes it
 * by "}".  NULL on ranks other than 0. */
FILE *experiment_part(experiment *x, const char *part, const char *dir);
/* ", "key": [values]". */
void experiment_json_seconds(FILE *f, const char *key, int n, const double *seconds);

/* Everything that was measured, as JSON; rank 0.  0, or 1 and a message */
int report_experiment_json(const experiment *x, const char *path);

#endif
