/* A limit of file sizes (RLIMIT_FSIZE) during one call.  Call signal(SIGXFSZ, SIG_DFL) first.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SIZE_LIMITS_H
#define TUTTI_TESTS_SIZE_LIMITS_H

#include <signal.h>
#include <sys/resource.h>
#include <tutti/tutti.h>
#include "check.h"

static inline void limit_sizes(rlim_t bytes) {
    struct rlimit r;
    CHECK(getrlimit(RLIMIT_FSIZE, &r) == 0, "getrlimit");
    r.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &r) == 0, "setrlimit");
}

/* Check that SIGXFSZ is neither blocked nor pending and has the default handler. */
static inline void limit_signals_right(void) {
    sigset_t set;
    struct sigaction a;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0 && !sigismember(&set, SIGXFSZ), "blocked");
    CHECK(sigpending(&set) == 0 && !sigismember(&set, SIGXFSZ), "pending");
    CHECK(sigaction(SIGXFSZ, NULL, &a) == 0 && a.sa_handler == SIG_DFL, "a handler");
}

/* Check that the call fails if files are limited to `bytes`, and succeeds without the limit. */
#define LIMITED(bytes, call)                                                         \
    do {                                                                             \
        limit_sizes(bytes);                                                          \
        const tutti_err limited_ = call;                                             \
        limit_sizes(RLIM_INFINITY);                                                  \
        CHECK(limited_ == TUTTI_ERR_NO_SPACE || limited_ == TUTTI_ERR_TOO_BIG, "%s", \
              tutti_last_message());                                                 \
        limit_signals_right();                                                       \
        CHECK_OK(call);                                                              \
        limit_signals_right();                                                       \
    } while (0)

#endif
