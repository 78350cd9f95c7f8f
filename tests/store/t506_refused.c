/* TEST ranks=0 timeout=30 */
/* A kernel that refuses io_uring (here by a filter on this process): the store threads takes over.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int refuse_rings(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 4, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
    tutti_options opt = store_options(TUTTI_STORE_URING);
    const char *path = scratch(0, "refused");
    tutti_stats stats = {0};
    tutti_store_request *r = NULL;
    tutti_off done = -1;
    char back[6] = "";
    if (!store_is_built(TUTTI_STORE_URING) || !refuse_rings()) return 77;
    check_seed(506);
    const leaks l = leaks_start();
    tutti_store *s = open_store(path, RWC, &opt, &stats);
    CHECK(strcmp(s->ops->name, "threads") == 0, "%s", s->ops->name);
    write_bytes(s, 3, "hello", 5);
    const tutti_io_run run = {.offset = 3, .memory = back, .bytes = 6};
    CHECK_OK(tutti__store_begin(s, 0, &run, 1, &r));
    CHECK_OK(tutti__store_finish(&r, &done));
    CHECK(done == 5 && strcmp(back, "hello") == 0);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, &opt));
    leaks_check(l);
    return check_done();
}
