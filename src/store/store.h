/* store: selection of a store, and the functions on stores that other modules call.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STORE_H
#define TUTTI_STORE_H

#include <tutti/backend.h>

extern const tutti_store_ops tutti__store_posix, tutti__store_uring, tutti__store_threads,
    tutti__store_aio, tutti__store_mem, tutti__store_null;

/* Find the table for a value of the option `store`; TUTTI_STORE_AUTO is posix.  Fails with
 * TUTTI_ERR_UNSUPPORTED, with the missing package, if the store was not built. */
tutti_err tutti__store_find(int choice, const tutti_store_ops **ops_out) TUTTI_MUST_USE;

/* Return the store for asynchronous access (a value of the option `store`): uring with direct_io if
 * it was built, else threads. */
int tutti__store_asynchronous(const tutti_options *opt);

/* Open a file with the store opt->store.  If opt->fault names `rank`, the store is wrapped in one
 * that injects the fault.
 *   fault = RANK:WHAT:N[:ERRNO]
 *     RANK   a number or *
 *     WHAT   open, write, read, sync, size, resize, close, short, slow, held
 *     N      the N-th such call (1 ...) and all later ones fail; short: the maximum number of bytes
 *            per transfer; slow: minimum milliseconds of a transfer; held: a descriptor; transfers
 *            do not end before it is readable
 *     ERRNO  a name (EIO, ENOSPC, EDQUOT, EACCES ...); default: EIO */
typedef struct tutti__store_file {
    const char *path;
    int flags, permissions; /* TUTTI_STORE_READ ...; mode bits of a new file */
    int rank;               /* this rank, for injected faults and error messages */
} tutti__store_file;
tutti_err tutti__store_open_file(const tutti__store_file *file, const tutti_options *opt,
                                 tutti_stats *stats, tutti_store **store_out) TUTTI_MUST_USE;
/* Like tutti__store_open_file, with the fields of tutti__store_file as arguments. */
static inline tutti_err tutti__store_open(const char *path, int flags, int permissions,
                                          const tutti_options *opt, int rank, tutti_stats *stats,
                                          tutti_store **store_out) {
    const tutti__store_file file = {path, flags, permissions, rank};
    return tutti__store_open_file(&file, opt, stats, store_out);
}
tutti_err tutti__store_close(tutti_store **s) TUTTI_MUST_USE; /* sets *s to NULL */
tutti_err tutti__store_write(tutti_store *s, const tutti_io_run *runs, int n) TUTTI_MUST_USE;
tutti_err tutti__store_read(tutti_store *s, const tutti_io_run *runs, int n,
                            tutti_off *done_out) TUTTI_MUST_USE;
tutti_err tutti__store_begin(tutti_store *s, int is_write, const tutti_io_run *runs, int n,
                             tutti_store_request **r_out) TUTTI_MUST_USE;
int tutti__store_test(tutti_store_request *r);
/* Return the time at which a request ended, or the current time if its store does not record it.
 * With uring and aio it is the time at which the completion was detected. */
double tutti__store_ended(const tutti_store_request *r);
/* Wait for a request, free it and return its result; sets *r to NULL. */
tutti_err tutti__store_finish(tutti_store_request **r, tutti_off *done_out) TUTTI_MUST_USE;
tutti_err tutti__store_size(tutti_store *s, tutti_off *size_out) TUTTI_MUST_USE;
tutti_err tutti__store_resize(tutti_store *s, tutti_off size) TUTTI_MUST_USE;
tutti_err tutti__store_preallocate(tutti_store *s, tutti_off size) TUTTI_MUST_USE;
tutti_err tutti__store_sync(tutti_store *s) TUTTI_MUST_USE;
int tutti__store_descriptor(const tutti_store *s); /* -1: no descriptor */
tutti_err tutti__store_flush(tutti_store *s) TUTTI_MUST_USE;
tutti_err tutti__store_refresh(tutti_store *s) TUTTI_MUST_USE;
tutti_err tutti__store_lock(tutti_store *s, int kind, tutti_off lo, tutti_off hi) TUTTI_MUST_USE;
void tutti__store_write_behind(tutti_store *s, tutti_off lo, tutti_off hi);
int tutti__store_cached(tutti_store *s, tutti_off offset); /* 1: cached, 0: not, -1: unknown */

/* Return the statistics to which accesses are added: those that tutti__store_account has set for
 * this thread, else those of the store. */
tutti_stats *tutti__store_stats(const tutti_store *s);
/* Set the statistics to which file accesses of this thread are added; NULL: those of the stores.
 * Returns the previous value. */
tutti_stats *tutti__store_account(tutti_stats *stats);

/* Delete a file of the store opt->store. */
tutti_err tutti__store_delete(const char *path, const tutti_options *opt) TUTTI_MUST_USE;

#endif
