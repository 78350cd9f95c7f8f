/* tutti exodus info, diff, join, split; and import, export, verify, cp, archive, ls, show of Exodus files.
 *
 *   options -> config        options                                       data_config.h
 *   outline                  definitions of a file                        exodus_outline.c, exodus_pack.c
 *   results                  a step on this rank                         exodus_results.c
 *   pairs                    common entries of two files, by id       exodus_pairs.c
 *   commands                                                            exodus_*.c
 *
 * diff, join, split, verify, cp, import and export --vtk use all ranks; everything else runs on rank 0
 * only.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CMD_EXODUS_H
#define TUTTI_CLI_CMD_EXODUS_H

#include "dataset/data_config.h"
#include "common/file_kind.h"

#include <tutti/exodus.h>

/* ---- options (exodus_args.c) */

/* The steps selected by --steps: first ... last, from 1; none: last < first.  0, or 1
 * and a message */
int exodus_steps_chosen(const data_config *c, tutti_count steps, tutti_count *first_out,
                        tutti_count *last_out);
/* The options of a new file. */
void exodus_options_of(const data_config *c, tutti_exodus_options *out);

/* ---- outlines: all that is defined in a file (exodus_outline.c) */

/* Entities of a kind, with their common properties.  GLOBAL: only variables; NODAL: one row, for the
 * names of attributes. */
typedef struct exodus_index {
    tutti_count n; /* number of indexed rows or variables, from the first */
    size_t room;
    tutti_count *slot; /* [room] number + 1; 0: free */
} exodus_index;

typedef struct exodus_table {
    tutti_count n;
    tutti_exodus_entity *entity;
    char ***attribute; /* [n] names of attributes: [attributes], or NULL */
    int variables;
    char **variable;
    unsigned char *has; /* [n * variables] */
    int properties;
    char **property;
    int64_t **value;         /* [properties][n] */
    exodus_index ids, names; /* of entities and variables, filled when they are searched */
} exodus_table;

typedef struct exodus_outline {
    tutti_exodus_parameters p; /* texts are the next two */
    int with_id_maps;          /* exodus_outline_define: 1: id maps also for ids 1, 2, 3 ... */
    char *title, *coordinate[3];
    exodus_table of[TUTTI_EXODUS_KINDS];
    int qas, lines;
    char *(*qa)[4];
    char **line;
} exodus_outline;

int exodus_outline_read(const tutti_exodus *x, exodus_outline *out); /* 0, or 1 and a message */
/* Define everything in a new file, up to put_mesh.  Counts are left to put_mesh. */
int exodus_outline_define(const exodus_outline *o, tutti_exodus *to);
void exodus_outline_free(exodus_outline *o);
/* The number of an entity; -1: not found. */
tutti_count exodus_find(exodus_outline *o, tutti_exodus_kind kind, int64_t id);
/* The number of a variable, the first of this name; -1: not found. */
int exodus_find_variable(exodus_outline *o, tutti_exodus_kind kind, const char *name);
/* The length of the longest name, 32 at least: the option name_length of a copy. */
int exodus_name_length(const exodus_outline *o);
/* Check that each variable of -v exists in one of n outlines.  0, or 1 and a message */
int exodus_variables_known(const data_config *c, int n, const exodus_outline *o);
/* Append a copy of an entity without truth table entries and properties; returns its number. */
tutti_count exodus_outline_add(exodus_outline *o, const tutti_exodus_entity *e);
/* Find the numbers of n variables; missing ones are added.   number_out: [n] */
void exodus_outline_variables(exodus_outline *o, tutti_exodus_kind kind, int n, char *const *names,
                              int *number_out);

/* Encode as bytes for other ranks (exodus_pack.c).  The result must be freed. */
void *exodus_outline_pack(const exodus_outline *o, size_t *bytes_out);
void exodus_outline_unpack(const void *bytes, exodus_outline *out);

static inline int exodus_is_block(int kind) {
    return kind >= TUTTI_EXODUS_ELEMENT_BLOCK && kind <= TUTTI_EXODUS_FACE_BLOCK;
}
static inline int exodus_is_set(int kind) {
    return kind >= TUTTI_EXODUS_NODE_SET && kind <= TUTTI_EXODUS_FACE_SET;
}
static inline int exodus_is_map(int kind) {
    return kind >= TUTTI_EXODUS_NODE_MAP && kind <= TUTTI_EXODUS_FACE_MAP;
}
int exodus_topology_is(const char *topology,
                       const char *name); /* case-insensitive, ignoring trailing digits */

/* ---- meshes and results as this rank has them (exodus_results.c) */

/* The blocks or sets of a kind; NULL: it has none. */
const tutti_exodus_elements *exodus_blocks(const tutti_exodus_mesh *m, int kind);
const tutti_exodus_members *exodus_sets(const tutti_exodus_mesh *m, int kind);
/* The kind of the members of a kind of sets. */
int exodus_member_kind(int kind);
double exodus_coordinate(const tutti_exodus_mesh *m, int d, tutti_count i);
/* Entries of an entity on this rank. */
tutti_count exodus_entries(const tutti_exodus_mesh *m, int kind, tutti_count number);
/* Nodes, elements, edges or faces of a file, by the kind of their blocks; has it an id map of them? */
tutti_count exodus_entries_of(const tutti_exodus_parameters *p, int kind);
int exodus_has_ids(const tutti_exodus_parameters *p, int kind);
/* For how many rows a table with n of them has room. */
size_t exodus_table_room(tutti_count n);
/* Create a file with the entities of an outline and a mesh.  0, or 1 and a message */
int exodus_file_make(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                     const exodus_outline *o, const tutti_exodus_mesh *m, tutti_exodus **out);
/* A rank's share of entries. */
void exodus_share(const cli_world *w, tutti_count all, tutti_count *first_out, tutti_count *n_out);
/* The integers of an array of an entity: n from `first` on. */
tutti_exodus_array exodus_integers(int what, int kind, int64_t id, tutti_count first, tutti_count n,
                                   int64_t *buf);
