/* TEST ranks=1,2 timeout=60 */
/* The option direct_io: with staging memory every whole block bypasses the page cache, regardless of the
 * alignment of the caller's memory, and its pages are not cached afterwards.  Without staging, misaligned
 * memory is written through the page cache.  The statistic direct_bytes counts the bytes that bypass the
 * cache.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { WHOLE = 1 << 20, TAIL = 100, PIECE = 1024, PAGE = 4096 };

static char path[512];
static unsigned char *memory; /* page-aligned */

/* Return how many pages of the first WHOLE bytes are in the page cache, or -1 if unknown. */
static int resident(const char *name) {
    unsigned char there[WHOLE / PAGE];
    int n = -1;
    const int fd = open(name, O_RDONLY);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, WHOLE, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED && mincore(at, WHOLE, there) == 0) {
        n = 0;
        for (int i = 0; i < WHOLE / PAGE; i++) n += there[i] & 1;
    }
    if (at != MAP_FAILED) munmap(at, WHOLE);
    if (fd >= 0) close(fd);
    return n;
}

/* Return whether the file system supports O_DIRECT: a write leaves no page in the cache. */
static int possible(void) {
    int works = 0;
    if (rank == 0) {
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
        works = fd >= 0 && pwrite(fd, memory, WHOLE, 0) == WHOLE;
        if (fd >= 0) close(fd);
        works = works && resident(path) == 0;
    }
    MPI_Bcast(&works, 1, MPI_INT, 0, MPI_COMM_WORLD);
    file_remove(path);
    return works;
}

static tutti_file *open_file(const char *text) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    check_where(text);
    const tutti_err err =
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f);
    if (err != TUTTI_ERR_UNSUPPORTED) CHECK_OK(err); /* a store that was not built */
    return f;
}

static tutti_off of_all(tutti_off local) {
    tutti_off sum = 0;
    MPI_Allreduce(&local, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Check the bytes of the last operation, summed over ranks: `direct` past the cache, `all` in total. */
static void check_bytes(tutti_file *f, tutti_off direct, tutti_off all) {
    tutti_stats s;
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(of_all(s.direct_bytes), direct);
    CHECK_EQ(of_all(s.file_read_bytes + s.file_write_bytes), all);
}

/* Test cyclically distributed pieces in misaligned memory, and TAIL more bytes on the last rank. */
static void check_staged(const char *text, int direct) {
    tutti_access *a = NULL, *part[2] = {NULL, NULL};
    unsigned char *v = memory + 8;
    tutti_file *f = open_file(text);
    if (!f) return;
    CHECK_OK(tutti_access_vector((tutti_off)rank * PIECE, WHOLE / PIECE / ranks, PIECE,
                                 (tutti_off)ranks * PIECE, &part[0]));
    CHECK_OK(tutti_access_contiguous(WHOLE, rank == ranks - 1 ? TAIL : 0, &part[1]));
    CHECK_OK(tutti_access_concat(2, (const tutti_access *const *)part, NULL, &a));
    const size_t bytes = (size_t)tutti_access_bytes(a);
    for (size_t i = 0; i < bytes; i++) v[i] = mix((uint64_t)rank, i);
    CHECK_SAME(tutti_file_write(f, a, v, NULL), TUTTI_OK);
    check_bytes(f, direct ? WHOLE : 0, WHOLE + TAIL);
    if (direct && rank == 0) CHECK_EQ(resident(path), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(v, 0, bytes);
    CHECK_SAME(tutti_file_read(f, a, v, NULL), TUTTI_OK);
    for (size_t i = 0; i < bytes; i++)
        if (v[i] != mix((uint64_t)rank, i)) {
            CHECK(0, "byte %zu differs", i);
            break;
        }
    check_bytes(f, direct ? WHOLE : 0, WHOLE + TAIL);
    CHECK_OK(tutti_file_close(&f));
    for (int i = 0; i < 2; i++) tutti_access_free(&part[i]);
    tutti_access_free(&a);
    file_remove(path);
}

/* Each rank accesses a contiguous part directly from memory that is misaligned by `askew` bytes. */
static void check_direct(int askew) {
    tutti_access *a = NULL;
    tutti_file *f = open_file("direct_io=1 method=list");
    if (!f) return;
    const tutti_off each = WHOLE / ranks;
    CHECK_OK(tutti_access_contiguous(rank * each, each, &a));
    CHECK_SAME(tutti_file_write(f, a, memory + askew, NULL), TUTTI_OK);
    check_bytes(f, askew ? 0 : WHOLE, WHOLE);
    CHECK_SAME(tutti_file_read(f, a, memory + askew, NULL), TUTTI_OK);
    check_bytes(f, askew ? 0 : WHOLE, WHOLE);
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
    file_remove(path);
}

int main(int argc, char **argv) {
    static const char *const ways[] = {"store=posix exchange=shm", "store=threads exchange=shm",
                                       "store=uring exchange=two-sided", "store=aio exchange=lock",
                                       "store=posix exchange=two-sided step=4 pipeline=comm"};
    char text[200];
    harness_begin(&argc, &argv, 735);
    snprintf(path, sizeof path, "%s", scratch_path("direct"));
    if (posix_memalign((void **)&memory, PAGE, WHOLE + PAGE) != 0) abort();
    memset(memory, 1, WHOLE + PAGE);
    const int works = possible();
    for (int i = 0; i < 5 && works; i++)
        for (int direct = 1; direct >= 0; direct--) {
            snprintf(text, sizeof text, "direct_io=%d method=two-phase window_size=64k %s", direct,
                     ways[i]);
            check_staged(text, direct);
        }
    for (int askew = 0; askew <= 8 && works; askew += 8) check_direct(askew);
    free(memory);
    const int rc = harness_end();
    return works ? rc : 77;
}
