/* archive: copy segments to archives and back.  One process, no MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARCHIVE_COPY_H
#define TUTTI_ARCHIVE_COPY_H

#include "metadata/model.h"

/* Segments of a dataset to be archived or restored. */
typedef struct tutti__archiving {
    const char *name; /* name of the API function, for messages */
    const char *path; /* path of the dataset */
    const tutti__model *model;
    const char *directory;      /* directory of the archive; NULL: use `stream` */
    const tutti_stream *stream; /* stream of a tar archive */
    int64_t n;
    tutti_count *segment;  /* [n] segment numbers */
    tutti__archived *rows; /* [n] rows of the database */
} tutti__archiving;

static inline const tutti__segment_row *tutti__archiving_row(const tutti__archiving *k, int64_t i) {
    return &k->model->segments[k->segment[i]];
}

/* Copy segment i to the directory, sync it and read it back, unless the copy exists.  Sets
 * rows[i].sum. */
tutti_err tutti__archive_copy(tutti__archiving *k, int64_t i) TUTTI_MUST_USE;
/* Write segment i to the stream, and set rows[i].sum. */
tutti_err tutti__archive_send(tutti__archiving *k, int64_t i) TUTTI_MUST_USE;
/* Copy segment i from the directory to its data file, sync it and read it back. */
tutti_err tutti__archive_fetch(const tutti__archiving *k, int64_t i) TUTTI_MUST_USE;
/* Like tutti__archive_fetch, for all segments of the stream, in any order. */
tutti_err tutti__archive_fetch_stream(const tutti__archiving *k) TUTTI_MUST_USE;

#endif
