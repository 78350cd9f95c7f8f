/* Tutti: files that all ranks of a communicator read and write together.
 *
 * *Collective*: every rank of the communicator of the file must make the call, in the same order.
 * All ranks return the same code, and tutti_last_error() is the same.  If ranks make different
 * calls, or an argument that must be the same differs, all ranks return TUTTI_ERR_MISMATCH and
 * nothing has changed.  Ranks may mix blocking, split and non-blocking calls of the same direction
 * for one operation.  *Not collective*: any rank may make the call at any time.
 *
 * Threads.  With MPI_THREAD_MULTIPLE different threads may use different files at the same time.
 * On one file, calls marked *any thread* may be made by several threads at once, except while
 * the file is being opened or closed; all other calls by one thread at a time.  An operation may
 * be completed by another thread than the one that started it, even under MPI_THREAD_SERIALIZED.
 *
 * Visibility.  When a collective write has returned, a later collective read through the same
 * handle sees its bytes on every rank.  tutti_file_sync and tutti_file_close make them visible
 * to all programs, including on file systems with client caches.  Only tutti_file_sync makes
 * them durable.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale file or plan handle has no
 * communicator: only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FILE_H
#define TUTTI_FILE_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/options.h>
#include <tutti/stats.h>
#include <tutti/access.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_file tutti_file;
typedef struct tutti_plan tutti_plan;

#define TUTTI_READ 1      /* open for reading */
#define TUTTI_WRITE 2     /* open for writing */
#define TUTTI_CREATE 4    /* create the file if it does not exist */
#define TUTTI_EXCLUSIVE 8 /* with TUTTI_CREATE: fail if the file exists */
#define TUTTI_TRUNCATE 16 /* truncate the file to 0 bytes */
#define TUTTI_APPEND 32   /* file offsets count from the end of the file at open */

/** Open a file.
 *  Collective; all arguments must be the same on all ranks (options: those of rank 0 are used).
 *  @param[in] comm    The communicator is duplicated.
 *  @param[in] mode    TUTTI_READ | TUTTI_WRITE | ...
 *  @param[in] opt     NULL: defaults and environment.
 *  @param[out] f_out  close it with tutti_file_close.
 *  @return TUTTI_ERR_STATE if the file is opened for writing and MPI_COMM_WORLD has one rank
 *      although a launcher started several processes; see TUTTI_SINGLE_RANK in tutti(7). */
TUTTI_API tutti_err tutti_file_open(MPI_Comm comm, const char *path, int mode,
                                    const tutti_options *opt, tutti_file **f_out) TUTTI_MUST_USE;

/** Open a file with permissions for a new file.
 *  Collective; all arguments must be the same on all ranks.
 *  tutti_file_open uses 0666.  The umask applies. */
TUTTI_API tutti_err tutti_file_open_with(MPI_Comm comm, const char *path, int mode, int permissions,
                                         const tutti_options *opt,
                                         tutti_file **f_out) TUTTI_MUST_USE;

/** Close a file and set the handle to NULL, even after an error.
 *  Collective.
 *  Pending independent accesses are completed; their requests stay valid.  A file that is open at
 *  MPI_Finalize is closed there by each rank; later calls on it, on its plans and on collective
 *  requests fail with TUTTI_ERR_STATE, and close releases the rest.
 *  @return TUTTI_ERR_STATE if a plan of the file has not been freed or a collective operation
 *      is pending, or TUTTI_ERR_MISMATCH; in both cases the file stays open. */
TUTTI_API tutti_err tutti_file_close(tutti_file **f);

/** Remove a file.
 *  Not collective. */
TUTTI_API tutti_err tutti_file_delete(const char *path, const tutti_options *opt) TUTTI_MUST_USE;

/** Return the size of the file in bytes.
 *  Collective. */
