/* nemesis: Nemesis data of a partition: the nodes and elements of each processor, and its borders.
 *
 *   nemesis_borders   from every rank's own elements to its borders, on a team
 *   nemesis           as variables of the file, written
 *   nemesis_get       and read
 *
 * An element belongs to the lowest rank that passes it.  A node of elements of one rank only is internal
 * there, of several ranks a border node of each; a node of a rank without an element of that rank is
 * external.  An element with a side in common with another rank's is a border element.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NEMESIS_H
#define TUTTI_NEMESIS_H

#include "exodus/array_values.h"
#include "exodus/entity_class.h"

/* A mesh, in positions of the file. */
typedef struct tutti__partition {
    const tutti__exodus_model *model;
    const tutti_exodus_mesh *mesh;
    const tutti__mesh_classes *classes;
} tutti__partition;

/* A list with a neighbour: items lo ... hi - 1 of those that are shared. */
typedef struct tutti__neighbour {
    int rank;
    tutti_count lo, hi;
} tutti__neighbour;

/* The borders of one rank.  Numbers are those of the file, from 1. */
typedef struct tutti__borders {
    tutti_count internal_nodes, border_nodes, external_nodes;
    int64_t *nodes; /* internal, then border, then external ones, each ascending */
    tutti_count internal_elements, border_elements;
    int64_t *elements;
    int node_maps, element_maps;
    tutti__neighbour *node_map, *element_map; /* by rank */
    int64_t *shared_nodes;                    /* of node maps, ascending in each */
    int64_t *shared_elements, *shared_sides;  /* of element maps, in the same order on both ranks */
} tutti__borders;

/* Collective. */
tutti_err tutti__borders_make(tutti__team *t, const tutti__partition *p,
                              tutti__borders *out) TUTTI_MUST_USE;
void tutti__borders_free(tutti__borders *b);

/* ---- nemesis_write.c */
/* The additions of a partition to a file: computed on all ranks (Collective), defined in the
 * header by tutti__nemesis_define, then added to the values that this rank writes. */
typedef struct tutti__nemesis tutti__nemesis;
tutti_err tutti__nemesis_make(tutti__team *t, const tutti__partition *p, tutti_err local_err,
                              tutti__nemesis **out) TUTTI_MUST_USE;
tutti_err tutti__nemesis_define(const void *nemesis, tutti__cdf *cdf) TUTTI_MUST_USE;
tutti_err tutti__nemesis_add(const tutti__nemesis *s, const tutti__cdf *cdf,
                             tutti__values *values) TUTTI_MUST_USE;
void tutti__nemesis_free(tutti__nemesis **s);

#endif
