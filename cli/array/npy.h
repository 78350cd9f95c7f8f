/* NumPy's file format .npy: its header.  The elements after it are a flat array, which the library
 * reads and writes like any other.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_NPY_H
#define TUTTI_CLI_NPY_H

#include "common/cli.h"

#include <tutti/array.h>

typedef struct npy_header {
    tutti_array_spec spec; /* with the offset of the first element */
    int swapped;           /* values are not in native byte order */
} npy_header;

enum { NPY_ROOM = 1024 }; /* bytes that every header we write fits into */

int npy_is_name(const char *path); /* whether it ends in .npy */
/* Rank 0 reads the header of a file, for all.  Collective.  0, or 1 and a message */
int npy_read_for_all(const cli_world *w, const char *path, npy_header *out);
/* Read the header of a file.  0, or 1 and a message, also if the file has fewer elements than it
 * specifies. */
int npy_read(const char *path, npy_header *out);
/* The same of the first `bytes` bytes of a file of `size` bytes. */
int npy_parse(const unsigned char *text, size_t bytes, tutti_off size, npy_header *out);
/* Rank 0 creates a file with the header for this array, whose offset is set.  Collective. */
int npy_create_for_all(const cli_world *w, const char *path, tutti_array_spec *spec);
/* Create the header for this array, version 1.0.  @return its length, which is the offset of the elements */
size_t npy_make(const tutti_array_spec *spec, char out[NPY_ROOM]);
/* Convert n elements to native byte order. */
void npy_swap(const npy_header *h, void *elements, tutti_count n);

#endif
