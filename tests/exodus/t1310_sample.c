/* TEST ranks=1,2,3,5,8 timeout=120 */
/* A file with entities of every kind has the same bytes if written by all ranks or by one rank; it is read by all
 * ranks and by one rank. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample.h"

static char *read_whole(const char *path, long *n) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = ftell(f);
    rewind(f);
    char *p = malloc((size_t)*n + 1);
    if (fread(p, 1, (size_t)*n, f) != (size_t)*n) *n = -1;
    fclose(f);
    return p;
}

static void same_bytes(const char *a, const char *b) {
    long n = 0, m = 0;
    char *p = read_whole(a, &n), *q = read_whole(b, &m);
    CHECK(p && q && n == m && n > 0, "%ld and %ld bytes", n, m);
    for (long i = 0; p && q && n == m && i < n; i++)
        if (p[i] != q[i]) {
            CHECK(0, "byte %ld differs", i);
            break;
        }
    free(p);
    free(q);
}

/* Write the file on all ranks and on one rank, and compare both files. */
static void write_both(int rank, const tutti_exodus_options *opt, const char *tail) {
    char all[512], one[512];
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(all, sizeof all, "%s/all-%s.e", dir, tail);
    snprintf(one, sizeof one, "%s/one-%s.e", dir, tail);
    sample_write(MPI_COMM_WORLD, all, opt, 3);
    if (rank == 0) {
        sample_write(MPI_COMM_SELF, one, opt, 3);
        same_bytes(all, one);
        sample_check(MPI_COMM_SELF, all, opt, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sample_check(MPI_COMM_WORLD, one, opt, 3);
    if (rank == 0 && system("command -v ncvalidator >/dev/null") == 0) {
        char command[1200];
        snprintf(command, sizeof command, "ncvalidator -q %s", all);
        CHECK(system(command) == 0, "ncvalidator");
    }
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    write_both(rank, &opt, "usual");
    opt.real_bytes = 4;
    opt.integer_bytes = 8;
    opt.name_length = 64;
    opt.sidecar = 0;
    opt.alignment = 65536;
    write_both(rank, &opt, "small");
    MPI_Finalize();
    return check_done();
}
