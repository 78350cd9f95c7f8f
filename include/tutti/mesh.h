/* Tutti: unstructured meshes: reading, numbering, partitioning and distribution by all ranks.
 *
 *     tutti_mesh_open(comm, "device.msh", NULL, &mesh);      every rank has a slice
 *     tutti_mesh_renumber(mesh, TUTTI_MESH_CURVE);           neighbours are close in files
 *     tutti_mesh_view_get(mesh, &slice);
 *     of = malloc(slice.nodes * sizeof *of);
 *     tutti_mesh_partition(mesh, ranks, TUTTI_MESH_METIS, NULL, of);
 *     tutti_mesh_part_make(mesh, of, &part);                 rank p: partition p and its halo
 *     tutti_mesh_free(&mesh);
 *     tutti_mesh_part_get(part, &p);
 *     u = calloc(p.nodes, sizeof *u);
 *     for (...) {
 *         compute u[0 ... p.own_nodes - 1] from u[0 ... p.nodes - 1]
 *         tutti_mesh_part_exchange(part, u, 1);              update the halo
 *     }
 *     spec = {.n = p.nodes, .numbers = p.number, .own = p.own, .load = 1, .value_bytes = 8};
 *     tutti_replicas_create(comm, &spec, &r);                and write u, see replicas.h
 *     tutti_mesh_part_free(&part);
 *
 * A mesh is held in slices: of N nodes rank r has those with numbers N * r / ranks to N * (r +
 * 1) / ranks - 1, and of the elements likewise.  No rank needs to hold all of it, except where a
 * function is documented to work on rank 0.  The *number* of a node is its position in the order
 * of the mesh, 0 to N - 1, and determines its position in files.  Its *tag* is its number in the
 * file that it was read from.  Nodes of one element are *neighbours*.
 *
 * file.h defines the term "collective call".  Arguments that must be the same on all ranks are
 * compared first; if they differ, all ranks return TUTTI_ERR_MISMATCH (options: those of rank 0
 * are used).  One thread at a time may use a mesh and its parts.  Before MPI_Init and after
 * MPI_Finalize every call fails with TUTTI_ERR_STATE, except those that free.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale handle of a mesh or part has no
 * communicator: only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_H
#define TUTTI_MESH_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/options.h>

TUTTI_BEGIN_DECLS

/** @name Elements */
/**@{*/
/* X(name, dimension, nodes, number in Gmsh files, text).  Values are stored in files and never
 * change. */
#define TUTTI_ELEMENT_TABLE(X)       \
    X(POINT, 0, 1, 15, "point")      \
    X(LINE, 1, 2, 1, "line")         \
    X(TRIANGLE, 2, 3, 2, "triangle") \
    X(QUAD, 2, 4, 3, "quadrangle")   \
    X(TET, 3, 4, 4, "tetrahedron")   \
    X(HEX, 3, 8, 5, "hexahedron")    \
    X(PRISM, 3, 6, 6, "prism")       \
    X(PYRAMID, 3, 5, 7, "pyramid")

/** The type of an element; its nodes are in the order of Gmsh. */
typedef enum tutti_mesh_type {
#define TUTTI_ELEMENT_ENUM(name, dim, nodes, gmsh, text) TUTTI_MESH_##name,
    TUTTI_ELEMENT_TABLE(TUTTI_ELEMENT_ENUM)
#undef TUTTI_ELEMENT_ENUM
        TUTTI_MESH_TYPES
} tutti_mesh_type;

enum { TUTTI_MESH_MAX_NODES = 8 }; /* maximum number of nodes of an element */

/** Return the number of nodes of an element type; 0 for unknown types.
 *  Not collective. */
TUTTI_API int tutti_mesh_type_nodes(int type);
/** Return the dimension of an element type, 0 to 3; -1 for unknown types.
 *  Not collective. */
TUTTI_API int tutti_mesh_type_dim(int type);
/** Return the name of an element type, for example "tetrahedron"; "" for unknown types.
 *  Not collective. */
