/* TEST ranks=1,2,3,5 timeout=60 */
/* Counts of the cyclic engine: one message per cycle and pair of ranks, one copy on each side of a message
 * (none on the target's side of a put), one file access per window; the explanation of the plan agrees.
 * Cycles without bytes have no cost, and all ranks may read the whole file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

enum { NEW = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };
enum { WAYS = 7, PIPELINES = 5, CYCLES = 5, BLOCK = 512, EACH = 8 };
static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
static char path[512];

static tutti_file *open_file(int way, const char *more, int mode) {
    char text[300];
    tutti_file *f = NULL;
    if (way < 5)
        snprintf(text, sizeof text, "exchange=two-sided step=%d %s", way + 1, more);
    else
        snprintf(text, sizeof text, "exchange=%s %s", way == 5 ? "fence" : "lock", more);
    tutti_options opt = options_of(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, mode, &opt, &f), TUTTI_OK);
    return f;
}

/* ---- messages, copies, file accesses */

static void words_are(const tutti_plan *p, int way, const char *pipeline) {
    char want[100];
    if (way < 5)
        snprintf(want, sizeof want, "exchange two-sided step %d, pipeline %s;", way + 1, pipeline);
    else
        snprintf(want, sizeof want, "exchange %s, pipeline %s;", way == 5 ? "fence" : "lock",
                 pipeline);
    CHECK(strstr(tutti_plan_explain(p), want), "'%s' is not in '%s'", want, tutti_plan_explain(p));
}

/* Check the statistics of an operation in which each rank has EACH blocks in every window. */
static void numbers_are(const tutti_stats *s, int way, int is_write) {
    const tutti_off part = (tutti_off)BLOCK * EACH * CYCLES, others = ranks - 1;
    CHECK_EQ(s->windows, CYCLES);
    CHECK_EQ(s->messages, CYCLES * others);
    CHECK_EQ(s->message_bytes, part * others);
    CHECK_EQ(s->copied_bytes, part * (1 + (way < 5 ? 2 : 1) * others));
    CHECK_EQ(is_write ? s->file_writes : s->file_reads, CYCLES);
    CHECK_EQ(is_write ? s->file_write_bytes : s->file_read_bytes, part * ranks);
}

