/* access: conversion between types and byte orders of the file and of memory.
 *
 *   memory   native numbers  --- out --->  file image: the same elements in the format of the file
 *                            <--- in ----
 *
 * Windows of the engine end at pages, not at elements, so that both directions also work on any bytes
 * [lo, hi) of the image.  For writes the elements at both ends are converted and divided.  For
 * reads the parts of a divided element are kept in `tutti__cuts` until all of them have been received, in
 * any order of windows.
 *
 * Values are rounded to nearest even between floating-point types and from integers, and towards
 * zero to integers.  A value that does not fit is an error (TUTTI_ERR_VALUE) that names the first such
 * value; all elements are converted nevertheless: such values become the nearest integer, 0
 * for NaN, or an infinity.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONVERT_H
#define TUTTI_CONVERT_H

#include <tutti/element_types.h>
#include "access/side.h"

/* The types in an order that suits the kernels. */
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
    TUTTI__C32, /* complex: two float32 */
    TUTTI__C64, /* two float64 */
    TUTTI__NUMBERS
} tutti__number;

typedef struct tutti__conversion {
    tutti__number file, memory;
    int ieee;                   /* values too large for a floating-point type become infinities */
    int file_size, memory_size; /* of an element */
    tutti__scale scale;         /* their ratio */
    int identity;               /* bytes can simply be copied */
    int halves;                 /* values per element: 2 for complex types */
    int swap;                   /* bytes of each number in the file, turned round if > 1 */
} tutti__conversion;

/* Fails with TUTTI_ERR_ARG for a complex type on one side only, and for non-numeric types. */
tutti_err tutti__conversion_make(const tutti_conversion *in, tutti__conversion *out) TUTTI_MUST_USE;

/* n elements, at any addresses that do not overlap.  `first_bad_out` (may be NULL) is written if
 * some do not fit. */
tutti_err tutti__convert_out(const tutti__conversion *c, void *file, const void *memory,
                             tutti_count n, tutti_count *first_bad_out) TUTTI_MUST_USE;
tutti_err tutti__convert_in(const tutti__conversion *c, void *memory, const void *file,
                            tutti_count n, tutti_count *first_bad_out) TUTTI_MUST_USE;

/* A piece of an image: bytes [lo, hi) of a stream of elements as stored in the file. */
typedef struct tutti__image {
    tutti_off lo, hi;
    void *file;   /* where byte lo is */
    void *memory; /* the element that contains byte lo; the next ones follow */
} tutti__image;

/* Partially received elements of a stream. */
typedef struct {
    tutti_count element;
    unsigned have; /* a bit for each byte */
    unsigned char bytes[16];
} tutti__cut_element;
typedef struct tutti__cuts {
    tutti__cut_element *v;
    size_t n, room;
} tutti__cuts;
void tutti__cuts_free(tutti__cuts *cuts);

/* The same for pieces.  Bad elements are counted from the beginning of the stream. */
tutti_err tutti__image_out(const tutti__conversion *c, const tutti__image *piece,
                           tutti_count *first_bad_out) TUTTI_MUST_USE;
tutti_err tutti__image_in(const tutti__conversion *c, const tutti__image *piece, tutti__cuts *cuts,
                          tutti_count *first_bad_out) TUTTI_MUST_USE;

#endif
