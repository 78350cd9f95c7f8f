/* Tutti: replicas: items that several ranks hold, and the choice of the rank that writes each.
 *
 * Unstructured programs hold scattered items (mesh nodes, cells, particles) with global numbers.
 * An item that several ranks hold has one *copy* on each of them, with the same values; one of
 * these ranks may be its owner.  The file contains every item once, in the order of the numbers.
 * The choice of the writer determines how long the runs of a rank are, and therefore the number
 * of file requests (Interval Data Grouping, see References).
 *
 * A `tutti_replicas` object, the *inspector* of the inspector/executor model, is created once per
 * partition of the mesh and used for any number of writes and reads.  From the numbers that each
 * rank holds it computes the position of every item in the file and the rank that writes it, and
 * provides two accesses: the items that this rank writes, and all items that it holds.  Both can
 * be used with any file that is open on the same ranks.
 *
 *     tutti_replicas_spec spec = {.n = n, .numbers = node, .load = 1, .value_bytes = 8};
 *     err = tutti_replicas_create(MPI_COMM_WORLD, &spec, &r);
 *     if (!err) err = tutti_replicas_write(f, 0, r, potential, TUTTI_REPLICAS_CHECK);
 *     if (!err) err = tutti_replicas_read(f, 0, r, potential);
 *     tutti_replicas_free(&r);
 *
 * file.h defines the term "collective call".  Arguments that must be the same on all ranks are
 * compared first; if they differ, all ranks return TUTTI_ERR_MISMATCH.  One thread at a time may
 * use an inspector; calls that only query it may be made by several.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale file handle to tutti_replicas_write
 * or tutti_replicas_read, or such an inspector to tutti_replicas_check, has no communicator: only
 * that rank gets the error, and the others, which cannot detect it, wait.  A NULL or stale
 * inspector in tutti_replicas_write and tutti_replicas_read fails on all ranks.
 *
 * References.  R. Filgueira, D. Singh, F. Isaila, J. Carretero and A. Garcia Loureiro, Optimization
 * and evaluation of parallel I/O in BIPS3D parallel irregular application.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_REPLICAS_H
#define TUTTI_REPLICAS_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/access.h>
#include <tutti/file.h>

TUTTI_BEGIN_DECLS

/** @name Owner rules */
/**@{*/
/* X(name, text, help).  Previous and next items are those with the previous and next existing
 * number in the file; items without load are ignored. */
#define TUTTI_RULE_TABLE(X)                                                                     \
    X(IDG2, idg2,                                                                               \
      "each run is extended as long as some rank holds all of its items: the fewest intervals") \
    X(IDG, idg,                                                                                 \
      "the writer of the previous item, if it holds this item; otherwise the owner of the "     \
      "next item, if that rank holds this item; otherwise the owner of this item (the rule of " \
      "the paper)")                                                                             \
    X(OWN, own, "the owner assigned by the partitioner")                                        \
    X(FIRST, first, "the lowest rank that holds the item")                                      \
    X(RANDOM, random, "a holder of the item, chosen by a hash of seed and number")

/** How writers are chosen.  `idg` and `own` need owners. */
typedef enum tutti_replicas_rule {
#define TUTTI_RULE_ENUM(name, text, help) TUTTI_REPLICAS_##name,
    TUTTI_RULE_TABLE(TUTTI_RULE_ENUM)
#undef TUTTI_RULE_ENUM
} tutti_replicas_rule;

/** Return the name of a rule, for example "idg2"; "" for unknown rules.
 *  Not collective. */
TUTTI_API const char *tutti_replicas_rule_name(tutti_replicas_rule rule);

/** Find a rule by its name.
 *  Not collective.
 *  @return TUTTI_ERR_ARG if the name is unknown. */
TUTTI_API tutti_err tutti_replicas_rule_parse(const char *name,
                                              tutti_replicas_rule *out) TUTTI_MUST_USE;