TUTTI_API const char *tutti_mesh_type_name(int type);
/**@}*/

/** @name Meshes */
/**@{*/
typedef struct tutti_mesh tutti_mesh;

/** A further physical group: elements of this dimension, entity and first group are also in the
 *  group `tag`. */
typedef struct tutti_mesh_membership {
    int dim, entity, physical, tag;
} tutti_mesh_membership;

/** The slice of this rank of a mesh.  Pointers returned by the library belong to the mesh and
 *  are valid until it is renumbered or freed.  Later versions add fields at the end. */
typedef struct tutti_mesh_view {
    tutti_count nodes, first_node; /* number of nodes of this rank; number of the first */
    const double *coordinates;     /* [3 * nodes] x y z */
    const int64_t *tag;            /* [nodes] */
    tutti_count elements, first_element;
    const uint8_t *type;      /* [elements] tutti_mesh_type */
    const int32_t *physical;  /* [elements] tag of the first physical group (region), 0: none */
    const int32_t *entity;    /* [elements] tag of the geometric entity, 0: none */
    const tutti_count *start; /* [elements + 1] where the nodes of each element begin in `node` */
    const tutti_count *node;  /* [start[elements]] numbers of nodes of any rank */
    tutti_count all_nodes, all_elements;     /* nodes and elements of all ranks */
    tutti_count memberships;                 /* further groups of elements; the same on all ranks */
    const tutti_mesh_membership *membership; /* [memberships] in the order of its fields */
} tutti_mesh_view;

/** Read a mesh from a file: Gmsh formats 4.1 and 2.2, text or binary, or the format of Tutti.
 *  Collective; `path` must be the same on all ranks.
 *  The format is detected.  Rank 0 reads Gmsh files and distributes the mesh; the format of Tutti
 *  is read by all ranks.  Elements of lower dimension (boundaries, with their physical groups)
 *  are kept.  An element has the physical groups of its entity, including a partitioned one: the
 *  first is in `physical`, the others are in `membership`.  Format 2.2 repeats an element for
 *  each further group; it is read once.  Periodicity, partitions, parametric coordinates and data
 *  sections are skipped.
 *  @param[in] opt     NULL: options of the environment.
 *  @param[out] m_out  free it with tutti_mesh_free.
 *  @return TUTTI_ERR_FORMAT if the file is invalid or nodes are missing; the message names the
 *      line (text) or byte (binary).  TUTTI_ERR_UNSUPPORTED for other versions and for elements
 *      that are not linear. */
TUTTI_API tutti_err tutti_mesh_open(MPI_Comm comm, const char *path, const tutti_options *opt,
                                    tutti_mesh **m_out) TUTTI_MUST_USE;

/** Make a mesh from the parts of all ranks: the nodes of rank 0 come first, then those of rank
 *  1, and so on; elements likewise.
 *  Collective.
 *  All data is copied.
 *  @param[in] local  first_node, first_element, all_nodes, all_elements and memberships are
 *      ignored; tag, physical and entity may be NULL: tags then count from 1, the others are 0.
 *  @return TUTTI_ERR_ARG if an element has a node that does not exist. */
TUTTI_API tutti_err tutti_mesh_make(MPI_Comm comm, const tutti_mesh_view *local,
                                    tutti_mesh **m_out) TUTTI_MUST_USE;

/** Free a mesh and set the handle to NULL.
 *  Not collective.
 *  `m` and *m may be NULL. */
TUTTI_API void tutti_mesh_free(tutti_mesh **m);

/** Variant of tutti_mesh_view_get for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API tutti_err tutti_mesh_view_sized(const tutti_mesh *m, tutti_mesh_view *out,
                                          size_t struct_size) TUTTI_MUST_USE;
/** Return the slice of this rank.
 *  Not collective. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_view_get(const tutti_mesh *m,
                                                           tutti_mesh_view *out) {
    return tutti_mesh_view_sized(m, out, sizeof *out);
}

/** A physical group: a named set of elements. */
typedef struct tutti_mesh_group {
    int dim, tag; /* tag: value of tutti_mesh_view.physical */
    char name[128];
} tutti_mesh_group;

