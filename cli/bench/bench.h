/* tutti bench: its parts and their data.
 *
 *   arguments -> config      what to measure                               bench_args.c
 *   cell                     one directory, pattern, operation             cell.c
 *     entry                  one variant to do it: a method of Tutti, a reference, a peer
 *       runner               functions that prepare, run and end an entry       references.c, peers.c,
 *                                                                          staging.c, variants.c
 *     timing                 one run of an entry, verification, ratios     timing.c, content.c
 *   results -> reports       table and bars, JSON                          report_*.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_BENCH_H
#define TUTTI_CLI_BENCH_H

#include "common/cli.h"
#include "common/command.h"
#include "common/progress.h"
#include "measure/measure.h"

#define BENCH_CALL ((size_t)4 << 20) /* bytes of one call of the conforming limit */

/* The goals of the comparison with the limit. */
#define BENCH_GOAL_WRITE 1.3
#define BENCH_GOAL_WRITE_IRREGULAR 1.6
#define BENCH_GOAL_READ 1.15

/* ---- config (bench_args.c) */
typedef struct bench_config {
    cli_call call;
    tutti_options options; /* options of all variants */
    cli_list patterns, methods, exchanges, stores, dirs;
    cli_list procs, files;        /* for experiments: numbers of processes, sizes of files */
    int write, read;              /* operations */
    int fresh, reused;            /* plans */
    int pieces, staging, mapping; /* references */
    int quick, peers;
    int rounds, series; /* an experiment has `series` times `rounds` rounds */
    int iterations;     /* per run that computes and writes */
    cli_list parts;     /* of an experiment */
    const char *all_parts;
    int operands; /* of an experiment: names of files, which belong to argv */
    char **operand;
    cli_list partitions, loads, rules; /* of the experiment with meshes */
    cli_list ways;     /* of the experiment with datasets: words of their names; none: all */
    int cases;         /* of the experiment auto: to draw, 0: all combinations */
    cli_list slow;     /* and its directories of throttled devices */
    const char *tuned; /* a profile in addition to the default, NULL: none */
    tutti_mesh_order order;
    tutti_mesh_partitioner by;
    tutti_count nodes; /* of the generated mesh */
    int cold;          /* the file is dropped from the page cache before each read */
    int fsync;         /* sync each write to the device before it ends */
    double iops;       /* operations per second of the device, 0: unknown */
    double budget;     /* seconds, 0: none */
    tutti_off size, slice;
    tutti_off array; /* of an experiment: bytes of the array that all ranks share */
    uint64_t seed;
    const char *json; /* NULL: none */
} bench_config;

/* Options of an experiment in addition to the common ones, and their defaults. */
typedef struct bench_scope {
    const char *takes; /* separated by commas */
    void (*defaults)(bench_config *c, int quick);
    int operands; /* file names are accepted */
} bench_scope;
enum { BENCH_OPTIONS = 37 };
extern const cli_option bench_options[BENCH_OPTIONS]; /* options of `tutti bench` have bit 1 */
/* The option table for a scope, whose defaults are set: [BENCH_OPTIONS], with bit 1. */
const cli_option *bench_options_of(const bench_scope *s);
void bench_set_defaults(void *config, int argc, char **argv);
int bench_check(void *config);

/* ---- a program that measures (program.c) */
typedef struct bench_program {
    const char *name, *help; /* of the program; the text of --help */
    const bench_scope *scope;
    int threads;      /* requested thread level of MPI */
    const void *what; /* for `run` */
    int (*run)(const cli_world *w, const bench_config *c,
               const void *what); /* the exit code; prints its messages */
} bench_program;

/* Parse the arguments, initialize MPI, check that the report can be written, run, finalize.  @return the exit code */
int bench_start(const bench_program *p, int argc, char **argv);
/* Check, before long work, that the report can be written.  1 and a message.   Collective */
int bench_outputs_check(const cli_world *w, const bench_config *c);

extern const cli_group bench_group; /* bench.c */

/* ---- patterns (patterns.c): together the ranks name every byte of [0, total) once */
typedef struct bench_pattern {
    const char *name, *title;
    tutti_access *access;
    tutti_off bytes, total;              /* of this rank, of all */
    tutti_off memory;                    /* bytes of the buffer, ghost cells included */
    MPI_Datatype file_type, memory_type; /* the same for the peers */
    tutti_count pieces;                  /* contiguous on both sides */
    tutti_piece *piece;
} bench_pattern;

const char *bench_pattern_name(int i); /* NULL: past the last */
const char *bench_pattern_title(const char *name);
const char *bench_pattern_kept_name(
    const char *name); /* the same, for as long as the program runs */
/* Elements of `element` bytes, or of an eighth of a small tile. */
tutti_off bench_tile_element(tutti_off size, tutti_off element);
int bench_pattern_make(const char *name, const cli_world *w, const bench_config *c,
                       bench_pattern *out);
