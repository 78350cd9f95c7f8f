/* tutti exodus diff: common declarations of its parts.
 *
 *   outcomes        values of a kind and a name: differences and their maximum        exodus_outcome.c
 *   definitions     definitions in one file only                                      exodus_diff.c
 *   mesh            nodes, elements, sets, matched by id                     exodus_diff_mesh.c
 *   variables       step by step                                                      exodus_diff_steps.c
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_EXODUS_DIFF_H
#define TUTTI_CLI_EXODUS_DIFF_H

#include "exodus/cmd_exodus.h"

/* Differences of the values compared under one name, on this rank; at the end over all ranks. */
typedef struct exodus_outcome {
    char *name;      /* name of the values, for example "temperature" */
    const char *of;  /* kind of the entities: "nodal", "element block" ... */
    double limit[2]; /* tolerances: absolute, relative */
    tutti_count numbers, different;
    double absolute, relative; /* largest differences */
    char place[200];           /* location of the largest absolute difference */
} exodus_outcome;

/* Nodes, or entries of an entity, that exist in both files, in the same order. */
typedef struct exodus_common {
    tutti_count n;
    int64_t *id, *side;              /* [n] ids and sides, for messages */
    tutti_decomposition *entries[2]; /* decomposition in each file; NULL if not needed */
} exodus_common;

typedef struct exodus_comparison {
    const cli_world *world;
    const data_config *config;
    tutti_exodus *x[2];
    exodus_outline o[2];
    exodus_outcome *outcome;
    int outcomes;
    char **only;
    int onlys;
    /* [kind][number of the entity in the first file] */
    exodus_common *common[TUTTI_EXODUS_KINDS];
    tutti_count commons[TUTTI_EXODUS_KINDS];
} exodus_comparison;

/* ---- exodus_outcome.c */
/* Return the index of the outcome of a name.  The outcome is created if necessary, in the same order on all
 * ranks. */
int exodus_outcome_of(exodus_comparison *k, const char *name, const char *of);
/* Compare two values; return 1 if the difference is the largest so far and the caller must set `place`. */
int exodus_outcome_add(exodus_outcome *o, double a, double b);
/* Record a difference other than of values; takes ownership of the text. */
void exodus_only(exodus_comparison *k, char *text);
/* Combine the outcomes of all ranks on rank 0.  Collective. */
void exodus_outcomes_sum(exodus_comparison *k);
/* Return the entity of the second file that has the id of entity `number` of the first file; -1: none. */
tutti_count exodus_other(const exodus_comparison *k, int kind, tutti_count number);
/* Format "element 17", "element 17, side 2" or "node 3". */
void exodus_place_text(int kind, int64_t id, int64_t side, char *out, size_t size);

/* ---- exodus_diff_mesh.c, exodus_diff_sets.c, exodus_diff_steps.c: return 0, or 1 and a message.
 * Collective. */
int exodus_diff_mesh(exodus_comparison *k);
int exodus_diff_sets(exodus_comparison *k);
int exodus_diff_steps(exodus_comparison *k);
/* Report the number of entries in one file only: `counts` of each file, and the smallest id `firsts`. */
void report_serial(exodus_comparison *k, const char *what, tutti_count counts[2],
                   int64_t firsts[2]);
/* Create the decompositions of the pairs of an entity, from their positions in it. */
int exodus_common_make(exodus_comparison *k, int kind, tutti_count number, const exodus_pair *pairs,
                       tutti_count n, exodus_common *out);
/* Compare the values of common entries, all components. */
int exodus_compare_arrays(exodus_comparison *k, const exodus_common *c, int outcome,
                          tutti_exodus_array a);

#endif
