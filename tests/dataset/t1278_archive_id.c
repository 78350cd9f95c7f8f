/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Archived segments belong to one dataset: two datasets archived to one directory or tar archive
 * are both restored; a file of another dataset, of another segment, or with other bytes is neither
 * restored nor overwritten.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "dataset/datasets.h"

enum { SETS = 2, STATES = 4, ENTRIES = 40 };
static char path[SETS][512], place[512];
static tutti_dataset *d[SETS];
static tutti_decomposition *p[SETS];

static double value(int set, int64_t index, tutti_count i) {
    return number_at(set, index, i, 0);
}

static void write_state(int s, int64_t index, int as) {
    double v[ENTRIES];
    const tutti_count lo = ENTRIES * rank / ranks, hi = ENTRIES * (rank + 1) / ranks;
    for (tutti_count i = lo; i < hi; i++) v[i - lo] = value(as, index, i);
    CHECK_SAME(tutti_dataset_begin(d[s], TUTTI_STATE, index, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d[s], 1, &(tutti_put){"v", p[s], TUTTI_FLOAT64, v}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d[s]), TUTTI_OK);
}

static void open_file(int s, int mode) {
    const tutti_dataset_options opt = visible();
    tutti_count index[ENTRIES];
    const tutti_count lo = ENTRIES * rank / ranks, hi = ENTRIES * (rank + 1) / ranks;
    for (tutti_count i = lo; i < hi; i++) index[i - lo] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = hi - lo, .index = index};
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path[s], mode, &opt, &d[s]), TUTTI_OK);
    if (mode & TUTTI_CREATE) {
        const tutti_variable_spec v = {.space = "line", .type = TUTTI_FLOAT64};
        CHECK_SAME(tutti_dataset_grid(d[s], "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
        CHECK_SAME(tutti_dataset_variable(d[s], "v", &v), TUTTI_OK);
    }
    CHECK_SAME(tutti_decomposition_create(d[s], "line", &spec, &p[s]), TUTTI_OK);
}

static void close_file(int s) {
    tutti_decomposition_free(&p[s]);
    CHECK_SAME(tutti_dataset_close(&d[s]), TUTTI_OK);
}

static void check_values(int s) {
    double v[ENTRIES];
    const tutti_count lo = ENTRIES * rank / ranks, hi = ENTRIES * (rank + 1) / ranks;
    for (int64_t k = 0; k < STATES; k++) {
        tutti_count wrong = 0;
        CHECK_SAME(tutti_dataset_get(d[s], k, 1, &(tutti_get){"v", p[s], TUTTI_FLOAT64, v}),
                   TUTTI_OK);
        for (tutti_count i = lo; i < hi; i++) wrong += v[i - lo] != value(s, k, i);
        CHECK(wrong == 0, "dataset %d, state %d: %d values differ", s, (int)k, (int)wrong);
    }
    CHECK_SAME(tutti_dataset_verify(d[s], NULL), TUTTI_OK);
}

static void create_both(void) {
    dataset_remove(place);
    for (int s = 0; s < SETS; s++) {
        dataset_remove(path[s]);
        open_file(s, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE);
        for (int64_t k = 0; k < STATES; k++) write_state(s, k, s);
    }
}

static int visible_name(const struct dirent *e) {
    return e->d_name[0] != '.';
}

/* Names of the files in the archive, sorted; the same on all ranks.  names_read() returns their number. */
static char names[16][300];
static int names_read(void) {
    int n = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct dirent **list = NULL;
        n = scandir(place, &list, visible_name, alphasort);
        for (int i = 0; i < n; i++) {
            if (i < 16) snprintf(names[i], sizeof names[i], "%s", list[i]->d_name);
            free(list[i]);
        }
        free(list);
    }
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(names, (int)sizeof names, MPI_BYTE, 0, MPI_COMM_WORLD);
    return n;
}

