/* Programs that measure one thing by themselves (experiments/programs, experiments/peers): arguments, failures and the
 * report.  The report is JSON on standard output; tutti-report prints it as a table.  Only standalone_mpi.c needs MPI.
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
    const char *name; /* "--rounds"; NULL ends the list */
    standalone_kind kind;
    void *value;      /* int, long, double, const char *; its initial value is the default */
    long least, most; /* of a number */
} standalone_option;

typedef struct standalone {
    const char *name, *operands; /* "DIRECTORY", "[entries ...]": for the usage message */
    const standalone_option *option;
    int least; /* number of operands */
} standalone;

extern int standalone_rank, standalone_ranks; /* 0 and 1 without MPI */

/* Parse the arguments; operands are moved to argv[0], argv[1], ...; exits with 2 and a usage
 * message if they are wrong.  Returns the number of operands. */
int standalone_start(const standalone *p, int argc, char **argv);
/* Print a message and end all ranks with exit code 1. */
_Noreturn void standalone_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void standalone_check(int ok, const char *what); /* fails if not */
void *standalone_alloc(size_t n, size_t size); /* zeros; ends the program if memory is exhausted */
/* Add the measurement to the report and free it: a series with its title; `more` are further
 * members of its JSON, each preceded by a comma, as ", \"bytes\": 4096" (tutti-report then shows
 * MB/s).  Rank 0 prints. */
void standalone_report(measure *m, const char *more);
int standalone_end(void); /* close the report; returns the exit code 0 */

/* ---- with MPI (standalone_mpi.c) */
int standalone_start_mpi(const standalone *p, int *argc, char ***argv);
int standalone_end_mpi(void);
double standalone_slowest(double value); /* the largest value of all ranks */
double standalone_sum(double value);
double standalone_together(void); /* a barrier, then the time */

#endif
