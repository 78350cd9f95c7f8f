/* TEST ranks=1,3 timeout=120 */
/* Repair: metadata missing, truncated, zeroed, flipped, older or of another dataset; data files missing or truncated.
 * Restored segments have their values, erased ones do not reappear, and the dataset can be written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 60, STATES = 6 };
static char whole[512], path[520], other[520];
static tutti_dataset_options fast; /* without syncs */
#define RW (TUTTI_READ | TUTTI_WRITE)

/* ---- operations of rank 0 on files */

static void copy_file(const char *from, const char *to) {
    char block[65536];
    const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(in >= 0 && out >= 0, "%s to %s", from, to);
    ssize_t n;
    while ((n = read(in, block, sizeof block)) > 0)
        CHECK(write(out, block, (size_t)n) == n, "copying");
    close(in);
    close(out);
}

static void copy_dataset(const char *from, const char *to) {
    dataset_remove(to);
    if (rank == 0) {
        char a[800], b[800];
        DIR *dir = opendir(from);
        struct dirent *e;
        CHECK(mkdir(to, 0777) == 0, "%s", to);
        while (dir && (e = readdir(dir))) {
            if (e->d_name[0] == '.') continue;
            snprintf(a, sizeof a, "%s/%s", from, e->d_name);
            snprintf(b, sizeof b, "%s/%s", to, e->d_name);
            copy_file(a, b);
        }
        if (dir) closedir(dir);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static const char *path_of(const char *name) {
    static char text[2][700]; /* two paths are valid at a time */
    static int which;
    which = !which;
    snprintf(text[which], sizeof text[0], "%s/%s", path, name);
    return text[which];
}

static int64_t size_of(const char *name) {
    struct stat st;
    return stat(path_of(name), &st) == 0 ? (int64_t)st.st_size : -1;
}

static void cut_file(const char *name, int64_t size) {
    if (rank == 0) CHECK(truncate(path_of(name), size) == 0, "%s to %lld", name, (long long)size);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_file(const char *name) {
    if (rank == 0) CHECK(unlink(path_of(name)) == 0, "%s", name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void spoil_bytes(const char *name, int64_t at, int bits, int64_t n) {
    if (rank == 0) {
        const int fd = open(path_of(name), O_RDWR);
        for (int64_t i = at; i < at + n; i++) {
            unsigned char c = 0;
            CHECK(pread(fd, &c, 1, i) == 1, "%s at %lld", name, (long long)i);
            c = bits < 0 ? 0 : (unsigned char)(c ^ bits);
            CHECK(pwrite(fd, &c, 1, i) == 1, "%s at %lld", name, (long long)i);
        }
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- the dataset: topologies at indices 0 and 3, a state at each index, two indices per file */

static double value_of(int64_t segment_index, tutti_count i) {
    return (double)(segment_index * 1000 + i);
}

static tutti_decomposition *local_block_of(tutti_dataset *d, const char *space, tutti_count segment,
                                           tutti_count n) {
    tutti_decomposition *p = NULL;
    const tutti_count lo = n * rank / ranks, hi = n * (rank + 1) / ranks;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER, .n = hi - lo};
    CHECK_OK(tutti_decomposition_create_at(d, space, segment, &spec, &p));
    return p;
}

static tutti_count nodes_at(int64_t index) {
    return index < 3 ? ENTRIES : ENTRIES + 7;
}

static void write_topology(tutti_dataset *d, int64_t index) {
    int64_t ids[ENTRIES + 7];
    const tutti_count all = nodes_at(index), lo = all * rank / ranks, hi = all * (rank + 1) / ranks;
    for (tutti_count i = lo; i < hi; i++) ids[i - lo] = id_of(index, i);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, index, (double)index));
    CHECK_OK(tutti_dataset_ids(d, "nodes", hi - lo, ids));
    CHECK_OK(tutti_dataset_commit(d));
}

static void write_state(tutti_dataset *d, int64_t index) {
    double buf[ENTRIES + 7];
    const tutti_count all = nodes_at(index);
    tutti_decomposition *nodes = local_block_of(d, "nodes", -1, all),
                        *grid = local_block_of(d, "grid", -1, ENTRIES);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, index, (double)index));
    for (tutti_count i = 0; i < ENTRIES / ranks + 8 && i < ENTRIES + 7; i++)
        buf[i] = value_of(index, all * rank / ranks + i);
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"v", nodes, TUTTI_FLOAT64, buf}));
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"w", nodes, TUTTI_FLOAT64, buf}));
    for (tutti_count i = 0; i < ENTRIES / ranks + 1 && i < ENTRIES; i++)
        buf[i] = value_of(index, ENTRIES * rank / ranks + i);
    CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){"u", grid, TUTTI_FLOAT64, buf}));
    const tutti_info_owner now = {NULL, tutti_dataset_segments(d)};
    CHECK_OK(tutti_dataset_info_set(d, &now, "step", TUTTI_INT64, 1, &index));
    CHECK_OK(tutti_dataset_info_set(d, NULL, "last", TUTTI_INT64, 1, &index));
    CHECK_OK(tutti_dataset_commit(d));
    tutti_decomposition_free(&nodes);
    tutti_decomposition_free(&grid);
}

