/* tutti-experiments exodus: the references of the paper, netCDF and HDF5 written directly by one process.
 *
 * The libraries are loaded when needed (dlopen), so that the program can be built and run without them.  The
 * serial versions, without MPI, are used.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_DIRECT_H
#define TUTTI_CLI_EXODUS_DIRECT_H

#include <stddef.h>

typedef struct direct direct;

typedef enum direct_kind { DIRECT_NETCDF, DIRECT_HDF5 } direct_kind;

/* The variables: `each` of float64 on each of two spaces with entries[] entries. */
typedef struct direct_shape {
    int each;
    size_t entries[2];
} direct_shape;

/* Return whether the library is available; if not, *package_out is its Debian package. */
int direct_there(direct_kind kind, const char **package_out);

/* Create a file with all definitions.  @return NULL and a message on failure */
direct *direct_open(direct_kind kind, const char *path, const direct_shape *shape);
/* Write step number `step`, from 0; values: [2 * each] contiguous arrays.  Afterwards the metadata
 * is in the file. @return 0, or 1 after printing a message */
int direct_step(direct *d, int step, const double *const *values);
int direct_close(direct *d);

#endif
