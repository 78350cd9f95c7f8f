/* metadata: rows of the tables of a dataset (spaces, variables, sizes, segments, files) as plain
 * structs, which rank 0 reads and broadcasts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MODEL_H
#define TUTTI_MODEL_H

#include <tutti/dataset.h>
#include "base/memory.h"

/* Maximum bytes of names, including the terminating 0. */
enum { TUTTI__NAME = 128, TUTTI__UNITS = 64, TUTTI__LONG_NAME = 256 };

typedef enum tutti__space_kind { TUTTI__SPACE_GRID, TUTTI__SPACE_LIST } tutti__space_kind;

typedef struct tutti__space {
    int64_t id; /* >= 1 */
    int kind;
    int fresh; /* whether the row is not in the database yet */
    char name[TUTTI__NAME];
} tutti__space;

typedef struct tutti__variable {
    int64_t id, space; /* ids */
    int item, components, type, layout, order, compress;
    int put_type; /* type of new sections */
    int fresh;
    double fill;
    char name[TUTTI__NAME], units[TUTTI__UNITS], long_name[TUTTI__LONG_NAME];
} tutti__variable;

/* The size of a space, valid from a segment on; segment 0: initial size. */
typedef struct tutti__size {
    int64_t segment, space; /* ids */
    int ndims, has_ids;
    tutti_count shape[TUTTI_MAX_DIMS];
    int64_t stamp; /* not stored in the database */
    int fresh;
} tutti__size;

typedef struct tutti__datafile {
    int64_t id;
    char name[TUTTI__NAME]; /* data-NNNNNN.tutti or data-NNNNNN.nc */
} tutti__datafile;
int tutti__netcdf_name(const char *name); /* whether the name ends with .nc */
static inline int tutti__is_netcdf(const tutti__datafile *f) {
    return tutti__netcdf_name(f->name);
}

/* A segment: bytes [start, end) of its file; the trailer begins at `trailer`. */
typedef struct tutti__segment_row {
    int64_t id, file;
    int kind, sections;
    int64_t index;
    double time;
    tutti_off start, end, trailer;
} tutti__segment_row;

typedef struct tutti__section {
    int64_t segment, variable; /* ids */
    int64_t part;              /* lists of entries: number of the list; otherwise 0 */
    tutti_off start, bytes;
    int type;
    int summed; /* whether it has a checksum */
    uint64_t sum;
    /* TUTTI_RANKED: segment and part of its list of entries; 0: not ranked */
    int64_t list_segment, list_part;
} tutti__section;

/* Maximum bytes of the location of an archive. */
enum { TUTTI__PLACE = 512 };
typedef struct tutti__archived {
    int64_t segment; /* id of the segment */
    uint64_t sum;    /* checksum of its bytes (tutti__content_sum) */
    char place[TUTTI__PLACE];
} tutti__archived;

typedef struct tutti__model {
    uint64_t id[2];     /* random id of the dataset, high half first; 0 in format 1 */
    int64_t generation; /* incremented when segments are removed or archived */
    int64_t serial;     /* largest id that a segment has ever had */
    int64_t container;  /* TUTTI_CONTAINER_NATIVE or TUTTI_CONTAINER_NETCDF, for all data files */
    int64_t commit;     /* netCDF: id of the first segment of the last commit */
    int64_t published;  /* number of segments at load time, without those of an unfinished commit */
    /* netCDF: largest id of a variable when the first state of the last file was written */
    int64_t defined;
    tutti__space *spaces;
    tutti__variable *variables;
    tutti__size *sizes;
    tutti__datafile *files;
    tutti__segment_row *segments; /* in the order of time */
    tutti__archived *archived;    /* sorted by segment */
    int64_t spaces_n, variables_n, sizes_n, files_n, segments_n, archived_n;
} tutti__model;

void tutti__model_free(tutti__model *m);
/* Append a row of zeros to a table. */
#define TUTTI__GROW(m, what) tutti__table_grow(&(m)->what, &(m)->what##_n, sizeof *(m)->what)

tutti__space *tutti__model_space(const tutti__model *m, const char *name);
tutti__variable *tutti__model_variable(const tutti__model *m, const char *name);
tutti__space *tutti__model_space_id(const tutti__model *m, int64_t id);
tutti__variable *tutti__model_variable_id(const tutti__model *m, int64_t id);
tutti__segment_row *tutti__model_segment_id(const tutti__model *m, int64_t id);
tutti__datafile *tutti__model_file_id(const tutti__model *m, int64_t id);
const tutti__archived *tutti__model_archived(const tutti__model *m, int64_t segment); /* or NULL */
/* Return whether a file has a segment that is not archived. */
int tutti__model_file_in_use(const tutti__model *m, int64_t file);
/* Return the size of a space that is valid for a segment (an id; INT64_MAX: the current size), or
 * NULL. */
tutti__size *tutti__model_size(const tutti__model *m, int64_t space, int64_t segment);

/* Remove the sizes that a segment set. */
void tutti__model_sizes_drop(tutti__model *m, int64_t segment);
/* Remove segment number n and all later segments. */
void tutti__model_truncate(tutti__model *m, int64_t n);

/* ---- valid contents of rows; a database may come from an untrusted source */
/* Return whether a name is valid, or that of a variable of the library, which contains ':'. */
int tutti__name_right(const char *name, size_t capacity);
/* Return whether a name is that of a data file; files with other names are never opened. */
int tutti__file_name_right(const char *name);
int tutti__text_right(const char *text, size_t capacity);
/* Return whether a name or text is valid and UTF-8, as those of callers must be; datasets of format
 * 1 may contain others. */
int tutti__name_valid(const char *name, size_t capacity);
int tutti__text_valid(const char *text, size_t capacity);
tutti_err tutti__variable_check(const tutti__variable *v) TUTTI_MUST_USE;
int tutti__shape_right(int ndims, const tutti_count *shape, tutti_count *entries_out);
int tutti__shape_parse(const char *text, tutti__size *out);    /* for example "4,5,6" */
tutti_count tutti__variable_numbers(const tutti__variable *v); /* number of values of an item */
/* Return the bytes of an item in sections of that type. */
tutti_off tutti__item_bytes(const tutti__variable *v, int type);
/* Convert the value `fill` to a type and byte order; the result has *size_out bytes (fill.c). */
tutti_err tutti__fill_pattern(double fill, int type, int order, unsigned char pattern[16],
                              int *size_out) TUTTI_MUST_USE;
/* Check that ids, order and ranges are consistent.  Fails with TUTTI_ERR_FORMAT otherwise. */
tutti_err tutti__model_check(const tutti__model *m) TUTTI_MUST_USE;
tutti_err tutti__section_check(const tutti__model *m, const tutti__segment_row *g,
                               const tutti__section *s) TUTTI_MUST_USE;

#endif
