/* Tutti: finite-element meshes and results in one shared Exodus II file.
 *
 * The file is a netCDF classic file (CDF-5) with the names of Exodus; ParaView, VisIt,
 * libexodusii, ncdump and xarray read it.  Every rank passes its entities by global ids; the
 * library chooses which rank writes shared nodes, and computes order and counts.
 *
 *     tutti_exodus_create(comm, "out.e", NULL, &x);
 *     tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "rod", .dims = 3});
 *     tutti_exodus_define(x, 2, (tutti_exodus_entity[]){
 *             {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8", .name = "rod"},
 *             {.kind = TUTTI_EXODUS_SIDE_SET, .id = 7, .name = "heated"}});
 *     tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"});
 *     tutti_exodus_put_mesh(x, &mine);   nodes, elements, sets of this rank
 *     for (int step = 0; step < steps; step++) {
 *         tutti_exodus_begin(x, step * dt);
 *         tutti_exodus_put(x, 1, &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
 *                  .variable = "temperature", .type = TUTTI_FLOAT64, .buf = t});
 *         tutti_exodus_commit(x);        the step is committed atomically
 *     }
 *     tutti_exodus_close(&x);
 *
 * To read it, on any number of ranks:
 *
 *     tutti_exodus_open(comm, "out.e", TUTTI_READ, NULL, &x);
 *     tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){
 *                                  .partitioner = TUTTI_EXODUS_BY_METIS}, &mine);
 *     tutti_exodus_get(x, tutti_exodus_steps(x), 1, &field);    buf: in the order of the nodes
 *
 * The terms are those of Exodus: a *kind* of entity (element block, node set ...), entities with
 * *ids*, entries of blocks and members of sets.  In the file nodes, elements, edges and faces are
 * numbered from 1, and refer to each other by these numbers.  The *id* of a node is its value in
 * the id map; without a map it is its number.  Steps count from 1.
 *
 * Collective calls.  Arguments that must be the same on all ranks are compared first.  After an
 * error all ranks have the same code and message.  If the code is positive, the call was refused
 * and the file has not changed.  docs/reference/exodus-calls.md lists the calls of libexodusii
 * with their counterparts.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale Exodus handle has no communicator:
 * only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_H
#define TUTTI_EXODUS_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/dataset.h> /* for levels of commits */
#include <tutti/file.h>
#include <tutti/decomposition.h>
#include <tutti/element_types.h>
#include <tutti/replicas.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_exodus tutti_exodus;

/** @name Opening and closing */
/**@{*/
/** Options of an Exodus file.  Initialize them with tutti_exodus_options_init. */
typedef struct tutti_exodus_options {
    size_t struct_size;
    int level; /* level of commits: TUTTI_DURABLE (default), TUTTI_VISIBLE */
    /* bytes of coordinates, attributes, factors and results in the file: 8 (default), 4 */
    int real_bytes;
    int integer_bytes; /* of ids, maps and connectivity: 4, 8; 0 (default): 4 if all of them fit */
    int name_length;   /* longest name: 32 (default, expected by other readers) ... 255 */
    int checksums;     /* 1 (default): kept in the sidecar, PATH.tutti */
    int sidecar;       /* 1 (default): use a sidecar; 0: neither write nor read one */
    int check_reads;   /* 1: the first read of a step compares its checksums */
    /* steps per file; 0: one file.  Each file contains the mesh: PATH, then PATH-s0002 ...; an
     * existing series keeps its names, see tutti_exodus_next_file */
    int steps_per_file;
    int nemesis;         /* 1: put_mesh also writes the partition of the ranks in Nemesis form */
    int overwrite;       /* 0: create fails if the file exists */
    tutti_off alignment; /* alignment of the first record in the file; 0: 4096 */
    double lock_timeout; /* seconds to wait for a program that locks the sidecar; default: 5 */
    int without_locks; /* 1: continue if the file system has no locks; no other program may write */
    /* rule that selects the rank that writes shared nodes and elements; default: idg2 */
    tutti_replicas_choice choice;
    const tutti_options *io; /* options of the file; NULL: defaults and environment */
    int any_times;           /* 1: the time of a step need not exceed that of the previous step */
} tutti_exodus_options;

/** Set the options to their defaults.
 *  Not collective. */
TUTTI_API void tutti_exodus_options_init_sized(tutti_exodus_options *opt, size_t struct_size);
static inline void tutti_exodus_options_init(tutti_exodus_options *opt) {
    tutti_exodus_options_init_sized(opt, sizeof *opt);
}

/** Create a file; it appears, with its mesh, when the definitions end.
 *  Collective; all arguments must be the same on all ranks (options: those of rank 0 are used).
 *  @param[in] opt  NULL: the defaults of tutti_exodus_options_init.
 *  @return TUTTI_ERR_EXISTS if the file exists and `overwrite` is 0. */
TUTTI_API tutti_err tutti_exodus_create(MPI_Comm comm, const char *path,
                                        const tutti_exodus_options *opt,
                                        tutti_exodus **x_out) TUTTI_MUST_USE;

