/* Tutti: unstructured meshes: read, numbered, partitioned and handed out, by all ranks together.
 *
 *      tutti_mesh_open(comm, "device.msh", NULL, &mesh);      every rank has a slice of it
 *      tutti_mesh_renumber(mesh, TUTTI_MESH_CURVE);           neighbours lie close in files
 *      tutti_mesh_view_get(mesh, &slice);
 *      of = malloc(slice.nodes * sizeof *of);
 *      tutti_mesh_partition(mesh, ranks, TUTTI_MESH_METIS, NULL, of);
 *      tutti_mesh_part_make(mesh, of, &part);                 rank p: partition p and its border
 *      tutti_mesh_free(&mesh);
 *      tutti_mesh_part_get(part, &p);
 *      u = calloc(p.nodes, sizeof *u);
 *      for (...) {
 *          compute u[0 ... p.own_nodes - 1] from u[0 ... p.nodes - 1]
 *          tutti_mesh_part_exchange(part, u, 1);              copies follow their owners
 *      }
 *      spec = {.n = p.nodes, .numbers = p.number, .own = p.own, .load = 1, .value_bytes = 8};
 *      tutti_replicas_create(comm, &spec, &r);                and write u, see replicas.h
 *      tutti_mesh_part_free(&part);
 *
 * A mesh is held in slices: of N nodes rank r has those with numbers from N * r / ranks to
 * N * (r + 1) / ranks - 1, of the elements likewise; no rank needs to hold all of it (but for what
 * is said to be done on rank 0).  A node's *number* is its position in the mesh's order, 0 to
 * N - 1: that is what files are written by.  Its *tag* is the number that it had in the file it came
 * from. Nodes that an element has in common are *neighbours*.
 *
 * Collectivity as in file.h.  What is said to agree is compared before anything is done:
 * TUTTI_ERR_MISMATCH on all ranks if it does not (options: rank 0's are used).  A collective call
 * returns the same on all ranks.  A mesh and its parts belong to one thread at a time.  Before MPI_Init
 * and after MPI_Finalize every call fails with TUTTI_ERR_STATE, except those that free.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale handle of a mesh or part has no
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
/* X(name, dimension, nodes, number in Gmsh's files, text).  Values are never renumbered: they stand
 * in files. */
#define TUTTI_ELEMENT_TABLE(X)       \
    X(POINT, 0, 1, 15, "point")      \
    X(LINE, 1, 2, 1, "line")         \
    X(TRIANGLE, 2, 3, 2, "triangle") \
    X(QUAD, 2, 4, 3, "quadrangle")   \
    X(TET, 3, 4, 4, "tetrahedron")   \
    X(HEX, 3, 8, 5, "hexahedron")    \
    X(PRISM, 3, 6, 6, "prism")       \
    X(PYRAMID, 3, 5, 7, "pyramid")

/** What an element is; its nodes come in Gmsh's order. */
typedef enum tutti_mesh_type {
#define TUTTI_ELEMENT_ENUM(name, dim, nodes, gmsh, text) TUTTI_MESH_##name,
    TUTTI_ELEMENT_TABLE(TUTTI_ELEMENT_ENUM)
#undef TUTTI_ELEMENT_ENUM
        TUTTI_MESH_TYPES
} tutti_mesh_type;

enum { TUTTI_MESH_MOST_NODES = 8 }; /* of an element */

/** Nodes of an element; 0 for unknown types.   Local. */
TUTTI_API int tutti_mesh_type_nodes(int type);
/** Its dimension, 0 to 3; -1 for unknown types.   Local. */
TUTTI_API int tutti_mesh_type_dim(int type);
/** "tetrahedron" and so on; "" for unknown types.   Local. */
TUTTI_API const char *tutti_mesh_type_name(int type);
/**@}*/

/** @name Meshes */
/**@{*/
typedef struct tutti_mesh tutti_mesh;

/** A further physical group of elements, of which `physical` in the view is the first: elements of
 *  this dimension, entity and first group are in the group `tag`, too. */
typedef struct tutti_mesh_membership {
    int dim, entity, physical, tag;
} tutti_mesh_membership;

/** This rank's slice of a mesh.  Of one that was given: pointers are the mesh's, and good until it
 *  is renumbered or freed.  Later versions add fields at the end. */
