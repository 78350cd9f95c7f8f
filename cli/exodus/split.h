/* tutti exodus split: common declarations of its parts.
 *
 *   parts     assignment of elements to pieces                                exodus_split_parts.c
 *   subsets   a piece of the mesh of the rank, as a mesh                  exodus_split_mesh.c
 *   all of it                                                               exodus_split.c
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_SPLIT_H
#define TUTTI_CLI_EXODUS_SPLIT_H

#include "exodus/cmd_exodus.h"

/* The piece of each element of the file assigned to this rank: first ... first + n - 1 of all, from 0. */
typedef struct exodus_parts {
    tutti_count first, n;
    int *part;
} exodus_parts;

/* 0, or 1 and a message.   Collective */
int exodus_parts_find(const cli_world *w, const data_config *c, tutti_exodus *x,
                      const exodus_outline *o, exodus_parts *out);

/* A piece: its entries of the mesh of the rank, and their mesh. */
typedef struct exodus_subset {
    tutti_count n[TUTTI_EXODUS_KINDS];       /* entities; NODAL: 1 */
    tutti_count **entry[TUTTI_EXODUS_KINDS]; /* [entity][i]: index of the entry on the rank */
    tutti_count *count[TUTTI_EXODUS_KINDS];  /* [entity] */
    tutti_exodus_mesh mesh;
    void **kept;
    int keeps;
} exodus_subset;

/* @param[in] part   [entries of all element blocks] the piece of each element of this rank
 * @param[in] which  the piece
 * @param[in] rest   1: includes nodes, edges and faces without an element on this rank */
void exodus_subset_make(const exodus_outline *o, const tutti_exodus_mesh *m, const int *part,
                        int which, int rest, exodus_subset *out);
void exodus_subset_free(exodus_subset *s);

#endif
