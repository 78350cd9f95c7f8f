/* TEST ranks=0 timeout=60 */
/* Errors: the text of the message, which fields are kept and cleared, one error per thread, errno.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include "base/error_impl.h"
#include "check.h"

static void check_message(const char *expected) {
    CHECK(strcmp(tutti_last_message(), expected) == 0, "'%s' is not '%s'", tutti_last_message(),
          expected);
}

static tutti_err refuse_odd(int n) {
    TUTTI_CHECK(n % 2 == 0, TUTTI_ERR_ARG, "%d is odd", n);
    return TUTTI_OK;
}

static tutti_err forward(int n) {
    TUTTI_TRY(refuse_odd(n));
    TUTTI_FAIL(TUTTI_ERR_STATE, "even");
}

static void test_macros(void) {
    CHECK_ERR(forward(3), TUTTI_ERR_ARG);
    check_message("3 is odd");
    CHECK_ERR(forward(4), TUTTI_ERR_STATE);
    check_message("even");
}

static void test_nothing(void) {
    tutti__error_clear();
    CHECK_EQ(tutti_last_error()->code, TUTTI_OK);
    CHECK_EQ(tutti_last_error()->rank, -1);
    CHECK_EQ(tutti_last_error()->offset, -1);
    check_message("");
    tutti__error_context("write", "f", 3); /* no effect: there is no error */
    check_message("");
}

/* Check the message for each combination of known and unknown operation, path, offset and rank. */
static void test_places(void) {
    static const char *const expected[] = {
        "bad",
        "write: bad",
        "'f': bad",
        "write of 'f': bad",
        "at offset 7: bad",
        "write at offset 7: bad",
        "'f' at offset 7: bad",
        "write of 'f' at offset 7: bad",
        "rank 2: bad",
        "write, rank 2: bad",
        "'f', rank 2: bad",
        "write of 'f', rank 2: bad",
        "at offset 7, rank 2: bad",
        "write at offset 7, rank 2: bad",
        "'f' at offset 7, rank 2: bad",
        "write of 'f' at offset 7, rank 2: bad",
    };
    for (int i = 0; i < 16; ++i) {
        tutti__error_set(TUTTI_ERR_IO, 0, i & 4 ? 7 : -1, "bad");
        tutti__error_context(i & 1 ? "write" : NULL, i & 2 ? "f" : NULL, i & 8 ? 2 : -1);
        check_message(expected[i]);
    }
}

static void test_system_errors(void) {
    CHECK_ERR(tutti__error_sys(ENOSPC, 4096, "pwritev"), TUTTI_ERR_NO_SPACE);
    CHECK_EQ(tutti_last_error()->sys_errno, ENOSPC);
    tutti__error_context("write", "out.dat", 3);
    check_message("write of 'out.dat' at offset 4096, rank 3: "
                  "pwritev: No space left on device (ENOSPC)");
    tutti__error_set(TUTTI_ERR_NO_SPACE, ENOSPC, 0, "no space left on the device");
    check_message("at offset 0: no space left on the device (ENOSPC)");
    tutti__error_set(TUTTI_ERR_QUOTA, EDQUOT, -1, "%s", "");
    check_message("disk quota exceeded (EDQUOT)");
    CHECK_ERR(tutti__error_sys(98765, -1, "ioctl"), TUTTI_ERR_IO);
    check_message("ioctl: unknown error (unknown errno)");
}

