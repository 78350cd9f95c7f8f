/* Tutti: finite-element meshes and results in one shared file that is an Exodus II file.
 *
 * What is written here by any number of processes, ParaView, VisIt, libexodusii, ncdump and xarray
 * read: a netCDF classic file (CDF-5) with Exodus' names.  Every process passes what it has, by
 * global ids; who writes shared nodes, in which order everything lies and how long it is, the
 * library finds.
 *
 *     tutti_exodus_create(comm, "out.e", NULL, &x);
 *     tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "rod", .dims = 3});
 *     tutti_exodus_define(x, 2, (tutti_exodus_entity[]){
 *             {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8", .name = "rod"},
 *             {.kind = TUTTI_EXODUS_SIDE_SET, .id = 7, .name = "heated"}});
 *     tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"});
 *     tutti_exodus_put_mesh(x, &mine);        nodes, elements, members of sets: this rank's
 *     for (int step = 0; step < steps; step++) {
 *         tutti_exodus_begin(x, step * dt);
 *         tutti_exodus_put(x, 1, &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
 *                  .variable = "temperature", .type = TUTTI_FLOAT64, .buf = t});
 *         tutti_exodus_commit(x);             all of the step is in the file, or nothing of it
 *     }
 *     tutti_exodus_close(&x);
 *
 * and read again, by another number of processes:
 *
 *     tutti_exodus_open(comm, "out.e", TUTTI_READ, NULL, &x);
 *     tutti_exodus_get_mesh(x, &(tutti_exodus_deal){.by = TUTTI_EXODUS_BY_METIS}, &mine);
 *     tutti_exodus_get(x, tutti_exodus_steps(x), 1, &field);    buf: in the order of mine's nodes
 *
 * The words are Exodus': a *kind* of entity (element block, node set ...), entities with *ids*, entries
 * of blocks and members of sets, counted from 1 in the file where they refer to each other: node 1 is
 * the first of the file, and its *id* what the id map says, or 1.  Steps count from 1.
 *
 * All calls are Collective and all arguments agree unless it is said otherwise; what agrees is
 * compared.  After an error all ranks have the same code and message, and the file is as before.
 * docs/reference/exodus.md has a table of the calls of libexodusii and what they are here.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale Exodus handle has no communicator: only
 * that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_H
#define TUTTI_EXODUS_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/dataset.h> /* levels of commits */
#include <tutti/file.h>
#include <tutti/decomposition.h>
#include <tutti/numbers.h>
#include <tutti/replicas.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_exodus tutti_exodus;

/** @name Opening and closing */
/**@{*/
/** Always start from tutti_exodus_options_init. */
typedef struct tutti_exodus_options {
    size_t struct_size;
    int level;      /* of commits: TUTTI_DURABLE (default), TUTTI_VISIBLE */
    int real_bytes; /* of coordinates, attributes, factors and results in the file: 8 (default), 4 */
    int integer_bytes; /* of ids, maps and connectivity: 4, 8; 0 (default): 4 where all of them fit */
    int name_length;   /* room for a name: 32 (default; what others' readers expect) ... 255 */
    int checksums;     /* 1 (default): kept in the sidecar, PATH.tutti */
    int sidecar;       /* 1 (default): there is one; 0: neither written nor looked at */
    int check_reads;   /* 1: the first get of a step compares them */
    /* 0, all steps in one file; n, a new file for every n steps, each with the mesh: PATH, then
     * PATH-s0002 ...; a series that exists keeps its own names, see tutti_exodus_next_file */
    int steps_per_file;
    int nemesis;         /* 1: put_mesh also writes what Nemesis has of a partition, the ranks' */
    int overwrite;       /* 0: an existing file is an error of create */
    tutti_off alignment; /* of the first record in the file; 0: 4096 */
    double busy;         /* seconds to wait for another program that has the sidecar (5) */
    int without_locks;   /* 1: go on where the file system has no locks: nobody else may write */
    tutti_replicas_choice choice; /* who writes nodes and elements that several ranks have: idg2 */
    const tutti_options *io;      /* NULL: defaults and environment */
    int any_times;                /* 1: the time of a step need not be larger than the last */
} tutti_exodus_options;

TUTTI_API void tutti_exodus_options_init_sized(tutti_exodus_options *opt, size_t struct_size);
static inline void tutti_exodus_options_init(tutti_exodus_options *opt) {
    tutti_exodus_options_init_sized(opt, sizeof *opt);
}