/** A rule and its parameters; all 0: `idg2` without a limit.  Without a limit one rank may write
 *  much more than the others: if all ranks hold all items, one rank writes everything.  Set
 *  `balance`, for example to 1.2, to prevent this. */
typedef struct tutti_replicas_choice {
    tutti_replicas_rule rule;
    uint64_t seed; /* seed of `random`, and of `idg2` if several ranks could write a run */
    /* limit of the bytes that a rank writes, as a multiple of the mean: 0 for no limit,
     * otherwise >= 1.  With a limit the choice of the rule is changed, first where runs meet,
     * then by cutting runs.  This is a heuristic; the statistics contain the result */
    double balance;
    int64_t reserved[4]; /* 0: for later versions */
} tutti_replicas_choice;
/**@}*/

/** @name Statistics */
/**@{*/
/** The result of a choice of writers, the same on all ranks.  Items without load do not count.
 *  An interval is a run of neighbouring items with one writer.  Later versions add fields at
 *  the end. */
typedef struct tutti_replicas_stats {
    int ranks;          /* ranks of the communicator, or parts of a partition */
    int writers;        /* ranks that write any item */
    tutti_count items;  /* different items of all ranks */
    tutti_count copies; /* copies on all ranks, the owners' included: the sum of n */
    tutti_count shared; /* items that several ranks hold */
    double replication; /* shared items in percent of all items */
    /* bytes of all items, which is their extent in the file if no positions are given */
    tutti_off bytes;
    tutti_count intervals; /* number of intervals; Table 4 of the paper has intervals / ranks */
    double mean_interval;  /* items / intervals */
    double mean_of_means;  /* mean over the writers of items / intervals of each (Table 4) */
    double balance_items;  /* (max - min) / mean of the items that ranks write: formula (1) */
    double balance_bytes;  /* the same for bytes */
    tutti_off min_bytes, max_bytes; /* bytes that a rank writes */
    tutti_count rule_intervals;     /* intervals before the balance limit was applied */
    tutti_off rule_max_bytes;       /* `max_bytes` before the limit was applied */
    int balanced;                   /* 1: `max_bytes` is within the limit, or there is none */
} tutti_replicas_stats;

/** The items that one rank writes. */
typedef struct tutti_replicas_share {
    tutti_count items;
    tutti_count intervals;
    tutti_off bytes;
} tutti_replicas_share;
/**@}*/

/** @name Inspectors */
/**@{*/
typedef struct tutti_replicas tutti_replicas;

/** The items of this rank, in the order of its memory.  Initialize it with {0} or designated
 *  initializers. */
typedef struct tutti_replicas_spec {
    tutti_count n; /* number of items of this rank; may be 0 */
    /* [n] global numbers >= 0 in any order, without duplicates; gaps are allowed */
    const int64_t *numbers;
    /* [n] 1: this rank owns the item, 0: another rank does.  Every item must have exactly one
     * owner.  If NULL on all ranks that hold items, owners are unknown, and the rules `idg` and
     * `own` fail */
    const unsigned char *own;
    /* [n] values per item, >= 0, the same for all copies; NULL: `load` for all.  Items without
     * load are in no access and have no writer */
    const tutti_count *loads;
    tutti_count load;      /* values per item if loads is NULL; the same for all copies */
    tutti_off value_bytes; /* bytes per value, >= 1; same on all ranks */
    /* [n] position of the values of each item in bytes from `buf`; NULL: consecutive */
    const tutti_off *memory_offsets;
    tutti_replicas_choice choice; /* same on all ranks */
    /* number of different items in the file, items without load included; 0: unknown.  Same on
     * all ranks.  With it the library can verify that the ranks together name all items, even if
     * the numbers have gaps */
    tutti_count items;
    /* [n] position of each item in the file, in bytes from the offset of the call: needed to
     * read or write some of the items of a file.  Positions increase with the numbers, items do
     * not overlap, and copies have the same position.  If NULL on all ranks that hold items, the
     * position of an item is the sum of the sizes of all items with smaller numbers that the
     * ranks name */
    const tutti_off *positions;
    int64_t reserved[6]; /* 0: for later versions */
} tutti_replicas_spec;

