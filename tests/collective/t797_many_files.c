/* TEST ranks=3 timeout=60 own=1 */
/* Many files open at the same time: each needs little shared memory per rank, and closing them releases it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "shared_memory_kib.h"

enum { FILES = 32, BYTES = 8192, ROUNDS = 12, KIB_PER_FILE = 256 };

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 797);
    static char buf[BYTES];
    tutti_file *f[FILES];
    tutti_options opt = options_of("");
    const long before = shared_memory_kib();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FILES; i++) {
            tutti_access *a = NULL;
            char name[40];
            snprintf(name, sizeof name, "many%d", i);
            f[i] = NULL;
            CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, scratch_path(name),
                                       TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f[i]),
                       TUTTI_OK);
            CHECK_OK(tutti_access_contiguous((tutti_off)BYTES * rank, BYTES, &a));
            for (int k = 0; k < ROUNDS; k++)
                CHECK_SAME(tutti_file_write(f[i], a, buf, NULL), TUTTI_OK);
            tutti_access_free(&a);
        }
        const long open = shared_memory_kib() - before;
        for (int i = 0; i < FILES; i++) CHECK_SAME(tutti_file_close(&f[i]), TUTTI_OK);
        const long closed = shared_memory_kib() - before;
        if (before < 0) continue; /* the kernel does not report it */
        CHECK(open < FILES * KIB_PER_FILE, "round %d: %ld KiB with %d files", round, open, FILES);
        CHECK(closed < open / 2 + KIB_PER_FILE, "round %d: %ld KiB, %ld after close", round, open,
              closed);
    }
    for (int i = 0; i < FILES; i++) {
        char name[40];
        snprintf(name, sizeof name, "many%d", i);
        file_remove(scratch_path(name));
    }
    return harness_end();
}
