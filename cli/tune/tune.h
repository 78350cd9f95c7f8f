/* tutti tune: common declarations of its parts.
 *
 * A probe measures one value of a profile.  It repeats its work `count` times, on all ranks or on the first
 * only; the count is determined once, so that a measurement takes about `slice` seconds.  Probes run in
 * interleaved rounds, and the median is used.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_TUNE_H
#define TUTTI_CLI_TUNE_H

#include <limits.h>
#include "common/command.h"
#include "common/progress.h"
#include "measure/measure.h"

enum {
    TUNE_PROBES = 80,
    TUNE_WINDOWS = 32,       /* maximum number of windows */
    TUNE_USER = 16 << 20,    /* bytes of `user` per rank */
    TUNE_STAGE = 4 << 20,    /* bytes of `stage` per rank */
    TUNE_WINDOW = 512 << 10, /* option window_size of the library's writes */
    TUNE_UNIT = 256 << 10    /* bytes per rank and unit of work for a store */
};

typedef struct tune_job tune_job;
typedef struct tune_probe tune_probe;

/* Memory, files and communication of the measurements. */
struct tune_job {
    cli_world world;
    int rounds;
    double slice;        /* seconds of one measurement */
    double device_slice; /* seconds of one measurement of a device that may have a burst budget */
    int windows;         /* maximum number of windows until the rate must be steady */
    cli_progress *progress;
    tutti_off area; /* maximum bytes of the file per rank */
    int node_ranks; /* number of ranks on rank 0's node */
    int nodes, cores;
    /* lowest other rank on rank 0's node, and lowest rank on another node; -1: none */
    int mate, away;
    /* first ranks of the next and previous node; -1: this rank is not the first of its node */
    int next, before;
    MPI_Win window; /* MPI_WIN_NULL: none */
    char *user, *stage;
    char path[PATH_MAX];
    int fd, direct_fd; /* -1: not open */
    tutti_file *file;
};

struct tune_probe {
    measure_variant v; /* named after the profile value, except probes of stores */
    /* Do the work `count` times.  Returns 0, or 1 and a message. */
    int (*run)(tune_job *job, const tune_probe *p, long count);
    /* NULL, or called before and after each measurement, untimed */
    int (*prepare)(tune_job *job, const tune_probe *p);
    void (*end)(tune_job *job);
    tutti_off size;   /* bytes per piece; 0: the value is a time */
    tutti_off spread; /* bytes of the file per piece */
    int one;          /* measured on rank 0 only */
    int is_write, direct;
    int between;   /* between nodes, not between ranks of one node */
    int optional;  /* not supported on all machines: a failure is ignored */
    int store;     /* TUTTI_STORE_*, for probes of tune_store.c */
    double bodies; /* number of ranks that process `count` pieces each; rates are sums */
    /* results */
    long count;           /* pieces per measurement; samples are seconds per piece */
    double first_seconds; /* seconds per piece in the initial burst; 0: no burst */
    int is_unsteady;      /* the rate did not become steady */
};

/* Store the probes of the machine, of the file system, and of stores in `out`; return their number. */
int tune_machine_probes(const tune_job *job, tune_probe *out);
int tune_file_probes(const tune_job *job, tune_probe *out);
int tune_store_probes(const tune_job *job, tune_probe *out);

/* Allocate memory; create and open the file.  Returns 0, or 1 and a message. */
int tune_machine_open(tune_job *job);
void tune_machine_close(tune_job *job);
int tune_file_open(tune_job *job, const char *dir);
void tune_file_close(tune_job *job);

/* Run n probes.  Returns 0, or 1 and a message. */
int tune_run(tune_job *job, tune_probe *probe, int n);
/* Return whether the last two of n consecutive windows have about the same time per piece. */
int tune_is_steady(const double *each, int n);
/* Return the median seconds per piece; 0: not measured. */
double tune_seconds(const tune_probe *p);

/* Compute profile values from n measured probes. */
void tune_fill(const tune_job *job, const tune_probe *probe, int n, tutti_profile *p);
void tune_print_machine(const tune_job *job, const tutti_profile *p);
void tune_print(const tune_job *job, const tutti_filesystem *place, const tutti_profile *p);
/* Print bursts and unsteady rates. */
void tune_print_steady(const tune_job *job, const tune_probe *probe, int n);

extern const cli_group tune_group;

#endif
