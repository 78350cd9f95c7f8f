/* tutti exodus join: common declarations of its parts.
 *
 *   names        the complete set of NAME.e.N.R                                exodus_join_names.c
 *   agreement    one outline of all pieces, steps                              exodus_join_agree.c
 *   ids          entries with the same id in several pieces must be the same   exodus_join_ids.c
 *   mesh         the pieces of a rank as one mesh                              exodus_join_mesh.c
 *   command                                                                    exodus_join.c
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_JOIN_H
#define TUTTI_CLI_EXODUS_JOIN_H

#include "exodus/cmd_exodus.h"

/* The file of one process. */
typedef struct exodus_piece {
    const char *path;
    int position; /* number of the piece among all pieces */
    tutti_exodus *x;
    exodus_outline o;
    const tutti_exodus_mesh *mesh;
    /* numbers of its entities in the outline of all pieces */
    tutti_count *number[TUTTI_EXODUS_KINDS];
    /* inverse of `number`; -1: the entity is not in this piece */
    tutti_count *entity[TUTTI_EXODUS_KINDS];
    /* Positions in the mesh of this rank: place[NODAL][0][i] of node i; otherwise place[kind][number of the
     * entity in the piece][i] of entry or member i.  NULL: position i. */
    tutti_count **place[TUTTI_EXODUS_KINDS];
} exodus_piece;

/* The pieces of this rank and their joined mesh, whose arrays are in `kept`. */
typedef struct exodus_whole {
    const cli_world *world;
    const data_config *config;
    char *const *paths; /* paths of all pieces */
    exodus_piece *piece;
    int pieces;
    exodus_outline o; /* outline of all pieces of all ranks */
    tutti_count steps;
    double *time;
    tutti_exodus_mesh mesh;
    void **kept;
    int keeps;
} exodus_whole;

/* List the paths of all pieces, in the order of their numbers.  Returns 0, or 1 and a message. */
int exodus_join_names(const data_config *c, char ***paths_out, int *n_out);

/* Agree on outline, steps and times of all pieces.  Returns 0, or 1 and a message.  Collective. */
int exodus_join_agree(exodus_whole *w);
/* Compare the entries that have the same id in several pieces: nodes must have the same
 * coordinates; elements, edges and faces the same block and nodes.  Returns 0, or 1 and a message.
 * Collective. */
int exodus_join_check_ids(const exodus_whole *w, int pieces);

/* Create the mesh of this rank's pieces; nodes, elements and members with the same id occur once. */
void exodus_join_mesh(exodus_whole *w);
int64_t exodus_node_id(const tutti_exodus_mesh *m, tutti_count i);
/* Return the id of entry i of block b.  Without an id map, ids count from 1 in the order of the piece. */
int64_t exodus_entry_id(const exodus_piece *q, int kind, tutti_count b, tutti_count i);

#endif
