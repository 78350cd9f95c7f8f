/* TEST ranks=1,3 timeout=120 */
/* States are archived in a directory or on a stream, and restored with the same values: one data file and several
 * files, segments that are kept, refused calls, archives that are damaged, truncated or missing,
 * erasing and dropping of archived segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/stat.h>
#include "dataset/datasets.h"

enum { ENTRIES = 20000, STATES = 8 };

static char path[512], place[600];
static tutti_dataset *d;
static tutti_decomposition *p;
static tutti_count lo, hi;
static double *v;

static double value(int64_t index, tutti_count position) {
    return number_at(3, index, position, 0);
}

static void open_file(int mode, int per_file) {
    tutti_dataset_options opt = visible();
    opt.indices_per_file = per_file;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), TUTTI_OK);
    const tutti_decomposition_spec part_spec = {.kind = TUTTI_BY_RANK_ORDER, .n = hi - lo};
    if (mode & TUTTI_CREATE) {
        const tutti_variable_spec a = {.space = "line", .type = TUTTI_FLOAT64};
        const tutti_variable_spec b = {
            .space = "line", .type = TUTTI_INT16, .layout = TUTTI_RANKED};
        CHECK_SAME(tutti_dataset_list(d, "line"), TUTTI_OK);
        CHECK_SAME(tutti_dataset_variable(d, "a", &a), TUTTI_OK);
        CHECK_SAME(tutti_dataset_variable(d, "b", &b), TUTTI_OK);
        CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
        CHECK_SAME(tutti_dataset_resize(d, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
        CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    }
    CHECK_SAME(tutti_decomposition_create(d, "line", &part_spec, &p), TUTTI_OK);
}

static void test_closed(void) {
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

static void write_state(int64_t index) {
    for (tutti_count i = lo; i < hi; i++) v[i - lo] = value(index, i);
    const tutti_put put[] = {{"a", p, TUTTI_FLOAT64, v}, {"b", p, TUTTI_FLOAT64, v}};
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, index, (double)index), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, 2, put), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

/* Check that segment i is archived if bit i of `away` is set, and that every other state has its values. */
static void check_values(unsigned away) {
    for (tutti_count s = 1; s < tutti_dataset_segments(d); s++) {
        tutti_segment g;
        CHECK_OK(tutti_dataset_segment(d, s, &g));
        for (int b = 0; b < 2; b++) {
            const tutti_get get = {b ? "b" : "a", p, TUTTI_FLOAT64, v};
            if (away >> s & 1) {
                CHECK_SAME(tutti_dataset_get(d, s, 1, &get), TUTTI_ERR_STATE);
                CHECK(strstr(tutti_last_message(), "is archived in '"), "%s", tutti_last_message());
                CHECK(g.archived && g.archived[0], "segment %d has no archive location", (int)s);
                CHECK_SAME(tutti_dataset_verify_segment(d, s, NULL), TUTTI_ERR_STATE);
                continue;
            }
            CHECK(!g.archived, "segment %d is in '%s'", (int)s, g.archived);
            CHECK_SAME(tutti_dataset_get(d, s, 1, &get), TUTTI_OK);
            tutti_count wrong = 0;
            for (tutti_count i = lo; i < hi; i++) wrong += v[i - lo] != value(g.index, i);
            CHECK(wrong == 0, "%lld values of %s in segment %d are wrong", (long long)wrong,
                  get.variable, (int)s);
        }
    }
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
}

static int file_exists(const char *name) {
    char full[1200];
    struct stat st;
    snprintf(full, sizeof full, "%s/%s", path, name);
    MPI_Barrier(MPI_COMM_WORLD);
    const int there = stat(full, &st) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return there;
}

static int visible_name(const struct dirent *e) {
    return e->d_name[0] != '.';
}