TUTTI_API tutti_err tutti_file_size(tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;

/** Return the current size of the file as this rank sees it.
 *  Not collective; any thread. */
TUTTI_API tutti_err tutti_file_size_independent(tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;

/** Change the size of the file.
 *  Collective; `size` must be the same on all ranks. */
TUTTI_API tutti_err tutti_file_resize(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/** Allocate space on the device for the first `size` bytes.
 *  Collective; `size` must be the same on all ranks.
 *  The file never shrinks, and no byte changes. */
TUTTI_API tutti_err tutti_file_preallocate(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/** Make all written data durable and visible to all programs.
 *  Collective.
 *  After an error, the same on all ranks, the operating system may have dropped any byte that was
 *  written since the last successful sync: write those bytes again.  The error is reported once;
 *  a later sync succeeds although they are lost. */
TUTTI_API tutti_err tutti_file_sync(tutti_file *f) TUTTI_MUST_USE;

/** Switch atomic mode on or off (default: off).
 *  Collective; `on` must be the same on all ranks.
 *  In atomic mode conflicting accesses of different ranks are serialized: a read sees a write
 *  completely or not at all, and bytes that several ranks write at the same time all come from one
 *  of them.  Every access holds a lock on its extent of the file, so atomic mode is slow.  For
 *  collective writes to the same byte, the value of the highest rank is still stored.  Pending
 *  operations are completed in the mode in which they were started.
 *  @return TUTTI_ERR_UNSUPPORTED if the file or its file system has no locks. */
TUTTI_API tutti_err tutti_file_atomic(tutti_file *f, int on) TUTTI_MUST_USE;

/** Variant of tutti_file_options for bindings of other languages, with the size of their
 *  struct.
 *  Not collective. */
TUTTI_API tutti_err tutti_file_options_sized(const tutti_file *f, tutti_options *opt_out,
                                             size_t struct_size) TUTTI_MUST_USE;

/** Return the options in use: those of rank 0, completed by defaults and by properties of the
 *  file system.
 *  Not collective. */
TUTTI_MUST_USE static inline tutti_err tutti_file_options(const tutti_file *f,
                                                          tutti_options *opt_out) {
    return tutti_file_options_sized(f, opt_out, sizeof *opt_out);
}

/** Options that can be changed while a file is open. */
#define TUTTI_FILE_CHANGES(X) \
    X(method)                 \
    X(method_read)            \
    X(exchange)               \
    X(pipeline)               \
    X(domains)                \
    X(domain_block)           \
    X(cb_nodes)               \
    X(cb_buffer_size)         \
    X(window_size)            \
    X(sub_buffers)            \
    X(rmw)                    \
    X(sieve_size)             \
    X(sieve_gap)              \
    X(check)                  \
    X(explain)                \
    X(plan_cache)

/** Change options of an open file, beginning with the next operation.
 *  Collective; the options of rank 0 are used.
 *  Only the options of TUTTI_FILE_CHANGES are changed.
 *  @return TUTTI_ERR_STATE if the file has plans or pending operations. */
TUTTI_API tutti_err tutti_file_change(tutti_file *f, const tutti_options *opt) TUTTI_MUST_USE;

/** @name Collective access
 *  Write or read the bytes of an access.
 *  Collective.
 *  Every rank passes its own access, which may be empty.  A rank that failed to create its access
 *  must pass NULL; all ranks then return the last error of that rank, or the one that it has set
 *  with tutti_set_local_error.  `buf` is the address of memory offset 0 of the access; it may be
 *  NULL if the access is empty.
 *  @param[out] count_out  If not NULL, receives the number of bytes transferred for this rank: the
 *      size of the access after a write; the bytes before the end of the file after a read.  The
 *      buffer is not changed for bytes beyond the end of the file.
 *  @return TUTTI_ERR_OVERLAP if ranks write the same byte and the option `check` is set;
 *      TUTTI_ERR_MODE if the file was not opened for this direction; TUTTI_ERR_TRUNCATED if the
 *      file shrinks during a read.
 *
 *  If several ranks write the same byte, the value of the highest rank is stored, unless the option
 *  `check` is set.  The call is not a barrier: a rank may return before other ranks have finished.
 *  After an error the buffer of a read may have been filled.  A request with the same shape as an
 *  earlier one reuses the cached plan of that request, even at a different file offset (option
 *  `plan_cache`). */
/**@{*/
TUTTI_API tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                                     tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf,
                                    tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Independent access
 *  Write or read the bytes of an access without the other ranks.
 *  Not collective; any thread.
 *  Several threads may make this call on one file at the same time. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a,
                                                 const void *buf,
                                                 tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                                tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Non-blocking independent access
 *  Start an independent access.
 *  Not collective; any thread.
 *  File access progresses in the background, under any thread level of MPI.  Several accesses may
 *  be pending, together with collective operations; their order is undefined.  Complete a request
 *  with tutti_request_test or tutti_request_wait, or release it with tutti_request_abandon; these
 *  calls do not wait for other ranks.
 *  The access may be freed at once; the buffer must not be used until the request is complete (if
 *  it is abandoned, until the file has been closed).  Several threads may make these calls on one
 *  file at the same time.
 *  Errors in the arguments are returned by the start call, later errors by test or wait.  The
 *  count of a read is the number of bytes before the end of the file at the time of the access. */
/**@{*/
typedef struct tutti_request tutti_request;

TUTTI_API tutti_err tutti_file_write_independent_start(tutti_file *f, const tutti_access *a,
                                                       const void *buf,
                                                       tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_independent_start(tutti_file *f, const tutti_access *a,
                                                      void *buf,
                                                      tutti_request **r_out) TUTTI_MUST_USE;
/**@}*/

/** @name Split collectives
 *  Begin an operation, compute, and end it.
 *  Collective; begin and end are each collective.
 *  The option `background` determines what happens between begin and end:
 *
 *      background  begin                   between      end
 *      none        plan, exchange, access  -            returns the count
 *      io-only     plan, exchange (write)  file access  exchange (read)
 *      all         starts a thread         all of it    waits for the thread
 *
 *  With `io-only` end waits for the file access, and all ranks agree on the result.  If begin has
 *  completed the operation (`none`, or an operation that does not fit into memory), end does not
 *  wait for other ranks.
 *
 *  The buffer of a write must not be changed, and the buffer of a read must not be used, between
 *  begin and end.  The access may be freed at once.  With `io-only` an operation needs memory, at
 *  most `background_bytes` per node; an operation for which there is not enough is completed in
 *  begin.  tutti_file_stats counts these operations.
 *  @return as tutti_file_write; TUTTI_ERR_STATE, by end, if no operation of this direction is the
 *      oldest one that has begun.
 *
 *  If begin fails, do not call end.  Later errors are returned by end, on all ranks, once.
 *  Several operations may be pending on a file; they must be ended in the order in which they
 *  were begun. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_begin(tutti_file *f, const tutti_access *a,
                                           const void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_write_end(tutti_file *f, tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_begin(tutti_file *f, const tutti_access *a,
                                          void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_end(tutti_file *f, tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Non-blocking collectives
 *  Start a collective operation without waiting for other ranks.
 *  Collective; every rank starts the same operations on a file in the same order.
 *  Operations progress in start, test and wait of any operation and in every collective call;
 *  with background `all` also in a thread.  Ranks may complete them in any order.  The buffer
 *  must not be used until the operation is complete.
 *
 *  If a rank has no memory to record an operation, all ranks return TUTTI_ERR_NOMEM; only in this
 *  case does start wait for other ranks.  If a rank passes NULL as r_out, it returns TUTTI_ERR_ARG,
 *  the other ranks return this error when they complete the operation, and the file does not
 *  change.  Other errors are returned by tutti_request_test and tutti_request_wait.
 *  Non-blocking operations use the exchanges `fence` and `lock` only with background `all`, because
 *  these need blocking calls; otherwise data is exchanged by messages, and tutti_file_explain
 *  reports this. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_start(tutti_file *f, const tutti_access *a, const void *buf,
                                           tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_start(tutti_file *f, const tutti_access *a, void *buf,
                                          tutti_request **r_out) TUTTI_MUST_USE;

/** Test whether an operation is complete.
 *  Not collective; never waits.
 *  While another thread is in a call on the file, the answer is no.
 *  @param[out] done_out  1: the operation is complete, `r` has been released, and the return value
 *      is its outcome, for a collective operation the same on all ranks. */
TUTTI_API tutti_err tutti_request_test(tutti_request **r, int *done_out,
                                       tutti_off *count_out) TUTTI_MUST_USE;

/** Wait for an operation to complete, but not longer than about `seconds`.
 *  Not collective; waits for the ranks that take part in a collective operation.
 *  Meanwhile the messages of the MPI library progress.
 *  @param[in] seconds    maximum time; tutti_request_test is used if it is 0 or less.
 *  @param[out] done_out  1: the operation is complete, and `r` has been released. */
TUTTI_API tutti_err tutti_request_wait_for(tutti_request **r, double seconds, int *done_out,
                                           tutti_off *count_out) TUTTI_MUST_USE;

/** Wait for an operation to complete, free it and set the handle to NULL.
 *  Not collective; waits for the ranks that take part in a collective operation.
 *  @return the outcome of the operation, as tutti_request_test does. */
TUTTI_API tutti_err tutti_request_wait(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;

/** Release a request without waiting for its outcome, and set the handle to NULL.
 *  Not collective.
 *  The operation is still carried out; its buffer must exist until the file has been closed. */
TUTTI_API void tutti_request_abandon(tutti_request **r);
/**@}*/

/** @name Plans */
/**@{*/
/** Create a plan that writes, or reads, the bytes of an access.
 *  Collective.
 *  The access may be freed at once.  All plans must be freed before tutti_file_close. */
TUTTI_API tutti_err tutti_plan_write(tutti_file *f, const tutti_access *a,
                                     tutti_plan **p_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_read(tutti_file *f, const tutti_access *a,
                                    tutti_plan **p_out) TUTTI_MUST_USE;

/** Start an operation of a plan; all file offsets are shifted by `displacement`.
 *  Collective, non-blocking; `displacement` must be the same on all ranks.
 *  `buf` is the address of memory offset 0 of the access; it must not be used until the operation
 *  is complete.  Errors on which the ranks must agree are returned by test or wait.  Only one
 *  operation per plan may be pending. */
TUTTI_API tutti_err tutti_plan_start(tutti_plan *p, void *buf,
                                     tutti_off displacement) TUTTI_MUST_USE;

/** Test whether the operation of a plan is complete.
 *  Not collective; never waits.
 *  @param[out] done_out  1: the operation is complete, and the return value is its error code. */
TUTTI_API tutti_err tutti_plan_test(tutti_plan *p, int *done_out,
                                    tutti_off *count_out) TUTTI_MUST_USE;

/** Wait for the operation of a plan to complete.
 *  Not collective; waits for the ranks that take part.
 *  @param[out] count_out  as for tutti_file_write and tutti_file_read. */
TUTTI_API tutti_err tutti_plan_wait(tutti_plan *p, tutti_off *count_out) TUTTI_MUST_USE;

/** Run a plan: start and wait.
 *  Collective; `displacement` must be the same on all ranks. */
TUTTI_API tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement,
                                   tutti_off *count_out) TUTTI_MUST_USE;

/** Run or start a plan of writes with a const buffer.
 *  Collective; `displacement` must be the same on all ranks.
 *  @return TUTTI_ERR_ARG on all ranks if it is a plan of reads. */
TUTTI_API tutti_err tutti_plan_run_write(tutti_plan *p, const void *buf, tutti_off displacement,
                                         tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_start_write(tutti_plan *p, const void *buf,
                                           tutti_off displacement) TUTTI_MUST_USE;

/** Return a line that states what was chosen and why, for example "two-phase: 4096-byte runs of
 *  4 ranks interleave".
 *  Not collective.
 *  @return a string that is valid as long as the plan. */
TUTTI_API const char *tutti_plan_explain(const tutti_plan *p);

/** Return the memory that a plan occupies on this rank, in bytes.
 *  Not collective. */
TUTTI_API size_t tutti_plan_size(const tutti_plan *p);

/** Free a plan and set the handle to NULL.
 *  Not collective.
 *  `p` and *p may be NULL.  A pending operation of the plan is abandoned (see
 *  tutti_request_abandon). */
TUTTI_API void tutti_plan_free(tutti_plan **p);
/**@}*/

/** Variant of tutti_file_stats for bindings of other languages, with the size of their struct.
 *  Not collective. */
TUTTI_API void tutti_file_stats_sized(const tutti_file *f, tutti_stats *last_out,
                                      tutti_stats *all_out, size_t struct_size);

/** Return the statistics of this rank for the last operation and for all operations since open.
 *  Not collective.
 *  @param[out] last_out, all_out  either may be NULL. */
static inline void tutti_file_stats(const tutti_file *f, tutti_stats *last_out,
                                    tutti_stats *all_out) {
    tutti_file_stats_sized(f, last_out, all_out, sizeof(tutti_stats));
}

/** Return a line that states how the last collective operation was done and why; "" before the
 *  first.
 *  Not collective. */
TUTTI_API const char *tutti_file_explain(const tutti_file *f);

/** A progress callback.  It is called during operations, by the thread that made the call, with
 *  the number of bytes of this rank that are done, the total, and the phase ("plan",
 *  "exchange", "file").  It must return soon and must not call the library. */
typedef void tutti_progress_fn(void *context, tutti_off done, tutti_off total, const char *phase);

/** Install a progress callback, or remove it with NULL.
 *  Not collective. */
TUTTI_API void tutti_file_on_progress(tutti_file *f, tutti_progress_fn *fn, void *context);

/** Set options from an MPI_Info object.
 *  Not collective.
 *  Unknown keys are ignored, as the MPI standard requires. */
TUTTI_API tutti_err tutti_options_from_info(tutti_options *opt, MPI_Info info) TUTTI_MUST_USE;

TUTTI_END_DECLS
#endif
