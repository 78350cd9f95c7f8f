/* decomposition: a directory of numbers that are scattered over ranks.  Rank k handles a range of
 * numbers; all ranges have about the same number of records.  Each record is sent to the rank of
 * its range (tutti__directory_send), which sends an answer back (tutti__directory_reply).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECTORY_H
#define TUTTI_DIRECTORY_H

#include "comm/vote.h"

/* Records of this rank, grouped by the rank to which they are sent or from which they are
 * received. */
typedef struct tutti__partners {
    int n;
    int *rank;          /* [n] ascending */
    tutti_count *start; /* [n + 1] records of rank[k]: start[k] ... start[k + 1] - 1 */
} tutti__partners;

typedef struct tutti__directory {
    int ranks;
    /* range of this rank: first <= number < end; `end` of the last range is INT64_MAX */
    int64_t first, end;
    tutti_count n;         /* number of records that this rank sends */
    tutti__partners to;    /* receivers of the records of this rank */
    tutti_count m;         /* number of records that this rank receives */
    tutti__partners from;  /* senders of the received records */
    MPI_Request *requests; /* [to.n + from.n] memory for requests */
} tutti__directory;

/* Choose the ranges for the numbers of all ranks (splitters.h).  numbers: [n] ascending, >= 0;
 * duplicates are allowed.  local_err: the error of this rank so far.   Collective; all ranks return
 * the same error.  An error that only this rank has is in *local_err_out, and the caller must agree
 * on it. */
tutti_err tutti__directory_make(tutti__team *t, tutti_err local_err, tutti_count n,
                                const int64_t *numbers, tutti__directory *out,
                                tutti_err *local_err_out) TUTTI_MUST_USE;
/* Check the number of records for each receiver; fails with TUTTI_ERR_OVERFLOW if it exceeds
 * INT_MAX.   Not collective. */
tutti_err tutti__directory_fits(const tutti__directory *d) TUTTI_MUST_USE;
void tutti__directory_free(tutti__directory *d);

/* Return the rank that sent record i of this range.   Not collective. */
int tutti__directory_source(const tutti__directory *d, tutti_count i);
/* Return the index of record i among the records of its sender.   Not collective. */
tutti_count tutti__directory_index(const tutti__directory *d, tutti_count i);
/* Return the index of the first record of this rank that was sent to `rank`; n: none.
 * Not collective. */
tutti_count tutti__directory_sent_to(const tutti__directory *d, int rank);

/* Send a record of `bytes` bytes for each number of this rank to the rank of its range.   out: [m],
 * sorted by sender, then by number.   t: any team of the same ranks.   Collective. */
tutti_err tutti__directory_send(tutti__team *t, const tutti__directory *d, int bytes,
                                const void *in, void *out) TUTTI_MUST_USE;
/* Send an answer of `bytes` bytes for each received record back to its sender.   in: [m]; out: [n].
 * Collective. */
tutti_err tutti__directory_reply(tutti__team *t, const tutti__directory *d, int bytes,
                                 const void *in, void *out) TUTTI_MUST_USE;

/* A number and its index in an array. */
typedef struct tutti__numbered {
    int64_t number;
    tutti_count index;
} tutti__numbered;

/* Sort v by number (>= 0); equal numbers keep their order.   spare: [n].  Returns v or spare,
 * whichever contains the sorted records.   Not collective. */
tutti__numbered *tutti__numbered_sort(tutti__numbered *v, tutti_count n, tutti__numbered *spare);
/* Sort numbers together with their indices.  The caller frees *memory_out, also after an error;
 * *sorted_out points into this memory.  *duplicate_out: index of the first entry of *sorted_out
 * that equals the previous number; 0: none.   Not collective. */
tutti_err tutti__numbers_sort(tutti_count n, const int64_t *numbers, tutti__numbered **memory_out,
                              tutti__numbered **sorted_out,
                              tutti_count *duplicate_out) TUTTI_MUST_USE;

#endif
