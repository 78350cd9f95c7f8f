/* exodus_model: what a file has, as all ranks know it.
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
    int64_t **values;    /* [properties_n][n] */
    char ***attributes;  /* [n] NULL, or names of an entity's attributes; NULL: nobody has any */
    tutti_count *before; /* [n] entries of the blocks before; NULL: not settled */
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
        bulk_bytes; /* 4, 8: of entities' ids; of maps; of all other integers.  0: not decided */
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
/* Its entries have lists of different lengths.  0: not, 1: nsided, nodes; 2: nfaced, faces. */
int tutti__exodus_is_listed(const tutti_exodus_entity *e);

/* ---- model.c */
void tutti__exodus_model_init(tutti__exodus_model *m);
void tutti__exodus_model_free(tutti__exodus_model *m);
/* The row of an id; -1: none. */
tutti_count tutti__exodus_model_find(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                     int64_t id);
/* Elements (edges, faces) of the blocks before one. */
tutti_count tutti__exodus_model_before(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                       tutti_count number);
/* Nodes, elements, edges or faces of all: of NODAL, of kinds of blocks, and of what maps are of. */
tutti_count tutti__exodus_model_total(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Has an entity a variable? */
int tutti__exodus_model_has(const tutti__exodus_model *m, tutti_exodus_kind kind,
                            tutti_count number, int variable);
/* Which variable of a kind that is; -1: none. */
int tutti__exodus_model_variable(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                 const char *name);

/* Rows of a kind have been read from a file: make them findable.  Empty entities may have the same id, as entities that were
 * announced and never written do; the first of them is found.
 * @return TUTTI_ERR_FORMAT for an id of two entities, one of which has entries */
tutti_err tutti__exodus_model_index(tutti__exodus_model *m, tutti_exodus_kind kind) TUTTI_MUST_USE;

/* What the calls of the same names say; what is wrong with it is refused, and the model as before.
 * Texts are copied.   apply 0: it is only looked at; what has been found right then can only fail by lack of
 * memory. */
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
/* Entities; they are taken away again by cutting the tables to the lengths that they had. */
tutti_err tutti__exodus_model_define(tutti__exodus_model *m, tutti_count n,
                                     const tutti_exodus_entity *entities) TUTTI_MUST_USE;
void tutti__exodus_model_cut(tutti__exodus_model *m, const tutti_count n[TUTTI_EXODUS_KINDS]);

/* Counts are known: those that follow from others are set, integers that were not decided become as
 * long as they must be. */
tutti_err tutti__exodus_model_settle(tutti__exodus_model *m) TUTTI_MUST_USE;
/* Is all of it consistent and possible?  The message says what is not. */
tutti_err tutti__exodus_model_check(const tutti__exodus_model *m) TUTTI_MUST_USE;
/* For another topology: entities and counts are forgotten; title, dimensions, attributes of nodes, names of variables and
 * sizes of numbers stay. */
void tutti__exodus_model_forget(tutti__exodus_model *m);

/* ---- model_names.c: what things are called in a file.  `to` has room for 64 bytes. */
typedef struct tutti__exodus_names {
    const char *word;                        /* "element block", for people */
    const char *dim, *status, *prop, *names; /* of all of the kind */
    const char *entries, *per_entry, *list;  /* of one: dimensions, and its list */
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
/* The netCDF variable of a variable (from 0) of an entity: "vals_elem_var2eb7". */
const char *tutti__exodus_values_name(char *to, int kind, tutti_count number, int variable);

/* ---- step_layout.c: steps in a header that has been read */
/* Is `time_step` a fixed dimension?  Steps can be read then, but not appended. */
int tutti__exodus_has_fixed_steps(const tutti__cdf *c);
/* After tutti__cdf_decode: c->records becomes the number of complete steps, and `numbers` of a variable with a fixed
 * time dimension those of one step, as for record variables. */
void tutti__exodus_steps_settle(tutti__cdf *c, tutti_off file_bytes);
/* Bytes from one step of a variable to the next; 0: it has no steps.   After tutti__exodus_steps_settle. */
tutti_off tutti__exodus_step_stride(const tutti__cdf *c, const tutti__cdf_var *v);

/* ---- model_cdf.c: a model as a netCDF header, and the values that its catalogue has: ids, names,
 * truth tables and whatever else is not an array of the mesh.  The catalogue lies behind the header. */
/* c: not laid out yet, so that others may add to it. */
tutti_err tutti__exodus_encode(const tutti__exodus_model *m, tutti__cdf *c) TUTTI_MUST_USE;
/* After the layout: the header and the catalogue, as the first bytes of the file. */
tutti_err tutti__exodus_head(const tutti__exodus_model *m, const tutti__cdf *c, void **bytes_out,
                             size_t *n_out) TUTTI_MUST_USE;

/* ---- model_read.c: a model from a header and the bytes of a catalogue, which are not believed */
/* Bytes of a file that are wanted for it, in order and apart from each other. */
typedef struct tutti__exodus_extent {
    tutti_off at, bytes;
    size_t data; /* where they go */
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
