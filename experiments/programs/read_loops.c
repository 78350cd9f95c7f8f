/* Collective reads by MPI-IO compared with hand-written loops and the conforming limit,
 * interleaved, for the patterns of `tutti bench`.  The loops use pread and preadv, without mapping.
 * Their list of pieces is created beforehand, so that they do no planning:
 *
 *   pread          one call per piece that is contiguous in the file and in memory
 *   preadv         one call per run of the file, with up to 1024 pieces of memory
 *   private SIZE   sections of SIZE of this rank's pieces are read into a buffer, then copied
 *   shared SIZE    the extent of all ranks is read in sections of SIZE, each by one rank into
 *                  shared memory; a rank has two sections: one is read while the other is copied
 *   limit          every rank reads one contiguous share of the same total in calls of 4 MiB
 *
 *   read_loops FILE [--size BYTES] [--rounds N] [--pattern NAME,...] [--verify]
 *
 * Only the data calls are timed.  With libtutti-mpiio.so preloaded, the variant MPI-IO measures
 * Tutti.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "bench/bench.h"
#include "measure/standalone.h"

enum { SEED = 1, AHEAD = 8, SECTIONS = 2, VECTOR = 1024, LARGEST = 1 << 20 };

typedef struct {
    uint32_t file, memory, bytes;
} piece;

typedef struct {
    _Alignas(64) atomic_long arrived;
} meeting;

typedef struct {
    bench_pattern p;
    piece *list;
    size_t n;
    char *buf, *share, *stage; /* stage: staging memory of this rank */
    char *shared;              /* sections in shared memory, after the barrier */
    meeting *meeting;
    long meetings;
    int fd;
} scene;

typedef struct {
    const char *name;
    void (*read)(scene *s, size_t size);
    size_t size;
} loop;

static long size = 32 << 20, rounds = 7;
static int verify;
static const char *path;

static void read_fully(int fd, char *to, size_t n, size_t from) {
    standalone_check(pread(fd, to, n, (off_t)from) == (ssize_t)n, "short read");
}

/* ---- loops without communication */

static void read_limit(scene *s, size_t call) {
    const size_t bytes = (size_t)s->p.bytes;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < call ? bytes - at : call;
        read_fully(s->fd, s->share + at, n, bytes * (size_t)standalone_rank + at);
    }
}

static void read_pieces(scene *s, size_t unused) {
    (void)unused;
    for (size_t i = 0; i < s->n; i++)
        read_fully(s->fd, s->buf + s->list[i].memory, s->list[i].bytes, s->list[i].file);
}

static void read_vectors(scene *s, size_t most) {
    struct iovec v[VECTOR];
    for (size_t i = 0, k; i < s->n; i = k) {
        size_t at = s->list[i].file;
        const size_t from = at;
        for (k = i; k < s->n && k - i < most && s->list[k].file == at; k++) {
            v[k - i] = (struct iovec){s->buf + s->list[k].memory, s->list[k].bytes};
            at += s->list[k].bytes;
        }
        standalone_check(preadv(s->fd, v, (int)(k - i), (off_t)from) == (ssize_t)(at - from),
                         "short read");
    }
}

static inline void copy_piece(char *to, const char *from, size_t n) {
    switch (n) { /* constant sizes, for which the compiler expands memcpy */
    case 64:
        memcpy(to, from, 64);
        break;
    case 128:
        memcpy(to, from, 128);
        break;
    case 256:
        memcpy(to, from, 256);
        break;
    case 512:
        memcpy(to, from, 512);
        break;
    default:
        memcpy(to, from, n);
    }
}

/* Copy bytes [lo, hi) of the file from `stage` to the pieces that begin with index i.  @return
 * index of the first piece that is not complete */
