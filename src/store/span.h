/* store: division of runs into system calls.  A span is a part of a list of runs; division takes from its
 * start as much as one system call can transfer.  All transfers by descriptors use
 * this file: the synchronous loop, the worker threads, and the slots of uring and aio.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPAN_H
#define TUTTI_SPAN_H

#include <sys/types.h>
#include <sys/uio.h>
#include <tutti/backend.h>

/* Vectors of one system call: when it is synchronous, and when several are in flight. */
#define TUTTI__IOV_SYNC 1024
#define TUTTI__IOV_ASYNC 256

struct tutti__fdfile;

typedef struct tutti__span {
    const tutti_io_run *run; /* holds the first byte */
    size_t skip;             /* bytes of that run before the span */
    tutti_off left;          /* bytes of the span, over all its runs */
    tutti_off stream;        /* position of the first byte in the list */
    tutti_off direct_end;    /* direct_fd is used for bytes of the file before this one only */
} tutti__span;

/* One system call: `bytes` bytes, contiguous in the file, scattered over `niov` memory ranges.
 */
typedef struct tutti__io_call {
    struct iovec *iov; /* space for max_iov of them, set by the caller like the other two limits */
    int max_iov;
    size_t max_bytes;
    int fd;
    int niov;
    tutti_off offset;
    size_t bytes;
} tutti__io_call;

#define TUTTI__NO_END INT64_MAX

/* The result of the calls of a span, or of a whole request. */
typedef struct tutti__tally {
    int sys_errno; /* of the first call that failed, 0: none */
    tutti_off error_offset;
    tutti_off end;            /* stream position where the file ended, TUTTI__NO_END: it did not */
    tutti_count calls;        /* requests to the file system */
    tutti_count system_calls; /* uring needs fewer of these */
    tutti_off bytes;
    tutti_off direct_bytes; /* of them, through direct_fd */
} tutti__tally;

/* All `n` runs. */
tutti__span tutti__span_all(const tutti_io_run *runs, int n);
void tutti__span_advance(tutti__span *s, tutti_off bytes);

/* Describe the call that moves the first bytes of a span that is not empty. */
void tutti__span_cut(const struct tutti__fdfile *f, tutti__span s, tutti__io_call *c);

/* Make the call; returns the number of bytes transferred or -errno. */
ssize_t tutti__span_call(int is_write, const tutti__io_call *c);

/* Add the result of a call.  Returns 1 to continue with the rest, 0 to stop (complete, error, or
 * end of file, see the tally). */
int tutti__span_moved(const struct tutti__fdfile *f, int is_write, tutti__span *s, ssize_t result,
                      tutti__tally *t);

/* Divide and call until the span is transferred, an error occurs or the file ends. */
void tutti__span_transfer(const struct tutti__fdfile *f, int is_write, tutti__span *s,
                          tutti__io_call *c, tutti__tally *t);

tutti__tally tutti__tally_start(void);

/* Add the tally to the statistics, and raise its error if it has one. */
tutti_err tutti__tally_judge(const tutti__tally *t, int is_write,
                             tutti_stats *stats) TUTTI_MUST_USE;

#endif
