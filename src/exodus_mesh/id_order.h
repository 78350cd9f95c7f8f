/* exodus_mesh: numbers of all ranks to positions.
 *
 * Entries of classes (nodes, elements of all blocks, members of all sets of a kind) have numbers, and several
 * ranks may have an entry.  Positions are those of the entries without duplicates: entity after entity, in each
 * entity by ascending number.
 *
 *     rank 0: 7 9 | 4        rank 1: 9 8 | 4 5          blocks 0 | 1
 *             0 2 | 3                2 1 | 3 4          positions: 7 8 9 | 4 5
 *
 *   id_order   this rank's entries: runs of consecutive numbers, sent to the ranks of their ranges; the answers
 *   id_range   the numbers in the range of this rank: counted, compared, their writers chosen
 *
 * All classes of a round are ordered together: one choice of ranges (decomposition/splitters.h), one gather of sums, and sparse
 * exchanges.  No rank has a table of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ID_ORDER_H
#define TUTTI_ID_ORDER_H

#include "comm/sparse.h"
#include "comm/vote.h"
#include "decomposition/splitters.h"
#include "exodus/entity_class.h"

/* A class of entities that is to be ordered. */
typedef struct tutti__ids {
    tutti__entity_class *class; /* in: entities, start, weight; out: everything else but kind */
    const char *what;           /* an entry, for messages: "node", "element" */
    /* [n] >= 0; NULL on all ranks that have entries: positions are in rank order in each entity */
    const int64_t *number;
    /* A hash of entry i, called for copies once all positions are known: copies must have the
     * same; NULL: none. */
    uint64_t (*check)(const void *context, tutti_count i);
    const char *checked; /* the hashed data, for messages: "nodes" */
    /* The id of entity c, for messages; NULL: c. */
    int64_t (*entity_id)(const void *context, tutti_count c);
    /* Entry i of this rank, for messages; NULL: "WHAT id NUMBER". */
    void (*name)(const void *context, tutti_count i, char *out, size_t room);
    const void *context;
} tutti__ids;

enum { TUTTI__IDS_CLASSES = 5 }; /* at most in a round */

/* The communication buffers of a round, which every rank must have before any rank starts it. */
typedef struct tutti__ids_round {
    tutti_count entities; /* of all classes */
    tutti_count also;     /* further values that are summed */
    tutti__splitting *splitting;
    int64_t *sums;      /* vectors, see id_order.c */
    int64_t *also_sums; /* [also] in: of this rank; out: of all ranks */
} tutti__ids_round;
tutti_err tutti__ids_round_make(tutti__team *t, tutti_count entities, tutti_count also,
                                tutti__ids_round *out) TUTTI_MUST_USE;
void tutti__ids_round_free(tutti__ids_round *r);

/* Order n classes.  local_err: the error of this rank so far; other ranks must not depend on it.   Collective; n and
 * the numbers of entities must be the same on all ranks.
 * @param choice   the rule for entries that several ranks have: first, random, idg2
 * @return the outcome of this rank; errors that are found before positions are sent are the same on all ranks.
 *     With rank and entry: TUTTI_ERR_ARG for a duplicate number on a rank, or one in two entities; TUTTI_ERR_MISMATCH for
 *     copies that differ, and for numbers on some ranks only */
tutti_err tutti__ids_order(tutti__team *t, tutti__ids_round *r, const tutti_replicas_choice *choice,
                           int n, const tutti__ids *ids, tutti_err local_err) TUTTI_MUST_USE;

/* ---- id_range.c: for id_order.c */

/* Consecutive numbers of one entity with the same weight, as they are sent. */
typedef struct tutti__id_run {
    int64_t number;
    tutti_count count;
    tutti_count entity; /* among those of all classes of the round */
    tutti_count weight;
} tutti__id_run;

/* The answer: the position of the first of them in its entity. */
typedef struct tutti__id_place {
    tutti_count position, at;
} tutti__id_place;

/* Numbers that several ranks have. */
typedef struct tutti__id_shared {
    int64_t number;
    tutti_count count;
    tutti_count entity;
    int64_t is_first, is_writer;
} tutti__id_shared;

/* Numbers with the same holders. */
typedef struct tutti__id_interval {
    int64_t number;
    tutti_count count;
    tutti_count entity;
    tutti_count holders, holders_n; /* in `holder`, ascending */
    int writer;
} tutti__id_interval;

/* The range of this rank. */
typedef struct tutti__id_range {
    int n; /* classes */
    const tutti__ids *ids;
    const tutti_count *first_entity; /* [n + 1] of each class */
    int sources;
    const tutti__sparse_message *in; /* [sources] runs, those of a class in one piece */
    tutti_count runs;                /* of all sources */
    tutti__id_place *place;          /* [runs] in the order of the messages */
    tutti_count *count, *weights;    /* [entities] */
    int64_t *least, *most;           /* [entities] numbers */
    tutti_count intervals;
    size_t intervals_room;
    tutti__id_interval *interval;
    tutti_count holders;
    size_t holders_room;
    int *holder;
    tutti_count shared;  /* intervals with several holders */
    tutti_count checked; /* those among them whose class has a check */
} tutti__id_range;

/* Count the numbers of all messages, find intervals.   Not collective. */
tutti_err tutti__id_range_count(tutti__id_range *r) TUTTI_MUST_USE;
/* Choose the writers of shared intervals.   Not collective. */
tutti_err tutti__id_range_writers(tutti__id_range *r,
                                  const tutti_replicas_choice *choice) TUTTI_MUST_USE;
/* Compare the checks that the holders of shared intervals have sent, in their order.   Not collective. */
tutti_err tutti__id_range_compare(const tutti__id_range *r, int n,
                                  const tutti__sparse_message *checks) TUTTI_MUST_USE;
/* The class of an entity of the round. */
int tutti__id_class(const tutti_count *first_entity, tutti_count entity);
void tutti__id_range_free(tutti__id_range *r);

#endif
