/* TEST ranks=2,3 timeout=60 own=1 args=1 */
/* Writing and reading back on real nodes.  t790_hosts.sh runs this test across hosts and passes their
 * number, which is compared with the numbers found by MPI and the library; messages are expected
 * between hosts only.  Without an argument the test runs on one machine, without messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/model.h"

typedef struct {
    const char *method, *exchange, *buffer, *subs, *domains;
} setup;

static const setup setups[] = {
    {"two-phase", "shm", "64k", "2", "auto"},   {"two-phase", "shm", "256k", "1", "even"},
    {"two-phase", "shm", "64k", "3", "cyclic"}, {"two-phase", "two-sided", "64k", "2", "auto"},
    {"list", "shm", "16m", "2", "auto"},        {"auto", "shm", "16m", "2", "auto"},
};
enum { SETUPS = sizeof setups / sizeof setups[0], KINDS = 4 };
/* In these shapes, every rank has bytes in every part of the file. */
static const int kinds[KINDS] = {COLUMNS, CYCLIC, SCATTER, SPARSE};

static int rank, ranks, hosts;
static int64_t messages;

static int hosts_found(void) {
    MPI_Comm node;
    int first, n = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &first);
    MPI_Comm_free(&node);
    first = first == 0;
    MPI_Allreduce(&first, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return n;
}

/* Check that the operation used messages between hosts, and none inside them. */
static void way_check(tutti_file *f, const setup *s, int kind) {
    tutti_stats last;
    char text[40];
    int64_t sent[2], sum[2];
    tutti_file_stats(f, &last, NULL);
    sent[0] = last.messages;
    sent[1] = last.message_bytes;
    MPI_Allreduce(sent, sum, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    messages += sum[0];
    if (strcmp(s->method, "two-phase") != 0 || kind == WILD) return;
    const int shm = strcmp(s->exchange, "shm") == 0, groups = shm ? hosts : ranks;
    snprintf(text, sizeof text, " in %d group%s,", groups, groups == 1 ? "" : "s");
    CHECK(strstr(tutti_file_explain(f), text), "'%s' is not in '%s'", text, tutti_file_explain(f));
    if (groups == 1)
        CHECK(sum[0] == 0, "%lld messages inside a host", (long long)sum[0]);
    else
        CHECK(sum[0] > 0 && sum[1] > 0, "no messages between hosts");
}

static void write_one(tutti_file *f, model *m, const setup *s, int kind, int64_t scale) {
    const uint64_t salt = rnd64() >> 8;
    tutti_off count = -1;
    for (int r = 0; r < ranks; r++) {
        request q = request_make(kind, r, ranks, salt, scale);
        request_fill(&q, salt + (uint64_t)r);
        model_write(m, &q, 0);
        request_free(&q);
    }
    request q = request_make(kind, rank, ranks, salt, scale);
    request_fill(&q, salt + (uint64_t)rank);
    CHECK_OK(tutti_file_write(f, q.access, q.base, &count));
    CHECK_EQ(count, tutti_access_bytes(q.access));
    way_check(f, s, kind);
    request_free(&q);
}

static void read_one(tutti_file *f, const model *m, const setup *s, int kind, int64_t scale) {
    const uint64_t salt = rnd64() >> 8;
    request want = request_make(kind, rank, ranks, salt, scale);
    request got = request_make(kind, rank, ranks, salt, scale);
    tutti_off count = -1;
    const tutti_off expect = model_read(m, &want, 0, salt);
    request_fill(&got, salt);
    CHECK_OK(tutti_file_read(f, got.access, got.base, &count));
    CHECK_EQ(count, expect);
    CHECK(memcmp(want.memory, got.memory, want.capacity) == 0, "bytes differ");
    way_check(f, s, kind);
    request_free(&want);
    request_free(&got);
}

static void combination(const setup *s, int kind, const char *path) {
    tutti_options opt;
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE;
    const int64_t scale = 100000 + rnd(200000);
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, "method", s->method));
    CHECK_OK(tutti_options_set(&opt, "exchange", s->exchange));
    CHECK_OK(tutti_options_set(&opt, "cb_buffer_size", s->buffer));
    CHECK_OK(tutti_options_set(&opt, "sub_buffers", s->subs));
    CHECK_OK(tutti_options_set(&opt, "domains", s->domains));
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, mode, &opt, &f));
    if (!f) return;
    write_one(f, &m, s, kind, scale);
    write_one(f, &m, s, WILD, scale / 2);
    read_one(f, &m, s, kind, scale);
    CHECK_OK(tutti_file_close(&f));
    if (rank == 0) file_compare(path, &m, "after close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_OK(tutti_file_delete(path, &opt));
    MPI_Barrier(MPI_COMM_WORLD);
    free(m.v);
}

int main(int argc, char **argv) {
    char path[512], where[128];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261120u + (unsigned)ranks);
    hosts = hosts_found();
    CHECK_EQ(hosts, argc > 1 ? atoi(argv[1]) : 1);
    snprintf(path, sizeof path, "%s", scratch_path("across"));
    for (int i = 0; i < SETUPS; i++)
        for (int k = i % 2; k < KINDS; k += 2) {
            const setup *s = &setups[i];
            snprintf(where, sizeof where, "%s %s %s %s %s, shape %d", s->method, s->exchange,
                     s->buffer, s->subs, s->domains, kinds[k]);
            check_where(where);
            combination(s, kinds[k], path);
        }
    check_where("");
    const int rc = check_done_all();
    /* the result is printed before MPI_Finalize, which may hang across hosts (MPICH 4.0) */
    if (rank == 0 && hosts > 1)
        printf("across: %s: %d ranks on %d hosts, %lld messages\n", rc ? "failed" : "passed", ranks,
               hosts, (long long)messages);
    fflush(stdout);
    MPI_Finalize();
    return rc;
}
