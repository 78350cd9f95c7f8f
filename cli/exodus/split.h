/* tutti exodus split: common declarations of its parts.
 *
 *   parts      assignment of elements to pieces          exodus_split_parts.c
 *   subsets    a piece of the mesh of the rank           exodus_split_mesh.c
 *   command                                              exodus_split.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_SPLIT_H
#define TUTTI_CLI_EXODUS_SPLIT_H

#include "exodus/cmd_exodus.h"

/* The pieces of elements first ... first + n - 1 of the file, counted from 0, which this rank reads. */
typedef struct exodus_parts {
    tutti_count first, n;
    int *part;
} exodus_parts;

/* Assign elements to pieces.  Returns 0, or 1 and a message.  Collective. */
int exodus_parts_find(const cli_world *w, const data_config *c, tutti_exodus *x,
                      const exodus_outline *o, exodus_parts *out);

/* A piece: entries of the mesh of the rank, and the mesh that consists of them. */
typedef struct exodus_subset {
    tutti_count n[TUTTI_EXODUS_KINDS]; /* number of entities; NODAL: 1 */
    /* [entity][count] index of each entry in the mesh of the rank */
    tutti_count **entry[TUTTI_EXODUS_KINDS];
    tutti_count *count[TUTTI_EXODUS_KINDS]; /* [entity] number of entries */
    tutti_exodus_mesh mesh;
    void **kept;
    int keeps;
} exodus_subset;

/* Create piece `which`.
 * @param[in] part   [entries of all element blocks] the piece of each element of this rank
 * @param[in] which  number of the piece
 * @param[in] rest   1: includes nodes, edges and faces without an element on this rank */
void exodus_subset_make(const exodus_outline *o, const tutti_exodus_mesh *m, const int *part,
                        int which, int rest, exodus_subset *out);
void exodus_subset_free(exodus_subset *s);

#endif
