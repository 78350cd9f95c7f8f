/* TEST ranks=1 timeout=60 own=1 */
/* The parts of tutti bench that the truth of its results hangs on: the patterns of all ranks cover
 * the file once, their MPI datatypes say the same as their accesses, and a wrong byte is found
 * wherever it is.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "bench/content.c"
#include "bench/patterns.c"

static void mark(const bench_pattern *p, unsigned char *file, unsigned char *memory) {
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

/* The access that the datatypes mean has the same pieces. */
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
        mark(&p, file, memory);
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
    check_contents();
    check_sizes();
    MPI_Finalize();
    return check_done();
}
