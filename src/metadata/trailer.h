/* metadata: trailers of segments as bytes (docs/reference/format.md), and the search for them in data files.
 *
 * No function uses MPI; all input is validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TRAILER_H
#define TUTTI_TRAILER_H

#include "metadata/meta.h"

enum {
    TUTTI__SEGMENT_ALIGN = 4096, /* segments begin and end at a multiple */
    TUTTI__SECTION_ALIGN = 64    /* small sections do */
};

/* The last bytes of a segment, little-endian. */
typedef struct tutti__footer {
    char magic[8];
    uint64_t version, start, trailer, blocks, rows, sum;
    uint64_t joined; /* 1: the next segment belongs to the same commit */
} tutti__footer;
#define TUTTI__FOOTER_MAGIC "TUTTISEG"
/* Footers of removed segments that later segments of the file follow are zeros, except the last one, which has this magic
 * string; its `start` is that of the first of them. */
#define TUTTI__GAP_MAGIC "TUTTIGAP"

typedef enum tutti__footer_kind {
    TUTTI__FOOTER_NONE,
    TUTTI__FOOTER_SEGMENT,
    TUTTI__FOOTER_GAP
} tutti__footer_kind;

/* A decoded footer: checksums begin at `trailer`, rows follow. */
typedef struct tutti__trailer {
    tutti_off start, trailer, end;
    int64_t blocks, rows; /* numbers: of sums, of bytes */
    uint64_t sum;
    int joined, version;
} tutti__trailer;

/* Decode the footer that ends at `end` of its file.  All its ranges are within [0, end).  Pure. */
tutti__footer_kind tutti__footer_parse(const tutti__footer *f, tutti_off end, tutti__trailer *out);
void tutti__footer_gap(tutti_off start, tutti__footer *out);

/* The first bytes of a native data file.  The id of the dataset is not among them: the same data gives the same bytes. */
void tutti__datafile_head(char head[TUTTI__SEGMENT_ALIGN]);

/* A trailer: sums and rows, and the footer as its last bytes.  Rank 0, in a transaction of `m` that has
 * the rows of the segment but for its own, if `g` is new. */
typedef struct tutti__trailer_spec {
    const uint64_t *sums; /* [blocks] little-endian */
    int64_t blocks;
    int joined;
    int is_new; /* the row of the segment is to be added */
} tutti__trailer_spec;
/* g->end is set.  All changes of infos that no trailer has are in this one; of a joined one the last
 * trailer of the commit has them too. */
tutti_err tutti__trailer_make(tutti__meta *m, const tutti__trailer_spec *spec,
                              tutti__segment_row *g, char **out) TUTTI_MUST_USE;

/* ---- rows as bytes */

enum { TUTTI__ROW_COLUMNS = 24 };
typedef enum tutti__row_table { /* as the numbers in rows */
                                TUTTI__ROW_SEGMENT,
                                TUTTI__ROW_FILE,
                                TUTTI__ROW_SPACE,
                                TUTTI__ROW_VARIABLE,
                                TUTTI__ROW_SIZE,
                                TUTTI__ROW_SECTION,
                                TUTTI__ROW_INFO,
                                TUTTI__ROW_REMOVED, /* infos that were removed */
                                TUTTI__ROW_TABLES
} tutti__row_table;

typedef struct tutti__cell {
    char kind;        /* i d n t b */
    int64_t number;   /* i; d: its bits */
    const char *text; /* t b; not terminated */
    size_t bytes;
} tutti__cell;

typedef struct tutti__row {
    int table, columns;
    tutti__cell cell[TUTTI__ROW_COLUMNS];
    const char *bytes; /* the row itself */
    size_t n;
} tutti__row;

/* Decode the next row of `*rows`, and advance it.  Returns 1; 0: no further row; -1: invalid.  Pure. */
int tutti__row_next(const char **rows, size_t *left, tutti__row *out);
/* Rows by tables.  1: the row is of that table, and valid. */
int tutti__row_segment(const tutti__row *r, tutti__segment_row *out);
int tutti__row_file(const tutti__row *r, tutti__datafile *out);
int tutti__row_size(const tutti__row *r, tutti__size *out);
int tutti__row_info(const tutti__row *r, int64_t *segment_out);
int tutti__row_removed(const tutti__row *r, int64_t *segment_out);
/* The first number of a row (an id, a segment); -1: it has none. */
int64_t tutti__row_id(const tutti__row *r);

/* ---- ranked sections (ranked_head.c) */

enum { TUTTI__RANKED_HEAD = 3 }; /* numbers before the table */
typedef struct tutti__ranked_head {
    int64_t ranks, entries;
} tutti__ranked_head;

/* Bytes of the header of a ranked section of that many ranks. */
tutti_off tutti__ranked_header(int ranks);
/* Decode the first two values; they agree with the section and its items.  Pure. */
tutti_err tutti__ranked_head_take(const int64_t head[2], const tutti__section *s, tutti_off item,
                                  tutti__ranked_head *out) TUTTI_MUST_USE;

/* ---- data files */

/* A segment that was found in one. */
typedef struct tutti__found {
    tutti__segment_row segment; /* as its trailer has it */
    tutti__datafile file;
    tutti__trailer at;
    char *rows; /* [at.rows], to be freed */
} tutti__found;

/* 1: rows and checksums of a trailer are complete; tutti__free *rows_out.  0: they are not; -1: no memory. */
int tutti__trailer_rows(int fd, const tutti__trailer *t, char **rows_out);
/* Find all segments of the file, from its end on; between them (a torn end, damaged trailers) it is searched page by
 * page.  *torn_out: number of such places, without the end. */
tutti_err tutti__trailers_find(int fd, tutti__found **out, int64_t *n_out,
                               int *torn_out) TUTTI_MUST_USE;
void tutti__found_free(tutti__found *v, int64_t n);
/* Segments between those of `model` were removed: their trailers in the file are overwritten. */
tutti_err tutti__gaps_mark(const char *path, const tutti__model *model,
                           const tutti__datafile *f) TUTTI_MUST_USE;

#endif
