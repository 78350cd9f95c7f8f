/* The experiments of `tutti-experiments`: what papers measured, on this machine.
 *
 *   experiment   its kind says which points there are, and what is to be shown of them   exp_*.c
 *     point      a cell (bench.h) on the first so many ranks: all of its ways alternate
 *     exhibit    a table, or a figure that can be read as one: rows, columns, values    exhibit.c
 *     finding    a sentence, perhaps with a goal that was met or missed
 *     claim      a figure with bounds, compared with a number: what two runs agree on is a verdict  claims.c
 *   reports      every kind's exhibits and findings as text, JSON, CSV, HTML           report_*.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXPERIMENT_H
#define TUTTI_CLI_EXPERIMENT_H

#include "bench/bench.h"

/* ---- exhibits */

typedef enum exhibit_kind {
    EXHIBIT_LINES, /* rows are places on the x axis, columns are lines */
    EXHIBIT_BARS,  /* rows are groups, columns are the bars of each */
    EXHIBIT_ROWS,  /* one bar a row, lying; further columns only in the table */
    EXHIBIT_TABLE
} exhibit_kind;

typedef struct exhibit_value {
    double mid, lo, hi; /* lo = hi: no spread */
    char text[64];      /* "": the number */
} exhibit_value;

typedef struct exhibit_item {
    int row, column;
    exhibit_value value;
} exhibit_item;

typedef struct exhibit {
    exhibit_kind kind;
    char id[40], title[120];
    const char *group;    /* what several exhibits have in common: the directory; "": nothing */
    char note[640];       /* how to read it; what the paper found */
    const char *axis;     /* what the rows are */
    const char *unit;     /* of all values, and what they are */
    int decimals;         /* of printed values */
    int rows, columns, n; /* n values */
    char (*row)[80], (*column)[80];
    exhibit_item *item;
} exhibit;

/* Set a value; rows and columns come in the order in which they are first named. */
void exhibit_put(exhibit *e, const char *row, const char *column, exhibit_value value);
void exhibit_put_number(exhibit *e, const char *row, const char *column, double value);
void exhibit_put_text(exhibit *e, const char *row, const char *column, const char *text);
const exhibit_value *exhibit_get(const exhibit *e, int row, int column); /* NULL: none */
/* As text, in `out`; "-" where there is none. */
void exhibit_format(const exhibit *e, const exhibit_value *v, char *out, size_t size);

/* An exhibit as a table, perhaps with rows and columns in each other's places. */
typedef struct exhibit_view {
    const exhibit *e;
    int turned;
} exhibit_view;

int view_rows(const exhibit_view *t);
int view_columns(const exhibit_view *t);
const char *view_row(const exhibit_view *t, int i);
const char *view_column(const exhibit_view *t, int i);
const exhibit_value *view_get(const exhibit_view *t, int row, int column);

/* ---- findings */

typedef enum finding_grade {
    FINDING_PLAIN,
    FINDING_MET,
    FINDING_MISSED,
    FINDING_FAILED
} finding_grade;

typedef struct finding {
    finding_grade grade;
    char text[320];
} finding;

/* ---- claims: figures with bounds, compared with a number (claims.c) */

enum { CLAIM_LEAST = 5 }; /* rounds that bounds need */

typedef struct claim {
    char what[160], where[120]; /* together the same in every run: by them runs are compared */
    const char *unit;
    char above[96], below[96]; /* what holds if the figure is above `than`, or below */
    double value, low, high;   /* the median over rounds, its 95 % bounds */
    double than;
    int rounds, bounded;
} claim;

typedef struct claim_spec {
    const char *what, *where, *unit, *above, *below;
    double than;
} claim_spec;

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
    void (*judge)(experiment *x); /* exhibits and findings from the points; rank 0 */
    void (*end)(experiment *x);   /* NULL, or undo what `plan` and points have made; all ranks */
} experiment_kind;

