/* Common part of tests of nonblocking MPI-IO: opening files with hints, error classes, data that identifies
 * its position, and completing requests by random completion calls of MPI.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_REQUESTS_H
#define TUTTI_TESTS_REQUESTS_H

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>
#include "mpi_check.h"

static int ranks;

static inline void requests_begin(int *argc, char ***argv, int level, uint64_t seed) {
    int granted;
    MPI_Init_thread(argc, argv, level, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks = size;
    check_seed(seed + (unsigned)ranks);
}

static inline int requests_end(void) {
    int worst = 0, local = check_done();
    MPI_Allreduce(&local, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return worst;
}

static inline const char *scratch(const char *name) {
    static char path[4][512];
    static int next;
    const char *dir = getenv("TUTTI_TEST_DIR");
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", dir ? dir : "/tmp", name);
    return p;
}

/* Return MPI_STATUSES_IGNORE; using MPICH's constant directly makes gcc warn about an array of size 0. */
static inline MPI_Status *statuses_ignored(void) {
    MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;
    return ignored;
}

/* Open a file on all ranks; hints: "key=value key=value". */
static inline MPI_File open_with(const char *path, const char *hints) {
    char copy[256], *at = copy, *word;
    MPI_Info info;
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info_create(&info);
    snprintf(copy, sizeof copy, "%s", hints);
    while ((word = strsep(&at, " "))) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        MPI_Info_set(info, word, value);
    }
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static inline void remove_file(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) (void)unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline int bytes_of(const MPI_Status *status) {
    int n = -1;
    MPI_Get_count(status, MPI_BYTE, &n);
    return n;
}

/* Return element `i` of the data that rank `who` writes to `place` in round `turn`. */
static inline int mark(int place, int who, int turn, int i) {
    uint32_t z =
        (uint32_t)place * 2654435761u ^ (uint32_t)who * 2246822519u ^ (uint32_t)turn * 3266489917u;
    z = (z + (uint32_t)i) * 668265263u;
    return (int)(z ^ (z >> 15));
}

/* ---- completion: each function handles requests[lo .. hi), and calls done(i, status, code) for each
 * completed request */

typedef struct {
    MPI_Request *requests;
    int n;
    void (*done)(int i, const MPI_Status *status, int code);
} waiting;

enum { WAYS = 9, WAIT_MAX = 64 };

static inline void way_one(const waiting *w, int way, int i) {
    MPI_Status s;
    int flag = 1, code = MPI_SUCCESS;
    if (way == 0)
        code = MPI_Wait(&w->requests[i], &s);
    else if (way == 1)
        code = MPI_Test(&w->requests[i], &flag, &s);
    else
        CHECK_MPI(MPI_Request_get_status(w->requests[i], &flag, &s));
    if (flag && way < 2) w->done(i, &s, code);
}

static inline void way_any(const waiting *w, int way, int lo, int hi) {
    MPI_Status s;
    int flag = 1, index = MPI_UNDEFINED, code;
    if (way == 3)
        code = MPI_Waitany(hi - lo, w->requests + lo, &index, &s);
    else
        code = MPI_Testany(hi - lo, w->requests + lo, &index, &flag, &s);
    if (flag && index != MPI_UNDEFINED) w->done(lo + index, &s, code);
}

static inline void way_all(const waiting *w, int way, int lo, int hi) {
    MPI_Status s[WAIT_MAX];
    MPI_Request before[WAIT_MAX];
    int flag = 1, code;
    for (int i = lo; i < hi; i++) before[i - lo] = w->requests[i];
    if (way == 5)
        code = MPI_Waitall(hi - lo, w->requests + lo, s);
    else
        code = MPI_Testall(hi - lo, w->requests + lo, &flag, s);
    for (int i = lo; i < hi && flag; i++)
        if (before[i - lo] != MPI_REQUEST_NULL)
            w->done(i, &s[i - lo], code == MPI_SUCCESS ? code : s[i - lo].MPI_ERROR);
}

static inline void way_some(const waiting *w, int way, int lo, int hi) {
    MPI_Status s[WAIT_MAX];
    int n = 0, at[WAIT_MAX], code;
    if (way == 7)
        code = MPI_Waitsome(hi - lo, w->requests + lo, &n, at, s);
    else
        code = MPI_Testsome(hi - lo, w->requests + lo, &n, at, s);
    for (int i = 0; i < n; i++)
        w->done(lo + at[i], &s[i], code == MPI_SUCCESS ? code : s[i].MPI_ERROR);
}

/* Make one completion call of MPI, chosen by `way`. */
static inline void wait_by(const waiting *w, int way, int lo, int hi) {
    if (way < 3)
        way_one(w, way, lo);
    else if (way < 5)
        way_any(w, way, lo, hi);
    else if (way < 7)
        way_all(w, way, lo, hi);
    else
        way_some(w, way, lo, hi);
}

/* Make a random completion call on a random range of the requests. */
static inline void wait_somehow(const waiting *w) {
    const int lo = (int)rnd(w->n), hi = lo + 1 + (int)rnd(w->n - lo);
    wait_by(w, (int)rnd(WAYS), lo, hi);
}

static inline int all_null(const waiting *w) {
    for (int i = 0; i < w->n; i++)
        if (w->requests[i] != MPI_REQUEST_NULL) return 0;
    return 1;
}

#endif
