/* tutti bench: its parts and their data.
 *
 *   arguments -> config      what to measure                               bench_args.c
 *   cell                     one directory, pattern and operation          cell.c
 *     entry                  one variant: a method of Tutti, a reference, a peer
 *       runner               functions that prepare, run and end an entry  references.c, peers.c,
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

#define BENCH_CALL ((size_t)4 << 20) /* bytes per call of the reference ENTRY_LIMIT */

/* Maximum ratios of the default variant to the reference that it is compared with. */
#define BENCH_GOAL_WRITE 1.3
#define BENCH_GOAL_WRITE_IRREGULAR 1.6
#define BENCH_GOAL_READ 1.15

/* ---- config (bench_args.c) */
typedef struct bench_config {
    cli_call call;
    tutti_options options; /* options of all variants */
    cli_list patterns, methods, exchanges, stores, dirs;
    cli_list procs, files;        /* experiments: numbers of processes, sizes of files */
    int write, read;              /* operations to measure */
    int fresh, reused;            /* plans to measure: made within the timed part, or before it */
    int pieces, staging, mapping; /* references to measure in addition to the limit */
    int quick, peers;
    int rounds, series; /* an experiment runs `series` times `rounds` rounds */
    int iterations;     /* per run, for runs that compute and write */
    cli_list parts;     /* experiments: names of the parts to run */
    const char *all_parts;
    int operands; /* experiments: number of file names */
    char **operand;
    cli_list partitions, loads, rules; /* experiment with meshes */
    /* experiment with datasets: variants whose name contains one of these words; empty: all */
    cli_list ways;
    int cases;         /* experiment auto: number of cases to draw; 0: all combinations */
    cli_list slow;     /* experiment auto: directories of throttled devices */
    const char *tuned; /* profile in addition to the default; NULL: none */
    tutti_mesh_order order;
    tutti_mesh_partitioner by;
    tutti_count nodes; /* nodes of the generated mesh */
    int cold;          /* drop the file from the page cache before each read */
    int fsync;         /* sync each write to the device before it ends */
    double iops;       /* operations per second of the device, 0: unknown */
    double budget;     /* time limit in seconds; 0: none */
    tutti_off size, slice;
    tutti_off array; /* experiments: bytes of the array of all ranks */
    uint64_t seed;
    const char *json; /* path of the JSON report; NULL: none */
} bench_config;

/* Options of an experiment in addition to the common ones, and their defaults. */
typedef struct bench_scope {
    const char *takes; /* names of the accepted options, separated by commas */
    void (*defaults)(bench_config *c, int quick);
    int operands; /* whether file names are accepted */
} bench_scope;
enum { BENCH_OPTIONS = 37 };
/* bit 1 of `commands`: options of `tutti bench` */
extern const cli_option bench_options[BENCH_OPTIONS];
/* Return the option table with bit 1 set for the options of this scope, whose defaults bench_set_defaults
 * then sets. */
const cli_option *bench_options_of(const bench_scope *s);
void bench_set_defaults(void *config, int argc, char **argv);
int bench_check(void *config);

/* ---- a program that measures (program.c) */
typedef struct bench_program {
    const char *name, *help; /* name of the program; text of --help */
    const bench_scope *scope;
    int threads;      /* requested thread level of MPI */
    const void *what; /* argument of `run` */
    /* returns the exit code; prints error messages */
    int (*run)(const cli_world *w, const bench_config *c, const void *what);
} bench_program;

/* Parse the arguments, initialize MPI, check that the report can be written, run, finalize.
 * Returns the exit code. */
int bench_start(const bench_program *p, int argc, char **argv);
/* Check, before long work, that the report can be written.  Returns 0, or 1 and a message.
 * Collective. */
int bench_outputs_check(const cli_world *w, const bench_config *c);

extern const cli_group bench_group; /* commands and options of `tutti bench` (bench.c) */

/* ---- patterns (patterns.c): each byte of [0, total) is accessed by exactly one rank */
typedef struct bench_pattern {
    const char *name, *title;
    tutti_access *access;
    tutti_off bytes, total;              /* bytes of this rank; bytes of all ranks */
    tutti_off memory;                    /* bytes of the buffer in memory, ghost cells included */
    MPI_Datatype file_type, memory_type; /* the same access as MPI datatypes */
    tutti_count pieces; /* number of pieces, contiguous in the file and in memory */
    tutti_piece *piece;
} bench_pattern;

const char *bench_pattern_name(int i); /* NULL if there are at most i patterns */
const char *bench_pattern_title(const char *name);
/* Return the same name with static storage duration. */
const char *bench_pattern_kept_name(const char *name);
/* Return the element size of a tile of `size` bytes: `element`, halved until it is at most an eighth of the
 * tile. */
tutti_off bench_tile_element(tutti_off size, tutti_off element);
int bench_pattern_make(const char *name, const cli_world *w, const bench_config *c,
                       bench_pattern *out);