/** Open a file of Tutti or of other programs (CDF-1, CDF-2, CDF-5; 32- and 64-bit integers).
 *  Collective; all arguments must be the same on all ranks (options: those of rank 0 are used).
 *  Headers are validated: arrays of the mesh must be complete, and a count that no array confirms
 *  fails with TUTTI_ERR_FORMAT.  Only the last time steps may be missing; they are not counted.
 *  @param[in] mode  TUTTI_READ, or TUTTI_READ | TUTTI_WRITE to append steps.
 *  @return TUTTI_ERR_FORMAT if the file is invalid, for example two blocks with the same id;
 *      TUTTI_ERR_UNSUPPORTED for netCDF-4 files (the message explains how to convert them);
 *      TUTTI_ERR_STATE if another program has it open for writing. */
TUTTI_API tutti_err tutti_exodus_open(MPI_Comm comm, const char *path, int mode,
                                      const tutti_exodus_options *opt,
                                      tutti_exodus **x_out) TUTTI_MUST_USE;

/** Close a file and set the handle to NULL.
 *  Collective.
 *  A step that has not been committed is discarded. */
TUTTI_API tutti_err tutti_exodus_close(tutti_exodus **x);

/** Look for new steps.
 *  Collective.
 *  Without this call a reader sees the steps that the file had when it was opened.
 *  @param[out] changed_out  NULL, or 1 if the number of steps has changed.
 *  @return TUTTI_ERR_STATE if the file has been replaced since it was opened: the path names
 *      another file, or its header, names, ids or (by samples) id maps, coordinates and
 *      connectivity have changed.  Open it again. */
TUTTI_API tutti_err tutti_exodus_refresh(tutti_exodus *x, int *changed_out) TUTTI_MUST_USE;

/** Start a new mesh in the next file of the series, PATH-s0002 and so on.
 *  Collective.
 *  Definitions begin again.  Parameters of tutti_exodus_init (except counts and id maps),
 *  variables and options are kept; entities must be defined again.  An error while the previous
 *  file is completed is returned, but that file is closed, and definitions begin nevertheless. */
TUTTI_API tutti_err tutti_exodus_new_topology(tutti_exodus *x) TUTTI_MUST_USE;

/** Close the file and open the next one of its series.
 *  Collective.
 *  Names are PATH-s0002 (IOSS; files that Tutti writes), PATH-s002 (libMesh) or PATH-s.0002
 *  (earlier versions of Tutti), then 3 and so on.  Decompositions and the mesh of
 *  tutti_exodus_get_mesh stay valid if all bytes of the mesh are the same in both files;
 *  otherwise they must be made again.
 *  @return TUTTI_ERR_NOT_FOUND after the last file; TUTTI_ERR_STATE if the files after the first
 *      follow several naming conventions. */
TUTTI_API tutti_err tutti_exodus_next_file(tutti_exodus *x) TUTTI_MUST_USE;

/** Return the path of the current file.
 *  Not collective. */
TUTTI_API const char *tutti_exodus_path(const tutti_exodus *x);

/** Return the reason why the file has no usable checksums (the sidecar is missing or belongs to
 *  another file), or "".
 *  Not collective. */
TUTTI_API const char *tutti_exodus_warning(const tutti_exodus *x);
/**@}*/

/** Return the statistics, for bindings of other languages; C programs call tutti_exodus_stats.
 *  Not collective.
 *  @param[in] struct_size  size of the struct that the caller has. */
TUTTI_API void tutti_exodus_stats_sized(const tutti_exodus *x, tutti_stats *all_out,
                                        size_t struct_size);

/** Return the statistics of all operations of this rank on the file, and on the earlier files of
 *  its series that the handle has used.
 *  Not collective. */
static inline void tutti_exodus_stats(const tutti_exodus *x, tutti_stats *all_out) {
    tutti_exodus_stats_sized(x, all_out, sizeof(tutti_stats));
}

/** Install a progress callback for all operations on the file (see tutti_file_on_progress), or
 *  remove it with NULL.
 *  Not collective.
 *  The callback stays installed for further files of a series. */
TUTTI_API void tutti_exodus_on_progress(tutti_exodus *x, tutti_progress_fn *fn, void *context);

/** @name Definitions
 *  They come after create and before the first data; later ones fail with TUTTI_ERR_STATE,
 *  because the header of the file cannot grow. */
/**@{*/
/** Kinds of entities.  Values never change. */
typedef enum tutti_exodus_kind {
    TUTTI_EXODUS_GLOBAL,        /* the file as a whole: variables only */
    TUTTI_EXODUS_NODAL,         /* its nodes: variables, ids, attributes; entity id 0 */
    TUTTI_EXODUS_ELEMENT_BLOCK, /* id maps are common to all blocks of a kind */
    TUTTI_EXODUS_EDGE_BLOCK,
    TUTTI_EXODUS_FACE_BLOCK,
    TUTTI_EXODUS_NODE_SET,
    TUTTI_EXODUS_SIDE_SET,
    TUTTI_EXODUS_ELEMENT_SET,
    TUTTI_EXODUS_EDGE_SET,
    TUTTI_EXODUS_FACE_SET,
    TUTTI_EXODUS_NODE_MAP, /* additional maps: a number for each node, element ... */
    TUTTI_EXODUS_ELEMENT_MAP,
    TUTTI_EXODUS_EDGE_MAP,
    TUTTI_EXODUS_FACE_MAP,
    TUTTI_EXODUS_KINDS
} tutti_exodus_kind;

