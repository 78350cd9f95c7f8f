/* TEST ranks=1 timeout=60 own=1 */
/* Patterns of tutti bench: all ranks together cover the file once, MPI datatypes describe the same bytes as
 * accesses, and a wrong byte is detected at any offset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "bench/content.c"
#include "bench/kernels.c"
#include "bench/pattern_block.c"
#include "bench/patterns.c"

static void mark_bytes(const bench_pattern *p, unsigned char *file, unsigned char *memory) {
    for (tutti_count i = 0; i < p->pieces; i++) {
        const tutti_piece *q = &p->piece[i];
        CHECK(q->file >= 0 && q->file + q->bytes <= p->total);
        CHECK(q->memory >= 0 && q->memory + q->bytes <= p->memory);
        for (tutti_off k = 0; k < q->bytes; k++) {
            file[q->file + k]++;
            memory[q->memory + k]++;
        }
    }
}

static tutti_off count_not(const unsigned char *v, tutti_off n, unsigned char value) {
    tutti_off others = 0;
    for (tutti_off i = 0; i < n; i++) others += v[i] != value;
    return others;
}

/* Check that the access made from the MPI datatypes has the pieces of the pattern. */
static void check_types(const bench_pattern *p) {
    tutti_access *a;
    tutti_access_iter *it;
    tutti_piece piece;
    tutti_count i = 0;
    CHECK_OK(tutti_access_from_view(0, p->file_type, 0, 1, p->memory_type, &a));
    CHECK_EQ(tutti_access_bytes(a), p->bytes);
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    for (; tutti_access_iter_next(it, &piece) && i < p->pieces; i++)
        CHECK(memcmp(&piece, &p->piece[i], sizeof piece) == 0);
    CHECK_EQ(i, p->pieces);
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
}

static void check_pattern(const char *name, int ranks, tutti_off size) {
    const bench_config config = {.size = size, .seed = 7};
    unsigned char *file = NULL;
    tutti_off total = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const cli_world w = {.comm = MPI_COMM_WORLD, .rank = rank, .ranks = ranks};
        bench_pattern p;
        CHECK_EQ(bench_pattern_make(name, &w, &config, &p), 0);
        if (!file) file = calloc(1, (size_t)(total = p.total));
        unsigned char *memory = calloc(1, (size_t)p.memory);
        CHECK_EQ(p.total, total);
        mark_bytes(&p, file, memory);
        CHECK_EQ(count_not(memory, p.memory, 0), p.bytes);
        check_types(&p);
        free(memory);
        bench_pattern_free(&p);
    }
    CHECK_EQ(count_not(file, total, 1), 0);
    CHECK(total <= size * ranks * 2 && total * 2 >= size * ranks, "%lld bytes", (long long)total);
    free(file);
}

static void check_patterns(void) {
    for (int i = 0; bench_pattern_name(i); i++) {
        check_where(bench_pattern_name(i));
        for (int ranks = 1; ranks <= 9; ranks++) check_pattern(bench_pattern_name(i), ranks, 8192);
        check_pattern(bench_pattern_name(i), 4, 200000);
    }
}

/* ---- application kernels: owners are computed by another algorithm than that of the generators */

/* Return whether cell a is before cell b: on a lower face, or on the same face in Morton order,
 * which compares the coordinate with the highest differing bit, y before x. */
static int is_before(int a, int b, int side) {
    const int face[2] = {a / (side * side), b / (side * side)};
    const unsigned y[2] = {(unsigned)(a / side % side), (unsigned)(b / side % side)};
    const unsigned x[2] = {(unsigned)(a % side), (unsigned)(b % side)};
    const unsigned dy = y[0] ^ y[1], dx = x[0] ^ x[1];
    if (face[0] != face[1]) return face[0] < face[1];
    return dy < dx && dy < (dy ^ dx) ? x[0] < x[1] : y[0] < y[1];
}

static int place_on_curve(int cell, int side) {
    int before = 0;
    for (int i = 0; i < 6 * side * side; i++) before += i != cell && is_before(i, cell, side);
    return before;
}

