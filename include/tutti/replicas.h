/* Tutti: items that several ranks hold, and which copy is written.
 *
 * Unstructured programs hold scattered items (mesh nodes, cells, particles) with global numbers,
 * and those on borders are on several ranks with the same values.  In the file every item is once,
 * in the order of the numbers.  Which of its holders writes it decides how long the runs are that a
 * rank writes, and so the speed (Filgueira et al., Interval Data Grouping).
 *
 * An inspector is made once: from the numbers that each rank holds it works out where every item is
 * in the file and who writes it, and gives two accesses: what this rank writes, and all that it
 * holds.  Both are ordinary accesses, for any file that is open on the same ranks and for every
 * call that takes one.
 *
 *     tutti_replicas_spec spec = {.n = n, .numbers = node, .load = 1, .value_bytes = 8};
 *     err = tutti_replicas_create(MPI_COMM_WORLD, &spec, &r);
 *     if (!err) err = tutti_replicas_write(f, 0, r, potential, TUTTI_REPLICAS_CHECK);
 *     if (!err) err = tutti_replicas_read(f, 0, r, potential);     on any number of ranks
 *     tutti_replicas_free(&r);
 *
 * Collectivity as in file.h.  What is said to agree is compared before anything is done:
 * TUTTI_ERR_MISMATCH on all ranks if it does not.  An inspector belongs to one thread at a time;
 * calls that ask may be made by several.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale file handle (tutti_replicas_check:
 * inspector) has no communicator: only that rank gets the error, and the others, which cannot
 * detect it, wait.  A NULL or stale inspector in tutti_replicas_write and tutti_replicas_read
 * fails on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPLICAS_H
#define TUTTI_REPLICAS_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>

TUTTI_BEGIN_DECLS

/** @name Rules: who of its holders writes an item */
/**@{*/
/* X(name, text, help).  Items before and behind are those with the existing numbers before and
 * behind in the file, items without load left out. */
#define TUTTI_RULE_TABLE(X)                                                                     \
    X(IDG2, idg2, "the fewest intervals: as long a run as any holder can write, then the next") \
    X(IDG, idg,                                                                                 \
      "the writer of the item before if it holds this one, else the owner of the next if it "   \
      "does, else its own")                                                                     \
    X(OWN, own, "its owner, as the partitioner has it")                                         \
    X(FIRST, first, "the lowest rank that holds it")                                            \
    X(RANDOM, random, "one that a hash of seed and number picks")

/** How writers are chosen.  `idg` and `own` need to know the owners. */
typedef enum tutti_replicas_rule {
#define TUTTI_RULE_ENUM(name, text, help) TUTTI_REPLICAS_##name,
    TUTTI_RULE_TABLE(TUTTI_RULE_ENUM)
#undef TUTTI_RULE_ENUM
} tutti_replicas_rule;

/** "idg2" and so on; "" for unknown rules.   Local. */
TUTTI_API const char *tutti_replicas_rule_name(tutti_replicas_rule rule);

/** The rule of that name.   Local.   @return TUTTI_ERR_ARG if there is none */
TUTTI_API tutti_err tutti_replicas_rule_parse(const char *name,
                                              tutti_replicas_rule *out) TUTTI_MUST_USE;

/** A rule and what it needs to know; all 0 is `idg2` without a limit. */
typedef struct tutti_replicas_choice {
    tutti_replicas_rule rule;
    uint64_t seed; /* of `random`, and of `idg2` where several ranks could write a run */
    /* No rank should write more than this times the mean, in bytes: 0 for no limit, otherwise >= 1.
     * What the rule has chosen is then changed: first where runs meet, which costs nothing, then by
     * cutting runs.  A heuristic: statistics say what was reached, and what it cost in intervals */
    double balance;
    int64_t reserved[4]; /* 0: for later versions */
} tutti_replicas_choice;
/**@}*/

/** @name Statistics */
/**@{*/
/** What a choice of writers comes to, the same on all ranks.  Items without load do not count.  An
 *  interval is a run of neighbouring items with one writer.  Later versions add fields at the
 *  end. */
typedef struct tutti_replicas_stats {
    int ranks;             /* that hold items or could: the parts of a partition */
    int writers;           /* those that write any */
    tutti_count items;     /* different ones, all ranks together */
    tutti_count copies;    /* held by all ranks together: items + replicas */
    tutti_count shared;    /* items that several ranks hold */
    double replication;    /* per cent of the items that are shared */
    tutti_off bytes;       /* of all items: the extent in the file, if no positions are given */
    tutti_count intervals; /* in all; Table 4 of the paper has intervals / ranks */
    double mean_interval;  /* items / intervals */
    double mean_of_means;  /* mean over the writers of each one's items / intervals (Table 4) */
    double balance_items;  /* (max - min) / mean of the items that ranks write: formula (1) */
    double balance_bytes;  /* the same of bytes */
    tutti_off least, most; /* bytes that a rank writes */
    tutti_count rule_intervals; /* before the balance limit: intervals - this is its cost */
    tutti_off rule_most;        /* `most` before the limit */
    int balanced;               /* 1: `most` is within the limit, or there is none */
} tutti_replicas_stats;

