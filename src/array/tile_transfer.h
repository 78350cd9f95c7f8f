/* array: file access of a tile iteration.  An array has one operation at a time, which is prepared
 * (not collective, may fail), then begun on all ranks, then ended.  Errors of begin are reported by
 * end.
 *
 * In global placement begin and end are collective, and all ranks get the same outcome; in local
 * placement they access only the file of this rank's part.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TILES_IO_H
#define TUTTI_TILES_IO_H

#include "array/array_impl.h"
#include "array/tiles.h"

typedef struct tutti__tile_transfer {
    tutti_array *array; /* NULL: the iteration does not access an array in this direction */
    int is_write;
    int prepared;
    tutti_access *access;
    char *buf;
    /* limit of staging memory per node for one operation, agreed on by all ranks */
    tutti_off memory_limit;
    tutti_off described; /* size of the description of the last operation */
    /* largest size of description and staging memory of an operation so far */
    tutti_off most;
    tutti_request *request; /* request of the operation in progress */
    tutti_err err;          /* outcome of an operation that could not begin, or that has ended */
    tutti_error_info error;
    struct tutti__tile_transfer *next; /* next transfer that writes to the same array */
} tutti__tile_transfer;

/* Prepare reading or writing n boxes inside `frame`, whose elements are packed at frame->bytes.
 * With n = 0 this rank takes part without elements. */
tutti_err tutti__tile_transfer_prepare(tutti__tile_transfer *f, int n, const tutti__box *boxes,
                                       const tutti__packed *frame) TUTTI_MUST_USE;
/* Begin the prepared operation; file access continues in the background. */
void tutti__tile_transfer_begin(tutti__tile_transfer *f);
/* Wait for the operation, and return its outcome. */
tutti_err tutti__tile_transfer_end(tutti__tile_transfer *f) TUTTI_MUST_USE;
/* Perform the prepared operation; blocks until it has ended. */
tutti_err tutti__tile_transfer_run(tutti__tile_transfer *f) TUTTI_MUST_USE;
/* Add the transfer to the pending writes of its array, for which other accesses wait, or remove it
 * from them. */
void tutti__tile_transfer_join(tutti__tile_transfer *f);
void tutti__tile_transfer_leave(tutti__tile_transfer *f);
/* Abandon the operation after MPI_Finalize, instead of tutti__tile_transfer_end.  Returns 0 if the
 * buffer may still be in use. */
int tutti__tile_transfer_abandon(tutti__tile_transfer *f);
/* Discard the prepared operation. */
void tutti__tile_transfer_cancel(tutti__tile_transfer *f);

/* Return whether file access of an iteration continues in the background, in memory of the
 * engine. */
int tutti__tile_transfer_is_staged(const tutti_array *a);

#endif