typedef struct tutti_mesh_view {
    tutti_count nodes, first_node; /* of this rank; the number of the first */
    const double *coordinates;     /* [3 * nodes] x y z */
    const int64_t *tag;            /* [nodes] */
    tutti_count elements, first_element;
    const uint8_t *type;      /* [elements] tutti_mesh_type */
    const int32_t *physical;  /* [elements] tag of its first physical group (region), 0: none */
    const int32_t *entity;    /* [elements] tag of the geometry's entity that it lies in, 0: none */
    const tutti_count *start; /* [elements + 1] where its nodes begin in `node` */
    const tutti_count *node;  /* [start[elements]] numbers of nodes, of all ranks' */
    tutti_count all_nodes, all_elements;     /* of all ranks */
    tutti_count memberships;                 /* further groups of elements; the same on all ranks */
    const tutti_mesh_membership *membership; /* [memberships] in the order of its fields */
} tutti_mesh_view;

/** Read a mesh from a file: Gmsh's formats 4.1 and 2.2, as text or binary, with elements of the
 *  types above; or Tutti's own.  Which one it is, its first bytes tell.   Collective, path agrees.
 *  Gmsh's files are read by rank 0 and dealt out; Tutti's own by all ranks, each its slice.
 *  Elements of other dimensions than the highest stay in it (boundaries, with their physical
 *  groups).  An element has the physical groups of its entity, partitioned entities included: the
 *  first is in `physical` of the view, the others are in `membership`.  Format 2.2 repeats an element
 *  for each further group; it is read once.  Periodicity, partitions, parametric coordinates and
 *  data sections are skipped.
 *  @param[in] opt  NULL: those of the environment
 *  @param[out] m_out  free it with tutti_mesh_free
 *  @return TUTTI_ERR_FORMAT with the line (text) or byte (binary) that is wrong, also for nodes
 *      that are missing; TUTTI_ERR_UNSUPPORTED for other versions and for elements that are not
 *      linear */
TUTTI_API tutti_err tutti_mesh_open(MPI_Comm comm, const char *path, const tutti_options *opt,
                                    tutti_mesh **m_out) TUTTI_MUST_USE;

/** Make a mesh from what every rank has of it: rank 0's nodes come first, then those of rank 1,
 *  and so on; elements the same.   Collective.   Everything is copied.
 *  @param[in] mine  of it first_node, first_element, all_nodes, all_elements and memberships are ignored;
 *      tag, physical and entity may be NULL: tags count from 1, the others are 0
 *  @return TUTTI_ERR_ARG also for an element with a node that does not exist */
TUTTI_API tutti_err tutti_mesh_make(MPI_Comm comm, const tutti_mesh_view *mine,
                                    tutti_mesh **m_out) TUTTI_MUST_USE;

/** Free it and null the handle; NULL is fine.   Local. */
TUTTI_API void tutti_mesh_free(tutti_mesh **m);

/** tutti_mesh_view_get for bindings of other languages, which say how many bytes they have for the
 *  struct.   Local. */
TUTTI_API tutti_err tutti_mesh_view_sized(const tutti_mesh *m, tutti_mesh_view *out,
                                          size_t struct_size) TUTTI_MUST_USE;
/** This rank's slice.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_view_get(const tutti_mesh *m,
                                                           tutti_mesh_view *out) {
    return tutti_mesh_view_sized(m, out, sizeof *out);
}

/** A physical group: elements that the geometry's author gave a name. */
typedef struct tutti_mesh_group {
    int dim, tag; /* tag: what tutti_mesh_view.physical has */
    char name[128];
} tutti_mesh_group;

/** The named physical groups, on every rank.   Local.
 *  @param[out] groups_out  the mesh's, good until it is freed   @return how many */
TUTTI_API int tutti_mesh_groups(const tutti_mesh *m, const tutti_mesh_group **groups_out);

/** Name the physical groups; those that it had are forgotten.   Collective, all arguments agree. */
TUTTI_API tutti_err tutti_mesh_set_groups(tutti_mesh *m, int n,
                                          const tutti_mesh_group *groups) TUTTI_MUST_USE;

/** Numbers that describe a whole mesh. */
typedef struct tutti_mesh_info {
    tutti_count nodes, elements, of_type[16]; /* elements of each tutti_mesh_type */
    int dim;                                  /* of the elements of highest dimension; -1: none */
    double low[3], high[3];                   /* bounding box; 0 without nodes */
    tutti_count edges;                        /* pairs of neighbours */
    tutti_count alone;                        /* nodes that are in no element */
    tutti_count most_neighbours;              /* of a node */
    double distance;                          /* |number - number| of two neighbours: mean */
    tutti_count bandwidth;                    /* and largest */
    double steps; /* share of nodes whose successor in the order is a neighbour */
} tutti_mesh_info;

/** tutti_mesh_describe with the caller's size of the struct.   Collective. */
TUTTI_API tutti_err tutti_mesh_describe_sized(tutti_mesh *m, tutti_mesh_info *out,
                                              size_t struct_size) TUTTI_MUST_USE;
