/* access: conversion between types and byte orders of the file and of memory.
 *
 *   memory   native values  --- out --->  file image: the same elements in the format of the file
 *                           <--- in ----
 *
 * Windows end at pages, not at elements, so both directions support any bytes [lo, hi) of the
 * image.  For writes, the elements at both ends are converted and divided.  For reads, the parts of
 * a divided element are stored in `tutti__cuts` until all parts have been received, in any order of
 * windows.
 *
 * Values are rounded to nearest even between floating-point types and from integers, and towards
 * zero to integers.  A value that does not fit is an error (TUTTI_ERR_VALUE) that names the first
 * such value; all elements are converted nevertheless: such values become the nearest integer, 0
 * for NaN, or an infinity.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONVERT_H
#define TUTTI_CONVERT_H

#include <tutti/element_types.h>
#include "access/side.h"

/* The types, in the order of the conversion tables in convert.c. */
typedef enum {
    TUTTI__I8,
    TUTTI__U8,
    TUTTI__I16,
    TUTTI__U16,
    TUTTI__I32,
    TUTTI__U32,
    TUTTI__I64,
    TUTTI__U64,
    TUTTI__F32,
    TUTTI__F64,
    TUTTI__F16,
    TUTTI__C32, /* complex number of two float32 */
    TUTTI__C64, /* complex number of two float64 */
    TUTTI__NUMBERS
} tutti__number;

typedef struct tutti__conversion {
    tutti__number file, memory;
    int ieee; /* whether values too large for a floating-point type become infinities */
    int file_size, memory_size; /* bytes of an element */
    tutti__scale scale;         /* ratio of the two sizes */
    int identity;               /* whether bytes are copied unchanged */
    int halves;                 /* values per element: 2 for complex types, else 1 */
    int swap;                   /* bytes per value in the file, to be swapped; 1: no swap */
} tutti__conversion;

/* Check and prepare a conversion.  Fails with TUTTI_ERR_ARG if only one of the types is complex, or
 * a type is not numeric. */
tutti_err tutti__conversion_make(const tutti_conversion *in, tutti__conversion *out) TUTTI_MUST_USE;

/* Convert n elements from memory to the file format (out) or back (in); the addresses need not be
 * aligned and must not overlap.  If values do not fit, *first_bad_out (may be NULL) is the index of
 * the first. */
tutti_err tutti__convert_out(const tutti__conversion *c, void *file, const void *memory,
                             tutti_count n, tutti_count *first_bad_out) TUTTI_MUST_USE;
tutti_err tutti__convert_in(const tutti__conversion *c, void *memory, const void *file,
                            tutti_count n, tutti_count *first_bad_out) TUTTI_MUST_USE;

/* A piece of an image: bytes [lo, hi) of a stream of elements as stored in the file. */
typedef struct tutti__image {
    tutti_off lo, hi;
    void *file;   /* address of byte lo */
    void *memory; /* address of the element that contains byte lo, followed by the next elements */
} tutti__image;

/* A partially received element of a stream. */
typedef struct {
    tutti_count element; /* index in the stream */
    unsigned have;       /* bit i: byte i has been received */
    unsigned char bytes[16];
} tutti__cut_element;
typedef struct tutti__cuts {
    tutti__cut_element *v;
    size_t n, capacity;
} tutti__cuts;
void tutti__cuts_free(tutti__cuts *cuts);

/* Convert a piece of an image.  *first_bad_out is an index in the stream. */
tutti_err tutti__image_out(const tutti__conversion *c, const tutti__image *piece,
                           tutti_count *first_bad_out) TUTTI_MUST_USE;
tutti_err tutti__image_in(const tutti__conversion *c, const tutti__image *piece, tutti__cuts *cuts,
                          tutti_count *first_bad_out) TUTTI_MUST_USE;

#endif
