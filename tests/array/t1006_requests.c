/* TEST ranks=1,3,8 timeout=90 */
/* Counts of the extended two-phase method: data requested by several ranks is read once, by columns
 * of the bounding section; requests and bytes are divided at least by the number of ranks; writes
 * change exactly the selected elements, by exact runs or, where allowed, by reading and rewriting
 * windows; only descriptions are exchanged beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

enum { N = 512 }; /* 512 x 512 doubles: a column has 4 KiB */
static char path[512];
static const tutti_array_spec spec = {
    .ndims = 2, .shape = {N, N}, .order = TUTTI_COL_MAJOR, .type = TUTTI_FLOAT64};

static tutti_slice fortran(tutti_count l1, tutti_count u1, tutti_count s1, tutti_count l2,
                           tutti_count u2, tutti_count s2) {
    const tutti_count lower[] = {l1, l2}, upper[] = {u1, u2}, stride[] = {s1, s2};
    tutti_slice s = {.hi = {0}};
    CHECK_OK(tutti_slice_fortran(2, lower, upper, stride, &s));
    return s;
}

static double value(tutti_count i, tutti_count j) {
    return (double)(i * N + j);
}

/* Check the elements v of a slice, packed by columns. */
static void check_values(const tutti_slice *s, const double *v, const char *what) {
    for (tutti_count j = s->lo[1]; j < s->hi[1]; j += s->stride[1])
        for (tutti_count i = s->lo[0]; i < s->hi[0]; i += s->stride[0], v++)
            if (*v != value(i, j)) {
                CHECK(0, "%s: (%lld, %lld) is %g", what, (long long)i, (long long)j, *v);
                return;
            }
}

typedef struct {
    tutti_count requests;
    tutti_off bytes;
    tutti_off described; /* bytes of descriptions that were exchanged */
    tutti_off sent;      /* bytes sent in messages */
} bill;

/* Read a slice on each rank; return the sum of the statistics of all ranks. */
static bill read_all(const char *options, const tutti_slice *s) {
    tutti_options opt = options_of(options);
    tutti_array *a = NULL;
    tutti_stats last;
    double *v = calloc((size_t)tutti_slice_count(2, s, NULL) + 1, sizeof *v);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &opt, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_read(a, s, NULL, v), TUTTI_OK);
    check_values(s, v, options);
    tutti_file_stats(tutti_array_file(a), &last, NULL);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    free(v);
    return (bill){sum_all(last.file_reads), sum_all(last.file_read_bytes),
                  sum_all(last.descriptor_bytes), sum_all(last.message_bytes)};
}

/* All ranks read the same slice: the bounding section is read once, with one request per column. */
static void common(const char *what, tutti_slice s) {
    tutti_count shape[2];
    check_where(what);
    (void)tutti_slice_count(2, &s, shape);
    const tutti_off column = 8 * ((shape[0] - 1) * s.stride[0] + 1);
    const bill direct = read_all("method=independent", &s);
    const bill two = read_all("method=two-phase sieve_gap=1k striping_unit=4096", &s);
    const bill cyclic = read_all(
        "method=two-phase domains=cyclic domain_block=32k sieve_gap=1k striping_unit=4096", &s);
    CHECK(two.requests * ranks <= direct.requests || direct.requests == ranks,
          "%lld requests, direct %lld", (long long)two.requests, (long long)direct.requests);
    CHECK(cyclic.requests * ranks <= direct.requests || direct.requests == ranks,
          "cyclic: %lld requests, direct %lld", (long long)cyclic.requests,
          (long long)direct.requests);
    const bill nodes = read_all("method=two-phase nodes=2 sieve_gap=1k striping_unit=4096", &s);
    const tutti_off exact = 8 * shape[0] * shape[1] * ranks, bounding = column * shape[1];
    CHECK_EQ(two.sent, 0);                              /* the node has one staging buffer */
    if (ranks > 1) CHECK_EQ(nodes.sent, exact / ranks); /* one copy is sent to the second node */
    CHECK_EQ(direct.bytes, exact);
    if (8 * N - column > 1024) { /* gaps are not read */
        CHECK_EQ(two.bytes, bounding);
        CHECK_EQ(cyclic.bytes, bounding);
        CHECK_EQ(two.requests, shape[1]);
    }
    CHECK(s.stride[0] > 1 || two.bytes * ranks <= direct.bytes, "%lld bytes, direct %lld",
          (long long)two.bytes, (long long)direct.bytes);
    CHECK(two.described < 300 * ranks * ranks, "%lld bytes of descriptions",
          (long long)two.described);
}