/* ---- blocks (pattern_block.c)
 * A block of an array with `element` bytes per element: `grid` divides the array into blocks, `at` is the
 * position of this rank's block in the grid, `side` its extents in elements, and `ghost` the number of ghost
 * cells on each side in memory.  bench_block_make sets the access, the datatypes and, with ghost cells,
 * `memory` of p. */
enum { BENCH_DIMS = 4 };
typedef struct bench_block {
    int ndims, element;
    int grid[BENCH_DIMS], at[BENCH_DIMS];
    tutti_count side[BENCH_DIMS];
    int ghost[BENCH_DIMS];
} bench_block;
tutti_err bench_block_make(const bench_block *b, bench_pattern *p);
void bench_pattern_free(bench_pattern *p);
/* Create the patterns of application kernels (kernels.c).  kind: f, g or i. */
tutti_err kernel_e3sm(const cli_world *w, tutti_off size, char kind, bench_pattern *p);
tutti_err kernel_btio(const cli_world *w, tutti_off size, bench_pattern *p);
/* Fill the list of pieces of p from its access. */
tutti_err bench_pattern_list(bench_pattern *p);

/* ---- content (content.c): every byte of the file has a known value, determined by seed and offset */
void content_fill(uint64_t seed, tutti_off offset, void *buf, tutti_off bytes);
/* Return the offset of the first wrong byte, or -1. */
tutti_off content_check(uint64_t seed, tutti_off offset, const void *buf, tutti_off bytes);
void content_fill_pieces(uint64_t seed, const bench_pattern *p, void *user);
tutti_off content_check_pieces(uint64_t seed, const bench_pattern *p, const void *user);
/* Compare bytes [lo, hi) of a file with their known values.  Returns 0, or 1 and a message. */
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

/* Phases of one run on this rank, in seconds.  The samples of a run are its total time and the means of these
 * values over all ranks. */
typedef struct bench_phases {
    /* from the library's statistics; samples are means over the aggregators */
    double exchange, file;
    double compute, begin, end; /* only for runs with computation */
} bench_phases;
/* names of the samples, ends with NULL */
extern const char *const bench_values[MEASURE_VALUES + 1];

typedef struct bench_entry {
    measure_variant v; /* name, failure, samples (bench_values) */
    entry_kind kind;
    const struct bench_runner *runner;
    const void *context; /* private data of the runner */
    /* variants of Tutti in `tutti bench`: values of these options */
    const char *method, *exchange, *store;
    char settings[320]; /* options of the variant: "name=value name=value" */
    int reused;
    int checkable; /* whether its bytes can be verified */
    tutti_options options;
    int iterations;   /* iterations per run; times are per iteration */
    int stays;        /* measured in all rounds even if it is slow */
    bench_phases now; /* this rank's phases of the current run */
    bench_summary time;
    /* to_limit, to_bare: ratios of medians; to_limit_paired: median of the ratios of paired rounds;
     * 0: unknown */
    double to_limit, to_limit_paired, to_bare;
    int unavailable;   /* not supported by this machine or build */
    char explain[256]; /* tutti_file_explain; Tutti only */
    tutti_stats stats; /* statistics of the last round: sums over all ranks; times: maxima */
} bench_entry;

typedef struct bench_cell {
    const char *dir, *pattern;
    const char *figure; /* experiments: role of the cell in its figure */
    char file_system[16];
    int is_write;
    int ranks;
    tutti_off size; /* requested size per rank */
    tutti_off total;
    tutti_count runs; /* contiguous pieces in the file, sum over all ranks */
    /* entries slower than this times the fastest are skipped in later rounds; 0: none */
    double patience;
    int cold;            /* reads are cold (--cold), writes synced (--fsync) */
    int least_rounds;    /* minimum number of rounds, regardless of the time budget */
    const char *profile; /* name of the profile for the JSON; NULL: none */
    int tightens;        /* the limit for slow entries other than peers decreases with the rounds */
    int no_goal;         /* no goal: the references use the page cache */
    const struct bench_scene *scene; /* NULL: a pattern found by its name, written to fresh files */
    const void *what;                /* private data of the scene */
    int entries;
    bench_entry *entry;
} bench_cell;

typedef struct bench_results {
    const bench_config *config;
    int ranks;
    char mpi[64];
    char profile[256]; /* path of the tuning profile, or "built-in" */
    double seconds;
    int failures;
    int stopped; /* the signal that ended the measurement; 0: none */
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
    char *user;  /* buffer in the layout of the pattern */
    char *share; /* buffer of bytes [share_lo, share_hi) of the file */
    tutti_off share_lo, share_hi;
    struct staging *staging; /* NULL: the ranks do not share a node */
    tutti_file *file;        /* open file of the entry that is running */
    tutti_plan *plan;
    tutti_array *array;
    const bench_cell *cell;
} bench_job;