/** Create an inspector.
 *  Collective; value_bytes, choice, items, and whether there are owners and positions, must be
 *  the same on all ranks.
 *  The spec is copied.  Memory and time per rank are proportional to its number of items plus the
 *  number of all items divided by the number of ranks.
 *  @param[in] comm    The communicator is duplicated.
 *  @param[out] r_out  Free the inspector with tutti_replicas_free.
 *  @return TUTTI_ERR_ARG for a negative number, a duplicate on a rank, or a negative load;
 *      TUTTI_ERR_MISMATCH if an item does not have exactly one owner (only if `own` is given), if
 *      copies differ in load or position, or if the number of different items differs from the
 *      field `items` of the spec (with positions: exceeds it); TUTTI_ERR_OVERFLOW beyond 2^62
 *      bytes.  The message names the number and the ranks. */
TUTTI_API tutti_err tutti_replicas_create(MPI_Comm comm, const tutti_replicas_spec *spec,
                                          tutti_replicas **r_out) TUTTI_MUST_USE;

/** Free an inspector and set the handle to NULL.
 *  Not collective, unless the communicator passed to tutti_replicas_create has been freed: then
 *  all ranks must make the call.
 *  Pointers returned by the calls below become invalid.  `r` and *r may be NULL. */
TUTTI_API void tutti_replicas_free(tutti_replicas **r);

/** Return the access of the items that this rank writes, at offset 0 of a file.
 *  Not collective.
 *  For other offsets use tutti_access_shift or the displacement of a plan.
 *  @return an access that belongs to the inspector; NULL for a stale handle: a write with it
 *      fails on all ranks. */
TUTTI_API const tutti_access *tutti_replicas_write_access(const tutti_replicas *r);

/** Return the access of all items that this rank holds.
 *  Not collective.
 *  Unlike tutti_replicas_read, a read with this access does not verify that positions are known:
 *  without positions in the spec the ranks must name all items of the file.
 *  @return an access that belongs to the inspector; NULL for a stale handle. */
TUTTI_API const tutti_access *tutti_replicas_read_access(const tutti_replicas *r);

/** Return the position of each item of this rank in the file in bytes, in the order of the
 *  spec.
 *  Not collective.
 *  For an item without load it is the position at which its values would begin.
 *  @return [n], belongs to the inspector. */
TUTTI_API const tutti_off *tutti_replicas_positions(const tutti_replicas *r);

/** Return the rank that writes each item of this rank, -1 for an item without load.
 *  Not collective.
 *  @return [n], belongs to the inspector. */
TUTTI_API const int *tutti_replicas_writers(const tutti_replicas *r);

/** Return the number of bytes of all items that the ranks name.
 *  Not collective. */
TUTTI_API tutti_off tutti_replicas_bytes(const tutti_replicas *r);

/** Variant of tutti_replicas_stats_get for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API tutti_err tutti_replicas_stats_sized(const tutti_replicas *r, tutti_replicas_stats *out,
                                               size_t struct_size) TUTTI_MUST_USE;

/** Return statistics of the choice of writers.
 *  Not collective. */
TUTTI_MUST_USE static inline tutti_err tutti_replicas_stats_get(const tutti_replicas *r,
                                                                tutti_replicas_stats *out) {
    return tutti_replicas_stats_sized(r, out, sizeof *out);
}

/** Return the share of any rank.
 *  Not collective.
 *  @return TUTTI_ERR_ARG if there is no such rank. */
TUTTI_API tutti_err tutti_replicas_share_get(const tutti_replicas *r, int rank,
                                             tutti_replicas_share *out) TUTTI_MUST_USE;
/**@}*/

/** @name Checking, writing, reading
 *  `buf` is the memory of this rank with the values of the items, located as in the spec. */
