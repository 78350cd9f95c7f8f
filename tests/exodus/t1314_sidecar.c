/* TEST ranks=1,3 timeout=60 */
/* The sidecar of a file: notes; sidecars that are missing, damaged or belong to another file; data left by a killed
 * writer in the file and in the sidecar; two writers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

static char path[600], beside[620];
static tutti_exodus_options opt;

static tutti_exodus *open_file(int mode) {
    tutti_exodus *x = NULL;
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, mode, &opt, &x), TUTTI_OK);
    return x;
}

static void check_warning(const char *words) {
    tutti_off bytes = -1;
    tutti_exodus *x = open_file(TUTTI_READ);
    CHECK(words ? strstr(tutti_exodus_warning(x), words) != NULL : !tutti_exodus_warning(x)[0],
          "'%s': %s", words ? words : "", tutti_exodus_warning(x));
    /* a sidecar exists, but cannot be used */
    const int refused = words && !strstr(words, "missing");
    CHECK_SAME(tutti_exodus_verify(x, &bytes), refused ? TUTTI_ERR_FORMAT : TUTTI_OK);
    CHECK(refused || (words ? bytes == 0 : bytes > 0), "%lld bytes compared", (long long)bytes);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    sample_check(MPI_COMM_WORLD, path, &opt, 2);
}