static void check_e3sm(int ranks, tutti_off size) {
    const bench_config config = {.size = size, .seed = 7};
    for (int rank = 0; rank < ranks; rank++) {
        const cli_world w = {.comm = MPI_COMM_WORLD, .rank = rank, .ranks = ranks};
        bench_pattern p;
        double each;
        CHECK_EQ(bench_pattern_make("e3sm-f", &w, &config, &p), 0);
        const int side = choose_side(&w, (double)size * ranks, 4 * (321 + 67 * 72), 1, &each);
        const int cells = 6 * side * side;
        CHECK_EQ(p.total % (4 * cells), 0);
        for (tutti_count i = 0; i < p.pieces && p.piece[i].file < 4 * cells; i++)
            for (tutti_off k = 0; k < p.piece[i].bytes; k += 4) { /* check the first row of cells */
                const int place = place_on_curve((int)((p.piece[i].file + k) / 4) % cells, side);
                const int twin = place % 2 ? (place + cells / 2) % cells : place;
                CHECK_EQ((int)((int64_t)twin * ranks / cells), rank);
            }
        if (ranks > 1) CHECK(p.pieces * 4 > p.bytes / 2, "few single values");
        bench_pattern_free(&p);
    }
}

static void check_btio(int ranks, int q, tutti_off size) {
    const bench_config config = {.size = size, .seed = 7};
    for (int rank = 0; rank < ranks; rank++) {
        const cli_world w = {.comm = MPI_COMM_WORLD, .rank = rank, .ranks = ranks};
        bench_pattern p;
        CHECK_EQ(bench_pattern_make("btio", &w, &config, &p), 0);
        const tutti_off edge = (tutti_off)(cbrt((double)size * ranks / 40) / q) * q;
        const tutti_off width = p.total / 40 / (edge * edge), s = edge / q;
        for (tutti_count i = 0; i < p.pieces; i++) {
            const tutti_off point = p.piece[i].file / 40;
            const tutti_off x = point % width, y = point / width % edge, z = point / width / edge;
            const tutti_off row = (y / s - z / s + q) % q, column = (x * q / width - z / s + q) % q;
            CHECK_EQ(q * q == ranks ? row * q + column : row, rank);
        }
        bench_pattern_free(&p);
    }
}

static void check_kernels(void) {
    check_where("kernels");
    check_e3sm(4, 200000);
    check_e3sm(7, 50000);
    check_btio(9, 3, 200000);
    check_btio(3, 3, 200000);
}

static void check_contents(void) {
    unsigned char buf[10000], again[10000];
    check_where("contents");
    for (int i = 0; i < 300; i++) {
        const tutti_off at = rnd(1 << 20), n = 1 + rnd(sizeof buf - 1), flip = rnd(n), cut = rnd(n);
        content_fill(3, at, buf, n);
        content_fill(3, at, again, cut);
        content_fill(3, at + cut, again + cut, n - cut);
        CHECK(memcmp(buf, again, (size_t)n) == 0);
        CHECK_EQ(content_check(3, at, buf, n), -1);
        buf[flip] ^= (unsigned char)(1 + rnd(255));
        CHECK_EQ(content_check(3, at, buf, n), at + flip);
    }
}

static void check_sizes(void) {
    static const char *const wrong[] = {"", "k", "-1", "1x", "1kk", "9223372036854775807k", "1 k"};
    tutti_off n = 5;
    check_where("sizes");
    CHECK(cli_parse_size("64k", &n) && n == 65536);
    CHECK(cli_parse_size("3G", &n) && n == (tutti_off)3 << 30);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!cli_parse_size(wrong[i], &n), "'%s'", wrong[i]);
    char text[32];
    cli_format_size(1536, text, sizeof text);
    CHECK(strcmp(text, "1.5 KiB") == 0, "%s", text);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_seed(1);
    check_patterns();
    check_kernels();
    check_contents();
    check_sizes();
    MPI_Finalize();
    return check_done();
}
