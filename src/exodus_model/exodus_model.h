/* exodus_model: contents of an Exodus file without values of arrays; the same on all ranks.
 *
 *   topology        topologies by name: nodes, sides, nodes of sides
 *   model_names     names of dimensions and variables in the file
 *   exodus_model    definitions: validated and stored
 *   model_counts    totals, derived counts, consistency
 *   model_cdf       encoding as netCDF dimensions and variables
 *   model_read      decoding
 *   step_layout     offsets of time steps
 *
 * No function is collective.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_MODEL_H
#define TUTTI_EXODUS_MODEL_H

#include <tutti/exodus.h>
#include "cdf/cdf.h"

/* Entities of a kind, in the order of the file.  The model owns the texts of rows. */
typedef struct tutti__exodus_table {
    tutti_count n, room;
    tutti_exodus_entity *row;
    struct tutti__exodus_ids *ids; /* hash table of rows by id */
    int variables_n;
    char **variables;
    unsigned char *truth; /* [n * variables_n]; NULL: all */
    int properties_n;
    char **properties;
    int64_t **values; /* [properties_n][n] */
    char **
        *attributes; /* [n] names of an entity's attributes, or NULL; NULL: no entity has names */
    tutti_count *before; /* [n] entries of the blocks before; NULL: not computed */
} tutti__exodus_table;

typedef struct tutti__exodus_model {
    tutti_exodus_parameters p;                  /* the model owns the texts */
    tutti__exodus_table of[TUTTI_EXODUS_KINDS]; /* NODAL: one row, the nodes; GLOBAL: none */
    int qa_n;
    char (*qa)[4][33];
    int lines_n;
    char (*lines)[81];
    int real_bytes; /* 4, 8 */
    int id_bytes, map_bytes,
        bulk_bytes; /* 4 or 8: of entities' ids; of maps; of all other integers.  0: as few as possible */
    int name_length;
} tutti__exodus_model;

static inline int tutti__exodus_is_block(int kind) {
    return kind >= TUTTI_EXODUS_ELEMENT_BLOCK && kind <= TUTTI_EXODUS_FACE_BLOCK;
}
static inline int tutti__exodus_is_set(int kind) {
    return kind >= TUTTI_EXODUS_NODE_SET && kind <= TUTTI_EXODUS_FACE_SET;
}
static inline int tutti__exodus_is_map(int kind) {
    return kind >= TUTTI_EXODUS_NODE_MAP && kind <= TUTTI_EXODUS_FACE_MAP;
}
/* Whether its entries have lists of different lengths.  0: no; 1: nsided, of nodes; 2: nfaced, of faces. */
int tutti__exodus_is_listed(const tutti_exodus_entity *e);

