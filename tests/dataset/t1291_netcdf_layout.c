/* TEST ranks=1,2,3,5,8 timeout=60 */
/* netCDF data files: the header, and each value at its offset according to netCDF, big-endian; the bytes are the same
 * for any number of ranks and any MPI implementation; the library reads the values back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include "base/sums.h"
#include "cdf/cdf.h"
#include "dataset/datasets.h"

enum { NODES = 777, ROWS = 31, WIDE = 1000, STATES = 4, TYPES = 10 };
static char path[512];

static const tutti_type types[TYPES] = {TUTTI_INT8,    TUTTI_INT16,  TUTTI_INT32,  TUTTI_INT64,
                                        TUTTI_UINT8,   TUTTI_UINT16, TUTTI_UINT32, TUTTI_UINT64,
                                        TUTTI_FLOAT32, TUTTI_FLOAT64};

/* Variables other than `type0`, `type1`, ..., which have one type each and are on the nodes. */
static const struct {
    const char *name;
    tutti_variable_spec spec;
    int numbers, in_topology;
} others[] = {
    {"position",
     {.space = "nodes",
      .item = TUTTI_VECTOR,
      .components = 3,
      .type = TUTTI_FLOAT64,
      .units = "m",
      .long_name = "where nodes are"},
     3,
     1},
    {"mask", {.space = "grid", .type = TUTTI_INT8, .fill = 1}, 1, 1},
    {"field", {.space = "grid", .type = TUTTI_FLOAT32, .units = "K", .fill = -1}, 1, 0},
    {"stress",
     {.space = "nodes", .item = TUTTI_SYM_TENSOR, .components = 2, .type = TUTTI_FLOAT64},
     3,
     0},
};
enum { OTHERS = sizeof others / sizeof *others, ALL = TYPES + OTHERS };

static const char *name_of(int i) {
    static char name[20];
    if (i >= TYPES) return others[i - TYPES].name;
    snprintf(name, sizeof name, "type%d", i);
    return name;
}

static tutti_variable_spec spec_of(int i) {
    return i < TYPES ? (tutti_variable_spec){.space = "nodes", .type = types[i]}
                     : others[i - TYPES].spec;
}

static int numbers_of(int i) {
    return i < TYPES ? 1 : others[i - TYPES].numbers;
}

static int in_topology(int i) {
    return i >= TYPES && others[i - TYPES].in_topology;
}

static tutti_count entries_of(int i) {
    return strcmp(spec_of(i).space, "nodes") == 0 ? NODES : (tutti_count)ROWS * WIDE;
}

/* Return the distribution of the entries of variable `i`; entries that no rank writes have the fill value. */
static distribution distribution_of(int i) {
    return (distribution){.kind = TUTTI_BY_INDEX,
                          .seed = (uint64_t)i,
                          .holes = i == TYPES + 1 || i == TYPES + 2 ? 5 : 0,
                          .copies = 2};
}

/* Return the expected value `k` of the entry at position `p`. */
static double expected_value(int i, int64_t segment, tutti_count p, int k) {
    const distribution how = distribution_of(i);
    if (how.holes && mix(how.seed + 1, (uint64_t)p) % 16 < how.holes) return spec_of(i).fill;
    return number_at(i, segment, p, k);
}

static void put_all(tutti_dataset *d, int64_t segment, int topology) {
    for (int i = 0; i < ALL; i++) {
        if (in_topology(i) != topology) continue;
        const distribution how = distribution_of(i);
        const int numbers = numbers_of(i);
        local_entries l = distribute_entries(d, spec_of(i).space, -1, &how, entries_of(i), -1);
        double *buf = calloc((size_t)(l.n * numbers) + 1, sizeof *buf);
        for (tutti_count e = 0; e < l.n * numbers; e++)
            buf[e] = number_at(i, segment, l.position[e / numbers], (int)(e % numbers));
        CHECK_ERR(tutti_dataset_put(d, 1, &(tutti_put){name_of(i), l.p, TUTTI_FLOAT64, buf}),
                  TUTTI_OK);
        free(buf);
        local_entries_free(&l);
    }
}