static void counts(int way, const char *pipeline) {
    char more[200];
    tutti_access *a = NULL;
    tutti_plan *p = NULL;
    tutti_stats s;
    const tutti_off bytes = (tutti_off)BLOCK * EACH * CYCLES * ranks;
    unsigned char *out = malloc((size_t)bytes), *in = calloc(1, (size_t)bytes);
    for (tutti_off i = 0; i < bytes; i++) out[i] = mix((uint64_t)rank, (uint64_t)i);
    snprintf(
        more, sizeof more,
        "method=two-phase domains=even striping_unit=%d cb_nodes=%d window_size=%d pipeline=%s",
        BLOCK, ranks, BLOCK * EACH * ranks, pipeline);
    check_where(more);
    CHECK_OK(tutti_access_vector((tutti_off)rank * BLOCK, bytes / BLOCK, BLOCK,
                                 (tutti_off)BLOCK * ranks, &a));
    tutti_file *f = open_file(way, more, NEW);
    CHECK_SAME(tutti_plan_write(f, a, &p), TUTTI_OK);
    words_are(p, way, pipeline);
    CHECK_SAME(tutti_plan_run(p, out, 0, NULL), TUTTI_OK);
    tutti_file_stats(f, &s, NULL);
    numbers_are(&s, way, 1);
    tutti_plan_free(&p);
    CHECK_SAME(tutti_file_read(f, a, in, NULL), TUTTI_OK);
    tutti_file_stats(f, &s, NULL);
    numbers_are(&s, way, 0);
    CHECK(memcmp(in, out, (size_t)bytes) == 0, "read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(out);
    free(in);
}

/* ---- a few bytes, far apart: millions of windows are empty */

static void far_apart(int way, const char *pipeline) {
    char more[200];
    tutti_off off[3], len[3] = {100, 5000, 7}, count = -1;
    unsigned char out[5107], in[5107] = {0};
    tutti_access *a = NULL;
    for (int i = 0; i < 3; i++)
        off[i] = ((tutti_off)i << 37) + ((tutti_off)rank << 33) + 7 * i + 4090;
    for (size_t i = 0; i < sizeof out; i++) out[i] = mix((uint64_t)rank, i);
    snprintf(more, sizeof more,
             "method=two-phase domains=even window_size=4k cb_nodes=%d pipeline=%s",
             ranks > 2 ? 2 : 0, pipeline);
    check_where(more);
    CHECK_OK(tutti_access_runs(3, off, len, &a));
    tutti_file *f = open_file(way, more, NEW);
    CHECK_SAME(tutti_file_write(f, a, out, &count), TUTTI_OK);
    CHECK_EQ(count, sizeof out);
    CHECK_SAME(tutti_file_read(f, a, in, &count), TUTTI_OK);
    CHECK_EQ(count, sizeof in);
    CHECK(memcmp(in, out, sizeof in) == 0, "read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
}

/* ---- all ranks read the whole file and beyond: more bytes than buffers for packed data can hold */

static void read_everything(int way, const char *pipeline) {
    enum { SIZE = 100000, BEYOND = 3000 };
    static unsigned char all[SIZE + BEYOND], in[SIZE + BEYOND];
    char more[200];
    tutti_off count = -1;
    tutti_access *own_part = NULL, *a = NULL;
    for (int i = 0; i < SIZE; i++) all[i] = mix(7, (uint64_t)i);
    memset(in, 1, sizeof in);
    memset(all + SIZE, 1, BEYOND);
    snprintf(more, sizeof more, "method=two-phase window_size=4k cb_nodes=%d pipeline=%s", ranks,
             pipeline);
    check_where(more);
    tutti_file *f = open_file(way, more, NEW);
    CHECK_OK(tutti_access_contiguous(0, rank == ranks - 1 ? SIZE : 0, &own_part));
    CHECK_OK(tutti_access_contiguous(0, SIZE + BEYOND, &a));
    CHECK_SAME(tutti_file_write(f, own_part, all, &count), TUTTI_OK); /* one rank has all bytes */
    CHECK_SAME(tutti_file_read(f, a, in, &count), TUTTI_OK);
    CHECK_EQ(count, SIZE);
    CHECK(memcmp(in, all, sizeof in) == 0, "read differs");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&own_part);
    tutti_access_free(&a);
}

/* ---- pending plans on two handles of one file, waited for in different orders, must not deadlock */

static void crosswise(int way, const char *pipeline) {
    enum { FILES = 2, PIECES = 40, PIECE = 1000 };
    char more[200];
    tutti_file *f[FILES] = {NULL};
    tutti_plan *p[FILES] = {NULL};
    tutti_access *a = NULL;
    unsigned char out[PIECES * PIECE], in[PIECES * PIECE];
    tutti_off count = -1;
    for (size_t i = 0; i < sizeof out; i++) out[i] = mix((uint64_t)rank, i);
    snprintf(more, sizeof more, "method=two-phase window_size=4k cb_nodes=%d pipeline=%s", ranks,
             pipeline);
    check_where(more);
    CHECK_OK(
        tutti_access_vector((tutti_off)rank * PIECE, PIECES, PIECE, (tutti_off)ranks * PIECE, &a));
    for (int i = 0; i < FILES; i++) {
        f[i] = open_file(way, more, i ? TUTTI_WRITE : NEW);
        CHECK_SAME(tutti_plan_write(f[i], a, &p[i]), TUTTI_OK);
    }
    for (int i = 0; i < FILES; i++)
        CHECK_OK(tutti_plan_start(p[i], out, i * (tutti_off)sizeof out * ranks));
    for (int i = 0; i < FILES; i++) CHECK_OK(tutti_plan_wait(p[(rank + i) % FILES], &count));
    CHECK_EQ(count, sizeof out);
    CHECK_SAME(tutti_file_read(f[0], a, in, &count), TUTTI_OK);
    CHECK(memcmp(in, out, sizeof in) == 0, "read differs");
    for (int i = 0; i < FILES; i++) {
        tutti_plan_free(&p[i]);
        CHECK_SAME(tutti_file_close(&f[i]), TUTTI_OK);
    }
    tutti_access_free(&a);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 743);
    snprintf(path, sizeof path, "%s", scratch_path("cycle_counts"));
    for (int way = 0; way < WAYS; way++)
        for (int p = 0; p < PIPELINES && check_failures_ <= 20; p++) {
            counts(way, pipelines[p]);
            far_apart(way, pipelines[p]);
            read_everything(way, pipelines[p]);
            crosswise(way, pipelines[p]);
        }
    file_remove(path);
    return harness_end();
}
