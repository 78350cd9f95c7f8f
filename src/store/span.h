/* store: division of runs into system calls.  A span is a part of a list of runs; a call transfers
 * as many bytes from its start as possible.  Synchronous transfers, worker threads, and the flights
 * of uring and aio use this file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SPAN_H
#define TUTTI_SPAN_H

#include <sys/types.h>
#include <sys/uio.h>
#include <tutti/backend.h>

/* Maximum number of memory ranges of one system call, for synchronous and for asynchronous
 * transfers. */
#define TUTTI__IOV_SYNC 1024
#define TUTTI__IOV_ASYNC 256

struct tutti__fdfile;

typedef struct tutti__span {
    const tutti_io_run *run; /* run of the first byte of the span */
    size_t skip;             /* bytes of that run before the span */
    tutti_off left;          /* bytes of the span, over all its runs */
    /* position of the first byte of the span in the list of runs, in bytes */
    tutti_off stream;
    tutti_off direct_end; /* file offset at and after which direct_fd is not used */
} tutti__span;

/* One system call: `bytes` bytes, contiguous in the file, in `niov` memory ranges. */
typedef struct tutti__io_call {
    struct iovec *iov; /* [max_iov], set by the caller, of which `niov` are used */
    int max_iov;       /* set by the caller */
    size_t max_bytes;  /* maximum of `bytes`, set by the caller */
    int fd;
    int niov;
    tutti_off offset;
    size_t bytes;
} tutti__io_call;

#define TUTTI__NO_END INT64_MAX

/* The result of the calls of a span, or of a whole request. */
typedef struct tutti__tally {
    int sys_errno;          /* errno of the first call that failed; 0: none */
    tutti_off error_offset; /* file offset of that call; -1: none */
    /* stream position at which a read met the end of the file, or TUTTI__NO_END */
    tutti_off end;
    tutti_count calls; /* number of requests to the file system */
    /* number of system calls, which may be less than `calls` with uring */
    tutti_count system_calls;
    tutti_off bytes;        /* bytes transferred */
    tutti_off direct_bytes; /* bytes transferred through direct_fd */
} tutti__tally;

/* Return a span of all n runs. */
tutti__span tutti__span_all(const tutti_io_run *runs, int n);
void tutti__span_advance(tutti__span *s, tutti_off bytes);

/* Set *c to a call that transfers the first bytes of a non-empty span. */
void tutti__span_cut(const struct tutti__fdfile *f, tutti__span s, tutti__io_call *c);

/* Execute the call; returns the number of bytes transferred or -errno. */
ssize_t tutti__span_call(int is_write, const tutti__io_call *c);

/* Advance the span by the result of a call, and add it to the tally.  Returns 1 if bytes are left
 * to transfer, 0 if the span is complete, after an error or at the end of the file. */
int tutti__span_moved(const struct tutti__fdfile *f, int is_write, tutti__span *s, ssize_t result,
                      tutti__tally *t);

/* Transfer the span, until it is complete, an error occurs or the file ends. */
void tutti__span_transfer(const struct tutti__fdfile *f, int is_write, tutti__span *s,
                          tutti__io_call *c, tutti__tally *t);

tutti__tally tutti__tally_start(void);

/* Add the tally to the statistics; if it has an error, record and return that. */
tutti_err tutti__tally_judge(const tutti__tally *t, int is_write,
                             tutti_stats *stats) TUTTI_MUST_USE;

#endif