/* Flip the bits `by` of the byte at offset `at` of the file number `which` of the archive. */
static void damage_bytes(int which, off_t at, int by) {
    char full[1200] = "";
    unsigned char c = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct dirent **names = NULL;
        const int n = scandir(place, &names, visible_name, alphasort);
        for (int i = 0; i < n; i++) {
            if (i == which) snprintf(full, sizeof full, "%s/%s", place, names[i]->d_name);
            free(names[i]);
        }
        free(names);
        CHECK_EQ(n, 3);
        const int fd = open(full, O_RDWR);
        CHECK(fd >= 0 && pread(fd, &c, 1, at) == 1, "no %s", full);
        c = (unsigned char)(c ^ by);
        CHECK(pwrite(fd, &c, 1, at) == 1, "cannot write");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- streams, stored in memory */

static struct {
    char *bytes;
    size_t n, at, capacity, ends;
    int full;
} tape;

static int tape_write(void *context, const void *bytes, size_t n) {
    (void)context;
    if (n == 0) tape.ends++;
    if (tape.full && tape.n + n > 100000) return ENOSPC;
    if (tape.n + n > tape.capacity)
        tape.bytes = realloc(tape.bytes, tape.capacity = 2 * (tape.n + n));
    if (n) memcpy(tape.bytes + tape.n, bytes, n);
    tape.n += n;
    return 0;
}

static int tape_read(void *context, void *bytes, size_t n, size_t *got) {
    (void)context;
    *got = n < tape.n - tape.at ? n : tape.n - tape.at;
    if (*got > 777) *got = 777; /* short reads, as from pipes */
    memcpy(bytes, tape.bytes + tape.at, *got);
    tape.at += *got;
    return 0;
}

static tutti_err restore_from_tape(tutti_count first, tutti_count last) {
    const tutti_stream s = {.read = tape_read};
    tape.at = 0;
    return tutti_dataset_restore_stream(d, first, last, rank ? NULL : &s);
}

static void test_streams(void) {
    tutti_stream s = {.write = tape_write};
    tutti_off freed = 0;
    check_where("streams");
    CHECK_SAME(tutti_dataset_archive_stream(d, 2, 4, rank ? NULL : &s, &freed), TUTTI_OK);
    check_values(0); /* without a location the stream is only a copy: no segment is archived */
    s.location = "tape 7";
    tape.n = 0;
    tape.full = 1;
    CHECK_SAME(tutti_dataset_archive_stream(d, 2, 4, &s, &freed), TUTTI_ERR_NO_SPACE);
    check_values(0);
    tape.n = tape.ends = 0;
    tape.full = 0;
    CHECK_SAME(tutti_dataset_archive_stream(d, 2, 4, &s, &freed), TUTTI_OK);
    CHECK(rank || (tape.ends == 1 && tape.n % 512 == 0), "%zu bytes, %zu ends", tape.n, tape.ends);
    check_values(7 << 2);
    tape.n -= 2000;
    CHECK_SAME(restore_from_tape(0, 6), TUTTI_ERR_FORMAT);
    tape.n += 2000;
    if (rank == 0) tape.bytes[tape.n / 2] ^= 4;
    CHECK_SAME(restore_from_tape(0, 6), TUTTI_ERR_FORMAT);
    if (rank == 0) tape.bytes[tape.n / 2] ^= 4;
    if (rank == 0) tape.bytes[130] ^= 1; /* damage a size in a header */
    CHECK_SAME(restore_from_tape(0, 6), TUTTI_ERR_FORMAT);
    if (rank == 0) tape.bytes[130] ^= 1;
    check_values(7 << 2);
    CHECK_SAME(restore_from_tape(3, 3), TUTTI_OK); /* other segments of the stream are skipped */
    check_values(1 << 2 | 1 << 4);
    CHECK_SAME(restore_from_tape(0, 6), TUTTI_OK);
    check_values(0);
    CHECK_SAME(tutti_dataset_archive_stream(d, 2, 2, rank ? NULL : &s, &freed), TUTTI_OK);
    tape.n = 1024; /* the archive has only zeros, which is an empty tar archive */
    if (rank == 0) memset(tape.bytes, 0, 1024);
    CHECK_SAME(restore_from_tape(2, 2), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_erase_after(d, 1), TUTTI_OK); /* removes archived segments, too */
    for (int i = 1; i < STATES; i++) write_state(i);
    check_values(0);
    free(tape.bytes);
    memset(&tape, 0, sizeof tape);
}

/* ---- directories */

static void test_refused(void) {
    check_where("refused");
    CHECK_SAME(tutti_dataset_archive(d, 0, 99, place, NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_archive(d, 3, 2, place, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_archive(d, 0, 2, "", NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_archive(d, 0, 2, NULL, NULL), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_archive(d, 0, 2, "/nowhere/at/all", NULL), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_archive_stream(d, 0, 2, NULL, NULL), TUTTI_ERR_ARG);
    if (ranks > 1)
        CHECK_SAME(tutti_dataset_archive(d, 0, 1 + rank, place, NULL), TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 99, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_archive(d, 0, 2, place, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_OK);
    check_values(0);
}

static void use_directories(int per_file) {
    tutti_off freed = 0;
    double *all = malloc((size_t)(STATES + 2) * ENTRIES * sizeof *all);
    tutti_count n = 0;
    check_where(per_file ? "directories, several data files" : "directories, one data file");
    dataset_remove(place);
    /* segment 1 has the list of entries of all states: it is kept, like the topology */
    CHECK_SAME(tutti_dataset_archive(d, 0, 4, place, &freed), TUTTI_OK);
    const unsigned away = 1 << 2 | 1 << 3 | 1 << 4;
    CHECK(per_file == 0 || freed > 0, "nothing was freed with %d indices per file", per_file);
    check_values(away);
    /* the second call has nothing to do */
    CHECK_SAME(tutti_dataset_archive(d, 0, 4, place, NULL), TUTTI_OK);
    check_values(away);
    if (per_file == 2) CHECK(!file_exists("data-000002.tutti"), "states 2 and 3 are still here");
    CHECK_SAME(tutti_dataset_follow(d, 1, 5, &(tutti_get){"a", p, TUTTI_FLOAT64, all}, &n),
               TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_follow(d, 5, 7, &(tutti_get){"a", p, TUTTI_FLOAT64, all}, &n),
               TUTTI_OK);
    free(all);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE, per_file);
    check_values(away);
    damage_bytes(1, 9000, 16);
    CHECK_SAME(tutti_dataset_restore(d, 0, 8, place), TUTTI_ERR_FORMAT);
    damage_bytes(1, 9000, 16);
    damage_bytes(2, 20, 1); /* damage the header of the file */
    CHECK_SAME(tutti_dataset_restore(d, 0, 8, place), TUTTI_ERR_FORMAT);
    damage_bytes(2, 20, 1);
    CHECK_SAME(tutti_dataset_restore(d, 0, 8, check_dir()), TUTTI_ERR_NOT_FOUND);
    check_values(away);
    write_state(20 + per_file); /* further states are appended */
    CHECK_SAME(tutti_dataset_restore(d, 3, 3, place), TUTTI_OK);
    check_values(1 << 2 | 1 << 4);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE, per_file);
    CHECK_SAME(tutti_dataset_restore(d, 0, 8, place), TUTTI_OK);
    check_values(0);
    CHECK_SAME(tutti_dataset_restore(d, 0, 8, place), TUTTI_OK); /* all are restored */
}

/* Archive all states of the last file, then append, erase and drop states. */
static void check_missing_archive(int per_file) {
    check_where("missing archive");
    const tutti_count last = tutti_dataset_segments(d) - 1;
    CHECK_SAME(tutti_dataset_archive(d, 6, last, place, NULL), TUTTI_OK);
    write_state(50);
    write_state(51);
    check_values(((1U << (last + 1)) - 1) & ~63U);
    CHECK_SAME(tutti_dataset_erase_after(d, 7), TUTTI_OK);
    test_closed();
    open_file(TUTTI_READ | TUTTI_WRITE, per_file);
    CHECK_EQ(tutti_dataset_segments(d), 8);
    check_values(3 << 6);
    write_state(60);
    check_values(3 << 6);
    /* nothing is dropped from a single file */
    CHECK_SAME(tutti_dataset_drop_oldest(d, 1), TUTTI_OK);
    write_state(61);
    check_values(per_file ? 0 : 3 << 6);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1276);
    snprintf(path, sizeof path, "%s/t1276.tutti", check_dir());
    snprintf(place, sizeof place, "%s/t1276.away", check_dir());
    lo = ENTRIES * rank / ranks;
    hi = ENTRIES * (rank + 1) / ranks;
    v = malloc((size_t)(hi - lo) * sizeof *v);
    for (int per_file = 0; per_file < 3; per_file += 2) {
        dataset_remove(path);
        dataset_remove(place);
        open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, per_file);
        for (int i = 0; i < STATES; i++) write_state(i);
        test_refused();
        if (per_file == 0) test_streams();
        use_directories(per_file);
        check_missing_archive(per_file);
        test_closed();
    }
    dataset_remove(path);
    dataset_remove(place);
    free(v);
    return harness_end();
}
