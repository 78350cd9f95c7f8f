/* fortran: the C functions behind the module `tutti`.
 *
 * Every procedure tutti_x of the module calls a function tutti_f_x.  It takes the arguments of Fortran (descriptors of
 * ISO_Fortran_binding.h, handles in derived types, absent optional arguments as NULL) and calls the C function.
 * scripts/gen_fortran.py generates entries.c from the public headers; functions with other arguments in Fortran
 * are written by hand in the other files.
 *
 * A rank with an invalid argument (a buffer that is too small or has a wrong type) must still make the collective call:
 * it passes NULL, and all ranks return its error (tutti_set_local_error).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_LAYER_H
#define TUTTI_FORTRAN_LAYER_H

#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* A function with a communicator, datatype or info has two names, because the interfaces for integers (mpi) and
 * for types that contain an integer (mpi_f08) are different. */
#define TUTTI__F_TYPED(entry) \
    TUTTI_API extern __typeof__(entry) entry##_f08 __attribute__((alias(#entry)));

/* ---- errors */

/* Set *ierr at the end of a call; without ierr an error ends the program. */
void tutti__f_end(tutti_err err, int *ierr);

/* Set the error of this rank for the next collective call, which it makes with NULL. */
void tutti__f_set_local_error(tutti_err code, const char *format, ...) TUTTI_PRINTF(2, 3);
/* Set an error of this layer and return its code. */
tutti_err tutti__f_error(tutti_err code, const char *text);

/* ---- handles in the derived types */

typedef struct tutti__f_handle {
    void *p;
} tutti__f_handle;

typedef struct tutti__f_array_handle {
    void *p;
    int64_t rank; /* of this process in its communicator */
} tutti__f_array_handle;

typedef struct tutti__f_replicas {
    void *p;
    int64_t n;    /* items */
    int64_t item; /* bytes per item, if equal and consecutive; 0: only sizes are checked */
} tutti__f_replicas;

typedef struct tutti__f_entries {
    void *p;
    int64_t reach;                 /* entries of memory that a buffer must have */
    int64_t ndims;                 /* of a slice; 0: a list */
    int64_t count[TUTTI_MAX_DIMS]; /* extents of the slice, first dimension of Fortran first */
} tutti__f_entries;

typedef struct tutti__f_plan {
    void *p;
    int64_t reach; /* bytes that a buffer must have; -1: unknown */
    /* hash of the layout of the strided array for which it was made; 0: contiguous */
    int64_t layout;
} tutti__f_plan;

/* ---- texts and lists */

/* Return a Fortran text as a C string without trailing spaces, to be freed; NULL if it is absent. */
char *tutti__f_text(const CFI_cdesc_t *text);
/* Copy a Fortran text to `size` bytes; an absent one is empty.  Returns 0 if it is too long; *out is then empty. */
int tutti__f_name(const CFI_cdesc_t *text, char *out, size_t size);
/* Copy a C string to a Fortran text, truncated or padded with blanks; an absent one is ignored. */
void tutti__f_put_text(const CFI_cdesc_t *out, const char *text);
/* Return a list of texts, to be freed by tutti__f_texts_free; NULL if it is absent or memory is exhausted. */
char **tutti__f_texts(const CFI_cdesc_t *texts);
void tutti__f_texts_free(const CFI_cdesc_t *texts, char **c);
/* Return the address of a list that the compiler has made contiguous; NULL if it is absent. */
void *tutti__f_list(const CFI_cdesc_t *list);
/* Return the length of a list; 0 if it is absent. */
int64_t tutti__f_length(const CFI_cdesc_t *list);

/* Return whether a list is absent or long enough. */
int tutti__f_fits(const CFI_cdesc_t *list, int64_t need);

/* A list of at most TUTTI_MAX_DIMS integers of 16, 32 or 64 bits: a shape or a position. */
typedef struct tutti__f_counts {
    int n;             /* 0: absent, or not integers */
    tutti_count *list; /* NULL, or `value` */
    tutti_count value[TUTTI_MAX_DIMS];
} tutti__f_counts;
void tutti__f_counts_of(const CFI_cdesc_t *list, tutti__f_counts *out);
/* Copy as many values as `out` has elements. */
void tutti__f_put_counts(const CFI_cdesc_t *out, int n, const tutti_count *value);
/* Reverse the order: grids of datasets are row-major, so that the first dimension of Fortran is their last. */
void tutti__f_turn(int n, tutti_count *value);

/* ---- arrays of Fortran */

typedef struct tutti__f_array {
    char *base;
    int64_t element; /* bytes */
    int64_t bytes;   /* of all elements; -1: unknown, an assumed-size array */
    int32_t type;    /* tutti_type; TUTTI_BYTES: characters, logicals, derived types, other kinds */
    int32_t rank;
    int32_t contiguous;
    int32_t absent;
    int64_t extent[CFI_MAX_RANK];
    int64_t step[CFI_MAX_RANK]; /* bytes from one element to the next */
} tutti__f_array;