static void test_errno_codes(void) {
    static const struct {
        int sys_errno;
        tutti_err code;
    } rows[] = {
        {ENOSPC, TUTTI_ERR_NO_SPACE},  {EDQUOT, TUTTI_ERR_QUOTA},
        {EFBIG, TUTTI_ERR_TOO_BIG},    {EACCES, TUTTI_ERR_PERMISSION},
        {EPERM, TUTTI_ERR_PERMISSION}, {EROFS, TUTTI_ERR_READ_ONLY},
        {ENOENT, TUTTI_ERR_NOT_FOUND}, {ENOTDIR, TUTTI_ERR_NOT_FOUND},
        {EEXIST, TUTTI_ERR_EXISTS},    {EISDIR, TUTTI_ERR_IS_DIRECTORY},
        {ENOMEM, TUTTI_ERR_NOMEM},     {EINVAL, TUTTI_ERR_IO},
        {EIO, TUTTI_ERR_IO},           {EOPNOTSUPP, TUTTI_ERR_UNSUPPORTED},
        {EMFILE, TUTTI_ERR_OPEN},      {0, TUTTI_ERR_IO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        CHECK_EQ(tutti__error_from_errno(rows[i].sys_errno), rows[i].code);
}

static void test_context_is_kept(void) {
    tutti__error_set(TUTTI_ERR_IO, 0, -1, "bad");
    tutti__error_context("read", "inner", 5);
    tutti__error_context("write", "outer", 6);
    check_message("read of 'inner', rank 5: bad");
    tutti__error_set(TUTTI_ERR_IO, 0, -1, "worse");
    check_message("worse");
    tutti__error_set(TUTTI_ERR_IO, 0, -1, "again %s", tutti_last_error()->text);
    check_message("again worse");
}

static void test_long_texts(void) {
    char path[600], text[2000];
    memset(path, 'd', sizeof path);
    memcpy(path + sizeof path - 9, "/out.dat", 9);
    memset(text, 't', sizeof text);
    text[sizeof text - 1] = '\0';
    tutti__error_set(TUTTI_ERR_IO, EIO, 1, "%s", text);
    tutti__error_context("a name of an operation that is much too long", path, 1);
    const tutti_error_info *e = tutti_last_error();
    CHECK_EQ(strlen(e->path), sizeof e->path - 1);
    CHECK(strncmp(e->path, "...d", 4) == 0 && strstr(e->path, "/out.dat"), "%s", e->path);
    CHECK_EQ(strlen(e->text), sizeof e->text - 1);
    CHECK_EQ(strlen(e->operation), sizeof e->operation - 1);
    CHECK(strstr(tutti_last_message(), "t (EIO)") != NULL, "%s", tutti_last_message());
    for (size_t i = 0; i + 1 < sizeof path; i += 2) memcpy(path + i, "\xc3\xa4", 2);
    path[sizeof path - 2] = '\0';
    for (int shift = 0; shift < 2; ++shift) {
        tutti__error_set(TUTTI_ERR_IO, 0, -1, "bad");
        path[sizeof path - 2 - shift] = shift ? 'x' : '\0';
        tutti__error_context(NULL, path, -1);
        CHECK_EQ((unsigned char)tutti_last_error()->path[3], 0xc3);
    }
}

static void test_assign(void) {
    tutti_error_info info = {.code = TUTTI_ERR_MPI, .rank = 9, .offset = 12};
    memset(info.text, 'x', sizeof info.text); /* a text from another rank may not be terminated */
    memset(info.path, 'p', sizeof info.path);
    memset(info.operation, 'o', sizeof info.operation);
    tutti__error_assign(&info);
    CHECK_EQ(strlen(tutti_last_error()->text), sizeof info.text - 1);
    CHECK_EQ(tutti_last_error()->rank, 9);
    CHECK(strlen(tutti_last_message()) > 700);
    tutti__error_assign(tutti_last_error());
    CHECK_EQ(tutti_last_error()->code, TUTTI_ERR_MPI);
}

static void test_tables(void) {
#define CHECK_ROW(name, value, text)                              \
    CHECK(strcmp(tutti_strerror((tutti_err)(value)), text) == 0); \
    CHECK(strcmp(tutti_error_name((tutti_err)(value)), "TUTTI_" #name) == 0);
    TUTTI_ERROR_TABLE(CHECK_ROW)
#undef CHECK_ROW
    CHECK(*tutti_strerror((tutti_err)12345) != '\0');
    CHECK(*tutti_error_name((tutti_err)12345) != '\0');
}

static void test_errno_is_left_alone(void) {
    errno = EXDEV;
    tutti__error_sys(EIO, 1, "pwrite");
    tutti__error_set(TUTTI_ERR_ARG, 0, -1, "%d", 3);
    tutti__error_context("a", "b", 3);
    tutti_last_message();
    tutti_strerror(TUTTI_ERR_IO);
    CHECK_EQ(errno, EXDEV);
}

static void *other_thread(void *number) {
    for (int i = 0; i < 1000; ++i) {
        char expected[64];
        CHECK_EQ(i == 0 && tutti_last_error()->code != TUTTI_OK, 0);
        tutti__error_set(TUTTI_ERR_IO, 0, i, "thread %d", *(int *)number);
        snprintf(expected, sizeof expected, "at offset %d: thread %d", i, *(int *)number);
        check_message(expected);
    }
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[4];
    int numbers[4];
    tutti__error_set(TUTTI_ERR_ARG, 0, -1, "mine");
    for (int i = 0; i < 4; ++i) {
        numbers[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, other_thread, &numbers[i]), 0);
    }
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    check_message("mine");
}

/* ---- cleanup */

static tutti_err failing(const char *text) {
    return tutti__error_set(TUTTI_ERR_IO, 0, -1, "%s", text);
}

static tutti_err clean_up(void) {
    TUTTI_KEEP_LAST_ERROR;
    TUTTI_TRY(failing("close")); /* the last error is restored on return */
    return TUTTI_OK;
}

static void test_kept(void) {
    check_where("kept errors");
    (void)tutti__error_set(TUTTI_ERR_QUOTA, 7, 42, "first");
    CHECK_EQ(clean_up(), TUTTI_ERR_IO);
    CHECK(tutti_last_error()->code == TUTTI_ERR_QUOTA && tutti_last_error()->offset == 42 &&
              !strcmp(tutti_last_error()->text, "first"),
          "%s", tutti_last_message());
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        (void)tutti__error_set(TUTTI_ERR_QUOTA, 7, 42, "first");
        {
            TUTTI_KEEP_LAST_ERROR_IF(is_kept);
            CHECK_EQ(failing("second"), TUTTI_ERR_IO);
        }
        CHECK_EQ(tutti_last_error()->code, is_kept ? TUTTI_ERR_QUOTA : TUTTI_ERR_IO);
    }
    int steps = 0;
    CHECK_EQ(TUTTI_ALSO(failing("one"), (steps++, failing("two"))), TUTTI_ERR_IO);
    CHECK(!strcmp(tutti_last_error()->text, "one"), "%s", tutti_last_message());
    CHECK_EQ(TUTTI_ALSO(TUTTI_OK, (steps++, failing("two"))), TUTTI_ERR_IO);
    CHECK(!strcmp(tutti_last_error()->text, "two"), "%s", tutti_last_message());
    CHECK_EQ(TUTTI_ALSO(failing("one"), TUTTI_OK), TUTTI_ERR_IO);
    CHECK_EQ(TUTTI_ALSO(TUTTI_OK, TUTTI_OK), TUTTI_OK);
    CHECK_EQ(steps, 2);
    tutti__error_clear();
}

int main(void) {
    test_nothing();
    test_macros();
    test_places();
    test_system_errors();
    test_errno_codes();
    test_context_is_kept();
    test_long_texts();
    test_assign();
    test_tables();
    test_kept();
    test_errno_is_left_alone();
    test_threads();
    return check_done();
}
