/* TEST ranks=0 timeout=60 */
/* Invalid headers: every truncation, every byte changed, counts that require much memory,
 * variables that overlap each other or the header, or are located beyond the end; other files; the number
 * of records written to a file, and computed from its size.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>
#include "headers.h"

static void put_values(unsigned char *to, int bytes, uint64_t v) {
    for (int i = bytes; i-- > 0; v >>= 8) to[i] = (unsigned char)v;
}

/* Truncate a header at every position and change every byte. */
static void harm_bytes(int version) {
    model m;
    tutti__cdf c, back;
    void *bytes = NULL;
    do model_random(&m, version);
    while (m.vars_n < 2 || m.vars_n > 8);
    model_make(&m, &c);
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    CHECK_OK(tutti__cdf_encode(&c, &bytes));
    const size_t n = (size_t)c.header_bytes;
    for (size_t cut = 0; cut < n; cut++) {
        /* the size is exact, so that ASan detects overruns */
        unsigned char *exactly = malloc(cut ? cut : 1);
        memcpy(exactly, bytes, cut);
        CHECK_ERR(tutti__cdf_decode(exactly, cut, c.fixed_end + 1, &back), TUTTI_ERR_TRUNCATED);
        CHECK_ERR(tutti__cdf_decode(exactly, cut, (tutti_off)cut, &back), TUTTI_ERR_FORMAT);
        free(exactly);
    }
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < n; i++) {
        unsigned char *p = (unsigned char *)bytes + i;
        const unsigned char was = *p;
        *p = rnd(3) ? values[rnd(5)] : (unsigned char)(was + 1);
        const tutti_err e = tutti__cdf_decode(bytes, n, c.fixed_end, &back);
        CHECK(e == TUTTI_OK || e == TUTTI_ERR_FORMAT || e == TUTTI_ERR_TRUNCATED, "%s",
              tutti_error_name(e));
        if (e == TUTTI_OK) tutti__cdf_free(&back);
        *p = was;
    }
    tutti__free(bytes);
    tutti__cdf_free(&c);
}

/* A wrong header.  The file has the dimensions x and t (records) and the variables a[x], b[x], r[t], s[t]
 * of doubles, numbered 0 to 3. */
typedef struct wrong {
    const char *what;
    int var;         /* number of the variable whose `begin` is changed, or -1 */
    tutti_off begin; /* new value, relative to the begin of variable `from` */
    int from;        /* number of that variable; -1: `begin` is absolute */
    tutti_count length, records;
    tutti_err code;
} wrong;

