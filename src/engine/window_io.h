/* engine: what a window exchanges with the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WINDOW_IO_H
#define TUTTI_WINDOW_IO_H

#include "engine/engine.h"

typedef struct tutti__window_io {
    const tutti__incoming *incoming; /* whose bytes */
    tutti_off lo, hi;                /* the window, cut at the end of the file when reading */
    tutti_off total;   /* bytes that all of them have in it, if they do not overlap; else 0 */
    char *stage;       /* where `lo` is */
    tutti_off shift;   /* from the access's offsets to the file's */
    tutti_off gap;     /* holes of this size are read along: cheaper than another request */
    tutti_store *mend; /* writing: the same by reading them first, from this; NULL: never */
    tutti_off
        zeros; /* writing: from here on the file has no bytes, and holes are written as zeros */
    /* filled in: */
    tutti_io_run *run;
    int n, room;
    tutti_off asked; /* bytes in the runs */
    tutti__extents extents;
} tutti__window_io;

/* Make the list of runs.  Writing: one if the window is full, otherwise exactly those that somebody named, or,
 * with `mend`, runs whose small holes have been filled in from the file (read-modify-write), and behind `zeros`
 * such with zeros in them.
 * Reading: the bytes somebody wants, small holes along with them: data sieving of the bounding section. */
tutti_err tutti__window_io_make(tutti__window_io *w, int is_write) TUTTI_MUST_USE;
/* May holes be written over?  Sets `mend` and `zeros`.  Only by an operation that blocks, while no other is under
 * way: one that is could be writing there. */
void tutti__window_mend(tutti__window_io *w, const tutti__op *op);
void tutti__window_io_free(tutti__window_io *w); /* the list; it may be made again */

#endif
