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
    tutti_off total;  /* sum of the bytes of all sources; 0 if they overlap */
    char *stage;      /* address of the byte at `lo` */
    /* the list of runs */
    tutti_off shift; /* file offset minus offset in the access */
    /* holes up to this size are also read, which is faster than another request */
    tutti_off gap;
    /* write: read bytes of holes from this store first (read-modify-write); NULL: never */
    tutti_store *fill_store;
    tutti_off zeros; /* write: end of the file; holes beyond it are written as zeros */
    tutti_io_run *run;
    int n;
    size_t capacity;     /* allocated entries of `run` */
    tutti_off requested; /* bytes in the runs */
    tutti__extents extents;
    /* the access */
    tutti_store_request *request; /* NULL: none is pending */
    double since;
} tutti__window_io;

/* Make the list of runs; return 1 if it is not empty.  After an error it is empty.  A write has one
 * run if the window is full, otherwise exactly the requested runs.  If holes may be overwritten,
 * small ones are filled from the file (read-modify-write) or, after its end, with zeros, and become
 * part of a run.  A read has the requested bytes and small holes between them: data sieving. */
int tutti__window_io_prepare(tutti__run *r, tutti__window_io *w);
/* Begin the access that has been prepared. */
void tutti__window_io_submit(tutti__run *r, tutti__window_io *w);
/* Prepare and submit the access. */
void tutti__window_io_begin(tutti__run *r, tutti__window_io *w);
/* Return whether the access has ended; 1 if none is pending.  `wait`: wait for its end. */
int tutti__window_io_end(tutti__run *r, tutti__window_io *w, int wait);
/* Record the outcome of an access that ended at `when`: `done` bytes, or an error. */
void tutti__window_io_outcome(tutti__run *r, const tutti__window_io *w, tutti_err err,
                              tutti_off done, double when);
/* Wait for a pending access, ignoring its outcome */
void tutti__window_io_abort(tutti__window_io *w);
void tutti__window_io_free(tutti__window_io *w); /* free the list, which can be made again */

#endif
