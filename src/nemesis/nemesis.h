/* nemesis: Nemesis data of a partition: the nodes and elements of each processor, and its borders.
 *
 *   nemesis_borders   determines the borders of each rank from the elements of all ranks
 *   nemesis_write     writes them as variables of the file
 *   nemesis_read      reads them
 *
 * An element belongs to the lowest rank that passes it.  A node whose elements belong to one rank
 * is internal on that rank; if they belong to several ranks, it is a border node of each; a node
 * that a rank passes without an own element is external on that rank.  An element that shares a
 * side with an element of another rank is a border element.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NEMESIS_H
#define TUTTI_NEMESIS_H

#include "exodus/array_values.h"
#include "exodus/entity_class.h"

/* A mesh with its positions in the file. */
typedef struct tutti__partition {
    const tutti__exodus_model *model;
    const tutti_exodus_mesh *mesh;
    const tutti__mesh_classes *classes;
} tutti__partition;

/* Items [lo, hi) of a shared list, which are shared with rank `rank`. */
typedef struct tutti__neighbour {
    int rank;
    tutti_count lo, hi;
} tutti__neighbour;

/* The borders of one rank.  Numbers are those of the file; the first is 1. */
typedef struct tutti__borders {
    tutti_count internal_nodes, border_nodes, external_nodes;
    int64_t *nodes; /* internal, then border, then external nodes, each ascending */
    tutti_count internal_elements, border_elements;
    int64_t *elements;
    int node_maps, element_maps;
    tutti__neighbour *node_map, *element_map; /* sorted by rank */
    int64_t *shared_nodes; /* nodes of all node maps, ascending within each map */
    /* of all element maps, in the same order on both ranks */
    int64_t *shared_elements, *shared_sides;
} tutti__borders;

/* Determine the borders of this rank.   Collective. */
tutti_err tutti__borders_make(tutti__team *t, const tutti__partition *p,
                              tutti__borders *out) TUTTI_MUST_USE;
void tutti__borders_free(tutti__borders *b);

/* ---- nemesis_write.c */
/* The partition data of a file: tutti__nemesis_make computes it (collective), tutti__nemesis_define
 * defines its variables in the header, and tutti__nemesis_add adds it to the values that this rank
 * writes. */
typedef struct tutti__nemesis tutti__nemesis;
tutti_err tutti__nemesis_make(tutti__team *t, const tutti__partition *p, tutti_err local_err,
                              tutti__nemesis **out) TUTTI_MUST_USE;
tutti_err tutti__nemesis_define(const void *nemesis, tutti__cdf *cdf) TUTTI_MUST_USE;
tutti_err tutti__nemesis_add(const tutti__nemesis *s, const tutti__cdf *cdf,
                             tutti__values *values) TUTTI_MUST_USE;
void tutti__nemesis_free(tutti__nemesis **s);

#endif
