/* TEST ranks=1,4 timeout=60 */
/* Reads of cold bytes (not in the page cache): method=auto detects them and reads them in long
 * requests, including holes; of cached bytes, it reads only the requested ones.  Cold bytes on one
 * rank suffice.  Cached plans for cold bytes are not used for warm ones and vice versa.  Small
 * requests, the store mem and stores that cannot report residency are treated as warm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <tutti/tutti.h>
#include <unistd.h>
#include "check.h"

enum { PIECE = 1024, EVERY = 32768, PIECES = 400, SIZE = EVERY * PIECES };

static int rank, ranks;
static char path[512];
static char buf[PIECE * PIECES];

static unsigned char byte_at(tutti_off offset) {
    return (unsigned char)(offset % 251);
}

static void file_make(void) {
    if (rank == 0) {
        char *all = malloc(SIZE);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (int i = 0; i < SIZE; i++) all[i] = (char)byte_at(i);
        CHECK(write(fd, all, SIZE) == SIZE, "cannot write %s", path);
        CHECK(fsync(fd) == 0, "cannot flush %s", path);
        close(fd);
        free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Return the number of cached pages of the bytes [lo, hi), or -1 if unknown. */
static long pages_cached(tutti_off lo, tutti_off hi) {
    struct {
        unsigned long long offset, bytes;
    } range = {(unsigned long long)lo, (unsigned long long)(hi - lo)};
    unsigned long long counts[5] = {0};
    const int fd = open(path, O_RDONLY);
    const long code = syscall(451, fd, &range, counts, 0);
    close(fd);
    return code == 0 ? (long)counts[0] : -1;
}

/* Drop the bytes [lo, hi) from the page cache; return 1 on all ranks on success. */
static int drop_cache(tutti_off lo, tutti_off hi) {
    int dropped = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const int fd = open(path, O_RDONLY);
        dropped = 0;
        for (int i = 0; i < 100 && !dropped; i++) { /* pages in use are not dropped */
            if (i > 0) usleep(1000);
            dropped = posix_fadvise(fd, lo, hi - lo, POSIX_FADV_DONTNEED) == 0 &&
                      pages_cached(lo, hi) == 0;
        }
        close(fd);
    }
    MPI_Bcast(&dropped, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return dropped;
}

static void test_warm(void) {
    if (rank == 0) {
        static char some[65536];
        const int fd = open(path, O_RDONLY);
        while (read(fd, some, sizeof some) > 0) continue;
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static tutti_file *file_open(const char *settings) {
    tutti_options opt;
    tutti_file *f = NULL;
    char text[200], *rest = text, *item;
    tutti_options_defaults(&opt);
    snprintf(text, sizeof text, "%s", settings);
    while ((item = strsep(&rest, " ")) != NULL) {
        char *equals = strchr(item, '=');
        if (!equals) continue;
        *equals = '\0';
        CHECK_OK(tutti_options_set(&opt, item, equals + 1));
    }
    check_where(settings);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f));
    return f;
}

/* Make an access to this rank's share of the first n pieces, which are distributed cyclically. */
static tutti_access *share_of(int n) {
    tutti_access *a = NULL;
    const int local = n / ranks;
    CHECK_OK(
        tutti_access_vector((tutti_off)EVERY * rank, local, PIECE, (tutti_off)EVERY * ranks, &a));
    return a;
}

static void check_bytes(int n) {
    int wrong = 0;
    for (int i = 0; i < n / ranks; i++)
        for (int k = 0; k < PIECE; k++)
            wrong += (unsigned char)buf[i * PIECE + k] !=
                     byte_at((tutti_off)EVERY * (i * ranks + rank) + k);
    CHECK_EQ(wrong, 0);
}

typedef struct {
    char how[400];
    long long bytes, requests; /* read from the file, summed over ranks */
    int planned, found;
} outcome;