static tutti_dataset *open_file(const char *where, int mode) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    opt.indices_per_file = 2;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, where, mode, &opt, &d), TUTTI_OK);
    return d;
}

static void make_objects(const char *where, int64_t from, int64_t to, const char *units) {
    tutti_dataset *d = open_file(where, RW | TUTTI_CREATE);
    const tutti_variable_spec u = {.space = "grid", .type = TUTTI_FLOAT64, .units = units};
    const tutti_variable_spec v = {.space = "nodes", .type = TUTTI_FLOAT32};
    const tutti_variable_spec w = {.space = "nodes", .type = TUTTI_FLOAT64, .layout = TUTTI_RANKED};
    CHECK_OK(tutti_dataset_grid(d, "grid", 1, (tutti_count[]){ENTRIES}));
    CHECK_OK(tutti_dataset_list(d, "nodes"));
    CHECK_OK(tutti_dataset_variable(d, "u", &u));
    CHECK_OK(tutti_dataset_variable(d, "v", &v));
    CHECK_OK(tutti_dataset_variable(d, "w", &w));
    for (int64_t i = from; i < to; i++) {
        if (i % 3 == 0) write_topology(d, i);
        write_state(d, i);
    }
    CHECK_OK(tutti_dataset_close(&d));
}

/* Check the values of all existing states; return their time indices as a bit mask. */
static unsigned states_of(void) {
    unsigned there = 0;
    double buf[ENTRIES + 7];
    int64_t step = -1;
    tutti_dataset *d = open_file(path, TUTTI_READ);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    for (tutti_count s = 0; s < tutti_dataset_segments(d); s++) {
        tutti_segment g;
        tutti_type type;
        tutti_count one = 1;
        CHECK_OK(tutti_dataset_segment(d, s, &g));
        if (g.kind != TUTTI_STATE) continue;
        there |= 1u << g.index;
        CHECK(g.time == (double)g.index && g.topology >= 0, "a state has no topology");
        const tutti_count all = nodes_at(g.index);
        tutti_decomposition *nodes = local_block_of(d, "nodes", s, all),
                            *grid = local_block_of(d, "grid", s, ENTRIES);
        for (const char *name = "uvw"; *name; name++) {
            const char text[2] = {*name};
            tutti_decomposition *p = *name == 'u' ? grid : nodes;
            const tutti_count n = *name == 'u' ? ENTRIES : all, lo = n * rank / ranks;
            CHECK_OK(tutti_dataset_get(d, s, 1, &(tutti_get){text, p, TUTTI_FLOAT64, buf}));
            for (tutti_count i = lo; i < n * (rank + 1) / ranks; i++)
                CHECK(buf[i - lo] == value_of(g.index, i), "%s of %lld", text, (long long)g.index);
        }
        const tutti_info_owner owner = {NULL, s};
        CHECK_OK(tutti_dataset_info_get(d, &owner, "step", &type, &one, &step));
        CHECK_EQ(step, g.index);
        tutti_decomposition_free(&nodes);
        tutti_decomposition_free(&grid);
    }
    CHECK_OK(tutti_dataset_close(&d));
    return there;
}

