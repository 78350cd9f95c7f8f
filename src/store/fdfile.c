/* store: files with a descriptor: open, transfer, size, preallocation, sync, close.
 *
 * Only regular files are accepted.  The type is checked before the file is opened, so that open
 * does not block on a FIFO or affect its writer, and again afterwards.
 *
 * A process that writes beyond its file size limit gets SIGXFSZ before EFBIG.  The library must
 * not change signal handlers, so each request is checked against the limit first.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fdfile.h"
#include "store/fault.h"
#include "store/store.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CALL_BYTES ((tutti_off)1 << 30)
#define MAX_ALIGN ((tutti_off)1 << 20)

tutti_err tutti__fdfile_cannot_open(int sys_errno) {
    const tutti_err code = tutti__error_from_errno(sys_errno);
    if (code != TUTTI_ERR_IO) return tutti__error_sys(sys_errno, -1, "open");
    return tutti__error_set(TUTTI_ERR_OPEN, sys_errno, -1, "open: %s", strerrordesc_np(sys_errno));
}

static tutti_err check_kind(const struct stat *st) {
    if (S_ISDIR(st->st_mode))
        return tutti__error_set(TUTTI_ERR_IS_DIRECTORY, EISDIR, -1, "path is a directory");
    TUTTI_CHECK(S_ISREG(st->st_mode), TUTTI_ERR_UNSUPPORTED, "path is not a regular file");
    return TUTTI_OK;
}

static int open_flags(int flags) {
    const int both = TUTTI_STORE_READ | TUTTI_STORE_WRITE;
    int o = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    o |= (flags & both) == both ? O_RDWR : flags & TUTTI_STORE_WRITE ? O_WRONLY : O_RDONLY;
    if (flags & TUTTI_STORE_CREATE) o |= O_CREAT;
    if (flags & TUTTI_STORE_EXCL) o |= O_EXCL;
    if (flags & TUTTI__FDFILE_OWN) o |= O_NOFOLLOW;
    return o;
}

/* open(2), repeated when interrupted.  The descriptor is never 0, 1 or 2: if a standard stream is
 * closed, its output must not be written to the file. */
static int open_fd(const char *path, int o, int permissions) {
    int fd;
    do fd = open(path, o, permissions);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 || fd > 2) return fd;
    const int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    const int saved = errno;
    (void)close(fd);
    errno = saved;
    return higher;
}

/* Open f->fd, which uses the page cache.  O_NONBLOCK is removed when the file is known to be
 * regular. */
static tutti_err open_buffered(tutti__fdfile *f, const char *path, int permissions) {
    struct stat st;
    const int o = open_flags(f->flags);
    if (!(o & O_EXCL) && stat(path, &st) == 0) TUTTI_TRY(check_kind(&st));
    f->fd = open_fd(path, o, permissions);
    if (f->fd < 0) return tutti__fdfile_cannot_open(errno);
    if (fstat(f->fd, &st) != 0) return tutti__fdfile_cannot_open(errno);
    TUTTI_TRY(check_kind(&st));
    if (f->flags & TUTTI__FDFILE_OWN && st.st_uid != geteuid())
        return tutti__fdfile_cannot_open(EACCES);
    const int now = fcntl(f->fd, F_GETFL);
    if (now < 0 || fcntl(f->fd, F_SETFL, now & ~O_NONBLOCK) != 0)
        return tutti__fdfile_cannot_open(errno);
    return TUTTI_OK;
}

/* Open f->direct_fd, and check that the path still leads to the same file as f->fd. */
static tutti_err open_direct(tutti__fdfile *f, const char *path) {
    struct stat a, b;
    const int o = (open_flags(f->flags) & ~(O_CREAT | O_EXCL)) | O_DIRECT;
    f->direct_fd = open_fd(path, o, 0);
    if (f->direct_fd < 0 && errno == EINVAL)
        return tutti__error_set(TUTTI_ERR_UNSUPPORTED, EINVAL, -1,
                                "file system does not support O_DIRECT (option direct_io)");
    if (f->direct_fd < 0) return tutti__fdfile_cannot_open(errno);
    if (fstat(f->fd, &a) != 0 || fstat(f->direct_fd, &b) != 0)
        return tutti__fdfile_cannot_open(errno);
    TUTTI_CHECK(a.st_dev == b.st_dev && a.st_ino == b.st_ino, TUTTI_ERR_OPEN,
                "file was replaced while it was being opened");
    return TUTTI_OK;
}

