/* TEST ranks=1,2,4 timeout=120 own=1 */
/* File handles: open, size and remove, many files, several communicators, repeatedly without
 * growing resource use; files that are open at MPI_Finalize.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "harness.h"

static char path[512], second[520];
enum { RW = TUTTI_READ | TUTTI_WRITE };

static tutti_file *open_file(MPI_Comm comm, const char *name, int mode) {
    tutti_file *f = NULL;
    CHECK_OK(tutti_file_open(comm, name, mode, NULL, &f));
    return f;
}

/* Write n bytes per rank, in rank order; the value depends on the rank and on `key`. */
static void put_values(tutti_file *f, int me, int n, int key) {
    tutti_access *a = NULL;
    unsigned char *v = malloc((size_t)n);
    for (int i = 0; i < n; i++) v[i] = mix((uint64_t)(key + me), (uint64_t)i);
    CHECK_OK(tutti_access_contiguous(me * (tutti_off)n, n, &a));
    CHECK_OK(tutti_file_write(f, a, v, NULL));
    tutti_access_free(&a);
    free(v);
}

static void put_is_there(const char *name, int many, int n, int key, tutti_off from) {
    int64_t size = 0;
    unsigned char *v = file_get(name, &size);
    CHECK_EQ(size, from + many * (tutti_off)n);
    for (int64_t i = from; i < size; i++)
        if (v[i] != mix((uint64_t)(key + (i - from) / n), (uint64_t)((i - from) % n))) {
            CHECK(0, "%s: byte %lld", name, (long long)i);
            break;
        }
    free(v);
}

static void check_refused(const char *name, int mode, tutti_err code, int sys_errno) {
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, name, mode, NULL, &f), code);
    CHECK(f == NULL, "a handle after a refused open");
    CHECK(tutti_last_error()->sys_errno == sys_errno, "%s", tutti_last_message());
    CHECK(!strcmp(tutti_last_error()->operation, "open") && strstr(tutti_last_message(), name),
          "%s", tutti_last_message());
}

/* ---- modes */
static void test_modes(void) {
    char deep[700];
    tutti_off size = -7;
    check_where("modes");
    check_refused(path, RW, TUTTI_ERR_NOT_FOUND, ENOENT);
    check_refused(path, TUTTI_READ, TUTTI_ERR_NOT_FOUND, ENOENT);
    snprintf(deep, sizeof deep, "%s.none/there", path);
    check_refused(deep, RW | TUTTI_CREATE, TUTTI_ERR_NOT_FOUND, ENOENT);
    snprintf(deep, sizeof deep, "%s.d", path);
    if (rank == 0) CHECK(mkdir(deep, 0777) == 0, "mkdir");
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused(deep, RW, TUTTI_ERR_IS_DIRECTORY, EISDIR);
    check_refused(deep, RW | TUTTI_CREATE, TUTTI_ERR_IS_DIRECTORY, EISDIR);
    tutti_file *d = NULL;
    const tutti_err err =
        same_everywhere(tutti_file_open(MPI_COMM_WORLD, deep, TUTTI_READ, NULL, &d));
    CHECK(err == TUTTI_ERR_IS_DIRECTORY, "reading a directory: %s", tutti_error_name(err));
    if (d) CHECK_OK(tutti_file_close(&d));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(rmdir(deep) == 0, "rmdir");

    tutti_file *f = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE | TUTTI_EXCLUSIVE);
    put_values(f, rank, 100, 1);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    put_is_there(path, ranks, 100, 1, 0);
    check_refused(path, RW | TUTTI_CREATE | TUTTI_EXCLUSIVE, TUTTI_ERR_EXISTS, EEXIST);
    put_is_there(path, ranks, 100, 1, 0);

    f = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE); /* existing bytes are kept */
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK_EQ(size, 100 * ranks);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);

    /* in append mode, offsets count from the end of the file */
    f = open_file(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_APPEND);
    put_values(f, rank, 50, 2);
    put_values(f, rank, 50, 3);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    put_is_there(path, ranks, 50, 3, 100 * ranks);

    f = open_file(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_TRUNCATE);
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK_EQ(size, 0);
    put_values(f, rank, 10, 4);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    put_is_there(path, ranks, 10, 4, 0);
    file_remove(path);
}

