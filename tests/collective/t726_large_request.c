/* TEST ranks=1 timeout=60 tier=full */
/* One request of more than 2 GiB is written to a file on disk and read back, and every byte is compared.
 * It needs 2.2 GiB of memory and of disk; t716_large_offsets is a faster test.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <sys/statvfs.h>
#include "harness.h"

static const tutti_off BYTES = ((tutti_off)2 << 30) + 123457;

static uint64_t word(tutti_off i) {
    uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u;
    return z ^ (z >> 31);
}

static int has_room(const char *dir) {
    struct statvfs v;
    const long pages = sysconf(_SC_AVPHYS_PAGES);
    if (statvfs(dir, &v) != 0) return 0;
    return (double)v.f_bavail * (double)v.f_frsize > 3e9 &&
           (double)pages * (double)sysconf(_SC_PAGESIZE) > 4e9;
}

static void there_and_back(const char *path, uint64_t *v, const char *text) {
    tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off count = -7, wrong = -1;
    check_where(text);
    CHECK_OK(tutti_access_contiguous(777, BYTES, &a));
    for (tutti_off i = 0; i < BYTES / 8 + 1; i++) v[i] = word(i);
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path,
                             TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f));
    CHECK_OK(tutti_file_write(f, a, v, &count));
    CHECK_EQ(count, BYTES);
    memset(v, 0, (size_t)BYTES);
    CHECK_OK(tutti_file_read(f, a, v, &count));
    CHECK_EQ(count, BYTES);
    for (tutti_off i = 0; i < BYTES / 8 && wrong < 0; i++)
        if (v[i] != word(i)) wrong = i;
    CHECK(wrong < 0, "word %lld differs", (long long)wrong);
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    char path[512];
    harness_begin(&argc, &argv, 726);
    snprintf(path, sizeof path, "%s", scratch_path("bytes"));
    if (!has_room(check_dir())) {
        printf("too little memory or disk\n");
        MPI_Finalize();
        return 77;
    }
    uint64_t *v =
        mmap(NULL, (size_t)BYTES + 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(v != MAP_FAILED, "no memory");
    if (v != MAP_FAILED) {
        there_and_back(path, v, "method=list store=posix");
        there_and_back(path, v, "method=list store=uring");
        there_and_back(path, v, "method=two-phase");
        munmap(v, (size_t)BYTES + 8);
    }
    file_remove(path);
    return harness_end();
}
