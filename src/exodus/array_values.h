/* exodus: pieces of many arrays in one operation, with one part per type in the file.  Integers are
 * int64_t in memory, reals double.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ARRAY_VALUES_H
#define TUTTI_ARRAY_VALUES_H

#include "exodus/exodus_impl.h"

/* All pieces of one type. */
typedef struct tutti__values_part {
    tutti_type file_type;
    tutti_count n; /* number of pieces */
    size_t at_capacity, length_capacity;
    /* offset in the file and number of bytes of each piece; pieces are contiguous in memory */
    tutti_off *at, *length;
    tutti_count numbers;
    size_t numbers_capacity;
    size_t expected; /* number of values for which memory is allocated at once */
    void *data;      /* values as int64_t or double */
} tutti__values_part;

enum { TUTTI__VALUE_TYPES = 10 };
typedef struct tutti__values {
    int n;
    tutti__values_part of[TUTTI__VALUE_TYPES];
} tutti__values;

/* Announce that about n more values of a type will be written, so that memory for all of them is
 * allocated at once.   Not collective. */
void tutti__values_expect(tutti__values *b, tutti_type file_type, tutti_count n);
/* Add n values of an array, starting with value `first`.  *index_out (may be NULL): index of value
 * `first` among all values of this type.  *data_out: its address, valid until the next call; NULL
 * for values to be read, whose memory tutti__values_move allocates.   Not collective. */
tutti_err tutti__values_add(tutti__values *b, const tutti__exodus_place *place, tutti_count first,
                            tutti_count n, tutti_count *index_out, void **data_out) TUTTI_MUST_USE;
/* Return the values of a type of the file after they have been read, or NULL if there are none.
 * Not collective. */
const int64_t *tutti__values_ints(const tutti__values *b, tutti_type file_type);
const double *tutti__values_reals(const tutti__values *b, tutti_type file_type);
/* Write or read all pieces, and n additional parts, in one operation.  local_err: the error of this
 * rank so far.   Collective. */
tutti_err tutti__values_move(tutti_exodus *x, tutti__values *b, int is_write, int n,
                             const tutti_part *more, tutti_err local_err) TUTTI_MUST_USE;
void tutti__values_free(tutti__values *b);

#endif
