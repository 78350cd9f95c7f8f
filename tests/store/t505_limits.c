/* TEST ranks=0 timeout=120 */
/* Limits: the file size limit of the process (an error, never a signal); a full and a read-only file system
 * (a small tmpfs in a mount namespace of this process; skipped if not permitted); offsets and requests
 * beyond 4 GiB.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/stores.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define LIMIT 100000
#define GIB ((tutti_off)1 << 30)

static tutti_stats stats;
static volatile sig_atomic_t signals;

static void on_signal(int number) {
    (void)number;
    signals++;
}

static tutti_err write_some(tutti_store *s, tutti_off at, size_t n, int begun) {
    char *bytes = calloc(1, n);
    const tutti_io_run runs[2] = {
        {.offset = at, .memory = bytes, .bytes = n / 2},
        {.offset = at + (tutti_off)(n / 2), .memory = bytes + n / 2, .bytes = n - n / 2}};
    tutti_store_request *r = NULL;
    tutti_off done = -1;
    tutti_err err;
    memset(bytes, 0x5a, n);
    if (begun) {
        err = tutti__store_begin(s, 1, runs, 2, &r);
        if (err == TUTTI_OK) err = tutti__store_finish(&r, &done);
    } else {
        err = tutti__store_write(s, runs, 2);
    }
    free(bytes);
    return err;
}

static void too_big(const tutti_options *opt) {
    const char *path = scratch(0, "limit");
    struct rlimit before, now;
    tutti_off size = -1;
    tutti_store *s = open_store(path, RWC, opt, &stats);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = LIMIT;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
    for (int begun = 0; begun < 2; begun++) {
        CHECK_OK(write_some(s, LIMIT - 5000, 5000, begun));
        CHECK_ERR(write_some(s, LIMIT - 10, 11, begun), TUTTI_ERR_TOO_BIG);
        CHECK_EQ(tutti_last_error()->sys_errno, EFBIG);
        CHECK_EQ(tutti_last_error()->offset, LIMIT);
        CHECK_ERR(write_some(s, 5 * GIB, 10, begun), TUTTI_ERR_TOO_BIG);
    }
    CHECK_ERR(tutti__store_resize(s, LIMIT + 1), TUTTI_ERR_TOO_BIG);
    CHECK_ERR(tutti__store_preallocate(s, LIMIT + 1), TUTTI_ERR_TOO_BIG);
    CHECK_OK(tutti__store_size(s, &size));
    CHECK_EQ(size, LIMIT);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_OK(write_some(s, LIMIT - 10, 11, 0));
    now.rlim_cur = 10;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
    CHECK_OK(tutti__store_resize(s, LIMIT / 2)); /* shrinking is always allowed */
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_EQ(signals, 0);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

/* Mount a tmpfs of 256 KiB on `dir`, visible only to this process; return 0 if not possible. */
static int mount_small(const char *dir) {
    struct stat before, after;
    if (stat(dir, &before) != 0) return 0;
    if (mount("tutti-test", dir, "tmpfs", 0, "size=256k") != 0) return 0;
    return stat(dir, &after) == 0 && after.st_dev != before.st_dev;
}

static void fill_up(const tutti_options *opt, const char *path) {
    for (int begun = 0; begun < 2; begun++) {
        unsigned char back[100] = {0};
        tutti_off done = -1, size = -1;
        tutti_store *s = open_store(path, RWC, opt, &stats);
        if (!s) return;
        CHECK_OK(write_some(s, 0, 100000, begun));
        CHECK_ERR(write_some(s, 100000, 300001, begun), TUTTI_ERR_NO_SPACE);
        CHECK_EQ(tutti_last_error()->sys_errno, ENOSPC);
        CHECK(tutti_last_error()->offset >= 100000 && tutti_last_error()->offset < 400001);
        CHECK_ERR(tutti__store_preallocate(s, 400000), TUTTI_ERR_NO_SPACE);
        const tutti_io_run run = {.offset = 99900, .memory = back, .bytes = 100};
        CHECK_OK(tutti__store_read(s, &run, 1, &done));
        CHECK(done == 100 && back[0] == 0x5a && back[99] == 0x5a);
        CHECK_OK(tutti__store_resize(s, 50));
        CHECK_OK(write_some(s, 50, 1000, begun));
        CHECK_OK(tutti__store_size(s, &size));
        CHECK_EQ(size, 1050);
        CHECK_OK(tutti__store_close(&s));
        CHECK_OK(tutti__store_delete(path, opt));
    }
}

