/* The dataset written by powercut_dataset.c and crash_steps.c: its values, and its state as a line of text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_POWERCUT_STEPS_H
#define TUTTI_TESTS_POWERCUT_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { POWERCUT_N = 900 };

static inline double powercut_value(double time, tutti_count i) {
    return time * 10000 + (double)i;
}

/* Return the container of data files: netCDF if the environment has TEST_CONTAINER=netcdf, otherwise native. */
static inline int powercut_container(void) {
    const char *name = getenv("TEST_CONTAINER");
    return name && strcmp(name, "netcdf") == 0 ? TUTTI_CONTAINER_NETCDF : TUTTI_CONTAINER_NATIVE;
}

/* Return whether ncvalidator accepts all netCDF files; 1 without TEST_VALIDATOR (ncvalidator is not installed). */
static inline int powercut_valid(const char *path) {
    char command[4000];
    if (powercut_container() != TUTTI_CONTAINER_NETCDF || !getenv("TEST_VALIDATOR")) return 1;
    snprintf(command, sizeof command,
             "for f in '%s'/*.nc; do [ ! -e \"$f\" ] || ncvalidator \"$f\" >said 2>&1 || "
             "{ cat said >&2; exit 1; }; done",
             path);
    return system(command) == 0;
}

static inline void powercut_describe(tutti_dataset *d) {
    const int netcdf = powercut_container() == TUTTI_CONTAINER_NETCDF;
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT64};
    const tutti_variable_spec w = {
        .space = "x", .type = TUTTI_FLOAT64, .layout = netcdf ? TUTTI_GLOBAL : TUTTI_RANKED};
    if (tutti_dataset_grid(d, "x", 1, (tutti_count[]){POWERCUT_N}) ||
        tutti_dataset_variable(d, "u", &u) || tutti_dataset_variable(d, "w", &w)) {
        fprintf(stderr, "describe: %s\n", tutti_last_message());
        abort();
    }
}

static inline tutti_decomposition *powercut_local_block(tutti_dataset *d, tutti_count *lo_out,
                                                        tutti_count *n_out) {
    int rank = 0, ranks = 1;
    tutti_decomposition *p = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const tutti_count lo = (tutti_count)POWERCUT_N * rank / ranks,
                      n = (tutti_count)POWERCUT_N * (rank + 1) / ranks - lo;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    if (tutti_decomposition_create(d, "x", &spec, &p)) {
        fprintf(stderr, "decomposition: %s\n", tutti_last_message());
        abort();
    }
    *lo_out = lo;
    *n_out = n;
    return p;
}

/* Write both variables of the current segment.  Each attempt to write an index has another `time`, and
 * therefore other values. */
static inline tutti_err powercut_put_values(tutti_dataset *d, double time) {
    tutti_count lo, n;
    double buf[POWERCUT_N];
    tutti_decomposition *p = powercut_local_block(d, &lo, &n);
    for (tutti_count i = 0; i < n; i++) buf[i] = powercut_value(time, lo + i);
    const tutti_put puts[2] = {{"u", p, TUTTI_FLOAT64, buf}, {"w", p, TUTTI_FLOAT64, buf}};
    const tutti_err err = tutti_dataset_put(d, 2, puts);
    tutti_decomposition_free(&p);
    return err;
}

static inline tutti_err powercut_put(tutti_dataset *d, int64_t index, double time) {
    tutti_err err = tutti_dataset_begin(d, TUTTI_STATE, index, time);
    if (!err) err = powercut_put_values(d, time);
    return err ? err : tutti_dataset_commit(d);
}

/* Store the state as text such as "0:0 1:1.5@ | 7": index and time of each segment (@: archived), and the value
 * of the info "number" (-1: not set).  Returns 0 on errors. */
static inline int powercut_state(tutti_dataset *d, char *to, size_t size) {
    size_t n = 0;
    int64_t number = 0;
    tutti_type type;
    tutti_count one = 1;
    to[0] = 0;
    for (tutti_count s = 0; s < tutti_dataset_segments(d); s++) {
        tutti_segment g;
        if (tutti_dataset_segment(d, s, &g)) return 0;
        n += (size_t)snprintf(to + n, size - n, "%lld:%g%s ", (long long)g.index, g.time,
                              g.archived ? "@" : "");
    }
    const tutti_err err = tutti_dataset_info_get(d, NULL, "number", &type, &one, &number);
    if (err != TUTTI_OK && err != TUTTI_ERR_NOT_FOUND) return 0;
    snprintf(to + n, size - n, "| %lld", err == TUTTI_OK ? (long long)number : -1LL);
    return 1;
}

#endif
