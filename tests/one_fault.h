/* One fault in one call of a sequence: TRY(at, call) makes call number `at` and injects the planned fault
 * if it is planned for this number.  Requires a separate program (own=1), like io_faults.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_ONE_FAULT_H
#define TUTTI_TESTS_ONE_FAULT_H

#include <sqlite3.h>
#include "harness.h"
#include "io_faults.h"

typedef enum {
    FAULT_FULL,      /* rank 0 cannot write data */
    FAULT_FULL_LAST, /* the last rank cannot write data */
    FAULT_SYNC,
    FAULT_SYNC_LAST,
    FAULT_CUT,       /* rank 0 cannot truncate the data file */
    FAULT_META_FULL, /* the database cannot be written */
    FAULT_META_SYNC,
    FAULT_BUSY,   /* another connection has locked the database */
    FAULT_MEMORY, /* the last rank cannot allocate */
    FAULT_VALUE,  /* a value does not fit into its type: the test itself passes such a value */
    FAULTS
} fault_kind;

static const char *const fault_names[FAULTS] = {
    "full disk",           "full disk, last rank", "sync",          "sync, last rank", "cut",
    "full disk, database", "sync, database",       "busy database", "memory",          "value"};

static struct {
    const char *data, *meta; /* parts of the paths of data files and of the database */
    char database[700];      /* path of the database */
    int at;                  /* number of the call that fails; -1: the call has returned */
    fault_kind what;
    int n;   /* the n-th access or allocation of the call fails, and so do all later accesses */
    int hit; /* whether the fault has happened */
    int before_last; /* faults of the last rank happen on rank `ranks - 1 - before_last` instead */
    sqlite3 *lock;
} fault;

static inline void fault_plan(int at, fault_kind what, int n) {
    fault.at = at;
    fault.what = what;
    fault.n = n;
    fault.hit = 0;
}

static inline void fault_arm(int at) {
    static const struct {
        io_call call;
        int meta, code, last;
    } io[] = {[FAULT_FULL] = {IO_WRITE, 0, ENOSPC, 0}, [FAULT_FULL_LAST] = {IO_WRITE, 0, ENOSPC, 1},
              [FAULT_SYNC] = {IO_SYNC, 0, EIO, 0},     [FAULT_SYNC_LAST] = {IO_SYNC, 0, EIO, 1},
              [FAULT_CUT] = {IO_CUT, 0, EIO, 0},       [FAULT_META_FULL] = {IO_WRITE, 1, ENOSPC, 0},
              [FAULT_META_SYNC] = {IO_SYNC, 1, EIO, 0}};
    if (at != fault.at) return;
    const int last = ranks - 1 - fault.before_last;
    if (fault.what == FAULT_MEMORY) {
        if (rank == last) tutti__memory_fail_after(fault.n);
    } else if (fault.what == FAULT_BUSY) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            CHECK(sqlite3_open(fault.database, &fault.lock) == SQLITE_OK &&
                      sqlite3_exec(fault.lock, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK,
                  "lock");
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (fault.what < FAULT_BUSY && rank == (io[fault.what].last ? last : 0)) {
        io_fault_set(io[fault.what].call, io[fault.what].meta ? fault.meta : fault.data, fault.n,
                     io[fault.what].code);
    }
}

/* Remove the fault after call `at` and return its error `err`; an error without a fault is a failed check. */
static inline tutti_err fault_disarm(int at, tutti_err err) {
    if (at != fault.at) return err;
    int hit = io_fault_end();
    tutti__memory_fail_after(0);
    if (fault.what == FAULT_BUSY) {
        MPI_Barrier(MPI_COMM_WORLD);
        sqlite3_close(fault.lock);
        fault.lock = NULL;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (fault.what >= FAULT_BUSY) hit = err != TUTTI_OK;
    MPI_Allreduce(MPI_IN_PLACE, &hit, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    fault.hit = hit > 0;
    CHECK(err == TUTTI_OK || hit, "an error without a fault: %s", tutti_last_message());
    fault.at = -1;
    return err;
}

#define TRY(at, call) (fault_arm(at), fault_disarm(at, same_everywhere(call)))

/* Inject all kinds of faults into call `at`, each at every access or allocation; quick tests on several
 * ranks only inject the kinds that test error agreement, at the first access.  run(at, what, n) returns
 * whether the fault happened.  Returns the number of faults that happened. */
static inline int fault_table(int at, int (*run)(int at, fault_kind what, int n)) {
    const char *tier = getenv("TUTTI_TEST_TIER");
    const int few = ranks > 1 && !(tier && strcmp(tier, "full") == 0);
    int hits = 0;
    for (int what = 0; what < FAULTS; what++) {
        /* a failed allocation need not make the call fail */
        const int memory = what == FAULT_MEMORY;
        const int most = what == FAULT_BUSY || what == FAULT_VALUE ? 1
                         : memory                                  ? 70
                         : few                                     ? 1
                                                                   : 100;
        if (ranks == 1 && (what == FAULT_FULL_LAST || what == FAULT_SYNC_LAST)) continue;
        if (few && (what == FAULT_FULL || what == FAULT_SYNC || what == FAULT_CUT ||
                    what == FAULT_META_SYNC))
            continue;
        for (int n = 1; n <= most; n += memory ? (few ? 29 : 11) : 1) {
            const int hit = run(at, (fault_kind)what, n);
            hits += hit;
            if (!hit && !memory) break;
        }
    }
    return hits;
}

#endif
