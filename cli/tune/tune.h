/* tutti tune: common declarations of its parts.
 *
 * A probe measures one value of a profile: it repeats its work `count` times, on all ranks or on the
 * first only; the count is determined once, so that a measurement takes about `slice` seconds.  Probes
 * run in interleaved rounds, and the median is used.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_TUNE_H
#define TUTTI_CLI_TUNE_H

#include <limits.h>
#include "common/command.h"
#include "common/progress.h"
#include "measure/measure.h"

enum {
    TUNE_PROBES = 80,
    TUNE_WINDOWS = 32,       /* at most */
    TUNE_USER = 16 << 20,    /* bytes of memory per rank to write from and read into */
    TUNE_STAGE = 4 << 20,    /* and of its staging memory */
    TUNE_WINDOW = 512 << 10, /* windows of the library's own writes */
    TUNE_UNIT = 256 << 10    /* bytes per rank and unit of work for a store */
};

typedef struct tune_job tune_job;
typedef struct tune_probe tune_probe;

/* The files and memory of the measurements. */
struct tune_job {
    cli_world world;
    int rounds;
    double slice;        /* seconds of one measurement */
    double device_slice; /* seconds of one measurement of a device that may have a burst budget */
    int windows;         /* in which its rate must become steady */
    cli_progress *progress;
    tutti_off area; /* the maximum number of bytes of a file per rank */
    int node_ranks; /* of rank 0's node */
    int nodes, cores;
    int mate, away; /* lowest ranks of rank 0's node and of another one, -1: none */
    int next,
        before; /* first ranks of the neighbouring nodes, -1: this rank is not the first of its node */
    MPI_Win window; /* MPI_WIN_NULL: none */
    char *user, *stage;
    char path[PATH_MAX];
    int fd, direct_fd; /* -1: not open */
    tutti_file *file;
};

struct tune_probe {
    measure_variant v; /* named after the profile value; probes of stores have separate names */
    /* do the work; 0, or 1 and a message */
    int (*run)(tune_job *job, const tune_probe *p, long count);
    /* before and after each measurement, untimed; or NULL */
    int (*prepare)(tune_job *job, const tune_probe *p);
    void (*end)(tune_job *job);
    tutti_off size;   /* bytes of one piece, 0: seconds are measured */
    tutti_off spread; /* bytes of the file per piece */
    int one;          /* only rank 0 measures */
    int is_write, direct;
    int between;   /* between nodes, not between ranks on one node */
    int optional;  /* not supported on all machines */
    int store;     /* TUTTI_STORE_*, for probes of tune_store.c */
    double bodies; /* number of ranks that process `count` pieces each; rates are sums */
    /* results */
    long count;           /* pieces of one measurement; samples are seconds per piece */
    double first_seconds; /* per piece in the initial burst, 0: none */
    int is_unsteady;      /* its rate did not become steady in time */
};

/* The probes of the machine, of the file system, and of stores; they return their number. */
int tune_machine_probes(const tune_job *job, tune_probe *out);
int tune_file_probes(const tune_job *job, tune_probe *out);
int tune_store_probes(const tune_job *job, tune_probe *out);

/* Memory and file of the probes.  0, or 1 and a message. */
int tune_machine_open(tune_job *job);
void tune_machine_close(tune_job *job);
int tune_file_open(tune_job *job, const char *dir);
void tune_file_close(tune_job *job);

/* Run all probes.  0, or 1 and a message. */
int tune_run(tune_job *job, tune_probe *probe, int n);
/* Return whether the last two of n consecutive windows have the same time per piece. */
int tune_is_steady(const double *each, int n);
/* The median time of one piece of work, 0: not measured. */
double tune_seconds(const tune_probe *p);

/* Compute profile values from measurements. */
void tune_fill(const tune_job *job, const tune_probe *probe, int n, tutti_profile *p);
void tune_print_machine(const tune_job *job, const tutti_profile *p);
void tune_print(const tune_job *job, const tutti_filesystem *place, const tutti_profile *p);
/* Bursts and unsteady rates. */
void tune_print_steady(const tune_job *job, const tune_probe *probe, int n);

extern const cli_group tune_group;

#endif
