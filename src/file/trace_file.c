/* file: writing the trace file whenever a file is closed: rank 0 gathers the events of all ranks
 * and rewrites the trace file.  Only an existing trace is overwritten, and errors of the trace file
 * are not returned.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "file/file.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options_impl.h"
#include "base/trace.h"
#include "comm/sparse.h"

static const char trace_head[] = "{\"traceEvents\":[\n";

/* Report once per process why no trace is written, if the option explain is set. */
static void trace_complain(const tutti_file *f, const char *what) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (f->opt.explain && !atomic_flag_test_and_set(&said))
        fprintf(stderr, "tutti: no trace is written to '%s': %s\n", f->opt.trace, what);
}

void tutti__trace_begin(tutti_file *f) {
    char ignored[512];
    struct stat st;
    if (f->team->rank == 0 && f->opt.explain && tutti__options_ignored(ignored, sizeof ignored))
        fprintf(stderr, "tutti: %s; it is ignored\n", ignored);
    f->trace.number = tutti__trace_file(f->path); /* tracing may be enabled by another file */
    if (!f->opt.trace[0]) return;
    const int fd = tutti__store_descriptor(f->store);
    if (fd >= 0 && fstat(fd, &st) == 0) f->trace.device = st.st_dev, f->trace.inode = st.st_ino;
    if (tutti__trace_enable(f->team->rank) == TUTTI_OK) {
        f->trace.number = tutti__trace_file(f->path);
        return;
    }
    tutti__error_clear();
    trace_complain(f, "cannot allocate memory for the trace");
}

/* Return whether a file has data of the program and must not be overwritten, even if it is empty:
 * the file being closed, another open file, or the last file for which this function returned 1. */
static int trace_is_data(const tutti_file *closing, const struct stat *st) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t device, inode; /* of the last file for which the result was 1 */
    pthread_mutex_lock(&lock);
    const int found = (st->st_dev == closing->trace.device && st->st_ino == closing->trace.inode) ||
                      (st->st_dev == device && st->st_ino == inode) ||
                      tutti__open_files_have(st->st_dev, st->st_ino);
    if (found) device = st->st_dev, inode = st->st_ino;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Return NULL if the file may be overwritten, else the reason why not; fd is -1 if the file is not
 * open yet. */
static const char *trace_refused(const tutti_file *f, const struct stat *st, int fd) {
    char head[sizeof trace_head - 1];
    if (!S_ISREG(st->st_mode)) return "it is not a regular file";
    if (trace_is_data(f, st)) return "this file is also read or written by the program";
    if (fd >= 0 && st->st_size > 0 &&
        (pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
         memcmp(head, trace_head, sizeof head) != 0))
        return "it exists and is not a trace";
    return NULL;
}

static int trace_print(int fd, int n, const tutti__sparse_message *in) {
    int first = 1;
    FILE *out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        return 0;
    }
    fputs(trace_head, out);
    for (int i = 0; i < n; i++) {
        if (in[i].bytes == 0) continue;
        if (!first) fputs(",\n", out);
        fwrite(in[i].data, 1, in[i].bytes, out);
        first = 0;
    }
    fputs("\n]}\n", out);
    const int bad = ferror(out);
    return fclose(out) == 0 && !bad;
}

/* Write the trace; returns NULL, or the reason why no trace is written.  A data file is not opened,
 * since closing it would release the locks of the process. */
static const char *trace_save(const tutti_file *f, int n, const tutti__sparse_message *in) {
    const char *path = f->opt.trace, *refused = NULL;
    struct stat st;
    /* A write beyond the file size limit would end the process by SIGXFSZ. */
    struct rlimit limit;
    uint64_t bytes = sizeof trace_head + 8;
    for (int i = 0; i < n; i++) bytes += in[i].bytes + 2;
    if (!(getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur))
        return "it would exceed the limit on the size of files";
    if (stat(path, &st) == 0) refused = trace_refused(f, &st, -1);
    if (refused) return refused;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0) return strerrordesc_np(errno);
    refused = fstat(fd, &st) == 0 ? trace_refused(f, &st, fd) : strerrordesc_np(errno);
    if (!refused && ftruncate(fd, 0) != 0) refused = strerrordesc_np(errno);
    if (refused) {
        close(fd);
        return refused;
    }
    return trace_print(fd, n, in) ? NULL : "it cannot be written";
}

void tutti__trace_write(tutti_file *f) {
    tutti__sparse_message *in = NULL;
    int n = 0;
    if (!f->opt.trace[0]) return;
    char *text = tutti__trace_json();
    const tutti__sparse_message local = {0, text ? strlen(text) : 0, text};
    const char *problem = NULL;
    if (tutti__sparse_exchange(f->team, text ? 1 : 0, &local, &n, &in) != TUTTI_OK) {
        problem = "not all ranks could send what they recorded";
        tutti__error_clear();
    }
    tutti__free(text);
    if (f->team->rank != 0) return tutti__sparse_free(n, &in);
    if (!problem) problem = trace_save(f, n, in);
    if (problem) trace_complain(f, problem);
    tutti__sparse_free(n, &in);
}
