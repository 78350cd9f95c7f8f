/* dataset: what repair knows while it works.  One process; no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPAIR_IMPL_H
#define TUTTI_REPAIR_IMPL_H

#include "dataset/trailer.h"

/* A data file of the directory. */
typedef struct tutti__there {
    char name[TUTTI__NAME];
    int fd; /* -1: it cannot be read, or is no file */
    tutti_off size;
} tutti__there;

typedef struct tutti__repair {
    const char *directory;
    tutti__meta_options options; /* for opening databases: the lock is held */
    tutti__there *files;         /* by name */
    int64_t files_n;
    tutti__found *found; /* what they have, newest first */
    int64_t found_n;
    int64_t compared;        /* netCDF: the file that was compared last, */
    int agrees;              /* and what came of it */
    int torn;                /* places with no trailer before others that are whole */
    int64_t *known, known_n; /* ids of segments that the old metadata had, where they can be read */
    tutti_repair_report report;
} tutti__repair;

/* Note a loss; the first is told. */
void tutti__repair_lost(tutti__repair *r, int64_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Does every segment's table of sums fit its data?  1; 0: no, -1: no memory.  Without sums: 1. */
int tutti__repair_sums_right(const tutti__there *file, const tutti__found *v);
/* A database of this name, made of what was found.  Nothing else is touched. */
tutti_err tutti__rebuild(tutti__repair *r, const char *name, int64_t generation) TUTTI_MUST_USE;
/* The same, of headers of data files that are netCDF (netcdf_rebuild.c). */
tutti_err tutti__netcdf_rebuild(tutti__repair *r, const char *name,
                                int64_t generation) TUTTI_MUST_USE;
/* Is every row of a trailer, but for infos, also one of these?  Both in the order of commits. */
int tutti__rows_within(const char *rows, size_t n, const char *of, size_t of_n);

#endif
