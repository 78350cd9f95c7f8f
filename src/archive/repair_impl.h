/* archive: the state of a repair.  One process, no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPAIR_IMPL_H
#define TUTTI_REPAIR_IMPL_H

#include "metadata/trailer.h"

/* A data file of the directory. */
typedef struct tutti__listed_file {
    char name[TUTTI__NAME];
    int fd; /* -1: the file cannot be read, or is not a regular file */
    tutti_off size;
} tutti__listed_file;

typedef struct tutti__repair {
    const char *directory;
    tutti__meta_options options; /* options to open databases while the lock is held */
    tutti__listed_file *files;   /* sorted by name */
    int64_t files_n;
    tutti__found *found; /* segments in them, newest first */
    int64_t found_n;
    int64_t compared;        /* netCDF: id of the file that was compared last */
    int agrees;              /* netCDF: result of that comparison */
    int torn;                /* number of ranges without a trailer before complete segments */
    int64_t *known, known_n; /* ids of the segments in the old metadata, if it can be read */
    tutti_repair_report report;
} tutti__repair;

/* Record a loss of n segments; the report has the text of the first. */
void tutti__repair_lost(tutti__repair *r, int64_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Compare the checksums of a segment with its data.  Returns 1 if they are equal or there are none,
 * 0 if they differ, -1 if out of memory. */
int tutti__repair_sums_right(const tutti__listed_file *file, const tutti__found *v);
/* Return a data file of the directory, or NULL if there is none. */
const tutti__listed_file *tutti__repair_file(const tutti__repair *r, const char *name);
/* Create a database with this name from the segments that were found. */
tutti_err tutti__rebuild(tutti__repair *r, const char *name, int64_t generation) TUTTI_MUST_USE;
/* Like tutti__rebuild, from the headers of netCDF data files (netcdf_rebuild.c). */
tutti_err tutti__netcdf_rebuild(tutti__repair *r, const char *name,
                                int64_t generation) TUTTI_MUST_USE;
/* Return whether all rows of these tables (bits) are also rows of `of`.  Both are in the order of
 * commits. */
int tutti__rows_within(const char *rows, size_t n, const char *of, size_t of_n, unsigned tables);

#endif
