/* exodus: pieces of many arrays in one operation: a part for each type that numbers have in the file,
 * whatever arrays there are.  Integers are int64_t in memory, others double.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PIECES_H
#define TUTTI_PIECES_H

#include "exodus/exodus_impl.h"

/* All pieces of one type. */
typedef struct tutti__values_part {
    tutti_type file_type;
    tutti_count n, room;    /* pieces */
    tutti_off *at, *length; /* bytes of the file; memory is one after the other */
    tutti_count numbers, numbers_room;
    void *data; /* int64_t or double */
} tutti__values_part;

enum { TUTTI__VALUE_TYPES = 10 };
typedef struct tutti__values {
    int n;
    tutti__values_part of[TUTTI__VALUE_TYPES];
} tutti__values;

/* n numbers of an array, from its number `first` on.   *index_out: where they are among the numbers of
 * that type; *data_out: the same as an address, good until the next piece.   Each may be NULL.   Local. */
tutti_err tutti__values_add(tutti__values *b, const tutti__exodus_place *place, tutti_count first,
                            tutti_count n, tutti_count *index_out, void **data_out) TUTTI_MUST_USE;
/* Numbers of that type in the file, once they have been read; NULL: there are none.   Local. */
const int64_t *tutti__values_ints(const tutti__values *b, tutti_type file_type);
const double *tutti__values_reals(const tutti__values *b, tutti_type file_type);
/* Carry it out, with n more parts.   Collective. */
tutti_err tutti__values_move(tutti_exodus *x, tutti__values *b, int is_write, int n,
                             const tutti_part *more, tutti_err mine) TUTTI_MUST_USE;
void tutti__values_free(tutti__values *b);

#endif
