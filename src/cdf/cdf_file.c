/* cdf: reading and updating headers of files, by one process.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cdf/cdf_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/size_limit.h"

enum { FIRST_BYTES = 65536 };

static tutti_err read_bytes(int fd, char *to, size_t from, size_t end) {
    while (from < end) {
        const ssize_t n = pread(fd, to + from, end - from, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return tutti__error_sys(errno, (tutti_off)from, "cannot read the netCDF header");
        TUTTI_CHECK(n > 0, TUTTI_ERR_TRUNCATED, "file was truncated while its header was read");
        from += (size_t)n;
    }
    return TUTTI_OK;
}

/* Read the start of the file, doubling the number of bytes until they contain the header. */
static tutti_err read_header_bytes(int fd, tutti_off size, char **bytes, size_t *n_out) {
    size_t n = 0, more = (size_t)tutti__min(size, FIRST_BYTES);
    for (;;) {
        tutti__cdf c;
        char *p = tutti__realloc(*bytes, more);
        if (!p) return TUTTI_ERR_NOMEM;
        *bytes = p;
        TUTTI_TRY(read_bytes(fd, p, n, more));
        n = more;
        const tutti_err e = tutti__cdf_decode(p, n, size, &c);
        if (e == TUTTI_OK) {
            *n_out = (size_t)c.header_bytes;
            tutti__cdf_free(&c);
            return TUTTI_OK;
        }
        if (e != TUTTI_ERR_TRUNCATED) return e;
        more = (size_t)tutti__min(size, 2 * (tutti_off)n);
    }
}

tutti_err tutti__cdf_read_header(const char *path, void **bytes_out, size_t *n_out,
                                 tutti_off *file_bytes_out) {
    struct stat st;
    char *bytes = NULL;
    tutti_err e = TUTTI_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        e = tutti__error_sys(errno, -1, "open");
    } else {
        if (fstat(fd, &st) != 0)
            e = tutti__error_sys(errno, -1, "fstat");
        else
            e = read_header_bytes(fd, st.st_size, &bytes, n_out);
        close(fd);
    }
    if (e != TUTTI_OK) {
        tutti__error_context(NULL, path, -1);
        tutti__free(bytes);
        return e;
    }
    *bytes_out = bytes;
    *file_bytes_out = st.st_size;
    return TUTTI_OK;
}

tutti_count tutti__cdf_records_in(const tutti__cdf *c, tutti_off file_bytes) {
    const tutti__cdf_var *last = NULL;
    for (tutti_count i = 0; i < c->vars_n; i++)
        if (c->vars[i].is_record && (!last || c->vars[i].begin > last->begin)) last = &c->vars[i];
    if (!last) return 0; /* no record variables */
    /* the padding of the last variable may be missing */
    const tutti_off pad = last->bytes - tutti__cdf_raw(last), there = file_bytes - c->record_begin;
    return there <= 0 ? 0 : (there + pad) / c->record_bytes;
}

tutti_err tutti__cdf_set_records(int fd, const tutti__cdf *c, tutti_count records) {
    unsigned char bytes[8];
    const int word = tutti__cdf_word(c->version);
    TUTTI_CHECK(records >= 0 && (word == 8 || records < UINT32_MAX), TUTTI_ERR_OVERFLOW,
                "number of records is %lld: CDF-%d supports 0 to %lld", (long long)records,
                c->version, word == 8 ? (long long)INT64_MAX : (long long)UINT32_MAX - 1);
    for (int i = 0; i < word; i++)
        bytes[i] = (unsigned char)((uint64_t)records >> 8 * (word - 1 - i));
    if (tutti__limited_pwrite(fd, bytes, (size_t)word, 4) != 0)
        return tutti__error_sys(errno, 4, "cannot write the number of records");
    return TUTTI_OK;
}
