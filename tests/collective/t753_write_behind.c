/* TEST ranks=1,3 timeout=60 own=1 tsan=1 */
/* Writeback of bytes written in the background: split, non-blocking and independent non-blocking writes
 * call sync_file_range (replaced here) for all bytes, after the bytes are in the file; blocking writes,
 * small writes and writes with O_DIRECT do not.  If the kernel refuses, the call is not repeated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sys/vfs.h>
#include "harness.h"

enum { PIECE = 8192, MINE = 3 << 19 };

static char path[512];
static unsigned char *whole, *data; /* the expected file, and the part of this rank */
static tutti_off asked;             /* bytes for which writeback was requested */
static int wrong, refuses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Return whether the file has the expected bytes [at, at + bytes). */
static int is_there(int fd, tutti_off at, tutti_off bytes) {
    void *v = malloc((size_t)bytes);
    const ssize_t n = pread(fd, v, (size_t)bytes, at);
    const int good = n > 0 && memcmp(v, whole + at, (size_t)n) == 0;
    free(v);
    return good;
}

int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags) {
    const int good = is_there(fd, at, bytes) && flags == SYNC_FILE_RANGE_WRITE;
    pthread_mutex_lock(&lock);
    asked += bytes;
    wrong += !good;
    const int fails = refuses;
    pthread_mutex_unlock(&lock);
    errno = EINVAL;
    return fails ? -1 : 0;
}

static tutti_off asked_so_far(void) {
    pthread_mutex_lock(&lock);
    const tutti_off n = asked;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Return how many requests were too early or had wrong flags; reset the count of bytes. */
static int wrong_so_far(void) {
    pthread_mutex_lock(&lock);
    const int n = wrong;
    asked = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Check that all ranks together request writeback of at least `all` bytes (0: of none), never too early. */
static void asked_for(tutti_off all) {
    for (int i = 0; i < 2000 && sum_all(asked_so_far()) < all; i++) usleep(5000);
    const tutti_off n = sum_all(asked_so_far());
    CHECK(all ? n >= all : n == 0, "asked for %lld bytes, not %lld", (long long)n, (long long)all);
    CHECK_EQ(wrong_so_far(), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Make an access to `own_bytes` bytes in pieces that are interleaved with those of other ranks; copy the
 * bytes to `data`. */
static tutti_access *pieces(tutti_off own_bytes, tutti_off piece) {
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_vector(piece * rank, own_bytes / piece, piece, piece * ranks, &a));
    for (tutti_off i = 0; i < own_bytes; i += piece)
        memcpy(data + i, whole + i * ranks + piece * rank, (size_t)piece);
    return a;
}

typedef enum { PLAIN, SPLIT, STARTED, ALONE } kind;

static void write_by(kind k, const char *text, tutti_off own_bytes, tutti_off expected) {
    tutti_file *f = open_with(path, text);
    tutti_access *a = pieces(own_bytes, k == ALONE ? own_bytes : PIECE);
    tutti_request *r = NULL;
    if (k == PLAIN) {
        CHECK_SAME(tutti_file_write(f, a, data, NULL), TUTTI_OK);
    } else if (k == SPLIT) {
        CHECK_SAME(tutti_file_write_begin(f, a, data), TUTTI_OK);
        asked_for(expected); /* writeback was requested before the operation ends */
        CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
        expected = 0;
    } else if (k == STARTED) {
        CHECK_OK(tutti_file_write_start(f, a, data, &r));
        CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    } else {
        CHECK_OK(tutti_file_write_independent_start(f, a, data, &r));
        CHECK_OK(tutti_request_wait(&r, NULL));
    }
    asked_for(expected);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

static void check_refused(int on) {
    pthread_mutex_lock(&lock);
    refuses = on;
    pthread_mutex_unlock(&lock);
}

/* If the kernel refuses writeback, later writes do not request it; in at most three of six writes the
 * refusal is noticed too late. */
static void test_refused(void) {
    tutti_file *f = open_with(path, "background=none");
    tutti_access *a = pieces(MINE, PIECE);
    check_refused(1);
    for (int i = 0; i < 6; i++) {
        CHECK_SAME(tutti_file_write_begin(f, a, data), TUTTI_OK);
        for (int k = 0; k < 2000 && asked_so_far() == 0; k++) usleep(5000);
        usleep(20000);
        CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    const tutti_off n = asked_so_far(), once = (tutti_off)MINE; /* bytes per write */
    CHECK(n > 0 && n < 4 * once, "asked for %lld bytes", (long long)n);
    check_refused(0);
    (void)wrong_so_far();
    tutti_access_free(&a);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int in_memory(void) {
    struct statfs s;
    return statfs(check_dir(), &s) == 0 && (uint32_t)s.f_type == 0x01021994u;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 753);
    snprintf(path, sizeof path, "%s", scratch_path("hasten"));
    data = malloc(MINE);
    whole = malloc((size_t)MINE * (size_t)ranks);
    for (size_t i = 0; i < (size_t)MINE * (size_t)ranks; i++)
        whole[i] = (unsigned char)(i * 7 + i / 251 + 1);
    const tutti_off all = in_memory() ? 0 : (tutti_off)MINE * ranks;
    write_by(PLAIN, "", MINE, 0);
    const account start = account_now();
    write_by(SPLIT, "background=none", 65536, 0);
    write_by(SPLIT, "background=none", MINE, all);
    write_by(SPLIT, "background=io-only", MINE, all);
    write_by(SPLIT, "background=io-only fault=*:slow:100", MINE, all);
    write_by(STARTED, "background=none", MINE, all);
    write_by(STARTED, "background=io-only", MINE, all);
    write_by(ALONE, "", MINE, all);
    if (!in_memory()) test_refused();
    account_check(start);
    file_remove(path);
    free(data);
    free(whole);
    return harness_end();
}