static void copy_over(const char *from, const char *to) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char a[1000], b[1000], buf[65536];
        snprintf(a, sizeof a, "%s/%s", place, from);
        snprintf(b, sizeof b, "%s/%s", place, to);
        const int in = open(a, O_RDONLY), out = open(b, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        const ssize_t n = read(in, buf, sizeof buf);
        CHECK(in >= 0 && out >= 0 && n > 0 && write(out, buf, (size_t)n) == n, "%s", to);
        close(in);
        close(out);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Archive segments 0 to 2 of both datasets in one directory. */
static void one_directory(void) {
    check_where("one directory");
    create_both();
    for (int s = 0; s < SETS; s++)
        CHECK_SAME(tutti_dataset_archive(d[s], 0, 2, place, NULL), TUTTI_OK);
    CHECK_EQ(names_read(), 6);
    CHECK(strcmp(names[0], names[3]) != 0 && strcmp(names[3] + 41, names[0] + 41) == 0, "%s, %s",
          names[0], names[3]);
    /* replace the first segment of one dataset by the first segment of the other */
    char kept[310];
    snprintf(kept, sizeof kept, "%s.kept", names[0]);
    copy_over(names[0], kept);
    copy_over(names[3], names[0]);
    int refused = 0;
    for (int s = 0; s < SETS; s++) {
        const tutti_err err = tutti_dataset_restore(d[s], 0, 0, place);
        CHECK_SAME(err, err);
        refused += err == TUTTI_ERR_FORMAT;
        if (err == TUTTI_ERR_FORMAT)
            CHECK(strstr(tutti_last_message(), "another dataset"), "%s", tutti_last_message());
    }
    CHECK_EQ(refused, 1);
    copy_over(kept, names[0]);
    for (int s = 0; s < SETS; s++) {
        CHECK_SAME(tutti_dataset_restore(d[s], 0, STATES - 1, place), TUTTI_OK);
        check_values(s);
    }
    /* archive does not overwrite the replaced file */
    copy_over(names[3], names[0]);
    refused = 0;
    for (int s = 0; s < SETS; s++) {
        const tutti_err err = tutti_dataset_archive(d[s], 0, 2, place, NULL);
        CHECK_SAME(err, err);
        refused += err == TUTTI_ERR_EXISTS;
    }
    CHECK_EQ(refused, 1);
    copy_over(kept, names[0]);
    for (int s = 0; s < SETS; s++) {
        CHECK_SAME(tutti_dataset_archive(d[s], 0, 2, place, NULL), TUTTI_OK);
        CHECK_SAME(tutti_dataset_restore(d[s], 0, STATES - 1, place), TUTTI_OK);
        check_values(s);
        close_file(s);
    }
}

/* A copy of a dataset has the same id, but may have other segments. */
static void diverged_copy(void) {
    char command[1200];
    check_where("copy");
    create_both();
    close_file(0);
    close_file(1);
    dataset_remove(path[1]);
    snprintf(command, sizeof command, "cp -r '%s' '%s'", path[0], path[1]);
    if (rank == 0) CHECK(system(command) == 0, "%s", command);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int s = 0; s < SETS; s++) {
        open_file(s, TUTTI_READ | TUTTI_WRITE);
        write_state(s, STATES, s);
        write_state(s, STATES + 1, s);
    }
    CHECK_SAME(tutti_dataset_archive(d[0], 0, STATES, place, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_archive(d[1], 0, STATES - 1, place, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_archive(d[1], STATES, STATES, place, NULL), TUTTI_ERR_EXISTS);
    CHECK_SAME(tutti_dataset_restore(d[0], 0, STATES, place), TUTTI_OK);
    check_values(0);
    close_file(0);
    close_file(1);
}

/* Metadata rebuilt by a repair have a new id: archive files from before the repair are neither used nor replaced. */
static void after_repair(void) {
    char name[600];
    check_where("repair");
    create_both();
    close_file(1);
    CHECK_SAME(tutti_dataset_archive(d[0], 0, 0, place, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_restore(d[0], 0, 0, place), TUTTI_OK);
    close_file(0);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path[0]);
    if (rank == 0) CHECK(unlink(name) == 0, "%s", name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path[0], NULL, NULL), TUTTI_OK);
    open_file(0, TUTTI_READ | TUTTI_WRITE);
    CHECK_SAME(tutti_dataset_archive(d[0], 0, 0, place, NULL), TUTTI_OK);
    CHECK_EQ(names_read(), 2);
    CHECK_SAME(tutti_dataset_restore(d[0], 0, 0, place), TUTTI_OK);
    check_values(0);
    close_file(0);
}

/* ---- one tar archive */

static char *tape;
static size_t tape_n, tape_at;

static int tape_write(void *context, const void *bytes, size_t n) {
    (void)context;
    tape = realloc(tape, tape_n + n + 1);
    if (n) memcpy(tape + tape_n, bytes, n);
    tape_n += n;
    return 0;
}

static int tape_read(void *context, void *bytes, size_t n, size_t *got) {
    (void)context;
    *got = n < tape_n - tape_at ? n : tape_n - tape_at;
    memcpy(bytes, tape + tape_at, *got);
    tape_at += *got;
    return 0;
}

static void one_stream(void) {
    const tutti_stream out = {.write = tape_write, .location = "tape"}, in = {.read = tape_read};
    check_where("one stream");
    create_both();
    for (int s = 0; s < SETS; s++) {
        CHECK_SAME(tutti_dataset_archive_stream(d[s], 1, 2, rank ? NULL : &out, NULL), TUTTI_OK);
        if (s == 0 && rank == 0)
            tape_n -= 1024; /* remove the end-of-archive marker before appending */
    }
    for (int s = 0; s < SETS; s++) {
        tape_at = 0;
        CHECK_SAME(tutti_dataset_restore_stream(d[s], 0, STATES - 1, rank ? NULL : &in), TUTTI_OK);
        check_values(s);
        close_file(s);
    }
    free(tape);
    tape = NULL;
    tape_n = 0;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1278);
    for (int s = 0; s < SETS; s++)
        snprintf(path[s], sizeof path[s], "%s/t1278.%d.tutti", check_dir(), s);
    snprintf(place, sizeof place, "%s/t1278.away", check_dir());
    one_directory();
    diverged_copy();
    after_repair();
    one_stream();
    for (int s = 0; s < SETS; s++) dataset_remove(path[s]);
    dataset_remove(place);
    return harness_end();
}