/** Return the name of a kind, for example "element block"; "" for unknown kinds.
 *  Not collective. */
TUTTI_API const char *tutti_exodus_kind_name(int kind);

/** Parameters of the file.  Initialize them with {0} or designated initializers. */
typedef struct tutti_exodus_parameters {
    const char *title; /* at most 80 bytes; NULL: "" */
    int dims;          /* 1, 2, 3 */
    /* counts of all ranks; 0 if tutti_exodus_put_mesh computes them */
    tutti_count nodes, elements, edges, faces;
    const char *const *coordinate_names; /* [dims] or NULL: x, y, z */
    int node_attributes;
    /* 1: the file has id maps.  put_mesh also writes maps if ids are not 1, 2, 3 ... in file
     * order */
    int has_node_ids, has_element_ids;
    int has_edge_ids, has_face_ids;
    int has_order;       /* 1: there is an element order map (elem_map) */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_parameters;

/** Define the parameters of the file.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_init(tutti_exodus *x,
                                      const tutti_exodus_parameters *p) TUTTI_MUST_USE;

/** A block, set or map.  Initialize it with {0} or designated initializers. */
typedef struct tutti_exodus_entity {
    tutti_exodus_kind kind;
    int64_t id;           /* >= 0, unique in its kind */
    const char *name;     /* NULL or "": none */
    const char *topology; /* blocks: "HEX8", "tet4", "SHELL4", "nsided", "nfaced" ... */
    /* entries of a block or members of a set, of all ranks; put_mesh computes them */
    tutti_count entries;
    int nodes;        /* nodes per entry of a block; 0: given by the topology */
    int edges, faces; /* edges and faces per entry of a block; 0: none are stored */
    int attributes;   /* attributes per entry */
    /* number of distribution factors of a set, of all ranks; 0: none; put_mesh computes it */
    tutti_count factors;
    /* nsided, nfaced: number of nodes (faces) of all entries; put_mesh computes it */
    tutti_count list_length;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_entity;

/** Define n entities.
 *  Collective; all arguments must be the same on all ranks.
 *  The file has them in this order, kind by kind.  Define many entities in one call. */
TUTTI_API tutti_err tutti_exodus_define(tutti_exodus *x, tutti_count n,
                                        const tutti_exodus_entity *entities) TUTTI_MUST_USE;

/** Define the result variables of a kind, once per kind.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_variables(tutti_exodus *x, tutti_exodus_kind kind, int n,
                                           const char *const *names) TUTTI_MUST_USE;
/** Define which entities have which variables; default: all entities have all variables.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] table  [entities of the kind * its variables] 1: the entity has the variable. */
TUTTI_API tutti_err tutti_exodus_truth_table(tutti_exodus *x, tutti_exodus_kind kind,
                                             const unsigned char *table) TUTTI_MUST_USE;

/** Define the names of the attributes of an entity (nodes: TUTTI_EXODUS_NODAL, 0).
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_attribute_names(tutti_exodus *x, tutti_exodus_kind kind,
                                                 int64_t id, int n,
                                                 const char *const *names) TUTTI_MUST_USE;
/** Define a property: a name, and an integer for every entity of a kind.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] values  [entities of the kind] in the order of their definition. */
TUTTI_API tutti_err tutti_exodus_property(tutti_exodus *x, tutti_exodus_kind kind, const char *name,
                                          const int64_t *values) TUTTI_MUST_USE;

/** A QA record: program, version, date, time, each at most 32 bytes. */
typedef struct tutti_exodus_qa {
    const char *program, *version, *date, *time;
} tutti_exodus_qa;

/** Write QA records; the library adds none itself.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_put_qa(tutti_exodus *x, int n,
                                        const tutti_exodus_qa *records) TUTTI_MUST_USE;
/** Write lines of text, each at most 80 bytes.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_put_info(tutti_exodus *x, int n,
                                          const char *const *lines) TUTTI_MUST_USE;

/** End the definitions without a mesh; its arrays are then written by tutti_exodus_put_arrays.
 *  Collective.
 *  All counts must have been defined. */
TUTTI_API tutti_err tutti_exodus_end_definitions(tutti_exodus *x) TUTTI_MUST_USE;
/**@}*/

/** @name Meshes */
/**@{*/
/** Elements of a block, or its edges or faces; local to each rank. */
typedef struct tutti_exodus_elements {
    tutti_count n;
    /* [n] global ids > 0, unique in all blocks of the kind on this rank; other ranks may pass
     * copies.  NULL in all blocks on all ranks: ids are assigned in rank order */
    const int64_t *ids;
    /* nsided, nfaced: [n + 1] where the nodes of each entry begin in `nodes`; else NULL */
    const tutti_count *start;
    /* [n * nodes of an entry] local indices of nodes, from 0; nfaced: local indices of faces,
     * block after block */
    const tutti_count *nodes;
    const tutti_count *edges, *faces; /* local indices of edges and faces, or NULL */
    const double *attributes;         /* [n * attributes] or NULL: 0 */
} tutti_exodus_elements;

/** Members of a set; local to each rank.  A member that several ranks pass is stored once. */
typedef struct tutti_exodus_members {
    tutti_count n;
    /* [n] local indices: of nodes; or of elements (edges, faces), counted over all blocks in the
     * order of tutti_exodus_mesh */
    const tutti_count *members;
    /* [n] side sets: side numbers of Exodus, from 1; edge and face sets: orientations +1 or -1,
     * NULL: +1 */
    const int *sides;
    /* distribution factors; NULL on all ranks: none.  Node, element, edge and face sets: [n].
     * Side sets: for each member as many as tutti_exodus_side_nodes returns for the topology of
     * its block, the dimensions of the file and its side */
    const double *factors;
    const double *attributes; /* [n * attributes] or NULL: 0 */
} tutti_exodus_members;

/** The mesh of this rank.  Each array of blocks or sets has one struct per defined block or set, in
 *  the order of definition; n is 0 where this rank has no entries.  Initialize it with {0} or
 *  designated initializers. */
typedef struct tutti_exodus_mesh {
    tutti_count nodes;
    /* [nodes] global ids > 0, unique on a rank; other ranks may pass copies.  NULL on all ranks:
     * ids are assigned in rank order */
    const int64_t *node_ids;
    /* [nodes] 1: this rank is the owner, used by the rules of tutti_replicas that need owners
     * (option `choice`); or NULL */
    const unsigned char *own;
    tutti_type type;               /* type of the coordinates; TUTTI_BYTES (0): TUTTI_FLOAT64 */
    const void *coordinates[3];    /* [nodes] each; x, y, z up to the number of dimensions */
    const double *node_attributes; /* [nodes * attributes] or NULL: 0 */
    /* [defined blocks or sets of the kind]; NULL if none is defined */
    const tutti_exodus_elements *blocks, *edge_blocks, *face_blocks;
    const tutti_exodus_members *node_sets, *side_sets, *element_sets, *edge_sets, *face_sets;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_mesh;

/** Write the mesh of all ranks and end the definitions.
 *  Collective; the mesh is local to each rank.
 *  The library computes all counts.  Ids determine the order in the file: nodes ascending by id,
 *  elements block by block and ascending by id, members of sets ascending.  The file does not
 *  depend on the distribution.  Later tutti_exodus_put and tutti_exodus_get without a
 *  decomposition use the nodes and elements of this rank in this order.  The arrays may be freed
 *  when the call returns.  The mesh can be written once per file.
 *  @return TUTTI_ERR_ARG for a local index out of range, an id below 1, a duplicate id on a rank
 *      or in two blocks, a duplicate member, or a side that the topology does not have (the message
 *      names rank, entity and local index); TUTTI_ERR_MISMATCH if copies of an element have
 *      different nodes, or a count or number of factors in the definitions differs from that of the
 *      mesh; TUTTI_ERR_STATE if the definitions have ended or tutti_exodus_init was not called. */
TUTTI_API tutti_err tutti_exodus_put_mesh(tutti_exodus *x,
                                          const tutti_exodus_mesh *mesh) TUTTI_MUST_USE;

/** Methods of distributing a mesh. */
typedef enum tutti_exodus_partitioner {
    TUTTI_EXODUS_BY_ORDER, /* elements in the order of the file, the same number per rank */
    /* METIS, on rank 0; coordinate bisection where METIS is missing or unsuitable */
    TUTTI_EXODUS_BY_METIS,
    TUTTI_EXODUS_BY_CURVE, /* pieces of the Hilbert curve through the bounding box; in parallel */
    TUTTI_EXODUS_BY_LIST,  /* as given by `rank` */
    TUTTI_EXODUS_ON_ROOT   /* all elements on rank 0 */
} tutti_exodus_partitioner;
/** A distribution of a mesh.  Initialize it with {0} or designated initializers. */
typedef struct tutti_exodus_distribution {
    tutti_exodus_partitioner partitioner;
    /* number of layers of elements around own elements, each with a node in common with the
     * previous layer: 0, 1 ...; INT_MAX: all connected elements */
    int halo;
    /* BY_LIST: the rank of elements first ... first + n - 1 of the file, from 0; the slices of
     * all ranks cover all elements once */
    tutti_count first, n;
    const int *rank;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_distribution;

/** Read the mesh: the elements of this rank with all their nodes and set members.
 *  Collective; `distribution` must be the same on all ranks, except first, n and rank.
 *  In each block own elements come first.  The mesh can be passed to tutti_exodus_put_mesh of
 *  another file with the same entities.  Later tutti_exodus_put and tutti_exodus_get without a
 *  decomposition use the nodes and elements of this rank in the order of this mesh.
 *  @param[out] mesh_out  belongs to the handle, valid until the next get_mesh, put_mesh or
 *      close.
 *  @return TUTTI_ERR_STATE if the definitions have not ended; TUTTI_ERR_FORMAT if the mesh of the
 *      file is damaged, for example a node number out of range. */
TUTTI_API tutti_err tutti_exodus_get_mesh(tutti_exodus *x,
                                          const tutti_exodus_distribution *distribution,
                                          const tutti_exodus_mesh **mesh_out) TUTTI_MUST_USE;

/** Return a message about data that the last tutti_exodus_get_mesh ignored, or "".
 *  Not collective; the same on all ranks.
 *  It names the first set whose number of distribution factors is not one per member (side sets:
 *  one per node of each side).  `factors` of such a set is NULL in the mesh; its array can be
 *  read by tutti_exodus_get_arrays. */
TUTTI_API const char *tutti_exodus_mesh_warning(const tutti_exodus *x);

/** Return the number of elements of a block that this rank owns; the rest is halo.
 *  Not collective.
 *  @param[in] kind    kind of blocks, see tutti_exodus(3).
 *  @param[in] number  number of the block in its kind, from 0. */
TUTTI_API tutti_count tutti_exodus_own_elements(const tutti_exodus *x, tutti_exodus_kind kind,
                                                tutti_count number);
/** Return the number of nodes (NODAL, 0), or of entries of a block or set, of this rank in the last
 *  mesh that was written or read.
 *  Not collective.
 *  This is the number of values of a field without a decomposition.
 *  @param[in] kind  see tutti_exodus(3).
 *  @return -1 if no mesh was written or read with this handle, or if no variable is defined for
 *      sets of this kind. */
TUTTI_API tutti_count tutti_exodus_entries(const tutti_exodus *x, tutti_exodus_kind kind,
                                           int64_t id);
/**@}*/

/** @name Results */
/**@{*/
/** Begin a step.
 *  Collective; `time` must be the same on all ranks.
 *  Times must increase, unless the option `any_times` is set.
 *  @return TUTTI_ERR_ARG if the time does not increase; TUTTI_ERR_UNSUPPORTED if the time
 *      dimension of the file is fixed (files of nccopy -u): its steps can be read, but none can
 *      be appended or removed. */
TUTTI_API tutti_err tutti_exodus_begin(tutti_exodus *x, double time) TUTTI_MUST_USE;

/** A variable of an entity; buf is local. */
typedef struct tutti_exodus_field {
    tutti_exodus_kind kind;
    int64_t id;           /* id of the entity; 0 for TUTTI_EXODUS_GLOBAL and TUTTI_EXODUS_NODAL */
    const char *variable; /* GLOBAL: NULL means all of them, one after the other */
    tutti_type type;      /* type in memory */
    /* not changed by put.  GLOBAL: put writes that of rank 0, get sets it on all ranks */
    void *buf;
    /* entries of this rank; NULL: those of put_mesh or get_mesh, in their order */
    tutti_decomposition *entries;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_exodus_field;

/** Write n fields to the step in one operation.
 *  Collective; n and the fields (except buf and entries) must be the same on all ranks.
 *  A field may be written several times.  After an error the variables of the call are
 *  incomplete: tutti_exodus_commit fails until each has been written again, with the same entries
 *  or completely. */
TUTTI_API tutti_err tutti_exodus_put(tutti_exodus *x, tutti_count n,
                                     const tutti_exodus_field *fields) TUTTI_MUST_USE;
/** Start to write n fields; complete the request with tutti_request_test or tutti_request_wait
 *  before the commit.
 *  Collective, non-blocking; n and the fields (except buf and entries) must be the same on all
 *  ranks.
 *  The call does not wait for other ranks.  Every rank starts the same operations on a file in the
 *  same order.  Errors of arguments are returned by test and wait.  The buffers must not be changed
 *  until the request is complete; fields and decompositions may be freed at once.  If the request
 *  is abandoned the variables must be written again. */
TUTTI_API tutti_err tutti_exodus_put_start(tutti_exodus *x, tutti_count n,
                                           const tutti_exodus_field *fields,
                                           tutti_request **r_out) TUTTI_MUST_USE;

/** Commit the step.
 *  Collective.
 *  Values that have not been written are 0.  The order is: data, checksums into the sidecar, sync,
 *  the number of records in the header, sync.  After an error the step is still being written.
 *
 *  If the data could not be synced, the operating system may have dropped it: commits fail with
 *  TUTTI_ERR_STATE until all variables of the step have been written again, or the step is
 *  discarded.  Steps that other programs wrote with TUTTI_VISIBLE may be damaged too: the message
 *  says so, and tutti_exodus_verify checks them.
 *  @return TUTTI_ERR_STATE if a variable is incomplete (the message names it), or a request of
 *      tutti_exodus_put_start has not been completed. */
TUTTI_API tutti_err tutti_exodus_commit(tutti_exodus *x) TUTTI_MUST_USE;
/** Start a commit; complete the request with tutti_request_test or tutti_request_wait.
 *  Collective, non-blocking.
 *  Until the request is complete other collective calls on the file fail with TUTTI_ERR_STATE;
 *  calls that are not collective work.  A thread that does not call MPI reads data back, syncs, and
 *  writes the sidecar; the rest progresses in calls of the library.
 *  @return TUTTI_ERR_STATE as tutti_exodus_commit; later errors are returned by test and wait. */
TUTTI_API tutti_err tutti_exodus_commit_start(tutti_exodus *x,
                                              tutti_request **r_out) TUTTI_MUST_USE;
/** Discard the step.
 *  Collective. */
TUTTI_API tutti_err tutti_exodus_discard(tutti_exodus *x) TUTTI_MUST_USE;
/** Remove all steps after this one.
 *  Collective; `step` must be the same on all ranks.
 *  @param[in] step  0: remove all steps. */
TUTTI_API tutti_err tutti_exodus_erase_after(tutti_exodus *x, tutti_count step) TUTTI_MUST_USE;

/** Return the number of steps.
 *  Not collective. */
TUTTI_API tutti_count tutti_exodus_steps(const tutti_exodus *x);
/** Return the times of steps first ... first + n - 1.
 *  Collective; `first` and n must be the same on all ranks.
 *  @param[out] times_out  [n]. */
TUTTI_API tutti_err tutti_exodus_times(tutti_exodus *x, tutti_count first, tutti_count n,
                                       double *times_out) TUTTI_MUST_USE;

/** Read n fields of a step (1 ... tutti_exodus_steps) in one operation; tutti_exodus_get_start
 *  does not wait.
 *  Collective; `step`, n and the fields (except buf and entries) must be the same on all ranks. */
TUTTI_API tutti_err tutti_exodus_get(tutti_exodus *x, tutti_count step, tutti_count n,
                                     const tutti_exodus_field *fields) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_exodus_get_start(tutti_exodus *x, tutti_count step, tutti_count n,
                                           const tutti_exodus_field *fields,
                                           tutti_request **r_out) TUTTI_MUST_USE;

/** Read a field of steps first ... last, one after the other into buf, in one operation.
 *  Collective; all arguments except buf and entries must be the same on all ranks.
 *  With a decomposition of one entry this is the history of one node. */
TUTTI_API tutti_err tutti_exodus_follow(tutti_exodus *x, tutti_count first, tutti_count last,
                                        const tutti_exodus_field *field) TUTTI_MUST_USE;

/** Make a decomposition of nodes (NODAL, 0), a block or a set: by position, by id (nodes and
 *  elements), or in rank order; see decomposition.h.
 *  Collective; kind and id must be the same on all ranks.
 *  TUTTI_BY_VALUE of members of sets means positions + 1.  The id of an element is looked up in
 *  its block.  Free it with tutti_decomposition_free. */
TUTTI_API tutti_err tutti_exodus_decomposition(tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                               const tutti_decomposition_spec *spec,
                                               tutti_decomposition **out) TUTTI_MUST_USE;
/**@}*/

/** @name Arrays
 *  Partial reads and writes of arrays in the order of the file; everything except results. */
/**@{*/
typedef enum tutti_exodus_array_kind {
    TUTTI_EXODUS_COORDINATES,  /* NODAL; component 0, 1, 2 */
    TUTTI_EXODUS_CONNECTIVITY, /* nodes of the entries of a block, from 1 (nfaced: faces) */
    TUTTI_EXODUS_EDGES,        /* edges of the entries of a block */
    TUTTI_EXODUS_FACES,        /* faces of the entries of a block */
    TUTTI_EXODUS_COUNTS,       /* nsided, nfaced: number of nodes (faces) of each entry */
    /* attributes of the entries of a block or set, or of the nodes; those of one entry are
     * contiguous */
    TUTTI_EXODUS_ATTRIBUTES,
    TUTTI_EXODUS_MEMBERS, /* nodes, elements ... of a set, from 1 */
    TUTTI_EXODUS_SIDES,   /* sides of a side set; orientations of an edge or face set */
    TUTTI_EXODUS_FACTORS, /* distribution factors of a set */
    TUTTI_EXODUS_IDS,     /* id map of the nodes (NODAL) or of a kind of blocks */
    TUTTI_EXODUS_MAP,     /* an additional map */
    TUTTI_EXODUS_ORDER    /* order map of the elements (ELEMENT_BLOCK) */
} tutti_exodus_array_kind;

/** A piece of an array; first, n and buf are local. */
typedef struct tutti_exodus_array {
    tutti_exodus_array_kind array_kind;
    tutti_exodus_kind kind;
    int64_t id;           /* id of the entity; 0 for nodes; ignored for IDS and ORDER */
    int component;        /* component of coordinates */
    tutti_count first, n; /* entries (CONNECTIVITY of nsided and nfaced blocks: values), from 0 */
    tutti_decomposition *entries; /* decomposition; if it is not NULL, first and n are ignored */
    tutti_type type;              /* type in memory */
    void *buf;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_exodus_array;

/** Return the length of an array: entries, and values per entry.
 *  Not collective.
 *  @param[out] type_out  the type in the file.
 *  @return TUTTI_ERR_NOT_FOUND if the file has no such array. */
TUTTI_API tutti_err tutti_exodus_array_size(const tutti_exodus *x, const tutti_exodus_array *a,
                                            tutti_count *entries_out, tutti_count *values_out,
                                            tutti_type *type_out) TUTTI_MUST_USE;
/** Return the position of an array, or of a field in a step, in the file, for programs that
 *  read the file themselves.
 *  Not collective.
 *  Values are contiguous and big-endian.
 *  @param[out] at_out    bytes from the beginning of the file.
 *  @param[out] type_out  NULL, or the type.
 *  @return TUTTI_ERR_NOT_FOUND if the file has no such array, or it is empty. */
TUTTI_API tutti_err tutti_exodus_array_offset(const tutti_exodus *x, const tutti_exodus_array *a,
                                              tutti_off *at_out,
                                              tutti_type *type_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_exodus_field_offset(const tutti_exodus *x, tutti_count step,
                                              const tutti_exodus_field *f, tutti_off *at_out,
                                              tutti_type *type_out) TUTTI_MUST_USE;
/** Write pieces of n arrays in one operation, after the definitions have ended and before the
 *  first step.
 *  Collective; n and the arrays (except first, n, entries and buf) must be the same on all
 *  ranks. */
TUTTI_API tutti_err tutti_exodus_put_arrays(tutti_exodus *x, tutti_count n,
                                            const tutti_exodus_array *arrays) TUTTI_MUST_USE;
/** Read pieces of n arrays in one operation.
 *  Collective; n and the arrays (except first, n, entries and buf) must be the same on all ranks.
 *  An id map that is not in the file reads as 1, 2, 3 ... */
TUTTI_API tutti_err tutti_exodus_get_arrays(tutti_exodus *x, tutti_count n,
                                            const tutti_exodus_array *arrays) TUTTI_MUST_USE;
/**@}*/

/** @name Inspecting
 *  Return parameters, entities, variables, attributes, properties and records of the file.
 *  Not collective.
 *  Texts belong to the handle; they are valid until it is closed or moved to another file. */
/**@{*/
/** Return the parameters of the file.
 *  Not collective. */
TUTTI_API tutti_err tutti_exodus_parameters_sized(const tutti_exodus *x,
                                                  tutti_exodus_parameters *out,
                                                  size_t struct_size) TUTTI_MUST_USE;
TUTTI_MUST_USE static inline tutti_err tutti_exodus_parameters_get(const tutti_exodus *x,
                                                                   tutti_exodus_parameters *out) {
    return tutti_exodus_parameters_sized(x, out, sizeof *out);
}
/** Return the number of entities of a kind.
 *  Not collective. */
TUTTI_API tutti_count tutti_exodus_entities(const tutti_exodus *x, tutti_exodus_kind kind);
TUTTI_API tutti_err tutti_exodus_entity_sized(const tutti_exodus *x, tutti_exodus_kind kind,
                                              tutti_count number, tutti_exodus_entity *out,
                                              size_t struct_size) TUTTI_MUST_USE;
/** Return an entity by its number, from 0.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is no entity of that number. */
TUTTI_MUST_USE static inline tutti_err tutti_exodus_entity_get(const tutti_exodus *x,
                                                               tutti_exodus_kind kind,
                                                               tutti_count number,
                                                               tutti_exodus_entity *out) {
    return tutti_exodus_entity_sized(x, kind, number, out, sizeof *out);
}
/** Find the number of the entity with an id.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is none. */
TUTTI_API tutti_err tutti_exodus_find(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                      tutti_count *number_out) TUTTI_MUST_USE;
/** Return the number of variables of a kind, or the name of one by its number, from 0.
 *  Not collective.
 *  @return of tutti_exodus_variable_name: NULL if there is no variable of that number. */
TUTTI_API int tutti_exodus_variable_count(const tutti_exodus *x, tutti_exodus_kind kind);
TUTTI_API const char *tutti_exodus_variable_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                 int number);
/** Return whether an entity, given by its number, has a variable.
 *  Not collective. */
TUTTI_API int tutti_exodus_has(const tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                               int variable);
/** Return the name of an attribute of an entity.
 *  Not collective.
 *  @return NULL if there is no attribute of that number. */
TUTTI_API const char *tutti_exodus_attribute_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  int64_t id, int number);
/** Return the name of a property of a kind; ids are not properties.
 *  Not collective.
 *  @return NULL if there is no property of that number. */
TUTTI_API const char *tutti_exodus_property_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                 int number);
/** Return the values of a property.
 *  Not collective.
 *  @param[out] values_out  [entities of the kind].
 *  @return TUTTI_ERR_NOT_FOUND if there is no such property. */
TUTTI_API tutti_err tutti_exodus_property_get(const tutti_exodus *x, tutti_exodus_kind kind,
                                              const char *name, int64_t *values_out) TUTTI_MUST_USE;
/** Return the number of QA records, or one of them by its number, from 0.
 *  Not collective.
 *  @return of tutti_exodus_qa_get: TUTTI_ERR_NOT_FOUND if there is no record of that number. */
TUTTI_API int tutti_exodus_qa_count(const tutti_exodus *x);
TUTTI_API tutti_err tutti_exodus_qa_get(const tutti_exodus *x, int number,
                                        tutti_exodus_qa *out) TUTTI_MUST_USE;
/** Return an info line.
 *  Not collective.
 *  @return NULL if there is no line of that number. */
TUTTI_API const char *tutti_exodus_info_line(const tutti_exodus *x, int number);

/** Return the number of nodes of an entry of a topology; 0: unknown.
 *  Not collective. */
TUTTI_API int tutti_exodus_topology_nodes(const char *topology);
/** Return the number of sides of an entry of a topology in a file of `dims` dimensions; 0:
 *  unknown.
 *  Not collective.
 *  A TRI has three edges; in a file of three dimensions it has two faces and then three edges,
 *  like a SHELL.
 *  @param[in] nodes  nodes of an entry, or 0: given by the name; nsided: the number of nodes of
 *      this entry.
 *  @param[in] dims   of the file: 1, 2, 3. */
TUTTI_API int tutti_exodus_topology_sides(const char *topology, int nodes, int dims);
/** Return the number of nodes of a side (from 1), which is also its number of distribution
 *  factors; 0: unknown.
 *  Not collective.
 *  @param[in] nodes, dims  as for tutti_exodus_topology_sides.
 *  @param[out] which_out   NULL or [9]: indices of these nodes in the entry, from 0. */
TUTTI_API int tutti_exodus_side_nodes(const char *topology, int nodes, int dims, int side,
                                      int *which_out);
/**@}*/

/** @name Notes and verification
 *  Notes are stored in the sidecar and can be set at any time. */
/**@{*/
/** Set or get a note of the file, as tutti_dataset_info_set and tutti_dataset_info_get do.
 *  Collective; all arguments except value_out must be the same on all ranks.
 *  @return TUTTI_ERR_STATE without a sidecar. */
TUTTI_API tutti_err tutti_exodus_note_set(tutti_exodus *x, const char *name, tutti_type type,
                                          tutti_count count, const void *value) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_exodus_note_get(tutti_exodus *x, const char *name, tutti_type *type_out,
                                          tutti_count *count_out, void *value_out) TUTTI_MUST_USE;
/** Return the name of a note by its number in alphabetical order.
 *  Collective; `number` must be the same on all ranks.
 *  @param[out] name_out  [128].
 *  @return TUTTI_ERR_NOT_FOUND after the last name. */
TUTTI_API tutti_err tutti_exodus_note_name(tutti_exodus *x, tutti_count number,
                                           char *name_out) TUTTI_MUST_USE;

/** Read all data and compare checksums.
 *  Collective.
 *  @param[out] bytes_out  NULL, or the number of bytes compared: 0 without a sidecar or
 *      checksums.
 *  @return TUTTI_ERR_FORMAT at the first damage, if the sidecar does not belong to the header,
 *      or if the header counts fewer steps than were committed, or more than the file contains. */
TUTTI_API tutti_err tutti_exodus_verify(tutti_exodus *x, tutti_off *bytes_out) TUTTI_MUST_USE;
/**@}*/

/** @name Nemesis
 *  tutti_exodus_put_mesh stores the partition of the mesh in the file if `nemesis` of
 *  tutti_exodus_options is 1. */
/**@{*/
/** The data of one processor.  Nodes and elements have their numbers in the file, from 1.
 *  Pointers are valid until the next tutti_exodus_nemesis_get or close. */
typedef struct tutti_exodus_nemesis {
    int processors; /* number of processors of the partition */
    tutti_count internal_nodes, border_nodes, external_nodes;
    const int64_t *nodes; /* internal, then border, then external nodes */
    tutti_count internal_elements, border_elements;
    const int64_t *elements;
    int node_maps, element_maps;                   /* one for each neighbour */
    const int64_t *node_map_ids, *element_map_ids; /* [node_maps], [element_maps] */
    /* [node_maps + 1] indices in the next two arrays */
    const tutti_count *node_map_start;
    const int64_t *node_map_nodes;
    const int *node_map_processors;
    const tutti_count *element_map_start; /* [element_maps + 1] indices in the next three arrays */
    const int64_t *element_map_elements;
    /* Entry k of the map of processor p for q and entry k of the map of q for p are the same
     * side of the mesh; they ascend by the lower of the two elements, then by its side */
    const int *element_map_sides, *element_map_processors;
} tutti_exodus_nemesis;

/** Read the data of a processor.
 *  Collective; `processor` is local to each rank.
 *  @param[in] processor  0 ... processors - 1; -1: this rank reads nothing.
 *  @return TUTTI_ERR_NOT_FOUND if the file has no partition. */
TUTTI_API tutti_err tutti_exodus_nemesis_get(tutti_exodus *x, int processor,
                                             tutti_exodus_nemesis *out) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
