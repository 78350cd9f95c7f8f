/* engine: file access of a window: the list of runs, and the pending request.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WINDOW_IO_H
#define TUTTI_WINDOW_IO_H

#include "engine/engine.h"

typedef struct tutti__window_io {
    /* set by the engine before each access */
    const tutti__incoming *incoming; /* sources of the window */
    tutti_count cycle;
    tutti_off lo, hi; /* the window; a read ends at the end of the file */
    tutti_off total;  /* bytes of all sources, if they do not overlap; else 0 */
    char *stage;      /* address of the byte at `lo` */
    /* the list of runs */
    tutti_off shift;         /* from offsets of the access to offsets of the file */
    tutti_off gap;           /* holes up to this size are read, too: faster than another request */
    tutti_store *fill_store; /* write: holes are filled from this first (rmw); NULL: never */
    tutti_off zeros; /* write: the file ends here, and holes beyond this are written as zeros */
    tutti_io_run *run;
    int n;
    size_t room;
    tutti_off requested; /* bytes in the runs */
    tutti__extents extents;
    /* the access */
    tutti_store_request *request; /* NULL: none is pending */
    double since;
} tutti__window_io;

/* Make the list of runs; 1 if there are any.  After an error there are none.  A write has one run if
 * the window is full, otherwise exactly the requested runs.  If holes may be overwritten, small ones are
 * filled from the file (read-modify-write) or, behind its end, with zeros, and become part of a run.
 * A read has the requested bytes with small holes: data sieving of the bounding section. */
int tutti__window_io_prepare(tutti__run *r, tutti__window_io *w);
/* Begin the access that has been prepared. */
void tutti__window_io_submit(tutti__run *r, tutti__window_io *w);
/* Both. */
void tutti__window_io_begin(tutti__run *r, tutti__window_io *w);
/* Return whether the access has ended; 1 if none is pending.  `wait`: wait for its end. */
int tutti__window_io_end(tutti__run *r, tutti__window_io *w, int wait);
/* Record the outcome of an access that ended at `when`: `done` bytes, or an error. */
void tutti__window_io_outcome(tutti__run *r, const tutti__window_io *w, tutti_err err,
                              tutti_off done, double when);
void tutti__window_io_abort(tutti__window_io *w); /* only wait for a pending access */
void tutti__window_io_free(tutti__window_io *w);  /* free the list, which may be made again */

#endif
