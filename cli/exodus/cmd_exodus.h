/* tutti exodus info, diff, join, split; and import, export, verify, cp, archive, ls, show of Exodus files.
 *
 *   options -> config    options                                     data_config.h
 *   outline              definitions of a file                       exodus_outline.c, exodus_pack.c
 *   results              values of a step on this rank               exodus_results.c
 *   pairs                common entries of two files, by id          exodus_pairs.c
 *   commands                                                         exodus_*.c
 *
 * diff, join, split, verify, cp, import and export --vtk use all ranks; all other commands run on rank 0
 * only.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CMD_EXODUS_H
#define TUTTI_CLI_CMD_EXODUS_H

#include "dataset/data_config.h"
#include "common/file_kind.h"

#include <tutti/exodus.h>

/* ---- options (exodus_args.c) */

/* Parse --steps as steps first ... last, counted from 1; last < first if there are none.  Returns
 * 0, or 1 and a message. */
int exodus_steps_chosen(const data_config *c, tutti_count steps, tutti_count *first_out,
                        tutti_count *last_out);
/* Set the options of a new file from the command line. */
void exodus_options_of(const data_config *c, tutti_exodus_options *out);

/* ---- outlines: all definitions of a file (exodus_outline.c) */

/* A hash table from ids, or names, to the numbers of rows or variables. */
typedef struct exodus_index {
    tutti_count n; /* the first n rows or variables are indexed */
    size_t capacity;
    tutti_count *slot; /* [capacity] number of the row or variable + 1; 0: free */
} exodus_index;

typedef struct exodus_table {
    tutti_count n;
    tutti_exodus_entity *entity;
    char ***attribute; /* [n][attributes] names of attributes; [i] may be NULL */
    int variables;
    char **variable;
    unsigned char *has; /* [n * variables] truth table: 1 if row i has variable k */
    int properties;
    char **property;
    int64_t **value;         /* [properties][n] values */
    exodus_index ids, names; /* of entities, of variables; filled by the first search */
} exodus_table;

typedef struct exodus_outline {
    tutti_exodus_parameters p; /* texts point to `title` and `coordinate` */
    int with_id_maps; /* exodus_outline_define: 1: define id maps even if ids are 1, 2, 3 ... */
    char *title, *coordinate[3];
    exodus_table of[TUTTI_EXODUS_KINDS];
    int qas, lines;
    char *(*qa)[4];
    char **line;
} exodus_outline;

/* Read the outline of a file.  Returns 0, or 1 and a message. */
int exodus_outline_read(const tutti_exodus *x, exodus_outline *out);
/* Define all contents of an outline in a new file, except the counts, which put_mesh sets. */
int exodus_outline_define(const exodus_outline *o, tutti_exodus *to);
void exodus_outline_free(exodus_outline *o);
/* Return the number of the entity with this id; -1: not found. */
tutti_count exodus_find(exodus_outline *o, tutti_exodus_kind kind, int64_t id);
/* Return the number of the first variable of this name; -1: not found. */
int exodus_find_variable(exodus_outline *o, tutti_exodus_kind kind, const char *name);
/* Return the length of the longest name, at least 32: the option name_length of a copy. */
int exodus_name_length(const exodus_outline *o);
/* Check that each variable of -v exists in one of n outlines.  Returns 0, or 1 and a message. */
int exodus_variables_known(const data_config *c, int n, const exodus_outline *o);
/* Append a copy of an entity without truth table entries and properties; returns its number. */
tutti_count exodus_outline_add(exodus_outline *o, const tutti_exodus_entity *e);
/* Find the numbers of n variables; missing variables are added.  number_out: [n] */
void exodus_outline_variables(exodus_outline *o, tutti_exodus_kind kind, int n, char *const *names,
                              int *number_out);

/* Encode an outline as bytes, to send it to other ranks (exodus_pack.c).  The result must be freed. */
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
/* Return whether `topology` is `name`, ignoring case and trailing digits of `topology`. */
int exodus_topology_is(const char *topology, const char *name);

/* ---- meshes and results of this rank (exodus_results.c) */

/* Return the blocks or sets of a kind; NULL: the mesh has none. */
const tutti_exodus_elements *exodus_blocks(const tutti_exodus_mesh *m, int kind);
const tutti_exodus_members *exodus_sets(const tutti_exodus_mesh *m, int kind);
/* Return the kind of the members of a kind of sets. */
int exodus_member_kind(int kind);
double exodus_coordinate(const tutti_exodus_mesh *m, int d, tutti_count i);
/* Return the number of entries of an entity on this rank. */
tutti_count exodus_entries(const tutti_exodus_mesh *m, int kind, tutti_count number);
/* Return the number of nodes, elements, edges or faces of a file, or whether they have an id map;
 * kind: that of their blocks. */
tutti_count exodus_entries_of(const tutti_exodus_parameters *p, int kind);
int exodus_has_ids(const tutti_exodus_parameters *p, int kind);
/* Return the allocated number of rows of a table with n rows. */
size_t exodus_table_room(tutti_count n);
/* Create a file with the entities of an outline and a mesh.  Returns 0, or 1 and a message. */
int exodus_file_make(MPI_Comm comm, const char *path, const tutti_exodus_options *opt,
                     const exodus_outline *o, const tutti_exodus_mesh *m, tutti_exodus **out);
/* Compute the share of this rank: entries first ... first + n - 1 of `all`. */
void exodus_share(const cli_world *w, tutti_count all, tutti_count *first_out, tutti_count *n_out);
/* Describe the integers of an array of an entity: n values, starting at `first`. */
tutti_exodus_array exodus_integers(int what, int kind, int64_t id, tutti_count first, tutti_count n,
                                   int64_t *buf);