/* Functions of a cell whose pattern is not in the table of patterns.c. */
typedef struct bench_scene {
    int (*make)(const bench_cell *cell, const cli_world *w, bench_pattern *out);
    /* If not NULL, runs write into an existing file, and this function checks its content
     * afterwards.  Returns 0, or 1 and a message. */
    int (*verify_write)(const bench_job *job, const bench_entry *e);
    void (*done)(const bench_cell *cell); /* release the data that `make` allocated; may be NULL */
    /* print further JSON members of the cell, each followed by a comma; may be NULL */
    void (*json)(FILE *f, const bench_cell *cell);
} bench_scene;

/* prepare and run return 0, or 1 and a message.  prepare is collective and returns the same on all ranks; run
 * may fail on some ranks only.  end is always called and releases what the other two left open. */
typedef struct bench_runner {
    int (*prepare)(bench_job *job, bench_entry *e);
    int (*run)(bench_job *job, bench_entry *e);
    void (*end)(bench_job *job, bench_entry *e);
    int uses_share; /* reads into `share`, not into `user` */
    int needs_file; /* writes into a file that must exist */
} bench_runner;

extern const bench_runner bench_limit, bench_pieces, bench_staging, bench_mapping, bench_tutti,
    bench_tutti_reused, bench_tutti_independent, bench_peer;

/* For runners of variants of Tutti.  variant_open: open the file with the options of the entry.
 * variant_failed: report an error of the library and return 1.  variant_stats: record its
 * statistics.  variant_count: fail if fewer bytes than expected were transferred.  variant_end:
 * release plan and file. */
tutti_err variant_open(bench_job *job, const bench_entry *e);
int variant_failed(bench_entry *e);
void variant_stats(const bench_job *job, bench_entry *e);
int variant_count(const bench_job *job, const bench_entry *e, tutti_off count);
void variant_end(bench_job *job, bench_entry *e);

/* For runners that call the MPI library.  peer_open: open the file with the pattern as its view.  peer_close:
 * close it and report an error `code`. */
int peer_open(const bench_job *job, MPI_File *out);
int peer_close(const bench_job *job, MPI_File *file, int code);

/* Allocate the shared memory of the reference "staging".  Returns NULL if the ranks do not share a
 * node.  Collective. */
struct staging *staging_make(const cli_world *w, tutti_off slice);
void staging_free(struct staging **s);

/* ---- entries of a cell (variants.c) */
int bench_has_plan(const char *method); /* whether this method uses a plan */
/* Add an entry.  The returned address is valid until the next entry is added. */
bench_entry *bench_entry_add(bench_cell *cell, entry_kind kind, const char *name);
/* Add a reference that does not use Tutti.  Its name ends in BENCH_CACHED if it uses the page cache
 * but Tutti's variants do not. */
bench_entry *bench_reference_add(const bench_config *c, bench_cell *cell, entry_kind kind,
                                 const char *name);
#define BENCH_CACHED ", page cache"
void bench_entries_make(const bench_config *c, int is_write, bench_cell *cell);

/* ---- timing (timing.c) */
/* Run an entry once: time it, verify its bytes, and set its samples or its failure.  Collective. */
void timing_run(bench_job *job, bench_entry *e, double *value);
/* Call before each further round: entries that exceed cell->patience are skipped from now on.  All ranks have
 * the same times and make the same decision. */
void timing_let_rest(bench_cell *cell);
/* minimum number of rounds before an entry, and before a peer, may be skipped */
enum { BENCH_TRIAL = 3, BENCH_TRIAL_PEER = 5 };
void timing_ratios(bench_cell *cell); /* compute summaries and ratios of all entries */
const bench_entry *timing_limit(const bench_cell *cell);
double bench_goal(const bench_cell *cell); /* return the maximum ratio; 0: none */
double bench_ratio_judged(const bench_cell *cell, const bench_entry *e);
double bench_bandwidth(const bench_cell *cell, const bench_entry *e, double seconds); /* in MiB/s */

/* ---- cells (cell.c) */
int bench_create(const bench_job *job); /* create the file on rank 0.  Collective. */
void cell_name_file_system(const char *dir, char *out, size_t size);
/* Run n cells of one directory, pattern, size and number of ranks, which share their buffers.  share:
 * fractions of the time budget at the start and at the end.  Collective on all->world. */
int cells_run(const bench_job *all, int n, bench_cell *cell, cli_progress *progress,
              const double share[2]);
void results_name_mpi(bench_results *r); /* set the names of the MPI library and of the profile */
void results_count_failures(bench_results *r);
void results_keep(bench_results *r, int cells); /* keep the first `cells` cells, free the others */
void results_free(bench_results *r);

/* ---- reports (report_*.c), on rank 0 only.  report_json returns 0, or 1 and a message. */
void report_text(const bench_results *r, FILE *f);
int report_json(const bench_results *r, const char *path);
int report_is_quiet(const bench_config *c); /* the JSON report is written to standard output */
/* Write a part of the JSON report: a pair and a comma; the members before the cells; the cells and
 * the end. */
void report_json_pair(FILE *f, const char *key, const char *value);
void report_json_head(FILE *f, const bench_results *r, const char *format);
void report_json_cells(FILE *f, const bench_results *r, const char *key);

#endif