/* The name of an Exodus file, by its ending. */
int exodus_is_name(const char *path);

/* Like tutti_exodus_side_nodes, but triangles in space are always shells. */
int exodus_side_nodes(const exodus_outline *o, const tutti_exodus_entity *e, int side,
                      int *which_out);
/* Nodes of a side of an element of this rank, by its local index; 0: unknown. */
int exodus_side_width(const exodus_outline *o, const tutti_exodus_mesh *m, tutti_count place,
                      int side);
/* Distribution factors of a set on this rank. */
tutti_count exodus_factors(const exodus_outline *o, const tutti_exodus_mesh *m, int kind,
                           tutti_count number);

/* All results of a step: one field for each variable of each entity that has it, one for all global
 * variables.  Values are float64. */
typedef struct exodus_results {
    tutti_count n;
    tutti_exodus_field *field;
    tutti_count *entry; /* [n] the number of its entity */
    int *variable;      /* [n] */
    tutti_count *count; /* [n] values on this rank */
} exodus_results;

void exodus_results_make(const exodus_outline *o, const tutti_exodus_mesh *m, exodus_results *out);
void exodus_results_free(exodus_results *r);

/* Copy additional maps and the order map, which are no part of a mesh.  0, or 1 and a message.   Collective. */
int exodus_maps_copy(const cli_world *w, const exodus_outline *o, tutti_exodus *from,
                     tutti_exodus *to);

/* Print data that get_mesh ignored, such as distribution factors of a wrong size; name: of the command. */
void exodus_mesh_warn(const cli_world *w, const tutti_exodus *x, const char *name);

/* A mesh whose sets have each member once (exodus_repeats.c).  Blocks and coordinates are those of the original. */
typedef struct exodus_unique {
    tutti_exodus_mesh mesh;
    void **kept;
    int keeps;
} exodus_unique;
/* name: of the command, for warnings.  0, or 1 and a message: a set with repeated members has results */
int exodus_unique_make(const exodus_outline *o, const tutti_exodus_mesh *m, const char *name,
                       exodus_unique *out);
void exodus_unique_free(exodus_unique *u);

/* ---- common entries of two files (exodus_pairs.c) */

/* An entry of one of two files: its key and its position. */
typedef struct exodus_item {
    int64_t group, id, side; /* the key: entity, id, side */
    tutti_count place;       /* its position in its file */
    int file;                /* 0, 1 */
    int factors;             /* number of attached factors */
    tutti_count at;          /* their start; set by the callee */
} exodus_item;

/* Two items with the same key; or a single one: the position of the other is -1. */
typedef struct exodus_pair {
    int64_t group, id, side;
    tutti_count place[2], at[2];
    int factors[2];
} exodus_pair;

typedef struct exodus_pairs {
    tutti_count n;
    exodus_pair *v; /* by group, id, side */
    double *factor;
    tutti_count twice[2]; /* duplicate keys of each file on this rank; duplicates are ignored */
    int64_t twice_id[2];
} exodus_pairs;

/* Redistribute items: each rank gets those of a range of ids.   Collective.
 * @param[in] factor  factors of all items, concatenated */
void exodus_pairs_find(const cli_world *w, exodus_item *items, tutti_count n, const double *factor,
                       exodus_pairs *out);
void exodus_pairs_free(exodus_pairs *p);

/* Sort n items of `size` bytes.  Faster than qsort if they consist of a few ascending runs, as in
 * pieces.  Returns [n] pointers to the items in ascending order; free them. */
const void **exodus_sort_runs(const void *items, tutti_count n, size_t size,
                              int (*compare)(const void *, const void *));

/* The position (from 0) of a number in the file, which counts from 1; -1 for smaller numbers. */
tutti_count exodus_place_of_number(int64_t number);
/* The ids of nodes (NODAL) or of elements, edges, faces (the kind of their blocks) at these positions
 * of the file, from 0.  0, or 1 and a message.   Collective. */
int exodus_ids_at(tutti_exodus *x, int kind, tutti_count n, const tutti_count *places,
                  int64_t *ids_out);

/* ---- node orders of others (exodus_orders.c) */

/* The VTK cell type of a topology; -1: none.   @param[out] nodes_out  its number of nodes
 * @param[out] order_out  [27] the index of node i of the cell in the element */
int exodus_vtk_cell(const char *topology, int nodes, int *nodes_out, int *order_out);

/* ---- commands: an exit code; CLI_FAILED has a message.   Collective, but info and archive: rank 0 only */
int exodus_info(const cli_world *w, const data_config *c);
int exodus_diff(const cli_world *w, const data_config *c);
int exodus_join(const cli_world *w, const data_config *c);
int exodus_split(const cli_world *w, const data_config *c);
int exodus_verify(const cli_world *w, const data_config *c);
int exodus_cp(const cli_world *w, const data_config *c);
int exodus_archive(const cli_world *w, const data_config *c);
int exodus_import(const cli_world *w, const data_config *c);
int exodus_export(const cli_world *w, const data_config *c);
int exodus_export_xdmf(const data_config *c); /* its part in exodus_xdmf.c; rank 0 only */

/* Parts of import: 0, or 1 and a message.   Collective */
int exodus_from_gmsh(const cli_world *w, const data_config *c, const char *from, const char *to);
int exodus_to_dataset(const cli_world *w, const data_config *c, const char *from, const char *to);

#endif
