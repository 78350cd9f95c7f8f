/* exodus_mesh: conversion of the numbers of all ranks to positions.
 *
 * Entries of classes (nodes, elements of all blocks, members of all sets of a kind) have numbers,
 * and several ranks may have an entry.  Positions count the entries without duplicates: one entity
 * after the other, and within an entity by ascending number.
 *
 *     rank 0: 7 9 | 4        rank 1: 9 8 | 4 5          blocks 0 | 1
 *             0 2 | 3                2 1 | 3 4          positions: 7 8 9 | 4 5
 *
 *   id_order   sends this rank's entries as runs of consecutive numbers to the ranks of their
 *              ranges
 *   id_range   counts and compares the numbers in the range of this rank, and chooses their writers
 *
 * All classes of a round are ordered together, with one choice of ranges
 * (decomposition/splitters.h), one gather of sums, and sparse exchanges.  No rank has a table of
 * all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ID_ORDER_H
#define TUTTI_ID_ORDER_H

#include "comm/sparse.h"
#include "comm/vote.h"
#include "decomposition/splitters.h"
#include "exodus/entity_class.h"

/* A class of entities that is to be ordered. */
typedef struct tutti__ids {
    tutti__entity_class *class; /* in: entities, start, weight; out: all other fields except kind */
    const char *what;           /* noun for an entry in messages: "node", "element" */
    /* [n] >= 0; NULL on all ranks with entries: positions are in rank order within each entity */
    const int64_t *number;
    /* Return a hash of entry i, called for copies after all positions are known; copies must have
     * the same hash.  NULL: no check. */
    uint64_t (*check)(const void *context, tutti_count i);
    const char *checked; /* noun for the hashed data in messages: "nodes" */
    /* return the id of entity c for messages; NULL: use c */
    int64_t (*entity_id)(const void *context, tutti_count c);
    /* print entry i of this rank for messages; NULL: print "WHAT id NUMBER" */
    void (*name)(const void *context, tutti_count i, char *out, size_t capacity);
    const void *context;
} tutti__ids;

enum { TUTTI__IDS_CLASSES = 5 }; /* maximum number of classes in a round */

/* The communication buffers of a round, which every rank must have allocated before any rank starts
 * the round. */
typedef struct tutti__ids_round {
    tutti_count entities; /* number of entities of all classes */
    tutti_count also;     /* number of further values that are summed */
    tutti__splitting *splitting;
    int64_t *checksums;      /* vectors, see id_order.c */
    int64_t *also_checksums; /* [also] in: values of this rank; out: sums over all ranks */
} tutti__ids_round;
tutti_err tutti__ids_round_make(tutti__team *t, tutti_count entities, tutti_count also,
                                tutti__ids_round *out) TUTTI_MUST_USE;
void tutti__ids_round_free(tutti__ids_round *r);

/* Order n classes.  local_err: the error of this rank so far, which other ranks need not know.
 * Collective; n and the numbers of entities must be the same on all ranks.
 * @param choice   the rule for entries that several ranks have: first, random, idg2
 * @return the error code of this rank; errors that are found before positions are sent are the same
 *     on all ranks.  TUTTI_ERR_ARG for a duplicate number on a rank, or a number in two entities;
 *     TUTTI_ERR_MISMATCH for copies that differ, and for numbers on some ranks only; the messages
 *     name rank and entry */
tutti_err tutti__ids_order(tutti__team *t, tutti__ids_round *r, const tutti_replicas_choice *choice,
                           int n, const tutti__ids *ids, tutti_err local_err) TUTTI_MUST_USE;

/* ---- id_range.c: for id_order.c */

/* Consecutive numbers of one entity with the same weight, as sent in messages. */
typedef struct tutti__id_run {
    int64_t number;
    tutti_count count;
    tutti_count entity; /* index of the entity among those of all classes of the round */
    tutti_count weight;
} tutti__id_run;

/* Answer to a run: the position of its first number within the entity. */
typedef struct tutti__id_place {
    tutti_count position, at;
} tutti__id_place;

/* An interval of numbers that several ranks have. */
typedef struct tutti__id_shared {
    int64_t number;
    tutti_count count;
    tutti_count entity;
    int64_t is_first, is_writer;
} tutti__id_shared;

/* An interval of numbers with the same holders. */
typedef struct tutti__id_interval {
    int64_t number;
    tutti_count count;
    tutti_count entity;
    /* index of the first in `holder`, whose ranks ascend; number of holders */
    tutti_count holders, holders_n;
    int writer;
} tutti__id_interval;

/* State of the range of this rank. */
typedef struct tutti__id_range {
    int n; /* number of classes */
    const tutti__ids *ids;
    const tutti_count *first_entity; /* [n + 1] index of the first entity of each class */
    int sources;
    /* [sources] messages with runs; the runs of a class are contiguous */
    const tutti__sparse_message *in;
    tutti_count runs;             /* number of runs of all sources */
    tutti__id_place *place;       /* [runs] in the order of the messages */
    tutti_count *count, *weights; /* [entities] */
    int64_t *least, *most;        /* [entities] minimum and maximum number */
    tutti_count intervals;
    size_t intervals_room;
    tutti__id_interval *interval;
    tutti_count holders;
    size_t holders_room;
    int *holder;
    tutti_count shared;  /* number of intervals with several holders */
    tutti_count checked; /* number of these intervals whose class has a check */
} tutti__id_range;

/* Count the numbers of all messages, and find intervals.   Not collective. */
tutti_err tutti__id_range_count(tutti__id_range *r) TUTTI_MUST_USE;
/* Choose the writers of shared intervals.   Not collective. */
tutti_err tutti__id_range_writers(tutti__id_range *r,
                                  const tutti_replicas_choice *choice) TUTTI_MUST_USE;
/* Compare the checks that the holders of shared intervals have sent, in the order of the intervals.
 * Not collective. */
tutti_err tutti__id_range_compare(const tutti__id_range *r, int n,
                                  const tutti__sparse_message *checks) TUTTI_MUST_USE;
/* Return the class of an entity of the round. */
int tutti__id_class(const tutti_count *first_entity, tutti_count entity);
void tutti__id_range_free(tutti__id_range *r);

#endif
