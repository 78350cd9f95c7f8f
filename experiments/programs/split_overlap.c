/* Do split collectives overlap?  A plain MPI-IO program that computes between MPI_File_write_all_begin and
 * MPI_File_write_all_end (the forms with explicit offsets).  It knows nothing of Tutti: run it with and without the drop-in, on storage
 * that takes time and not processor (scripts/throttle.sh).
 *
 *   split_overlap FILE [--size BYTES] [--piece BYTES] [--steps N] [--compute SECONDS] [--sync] [--read] [--idle]
 *
 *   --size     bytes of a rank in a step (16m), dealt out to the ranks in pieces of --piece (64k)
 *   --compute  seconds of computation in a step; default: as long as the file takes
 *   --sync     MPI_File_sync ends each step: where the MPI writes to the page cache, it is there that it waits
 *   --read     read_at_all_begin and read_at_all_end instead, of a file that is there
 *   --idle     the processor is idle meanwhile, as if something else computed
 *
 * It measures the file alone (blocking write_all), the computation alone (a fixed amount of work), and both
 * with begin and end around the computation; seconds per step of the slowest rank, the median of all steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1000 };

static struct {
    const char *path;
    long size, piece;
    int steps, sync, read, idle;
    double compute;
} opt = {NULL, 16 << 20, 64 << 10, 5, 0, 0, 0, 0};

static int rank, ranks;
static MPI_File file;
static char *data;
static volatile uint64_t sink;

static _Noreturn void fail(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &n);
    fprintf(stderr, "split_overlap: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void must(const char *what, int code) {
    if (code != MPI_SUCCESS) fail(what, code);
}

/* ---- what is measured */

/* With --idle `amount` is nanoseconds. */
static void work(uint64_t amount) {
    uint64_t z = sink + 88172645463325252u;
    if (opt.idle) {
        const struct timespec t = {(time_t)(amount / 1000000000), (long)(amount % 1000000000)};
        nanosleep(&t, NULL);
        return;
    }
    for (uint64_t i = 0; i < amount; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
    }
    sink = z;
}

/* Every step its own part of the file. */
static MPI_Offset place(int step) {
    return (MPI_Offset)step * opt.size;
}

static void step_end(void) {
    if (opt.sync && !opt.read) must("sync", MPI_File_sync(file));
}

static void blocking(int step) {
    const MPI_Offset at = place(step);
    const int n = (int)opt.size;
    if (opt.read)
        must("read_at_all", MPI_File_read_at_all(file, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        must("write_at_all", MPI_File_write_at_all(file, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    step_end();
}

typedef struct {
    double begin, all;
} times;

static times overlapped(int step, uint64_t amount) {
    const MPI_Offset at = place(step);
    const int n = (int)opt.size;
    const double start = MPI_Wtime();
    if (opt.read)
        must("begin", MPI_File_read_at_all_begin(file, at, data, n, MPI_BYTE));
    else
        must("begin", MPI_File_write_at_all_begin(file, at, data, n, MPI_BYTE));
    const double begun = MPI_Wtime();
    work(amount);
    if (opt.read)
        must("end", MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE));
    else
        must("end", MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    step_end();
    return (times){begun - start, MPI_Wtime() - start};
}

/* ---- numbers */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of what each step took on its slowest rank. */
static double median(double *v, int n) {
    MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(v, (size_t)n, sizeof *v, ascending);
    return v[n / 2];
}

static double file_alone(int first) {
    double t[MOST];
    for (int i = 0; i < opt.steps; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        blocking(first + i);
        t[i] = MPI_Wtime() - start;
    }
    return median(t, opt.steps);
}

static double compute_alone(uint64_t amount) {
    double t[MOST];
    const int n = opt.steps > 3 ? 3 : opt.steps;
    for (int i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        work(amount);
        t[i] = MPI_Wtime() - start;
    }
    return median(t, n);
}

static times both(int first, uint64_t amount) {
    double begin[MOST], all[MOST];
    for (int i = 0; i < opt.steps; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const times t = overlapped(first + i, amount);
        begin[i] = t.begin;
        all[i] = t.all;
    }
    return (times){median(begin, opt.steps), median(all, opt.steps)};
}

/* How much work takes that long, while all ranks are at it. */
static uint64_t amount_for(double seconds) {
    uint64_t amount = 1 << 20;
    if (opt.idle) return (uint64_t)(seconds * 1e9);
    double t = compute_alone(amount);
    while (t < 0.05 && t < seconds / 2) {
        amount *= 4;
        t = compute_alone(amount);
    }
    return (uint64_t)((double)amount * seconds / t);
}

/* ---- the program */

static long bytes_of(const char *text) {
    char *end;
    const long n = strtol(text, &end, 10);
    const int shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;
    return n << shift;
}

static void arguments(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--sync")) {
            opt.sync = 1;
        } else if (!strcmp(argv[i], "--read")) {
            opt.read = 1;
        } else if (!strcmp(argv[i], "--idle")) {
            opt.idle = 1;
        } else if (argv[i][0] != '-') {
            opt.path = argv[i];
        } else {
            if (!strcmp(argv[i], "--size")) opt.size = bytes_of(value);
            if (!strcmp(argv[i], "--piece")) opt.piece = bytes_of(value);
            if (!strcmp(argv[i], "--steps")) opt.steps = (int)strtol(value, NULL, 10);
            if (!strcmp(argv[i], "--compute")) opt.compute = strtod(value, NULL);
            i++;
        }
    }
    if (!opt.path || opt.steps < 1 || opt.steps > MOST || opt.piece < 1 || opt.size < opt.piece ||
        opt.size > INT32_MAX)
        fail("FILE [--size BYTES] [--piece BYTES] [--steps N] [--compute SECONDS] [--sync] "
             "[--read] [--idle]",
             MPI_SUCCESS);
    opt.size -= opt.size % opt.piece;
}

static void file_open(void) {
    MPI_Datatype piece, view;
    must("open", MPI_File_open(MPI_COMM_WORLD, opt.path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                               MPI_INFO_NULL, &file));
    MPI_Type_contiguous((int)opt.piece, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)opt.piece * ranks, &view);
    MPI_Type_commit(&view);
    must("set_view", MPI_File_set_view(file, (MPI_Offset)opt.piece * rank, MPI_BYTE, view, "native",
                                       MPI_INFO_NULL));
    MPI_Type_free(&piece);
    MPI_Type_free(&view);
}

static void report(double alone, double compute, times t) {
    const double longer = alone > compute ? alone : compute;
    printf("file %.4f  compute %.4f  sum %.4f\n", alone, compute, alone + compute);
    printf("begin %.4f  total %.4f  total/sum %.2f  (total - begin)/longer %.2f\n", t.begin, t.all,
           t.all / (alone + compute), (t.all - t.begin) / longer);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    arguments(argc, argv);
    data = malloc((size_t)opt.size);
    if (!data) fail("out of memory", MPI_SUCCESS);
    memset(data, rank + 1, (size_t)opt.size);
    file_open();
    const double alone = file_alone(0);
    const uint64_t amount = amount_for(opt.compute > 0 ? opt.compute : alone);
    const double compute = compute_alone(amount);
    const times t = both(opt.read ? 0 : opt.steps, amount);
    must("close", MPI_File_close(&file));
    if (rank == 0) report(alone, compute, t);
    free(data);
    MPI_Finalize();
    return 0;
}
