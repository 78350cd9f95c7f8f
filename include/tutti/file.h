/* Tutti: files that all ranks of a communicator read and write together.
 *
 * Collectivity.  *Local*: any rank, any time.  *Collective*: every rank of the file's communicator
 * calls it, in the same order.  *Collective, x agrees*: and with the same x.  A collective call
 * returns the same code on every rank, and tutti_last_error() is then the same too.  Where ranks
 * meet in different calls, or x does not agree, all of them get TUTTI_ERR_MISMATCH and nothing has
 * been done. Blocking, split and started transfers of one direction count as the same call.
 *
 * Threads.  If MPI was initialised with MPI_THREAD_MULTIPLE, different files may be used by
 * different threads at the same time.  On one file, the calls that say *any thread* may be made by
 * several threads at once, whatever others do with it (but opening and closing); all other calls
 * by one thread at a time. Whichever thread started an operation, any other may complete it, under
 * MPI_THREAD_SERIALIZED too.
 *
 * Visibility.  When a collective write has returned, a later collective read through the same
 * handle sees its bytes on every rank.  tutti_file_sync and tutti_file_close make them visible to
 * everybody, also on file systems with client caches; tutti_file_sync (not close) also makes them
 * durable.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale file or plan handle has no communicator:
 * only that rank gets the error, and the others, which cannot detect it, wait.
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
#define TUTTI_CREATE 4    /* create the file if it is not there */
#define TUTTI_EXCLUSIVE 8 /* with TUTTI_CREATE: refuse if it is there */
#define TUTTI_TRUNCATE 16 /* start with an empty file */
#define TUTTI_APPEND 32   /* file offsets count from the end of the file as it was at open */

/** Open a file.   Collective, all arguments agree (options: rank 0's are used).
 *  @param[in] comm  is not kept: the file works on communicators of its own
 *  @param[in] mode  TUTTI_READ | TUTTI_WRITE | ...
 *  @param[in] opt   NULL: defaults and environment
 *  @param[out] f_out  close it with tutti_file_close
 *  @return TUTTI_ERR_STATE if it is opened for writing and MPI_COMM_WORLD has one rank although a launcher
 *  started several processes; see TUTTI_SINGLE_RANK in tutti(7) */
TUTTI_API tutti_err tutti_file_open(MPI_Comm comm, const char *path, int mode,
                                    const tutti_options *opt, tutti_file **f_out) TUTTI_MUST_USE;

/** The same with permissions for a file that is created (default 0666, less the umask). */
TUTTI_API tutti_err tutti_file_open_with(MPI_Comm comm, const char *path, int mode, int permissions,
                                         const tutti_options *opt,
                                         tutti_file **f_out) TUTTI_MUST_USE;

/** Close a file and null the handle, also if an error is returned.   Collective.
 *  Plans of the file must have been freed and collective operations ended: otherwise
 *  TUTTI_ERR_STATE, and the file stays open, handle and all; so it does after TUTTI_ERR_MISMATCH.
 *  Independent accesses under way are waited for; their requests outlive the file.  A file that is
 *  still open at MPI_Finalize is closed there by each rank on its own; every call on it, on its
 *  plans
 *  and on collective requests is TUTTI_ERR_STATE from then on, and close frees what is left. */
TUTTI_API tutti_err tutti_file_close(tutti_file **f);

/** Remove a file.   Local. */
TUTTI_API tutti_err tutti_file_delete(const char *path, const tutti_options *opt) TUTTI_MUST_USE;

