/* Programs for single measurements (experiments/programs, experiments/peers): arguments, failures and the
 * report.  The report is JSON on standard output; tutti-report prints it as a table.  Only standalone_mpi.c
 * needs MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_STANDALONE_H
#define TUTTI_CLI_STANDALONE_H

#include "measure/measure.h"

typedef enum standalone_kind {
    OPTION_FLAG,
    OPTION_NUMBER,
    OPTION_SECONDS,
    OPTION_TEXT
} standalone_kind;

typedef struct standalone_option {
    const char *name; /* for example "--rounds"; NULL ends the list */
    standalone_kind kind;
    /* pointer to an int, long, double or const char *; its initial value is the default */
    void *value;
    long least, most; /* limits of OPTION_NUMBER; most 0: none */
} standalone_option;

typedef struct standalone {
    const char *name, *operands; /* operands in the usage message: "DIRECTORY", "[entries ...]" */
    const standalone_option *option;
    int least; /* minimum number of operands */
} standalone;

extern int standalone_rank, standalone_ranks; /* 0 and 1 without MPI */

/* Parse the arguments and move the operands to argv[0], argv[1], ...  Returns the number of operands.  If the
 * arguments are wrong, exits with 2 and a usage message. */
int standalone_start(const standalone *p, int argc, char **argv);
/* Print a message and end all ranks with exit code 1. */
_Noreturn void standalone_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void standalone_check(int ok, const char *what); /* call standalone_fail if !ok */
void *standalone_alloc(size_t n, size_t size);   /* zeroed memory; fails if memory is exhausted */
/* Add the measurement to the report as a series with its title, and free the measurement.  `more` are further
 * JSON members, each preceded by a comma, such as ", \"bytes\": 4096" (tutti-report then shows MB/s).  Only
 * rank 0 prints. */
void standalone_report(measure *m, const char *more);
int standalone_end(void); /* end the report; returns the exit code 0 */

/* ---- with MPI (standalone_mpi.c) */
int standalone_start_mpi(const standalone *p, int *argc, char ***argv);
int standalone_end_mpi(void);
double standalone_slowest(double value); /* maximum over all ranks */
double standalone_sum(double value);
double standalone_together(void); /* barrier, then the time in seconds */

#endif
