/* TEST ranks=1,2,3,5 timeout=120 own=1 */
/* Corner cases of the engine: plans whose staging memory cannot grow, opens that fail after others
 * have succeeded, windows smaller than stripes, offsets with many cycles, requests whose sum
 * overflows, errno, existing names in /dev/shm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "collective/find.h"
#include "harness.h"

static char path[512];
enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

static unsigned char value_at(tutti_off offset) {
    return (unsigned char)(1 + (offset * 7 + (offset >> 9)) % 251);
}

/* Make an access to `count` pieces per rank, interleaved by rank, and a buffer with their values. */
static tutti_access *turns(tutti_off at, tutti_off piece, tutti_count count, unsigned char **buf) {
    tutti_access *a = NULL;
    *buf = malloc((size_t)(piece * count) + 1);
    for (tutti_count i = 0; i < count; i++)
        for (tutti_off k = 0; k < piece; k++)
            (*buf)[i * piece + k] = value_at(at + (i * ranks + rank) * piece + k);
    CHECK_OK(tutti_access_vector(at + rank * piece, count, piece, ranks * piece, &a));
    return a;
}

static void file_holds(tutti_off at, tutti_off bytes, const char *what) {
    int64_t size = 0;
    unsigned char *v = file_get(path, &size);
    CHECK(size == at + bytes, "%s: %lld bytes", what, (long long)size);
    for (tutti_off i = at; i < size; i++)
        if (v[i] != value_at(i)) {
            CHECK(0, "%s: byte %lld", what, (long long)i);
            break;
        }
    free(v);
}

/* Create a small plan, then a large plan that cannot allocate memory: the n-th allocation of rank 0
 * fails, or, if n is 0, shared memory cannot grow.  The small plan must still run.  Return the result
 * of the large one. */
static tutti_err memory_fails(const char *text, long n) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_plan *p = NULL, *q = NULL;
    unsigned char *small_buf, *large_buf;
    struct rlimit old, low;
    MPI_Comm comm;
    check_where(text);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* it has no cached staging memory */
    tutti_access *small = turns(0, 100, 10, &small_buf), *large = turns(0, 1000, 200, &large_buf);
    CHECK_SAME(tutti_file_open(comm, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(f, small, &p), TUTTI_OK);
    getrlimit(RLIMIT_FSIZE, &old);
    low = old;
    low.rlim_cur = 20000; /* the limit suffices for the file, but not for staging memory */
    if (n == 0) CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0, "setrlimit");
    if (n > 0 && rank == 0) tutti__memory_fail_after(n);
    const tutti_err err = same_everywhere(tutti_plan_write(f, large, &q));
    tutti__memory_fail_after(0);
    CHECK_SAME(tutti_plan_run(p, small_buf, 0, NULL), TUTTI_OK);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
    tutti_plan_free(&q);
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_holds(0, 1000 * ranks, text);
    tutti_access_free(&small);
    tutti_access_free(&large);
    free(small_buf);
    free(large_buf);
    MPI_Comm_free(&comm);
    return err;
}

static void memory_does_not_grow(void) {
    CHECK_ERR(memory_fails("method=two-phase", 0), TUTTI_OK);
    for (long n = 1; memory_fails("method=two-phase exchange=two-sided", n) != TUTTI_OK; n++)
        CHECK(n < 1000, "it never succeeds");
}

/* An open that fails on one rank must not truncate or create the file. */
static void refused_truncation(void) {
    tutti_file *f = NULL;
    char fault[64];
    check_where("refused truncation");
    snprintf(fault, sizeof fault, "fault=%d:open:1:EACCES", ranks - 1);
    tutti_options opt = options_of(fault);
    file_put(path, (const unsigned char *)"precious", 8);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_ERR_PERMISSION);
    file_is(path, (const unsigned char *)"precious", 8, "after a refused open");
    opt = options_of("");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE | TUTTI_APPEND, &opt, &f), TUTTI_OK);
    CHECK_EQ(f->origin, 0);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, NULL, 0, "truncated");
    file_remove(path);
    opt = options_of(fault);
    const int fresh = TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, fresh, &opt, &f), TUTTI_ERR_PERMISSION);
    CHECK(access(path, F_OK) != 0, "a file that was not there stays after a refused open");
    opt = options_of("");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, fresh, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, fresh, &opt, &f), TUTTI_ERR_EXISTS);
    CHECK(access(path, F_OK) == 0, "somebody else's file is gone");
}

