/* Common part of fuzz targets, which tests/dataset/t1272_fuzz.sh builds with clang's libFuzzer.  Each
 * target processes untrusted bytes and must return, with or without an error.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FUZZ_H
#define TUTTI_TESTS_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Return the path of a scratch directory of this process. */
static inline const char *fuzz_directory(void) {
    static char path[600];
    const char *where = getenv("TUTTI_TEST_SHM");
    if (path[0]) return path;
    if (!where) where = getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/fuzz.%ld", where ? where : "/tmp", (long)getpid());
    if (mkdir(path, 0777) != 0) abort();
    return path;
}

static inline void fuzz_write(const char *path, const uint8_t *data, size_t n) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
    close(fd);
}

static inline void fuzz_nothing_left(void) {
    if (tutti__memory_live() != 0) abort();
}

#endif
