/* cdf: netCDF classic files: CDF-1, CDF-2 and CDF-5.
 *
 *   cdf           a header as rows: dimensions, attributes, variables; made, looked up       no MPI
 *   cdf_decode    from the bytes of a file, which are not believed                           no MPI
 *   cdf_encode    offsets of variables, and the bytes for a file                              no MPI
 *   cdf_file      the header of a file read and written, the number of records set;
 *                 by one process                                                             no MPI
 *
 * A file is a header, then the fixed variables, then records: each has one piece of every record
 * variable, in the order of the variables, so a record is a state of all of them at one time.
 * Numbers are big-endian.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CDF_H
#define TUTTI_CDF_H

#include <tutti/element_types.h>
#include "base/memory.h"

/* Types of the format, with their numbers in files. */
typedef enum tutti__cdf_type {
    TUTTI__CDF_BYTE = 1,
    TUTTI__CDF_CHAR,
    TUTTI__CDF_SHORT,
    TUTTI__CDF_INT,
    TUTTI__CDF_FLOAT,
    TUTTI__CDF_DOUBLE,
    TUTTI__CDF_UBYTE, /* these and the rest: CDF-5 only */
    TUTTI__CDF_USHORT,
    TUTTI__CDF_UINT,
    TUTTI__CDF_INT64,
    TUTTI__CDF_UINT64
} tutti__cdf_type;

/* The element type of a type (text: TUTTI_UINT8), and the reverse (TUTTI_BYTES and those without one: 0). */
tutti_type tutti__cdf_number(int type);
int tutti__cdf_of_number(tutti_type type);
tutti_off tutti__cdf_size(int type); /* 0: unknown type */

typedef struct tutti__cdf_dim {
    char *name;
    tutti_count length; /* 0: the record dimension */
} tutti__cdf_dim;

typedef struct tutti__cdf_att {
    char *name;
    int type;
    tutti_count n;
    void *values; /* in the machine's byte order; a text is followed by a 0 */
} tutti__cdf_att;

typedef struct tutti__cdf_atts {
    tutti_count n;
    size_t room;
    tutti__cdf_att *v;
} tutti__cdf_atts;

typedef struct tutti__cdf_var {
    char *name;
    int type;
    int ndims;
    tutti_count *dim; /* [ndims] number of each dimension in the file */
    int is_record;    /* dim[0] is the record dimension */
    tutti__cdf_atts atts;
    tutti_count numbers; /* values in total, or per record */
    tutti_off bytes;     /* the same, padded to 4 (but see tutti__cdf_layout) */
    tutti_off begin;     /* in the file; of a record one: in the first record */
} tutti__cdf_var;

typedef struct tutti__cdf {
    int version;            /* 1, 2, 5 */
    tutti_count records;    /* -1: unknown (the writer had not finished): see decode */
    tutti_count record_dim; /* which; -1: none */
    tutti_count dims_n;
    size_t dims_room;
    tutti__cdf_dim *dims;
    tutti__cdf_atts atts; /* of the file */
    tutti_count vars_n;
    size_t vars_room;
    tutti__cdf_var *vars;
    tutti_off header_bytes;               /* set by decode and layout, */
    tutti_off fixed_end;                  /* where fixed variables end, */
    tutti_off record_begin, record_bytes; /* and layout of records */
    struct tutti__cdf_names *names;       /* of dims and vars, for search in constant time */
} tutti__cdf;

/* ---- cdf.c */
/* An empty one; version as above. */
void tutti__cdf_init(tutti__cdf *c, int version);
void tutti__cdf_free(tutti__cdf *c);
/* Check a name by the rules of netCDF: UTF-8, begins with a letter, a digit, _ or a non-ASCII character; no
 * control characters, no '/', no space at the end, at most 256 bytes.  TUTTI_ERR_ARG: invalid name (of
 * `what`). */
