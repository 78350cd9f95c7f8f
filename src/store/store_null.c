/* store: null, which discards all written bytes and reads zeros.  It is used to measure
 * communication without file access, and as a template for new stores: the comments give the
 * requirements of each operation.
 *
 * A new store is one file with a struct that begins with tutti_store, the operations as
 * static functions, and one const table.  It is registered by a declaration in store.h, an entry in
 * tutti__store_find (store_open.c), and a value of the option `store`.  Four rules apply:
 *   - Errors are recorded where they are detected: by tutti__error_sys(errno, offset, "write") for
 *     system calls, by TUTTI_CHECK and TUTTI_FAIL otherwise.  A positive code means that nothing
 *     has changed.
 *   - Outputs are written on success only.
 *   - Memory comes from tutti__malloc and is freed on every path.
 *   - No MPI, no printing, no signal handlers, no change of process state.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

/* An open file.  tutti_store is the first member, so that pointers can be converted. */
typedef struct null_store {
    tutti_store base;
    tutti_off size; /* end of the bytes that this process has written */
} null_store;

/* Open `path`.  `flags` are TUTTI_STORE_READ ...; a real store creates the file if
 * TUTTI_STORE_CREATE is given, with `permissions` minus the umask, and fails if it exists and
 * TUTTI_STORE_EXCL is given.  The options are those of rank 0.  The function must set the table,
 * the statistics, and the layout (block > 0; other fields may be 0).  Every rank opens the file,
 * possibly at the same time. */
static tutti_err null_open(const char *path, int flags, int permissions, const tutti_options *opt,
                           tutti_stats *stats, tutti_store **store_out) {
    (void)path, (void)flags, (void)permissions;
    null_store *s = tutti__calloc(1, sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    s->base.ops = &tutti__store_null;
    s->base.stats = stats;
    s->base.layout.block = sysconf(_SC_PAGESIZE);
    s->base.layout.stripe = opt->striping_unit;
    *store_out = &s->base;
    return TUTTI_OK;
}

/* Close the file and free the store, even if closing fails.  All begun requests have been
 * finished. */
static tutti_err null_close(tutti_store *s) {
    tutti__free(s);
    return TUTTI_OK;
}

/* Write all runs.  The caller has checked that offsets are not negative and no sum overflows.  The
 * runs may be in any order and number, and may be empty.  The store must write all bytes, handling
 * short transfers and EINTR, or return an error with the offset.  Bytes outside the runs must never
 * change, not even temporarily. */
static tutti_err null_write(tutti_store *s, const tutti_io_run *runs, int n) {
    null_store *me = (null_store *)s;
    for (int i = 0; i < n; i++) {
        if (runs[i].bytes == 0) continue;
        me->size = tutti__max(me->size, runs[i].offset + (tutti_off)runs[i].bytes);
        /* requests and bytes; a real store also counts system_calls */
        tutti_stats *stats = tutti__store_stats(s);
        stats->file_writes++;
        stats->file_write_bytes += (tutti_off)runs[i].bytes;
    }
    return TUTTI_OK;
}

/* Read the runs in list order up to the first byte beyond the end of the file.  Reaching the end is
 * not an error: *done_out is the number of bytes read, and the memory of the following bytes is
 * unchanged. */
static tutti_err null_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    const null_store *me = (null_store *)s;
    tutti_off total = 0;
    for (int i = 0; i < n; i++) {
        const tutti_off there = tutti__max(0, me->size - runs[i].offset);
        const tutti_off bytes = tutti__min(there, (tutti_off)runs[i].bytes);
        memset(runs[i].memory, 0, (size_t)bytes);
        tutti__store_stats(s)->file_reads++;
        tutti__store_stats(s)->file_read_bytes += bytes;
        total += bytes;
        if (bytes < (tutti_off)runs[i].bytes) break;
    }
    *done_out = total;
    return TUTTI_OK;
}

/* Get the current size of the file, including writes of other processes. */
static tutti_err null_size(tutti_store *s, tutti_off *size_out) {
    *size_out = ((null_store *)s)->size;
    return TUTTI_OK;
}

/* Truncate or extend the file; new bytes read as zeros. */
static tutti_err null_resize(tutti_store *s, tutti_off size) {
    ((null_store *)s)->size = size;
    return TUTTI_OK;
}

/* The table.  The following operations are omitted, because their defaults are correct:
 *   .begin, .test, .finish  all or none.  By default begin executes the complete request
 *       and finish returns its result.  An asynchronous store sets .asynchronous, copies the runs
 *       in begin, never waits in test, and in finish returns errors of the transfer and adds to the
 *       statistics.  Requests may be finished in any order.  See store_threads.c for an example.
 *   .preallocate  by default, the file is extended if it is shorter.
 *   .sync         by default, no operation, for stores without durable data. */
const tutti_store_ops tutti__store_null = {.name = "null",
                                           .open = null_open,
                                           .close = null_close,
                                           .write = null_write,
                                           .read = null_read,
                                           .size = null_size,
                                           .resize = null_resize};
