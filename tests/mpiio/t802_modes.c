/* TEST ranks=3 timeout=60 preload=mpiio */
/* Access modes: invalid modes are refused, valid modes have the specified effects; error classes of open are the same
 * on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi_check.h"

static char buf[64];

static int try_open(const char *path, int amode) {
    MPI_File fh = MPI_FILE_NULL;
    const int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &fh);
    if (code == MPI_SUCCESS) {
        CHECK_MPI(MPI_File_close(&fh));
    } else {
        CHECK(fh == MPI_FILE_NULL, "open failed and left a handle");
    }
    return code;
}

static void test_refused(void) {
    const char *path = test_path("refused");
    const int last = rank == size - 1;
    CHECK_CLASS(try_open(path, MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_RDWR | MPI_MODE_RDONLY), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_WRONLY | MPI_MODE_RDONLY), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
    CHECK_CLASS(try_open(path, MPI_MODE_RDWR | 1 << 20), MPI_ERR_AMODE);
    if (size > 1) {
        CHECK_CLASS(try_open(path, MPI_MODE_CREATE | (last ? MPI_MODE_RDWR : MPI_MODE_WRONLY)),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(try_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | (last ? MPI_MODE_APPEND : 0)),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(try_open(path, last ? 0 : MPI_MODE_CREATE | MPI_MODE_RDWR), MPI_ERR_AMODE);
    }
    CHECK(access(path, F_OK) != 0, "a refused open made a file");
}

static void test_trouble(void) {
    MPI_File fh;
    char path[4200];
    CHECK_CLASS(try_open(test_path("absent"), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(try_open(test_path("absent/deeper"), MPI_MODE_RDWR | MPI_MODE_CREATE),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(try_open(getenv("TUTTI_TEST_DIR"), MPI_MODE_RDWR), MPI_ERR_BAD_FILE);
    CHECK_CLASS(try_open("", MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    CHECK_MPI(try_open(test_path("there"), MPI_MODE_RDWR | MPI_MODE_CREATE));
    CHECK_CLASS(try_open(test_path("there"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL),
                MPI_ERR_FILE_EXISTS);
    CHECK_CLASS(try_open(test_path("there/deeper"), MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    snprintf(path, sizeof path, "%s/%0300d", getenv("TUTTI_TEST_DIR"), 1);
    CHECK_CLASS(try_open(path, MPI_MODE_RDWR | MPI_MODE_CREATE), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_NULL, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
                MPI_ERR_COMM);
    CHECK_CLASS(MPI_File_delete(test_path("absent"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    if (geteuid() == 0) return; /* root has all permissions */
    if (rank == 0) chmod(test_path("there"), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(try_open(test_path("there"), MPI_MODE_RDWR), MPI_ERR_ACCESS);
}