tutti_err tutti__cdf_name_check(const char *name, const char *what) TUTTI_MUST_USE;
/* Adding refuses names that are no names of netCDF or duplicates, types that the version does not have,
 * a second record dimension, dimensions that are not there.   length 0: the record dimension. */
tutti_err tutti__cdf_add_dim(tutti__cdf *c, const char *name, tutti_count length,
                             tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_add_var(tutti__cdf *c, const char *name, int type, int ndims,
                             const tutti_count *dims, tutti_count *out) TUTTI_MUST_USE;
/* var -1: of the file.  One of that name is replaced. */
tutti_err tutti__cdf_put_att(tutti__cdf *c, tutti_count var, const char *name, int type,
                             tutti_count n, const void *values) TUTTI_MUST_USE;
tutti_err tutti__cdf_put_text(tutti__cdf *c, tutti_count var, const char *name,
                              const char *text) TUTTI_MUST_USE;
/* -1, NULL: not found. */
tutti_count tutti__cdf_find_dim(const tutti__cdf *c, const char *name);
tutti_count tutti__cdf_find_var(const tutti__cdf *c, const char *name);
const tutti__cdf_att *tutti__cdf_find_att(const tutti__cdf *c, tutti_count var, const char *name);

/* ---- cdf_decode.c */
/* Decode the header in the first n bytes of a file of file_bytes bytes.  All input is validated:
 * counts against the existing bytes, names, types, dimensions, sizes (overflow), offsets of
 * variables (within the file, after the header, without overlap), the record size.
 * @return TUTTI_ERR_TRUNCATED: the header is longer than n, try with more; TUTTI_ERR_FORMAT with the
 * byte and the reason; TUTTI_ERR_UNSUPPORTED for a netCDF-4 (HDF5) file: the message names
 * `nccopy -k cdf5`. */
tutti_err tutti__cdf_decode(const void *bytes, size_t n, tutti_off file_bytes,
                            tutti__cdf *out) TUTTI_MUST_USE;

/* ---- cdf_encode.c */
typedef struct tutti__cdf_align {
    tutti_off fixed;   /* of the first fixed variable; 0: 4 */
    tutti_off records; /* of the first record; 0: 4 */
} tutti__cdf_align;
/* Compute the offsets: numbers, bytes and begin of every variable, header_bytes ... record_bytes.
 * A single record variable whose pieces are not multiples of 4 bytes is not padded (by the
 * format). Fails with TUTTI_ERR_OVERFLOW if the version cannot store an offset. */
tutti_err tutti__cdf_layout(tutti__cdf *c, const tutti__cdf_align *align) TUTTI_MUST_USE;
/* Encode the header in header_bytes bytes, to be freed by tutti__free.  After layout or decode. */
tutti_err tutti__cdf_encode(const tutti__cdf *c, void **out) TUTTI_MUST_USE;

/* The offset of a piece of a variable; fixed variables: record -1. */
static inline tutti_off tutti__cdf_place(const tutti__cdf *c, const tutti__cdf_var *v,
                                         tutti_count record) {
    return v->begin + (v->is_record ? record * c->record_bytes : 0);
}

/* ---- cdf_file.c: by one process */
/* The header of a file, as bytes (tutti__free) that decode takes, and the size of the file, to
 * broadcast them.  TUTTI_ERR_FORMAT: not a netCDF file. */
tutti_err tutti__cdf_read_header(const char *path, void **bytes_out, size_t *n_out,
                                 tutti_off *file_bytes_out) TUTTI_MUST_USE;
/* The number of complete records by the size of the file; 0 without record variables.  A file may
 * end before the records that its header counts, since a writer may have been interrupted: callers
 * use the smaller number.  Fixed variables must be complete: decode refuses a file that ends before
 * one of them does. */
tutti_count tutti__cdf_records_in(const tutti__cdf *c, tutti_off file_bytes);
/* Set the number of records of a file that is open: one write within its first 512 bytes. */
tutti_err tutti__cdf_set_records(int fd, const tutti__cdf *c, tutti_count records) TUTTI_MUST_USE;

#endif
