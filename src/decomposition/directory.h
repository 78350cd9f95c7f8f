/* decomposition: a directory of numbers that are scattered over ranks.  Rank k handles a range of numbers;
 * the ranges are chosen so that each has about as many records.  Records are sent to the rank of
 * their range (tutti__directory_send), and answers back (tutti__directory_reply).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECTORY_H
#define TUTTI_DIRECTORY_H

#include "comm/vote.h"

/* Records of this rank by the rank that they go to or come from. */
typedef struct tutti__partners {
    int n;
    int *rank;          /* [n] ascending */
    tutti_count *start; /* [n + 1] records of rank[k]: start[k] ... start[k + 1] - 1 */
} tutti__partners;

typedef struct tutti__directory {
    int ranks;
    int64_t first,
        end;       /* the range of this rank: first <= number < end; the last range has no end */
    tutti_count n; /* numbers of this rank */
    tutti__partners to;    /* the ranks of their ranges */
    tutti_count m;         /* records of all ranks in the range of this rank */
    tutti__partners from;  /* the ranks that they come from */
    MPI_Request *requests; /* [to.n + from.n] */
} tutti__directory;

/* Choose the ranges for the numbers of all ranks (splitters.h).  numbers: [n] ascending, >= 0; equal ones are allowed.
 * local_err: the error of this rank so far.   Collective; after an error all ranks return it.  An error of this rank alone is in
 * *local_err_out: the caller has to agree on it. */
tutti_err tutti__directory_make(tutti__team *t, tutti_err local_err, tutti_count n,
                                const int64_t *numbers, tutti__directory *out,
                                tutti_err *local_err_out) TUTTI_MUST_USE;
/* Can this rank send its records?  TUTTI_ERR_OVERFLOW: too many for one rank.   Not collective. */
tutti_err tutti__directory_fits(const tutti__directory *d) TUTTI_MUST_USE;
void tutti__directory_free(tutti__directory *d);

/* The rank that sent record i of this range.   Not collective. */
int tutti__directory_source(const tutti__directory *d, tutti_count i);
/* Its index among the records of that rank.   Not collective. */
tutti_count tutti__directory_index(const tutti__directory *d, tutti_count i);
/* Index of the first record that this rank has sent to the given rank; n: none.
 * Not collective. */
tutti_count tutti__directory_sent_to(const tutti__directory *d, int rank);

/* Send a record of `bytes` bytes for each number of this rank to the rank of its range: out[m], by rank, then
 * by number.   t: any team of the same ranks.   Collective. */
tutti_err tutti__directory_send(tutti__team *t, const tutti__directory *d, int bytes,
                                const void *in, void *out) TUTTI_MUST_USE;
/* Send a record for each received record back to its sender. */
tutti_err tutti__directory_reply(tutti__team *t, const tutti__directory *d, int bytes,
                                 const void *in, void *out) TUTTI_MUST_USE;

/* A number and its index in an array. */
typedef struct tutti__numbered {
    int64_t number;
    tutti_count index;
} tutti__numbered;

/* Sort v by number (>= 0); equal ones keep their order.  spare: [n]; the sorted one of the two arrays is
 * returned.   Not collective. */
tutti__numbered *tutti__numbered_sort(tutti__numbered *v, tutti_count n, tutti__numbered *spare);
/* Sort numbers together with their indices.  *memory_out is to be freed, after an error too; *sorted_out
 * is inside it.  *duplicate_out: the first entry of *sorted_out that repeats the number before it; 0: none.
 * Not collective. */
tutti_err tutti__numbers_sort(tutti_count n, const int64_t *numbers, tutti__numbered **memory_out,
                              tutti__numbered **sorted_out,
                              tutti_count *duplicate_out) TUTTI_MUST_USE;

#endif
