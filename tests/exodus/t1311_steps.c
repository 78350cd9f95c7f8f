/* TEST ranks=1,3 timeout=60 */
/* Steps: commit, discard, erase, refresh, series; partial and nonblocking puts; data left by killed
 * writers; checksums. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

static char path[600];
static tutti_exodus *x;
static tutti_decomposition *p[SAMPLE_FIELDS];
static tutti_exodus_options opt;

static void close_file(void) {
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

static void open_as(int mode) {
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, mode, &opt, &x), TUTTI_OK);
    sample_decompose(MPI_COMM_WORLD, x, p);
}

static int64_t size_now(void) {
    struct stat st = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(stat(path, &st) == 0, "no file");
    MPI_Barrier(MPI_COMM_WORLD);
    return st.st_size;
}

/* Check the file with ncvalidator, if it is installed. */
static void test_valid(void) {
    char command[800];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && system("command -v ncvalidator >/dev/null") == 0) {
        snprintf(command, sizeof command, "ncvalidator -q '%s'", path);
        CHECK(system(command) == 0, "ncvalidator");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Write the first `fields` fields of a step with wrong values. */
static void put_rubbish(int fields) {
    tutti_exodus_field v[SAMPLE_FIELDS];
    sample_step_fields(p, 999, v);
    CHECK_SAME(tutti_exodus_put(x, fields, v), TUTTI_OK);
    for (int f = 0; f < SAMPLE_FIELDS; f++) free(v[f].buf);
}

static void test_lives(void) {
    tutti_exodus *reader = NULL;
    int changed = -1;
    check_where("lives");
    sample_write(MPI_COMM_WORLD, path, &opt, 2);
    const int64_t two = size_now();
    test_valid();
    open_as(TUTTI_READ | TUTTI_WRITE);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &reader), TUTTI_OK);
    /* the time is not later than that of the last step */
    CHECK_SAME(tutti_exodus_begin(x, 1.0), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_begin(x, 7), TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, 8), TUTTI_ERR_STATE);
    put_rubbish(SAMPLE_FIELDS);
    CHECK(size_now() > two, "nothing has been written");
    CHECK_SAME(tutti_exodus_discard(x), TUTTI_OK);
    CHECK_EQ(size_now(), two);
    CHECK_SAME(tutti_exodus_discard(x), TUTTI_ERR_STATE);
    sample_put_step(x, p, 3);
    CHECK_SAME(tutti_exodus_begin(x, 7), TUTTI_OK);
    put_rubbish(2);
    close_file(); /* close without a commit */
    CHECK_EQ(tutti_exodus_steps(reader), 2);
    CHECK_SAME(tutti_exodus_refresh(reader, &changed), TUTTI_OK);
    CHECK(changed == 1 && tutti_exodus_steps(reader) == 3, "%d", changed);
    CHECK_SAME(tutti_exodus_refresh(reader, &changed), TUTTI_OK);
    CHECK_EQ(changed, 0);
    CHECK_SAME(tutti_exodus_close(&reader), TUTTI_OK);
    sample_check(MPI_COMM_WORLD, path, &opt, 3);
    test_valid();
    open_as(TUTTI_READ | TUTTI_WRITE);
    CHECK_SAME(tutti_exodus_erase_after(x, 4), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_erase_after(x, 1), TUTTI_OK);
    CHECK_EQ(tutti_exodus_steps(x), 1);
    test_valid();
    sample_put_step(x, p, 2);
    close_file();
    CHECK_EQ(size_now(), two);
    sample_check(MPI_COMM_WORLD, path, &opt, 2);
    open_as(TUTTI_READ | TUTTI_WRITE);
    CHECK_SAME(tutti_exodus_erase_after(x, 0), TUTTI_OK);
    close_file();
    test_valid();
    open_as(TUTTI_READ | TUTTI_WRITE);
    sample_put_step(x, p, 1);
    sample_put_step(x, p, 2);
    close_file();
    sample_check(MPI_COMM_WORLD, path, &opt, 2);
}

/* Values that are not written are 0; a step without values has its time. */
static void test_pieces(void) {
    tutti_exodus_field v[SAMPLE_FIELDS];
    tutti_request *r[2] = {NULL, NULL};
    double got[SAMPLE_FACES], one = -7, times[5];
    check_where("pieces");
    open_as(TUTTI_READ | TUTTI_WRITE);
    sample_step_fields(p, 3, v);
    CHECK_SAME(tutti_exodus_begin(x, sample_time(3)), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_start(x, 1, &v[1], &r[0]), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_start(x, 2, &v[4], &r[1]), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_request_wait(&r[1], NULL), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r[0], NULL), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put(x, 1, &v[1]), TUTTI_OK); /* repeat the write */
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, sample_time(4)), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    test_valid();
    tutti_exodus_field w[2] = {v[1], v[6]};
    double *back = malloc((size_t)tutti_decomposition_entries(p[1]) * sizeof *back);
    w[0].buf = back;
    w[1].buf = got;
    for (int i = 0; i < SAMPLE_FACES; i++) got[i] = -7;
    CHECK_SAME(tutti_exodus_get_start(x, 3, 2, w, &r[0]), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r[0], NULL), TUTTI_OK);
    CHECK(memcmp(back, v[1].buf, (size_t)tutti_decomposition_entries(p[1]) * sizeof *back) == 0,
          "put without waiting");
    for (tutti_count i = 0; i < tutti_decomposition_entries(p[6]); i++)
        CHECK(got[i] == 0, "%lld: %g", (long long)i, got[i]);
    free(back);
    for (int f = 0; f < SAMPLE_FIELDS; f++) free(v[f].buf);
    CHECK_SAME(tutti_exodus_get(x, 4, 1,
                                &(tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL,
                                                      .variable = "mass",
                                                      .type = TUTTI_FLOAT64,
                                                      .buf = &one}),
               TUTTI_OK);
    CHECK(one == 0, "%g", one);
    CHECK_SAME(tutti_exodus_times(x, 1, 4, times), TUTTI_OK);
    for (int i = 0; i < 4; i++) CHECK(times[i] == sample_time(i + 1), "%g", times[i]);
    CHECK_SAME(tutti_exodus_times(x, 2, 4, times), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_erase_after(x, 2), TUTTI_OK);
    close_file();
}