/** Return the named physical groups, the same on all ranks.
 *  Not collective.
 *  @param[out] groups_out  belongs to the mesh, valid until it is freed.
 *  @return the number of groups. */
TUTTI_API int tutti_mesh_groups(const tutti_mesh *m, const tutti_mesh_group **groups_out);

/** Replace the named physical groups.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_mesh_set_groups(tutti_mesh *m, int n,
                                          const tutti_mesh_group *groups) TUTTI_MUST_USE;

/** Properties of a whole mesh. */
typedef struct tutti_mesh_info {
    tutti_count nodes, elements, of_type[16]; /* elements of each tutti_mesh_type */
    int dim;                                  /* highest dimension of an element; -1: no elements */
    double low[3], high[3];                   /* bounding box; 0 without nodes */
    tutti_count edges;                        /* pairs of neighbours */
    tutti_count isolated_nodes;               /* nodes without an element */
    tutti_count max_neighbours;               /* largest number of neighbours of a node */
    double mean_distance;                     /* mean difference of the numbers of two neighbours */
    tutti_count bandwidth; /* largest difference of the numbers of two neighbours */
    double adjacent_share; /* share of nodes whose successor in the order is a neighbour */
} tutti_mesh_info;

/** Variant of tutti_mesh_describe for bindings of other languages, with the size of their
 *  struct.
 *  Collective. */
TUTTI_API tutti_err tutti_mesh_describe_sized(tutti_mesh *m, tutti_mesh_info *out,
                                              size_t struct_size) TUTTI_MUST_USE;
/** Return counts, extent and the quality of the numbering.
 *  Collective. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_describe(tutti_mesh *m, tutti_mesh_info *out) {
    return tutti_mesh_describe_sized(m, out, sizeof *out);
}

/** File formats. */
typedef enum tutti_mesh_format {
    TUTTI_MESH_NATIVE, /* format of Tutti (docs/reference/meshes.md): each rank writes its slice */
    TUTTI_MESH_GMSH_41,
    TUTTI_MESH_GMSH_41_BINARY,
    TUTTI_MESH_GMSH_22, /* Gmsh formats are written by rank 0 */
    TUTTI_MESH_GMSH_22_BINARY
} tutti_mesh_format;

/** Write a mesh to a new file; an existing file is replaced.
 *  Collective; `path` and `format` must be the same on all ranks.
 *  In Gmsh formats the tags of nodes and elements are their numbers + 1, so that their order is
 *  preserved.
 *  @param[in] opt  NULL: options of the environment. */
TUTTI_API tutti_err tutti_mesh_write(tutti_mesh *m, const char *path, tutti_mesh_format format,
                                     const tutti_options *opt) TUTTI_MUST_USE;
/**@}*/

/** @name Order of the nodes */
/**@{*/
typedef enum tutti_mesh_order {
    TUTTI_MESH_FILE,  /* unchanged */
    TUTTI_MESH_CURVE, /* along the Hilbert curve through the bounding box; in parallel */
    TUTTI_MESH_RCM    /* reverse Cuthill-McKee: small bandwidth; on rank 0 */
} tutti_mesh_order;

/** Renumber the nodes, and redistribute them accordingly; elements are not moved.
 *  Collective; `order` must be the same on all ranks.
 *  The result does not depend on the number of ranks. */
TUTTI_API tutti_err tutti_mesh_renumber(tutti_mesh *m, tutti_mesh_order order) TUTTI_MUST_USE;
/**@}*/

/** @name Partitions */
/**@{*/
typedef enum tutti_mesh_partitioner {
    TUTTI_MESH_METIS,    /* METIS, k-way: few neighbours are separated; on rank 0 */
    TUTTI_MESH_BY_CURVE, /* pieces of the Hilbert curve; in parallel */
    TUTTI_MESH_BY_RCB    /* recursive coordinate bisection; on rank 0 */
} tutti_mesh_partitioner;

