/* Common part of tests on several ranks: start and end, codes and messages that must agree between
 * ranks, memory and descriptors that must be released, files written and read by plain
 * calls, options from text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_HARNESS_H
#define TUTTI_TESTS_HARNESS_H

#include <dirent.h>
#include "base/memory.h"
#include "collective/model.h"

static int rank, ranks;

/* ---- the same error on all ranks */

/* Return `err`; check that the code and the last error are the same on all ranks. */
static inline tutti_err same_everywhere(tutti_err err) {
    int local = (int)err, all[2], range[2] = {-local, local};
    tutti_error_info first, here = *tutti_last_error();
    MPI_Allreduce(range, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(all[0] == -all[1], "ranks return from %d to %d; rank %d: %s", -all[0], all[1], rank,
          err ? tutti_last_message() : "ok");
    first = here;
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (all[0] != -all[1] || err == TUTTI_OK) return err;
    CHECK(here.code == err, "last error has %s, not %s", tutti_error_name(here.code),
          tutti_error_name(err));
    CHECK(here.rank == first.rank, "rank %d blames rank %d, rank 0 rank %d (%s)", rank, here.rank,
          first.rank, here.text);
    CHECK_EQ(here.sys_errno, first.sys_errno);
    CHECK_EQ(here.offset, first.offset);
    CHECK(!strcmp(here.operation, first.operation), "operation '%s', '%s'", here.operation,
          first.operation);
    CHECK(!strcmp(here.path, first.path), "path '%s', '%s'", here.path, first.path);
    CHECK(!strcmp(here.text, first.text), "text '%s', '%s'", here.text, first.text);
    CHECK(here.text[0] != '\0', "an error without text");
    return err;
}

/* Check that all ranks return this code with the same error. */
#define CHECK_SAME(call, code) CHECK_ERR(same_everywhere(call), code)

/* ---- memory blocks and file descriptors in use */

static inline int fd_count(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    if (!d) return 0;
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

typedef struct {
    long blocks;
    int fds;
} account;

static inline account account_now(void) {
    return (account){tutti__memory_live(), fd_count()};
}

static inline void account_check(account start) {
    const account now = account_now();
    CHECK(now.blocks == start.blocks, "%ld blocks more than at the start",
          now.blocks - start.blocks);
    CHECK(now.fds == start.fds, "%d descriptors more than at the start", now.fds - start.fds);
}

/* ---- files by plain calls, from rank 0 */

/* Create the file on rank 0 with the `n` bytes `v`, between two barriers. */
static inline void file_put(const char *path, const unsigned char *v, int64_t n) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        CHECK(fd >= 0 && write(fd, v, (size_t)n) == n, "cannot make %s", path);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Return the bytes of the file as read by this rank, and their number in *n_out; the caller frees them. */
static inline unsigned char *file_bytes(const char *path, int64_t *n_out) {
    struct stat st = {.st_size = 0};
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0, "no file %s", path);
    unsigned char *v = calloc(1, (size_t)st.st_size + 1);
    CHECK(pread(fd, v, (size_t)st.st_size, 0) == st.st_size, "cannot read %s", path);
    close(fd);
    *n_out = st.st_size;
    return v;
}

/* Call file_bytes() on all ranks, between two barriers. */
static inline unsigned char *file_get(const char *path, int64_t *n_out) {
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *v = file_bytes(path, n_out);
    MPI_Barrier(MPI_COMM_WORLD);
    return v;
}

static inline void bytes_are(const char *path, const unsigned char *want, int64_t n,
                             const char *what) {
    int64_t size = 0;
    unsigned char *v = file_bytes(path, &size);
    CHECK(size == n, "%s: %lld bytes, not %lld", what, (long long)size, (long long)n);
    for (int64_t i = 0; i < n && i < size; i++)
        if (v[i] != want[i]) {
            CHECK(0, "%s: byte %lld is %d, not %d", what, (long long)i, v[i], want[i]);
            break;
        }
    free(v);
}

/* Check the contents of the file on rank 0, between two barriers. */
static inline void file_is(const char *path, const unsigned char *want, int64_t n,
                           const char *what) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) bytes_are(path, want, n, what);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void file_remove(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) (void)unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- options from "key=value key=value ..." on top of the defaults */
static inline tutti_options options_of(const char *text) {
    tutti_options opt;
    char copy[512], *at = copy, *word;
    tutti_options_defaults(&opt);
    snprintf(copy, sizeof copy, "%s", text);
    while ((word = strsep(&at, " "))) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        CHECK_OK(tutti_options_set(&opt, word, value));
    }
    return opt;
}

/* Create a file on all ranks with the options `text`, which also label failed checks. */
static inline tutti_file *open_with(const char *path, const char *text) {
    const tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    return f;
}

static inline tutti_off sum_all(tutti_off local) {
    int64_t in = local, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return out;
}

/* ---- beginning and end of a test */
static inline void harness_begin(int *argc, char ***argv, uint64_t seed) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(seed + (unsigned)ranks);
}

static inline int harness_end(void) {
    check_where("");
    const int rc = check_done_all();
    MPI_Finalize();
    if (tutti__memory_live() != 0) {
        fprintf(stderr, "rank %d: %ld blocks live after MPI_Finalize\n", rank,
                tutti__memory_live());
        return 1;
    }
    return rc;
}

#endif
