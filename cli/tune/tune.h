/* tutti tune: what its parts share.
 *
 * A probe measures one number of a profile: it does its work `count` times, on all ranks or on the
 * first alone; how often is found out once, so that a measurement takes about `slice` seconds.  Probes
 * run in interleaved rounds, and the median counts.
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
    TUNE_USER = 16 << 20,    /* bytes of a rank's memory to write from and read into */
    TUNE_STAGE = 4 << 20,    /* and of its staging memory */
    TUNE_WINDOW = 512 << 10, /* windows of the library's own writes */
    TUNE_UNIT = 256 << 10    /* bytes of a rank that are one piece of work for a store */
};

typedef struct tune_job tune_job;
typedef struct tune_probe tune_probe;

/* What is measured on, and with. */
struct tune_job {
    cli_world world;
    int rounds;
    double slice;        /* seconds of one measurement */
    double device_slice; /* seconds of one measurement of a device that may have a burst budget */
    int windows;         /* in which its rate must become steady */
    cli_progress *progress;
    tutti_off area; /* the most bytes of a file that a rank uses */
    int node_ranks; /* of rank 0's node */
    int nodes, cores;
    int mate, away; /* lowest ranks of rank 0's node and of another one, -1: none */
    int next,
        before; /* first ranks of the neighbouring nodes, -1: this is not the first of its own */
    MPI_Win window; /* MPI_WIN_NULL: there is none */
    char *user, *stage;
    char path[PATH_MAX];
    int fd, direct_fd; /* -1: not open */
    tutti_file *file;
};

struct tune_probe {
    measure_variant v; /* its name is that of the number; those of stores have names of their own */
    /* do the work; 0, or 1 and a message */
    int (*run)(tune_job *job, const tune_probe *p, long count);
    /* before and after each measurement, untimed; or NULL */
    int (*prepare)(tune_job *job, const tune_probe *p);
    void (*end)(tune_job *job);
    tutti_off size;   /* bytes of one piece, 0: seconds are measured */
    tutti_off spread; /* bytes of file that a piece takes */
    int one;          /* rank 0 alone works */
    int is_write, direct;
    int between;   /* nodes, not ranks of one */
    int optional;  /* not every machine can do it */
    int store;     /* TUTTI_STORE_*, for those of tune_store.c */
    double bodies; /* how many work on `count` pieces each; rates are of all of them */
    /* results */
    long count;           /* pieces of one measurement; samples are seconds per piece */
    double first_seconds; /* per piece in the burst at first, 0: there was none */
    int is_unsteady;      /* its rate did not become steady in time */
};

/* The probes of the machine, of the file system, and of stores; they return how many. */
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
/* Of the times of a piece in n windows in a row: do the last two agree? */
int tune_is_steady(const double *each, int n);
/* The median time of one piece of work, 0: not measured. */
double tune_seconds(const tune_probe *p);

/* From measurements to numbers. */
void tune_fill(const tune_job *job, const tune_probe *probe, int n, tutti_profile *p);
void tune_print_machine(const tune_job *job, const tutti_profile *p);
void tune_print(const tune_job *job, const tutti_filesystem *place, const tutti_profile *p);
/* Bursts and unsteady rates. */
void tune_print_steady(const tune_job *job, const tune_probe *probe, int n);

extern const cli_group tune_group;

#endif
