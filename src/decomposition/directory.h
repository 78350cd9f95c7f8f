/* replicas: a directory of numbers that are scattered over ranks.  Every number has a rank that
 * looks after it, whoever mentions it: rank k after a range of numbers, and ranges are cut so that
 * each has about as many mentions.  A rank learns what all say of its numbers, and answers.
 *
 *     holders              range
 *     [n] records  ----->  [m] records    tutti__directory_ask
 *     [n] answers  <-----  [m] answers    tutti__directory_answer
 *
 * Memory of a rank: its own numbers, the mentions of its range, and some words for each rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECTORY_H
#define TUTTI_DIRECTORY_H

#include "comm/vote.h"

typedef struct tutti__directory {
    int ranks;
    int64_t *first;    /* [ranks] range k has numbers from first[k] up to, not with, first[k + 1] */
    tutti_count n;     /* numbers that this rank mentions */
    tutti_count *to;   /* [ranks + 1] range k looks after its numbers to[k] ... to[k + 1] - 1 */
    tutti_count m;     /* mentions that this rank looks after */
    tutti_count *from; /* [ranks + 1] rank k has made those from[k] ... from[k + 1] - 1 */
    MPI_Request *requests; /* [2 ranks] */
} tutti__directory;

/* Deal out n numbers of this rank, rising; equal ones are fine.   Collective. */
tutti_err tutti__directory_make(tutti__team *t, tutti_count n, const int64_t *numbers,
                                tutti__directory *out) TUTTI_MUST_USE;
void tutti__directory_free(tutti__directory *d);

/* The rank that made mention i of this range.   Local. */
int tutti__directory_source(const tutti__directory *d, tutti_count i);

/* A record of `bytes` bytes for each number of this rank goes to who looks after it: out[m], by
 * holders and then by numbers.   Collective.   A team of the same ranks will do. */
tutti_err tutti__directory_ask(tutti__team *t, const tutti__directory *d, int bytes, const void *in,
                               void *out) TUTTI_MUST_USE;
/* And one for each mention back to who made it. */
tutti_err tutti__directory_answer(tutti__team *t, const tutti__directory *d, int bytes,
                                  const void *in, void *out) TUTTI_MUST_USE;

/* A number and where it stood. */
typedef struct tutti__numbered {
    int64_t number;
    tutti_count index;
} tutti__numbered;

/* Sort v by number (>= 0), equal ones in their order, with room for as many; the sorted one of the
 * two is returned.   Local. */
tutti__numbered *tutti__numbered_sort(tutti__numbered *v, tutti_count n, tutti__numbered *room);

#endif
