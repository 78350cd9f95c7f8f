/* TEST ranks=1,2,3,5,8 timeout=120 */
/* drop_oldest compared with a model: topologies that set the sizes of some, all or no spaces; states with global,
 * compressed and ranked variables; native and netCDF data files.  After dropping, every remaining segment has its
 * topology, shapes and values, verify reports no errors, and repair rebuilds the same dataset from native data
 * files alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>
#include "dataset/datasets.h"

enum { SPACES = 3, VARIABLES = 3, MOST = 64 };
static const char *const SPACE[SPACES] = {"a", "b", "c"};
static char path[512];
static tutti_dataset *d;
static int container;

/* Names of the variables of topologies and of states; variable v is on space v: global, compressed, ranked. */
static const char *const NAMES[2][VARIABLES] = {{"ta", "tb", "tc"}, {"va", "vb", "vc"}};
#define NAME NAMES[kind == TUTTI_STATE]

static struct {
    tutti_segment_kind kind;
    int64_t index, topology; /* time indices of the segment and of its topology (-1: none) */
    tutti_count size[SPACES];
    int put[VARIABLES];
} written[MOST];
static int written_n;

static double value(int64_t index, tutti_segment_kind kind, int v, tutti_count i) {
    return number_at(v, 2 * index + (kind == TUTTI_STATE), i, 0);
}

static tutti_decomposition *block(const char *space, tutti_count segment, tutti_count size,
                                  tutti_count *lo, tutti_count *hi) {
    tutti_decomposition *p = NULL;
    tutti_count index[64];
    *lo = size * rank / ranks;
    *hi = size * (rank + 1) / ranks;
    for (tutti_count i = *lo; i < *hi; i++) index[i - *lo] = i;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_INDEX, .n = *hi - *lo, .index = index};
    CHECK_OK(tutti_decomposition_create_at(d, space, segment, &spec, &p));
    return p;
}

static void open_file(int mode) {
    tutti_dataset_options opt = visible();
    opt.indices_per_file = 2;
    opt.container = container;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, mode, &opt, &d), TUTTI_OK);
}

/* Write one segment.  Bit i of `sets`: the size of space i changes; bit i of `puts`: variable i is written. */
static void write_segment(tutti_segment_kind kind, int64_t index, unsigned sets, unsigned puts) {
    const int n = written_n++;
    const int before = n > 0;
    for (int s = 0; s < SPACES; s++) written[n].size[s] = before ? written[n - 1].size[s] : 4;
    written[n].kind = kind;
    written[n].index = index;
    written[n].topology = kind == TUTTI_TOPOLOGY ? index : before ? written[n - 1].topology : -1;
    CHECK_SAME(tutti_dataset_begin(d, kind, index, (double)index), TUTTI_OK);
    for (int s = 0; s < SPACES; s++) {
        if (kind != TUTTI_TOPOLOGY || !(sets >> s & 1)) continue;
        written[n].size[s] = 1 + (tutti_count)(mix((uint64_t)index, (uint64_t)s) % 40);
        CHECK_SAME(tutti_dataset_resize(d, SPACE[s], 1, &written[n].size[s]), TUTTI_OK);
    }
    for (int v = 0; v < VARIABLES; v++) {
        double buf[64];
        tutti_count lo, hi;
        written[n].put[v] = puts >> v & 1;
        if (!written[n].put[v]) continue;
        tutti_decomposition *p = block(SPACE[v], -1, written[n].size[v], &lo, &hi);
        for (tutti_count i = lo; i < hi; i++) buf[i - lo] = value(index, kind, v, i);
        CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){NAME[v], p, TUTTI_FLOAT64, buf}), TUTTI_OK);
        tutti_decomposition_free(&p);
    }
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

static void test_created(void) {
    const int netcdf = container == TUTTI_CONTAINER_NETCDF;
    dataset_remove(path);
    written_n = 0;
    open_file(TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE);
    for (int s = 0; s < SPACES; s++) {
        const tutti_variable_spec v = {.space = SPACE[s],
                                       .type = TUTTI_FLOAT64,
                                       .order = netcdf ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN,
                                       .compress = s == 1 && !netcdf ? 3 : 0,
                                       .layout = s == 2 && !netcdf ? TUTTI_RANKED : TUTTI_GLOBAL};
        CHECK_SAME(tutti_dataset_grid(d, SPACE[s], 1, (tutti_count[]){4}), TUTTI_OK);
        for (int k = 0; k < 2; k++)
            CHECK_SAME(tutti_dataset_variable(d, NAMES[k][s], &v), TUTTI_OK);
    }
}

static int written_of(const tutti_segment *g) {
    for (int i = 0; i < written_n; i++)
        if (written[i].index == g->index && written[i].kind == g->kind) return i;
    CHECK(0, "segment with time index %lld is unknown", (long long)g->index);
    return 0;
}

