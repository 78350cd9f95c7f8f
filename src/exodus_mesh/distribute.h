/* exodus_mesh: a mesh of a file dealt out to ranks.
 *
 *   mesh_entries   entries of blocks read by their positions
 *   mesh_deal      whose the elements are: by order, METIS, curve, list; halos
 *   mesh_members   members of sets, to the ranks that have their nodes and elements
 *   mesh_get ...   the call: all of it as a mesh (getting.h)
 *
 * Nodes, elements and members are divided into shares (decomposition/shares.h): a rank knows which ranks have
 * the items of its share.  No rank has everything.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DEAL_H
#define TUTTI_DEAL_H

#include "decomposition/incidence.h"
#include "exodus_mesh/positions.h"
#include "exodus/array_values.h"

/* ---- mesh_entries.c */

/* Entries of the blocks of a kind before each: [n + 1], tutti__free.   NULL: no memory. */
tutti_count *tutti__starts_of(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Read what the entries at n rising positions have.   Collective. */
tutti_err tutti__entries_read(tutti_exodus *x, tutti_exodus_kind kind, tutti_count n,
                              const tutti_count *position, tutti_err mine,
                              tutti__entries *out) TUTTI_MUST_USE;
/* Faces of nfaced elements become their nodes, each once.   Collective. */
tutti_err tutti__entries_to_nodes(tutti_exodus *x, tutti__entries *e) TUTTI_MUST_USE;

/* ---- mesh_deal.c */

/* Elements of this rank. */
typedef struct tutti__dealt_elements {
    tutti_count n;
    tutti_count *position; /* [n] rising */
    unsigned char *halo;   /* [n] 1: not its own */
} tutti__dealt_elements;
tutti_err tutti__deal_check(const tutti_exodus *x, const tutti_exodus_deal *deal) TUTTI_MUST_USE;
tutti_err tutti__deal_elements(tutti_exodus *x, const tutti_exodus_deal *deal,
                               tutti__dealt_elements *out) TUTTI_MUST_USE;

/* ---- mesh_members.c */

/* A member of a set that concerns a rank. */
enum { NO_FACTORS = -1 };
typedef struct tutti__member {
    tutti_count index;    /* among all members of all sets of the kind */
    tutti_count position; /* of the node, element ... */
    tutti_count at; /* its factors in the set, or NO_FACTORS: their number is not as it should be */
    int32_t side, weight; /* 0: none; factors of it */
} tutti__member;
/* Those of this rank, rising by index.  holders: of the kind of entries that they are.  Sets whose factors are ignored are
 * named in x->mesh_warning.  Collective. */
tutti_err tutti__members_deal(tutti_exodus *x, tutti_exodus_kind kind,
                              const tutti__incidence *holders, tutti_count *n_out,
                              tutti__member **out) TUTTI_MUST_USE;

#endif
