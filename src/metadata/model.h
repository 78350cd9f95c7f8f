/* metadata: rows of the tables of a dataset (spaces, variables, sizes, segments, files) as plain structs, which rank 0
 * reads and broadcasts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MODEL_H
#define TUTTI_MODEL_H

#include <tutti/dataset.h>
#include "base/memory.h"

/* Bytes of names with the terminating 0. */
enum { TUTTI__NAME = 128, TUTTI__UNITS = 64, TUTTI__LONG_NAME = 256 };

typedef enum tutti__space_kind { TUTTI__SPACE_GRID, TUTTI__SPACE_LIST } tutti__space_kind;

typedef struct tutti__space {
    int64_t id; /* >= 1 */
    int kind;
    int fresh; /* not in the database yet */
    char name[TUTTI__NAME];
} tutti__space;

typedef struct tutti__variable {
    int64_t id, space; /* ids */
    int item, components, type, layout, order, compress;
    int put_type; /* of new sections */
    int fresh;
    double fill;
    char name[TUTTI__NAME], units[TUTTI__UNITS], long_name[TUTTI__LONG_NAME];
} tutti__variable;

/* The size of a space from a segment on; segment 0: from the beginning. */
typedef struct tutti__size {
    int64_t segment, space; /* ids */
    int ndims, has_ids;
    tutti_count shape[TUTTI_MAX_DIMS];
    int64_t stamp; /* in memory only */
    int fresh;
} tutti__size;

typedef struct tutti__datafile {
    int64_t id;
    char name[TUTTI__NAME]; /* data-NNNNNN.tutti, or .nc */
} tutti__datafile;
int tutti__netcdf_name(const char *name); /* it ends with .nc */
static inline int tutti__is_netcdf(const tutti__datafile *f) {
    return tutti__netcdf_name(f->name);
}

/* A segment: [start, end) of its file; the trailer begins at `trailer`. */
typedef struct tutti__segment_row {
    int64_t id, file;
    int kind, sections;
    int64_t index;
    double time;
    tutti_off start, end, trailer;
} tutti__segment_row;

typedef struct tutti__section {
    int64_t segment, variable; /* ids */
    int64_t part;              /* 0; of entry lists: which */
    tutti_off start, bytes;
    int type;
    int summed; /* it has a checksum */
    uint64_t sum;
    int64_t list_segment, list_part; /* TUTTI_RANKED: where its entries are listed; 0: not ranked */
} tutti__section;

/* A segment whose bytes are in an archive. */
enum { TUTTI__PLACE = 512 };
typedef struct tutti__archived {
    int64_t segment; /* id */
    uint64_t sum;    /* of its bytes: tutti__content_sum */
    char place[TUTTI__PLACE];
} tutti__archived;

typedef struct tutti__model {
    uint64_t id[2];     /* of the dataset: random, the high half first; 0: of format 1 */
    int64_t generation; /* increases when segments are removed */
    int64_t serial;     /* the largest id that a segment ever had */
    int64_t container;  /* TUTTI_CONTAINER_NATIVE, TUTTI_CONTAINER_NETCDF: of all data files */
    int64_t commit;     /* netCDF: the first segment of the last commit */
    int64_t published;  /* when it was loaded: segments before a commit that was not finished */
    /* netCDF: the largest id of a variable when the last file got its first state */
    int64_t defined;
    tutti__space *spaces;
    tutti__variable *variables;
    tutti__size *sizes;
    tutti__datafile *files;
    tutti__segment_row *segments; /* in time */
    tutti__archived *archived;    /* by segment */
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
/* The file has a segment that is not archived. */
int tutti__model_file_in_use(const tutti__model *m, int64_t file);
/* The size of a space as of a segment (an id; INT64_MAX: now), or NULL. */
tutti__size *tutti__model_size(const tutti__model *m, int64_t space, int64_t segment);

/* Remove the sizes that a segment set. */
void tutti__model_sizes_drop(tutti__model *m, int64_t segment);
/* Remove all segments from number n on. */
void tutti__model_truncate(tutti__model *m, int64_t n);

/* ---- valid contents of rows; a database may come from an untrusted source */
int tutti__name_right(const char *name,
                      size_t room); /* names of the library's own variables, with ':', too */
/* Whether a name is that of a data file: other names are never opened. */
int tutti__file_name_right(const char *name);
int tutti__text_right(const char *text, size_t room);
/* Valid and UTF-8, as names and texts of callers must be; datasets of format 1 may have others. */
int tutti__name_valid(const char *name, size_t room);
int tutti__text_valid(const char *text, size_t room);
tutti_err tutti__variable_check(const tutti__variable *v) TUTTI_MUST_USE;
int tutti__shape_right(int ndims, const tutti_count *shape, tutti_count *entries_out);
int tutti__shape_parse(const char *text, tutti__size *out);    /* "4,5,6" */
tutti_count tutti__variable_numbers(const tutti__variable *v); /* values of an item */
/* Bytes of an item in sections with that type. */
tutti_off tutti__item_bytes(const tutti__variable *v, int type);
/* The value `fill` in a type and byte order: *size_out bytes.  (fill.c) */
tutti_err tutti__fill_pattern(double fill, int type, int order, unsigned char pattern[16],
                              int *size_out) TUTTI_MUST_USE;
/* Ids, order and ranges are consistent; otherwise TUTTI_ERR_FORMAT. */
tutti_err tutti__model_check(const tutti__model *m) TUTTI_MUST_USE;
tutti_err tutti__section_check(const tutti__model *m, const tutti__segment_row *g,
                               const tutti__section *s) TUTTI_MUST_USE;

#endif