tutti__f_array tutti__f_array_of(const CFI_cdesc_t *d);
/* Return whether the array has elements of a type.  Fortran has no unsigned integers: signed ones of that size match. */
int tutti__f_holds(const tutti__f_array *v, tutti_type type, tutti_off element_size);
/* Return a hash of extents and steps; 0 for a contiguous array. */
int64_t tutti__f_layout(const tutti__f_array *v);
/* Return the address of an array that is contiguous and has `need` bytes; otherwise NULL and, with `refuse`, set the error. */
void *tutti__f_plain(const tutti__f_array *v, int64_t need, int refuse);

/* The entries that a call reads or writes. */
typedef struct tutti__f_shape {
    int64_t item;         /* bytes of an entry; 0: `entries` is bytes, in an array of any shape */
    int ndims;            /* of a slice; 0: a list */
    const int64_t *count; /* [ndims] */
    int64_t entries;      /* of a list */
    int64_t times;        /* number of consecutive copies; 0 means 1 */
} tutti__f_shape;

/* Return the number of bytes of a shape; INT64_MAX on overflow. */
int64_t tutti__f_shape_bytes(const tutti__f_shape *s);
/* Return whether an array, contiguous or not, has a shape: its extents must be those of an item, then those of
 * the slice.  Dimensions of one element are ignored.  An array of rank 1 may hold all elements of a slice, and
 * may be longer than a list.  If it returns 0, the error is set. */
int tutti__f_shape_fits(const tutti__f_array *v, const tutti__f_shape *s);
/* Return the shape of entries with `item` bytes each. */
tutti__f_shape tutti__f_entries_shape(const tutti__f_entries *e, int64_t item, int64_t times);

/* Return contiguous memory for a C call: that of v, or of a copy if v is not contiguous.
 * s: the required shape; NULL: any.  copy: NULL for non-blocking calls: v must then be contiguous.
 * Returns NULL and sets the error if v has another shape or memory is exhausted. */
void *tutti__f_copy_begin(const tutti__f_array *v, const tutti__f_shape *s, void **copy);
/* Free the copy after the call; back: copy it to v first. */
void tutti__f_copy_end(const tutti__f_array *v, void *copy, int back);

/* Describe v as a section of a larger array in column-major order, without dimensions of one element.
 * TUTTI_ERR_UNSUPPORTED: this is not possible, for example for negative steps. */
tutti_err tutti__f_section(const tutti__f_array *v, int64_t element, tutti_section *out);

/* Combine an access, whose memory is the elements of v in their order, with the memory layout of v.
 * element: bytes per element in the access (with a conversion: in the file). */
tutti_err tutti__f_compose(const tutti_access *a, const tutti__f_array *v, int64_t element,
                           tutti_access **out);

/* ---- buffers of calls */

/* For calls with an access and a buffer. */
typedef struct tutti__f_memory {
    const tutti_access *access; /* NULL: invalid */
    void *base;
    tutti_access *made;
} tutti__f_memory;
tutti__f_memory tutti__f_memory_begin(const tutti_access *a, const CFI_cdesc_t *buf);
void tutti__f_memory_end(tutti__f_memory *m);

/* For calls with a slice, or a part of a distribution, of an array in a file. */
typedef struct tutti__f_block {
    const tutti_slice *slice;    /* NULL: invalid */
    const tutti_distribution *d; /* NULL: invalid */
    const tutti_section *memory;
    void *base;
    tutti_section made;
} tutti__f_block;
void tutti__f_slice_begin(const tutti__f_array_handle *a, const tutti_slice *s,
                          const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *out);
void tutti__f_part_begin(const tutti__f_array_handle *a, const tutti_distribution *d,
                         const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *out);
/* Clear the error of this rank after the call. */
void tutti__f_settled(void);

/* ---- entries, infos */

/* Return the spec of the arguments; n = -1, which fails, if lists have different lengths. */
tutti_decomposition_spec tutti__f_spec(const CFI_cdesc_t *index, const CFI_cdesc_t *ids,
                                       const tutti_count *n, const CFI_cdesc_t *own,
                                       const CFI_cdesc_t *memory, const int *whole);
/* Return the handle of a decomposition of a space with `ndims` dimensions. */
tutti__f_entries tutti__f_entries_of(tutti_decomposition *made,
                                     const tutti_decomposition_spec *spec, int ndims);

/* Return type and count of an array as the value of an info; text without trailing blanks. */
tutti_count tutti__f_value_of(const tutti__f_array *v, tutti_type *type);
/* Return whether an array can take a value of a type and size; otherwise set the error of the next collective call. */
int tutti__f_value_fits(const tutti__f_array *v, tutti_type type, tutti_count count);
/* Copy a value into an array that fits. */
void tutti__f_value_take(const tutti__f_array *v, tutti_type type, tutti_count count,
                         const void *value);

/* ---- queries of the generated functions */

int tutti__f_rank(MPI_Comm comm);
/* Return the bytes per element; larger than any buffer if v has another type. */
int64_t tutti__f_element(const tutti_array *a, const tutti__f_array *v);
int64_t tutti__f_mesh_nodes(const tutti_mesh *m); /* of this rank's slice */
int64_t tutti__f_part_nodes(const tutti_mesh_part *p);

#endif