/* Stripes may be larger than cb_buffer_size. */
static void large_stripes(const char *text, tutti_off at) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    unsigned char *buf;
    tutti_off count = -1;
    MPI_Comm comm;
    check_where(text);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* it has no cached staging memory */
    tutti_access *a = turns(at, 1000, 500, &buf);
    CHECK_SAME(tutti_file_open(comm, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, 500000);
    for (int i = 0; i < 2; i++)
        CHECK((tutti_off)f->team->staging->segment[i].bytes <= 2 * opt.cb_buffer_size,
              "%zu bytes of staging", f->team->staging->segment[i].bytes);
    memset(buf, 0, 500000);
    CHECK_SAME(tutti_file_read(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, 500000);
    for (int i = 0; i < 500000; i++)
        if (buf[i] != value_at(at + (tutti_off)(i / 1000 * ranks + rank) * 1000 + i % 1000)) {
            CHECK(0, "read: byte %d", i);
            break;
        }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(buf);
    MPI_Comm_free(&comm);
}

/* Test cyclic domains of small blocks over an extent so large that the key of a slot could not
 * represent the number of cycles. */
static void many_cycles(void) {
    static const tutti_off offsets[] = {4096 + 100, ((tutti_off)1 << 53) + 4096 + 100};
    char shm[600];
    tutti_options opt = options_of("method=two-phase domains=cyclic domain_block=4k cb_nodes=2");
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    enum { PIECE = 500 };
    unsigned char buf[1 + 2 * PIECE], back[1 + 2 * PIECE];
    check_where("many cycles");
    const char *dir = getenv("TUTTI_TEST_SHM");
    dir = dir && *dir ? dir : "/dev/shm";
    snprintf(shm, sizeof shm, "%s%s", dir, strrchr(path, '/'));
    int can = access(dir, W_OK) == 0, all = 0;
    MPI_Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) return;
    const tutti_off local[] = {rank, offsets[0] + rank * PIECE, offsets[1] + rank * PIECE};
    const tutti_off lengths[] = {1, PIECE, PIECE};
    for (int i = 0; i < 1 + 2 * PIECE; i++)
        buf[i] = (unsigned char)(rank * 31 + i / PIECE * 100 + i);
    CHECK_OK(tutti_access_runs(3, local, lengths, &a));
    for (int round = 0; round < 10; round++) {
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, shm, MODE, &opt, &f), TUTTI_OK);
        memset(back, 0, sizeof back);
        CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
        CHECK_SAME(tutti_file_read(f, a, back, NULL), TUTTI_OK);
        CHECK(memcmp(buf, back, sizeof buf) == 0, "read back");
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_access_free(&a);
    file_remove(shm);
}

/* All ranks request nearly the whole range of offsets: the sum overflows. */
static void immense_reads(void) {
    tutti_options opt = options_of("method=two-phase");
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    unsigned char buf[16] = {0};
    tutti_off count = -1;
    check_where("immense reads");
    file_put(path, (const unsigned char *)"0123456789", 10);
    CHECK_OK(tutti_access_contiguous(0, ((tutti_off)1 << 62) - 1, &a));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_read(f, a, buf, &count), TUTTI_OK);
    CHECK_EQ(count, 10);
    CHECK(memcmp(buf, "0123456789\0", 11) == 0, "bytes");
    CHECK(strstr(tutti_file_explain(f), "aggregator"), "%s", tutti_file_explain(f));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

/* Calls do not change errno. */
static void errno_stays(const char *text) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_plan *p = NULL;
    tutti_off count = -1;
    unsigned char *buf;
    check_where(text);
    tutti_access *a = turns(0, 1000, 100, &buf);
    file_remove(path);
