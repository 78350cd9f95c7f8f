/* The kind of a file, from its first bytes, for commands that accept several kinds and for messages that name
 * the right command.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_FILE_KIND_H
#define TUTTI_CLI_FILE_KIND_H

/* Return 1, 2, 5: netCDF classic; 4: netCDF-4 (HDF5); 0: neither. */
int cli_netcdf_format(const char *path);
/* Return whether `path` is a netCDF file, which commands then assume to be an Exodus file. */
int cli_is_exodus(const char *path);
/* Report that the library failed to open `path` as a `wanted` ("dataset", "array", "mesh", "Exodus
 * file"), by its message or by one that names the actual kind and the command for it.  Returns
 * 1. */
int cli_error_open(const char *path, const char *wanted);

#endif