/* Write the dataset on the first `n` ranks. */
static void write_dataset(int n) {
    tutti_dataset_options opt = visible();
    tutti_dataset *d = NULL;
    opt.container = TUTTI_CONTAINER_NETCDF;
    some_take(n);
    if (some != MPI_COMM_NULL) {
        const tutti_count lo = (tutti_count)NODES * some_rank / n,
                          hi = (tutti_count)NODES * (some_rank + 1) / n;
        int64_t ids[NODES];
        CHECK_OK(tutti_dataset_open(some, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d));
        CHECK_OK(tutti_dataset_list(d, "nodes"));
        CHECK_OK(tutti_dataset_grid(d, "grid", 2, (tutti_count[]){ROWS, WIDE}));
        for (int i = 0; i < ALL; i++) {
            const tutti_variable_spec spec = spec_of(i);
            CHECK_OK(tutti_dataset_variable(d, name_of(i), &spec));
        }
        CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 7, 0.5));
        for (tutti_count k = lo; k < hi; k++) ids[k - lo] = 5000 - k;
        CHECK_OK(tutti_dataset_ids(d, "nodes", hi - lo, ids));
        put_all(d, 0, 1);
        CHECK_OK(tutti_dataset_commit(d));
        for (int s = 1; s <= STATES; s++) {
            CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 7 + s, s * 0.25));
            put_all(d, s, 0);
            CHECK_OK(tutti_dataset_commit(d));
        }
        CHECK_OK(tutti_dataset_verify(d, NULL));
        CHECK_OK(tutti_dataset_close(&d));
    }
    some_give();
}

/* ---- check the file by the specification of netCDF, without the library's reader */

static double number_in(const unsigned char *at, tutti_type type) {
    unsigned char native[8];
    const int size = (int)tutti_type_size(type);
    const uint16_t one = 1;
    for (int b = 0; b < size; b++)
        native[b] = *(const unsigned char *)&one ? at[size - 1 - b] : at[b];
    return number_get(type, native, 0);
}

static void check_text(const tutti__cdf *c, tutti_count var, const char *name, const char *want) {
    const tutti__cdf_att *a = tutti__cdf_find_att(c, var, name);
    CHECK((a != NULL) == (want != NULL), "%s of variable %lld", name, (long long)var);
    if (a && want) CHECK(strcmp(a->values, want) == 0, "%s is '%s'", name, (char *)a->values);
}

static void check_variable(const tutti__cdf *c, const unsigned char *bytes, int i) {
    const tutti_variable_spec spec = spec_of(i);
    const tutti_count var = tutti__cdf_find_var(c, name_of(i));
    const int numbers = numbers_of(i), grid = entries_of(i) != NODES;
    CHECK(var >= 0, "no variable %s", name_of(i));
    if (var < 0) return;
    const tutti__cdf_var *v = &c->vars[var];
    CHECK_EQ(v->type, tutti__cdf_of_number(spec.type));
    CHECK_EQ(v->is_record, !in_topology(i));
    CHECK_EQ(v->ndims, v->is_record + 1 + grid + (numbers > 1));
    const tutti__cdf_dim *dim = &c->dims[v->dim[v->is_record]];
    CHECK(strcmp(dim->name, grid ? "grid_0" : "nodes") == 0, "%s", dim->name);
    CHECK_EQ(v->numbers, entries_of(i) * numbers);
    check_text(c, var, "units", spec.units);
    check_text(c, var, "long_name", spec.long_name);
    const tutti__cdf_att *fill = tutti__cdf_find_att(c, var, "_FillValue");
    CHECK_EQ(fill != NULL, spec.fill != 0);
    if (fill) CHECK(fill->type == v->type && number_get(spec.type, fill->values, 0) == spec.fill);
    for (int s = v->is_record; s <= (v->is_record ? STATES : 0); s++) {
        const unsigned char *at = bytes + tutti__cdf_place(c, v, s - 1);
        for (tutti_count e = 0; e < v->numbers; e++, at += tutti_type_size(spec.type)) {
            const double want = expected_value(i, s, e / numbers, (int)(e % numbers));
            if (number_in(at, spec.type) == want) continue;
            CHECK(0, "%s, state %d, number %lld: %g, not %g", v->name, s, (long long)e,
                  number_in(at, spec.type), want);
            break;
        }
    }
}