/* Read several steps with one call: one node (a different one on each rank), a global variable, a whole block. */
static void test_follows(void) {
    enum { STEPS = 5 };
    double v[STEPS + 1], all[STEPS * SAMPLE_TETS];
    tutti_decomposition *node = NULL, *tets = NULL;
    check_where("follows");
    open_as(TUTTI_READ | TUTTI_WRITE);
    for (int s = 3; s <= STEPS; s++) sample_put_step(x, p, s);
    const int64_t id = 11 + rank; /* its position is computed by the library */
    tutti_count at = -1, first, n;
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_VALUE, .n = 1, .ids = &id}, &node),
               TUTTI_OK);
    CHECK_OK(tutti_decomposition_positions(node, &at));
    CHECK_EQ(sample_value(4, at), id);
    tutti_exodus_field f = {.kind = TUTTI_EXODUS_NODAL,
                            .variable = "pressure",
                            .type = TUTTI_FLOAT64,
                            .buf = v,
                            .entries = node};
    CHECK_SAME(tutti_exodus_follow(x, 2, STEPS, &f), TUTTI_OK);
    for (int s = 2; s <= STEPS; s++) CHECK(v[s - 2] == sample_result(1, s, at), "%g", v[s - 2]);
    f = (tutti_exodus_field){
        .kind = TUTTI_EXODUS_GLOBAL, .variable = "dt", .type = TUTTI_FLOAT64, .buf = v};
    CHECK_SAME(tutti_exodus_follow(x, 1, STEPS, &f), TUTTI_OK);
    for (int s = 1; s <= STEPS; s++) CHECK(v[s - 1] == sample_result(100, s, 2), "%g", v[s - 1]);
    sample_piece(MPI_COMM_WORLD, SAMPLE_TETS, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_ELEMENT_BLOCK, 20,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &tets),
               TUTTI_OK);
    f = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                             .id = 20,
                             .variable = "stress",
                             .type = TUTTI_FLOAT64,
                             .buf = all,
                             .entries = tets};
    CHECK_SAME(tutti_exodus_follow(x, 1, STEPS, &f), TUTTI_OK);
    for (int s = 1; s <= STEPS; s++)
        for (tutti_count i = 0; i < n; i++)
            CHECK(all[(s - 1) * n + i] == sample_result(3, s, first + i), "%d %lld", s,
                  (long long)i);
    f.id = 10;
    /* the entries are those of another block */
    CHECK_SAME(tutti_exodus_follow(x, 1, STEPS, &f), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_follow(x, 1, STEPS + 1, &f), TUTTI_ERR_NOT_FOUND);
    tutti_decomposition_free(&node);
    tutti_decomposition_free(&tets);
    close_file();
}

/* Verify reports changed bytes with their location. */
static void damage_bytes(void) {
    tutti_off bytes = -1;
    unsigned char byte = 0;
    double v[1];
    check_where("damage");
    open_as(TUTTI_READ);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(bytes > size_now() * 9 / 10, "%lld bytes were compared", (long long)bytes);
    close_file();
    const int64_t at[] = {size_now() - 9, size_now() / 5};
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            const int fd = open(path, O_RDWR);
            CHECK(pread(fd, &byte, 1, at[i]) == 1, "read");
            byte ^= 4;
            CHECK(pwrite(fd, &byte, 1, at[i]) == 1, "write");
            close(fd);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        opt.check_reads = 1;
        open_as(TUTTI_READ);
        CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_ERR_FORMAT);
        CHECK(strstr(tutti_last_message(), i ? "the mesh" : "step 5"), "%s", tutti_last_message());
        const tutti_exodus_field dt = {
            .kind = TUTTI_EXODUS_GLOBAL, .variable = "dt", .type = TUTTI_FLOAT64, .buf = v};
        CHECK_SAME(tutti_exodus_get(x, 4, 1, &dt), TUTTI_OK);
        CHECK_SAME(tutti_exodus_get(x, 5, 1, &dt), i ? TUTTI_OK : TUTTI_ERR_FORMAT);
        close_file();
        opt.check_reads = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            const int fd = open(path, O_RDWR);
            byte ^= 4;
            CHECK(pwrite(fd, &byte, 1, at[i]) == 1, "write");
            close(fd);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The mesh is damaged after its checksums have been compared. */
static void test_late(void) {
    tutti_off bytes = 0;
    char other[640];
    check_where("late");
    snprintf(other, sizeof other, "%s.late", path);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, other, &opt, &x), TUTTI_OK);
    sample_define(x);
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
        CHECK(bytes > 0, "nothing was compared");
        sample_put_arrays(MPI_COMM_WORLD, x);
    }
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    sample_check(MPI_COMM_WORLD, other, &opt, 0);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, other, TUTTI_READ | TUTTI_WRITE, &opt, &x),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    sample_put_arrays(MPI_COMM_WORLD, x);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/steps.e", dir);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    test_lives();
    const account start = account_now(); /* after the first test, because teams are cached */
    test_pieces();
    test_follows();
    damage_bytes();
    test_late();
    account_check(start);
    MPI_Finalize();
    return check_done();
}
