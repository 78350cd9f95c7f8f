/* TEST ranks=1,3 timeout=60 own=1 */
/* Limits of one rank: if it exceeds its file size limit, all ranks return an error, and no signal is
 * raised; if it may not read a file or has no descriptors left, open fails on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include "harness.h"

static char path[512];
enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, LIMIT = 100000 };
static volatile sig_atomic_t signals;

static void on_signal(int number) {
    (void)number;
    signals++;
}

static void soft_limit(int what, rlim_t value) {
    struct rlimit r;
    getrlimit(what, &r);
    r.rlim_cur = value == RLIM_INFINITY || value > r.rlim_max ? r.rlim_max : value;
    CHECK(setrlimit(what, &r) == 0, "setrlimit: %s", strerror(errno));
}

/* Write beyond LIMIT, the file size limit of rank `who`. */
static void file_size_limit(const char *text, int who) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_off count = -7;
    tutti_access *a = NULL;
    enum { PIECE = 4096, PIECES = 64 };
    unsigned char *buf = calloc(PIECE, PIECES);
    check_where(text);
    opt.cb_nodes = ranks;
    /* the last third of the data is beyond the limit; with cyclic domains every rank has a part of it */
    CHECK_OK(tutti_access_vector(rank * PIECE, PIECES, PIECE, PIECE * (tutti_off)ranks, &a));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    if (rank == who) soft_limit(RLIMIT_FSIZE, LIMIT);
    const tutti_err err = same_everywhere(tutti_file_write(f, a, buf, &count));
    CHECK(err == TUTTI_ERR_TOO_BIG, "%s", tutti_error_name(err));
    CHECK(tutti_last_error()->rank == who, "%s", tutti_last_message());
    CHECK_EQ(count, -7);
    const tutti_off more = PIECE * PIECES * (tutti_off)ranks + 2 * LIMIT;
    if (who == 0) CHECK_SAME(tutti_file_resize(f, more), TUTTI_ERR_TOO_BIG);
    if (who == 0) CHECK_SAME(tutti_file_preallocate(f, more), TUTTI_ERR_TOO_BIG);
    if (rank == who) soft_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    CHECK_SAME(tutti_file_write(f, a, buf, &count), TUTTI_OK);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_EQ(signals, 0);
    tutti_access_free(&a);
    free(buf);
}

/* Open a file that rank `who` has no permission to read. */
static void unreadable(int who) {
    tutti_file *f = NULL;
    const int root = geteuid() == 0;
    check_where("unreadable");
    if (!root && who > 0) return; /* only root can exempt the other ranks */
    file_put(path, (const unsigned char *)"abc", 3);
    if (rank == 0) CHECK(chmod(path, 0) == 0, "chmod");
    MPI_Barrier(MPI_COMM_WORLD);
    if (root && rank == who) CHECK(seteuid(65534) == 0, "seteuid");
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &f), TUTTI_ERR_PERMISSION);
    CHECK(f == NULL && tutti_last_error()->rank == who && tutti_last_error()->sys_errno == EACCES,
          "%s", tutti_last_message());
    if (root && rank == who) CHECK(seteuid(0) == 0, "seteuid");
    file_remove(path);
}

/* Open a file while rank `who` has no descriptors left. */
static void no_descriptors(int who) {
    tutti_file *f = NULL;
    check_where("descriptors");
    file_put(path, (const unsigned char *)"abc", 3);
    for (int warm = 0; warm < 2; warm++) {
        if (warm && rank == who) soft_limit(RLIMIT_NOFILE, 3);
        const tutti_err err =
            same_everywhere(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &f));
        if (warm && rank == who) soft_limit(RLIMIT_NOFILE, 1024);
        if (warm)
            CHECK(err != TUTTI_OK && f == NULL && tutti_last_error()->sys_errno == EMFILE, "%s",
                  tutti_last_message());
        if (f) CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    file_remove(path);
}

int main(int argc, char **argv) {
    static const char *const texts[] = {
        "method=list",
        "method=independent store=uring",
        "method=sieve rmw=1 sieve_size=8k store=threads",
        "method=two-phase cb_buffer_size=64k striping_unit=4096 domains=cyclic",
        "method=two-phase cb_buffer_size=64k striping_unit=4096 domains=cyclic exchange=two-sided "
        "store=aio",
        "method=two-phase cb_buffer_size=256k striping_unit=4096 domains=cyclic nodes=2 "
        "store=uring"};
    harness_begin(&argc, &argv, 727);
    snprintf(path, sizeof path, "%s", scratch_path("limits"));
    signal(SIGXFSZ, on_signal);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int who = 0; who < ranks; who++) file_size_limit(texts[i], who);
    for (int who = 0; who < ranks; who++) unreadable(who);
    for (int who = 0; who < ranks; who++) no_descriptors(who);
    file_remove(path);
    return harness_end();
}
