/* engine: what a window exchanges with the file: the list of runs, and the access under way.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WINDOW_IO_H
#define TUTTI_WINDOW_IO_H

#include "engine/engine.h"

typedef struct tutti__window_io {
    /* the engine's, before each access */
    const tutti__incoming *incoming; /* whose bytes */
    tutti_count cycle;
    tutti_off lo, hi; /* the window, cut at the end of the file when reading */
    tutti_off total;  /* bytes that all of them have in it, if they do not overlap; else 0 */
    char *stage;      /* where `lo` is */
    /* the list of runs */
    tutti_off shift;   /* from the access's offsets to the file's */
    tutti_off gap;     /* holes of this size are read along: cheaper than another request */
    tutti_store *mend; /* writing: the same by reading them first, from this; NULL: never */
    tutti_off zeros;   /* writing: from here on the file has no bytes, holes are written as zeros */
    tutti_io_run *run;
    int n, room;
    tutti_off asked; /* bytes in the runs */
    tutti__extents extents;
    /* the access */
    tutti_store_request *request; /* NULL: none is under way */
    double since;
} tutti__window_io;

/* Make the list of runs; 1 if there are any.  After an error of the run there are none.  Writing:
 * one run if the window is full, otherwise exactly those that somebody named, or, where holes may
 * be written over, runs whose small holes have been filled in from the file (read-modify-write)
 * and, behind its end, with zeros.  Reading: the bytes somebody wants, small holes along with them:
 * data sieving of the bounding section. */
int tutti__window_io_prepare(tutti__run *r, tutti__window_io *w);
/* Begin to move what has been prepared. */
void tutti__window_io_submit(tutti__run *r, tutti__window_io *w);
/* Both. */
void tutti__window_io_begin(tutti__run *r, tutti__window_io *w);
/* Has the access ended?  `wait`: until it has.  1 as well if none was begun. */
int tutti__window_io_end(tutti__run *r, tutti__window_io *w, int wait);
/* Take in what came of an access that ended at `when`: `done` bytes, or an error. */
void tutti__window_io_outcome(tutti__run *r, const tutti__window_io *w, tutti_err err,
                              tutti_off done, double when);
void tutti__window_io_abort(tutti__window_io *w); /* wait for it, and no more */
void tutti__window_io_free(tutti__window_io *w);  /* the list; it may be made again */

#endif
