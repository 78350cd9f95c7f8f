/* crash_writer DIRECTORY MICROSECONDS   resumes a dataset; all ranks are killed after this time (0: never, the
 * program ends after three more segments).  The dataset that it opens must be complete:
 * all segments have correct checksums, and the last three have the values that were written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <tutti/tutti.h>

enum { N = 30000 };
static int rank, ranks;

static void kill_process(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void check_expected(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "rank %d, %s: %s\n", rank, what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static double value(int64_t index, tutti_count i) {
    return (double)(index * N + i);
}

/* Check the values of the last three segments, and the checksums of all segments. */
static void check_values(tutti_dataset *d, tutti_decomposition *local, tutti_count lo,
                         tutti_count n, double *buf) {
    const tutti_count all = tutti_dataset_segments(d);
    check_expected(tutti_dataset_verify(d, NULL), "verify");
    for (tutti_count s = all > 3 ? all - 3 : 0; s < all; s++) {
        tutti_segment g;
        check_expected(tutti_dataset_segment(d, s, &g), "segment");
        if (g.index != s || g.sections < 2) {
            fprintf(stderr, "segment %lld has index %lld\n", (long long)s, (long long)g.index);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
        const char *names[] = {"u", "w"};
        for (int k = 0; k < 2; k++) {
            check_expected(
                tutti_dataset_get(d, s, 1, &(tutti_get){names[k], local, TUTTI_FLOAT64, buf}),
                "get");
            for (tutti_count i = 0; i < n; i++)
                if (buf[i] != value(s, lo + i)) {
                    fprintf(stderr, "%s of segment %lld: %g at %lld\n", names[k], (long long)s,
                            buf[i], (long long)(lo + i));
                    MPI_Abort(MPI_COMM_WORLD, 5);
                }
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long after = atol(argv[2]);
    const tutti_count lo = (tutti_count)N * rank / ranks,
                      n = (tutti_count)N * (rank + 1) / ranks - lo;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE,
                                           .slice = {.lo = {lo}, .hi = {lo + n}, .stride = {1}}};
    tutti_dataset_options opt;
    tutti_dataset *d = NULL;
    tutti_decomposition *local = NULL;
    double *buf = malloc(N * sizeof *buf);
    tutti_dataset_options_init(&opt);
    opt.level = after % 2 ? TUTTI_DURABLE : TUTTI_VISIBLE;
    opt.indices_per_file = after % 3 == 2 ? 4 : 0;
    const char *container = getenv("TEST_CONTAINER");
    const int netcdf = container && strcmp(container, "netcdf") == 0;
    opt.container = netcdf ? TUTTI_CONTAINER_NETCDF : TUTTI_CONTAINER_NATIVE;
    check_expected(tutti_dataset_open(MPI_COMM_WORLD, argv[1],
                                      TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
                   "open");
    check_expected(tutti_dataset_grid(d, "x", 1, (tutti_count[]){N}), "grid");
    const tutti_variable_spec u = {.space = "x", .type = TUTTI_FLOAT64};
    const tutti_variable_spec w = {
        .space = "x", .type = TUTTI_FLOAT64, .layout = netcdf ? TUTTI_GLOBAL : TUTTI_RANKED};
    check_expected(tutti_dataset_variable(d, "u", &u), "variable");
    check_expected(tutti_dataset_variable(d, "w", &w), "variable");
    check_expected(tutti_decomposition_create(d, "x", &spec, &local), "decomposition");
    const tutti_count found = tutti_dataset_segments(d);
    check_values(d, local, lo, n, buf);
    MPI_Barrier(MPI_COMM_WORLD);
    if (after) { /* the process can be killed at any time from here on */
        const struct itimerval when = {.it_value = {after / 1000000, after % 1000000}};
        signal(SIGALRM, kill_process);
        setitimer(ITIMER_REAL, &when, NULL);
    }
    for (tutti_count s = found; after || s < found + 3; s++) {
        check_expected(tutti_dataset_begin(d, TUTTI_STATE, s, (double)s), "begin");
        for (tutti_count i = 0; i < n; i++) buf[i] = value(s, lo + i);
        check_expected(tutti_dataset_put(d, 1, &(tutti_put){"u", local, TUTTI_FLOAT64, buf}),
                       "put");
        check_expected(tutti_dataset_put(d, 1, &(tutti_put){"w", local, TUTTI_FLOAT64, buf}),
                       "put");
        check_expected(tutti_dataset_commit(d), "commit");
    }
    check_values(d, local, lo, n, buf);
    if (rank == 0) printf("%lld\n", (long long)tutti_dataset_segments(d));
    tutti_decomposition_free(&local);
    check_expected(tutti_dataset_close(&d), "close");
    free(buf);
    MPI_Finalize();
    return 0;
}
