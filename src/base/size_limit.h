/* base: writes beyond the limit of file sizes (RLIMIT_FSIZE).
 *
 * The kernel sends SIGXFSZ to the thread that writes, which ends the program by default, and the write fails
 * with EFBIG.  Between the two calls below the signal is blocked in the calling thread and one that arrives
 * is consumed: the write only fails.  Without a limit nothing is blocked.  No signal handler is
 * installed or changed.  The library writes with the functions at the end, which do the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIZE_LIMIT_H
#define TUTTI_SIZE_LIMIT_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct tutti__size_limit {
    sigset_t before;
    int blocked; /* blocked by the library: a limit exists, and no signal was pending */
} tutti__size_limit;

/* Both keep errno. */
void tutti__size_limit_begin(tutti__size_limit *s);
/* Whether a signal has been consumed: a write exceeded the limit. */
int tutti__size_limit_end(const tutti__size_limit *s);

/* pwrite(2) of all n bytes, and ftruncate(2).  0, or -1 with errno, which is EFBIG beyond the limit. */
int tutti__limited_pwrite(int fd, const void *from, size_t n, off_t at);
int tutti__limited_truncate(int fd, off_t size);

#endif
