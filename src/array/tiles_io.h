/* array: file access of a tile walk.  One operation at a time of an array: prepared (local, may
 * fail), then begun on all ranks, then ended.  What fails in between is told when it is ended.
 *
 * In global placement begin and end are collective and end gives all ranks the same outcome; in
 * local placement both concern this rank's file alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TILES_IO_H
#define TUTTI_TILES_IO_H

#include "array/array_impl.h"
#include "array/tiles.h"

typedef struct tutti__tile_flight {
    tutti_array *array; /* NULL: there is nothing to do, ever */
    int is_write;
    int prepared;
    tutti_access *access;
    char *buf;
    tutti_off room;         /* staging memory of a node that one operation may have, as agreed */
    tutti_off described;    /* bytes of the description of the last operation */
    tutti_off most;         /* description and staging of an operation, on this rank, so far */
    tutti_request *request; /* under way */
    tutti_err err;          /* of what could not even be begun, or has been waited for already */
    tutti_error_info trouble;
    struct tutti__tile_flight *next; /* that writes to the same array */
} tutti__tile_flight;

/* Prepare reading (writing) n boxes that lie in `frame`, whose elements are packed at to->bytes.
 * No boxes: this rank takes part without elements. */
tutti_err tutti__tile_flight_prepare(tutti__tile_flight *f, int n, const tutti__box *boxes,
                                     const tutti__packed *frame) TUTTI_MUST_USE;
/* Begin what was prepared: file access goes on by itself. */
void tutti__tile_flight_begin(tutti__tile_flight *f);
/* Wait for what was begun. */
tutti_err tutti__tile_flight_end(tutti__tile_flight *f) TUTTI_MUST_USE;
/* The whole of it at once, nothing in the background. */
tutti_err tutti__tile_flight_run(tutti__tile_flight *f) TUTTI_MUST_USE;
/* From now on, until it is left, others who want the array's elements wait for what is being
 * written. */
void tutti__tile_flight_join(tutti__tile_flight *f);
void tutti__tile_flight_leave(tutti__tile_flight *f);
/* After MPI_Finalize, instead of the end.  0: the buffer may still be in use. */
int tutti__tile_flight_forget(tutti__tile_flight *f);
/* Free what was prepared. */
void tutti__tile_flight_cancel(tutti__tile_flight *f);

/* Does file access of an array go on in the background of a walk, in memory that the engine has for
 * it? */
int tutti__tile_flight_staged(const tutti_array *a);

#endif