static tutti_err open_all(tutti__fdfile *f, const char *path, int permissions,
                          const tutti_options *opt) {
    tutti__fault fault;
    TUTTI_TRY(tutti__fault_parse(opt->fault, 0, &fault));
    f->interrupt = fault.what == TUTTI__FAULT_SHORT;
    f->max_bytes = (size_t)(f->interrupt ? tutti__min(fault.n, MAX_CALL_BYTES) : MAX_CALL_BYTES);
    TUTTI_TRY(open_buffered(f, path, permissions));
    if (opt->direct_io) TUTTI_TRY(open_direct(f, path));
    /* Options override the detected layout.  If the file system accepts O_DIRECT but does not
     * report the required alignment, pages are used. */
    tutti_store_layout *l = &f->base.layout;
    TUTTI_CHECK(opt->direct_align >= 0 && opt->direct_align <= MAX_ALIGN &&
                    (opt->direct_align & (opt->direct_align - 1)) == 0,
                TUTTI_ERR_OPTION, "direct_align is %lld: must be 0 or a power of two up to 1 MiB",
                (long long)opt->direct_align);
    tutti__layout_find(f->fd, l);
    if (opt->striping_unit > 0) l->stripe = opt->striping_unit;
    if (f->direct_fd >= 0 && l->direct_align == 0) l->direct_align = sysconf(_SC_PAGESIZE);
    if (opt->direct_align > 0) l->direct_align = opt->direct_align;
    /* Blocks for direct_fd are never smaller than pages, even if the device allows it: a page with
     * bytes from both descriptors at the same time makes the kernel report EIO at the next sync.
     * For the same reason read-ahead is disabled, which would read pages of blocks into the
     * cache. */
    const tutti_off align = tutti__max(l->direct_align, sysconf(_SC_PAGESIZE));
    if (f->direct_fd >= 0 && align <= (tutti_off)f->max_bytes) {
        f->align = align;
        (void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
    }
    return TUTTI_OK;
}

/* A file that has been created is deleted, if it is certain (EXCL) that this open has created
 * it. */
void tutti__fdfile_abandon(tutti__fdfile *f, const char *path) {
    const int created = TUTTI_STORE_CREATE | TUTTI_STORE_EXCL;
    if (f->fd >= 0 && (f->flags & created) == created) (void)unlink(path);
    if (f->fd >= 0) (void)close(f->fd);
    if (f->direct_fd >= 0) (void)close(f->direct_fd);
}

tutti_err tutti__fdfile_open(tutti__fdfile *f, const char *path, int flags, int permissions,
                             const tutti_options *opt) {
    TUTTI_CHECK(flags & (TUTTI_STORE_READ | TUTTI_STORE_WRITE), TUTTI_ERR_ARG,
                "flags is %d: must have TUTTI_STORE_READ, TUTTI_STORE_WRITE or both", flags);
    f->fd = f->direct_fd = -1;
    f->flags = flags;
    const tutti_err err = open_all(f, path, permissions, opt);
    if (err != TUTTI_OK) tutti__fdfile_abandon(f, path);
    return err;
}

/* Close fd (if >= 0) and return 0 or errno.  Linux closes the descriptor even if close(2) fails
 * with EINTR. */
static int close_fd(int fd) {
    return fd < 0 || close(fd) == 0 || errno == EINTR ? 0 : errno;
}

tutti_err tutti__fdfile_shut(tutti__fdfile *f) {
    tutti__fdfile_write_behind_end(f);
    const int a = close_fd(f->fd), b = close_fd(f->direct_fd);
    tutti__store_stats(&f->base)->system_calls += f->direct_fd >= 0 ? 2 : 1;
    return a || b ? tutti__error_sys(a ? a : b, -1, "close") : TUTTI_OK;
}

tutti_err tutti__fdfile_allows(const tutti__fdfile *f, int is_write, tutti_off end) {
    const int needed = is_write ? TUTTI_STORE_WRITE : TUTTI_STORE_READ;
    TUTTI_CHECK(f->flags & needed, TUTTI_ERR_MODE, "the file was not opened for %s",
                is_write ? "writing" : "reading");
    if (!is_write || end == 0) return TUTTI_OK;
    struct rlimit limit; /* file size limit of the process */
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || (rlim_t)end <= limit.rlim_cur) return TUTTI_OK;
    return tutti__error_sys(EFBIG, (tutti_off)limit.rlim_cur, "write");
}

tutti_off tutti__runs_end(const tutti_io_run *runs, int n) {
    tutti_off end = 0;
    for (int i = 0; i < n; i++)
        if (runs[i].bytes > 0) end = tutti__max(end, runs[i].offset + (tutti_off)runs[i].bytes);
    return end;
}

static tutti_err transfer_span(tutti__fdfile *f, int is_write, tutti__span *s, tutti__tally *t) {
    struct iovec iov[TUTTI__IOV_SYNC]; /* on the stack, so that several threads can use the file */
    tutti__io_call c = {.iov = iov, .max_iov = TUTTI__IOV_SYNC, .max_bytes = f->max_bytes};
    *t = tutti__tally_start();
    tutti__span_transfer(f, is_write, s, &c, t);
    return tutti__tally_judge(t, is_write, tutti__store_stats(&f->base));
}

tutti_err tutti__fdfile_span(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                             tutti__span *span_out) {
    tutti__span span = tutti__span_all(runs, n);
    if (f->align > 0 && !is_write) TUTTI_TRY(tutti__fdfile_size(&f->base, &span.direct_end));
    *span_out = span;
    return TUTTI_OK;
}

/* Transfer a single run through the page cache by one system call, the common case.  Returns 0 if
 * that is not possible or incomplete; the caller then transfers all bytes. */