static void test_notes(void) {
    char name[128];
    double two[2] = {1.5, 2.5}, got[2] = {0, 0};
    int32_t one = 7;
    tutti_type type = TUTTI_BYTES;
    tutti_count n = 2;
    check_where("notes");
    tutti_exodus *x = open_file(TUTTI_READ | TUTTI_WRITE), *y = NULL;
    CHECK_SAME(tutti_exodus_note_set(x, "two", TUTTI_FLOAT64, 2, two), TUTTI_OK);
    CHECK_SAME(tutti_exodus_note_set(x, "another", TUTTI_INT32, 1, &one), TUTTI_OK);
    CHECK_SAME(tutti_exodus_note_set(x, "gone", TUTTI_INT32, 1, &one), TUTTI_OK);
    CHECK_SAME(tutti_exodus_note_set(x, "gone", TUTTI_INT32, 0, NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_note_set(x, "", TUTTI_INT32, 1, &one), TUTTI_ERR_ARG);
    one = rank;
    if (ranks > 1)
        CHECK_SAME(tutti_exodus_note_set(x, "bad", TUTTI_INT32, 1, &one), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &y),
               TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "open for writing"), "%s", tutti_last_message());
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    x = open_file(TUTTI_READ);
    CHECK_SAME(tutti_exodus_note_get(x, "two", &type, &n, got), TUTTI_OK);
    CHECK(type == TUTTI_FLOAT64 && n == 2 && got[1] == 2.5, "%g", got[1]);
    n = 1;
    CHECK_SAME(tutti_exodus_note_get(x, "two", &type, &n, got), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_note_get(x, "gone", &type, &n, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_note_name(x, 0, name), TUTTI_OK);
    CHECK(strcmp(name, "another") == 0, "%s", name);
    CHECK_SAME(tutti_exodus_note_name(x, 2, name), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_note_set(x, "two", TUTTI_FLOAT64, 2, two), TUTTI_ERR_MODE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

static void test_lost(void) {
    char other[640];
    int64_t n = 0;
    check_where("lost");
    check_warning(NULL);
    unsigned char *good = file_get(beside, &n);
    file_remove(beside);
    check_warning("missing");
    file_put(beside, (const unsigned char *)"this is no database, is it? no, it is not", 40);
    check_warning("not used");
    good[n / 2] ^= 1; /* a flipped bit in the middle is detected or has no effect */
    file_put(beside, good, n);
    tutti_exodus *x = open_file(TUTTI_READ);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    good[n / 2] ^= 1;
    snprintf(other, sizeof other, "%s.other", path);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, other, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.dims = 2}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    strcat(other, ".tutti");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(rename(other, beside) == 0, "rename");
    MPI_Barrier(MPI_COMM_WORLD);
    check_warning("another file");
    x = open_file(TUTTI_READ | TUTTI_WRITE); /* a writer replaces the sidecar */
    CHECK(strstr(tutti_exodus_warning(x), "another file"), "%s", tutti_exodus_warning(x));
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    x = open_file(TUTTI_READ);
    CHECK(!tutti_exodus_warning(x)[0], "%s", tutti_exodus_warning(x));
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    file_put(beside, good, n);
    check_warning(NULL);
    /* without the sidecar, a writer creates a new one and continues with checksums */
    x = open_file(TUTTI_READ);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    file_remove(beside);
    x = open_file(TUTTI_READ | TUTTI_WRITE);
    CHECK(strstr(tutti_exodus_warning(x), "missing"), "%s", tutti_exodus_warning(x));
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_off bytes = 0;
    sample_decompose(MPI_COMM_WORLD, x, p);
    sample_put_step(x, p, 3);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(bytes > 0, "the new step has no sums");
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_SAME(tutti_exodus_erase_after(x, 2), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    file_put(beside, good, n);
    free(good);
}

/* A writer was killed after writing data or checksums, but before updating the number of records. */
static void test_killed(void) {
    int64_t n = 0, m = 0, after = 0, more = 0;
    check_where("killed");
    unsigned char *two = file_get(path, &n);
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus *x = open_file(TUTTI_READ | TUTTI_WRITE);
    sample_decompose(MPI_COMM_WORLD, x, p);
    sample_put_step(x, p, 3);
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    unsigned char *three = file_get(path, &m);
    CHECK(m > n && memcmp(two + 12, three + 12, (size_t)n - 12) == 0,
          "a step is behind the others");
    memcpy(three + 4, two + 4, 8); /* restore the number of records; checksums of step 3 exist */
    file_put(path, three, m - 1000);
    sample_check(MPI_COMM_WORLD, path, &opt, 2); /* readers ignore the incomplete step */
    x = open_file(TUTTI_READ | TUTTI_WRITE);
    CHECK_EQ(tutti_exodus_steps(x), 2);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    unsigned char *now = file_get(path, &after);
    CHECK(after == n && memcmp(now, two, (size_t)n) == 0, "%lld bytes of %lld", (long long)after,
          (long long)n);
    free(now);
    memcpy(three + 4, "\0\0\0\0\0\0\0\3", 8); /* a truncated file: the last record is incomplete */
    file_put(path, three, m - 1000);
    sample_check(MPI_COMM_WORLD, path, &opt, 2);
    x = open_file(TUTTI_READ | TUTTI_WRITE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    now = file_get(path, &more);
    CHECK(more == n && memcmp(now, two, (size_t)n) == 0, "%lld bytes", (long long)more);
    free(now);
    /* a file whose creation was interrupted is not a valid file, and may be replaced */
    char begun[640];
    tutti_exodus *y = NULL;
    snprintf(begun, sizeof begun, "%s.begun", path);
    memset(three, 0, 12);
    file_put(begun, three, n);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, begun, TUTTI_READ, &opt, &y), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, begun, &opt, &y), TUTTI_OK);
    CHECK_SAME(tutti_exodus_init(y, &(tutti_exodus_parameters){.dims = 2}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_end_definitions(y), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&y), TUTTI_OK);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, begun, &opt, &y), TUTTI_ERR_EXISTS);
    file_put(begun, (const unsigned char *)"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0somebody's", 26);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, begun, &opt, &y), TUTTI_ERR_EXISTS);
    free(two);
    free(three);
    check_warning(NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/beside.e", dir);
    snprintf(beside, sizeof beside, "%s.tutti", path);
    tutti_exodus_options_init(&opt);
    sample_write(MPI_COMM_WORLD, path, &opt, 2); /* write with the default level, TUTTI_DURABLE */
    test_notes();
    test_lost();
    test_killed();
    opt.sidecar = 0;
    tutti_exodus *x = open_file(TUTTI_READ);
    tutti_type type;
    tutti_count n = 0;
    CHECK_SAME(tutti_exodus_note_get(x, "two", &type, &n, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    sample_check(MPI_COMM_WORLD, path, &opt, 2);
    MPI_Finalize();
    return check_done();
}