/* ---- blocks (pattern_block.c)
 * A block of an array of `element` bytes: the division of the array, the position of this rank,
 * elements of a block, and ghost cells around it in memory.  Fills in the access, the datatypes
 * and, with ghost cells, `memory`. */
enum { BENCH_DIMS = 4 };
typedef struct bench_block {
    int ndims, element;
    int grid[BENCH_DIMS], at[BENCH_DIMS];
    tutti_count side[BENCH_DIMS];
    int ghost[BENCH_DIMS];
} bench_block;
tutti_err bench_block_make(const bench_block *b, bench_pattern *p);
void bench_pattern_free(bench_pattern *p);
/* Application kernels (kernels.c); `kind` is f, g or i. */
tutti_err kernel_e3sm(const cli_world *w, tutti_off size, char kind, bench_pattern *p);
tutti_err kernel_btio(const cli_world *w, tutti_off size, bench_pattern *p);
/* For patterns created elsewhere: list the pieces of the access. */
tutti_err bench_pattern_list(bench_pattern *p);

/* ---- content (content.c): every byte of the file has a known value */
void content_fill(uint64_t seed, tutti_off offset, void *buf, tutti_off bytes);
/* The offset of the first wrong byte, or -1. */
tutti_off content_check(uint64_t seed, tutti_off offset, const void *buf, tutti_off bytes);
void content_fill_pieces(uint64_t seed, const bench_pattern *p, void *user);
tutti_off content_check_pieces(uint64_t seed, const bench_pattern *p, const void *user);
/* Compare bytes [lo, hi) of a file; 1 and a message if any is wrong. */
int content_check_file(uint64_t seed, const char *path, tutti_off lo, tutti_off hi);

/* ---- entries */
typedef enum entry_kind {
    ENTRY_LIMIT,
    ENTRY_PIECES,
    ENTRY_STAGING,
    ENTRY_MAPPING,
    ENTRY_TUTTI,
    ENTRY_PEER
} entry_kind;

typedef struct bench_summary {
    double median, min, max, q1, q3;
} bench_summary;

/* The times of the phases of one run, in seconds of this rank.  Samples are the time of the run and the means of these over
 * all ranks. */
typedef struct bench_phases {
    double exchange, file;      /* the library's statistics; their mean over the aggregators */
    double compute, begin, end; /* of a run with computation */
} bench_phases;
extern const char *const bench_values[MEASURE_VALUES + 1]; /* names of the samples */

typedef struct bench_entry {
    measure_variant v; /* name, failure, samples: bench_values */
    entry_kind kind;
    const struct bench_runner *runner;
    const void *context;                   /* the runner's own */
    const char *method, *exchange, *store; /* Tutti only; NULL in an experiment, which has */
    char settings[320];                    /* "name=value name=value" */
    int reused;
    int checkable; /* its bytes can be verified */
    tutti_options options;
    int iterations;   /* per run; all times are per iteration */
    int stays;        /* it takes part in all rounds even if it is slow */
    bench_phases now; /* of this rank in the current run */
    bench_summary time;
    double to_limit, to_limit_paired, to_bare; /* ratios; 0: not known */
    int unavailable;                           /* this machine or build does not have it */
    char explain[256];                         /* Tutti only */
    tutti_stats stats; /* last round: sum of all ranks, seconds: the largest */
} bench_entry;

typedef struct bench_cell {
    const char *dir, *pattern;
    const char *figure; /* for experiments: its role in the figure */
    char file_system[16];
    int is_write;
    int ranks;
    tutti_off size; /* requested size per rank */
    tutti_off total;
    tutti_count runs; /* contiguous in the file, all ranks */
    double patience;  /* an entry that is this many times as slow as the fastest rests; 0: none */
    int cold;         /* as --cold and --fsync, for this cell */
    int least_rounds; /* minimum, regardless of the time budget */
    const char *profile; /* NULL, or a name for the JSON */
    int tightens; /* the limit for slow variants decreases with the rounds, except for peers */
    int no_goal;  /* no goal: the references use the page cache */
    const struct bench_scene *scene; /* NULL: a pattern by its name, writes to fresh files */
    const void *what;                /* the scene's own */
    int entries;
    bench_entry *entry;
} bench_cell;

typedef struct bench_results {
    const bench_config *config;
    int ranks;
    char mpi[64];
    char profile[256]; /* a path, or "built-in" */
    double seconds;
    int failures;
    int stopped; /* stopped by this signal; results so far are kept */
    int cells;
    bench_cell *cell;
} bench_results;

/* ---- one timed run */
typedef struct bench_job {
    const cli_world *world;
    const bench_config *config;
    const bench_pattern *pattern;
    const char *path;
    int is_write;
    char *user;  /* buffer of the pattern */
    char *share; /* buffer of this rank's contiguous share of the file */
    tutti_off share_lo, share_hi;
    struct staging *staging; /* NULL: not possible here */
    tutti_file *file;        /* of the variant that is running */
    tutti_plan *plan;
    tutti_array *array;
    const bench_cell *cell;
} bench_job;