/** Make a new file; it appears, with its mesh, when definitions end.
 *  @param[in] opt  NULL: as options_init has them */
TUTTI_API tutti_err tutti_exodus_create(MPI_Comm comm, const char *path,
                                        const tutti_exodus_options *opt,
                                        tutti_exodus **x_out) TUTTI_MUST_USE;

/** Open a file: ours, or what others wrote (CDF-1, CDF-2, CDF-5; 32- and 64-bit integers).
 *  @param[in] mode  TUTTI_READ, or | TUTTI_WRITE to append steps
 *  Headers are validated: arrays of the mesh must be complete, and a count that no array confirms fails
 *  with TUTTI_ERR_FORMAT.  Only the last time steps may be missing; they are not counted.
 *  @return TUTTI_ERR_FORMAT with what is wrong, for example two blocks with one id; TUTTI_ERR_UNSUPPORTED for netCDF-4 files: the message
 *      says how to convert them; TUTTI_ERR_STATE if another program has it open for writing */
TUTTI_API tutti_err tutti_exodus_open(MPI_Comm comm, const char *path, int mode,
                                      const tutti_exodus_options *opt,
                                      tutti_exodus **x_out) TUTTI_MUST_USE;

/** Close it and null the handle; a step that was not committed is discarded. */
TUTTI_API tutti_err tutti_exodus_close(tutti_exodus **x);

/** Look for new steps.  Without this call a reader sees the steps that the file had when it was opened.
 *  @param[out] changed_out  NULL, or 1: the number of steps has changed
 *  @return TUTTI_ERR_STATE if the file has been replaced since it was opened: the path names another file, or its header,
 *      names, ids or (by samples) id maps, coordinates and connectivity have changed.  Open it again. */
TUTTI_API tutti_err tutti_exodus_refresh(tutti_exodus *x, int *changed_out) TUTTI_MUST_USE;

/** Start a new mesh in the next file of the series, PATH-s0002 and so on: definitions begin again.  Parameters of
 *  tutti_exodus_init (but counts and id maps), variables and options are kept; entities must be defined again. */
TUTTI_API tutti_err tutti_exodus_new_topology(tutti_exodus *x) TUTTI_MUST_USE;

/** Close the file and open the next one of its series: PATH-s0002 (IOSS; files that Tutti writes), PATH-s002 (libMesh) or
 *  PATH-s.0002 (earlier versions of Tutti), then 3 and so on.  Decompositions and the mesh of get_mesh stay valid if all bytes of
 *  the mesh are the same in both files; otherwise they must be made again.
 *  @return TUTTI_ERR_NOT_FOUND after the last file; TUTTI_ERR_STATE if files of several namings follow the first */
TUTTI_API tutti_err tutti_exodus_next_file(tutti_exodus *x) TUTTI_MUST_USE;

/** The path of the file that the handle is on.   Local. */
TUTTI_API const char *tutti_exodus_path(const tutti_exodus *x);

/** "" or why there are no checksums although the file might have some: the sidecar is missing, or of
 *  another file.   Local. */
TUTTI_API const char *tutti_exodus_warning(const tutti_exodus *x);
/**@}*/

/** tutti_exodus_stats for bindings of other languages, which say how many bytes they have for the struct.   Local. */
TUTTI_API void tutti_exodus_stats_sized(const tutti_exodus *x, tutti_stats *all_out,
                                        size_t struct_size);

/** Statistics of all operations on the file, and on the files of its series that the handle was on before, on this
 *  rank.   Local. */
static inline void tutti_exodus_stats(const tutti_exodus *x, tutti_stats *all_out) {
    tutti_exodus_stats_sized(x, all_out, sizeof(tutti_stats));
}

/** Install a progress callback for all operations on the file (see tutti_file_on_progress), or remove it with NULL.  It
 *  stays for the further files of a series.   Local. */
TUTTI_API void tutti_exodus_on_progress(tutti_exodus *x, tutti_progress_fn *fn, void *context);

/** @name Definitions: after create, before the first data
 *  Later ones would move everything in the file: TUTTI_ERR_STATE. */
