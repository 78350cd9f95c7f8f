/* base: blocking and consuming SIGXFSZ during writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/size_limit.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void set_to_xfsz(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGXFSZ);
}

void tutti__size_limit_begin(tutti__size_limit *s) {
    sigset_t set, pending;
    struct rlimit limit;
    s->blocked = 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return;
    set_to_xfsz(&set);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    s->blocked =
        !sigismember(&pending, SIGXFSZ) && pthread_sigmask(SIG_BLOCK, &set, &s->before) == 0;
}

int tutti__size_limit_end(const tutti__size_limit *s) {
    static const struct timespec now = {0, 0};
    const int keep = errno;
    sigset_t set;
    int got = -1;
    /* no limit on file sizes, or a SIGXFSZ of the program was already pending */
    if (!s->blocked) return 0;
    set_to_xfsz(&set);
    do got = sigtimedwait(&set, NULL, &now);
    while (got < 0 && errno == EINTR);
    (void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    errno = keep;
    return got == SIGXFSZ;
}

int tutti__limited_pwrite(int fd, const void *from, size_t n, off_t at) {
    tutti__size_limit limit;
    size_t done = 0;
    tutti__size_limit_begin(&limit);
    while (done < n) {
        const ssize_t put = pwrite(fd, (const char *)from + done, n - done, at + (off_t)done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) break;
        done += (size_t)put;
    }
    (void)tutti__size_limit_end(&limit);
    return done < n ? -1 : 0;
}

int tutti__limited_truncate(int fd, off_t size) {
    tutti__size_limit limit;
    tutti__size_limit_begin(&limit);
    const int failed = ftruncate(fd, size);
    (void)tutti__size_limit_end(&limit);
    return failed;
}
