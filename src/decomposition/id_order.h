/* decomposition: numbers of all ranks to positions.
 *
 * Items of classes (elements of blocks, members of sets; nodes are one class) have numbers, and several
 * ranks may have an item.  Positions are those of the items without duplicates: class after class, in each
 * class by ascending number.
 *
 *     rank 0: 7 9 | 4        rank 1: 9 8 | 4 5          blocks 0 | 1
 *             0 2 | 0                2 1 | 0 1          positions: 7 8 9 | 4 5
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ID_ORDER_H
#define TUTTI_ID_ORDER_H

#include "comm/vote.h"

/* The items of this rank. */
typedef struct tutti__ids_spec {
    const char *what;         /* what an item is: "node", "element" */
    tutti_count classes;      /* the same on all ranks */
    const tutti_count *start; /* [classes + 1] items of class c are start[c] ... start[c + 1] - 1 */
    const int64_t
        *number; /* [items] >= 0, without duplicates; NULL on all ranks that have items: the
                               * positions are in rank order in each class */
    const tutti_count
        *weight;           /* [items] >= 0, or NULL on all ranks: the length of each item in another
                                * array that is in the same order */
    const uint64_t *check; /* [items], or NULL on all ranks: copies must have the same */
    const char *checked;   /* what `check` is a hash of, for messages: "nodes" */
    const int64_t *class_id; /* [classes] for messages; NULL: the index */
    /* Item i of this rank, for messages; NULL: "WHAT id NUMBER". */
    void (*name)(const void *context, tutti_count i, char *out, size_t room);
    const void *context;
} tutti__ids_spec;

typedef struct tutti__ids_order {
    tutti_count *position; /* [items] in its class */
    tutti_count *at;       /* [items] sum of the weights before it in its class */
    unsigned char *first;  /* [items] 1: no lower rank has it */
    tutti_count *count;    /* [classes] items of all ranks */
    tutti_count *weights;  /* [classes] sum of their weights */
    tutti_count *before;   /* [classes + 1] items of the classes before */
    int implicit_ids;      /* the items have no numbers */
} tutti__ids_order;

/* local_err: the error of this rank so far.   Collective.   Memory: this rank's items, about as many
 * records of other ranks, and a few words for each class.
 * @return with rank and entry: TUTTI_ERR_ARG for a duplicate number on a rank, or one in two classes;
 *     TUTTI_ERR_MISMATCH for copies that differ, and for numbers on some ranks only */
tutti_err tutti__ids_order_make(tutti__team *t, const tutti__ids_spec *spec, tutti_err local_err,
                                tutti__ids_order *out) TUTTI_MUST_USE;
void tutti__ids_order_free(tutti__ids_order *o);

/* Is every number its position + 1?  Yes if there are no numbers.   Not collective. */
int tutti__ids_plain(const tutti__ids_spec *spec, const tutti__ids_order *o);

#endif
