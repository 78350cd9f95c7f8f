/* TEST ranks=0 timeout=30 */
/* System calls that the kernel refuses (by a filter on this process): without io_uring the store threads is
 * used; without fallocate files are extended, never truncated, and keep their bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int check_refused(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 6, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void check_preallocate(tutti_store *s, tutti_off bytes, tutti_off want) {
    tutti_off size = -1;
    CHECK_OK(tutti__store_preallocate(s, bytes));
    CHECK_OK(tutti__store_size(s, &size));
    CHECK_EQ(size, want);
}

int main(void) {
    const int has_uring = store_is_built(TUTTI_STORE_URING);
    const tutti_options opt = store_options(has_uring ? TUTTI_STORE_URING : TUTTI_STORE_THREADS);
    const char *path = scratch(0, "refused");
    tutti_stats stats = {0};
    tutti_store_request *r = NULL;
    tutti_off done = -1;
    char back[6] = "";
    if (!check_refused()) return 77;
    check_seed(506);
    const leaks l = leaks_start();
    tutti_store *s = open_store(path, RWC, &opt, &stats);
    CHECK(strcmp(s->ops->name, "threads") == 0, "%s", s->ops->name);
    write_bytes(s, 3, "hello", 5);
    const tutti_io_run run = {.offset = 3, .memory = back, .bytes = 6};
    CHECK_OK(tutti__store_begin(s, 0, &run, 1, &r));
    CHECK_OK(tutti__store_finish(&r, &done));
    CHECK(done == 5 && strcmp(back, "hello") == 0);
    check_preallocate(s, 5, 8);
    check_preallocate(s, 5000, 5000);
    CHECK_OK(tutti__store_read(s, &run, 1, &done));
    CHECK(done == 6 && strcmp(back, "hello") == 0);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
    return check_done();
}
