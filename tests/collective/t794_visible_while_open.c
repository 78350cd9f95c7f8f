/* TEST ranks=2,3 timeout=60 own=1 */
/* Ranks read and overwrite data that other ranks have just written to the same open file: every read
 * returns the latest write.  t793_gluster.sh runs this test across hosts whose clients cache pages and
 * delay writes.  With the argument `all` it also reports two effects of such caches on other programs,
 * which are not errors: a wrong file size after close, and a failed open of a name used before.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "collective/model.h"

enum { PIECE = 4096, PIECES = 128 };
static const char *const methods[] = {"two-phase", "list", "independent", "auto"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static int rank, ranks, sizes, names;

/* Make an access to pieces; each turn moves them from a rank to the previous rank. */
static tutti_access *pieces_of(int turn) {
    tutti_access *a = NULL;
    const tutti_off first = (rank + turn) % ranks;
    CHECK_OK(tutti_access_vector(first * PIECE, PIECES, PIECE, (tutti_off)PIECE * ranks, &a));
    return a;
}

static void expected(int version, int turn, char *out) {
    for (int i = 0; i < PIECES; i++)
        memset(out + i * PIECE, 1 + (version * 31 + i * ranks + (rank + turn) % ranks) % 255,
               PIECE);
}

static void write_turn(tutti_file *f, int version, int turn) {
    static char buf[PIECE * PIECES];
    tutti_access *a = pieces_of(turn);
    expected(version, turn, buf);
    CHECK_OK(tutti_file_write(f, a, buf, NULL));
    tutti_access_free(&a);
}

static void read_turn(tutti_file *f, int version, int turn) {
    static char buf[PIECE * PIECES], want[PIECE * PIECES];
    tutti_off count = -1;
    tutti_access *a = pieces_of(turn);
    memset(buf, 0, sizeof buf);
    expected(version, turn, want);
    CHECK_OK(tutti_file_read(f, a, buf, &count));
    CHECK_EQ(count, PIECE * PIECES);
    CHECK(memcmp(buf, want, sizeof want) == 0, "version %d is not what is read in turn %d", version,
          turn);
    tutti_access_free(&a);
}

/* Write seven versions of the whole file and read them. */
static void overwrite_file(const tutti_options *opt, const char *path) {
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    tutti_file *f = NULL;
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, mode, opt, &f));
    if (!f) return;
    for (int version = 1; version < 8; version++) {
        write_turn(f, version, version);
        if (version % 2) read_turn(f, version, version + 1);
    }
    read_turn(f, 7, 3);
    CHECK_OK(tutti_file_close(&f));
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, opt, &f));
    if (f) read_turn(f, 7, 5);
    if (f) CHECK_OK(tutti_file_close(&f));
}

/* Count a file size that another program would find wrong. */
static void check_contents(const char *path) {
    struct stat st;
    sizes += stat(path, &st) != 0 || st.st_size != (off_t)PIECE * PIECES * ranks;
}

static void reuse_name(const tutti_options *opt, const char *path) {
    tutti_file *f = NULL;
    if (rank == 0) CHECK_OK(tutti_file_delete(path, opt));
    MPI_Barrier(MPI_COMM_WORLD);
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    if (tutti_file_open(MPI_COMM_WORLD, path, mode, opt, &f) != TUTTI_OK)
        names++;
    else
        CHECK_OK(tutti_file_close(&f));
}

static void print_result(const char *what, int local) {
    int all = 0;
    MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("shared: %s: %d\n", what, all);
}

int main(int argc, char **argv) {
    char dir[512], path[600];
    tutti_options opt;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int all = argc > 1 && strcmp(argv[1], "all") == 0;
    snprintf(dir, sizeof dir, "%s", scratch_path("shared"));
    CHECK_OK(tutti_options_init(&opt));
    for (int i = 0; i < METHODS; i++) {
        snprintf(path, sizeof path, "%s.%d", dir, i);
        check_where(methods[i]);
        CHECK_OK(tutti_options_set(&opt, "method", methods[i]));
        overwrite_file(&opt, path);
        MPI_Barrier(MPI_COMM_WORLD);
        if (all) check_contents(path);
        if (all) reuse_name(&opt, path);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) unlink(path);
    }
    check_where("");
    if (all) print_result("ranks that saw another size after the close", sizes);
    if (all) print_result("ranks that could not use a name again", names);
    const int rc = check_done_all();
    if (rank == 0 && argc > 1) printf("shared: %s: %d ranks\n", rc ? "failed" : "passed", ranks);
    fflush(stdout);
    MPI_Finalize();
    return rc;
}
