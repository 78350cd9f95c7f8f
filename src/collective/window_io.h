/* collective: what a window exchanges with the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_WINDOW_IO_H
#define TUTTI_WINDOW_IO_H

#include "collective/collective_impl.h"

typedef struct tutti__window_io {
    const tutti__load *load; /* whose bytes */
    tutti_off lo, hi;        /* the window, cut at the end of the file when reading */
    tutti_off total;         /* bytes that all of them have in it, if they do not overlap; else 0 */
    char *stage;             /* where `lo` is */
    tutti_off shift;         /* from the access's offsets to the file's */
    /* filled in: */
    tutti_io_run *run;
    int n, room;
    tutti_off asked; /* bytes in the runs */
    tutti__extents extents;
} tutti__window_io;

/* Make the list of runs.  Writing: one if the window is full, otherwise exactly those that somebody named.
 * Reading: the bytes somebody wants, small gaps along with them; all from the first to the last if that is
 * most of the window. */
tutti_err tutti__window_io_make(tutti__window_io *w, int is_write) TUTTI_MUST_USE;
void tutti__window_io_free(tutti__window_io *w);

#endif
