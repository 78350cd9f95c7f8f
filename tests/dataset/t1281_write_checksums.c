/* TEST ranks=1,3 timeout=60 */
/* Checksums that are computed while data is written, with every method: long runs per rank, converted values,
 * lists of nodes, a reused decomposition.  verify accepts the checksums, and the values equal a serial model
 * when read by another decomposition.  Some checksum blocks are written by several ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

/* EACH values are 1.1 MiB per rank, which is more than 16 checksum blocks */
enum { EACH = 150001, STEPS = 2, VARIABLES = 2 };
static char path[512];
static double *put_buf[VARIABLES], *got;
static tutti_count *position;

static const struct {
    const char *name;
    tutti_layout layout;
    tutti_type type;
    tutti_byte_order order;
    int run; /* number of consecutive entries per rank, cyclically distributed; 0: one block per rank */
    const char *method;
} variants[] = {{"ranked", TUTTI_RANKED, TUTTI_FLOAT64, TUTTI_LITTLE_ENDIAN, 0, "auto"},
                {"ranked nodes", TUTTI_RANKED, TUTTI_FLOAT32, TUTTI_LITTLE_ENDIAN, 64, "auto"},
                {"blocks", TUTTI_GLOBAL, TUTTI_FLOAT64, TUTTI_LITTLE_ENDIAN, 0, "auto"},
                {"blocks, list", TUTTI_GLOBAL, TUTTI_FLOAT64, TUTTI_LITTLE_ENDIAN, 0, "list"},
                {"big", TUTTI_GLOBAL, TUTTI_FLOAT64, TUTTI_BIG_ENDIAN, 0, "list"},
                {"float32", TUTTI_GLOBAL, TUTTI_FLOAT32, TUTTI_LITTLE_ENDIAN, 0, "list"},
                {"float32, auto", TUTTI_GLOBAL, TUTTI_FLOAT32, TUTTI_BIG_ENDIAN, 0, "auto"},
                {"nodes", TUTTI_GLOBAL, TUTTI_FLOAT64, TUTTI_LITTLE_ENDIAN, 64, "auto"},
                {"nodes, staged", TUTTI_GLOBAL, TUTTI_INT32, TUTTI_BIG_ENDIAN, 7, "two-phase"},
                {"nodes, list", TUTTI_GLOBAL, TUTTI_FLOAT64, TUTTI_LITTLE_ENDIAN, 1000, "list"}};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static double value_of(int step, int v, tutti_count at) {
    return (double)((at * 7 + v * 31 + step * 101) % 99991);
}

static const char *name_of(int v) {
    static const char *const names[VARIABLES] = {"a", "b"};
    return names[v];
}

static tutti_count positions_of(int run) {
    const tutti_count all = (tutti_count)EACH * ranks, lo = (tutti_count)EACH * rank;
    tutti_count n = 0;
    for (tutti_count i = 0; i < all; i++)
        if (run ? (int)(i / run % ranks) == rank : i >= lo && i < lo + EACH) position[n++] = i;
    return n;
}

static void open_variant(int w, tutti_dataset **d) {
    const tutti_count entries = (tutti_count)EACH * ranks;
    tutti_dataset_options opt;
    tutti_options io;
    CHECK_OK(tutti_options_init(&io));
    CHECK_OK(tutti_options_set(&io, "method", variants[w].method));
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.io = &io;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                  d),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(*d, "x", 1, &entries), TUTTI_OK);
    for (int v = 0; v < VARIABLES; v++) {
        const tutti_variable_spec spec = {.space = "x",
                                          .type = variants[w].type,
                                          .layout = variants[w].layout,
                                          .order = variants[w].order};
        CHECK_SAME(tutti_dataset_variable(*d, name_of(v), &spec), TUTTI_OK);
    }
}

static void put_step(tutti_dataset *d, tutti_decomposition *p, tutti_count n, int step) {
    tutti_put puts[VARIABLES];
    for (int v = 0; v < VARIABLES; v++) {
        for (tutti_count i = 0; i < n; i++) put_buf[v][i] = value_of(step, v, position[i]);
        puts[v] = (tutti_put){name_of(v), p, TUTTI_FLOAT64, put_buf[v]};
    }
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, step, step), TUTTI_OK);
    CHECK_SAME(tutti_dataset_put(d, VARIABLES, puts), TUTTI_OK);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
}

static void get_step(tutti_dataset *d, tutti_decomposition *p, tutti_count n, int step) {
    for (int v = 0; v < VARIABLES; v++) {
        const tutti_get get = {name_of(v), p, TUTTI_FLOAT64, got};
        tutti_count wrong = 0;
        CHECK_SAME(tutti_dataset_get(d, step, 1, &get), TUTTI_OK);
        for (tutti_count i = 0; i < n; i++)
            wrong +=
                got[i] < value_of(step, v, position[i]) || got[i] > value_of(step, v, position[i]);
        CHECK_EQ(wrong, 0);
    }
}

static void run_variant(int w) {
    tutti_dataset *d = NULL;
    tutti_decomposition *p = NULL, *other = NULL;
    check_where(variants[w].name);
    open_variant(w, &d);
    tutti_count n = positions_of(variants[w].run);
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_INDEX, .n = n, .index = position, .whole = 1};
    CHECK_SAME(tutti_decomposition_create(d, "x", &spec, &p), TUTTI_OK);
    for (int step = 0; step < STEPS; step++) put_step(d, p, n, step);
    for (int step = 0; step < STEPS; step++) get_step(d, p, n, step);
    n = positions_of(5000);
    const tutti_decomposition_spec again = {
        .kind = TUTTI_BY_INDEX, .n = n, .index = position, .whole = 1};
    CHECK_SAME(tutti_decomposition_create(d, "x", &again, &other), TUTTI_OK);
    get_step(d, other, n, STEPS - 1);
    tutti_off bytes = 0;
    CHECK_SAME(tutti_dataset_verify(d, &bytes), TUTTI_OK);
    CHECK(bytes >= (tutti_off)STEPS * VARIABLES * EACH * ranks * tutti_type_size(variants[w].type),
          "%lld bytes", (long long)bytes);
    tutti_decomposition_free(&p);
    tutti_decomposition_free(&other);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1281);
    const size_t most = (size_t)EACH + 10000;
    snprintf(path, sizeof path, "%s/t1281.tutti", check_dir());
    dataset_remove(path);
    for (int v = 0; v < VARIABLES; v++) put_buf[v] = malloc(most * sizeof **put_buf);
    got = malloc(most * sizeof *got);
    position = malloc(most * sizeof *position);
    for (int w = 0; w < VARIANTS; w++) run_variant(w);
    dataset_remove(path);
    for (int v = 0; v < VARIABLES; v++) free(put_buf[v]);
    free(got);
    free(position);
    return harness_end();
}
