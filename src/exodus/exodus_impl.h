/* exodus: an Exodus file as its ranks have it.
 *
 *   topology        names of topologies: nodes, sides, nodes of sides                     no MPI
 *   model           what a file has: parameters, entities, variables, truth tables        no MPI
 *   model_cdf       a model as netCDF dimensions and variables, and back                  no MPI
 *   sidecar         the database beside the file, by one rank                             no MPI
 *   exodus_object   the object: agreements, what rank 0 reads for all
 *   exodus_define   definitions, and their end: the header and what it lists are written
 *   exodus_open     create, open, close, refresh, files that follow each other
 *   arrays          where arrays lie; pieces of them put and got
 *   pieces          pieces of many arrays in one operation
 *   mesh_ids        ids of all ranks to positions in the file
 *   mesh_check ... mesh_put     a mesh by ids: counted, ordered, written (family.h)
 *   mesh_entries ... mesh_get   elements dealt out to ranks, halos; a mesh read so (deal.h)
 *   nemesis         borders of a partition, written and read
 *   steps           steps begin, are put, committed, got, followed
 *   exodus_sums     checksums of steps and of the mesh; verify
 *   exodus_ask      looking at a file; notes
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_IMPL_H
#define TUTTI_EXODUS_IMPL_H

#include <tutti/exodus.h>
#include "base/options_impl.h"
#include "cdf/cdf.h"
#include "collective/layer.h"
#include "comm/call.h"
#include "dataset/decomposition.h"
#include "exodus/model.h"

typedef struct tutti__sidecar tutti__sidecar;

/* Entries of an entity that this rank has, by put_mesh or get_mesh. */
typedef struct tutti__exodus_held {
    tutti_exodus_kind kind;
    tutti_count number; /* of the kind; 0: nodes */
    tutti_count own;    /* the first so many are its own; the rest is halo */
    tutti_decomposition *entries;
} tutti__exodus_held;

struct tutti_exodus {
    tutti__handle handle;
    tutti__team *team;
    char *path;  /* of the file that it is on */
    char *first; /* of the first file */
    int mode, defining;
    tutti_exodus_options opt;
    tutti_options io;
    tutti__exodus_model model;
    tutti__cdf cdf; /* once definitions have ended */
    tutti_file *file;
    tutti__sidecar *sidecar; /* rank 0 */
    char warning[256];
    tutti__exodus_held *held; /* by kind and number; NULL: no mesh yet */
    tutti_count held_n;
    struct tutti__exodus_dealt *dealt; /* what get_mesh gave; mesh_get.c */
    struct tutti__nemesis_found *found; /* what nemesis_get gave; nemesis_get.c */
    const struct tutti__partition *partition; /* the mesh that is being put; NULL: none (nemesis.h) */
    struct tutti__exodus_step *step;   /* that has begun; steps.c */
};

/* ---- exodus_object.c */
tutti_err tutti__exodus_live(const tutti_exodus *x) TUTTI_MUST_USE;
/* Open a call: all ranks are in it, mean the same (a hash) and have nothing against it. */
tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash,
                             tutti_err mine) TUTTI_MUST_USE;
/* A later agreement of the same call. */
tutti_err tutti__exodus_agree(tutti_exodus *x, tutti_err mine) TUTTI_MUST_USE;
/* Rank 0's bytes for all, of any length; *data is allocated on the others. */
tutti_err tutti__exodus_tell(tutti_exodus *x, void **data, size_t *bytes) TUTTI_MUST_USE;

/* ---- exodus_define.c */
/* End the definitions: all counts of the model are known.  Header, names, ids and whatever else is not
 * an array of the mesh are in the file; x->cdf says where arrays lie; x->file is open.   Collective. */
tutti_err tutti__exodus_finish_definitions(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- arrays.c */
/* Where an array lies in the file. */
typedef struct tutti__exodus_place {
    tutti_off at;        /* of its first number */
    tutti_count entries; /* and how many */
    tutti_count numbers; /* of an entry */
    tutti_type type;     /* in the file; byte order: big-endian */
} tutti__exodus_place;
/* TUTTI_ERR_NOT_FOUND: the file has no such array.   Local. */
tutti_err tutti__exodus_place_of(const tutti_exodus *x, const tutti_exodus_array *a,
                                 tutti__exodus_place *out) TUTTI_MUST_USE;
/* That of a variable of an entity in a step (from 1).   Local. */
tutti_err tutti__exodus_place_of_field(const tutti_exodus *x, tutti_exodus_kind kind,
                                       tutti_count number, int variable, tutti_count step,
                                       tutti__exodus_place *out) TUTTI_MUST_USE;
/* One operation on the file: parts are described in the file's types (parts.h); `mine` is what this rank
 * has against it.  Writes of the mesh and of steps keep their checksums (exodus_sums.c).   Collective. */
tutti_err tutti__exodus_move(tutti_exodus *x, int is_write, tutti_count n, const tutti_part *parts,
                             tutti_err mine) TUTTI_MUST_USE;

/* ---- mesh_put.c, mesh_get.c */
/* What this rank has of an entity; NULL: there is no mesh.   Local. */
const tutti__exodus_held *tutti__exodus_held_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                tutti_count number);
void tutti__exodus_held_free(tutti_exodus *x);
/* What get_mesh and nemesis_get gave: for close. */
void tutti__exodus_dealt_free(tutti_exodus *x);

/* ---- nemesis.c */
/* Dimensions and variables of Nemesis for a partition, before the layout; then their contents.  What is
 * in between is kept in *state.   Collective. */
struct tutti__nemesis;
tutti_err tutti__nemesis_make(tutti_exodus *x, struct tutti__nemesis **state) TUTTI_MUST_USE;
tutti_err tutti__nemesis_define(struct tutti__nemesis *state, tutti__cdf *cdf) TUTTI_MUST_USE;
tutti_err tutti__nemesis_write(tutti_exodus *x, struct tutti__nemesis *state) TUTTI_MUST_USE;
void tutti__nemesis_free(struct tutti__nemesis **state);

#endif