/** What one rank writes. */
typedef struct tutti_replicas_share {
    tutti_count items;
    tutti_count intervals;
    tutti_off bytes;
} tutti_replicas_share;
/**@}*/

/** @name Inspectors */
/**@{*/
typedef struct tutti_replicas tutti_replicas;

/** What this rank holds, in the order of its memory.  Begin with = {0} or name the fields. */
typedef struct tutti_replicas_spec {
    tutti_count n;          /* items, copies included; 0 is fine */
    const int64_t *numbers; /* [n] global numbers >= 0, in any order, none twice; gaps are fine */
    /* [n] 1: this rank owns the item, 0: it has a copy.  Every item has exactly one owner.  NULL on
     * all ranks that hold items: nobody says; then the rules `idg` and `own` are refused */
    const unsigned char *own;
    /* [n] values of each item, >= 0, the same for all copies; NULL: `load` for all.  Items
     * without load are in no access and have no writer */
    const tutti_count *loads;
    tutti_count load;      /* where loads is NULL; each rank's own, copies must have the same */
    tutti_off value_bytes; /* of a value, >= 1; agrees */
    /* [n] where the values of each item begin, in bytes from `buf`; NULL: one after the other */
    const tutti_off *memory_offsets;
    tutti_replicas_choice choice; /* agrees */
    /* Number of different items in the file, items without load included; 0: unknown.  Agrees.  It
     * proves that the ranks together name all items although their numbers have gaps */
    tutti_count items;
    /* [n] where each item begins in the file, in bytes from the offset of the call: needed to read
     * or write some of the items of a file.  Positions rise with the numbers, items do not overlap,
     * and copies have the same position.  NULL on all ranks that hold items: the sum of the sizes
     * of all items with smaller numbers */
    const tutti_off *positions;
    int64_t reserved[6]; /* 0: for later versions */
} tutti_replicas_spec;

/** Make an inspector.   Collective; value_bytes, choice, items and whether there are owners and
 *  positions agree.
 *  Nothing of the spec is kept.  Work and memory of a rank: its items, and its share of all items,
 *  by ranges of numbers; nobody sees everything.
 *  @param[in] comm  is not kept
 *  @param[out] r_out  free it with tutti_replicas_free
 *  @return the same on all ranks, with the number and the ranks in the message: TUTTI_ERR_ARG for a
 *      negative number, one twice on a rank, a negative load; TUTTI_ERR_MISMATCH for an item
 *      without an owner or with two, copies whose loads or positions differ, or ranks that together
 *      do not name `items` items and give no positions; TUTTI_ERR_OVERFLOW beyond 2^62 bytes */
TUTTI_API tutti_err tutti_replicas_create(MPI_Comm comm, const tutti_replicas_spec *spec,
                                          tutti_replicas **r_out) TUTTI_MUST_USE;

/** Free it and null the handle; NULL is fine.   Local.   If the communicator it was made for has
 *  been freed before, all ranks do so.  What the calls below return a pointer to goes with it. */
TUTTI_API void tutti_replicas_free(tutti_replicas **r);

/** What this rank writes: the items whose writer it is, out of its memory, at offset 0 of a file
 *  (tutti_access_shift, or a plan's displacement, for others).   Local.
 *  @return the inspector's, NULL for a stale handle: then a write is refused on all ranks */
TUTTI_API const tutti_access *tutti_replicas_write_access(const tutti_replicas *r);

/** What this rank holds, copies too.   Local.   Unlike tutti_replicas_read, a read with this access
 *  is not checked: without positions in the spec, the ranks must name all items of the file.
 *  @return as above */
TUTTI_API const tutti_access *tutti_replicas_read_access(const tutti_replicas *r);

/** Where each of this rank's items begins in the file, in bytes, in the spec's order; for an item
 *  without load where it would.   Local.   @return [n], the inspector's */
TUTTI_API const tutti_off *tutti_replicas_positions(const tutti_replicas *r);

/** The rank that writes each of them, -1 for an item without load.   Local.
 *  @return [n], the inspector's */
TUTTI_API const int *tutti_replicas_writers(const tutti_replicas *r);

/** Bytes of all items that the ranks name.   Local. */
TUTTI_API tutti_off tutti_replicas_bytes(const tutti_replicas *r);