/* Cells other than patterns of the table. */
typedef struct bench_scene {
    int (*make)(const bench_cell *cell, const cli_world *w, bench_pattern *out);
    /* NULL, or: writes change an existing file, as for reads; check its contents afterwards.  0, or 1
     * and a message. */
    int (*verify_write)(const bench_job *job, const bench_entry *e);
    void (*done)(const bench_cell *cell); /* NULL, or: release other resources of `make` */
    void (*json)(FILE *f,
                 const bench_cell *cell); /* NULL, or: members of its JSON, "key": value, */
} bench_scene;

/* prepare and run return 0, or 1 and a message.  prepare is collective and agrees on its result;
 * run may fail on one rank only.  end releases what both left open; it is always called. */
typedef struct bench_runner {
    int (*prepare)(bench_job *job, bench_entry *e);
    int (*run)(bench_job *job, bench_entry *e);
    void (*end)(bench_job *job, bench_entry *e);
    int uses_share; /* reads into the share's buffer, not the pattern's */
    int needs_file; /* writes into a file that must be there */
} bench_runner;

extern const bench_runner bench_limit, bench_pieces, bench_staging, bench_mapping, bench_tutti,
    bench_tutti_reused, bench_tutti_independent, bench_peer;

/* For runners of variants of Tutti: open with the options of the entry; report an error of the
 * library, where a variant that this machine or build lacks is not a failure; its statistics; a
 * short count. */
tutti_err variant_open(bench_job *job, const bench_entry *e);
int variant_failed(bench_entry *e);
void variant_stats(const bench_job *job, bench_entry *e);
int variant_count(const bench_job *job, const bench_entry *e, tutti_off count);
void variant_end(bench_job *job, bench_entry *e);

/* For runners of calls of the MPI library: open with the pattern as view; close; report an
 * error. */
int peer_open(const bench_job *job, MPI_File *out);
int peer_close(const bench_job *job, MPI_File *file, int code);

/* Shared memory of the reference "staging".  Collective.  NULL if the ranks do not share a node. */
struct staging *staging_make(const cli_world *w, tutti_off slice);
void staging_free(struct staging **s);

/* The variants to fill a cell (variants.c). */
int bench_has_plan(const char *method); /* whether planning is part of this method */
/* The address of the entry is valid until the next one is added. */
bench_entry *bench_entry_add(bench_cell *cell, entry_kind kind, const char *name);
/* Add a reference without Tutti; it uses the page cache, and is labelled if Tutti does not. */
bench_entry *bench_reference_add(const bench_config *c, bench_cell *cell, entry_kind kind,
                                 const char *name);
#define BENCH_CACHED ", page cache"
void bench_entries_make(const bench_config *c, int is_write, bench_cell *cell);

/* ---- timing (timing.c) */
/* One run of one entry: time it, verify it, fill in its samples or its failure.  Collective. */
void timing_run(bench_job *job, bench_entry *e, double *value);
/* Before a further round: entries that exceed the limit of the cell are skipped from now on.  All
 * ranks have the same times and make the same decision. */
void timing_let_rest(bench_cell *cell);
enum { BENCH_TRIAL = 3, BENCH_TRIAL_PEER = 5 }; /* rounds before a variant, or a peer, may rest */
void timing_ratios(bench_cell *cell);           /* and summaries */
const bench_entry *timing_limit(const bench_cell *cell);
double bench_goal(const bench_cell *cell); /* 0: none */
double bench_ratio_judged(const bench_cell *cell, const bench_entry *e);
double bench_bandwidth(const bench_cell *cell, const bench_entry *e, double seconds); /* MiB/s */

/* ---- cells (cell.c) */
int bench_create(const bench_job *job); /* collective */
void cell_name_file_system(const char *dir, char *out, size_t size);
/* Run n cells of one directory, pattern, size and number of ranks, which share their buffers.
 * Collective on all->world.  `share`: the fractions of the time budget before and after. */
int cells_run(const bench_job *all, int n, bench_cell *cell, cli_progress *progress,
              const double share[2]);
void results_name_mpi(bench_results *r); /* and the profile */
void results_count_failures(bench_results *r);
void results_keep(bench_results *r, int cells); /* keep the first `cells`, free the others */
void results_free(bench_results *r);

/* ---- reports; rank 0 only.  0, or 1 and a message */
void report_text(const bench_results *r, FILE *f);
int report_json(const bench_results *r, const char *path);
int report_is_quiet(const bench_config *c); /* a report is written to standard output */
/* Parts of JSON: a pair and a comma; everything up to the cells; the cells and the end. */
void report_json_pair(FILE *f, const char *key, const char *value);
void report_json_head(FILE *f, const bench_results *r, const char *format);
void report_json_cells(FILE *f, const bench_results *r, const char *key);

#endif