static void check_times(const tutti__cdf *c, const unsigned char *bytes) {
    const tutti_count time = tutti__cdf_find_var(c, "time"),
                      index = tutti__cdf_find_var(c, "time_index"),
                      ids = tutti__cdf_find_var(c, "nodes_ids");
    CHECK(time >= 0 && index >= 0 && ids >= 0);
    if (time < 0 || index < 0 || ids < 0) return;
    for (int s = 0; s < STATES; s++) {
        CHECK(number_in(bytes + tutti__cdf_place(c, &c->vars[time], s), TUTTI_FLOAT64) ==
              (s + 1) * 0.25);
        CHECK_EQ(number_in(bytes + tutti__cdf_place(c, &c->vars[index], s), TUTTI_INT64), 8 + s);
    }
    for (int k = 0; k < NODES; k++)
        CHECK_EQ(number_in(bytes + c->vars[ids].begin + 8 * k, TUTTI_INT64), 5000 - k);
}

/* Check the data file; return a checksum of its bytes. */
static uint64_t check_file(void) {
    char name[600];
    void *header = NULL;
    size_t n = 0;
    tutti_off size = 0;
    tutti__cdf c;
    snprintf(name, sizeof name, "%s/data-000001.nc", path);
    const tutti_err e = tutti__cdf_read_header(name, &header, &n, &size);
    CHECK_OK(e);
    if (e != TUTTI_OK) return 0;
    CHECK_OK(tutti__cdf_decode(header, n, size, &c));
    tutti__free(header);
    CHECK_EQ(c.records, STATES);
    /* the file ends after the last record */
    CHECK_EQ(size, c.record_begin + STATES * c.record_bytes);
    unsigned char *bytes = malloc((size_t)size);
    FILE *f = fopen(name, "r");
    CHECK(f && fread(bytes, 1, (size_t)size, f) == (size_t)size);
    if (f) fclose(f);
    for (int i = 0; i < ALL; i++) check_variable(&c, bytes, i);
    check_times(&c, bytes);
    const uint64_t sum = tutti__checksum_of(bytes, (size_t)size);
    free(bytes);
    tutti__cdf_free(&c);
    return sum;
}

/* ---- read back by the library, on all ranks */

static void read_back(void) {
    tutti_dataset_options opt = visible();
    tutti_dataset *d = NULL;
    opt.check_reads = 1;
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &d), TUTTI_OK);
    CHECK_EQ(tutti_dataset_container(d), TUTTI_CONTAINER_NETCDF);
    CHECK_EQ(tutti_dataset_segments(d), 1 + STATES);
    some_n = ranks;
    some_rank = rank;
    for (int i = 0; i < ALL; i++) {
        const distribution how = {.kind = TUTTI_BY_INDEX, .seed = 99, .copies = 3};
        const int numbers = numbers_of(i), s = in_topology(i) ? 0 : 1 + i % STATES;
        local_entries l = distribute_entries(d, spec_of(i).space, s, &how, entries_of(i), -1);
        double *buf = calloc((size_t)(l.n * numbers) + 1, sizeof *buf);
        CHECK_SAME(tutti_dataset_get(d, s, 1, &(tutti_get){name_of(i), l.p, TUTTI_FLOAT64, buf}),
                   TUTTI_OK);
        for (tutti_count e = 0; e < l.n * numbers; e++)
            CHECK(buf[e] == expected_value(i, s, l.position[e / numbers], (int)(e % numbers)));
        free(buf);
        local_entries_free(&l);
    }
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
}

int main(int argc, char **argv) {
    /* the checksum of the file, for any number of ranks and any MPI implementation */
    static const uint64_t always = 0xc91c4790ea7ea9f2;
    harness_begin(&argc, &argv, 1291);
    snprintf(path, sizeof path, "%s/t1291.tutti", check_dir());
    dataset_remove(path);
    write_dataset(ranks);
    if (rank == 0) {
        const uint64_t sum = check_file();
        CHECK(sum == always, "the file's bytes have the sum 0x%llx", (unsigned long long)sum);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    read_back();
    dataset_remove(path);
    return harness_end();
}
