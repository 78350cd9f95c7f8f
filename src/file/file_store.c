/* file: the stores of a file, one for blocking and one for background operations.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "file/file.h"

#include <stdio.h>
#include <unistd.h>

int tutti__file_flags(const tutti_file *f) {
    return (f->mode & TUTTI_READ ? TUTTI_STORE_READ : 0) |
           (f->mode & TUTTI_WRITE ? TUTTI_STORE_WRITE : 0);
}

int tutti__file_store(const tutti_options *opt, int by_itself) {
    const int pipeline = opt->pipeline;
    if (opt->store != TUTTI_STORE_AUTO) return opt->store;
    /* with direct_io the device transfers the data, so overlap needs no processor time */
    const int overlaps =
        pipeline >= TUTTI_PIPELINE_WRITE || (opt->direct_io && pipeline == TUTTI_PIPELINE_AUTO);
    return by_itself || overlaps ? tutti__store_asynchronous(opt) : TUTTI_STORE_POSIX;
}

tutti_err tutti__file_stores_close(tutti_file *f) {
    return TUTTI_ALSO(tutti__store_close(&f->background_store), tutti__store_close(&f->store));
}

tutti_err tutti__file_open_background(tutti_file *f, int background) {
    if (f->background_store || background == TUTTI_BACKGROUND_NONE) return TUTTI_OK;
    /* With background = all, a thread of the library executes the operation and may block, so the
     * store posix is suitable.  The file is opened through /proc, in case its name or the working
     * directory has changed.  The queue is long, since all accesses of an operation are started at
     * the same time. */
    const int store = tutti__file_store(&f->opt, background == TUTTI_BACKGROUND_IO_ONLY);
    tutti_options opt = f->opt;
    char link[64];
    const int fd = tutti__store_descriptor(f->store);
    opt.store = store;
    opt.queue_depth = (int)tutti__max(opt.queue_depth, 512);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const char *path = fd >= 0 && access("/proc/self/fd", X_OK) == 0 ? link : f->path;
    const tutti_err err = tutti__store_open(path, tutti__file_flags(f), 0, &opt, f->team->rank,
                                            &f->stats.other, &f->background_store);
    if (err == TUTTI_OK) return TUTTI_OK;
    tutti_error_info info = *tutti_last_error();
    info.path[0] = '\0';
    tutti__error_assign(&info);
    tutti__error_context(NULL, f->path, -1);
    return err;
}