/** Counts, extent, and how good the numbering is: how far apart neighbours lie.   Collective. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_describe(tutti_mesh *m, tutti_mesh_info *out) {
    return tutti_mesh_describe_sized(m, out, sizeof *out);
}

/** Formats of files. */
typedef enum tutti_mesh_format {
    TUTTI_MESH_NATIVE, /* Tutti's own (docs/reference/meshes.md): written by all ranks, each its slice */
    TUTTI_MESH_GMSH_41,
    TUTTI_MESH_GMSH_41_BINARY,
    TUTTI_MESH_GMSH_22, /* the last four: all of it goes through rank 0 */
    TUTTI_MESH_GMSH_22_BINARY
} tutti_mesh_format;

/** Write it to a new file (an old one of that name is replaced).   Collective, path and format
 *  agree. Gmsh's formats: tags of nodes are their numbers + 1, of elements too: what order they
 *  are in would otherwise get lost.
 *  @param[in] opt  NULL: those of the environment */
TUTTI_API tutti_err tutti_mesh_write(tutti_mesh *m, const char *path, tutti_mesh_format format,
                                     const tutti_options *opt) TUTTI_MUST_USE;
/**@}*/

/** @name Order of the nodes */
/**@{*/
typedef enum tutti_mesh_order {
    TUTTI_MESH_FILE,  /* as it is */
    TUTTI_MESH_CURVE, /* along Hilbert's curve through the bounding box; in parallel */
    TUTTI_MESH_RCM    /* reverse Cuthill-McKee: small bandwidth; on rank 0, the whole graph */
} tutti_mesh_order;

/** Give the nodes new numbers, and deal them out accordingly.  Elements stay where they are.   The
 *  outcome does not depend on the number of ranks.   Collective, order agrees. */
TUTTI_API tutti_err tutti_mesh_renumber(tutti_mesh *m, tutti_mesh_order order) TUTTI_MUST_USE;
/**@}*/

/** @name Partitions */
/**@{*/
typedef enum tutti_mesh_by {
    TUTTI_MESH_METIS,    /* METIS, k-way: few neighbours are parted; on rank 0, the whole graph */
    TUTTI_MESH_BY_CURVE, /* pieces of Hilbert's curve; in parallel */
    TUTTI_MESH_BY_RCB    /* recursive coordinate bisection; on rank 0, coordinates of all nodes */
} tutti_mesh_by;

/** Is METIS built in?   Local. */
TUTTI_API int tutti_mesh_has_metis(void);

/** Divide the nodes among partitions of about the same load.   Collective, parts and by agree.
 *  The outcome does not depend on the number of ranks, only on the mesh and its order.  METIS is
 *  replaced by coordinate bisection where it is missing (see tutti_mesh_has_metis), where there are
 *  fewer than 16 nodes per partition, where the load of a node exceeds a quarter of that of a
 *  partition, and where it would leave a partition empty: tutti_mesh_partitioned_by returns which one
 *  was used.  By bisection no partition is empty if there are as many nodes as partitions.  While METIS runs it has handlers of SIGTERM and SIGABRT: a SIGTERM
 *  then ends METIS, and this call by an error; afterwards the program's are back.
 *  @param[in] parts    >= 1; as many as there are ranks for tutti_mesh_part_make
 *  @param[in] load     [nodes of the slice] >= 0; NULL: all are 1
 *  @param[out] of_out  [nodes of the slice] the partition of each node
 *  @return TUTTI_ERR_OVERFLOW if the graph is too large for METIS */
TUTTI_API tutti_err tutti_mesh_partition(tutti_mesh *m, int parts, tutti_mesh_by by,
                                         const tutti_count *load, int *of_out) TUTTI_MUST_USE;

/** The partitioner that the last tutti_mesh_partition of this mesh used: a tutti_mesh_by, -1 if there
 *  was none.   Local. */
TUTTI_API int tutti_mesh_partitioned_by(const tutti_mesh *m);

/** How good a partition is. */
typedef struct tutti_mesh_cut {
    int parts, empty;        /* how many there are; of them without a node */
    tutti_count cut;         /* pairs of neighbours in different partitions */
    tutti_count shared;      /* nodes that more than one partition holds */
    tutti_count held;        /* nodes of all partitions, copies included */
    tutti_count least, most; /* nodes of a partition */
    double lightest;         /* load of a partition, as a share of the mean: the least */
    double heaviest;         /* and the largest */
} tutti_mesh_cut;

/** tutti_mesh_cut_get with the caller's size of the struct. */
TUTTI_API tutti_err tutti_mesh_cut_sized(tutti_mesh *m, int parts, const int *of,
                                         const tutti_count *load, tutti_mesh_cut *out,
                                         size_t struct_size) TUTTI_MUST_USE;