/* ---- repairs */

static tutti_repair_report repair_and_check(const char *what, int rebuilt, int lost,
                                            unsigned there) {
    tutti_repair_report r, again;
    check_where(what);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &r), TUTTI_OK);
    CHECK(r.rebuilt == rebuilt || rebuilt < 0, "rebuilt: %d, %s", r.rebuilt, r.first_lost);
    CHECK(lost < 0 || r.lost == lost, "lost: %lld (%s)", (long long)r.lost, r.first_lost);
    CHECK((r.lost == 0) == (r.first_lost[0] == 0), "'%s'", r.first_lost);
    const unsigned now = states_of();
    CHECK(now == there, "states %x, not %x; %s", now, there, r.first_lost);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &again), TUTTI_OK);
    CHECK(!again.rebuilt && again.lost == 0 && again.segments == r.segments, "not yet: %s",
          again.first_lost);
    return r;
}

/* Append a segment; `there`: bit mask of the states that exist. */
static void append_and_check(unsigned there) {
    tutti_dataset *d = open_file(path, RW);
    write_topology(d, 9);
    write_state(d, 9);
    CHECK_OK(tutti_dataset_close(&d));
    CHECK_EQ(states_of(), there | 1u << 9);
}

enum { ALL = (1 << STATES) - 1 };

static void test_metadata(void) {
    tutti_dataset *d = NULL;
    const tutti_dataset_options opt = visible();
    tutti_repair_report r;
    copy_dataset(whole, path);
    const int64_t size = size_of("metadata.sqlite");
    r = repair_and_check("nothing", 0, 0, ALL);
    CHECK(r.segments == STATES + 2 && r.files == 3, "%lld segments, %d files",
          (long long)r.segments, r.files);

    remove_file("metadata.sqlite");
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, RW | TUTTI_CREATE, &opt, &d),
               TUTTI_ERR_FORMAT); /* the failed open must not remove data */
    if (rank == 0) (void)unlink(path_of("metadata.sqlite"));
    r = repair_and_check("gone", 1, 0, ALL);
    CHECK(!r.backup[0], "%s", r.backup);
    append_and_check(ALL);

    copy_dataset(whole, path);
    cut_file("metadata.sqlite", 0);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, RW | TUTTI_CREATE, &opt, &d),
               TUTTI_ERR_FORMAT);
    r = repair_and_check("empty", 1, 0, ALL);
    CHECK(strcmp(r.backup, "metadata.sqlite.damaged") == 0 && size_of(r.backup) == 0, "%s",
          r.backup);
    cut_file("metadata.sqlite", 0);
    r = repair_and_check("empty again", 1, 0, ALL);
    CHECK(strcmp(r.backup, "metadata.sqlite.damaged-2") == 0, "%s", r.backup);

    copy_dataset(whole, path);
    cut_file("metadata.sqlite", size / 2 + 100);
    repair_and_check("short", 1, 0, ALL);
    append_and_check(ALL);
    copy_dataset(whole, path);
    spoil_bytes("metadata.sqlite", 0, -1, size);
    repair_and_check("zeros", 1, 0, ALL);
    copy_dataset(whole, path);
    spoil_bytes("metadata.sqlite", 100, 255, 8000);
    repair_and_check("upside down", 1, 0, ALL);
}