/* New files get the requested permissions minus the umask; existing files keep theirs. */
static void test_permissions(void) {
    static const int asked[] = {0666, 0600, 0640, 0444};
    struct stat st;
    check_where("permissions");
    const mode_t before = umask(027);
    for (int i = 0; i < 4; i++) {
        tutti_file *f = NULL;
        CHECK_SAME(
            tutti_file_open_with(MPI_COMM_WORLD, path, RW | TUTTI_CREATE, asked[i], NULL, &f),
            TUTTI_OK);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        CHECK(stat(path, &st) == 0 && (int)(st.st_mode & 07777) == (asked[i] & ~027), "%o for %o",
              (unsigned)st.st_mode, (unsigned)asked[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_SAME(tutti_file_open_with(MPI_COMM_WORLD, path, TUTTI_READ, 0777, NULL, &f),
                   TUTTI_OK);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        CHECK(stat(path, &st) == 0 && (int)(st.st_mode & 07777) == (asked[i] & ~027),
              "changed by a second open");
        file_remove(path);
    }
    CHECK(umask(before) == 027, "the umask was changed");
}

/* ---- size, resize, preallocate, delete */
static void test_sizes(void) {
    tutti_off size = -7;
    check_where("sizes");
    tutti_file *f = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE);
    put_values(f, rank, 1000, 5);
    CHECK_SAME(tutti_file_preallocate(f, 500), TUTTI_OK); /* preallocation never shrinks a file */
    CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
    put_is_there(path, ranks, 1000, 5, 0);
    CHECK_SAME(tutti_file_preallocate(f, 0), TUTTI_OK);
    /* existing bytes are unchanged, and the rest is zero */
    CHECK_SAME(tutti_file_preallocate(f, 300000), TUTTI_OK);
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK_EQ(size, 300000);
    int64_t n = 0;
    unsigned char *v = file_get(path, &n);
    for (int64_t i = 0; i < n; i++) {
        const unsigned char want =
            i < 1000 * ranks ? mix((uint64_t)(5 + i / 1000), (uint64_t)(i % 1000)) : 0;
        if (v[i] != want) {
            CHECK(0, "preallocate changed byte %lld", (long long)i);
            break;
        }
    }
    free(v);
    CHECK_SAME(tutti_file_resize(f, 1000 * ranks), TUTTI_OK);
    put_is_there(path, ranks, 1000, 5, 0);
    CHECK_SAME(tutti_file_resize(f, (tutti_off)5 << 30), TUTTI_OK);
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK_EQ(size, (tutti_off)5 << 30);
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(tutti_file_delete(path, NULL));
        CHECK_ERR(tutti_file_delete(path, NULL), TUTTI_ERR_NOT_FOUND);
        CHECK(!strcmp(tutti_last_error()->operation, "delete"), "%s", tutti_last_message());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- many opens */

/* Repeated opens leak no descriptors, memory or communicators (MPI libraries support fewer
 * communicators than are created here). */
static void again_and_again(void) {
    account start = {0, 0};
    check_where("again and again");
    for (int i = 0; i < 220; i++) {
        tutti_file *f = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE);
        if (i % 20 == 0) put_values(f, rank, 300, 6);
        CHECK_OK(tutti_file_close(&f));
        if (i == 0) start = account_now();
    }
    account_check(start);
    for (int i = 0; i < 40; i++) { /* open files on communicators of the caller, too */
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        tutti_file *f = open_file(dup, path, RW);
        if (i % 2) MPI_Comm_free(&dup); /* the file is still open */
        if (i % 10 == 1) put_values(f, rank, 300, 7);
        CHECK_OK(tutti_file_close(&f));
        if (!(i % 2)) MPI_Comm_free(&dup);
    }
    account_check(start);
    put_is_there(path, ranks, 300, 7, 0);
}

/* Test several open files on one communicator, with alternating operations; they are closed in
 * another order. */
static void at_once(void) {
    enum { FILES = 5 };
    tutti_file *f[FILES];
    char name[FILES][540];
    check_where("at once");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FILES; i++) {
            snprintf(name[i], sizeof name[i], "%s.%d", path, i);
            f[i] = open_file(MPI_COMM_WORLD, name[i], RW | TUTTI_CREATE | TUTTI_TRUNCATE);
        }
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < FILES; i++) put_values(f[i], rank, 200 + i, 10 * k + i);
        for (int i = 0; i < FILES; i++) CHECK_OK(tutti_file_close(&f[(i * 3 + round) % FILES]));
        for (int i = 0; i < FILES; i++) put_is_there(name[i], ranks, 200 + i, 10 + i, 0);
    }
    for (int i = 0; i < FILES; i++) file_remove(name[i]);
}

