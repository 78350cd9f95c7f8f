/* base: trace events (Chrome/Perfetto JSON), one process per rank.  Events that overlap without
 * being nested are in different rows of the process, since viewers drop them otherwise.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

#include <tutti/types.h>
#include "base/error_impl.h"

/* Return the seconds of a monotonic clock. */
double tutti__now(void);

/* Start tracing in this process.  Events are stored in memory of bounded size; the oldest are
 * dropped and counted.  A second call is ignored.  All processes of a machine use the same origin
 * of time. */
tutti_err tutti__trace_enable(int rank) TUTTI_MUST_USE;
int tutti__trace_on(void);
/* Record an event from `start` (by tutti__now) to now.  `name` and `category` must be string
 * constants; bytes and cycle are recorded as arguments if >= 0. */
void tutti__trace_event(const char *category, const char *name, double start, tutti_off bytes,
                        tutti_count cycle);
/* Record a call on a file, from `start` to now; `file` is a result of tutti__trace_file. */
void tutti__trace_call(const char *name, int file, double start, tutti_off bytes);
/* Register a file for tutti__trace_call; returns -1 if tracing is off or there are too many
 * files. */
int tutti__trace_file(const char *path);
/* Like tutti__trace_event, for an event that ended at `end`. */
void tutti__trace_span(const char *category, const char *name, double start, double end,
                       tutti_off bytes, tutti_count cycle);
/* Return the events of this process as JSON objects separated by commas (no brackets), including
 * the metadata events that name rank and rows.  The caller frees the text with tutti__free.  NULL:
 * tracing is off, or out of memory. */
char *tutti__trace_json(void);
void tutti__trace_disable(void);

#endif
