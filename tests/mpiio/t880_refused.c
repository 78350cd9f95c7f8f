/* TEST ranks=4 timeout=60 preload=mpiio own=1 */
/* A nonblocking collective is refused on one rank because of its arguments, lack of memory, or because the MPI
 * library cannot create a request.  This rank gets the error immediately and continues; all other ranks get an error of
 * the same class when they complete their requests.  No rank waits forever, and later operations are correct.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>

#include "mpi_check.h"

enum { LENGTH = 3000 };

static char buf[LENGTH], back[LENGTH];

/* ---- failures injected into the drop-in */

#define INSTEAD __attribute__((visibility("default")))
static int no_requests, no_malloc, no_calloc; /* number of calls that fail from now on */

typedef int grequest_fn(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *out);

INSTEAD int PMPI_Grequest_start(MPI_Grequest_query_function *query,
                                MPI_Grequest_free_function *free_fn,
                                MPI_Grequest_cancel_function *cancel, void *state,
                                MPI_Request *out) {
    if (no_requests > 0) {
        no_requests--;
        return MPI_ERR_INTERN;
    }
    grequest_fn *real = (grequest_fn *)dlsym(RTLD_NEXT, "PMPI_Grequest_start");
    return real(query, free_fn, cancel, state, out);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { CAN_FAIL = 1 };
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_malloc(size_t bytes);

static int take_failure(int *left, const void *caller) {
    Dl_info who;
    if (*left == 0 || !dladdr(caller, &who) || !strstr(who.dli_fname, "libtutti-mpiio")) return 0;
    (*left)--;
    return 1;
}

INSTEAD void *calloc(size_t n, size_t bytes) {
    return take_failure(&no_calloc, __builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}

INSTEAD void *malloc(size_t bytes) {
    return take_failure(&no_malloc, __builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}
#else
enum { CAN_FAIL = 0 };
#endif

/* ---- a call is refused on one rank, which makes other calls */

static int same_everywhere(int mpi_class) {
    int least = 0, most = 0;
    MPI_Allreduce(&mpi_class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mpi_class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
}

typedef enum { COUNT, TYPE, NOWHERE, NO_BUFFER, NO_REQUEST, NO_JOB, NO_MEMORY, WAYS } way;
static const char *const names[] = {"count",      "type",   "offset",   "buffer",
                                    "no request", "no job", "no memory"};

static int class_wanted(way w) {
    return w == COUNT       ? MPI_ERR_COUNT
           : w == TYPE      ? MPI_ERR_TYPE
           : w == NOWHERE   ? MPI_ERR_ARG
           : w == NO_BUFFER ? MPI_ERR_BUFFER
                            : MPI_ERR_NO_MEM;
}

static int start_call(MPI_File fh, way w, int refuses, int writes, MPI_Request *r) {
    const int n = refuses && w == COUNT ? -1 : LENGTH;
    const MPI_Datatype type = refuses && w == TYPE ? MPI_DATATYPE_NULL : MPI_BYTE;
    const MPI_Offset at = refuses && w == NOWHERE ? -1 : (MPI_Offset)LENGTH * rank;
    char *data = refuses && w == NO_BUFFER ? NULL : writes ? buf : back;
    no_requests = refuses && w == NO_REQUEST;
    no_malloc = refuses && w == NO_JOB;
    no_calloc = refuses && w == NO_MEMORY;
    const int code = writes ? MPI_File_iwrite_at_all(fh, at, data, n, type, r)
                            : MPI_File_iread_at_all(fh, at, data, n, type, r);
    no_requests = no_malloc = no_calloc = 0;
    return code;
}

/* The rank whose call is refused is in a barrier while all other ranks wait for the operation. */
static void check_refused(MPI_File fh, way w, int who, int writes) {
    static char where[80];
    MPI_Request r = MPI_REQUEST_NULL;
    snprintf(where, sizeof where, "%s refused by rank %d, %s", names[w], who,
             writes ? "writing" : "reading");
    check_where(where);
    int code = start_call(fh, w, rank == who, writes, &r);
    if (rank == who) {
        CHECK(r == MPI_REQUEST_NULL, "a request of something refused");
    } else {
        CHECK_MPI(code);
        code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(class_of(code), class_wanted(w));
    CHECK(same_everywhere(class_of(code)), "ranks have different classes");
}

/* Check that the file can be used after refused calls. */
static void check_file_works(MPI_File fh) {
    MPI_Status status;
    MPI_Request r;
    check_where("afterwards");
    for (int i = 0; i < LENGTH; i++) buf[i] = (char)(rank * 31 + i);
    CHECK_MPI(start_call(fh, COUNT, 0, 1, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, MPI_BYTE), LENGTH);
    CHECK_MPI(MPI_File_read_at_all(fh, (MPI_Offset)LENGTH * rank, back, LENGTH, MPI_BYTE, &status));
    CHECK(memcmp(buf, back, LENGTH) == 0, "other bytes");
}

/* Test several refused operations; the file is closed before all other ranks have got the error. */
static void test_many(void) {
    MPI_Request r[3];
    MPI_File fh = test_open("many", MPI_MODE_CREATE | MPI_MODE_RDWR);
    check_where("many");
    for (int i = 0; i < 3; i++) {
        const int refuses = i == rank % 3;
        const int code = start_call(fh, i == 1 ? COUNT : NO_BUFFER, refuses, 1, &r[i]);
        CHECK_CLASS(code, refuses ? class_wanted(i == 1 ? COUNT : NO_BUFFER) : MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        if (i != rank % 3)
            CHECK_CLASS(MPI_Wait(&r[i], MPI_STATUS_IGNORE),
                        class_wanted(i == 1 ? COUNT : NO_BUFFER));
    CHECK_MPI(MPI_File_close(&fh));
}

/* An independent operation is refused only on its rank, and transfers nothing. */
static void refuse_independent(MPI_File fh) {
    MPI_Request r = MPI_REQUEST_NULL;
    check_where("independent");
    CHECK_MPI(MPI_File_seek(fh, 5, MPI_SEEK_SET));
    no_requests = 1;
    CHECK_CLASS(MPI_File_iwrite(fh, buf, 10, MPI_BYTE, &r), MPI_ERR_NO_MEM);
    CHECK_EQ(position_of(fh), 5);
    CHECK(r == MPI_REQUEST_NULL, "a request of something refused");
}

/* Blocking and split calls return the error class of the lowest rank with an error. */
static void refuse_blocking(MPI_File fh) {
    check_where("blocking");
    const int none = rank == 1, last = rank == size - 1;
    const int count = none ? -1 : 8;
    const MPI_Datatype type = last ? MPI_DATATYPE_NULL : MPI_BYTE;
    CHECK_CLASS(MPI_File_write_at_all(fh, 0, buf, count, type, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_read_ordered(fh, buf, count, type, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_write_all_begin(fh, last ? NULL : buf, 8, MPI_BYTE), MPI_ERR_BUFFER);
    char text[MPI_MAX_ERROR_STRING + 1];
    int n = 0;
    CHECK_MPI(MPI_Error_string(MPI_ERR_BUFFER, text, &n));
    CHECK(strstr(text, "argument buf is NULL") && strstr(text, "rank 3"), "'%s'", text);
    CHECK_CLASS(MPI_File_set_view(fh, none ? -1 : 0, last ? MPI_DATATYPE_NULL : MPI_BYTE, MPI_BYTE,
                                  "native", MPI_INFO_NULL),
                class_of(MPI_ERR_ARG) > class_of(MPI_ERR_TYPE) ? MPI_ERR_ARG : MPI_ERR_TYPE);
    CHECK(same_everywhere(class_of(MPI_File_seek_shared(fh, 0, none ? 4711 : MPI_SEEK_SET))),
          "different classes");
    MPI_File other;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, none ? "" : test_path("refused"),
                              last ? MPI_MODE_RDONLY | MPI_MODE_CREATE : MPI_MODE_RDWR,
                              MPI_INFO_NULL, &other),
                class_of(MPI_ERR_AMODE) > class_of(MPI_ERR_NO_SUCH_FILE) ? MPI_ERR_AMODE
                                                                         : MPI_ERR_NO_SUCH_FILE);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    MPI_File fh = test_open("refused", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (way w = COUNT; w < WAYS; w++)
        for (int who = w == COUNT ? 0 : (int)w % size; who < size; who += size - 1)
            for (int writes = 0; writes < 2; writes++)
                if (CAN_FAIL || w < NO_JOB) check_refused(fh, w, who, writes);
    refuse_independent(fh);
    refuse_blocking(fh);
    check_file_works(fh);
    CHECK_MPI(MPI_File_close(&fh));
    test_many();
    return test_end();
}
