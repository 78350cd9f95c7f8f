/* TEST ranks=3 timeout=60 preload=mpiio */
/* Errors of nonblocking operations call the error handler of the file, with the file handle and the error class, and
 * are returned by the completing call as the standard requires: as its code, or as MPI_ERR_IN_STATUS with the
 * classes in the statuses.  The handler of MPI_COMM_WORLD, which would abort, is not called.  Messages in the same
 * list are not affected.  If requests are freed before they are complete, their operations are complete when the
 * file has been closed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { LENGTH = 10000, OPS = 3, LIST = OPS + 1 };

static char data[OPS][LENGTH];
static MPI_File broken;
static MPI_Request list[LIST];
static int called, strange; /* number of calls of the handler, and of calls with wrong arguments */
static int ended, wanted_class; /* number of completed requests; expected error class */

static void handler(MPI_File *f, int *code, ...) {
    called++;
    if (*f != broken || class_of(*code) != wanted_class) strange++;
}

/* Open a file whose writes fail on rank 0. */
static void open_broken(const char *error) {
    char fault[64];
    snprintf(fault, sizeof fault, "tutti_fault=0:write:1:%s", error);
    broken = open_with(scratch("errors"), fault);
}

static void start_all(void) {
    for (int i = 0; i < OPS; i++)
        CHECK_MPI(MPI_File_iwrite_at_all(broken, ((MPI_Offset)i * ranks + rank) * LENGTH, data[i],
                                         LENGTH, MPI_CHAR, &list[i]));
    MPI_Irecv(&list, 0, MPI_CHAR, 0, 1, MPI_COMM_SELF, &list[OPS]);
    MPI_Send(&list, 0, MPI_CHAR, 0, 1, MPI_COMM_SELF);
}

static void on_completion(int i, const MPI_Status *status, int code) {
    (void)status;
    ended++;
    if (i < OPS)
        CHECK_EQ(class_of(code), wanted_class);
    else
        CHECK_EQ(code, MPI_SUCCESS);
}

/* Complete the requests with each completion call of MPI. */
static void by_each_way(void) {
    static char where[40];
    const waiting w = {list, LIST, on_completion};
    for (int way = 0; way < WAYS; way++) {
        if (way == 2) continue; /* MPI_Request_get_status does not complete requests */
        snprintf(where, sizeof where, "way %d, class %d", way, wanted_class);
        check_where(where);
        called = strange = ended = 0;
        start_all();
        for (int i = 0; !all_null(&w); i = (i + 1) % LIST)
            if (way > 1 || list[i] != MPI_REQUEST_NULL) wait_by(&w, way, way < 2 ? i : 0, LIST);
        CHECK_EQ(ended, LIST);
        CHECK_EQ(called, OPS);
        CHECK_EQ(strange, 0);
    }
}

/* Without statuses, only the code is returned. */
static void test_ignored(void) {
    int n = 0, at[LIST], left = LIST, code = MPI_SUCCESS;
    check_where("statuses ignored");
    start_all();
    CHECK_CLASS(MPI_Wait(&list[0], MPI_STATUS_IGNORE), wanted_class);
    CHECK_CLASS(MPI_Waitall(LIST, list, statuses_ignored()), MPI_ERR_IN_STATUS);
    start_all();
    called = 0;
    while (left > 0) {
        const int c = MPI_Waitsome(LIST, list, &n, at, statuses_ignored());
        if (c != MPI_SUCCESS) code = class_of(c);
        left -= n;
    }
    CHECK_EQ(code, MPI_ERR_IN_STATUS);
    CHECK_EQ(called, OPS);
}

/* MPI_Request_get_status does not complete a request: the error is returned once, by the completing call. */
static void check_get_status(void) {
    int flag = 0;
    MPI_Status s;
    check_where("looked at");
    start_all();
    called = 0;
    while (!flag) CHECK_MPI(MPI_Request_get_status(list[1], &flag, &s));
    CHECK_MPI(MPI_Request_get_status(list[1], &flag, MPI_STATUS_IGNORE));
    CHECK(flag, "complete no longer");
    CHECK_MPI(MPI_Cancel(&list[1]));
    CHECK_EQ(called, 0);
    CHECK_CLASS(MPI_Wait(&list[1], &s), wanted_class);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag, "nothing can be cancelled");
    CHECK_EQ(called, 1);
    CHECK_CLASS(MPI_Waitall(LIST, list, statuses_ignored()), MPI_ERR_IN_STATUS);
}

