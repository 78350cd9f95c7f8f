/* store: null, which takes every byte and keeps none; what is read are zeros.  It measures pure
 * communication, and it is the template for authors of stores: every operation is here, with what
 * it must and need not do.
 *
 * A new store is one file like this one: a struct that begins with tutti_store, the operations as
 * static functions, and one const table.  It is made known by a line in store.h, one in
 * tutti__store_find (store.c), and a value of the option `store`.  Four rules hold everywhere:
 *   - Errors are raised where they are found: tutti__error_sys(errno, offset, "write") for a system
 *     call, TUTTI_CHECK and TUTTI_FAIL for the rest.  A positive code says that nothing happened.
 *   - Outputs are written on success only.
 *   - Memory comes from tutti__malloc and is freed on every path.
 *   - No MPI, no printing, no signal handlers, no change of what belongs to the process.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

/* An open file.  tutti_store comes first, so that the pointers can be cast into each other. */
typedef struct null_store {
    tutti_store base;
    tutti_off size; /* the end of the written bytes, as far as this process knows */
} null_store;

/* Open `path`.  `flags` are TUTTI_STORE_READ ...; a real store creates the file if CREATE is given,
 * with `permissions` less the umask, and refuses one that exists if EXCL is.  The options are rank
 * 0's.  Three things to fill in: the table, the statistics, the layout (block > 0; the rest may
 * stay 0).  Every rank opens the file for itself, perhaps at the same time. */
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

/* Close and free, also if closing itself fails.  All begun requests have been finished. */
static tutti_err null_close(tutti_store *s) {
    tutti__free(s);
    return TUTTI_OK;
}

/* Write all runs.  They have been checked: offsets are not negative, no sum overflows.  They may
 * come in any order and be as many as they like, and a run may be empty.  All bytes are written or
 * an error is raised that tells the offset; short transfers and EINTR are the store's own business.
 * Bytes that no run names must not change, not even for a moment. */
static tutti_err null_write(tutti_store *s, const tutti_io_run *runs, int n) {
    null_store *me = (null_store *)s;
    for (int i = 0; i < n; i++) {
        if (runs[i].bytes == 0) continue;
        me->size = tutti__max(me->size, runs[i].offset + (tutti_off)runs[i].bytes);
        tutti_stats *stats = tutti__store_stats(s); /* requests and bytes; system_calls as well */
        stats->file_writes++;
        stats->file_write_bytes += (tutti_off)runs[i].bytes;
    }
    return TUTTI_OK;
}

/* Read the runs in list order up to the first byte after the end of the file.  That is not an
 * error: *done_out is the number of bytes that exist, and memory after them is unchanged. */
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

/* The current size of the file, including writes of other processes. */
static tutti_err null_size(tutti_store *s, tutti_off *size_out) {
    *size_out = ((null_store *)s)->size;
    return TUTTI_OK;
}

/* Cut the file off or lengthen it; new bytes read as zeros. */
static tutti_err null_resize(tutti_store *s, tutti_off size) {
    ((null_store *)s)->size = size;
    return TUTTI_OK;
}

/* The table.  Left out, because their defaults are right here:
 *   .begin, .test, .finish  together or not at all.  By default begin does the whole request at
 *       once and finish tells what came of it.  A store that really works in the background sets
 *       .asynchronous, copies the runs in begin, never waits in test, and raises errors of the
 *       transfer in finish, in the thread that calls it; statistics are added there too.  Requests
 *       may be finished in any order.  store_threads.c is the example.
 *   .preallocate  by default the file is made longer if it is shorter.
 *   .sync         by default nothing: for stores that have nothing to lose. */
const tutti_store_ops tutti__store_null = {.name = "null",
                                           .open = null_open,
                                           .close = null_close,
                                           .write = null_write,
                                           .read = null_read,
                                           .size = null_size,
                                           .resize = null_resize};
