/* TEST ranks=1,4 timeout=120 own=1 */
/* File systems that are full or read-only, and a full /dev/shm: small file systems are mounted in a
 * private mount namespace, which requires root; otherwise the test is skipped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "harness.h"
#include "small_disk.h"

static char home[512]; /* the mount point */

static void unmounted(const char *where) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(umount(where) == 0, "umount: %s", strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

static const char *const texts[] = {
    "method=two-phase cb_buffer_size=64k striping_unit=4096",
    "method=two-phase cb_buffer_size=64k striping_unit=4096 exchange=two-sided store=aio",
    "method=two-phase cb_buffer_size=64k striping_unit=4096 nodes=2 store=uring",
    "method=two-phase cb_buffer_size=64k striping_unit=4096 nodes=rr:2 store=threads",
    "method=list store=uring",
    "method=independent",
    "method=sieve rmw=1 sieve_size=64k",
    "method=root cb_buffer_size=64k"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Write twice as many bytes as are free; then write data that fits, with the same handle. */
static void no_space(const char *text) {
    enum { FIRST = 1000, PIECE = 2048 };
    char path[600];
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off count = -7;
    const int pieces = (2 << 20) / PIECE / ranks;
    unsigned char *buf = malloc((size_t)pieces * PIECE), first[FIRST], got[FIRST];
    check_where(text);
    snprintf(path, sizeof path, "%s/file", home);
    for (int i = 0; i < FIRST; i++) first[i] = mix(1, (uint64_t)i);
    for (int i = 0; i < pieces * PIECE; i++) buf[i] = mix((uint64_t)rank + 2, (uint64_t)i);
    file_put(path, first, FIRST);
    CHECK_OK(
        tutti_access_vector(FIRST + rank * PIECE, pieces, PIECE, PIECE * (tutti_off)ranks, &a));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_ERR_NO_SPACE);
    CHECK_EQ(count, -7);
    CHECK(tutti_last_error()->sys_errno == ENOSPC && strstr(tutti_last_message(), path), "%s",
          tutti_last_message());
    CHECK_SAME(tutti_file_preallocate(f, 3 << 20), TUTTI_ERR_NO_SPACE);
    CHECK_SAME(tutti_file_resize(f, FIRST), TUTTI_OK); /* space is free again */
    tutti_access_free(&a);
    CHECK_OK(tutti_access_vector(FIRST + rank * PIECE, 10, PIECE, PIECE * (tutti_off)ranks, &a));
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    memset(buf, 0, 10 * PIECE);
    CHECK_SAME(tutti_file_read(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, 10 * PIECE);
    for (int i = 0; i < 10 * PIECE; i++)
        if (buf[i] != mix((uint64_t)rank + 2, (uint64_t)i)) {
            CHECK(0, "byte %d differs", i);
            break;
        }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    const int fd = open(path, O_RDONLY);
    CHECK(pread(fd, got, FIRST, 0) == FIRST && memcmp(first, got, FIRST) == 0,
          "bytes before the request changed");
    close(fd);
    tutti_access_free(&a);
    free(buf);
    file_remove(path);
}

static void read_only(void) {
    char path[600];
    tutti_file *f = NULL;
    check_where("read-only");
    snprintf(path, sizeof path, "%s/file", home);
    file_put(path, (const unsigned char *)"abc", 3);
    if (rank == 0) CHECK(mount("none", home, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0, "remount");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, &f), TUTTI_ERR_READ_ONLY);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &f), TUTTI_OK);
    if (f) CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* Without shared memory for staging, the ranks of a node exchange messages; the data must be
 * correct. */
static void no_shared_memory(const char *path) {
    tutti_options opt = options_of("method=two-phase exchange=shm cb_buffer_size=1m cb_nodes=4");
    tutti_file *f = NULL;
    tutti_stats s;
    model m = {NULL, 0, 0};
    request q = request_make(CYCLIC, rank, ranks, 55, 300000),
            want = request_make(CYCLIC, rank, ranks, 55, 300000);
    check_where("/dev/shm");
    for (int r = 0; r < ranks; r++) {
        request one = request_make(CYCLIC, r, ranks, 55, 300000);
        request_fill(&one, 5 + (uint64_t)r);
        model_write(&m, &one, 0);
        request_free(&one);
    }
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    const int mounted = small_mounted("/dev/shm", "64k", 64 << 10);
    CHECK(mounted, "cannot mount on /dev/shm");
    if (mounted) {
        const int fds = fd_count();
        request_fill(&q, 5 + (uint64_t)rank);
        CHECK_SAME(tutti_file_write(f, q.access, q.base, NULL), TUTTI_OK);
        tutti_file_stats(f, &s, NULL);
        if (ranks > 1) CHECK(sum_all(s.messages) > 0, "no messages: %s", tutti_file_explain(f));
        (void)model_read(&m, &want, 0, 1);
        request_fill(&q, 1);
        CHECK_SAME(tutti_file_read(f, q.access, q.base, NULL), TUTTI_OK);
        CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "read differs");
        CHECK_EQ(fd_count(), fds);
        unmounted("/dev/shm");
    }
    /* this write is staged in shared memory */
    CHECK_SAME(tutti_file_write(f, q.access, q.base, NULL), TUTTI_OK);
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(sum_all(s.messages), 0);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_remove(path);
    request_free(&q);
    request_free(&want);
    free(m.v);
}

/* On a file system mounted `sync`, writes continue in the background by default. */
static void test_synchronous(void) {
    char path[600], data[1000] = "";
    tutti_access *a = NULL;
    tutti_stats s;
    if (!small_mounted(home, "1m", 1 << 20)) return;
    if (rank == 0)
        CHECK(mount("tutti-test", home, "tmpfs", MS_REMOUNT | MS_SYNCHRONOUS, "size=1m") == 0,
              "remount: %s", strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/file", home);
    tutti_file *f = open_with(path, "");
    CHECK_OK(tutti_access_vector((tutti_off)rank * 100, 10, 100, (tutti_off)ranks * 100, &a));
    CHECK_SAME(tutti_file_write_begin(f, a, data), TUTTI_OK);
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(s.background, 1);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    unmounted(home);
}

int main(int argc, char **argv) {
    char path[512];
    harness_begin(&argc, &argv, 718);
    snprintf(home, sizeof home, "%s", scratch_path("full"));
    snprintf(path, sizeof path, "%s", scratch_path("noshm"));
    if (rank == 0) CHECK(mkdir(home, 0777) == 0, "mkdir %s", home);
    if (!namespace_enter() || !small_mounted(home, "1m", 1 << 20)) {
        if (rank == 0) printf("needs root: mount namespaces\n");
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < TEXTS; i++) no_space(texts[i]);
    read_only();
    unmounted(home);
    test_synchronous();
    no_shared_memory(path);
    if (rank == 0) (void)rmdir(home);
    return harness_end();
}