/**@{*/
/** Kinds of entities.  Values are never renumbered. */
typedef enum tutti_exodus_kind {
    TUTTI_EXODUS_GLOBAL,        /* the file as a whole: variables only */
    TUTTI_EXODUS_NODAL,         /* its nodes: variables, ids, attributes; entity id 0 */
    TUTTI_EXODUS_ELEMENT_BLOCK, /* of this and the next two, id maps are of all blocks together */
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

/** "element block" and so on; "" for unknown kinds.   Local. */
TUTTI_API const char *tutti_exodus_kind_name(int kind);

/** The whole file.  Begin with = {0} or name the fields. */
typedef struct tutti_exodus_parameters {
    const char *title; /* at most 80 bytes; NULL: "" */
    int dims;          /* 1, 2, 3 */
    /* Of all ranks.  0 where tutti_exodus_put_mesh is going to find them */
    tutti_count nodes, elements, edges, faces;
    const char *const *coordinate_names; /* [dims] or NULL: x, y, z */
    int node_attributes;
    /* 1: the file has id maps.  put_mesh also writes maps where ids are not 1, 2, 3 ... in file order. */
    int has_node_ids, has_element_ids;
    int has_edge_ids, has_face_ids;
    int has_order;       /* 1: there is an element order map (elem_map) */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_parameters;

TUTTI_API tutti_err tutti_exodus_init(tutti_exodus *x,
                                      const tutti_exodus_parameters *p) TUTTI_MUST_USE;

/** A block, set or map.  Begin with = {0} or name the fields. */
typedef struct tutti_exodus_entity {
    tutti_exodus_kind kind;
    int64_t id;           /* >= 0, different from others of its kind */
    const char *name;     /* NULL or "": none */
    const char *topology; /* blocks: "HEX8", "tet4", "SHELL4", "nsided", "nfaced" ... */
    tutti_count entries;  /* of a block, members of a set: of all ranks.  put_mesh finds them */
    int nodes;            /* of an entry of a block; 0: what the topology's name says */
    int edges, faces;     /* of an entry of a block, where they are wanted */
    int attributes;       /* of an entry */
    tutti_count
        factors; /* distribution factors of a set, of all ranks: 0, none.  put_mesh finds them */
    tutti_count
        list; /* nsided, nfaced: nodes (faces) of all entries together.  put_mesh finds it */
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_entity;

/** Define n entities; thousands in one call cost what their bytes cost.  The file has them in this
 *  order, kind by kind. */
TUTTI_API tutti_err tutti_exodus_define(tutti_exodus *x, tutti_count n,
                                        const tutti_exodus_entity *entities) TUTTI_MUST_USE;

/** Variables of a kind: of the results.   Once per kind. */
TUTTI_API tutti_err tutti_exodus_variables(tutti_exodus *x, tutti_exodus_kind kind, int n,
                                           const char *const *names) TUTTI_MUST_USE;
/** Which entities have which variables; without this call all have all.
 *  @param[in] table  [entities of the kind * its variables] 1: has it */
TUTTI_API tutti_err tutti_exodus_truth(tutti_exodus *x, tutti_exodus_kind kind,
                                       const unsigned char *table) TUTTI_MUST_USE;

/** Names of the attributes of an entity (of nodes: TUTTI_EXODUS_NODAL, 0). */
TUTTI_API tutti_err tutti_exodus_attribute_names(tutti_exodus *x, tutti_exodus_kind kind,
                                                 int64_t id, int n,
                                                 const char *const *names) TUTTI_MUST_USE;
/** A property: a name, and a number for every entity of a kind.
 *  @param[in] values  [entities of the kind] in the order in which they were defined */
TUTTI_API tutti_err tutti_exodus_property(tutti_exodus *x, tutti_exodus_kind kind, const char *name,
                                          const int64_t *values) TUTTI_MUST_USE;

/** Who made it: program, version, date, time, each at most 32 bytes.  Nothing is added by itself. */
typedef struct tutti_exodus_qa {
    const char *program, *version, *date, *time;
} tutti_exodus_qa;
TUTTI_API tutti_err tutti_exodus_put_qa(tutti_exodus *x, int n,
                                        const tutti_exodus_qa *records) TUTTI_MUST_USE;
/** Lines of text, each at most 80 bytes. */
TUTTI_API tutti_err tutti_exodus_put_info(tutti_exodus *x, int n,
                                          const char *const *lines) TUTTI_MUST_USE;

/** End the definitions without a mesh, for those who write its arrays themselves
 *  (tutti_exodus_put_arrays): all counts must have been given. */
TUTTI_API tutti_err tutti_exodus_end_definitions(tutti_exodus *x) TUTTI_MUST_USE;
/**@}*/

/** @name Meshes: what this rank has of one */
/**@{*/
/** Elements of a block (edges, faces of theirs).  Each rank's own. */
typedef struct tutti_exodus_elements {
    tutti_count n;
    const int64_t *ids; /* [n] > 0, of all blocks of the kind different; others may have copies.
                         * NULL on all ranks, for all blocks: as they lie, rank after rank */
    const tutti_count
        *start; /* nsided, nfaced: [n + 1] where its nodes begin in `nodes`; else NULL */
    const tutti_count *nodes;         /* [n * nodes of an entry] places in the mesh's nodes, from 0.
                               * nfaced: places among the faces, blocks one after the other */
    const tutti_count *edges, *faces; /* likewise among edges and faces, or NULL */
    const double *attributes;         /* [n * attributes] or NULL: 0 */
} tutti_exodus_elements;

/** Members of a set.  Each rank's own; those that several ranks have count once. */
typedef struct tutti_exodus_members {
    tutti_count n;
    const tutti_count
        *members;     /* [n] places in the nodes, or among the elements (edges, faces): blocks
                                 * one after the other, as they are passed here */
    const int *sides; /* [n] side sets: Exodus' side numbers, from 1; edge and face sets: +1, -1
                             * or NULL */
    const double
        *factors; /* node, element, edge and face sets: [n]; side sets: for each member, in turn, as
                             * many as tutti_exodus_side_nodes returns for the topology of its block, the dimensions of the
                             * file and its side; NULL on all ranks: none */
    const double *attributes; /* [n * attributes] or NULL: 0 */
} tutti_exodus_members;

/** All of it.  Blocks and sets are in the order in which they were defined; ranks that have nothing
 *  of one have n = 0 there.  Begin with = {0} or name the fields. */
typedef struct tutti_exodus_mesh {
    tutti_count nodes;
    const int64_t *node_ids;    /* [nodes] > 0, none twice on a rank, others may have copies;
                                * NULL on all ranks: as they lie, rank after rank */
    const unsigned char *own;   /* [nodes] 1: this rank is the owner, for rules that ask; or NULL */
    tutti_type type;            /* of the coordinates; TUTTI_BYTES (0): TUTTI_FLOAT64 */
    const void *coordinates[3]; /* [nodes] each; x, y, z as far as there are dimensions */
    const double *node_attributes; /* [nodes * attributes] or NULL: 0 */
    const tutti_exodus_elements *blocks, *edge_blocks,
        *face_blocks; /* one each, or NULL if none is defined */
    const tutti_exodus_members *node_sets, *side_sets, *element_sets, *edge_sets, *face_sets;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_mesh;

/** Write the mesh, and end the definitions: counts are found, ids become the order in the file (nodes
 *  ascending by id; elements block by block, in each ascending by id; members of sets ascending), so
 *  that the file is the same whoever had what.   mesh is each rank's own.   The handle remembers which
 *  nodes and elements this rank has, for results.
 *  @return with rank, entity and place in the message: TUTTI_ERR_ARG for an element of a node that the
 *      rank has not, an id twice on a rank or in two blocks, a side number that the topology has
 *      not; TUTTI_ERR_MISMATCH for copies of an element with other nodes */
TUTTI_API tutti_err tutti_exodus_put_mesh(tutti_exodus *x,
                                          const tutti_exodus_mesh *mesh) TUTTI_MUST_USE;

/** How a mesh is dealt out. */
typedef enum tutti_exodus_by {
    TUTTI_EXODUS_BY_ORDER, /* elements in the order of the file, the same number for each rank */
    TUTTI_EXODUS_BY_METIS, /* METIS, on rank 0; bisection (rcb) where METIS is missing or does not suit */
    TUTTI_EXODUS_BY_CURVE, /* pieces of Hilbert's curve through the nodes' box; in parallel */
    TUTTI_EXODUS_BY_LIST,  /* as `rank` says */
    TUTTI_EXODUS_ON_ROOT   /* all of it on rank 0: a viewer */
} tutti_exodus_by;
typedef struct tutti_exodus_deal {
    tutti_exodus_by by;
    int halo; /* layers of elements around one's own (those with a node in common): 0, 1 ...; INT_MAX:
               * all elements that are connected with one's own */
    /* BY_LIST: of element first ... first + n - 1 of the file (from 0, each rank's own slice; together all
     * of them, once), which rank gets it */
    tutti_count first, n;
    const int *rank;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_exodus_deal;

/** Read the mesh: this rank's elements with all their nodes, members of sets among them.   What comes
 *  out can be passed to put_mesh of another file (of the same entities).  Elements of a rank: its own
 *  first in each block.   The handle remembers it, for results.   @param[in] deal  agrees, but first, n and rank
 *  @param[out] mesh_out  belongs to the handle: good until the next get_mesh, put_mesh or close */
TUTTI_API tutti_err tutti_exodus_get_mesh(tutti_exodus *x, const tutti_exodus_deal *deal,
                                          const tutti_exodus_mesh **mesh_out) TUTTI_MUST_USE;

/** "", or what the last get_mesh has ignored: the first set whose number of distribution factors is not one for each member (side
 *  sets: one for each node of each side).  `factors` of such a set is NULL in the mesh; its array can be read by
 *  tutti_exodus_get_arrays.   The same on all ranks.   Local. */
TUTTI_API const char *tutti_exodus_mesh_warning(const tutti_exodus *x);

/** How many of a block's elements are this rank's own; the rest is halo.   Local.
 *  @param[in] number  which of the kind, from 0 */
TUTTI_API tutti_count tutti_exodus_own_elements(const tutti_exodus *x, tutti_exodus_kind kind,
                                                tutti_count number);
/** How many entries of the nodes (NODAL, 0), of a block or of a set this rank has since put_mesh or get_mesh:
 *  numbers of a field without a decomposition.   Local.
 *  @return -1: unknown; there was no mesh, or its sets have no variables */
TUTTI_API tutti_count tutti_exodus_entries(const tutti_exodus *x, tutti_exodus_kind kind,
                                           int64_t id);
/**@}*/

/** @name Results */
/**@{*/
/** Begin a step; its time must be larger than that of the last step.
 *  @return TUTTI_ERR_ARG if it is not; TUTTI_ERR_UNSUPPORTED if the time dimension of the file is fixed (files of
 *      nccopy -u): its steps can be read, but none can be appended or removed */
TUTTI_API tutti_err tutti_exodus_begin(tutti_exodus *x, double time) TUTTI_MUST_USE;

/** A variable of an entity; buf is each rank's own. */
typedef struct tutti_exodus_field {
    tutti_exodus_kind kind;
    int64_t id;           /* of the entity; 0 for TUTTI_EXODUS_GLOBAL and TUTTI_EXODUS_NODAL */
    const char *variable; /* GLOBAL: NULL is all of them, one after the other */
    tutti_type type;      /* of the numbers in memory */
    void *buf;            /* not changed by put.  GLOBAL: rank 0's is written, all ranks get it */
    /* Which entries: NULL, those of put_mesh or get_mesh, in their order */
    tutti_decomposition *entries;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_exodus_field;

/** Write n fields to the step, in one operation; also several times.   After an error the variables of the call are
 *  incomplete: tutti_exodus_commit fails until each of them has been written again, with the same entries or as a whole. */
TUTTI_API tutti_err tutti_exodus_put(tutti_exodus *x, tutti_count n,
                                     const tutti_exodus_field *fields) TUTTI_MUST_USE;
/** The same without waiting for other ranks; complete it by tutti_request_test or tutti_request_wait before the
 *  commit.  Buffers are the library's until then; fields and decompositions are not needed any more.  Every rank starts the
 *  same operations on a file in the same order.  Test, wait and the next collective call on the file compare the calls of the ranks:
 *  an error of any rank's arguments is returned there, by test and wait.   If the request is abandoned, the variables must
 *  be written again. */
TUTTI_API tutti_err tutti_exodus_put_start(tutti_exodus *x, tutti_count n,
                                           const tutti_exodus_field *fields,
                                           tutti_request **r_out) TUTTI_MUST_USE;

/** The step becomes part of the file, or, after an error, it is still being written.  What was not put is 0.
 *  In this order: data, checksums into the sidecar, sync, the number of records in the header, sync.
 *  If the data could not be synced, the operating system may have dropped it: commits fail with TUTTI_ERR_STATE until all
 *  variables of the step have been written again, or the step is discarded.  Steps that other programs wrote to the file
 *  with TUTTI_VISIBLE may be damaged, too: the message says so, and they stay; tutti_exodus_verify checks them.
 *  @return TUTTI_ERR_STATE: a variable is incomplete (the message names it), or a put has been started and not
 *      completed */
TUTTI_API tutti_err tutti_exodus_commit(tutti_exodus *x) TUTTI_MUST_USE;
/** The same without waiting; complete it by tutti_request_test or tutti_request_wait.  Until then the other collective
 *  calls on the file fail with TUTTI_ERR_STATE, and Local ones work; the step is part of the file when its request is
 *  complete.  Reading back, syncing and the sidecar are done by a thread that does not call MPI; the rest progresses in
 *  calls of the library.   @return TUTTI_ERR_STATE as for tutti_exodus_commit; later errors are returned by test and
 *      wait */
TUTTI_API tutti_err tutti_exodus_commit_start(tutti_exodus *x,
                                              tutti_request **r_out) TUTTI_MUST_USE;
/** Give it up. */
TUTTI_API tutti_err tutti_exodus_discard(tutti_exodus *x) TUTTI_MUST_USE;
/** Remove all steps behind this one (0: all there are). */
TUTTI_API tutti_err tutti_exodus_erase_after(tutti_exodus *x, tutti_count step) TUTTI_MUST_USE;

/** How many there are.   Local. */
TUTTI_API tutti_count tutti_exodus_steps(const tutti_exodus *x);
/** The times of steps first ... first + n - 1.   @param[out] times_out  [n] */
TUTTI_API tutti_err tutti_exodus_times(tutti_exodus *x, tutti_count first, tutti_count n,
                                       double *times_out) TUTTI_MUST_USE;

/** Get n fields of a step (1 ... tutti_exodus_steps) in one operation. */
TUTTI_API tutti_err tutti_exodus_get(tutti_exodus *x, tutti_count step, tutti_count n,
                                     const tutti_exodus_field *fields) TUTTI_MUST_USE;
/** The same without waiting for other ranks, as tutti_exodus_put_start. */
TUTTI_API tutti_err tutti_exodus_get_start(tutti_exodus *x, tutti_count step, tutti_count n,
                                           const tutti_exodus_field *fields,
                                           tutti_request **r_out) TUTTI_MUST_USE;

/** A field through steps first ... last, one after the other in buf, in one operation: with a
 *  decomposition of one entry, one node through time. */
TUTTI_API tutti_err tutti_exodus_follow(tutti_exodus *x, tutti_count first, tutti_count last,
                                        const tutti_exodus_field *field) TUTTI_MUST_USE;

/** Which entries of nodes (NODAL, 0), of a block or of a set this rank means: by position in it, by id
 *  (nodes and elements), or as they lie; see decomposition.h.   BY_VALUE of members of sets: positions + 1.
 *  An element's id is looked for in its block.   Free it by tutti_decomposition_free. */
TUTTI_API tutti_err tutti_exodus_decomposition(tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                               const tutti_decomposition_spec *spec,
                                               tutti_decomposition **out) TUTTI_MUST_USE;
/**@}*/

/** @name Arrays as they are in the file: partial reads and writes of everything but results */
/**@{*/
typedef enum tutti_exodus_what {
    TUTTI_EXODUS_COORDINATES,  /* NODAL; component 0, 1, 2 */
    TUTTI_EXODUS_CONNECTIVITY, /* of a block: nodes of its entries, from 1 (nfaced: faces) */
    TUTTI_EXODUS_EDGES,        /* of a block: edges of its entries; */
    TUTTI_EXODUS_FACES,        /* faces of its entries */
    TUTTI_EXODUS_COUNTS,       /* nsided, nfaced: nodes (faces) of each entry */
    TUTTI_EXODUS_ATTRIBUTES, /* of the entries of a block or set, or of nodes: all of an entry together */
    TUTTI_EXODUS_MEMBERS, /* of a set: nodes, elements ... from 1 */
    TUTTI_EXODUS_SIDES,   /* of a side set: sides; of edge and face sets: orientations */
    TUTTI_EXODUS_FACTORS, /* of a set: distribution factors */
    TUTTI_EXODUS_IDS,     /* NODAL, or a kind of blocks: the id map */
    TUTTI_EXODUS_MAP,     /* an additional map */
    TUTTI_EXODUS_ORDER    /* ELEMENT_BLOCK: the order map */
} tutti_exodus_what;

/** A piece of an array; first, n and buf are each rank's own. */
typedef struct tutti_exodus_array {
    tutti_exodus_what what;
    tutti_exodus_kind kind;
    int64_t id;    /* of the entity; 0 for nodes.  IDS, ORDER: ignored */
    int component; /* of coordinates */
    tutti_count first,
        n; /* entries (of CONNECTIVITY of nsided and nfaced blocks: numbers), from 0 */
    tutti_decomposition *entries; /* or these; then first and n are not looked at */
    tutti_type type;              /* of the numbers in memory */
    void *buf;
    int64_t reserved[2]; /* 0: for later versions */
} tutti_exodus_array;

/** How long it is.   Local.   @param[out] entries_out, numbers_out  entries; numbers of an entry
 *  @param[out] type_out  in the file   @return TUTTI_ERR_NOT_FOUND if the file has no such array */
TUTTI_API tutti_err tutti_exodus_array_size(const tutti_exodus *x, const tutti_exodus_array *a,
                                            tutti_count *entries_out, tutti_count *numbers_out,
                                            tutti_type *type_out) TUTTI_MUST_USE;
/** Where an array, or a field in a step (1 ...), begins in the file, for programs that read it there: its numbers
 *  follow each other, big-endian.   Local.   @param[out] at_out  bytes from the beginning of the file
 *  @param[out] type_out  NULL, or their type   @return TUTTI_ERR_NOT_FOUND if the file has no such array, or
 *      it is empty */
TUTTI_API tutti_err tutti_exodus_array_place(const tutti_exodus *x, const tutti_exodus_array *a,
                                             tutti_off *at_out,
                                             tutti_type *type_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_exodus_field_place(const tutti_exodus *x, tutti_count step,
                                             const tutti_exodus_field *f, tutti_off *at_out,
                                             tutti_type *type_out) TUTTI_MUST_USE;
/** Write pieces of n arrays, after the definitions have ended and before the first step, in one operation. */
TUTTI_API tutti_err tutti_exodus_put_arrays(tutti_exodus *x, tutti_count n,
                                            const tutti_exodus_array *arrays) TUTTI_MUST_USE;
/** Read pieces of n arrays in one operation.   An id map that is not in the file reads as 1, 2, 3 ... */
TUTTI_API tutti_err tutti_exodus_get_arrays(tutti_exodus *x, tutti_count n,
                                            const tutti_exodus_array *arrays) TUTTI_MUST_USE;
/**@}*/

/** @name Looking at a file.   Local.   Texts belong to the handle, until it is closed or on another file. */
/**@{*/
TUTTI_API tutti_err tutti_exodus_parameters_sized(const tutti_exodus *x,
                                                  tutti_exodus_parameters *out,
                                                  size_t struct_size) TUTTI_MUST_USE;
TUTTI_MUST_USE static inline tutti_err tutti_exodus_parameters_get(const tutti_exodus *x,
                                                                   tutti_exodus_parameters *out) {
    return tutti_exodus_parameters_sized(x, out, sizeof *out);
}
/** How many entities of a kind there are. */
TUTTI_API tutti_count tutti_exodus_entities(const tutti_exodus *x, tutti_exodus_kind kind);
TUTTI_API tutti_err tutti_exodus_entity_sized(const tutti_exodus *x, tutti_exodus_kind kind,
                                              tutti_count number, tutti_exodus_entity *out,
                                              size_t struct_size) TUTTI_MUST_USE;
/** One of them, number 0 ... */
TUTTI_MUST_USE static inline tutti_err tutti_exodus_entity_get(const tutti_exodus *x,
                                                               tutti_exodus_kind kind,
                                                               tutti_count number,
                                                               tutti_exodus_entity *out) {
    return tutti_exodus_entity_sized(x, kind, number, out, sizeof *out);
}
/** The number of the one with an id.   @return TUTTI_ERR_NOT_FOUND */
TUTTI_API tutti_err tutti_exodus_find(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                      tutti_count *number_out) TUTTI_MUST_USE;
/** How many variables a kind has, and their names (NULL: there is none of that number, from 0). */
TUTTI_API int tutti_exodus_variable_count(const tutti_exodus *x, tutti_exodus_kind kind);
TUTTI_API const char *tutti_exodus_variable_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                 int number);
/** Has an entity (by its number) a variable? */
TUTTI_API int tutti_exodus_has(const tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                               int variable);
/** Name of an attribute of an entity; NULL: there is none of that number. */
TUTTI_API const char *tutti_exodus_attribute_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  int64_t id, int number);
/** Properties of a kind (the ids themselves are none): names; NULL: there is none of that number. */
TUTTI_API const char *tutti_exodus_property_name(const tutti_exodus *x, tutti_exodus_kind kind,
                                                 int number);
/** @param[out] values_out  [entities of the kind]   @return TUTTI_ERR_NOT_FOUND */
TUTTI_API tutti_err tutti_exodus_property_get(const tutti_exodus *x, tutti_exodus_kind kind,
                                              const char *name, int64_t *values_out) TUTTI_MUST_USE;
TUTTI_API int tutti_exodus_qa_count(const tutti_exodus *x);
TUTTI_API tutti_err tutti_exodus_qa_get(const tutti_exodus *x, int number,
                                        tutti_exodus_qa *out) TUTTI_MUST_USE;
/** Lines of info; NULL: there is none of that number. */
TUTTI_API const char *tutti_exodus_info_line(const tutti_exodus *x, int number);

/** Number of nodes of an entry of a topology; 0: unknown. */
TUTTI_API int tutti_exodus_topology_nodes(const char *topology);
/** Number of sides of an entry of a topology in a file of `dims` dimensions; 0: unknown.   A TRI has three edges, and in a file
 *  of three dimensions two faces and then three edges, like a SHELL.
 *  @param[in] nodes  of an entry, or 0: as the name says; of an nsided entry its own number of nodes
 *  @param[in] dims  of the file: 1, 2, 3 */
TUTTI_API int tutti_exodus_topology_sides(const char *topology, int nodes, int dims);
/** Number of nodes of a side (from 1), which is also its number of distribution factors; 0: unknown.
 *  @param[in] nodes, dims  as for tutti_exodus_topology_sides
 *  @param[out] which_out  NULL or [9]: which of the entry's nodes they are, from 0 */
TUTTI_API int tutti_exodus_side_nodes(const char *topology, int nodes, int dims, int side,
                                      int *which_out);
/**@}*/

/** @name Infos that are set later: in the sidecar, since the header does not change any more */
/**@{*/
/** As tutti_dataset_info_set and tutti_dataset_info_get, of the file.   @return TUTTI_ERR_STATE without a
 *  sidecar */
TUTTI_API tutti_err tutti_exodus_note_set(tutti_exodus *x, const char *name, tutti_type type,
                                          tutti_count count, const void *value) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_exodus_note_get(tutti_exodus *x, const char *name, tutti_type *type_out,
                                          tutti_count *count_out, void *value_out) TUTTI_MUST_USE;
/** The names, in the order of the alphabet.   @param[out] name_out  [128]
 *  @return TUTTI_ERR_NOT_FOUND behind the last */
TUTTI_API tutti_err tutti_exodus_note_name(tutti_exodus *x, tutti_count number,
                                           char *name_out) TUTTI_MUST_USE;

/** Read everything and compare checksums.
 *  @param[out] bytes_out  NULL, or how much was compared: 0 without a sidecar or checksums
 *  @return TUTTI_ERR_FORMAT with the first place that is wrong; also if there is a sidecar that does not belong
 *          to the header, or if the header counts fewer steps than were committed, or more
 *          than the file contains */
TUTTI_API tutti_err tutti_exodus_verify(tutti_exodus *x, tutti_off *bytes_out) TUTTI_MUST_USE;
/**@}*/

/** @name Nemesis: a partition's own numbering and borders, kept in the file */
/**@{*/
/** One processor's.  Numbers of nodes and elements are those of the file, from 1.  Pointers are good
 *  until the next tutti_exodus_nemesis_get or close. */
typedef struct tutti_exodus_nemesis {
    int processors; /* of the partition */
    tutti_count internal_nodes, border_nodes, external_nodes;
    const int64_t *nodes; /* internal, then border, then external ones */
    tutti_count internal_elements, border_elements;
    const int64_t *elements;
    int node_maps, element_maps;                   /* one for each neighbour */
    const int64_t *node_map_ids, *element_map_ids; /* [maps] */
    const tutti_count *node_map_start;             /* [node_maps + 1] into the next two */
    const int64_t *node_map_nodes;
    const int *node_map_processors;
    const tutti_count *element_map_start; /* [element_maps + 1] into the next three */
    const int64_t *element_map_elements;
    /* Entry k of the map of processor p for q and entry k of the map of q for p are the same side of the mesh.  They
     * ascend by the lower of the two elements, then by its side. */
    const int *element_map_sides, *element_map_processors;
} tutti_exodus_nemesis;

/** What the file has of a processor (0 ... processors - 1, each rank's own; -1: this rank asks for
 *  nothing).   @return TUTTI_ERR_NOT_FOUND if the file has none */
TUTTI_API tutti_err tutti_exodus_nemesis_get(tutti_exodus *x, int processor,
                                             tutti_exodus_nemesis *out) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
