/* TEST ranks=3 timeout=60 builds=openmpi,mpich preload=mpiio */
/* Split collectives overlap: on a slow store begin returns long before the bytes are in the file, and end
 * waits for them; what is computed meanwhile costs nothing.  Reads fetch their bytes meanwhile.
 * Non-blocking collectives do so too, as far as they have got before the computation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio/requests.h"

enum { PIECE = 500, PIECES = 60, LENGTH = PIECE * PIECES };
static const char slow[] = "tutti_fault=*:slow:400 tutti_background=io-only tutti_window_size=1g";

static char data[LENGTH], wanted[LENGTH];

static void view_set(MPI_File f) {
    MPI_Datatype piece, type;
    MPI_Type_contiguous(PIECE, MPI_CHAR, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &type);
    MPI_Type_commit(&type);
    CHECK_MPI(
        MPI_File_set_view(f, (MPI_Offset)PIECE * rank, MPI_CHAR, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
}

static void fill(void) {
    for (int i = 0; i < LENGTH; i++) data[i] = wanted[i] = (char)mark(rank, 0, 0, i);
}

/* The store takes 0.4 s, and so does the computation.  A busy machine may need another try. */
enum { TRIES = 4 };

static int together(const char *what, double start, double begun, double ended, int last) {
    double worst[2] = {begun - start, ended - start};
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(worst[1] > 0.38, "%s: %g s, the store is not slow", what, worst[1]);
    const int good = worst[0] < 0.25 && worst[1] < 0.65;
    CHECK(good || !last, "%s: begin took %g s, all %g s", what, worst[0], worst[1]);
    return good;
}

static int split(MPI_File f, int kind, int last) {
    static const char *const names[] = {"write_all", "write_at_all", "read_all", "read_at_all"};
    MPI_Status s;
    const int is_read = kind >= 2;
    fill();
    if (is_read) memset(data, 0, sizeof data);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (kind == 0) CHECK_MPI(MPI_File_write_all_begin(f, data, LENGTH, MPI_CHAR));
    if (kind == 1) CHECK_MPI(MPI_File_write_at_all_begin(f, 0, data, LENGTH, MPI_CHAR));
    if (kind == 2) CHECK_MPI(MPI_File_read_all_begin(f, data, LENGTH, MPI_CHAR));
    if (kind == 3) CHECK_MPI(MPI_File_read_at_all_begin(f, 0, data, LENGTH, MPI_CHAR));
    const double begun = MPI_Wtime();
    usleep(400000);
    if (kind == 0) CHECK_MPI(MPI_File_write_all_end(f, data, &s));
    if (kind == 1) CHECK_MPI(MPI_File_write_at_all_end(f, data, &s));
    if (kind == 2) CHECK_MPI(MPI_File_read_all_end(f, data, &s));
    if (kind == 3) CHECK_MPI(MPI_File_read_at_all_end(f, data, &s));
    const double ended = MPI_Wtime();
    CHECK_EQ(bytes_of(&s), LENGTH);
    CHECK(memcmp(data, wanted, LENGTH) == 0, "%s: bytes differ", names[kind]);
    return together(names[kind], start, begun, ended, last);
}

/* Every rank tests until all have come together; then the file is left to itself. */
static int non_blocking(MPI_File f, int last) {
    MPI_Request r;
    MPI_Status s;
    int flag = 0;
    fill();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    CHECK_MPI(MPI_File_iwrite_at_all(f, 0, data, LENGTH, MPI_CHAR, &r));
    while (MPI_Wtime() - start < 0.15) MPI_Test(&r, &flag, &s);
    CHECK(!flag, "complete already");
    const double begun = MPI_Wtime();
    usleep(400000);
    CHECK_MPI(MPI_Wait(&r, &s));
    CHECK_EQ(bytes_of(&s), LENGTH);
    return together("iwrite_at_all", start, begun, MPI_Wtime(), last);
}

/* What was written is there. */
static void file_check(const char *path) {
    static char v[LENGTH];
    const int fd = open(path, O_RDONLY);
    for (int i = 0; i < PIECES; i++)
        CHECK_EQ(pread(fd, v + i * PIECE, PIECE, ((off_t)i * ranks + rank) * PIECE), PIECE);
    CHECK(memcmp(v, wanted, LENGTH) == 0, "the file differs");
    close(fd);
}

int main(int argc, char **argv) {
    requests_begin(&argc, &argv, MPI_THREAD_SINGLE, 827);
    const char *path = scratch("overlap");
    MPI_File f = open_with(path, slow);
    view_set(f);
    for (int kind = 0; kind < 4; kind++)
        for (int i = 1; i <= TRIES && !split(f, kind, i == TRIES); i++) continue;
    file_check(path);
    for (int i = 1; i <= TRIES && !non_blocking(f, i == TRIES); i++) continue;
    CHECK_MPI(MPI_File_close(&f));
    remove_file(path);
    return requests_end();
}
