/* store: mem, files in the memory of this machine, for tests and for measuring.  All processes of a
 * user on a machine that have the same TMPDIR access the same bytes under the same path.  Like
 * files on a disk, the bytes exist until they are deleted or the machine stops, even if the process
 * is killed.
 *
 * The bytes are in a file in $TMPDIR if that is in memory, as batch systems provide it; else in
 * /dev/shm; else in $TMPDIR or /tmp.  The name of the file has the user id and a hash of the
 * given path.  The operations are simple loops over the runs and serve as a reference for the other
 * stores.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/mem.h"
#include "store/store.h"
#include "store/fdfile.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

tutti_err tutti__mem_path(const char *path, char **path_out) {
    struct statfs st;
    const char *dir = secure_getenv("TMPDIR");
    if (!dir || !*dir) dir = "/tmp";
    const int is_in_memory = strcmp(dir, "/tmp") != 0 && statfs(dir, &st) == 0 &&
                             st.f_type == TMPFS_MAGIC && access(dir, W_OK) == 0;
    if (!is_in_memory && access("/dev/shm", W_OK) == 0) dir = "/dev/shm";
    const char *format = "%s/tutti-mem-%lu-%016llx";
    const unsigned long user = (unsigned long)geteuid();
    const unsigned long long hash = tutti__hash(TUTTI__HASH_START, path, strlen(path));
    const int n = snprintf(NULL, 0, format, dir, user, hash);
    char *text = tutti__malloc((size_t)n + 1);
    if (!text) return TUTTI_ERR_NOMEM;
    snprintf(text, (size_t)n + 1, format, dir, user, hash);
    *path_out = text;
    return TUTTI_OK;
}

static tutti_err open_at(tutti__fdfile *f, const char *path, int flags, int permissions,
                         const tutti_options *opt) {
    tutti_options plain = *opt;
    char *where = NULL;
    plain.direct_io = 0;
    TUTTI_TRY(tutti__mem_path(path, &where));
    const tutti_err err =
        tutti__fdfile_open(f, where, flags | TUTTI__FDFILE_OWN, permissions, &plain);
    tutti__free(where);
    return err;
}

static tutti_err mem_open(const char *path, int flags, int permissions, const tutti_options *opt,
                          tutti_stats *stats, tutti_store **store_out) {
    tutti__fdfile *f = tutti__calloc(1, sizeof *f);
    if (!f) return TUTTI_ERR_NOMEM;
    f->base = (tutti_store){.ops = &tutti__store_mem, .stats = stats};
    const tutti_err err = open_at(f, path, flags, permissions, opt);
    if (err != TUTTI_OK) {
        tutti__free(f);
        return err;
    }
    *store_out = &f->base;
    return TUTTI_OK;
}

static tutti_err mem_close(tutti_store *s) {
    const tutti_err err = tutti__fdfile_shut((tutti__fdfile *)s);
    tutti__free(s);
    return err;
}

/* Transfer a run; *done_out is the number of bytes transferred, fewer than run->bytes only at the
 * end of the file. */
static tutti_err move_run(tutti__fdfile *f, int is_write, const tutti_io_run *run,
                          size_t *done_out) {
    size_t done = 0;
    while (done < run->bytes) {
        const tutti_off at = run->offset + (tutti_off)done;
        const size_t want =
            (size_t)tutti__min((tutti_off)(run->bytes - done), (tutti_off)f->max_bytes);
        char *memory = (char *)run->memory + done;
        const ssize_t n =
            is_write ? pwrite(f->fd, memory, want, at) : pread(f->fd, memory, want, at);
        tutti__store_stats(&f->base)->system_calls++;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || (n == 0 && is_write))
            return tutti__error_sys(n < 0 ? errno : EIO, at, is_write ? "write" : "read");
        if (n == 0) break;
        done += (size_t)n;
    }
    *done_out = done;
    return TUTTI_OK;
}

static tutti_err mem_write(tutti_store *s, const tutti_io_run *runs, int n) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    TUTTI_TRY(tutti__fdfile_allows(f, 1, tutti__runs_end(runs, n)));
    for (int i = 0; i < n; i++) {
        size_t done = 0;
        TUTTI_TRY(move_run(f, 1, &runs[i], &done));
        tutti__store_stats(s)->file_writes++;
        tutti__store_stats(s)->file_write_bytes += (tutti_off)runs[i].bytes;
    }
    return TUTTI_OK;
}

static tutti_err mem_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti_off total = 0;
    TUTTI_TRY(tutti__fdfile_allows(f, 0, 0));
    for (int i = 0; i < n; i++) {
        size_t done = 0;
        TUTTI_TRY(move_run(f, 0, &runs[i], &done));
        total += (tutti_off)done;
        tutti__store_stats(s)->file_reads++;
        tutti__store_stats(s)->file_read_bytes += (tutti_off)done;
        if (done < runs[i].bytes) break;
    }
    *done_out = total;
    return TUTTI_OK;
}

const tutti_store_ops tutti__store_mem = {.name = "mem",
                                          .reentrant = 1,
                                          .open = mem_open,
                                          .close = mem_close,
                                          .write = mem_write,
                                          .read = mem_read,
                                          .size = tutti__fdfile_size,
                                          .resize = tutti__fdfile_resize,
                                          .preallocate = tutti__fdfile_preallocate,
                                          .lock = tutti__fdfile_lock};