/* Flip random bits of the metadata.  The values of infos are not checked: repair has no copy to compare with. */
static void flip_bits(unsigned seed) {
    for (int i = 0; i < (ranks > 1 ? 3 : 10); i++) {
        char what[64];
        copy_dataset(whole, path);
        const int64_t size = size_of("metadata.sqlite");
        const uint64_t at = ((uint64_t)mix(seed, (uint64_t)(4 * i)) << 8) +
                            (uint64_t)mix(seed, (uint64_t)(4 * i + 1));
        const int64_t place = (int64_t)(at * (uint64_t)size >> 16);
        snprintf(what, sizeof what, "seed %u: bit of byte %lld", seed, (long long)place);
        spoil_bytes("metadata.sqlite", place, 1 << (i % 8), 1);
        tutti_repair_report r;
        check_where(what);
        CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &r), TUTTI_OK);
        tutti_dataset *d = open_file(path, RW);
        CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
        CHECK_EQ(tutti_dataset_segments(d), STATES + 2);
        CHECK_OK(tutti_dataset_close(&d));
    }
}

static void test_strangers(void) {
    char from[700];
    copy_dataset(whole, path);
    snprintf(from, sizeof from, "%s/metadata.sqlite", other);
    if (rank == 0) copy_file(from, path_of("metadata.sqlite"));
    repair_and_check("another's metadata", 1, 0, ALL);

    /* replace the metadata by a copy made after two states */
    dataset_remove(path);
    make_objects(path, 0, 2, "m");
    if (rank == 0) copy_file(path_of("metadata.sqlite"), path_of("kept"));
    make_objects(path, 2, STATES, "m");
    if (rank == 0) CHECK(rename(path_of("kept"), path_of("metadata.sqlite")) == 0, "rename");
    MPI_Barrier(MPI_COMM_WORLD);
    repair_and_check("older metadata", 1, 0, ALL);

    /* replace a data file by that of another dataset */
    copy_dataset(whole, path);
    snprintf(from, sizeof from, "%s/data-000002.tutti", other);
    if (rank == 0) copy_file(from, path_of("data-000002.tutti"));
    MPI_Barrier(MPI_COMM_WORLD);
    /* states 2 and 3 and the topology at 3 are missing, and therefore states 4 and 5 */
    repair_and_check("another's data", 1, -1, 3);
    append_and_check(3);
}

static void test_data(void) {
    tutti_dataset *d = NULL;
    copy_dataset(whole, path);
    remove_file("data-000003.tutti"); /* the file contains states 4 and 5 */
    repair_and_check("a file gone", 0, 2, 15);
    append_and_check(15);
    copy_dataset(whole, path);
    /* the file contains states 2 and 3, and the topology at 3 that states 4 and 5 need */
    remove_file("data-000002.tutti");
    repair_and_check("a topology gone", 0, 5, 3);
    CHECK(rank != 0 || size_of("data-000003.tutti.damaged") > 0, "data have been deleted");
    append_and_check(3);
    copy_dataset(whole, path);
    remove_file("data-000002.tutti");
    remove_file("metadata.sqlite");
    repair_and_check("a topology and the metadata gone", 1, 2, 3);
    copy_dataset(whole, path);
    cut_file("data-000003.tutti", size_of("data-000003.tutti") - 1);
    repair_and_check("a file short", 0, 1, 31);
    append_and_check(31);
    copy_dataset(whole, path);
    cut_file("data-000003.tutti", size_of("data-000003.tutti") - 100);
    remove_file("metadata.sqlite");
    repair_and_check("a file short, no metadata", 1, 0, 31);
    append_and_check(31);
    copy_dataset(whole, path);
    /* remove the metadata, and append bytes that are not a segment */
    remove_file("metadata.sqlite");
    if (rank == 0) {
        const int fd = open(path_of("data-000003.tutti"), O_WRONLY | O_APPEND);
        for (int i = 0; i < 300; i++) CHECK(write(fd, "TUTTISEG torn", 13) == 13, "append");
        close(fd);
    }
    repair_and_check("a torn end", 1, 0, ALL);
    append_and_check(ALL);
    /* damage the trailer of the first state in file 3: the file is kept */
    copy_dataset(whole, path);
    d = open_file(path, TUTTI_READ);
    tutti_section_row row;
    CHECK_OK(tutti_dataset_section_row(d, 6, "u", &row));
    CHECK(strcmp(row.file, "data-000003.tutti") == 0, "%s", row.file);
    CHECK_OK(tutti_dataset_close(&d));
    spoil_bytes("data-000003.tutti", tutti__align_up(row.start + row.bytes, 4096) - 40, 4, 1);
    tutti_repair_report r;
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &r), TUTTI_OK);
    CHECK(!r.rebuilt && r.lost == 0 && r.damaged == 1, "damaged: %lld", (long long)r.damaged);
    remove_file("metadata.sqlite");
    repair_and_check("a trailer and the metadata", 1, 1, ALL & ~16u);
    /* damage the last segment: repair cannot know whether it was committed */
    copy_dataset(whole, path);
    d = open_file(path, TUTTI_READ);
    CHECK_OK(tutti_dataset_section_row(d, 7, "u", &row));
    CHECK_OK(tutti_dataset_close(&d));
    spoil_bytes("data-000003.tutti", row.start + 3, 1, 1);
    remove_file("metadata.sqlite");
    repair_and_check("the last segment is not whole", 1, 1, ALL & ~32u);
}

