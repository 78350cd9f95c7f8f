/* TEST ranks=0 timeout=60 */
/* Shared memory without a name: another process opens it through /proc, or, if not permitted, by a random
 * name; a wrong process id or another file is refused; 200 processes killed at random times leave no name
 * in /dev/shm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/shared_memory.h"
#include "check.h"

enum { BYTES = 100000, KILLS = 200 };

/* Return the number of names of process `pid` in /dev/shm. */
static int count_names(long pid) {
    char start[64];
    int n = 0;
    DIR *d = opendir("/dev/shm");
    snprintf(start, sizeof start, "tutti-shm-%ld-", pid);
    for (struct dirent *e; d && (e = readdir(d));)
        n += strncmp(e->d_name, start, strlen(start)) == 0;
    if (d) closedir(d);
    return n;
}

/* Call `run` in a child process; return its exit code. */
static int in_child(int (*run)(const tutti__shared_memory *), const tutti__shared_memory *m) {
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) _exit(run(m));
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "no child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

/* Map shared memory, check that it is zero, and write to it; return 0 on success. */
static int use_object(int fd) {
    if (fd < 0) return 1;
    char *v = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (v == MAP_FAILED || v[0] != 0 || v[BYTES - 1] != 0) return 2;
    v[BYTES - 1] = 'x';
    return 0;
}

static int open_by_proc(const tutti__shared_memory *m) {
    return use_object(tutti__shared_memory_open(m, 0));
}

static int open_by_name(const tutti__shared_memory *m) {
    return use_object(tutti__shared_memory_open(m, 1));
}

static char *created(tutti__shared_memory *m) {
    const int fd = tutti__shared_memory_create(BYTES, m);
    CHECK(fd >= 0, "create: %s", strerror(errno));
    char *v = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(v != MAP_FAILED, "mmap: %s", strerror(errno));
    CHECK_EQ(count_names((long)getpid()), 0);
    return v;
}

static void opened_through_proc(void) {
    tutti__shared_memory m;
    char *v = created(&m);
    CHECK_EQ(in_child(open_by_proc, &m), 0);
    CHECK_EQ(v[BYTES - 1], 'x');
    munmap(v, BYTES);
    close((int)m.fd);
    CHECK_EQ(in_child(open_by_proc, &m), 1);
}

static void opened_by_name(void) {
    tutti__shared_memory m;
    char *v = created(&m);
    CHECK_EQ(in_child(open_by_name, &m), 1);
    CHECK_EQ(tutti__shared_memory_link(&m), 0);
    CHECK_EQ(count_names((long)getpid()), 1);
    CHECK_EQ(in_child(open_by_name, &m), 0);
    CHECK_EQ(v[BYTES - 1], 'x');
    tutti__shared_memory_unlink(&m);
    CHECK_EQ(count_names((long)getpid()), 0);
    munmap(v, BYTES);
    close((int)m.fd);
}

/* A descriptor of a pipe or of other memory, a closed descriptor, or a wrong process id is refused. */
static void another_process(void) {
    tutti__shared_memory m, other;
    int ends[2];
    char *v = created(&m), *w = created(&other);
    CHECK(pipe(ends) == 0, "pipe");
    const tutti__shared_memory wrong[] = {
        {m.pid, ends[0], m.device, m.inode, m.random},
        {m.pid, other.fd, m.device, m.inode, m.random},
        {m.pid, 4711, m.device, m.inode, m.random},
        {1 << 30, m.fd, m.device, m.inode, m.random},
        {m.pid, m.fd, m.device, m.inode + 1, m.random},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_EQ(tutti__shared_memory_open(&wrong[i], 0), -1);
    close(ends[0]);
    close(ends[1]);
    munmap(v, BYTES);
    munmap(w, BYTES);
    close((int)m.fd);
    close((int)other.fd);
}

/* In a process that is not dumpable, /proc/PID/fd cannot be opened by other processes of the same user. */
static int not_dumpable(const tutti__shared_memory *unused) {
    (void)unused;
    tutti__shared_memory m;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 3;
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return 4;
    if (tutti__shared_memory_create(BYTES, &m) < 0) return 5;
    if (in_child(open_by_proc, &m) != 1) return 6;
    if (tutti__shared_memory_link(&m) != 0) return 7;
    const int code = in_child(open_by_name, &m);
    tutti__shared_memory_unlink(&m);
    return code ? 8 : 0;
}

static void too_much(void) {
    tutti__shared_memory m;
    CHECK_EQ(tutti__shared_memory_create((size_t)1 << 46, &m), -1);
    CHECK(errno == ENOSPC || errno == EFBIG || errno == ENOMEM, "errno is %s", strerror(errno));
}

static void create_and_share(void) {
    for (;;) {
        tutti__shared_memory m;
        if (tutti__shared_memory_create(BYTES, &m) < 0) _exit(1);
        const int fd = tutti__shared_memory_open(&m, 0);
        close(fd);
        close((int)m.fd);
    }
}

static void test_killed(void) {
    int left = 0;
    for (int i = 0; i < KILLS; i++) {
        const struct timespec moment = {0, (long)rnd(3000000)};
        int status;
        const pid_t pid = fork();
        if (pid == 0) create_and_share();
        nanosleep(&moment, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        CHECK(WIFSIGNALED(status), "a child ended by itself");
        left += count_names((long)pid);
    }
    CHECK_EQ(left, 0);
}

int main(void) {
    check_seed(0);
    opened_through_proc();
    opened_by_name();
    another_process();
    CHECK_EQ(in_child(not_dumpable, NULL), 0);
    too_much();
    test_killed();
    return check_done();
}
