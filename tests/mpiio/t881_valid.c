/* TEST ranks=1 timeout=60 own=1 */
/* The predicates of the drop-in's objects (mpiio_file_is_valid() etc.) detect each damaged relation between fields, and
 * accept undamaged objects.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../mpiio/valid.c"

#include "check.h"

/* Memory whose addresses are only compared. */
static char place[8];
static mpiio_ranks good_ranks(void) {
    return (mpiio_ranks){.comm = MPI_COMM_SELF, .rank = 0, .size = 1, .busy = 1};
}

static mpiio_view good_view(void) {
    return (mpiio_view){.etype = MPI_BYTE,
                        .filetype = MPI_BYTE,
                        .etype_size = 1,
                        .tile_size = 8,
                        .tile_extent = 8,
                        .tile_end = 8,
                        .tiles = (tutti_view *)place,
                        .tile = MPI_DATATYPE_NULL,
                        .plain = 1,
                        .name = "native"};
}

static mpiio_file good_file(mpiio_ranks *ranks, MPI_File native) {
    return (mpiio_file){.native = native,
                        .file = (tutti_file *)place,
                        .ranks = ranks,
                        .amode = MPI_MODE_RDWR,
                        .path = place,
                        .view = good_view(),
                        .shared = (struct mpiio_shared *)place};
}

#define DAMAGED_VIEW(change)             \
    do {                                 \
        mpiio_view v = good_view();      \
        v.change;                        \
        CHECK(!mpiio_view_is_valid(&v)); \
    } while (0)

static void test_views(void) {
    const mpiio_view good = good_view();
    CHECK(mpiio_view_is_valid(&good));
    DAMAGED_VIEW(displacement = -1);
    DAMAGED_VIEW(etype_size = 0);
    DAMAGED_VIEW(tile_size = -8);
    DAMAGED_VIEW(etype = MPI_DATATYPE_NULL);
    DAMAGED_VIEW(filetype = MPI_DATATYPE_NULL);
    DAMAGED_VIEW(tiles = NULL);
    DAMAGED_VIEW(tile_end = 0);
    DAMAGED_VIEW(tile_begin = 4);
    DAMAGED_VIEW(tile_extent = 16);
    DAMAGED_VIEW(name[0] = '\0');
    mpiio_view repeats =
        good_view(); /* a view with repeated bytes has a tile but no list, and is not plain */
    repeats.tiles = NULL;
    repeats.tile = MPI_BYTE;
    CHECK(!mpiio_view_is_valid(&repeats));
    repeats.plain = 0;
    CHECK(mpiio_view_is_valid(&repeats));
}

#define DAMAGED_FILE(change)                      \
    do {                                          \
        mpiio_ranks ranks = good_ranks();         \
        mpiio_file f = good_file(&ranks, native); \
        change;                                   \
        CHECK(!mpiio_file_is_valid(&f));          \
    } while (0)

static void check_files(MPI_File native) {
    mpiio_ranks all = good_ranks();
    mpiio_file good = good_file(&all, native);
    CHECK(mpiio_file_is_valid(&good));
    DAMAGED_FILE(f.native = MPI_FILE_NULL);
    DAMAGED_FILE(f.file = NULL);
    DAMAGED_FILE(f.path = NULL);
    DAMAGED_FILE(f.shared = NULL);
    DAMAGED_FILE(f.ranks = NULL);
    DAMAGED_FILE(f.amode = 0);
    DAMAGED_FILE(f.amode = MPI_MODE_RDONLY | MPI_MODE_WRONLY);
    DAMAGED_FILE(ranks.rank = 1);
    DAMAGED_FILE(ranks.rank = -1);
    DAMAGED_FILE(ranks.busy = 0);
    DAMAGED_FILE(f.position = -1);
    DAMAGED_FILE(f.view.etype_size = 0);
}

#define DAMAGED_REQUEST(change)                                             \
    do {                                                                    \
        mpiio_request q = {.handle = handle, .references = 1, .index = -1}; \
        change;                                                             \
        CHECK(!mpiio_request_is_valid(&q));                                 \
    } while (0)

static void check_requests(MPI_Request handle) {
    mpiio_request good = {.handle = handle, .references = 2, .index = -1};
    good.tutti = (tutti_request *)place;
    CHECK(mpiio_request_is_valid(&good));
    good.tutti = NULL;
    good.code = MPI_ERR_IO;
    atomic_store(&good.settled, 1);
    CHECK(mpiio_request_is_valid(&good));
    DAMAGED_REQUEST(q.references = 0);
    DAMAGED_REQUEST(q.index = -2);
    DAMAGED_REQUEST(q.code = MPI_ERR_IO); /* an error code before the request is complete */
    DAMAGED_REQUEST(q.message = place);
    DAMAGED_REQUEST((q.tutti = (tutti_request *)place, atomic_store(&q.settled, 1)));
    DAMAGED_REQUEST(
        (q.handle = MPI_REQUEST_NULL, q.code = MPI_ERR_IO, atomic_store(&q.settled, 1)));
}

int main(int argc, char **argv) {
    MPI_File native;
    MPI_Request handle;
    int value = 0;
    MPI_Init(&argc, &argv);
    test_views();
    CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &native) ==
          MPI_SUCCESS);
    check_files(native);
    MPI_File_close(&native);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &handle);
    check_requests(handle);
    MPI_Wait(&handle, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return check_done();
}
