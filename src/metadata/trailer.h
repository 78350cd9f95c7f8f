/* metadata: trailers of segments as bytes (docs/reference/format.md), and the search for them in
 * data files.
 *
 * No function uses MPI; all input is validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TRAILER_H
#define TUTTI_TRAILER_H

#include "metadata/meta.h"

enum {
    TUTTI__SEGMENT_ALIGN = 4096, /* segments begin and end at a multiple of this */
    TUTTI__SECTION_ALIGN = 64    /* small sections begin at a multiple of this */
};

/* The last bytes of a segment, little-endian. */
typedef struct tutti__footer {
    char magic[8];
    uint64_t version, start, trailer, blocks, rows, sum;
    uint64_t joined; /* 1: the next segment belongs to the same commit */
} tutti__footer;
#define TUTTI__FOOTER_MAGIC "TUTTISEG"
/* Footers of removed segments that precede remaining segments of the file are overwritten with
 * zeros, except the last of them, which gets this magic string; its `start` is that of the first
 * removed segment. */
#define TUTTI__GAP_MAGIC "TUTTIGAP"

typedef enum tutti__footer_kind {
    TUTTI__FOOTER_NONE,
    TUTTI__FOOTER_SEGMENT,
    TUTTI__FOOTER_GAP
} tutti__footer_kind;

/* A decoded footer; checksums begin at `trailer`, followed by rows. */
typedef struct tutti__trailer {
    tutti_off start, trailer, end;
    int64_t blocks, rows; /* number of checksums; number of bytes of rows */
    uint64_t sum;
    int joined, version;
} tutti__trailer;

/* Decode the footer that ends at offset `end` of its file.  All ranges are within [0, end).  No
 * side effects. */
tutti__footer_kind tutti__footer_parse(const tutti__footer *f, tutti_off end, tutti__trailer *out);
void tutti__footer_gap(tutti_off start, tutti__footer *out);

/* Make the first bytes of a native data file.  They do not contain the id of the dataset, so that
 * the same data gives the same bytes. */
void tutti__datafile_head(char head[TUTTI__SEGMENT_ALIGN]);

/* Parameters of a trailer, which consists of checksums, rows and the footer. */
typedef struct tutti__trailer_spec {
    const uint64_t *checksums; /* [blocks] little-endian */
    int64_t blocks;
    int joined;
    int is_new; /* whether the row of the segment must be added */
} tutti__trailer_spec;
/* Make a trailer on rank 0, in a transaction of `m` that has all rows of the segment, except the
 * row of a new segment itself; sets g->end.  The trailer contains all changes of infos that are in
 * no other trailer; the changes of a joined trailer are also in the last trailer of the commit. */
tutti_err tutti__trailer_make(tutti__meta *m, const tutti__trailer_spec *spec,
                              tutti__segment_row *g, char **out) TUTTI_MUST_USE;

/* ---- rows as bytes */

enum { TUTTI__ROW_COLUMNS = 24 };
/* tables; the values are stored in rows */
typedef enum tutti__row_table {
    TUTTI__ROW_SEGMENT,
    TUTTI__ROW_FILE,
    TUTTI__ROW_SPACE,
    TUTTI__ROW_VARIABLE,
    TUTTI__ROW_SIZE,
    TUTTI__ROW_SECTION,
    TUTTI__ROW_INFO,
    TUTTI__ROW_REMOVED, /* removals of infos */
    TUTTI__ROW_TABLES
} tutti__row_table;

typedef struct tutti__cell {
    char kind;        /* 'i', 'd', 'n', 't' or 'b' */
    int64_t number;   /* kind i: the number; kind d: its bits */
    const char *text; /* kinds t and b; not terminated */
    size_t bytes;
} tutti__cell;

typedef struct tutti__row {
    int table, columns;
    tutti__cell cell[TUTTI__ROW_COLUMNS];
    const char *bytes; /* bytes of the row */
    size_t n;
} tutti__row;

/* Decode the next row of *rows, and advance *rows.  Returns 1, 0 if there is no further row, or -1
 * if it is invalid.  No side effects. */
int tutti__row_next(const char **rows, size_t *left, tutti__row *out);
/* Decode a row of one table each; return 1 if the row belongs to this table and is valid. */
int tutti__row_segment(const tutti__row *r, tutti__segment_row *out);
int tutti__row_file(const tutti__row *r, tutti__datafile *out);
int tutti__row_size(const tutti__row *r, tutti__size *out);
int tutti__row_info(const tutti__row *r, int64_t *segment_out);
int tutti__row_removed(const tutti__row *r, int64_t *segment_out);
/* Return the first number of a row (an id or a segment); -1: it has none. */
int64_t tutti__row_id(const tutti__row *r);

/* ---- ranked sections (ranked_head.c) */

enum { TUTTI__RANKED_HEAD = 3 }; /* number of values before the table */
typedef struct tutti__ranked_head {
    int64_t ranks, entries;
} tutti__ranked_head;

/* Return the bytes of the header of a ranked section of `ranks` ranks. */
tutti_off tutti__ranked_header(int ranks);
/* Decode the first two values, and check that they agree with the section and its items.  No side
 * effects. */
tutti_err tutti__ranked_head_take(const int64_t head[2], const tutti__section *s, tutti_off item,
                                  tutti__ranked_head *out) TUTTI_MUST_USE;

/* ---- data files */

/* A segment that was found in a data file. */
typedef struct tutti__found {
    tutti__segment_row segment; /* row in the trailer */
    tutti__datafile file;
    tutti__trailer at;
    char *rows; /* [at.rows], which the caller frees */
} tutti__found;

/* Read the rows of a trailer; the caller frees *rows_out with tutti__free.  Returns 1 if rows and
 * checksums are complete, 0 if not, -1 if out of memory. */
int tutti__trailer_rows(int fd, const tutti__trailer *t, char **rows_out);
/* Find all segments of a file, starting at its end.  Where there is no trailer (a torn end, a
 * damaged trailer), the file is searched page by page.  *torn_out: number of such places, except
 * the end. */
tutti_err tutti__trailers_find(int fd, tutti__found **out, int64_t *n_out,
                               int *torn_out) TUTTI_MUST_USE;
void tutti__found_free(tutti__found *v, int64_t n);
/* Overwrite the trailers of segments that were removed between segments of `model`. */
tutti_err tutti__gaps_mark(const char *path, const tutti__model *model,
                           const tutti__datafile *f) TUTTI_MUST_USE;

#endif