static void one_way(void) {
    MPI_Request r;
    int amode = -1;
    MPI_File fh = test_open("there", MPI_MODE_WRONLY);
    CHECK_MPI(MPI_File_write_at_all(fh, 8 * rank, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_read_at(fh, 0, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_read_all(fh, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_iread(fh, buf, 1, MPI_BYTE, &r), MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_read_ordered_begin(fh, buf, 1, MPI_BYTE), MPI_ERR_ACCESS);
    CHECK_MPI(MPI_File_get_amode(fh, &amode));
    CHECK_EQ(amode, MPI_MODE_WRONLY);
    CHECK_MPI(MPI_File_close(&fh));
    fh = test_open("there", MPI_MODE_RDONLY);
    CHECK_EQ(size_of(fh), 8 * size);
    CHECK_CLASS(MPI_File_write_at(fh, 0, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_write_all(fh, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_iwrite_shared(fh, buf, 1, MPI_BYTE, &r), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(fh, 3), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(fh, 3), MPI_ERR_READ_ONLY);
    CHECK_MPI(MPI_File_sync(fh));
    CHECK_MPI(MPI_File_close(&fh));
}

/* In append mode all file pointers begin at the end of the file; explicit offsets count from the beginning. */
static void append_values(void) {
    MPI_File fh = test_open("there", MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset end = size_of(fh);
    CHECK_EQ(position_of(fh), end);
    CHECK_EQ(shared_of(fh), end);
    memset(buf, 'a', sizeof buf);
    CHECK_MPI(MPI_File_write_ordered(fh, buf, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(size_of(fh), end + 4 * size);
    CHECK_MPI(MPI_File_read_at(fh, end + 4 * rank, buf, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(memcmp(buf, "aaaa", 4) == 0, "appended bytes");
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_EQ(position_of(fh), 0);
    CHECK_EQ(shared_of(fh), 0);
    CHECK_MPI(MPI_File_close(&fh));
}

static void test_sequential(void) {
    MPI_Offset at;
    MPI_File fh = test_open("stream", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_CLASS(MPI_File_write(fh, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write_at_all(fh, 0, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position(fh, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_MPI(MPI_File_get_byte_offset(fh, 7, &at));
    CHECK_EQ(at, 7);
    CHECK_CLASS(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_size(fh, 0), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    for (int round = 0; round < 3; round++) { /* each view continues where the previous one ended */
        memset(buf, 'a' + round, sizeof buf);
        CHECK_MPI(MPI_File_write_ordered(fh, buf, 5, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_MPI(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                                    MPI_INFO_NULL));
    }
    CHECK_MPI(MPI_File_close(&fh));
    fh = test_open("stream", MPI_MODE_RDONLY);
    CHECK_EQ(size_of(fh), 15 * size);
    for (int round = 0; round < 3; round++) {
        CHECK_MPI(MPI_File_read_ordered(fh, buf, 5, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int i = 0; i < 5; i++) CHECK_EQ(buf[i], 'a' + round);
    }
    CHECK_MPI(MPI_File_close(&fh));
}

static void gone_after(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s", test_path("short-lived"));
    MPI_File fh =
        test_open("short-lived", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE |
                                     MPI_MODE_UNIQUE_OPEN | MPI_MODE_EXCL);
    CHECK_MPI(MPI_File_write_shared(fh, buf, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_close(&fh));
    CHECK(access(path, F_OK) != 0, "the file is still there");
}

/* Test file names with a file system prefix, as in ROMIO, in open and delete. */
static void test_prefixes(void) {
    char path[4200];
    MPI_File fh;
    snprintf(path, sizeof path, "ufs:%s", test_path("prefixed"));
    CHECK_MPI(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    CHECK_MPI(MPI_File_close(&fh));
    CHECK(access(path + 4, F_OK) == 0, "no file without the prefix");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_MPI(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path + 4, F_OK) != 0, "deletion has left it");
}

/* A file that is not a regular file is opened by the MPI library's own MPI-IO. */
static void test_device(void) {
    MPI_Status status;
    MPI_File fh;
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, "/dev/zero", MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    memset(buf, 1, sizeof buf);
    CHECK_MPI(MPI_File_write_at(fh, 0, buf, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at(fh, 0, buf, 8, MPI_BYTE, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), 8);
    CHECK_EQ(buf[7], 0);
    CHECK_MPI(MPI_File_close(&fh));
}

/* Number of copied attributes: open must not copy those of the program's communicator. */
static int attributes;

static int attribute_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    attributes++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void test_attribute(void) {
    MPI_Comm comm;
    MPI_File fh;
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(attribute_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &attributes);
    CHECK_MPI(MPI_File_open(comm, test_path("attribute"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &fh));
    CHECK_MPI(MPI_File_close(&fh));
    CHECK_EQ(attributes, 0);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

/* Open more files than the limit on file descriptors would allow if each file also had a native handle. */
static void test_many(void) {
    enum { FILES = 40, SLACK = 20 };
    MPI_File fh[FILES];
    struct rlimit was, now;
    const int next = dup(0); /* all smaller descriptors are in use */
    getrlimit(RLIMIT_NOFILE, &was);
    now = was;
    close(next);
    now.rlim_cur = (rlim_t)next + FILES + SLACK;
    CHECK(setrlimit(RLIMIT_NOFILE, &now) == 0, "setrlimit");
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%d", i);
        fh[i] = test_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    }
    for (int i = 0; i < FILES; i++)
        if (fh[i] != MPI_FILE_NULL) CHECK_MPI(MPI_File_close(&fh[i]));
    setrlimit(RLIMIT_NOFILE, &was);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    test_refused();
    test_trouble();
    one_way();
    append_values();
    test_sequential();
    gone_after();
    test_prefixes();
    test_device();
    test_attribute();
    test_many();
    return test_end();
}
