/* store: division of runs into system calls.
 *
 * A call transfers as many runs as are consecutive in the file, whatever their location in memory,
 * and use the same descriptor:
 *
 *      file   |....|=======|=======|...|         = complete blocks, aligned in memory: direct_fd
 *              edge  middle          edge        . the rest: fd
 *
 * A direct read of the block in which the file ends fills the whole block in memory; since bytes
 * beyond the end must not change, that block is read through fd (direct_end).
 *
 * After a short transfer the rest is divided again, whatever its alignment, so short
 * transfers and interruptions need no special case.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/span.h"
#include "store/fdfile.h"
#include "base/memory.h"

#include <errno.h>
#include <unistd.h>

/* Advance s->run past empty and used runs, so that s->run has the first byte of the span. */
static void skip_empty_runs(tutti__span *s) {
    while (s->left > 0 && s->skip == s->run->bytes) {
        s->run++;
        s->skip = 0;
    }
}

tutti__span tutti__span_all(const tutti_io_run *runs, int n) {
    tutti__span s = {.run = runs, .direct_end = INT64_MAX};
    for (int i = 0; i < n; i++) s.left += (tutti_off)runs[i].bytes;
    skip_empty_runs(&s);
    return s;
}

void tutti__span_advance(tutti__span *s, tutti_off bytes) {
    TUTTI_ASSERT(bytes <= s->left);
    s->left -= bytes;
    s->stream += bytes;
    while (bytes > 0) {
        const tutti_off step = tutti__min(bytes, (tutti_off)(s->run->bytes - s->skip));
        s->skip += (size_t)step;
        bytes -= step;
        if (bytes > 0) {
            s->run++;
            s->skip = 0;
        }
    }
    skip_empty_runs(s);
}

static tutti_off span_offset(const tutti__span *s) {
    return s->run->offset + (tutti_off)s->skip;
}

static char *span_memory(const tutti__span *s) {
    return (char *)s->run->memory + s->skip;
}

static tutti_off span_in_run(const tutti__span *s) {
    return tutti__min((tutti_off)(s->run->bytes - s->skip), s->left);
}

/* Return the bytes of the first run that are before direct_end. */
static tutti_off direct_limit(const tutti__span *s) {
    return tutti__max(0, tutti__min(span_in_run(s), s->direct_end - span_offset(s)));
}

/* Return the number of bytes at the start of the span that can use direct_fd. */
static tutti_off direct_part(const tutti__fdfile *f, const tutti__span *s) {
    if (f->align == 0 || span_offset(s) % f->align != 0) return 0;
    if ((uintptr_t)span_memory(s) % (uintptr_t)f->align != 0) return 0;
    return tutti__align_down(direct_limit(s), f->align);
}

/* Return the number of bytes of the first run before the next part that can use direct_fd. */
static tutti_off buffered_part(const tutti__fdfile *f, const tutti__span *s) {
    const tutti_off bytes = span_in_run(s);
    if (f->align == 0) return bytes;
    const tutti_off misaligned = span_offset(s) % f->align;
    if ((tutti_off)((uintptr_t)span_memory(s) % (uintptr_t)f->align) != misaligned) return bytes;
    const tutti_off head = misaligned == 0 ? 0 : f->align - misaligned;
    return direct_limit(s) >= head + f->align ? head : bytes;
}

/* Return the number of bytes of the first run of `s` that can be added to the call; 0: none. */
static tutti_off next_part(const tutti__fdfile *f, const tutti__span *s, const tutti__io_call *c) {
    const tutti_off capacity = (tutti_off)(c->max_bytes - c->bytes);
    if (span_offset(s) != c->offset + (tutti_off)c->bytes) return 0;
    if (c->fd == f->fd) return tutti__min(buffered_part(f, s), capacity);
    return tutti__min(direct_part(f, s), tutti__align_down(capacity, f->align));
}

void tutti__span_cut(const tutti__fdfile *f, tutti__span s, tutti__io_call *c) {
    TUTTI_ASSERT(s.left > 0 && (f->align == 0 || (tutti_off)c->max_bytes >= f->align));
    c->fd = direct_part(f, &s) > 0 ? f->direct_fd : f->fd;
    c->offset = span_offset(&s);
    c->niov = 0;
    c->bytes = 0;
    while (s.left > 0 && c->niov < c->max_iov) {
        const tutti_off part = next_part(f, &s, c);
        if (part == 0) break;
        char *memory = span_memory(&s);
        struct iovec *last = c->niov > 0 ? &c->iov[c->niov - 1] : NULL;
        if (last && (char *)last->iov_base + last->iov_len == memory)
            last->iov_len += (size_t)part;
        else
            c->iov[c->niov++] = (struct iovec){.iov_base = memory, .iov_len = (size_t)part};
        c->bytes += (size_t)part;
        tutti__span_advance(&s, part);
    }
    TUTTI_ASSERT(c->bytes > 0);
}

ssize_t tutti__span_call(int is_write, const tutti__io_call *c) {
    const struct iovec *v = c->iov;
    ssize_t n;
    if (c->niov == 1)
        n = is_write ? pwrite(c->fd, v->iov_base, v->iov_len, c->offset)
                     : pread(c->fd, v->iov_base, v->iov_len, c->offset);
    else
        n = is_write ? pwritev(c->fd, v, c->niov, c->offset) : preadv(c->fd, v, c->niov, c->offset);
    return n < 0 ? -errno : n;
}

static int stop_with(tutti__tally *t, int sys_errno, tutti_off offset) {
    t->sys_errno = sys_errno;
    t->error_offset = offset;
    return 0;
}

int tutti__span_moved(const tutti__fdfile *f, int is_write, tutti__span *s, ssize_t result,
                      tutti__tally *t) {
    t->calls++;
    if (f->interrupt && t->calls % 2 == 1) result = -EINTR;
    if (result == -EINTR) return 1;
    if (result < 0) return stop_with(t, (int)-result, span_offset(s));
    if (result == 0 && is_write) return stop_with(t, EIO, span_offset(s));
    if (result == 0) {
        t->end = s->stream;
        return 0;
    }
    t->bytes += result;
    if (direct_part(f, s) > 0) t->direct_bytes += result; /* the call used direct_fd */
    tutti__span_advance(s, result);
    return s->left > 0;
}

void tutti__span_transfer(const tutti__fdfile *f, int is_write, tutti__span *s, tutti__io_call *c,
                          tutti__tally *t) {
    int more = s->left > 0;
    while (more) {
        tutti__span_cut(f, *s, c);
        t->system_calls++;
        more = tutti__span_moved(f, is_write, s, tutti__span_call(is_write, c), t);
    }
}

tutti__tally tutti__tally_start(void) {
    return (tutti__tally){.error_offset = -1, .end = TUTTI__NO_END};
}

tutti_err tutti__tally_judge(const tutti__tally *t, int is_write, tutti_stats *stats) {
    stats->system_calls += t->system_calls;
    stats->direct_bytes += t->direct_bytes;
    if (is_write) {
        stats->file_writes += t->calls;
        stats->file_write_bytes += t->bytes;
    } else {
        stats->file_reads += t->calls;
        stats->file_read_bytes += t->bytes;
    }
    if (t->sys_errno == 0) return TUTTI_OK;
    const char *operation = is_write ? "write" : "read";
    const tutti_err err = tutti__error_sys(t->sys_errno, t->error_offset, operation);
    tutti__error_context(operation, NULL, -1);
    return err;
}
