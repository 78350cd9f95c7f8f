/* The time that an MPI-IO program needs to write and to read a file, from open to close, for the
 * patterns of `tutti bench` and for many small calls.  From Tutti it uses only the datatypes of the
 * patterns; compare_mpiio.py runs it with and without libtutti-mpiio.so, interleaved.
 *
 *   mpiio_patterns FILE [--size BYTES] [--rounds N] [--pattern NAME,...] [--verify] [--disk]
 *                  [--limit] [--writes]
 *
 *   --disk     without the page cache: a write ends with MPI_File_sync, a read finds no cached data
 *   --limit    measure only the data calls, with the processor time of all ranks, interleaved with
 *              the conforming limit: each rank writes or reads one contiguous share of the same
 *              total in calls of 4 MiB, with a buffer that has been touched before
 *   --writes   measure writes in every round; default: in the first round only
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/bench.h"
#include "measure/standalone.h"

static long size = 8 << 20, rounds = 1;
static int verify, disk, limit, writes;
static const char *path;

/* Earlier names of patterns in this program; and patterns of many calls, with one piece per rank and call. */
static const struct {
    const char *name, *pattern;
    int piece, calls;
} others[] = {{"strided512", "pieces512", 0, 0},
              {"segmented", "ior", 0, 0},
              {"small4k", NULL, 4096, 1000},
              {"ior47008", NULL, 47008, 200}}; /* calls are unaligned, and neighbours share pages */
enum { OTHERS = sizeof others / sizeof *others, SEED = 1 };
static const char usual[] = "block2d,columns,block3d,cyclic4k,tile256,tile1m,strided512,segmented,"
                            "irregular64,flash,small4k,ior47008";

typedef struct {
    bench_pattern p;
    int calls;
    char *buf, *share;
} scene;

static void check_call(int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &n);
    standalone_fail("%s: %s", what, text);
}

static void make_calls(const cli_world *w, int piece, bench_pattern *p) {
    MPI_Datatype one;
    const MPI_Aint at = (MPI_Aint)piece * w->rank;
    *p = (bench_pattern){.bytes = piece, .memory = piece, .total = (tutti_off)piece * w->ranks};
    MPI_Type_create_hindexed(1, &piece, &at, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, (MPI_Aint)piece * w->ranks, &p->file_type);
    MPI_Type_contiguous(piece, MPI_BYTE, &p->memory_type);
    MPI_Type_commit(&p->file_type);
    MPI_Type_commit(&p->memory_type);
    MPI_Type_free(&one);
}

/* Check the data that was read: patterns have the content of `tutti bench`; calls repeat the content of the
 * rank's first piece. */
static int buffer_is_right(const scene *s) {
    const tutti_off at = s->p.bytes * standalone_rank;
    return s->calls > 1 ? content_check(SEED, at, s->buf, s->p.bytes) < 0
                        : content_check_pieces(SEED, &s->p, s->buf) < 0;
}