static size_t copy_pieces(scene *s, size_t i, size_t lo, size_t hi, const char *stage) {
    const piece *p = s->list;
    for (; i < s->n && p[i].file < hi; i++) {
        const size_t from = p[i].file > lo ? p[i].file : lo, all = p[i].file + p[i].bytes;
        const size_t to = all < hi ? all : hi;
        if (i + AHEAD < s->n) __builtin_prefetch(s->buf + p[i + AHEAD].memory, 1);
        copy_piece(s->buf + p[i].memory + (from - p[i].file), stage + (from - lo), to - from);
        if (all > hi) break;
    }
    return i;
}

static void read_private(scene *s, size_t section) {
    for (size_t i = 0, lo = 0; i < s->n;) {
        if (s->list[i].file > lo) lo = s->list[i].file;
        size_t k = i, hi = lo;
        while (k < s->n && s->list[k].file < lo + section) k++;
        if (k > i) hi = s->list[k - 1].file + s->list[k - 1].bytes;
        if (hi > lo + section) hi = lo + section;
        read_fully(s->fd, s->stage, hi - lo, lo);
        i = copy_pieces(s, i, lo, hi, s->stage);
        lo = hi;
    }
}

/* ---- the loop through shared memory */

static void wait_for_ranks(scene *s) {
    const long all = ++s->meetings * standalone_ranks;
    atomic_fetch_add_explicit(&s->meeting->arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&s->meeting->arrived, memory_order_acquire) < all) sched_yield();
}

static void read_shared(scene *s, size_t section) {
    const size_t ranks = (size_t)standalone_ranks, cycle = section * ranks;
    const size_t total = (size_t)s->p.total;
    for (size_t lo = 0, i = 0, c = 0; lo < total + cycle; lo += cycle, c++) {
        char *filled = s->shared + c % SECTIONS * ranks * LARGEST;
        const char *ready = s->shared + (c + 1) % SECTIONS * ranks * LARGEST;
        const size_t from = lo + section * (size_t)standalone_rank;
        const size_t n = from >= total ? 0 : total - from < section ? total - from : section;
        if (n > 0) read_fully(s->fd, filled + section * (size_t)standalone_rank, n, from);
        if (c > 0) i = copy_pieces(s, i, lo - cycle, lo, ready);
        wait_for_ranks(s);
    }
}

/* ---- measured variants */

static const loop loops[] = {
    {"pread", read_pieces, 0},
    {"preadv", read_vectors, VECTOR},
    {"private 128k", read_private, 128 << 10},
    {"private 512k", read_private, 512 << 10},
    {"shared 64k", read_shared, 64 << 10},
    {"shared 128k", read_shared, 128 << 10},
    {"shared 256k", read_shared, 256 << 10},
    {"shared 512k", read_shared, 512 << 10},
    {"limit", read_limit, BENCH_CALL},
};
enum { LOOPS = sizeof loops / sizeof *loops };

static void check_call(int code, const char *what) {
    if (code != MPI_SUCCESS) standalone_fail("%s failed", what);
}

static MPI_File open_view(const scene *s, int mode) {
    MPI_File f;
    check_call(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f), "open");
    check_call(MPI_File_set_view(f, 0, MPI_BYTE, s->p.file_type, "native", MPI_INFO_NULL),
               "set_view");
    return f;
}

static void run_loop(measure *m, measure_variant *v, double *value) {
    scene *s = m->data;
    const loop *l = v->what;
    MPI_File f = MPI_FILE_NULL;
    memset(s->buf, 0, (size_t)s->p.memory);
    if (!l) f = open_view(s, MPI_MODE_RDONLY);
    const double start = standalone_together();
    if (l)
        l->read(s, l->size);
    else
        check_call(MPI_File_read_all(f, s->buf, 1, s->p.memory_type, MPI_STATUS_IGNORE), "read");
    value[0] = standalone_together() - start;
    if (!l) check_call(MPI_File_close(&f), "close");
    if (verify && !(l && l->read == read_limit))
        standalone_check(content_check_pieces(SEED, &s->p, s->buf) < 0, "wrong bytes were read");
}

