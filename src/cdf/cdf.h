/* cdf: netCDF classic files: CDF-1, CDF-2 and CDF-5.
 *
 *   cdf.c          create and search a header in memory: dimensions, attributes, variables
 *   cdf_decode.c   decode and validate the bytes of a header
 *   cdf_encode.c   compute the offsets of variables, and encode a header
 *   cdf_file.c     read the header of a file, and set its number of records
 *
 * The module does not use MPI.  A file consists of a header, the fixed variables, and records; a
 * record has one piece of every record variable, in the order of the variables.  Numbers are
 * big-endian.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CDF_H
#define TUTTI_CDF_H

#include <tutti/element_types.h>
#include "base/memory.h"

/* Types of the file format; the values are those in files. */
typedef enum tutti__cdf_type {
    TUTTI__CDF_BYTE = 1,
    TUTTI__CDF_CHAR,
    TUTTI__CDF_SHORT,
    TUTTI__CDF_INT,
    TUTTI__CDF_FLOAT,
    TUTTI__CDF_DOUBLE,
    TUTTI__CDF_UBYTE, /* this and the following types: CDF-5 only */
    TUTTI__CDF_USHORT,
    TUTTI__CDF_UINT,
    TUTTI__CDF_INT64,
    TUTTI__CDF_UINT64
} tutti__cdf_type;

/* Convert a netCDF type to the element type (text: TUTTI_UINT8, unknown: TUTTI_BYTES), and an
 * element type to the netCDF type (0: there is none). */
tutti_type tutti__cdf_number(int type);
int tutti__cdf_of_number(tutti_type type);
tutti_off tutti__cdf_size(int type); /* bytes of a value; 0: unknown type */

typedef struct tutti__cdf_dim {
    char *name;
    tutti_count length; /* 0: the record dimension */
} tutti__cdf_dim;

typedef struct tutti__cdf_att {
    char *name;
    int type;      /* tutti__cdf_type */
    tutti_count n; /* number of values */
    void *values;  /* [n] in native byte order; text is followed by a 0 */
} tutti__cdf_att;

typedef struct tutti__cdf_atts {
    tutti_count n;
    size_t capacity;
    tutti__cdf_att *v; /* [n] */
} tutti__cdf_atts;

typedef struct tutti__cdf_var {
    char *name;
    int type;
    int ndims;
    tutti_count *dim; /* [ndims] indices of the dimensions in the file */
    int is_record;    /* whether dim[0] is the record dimension */
    tutti__cdf_atts atts;
    tutti_count numbers; /* number of values, in total or per record */
    /* bytes of the values, padded to a multiple of 4 (but see tutti__cdf_layout) */
    tutti_off bytes;
    tutti_off begin; /* file offset; of a record variable: in the first record */
} tutti__cdf_var;

typedef struct tutti__cdf {
    int version;            /* CDF version: 1, 2 or 5 */
    tutti_count records;    /* number of records; -1: unknown, since the writer has not finished */
    tutti_count record_dim; /* index of the record dimension; -1: none */
    tutti_count dims_n;
    size_t dims_capacity;
    tutti__cdf_dim *dims;
    tutti__cdf_atts atts; /* attributes of the file */
    tutti_count vars_n;
    size_t vars_capacity;
    tutti__cdf_var *vars;
    /* set by tutti__cdf_decode and tutti__cdf_layout */
    tutti_off header_bytes;
    tutti_off fixed_end;                  /* file offset where the fixed variables end */
    tutti_off record_begin, record_bytes; /* file offset of the first record; bytes of a record */
    struct tutti__cdf_names *names;       /* hash table of all names */
} tutti__cdf;

/* ---- cdf.c */
/* Initialise an empty header of version 1, 2 or 5. */
void tutti__cdf_init(tutti__cdf *c, int version);
void tutti__cdf_free(tutti__cdf *c);
/* Check a name by the rules of netCDF: UTF-8, begins with a letter, a digit, _ or a non-ASCII
 * character; no control characters, no '/', no space at the end, at most 256 bytes.  Fails with
 * TUTTI_ERR_ARG if it is invalid; `what` describes the named object in the message. */
