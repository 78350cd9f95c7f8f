/* exodus_mesh: distribution of the mesh of a file to ranks.
 *
 *   block_entries         entries of blocks, read by their positions
 *   distribute_elements   choice of the ranks of elements: by order, METIS, curve, list; halos
 *   holders               the ranks that have each entry
 *   distribute_members    members of sets, sent to the ranks that have their nodes and elements
 *   get_mesh ...          the call, which returns a mesh (read_state.h)
 *
 * Nodes, elements and members are divided into shares (decomposition/shares.h): a rank knows the
 * ranks that have the entries of its share.  No rank has the complete mesh.
 *
 * Functions take the error of this rank so far (local_err), and return the error code of this rank;
 * the callers agree on it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DISTRIBUTE_H
#define TUTTI_DISTRIBUTE_H

#include "decomposition/incidence.h"
#include "exodus/array_values.h"
#include "exodus_mesh/positions.h"

/* ---- block_entries.c */

/* Return the number of entries of all preceding blocks (members of all preceding sets) of a kind,
 * [n + 1]; the caller frees it with tutti__free.  Returns NULL if out of memory. */
tutti_count *tutti__starts_of(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Read the lists of the entries at n ascending positions.   Collective. */
tutti_err tutti__entries_read(tutti_exodus *x, tutti_exodus_kind kind, tutti_count n,
                              const tutti_count *position, tutti_err local_err,
                              tutti__entries *out) TUTTI_MUST_USE;
/* Replace the faces of nfaced elements by their nodes, each once.   Collective. */
tutti_err tutti__entries_to_nodes(tutti_exodus *x, tutti_err local_err,
                                  tutti__entries *e) TUTTI_MUST_USE;

/* ---- distribute_elements.c */

/* Elements that this rank has. */
typedef struct tutti__local_elements {
    tutti_count n;
    tutti_count *position; /* [n] ascending */
    unsigned char *halo;   /* [n] 1: the element belongs to another rank */
} tutti__local_elements;
tutti_err tutti__distribution_check(const tutti_exodus *x,
                                    const tutti_exodus_distribution *spec) TUTTI_MUST_USE;
/* Distribute the elements of the file.   Collective. */
tutti_err tutti__distribute_elements(tutti_exodus *x, const tutti_exodus_distribution *spec,
                                     tutti_err local_err,
                                     tutti__local_elements *out) TUTTI_MUST_USE;

/* ---- holders.c */

/* Items that this rank has. */
typedef struct tutti__claim {
    tutti_count all;
    tutti_count n;
    tutti_count *items;  /* [n] ascending */
    unsigned char *halo; /* [n] 1: ghost; NULL: there are none */
    int on_root;
} tutti__claim;

enum { TUTTI__ASSIGNED = -1 };
/* The holders of the entries of this rank's share. */
typedef struct tutti__holders {
    tutti_count all; /* number of entries of all shares */
    tutti_count n;
    /* [n] ascending, without gaps; `writer` is the owner, or TUTTI__ASSIGNED */
    tutti__id_interval *interval;
    int *holder; /* holders of all intervals as 2 * rank, + 1 for a ghost */
} tutti__holders;
/* Find the holders of the entries that ranks claim.  Entries without a holder are assigned to the
 * rank of their share, or to rank 0: c->items and c->halo are then replaced by longer arrays.
 * owner_out may be NULL; (*owner_out)[i] is 1 if this rank owns item i of c.   Collective. */
tutti_err tutti__holders_make(tutti__team *t, tutti_err local_err, tutti__claim *c,
                              unsigned char **owner_out, tutti__holders *out) TUTTI_MUST_USE;
/* Return the interval of a position of this share.   Not collective. */
const tutti__id_interval *tutti__holders_find(const tutti__holders *h, tutti_count position);
void tutti__holders_free(tutti__holders *h);
/* Return whether the intervals of a share cover lo ... hi - 1 without gaps, each with holders in
 * ascending order.  For TUTTI_ASSERT. */
int tutti__holders_is_valid(const tutti__holders *h, tutti_count lo, tutti_count hi);

/* ---- distribute_members.c */

enum { NO_FACTORS = -1 };
/* A member of a set that is sent to a rank. */
typedef struct tutti__member {
    tutti_count index;    /* index among all members of all sets of the kind */
    tutti_count position; /* position of the node, element ... */
    /* index of its first factor in the set; NO_FACTORS: the set has a wrong number of factors */
    tutti_count at;
    int32_t side, weight; /* side (0: none); number of factors */
    int64_t kind;
} tutti__member;
/* Get the members of all kinds of sets for this rank, ascending by index.  holders: by kind of
 * entries, NULL if the file has none.  Sets whose factors are ignored are named in x->mesh_warning.
 * Collective. */
tutti_err tutti__distribute_members(tutti_exodus *x, tutti_err local_err,
                                    const tutti__holders *const *holders, tutti_count *n_out,
                                    tutti__member **out) TUTTI_MUST_USE;

#endif
