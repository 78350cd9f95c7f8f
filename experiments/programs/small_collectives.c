/* Consecutive small collective accesses, by Tutti and by the MPI-IO of the MPI library,
 * interleaved.
 *
 * Each rank has a contiguous piece, next to its neighbours' pieces; each call writes (then reads)
 * all pieces once, at consecutive offsets of the file: by blocking calls, split calls (begin and
 * end) and non-blocking calls (start and wait).  Reported: seconds per call.  `first` is the first
 * blocking call on a file, which is opened and closed for each call.
 *
 * usage: small_collectives DIRECTORY [--calls N] [--bytes N] [--rounds N]
 *                          [--call block|split|start|first] [--mpi-only] [--same] [--load N]
 *   --mpi-only   measure only the calls of the MPI library, to compare runs with and without
 *                libtutti-mpiio.so
 *   --same       make all calls at the same offset
 *   --load       start N processes that use a core each
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

enum { BLOCK, SPLIT, START, FIRST, CALLS, MOST_LOAD = 64, FIRST_SHARE = 20 };
static const char *const call_name[CALLS] = {"block", "split", "start", "first"};

static long calls = 1000, bytes = 4096, rounds = 5, load;
static int same_offset, mpi_only;
static const char *only = NULL;
static char *buf, path[2][512]; /* path: of the file of Tutti, and of MPI */

static tutti_off place_items(long call) {
    return ((same_offset ? 0 : call) * standalone_ranks + standalone_rank) * bytes;
}

/* ---- the two libraries; functions return the seconds of all calls, without open and close */

static tutti_err tutti_call(tutti_file *f, const tutti_access *a, int call, int is_write,
                            tutti_off *count) {
    tutti_request *r = NULL;
    tutti_err err;
    switch (call) {
    case SPLIT:
        err = is_write ? tutti_file_write_begin(f, a, buf) : tutti_file_read_begin(f, a, buf);
        if (err != TUTTI_OK) return err;
        return is_write ? tutti_file_write_end(f, count) : tutti_file_read_end(f, count);
    case START:
        err =
            is_write ? tutti_file_write_start(f, a, buf, &r) : tutti_file_read_start(f, a, buf, &r);
        return err == TUTTI_OK ? tutti_request_wait(&r, count) : err;
    default:
        return is_write ? tutti_file_write(f, a, buf, count) : tutti_file_read(f, a, buf, count);
    }
}

static double tutti_calls(int call, int is_write, long from, long to) {
    tutti_file *f = NULL;
    const int mode = is_write ? TUTTI_WRITE | TUTTI_CREATE : TUTTI_READ;
    standalone_check(tutti_file_open(MPI_COMM_WORLD, path[0], mode, NULL, &f) == TUTTI_OK, "open");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long i = from; i < to; i++) {
        tutti_access *a = NULL;
        tutti_off count = 0;
        standalone_check(tutti_access_contiguous(place_items(i), bytes, &a) == TUTTI_OK, "access");
        const tutti_err err = tutti_call(f, a, call, is_write, &count);
        standalone_check(err == TUTTI_OK && count == bytes, is_write ? "write" : "read");
        tutti_access_free(&a);
    }
    const double seconds = MPI_Wtime() - start;
    standalone_check(tutti_file_close(&f) == TUTTI_OK, "close");
    return seconds;
}

static int mpi_call(MPI_File f, MPI_Offset at, int call, int is_write, MPI_Status *status) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code;
    switch (call) {
    case SPLIT:
        code = is_write ? MPI_File_write_at_all_begin(f, at, buf, (int)bytes, MPI_BYTE)
                        : MPI_File_read_at_all_begin(f, at, buf, (int)bytes, MPI_BYTE);
        if (code != MPI_SUCCESS) return code;
        return is_write ? MPI_File_write_at_all_end(f, buf, status)
                        : MPI_File_read_at_all_end(f, buf, status);
    case START:
        code = is_write ? MPI_File_iwrite_at_all(f, at, buf, (int)bytes, MPI_BYTE, &r)
                        : MPI_File_iread_at_all(f, at, buf, (int)bytes, MPI_BYTE, &r);
        return code == MPI_SUCCESS ? MPI_Wait(&r, status) : code;
    default:
        return is_write ? MPI_File_write_at_all(f, at, buf, (int)bytes, MPI_BYTE, status)
                        : MPI_File_read_at_all(f, at, buf, (int)bytes, MPI_BYTE, status);
    }
}

