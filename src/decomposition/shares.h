/* decomposition: even distribution of items over ranks, and exchange of records between ranks.
 *
 * Items 0 ... all - 1 are divided evenly: the share of rank r begins with item
 * tutti_size_share(all, ranks, r) and ends before that of rank r + 1.  Any rank can compute the
 * rank of an item, and no rank stores all items.
 *
 * All functions but those marked local are collective and end in an agreement.  `local_err` is the
 * error of this rank so far: such a rank sends nothing, and all ranks return its error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SHARES_H
#define TUTTI_SHARES_H

#include "base/memory.h"
#include "comm/sparse.h"
#include "comm/vote.h"

/* Return the rank whose share contains an item.   Not collective. */
static inline int tutti__share_rank(tutti_count all, int ranks, tutti_count item) {
    TUTTI_ASSERT(item >= 0 && item < all);
    int r = (int)((__int128)item * ranks / all); /* r or r + 1 is the rank of the item */
    while (tutti_size_share(all, ranks, r + 1) <= item) r++;
    return r;
}

/* ---- records */

/* Sparse exchange in which a rank with an error takes part without messages.  Returns the error
 * code of this rank, without an agreement. */
tutti_err tutti__exchange_if(tutti__team *t, tutti_err local_err, int n,
                             const tutti__sparse_message *out, int *n_in_out,
                             tutti__sparse_message **in_out) TUTTI_MUST_USE;
/* Items to send: ranges of items for each rank (`bound`), or records in any order (`n`, `to`). */
typedef struct tutti__outgoing {
    size_t item; /* bytes per item */
    const void *data;
    const tutti_count *bound; /* ranges: items [bound[r], bound[r + 1]) go to rank r */
    tutti_count n;            /* records: item i goes to rank to[i] */
    const int *to;
} tutti__outgoing;
/* Send ranges.  Received items are in rank order; the caller frees *out with tutti__free; it is
 * never NULL. */
tutti_err tutti__ranges_send(tutti__team *t, tutti_err local_err, const tutti__outgoing *o,
                             tutti_count *n_out, void **out) TUTTI_MUST_USE;
/* Send records.  Received records are in rank order; records of one rank keep their order. */
tutti_err tutti__records_send(tutti__team *t, tutti_err local_err, const tutti__outgoing *o,
                              tutti_count *n_out, void **out) TUTTI_MUST_USE;
/* Like tutti__records_send, with the fields of tutti__outgoing as arguments. */
static inline tutti_err tutti__send_records(tutti__team *t, tutti_err local_err, size_t item,
                                            tutti_count n, const void *records, const int *to,
                                            tutti_count *n_out, void **out) {
    const tutti__outgoing o = {.item = item, .data = records, .n = n, .to = to};
    return tutti__records_send(t, local_err, &o, n_out, out);
}

/* An item, and a value `with` that belongs to the item. */
typedef struct tutti__pair {
    tutti_count item, with;
} tutti__pair;
typedef struct tutti__pairs {
    tutti_count all; /* number of items of all ranks */
    tutti_count n;
    const tutti__pair *pair;
} tutti__pairs;
/* Send pairs to the ranks whose shares contain their items. */
tutti_err tutti__send_pairs(tutti__team *t, tutti_err local_err, const tutti__pairs *pairs,
                            tutti_count *n_out, tutti__pair **out) TUTTI_MUST_USE;

/* Sum n values over all ranks, in place (io), and over the ranks below this rank (before_out). */
tutti_err tutti__checksums_before(tutti__team *t, tutti_err local_err, tutti_count n, int64_t *io,
                                  int64_t *before_out) TUTTI_MUST_USE;

/* ---- values of items of other ranks */

typedef struct tutti__share_request {
    tutti_count all;           /* number of items of all ranks */
    size_t item;               /* bytes per value */
    const void *own;           /* values of the items of this rank's share */
    tutti_count n;             /* number of requested items */
    const tutti_count *number; /* [n] requested items in any order; duplicates are allowed */
} tutti__share_request;
typedef struct tutti__share_values {
    size_t item;
    tutti_count first, n; /* share of this rank: first item, number of items */
    /* [n] values of this rank's share; memory of the request, which must stay valid */
    const char *own;
    tutti_count others;  /* number of requested items of other ranks */
    tutti_count *number; /* [others] these items, ascending */
    char *value;         /* [others] values of these items */
} tutti__share_values;
tutti_err tutti__share_fetch(tutti__team *t, tutti_err local_err, const tutti__share_request *q,
                             tutti__share_values *out) TUTTI_MUST_USE;
/* Return the value of a requested item, or of an item in this rank's share.   Not collective. */
const void *tutti__share_value(const tutti__share_values *v, tutti_count number);
void tutti__share_values_free(tutti__share_values *v);

#endif
