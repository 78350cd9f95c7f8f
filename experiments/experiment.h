/* The experiments of `tutti-experiments`: measurements of papers, repeated on this machine.
 *
 *   experiment   its kind defines the points   exp_*.c
 *     point      a cell (bench.h) on the first ranks: all of its variants are interleaved
 *     part       measurements in addition to points
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
    const char *source; /* a sentence that names paper and figures */
    int threads;        /* requested thread level of MPI */
    bench_scope scope;
    void (*plan)(experiment *x); /* add the points */
    /* NULL, or a function that is called before the points are measured: collective; 0, or 1 and a
     * message. */
    int (*begin)(experiment *x);
    /* NULL, or called when a point has been measured, on its ranks. */
    void (*measured)(experiment *x, const cli_world *w, const bench_cell *point);
    void (*end)(
        experiment *x); /* NULL, or release what `plan` and points have created; all ranks */
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
    FILE *parts;      /* rank 0: JSON of measurements in addition to points, in `text` */
    char *text;
    size_t size;
    int n_parts;
};

extern const experiment_kind experiment_steps, experiment_overlap, experiment_pipelines,
    experiment_primitives, experiment_sections, experiment_auto, experiment_mesh,
    experiment_dataset, experiment_exodus;

/* Measure and report an experiment_kind.  Collective.  @return the exit code */
int experiment_run(const cli_world *w, const bench_config *c, const void *what);

/* ---- for kinds: creating points.  The returned address is valid until the next one is added. */

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
/* The operations of --op, writes first: out[i] is 1 for reads.  A kind has "op" in its scope and
 * sets in its defaults the operations measured by default (c->write, c->read).  @return how many */
int experiment_ops(const experiment *x, int out[2]);
/* Settings that are equal for all two-phase variants of a point, except for the compared ones:
 * aggregators, windows, and memory for them; options set by the user have precedence. */
void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size);
tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct);
/* The store that works in the background: uring for direct access if it can be had, or threads. */
const char *experiment_background_store(const experiment *x, int direct);

/* ---- for kinds: measurements in addition to points */

/* Begin an object of the list "parts" of the JSON: its name and directory; the caller adds ", members" and closes it
 * by "}".  NULL on ranks other than 0. */
FILE *experiment_part(experiment *x, const char *part, const char *dir);
/* ", "key": [values]". */
void experiment_json_seconds(FILE *f, const char *key, int n, const double *seconds);

/* Write all measurements as JSON; rank 0.  Returns 0, or 1 and a message */
int report_experiment_json(const experiment *x, const char *path);

#endif
