/* exodus: numbers of all ranks to positions in the file.
 *
 * Items of classes (elements of blocks, members of sets; nodes are one class) have numbers, and several
 * ranks may have an item.  In the file each is once: class after class, in each rising by numbers.
 *
 *     rank 0: 7 9 | 4        rank 1: 9 8 | 4 5          blocks 0 | 1
 *             0 2 | 0                2 1 | 0 1          positions: 7 8 9 | 4 5
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_IDS_H
#define TUTTI_MESH_IDS_H

#include <tutti/exodus.h>
#include "comm/vote.h"

/* What this rank has. */
typedef struct tutti__ids_spec {
    const char *what;         /* an item is: "node", "element" */
    tutti_count classes;      /* agrees */
    const tutti_count *start; /* [classes + 1] items of class c are start[c] ... start[c + 1] - 1 */
    const int64_t *number;    /* [items] >= 0, none twice.  NULL on all ranks that have any: as they
                                 * lie, rank after rank in each class */
    const tutti_count
        *weight;           /* [items] >= 0, or NULL on all ranks: what an item has of something else
                                 * that lies in the file in the same order */
    const uint64_t *check; /* [items], or NULL on all ranks: copies must have the same */
    const char *checked;   /* what that stands for: "nodes" */
    const int64_t *class_id; /* [classes] for messages, or NULL: classes are not named */
    /* Item i of this rank, for messages; NULL: "WHAT id NUMBER". */
    void (*name)(const void *context, tutti_count i, char *out, size_t room);
    const void *context;
} tutti__ids_spec;

typedef struct tutti__ids_order {
    tutti_count *position; /* [items] in its class */
    tutti_count *at;       /* [items] the weights before it in its class; NULL without */
    unsigned char *first;  /* [items] 1: no lower rank has it */
    tutti_count *count;    /* [classes] items of all ranks */
    tutti_count *weights;  /* [classes] and their weights; NULL without */
    tutti_count *before;   /* [classes + 1] items of the classes before */
    int lie;               /* they had no numbers */
} tutti__ids_order;

/* mine: what this rank has against it, before anything is looked at.   Collective.   Memory: what this
 * rank has, about as much of what others have, and a few words for each class.
 * @return with rank and place: TUTTI_ERR_ARG for a number twice on a rank, or in two classes;
 *     TUTTI_ERR_MISMATCH for copies that differ, and for numbers on some ranks only */
tutti_err tutti__ids_order_make(tutti__team *t, const tutti__ids_spec *spec, tutti_err mine,
                                tutti__ids_order *out) TUTTI_MUST_USE;
void tutti__ids_order_free(tutti__ids_order *o);

/* Are numbers those of the positions, counted from 1?   numbers NULL: yes.   Local. */
int tutti__ids_plain(const tutti__ids_spec *spec, const tutti__ids_order *o);

/* Sums of n numbers over all ranks and, in before_out, over those before this one.   Collective. */
tutti_err tutti__sums_before(tutti__team *t, tutti_count n, int64_t *io,
                             int64_t *before_out) TUTTI_MUST_USE;

#endif