/** The size in bytes.   Collective. */
TUTTI_API tutti_err tutti_file_size(tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;

/** The size as this rank sees it now.   Local, any thread. */
TUTTI_API tutti_err tutti_file_size_independent(tutti_file *f, tutti_off *size_out) TUTTI_MUST_USE;

/** Change the size.   Collective, size agrees. */
TUTTI_API tutti_err tutti_file_resize(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/** Make sure that the first `size` bytes have space on the device; never shrinks, never changes bytes.
 *  Collective, size agrees. */
TUTTI_API tutti_err tutti_file_preallocate(tutti_file *f, tutti_off size) TUTTI_MUST_USE;

/** What was written is durable and visible to all when this returns.   Collective.
 *  After an error, the same on all ranks, the operating system may have dropped any byte that was written since the last
 *  successful sync: write those bytes again.  The error is reported once; a later sync succeeds although they are lost. */
TUTTI_API tutti_err tutti_file_sync(tutti_file *f) TUTTI_MUST_USE;

/** Atomic mode (off when a file has been opened).   Collective, `on` agrees.
 *  While it is on, accesses of different ranks that conflict are carried out as if one after the other, in
 *  some order: a read sees all of a write or nothing of it, whatever ways of access are mixed, and bytes that
 *  several ranks write at the same time are all of one of them.  Every access, collective ones too,
 *  holds a lock on its extent in the file meanwhile (shared to read, exclusive to write); so it is slow.
 *  Collective writes to the same byte: as ever, the highest rank wins.  Operations that were started
 *  before are completed in the mode of their start.
 *  @return TUTTI_ERR_UNSUPPORTED where the file or its file system has no locks */
TUTTI_API tutti_err tutti_file_atomic(tutti_file *f, int on) TUTTI_MUST_USE;

/** tutti_file_options for bindings of other languages, which say how many bytes they have for the
 *  struct.   Local. */
TUTTI_API tutti_err tutti_file_options_sized(const tutti_file *f, tutti_options *opt_out,
                                             size_t struct_size) TUTTI_MUST_USE;

/** The options in force (rank 0's, completed by what was found out).   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_file_options(const tutti_file *f,
                                                          tutti_options *opt_out) {
    return tutti_file_options_sized(f, opt_out, sizeof *opt_out);
}

/** Options that an open file can change. */
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

/** Change options of an open file, from the next operation on: those of TUTTI_FILE_CHANGES.  All others belong to opening and stay as they are.   Collective (rank 0's are used).
 *  @return TUTTI_ERR_STATE while there are plans of the file, or operations that have not been completed */
TUTTI_API tutti_err tutti_file_change(tutti_file *f, const tutti_options *opt) TUTTI_MUST_USE;

/** @name Collective access
 *  Every rank names its own bytes; an empty access is fine.  A rank that could not make its
 *  access passes
 *  NULL: then all ranks refuse, and the message is that rank's last error.  `buf` is the address
 *  of memory offset 0 of the access (NULL only if the access is empty).
 *  @param[out] count_out  NULL, or this rank's bytes: all of them after a write; after a read those
 *      that lie before the end of the file.  Bytes beyond are untouched.
 *  Writes of several ranks to the same byte: the highest rank wins (option `check`: an error).
 *  A call is no barrier for other accesses: what a rank reads may be in its buffer, and what all of
 *  them write in the file, before the last one has returned; and the buffer of a read may have been filled
 *  although another rank refuses.  The same shape again, also at another offset, is not planned again
 *  (option `plan_cache`). */
/**@{*/
TUTTI_API tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                                     tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf,
                                    tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Independent access.   Local, any thread.
 *  The same for one rank alone: the outcome is its own. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_independent(tutti_file *f, const tutti_access *a,
                                                 const void *buf,
                                                 tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_independent(tutti_file *f, const tutti_access *a, void *buf,
                                                tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Non-blocking independent access.   Local, any thread.
 *  File access goes on by itself, under any thread level of MPI.  Several may be under way, beside
 *  collective operations of any kind; the order in which they reach the file is not defined.  Test, wait
 *  or abandon the request like any other (see below); its outcome is this rank's own, and no other
 *  rank is waited for.  The access may be freed at once; the buffer is the library's until the
 *  request is complete.  Start returns what this rank may not do; what fails later is told by test or
 *  wait.  The count of a read: its bytes before the end of the file, as it was found then. */
/**@{*/
typedef struct tutti_request tutti_request;

TUTTI_API tutti_err tutti_file_write_independent_start(tutti_file *f, const tutti_access *a,
                                                       const void *buf,
                                                       tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_independent_start(tutti_file *f, const tutti_access *a,
                                                      void *buf,
                                                      tutti_request **r_out) TUTTI_MUST_USE;
/**@}*/

/** @name Split collectives: begin and end are each Collective
 *  An end that has nothing left to do with other ranks (see the table) does not look for them.
 *  Other work goes on between begin and end, and file access with it (option `background`):
 *
 *      background   begin                           meanwhile                    end
 *      none         everything                      nothing                      tells the count
 *      io-only      write: plan, exchange           write: bytes to the file     waits, agrees
 *                   read:  plan                     read:  bytes from the file   waits, exchange, agrees
 *      all          starts a thread                 everything                   waits
 *
 *  The buffer is the library's from begin to end, in every setting of `background`: that of a write
 *  must not be changed, that of a read must be left alone.  The access may be freed at once.
 *  `io-only` needs memory (option `background_bytes`); what does not fit is done in begin, and the
 *  statistics say so.  The options exchange, step and pipeline count as in calls that block, as far
 *  as there is no file access to wait for: docs/reference/background.md.
 *  If begin returns an error there is nothing to end.  What fails afterwards is told by end, on all
 *  ranks, once.  Several operations may be under way on a file; they end in the order in which they
 *  began, otherwise TUTTI_ERR_STATE. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_begin(tutti_file *f, const tutti_access *a,
                                           const void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_write_end(tutti_file *f, tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_begin(tutti_file *f, const tutti_access *a,
                                          void *buf) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_end(tutti_file *f, tutti_off *count_out) TUTTI_MUST_USE;
/**@}*/

/** @name Non-blocking collectives
 *  Every rank starts the same operations on a file in the same order, but start does not wait
 *  for anybody.  Operations move on in start, test and wait of any of them, and in every
 *  collective call; with background `all` also by themselves.  They may be completed in any
 *  order, on each rank in an order of its own.  The buffer is the library's until the operation is
 *  complete.  Where a rank has not even memory to remember an operation, start tells all ranks, for
 *  once waiting for them.  A rank that passes NULL as r_out completes the operation inside the call,
 *  and all ranks return TUTTI_ERR_ARG, the others when they complete it.  Windows of MPI are made and fenced by calls that wait: unless a thread
 *  makes them (background `all`), messages in step 4 take the place of the exchanges fence and
 *  lock, and tutti_file_explain says so. */
/**@{*/
TUTTI_API tutti_err tutti_file_write_start(tutti_file *f, const tutti_access *a, const void *buf,
                                           tutti_request **r_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_file_read_start(tutti_file *f, const tutti_access *a, void *buf,
                                          tutti_request **r_out) TUTTI_MUST_USE;

/** Is it complete?   Never waits; while another thread is in a call on the file the answer is no.
 *  @param[out] done_out 1: it is complete, `r` has been freed and nulled, and what is returned is its
 *  outcome: of a collective operation the same on all ranks. */
TUTTI_API tutti_err tutti_request_test(tutti_request **r, int *done_out,
                                       tutti_off *count_out) TUTTI_MUST_USE;

/** Wait for its completion, free and null it.   @return its outcome, as for tutti_request_test */
TUTTI_API tutti_err tutti_request_wait(tutti_request **r, tutti_off *count_out) TUTTI_MUST_USE;

/** Do not care for the outcome any longer; nulls `r`.   Local.   The operation is carried out all the
 *  same and its buffer must stay until the file has been closed. */
TUTTI_API void tutti_request_abandon(tutti_request **r);
/**@}*/

/** @name Plans: who moves what, made once and run many times */
/**@{*/
/** Plan writes (or reads) of an access.   Collective.   The access may be freed afterwards. */
TUTTI_API tutti_err tutti_plan_write(tutti_file *f, const tutti_access *a,
                                     tutti_plan **p_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_read(tutti_file *f, const tutti_access *a,
                                    tutti_plan **p_out) TUTTI_MUST_USE;

/** Start an operation by a plan, with a buffer and with all file offsets shifted by `displacement`.
 *  Non-blocking (see above): everything that ranks disagree on is told by test or wait.   displacement
 *  agrees.   One at a time per plan. */
TUTTI_API tutti_err tutti_plan_start(tutti_plan *p, void *buf,
                                     tutti_off displacement) TUTTI_MUST_USE;

/** Is it complete?   Never waits.   @param[out] done_out 1: it is, and its outcome is what is returned */
TUTTI_API tutti_err tutti_plan_test(tutti_plan *p, int *done_out,
                                    tutti_off *count_out) TUTTI_MUST_USE;

/** Wait for it.   @param[out] count_out as for tutti_file_write and tutti_file_read */
TUTTI_API tutti_err tutti_plan_wait(tutti_plan *p, tutti_off *count_out) TUTTI_MUST_USE;

/** Start and wait.   Collective, displacement agrees. */
TUTTI_API tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement,
                                   tutti_off *count_out) TUTTI_MUST_USE;

/** The same of plans of writes, which only read the buffer: for memory that is const.   A plan of reads is refused
 *  (TUTTI_ERR_ARG), on all ranks. */
TUTTI_API tutti_err tutti_plan_run_write(tutti_plan *p, const void *buf, tutti_off displacement,
                                         tutti_off *count_out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_plan_start_write(tutti_plan *p, const void *buf,
                                           tutti_off displacement) TUTTI_MUST_USE;

/** What was chosen and why, one line, e.g. "two-phase: 4096-byte runs of 4 ranks interleave".   Local.
 *  @return lives as long as the plan */
TUTTI_API const char *tutti_plan_explain(const tutti_plan *p);

/** Memory that the plan takes on this rank.   Local. */
TUTTI_API size_t tutti_plan_size(const tutti_plan *p);

/** Free a plan and null the handle.   Local.   NULL is fine.   An operation that has been started by it is
 *  abandoned (see tutti_request_abandon). */
TUTTI_API void tutti_plan_free(tutti_plan **p);
/**@}*/

/** tutti_file_stats for bindings of other languages, which say how many bytes they have for each
 *  struct.   Local. */
TUTTI_API void tutti_file_stats_sized(const tutti_file *f, tutti_stats *last_out,
                                      tutti_stats *all_out, size_t struct_size);

/** Statistics of the last operation, and of all since open, on this rank.   Local.
 *  @param[out] last_out, all_out  either may be NULL */
static inline void tutti_file_stats(const tutti_file *f, tutti_stats *last_out,
                                    tutti_stats *all_out) {
    tutti_file_stats_sized(f, last_out, all_out, sizeof(tutti_stats));
}

/** How the last collective operation went and why, one line ("" before the first).   Local. */
TUTTI_API const char *tutti_file_explain(const tutti_file *f);

/** Called now and then during operations: bytes of this rank that are done, all of them, and the phase
 *  ("plan", "exchange", "file").  By the thread that made the call.  It must return soon and call
 *  nothing of Tutti. */
typedef void tutti_progress_fn(void *context, tutti_off done, tutti_off total, const char *phase);

/** Install a progress callback, or remove it with NULL.   Local. */
TUTTI_API void tutti_file_on_progress(tutti_file *f, tutti_progress_fn *fn, void *context);

/** Options from an MPI_Info: known keys are set, unknown ones ignored, as the standard asks.   Local. */
TUTTI_API tutti_err tutti_options_from_info(tutti_options *opt, MPI_Info info) TUTTI_MUST_USE;

TUTTI_END_DECLS
#endif
