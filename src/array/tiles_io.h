/* array: file access of a tile walk.  One operation at a time of an array: prepared (local, may fail), then
 * begun on all ranks, then ended.  What fails in between is told when it is ended.
 *
 * In global placement begin and end are collective and end gives all ranks the same outcome; in local
 * placement both concern this rank's file alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TILES_IO_H
#define TUTTI_TILES_IO_H

#include "array/array_impl.h"
#include "array/tiles.h"

typedef struct tutti__flight {
    tutti_array *array; /* NULL: there is nothing to do, ever */
    int is_write;
    int prepared;
    tutti_access *access;
    char *buf;
    tutti_request *request; /* under way */
    tutti_err err;          /* of what could not even be begun */
    tutti_error_info trouble;
} tutti__flight;

/* Prepare reading (writing) n boxes that lie in `frame`, whose elements are packed at to->bytes.
 * No boxes: this rank takes part without elements. */
tutti_err tutti__flight_prepare(tutti__flight *f, int n, const tutti__box *boxes,
                                const tutti__packed *frame) TUTTI_MUST_USE;
/* Begin what was prepared: file access goes on by itself. */
void tutti__flight_begin(tutti__flight *f);
/* Wait for what was begun. */
tutti_err tutti__flight_end(tutti__flight *f) TUTTI_MUST_USE;
/* The whole of it at once, nothing in the background. */
tutti_err tutti__flight_run(tutti__flight *f) TUTTI_MUST_USE;
/* After MPI_Finalize, instead of the end.  0: the buffer may still be in use. */
int tutti__flight_forget(tutti__flight *f);
/* Forget what was prepared. */
void tutti__flight_cancel(tutti__flight *f);

/* Does file access of an array go on in the background of a walk, in memory that the engine has for it? */
int tutti__flight_staged(const tutti_array *a);

#endif
