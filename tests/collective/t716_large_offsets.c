/* TEST ranks=1,3 timeout=120 own=1 */
/* Offsets and counts beyond 4 GiB and 2 GiB: a sparse file, and requests of more than 2 GiB per rank
 * whose memory side repeats the same bytes, so that little memory is needed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include "harness.h"

static char path[512];
#define GIB ((tutti_off)1 << 30)

static const char *const texts[] = {
    "method=two-phase cb_buffer_size=256k",
    "method=two-phase cb_buffer_size=256k exchange=two-sided domains=balanced",
    "method=two-phase cb_buffer_size=256k nodes=2 domains=cyclic store=uring",
    "method=list store=uring",
    "method=list store=aio",
    "method=sieve sieve_size=64k rmw=1",
    "method=independent store=threads",
    "method=auto"};

/* Write and read blocks around 0, 2, 4, 6 and 8 GiB; each rank has a part of each block. */
static void far_apart(const char *text) {
    enum { PART = 1000, BLOCKS = 5 };
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off off[BLOCKS], len[BLOCKS], size = 0, count = -7;
    unsigned char buf[BLOCKS * PART], got[BLOCKS * PART];
    check_where(text);
    for (int i = 0; i < BLOCKS; i++) {
        /* the blocks of all ranks together cross 2 GiB * i */
        off[i] = 2 * GIB * i + rank * PART + (i ? -700 : 0);
        len[i] = PART;
    }
    for (int i = 0; i < BLOCKS * PART; i++) buf[i] = mix((uint64_t)rank, (uint64_t)i);
    CHECK_OK(tutti_access_runs(BLOCKS, off, len, &a));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, sizeof buf);
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK_EQ(size, 8 * GIB - 700 + ranks * PART);
    memset(got, 0, sizeof got);
    CHECK_SAME(tutti_file_read(f, a, got, &count), TUTTI_OK);
    CHECK(count == (tutti_off)sizeof got && memcmp(got, buf, sizeof buf) == 0, "read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);

    const int fd = open(path, O_RDONLY);
    struct stat st = {.st_blocks = 0};
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(pread(fd, got, PART, off[i]) == PART && memcmp(got, buf + i * PART, PART) == 0,
              "block %d differs", i);
        if (rank == 0 && i > 0)
            CHECK(pread(fd, got, 1, off[i] - 1) == 1 && got[0] == 0, "a byte before block %d", i);
    }
    CHECK(fstat(fd, &st) == 0 && st.st_blocks < 64 << 10, "the holes were filled: %lld blocks",
          (long long)st.st_blocks);
    close(fd);
    tutti_access_free(&a);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Make an access to `pieces` pieces of `piece` bytes, interleaved with the pieces of other ranks; in
 * memory all pieces are the same `piece` bytes. */
static tutti_access *repeated(tutti_off piece, tutti_count pieces) {
    tutti_access *one = NULL, *a = NULL;
    CHECK_OK(tutti_access_contiguous(rank * piece, piece, &one));
    CHECK_OK(tutti_access_tile(one, pieces, piece * ranks, 0, &a));
    tutti_access_free(&one);
    CHECK_EQ(tutti_access_bytes(a), piece * pieces);
    return a;
}

/* Write more than 2 GiB per rank with the store null. */
static void many_bytes(const char *text) {
    enum { PIECE = 8 << 20 };
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_off count = -7;
    tutti_stats s;
    unsigned char *buf = calloc(1, PIECE);
    tutti_access *a = repeated(PIECE, (2 * GIB + 2 * PIECE) / PIECE);
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE,
                               &opt, &f),
               TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, 2 * GIB + 2 * PIECE);
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(s.bytes, 2 * GIB + 2 * PIECE);
    CHECK_EQ(sum_all(s.file_write_bytes), (2 * GIB + 2 * PIECE) * ranks);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(buf);
}

/* Read more than 2 GiB per rank from a file that consists almost entirely of a hole; memory finally
 * contains the last piece.  The file is in memory if possible, because the hole of a file on disk
 * would fill the page cache. */
static void many_bytes_back(const char *text) {
    enum { PIECE = 8 << 20 };
    const char *shm = getenv("TUTTI_TEST_SHM");
    char place[512];
    snprintf(place, sizeof place, "%s/large", shm ? shm : check_dir());
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_off count = -7;
    const tutti_count pieces = (2 * GIB + 2 * PIECE) / PIECE;
    unsigned char *buf = calloc(1, PIECE), *last = malloc(PIECE);
    tutti_access *a = repeated(PIECE, pieces);
    check_where(text);
    for (int i = 0; i < PIECE; i++) last[i] = mix(8, (uint64_t)i);
    const int fd = open(place, O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK(pwrite(fd, last, PIECE - 100, PIECE * (pieces - 1)) == PIECE - 100, "cannot write");
    close(fd);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, place, TUTTI_READ, &opt, &f));
    CHECK_OK(tutti_file_read(f, a, buf, &count));
    CHECK_EQ(count, PIECE * pieces - 100);
    CHECK(memcmp(buf, last, PIECE - 100) == 0, "the last piece differs");
    for (int i = PIECE - 100; i < PIECE; i++) CHECK(buf[i] == 0, "beyond the end of the file");
    CHECK_OK(tutti_file_close(&f));
    (void)unlink(place);
    tutti_access_free(&a);
    free(buf);
    free(last);
}

/* Write one contiguous run of more than 2 GiB.  Little memory is needed, because the pages of the
 * mapping are never touched. */
static void one_run(const char *text) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off count = -7;
    const tutti_off bytes = 2 * GIB + 12345;
    check_where(text);
    CHECK_OK(tutti_access_contiguous(rank * bytes, bytes, &a));
    char *p =
        mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) {
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                                   TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
                   TUTTI_OK);
        CHECK_SAME(tutti_file_write(f, a, p, &count), TUTTI_OK);
        CHECK_EQ(count, bytes);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        munmap(p, (size_t)bytes);
    }
    tutti_access_free(&a);
}

/* Return whether to transfer gigabytes: only in the build openmpi, since the code for large counts is
 * the same in all builds. */
static int moves_gigabytes(void) {
    const char *mpi = getenv("TUTTI_MPI"), *sanitizer = getenv("TUTTI_SANITIZE");
    return !(mpi && strcmp(mpi, "openmpi") != 0) && !(sanitizer && *sanitizer);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 716);
    snprintf(path, sizeof path, "%s", scratch_path("large"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) far_apart(texts[i]);
    file_remove(path);
    if (moves_gigabytes()) one_run("method=list store=null");
    if (moves_gigabytes() && ranks == 1) {
        many_bytes("method=two-phase store=null");
        many_bytes("method=list store=null");
        many_bytes_back("method=list");
    }
    file_remove(path);
    return harness_end();
}