static void with_error(const char *error, int class) {
    MPI_Errhandler h;
    wanted_class = class;
    open_broken(error);
    start_all(); /* MPI_ERRORS_RETURN is the default */
    called = 0;
    CHECK_CLASS(MPI_Waitall(LIST, list, statuses_ignored()), MPI_ERR_IN_STATUS);
    CHECK_EQ(called, 0);
    MPI_File_create_errhandler(handler, &h);
    CHECK_MPI(MPI_File_set_errhandler(broken, h));
    MPI_Errhandler_free(&h);
    by_each_way();
    test_ignored();
    check_get_status();
    CHECK_MPI(MPI_File_close(&broken));
    remove_file(scratch("errors"));
}

/* An independent operation fails only on its rank. */
static void test_independent(void) {
    MPI_Request r;
    check_where("independent");
    open_broken("ENOSPC");
    CHECK_MPI(MPI_File_iwrite_at(broken, (MPI_Offset)rank * LENGTH, data[0], LENGTH, MPI_CHAR, &r));
    CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), rank == 0 ? MPI_ERR_NO_SPACE : MPI_SUCCESS);
    CHECK_MPI(MPI_File_close(&broken));
    remove_file(scratch("errors"));
}

/* ---- requests freed before completion */

static void file_check(const char *path, int length) {
    char *v = malloc((size_t)length * 2);
    const int fd = open(path, O_RDONLY);
    CHECK_EQ(pread(fd, v, (size_t)length * 2, 0), length * 2);
    for (int i = 0; i < 2 * length; i++)
        if (v[i] != (char)mark(i / length, 0, 0, i % length)) {
            CHECK(0, "byte %d", i);
            break;
        }
    close(fd);
    free(v);
}

static void free_pending_requests(const char *hints) {
    const char *path = scratch("freed");
    const int total = LENGTH * ranks;
    check_where(hints);
    MPI_File f = open_with(path, hints);
    for (int op = 0; op < 2; op++) {
        MPI_Request r;
        for (int i = 0; i < LENGTH; i++) data[op][i] = (char)mark(op, 0, 0, rank * LENGTH + i);
        if (op == 0)
            CHECK_MPI(MPI_File_iwrite_at_all(f, (MPI_Offset)rank * LENGTH, data[op], LENGTH,
                                             MPI_CHAR, &r));
        else
            CHECK_MPI(MPI_File_iwrite_at(f, (MPI_Offset)total + rank * LENGTH, data[op], LENGTH,
                                         MPI_CHAR, &r));
        CHECK_MPI(MPI_Request_free(&r));
        CHECK(r == MPI_REQUEST_NULL, "the handle stays");
    }
    CHECK_MPI(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    file_check(path, total);
    remove_file(path);
}

/* Request handles are reused while the operations are still pending. */
static void test_recycled(void) {
    MPI_Request r[64];
    char in[64], out = 1;
    check_where("recycled");
    MPI_File f = open_with(scratch("freed"), "tutti_fault=*:slow:50 tutti_background=io-only");
    for (int round = 0; round < 3; round++) {
        CHECK_MPI(
            MPI_File_iwrite_at_all(f, (MPI_Offset)rank * LENGTH, data[0], LENGTH, MPI_CHAR, &r[0]));
        CHECK_MPI(MPI_Request_free(&r[0]));
        for (int i = 0; i < 64; i++) MPI_Irecv(&in[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &r[i]);
        for (int i = 0; i < 64; i++) MPI_Send(&out, 1, MPI_CHAR, 0, i, MPI_COMM_SELF);
        CHECK_MPI(MPI_Waitall(64, r, statuses_ignored()));
    }
    CHECK_MPI(MPI_File_close(&f));
    remove_file(scratch("freed"));
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 824);
    with_error("ENOSPC", MPI_ERR_NO_SPACE);
    with_error("EDQUOT", MPI_ERR_QUOTA);
    test_independent();
    free_pending_requests("");
    free_pending_requests("tutti_background=io-only");
    free_pending_requests("tutti_background=none");
    test_recycled();
    return requests_end();
}
