/* The axes of t740 and t741: every exchange that works cycle by cycle, every pipeline, and other
 * options that affect them.  matrix.h writes and reads the files.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_WAYS_H
#define TUTTI_TESTS_WAYS_H

#include "collective/combinations.h"
#include "collective/model.h"

#define TUTTI_TESTS_AXES
static const char *const ways[] = {"1", "2", "3", "4", "5", "fence", "lock"};
static const char *const pipelines[] = {"none",       "comm",         "write",
                                        "write-comm", "write-comm-2", "auto"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const domains[] = {"auto", "even", "balanced", "cyclic"};
static const char *const sizes[] = {"0", "4k", "16k", "100k"};
static const char *const subs[] = {"2", "1", "3"};
static const char *const direct[] = {"0", "1"};
static const char *const aggs[] = {"0", "1", "2"};
static const char *const methods[] = {"two-phase", "root"};
static const char *const delays[] = {"0", "300"};
static const char *const shapes[] = {"blocks", "columns", "cyclic", "scatter",
                                     "sparse", "wild",    "few"};
static const pairs_axis axes[] = {
    {"way", ways, 7},         {"pipeline", pipelines, 6}, {"nodes", nodes, 3},
    {"store", stores, 5},     {"domains", domains, 4},    {"window_size", sizes, 4},
    {"sub_buffers", subs, 3}, {"direct_io", direct, 2},   {"cb_nodes", aggs, 3},
    {"method", methods, 2},   {"stagger", delays, 2},     {"shape", shapes, 7},
};
enum { AXES = sizeof axes / sizeof axes[0], SHAPE = AXES - 1, STORE = 3 };

#define MATRIX_SET way_set

#include "collective/matrix.h"

#endif