/** Return whether METIS is available.
 *  Not collective. */
TUTTI_API int tutti_mesh_has_metis(void);

/** Partition the nodes into parts of about the same load.
 *  Collective; `parts` and `by` must be the same on all ranks.
 *  The result does not depend on the number of ranks, only on the mesh and its order.  METIS is
 *  replaced by coordinate bisection where it is missing (see tutti_mesh_has_metis), where there
 *  are fewer than 16 nodes per partition, where the load of a node exceeds a quarter of that of a
 *  partition, and where it would leave a partition empty; tutti_mesh_partitioned_by returns the
 *  one that was used.  By bisection no partition is empty if there are as many nodes as
 *  partitions.  METIS handles SIGTERM and SIGABRT while it runs: a SIGTERM ends METIS, and this
 *  call fails; afterwards the handlers of the program are restored.
 *  @param[in] parts    >= 1; the number of ranks for tutti_mesh_part_make.
 *  @param[in] load     [nodes of the slice] >= 0; NULL: all are 1.
 *  @param[out] of_out  [nodes of the slice] the partition of each node.
 *  @return TUTTI_ERR_OVERFLOW if the graph is too large for METIS. */
TUTTI_API tutti_err tutti_mesh_partition(tutti_mesh *m, int parts, tutti_mesh_partitioner by,
                                         const tutti_count *load, int *of_out) TUTTI_MUST_USE;

/** Return the partitioner that the last tutti_mesh_partition of this mesh used: a
 *  tutti_mesh_partitioner, -1 if there was none.
 *  Not collective. */
TUTTI_API int tutti_mesh_partitioned_by(const tutti_mesh *m);

/** Quality of a partition. */
typedef struct tutti_mesh_cut {
    int parts, empty;                 /* number of partitions; number of those without nodes */
    tutti_count cut;                  /* pairs of neighbours in different partitions */
    tutti_count shared;               /* nodes that more than one partition holds */
    tutti_count total_nodes;          /* nodes of all partitions, copies included */
    tutti_count min_nodes, max_nodes; /* smallest and largest number of nodes of a partition */
    double min_load;                  /* smallest load of a partition, relative to the mean */
    double max_load;                  /* largest load of a partition, relative to the mean */
} tutti_mesh_cut;

/** Variant of tutti_mesh_cut_get for bindings of other languages, with the size of their
 *  struct.
 *  Collective; `parts` must be the same on all ranks. */
TUTTI_API tutti_err tutti_mesh_cut_sized(tutti_mesh *m, int parts, const int *of,
                                         const tutti_count *load, tutti_mesh_cut *out,
                                         size_t struct_size) TUTTI_MUST_USE;

/** Evaluate any partition.
 *  Collective; `parts` must be the same on all ranks.
 *  @param[in] of, load  [nodes of the slice] as for tutti_mesh_partition; load may be NULL.
 *  @param[out] out      the same on all ranks. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_cut_get(tutti_mesh *m, int parts, const int *of,
                                                          const tutti_count *load,
                                                          tutti_mesh_cut *out) {
    return tutti_mesh_cut_sized(m, parts, of, load, out, sizeof *out);
}

/** Return the partitions that hold each node: its own, then those of its neighbours in their
 *  order.
 *  Collective.
 *  A node held by one partition is *local*, others are *shared*.  The number of partitions is
 *  independent of the number of ranks.
 *  @param[in] of           [nodes of the slice] the partition of each node, >= 0.
 *  @param[out] start_out   [nodes + 1] where the list of each node of the slice begins in
 *      *holder_out.
 *  @param[out] holder_out  the lists; free both with tutti_mesh_lists_free. */