/* The section of each rank is shifted by some rows and columns: overlapping elements are read once. */
static void overlapping(int rows, int columns) {
    char what[60];
    snprintf(what, sizeof what, "overlapping by %d, %d", rows, columns);
    check_where(what);
    const tutti_slice s =
        fortran(1 + rows * rank, 100 + rows * rank, 1, 1 + columns * rank, 100 + columns * rank, 1);
    const bill direct = read_all("method=independent", &s);
    const bill two = read_all("method=two-phase sieve_gap=1k striping_unit=4096", &s);
    CHECK_EQ(direct.requests, 100 * ranks);
    tutti_off wanted = 0; /* bytes of the union of all sections */
    tutti_count requests = 0;
    for (int j = 0; j < N; j++) {
        int lo = N, hi = 0;
        for (int r = 0; r < ranks; r++)
            if (j >= columns * r && j < 100 + columns * r) {
                if (rows * r < lo) lo = rows * r;
                if (100 + rows * r > hi) hi = 100 + rows * r;
            }
        if (hi > lo) wanted += 8 * (hi - lo), requests++;
    }
    CHECK_EQ(two.bytes, wanted);
    CHECK_EQ(two.requests, requests);
}

/* ---- writes */

static void fill_file(void) {
    tutti_array *a = NULL;
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_NONE, 1, 0, NULL},
                                    {TUTTI_DIST_BLOCK, ranks, 0, NULL}};
    tutti_distribution *d = NULL;
    tutti_count shape[2];
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    double *v = malloc((size_t)tutti_distribution_part(d, rank, shape) * sizeof *v + 1);
    for (tutti_count j = 0; j < shape[1]; j++)
        for (tutti_count i = 0; i < N; i++)
            v[j * N + i] = value(i, (N + ranks - 1) / ranks * rank + j);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_write_part(a, d, NULL, NULL, v), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    tutti_distribution_free(&d);
    free(v);
}

/* Ranks write rows rank, rank + ranks, ... of every second column: many short runs. */
static void writes(const char *options, int rewrites) {
    tutti_options opt = options_of(options);
    tutti_array *a = NULL;
    tutti_stats last;
    const tutti_slice all = tutti_slice_all(2, spec.shape);
    const tutti_slice s = {.lo = {2 * rank, 0}, .hi = {N, N}, .stride = {2 * ranks, 2}};
    const tutti_count n = tutti_slice_count(2, &s, NULL);
    double *v = malloc((size_t)n * sizeof *v), *w = malloc(sizeof *w * N * N);
    check_where(options);
    for (tutti_count i = 0; i < n; i++) v[i] = -1;
    fill_file();
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &opt, &a),
               TUTTI_OK);
    CHECK_SAME(tutti_array_write(a, &s, NULL, v), TUTTI_OK);
    tutti_file_stats(tutti_array_file(a), &last, NULL);
    const tutti_count reads = sum_all(last.file_reads), written = sum_all(last.file_writes);
    const tutti_off bytes = sum_all(last.file_write_bytes);
    CHECK_SAME(tutti_array_read(a, &all, NULL, w), TUTTI_OK);
    for (tutti_count i = 0; i < N; i++)
        for (tutti_count j = 0; j < N; j++) {
            const double want = i % 2 == 0 && j % 2 == 0 ? -1 : value(i, j);
            if (w[j * N + i] == want) continue;
            CHECK(0, "(%lld, %lld) is %g", (long long)i, (long long)j, w[j * N + i]);
            i = j = N;
        }
    if (rewrites) {
        CHECK_EQ(written, N / 2);
        CHECK_EQ(bytes, N / 2 * 8 * (N - 1));
        CHECK(reads > 0 && reads <= N, "%lld reads", (long long)reads);
    } else {
        CHECK_EQ(written, N / 2 * N / 2);
        CHECK_EQ(bytes, N / 2 * N / 2 * 8);
        CHECK_EQ(reads, 0);
    }
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    free(v);
    free(w);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 856);
    snprintf(path, sizeof path, "%s", scratch_path("requests"));
    fill_file();
    common("I", fortran(1, 100, 1, 1, 100, 1));
    common("III", fortran(100, 300, 1, 100, 300, 1));
    common("V", fortran(1, 16, 1, 1, N, 1));
    common("VI", fortran(1, N, 1, 1, 16, 1));
    common("strides", fortran(3, 200, 3, 1, 400, 7));
    overlapping(0, 10);
    overlapping(10, 0);
    overlapping(10, 10);
    overlapping(0, 0);
    writes("method=two-phase striping_unit=4096", 0);
    writes("method=two-phase striping_unit=4096 rmw=1 sieve_gap=1k", 1);
    writes("method=two-phase striping_unit=4096 rmw=1 sieve_gap=4", 0);
    writes("method=two-phase exchange=two-sided step=3 striping_unit=4096 rmw=1 sieve_gap=1k", 1);
    file_remove(path);
    return harness_end();
}
