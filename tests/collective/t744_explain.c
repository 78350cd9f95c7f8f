/* TEST ranks=2,3 timeout=60 */
/* Profiles at open: rank 0's values are used on all ranks, an unusable profile does not make open
 * fail, and tutti_file_explain reports the candidates.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <mpi.h>
#include <tutti/tutti.h>
#include <unistd.h>
#include "base/memory.h"
#include "check.h"

static int rank, ranks;
static char file[256], profile[256];

static void write_profile(const char *text) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        FILE *f = fopen(profile, "w");
        CHECK(f && fputs(text, f) >= 0, "cannot write %s", profile);
        if (f) fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static tutti_options options(const char *name) {
    tutti_options opt;
    tutti_options_defaults(&opt);
    /* the profile is set on rank 0 only */
    CHECK_OK(tutti_options_set(&opt, "profile", rank == 0 ? name : ""));
    return opt;
}

/* Write pieces with the profile `name`; store the text of tutti_file_explain in `how`. */
static void write_by(const char *name, int explain, char how[256]) {
    enum { PIECE = 4096, PIECES = 64 };
    static char buf[PIECE * PIECES];
    tutti_options opt = options(name);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    opt.explain = explain;
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, file, TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    CHECK_OK(
        tutti_access_vector((tutti_off)PIECE * rank, PIECES, PIECE, (tutti_off)PIECE * ranks, &a));
    CHECK_OK(tutti_file_write(f, a, buf, NULL));
    snprintf(how, 256, "%s", tutti_file_explain(f));
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

static void test_choice(void) {
    char how[256], first[256];
    write_profile("version = 1\n[machine]\ncopy_64 = 1000\ncopy_512 = 1000\ncopy_4k = 1000\n");
    write_by(profile, 0, how);
    CHECK(strncmp(how, "list: ", 6) == 0, "%s", how);
    memcpy(first, how, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(strcmp(first, how) == 0, "%s, rank 0: %s", how, first);
    tutti_filesystem place;
    tutti_profile p;
    CHECK_OK(tutti_profile_filesystem(".", &place));
    tutti_profile_defaults(&p, place.type);
    p.write_one_64 = p.write_one_512 = p.write_one_4k = 1e4;
    p.write_all_64 = p.write_all_512 = p.write_all_4k = 1e4;
    if (rank == 0) CHECK_OK(tutti_profile_save(profile, &place, &p));
    write_by(profile, 0, how);
    CHECK(strncmp(how, "two-phase: ", 11) == 0, "%s", how);
}

/* Write with the profile `name`; store the standard error of rank 0 in `text`. */
static void said_by(const char *name, char how[256], char text[4096]) {
    const char *log = "t744.log";
    fflush(stderr);
    memset(text, 0, 4096);
    if (rank > 0) {
        write_by(name, 1, how);
        return;
    }
    const int kept = dup(STDERR_FILENO), to = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(to, STDERR_FILENO);
    write_by(name, 1, how);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    CHECK(pread(to, text, 4095, 0) > 0, "nothing said");
    unlink(log);
    close(kept);
    close(to);
}

static void test_candidates(void) {
    char how[256], text[4096];
    said_by(profile, how, text);
    if (rank > 0) return;
    const char *line = strchr(text, '\n');
    int lines = 0;
    CHECK(strncmp(text, "tutti: write of", 15) == 0 && strstr(text, how), "%s", text);
    for (; line && line[1]; line = strchr(line + 1, '\n')) lines++;
    CHECK(lines >= 3 && lines <= 8, "%d candidates: %s", lines, text);
    CHECK(strstr(text, "s  two-phase, shm, ") && strstr(text, "s  list\n"), "%s", text);
}

/* Check that the profile is ignored and that the explanation contains `words`. */
static void passed_over(const char *words) {
    char how[256], text[4096];
    const long live = tutti__memory_live();
    said_by(profile, how, text);
    CHECK_EQ(tutti__memory_live(), live);
    if (rank == 0)
        CHECK(strstr(text, "is not used") && strstr(text, profile) && strstr(text, words), "%s",
              text);
}

/* The explanation names the store, which is asynchronous with direct I/O and posix otherwise. */
static void test_store(void) {
    enum { PIECE = 4096, PIECES = 64 };
    static char buf[PIECE * PIECES];
    for (int direct = 0; direct < 2; direct++) {
        tutti_options opt = options("");
        tutti_file *f = NULL;
        tutti_access *a = NULL;
        opt.direct_io = direct;
        opt.method = TUTTI_METHOD_TWO_PHASE;
        const tutti_err err =
            tutti_file_open(MPI_COMM_WORLD, file, TUTTI_WRITE | TUTTI_CREATE, &opt, &f);
        if (direct && err == TUTTI_ERR_UNSUPPORTED) return; /* the file system lacks O_DIRECT */
        CHECK_OK(err);
        CHECK_OK(tutti_access_vector((tutti_off)PIECE * rank, PIECES, PIECE,
                                     (tutti_off)PIECE * ranks, &a));
        CHECK_OK(tutti_file_write(f, a, buf, NULL));
        const char *how = tutti_file_explain(f), *store = strstr(how, "pipeline write-comm-2; ");
        CHECK(store, "%s", how);
        const int in_background =
            store && (strstr(store, "store uring") || strstr(store, "store threads"));
        CHECK_EQ(in_background, direct);
        CHECK(direct || (store && strstr(store, "store posix")), "%s", how);
        tutti_access_free(&a);
        CHECK_OK(tutti_file_close(&f));
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(file, sizeof file, "t744.dat");
    snprintf(profile, sizeof profile, "t744.profile");
    if (rank == 0) unlink(profile);
    MPI_Barrier(MPI_COMM_WORLD);
    tutti_file *f = NULL; /* this call creates the objects that are cached on the communicator */
    CHECK_ERR(tutti_file_open(MPI_COMM_WORLD, file, TUTTI_READ, NULL, &f), TUTTI_ERR_NOT_FOUND);
    char how[256];
    write_by("", 0, how);
    passed_over("No such file");
    write_profile("version = 1\n[machine]\ncores = many\n");
    passed_over("line 3");
    test_choice();
    test_candidates();
    test_store();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(file);
        unlink(profile);
    }
    const int code = check_done();
    MPI_Finalize();
    return code;
}