/** Look at a partition, whoever made it.   Collective, parts agrees.
 *  @param[in] of, load  [nodes of the slice] as for tutti_mesh_partition; load may be NULL
 *  @param[out] out      on all ranks */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_cut_get(tutti_mesh *m, int parts, const int *of,
                                                          const tutti_count *load,
                                                          tutti_mesh_cut *out) {
    return tutti_mesh_cut_sized(m, parts, of, load, out, sizeof *out);
}

/** Which partitions hold each node: its own one, then those of its neighbours, in the order of
 *  these. A node that one holds is *local*, others are *shared*.   Collective.
 *  Any number of partitions: ranks do not count.
 *  @param[in] of          [nodes of the slice] the partition of each node, >= 0
 *  @param[out] start_out  [nodes + 1] where the list of each node of the slice begins in
 *      *holder_out
 *  @param[out] holder_out both: to be freed by tutti_mesh_lists_free */
TUTTI_API tutti_err tutti_mesh_classify(tutti_mesh *m, const int *of, tutti_count **start_out,
                                        int **holder_out) TUTTI_MUST_USE;
/** Free what classify gave and null both; NULL is fine.   Local. */
TUTTI_API void tutti_mesh_lists_free(tutti_count **start, int **holder);
/**@}*/

/** @name Parts: what a rank computes on
 *  Rank p holds the nodes of partition p, which are its own, and copies of all their neighbours;
 *  and every element that has a node of its own. */
/**@{*/
typedef struct tutti_mesh_part tutti_mesh_part;

/** What this rank holds.  Pointers are the part's, and good until it is freed.  Nodes are numbered
 *  locally: own ones first, then copies; in each of the two, ascending by number.  Later versions
 *  add fields at the end. */
typedef struct tutti_mesh_part_view {
    tutti_count nodes, own_nodes;
    const tutti_count *number;       /* [nodes] in the mesh's order: what replicas.h is given */
    const unsigned char *own;        /* [nodes] 1: its own, 0: a copy */
    const int *owner;                /* [nodes] the rank whose own it is */
    const double *coordinates;       /* [3 * nodes] x y z */
    const int64_t *tag;              /* [nodes] */
    const tutti_count *holder_start; /* [nodes + 1] where its ranks begin in `holder` */
    const int *holder;               /* ranks that hold it: its owner, then the others */

    tutti_count elements, own_elements; /* own: those whose node of lowest number is */
    const tutti_count *element; /* [elements] position in the mesh; ascending, all in one order */
    const unsigned char *element_own; /* [elements] 1: its own; every element is one rank's */
    const uint8_t *type;              /* [elements] tutti_mesh_type */
    const int32_t *physical, *entity; /* [elements] */
    const tutti_count *start;         /* [elements + 1] where its nodes begin in `node` */
    const int *node;                  /* local numbers of nodes */

    int peers;                     /* ranks that it exchanges values with */
    const int *peer;               /* [peers] ascending */
    const tutti_count *send_start; /* [peers + 1] of those in `send` that go to a peer */
    const int *send;               /* local numbers of own nodes */
    const tutti_count *get_start;  /* [peers + 1] of those in `get` that come from a peer */
    const int *get;                /* local numbers of copies */

    tutti_count all_nodes, all_elements; /* of the mesh */
} tutti_mesh_part_view;

/** Hand the mesh out: partition p to rank p.   Collective.   A rank may get nothing.
 *  @param[in] of      [nodes of the slice] the partition of each node, 0 ... ranks - 1
 *  @param[out] p_out  free it with tutti_mesh_part_free; the mesh is not needed any more
 *  @return TUTTI_ERR_ARG for a partition that no rank has; TUTTI_ERR_OVERFLOW for 2^31 nodes on a
 *      rank */
TUTTI_API tutti_err tutti_mesh_part_make(tutti_mesh *m, const int *of,
                                         tutti_mesh_part **p_out) TUTTI_MUST_USE;

/** Free it and null the handle; NULL is fine.   Local. */
TUTTI_API void tutti_mesh_part_free(tutti_mesh_part **p);

/** tutti_mesh_part_get with the caller's size of the struct.   Local. */
TUTTI_API tutti_err tutti_mesh_part_sized(const tutti_mesh_part *p, tutti_mesh_part_view *out,
                                          size_t struct_size) TUTTI_MUST_USE;
/** What this rank holds.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_mesh_part_get(const tutti_mesh_part *p,
                                                           tutti_mesh_part_view *out) {
    return tutti_mesh_part_sized(p, out, sizeof *out);
}

/** Give copies the values of their owners.   Collective, per_node agrees.
 *  @param[in,out] values  [nodes * per_node]: those of own nodes are sent, those of copies are set
 *      */
TUTTI_API tutti_err tutti_mesh_part_exchange(tutti_mesh_part *p, double *values,
                                             int per_node) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
