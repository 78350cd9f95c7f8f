/* TEST ranks=1,3 timeout=60 own=1 */
/* The guarantee of tutti_file_sync and tutti_array_sync: when they return, every rank has called fsync
 * after its last write to the file.  The system calls fsync and write are intercepted and recorded.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <tutti/tutti.h>
#include <unistd.h>
#include "check.h"

static int rank, ranks;
static char path[512];
static _Atomic ino_t watched;
static atomic_int clock_now, last_write, last_sync, syncs;

static int is_ours(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_ino == watched;
}

static void note_write(int fd) {
    if (is_ours(fd)) last_write = ++clock_now;
}

/* This and the following functions replace those of the C library in this program.  The library calls
 * these names, because it is compiled with 64-bit offsets. */
int fsync(int fd) {
    const long rc = syscall(SYS_fsync, fd);
    if (is_ours(fd) && rc == 0) {
        last_sync = ++clock_now;
        syncs++;
    }
    return (int)rc;
}
ssize_t pwrite(int fd, const void *buf, size_t n, off_t at) {
    const ssize_t rc = syscall(SYS_pwrite64, fd, buf, n, at);
    note_write(fd);
    return rc;
}
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) {
    const ssize_t rc = syscall(SYS_pwritev, fd, v, n, at, 0L);
    note_write(fd);
    return rc;
}

enum { N = 100000 };
static char buf[N];

static void synced(const char *what, int before) {
    CHECK(syncs > before, "%s: no fsync", what);
    CHECK(last_sync > last_write, "%s: written after the fsync", what);
}

static void file_syncs(const char *store, const char *background) {
    tutti_options opt;
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    struct stat st;
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, "store", store));
    CHECK_OK(tutti_options_set(&opt, "background", background));
    const tutti_err err =
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f);
    if (err == TUTTI_ERR_UNSUPPORTED) return; /* the build lacks this store */
    CHECK_OK(err);
    CHECK(stat(path, &st) == 0, "no file");
    watched = st.st_ino;
    CHECK_OK(tutti_access_vector((tutti_off)rank * 100, N / 100, 100, (tutti_off)ranks * 100, &a));

    int before = syncs;
    CHECK_OK(tutti_file_write(f, a, buf, NULL));
    CHECK(syncs == before, "a write makes nothing durable");
    CHECK_OK(tutti_file_sync(f));
    synced("write, sync", before);

    before = syncs;
    CHECK_OK(tutti_file_write_begin(f, a, buf));
    CHECK_OK(tutti_file_write_end(f, NULL));
    CHECK_OK(tutti_file_sync(f));
    synced("begin, end, sync", before);

    before = syncs;
    CHECK_OK(tutti_file_write_independent(f, a, buf, NULL));
    CHECK_OK(tutti_file_sync(f));
    synced("independent, sync", before);

    before = syncs; /* any rank may have written rank 0's bytes: every rank calls fsync */
    if (rank == 0) CHECK_OK(tutti_file_write_independent(f, a, buf, NULL));
    CHECK_OK(tutti_file_sync(f));
    synced("rank 0 alone, sync", before);
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

static void array_syncs(void) {
    const tutti_array_spec spec = {.ndims = 1, .shape = {1000}, .type = TUTTI_FLOAT64};
    const tutti_slice local = {
        .lo = {1000 * rank / ranks}, .hi = {1000 * (rank + 1) / ranks}, .stride = {1}};
    tutti_array *a = NULL;
    struct stat st;
    check_where("array");
    CHECK_OK(tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a));
    CHECK(stat(path, &st) == 0, "no file");
    watched = st.st_ino;
    const int before = syncs;
    CHECK_OK(tutti_array_write(a, &local, NULL, buf));
    CHECK_OK(tutti_array_sync(a));
    synced("array", before);
    CHECK_OK(tutti_array_close(&a));
}

int main(int argc, char **argv) {
    static const char *const stores[] = {"posix", "threads", "aio", "uring"};
    static const char *const ways[] = {"none", "io-only"};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/t013", check_dir());
    for (int s = 0; s < 4; s++)
        for (int w = 0; w < 2; w++) {
            check_where(stores[s]);
            file_syncs(stores[s], ways[w]);
        }
    array_syncs();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    const int code = check_done();
    MPI_Finalize();
    return code;
}