struct experiment {
    const experiment_kind *kind;
    const cli_world *all;
    bench_results results; /* its cells are the points */
    int worlds;            /* one for each number of processes, increasing */
    cli_world *world;
    int exhibits, findings;
    exhibit **exhibit;
    finding *finding;
    int claims;
    claim *claim;
    int thread_level;  /* that MPI granted */
    int has_uring;     /* the store can be had */
    void *data;        /* the kind's own; freed with the experiment */
    const char *group; /* of exhibits that are added from now on */
    int broken;        /* gates that do not hold: exit status 1 */
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
/* A way of Tutti: the user's options, and over them "name=value name=value". */
bench_entry *experiment_way(const experiment *x, bench_cell *point, const char *name,
                            const char *settings);
bench_entry *experiment_reference(const experiment *x, bench_cell *point, entry_kind kind,
                                  const char *name);
int experiment_most_ranks(const experiment *x);
/* The operations of --op, writes first: out[i] is 1 for reads.  A kind takes "op" in its scope and says in its defaults
 * what is measured without a word (c->write, c->read).  @return how many */
int experiment_ops(const experiment *x, int out[2]);
/* What a name has behind it where reads are meant: " reads", or "". */
const char *experiment_op_name(int is_read);
/* Settings that make two-phase ways of a point alike but for what is compared: aggregators, windows,
 * and room for them; what the user has said stands. */
void experiment_stage(const experiment *x, const bench_cell *point, int direct, char *out,
                      size_t size);
tutti_off experiment_window(const experiment *x, const bench_cell *point, int direct);
/* The store that works in the background: uring for direct access if it can be had, or threads. */
const char *experiment_background_store(const experiment *x, int direct);

/* ---- for kinds: looking at points */

exhibit *experiment_exhibit(experiment *x, exhibit_kind kind, const char *id, const char *title);
void exhibit_note(exhibit *e, const char *fmt, ...) TUTTI_PRINTF(2, 3);
void experiment_finding(experiment *x, finding_grade grade, const char *fmt, ...)
    TUTTI_PRINTF(3, 4);
/* Is it of this figure (NULL: any), directory (NULL: any) and operation? */
int point_is(const bench_cell *point, const char *figure, const char *dir, int is_read);
/* Has it been measured, and never failed? */
int point_counts(const bench_entry *e);
/* The entry of this name if it counts, or NULL. */
const bench_entry *point_entry(const bench_cell *point, const char *name);
/* MiB/s and milliseconds with the bounds of their medians. */
exhibit_value point_bandwidth(const bench_cell *point, const bench_entry *e);
exhibit_value point_milliseconds(const bench_entry *e);
/* The median of one phase over all rounds, seconds: offsetof(bench_phases, ...). */
double point_phase(const bench_entry *e, size_t which);
/* How many per cent of `seconds` a way is faster than `base`: of the differences, round by round,
 * the median and its bounds. */
exhibit_value point_hidden(const bench_entry *base, const bench_entry *e, double seconds);

/* ---- for kinds: claims */

/* 95 % bounds of the median; of fewer than CLAIM_LEAST values the least and the largest.  @return are they bounds? */
int claim_bounds(const double *value, int n, double *lo, double *hi);
exhibit_value claim_value(const double *value, int n, double factor);
/* `value`: of n rounds. */
void experiment_claim(experiment *x, const claim_spec *spec, const double *value, int n);
/* Times of one way over those of another, round by round; of several points the geometric mean of those that have both. */
void claim_faster(experiment *x, const char *where, const bench_cell *point, const char *slow,
                  const char *fast);
void claim_faster_all(experiment *x, const char *where, int n, const bench_cell *const *point,
                      const char *slow, const char *fast);

/* ---- reports */
void report_json_claims(FILE *f, const experiment *x);
void report_claims_text(const experiment *x, FILE *f);
void report_experiment_text(const experiment *x, FILE *f);
int report_experiment_json(const experiment *x, const char *path);
int report_experiment_html(const experiment *x, const char *path);
void plot_exhibit(FILE *f, const exhibit *e);   /* SVG; nothing for a table */
int plot_colour(const char *column, int index); /* class k0 ... k12 of the style sheet */

#endif