static int one_call(tutti__fdfile *f, int is_write, const tutti_io_run *r, int n) {
    if (n != 1 || f->align > 0 || f->interrupt || r->bytes > f->max_bytes) return 0;
    const ssize_t moved = is_write ? pwrite(f->fd, r->memory, r->bytes, r->offset)
                                   : pread(f->fd, r->memory, r->bytes, r->offset);
    if (moved != (ssize_t)r->bytes) return 0;
    const tutti__tally tally = {
        .end = TUTTI__NO_END, .calls = 1, .system_calls = 1, .bytes = moved};
    return tutti__tally_judge(&tally, is_write, tutti__store_stats(&f->base)) == TUTTI_OK;
}

tutti_err tutti__fdfile_write(tutti_store *s, const tutti_io_run *runs, int n) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti__span span;
    tutti__tally tally;
    TUTTI_TRY(tutti__fdfile_allows(f, 1, tutti__runs_end(runs, n)));
    if (one_call(f, 1, runs, n)) return TUTTI_OK;
    TUTTI_TRY(tutti__fdfile_span(f, 1, runs, n, &span));
    return transfer_span(f, 1, &span, &tally);
}

tutti_err tutti__fdfile_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti__span span;
    tutti__tally tally;
    TUTTI_TRY(tutti__fdfile_allows(f, 0, 0));
    if (one_call(f, 0, runs, n)) {
        *done_out = (tutti_off)runs->bytes;
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__fdfile_span(f, 0, runs, n, &span));
    TUTTI_TRY(transfer_span(f, 0, &span, &tally));
    *done_out = span.stream;
    return TUTTI_OK;
}

tutti_err tutti__fdfile_size(tutti_store *s, tutti_off *size_out) {
    struct stat st;
    tutti__store_stats(s)->system_calls++;
    if (fstat(((tutti__fdfile *)s)->fd, &st) != 0) return tutti__error_sys(errno, -1, "size");
    *size_out = (tutti_off)st.st_size;
    return TUTTI_OK;
}

static tutti_err truncate_to(tutti__fdfile *f, tutti_off size) {
    int failed;
    do {
        tutti__store_stats(&f->base)->system_calls++;
        failed = ftruncate(f->fd, size);
    } while (failed && errno == EINTR);
    return failed ? tutti__error_sys(errno, size, "resize") : TUTTI_OK;
}

/* The file size limit applies only if the file grows, as in the kernel. */
tutti_err tutti__fdfile_resize(tutti_store *s, tutti_off size) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti_off now = 0;
    TUTTI_TRY(tutti__fdfile_size(s, &now));
    TUTTI_TRY(tutti__fdfile_allows(f, 1, size > now ? size : 0));
    return truncate_to(f, size);
}

/* fallocate(2) is used because, without support of the file system, posix_fallocate(3) rewrites a
 * byte of every block, concurrently with other writers.  Without support the file is only
 * extended. */
tutti_err tutti__fdfile_preallocate(tutti_store *s, tutti_off size) {
    tutti__fdfile *f = (tutti__fdfile *)s;
    tutti_off now = 0;
    int failed;
    TUTTI_TRY(tutti__fdfile_size(s, &now));
    TUTTI_TRY(tutti__fdfile_allows(f, 1, size > now ? size : 0));
    if (size == 0) return TUTTI_OK;
    do {
        tutti__store_stats(s)->system_calls++;
        failed = fallocate(f->fd, 0, 0, size);
    } while (failed && errno == EINTR);
    if (!failed) return TUTTI_OK;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return tutti__error_sys(errno, size, "preallocate");
    return size > now ? truncate_to(f, size) : TUTTI_OK;
}

tutti_err tutti__fdfile_sync(tutti_store *s) {
    int failed;
    do {
        tutti__store_stats(s)->system_calls++;
        failed = fsync(((tutti__fdfile *)s)->fd);
    } while (failed && errno == EINTR);
    return failed ? tutti__error_sys(errno, -1, "sync") : TUTTI_OK;
}

int tutti__fdfile_descriptor(const tutti_store *s) {
    return ((const tutti__fdfile *)s)->fd;
}

/* On a network file system, closing any descriptor of a file flushes the delayed writes of this
 * client (close-to-open consistency), without waiting for a disk as fsync does. */
tutti_err tutti__fdfile_flush(tutti_store *s) {
    tutti__store_stats(s)->system_calls += 2;
    const int fd = fcntl(((tutti__fdfile *)s)->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return tutti__fdfile_sync(s); /* no free descriptor: use fsync */
    return close(fd) == 0 || errno == EINTR ? TUTTI_OK : tutti__error_sys(errno, -1, "flush");
}

/* Invalidate the cached data and the cached size. */
tutti_err tutti__fdfile_refresh(tutti_store *s) {
    struct statx sx;
    const int fd = ((tutti__fdfile *)s)->fd;
    tutti__store_stats(s)->system_calls += 2;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &sx) != 0)
        return tutti__error_sys(errno, -1, "refresh");
    const int code = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return code == 0 ? TUTTI_OK : tutti__error_sys(code, -1, "refresh");
}