static double mpi_calls(int call, int is_write, long from, long to) {
    MPI_File f;
    const int mode = is_write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    standalone_check(MPI_File_open(MPI_COMM_WORLD, path[1], mode, MPI_INFO_NULL, &f) == MPI_SUCCESS,
                     "MPI_File_open");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long i = from; i < to; i++) {
        MPI_Status status;
        int count = 0;
        const int code = mpi_call(f, place_items(i), call, is_write, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        standalone_check(code == MPI_SUCCESS && count == bytes, "MPI_File_...");
    }
    const double seconds = MPI_Wtime() - start;
    standalone_check(MPI_File_close(&f) == MPI_SUCCESS, "MPI_File_close");
    return seconds;
}

/* Return the seconds per call.  There are fewer FIRST calls, since each opens the file. */
static double seconds_per_call(double (*side)(int, int, long, long), int call, int is_write) {
    if (call != FIRST) return side(call, is_write, 0, calls) / (double)calls;
    const long n = calls / FIRST_SHARE + 1;
    double seconds = 0;
    for (long i = 0; i < n; i++) seconds += side(call, is_write, i, i + 1);
    return seconds / (double)n;
}

/* ---- load by other processes */

static void start_load(pid_t busy[MOST_LOAD]) {
    for (long i = 0; standalone_rank == 0 && i < load; i++) {
        busy[i] = fork();
        standalone_check(busy[i] >= 0, "cannot start a process");
        if (busy[i] > 0) continue;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned n = 0;; n++) continue;
    }
}

static void stop_load(const pid_t busy[MOST_LOAD]) {
    for (long i = 0; standalone_rank == 0 && i < load; i++) {
        (void)kill(busy[i], SIGKILL);
        (void)waitpid(busy[i], NULL, 0);
    }
}

/* ---- rounds */

typedef struct {
    int call, is_write;
} operation;

static void run_case(measure *m, measure_variant *v, double *value) {
    const operation *o = m->data;
    value[0] = standalone_slowest(
        seconds_per_call(v->what ? mpi_calls : tutti_calls, o->call, o->is_write));
}

static void compare_values(operation o) {
    static const char *const values[] = {"seconds", NULL};
    char title[32];
    snprintf(title, sizeof title, "%s %s", call_name[o.call], o.is_write ? "write" : "read");
    measure m = {.title = title,
                 .values = values,
                 .rounds = (int)rounds,
                 .warmup = 1,
                 .data = &o,
                 .run = run_case};
    if (!mpi_only) measure_add(&m, "Tutti", NULL);
    measure_add(&m, "MPI library", path);
    measure_rounds(&m);
    standalone_report(&m, "");
}

int main(int argc, char **argv) {
    const standalone_option options[] = {{"--calls", OPTION_NUMBER, &calls, 1, 0},
                                         {"--bytes", OPTION_NUMBER, &bytes, 1, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--call", OPTION_TEXT, &only, 0, 0},
                                         {"--mpi-only", OPTION_FLAG, &mpi_only, 0, 0},
                                         {"--same", OPTION_FLAG, &same_offset, 0, 0},
                                         {"--load", OPTION_NUMBER, &load, 0, MOST_LOAD},
                                         {0}};
    const standalone program = {"small_collectives", "DIRECTORY", options, 1};
    pid_t busy[MOST_LOAD];
    standalone_start_mpi(&program, &argc, &argv);
    start_load(busy);
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "%.400s/small_collectives.%d", argv[0], i);
    buf = standalone_alloc((size_t)bytes, 1);
    memset(buf, 'x', (size_t)bytes);
    for (int call = 0; call < CALLS; call++)
        for (int is_write = 1; is_write >= 0; is_write--)
            if (!only || strcmp(only, call_name[call]) == 0)
                compare_values((operation){call, is_write});
    stop_load(busy);
    for (int i = 0; i < 2 && standalone_rank == 0; i++) unlink(path[i]);
    free(buf);
    return standalone_end_mpi();
}
