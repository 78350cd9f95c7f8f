/* TEST ranks=2 timeout=60 preload=mpiio */
/* More than INT_MAX bytes in one call: reads request 3 GiB of a small file, by a count (MPI_Count if the MPI library
 * has such calls) or by a datatype; blocking, nonblocking and split, independent and collective.  With
 * TUTTI_TEST_TIER=full, 2.5 GiB are written and verified.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>
#include <unistd.h>
#include "mpi_check.h"

enum { THERE = 5000, MIB = 1 << 20 };
static const size_t ASKED = (size_t)3 << 30;

/* virtual memory for 3 GiB, of which only the parts that are read are used */
static unsigned char *memory;
static MPI_Datatype huge;

static void check_read(const MPI_Status *st, int from, const char *what) {
    int wrong = 0;
    CHECK(count_of(st, MPI_BYTE) == THERE - from, "%s: %d bytes", what, count_of(st, MPI_BYTE));
    CHECK(count_of(st, huge) == MPI_UNDEFINED, "%s: no whole element", what);
    for (int i = from; i < THERE; i++) wrong += memory[i - from] != (unsigned char)(i * 3);
    wrong += memory[THERE - from] != 0;
    CHECK(wrong == 0, "%s: %d bytes are wrong", what, wrong);
    memset(memory, 0, THERE + 1);
}

static void read_by_type(MPI_File fh) {
    MPI_Status st;
    MPI_Request r;
    CHECK_MPI(MPI_File_read_at(fh, 100, memory, 1, huge, &st));
    check_read(&st, 100, "read_at");
    CHECK_MPI(MPI_File_read_at_all(fh, 7, memory, 1, huge, &st));
    check_read(&st, 7, "read_at_all");
    CHECK_MPI(MPI_File_iread_at(fh, 8, memory, 1, huge, &r));
    CHECK_MPI(MPI_Wait(&r, &st));
    check_read(&st, 8, "iread_at");
    CHECK_MPI(MPI_File_iread_at_all(fh, 9, memory, 1, huge, &r));
    CHECK_MPI(MPI_Wait(&r, &st));
    check_read(&st, 9, "iread_at_all");
    CHECK_MPI(MPI_File_read_at_all_begin(fh, 10, memory, 1, huge));
    CHECK_MPI(MPI_File_read_at_all_end(fh, memory, &st));
    check_read(&st, 10, "read_at_all_end");
}

static void read_by_count(MPI_File fh) {
#if MPI_VERSION >= 4
    MPI_Status st;
    MPI_Request r;
    const MPI_Count n = (MPI_Count)ASKED;
    CHECK_MPI(MPI_File_read_at_c(fh, 100, memory, n, MPI_BYTE, &st));
    check_read(&st, 100, "read_at_c");
    CHECK_MPI(MPI_File_read_at_all_c(fh, 7, memory, n, MPI_BYTE, &st));
    check_read(&st, 7, "read_at_all_c");
    CHECK_MPI(MPI_File_seek(fh, 11, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_all_c(fh, memory, n, MPI_BYTE, &st));
    check_read(&st, 11, "read_all_c");
    CHECK_MPI(MPI_File_iread_at_c(fh, 8, memory, n, MPI_BYTE, &r));
    CHECK_MPI(MPI_Wait(&r, &st));
    check_read(&st, 8, "iread_at_c");
    CHECK_MPI(MPI_File_read_at_all_begin_c(fh, 10, memory, n, MPI_BYTE));
    CHECK_MPI(MPI_File_read_at_all_end(fh, memory, &st));
    check_read(&st, 10, "read_at_all_end");
    /* n elements have 9 * 2^60 bytes */
    CHECK_CLASS(MPI_File_read_at_c(fh, 0, memory, n, huge, &st), MPI_ERR_ARG);
#else
    (void)fh;
#endif
}

/* Write one MiB of memory 2560 times per rank, in one call. */
static void write_large(MPI_File fh) {
    const MPI_Offset bytes = (MPI_Offset)2560 * MIB;
    MPI_Datatype again;
    MPI_Status st;
    MPI_Count told = 0;
    const char *tier = getenv("TUTTI_TEST_TIER");
    if (!tier || strcmp(tier, "full") != 0) return;
    for (int i = 0; i < MIB; i++) memory[i] = (unsigned char)(i * 3 + rank);
    MPI_Type_create_hvector(2560, MIB, 0, MPI_BYTE, &again);
    MPI_Type_commit(&again);
    CHECK_MPI(MPI_File_write_at_all(fh, rank * bytes, memory, 1, again, &st));
    MPI_Get_elements_x(&st, MPI_BYTE, &told);
    CHECK_EQ(told, bytes);
    CHECK_EQ(count_of(&st, again), 1);
    CHECK_MPI(MPI_File_sync(fh));
    CHECK_EQ(size_of(fh), size * bytes);
    for (int i = 0; i < 20; i++) {
        const MPI_Offset at = rank * bytes + (MPI_Offset)i * 128 * MIB + i * 1000;
        unsigned char seen[100];
        CHECK_MPI(MPI_File_read_at(fh, at, seen, 100, MPI_BYTE, &st));
        for (int k = 0; k < 100; k++) CHECK_EQ(seen[k], (unsigned char)((i * 1000 + k) * 3 + rank));
    }
    MPI_Type_free(&again);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    memory = mmap(NULL, ASKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED) return test_end() ? 1 : 77;
    MPI_Datatype mib;
    MPI_Type_contiguous(MIB, MPI_BYTE, &mib);
    MPI_Type_contiguous(3072, mib, &huge);
    MPI_Type_commit(&huge);
    MPI_File fh = test_open("counts", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < THERE; i++) memory[i] = (unsigned char)(i * 3);
    if (rank == 0) CHECK_MPI(MPI_File_write_at(fh, 0, memory, THERE, MPI_BYTE, MPI_STATUS_IGNORE));
    memset(memory, 0, THERE);
    CHECK_MPI(MPI_File_sync(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    read_by_type(fh);
    read_by_count(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    write_large(fh);
    CHECK_MPI(MPI_File_close(&fh));
    MPI_Type_free(&huge);
    MPI_Type_free(&mib);
    munmap(memory, ASKED);
    return test_end();
}