static void test_places(void) {
    static const wrong cases[] = {
        {"right", -1, 0, 0, 4, 2, TUTTI_OK},
        {"in the header", 0, 8, -1, 4, 2, TUTTI_ERR_FORMAT},
        {"b in a", 1, 8, 0, 4, 2, TUTTI_ERR_FORMAT},
        {"a and b the other way", 0, 128, -1, 4, 2, TUTTI_ERR_FORMAT},
        {"behind the end", 1, 1 << 20, 0, 4, 2, TUTTI_ERR_FORMAT},
        {"far behind the end", 1, INT64_MAX - 8, -1, 4, 2, TUTTI_ERR_FORMAT},
        {"records in fixed ones", 2, 0, 1, 4, 2, TUTTI_ERR_FORMAT},
        {"records in the header", 2, 0, -1, 4, 2, TUTTI_ERR_FORMAT},
        {"s in r", 3, 4, 2, 4, 2, TUTTI_ERR_FORMAT},
        {"a gap in the record", 3, 16, 2, 4, 2, TUTTI_ERR_FORMAT},
        {"a number of bytes that overflows", -1, 0, 0, (tutti_count)1 << 60, 2, TUTTI_ERR_FORMAT},
        {"records without end", -1, 0, 0, 4, INT64_MAX, TUTTI_ERR_FORMAT},
        {"records that are not there", -1, 0, 0, 4, 1 << 30, TUTTI_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wrong *w = &cases[i];
        tutti__cdf c, back;
        void *bytes = NULL;
        check_where(w->what);
        tutti__cdf_init(&c, 5);
        CHECK_OK(tutti__cdf_add_dim(&c, "x", 4, NULL));
        CHECK_OK(tutti__cdf_add_dim(&c, "t", 0, NULL));
        CHECK_OK(tutti__cdf_add_var(&c, "a", TUTTI__CDF_DOUBLE, 1, (tutti_count[]){0}, NULL));
        CHECK_OK(tutti__cdf_add_var(&c, "b", TUTTI__CDF_DOUBLE, 1, (tutti_count[]){0}, NULL));
        CHECK_OK(tutti__cdf_add_var(&c, "r", TUTTI__CDF_DOUBLE, 1, (tutti_count[]){1}, NULL));
        CHECK_OK(tutti__cdf_add_var(&c, "s", TUTTI__CDF_DOUBLE, 1, (tutti_count[]){1}, NULL));
        CHECK_OK(tutti__cdf_layout(&c, NULL));
        const tutti_off size = c.record_begin + 2 * c.record_bytes;
        c.records = w->records;
        c.dims[0].length = w->length;
        if (w->var >= 0)
            c.vars[w->var].begin = (w->from < 0 ? 0 : c.vars[w->from].begin) + w->begin;
        CHECK_OK(tutti__cdf_encode(&c, &bytes));
        CHECK_ERR(tutti__cdf_decode(bytes, (size_t)c.header_bytes, size, &back), w->code);
        if (w->code == TUTTI_OK) {
            CHECK_EQ(tutti__cdf_records_in(&back, size), 2);
            CHECK_EQ(tutti__cdf_records_in(&back, size - 1), 1);
            CHECK_EQ(tutti__cdf_records_in(&back, 0), 0);
            tutti__cdf_free(&back);
        }
        tutti__free(bytes);
        tutti__cdf_free(&c);
    }
    check_where("");
}

/* Test large counts in a short header of a file whose size is declared to be large. */
static void test_counts(void) {
    unsigned char h[64];
    tutti__cdf back;
    for (int list = 0; list < 3; list++)
        for (int size = 0; size < 64; size++) {
            memset(h, 0, sizeof h);
            memcpy(h, "CDF\5", 4);
            put_values(h + 12 + 12 * (size_t)list, 4, (uint64_t[]){10, 12, 11}[list]);
            put_values(h + 16 + 12 * (size_t)list, 8, (uint64_t)1 << size);
            const tutti_err e = tutti__cdf_decode(h, sizeof h, INT64_MAX, &back);
            CHECK(e == TUTTI_ERR_TRUNCATED || e == TUTTI_ERR_FORMAT, "%d %d: %s", list, size,
                  tutti_error_name(e));
        }
}

static void test_others(void) {
    static const char hdf5[] = "\211HDF\r\n\032\n and more of it";
    tutti__cdf back;
    CHECK_ERR(tutti__cdf_decode(hdf5, sizeof hdf5, sizeof hdf5, &back), TUTTI_ERR_UNSUPPORTED);
    CHECK(strstr(tutti_last_message(), "nccopy -k cdf5") != NULL);
    CHECK_ERR(tutti__cdf_decode("CDF\3....", 8, 8, &back), TUTTI_ERR_FORMAT);
    CHECK_ERR(tutti__cdf_decode("\x7f"
                                "ELF....",
                                8, 8, &back),
              TUTTI_ERR_FORMAT);
    CHECK_ERR(tutti__cdf_decode("", 0, 0, &back), TUTTI_ERR_FORMAT);
}

/* Write and read a header of some hundred thousand bytes in a file, then set its number of records. */
static void in_files(int version) {
    char path[600], name[40];
    tutti__cdf c, back;
    void *bytes = NULL, *found = NULL;
    size_t n = 0;
    tutti_off size = 0;
    snprintf(path, sizeof path, "%s/t1301.nc", check_dir());
    tutti__cdf_init(&c, version);
    CHECK_OK(tutti__cdf_add_dim(&c, "t", 0, NULL));
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "variable number %d", i);
        CHECK_OK(tutti__cdf_add_var(&c, name, TUTTI__CDF_SHORT, 1, (tutti_count[]){0}, NULL));
    }
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    c.records = -1;
    CHECK_OK(tutti__cdf_encode(&c, &bytes));
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(fd >= 0 && write(fd, bytes, (size_t)c.header_bytes) == c.header_bytes);
    CHECK(ftruncate(fd, c.record_begin + 2 * c.record_bytes + 17) == 0);
    for (int known = 0; known < 2; known++) {
        if (known) CHECK_OK(tutti__cdf_set_records(fd, &c, 2));
        CHECK_OK(tutti__cdf_read_header(path, &found, &n, &size));
        CHECK_EQ(n, c.header_bytes);
        CHECK_OK(tutti__cdf_decode(found, n, size, &back));
        CHECK_EQ(back.records, known ? 2 : -1);
        CHECK_EQ(tutti__cdf_records_in(&back, size), 2);
        CHECK_EQ(tutti__cdf_records_in(&back, c.record_begin + 2 * c.record_bytes - 2), 2);
        CHECK_EQ(tutti__cdf_records_in(&back, c.record_begin + 2 * c.record_bytes - 3), 1);
        tutti__cdf_free(&back);
        tutti__free(found);
    }
    if (version == 1) CHECK_ERR(tutti__cdf_set_records(fd, &c, UINT32_MAX), TUTTI_ERR_OVERFLOW);
    CHECK(ftruncate(fd, 1000) == 0);
    CHECK_ERR(tutti__cdf_read_header(path, &found, &n, &size), TUTTI_ERR_FORMAT);
    CHECK(ftruncate(fd, 0) == 0);
    CHECK_ERR(tutti__cdf_read_header(path, &found, &n, &size), TUTTI_ERR_FORMAT);
    close(fd);
    unlink(path);
    CHECK_ERR(tutti__cdf_read_header(path, &found, &n, &size), TUTTI_ERR_NOT_FOUND);
    tutti__free(bytes);
    tutti__cdf_free(&c);
}

int main(void) {
    check_seed((uint64_t)getpid());
    for (int i = 0; i < 6; i++) harm_bytes((int[]){1, 2, 5}[i % 3]);
    test_places();
    test_counts();
    test_others();
    in_files(1);
    in_files(5);
    return check_done();
}
