/* The experiments of `tutti-experiments`: measurements of papers, repeated on this machine.
 *
 *   experiment   its kind defines the points   exp_*.c
 *     point      a cell (bench.h) on the first ranks; its variants are interleaved
 *     part       measurements in addition to points
 *   report       JSON, from which tutti_experiments makes tables, figures and verdicts
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXPERIMENT_H
#define TUTTI_CLI_EXPERIMENT_H

#include "bench/bench.h"

/* ---- experiments */

typedef struct experiment experiment;

typedef struct experiment_kind {
    const char *name, *title;
    const char *also;   /* another name of the experiment; NULL: none */
    const char *source; /* a sentence that names the paper and its figures */
    int threads;        /* requested thread level of MPI */
    bench_scope scope;
    void (*plan)(experiment *x); /* add the points */
    /* NULL, or a function that is called before the points are measured.  Returns 0, or 1 after
     * printing a message.   Collective. */
    int (*begin)(experiment *x);
    /* NULL, or a function that is called on the ranks of a point after the point has been measured. */
    void (*measured)(experiment *x, const cli_world *w, const bench_cell *point);
    /* release the data created by `plan` and by points, on all ranks; may be NULL */
    void (*end)(experiment *x);
} experiment_kind;

struct experiment {
    const experiment_kind *kind;
    const cli_world *all;
    bench_results results; /* the cells are the points */
    int worlds;            /* number of worlds, one for each number of processes, increasing */
    cli_world *world;
    int thread_level; /* the level that MPI provides */
    int has_uring;    /* the store uring is available */
    void *data;       /* private data of the kind, freed with the experiment */
    FILE *parts;      /* rank 0: stream into `text` for the JSON of parts */
    char *text;
    size_t size;
    int n_parts;
};

extern const experiment_kind experiment_steps, experiment_overlap, experiment_pipelines,
    experiment_primitives, experiment_sections, experiment_auto, experiment_mesh,
    experiment_dataset, experiment_exodus;

/* Measure and report an experiment_kind.  Collective.  @return the exit code */
int experiment_run(const cli_world *w, const bench_config *c, const void *what);

/* ---- for kinds: creation of points.  A returned address is valid until the next point or variant is added. */

typedef struct point_spec {
    const char *figure, *dir, *pattern;
    int is_read;
    int ranks;
    tutti_off size; /* bytes per rank */
} point_spec;

bench_cell *experiment_point(experiment *x, const point_spec *spec);
/* Add a variant of Tutti; settings: "name=value name=value", which override the user's options. */
bench_entry *experiment_variant(const experiment *x, bench_cell *point, const char *name,
                                const char *settings);
bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name);
int experiment_most_ranks(const experiment *x);
/* Get the operations of --op, writes first: out[i] is 1 for reads.  A kind has "op" in its scope; its
 * defaults set c->write and c->read.  @return the number of operations */
int experiment_ops(const experiment *x, int out[2]);
/* Format the settings that all two-phase variants of a point have in common: aggregators, windows, and memory
 * for them.  Options set by the user have precedence. */
void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size);
tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct);
/* Return the asynchronous store: uring for direct access, if available; otherwise threads. */
const char *experiment_background_store(const experiment *x, int direct);

/* ---- for kinds: measurements in addition to points */

/* Begin an object in the list "parts" of the JSON, with name and directory.  The caller adds ", members" and
 * the final "}".  NULL on ranks other than 0. */
FILE *experiment_part(experiment *x, const char *part, const char *dir);
/* Print ", "key": [values]". */
void experiment_json_seconds(FILE *f, const char *key, int n, const double *seconds);

/* Write all measurements as JSON, on rank 0.  Returns 0, or 1 after printing a message. */
int report_experiment_json(const experiment *x, const char *path);

#endif