/* Test files on halves of MPI_COMM_WORLD and on MPI_COMM_SELF, alternating with a file on
 * MPI_COMM_WORLD. */
static void test_communicators(void) {
    MPI_Comm half;
    int me, many;
    char own[560];
    tutti_off size = -7;
    check_where("communicators");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* ranks are in reverse order */
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &many);
    snprintf(own, sizeof own, "%s.half%d", path, rank % 2);
    tutti_file *a = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE | TUTTI_TRUNCATE);
    tutti_file *b = open_file(half, own, RW | TUTTI_CREATE | TUTTI_TRUNCATE);
    MPI_Comm_free(&half); /* the file is still open */
    put_values(b, me, 400, 20 + 10 * (rank % 2));
    put_values(a, rank, 300, 40);
    put_values(b, me, 500, 30 + 10 * (rank % 2));
    CHECK_OK(tutti_file_size(b, &size));
    CHECK_EQ(size, 500 * many);
    CHECK_OK(tutti_file_close(&b));
    CHECK_OK(tutti_file_close(&a));
    put_is_there(path, ranks, 300, 40, 0);
    put_is_there(own, many, 500, 30 + 10 * (rank % 2), 0);

    snprintf(own, sizeof own, "%s.self%d", path, rank);
    tutti_file *s = open_file(MPI_COMM_SELF, own, RW | TUTTI_CREATE | TUTTI_TRUNCATE);
    a = open_file(MPI_COMM_WORLD, path, RW);
    for (int i = 0; i < rank; i++) /* the number of calls differs from rank to rank */
        put_values(s, 0, 100, 1);
    put_values(s, 0, 600, rank);
    put_values(a, rank, 300, 50);
    CHECK_OK(tutti_file_close(&s));
    CHECK_OK(tutti_file_close(&a));
    put_is_there(path, ranks, 300, 50, 0);
    put_is_there(own, 1, 600, rank, 0);
    (void)unlink(own);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s.half%d", path, rank % 2);
    (void)unlink(own);
}

/* Files that are open at MPI_Finalize are closed there and contain all data. */
static void left_open(void) {
    MPI_Comm dup;
    check_where("left open");
    tutti_file *a = open_file(MPI_COMM_WORLD, path, RW | TUTTI_CREATE | TUTTI_TRUNCATE);
    tutti_file *b = open_file(MPI_COMM_SELF, second, RW | TUTTI_CREATE);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    tutti_file *c = open_file(dup, path, RW);
    MPI_Comm_free(&dup);
    put_values(a, rank, 64, 60);
    put_values(b, 0, 64, 70);
    put_values(c, rank, 64, 60);
    put_is_there(path, ranks, 64, 60, 0);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 712);
    snprintf(path, sizeof path, "%s", scratch_path("files"));
    snprintf(second, sizeof second, "%s.second", path);
    test_modes();
    test_permissions();
    test_sizes();
    again_and_again();
    at_once();
    test_communicators();
    left_open();
    const int fds = fd_count();
    const int rc = harness_end();
    if (fd_count() > fds - 3)
        fprintf(stderr, "rank %d: descriptors stay open after MPI_Finalize\n", rank);
    (void)unlink(path);
    (void)unlink(second);
    return rc || fd_count() > fds - 3;
}