/* ---- exodus_model.c */
void tutti__exodus_model_init(tutti__exodus_model *m);
void tutti__exodus_model_free(tutti__exodus_model *m);
/* The row of an id; -1: none. */
tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id);
/* Elements (edges, faces) of the blocks before block `number`. */
tutti_count tutti__exodus_model_before(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                       tutti_count number);
/* Nodes, elements, edges or faces of the file: for NODAL, kinds of blocks and kinds of maps. */
tutti_count tutti__exodus_model_total(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Whether an entity has a variable, by the truth table. */
int tutti__exodus_model_has(const tutti__exodus_model *m, tutti_exodus_kind kind,
                            tutti_count number, int variable);
/* The index of a variable of a kind; -1: none. */
int tutti__exodus_model_variable(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                 const char *name);

/* Build the hash table of rows that were read from a file.  Empty entities may have the same id, since some writers
 * declare entities that they never write; a lookup finds the first of them.
 * @return TUTTI_ERR_FORMAT for an id of two entities, one of which has entries */
tutti_err tutti__exodus_model_index(tutti__exodus_model *m, tutti_exodus_kind kind) TUTTI_MUST_USE;

/* Definitions, by the public calls of the same names.  An error leaves the model unchanged.  Texts are copied.
 * apply 0: only validate; a definition that was validated can later fail with TUTTI_ERR_NOMEM only. */
tutti_err tutti__exodus_model_parameters(tutti__exodus_model *m, const tutti_exodus_parameters *p,
                                         int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_variables(tutti__exodus_model *m, tutti_exodus_kind kind, int n,
                                        const char *const *names, int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_truth(tutti__exodus_model *m, tutti_exodus_kind kind,
                                    const unsigned char *table, int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_attribute_names(tutti__exodus_model *m, tutti_exodus_kind kind,
                                              tutti_count number, int n, const char *const *names,
                                              int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_property(tutti__exodus_model *m, tutti_exodus_kind kind,
                                       const char *name, const int64_t *values,
                                       int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_qa(tutti__exodus_model *m, int n, const tutti_exodus_qa *records,
                                 int apply) TUTTI_MUST_USE;
tutti_err tutti__exodus_model_info(tutti__exodus_model *m, int n, const char *const *lines,
                                   int apply) TUTTI_MUST_USE;
/* Define entities; tutti__exodus_model_cut removes them again: n are the lengths of the tables before. */
tutti_err tutti__exodus_model_define(tutti__exodus_model *m, tutti_count n,
                                     const tutti_exodus_entity *entities) TUTTI_MUST_USE;
void tutti__exodus_model_cut(tutti__exodus_model *m, const tutti_count n[TUTTI_EXODUS_KINDS]);

/* All counts are known: set those that follow from others, and sizes of integers that are 0. */
tutti_err tutti__exodus_model_settle(tutti__exodus_model *m) TUTTI_MUST_USE;
/* Whether the model is consistent and can be stored. */
tutti_err tutti__exodus_model_check(const tutti__exodus_model *m) TUTTI_MUST_USE;
/* Start another topology: remove entities and counts; keep title, dimensions, attributes of nodes, names of variables and
 * sizes of reals. */
void tutti__exodus_model_forget(tutti__exodus_model *m);

/* ---- model_names.c: names in the file.  `to` has 64 bytes. */
typedef struct tutti__exodus_names {
    const char *word;                        /* "element block", in messages */
    const char *dim, *status, *prop, *names; /* of all entities of the kind */
    const char *entries, *per_entry, *list;  /* of one entity: dimensions, and its list */
    const char *extra;                       /* sides, orientations, edges */
    const char *counts;                      /* nsided, nfaced */
    const char *factors, *factors_dim;       /* distribution factors */
    const char *attributes, *attributes_dim, *attribute_names;
    const char *variables, *variable_names, *truth; /* of results */
    const char *values, *values_of;
} tutti__exodus_names;
extern const tutti__exodus_names tutti__exodus_names_of[TUTTI_EXODUS_KINDS];
/* "connect" and 3: "connect3". */
const char *tutti__exodus_numbered(char *to, const char *name, tutti_count number);
/* The netCDF variable of variable `variable` (from 0) of an entity: "vals_elem_var2eb7". */
const char *tutti__exodus_values_name(char *to, int kind, tutti_count number, int variable);

/* ---- step_layout.c: time steps in a decoded header */
/* Whether `time_step` is a fixed dimension: steps can be read, but not appended. */
int tutti__exodus_has_fixed_steps(const tutti__cdf *c);
/* After tutti__cdf_decode: c->records becomes the number of complete steps, and `numbers` of a variable with a fixed
 * time dimension those of one step, as for record variables. */
void tutti__exodus_steps_settle(tutti__cdf *c, tutti_off file_bytes);
/* Bytes from one step of a variable to the next; 0: it has no steps.   After tutti__exodus_steps_settle. */
tutti_off tutti__exodus_step_stride(const tutti__cdf *c, const tutti__cdf_var *v);

/* ---- model_cdf.c: the netCDF header, and the catalogue: values of ids, names, truth tables and all other variables that
 * are not arrays of the mesh.  The catalogue follows the header. */
/* Define dimensions and variables; the caller may add others before tutti__cdf_layout. */
tutti_err tutti__exodus_encode(const tutti__exodus_model *m, tutti__cdf *c) TUTTI_MUST_USE;
/* After the layout: the header and the catalogue, as the first bytes of the file. */
tutti_err tutti__exodus_head(const tutti__exodus_model *m, const tutti__cdf *c, void **bytes_out,
                             size_t *n_out) TUTTI_MUST_USE;

/* ---- model_read.c: decoding of a header and a catalogue, which are validated */
/* Extents of the file with the catalogue: ascending, disjoint. */
typedef struct tutti__exodus_extent {
    tutti_off at, bytes;
    size_t data; /* offset in the buffer of all extents */
} tutti__exodus_extent;
typedef struct tutti__exodus_catalogue {
    tutti_count n;
    tutti__exodus_extent *v; /* tutti__free */
    size_t bytes;            /* of all */
} tutti__exodus_catalogue;
tutti_err tutti__exodus_catalogue_of(const tutti__cdf *c,
                                     tutti__exodus_catalogue *out) TUTTI_MUST_USE;
tutti_err tutti__exodus_decode(const tutti__cdf *c, const tutti__exodus_catalogue *where,
                               const void *data, tutti__exodus_model *out) TUTTI_MUST_USE;

#endif
