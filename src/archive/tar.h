/* archive: headers of tar archives: ustar, with pax records for sizes of 8 GiB or more.  Input is
 * validated.  No MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TAR_H
#define TUTTI_TAR_H

#include "base/memory.h"

enum { TUTTI__TAR_BLOCK = 512, TUTTI__TAR_NAME = 100, TUTTI__TAR_HEADERS = 3 };

/* A decoded header. */
typedef struct tutti__tar_entry {
    char name[TUTTI__TAR_NAME + 1];
    tutti_off bytes;
    int is_file;
    int is_pax; /* whether the data is pax records for the next entry */
} tutti__tar_entry;

/* Write the header of a file to `out`: one to three blocks.  Returns its size in bytes. */
size_t tutti__tar_write(const char *name, tutti_off bytes,
                        char out[TUTTI__TAR_HEADERS * TUTTI__TAR_BLOCK]);
/* Decode a block; *is_header_out: 1: a header, 0: a block of zeros, which is the end.  Fails with
 * TUTTI_ERR_FORMAT if it is neither. */
tutti_err tutti__tar_read(const char block[TUTTI__TAR_BLOCK], tutti__tar_entry *out,
                          int *is_header_out) TUTTI_MUST_USE;
/* Decode pax records; *bytes_io becomes the size if they contain one.  Fails with TUTTI_ERR_FORMAT
 * if they are invalid. */
tutti_err tutti__tar_pax(const char *records, size_t n, tutti_off *bytes_io) TUTTI_MUST_USE;

#endif
