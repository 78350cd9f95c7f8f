/* TEST ranks=0 timeout=60 */
/* Files of the store mem are in TMPDIR if that directory is in memory (batch systems remove it after a job),
 * otherwise in /dev/shm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/memory.h"
#include "check.h"
#include "store/mem.h"

static int is_in_memory(const char *dir) {
    struct statfs st;
    return statfs(dir, &st) == 0 && st.f_type == TMPFS_MAGIC;
}

static void file_is_in(const char *dir) {
    char *path = NULL;
    CHECK_OK(tutti__mem_path("some/file", &path));
    CHECK(path && strncmp(path, dir, strlen(dir)) == 0 &&
              strncmp(path + strlen(dir), "/tutti-mem-", 11) == 0,
          "%s is not in %s", path, dir);
    tutti__free(path);
}

int main(void) {
    const char *shm = getenv("TUTTI_TEST_SHM"), *disk = getenv("TUTTI_TEST_DIR");
    if (!shm || !disk || !is_in_memory("/dev/shm")) return 77;
    setenv("TMPDIR", shm, 1);
    file_is_in(shm);
    setenv("TMPDIR", disk, 1);
    file_is_in(is_in_memory(disk) ? disk : "/dev/shm");
    setenv("TMPDIR", "/no/such/directory", 1);
    file_is_in("/dev/shm");
    unsetenv("TMPDIR");
    file_is_in("/dev/shm");
    return check_done();
}