static void erase_and_drop(void) {
    tutti_dataset *d = NULL;
    copy_dataset(whole, path);
    d = open_file(path, RW);
    /* this keeps segments 0 and 4 (topologies) and 1 to 3 (states) */
    CHECK_OK(tutti_dataset_erase_after(d, 4));
    CHECK_OK(tutti_dataset_close(&d));
    remove_file("metadata.sqlite");
    repair_and_check("erased", 1, 0, 7);
    copy_dataset(whole, path);
    d = open_file(path, RW);
    /* the topology at 3 and state 3 in file 2 are kept */
    CHECK_OK(tutti_dataset_drop_oldest(d, 1));
    CHECK_OK(tutti_dataset_close(&d));
    const unsigned there = states_of();
    CHECK(there == 56 || there == 48, "%x", there);
    repair_and_check("dropped", 0, 0, there);
    remove_file("metadata.sqlite");
    repair_and_check("dropped, metadata gone", 1, 0, there);
    append_and_check(there);
    /* removed segments of a file are only marked if later segments of the file are kept */
    copy_dataset(whole, path);
    d = open_file(path, RW);
    for (int i = 0; i < 2; i++) write_state(d, 6 + i);
    CHECK_OK(tutti_dataset_drop_oldest(d, 1));
    CHECK_OK(tutti_dataset_close(&d));
    const unsigned left = states_of();
    remove_file("metadata.sqlite");
    repair_and_check("dropped in the middle", 1, 0, left);
}

static void test_refused(void) {
    tutti_repair_report r = {.segments = 77};
    check_where("refused");
    copy_dataset(whole, path);
    tutti_dataset *d = open_file(path, RW);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &r), TUTTI_ERR_STATE);
    CHECK_OK(tutti_dataset_close(&d));
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, "", NULL, &r), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path_of("none"), NULL, &r),
               TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path_of("metadata.sqlite"), NULL, &r),
               TUTTI_ERR_FORMAT);
    if (ranks > 1)
        CHECK_ERR(tutti_dataset_repair(MPI_COMM_WORLD, rank ? path : other, NULL, &r),
                  TUTTI_ERR_MISMATCH);
    dataset_remove(path);
    if (rank == 0) CHECK(mkdir(path, 0777) == 0, "%s", path);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, &fast, &r), TUTTI_ERR_NOT_FOUND);
    CHECK_EQ(r.segments, 77);
    dataset_remove(path);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1269);
    const unsigned seed = (unsigned)check_seed_;
    fast = visible();
    snprintf(whole, sizeof whole, "%s/t1269.whole", check_dir());
    snprintf(path, sizeof path, "%s/t1269.tutti", check_dir());
    snprintf(other, sizeof other, "%s/t1269.other", check_dir());
    dataset_remove(whole);
    dataset_remove(path);
    dataset_remove(other);
    make_objects(whole, 0, STATES, "m");
    make_objects(other, 0, STATES + 1, "s");
    test_metadata();
    flip_bits(seed);
    test_strangers();
    test_data();
    erase_and_drop();
    test_refused();
    dataset_remove(whole);
    dataset_remove(other);
    return harness_end();
}
