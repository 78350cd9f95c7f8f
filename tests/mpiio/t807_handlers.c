/* TEST ranks=2 timeout=60 own=1 preload=mpiio */
/* Error handlers: of a file, of MPI_FILE_NULL, inherited at open; their arguments;
 * MPI_Error_string; handles to and from Fortran.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_check.h"

static int calls, last_class;
static MPI_File last_file;

static void note_event(MPI_File *fh, int *code, ...) {
    calls++;
    last_file = *fh;
    last_class = class_of(*code);
}

static void change_code(MPI_File *fh, int *code, ...) {
    note_event(fh, code);
    *code = MPI_ERR_QUOTA;
}

static void check_expected(int n, int mpi_class, MPI_File fh) {
    CHECK_EQ(calls, n);
    if (n > 0) {
        CHECK_EQ(last_class, mpi_class);
        CHECK(last_file == fh, "another file");
    }
    calls = 0;
}

static void of_a_file(MPI_Errhandler noting) {
    char byte = 0;
    MPI_Errhandler found;
    MPI_Request r;
    MPI_File fh = test_open("handlers", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK_MPI(MPI_File_get_errhandler(fh, &found));
    CHECK(found == MPI_ERRORS_RETURN, "errors do not return");
    MPI_Errhandler_free(&found);
    CHECK_MPI(MPI_File_set_errhandler(fh, noting));
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_CLASS(MPI_File_write_at_all(fh, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_expected(1, MPI_ERR_ARG, fh);
    CHECK_CLASS(MPI_File_iread_at(fh, 0, &byte, 1, MPI_BYTE, &r), MPI_ERR_ACCESS);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_MPI(MPI_File_write(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    check_expected(0, 0, fh);
    MPI_File_call_errhandler(fh, MPI_ERR_QUOTA);
    check_expected(1, MPI_ERR_QUOTA, fh);
    CHECK(MPI_File_f2c(MPI_File_c2f(fh)) == fh, "there and back");
    CHECK_MPI(MPI_File_close(&fh));
    check_expected(0, 0, fh);
}

/* A failed open calls the handler of MPI_FILE_NULL, and opened files inherit this handler, also if their handles are
 * used again. */
static void of_no_file(MPI_Errhandler noting) {
    MPI_File fh;
    char byte = 0;
    CHECK_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, noting));
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, test_path("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
        MPI_ERR_NO_SUCH_FILE);
    check_expected(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_delete(test_path("absent"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    check_expected(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    fh = test_open("handlers", MPI_MODE_WRONLY);
    MPI_File other = test_open("handlers", MPI_MODE_WRONLY);
    CHECK_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_read(other, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_expected(1, MPI_ERR_ACCESS, other);
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_MPI(MPI_File_close(&other));
    CHECK_MPI(MPI_File_close(&fh));
    fh = test_open("handlers", MPI_MODE_WRONLY);
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_expected(0, 0, fh);
    CHECK_MPI(MPI_File_close(&fh));
}

/* MPICH returns the code changed by a handler, Open MPI the original code. */
static void check_changed_code(MPI_Errhandler noting) {
    MPI_Errhandler changing;
    MPI_File fh = test_open("handlers", MPI_MODE_WRONLY), other;
    MPI_Request r;
    char byte = 0;
#ifdef MPICH_VERSION
    const int access = MPI_ERR_QUOTA, absent = MPI_ERR_QUOTA;
#else
    const int access = MPI_ERR_ACCESS, absent = MPI_ERR_NO_SUCH_FILE;
#endif
    CHECK_MPI(MPI_File_create_errhandler(change_code, &changing));
    CHECK_MPI(MPI_File_set_errhandler(fh, changing));
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), access);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_CLASS(MPI_File_iread_at_all(fh, 0, &byte, 1, MPI_BYTE, &r), access);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, changing));
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, test_path("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &other),
        absent);
    check_expected(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL);
    CHECK_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_MPI(MPI_Errhandler_free(&changing)); /* the file still uses the handler */
    CHECK_MPI(MPI_File_create_errhandler(note_event, &changing));
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), access);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_MPI(MPI_File_set_errhandler(fh, changing));
    CHECK_CLASS(MPI_File_read(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_expected(1, MPI_ERR_ACCESS, fh);
    CHECK_MPI(MPI_Errhandler_free(&changing));
    CHECK_MPI(MPI_File_set_errhandler(fh, noting));
    CHECK_MPI(MPI_File_close(&fh));
}

static void test_words(void) {
    char text[MPI_MAX_ERROR_STRING + 1];
    int n = 0;
    MPI_File fh;
    const int code =
        MPI_File_open(MPI_COMM_WORLD, test_path("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    CHECK_MPI(MPI_Error_string(code, text, &n));
    CHECK_EQ(n, strlen(text));
    CHECK(strstr(text, "absent"), "'%s' does not name the file", text);
    CHECK_MPI(MPI_Error_string(MPI_ERR_TRUNCATE, text, &n));
    CHECK(!strstr(text, "absent"), "'%s' is about something else", text);
}

int main(int argc, char **argv) {
    MPI_Errhandler noting;
    test_begin(&argc, &argv);
    MPI_File_create_errhandler(note_event, &noting);
    of_a_file(noting);
    of_no_file(noting);
    check_changed_code(noting);
    test_words();
    MPI_Errhandler_free(&noting);
    return test_end();
}
