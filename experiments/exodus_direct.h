/* tutti-experiments exodus: the paper's references, netCDF and HDF5 written directly by one process.
 *
 * The libraries are looked for when they are needed (dlopen): the command is linked with neither, and goes without them.  The serial
 * ones, which know no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_DIRECT_H
#define TUTTI_CLI_EXODUS_DIRECT_H

#include <stddef.h>

typedef struct direct direct;

typedef enum direct_kind { DIRECT_NETCDF, DIRECT_HDF5 } direct_kind;

/* Variables of float64: so many of each of two spaces. */
typedef struct direct_shape {
    int each;
    size_t entries[2];
} direct_shape;

/* Is the library there?   Otherwise 0, and a message for people, naming Debian's package. */
int direct_there(direct_kind kind, const char **package_out);

/* A new file with everything defined.   @return NULL and a message (cli_error) */
direct *direct_open(direct_kind kind, const char *path, const direct_shape *shape);
/* A step, from 0: values [2 * each], one after the other; the metadata are in the file afterwards.
 * @return 0, or 1 and a message */
int direct_step(direct *d, int step, const double *const *values);
int direct_close(direct *d);

#endif
