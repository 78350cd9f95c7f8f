/* Overlap of split collectives: a plain MPI-IO program that computes between
 * MPI_File_write_at_all_begin and MPI_File_write_at_all_end.  Does not use Tutti: run it with and
 * without libtutti-mpiio.so, on storage that takes time but no processor (scripts/throttle.sh).
 *
 *   split_overlap FILE [--size BYTES] [--piece BYTES] [--steps N] [--compute SECONDS] [--sync]
 *                 [--read] [--idle]
 *
 *   --size      bytes per rank and step (16m), distributed to the ranks in pieces of --piece (64k)
 *   --compute   seconds of computation per step; default: as long as file access
 *   --sync      end each step with MPI_File_sync, which waits for the disk if the MPI library
 *               writes to the page cache
 *   --read      use read_at_all_begin and read_at_all_end on an existing file instead
 *   --idle      sleep instead of computing, as if another device computed
 *
 * Variants: file access only (blocking calls), computation only, both with begin and end around the
 * computation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "measure/standalone.h"

enum { FILE_ALONE, COMPUTE_ALONE, BOTH };

static long size = 16 << 20, piece = 64 << 10, steps = 5;
static int sync_steps, reads, idle;
static double compute;
static MPI_File file;
static char *data;
static volatile uint64_t sink;

static void check_call(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &n);
    standalone_fail("%s", text);
}

/* ---- the measured operations */

/* Compute; amount: iterations, or, with --idle, nanoseconds. */
static void do_work(uint64_t amount) {
    uint64_t z = sink + 88172645463325252u;
    if (idle) {
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

/* Return the offset of a step: every step has its own part of the file. */
static MPI_Offset place_items(int step) {
    return (MPI_Offset)step * size;
}

static void step_end(void) {
    if (sync_steps && !reads) check_call(MPI_File_sync(file));
}

static void access_blocking(int step) {
    const MPI_Offset at = place_items(step);
    check_call(reads
                   ? MPI_File_read_at_all(file, at, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE)
                   : MPI_File_write_at_all(file, at, data, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    step_end();
}

/* Access the file during the computation.  Returns the seconds of begin. */
static double access_overlapped(int step, uint64_t amount) {
    const MPI_Offset at = place_items(step);
    const double start = measure_now();
    check_call(reads ? MPI_File_read_at_all_begin(file, at, data, (int)size, MPI_BYTE)
                     : MPI_File_write_at_all_begin(file, at, data, (int)size, MPI_BYTE));
    const double begin = measure_now() - start;
    do_work(amount);
    check_call(reads ? MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE)
                     : MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    step_end();
    return begin;
}

typedef struct {
    int next; /* number of the next step */
    uint64_t amount;
} scene;

static void run_case(measure *m, measure_variant *v, double *value) {
    scene *s = m->data;
    const int kind = (int)(intptr_t)v->what, step = reads ? s->next++ % (int)steps : s->next++;
    const double start = standalone_together();
    if (kind == FILE_ALONE) access_blocking(step);
    if (kind == COMPUTE_ALONE) do_work(s->amount);
    if (kind == BOTH) value[1] = access_overlapped(step, s->amount);
    value[0] = standalone_slowest(measure_now() - start);
    value[1] = standalone_slowest(value[1]);
}

/* Return the median time of n runs of one variant. */
static double time_of(scene *s, int kind, int n) {
    static const char *const values[] = {"seconds", "begin_seconds", NULL};
    measure m = {.values = values, .rounds = n, .data = s, .run = run_case};
    const measure_variant *v = measure_add(&m, "", (const void *)(intptr_t)kind);
    measure_rounds(&m);
    const double median = measure_quantile(v->sample[0], n, 0.5);
    measure_free(&m);
    return median;
}

/* Return the amount of work that takes `seconds` while all ranks compute. */
static uint64_t amount_for(scene *s, double seconds) {
    if (idle) return (uint64_t)(seconds * 1e9);
    double t = 0;
    for (s->amount = 1 << 20; t < 0.05 && t < seconds / 2; s->amount *= 4)
        t = time_of(s, COMPUTE_ALONE, 3);
    return (uint64_t)((double)(s->amount / 4) * seconds / t);
}

static void open_file(const char *path) {
    MPI_Datatype one, view;
    check_call(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI_Type_contiguous((int)piece, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)piece * standalone_ranks, &view);
    MPI_Type_commit(&view);
    check_call(MPI_File_set_view(file, (MPI_Offset)piece * standalone_rank, MPI_BYTE, view,
                                 "native", MPI_INFO_NULL));
    MPI_Type_free(&one);
    MPI_Type_free(&view);
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", "begin_seconds", NULL};
    static const char *const names[] = {"file alone", "compute alone", "begin, compute, end"};
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 1, 1 << 30},
                                         {"--piece", OPTION_NUMBER, &piece, 1, 1 << 30},
                                         {"--steps", OPTION_NUMBER, &steps, 1, 1000},
                                         {"--compute", OPTION_SECONDS, &compute, 0, 0},
                                         {"--sync", OPTION_FLAG, &sync_steps, 0, 0},
                                         {"--read", OPTION_FLAG, &reads, 0, 0},
                                         {"--idle", OPTION_FLAG, &idle, 0, 0},
                                         {0}};
    const standalone program = {"split_overlap", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    size -= size % piece;
    standalone_check(size > 0, "--size is less than --piece");
    data = standalone_alloc((size_t)size, 1);
    memset(data, standalone_rank + 1, (size_t)size);
    open_file(argv[0]);
    scene s = {0};
    const double alone = compute > 0 ? compute : time_of(&s, FILE_ALONE, (int)steps);
    s.amount = amount_for(&s, alone);
    measure m = {
        .title = "steps", .values = values, .rounds = (int)steps, .data = &s, .run = run_case};
    for (int k = 0; k < 3; k++) measure_add(&m, names[k], (const void *)(intptr_t)k);
    measure_rounds(&m);
    check_call(MPI_File_close(&file));
    standalone_report(&m, "");
    free(data);
    return standalone_end_mpi();
}