/** tutti_replicas_stats_get for bindings of other languages, which say how many bytes they have for
 *  the struct.   Local. */
TUTTI_API tutti_err tutti_replicas_stats_sized(const tutti_replicas *r, tutti_replicas_stats *out,
                                               size_t struct_size) TUTTI_MUST_USE;

/** What the choice of writers comes to.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_replicas_stats_get(const tutti_replicas *r,
                                                                tutti_replicas_stats *out) {
    return tutti_replicas_stats_sized(r, out, sizeof *out);
}

/** What a rank writes, any rank.   Local.   @return TUTTI_ERR_ARG if there is no such rank */
TUTTI_API tutti_err tutti_replicas_share_get(const tutti_replicas *r, int rank,
                                             tutti_replicas_share *out) TUTTI_MUST_USE;
/**@}*/

/** @name Checking, writing, reading
 *  `buf` is this rank's memory: the items' values, as the spec says where. */
/**@{*/
/** Do all copies agree, bit by bit?   Collective.   Compares a hash per item; nothing is written.
 *  @return TUTTI_ERR_MISMATCH on all ranks if they do not, with item, ranks and the first value
 *      that differs in the message, for the lowest number of such an item */
TUTTI_API tutti_err tutti_replicas_check(tutti_replicas *r, const void *buf) TUTTI_MUST_USE;

#define TUTTI_REPLICAS_CHECK 1 /* check first; nothing is written if copies differ */

/** Write all items to a file, each once, from `offset` on.   Collective on the ranks of the file,
 *  which are the inspector's; the inspector, offset and flags agree.
 *  @param[in] flags  0 or TUTTI_REPLICAS_CHECK */
TUTTI_API tutti_err tutti_replicas_write(tutti_file *f, tutti_off offset, tutti_replicas *r,
                                         const void *buf, int flags) TUTTI_MUST_USE;

/** Read all items that this rank holds, copies too.   Collective likewise.   The position of an item
 *  depends on all items before it.  So either the ranks together name the items 0, 1, 2, ... without
 *  a gap, or the spec has `items` or `positions`.
 *  @return TUTTI_ERR_STATE if numbers have gaps and the spec has neither, with the first number that
 *      is missing in the message; TUTTI_ERR_TRUNCATED if the file ends before the items do */
TUTTI_API tutti_err tutti_replicas_read(tutti_file *f, tutti_off offset, tutti_replicas *r,
                                        void *buf) TUTTI_MUST_USE;
/**@}*/

/** @name The same in one process, for any number of parts.   Local, no MPI. */
/**@{*/
/** Items in the order of the file and who holds each: the paper's partition lists. */
typedef struct tutti_replicas_lists {
    tutti_count n;            /* items */
    int parts;                /* holders are 0 ... parts - 1 */
    const tutti_count *start; /* [n + 1] */
    /* item i is held by holders[start[i]] ... holders[start[i + 1] - 1], at least one, none twice;
     * the first one is its owner, the others come in any order */
    const int *holders;
    const int64_t *numbers;   /* [n] rising, for `random`; NULL: 0 ... n - 1 */
    const tutti_count *loads; /* [n], NULL: `load` for all */
    tutti_count load;
    tutti_off value_bytes; /* >= 1 */
    int64_t reserved[4];   /* 0: for later versions */
} tutti_replicas_lists;

/** tutti_replicas_choose for bindings of other languages, which say how many bytes they have for
 *  the statistics.   Local. */
TUTTI_API tutti_err tutti_replicas_choose_sized(const tutti_replicas_lists *lists,
                                                const tutti_replicas_choice *choice,
                                                int *writers_out, tutti_replicas_share *shares_out,
                                                tutti_replicas_stats *stats_out,
                                                size_t struct_size) TUTTI_MUST_USE;

/** Choose the writers of all items: exactly those that tutti_replicas_create chooses on as many
 *  ranks as there are parts.   Local.
 *  @param[out] writers_out  [n], -1 for an item without load
 *  @param[out] shares_out   NULL, or [parts]   @param[out] stats_out  NULL, or all together
 *  @return TUTTI_ERR_ARG for lists or a choice that cannot be */
TUTTI_MUST_USE static inline tutti_err tutti_replicas_choose(const tutti_replicas_lists *lists,
                                                             const tutti_replicas_choice *choice,
                                                             int *writers_out,
                                                             tutti_replicas_share *shares_out,
                                                             tutti_replicas_stats *stats_out) {
    return tutti_replicas_choose_sized(lists, choice, writers_out, shares_out, stats_out,
                                       sizeof(tutti_replicas_stats));
}
/**@}*/

TUTTI_END_DECLS
#endif
