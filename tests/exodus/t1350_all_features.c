/* TEST ranks=3,8 timeout=60 */
/* A file with all features (everything.h), written by 1, 2, 3, 5 and 8 ranks: the bytes are equal, ncvalidator
 * accepts the file, and Debian's libexodusii reads every entity and value of the serial model; reals of 8 and 4 bytes,
 * integers of 4 and 8 bytes.  The bytes have the hash in main(), and are therefore the same with every MPI
 * implementation until the format changes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "exodus/everything.h"

#include <sys/wait.h>

static char path[600], text[600], other[600];

/* Run a command on rank 0; return its exit code on all ranks. */
static int run_shell(const char *command) {
    int code = 0;
    if (rank == 0) {
        const int status = system(command);
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

static uint64_t hash_of(const char *file) {
    int64_t n = 0;
    uint64_t h = 14695981039346656037u;
    unsigned char *v = file_bytes(file, &n);
    for (int64_t i = 0; i < n; i++) h = (h ^ v[i]) * 1099511628211u;
    free(v);
    return h;
}

/* Check that exodus_reader prints the expected output of the model. */
static void check_text(const char *file, int real_bytes) {
    char command[4000];
    const char *build = getenv("TUTTI_BUILD_DIR");
    snprintf(command, sizeof command, "%s/tests/exodus/exodus_reader", build ? build : ".");
    int there = access(command, X_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!there) return;
    if (rank == 0) {
        FILE *f = fopen(text, "w");
        CHECK(f, "cannot write %s", text);
        if (f) ev_print(f, real_bytes), fclose(f);
    }
    snprintf(command, sizeof command, "%s/tests/exodus/exodus_reader %s >%s", build, file, other);
    CHECK_EQ(run_shell(command), 0);
    snprintf(command, sizeof command, "diff %s %s | cut -c1-300 | head -20 >&2; cmp -s %s %s", text,
             other, text, other);
    CHECK_EQ(run_shell(command), 0);
}

static void check_valid(const char *file) {
    char command[1400];
    if (run_shell("command -v ncvalidator >/dev/null") != 0) return;
    snprintf(command, sizeof command, "ncvalidator -q %s >&2", file);
    CHECK_EQ(run_shell(command), 0);
}

/* Write the file on the first `writers` ranks. */
static void write_by(int writers, const char *file, const tutti_exodus_options *opt) {
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank < writers ? 0 : MPI_UNDEFINED, 0, &some);
    if (some != MPI_COMM_NULL) {
        CHECK_OK(ev_write(some, file, opt));
        MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    static const struct {
        int real, integer;
        uint64_t hash;
    } cases[] = {{8, 0, 0xe134c2d76c4f418f}, {4, 8, 0xf224bf559ee8d191}};
    harness_begin(&argc, &argv, 1350);
    snprintf(path, sizeof path, "%s/all.e", check_dir());
    snprintf(other, sizeof other, "%s/other", check_dir());
    snprintf(text, sizeof text, "%s/text", check_dir());
    ev_make();
    const account start = account_now();
    for (int c = 0; c < 2; c++) {
        char where[64];
        snprintf(where, sizeof where, "reals of %d, integers of %d bytes", cases[c].real,
                 cases[c].integer);
        check_where(where);
        tutti_exodus_options opt;
        tutti_exodus_options_init(&opt);
        opt.real_bytes = cases[c].real;
        opt.integer_bytes = cases[c].integer;
        opt.overwrite = 1;
        opt.level = TUTTI_VISIBLE;
        write_by(ranks, path, &opt);
        check_valid(path);
        check_text(path, cases[c].real);
        int64_t n = 0;
        unsigned char *v = file_get(path, &n);
        for (int writers = 1; writers < ranks; writers += writers < 3 ? 1 : writers - 1) {
            write_by(writers, other, &opt);
            file_is(other, v, n, "by fewer ranks");
        }
        free(v);
        CHECK(hash_of(path) == cases[c].hash, "hash 0x%" PRIx64, hash_of(path));
    }
    account_check(start);
    return harness_end();
}
