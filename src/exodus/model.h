/* exodus: what a file has, as all ranks know it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_MODEL_H
#define TUTTI_EXODUS_MODEL_H

#include <tutti/exodus.h>
#include "cdf/cdf.h"

/* Entities of a kind, in the order of the file.  Texts of rows are the model's. */
typedef struct tutti__exodus_table {
    tutti_count n, room;
    tutti_exodus_entity *row;
    struct tutti__exodus_ids *ids; /* for looking up in constant time */
    int variables_n;
    char **variables;
    unsigned char *truth; /* [n * variables_n]; NULL: all */
    int properties_n;
    char **properties;
    int64_t **values;   /* [properties_n][n] */
    char ***attributes; /* [n] NULL, or names of an entity's attributes */
} tutti__exodus_table;

typedef struct tutti__exodus_model {
    tutti_exodus_parameters p;                  /* texts are the model's */
    tutti__exodus_table of[TUTTI_EXODUS_KINDS]; /* NODAL: one row, the nodes; GLOBAL: none */
    int qa_n;
    char (*qa)[4][33];
    int lines_n;
    char (*lines)[81];
    int real_bytes; /* 4, 8 */
    int id_bytes, map_bytes,
        bulk_bytes; /* 4, 8: of entities' ids; of maps; of all other integers */
    int name_length;
} tutti__exodus_model;

void tutti__exodus_model_init(tutti__exodus_model *m);
void tutti__exodus_model_free(tutti__exodus_model *m);
/* The row of an id; -1: none. */
tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id);
/* Elements (edges, faces) of the blocks before one. */
tutti_count tutti__exodus_model_before(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                       tutti_count number);
/* Is all of it consistent and possible?  The message says what is not. */
tutti_err tutti__exodus_model_check(const tutti__exodus_model *m) TUTTI_MUST_USE;

#endif
