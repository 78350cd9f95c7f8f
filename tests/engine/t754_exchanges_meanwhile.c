/* TEST ranks=1,3 timeout=120 own=1 */
/* Split and non-blocking operations use the requested exchange, step and pipeline: with every combination
 * and every kind of background the result is that of the serial model, and the explanation confirms the
 * options.  With io-only, begin returns while the store is blocked.  If an option is not available (MPI
 * windows in non-blocking calls), the explanation states the replacement.  Adjacent bytes of an aggregator
 * are written with one request.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"
#include "harness.h"

enum { PIECE = 700, PIECES = 60, WINDOW = 8192 };

static const char *const exchanges[] = {"shm",
                                        "two-sided",
                                        "two-sided step 1",
                                        "two-sided step 2",
                                        "two-sided step 3",
                                        "two-sided step 4",
                                        "two-sided step 5",
                                        "fence",
                                        "lock"};
static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
enum { EXCHANGES = 9, PIPELINES = 5, FIRST_ONE_SIDED = 7 };

static char path[512];
static int threads; /* 1 if MPI supports MPI_THREAD_MULTIPLE */

/* Make the access of rank `who`: interleaved pieces, some with holes after them, in several windows. */
static tutti_access *pieces(int who, uint64_t salt) {
    tutti_off offset[PIECES], bytes[PIECES];
    tutti_access *a = NULL;
    for (int i = 0; i < PIECES; i++) {
        offset[i] = ((tutti_off)i * ranks + who) * PIECE;
        bytes[i] = i / 8 % 3 == 1 ? PIECE - mix(salt, (uint64_t)i) % 300 : PIECE;
    }
    CHECK_OK(tutti_access_runs(PIECES, offset, bytes, &a));
    return a;
}

static request request_of(int who, uint64_t salt) {
    request q = {pieces(who, salt), NULL, NULL, 0};
    request_memory(&q);
    request_fill(&q, salt + (uint64_t)who);
    return q;
}

static void model_of(model *m, uint64_t salt) {
    for (int r = 0; r < ranks; r++) {
        request q = request_of(r, salt);
        model_write(m, &q, 0);
        request_free(&q);
    }
}

/* Check the explanation and the statistics of the last operation. */
static void check_explanation(tutti_file *f, int exchange, int pipeline, const char *background,
                              int started) {
    char want[128];
    const char *said = tutti_file_explain(f);
    const int away = strcmp(background, "io-only") == 0, thread = strcmp(background, "all") == 0;
    if (started && !thread && exchange >= FIRST_ONE_SIDED)
        snprintf(want, sizeof want, "exchange two-sided step 4 (%s would block",
                 exchanges[exchange]);
    else
        snprintf(want, sizeof want, "exchange %s, pipeline %s;", exchanges[exchange],
                 pipelines[pipeline]);
    CHECK(strstr(said, want), "no '%s' in: %s", want, said);
    CHECK(!strstr(said, "; in the background") == !away, "%s", said);
    tutti_stats s;
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(s.background, strcmp(background, "none") != 0);
    CHECK_EQ(s.foreground, 0);
}

/* Run a split or, if `started`, non-blocking operation; if `blocked`, the store is blocked until begin returns. */
static void run_operation(tutti_file *f, int is_write, int started, int blocked, request *q) {
    tutti_off count = -1;
    tutti_request *r = NULL;
    if (blocked) gate_shut();
    if (started)
        CHECK_OK(is_write ? tutti_file_write_start(f, q->access, q->base, &r)
                          : tutti_file_read_start(f, q->access, q->base, &r));
    else
        CHECK_OK(is_write ? tutti_file_write_begin(f, q->access, q->base)
                          : tutti_file_read_begin(f, q->access, q->base));
    if (blocked) gate_open();
    if (started)
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
    else
        CHECK_SAME(is_write ? tutti_file_write_end(f, &count) : tutti_file_read_end(f, &count),
                   TUTTI_OK);
    CHECK_EQ(count, tutti_access_bytes(q->access));
}

static void options_text(char *text, size_t size, int exchange, int pipeline) {
    char name[32];
    snprintf(name, sizeof name, "%s", exchanges[exchange]);
    char *step = strstr(name, " step ");
    if (step) *step = '\0';
    snprintf(text, size, "method=two-phase exchange=%s step=%s pipeline=%s window_size=%d", name,
             step ? step + 6 : "0", pipelines[pipeline], WINDOW);
}

static void one(int exchange, int pipeline, const char *background, int started) {
    char text[256], common[160];
    model m = {NULL, 0, 0};
    const uint64_t salt = rnd64() >> 8;
    const int blocked = strcmp(background, "io-only") == 0 && !started;
    options_text(common, sizeof common, exchange, pipeline);
    snprintf(text, sizeof text, "%s background=%s cb_nodes=%d%s", common, background,
             (int)rnd(ranks + 1), blocked ? " fault=" HELD : "");
    tutti_file *f = open_with(path, text);
    if (!f) return;
    model_of(&m, salt);
    for (int again = 0; again < 2; again++) { /* the second round uses cached plans */
        request q = request_of(rank, salt);
        run_operation(f, 1, started, blocked, &q);
        check_explanation(f, exchange, pipeline, background, started);
        request_fill(&q, salt ^ 77);
        run_operation(f, 0, started, blocked, &q);
        check_explanation(f, exchange, pipeline, background, started);
        request want = request_of(rank, salt);
        (void)model_read(&m, &want, 0, salt ^ 77);
        CHECK(memcmp(q.memory, want.memory, q.capacity) == 0, "the bytes read differ");
        request_free(&q);
        request_free(&want);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    file_is(path, m.v, m.size, "the file");
    free(m.v);
}

/* As in Dickens and Thakur, begin performs the whole exchange, and then one large write follows. */
static void one_request(int exchange) {
    char text[256], common[160];
    tutti_stats s;
    options_text(common, sizeof common, exchange, 0);
    snprintf(text, sizeof text,
             "%s background=io-only cb_nodes=%d window_size=1m cb_buffer_size=64m fault=" HELD,
             common, ranks);
    tutti_file *f = open_with(path, text);
    tutti_access *a = NULL;
    const tutti_off each = 100000;
    unsigned char *v = calloc(1, (size_t)each);
    CHECK_OK(
        tutti_access_vector((tutti_off)rank * 500, each / 500, 500, 500 * (tutti_off)ranks, &a));
    gate_shut();
    CHECK_OK(tutti_file_write_begin(f, a, v));
    gate_open();
    CHECK_SAME(tutti_file_write_end(f, NULL), TUTTI_OK);
    tutti_file_stats(f, &s, NULL);
    CHECK_EQ(s.windows, 1);
    CHECK_EQ(s.file_writes, 1);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(v);
}

int main(int argc, char **argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(754 + (unsigned)ranks);
    threads = level == MPI_THREAD_MULTIPLE;
    snprintf(path, sizeof path, "%s", scratch_path("exchanges"));
    for (int x = 0; x < EXCHANGES; x++)
        for (int p = 0; p < PIPELINES; p++)
            for (int started = 0; started < 2; started++) {
                one(x, p, "io-only", started);
                if (threads && !(started && (x + p) % 3)) one(x, p, "all", started);
                if ((x + p) % 3 == 0) one(x, p, "none", started);
            }
    for (int x = 1; x < EXCHANGES; x++) one_request(x);
    gate_remove();
    file_remove(path);
    return harness_end();
}
