/* base: writes beyond the limit of file sizes (RLIMIT_FSIZE).
 *
 * Such a write fails with EFBIG, and the kernel sends SIGXFSZ to the writing thread, which ends the
 * program by default.  Between tutti__size_limit_begin and tutti__size_limit_end the signal is
 * blocked in the calling thread, and a SIGXFSZ that arrives is consumed, so the write only fails.
 * Without a limit nothing is blocked.  No signal handler is installed or changed.
 * tutti__limited_pwrite and tutti__limited_truncate include both calls.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIZE_LIMIT_H
#define TUTTI_SIZE_LIMIT_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct tutti__size_limit {
    sigset_t before; /* signal mask to restore; valid if `blocked` */
    int blocked;     /* whether SIGXFSZ was blocked: a limit exists, and no SIGXFSZ was pending */
} tutti__size_limit;

/* Block SIGXFSZ in this thread if file sizes are limited. */
void tutti__size_limit_begin(tutti__size_limit *s);
/* Restore the signal mask; returns 1 if a SIGXFSZ was consumed, that is, a write exceeded the
 * limit.  Keeps errno. */
int tutti__size_limit_end(const tutti__size_limit *s);

/* pwrite(2) of all n bytes, and ftruncate(2).  Both return 0, or -1 with errno, which is EFBIG
 * beyond the limit. */
int tutti__limited_pwrite(int fd, const void *from, size_t n, off_t at);
int tutti__limited_truncate(int fd, off_t size);

#endif