static void move_share(const scene *s, int is_write, double *value) {
    const size_t bytes = (size_t)s->p.bytes * (size_t)s->calls;
    char other[4096]; /* writes use another file: reads need the file of the pattern */
    snprintf(other, sizeof other, "%s.limit", path);
    const int fd = open(is_write ? other : path,
                        is_write ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);
    const double start = standalone_together(), cpu = measure_cpu();
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < BENCH_CALL ? bytes - at : BENCH_CALL;
        const off_t to = (off_t)(bytes * (size_t)standalone_rank + at);
        const ssize_t done =
            is_write ? pwrite(fd, s->share + at, n, to) : pread(fd, s->share + at, n, to);
        standalone_check(done == (ssize_t)n, is_write ? "short write" : "short read");
    }
    value[1] = standalone_sum(measure_cpu() - cpu);
    value[0] = standalone_together() - start;
    close(fd);
    if (is_write && standalone_rank == 0) unlink(other);
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const scene *s = m->data;
    if (strcmp(v->name, "limit") == 0 || strcmp(v->name, "write limit") == 0) {
        move_share(s, strcmp(v->name, "limit") != 0, value);
        return;
    }
    const int write = strcmp(v->name, "write") == 0;
    double left = 0;
    MPI_File f;
    memset(s->buf, 0, (size_t)s->p.memory);
    if (write && s->calls > 1)
        content_fill(SEED, s->p.bytes * standalone_rank, s->buf, s->p.bytes);
    else if (write)
        content_fill_pieces(SEED, &s->p, s->buf);
    if (standalone_rank == 0 && write) unlink(path);
    if (standalone_rank == 0 && disk && !write && measure_drop_cache(path, &left))
        standalone_fail("cannot drop '%s' from the page cache", path);
    double start = standalone_together();
    check_call(MPI_File_open(MPI_COMM_WORLD, path,
                             write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                             MPI_INFO_NULL, &f),
               "open");
    check_call(MPI_File_set_view(f, 0, MPI_BYTE, s->p.file_type, "native", MPI_INFO_NULL),
               "set_view");
    if (limit) start = standalone_together();
    const double cpu = measure_cpu();
    for (int i = 0; i < s->calls; i++)
        check_call(write ? MPI_File_write_all(f, s->buf, 1, s->p.memory_type, MPI_STATUS_IGNORE)
                         : MPI_File_read_all(f, s->buf, 1, s->p.memory_type, MPI_STATUS_IGNORE),
                   v->name);
    if (limit) value[1] = standalone_sum(measure_cpu() - cpu);
    const double moved = limit ? standalone_together() : 0;
    if (disk && write) check_call(MPI_File_sync(f), "sync");
    check_call(MPI_File_close(&f), "close");
    value[0] = (limit ? moved : standalone_together()) - start;
    v->is_resting = write && limit && !writes;
    if (verify && !write) standalone_check(buffer_is_right(s), "wrong bytes were read");
}

static void measure_pattern(const cli_world *w, const char *name) {
    static const char *const values[] = {"seconds", "cpu_seconds", NULL};
    const bench_config config = {.size = size, .seed = SEED};
    scene s = {.calls = 1};
    int i = 0;
    char more[48];
    while (i < OTHERS && strcmp(others[i].name, name) != 0) i++;
    const char *pattern = i == OTHERS ? name : others[i].pattern;
    if (pattern && !*bench_pattern_kept_name(pattern))
        standalone_fail("unknown pattern '%s'", name);
    if (!pattern)
        make_calls(w, others[i].piece, &s.p);
    else if (bench_pattern_make(pattern, w, &config, &s.p))
        standalone_fail("%s", cli_message());
    if (!pattern) s.calls = others[i].calls;
    s.buf = standalone_alloc((size_t)s.p.memory, 1);
    measure m = {
        .title = name, .values = values, .rounds = (int)rounds, .data = &s, .run = run_case};
    measure_add(&m, "write", NULL);
    measure_add(&m, "read", NULL);
    if (limit) {
        s.share = standalone_alloc((size_t)s.p.bytes, (size_t)s.calls);
        memset(s.share, 1, (size_t)s.p.bytes * (size_t)s.calls);
        if (writes) measure_add(&m, "write limit", NULL);
        measure_add(&m, "limit", NULL);
    }
    measure_rounds(&m);
    snprintf(more, sizeof more, ", \"bytes\": %.0f", (double)s.p.total * s.calls);
    standalone_report(&m, more);
    bench_pattern_free(&s.p);
    free(s.buf);
    free(s.share);
    if (standalone_rank == 0) unlink(path);
    standalone_together();
}

int main(int argc, char **argv) {
    const char *patterns = usual;
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 4096, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--pattern", OPTION_TEXT, &patterns, 0, 0},
                                         {"--verify", OPTION_FLAG, &verify, 0, 0},
                                         {"--disk", OPTION_FLAG, &disk, 0, 0},
                                         {"--limit", OPTION_FLAG, &limit, 0, 0},
                                         {"--writes", OPTION_FLAG, &writes, 0, 0},
                                         {0}};
    const standalone program = {"mpiio_patterns", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    path = argv[0];
    cli_world w;
    cli_list list = {0};
    cli_world_init(&w);
    cli_list_split(&list, patterns);
    for (int i = 0; i < list.n; i++) measure_pattern(&w, list.item[i]);
    cli_list_free(&list);
    return standalone_end_mpi();
}