TUTTI_API tutti_err tutti_mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                                        int **holder_out) TUTTI_MUST_USE;
/** Free the lists of tutti_mesh_classify and set both pointers to NULL.
 *  Not collective. */
TUTTI_API void tutti_mesh_lists_free(tutti_count **start, int **holder);
/**@}*/

/** @name Parts
 *  Rank p holds the nodes of partition p, which it owns, copies of all their neighbours (the
 *  halo), and every element that has a node of its own. */
/**@{*/
typedef struct tutti_mesh_part tutti_mesh_part;

/** The part of this rank.  Pointers belong to the part and are valid until it is freed.  Nodes
 *  are numbered locally: own nodes first, then copies; both ascending by number.  Later
 *  versions add fields at the end. */
typedef struct tutti_mesh_part_view {
    tutti_count nodes, own_nodes;
    const tutti_count *number; /* [nodes] in the order of the mesh, for replicas.h */
    const unsigned char *own;  /* [nodes] 1: own node, 0: copy */
    const int *owner;          /* [nodes] rank that owns the node */
    const double *coordinates; /* [3 * nodes] x y z */
    const int64_t *tag;        /* [nodes] */
    /* [nodes + 1] where the ranks of each node begin in `holder` */
    const tutti_count *holder_start;
    const int *holder; /* ranks that hold each node: its owner, then the others */

    tutti_count elements, own_elements; /* own: elements whose node of lowest number is own */
    const tutti_count *element;         /* [elements] position in the mesh; ascending */
    const unsigned char *element_own;   /* [elements] 1: own; every element is owned by one rank */
    const uint8_t *type;                /* [elements] tutti_mesh_type */
    const int32_t *physical, *entity;   /* [elements] */
    const tutti_count *start; /* [elements + 1] where the nodes of each element begin in `node` */
    const int *node;          /* local numbers of nodes */

    int peers;                     /* number of ranks with which values are exchanged */
    const int *peer;               /* [peers] ascending */
    const tutti_count *send_start; /* [peers + 1] where the nodes for a peer begin in `send` */
    const int *send;               /* local numbers of own nodes */
    /* [peers + 1] where the nodes from a peer begin in `receive` */
    const tutti_count *receive_start;
    const int *receive; /* local numbers of copies */

    tutti_count all_nodes, all_elements; /* nodes and elements of the whole mesh */
} tutti_mesh_part_view;

/** Distribute the mesh: partition p to rank p.
 *  Collective.
 *  A rank may have no nodes.
 *  @param[in] of      [nodes of the slice] the partition of each node, 0 ... ranks - 1.
 *  @param[out] p_out  free it with tutti_mesh_part_free; the mesh is not needed any longer.
 *  @return TUTTI_ERR_ARG for a partition that is not a rank; TUTTI_ERR_OVERFLOW for 2^31 nodes
 *      on a rank. */
TUTTI_API tutti_err tutti_mesh_part_make(tutti_mesh *m, const int *of,
                                         tutti_mesh_part **p_out) TUTTI_MUST_USE;

/** Free a part and set the handle to NULL.
 *  Not collective.
 *  `p` and *p may be NULL. */
TUTTI_API void tutti_mesh_part_free(tutti_mesh_part **p);

/** Variant of tutti_mesh_part_get for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API tutti_err tutti_mesh_part_sized(const tutti_mesh_part *p, tutti_mesh_part_view *out,
                                          size_t struct_size) TUTTI_MUST_USE;
/** Return the part of this rank.
 *  Not collective. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_part_get(const tutti_mesh_part *p,
                                                           tutti_mesh_part_view *out) {
    return tutti_mesh_part_sized(p, out, sizeof *out);
}

/** Update the copies with the values of their owners.
 *  Collective; `per_node` must be the same on all ranks.
 *  @param[in,out] values  [nodes * per_node]: values of own nodes are sent, those of copies are
 *      set. */
TUTTI_API tutti_err tutti_mesh_part_exchange(tutti_mesh_part *p, double *values,
                                             int per_node) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
