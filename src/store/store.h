/* store: choice of a store, and the calls that other modules use (defaults, injected faults,
 * statistics).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STORE_H
#define TUTTI_STORE_H

#include <tutti/backend.h>

extern const tutti_store_ops tutti__store_posix, tutti__store_uring, tutti__store_threads,
    tutti__store_aio, tutti__store_mem, tutti__store_null;

/* The table for an option value; TUTTI_STORE_AUTO is posix.  A store that was not built answers
 * TUTTI_ERR_UNSUPPORTED and names the package that it lacks. */
tutti_err tutti__store_find(int choice, const tutti_store_ops **ops_out) TUTTI_MUST_USE;

/* The store for background access, by the options and the features of this build. */
int tutti__store_asynchronous(const tutti_options *opt);

/* Open by opt->store.  If opt->fault names `rank`, the store is wrapped in one that injects the fault.
 *   fault = RANK:WHAT:N[:ERRNO]
 *     RANK   a number or *
 *     WHAT   open, write, read, sync, size, resize, close, short, slow, held
 *     N      the N-th such call (1 ...) and all later ones fail; short: the maximum number of bytes per
 *            transfer; slow: its minimum time in milliseconds; held: a
 *            descriptor, transfers do not end before it is readable
 *     ERRNO  by name (EIO, ENOSPC, EDQUOT, EACCES ...), EIO if absent */
typedef struct tutti__store_file {
    const char *path;
    int flags, permissions;
    int rank;
} tutti__store_file;
tutti_err tutti__store_open_file(const tutti__store_file *file, const tutti_options *opt,
                                 tutti_stats *stats, tutti_store **store_out) TUTTI_MUST_USE;
/* The same, with the fields of tutti__store_file as arguments. */
static inline tutti_err tutti__store_open(const char *path, int flags, int permissions,
                                          const tutti_options *opt, int rank, tutti_stats *stats,
                                          tutti_store **store_out) {
    const tutti__store_file file = {path, flags, permissions, rank};
    return tutti__store_open_file(&file, opt, stats, store_out);
}
tutti_err tutti__store_close(tutti_store **s) TUTTI_MUST_USE; /* nulls the handle */
tutti_err tutti__store_write(tutti_store *s, const tutti_io_run *runs, int n) TUTTI_MUST_USE;
tutti_err tutti__store_read(tutti_store *s, const tutti_io_run *runs, int n,
                            tutti_off *done_out) TUTTI_MUST_USE;
tutti_err tutti__store_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                             tutti_store_request **r_out) TUTTI_MUST_USE;
int tutti__store_test(tutti_store_request *r);
/* When an ended request ended; now, if its store does not record it.  With uring and aio: when the
 * store noticed it. */
double tutti__store_ended(const tutti_store_request *r);
tutti_err tutti__store_finish(tutti_store_request **r,
                              tutti_off *done_out) TUTTI_MUST_USE; /* nulls it */
tutti_err tutti__store_size(tutti_store *s, tutti_off *size_out) TUTTI_MUST_USE;
tutti_err tutti__store_resize(tutti_store *s, tutti_off size) TUTTI_MUST_USE;
tutti_err tutti__store_preallocate(tutti_store *s, tutti_off size) TUTTI_MUST_USE;
tutti_err tutti__store_sync(tutti_store *s) TUTTI_MUST_USE;
int tutti__store_descriptor(const tutti_store *s); /* -1: it has none */
tutti_err tutti__store_flush(tutti_store *s) TUTTI_MUST_USE;
tutti_err tutti__store_refresh(tutti_store *s) TUTTI_MUST_USE;
tutti_err tutti__store_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi) TUTTI_MUST_USE;
void tutti__store_write_behind(tutti_store *s, tutti_off lo, tutti_off hi);
int tutti__store_cached(tutti_store *s, tutti_off offset); /* 1: yes, 0: no, -1: unknown */

/* The statistics for stores: those of the operation that this thread executes, if any,
 * otherwise for the store itself. */
tutti_stats *tutti__store_stats(const tutti_store *s);
/* Set the statistics for file accesses of this thread; NULL: no operation.  Returns the
 * previous ones. */
tutti_stats *tutti__store_account(tutti_stats *stats);

/* Remove a file (mem: its bytes).  Which namespace the path is in depends on opt->store. */
tutti_err tutti__store_delete(const char *path, const tutti_options *opt) TUTTI_MUST_USE;

#endif
