/* Tutti: statistics of operations.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STATS_H
#define TUTTI_STATS_H

#include <tutti/types.h>

TUTTI_BEGIN_DECLS

/* X(ctype, name, help).  All values are those of this rank and add up over operations. */
#define TUTTI_STATS_TABLE(X)                                                                       \
    X(tutti_off, bytes, "bytes transferred by this rank")                                          \
    X(tutti_count, runs, "contiguous runs in the file, requested by this rank")                    \
    X(tutti_count, operations, "collective and independent operations")                            \
    X(tutti_count, plans, "new plans")                                                             \
    X(tutti_count, plan_reuses, "operations that reused an existing plan")                         \
    X(tutti_count, plan_hits, "operations that found a cached plan")                               \
    X(tutti_count, windows, "windows (cycles of a domain) of this rank as an aggregator")          \
    X(tutti_count, messages, "data messages sent by this rank")                                    \
    X(tutti_off, message_bytes, "bytes in them")                                                   \
    X(tutti_off, copied_bytes, "bytes copied in memory by this rank: staging, packing, unpacking") \
    X(tutti_count, descriptor_messages, "messages with descriptions")                              \
    X(tutti_off, descriptor_bytes, "bytes in them")                                                \
    X(tutti_count, file_reads, "read requests to the file system")                                 \
    X(tutti_off, file_read_bytes, "bytes in them")                                                 \
    X(tutti_count, file_writes, "write requests to the file system")                               \
    X(tutti_off, file_write_bytes, "bytes in them")                                                \
    X(tutti_count, system_calls, "system calls for file access")                                   \
    X(tutti_count, background, "operations with file access in the background")                    \
    X(tutti_count, foreground, "background operations that were executed in the foreground")       \
    X(double, seconds_plan, "time in planning")                                                    \
    X(double, seconds_exchange, "time in copies and messages, and waiting for other ranks")        \
    X(double, seconds_file, "time in file access, and waiting for it")                             \
    X(double, seconds_total, "total time")                                                         \
    X(tutti_off, direct_bytes, "bytes that bypassed the page cache (direct_io)")

/** Statistics of one operation or of all operations on a file.  Later versions add fields at
 *  the end.
 *
 *  At any time a rank is in one of these phases; their times add up to at most seconds_total.
 *  The remaining time is spent in checks and agreements.
 *
 *      plan       descriptions, domains, checks for overlap
 *      file       calls of the store, and waiting for the file:
 *                 - with nothing else to do while an access of this rank is pending
 *                 - until this rank may start an access (option stagger; another
 *                   rank of the node writes)
 *                 - in shared staging memory, for a window that its aggregator is
 *                   writing or reading
 *      exchange   everything else: copies, messages, waiting for other ranks
 *
 *  Copies count as exchange even if file access is pending; waiting for messages does not: the
 *  part of it that a pipeline hides is file time.  Time inside blocking MPI calls (steps 1 and 2,
 *  fence) is exchange.  If bytes are exchanged by messages, fences or locks, a rank that is not
 *  an aggregator cannot see what the others wait for: use the shares of the aggregators (windows
 *  above 0).  The clock of a non-blocking operation stops between the calls that progress it. */
typedef struct tutti_stats {
#define TUTTI_STATS_FIELD(ctype, name, help) ctype name;
    TUTTI_STATS_TABLE(TUTTI_STATS_FIELD)
#undef TUTTI_STATS_FIELD
} tutti_stats;

TUTTI_END_DECLS
#endif
