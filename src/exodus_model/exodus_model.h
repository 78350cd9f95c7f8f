/* exodus_model: contents of an Exodus file except the values of arrays, which are the same on all
 * ranks.
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
    tutti_count n, capacity;
    tutti_exodus_entity *row;
    struct tutti__exodus_ids *ids; /* hash table of rows by id */
    int variables_n;
    char **variables;
    unsigned char *truth; /* [n * variables_n] truth table; NULL: all entities have all variables */
    int properties_n;
    char **properties;
    int64_t **values; /* [properties_n][n] */
    /* [n] names of an entity's attributes, or NULL; `attributes` is NULL if no entity has names */
    char ***attributes;
    tutti_count *before; /* [n] number of entries of the preceding blocks; NULL: not computed */
} tutti__exodus_table;

typedef struct tutti__exodus_model {
    tutti_exodus_parameters p;                  /* the model owns the texts */
    tutti__exodus_table of[TUTTI_EXODUS_KINDS]; /* NODAL: one row, the nodes; GLOBAL: none */
    int qa_n;
    char (*qa)[4][33];
    int lines_n;
    char (*lines)[81];
    int real_bytes; /* bytes of reals: 4 or 8 */
    /* bytes of ids of entities, of maps, and of all other integers: 4, 8, or 0: as few as
     * possible */
    int id_bytes, map_bytes, bulk_bytes;
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
/* Return whether entries of the block have lists of different lengths: 0: no; 1: nsided, of nodes;
 * 2: nfaced, of faces. */
int tutti__exodus_is_listed(const tutti_exodus_entity *e);

/* ---- exodus_model.c */
void tutti__exodus_model_init(tutti__exodus_model *m);
void tutti__exodus_model_free(tutti__exodus_model *m);
/* Return the row of an id; -1: not found. */
tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id);
/* Return the number of elements (edges, faces) of the blocks that precede block `number`. */
tutti_count tutti__exodus_model_before(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                       tutti_count number);
/* Return the number of nodes, elements, edges or faces of the file, for NODAL, kinds of blocks and
 * kinds of maps. */
tutti_count tutti__exodus_model_total(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Return whether an entity has a variable according to the truth table. */
int tutti__exodus_model_has(const tutti__exodus_model *m, tutti_exodus_kind kind,
                            tutti_count number, int variable);
/* Return the index of a variable of a kind; -1: not found. */
int tutti__exodus_model_variable(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                 const char *name);

/* Build the hash table of rows that were read from a file.  Empty entities may have the same id,
 * since some writers declare entities that they never write; a lookup finds the first of them.
 * @return TUTTI_ERR_FORMAT if two entities have the same id, and one of them has entries */
tutti_err tutti__exodus_model_index(tutti__exodus_model *m, tutti_exodus_kind kind) TUTTI_MUST_USE;

/* Make the definitions of the public calls with the same names.  An error leaves the model
 * unchanged.  Texts are copied.  If `apply` is 0, the definition is only validated; it can later
 * fail only with TUTTI_ERR_NOMEM. */
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
/* Define entities.  tutti__exodus_model_cut removes them again; n are the previous lengths of the
 * tables. */
tutti_err tutti__exodus_model_define(tutti__exodus_model *m, tutti_count n,
                                     const tutti_exodus_entity *entities) TUTTI_MUST_USE;
void tutti__exodus_model_cut(tutti__exodus_model *m, const tutti_count n[TUTTI_EXODUS_KINDS]);

/* When all counts are known, set those that follow from others, and sizes of integers that are
 * 0. */
tutti_err tutti__exodus_model_settle(tutti__exodus_model *m) TUTTI_MUST_USE;
/* Check that the model is consistent and can be stored. */
tutti_err tutti__exodus_model_check(const tutti__exodus_model *m) TUTTI_MUST_USE;
/* Remove entities and counts before a new topology is defined; keep title, dimensions, attributes
 * of nodes, names of variables and sizes of reals. */
void tutti__exodus_model_forget(tutti__exodus_model *m);

/* ---- model_names.c: names in the file.  `to` has 64 bytes. */
typedef struct tutti__exodus_names {
    const char *word;                        /* noun for messages: "element block" */
    const char *dim, *status, *prop, *names; /* names that concern all entities of the kind */
    const char *entries, *per_entry, *list;  /* names for one entity: dimensions, and its list */
    const char *extra;                       /* names of sides, orientations, edges */
    const char *counts;                      /* names of counts for nsided and nfaced blocks */
    const char *factors, *factors_dim;       /* names for distribution factors */
    const char *attributes, *attributes_dim, *attribute_names;
    const char *variables, *variable_names, *truth; /* names for results */
    const char *values, *values_of;
} tutti__exodus_names;
extern const tutti__exodus_names tutti__exodus_names_of[TUTTI_EXODUS_KINDS];
/* Append a number to a name: "connect" and 3 give "connect3". */
const char *tutti__exodus_numbered(char *to, const char *name, tutti_count number);
/* Return the name of the netCDF variable of variable `variable` (from 0) of an entity, e.g.
 * "vals_elem_var2eb7". */
const char *tutti__exodus_values_name(char *to, int kind, tutti_count number, int variable);

/* ---- step_layout.c: time steps in a decoded header */
/* Return whether `time_step` is a fixed dimension: steps can be read, but not appended. */
int tutti__exodus_has_fixed_steps(const tutti__cdf *c);
/* After tutti__cdf_decode, set c->records to the number of complete steps, and `numbers` of a
 * variable with a fixed time dimension to the number per step, as for record variables. */
void tutti__exodus_steps_settle(tutti__cdf *c, tutti_off file_bytes);
/* Return the bytes from one step of a variable to the next; 0 if it has no steps.  Must follow
 * tutti__exodus_steps_settle. */
tutti_off tutti__exodus_step_stride(const tutti__cdf *c, const tutti__cdf_var *v);

/* ---- model_cdf.c: the netCDF header, and the catalogue: values of ids, names, truth tables and
 * all other variables that are not arrays of the mesh.  The catalogue follows the header. */
/* Define dimensions and variables; the caller may add others before tutti__cdf_layout. */
tutti_err tutti__exodus_encode(const tutti__exodus_model *m, tutti__cdf *c) TUTTI_MUST_USE;
/* Get the header and the catalogue, which are the first bytes of the file, after the layout. */
tutti_err tutti__exodus_head(const tutti__exodus_model *m, const tutti__cdf *c, void **bytes_out,
                             size_t *n_out) TUTTI_MUST_USE;

/* ---- model_read.c: decoding of a header and a catalogue, which are validated */
/* An extent of the file with bytes of the catalogue; extents are ascending and disjoint. */
typedef struct tutti__exodus_extent {
    tutti_off at, bytes;
    size_t data; /* offset in the buffer of all extents */
} tutti__exodus_extent;
typedef struct tutti__exodus_catalogue {
    tutti_count n;
    tutti__exodus_extent *v; /* [n] extents; the caller frees them with tutti__free */
    size_t bytes;            /* number of bytes of all extents */
} tutti__exodus_catalogue;
tutti_err tutti__exodus_catalogue_of(const tutti__cdf *c,
                                     tutti__exodus_catalogue *out) TUTTI_MUST_USE;
tutti_err tutti__exodus_decode(const tutti__cdf *c, const tutti__exodus_catalogue *where,
                               const void *data, tutti__exodus_model *out) TUTTI_MUST_USE;

#endif