/* Return whether the suffix of a path is that of an Exodus file. */
int exodus_is_name(const char *path);

/* Like tutti_exodus_side_nodes, but triangles in three dimensions are always shells. */
int exodus_side_nodes(const exodus_outline *o, const tutti_exodus_entity *e, int side,
                      int *which_out);
/* Return the number of nodes of a side of an element; place: local index of the element; 0: unknown. */
int exodus_side_width(const exodus_outline *o, const tutti_exodus_mesh *m, tutti_count place,
                      int side);
/* Return the number of distribution factors of a set on this rank. */
tutti_count exodus_factors(const exodus_outline *o, const tutti_exodus_mesh *m, int kind,
                           tutti_count number);

/* All results of a step as float64: one field per entity and variable, and one field for all global
 * variables. */
typedef struct exodus_results {
    tutti_count n;
    tutti_exodus_field *field;
    tutti_count *entry; /* [n] number of the entity */
    int *variable;      /* [n] number of the variable */
    tutti_count *count; /* [n] number of values on this rank */
} exodus_results;

void exodus_results_make(const exodus_outline *o, const tutti_exodus_mesh *m, exodus_results *out);
void exodus_results_free(exodus_results *r);

/* Copy additional maps and the order map, which are not part of a mesh.  Returns 0, or 1 and a
 * message.  Collective. */
int exodus_maps_copy(const cli_world *w, const exodus_outline *o, tutti_exodus *from,
                     tutti_exodus *to);

/* Warn about data that get_mesh ignored, such as distribution factors of a wrong size; name: name
 * of the command.  Collective. */
void exodus_mesh_warn(const cli_world *w, const tutti_exodus *x, const char *name);

/* A mesh in which each set has each member once (exodus_repeats.c).  Blocks and coordinates are those of the
 * original mesh. */
typedef struct exodus_unique {
    tutti_exodus_mesh mesh;
    void **kept;
    int keeps;
} exodus_unique;
/* Remove duplicate members of sets; name: name of the command, for warnings.  Returns 0, or 1 and a
 * message if a set with duplicate members has results. */
int exodus_unique_make(const exodus_outline *o, const tutti_exodus_mesh *m, const char *name,
                       exodus_unique *out);
void exodus_unique_free(exodus_unique *u);

/* ---- common entries of two files (exodus_pairs.c) */

/* An entry of one of two files. */
typedef struct exodus_item {
    int64_t group, id, side; /* key: number of the entity, id of the entry, side */
    tutti_count place;       /* position in the file */
    int file;                /* index of the file, 0 or 1 */
    int factors;             /* number of distribution factors */
    tutti_count at;          /* start of the factors; set by exodus_pairs_find */
} exodus_item;

/* Two items with the same key, or a single item: place is -1 for the file that does not have it. */
typedef struct exodus_pair {
    int64_t group, id, side;
    tutti_count place[2], at[2];
    int factors[2];
} exodus_pair;

typedef struct exodus_pairs {
    tutti_count n;
    exodus_pair *v; /* [n], sorted by group, id, side */
    double *factor;
    /* number of duplicate keys of each file on this rank, which are ignored */
    tutti_count twice[2];
    int64_t twice_id[2];
} exodus_pairs;

/* Redistribute items, so that each rank gets those of a range of ids, and match them by key.  Collective.
 * @param[in] factor  factors of all items, concatenated */
void exodus_pairs_find(const cli_world *w, exodus_item *items, tutti_count n, const double *factor,
                       exodus_pairs *out);
void exodus_pairs_free(exodus_pairs *p);

/* Sort n items of `size` bytes.  Faster than qsort if they consist of a few ascending runs, as the entries of
 * pieces do.  Returns [n] pointers to the items in ascending order, to be freed. */
const void **exodus_sort_runs(const void *items, tutti_count n, size_t size,
                              int (*compare)(const void *, const void *));

/* Convert a number from the file, where numbers start at 1, to a position from 0; -1 for numbers < 1. */
tutti_count exodus_place_of_number(int64_t number);
/* Read the ids at positions (from 0) of nodes (NODAL) or of elements, edges or faces (the kind of
 * their blocks).  Returns 0, or 1 and a message.  Collective. */
int exodus_ids_at(tutti_exodus *x, int kind, tutti_count n, const tutti_count *places,
                  int64_t *ids_out);

/* ---- node orders of VTK (exodus_orders.c) */

/* Return the VTK cell type of a topology; -1: none.
 * @param[out] nodes_out  number of nodes of the cell
 * @param[out] order_out  [27] index in the element of node i of the cell */
int exodus_vtk_cell(const char *topology, int nodes, int *nodes_out, int *order_out);

/* ---- commands: return an exit code, CLI_FAILED with a message.  Collective, except info and
 * archive, which run on rank 0 only. */
int exodus_info(const cli_world *w, const data_config *c);
int exodus_diff(const cli_world *w, const data_config *c);
int exodus_join(const cli_world *w, const data_config *c);
int exodus_split(const cli_world *w, const data_config *c);
int exodus_verify(const cli_world *w, const data_config *c);
int exodus_cp(const cli_world *w, const data_config *c);
int exodus_archive(const cli_world *w, const data_config *c);
int exodus_import(const cli_world *w, const data_config *c);
int exodus_export(const cli_world *w, const data_config *c);
int exodus_export_xdmf(const data_config *c); /* export --xdmf; rank 0 only */

/* Import a mesh from Gmsh, or convert an Exodus file to a dataset.  Returns 0, or 1 and a message.
 * Collective. */
int exodus_from_gmsh(const cli_world *w, const data_config *c, const char *from, const char *to);
int exodus_to_dataset(const cli_world *w, const data_config *c, const char *from, const char *to);

#endif
