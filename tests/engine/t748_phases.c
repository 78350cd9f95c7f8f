/* TEST ranks=1,2 timeout=60 */
/* The phases in the statistics (tutti/stats.h) for a slow file.  If every request of the store takes the
 * time D, an aggregator of N windows in B sub-buffers waits for the file, with every exchange:
 *
 *   N x D       if one request is pending at a time: pipelines none, comm, write-comm
 *   N / B x D   if all sub-buffers may be pending: pipelines write, write-comm-2
 *
 * At least four fifths of this time must be counted as file access, not as exchange.  With the exchange shm
 * the other rank sees the state of the aggregator, so that its waiting time also counts as file access (in
 * a write, except for the first B windows).  Since the exchange may take long on a busy machine, the test
 * repeats with longer D before it fails.
 *
 * No time is counted twice: the sum of plan, exchange and file is at most the total.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

enum { WINDOW = 4096, CYCLES = 8, SUBS = 2, BYTES = WINDOW * CYCLES };
enum { BLOCKING, SPLIT, STARTED };

static char path[512];
static unsigned char buffer[BYTES];

static tutti_file *slow_file(const char *text, int milliseconds) {
    char all[256];
    snprintf(
        all, sizeof all,
        "method=two-phase store=threads io_threads=%d window_size=%d sub_buffers=%d cb_nodes=1 "
        "plan_cache=0 fault=*:slow:%d %s",
        SUBS, WINDOW, SUBS, milliseconds, text);
    tutti_options opt = options_of(all);
    tutti_file *f = NULL;
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    return f;
}

static void move_bytes(tutti_file *f, const tutti_access *a, int how, int is_write) {
    tutti_request *q = NULL;
    if (how == BLOCKING) {
        CHECK_OK(is_write ? tutti_file_write(f, a, buffer, NULL)
                          : tutti_file_read(f, a, buffer, NULL));
    } else if (how == SPLIT) {
        CHECK_OK(is_write ? tutti_file_write_begin(f, a, buffer)
                          : tutti_file_read_begin(f, a, buffer));
        CHECK_OK(is_write ? tutti_file_write_end(f, NULL) : tutti_file_read_end(f, NULL));
    } else {
        CHECK_OK(is_write ? tutti_file_write_start(f, a, buffer, &q)
                          : tutti_file_read_start(f, a, buffer, &q));
        CHECK_OK(tutti_request_wait(&q, NULL));
    }
}

/* Run an operation in which every rank has a share of every window; return its statistics. */
static tutti_stats run_case(const char *text, int milliseconds, int how, int is_write) {
    tutti_access *a = NULL;
    tutti_stats last;
    const tutti_off share = WINDOW / ranks;
    tutti_file *f = slow_file(text, milliseconds);
    CHECK_OK(tutti_access_vector(rank * share, CYCLES, share, WINDOW, &a));
    move_bytes(f, a, how, is_write);
    tutti_file_stats(f, &last, NULL);
    CHECK_EQ(last.windows, rank == 0 ? CYCLES : 0);
    CHECK(last.seconds_plan >= 0 && last.seconds_exchange >= 0 && last.seconds_file >= 0,
          "negative: plan %g, exchange %g, file %g", last.seconds_plan, last.seconds_exchange,
          last.seconds_file);
    CHECK(last.seconds_plan + last.seconds_exchange + last.seconds_file <=
              1.01 * last.seconds_total + 1e-4,
          "plan %g, exchange %g and file %g are more than %g", last.seconds_plan,
          last.seconds_exchange, last.seconds_file, last.seconds_total);
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
    return last;
}

/* Return the number of delays for which this rank waits. */
static int delays_of(const char *pipeline, int shared, int is_write) {
    const int all = !strcmp(pipeline, "write") || !strcmp(pipeline, "write-comm-2");
    const int rounds = all ? CYCLES / SUBS : CYCLES;
    if (rank == 0) return rounds;
    if (!shared) return 0; /* this rank does not see the aggregator's state */
    return is_write ? rounds - (all ? 1 : SUBS) : rounds;
}

static void counts_as_file(const char *exchange, const char *pipeline, int how, int is_write) {
    static const int delays[] = {2, 20, 200, 2000};
    char text[100], where[140];
    const int shared = strstr(exchange, "shm") != NULL;
    snprintf(text, sizeof text, "%s pipeline=%s", exchange, pipeline);
    snprintf(where, sizeof where, "%s, %s", is_write ? "write" : "read", text);
    check_where(where);
    const int n = how == BLOCKING ? delays_of(pipeline, shared, is_write)
                  : how == SPLIT  ? rank == 0
                                  : 0; /* time between calls belongs to no phase */
    int missing = 1;
    tutti_stats s = {0};
    for (int i = 0; i < 4 && missing; i++) {
        s = run_case(text, delays[i], how, is_write);
        const int is_missing = s.seconds_file < 0.8e-3 * n * delays[i];
        MPI_Allreduce(&is_missing, &missing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK(!missing, "exchange %g s, file %g s: not %d delays", s.seconds_exchange, s.seconds_file,
          n);
    check_where("");
}

int main(int argc, char **argv) {
    static const char *const exchanges[] = {"exchange=shm",
                                            "exchange=two-sided",
                                            "exchange=two-sided step=1",
                                            "exchange=two-sided step=4",
                                            "exchange=fence",
                                            "exchange=lock"};
    static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
    harness_begin(&argc, &argv, 748);
    snprintf(path, sizeof path, "%s", scratch_path("phases"));
    for (int is_write = 1; is_write >= 0; is_write--) {
        for (int x = 0; x < 6; x++)
            for (int p = 0; p < 5; p++)
                counts_as_file(exchanges[x], pipelines[p], BLOCKING, is_write);
        counts_as_file("exchange=shm background=io-only", "write-comm-2", SPLIT, is_write);
        counts_as_file("exchange=shm background=io-only", "write-comm-2", STARTED, is_write);
        counts_as_file("exchange=shm background=none", "write", STARTED, is_write);
        counts_as_file("exchange=two-sided step=4 background=none", "write", STARTED, is_write);
    }
    file_remove(path);
    return harness_end();
}
