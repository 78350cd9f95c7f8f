/* archive: the state of a repair.  One process, no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPAIR_IMPL_H
#define TUTTI_REPAIR_IMPL_H

#include "metadata/trailer.h"

/* A data file of the directory. */
typedef struct tutti__listed_file {
    char name[TUTTI__NAME];
    int fd; /* -1: it cannot be read, or is not a regular file */
    tutti_off size;
} tutti__listed_file;

typedef struct tutti__repair {
    const char *directory;
    tutti__meta_options options; /* for opening databases: the lock is held */
    tutti__listed_file *files;   /* by name */
    int64_t files_n;
    tutti__found *found; /* segments in them, newest first */
    int64_t found_n;
    int64_t compared;        /* netCDF: the file that was compared last, */
    int agrees;              /* and the result */
    int torn;                /* ranges without a trailer before complete segments */
    int64_t *known, known_n; /* ids of segments that the old metadata had, where they can be read */
    tutti_repair_report report;
} tutti__repair;

/* Record a loss of n segments; the report has the text of the first. */
void tutti__repair_lost(tutti__repair *r, int64_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Compare the checksums of a segment with its data.  1: equal, or no checksums; 0: different; -1:
 * no memory. */
int tutti__repair_sums_right(const tutti__listed_file *file, const tutti__found *v);
/* A data file of the directory, or NULL. */
const tutti__listed_file *tutti__repair_file(const tutti__repair *r, const char *name);
/* Create a database with this name from the segments found. */
tutti_err tutti__rebuild(tutti__repair *r, const char *name, int64_t generation) TUTTI_MUST_USE;
/* The same from the headers of data files that are netCDF (netcdf_rebuild.c). */
tutti_err tutti__netcdf_rebuild(tutti__repair *r, const char *name,
                                int64_t generation) TUTTI_MUST_USE;
/* Return whether all rows of these tables (bits) are also rows of `of`.  Both are in the order of commits. */
int tutti__rows_within(const char *rows, size_t n, const char *of, size_t of_n, unsigned tables);

#endif
