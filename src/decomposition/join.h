/* decomposition: records of all ranks joined by number (ids, positions).
 *
 *     ranks                ranges of numbers
 *     [n] records  ----->  [m] records, grouped by number   tutti__join_make
 *     [n] answers  <-----  [m] answers                      tutti__join_answer
 *
 * Memory per rank: the records of this rank and of its range, and some words per group of ranks
 * (splitters.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_JOIN_H
#define TUTTI_JOIN_H

#include "decomposition/directory.h"

typedef struct tutti__join {
    tutti__directory directory;
    void *record; /* [directory.m] received records, sorted by rank, then by number */
    /* [directory.m] sorted by number, then by rank, with indices in `record` */
    tutti__numbered *sorted;
} tutti__join;

/* Send n records of `bytes` bytes, each of which begins with its number (int64_t, >= 0), to the
 * ranks of their ranges.  Numbers ascend; duplicates are allowed.   local_err: the error of this
 * rank so far.   Collective. */
tutti_err tutti__join_make(tutti__team *t, tutti_err local_err, int bytes, tutti_count n,
                           const void *records, tutti__join *out) TUTTI_MUST_USE;
void tutti__join_free(tutti__join *j);

/* Return the end of the group of equal numbers that begins with sorted[from].   Not collective. */
static inline tutti_count tutti__join_group_end(const tutti__join *j, tutti_count from) {
    tutti_count to = from + 1;
    while (to < j->directory.m && j->sorted[to].number == j->sorted[from].number) to++;
    return to;
}

/* Send answer i to the rank that sent record i.  *out: [n] answers in the order of this rank's
 * records; the caller frees it with tutti__free.   Collective. */
tutti_err tutti__join_answer(tutti__team *t, tutti_err local_err, const tutti__join *j, int bytes,
                             const void *answers, void **out) TUTTI_MUST_USE;

#endif
