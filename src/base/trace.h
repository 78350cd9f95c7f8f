/* base: trace events (Chrome/Perfetto JSON), one process per rank; events that overlap without one being
 * within the other are in different rows of it, since viewers drop them otherwise.  Cheap when off.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

#include <tutti/types.h>
#include "base/error_impl.h"

/* Seconds of a monotonic clock. */
double tutti__now(void);

/* Start tracing in this process; events are kept in memory (bounded, oldest dropped and counted).
 * A second call is ignored.  All processes of a machine share the clock's origin. */
tutti_err tutti__trace_enable(int rank) TUTTI_MUST_USE;
int tutti__trace_on(void);
/* One complete event from `start` (tutti__now) to now.  `name` and `category` must be constants;
 * bytes and cycle are shown as arguments if >= 0. */
void tutti__trace_event(const char *category, const char *name, double start, tutti_off bytes,
                        tutti_count cycle);
/* The same for a call on a file that tutti__trace_file has recorded: its name is an argument, too. */
void tutti__trace_call(const char *name, int file, double start, tutti_off bytes);
/* Register a file for events; -1: tracing is off, or too many files. */
int tutti__trace_file(const char *path);
/* One that ended at `end`. */
void tutti__trace_span(const char *category, const char *name, double start, double end,
                       tutti_off bytes, tutti_count cycle);
/* The events of this process as JSON objects separated by commas (no brackets), including the
 * metadata events that name rank and rows.  The caller frees the text with tutti__free.  NULL: none or no
 * memory. */
char *tutti__trace_json(void);
void tutti__trace_disable(void);

#endif