static void list_pieces(scene *s) {
    s->n = (size_t)s->p.pieces;
    s->list = standalone_alloc(s->n, sizeof *s->list);
    for (size_t i = 0; i < s->n; i++) {
        const tutti_piece *p = &s->p.piece[i];
        standalone_check(p->file + p->bytes <= UINT32_MAX && p->memory + p->bytes <= UINT32_MAX,
                         "the pattern is too large");
        s->list[i] = (piece){(uint32_t)p->file, (uint32_t)p->memory, (uint32_t)p->bytes};
    }
}

static void write_file(scene *s) {
    if (standalone_rank == 0) unlink(path);
    standalone_together();
    MPI_File f = open_view(s, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    content_fill_pieces(SEED, &s->p, s->buf);
    check_call(MPI_File_write_all(f, s->buf, 1, s->p.memory_type, MPI_STATUS_IGNORE), "write");
    check_call(MPI_File_close(&f), "close");
}

static void measure_pattern(const cli_world *w, const char *name, scene *s) {
    static const char *const values[] = {"seconds", NULL};
    const bench_config config = {.size = size, .seed = SEED};
    char more[48];
    if (!*bench_pattern_kept_name(name)) standalone_fail("unknown pattern '%s'", name);
    if (bench_pattern_make(name, w, &config, &s->p)) standalone_fail("%s", cli_message());
    list_pieces(s);
    s->buf = standalone_alloc((size_t)s->p.memory, 1);
    s->share = standalone_alloc((size_t)s->p.bytes, 1);
    memset(s->share, 1, (size_t)s->p.bytes);
    write_file(s);
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    standalone_check(s->fd >= 0, "open");
    measure m = {.title = name,
                 .values = values,
                 .rounds = (int)rounds,
                 .data = s,
                 .run = run_loop,
                 .warmup = 1};
    measure_add(&m, "MPI-IO", NULL);
    for (int i = 0; i < LOOPS; i++) measure_add(&m, loops[i].name, &loops[i]);
    measure_rounds(&m);
    snprintf(more, sizeof more, ", \"bytes\": %.0f", (double)s->p.total);
    standalone_report(&m, more);
    close(s->fd);
    bench_pattern_free(&s->p);
    free(s->list);
    free(s->buf);
    free(s->share);
    standalone_together();
    if (standalone_rank == 0) unlink(path);
    standalone_together();
}

/* Allocate shared memory: the barrier (`meeting`), then SECTIONS sections per rank. */
static void allocate_stages(scene *s, MPI_Win *win) {
    const MPI_Aint all =
        (MPI_Aint)sizeof(meeting) + (MPI_Aint)SECTIONS * standalone_ranks * LARGEST;
    MPI_Aint bytes;
    int unit;
    char *base;
    MPI_Win_allocate_shared(standalone_rank == 0 ? all : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            win);
    MPI_Win_shared_query(*win, 0, &bytes, &unit, &base);
    if (standalone_rank == 0) memset(base, 0, (size_t)all);
    standalone_together();
    s->meeting = (meeting *)(void *)base;
    s->shared = base + sizeof(meeting);
    s->stage = standalone_alloc(LARGEST, 1);
    memset(s->stage, 1, LARGEST);
}

int main(int argc, char **argv) {
    const char *patterns = "block2d,cyclic4k,strided,flash,irregular64";
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 4096, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--pattern", OPTION_TEXT, &patterns, 0, 0},
                                         {"--verify", OPTION_FLAG, &verify, 0, 0},
                                         {0}};
    const standalone program = {"read_loops", "FILE", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    path = argv[0];
    cli_world w;
    cli_list list = {0};
    scene s = {0};
    MPI_Win win;
    cli_world_init(&w);
    cli_list_split(&list, patterns);
    allocate_stages(&s, &win);
    for (int i = 0; i < list.n; i++) measure_pattern(&w, list.item[i], &s);
    cli_list_free(&list);
    free(s.stage);
    MPI_Win_free(&win);
    return standalone_end_mpi();
}