#define QUIET(call)                                                 \
    do {                                                            \
        errno = 4711;                                               \
        const tutti_err quiet_ = (call);                            \
        const int after_ = errno;                                   \
        CHECK(after_ == 4711, #call " leaves errno at %d", after_); \
        CHECK_SAME(quiet_, TUTTI_OK);                               \
    } while (0)
    QUIET(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f));
    QUIET(tutti_file_write(f, a, buf, &count));
    QUIET(tutti_file_read(f, a, buf, &count));
    QUIET(tutti_plan_write(f, a, &p));
    QUIET(tutti_plan_run(p, buf, 0, &count));
    tutti_plan_free(&p);
    QUIET(tutti_file_write_begin(f, a, buf));
    QUIET(tutti_file_write_end(f, &count));
    QUIET(tutti_file_read_independent(f, a, buf, &count));
    QUIET(tutti_file_preallocate(f, 1000));
    QUIET(tutti_file_resize(f, 1000));
    QUIET(tutti_file_size(f, &count));
    QUIET(tutti_file_sync(f));
    QUIET(tutti_file_close(&f));
    errno = 4711;
    tutti_err err = tutti_file_open(MPI_COMM_WORLD, "/nowhere/at all", TUTTI_READ, &opt, &f);
    CHECK(errno == 4711, "a failed open leaves errno at %d", errno);
    CHECK_SAME(err, TUTTI_ERR_NOT_FOUND);
    tutti_access_free(&a);
    free(buf);
}

/* Staging memory gets other names if its first names already exist in /dev/shm. */
static void names_taken(void) {
    tutti_options opt = options_of("method=two-phase");
    tutti_file *f = NULL;
    unsigned char *buf;
    MPI_Comm comm;
    char name[64];
    check_where("names taken");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* it has no cached staging memory */
    tutti_access *a = turns(0, 100, 10, &buf);
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "/tutti-%ld-%d", (long)getpid(), i);
        close(shm_open(name, O_RDWR | O_CREAT, 0600));
    }
    CHECK_SAME(tutti_file_open(comm, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, a, buf, NULL), TUTTI_OK);
    CHECK(strstr(tutti_file_explain(f), "in 1 group,"), "%s", tutti_file_explain(f));
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof name, "/tutti-%ld-%d", (long)getpid(), i);
        shm_unlink(name);
    }
    tutti_access_free(&a);
    free(buf);
    MPI_Comm_free(&comm);
}

/* Plans that are freed after MPI_Finalize has closed their file. */
static tutti_plan *late[2];

static void plan_left(const char *text, tutti_plan **out) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    unsigned char *buf;
    tutti_access *a = turns(0, 100, 10, &buf);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    CHECK_SAME(tutti_plan_write(f, a, out), TUTTI_OK);
    tutti_access_free(&a);
    free(buf);
}

static void between_groups(void) {
    MPI_Comm half, both;
    tutti_file *f = NULL;
    check_where("intercommunicator");
    if (ranks < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    CHECK_SAME(tutti_file_open(both, path, MODE, NULL, &f), TUTTI_ERR_ARG);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 730);
    snprintf(path, sizeof path, "%s", scratch_path("corners"));
    const char *only = argc > 1 ? argv[1] : "";
#define PART(name, ...) \
    if (!*only || !strcmp(only, name)) __VA_ARGS__
    PART("names", names_taken());
    PART("grow", memory_does_not_grow());
    PART("truncate", refused_truncation());
    PART("stripes", large_stripes("method=two-phase striping_unit=64m cb_buffer_size=128k", 5));
    PART("stripes",
         large_stripes("method=two-phase striping_unit=1t cb_buffer_size=1m nodes=2", 5));
    PART("stripes", large_stripes("method=root striping_unit=1m cb_buffer_size=64k", 1 << 20));
    PART("stripes", large_stripes("method=two-phase domains=balanced striping_unit=256k "
                                  "cb_buffer_size=64k exchange=two-sided",
                                  300000));
    PART("cycles", many_cycles());
    PART("immense", immense_reads());
    PART("errno", errno_stays("method=two-phase"));
    PART("errno", errno_stays("method=list store=threads"));
    PART("errno", errno_stays("method=two-phase nodes=2 store=uring"));
    PART("inter", between_groups());
    PART("late", plan_left("method=two-phase", &late[0]));
    PART("late", plan_left("method=two-phase exchange=two-sided step=4", &late[1]));
    file_remove(path);
    check_where("");
    const int rc = check_done_all();
    MPI_Finalize();
    for (int i = 0; i < 2; i++) tutti_plan_free(&late[i]);
    if (tutti__memory_live() != 0) fprintf(stderr, "%ld blocks live\n", tutti__memory_live());
    return tutti__memory_live() != 0 || rc;
}