static void values_right(tutti_count s, int n, int v) {
    double buf[64];
    tutti_count lo, hi, wrong = 0;
    tutti_section_row row;
    const tutti_segment_kind kind = written[n].kind;
    tutti_decomposition *p = block(SPACE[v], s, written[n].size[v], &lo, &hi);
    const tutti_get get = {NAME[v], p, TUTTI_FLOAT64, buf};
    if (written[n].put[v]) {
        CHECK_SAME(tutti_dataset_section_row(d, s, NAME[v], &row), TUTTI_OK);
        CHECK_SAME(tutti_dataset_get(d, s, 1, &get), TUTTI_OK);
        for (tutti_count i = lo; i < hi; i++)
            wrong += buf[i - lo] != value(written[n].index, kind, v, i);
        CHECK(wrong == 0, "%s of index %lld: %lld values differ", NAME[v],
              (long long)written[n].index, (long long)wrong);
    } else {
        CHECK_SAME(tutti_dataset_get(d, s, 1, &get), TUTTI_ERR_NOT_FOUND);
    }
    tutti_decomposition_free(&p);
}

/* Check that every remaining segment is unchanged. */
static void test_right(void) {
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    for (tutti_count s = 0; s < tutti_dataset_segments(d); s++) {
        tutti_segment g, t = {.index = -1};
        CHECK_OK(tutti_dataset_segment(d, s, &g));
        const int n = written_of(&g);
        if (g.topology >= 0) CHECK_OK(tutti_dataset_segment(d, g.topology, &t));
        CHECK_EQ(t.index, written[n].topology);
        for (int v = 0; v < SPACES; v++) {
            int ndims = 0;
            tutti_count shape[TUTTI_MAX_DIMS] = {0};
            CHECK_OK(tutti_dataset_shape(d, SPACE[v], s, &ndims, shape));
            CHECK_EQ(shape[0], written[n].size[v]);
            values_right(s, n, v);
        }
    }
}

static void drop_and_check(int keep) {
    CHECK_SAME(tutti_dataset_drop_oldest(d, keep), TUTTI_OK);
    test_right();
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(TUTTI_READ);
    test_right();
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    open_file(TUTTI_READ | TUTTI_WRITE);
}

static void from_data_files(void) {
    char name[600];
    const tutti_count n = tutti_dataset_segments(d);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(unlink(name) == 0, "%s", name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_SAME(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, NULL), TUTTI_OK);
    open_file(TUTTI_READ | TUTTI_WRITE);
    CHECK_EQ(tutti_dataset_segments(d), n);
    test_right();
}

static void test_ended(void) {
    if (container == TUTTI_CONTAINER_NATIVE) from_data_files();
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    dataset_remove(path);
}

/* The topology that sets the size of space b has a section on space a, whose size another topology has set. */
static void two_spaces(void) {
    check_where("two spaces");
    test_created();
    write_segment(TUTTI_TOPOLOGY, 0, 1, 1);
    write_segment(TUTTI_TOPOLOGY, 2, 2, 3);
    write_segment(TUTTI_TOPOLOGY, 4, 1, 1);
    write_segment(TUTTI_STATE, 4, 0, 3);
    write_segment(TUTTI_STATE, 6, 0, 3);
    drop_and_check(1);
    test_ended();
}

/* A topology that has sections but sets no size is the topology of the states after it. */
static void no_size(void) {
    check_where("no size");
    test_created();
    write_segment(TUTTI_TOPOLOGY, 0, 7, 1);
    write_segment(TUTTI_TOPOLOGY, 2, 0, 2);
    write_segment(TUTTI_STATE, 4, 0, 7);
    write_segment(TUTTI_STATE, 6, 0, 7);
    drop_and_check(1);
    test_ended();
}

static void random_life(uint64_t seed) {
    char where[32];
    snprintf(where, sizeof where, "seed %d", (int)seed);
    check_where(where);
    test_created();
    int64_t index = 0;
    for (uint64_t k = 0; k < 12; k++) {
        const unsigned r = (unsigned)mix(seed, 10 * k), puts = (unsigned)mix(seed, 10 * k + 1) % 8;
        index += (int)(mix(seed, 10 * k + 2) % 3);
        const int again = written_n && written[written_n - 1].index == index;
        if (again && written[written_n - 1].kind == TUTTI_STATE) index++;
        if (r % 3 == 0 && !(again && written[written_n - 1].index == index))
            write_segment(TUTTI_TOPOLOGY, index, (unsigned)mix(seed, 10 * k + 3) % 8, puts);
        write_segment(TUTTI_STATE, index, 0, container == TUTTI_CONTAINER_NATIVE ? puts : 7);
        if (k % 4 == 3) drop_and_check(1 + (int)(mix(seed, 10 * k + 4) % 3));
    }
    test_ended();
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1268);
    snprintf(path, sizeof path, "%s/t1268.tutti", check_dir());
    for (container = 0; container < 2; container++) {
        two_spaces();
        no_size();
        for (uint64_t seed = 1; seed <= 6; seed++) random_life(seed);
    }
    return harness_end();
}
