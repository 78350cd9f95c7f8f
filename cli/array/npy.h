/* The header of NumPy's file format .npy.  The elements after the header are a flat array, which the library
 * reads and writes like any other.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_NPY_H
#define TUTTI_CLI_NPY_H

#include "common/cli.h"

#include <tutti/array.h>

typedef struct npy_header {
    tutti_array_spec spec; /* spec.offset is that of the first element */
    int swapped;           /* values are not in native byte order */
} npy_header;

enum { NPY_ROOM = 1024 }; /* maximum bytes of a header that npy_make creates */

int npy_is_name(const char *path); /* whether `path` ends in .npy */
/* Read the header of a file on rank 0 and broadcast it.  Collective.  Returns 0, or 1 and a
 * message. */
int npy_read_for_all(const cli_world *w, const char *path, npy_header *out);
/* Read the header of a file.  Returns 0, or 1 and a message.  Fails if the file has fewer elements
 * than the header specifies. */
int npy_read(const char *path, npy_header *out);
/* Parse the header in `text`, the first `bytes` bytes of a file of `size` bytes.  Fails like npy_read. */
int npy_parse(const unsigned char *text, size_t bytes, tutti_off size, npy_header *out);
/* Create a file that has only the header of this array, and set spec->offset.  Rank 0 writes it.
 * Collective. */
int npy_create_for_all(const cli_world *w, const char *path, tutti_array_spec *spec);
/* Create the header of this array, version 1.0.  Returns its length, which is the offset of the
 * elements. */
size_t npy_make(const tutti_array_spec *spec, char out[NPY_ROOM]);
/* Convert n elements to native byte order, if h->swapped. */
void npy_swap(const npy_header *h, void *elements, tutti_count n);

#endif