static void read_only(const tutti_options *opt, const char *dir, const char *path) {
    tutti_store *s = NULL;
    if (mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) return;
    CHECK_ERR(tutti__store_open(path, RWC, 0600, opt, 0, &stats, &s), TUTTI_ERR_READ_ONLY);
    CHECK_EQ(mount(NULL, dir, NULL, MS_REMOUNT, NULL), 0);
}

static void no_space(const char *dir) {
    char path[5000];
    snprintf(path, sizeof path, "%s/full", dir);
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_MEM; choice++) {
        const tutti_options opt = store_options(choice);
        const int is_mem = choice == TUTTI_STORE_MEM;
        const char *where = is_mem ? "/dev/shm" : dir;
        if (!store_is_built(choice) || !mount_small(where)) continue;
        check_where(store_names[choice]);
        fill_up(&opt, path);
        if (!is_mem) read_only(&opt, dir, path);
        CHECK_EQ(umount(where), 0);
    }
}

static void full_file_system(void) {
    const char *dir = scratch(0, "mount");
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return;
    if (mkdir(dir, 0700) != 0) return;
    no_space(dir);
    CHECK_EQ(rmdir(dir), 0);
}

static void far_away(const tutti_options *opt) {
    const char *path = scratch(1, "far");
    const tutti_off at = 5 * GIB + 4095;
    char back[101];
    tutti_off done = -1, size = -1;
    tutti_store *s = open_store(path, RWC, opt, &stats);
    CHECK_OK(write_some(s, at, 100, 0));
    CHECK_OK(write_some(s, 9 * GIB, 10, 1));
    CHECK_OK(tutti__store_size(s, &size));
    CHECK_EQ(size, 9 * GIB + 10);
    const tutti_io_run run = {.offset = at - 1, .memory = back, .bytes = 101};
    CHECK_OK(tutti__store_read(s, &run, 1, &done));
    CHECK_EQ(done, 101);
    if (opt->store != TUTTI_STORE_NULL) CHECK(back[0] == 0 && back[1] == 0x5a && back[100] == 0x5a);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

/* Return `bytes` bytes of address space that repeatedly map 16 MiB of memory. */
static char *wide_memory(tutti_off bytes) {
    const tutti_off step = 16 << 20;
    const int fd = memfd_create("tutti-test", 0);
    char *at = mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || at == MAP_FAILED || ftruncate(fd, step) != 0) return NULL;
    for (tutti_off i = 0; i < bytes; i += step)
        if (mmap(at + i, (size_t)tutti__min(step, bytes - i), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            return NULL;
    close(fd);
    return at;
}

/* Read one run of more than 2 GiB across the end of a file that consists of a hole. */
static void wide_request(const tutti_options *opt, char *memory, tutti_off bytes) {
    const char *path = scratch(1, "wide");
    tutti_off done = -1;
    tutti_store *s = open_store(path, RWC, opt, &stats);
    const tutti_io_run run = {.offset = 1, .memory = memory, .bytes = (size_t)bytes};
    CHECK_OK(tutti__store_resize(s, bytes - 1000));
    CHECK_OK(tutti__store_read(s, &run, 1, &done));
    CHECK_EQ(done, bytes - 1001);
    CHECK_OK(tutti__store_close(&s));
    CHECK_OK(tutti__store_delete(path, opt));
}

int main(void) {
    check_seed(505);
    signal(SIGXFSZ, on_signal);
    const tutti_off wide = 2 * GIB + (GIB >> 3);
    char *memory = wide_memory(wide);
    const leaks l = leaks_start();
    for (int choice = TUTTI_STORE_POSIX; choice <= TUTTI_STORE_NULL; choice++) {
        const tutti_options opt = store_options(choice);
        if (!store_is_built(choice)) continue;
        check_where(store_names[choice]);
        far_away(&opt);
        if (choice == TUTTI_STORE_POSIX || choice == TUTTI_STORE_URING)
            if (memory) wide_request(&opt, memory, wide);
        if (choice != TUTTI_STORE_NULL) too_big(&opt);
    }
    full_file_system();
    check_where("at the end");
    leaks_check(l);
    if (memory) munmap(memory, (size_t)wide);
    return check_done();
}