tutti_err tutti__cdf_name_check(const char *name, const char *what) TUTTI_MUST_USE;
/* Add a dimension (length 0: the record dimension) or a variable.  Invalid and duplicate names,
 * types that the version does not support, a second record dimension and unknown dimensions are
 * errors.  *out is the index; `out` may be NULL. */
tutti_err tutti__cdf_add_dim(tutti__cdf *c, const char *name, tutti_count length,
                             tutti_count *out) TUTTI_MUST_USE;
tutti_err tutti__cdf_add_var(tutti__cdf *c, const char *name, int type, int ndims,
                             const tutti_count *dims, tutti_count *out) TUTTI_MUST_USE;
/* Set an attribute of a variable, or of the file if var is -1.  An existing attribute with this
 * name is replaced. */
tutti_err tutti__cdf_put_att(tutti__cdf *c, tutti_count var, const char *name, int type,
                             tutti_count n, const void *values) TUTTI_MUST_USE;
tutti_err tutti__cdf_put_text(tutti__cdf *c, tutti_count var, const char *name,
                              const char *text) TUTTI_MUST_USE;
/* Find an object by name; -1 or NULL: not found. */
tutti_count tutti__cdf_find_dim(const tutti__cdf *c, const char *name);
tutti_count tutti__cdf_find_var(const tutti__cdf *c, const char *name);
const tutti__cdf_att *tutti__cdf_find_att(const tutti__cdf *c, tutti_count var, const char *name);

/* ---- cdf_decode.c */
/* Decode the header in the first n bytes of a file of file_bytes bytes.  All input is validated:
 * counts against the available bytes, names, types, dimensions, sizes (overflow), offsets of
 * variables (within the file, after the header, without overlap), the record size.
 * @return TUTTI_ERR_TRUNCATED if the header is longer than n bytes; TUTTI_ERR_FORMAT with the
 *     offset and the reason; TUTTI_ERR_UNSUPPORTED for a netCDF-4 (HDF5) file */
tutti_err tutti__cdf_decode(const void *bytes, size_t n, tutti_off file_bytes,
                            tutti__cdf *out) TUTTI_MUST_USE;

/* ---- cdf_encode.c */
typedef struct tutti__cdf_align {
    tutti_off fixed;   /* alignment of the first fixed variable; 0: 4 */
    tutti_off records; /* alignment of the first record; 0: 4 */
} tutti__cdf_align;
/* Compute numbers, bytes and begin of every variable, and header_bytes, fixed_end, record_begin and
 * record_bytes of the file.  As the format requires, the pieces of a single record variable are not
 * padded to multiples of 4 bytes.  Fails with TUTTI_ERR_OVERFLOW if the version cannot store an
 * offset. */
tutti_err tutti__cdf_layout(tutti__cdf *c, const tutti__cdf_align *align) TUTTI_MUST_USE;
/* Encode the header in c->header_bytes bytes, to be freed by tutti__free.  tutti__cdf_layout or
 * tutti__cdf_decode must have been called. */
tutti_err tutti__cdf_encode(const tutti__cdf *c, void **out) TUTTI_MUST_USE;

/* Return the file offset of a variable, or of its piece in a record (ignored for fixed
 * variables). */
static inline tutti_off tutti__cdf_place(const tutti__cdf *c, const tutti__cdf_var *v,
                                         tutti_count record) {
    return v->begin + (v->is_record ? record * c->record_bytes : 0);
}

/* ---- cdf_file.c: by one process */
/* Read the header of a file as bytes for tutti__cdf_decode, to be freed by tutti__free, and the
 * size of the file.  Fails with TUTTI_ERR_FORMAT if it is not a netCDF file. */
tutti_err tutti__cdf_read_header(const char *path, void **bytes_out, size_t *n_out,
                                 tutti_off *file_bytes_out) TUTTI_MUST_USE;
/* Return the number of complete records according to the size of the file; 0 without record
 * variables.  If a writer was interrupted, the number in the header may be larger; callers use the
 * smaller number.  Fixed variables are always complete, since tutti__cdf_decode fails otherwise. */
tutti_count tutti__cdf_records_in(const tutti__cdf *c, tutti_off file_bytes);
/* Set the number of records in an open file, by one write within the first 512 bytes. */
tutti_err tutti__cdf_set_records(int fd, const tutti__cdf *c, tutti_count records) TUTTI_MUST_USE;

#endif
