/* TEST ranks=2,3 timeout=90 own=1 */
/* Staging memory of many open files, each on a communicator of its own: only the first files of the process keep it
 * between operations, and closed files keep no more than before.  Operations, plans of the caller, split and
 * non-blocking operations on all files still write and read the right bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "shared_memory_kib.h"

enum { FILES = 16, KEPT = 4, RUNS = 1024, RUN = 512, BYTES = RUNS * RUN };
/* Maximum KiB per file: staging memory that is kept, and other memory. */
enum { STAGE_KIB = 2 * BYTES / 1024, OTHER_KIB = 192 };

static unsigned char buf[BYTES], seen[BYTES];
static tutti_access *pieces;

static void fill_values(int salt) {
    for (int i = 0; i < BYTES; i++) buf[i] = (unsigned char)(i * 3 + i / 251 + 17 * rank + salt);
}

static void check_values(tutti_file *f, const char *what) {
    memset(seen, 0, sizeof seen);
    CHECK_SAME(tutti_file_read(f, pieces, seen, NULL), TUTTI_OK);
    CHECK(memcmp(seen, buf, sizeof seen) == 0, "%s: other bytes", what);
}

/* Write by every kind of call, twice, so that plans are also used again. */
static void write_by_every_call(tutti_file *f, int salt) {
    tutti_plan *p = NULL;
    tutti_request *r = NULL;
    CHECK_SAME(tutti_plan_write(f, pieces, &p), TUTTI_OK);
    for (int k = 0; k < 2; k++) {
        fill_values(salt + k);
        CHECK_SAME(tutti_file_write(f, pieces, buf, NULL), TUTTI_OK);
        check_values(f, "blocking");
        fill_values(salt + k + 100);
        CHECK_SAME(tutti_plan_run_write(p, buf, 0, NULL), TUTTI_OK);
        check_values(f, "plan");
        fill_values(salt + k + 50);
        CHECK_SAME(tutti_file_write_begin(f, pieces, buf), TUTTI_OK);
        CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
        check_values(f, "split");
        fill_values(salt + k + 150);
        CHECK_OK(tutti_file_write_start(f, pieces, buf, &r));
        CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
        check_values(f, "non-blocking");
    }
    tutti_plan_free(&p);
}

static void open_files(const char *options) {
    tutti_file *f[FILES];
    MPI_Comm comm[FILES];
    tutti_options opt = options_of(options);
    const long before = shared_memory_kib();
    check_where(options);
    for (int i = 0; i < FILES; i++) {
        char name[40];
        snprintf(name, sizeof name, "staged%d", i);
        f[i] = NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        CHECK_SAME(tutti_file_open(comm[i], scratch_path(name),
                                   TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f[i]),
                   TUTTI_OK);
        write_by_every_call(f[i], i);
    }
    const long open = shared_memory_kib() - before;
    fill_values(77);
    for (int i = 0; i < FILES; i++) CHECK_SAME(tutti_file_write(f[i], pieces, buf, NULL), TUTTI_OK);
    for (int i = 0; i < FILES; i++) check_values(f[i], "later");
    for (int i = 0; i < FILES; i++) CHECK_SAME(tutti_file_close(&f[i]), TUTTI_OK);
    const long closed = shared_memory_kib() - before;
    const long stages = (long)KEPT * STAGE_KIB * ranks;
    if (getenv("TUTTI_TEST_SHOW"))
        printf("rank %d: %s: %ld KiB open, %ld closed, limit %ld\n", rank, options, open, closed,
               stages);
    CHECK(before < 0 || open <= stages + FILES * OTHER_KIB, "%ld KiB with %d files", open, FILES);
    CHECK(before < 0 || closed <= stages + FILES * OTHER_KIB, "%ld KiB after close", closed);
    for (int i = 0; i < FILES; i++) MPI_Comm_free(&comm[i]);
    const long freed = shared_memory_kib() - before;
    CHECK(before < 0 || freed < STAGE_KIB, "%ld KiB without communicators", freed);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 798);
    CHECK_OK(
        tutti_access_vector((tutti_off)rank * RUN, RUNS, RUN, (tutti_off)RUN * ranks, &pieces));
    open_files("method=two-phase");
    open_files("method=two-phase background=io-only");
    open_files("method=two-phase exchange=two-sided");
    tutti_access_free(&pieces);
    for (int i = 0; i < FILES; i++) {
        char name[40];
        snprintf(name, sizeof name, "staged%d", i);
        file_remove(scratch_path(name));
    }
    return harness_end();
}
