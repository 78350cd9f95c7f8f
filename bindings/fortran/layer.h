/* fortran: what stands between the module `tutti` and the library.
 *
 * Every procedure of the module is a function here that is called tutti_f_ and the rest of its name; it
 * takes what Fortran has (descriptors of ISO_Fortran_binding.h, handles in derived types, absent
 * optional arguments as NULL) and makes the call of C of it.  entries.c is written by scripts/gen_fortran.py from the
 * public headers; what has another shape in Fortran is written by hand, in the other files.
 *
 * What one rank has against a call (a buffer that is too small, of a wrong type) must not keep it
 * from a collective call: it takes part without an access, and all ranks are told why (tutti_set_local_error).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FORTRAN_LAYER_H
#define TUTTI_FORTRAN_LAYER_H

#include <ISO_Fortran_binding.h>
#include <tutti/tutti.h>

/* An entry with a communicator, datatype or info has two names: the interfaces for mpi's integers and
 * for mpi_f08's types, which have such an integer inside, are different ones. */
#define TUTTI__F_TYPED(entry) \
    TUTTI_API extern __typeof__(entry) entry##_f08 __attribute__((alias(#entry)));

/* ---- errors */

/* The end of every call: the code, or where Fortran has no ierr and there is an error, the end of the program. */
void tutti__f_end(tutti_err err, int *ierr);

/* This rank takes part in the next collective call without its access, and says so. */
void tutti__f_refuse(tutti_err code, const char *format, ...) TUTTI_PRINTF(2, 3);
/* An error of this layer alone, with a message. */
tutti_err tutti__f_error(tutti_err code, const char *text);

/* ---- handles, as the derived types have them */

typedef struct tutti__f_handle {
    void *p;
} tutti__f_handle;

typedef struct tutti__f_array_handle {
    void *p;
    int64_t rank; /* of this process in its communicator */
} tutti__f_array_handle;

typedef struct tutti__f_replicas {
    void *p;
    int64_t n; /* items */
    int64_t
        item; /* bytes of each, if all have the same and follow each other; 0: only sizes are checked */
} tutti__f_replicas;

typedef struct tutti__f_entries {
    void *p;
    int64_t reach;                 /* entries of memory that a buffer must have */
    int64_t ndims;                 /* of a slice; 0: a list */
    int64_t count[TUTTI_MAX_DIMS]; /* extents of the slice, Fortran's first dimension first */
} tutti__f_entries;

typedef struct tutti__f_plan {
    void *p;
    int64_t reach;  /* bytes that a buffer must have; -1: unknown */
    int64_t layout; /* of the strided array that it was made for: a hash; 0: contiguous */
} tutti__f_plan;

/* ---- texts and lists */

/* A text of Fortran as one of C, without blanks at its end, to be freed; NULL if it is absent. */
char *tutti__f_text(const CFI_cdesc_t *text);
/* The same into `size` bytes; an absent one is empty.  0: too long, and *out is empty. */
int tutti__f_name(const CFI_cdesc_t *text, char *out, size_t size);
/* A text of C into one of Fortran: cut, or filled with blanks; an absent one is left alone. */
void tutti__f_put_text(const CFI_cdesc_t *out, const char *text);
/* A list of texts, to be freed by tutti__f_texts_free; NULL if it is absent or there is no memory. */
char **tutti__f_texts(const CFI_cdesc_t *texts);
void tutti__f_texts_free(const CFI_cdesc_t *texts, char **c);
/* The address of a list that the compiler has made contiguous; NULL if it is absent. */
void *tutti__f_list(const CFI_cdesc_t *list);
/* Its length; 0 if it is absent. */
int64_t tutti__f_length(const CFI_cdesc_t *list);

/* Is it absent, or long enough? */
int tutti__f_fits(const CFI_cdesc_t *list, int64_t need);

/* A few numbers, integers of 16, 32 or 64 bits: a shape, a position. */
typedef struct tutti__f_counts {
    int n;             /* 0: no such list, or none of integers */
    tutti_count *list; /* NULL, or `value` */
    tutti_count value[TUTTI_MAX_DIMS];
} tutti__f_counts;
void tutti__f_counts_of(const CFI_cdesc_t *list, tutti__f_counts *out);
/* Those that there is room for. */
void tutti__f_put_counts(const CFI_cdesc_t *out, int n, const tutti_count *value);
/* In the other order: grids of datasets are row-major, so that Fortran's first dimension is their last. */
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
/* Can numbers of that type lie in it?  Fortran has no unsigned integers: signed ones of that size. */
int tutti__f_holds(const tutti__f_array *v, tutti_type type, tutti_off element_size);
/* A hash of extents and steps; 0 for a contiguous one. */
int64_t tutti__f_layout(const tutti__f_array *v);
/* Its address if it is contiguous and has `need` bytes; otherwise NULL and, with `refuse`, a refusal. */
void *tutti__f_plain(const tutti__f_array *v, int64_t need, int refuse);

