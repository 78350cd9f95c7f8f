/* TEST ranks=0 timeout=60 */
/* Queries of the page cache: bytes that were just written are cached, bytes dropped by POSIX_FADV_DONTNEED
 * are not.  If one of the system calls cachestat and preadv2 is missing, the other one is used; without both
 * the result is unknown, which is not an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { BYTES = 1 << 20, CACHESTAT = 451 };

static tutti_stats stats;

static tutti_store *open_filled(const char *path, int choice, int direct) {
    static char bytes[BYTES];
    const tutti_io_run all = {0, bytes, BYTES};
    tutti_options opt;
    tutti_store *s = NULL;
    tutti_options_defaults(&opt);
    opt.store = choice;
    opt.direct_io = direct;
    memset(bytes, 7, sizeof bytes);
    CHECK_OK(tutti__store_open(path, RWC, 0600, &opt, 0, &stats, &s));
    if (!s) return NULL;
    CHECK_OK(tutti__store_write(s, &all, 1));
    CHECK_OK(tutti__store_sync(s));
    return s;
}

/* Drop the file from the page cache; return 0 if not possible. */
static int drop_cache(const char *path) {
    const int fd = open(path, O_RDONLY);
    const int dropped = fd >= 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    if (fd >= 0) close(fd);
    return dropped;
}

/* Query whether a byte is cached; check that the query changes neither errno nor the last error. */
static int ask_store(tutti_store *s, tutti_off offset) {
    tutti__error_clear();
    errno = 1234;
    const int cached = tutti__store_cached(s, offset);
    CHECK_EQ(errno, 1234);
    CHECK_EQ(tutti_last_error()->code, TUTTI_OK);
    return cached;
}

/* Drop the file and query a byte; repeat while the kernel keeps the page. */
static int ask_dropped(tutti_store *s, const char *path, tutti_off at) {
    int answer = 1;
    for (int i = 0; i < 50 && answer == 1; i++) {
        if (!drop_cache(path)) return -1;
        answer = ask_store(s, at);
        if (answer == 1) usleep(10000);
    }
    return answer;
}

static void test_stores(int can_drop) {
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_NULL; choice++) {
        const char *path = scratch(0, store_names[choice]);
        check_where(store_names[choice]);
        if (!store_is_built(choice)) continue;
        tutti_store *s = open_filled(path, choice, 0);
        if (!s) continue;
        if (store_is_plain(choice)) {
            CHECK_EQ(ask_store(s, 0), 1);
            CHECK_EQ(ask_store(s, BYTES - 1), 1);
            CHECK_EQ(ask_store(s, BYTES), -1); /* the byte is beyond the end of the file */
            CHECK_EQ(ask_store(s, (tutti_off)1 << 40), -1);
            if (can_drop) {
                CHECK_EQ(ask_dropped(s, path, 3 * BYTES / 4), 0);
                CHECK_EQ(ask_store(s, BYTES), -1);
            }
        } else {
            CHECK_EQ(ask_store(s, 0), -1);
        }
        CHECK_OK(tutti__store_close(&s));
        if (store_is_plain(choice)) unlink(path);
    }
}

static void test_wrappers(void) {
    const char *path = scratch(0, "wrapped");
    tutti_options opt;
    tutti_store *s = open_filled(path, TUTTI_STORE_POSIX, 0);
    CHECK_OK(tutti__store_close(&s));
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, "fault", "0:read:100"));
    CHECK_OK(tutti__store_open(path, RW, 0600, &opt, 0, &stats, &s));
    CHECK_EQ(ask_store(s, 0), 1);
    CHECK_OK(tutti__store_close(&s));
    tutti_options_defaults(&opt);
    opt.direct_io = 1;
    if (tutti__store_open(path, RW, 0600, &opt, 0, &stats, &s) == TUTTI_OK) {
        CHECK_EQ(ask_store(s, 0), -1); /* the result is unknown with direct I/O */
        CHECK_OK(tutti__store_close(&s));
    }
    unlink(path);
}

/* Let this system call fail with `code` from now on; return 1 on success. */
static int forbid_call(int call, int code) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Test missing system calls.  This must be the last test, since filters of system calls cannot be
 * removed. */
static void test_missing(int can_drop) {
    const char *path = scratch(0, "missing");
    char byte = 0;
    const tutti_io_run one = {BYTES - 1, &byte, 1};
    tutti_off done = 0;
    tutti_store *s = open_filled(path, TUTTI_STORE_POSIX, 0);
    if (!s) return;
    if (forbid_call(CACHESTAT, ENOSYS)) {
        check_where("without cachestat");
        CHECK(ask_store(s, 0) != 0, "it is cached");
        CHECK_EQ(ask_store(s, BYTES), -1);
        if (can_drop) CHECK(ask_dropped(s, path, 3 * BYTES / 4) != 1, "it is not cached");
    }
    if (forbid_call(SYS_preadv2, EOPNOTSUPP) && forbid_call(CACHESTAT, EPERM)) {
        check_where("without either");
        CHECK_EQ(ask_store(s, 0), -1);
        CHECK_OK(tutti__store_read(s, &one, 1, &done));
        CHECK(done == 1 && byte == 7, "%lld bytes, %d", (long long)done, byte);
    }
    CHECK_OK(tutti__store_close(&s));
    unlink(path);
}

/* Return whether pages can be dropped and the kernel reports residency, which fails in tmpfs and on old
 * kernels. */
static int dropping_shows(void) {
    const char *path = scratch(0, "shows");
    tutti_store *s = open_filled(path, TUTTI_STORE_POSIX, 0);
    struct {
        unsigned long long offset, bytes;
    } range = {0, BYTES};
    unsigned long long counts[5] = {1};
    if (!s) return 0;
    CHECK_OK(tutti__store_close(&s));
    const int dropped = drop_cache(path), fd = open(path, O_RDONLY);
    const long code = fd >= 0 ? syscall(CACHESTAT, fd, &range, counts, 0) : -1;
    if (fd >= 0) close(fd);
    unlink(path);
    return dropped && code == 0 && counts[0] == 0;
}

int main(void) {
    const int can_drop = dropping_shows();
    test_stores(can_drop);
    test_wrappers();
    test_missing(can_drop);
    return check_done();
}
