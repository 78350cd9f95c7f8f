/* Common part of tests of stores: the list of stores, scratch paths, and a check that
 * descriptors and memory are released.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_STORES_H
#define TUTTI_TESTS_STORES_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "base/memory.h"
#include "store/store.h"

#define RW (TUTTI_STORE_READ | TUTTI_STORE_WRITE)
#define RWC (RW | TUTTI_STORE_CREATE)

static const char *const store_names[] = {"auto", "posix", "uring", "threads",
                                          "aio",  "mem",   "null"};

static inline int store_is_built(int choice) {
    const tutti_store_ops *ops;
    return tutti__store_find(choice, &ops) == TUTTI_OK;
}

/* Return whether the files of a store are visible in the file system. */
static inline int store_is_plain(int choice) {
    return choice != TUTTI_STORE_MEM && choice != TUTTI_STORE_NULL;
}

static inline const char *scratch_dir(int which) {
    const char *shm = getenv("TUTTI_TEST_SHM");
    return which == 0 ? check_dir() : shm ? shm : "/dev/shm";
}

/* Return a path that only this process uses; the next call with the same `dir` overwrites the text. */
static inline const char *scratch(int dir, const char *name) {
    static char text[2][4096];
    snprintf(text[dir], sizeof text[dir], "%s/tutti-store-%s-%ld", scratch_dir(dir), name,
             (long)getpid());
    return text[dir];
}

static inline int count_fds(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

typedef struct leaks {
    long blocks;
    int fds;
} leaks;

static inline leaks leaks_start(void) {
    return (leaks){tutti__memory_live(), count_fds()};
}

static inline void leaks_check(leaks l) {
    CHECK_EQ(tutti__memory_live(), l.blocks);
    CHECK_EQ(count_fds(), l.fds);
}

static inline tutti_options store_options(int choice) {
    tutti_options opt;
    tutti_options_defaults(&opt);
    opt.store = choice;
    return opt;
}

/* Open a store as rank 0; on failure, report the error and return NULL. */
static inline tutti_store *open_store(const char *path, int flags, const tutti_options *opt,
                                      tutti_stats *stats) {
    tutti_store *s = NULL;
    CHECK_OK(tutti__store_open(path, flags, 0600, opt, 0, stats, &s));
    return s;
}

static inline void write_bytes(tutti_store *s, tutti_off offset, const void *bytes, size_t n) {
    const tutti_io_run run = {.offset = offset, .memory = (void *)bytes, .bytes = n};
    CHECK_OK(tutti__store_write(s, &run, 1));
}

#endif
