/* exodus: a mesh of a file dealt out to ranks.
 *
 *   mesh_entries   entries of blocks read by their positions
 *   mesh_incidence which elements each node is in; who has what
 *   mesh_deal      whose the elements are: by order, METIS, curve, list; halos
 *   mesh_members   members of sets, to the ranks that have their nodes and elements
 *   mesh_get ...   the call: all of it as a mesh (getting.h)
 *
 * Whatever the file has n of, rank r is *home* of a slice (tutti__mesh_first): it knows who has the
 * items of its slice, and sends on what is meant for them.  No rank has everything.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DEAL_H
#define TUTTI_DEAL_H

#include "exodus/family.h"
#include "exodus/pieces.h"
#include "mesh/mesh_impl.h"

/* ---- mesh_entries.c */

/* Items and where the numbers of each begin. */
typedef struct tutti__entries {
    tutti_count n;
    tutti_count *position; /* [n] rising, among all of the kind, from 0 */
    tutti_count *start;    /* [n + 1] */
    tutti_count *to;       /* nodes (nfaced: faces), from 0 */
} tutti__entries;
void tutti__entries_free(tutti__entries *e);

/* Entries of the blocks of a kind before each: [n + 1], tutti__free.   NULL: no memory. */
tutti_count *tutti__starts_of(const tutti__exodus_model *m, tutti_exodus_kind kind);
/* Which block position p is in. */
tutti_count tutti__entity_at(const tutti_count *starts, tutti_count n, tutti_count p);
/* Read what the entries at n rising positions have.   Collective. */
tutti_err tutti__entries_read(tutti_exodus *x, tutti_exodus_kind kind, tutti_count n,
                              const tutti_count *position, tutti_err mine,
                              tutti__entries *out) TUTTI_MUST_USE;
/* Faces of nfaced elements become their nodes, each once.   Collective. */
tutti_err tutti__entries_to_nodes(tutti_exodus *x, tutti__entries *e) TUTTI_MUST_USE;
/* Sorted, each once; how many are left. */
tutti_count tutti__once_each(tutti_count *v, tutti_count n);
/* What all entries lead to, each once: tutti__free.   Local. */
tutti_err tutti__entries_targets(const tutti__entries *e, tutti_count *n_out,
                                 tutti_count **out) TUTTI_MUST_USE;
/* Where x is in n rising numbers; -1: nowhere. */
tutti_count tutti__find_rising(const tutti_count *v, tutti_count n, tutti_count x);

/* ---- mesh_incidence.c */

/* Of the items of this rank's slice: what is listed with each. */
typedef struct tutti__incidence {
    tutti_count all, first, n;
    tutti_count *start; /* [n + 1] */
    tutti_count *with;  /* rising for each item, each once */
} tutti__incidence;
void tutti__incidence_free(tutti__incidence *i);
/* Pairs of all ranks: item (below `all`) and what it is with.   Collective. */
typedef struct tutti__pair {
    tutti_count item, with;
} tutti__pair;
tutti_err tutti__incidence_make(tutti__team *t, tutti_count all, tutti_count n,
                                const tutti__pair *pairs, tutti_err mine,
                                tutti__incidence *out) TUTTI_MUST_USE;
/* What is with n rising items, of any rank's slice.   Collective. */
tutti_err tutti__incidence_ask(tutti__team *t, const tutti__incidence *i, tutti_count n,
                               const tutti_count *items, tutti_err mine,
                               tutti__entries *out) TUTTI_MUST_USE;

/* Who has the items of a slice: `with` is 2 * rank, + 1 if it has it only as halo.  What nobody has goes
 * to its home, or to rank 0: *items_out is made longer, and stays rising.   Collective. */
typedef struct tutti__claim {
    tutti_count all;
    tutti_count n;
    tutti_count *items;  /* [n] rising: replaced by a longer list */
    unsigned char *halo; /* [n] or NULL: none; likewise */
    int on_root;
} tutti__claim;
tutti_err tutti__claims_make(tutti__team *t, tutti__claim *c, tutti_err mine,
                             tutti__incidence *out) TUTTI_MUST_USE;

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