static outcome read_once(tutti_file *f, int n) {
    tutti_access *a = share_of(n);
    tutti_stats last;
    outcome o;
    memset(buf, 0xee, sizeof buf);
    CHECK_OK(tutti_file_read(f, a, buf, NULL));
    check_bytes(n);
    tutti_file_stats(f, &last, NULL);
    snprintf(o.how, sizeof o.how, "%s", tutti_file_explain(f));
    o.planned = (int)last.plans;
    o.found = (int)last.plan_hits;
    long long local[2] = {last.file_read_bytes, last.file_reads}, all[2];
    MPI_Allreduce(local, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    o.bytes = all[0];
    o.requests = all[1];
    tutti_access_free(&a);
    return o;
}

static int says(const outcome *o, const char *words) {
    return strstr(o->how, words) != NULL;
}

static void test_choice(void) {
    tutti_file *f = file_open("");
    CHECK(drop_cache(0, SIZE), "pages stay");
    const outcome cold = read_once(f, PIECES);
    CHECK(says(&cold, "not cached"), "%s", cold.how);
    CHECK(cold.bytes > (long long)PIECE * PIECES * 8, "%lld bytes: %s", cold.bytes, cold.how);
    CHECK(cold.requests < PIECES / 4, "%lld requests", cold.requests);
    if (ranks > 1) {
        CHECK(says(&cold, "two-phase"), "%s", cold.how);
        CHECK(says(&cold, "are also read: one more request costs"), "%s", cold.how);
    }
    test_warm();
    const outcome now = read_once(f, PIECES);
    CHECK(!says(&now, "not cached"), "%s", now.how);
    CHECK_EQ(now.bytes, (long long)PIECE * PIECES);
    CHECK_OK(tutti_file_close(&f));
}

/* Cold and warm reads have separate cached plans.  After some rounds ranks agree in shared memory. */
static void test_remembered(void) {
    tutti_file *f = file_open("");
    for (int round = 0; round < 6; round++) {
        CHECK(drop_cache(0, SIZE), "pages stay");
        const outcome cold = read_once(f, PIECES);
        CHECK(says(&cold, "not cached"), "%d: %s", round, cold.how);
        CHECK(cold.planned == (round == 0) && cold.found == (round > 0), "%d: %d plans, %d found",
              round, cold.planned, cold.found);
        test_warm();
        const outcome now = read_once(f, PIECES);
        CHECK(!says(&now, "not cached"), "%d: %s", round, now.how);
        CHECK(now.planned == (round == 0) && now.found == (round > 0), "%d: %d plans, %d found",
              round, now.planned, now.found);
    }
    CHECK_OK(tutti_file_close(&f));
}

/* If only one rank has cold bytes, all ranks choose the method for cold bytes. */
static void test_one_rank(void) {
    tutti_file *f = file_open("");
    const tutti_off each = SIZE / ranks;
    tutti_access *a = NULL;
    char *local = malloc((size_t)each);
    CHECK_OK(tutti_access_vector(each * rank, each / 4096, 1024, 4096, &a));
    for (int round = 0; round < 6; round++) {
        test_warm();
        CHECK(drop_cache(each * (ranks - 1), SIZE), "pages stay");
        CHECK_OK(tutti_file_read(f, a, local, NULL));
        const char *how = tutti_file_explain(f);
        CHECK(strstr(how, "not cached"), "%d: %s", round, how);
        for (tutti_off i = 0; i < each / 4096; i++)
            CHECK((unsigned char)local[1024 * i] == byte_at(each * rank + 4096 * i), "%d", round);
    }
    tutti_access_free(&a);
    free(local);
    CHECK_OK(tutti_file_close(&f));
}

/* Whether holes are read depends on page cache residency or, if set, on the option sieve_gap. */
static void test_holes(void) {
    const long long named = (long long)PIECE * PIECES, all = SIZE - EVERY + PIECE;
    for (int cold = 0; cold < 2; cold++) {
        static const char *const exchanges[] = {"shm", "two-sided step=3"};
        for (int i = 0; i < 2; i++) {
            char settings[100];
            for (int set = 0; set < 3; set++) {
                const char *gap = set == 0 ? "" : set == 1 ? " sieve_gap=1" : " sieve_gap=64k";
                snprintf(settings, sizeof settings, "method=two-phase exchange=%s%s", exchanges[i],
                         gap);
                tutti_file *f = file_open(settings);
                if (cold)
                    CHECK(drop_cache(0, SIZE), "pages stay");
                else
                    test_warm();
                const outcome o = read_once(f, PIECES);
                const int along = set == 0 ? cold : set == 2;
                /* windows begin and end inside holes */
                CHECK(along ? o.bytes > all / 2 && o.bytes <= all : o.bytes == named,
                      "%lld bytes, cold %d: %s", o.bytes, cold, o.how);
                CHECK(set == 0 || says(&o, "as the option specifies"), "%s", o.how);
                CHECK_OK(tutti_file_close(&f));
            }
        }
    }
}

/* Residency is not sampled if the requested bytes span less than 256 KiB. */
static void test_small(void) {
    tutti_file *f = file_open("");
    const int near = 4, far = (255 << 10) / PIECE / ranks * ranks;
    CHECK(drop_cache(0, SIZE), "pages stay");
    const outcome small = read_once(f, near);
    CHECK(!says(&small, "not cached"), "%s", small.how);
    CHECK(drop_cache(0, SIZE), "pages stay");
    const outcome large = read_once(f, far);
    CHECK(says(&large, "not cached"), "%s", large.how);
    CHECK_OK(tutti_file_close(&f));
}

static void test_memory(void) {
    tutti_options opt;
    tutti_file *f = NULL;
    tutti_access *a = share_of(PIECES);
    char name[64];
    snprintf(name, sizeof name, "cold-%s", strrchr(path, '/') + 1);
    tutti_options_defaults(&opt);
    opt.store = TUTTI_STORE_MEM;
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, name, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    CHECK_OK(tutti_file_write(f, a, buf, NULL));
    CHECK_OK(tutti_file_read(f, a, buf, NULL));
    CHECK(!strstr(tutti_file_explain(f), "not cached"), "%s", tutti_file_explain(f));
    CHECK_OK(tutti_file_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_OK(tutti_file_delete(name, &opt));
    tutti_access_free(&a);
}

/* The buffer of method=sieve is reused, so that a read causes few page faults. */
static void test_sieve_buffer(void) {
    tutti_file *f = file_open("method=sieve sieve_size=1m");
    struct rusage before, after;
    test_warm();
    for (int i = 0; i < 3; i++) (void)read_once(f, PIECES); /* allocates all cached memory */
    tutti_access *a = share_of(PIECES);
    getrusage(RUSAGE_SELF, &before);
    CHECK_OK(tutti_file_read(f, a, buf, NULL));
    CHECK_OK(tutti_file_read_independent(f, a, buf, NULL));
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_minflt - before.ru_minflt < 128, "%ld fresh pages",
          after.ru_minflt - before.ru_minflt);
    check_bytes(PIECES);
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/tutti-cold-%d", check_dir(), ranks);
    file_make();
    test_memory();
    test_sieve_buffer();
    if (drop_cache(0, SIZE)) {
        test_choice();
        test_remembered();
        test_one_rank();
        test_holes();
        test_small();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Finalize();
    return check_done();
}