/**@{*/
/** Check that all copies are equal, bit by bit.
 *  Collective.
 *  A hash per item is compared; nothing is written.
 *  @return TUTTI_ERR_MISMATCH on all ranks if copies differ; the message names the item of
 *      lowest number, the ranks, and the first value that differs. */
TUTTI_API tutti_err tutti_replicas_check(tutti_replicas *r, const void *buf) TUTTI_MUST_USE;

#define TUTTI_REPLICAS_CHECK 1 /* compare copies first; nothing is written if they differ */

/** Write all items to a file, each once, beginning at `offset`.
 *  Collective on the ranks of the file, which must be those of the inspector; the inspector,
 *  `offset` and `flags` must be the same on all ranks.
 *  Items are stored in the order of their numbers without gaps, even if the numbers have gaps.
 *  To write only some of the items of an existing file, set `positions` in the spec; otherwise
 *  they are stored at wrong positions and overwrite other items, without an error.  Other bytes
 *  of the file do not change.  Call tutti_file_sync to make the data durable.
 *  @param[in] flags  0 or TUTTI_REPLICAS_CHECK.
 *  @return TUTTI_ERR_MISMATCH if copies differ and TUTTI_REPLICAS_CHECK is set. */
TUTTI_API tutti_err tutti_replicas_write(tutti_file *f, tutti_off offset, tutti_replicas *r,
                                         const void *buf, int flags) TUTTI_MUST_USE;

/** Read all items that this rank holds, from a file where they begin at `offset`.
 *  Collective on the ranks of the file, which must be those of the inspector; the inspector and
 *  `offset` must be the same on all ranks.
 *  The position of an item depends on all items before it.  Therefore the ranks together must
 *  name the items 0, 1, 2, ... without a gap, or the spec must have `items` or `positions`.
 *  @return TUTTI_ERR_STATE if the numbers have gaps and the spec has neither `items` nor
 *      `positions`; the message names the first missing number.  TUTTI_ERR_TRUNCATED if the file
 *      ends before the last item. */
TUTTI_API tutti_err tutti_replicas_read(tutti_file *f, tutti_off offset, tutti_replicas *r,
                                        void *buf) TUTTI_MUST_USE;
/**@}*/

/** @name Choosing writers in one process
 *  For any number of parts, without MPI. */
/**@{*/
/** Items in the order of the file and the parts that hold each. */
typedef struct tutti_replicas_lists {
    tutti_count n;            /* number of items */
    int parts;                /* number of parts; holders are 0 ... parts - 1 */
    const tutti_count *start; /* [n + 1] index in `holders` of the first holder of each item */
    /* item i is held by holders[start[i]] ... holders[start[i + 1] - 1], at least one, without
     * duplicates; the first is its owner, the others are in any order */
    const int *holders;
    const int64_t *numbers;   /* [n] increasing, for `random`; NULL: 0 ... n - 1 */
    const tutti_count *loads; /* [n], NULL: `load` for all */
    tutti_count load;
    tutti_off value_bytes; /* >= 1 */
    int64_t reserved[4];   /* 0: for later versions */
} tutti_replicas_lists;

/** Variant of tutti_replicas_choose for bindings of other languages, with the size of their
 *  statistics.
 *  Not collective. */
TUTTI_API tutti_err tutti_replicas_choose_sized(const tutti_replicas_lists *lists,
                                                const tutti_replicas_choice *choice,
                                                int *writers_out, tutti_replicas_share *shares_out,
                                                tutti_replicas_stats *stats_out,
                                                size_t struct_size) TUTTI_MUST_USE;

/** Choose the writers of all items, exactly as tutti_replicas_create does on as many ranks as
 *  there are parts.
 *  Not collective.
 *  @param[out] writers_out  [n], -1 for an item without load.
 *  @param[out] shares_out   NULL, or [parts].
 *  @param[out] stats_out    NULL, or statistics.
 *  @return TUTTI_ERR_ARG if the lists or the choice are invalid. */
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