/* The entries that a call reads or writes. */
typedef struct tutti__f_shape {
    int64_t item;         /* bytes of an entry; 0: `entries` is bytes, in an array of any shape */
    int ndims;            /* of a slice; 0: a list */
    const int64_t *count; /* [ndims] */
    int64_t entries;      /* of a list */
    int64_t times;        /* as many copies of all this, one after the other; 0 is 1 */
} tutti__f_shape;

/* Bytes of all of it; INT64_MAX if they are more. */
int64_t tutti__f_shape_bytes(const tutti__f_shape *s);
/* Does the array have this shape?  Contiguous or not: extents must be those of the slice, after those
 * of an item.  Dimensions of one element are ignored.  An array of rank 1 may hold all elements of a slice, and
 * may be longer than a list.   0: a refusal */
int tutti__f_shape_fits(const tutti__f_array *v, const tutti__f_shape *s);
/* The shape of entries of so many bytes each. */
tutti__f_shape tutti__f_entries_shape(const tutti__f_entries *e, int64_t item, int64_t times);

/* For calls of C that take contiguous memory: v's own, or if it is not contiguous that of a copy.
 * s: what it must hold; NULL: anything.  copy: NULL, for calls that go on after their return: then it
 * must be contiguous.   NULL and a refusal: it has another shape, or there is no memory. */
void *tutti__f_copy_begin(const tutti__f_array *v, const tutti__f_shape *s, void **copy);
/* After the call; back: what was read goes where it belongs. */
void tutti__f_copy_end(const tutti__f_array *v, void *copy, int back);

/* The section of a larger array, in column-major order, that it is: its dimensions of more than one
 * element.  TUTTI_ERR_UNSUPPORTED: there is none, as for steps backwards. */
tutti_err tutti__f_section(const tutti__f_array *v, int64_t element, tutti_section *out);

/* An access whose memory is the elements of v in their order, as one that knows where they are.
 * element: bytes of a number as the access describes it (with a conversion, the file's). */
tutti_err tutti__f_compose(const tutti_access *a, const tutti__f_array *v, int64_t element,
                           tutti_access **out);

/* ---- buffers of calls */

/* For calls with an access and a buffer. */
typedef struct tutti__f_memory {
    const tutti_access *access; /* NULL: refused */
    void *base;
    tutti_access *made;
} tutti__f_memory;
tutti__f_memory tutti__f_memory_begin(const tutti_access *a, const CFI_cdesc_t *buf);
void tutti__f_memory_end(tutti__f_memory *m);

/* For calls with a slice, or a part of a distribution, of an array in a file. */
typedef struct tutti__f_block {
    const tutti_slice *slice;    /* NULL: refused */
    const tutti_distribution *d; /* NULL: refused */
    const tutti_section *memory;
    void *base;
    tutti_section made;
} tutti__f_block;
void tutti__f_slice_begin(const tutti__f_array_handle *a, const tutti_slice *s,
                          const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *out);
void tutti__f_part_begin(const tutti__f_array_handle *a, const tutti_distribution *d,
                         const tutti_section *memory, const CFI_cdesc_t *buf, tutti__f_block *out);
/* After the call: no refusal is left. */
void tutti__f_settled(void);

/* ---- entries, infos */

/* The spec that the arguments are; lists that do not fit together: n = -1, which calls refuse. */
tutti_decomposition_spec tutti__f_spec(const CFI_cdesc_t *index, const CFI_cdesc_t *ids,
                                       const tutti_count *n, const CFI_cdesc_t *own,
                                       const CFI_cdesc_t *memory, const int *whole);
/* The handle of a decomposition of a space of so many dimensions. */
tutti__f_entries tutti__f_entries_of(tutti_decomposition *made,
                                     const tutti_decomposition_spec *spec, int ndims);

/* What an array is as the value of an info: numbers, or text without blanks at its end. */
tutti_count tutti__f_value_of(const tutti__f_array *v, tutti_type *type);
/* Is an array one for a value of this type and size?  0: no; the reason is the error of the next collective call. */
int tutti__f_value_fits(const tutti__f_array *v, tutti_type type, tutti_count count);
/* Copy a value into an array that fits. */
void tutti__f_value_take(const tutti__f_array *v, tutti_type type, tutti_count count,
                         const void *value);

/* ---- what entries ask */

int tutti__f_rank(MPI_Comm comm);
/* Bytes of an element; more than there are if v is of another type. */
int64_t tutti__f_element(const tutti_array *a, const tutti__f_array *v);
int64_t tutti__f_mesh_nodes(const tutti_mesh *m); /* of this rank's slice */
int64_t tutti__f_part_nodes(const tutti_mesh_part *p);

#endif
