/* store: posix, synchronous calls: pwrite, pread and, for several runs that are contiguous in the
 * file, pwritev and preadv.  Implemented in fdfile.c and span.c, which the asynchronous stores
 * share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "store/fdfile.h"
#include "base/memory.h"

static tutti_err posix_open(const char *path, int flags, int permissions, const tutti_options *opt,
                            tutti_stats *stats, tutti_store **store_out) {
    tutti__fdfile *f = tutti__calloc(1, sizeof *f);
    if (!f) return TUTTI_ERR_NOMEM;
    f->base = (tutti_store){.ops = &tutti__store_posix, .stats = stats};
    const tutti_err err = tutti__fdfile_open(f, path, flags, permissions, opt);
    if (err != TUTTI_OK) {
        tutti__free(f);
        return err;
    }
    *store_out = &f->base;
    return TUTTI_OK;
}

static tutti_err posix_close(tutti_store *s) {
    const tutti_err err = tutti__fdfile_shut((tutti__fdfile *)s);
    tutti__free(s);
    return err;
}

const tutti_store_ops tutti__store_posix = {.name = "posix",
                                            .reentrant = 1,
                                            .open = posix_open,
                                            .close = posix_close,
                                            .write = tutti__fdfile_write,
                                            .read = tutti__fdfile_read,
                                            .start_writeback = tutti__fdfile_write_behind,
                                            TUTTI__FDFILE_OPS};
