/* How long a plain MPI-IO program takes to write and to read a file, open to close, for the access
 * patterns that simulations have.  It knows nothing of Tutti: `bench/compare_mpiio.py` runs it with and
 * without the drop-in, in turn.
 *
 *   mpiio_patterns FILE [--size BYTES] [--rounds N] [--pattern NAME,...] [--verify] [--disk] [--limit]
 *
 * --limit: instead, the data calls alone, interleaved with the conforming limit: each rank reads one contiguous share of the
 * same total in calls of 4 MiB into a buffer that it has touched.
 * --disk: the disk counts, not the page cache: a write ends with MPI_File_sync, a read finds nothing cached.
 * Every line of output: pattern, write or read, bytes of all ranks, seconds (the slowest rank); with --limit also the processor
 * time of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct pattern {
    MPI_Datatype file, memory;
    int count;    /* of `memory` in a call */
    size_t room;  /* bytes of the buffer */
    size_t bytes; /* of this rank, in one call */
    int calls;    /* one after the other, by the individual file pointer */
} pattern;

static int rank, ranks, rounds = 1, verify, disk, limit;
static long size = 8 << 20;

static _Noreturn void fail(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (code != MPI_SUCCESS) MPI_Error_string(code, text, &n);
    fprintf(stderr, "mpiio_patterns: %s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *must(void *p) {
    if (!p) fail("out of memory", MPI_SUCCESS);
    return p;
}

/* ---- the patterns */

static void packed(pattern *p) {
    int bytes;
    MPI_Type_size(p->file, &bytes);
    p->memory = MPI_BYTE;
    p->count = bytes;
    p->room = p->bytes = (size_t)bytes;
    p->calls = 1;
}

/* A block of an array, of `element` bytes, cut `dims` ways; `side` elements a rank. */
static void block(pattern *p, int ndims, int element, const int *side, const int *dims) {
    int shape[4], part[4], start[4], rest = rank;
    for (int d = ndims - 1; d >= 0; d--) {
        part[d] = side[d];
        shape[d] = side[d] * dims[d];
        start[d] = side[d] * (rest % dims[d]);
        rest /= dims[d];
    }
    shape[ndims] = part[ndims] = element;
    start[ndims] = 0;
    MPI_Type_create_subarray(ndims + 1, shape, part, start, MPI_ORDER_C, MPI_BYTE, &p->file);
    packed(p);
}

static void even_block(pattern *p, int ndims, int element) {
    int dims[3] = {0}, side[3];
    MPI_Dims_create(ranks, ndims, dims);
    for (int d = 0; d < ndims; d++)
        side[d] = (int)fmax(1, pow((double)size / element, 1.0 / ndims));
    block(p, ndims, element, side, dims);
}

static void make_block2d(pattern *p) {
    even_block(p, 2, 4);
}
static void make_block3d(pattern *p) {
    even_block(p, 3, 8);
}
static void make_tile256(pattern *p) {
    even_block(p, 2, 256);
}
static void make_tile1m(pattern *p) {
    even_block(p, 2, 1 << 20);
}

static void make_columns(pattern *p) {
    const int rows = (int)sqrt((double)size / 4 * ranks), dims[] = {1, ranks};
    const int side[] = {rows, rows / ranks > 0 ? rows / ranks : 1};
    block(p, 2, 4, side, dims);
}

/* Pieces dealt in turn: a view of one piece a rank, repeated. */
static void dealt(pattern *p, int piece) {
    MPI_Datatype run;
    MPI_Type_create_hvector((int)(size / piece), piece, (MPI_Aint)piece * ranks, MPI_BYTE, &run);
    const MPI_Aint at = (MPI_Aint)piece * rank;
    const int one = 1;
    MPI_Type_create_hindexed(1, &one, &at, run, &p->file);
    MPI_Type_free(&run);
    packed(p);
}

static void make_cyclic4k(pattern *p) {
    dealt(p, 4096);
}
static void make_strided512(pattern *p) {
    dealt(p, 512);
}

static void make_segmented(pattern *p) {
    const MPI_Aint at = (MPI_Aint)size * rank;
    const int bytes = (int)size;
    MPI_Type_create_hindexed(1, &bytes, &at, MPI_BYTE, &p->file);
    packed(p);
}

/* Small contiguous writes, many calls. */
static void make_small4k(pattern *p) {
    MPI_Datatype piece;
    const MPI_Aint at = 4096 * (MPI_Aint)rank;
    const int bytes = 4096;
    MPI_Type_create_hindexed(1, &bytes, &at, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, 4096 * (MPI_Aint)ranks, &p->file);
    MPI_Type_free(&piece);
    packed(p);
    p->calls = 1000;
}

/* IOR's odd pieces: neighbours share pages, and no call is aligned. */
static void make_ior47008(pattern *p) {
    enum { PIECE = 47008 };
    MPI_Datatype piece;
    const MPI_Aint at = PIECE * (MPI_Aint)rank;
    const int bytes = PIECE;
    MPI_Type_create_hindexed(1, &bytes, &at, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, PIECE * (MPI_Aint)ranks, &p->file);
    MPI_Type_free(&piece);
    packed(p);
    p->calls = 200;
}

static uint64_t shuffle(uint64_t *x) {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

/* Items of 64 bytes, in every hand of 32 a rank dealt at random. */
static void make_irregular64(pattern *p) {
    enum { ITEM = 64, HAND = 32 };
    const int hands = (int)(size / (ITEM * HAND)), n = HAND * ranks;
    int *owner = must(calloc((size_t)n, sizeof *owner));
    MPI_Aint *at = must(malloc((size_t)hands * HAND * sizeof *at));
    uint64_t state = 88172645463325252u;
    int items = 0;
    for (int h = 0; h < hands; h++) {
        for (int i = 0; i < n; i++) owner[i] = i % ranks;
        for (int i = n - 1; i > 0; i--) {
            const int j = (int)(shuffle(&state) % (uint64_t)(i + 1)), o = owner[i];
            owner[i] = owner[j];
            owner[j] = o;
        }
        for (int i = 0; i < n; i++)
            if (owner[i] == rank) at[items++] = ITEM * ((MPI_Aint)h * n + i);
    }
    MPI_Type_create_hindexed_block(items, ITEM, at, MPI_BYTE, &p->file);
    free(at);
    free(owner);
    packed(p);
}

/* FLASH: file[variable][block of all ranks][8][8][8], memory[block][variable][16][16][16]. */
static void make_flash(pattern *p) {
    enum { SIDE = 8, PADDED = 16, VARS = 24 };
    const int shape[] = {PADDED, PADDED, PADDED}, part[] = {SIDE, SIDE, SIDE}, start[] = {4, 4, 4};
    const MPI_Aint cell = SIDE * SIDE * SIDE * 8, padded = PADDED * PADDED * PADDED * 8;
    const int blocks = size / (VARS * cell) > 0 ? (int)(size / (VARS * cell)) : 1, one = 1;
    MPI_Datatype cube, column, vector;
    MPI_Type_create_subarray(3, shape, part, start, MPI_ORDER_C, MPI_DOUBLE, &cube);
    MPI_Type_create_hvector(blocks, 1, VARS * padded, cube, &column);
    MPI_Type_create_hvector(VARS, 1, padded, column, &p->memory);
    MPI_Type_create_hvector(VARS, (int)(blocks * cell), blocks * ranks * cell, MPI_BYTE, &vector);
    const MPI_Aint at = rank * blocks * cell;
    MPI_Type_create_hindexed(1, &one, &at, vector, &p->file);
    MPI_Type_free(&cube);
    MPI_Type_free(&column);
    MPI_Type_free(&vector);
    MPI_Type_commit(&p->memory);
    p->count = p->calls = 1;
    p->room = (size_t)(blocks * VARS * padded);
    p->bytes = (size_t)(blocks * VARS * cell);
}

static const struct {
    const char *name;
    void (*make)(pattern *p);
} table[] = {
    {"block2d", make_block2d},         {"columns", make_columns},
    {"block3d", make_block3d},         {"cyclic4k", make_cyclic4k},
    {"tile256", make_tile256},         {"tile1m", make_tile1m},
    {"strided512", make_strided512},   {"segmented", make_segmented},
    {"irregular64", make_irregular64}, {"flash", make_flash},
    {"small4k", make_small4k},         {"ior47008", make_ior47008},
};

/* ---- one round */

static double now_together(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* A slow disk then has all of it to read. */
static void forget(const char *path) {
    if (rank == 0) {
        const int fd = open(path, O_RDONLY);
        if (fd < 0 || fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
            fail("the page cache", MPI_SUCCESS);
        close(fd);
    }
}

/* Processor time of this rank so far. */
static double processor(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double spent; /* processor time of the last data calls, this rank's */

/* One line; with --limit also the processor time of all ranks. */
static void report(const char *name, const char *what, double total, double seconds) {
    double all = 0;
    MPI_Reduce(&spent, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && limit)
        printf("%s %s %.0f %.6f %.6f\n", name, what, total, seconds, all);
    else if (rank == 0)
        printf("%s %s %.0f %.6f\n", name, what, total, seconds);
}

static double transfer(const char *path, const pattern *p, int write, char *buf) {
    MPI_File f;
    MPI_Status status;
    const int mode = write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    if (disk && !write) forget(path);
    double start = now_together();
    int code = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f);
    if (code != MPI_SUCCESS) fail("open", code);
    code = MPI_File_set_view(f, 0, MPI_BYTE, p->file, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS) fail("set_view", code);
    if (limit) start = now_together();
    const double before = processor();
    for (int i = 0; i < p->calls; i++) {
        code = write ? MPI_File_write_all(f, buf, p->count, p->memory, &status)
                     : MPI_File_read_all(f, buf, p->count, p->memory, &status);
        if (code != MPI_SUCCESS) fail(write ? "write_all" : "read_all", code);
    }
    if (disk && write) code = MPI_File_sync(f);
    if (code != MPI_SUCCESS) fail("sync", code);
    spent = processor() - before;
    const double ended = limit ? now_together() : 0;
    code = MPI_File_close(&f);
    if (code != MPI_SUCCESS) fail("close", code);
    return (limit ? ended : now_together()) - start;
}

/* The conforming limit of reading what `p` reads. */
static double read_limit(const char *path, const pattern *p, char *share) {
    const size_t bytes = p->bytes * (size_t)p->calls, most = 4 << 20;
    const int fd = open(path, O_RDONLY);
    const double start = now_together(), before = processor();
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        if (pread(fd, share + at, n, (off_t)(bytes * (size_t)rank + at)) != (ssize_t)n)
            fail("pread", MPI_SUCCESS);
    }
    spent = processor() - before;
    const double seconds = now_together() - start;
    close(fd);
    return seconds;
}

/* What the bytes of this rank should be. */
static char content(size_t i) {
    return (char)(i * 7 + (i >> 9) + (size_t)rank * 31);
}

static void check(const char *name, const pattern *p, const char *buf) {
    char *want = must(malloc(p->bytes + 1)), *got = must(malloc(p->bytes + 1)),
         *all = must(malloc(p->room + 1));
    int at = 0, to = 0;
    for (size_t i = 0; i < p->room; i++) all[i] = content(i);
    MPI_Pack(all, p->count, p->memory, want, (int)p->bytes, &at, MPI_COMM_SELF);
    MPI_Pack(buf, p->count, p->memory, got, (int)p->bytes, &to, MPI_COMM_SELF);
    if (memcmp(want, got, p->bytes) != 0) fail(name, MPI_SUCCESS);
    free(want);
    free(got);
    free(all);
}

static void measure(const char *path, const char *name, pattern *p) {
    const double total = (double)p->bytes * p->calls * ranks;
    char *buf = must(malloc(p->room));
    char *share = limit ? must(malloc(p->bytes * (size_t)p->calls)) : NULL;
    if (share) memset(share, 1, p->bytes * (size_t)p->calls);
    MPI_Type_commit(&p->file);
    for (int r = 0; r < rounds; r++)
        for (int write = !limit || r == 0; write >= 0; write--) {
            if (write && rank == 0) unlink(path);
            for (size_t i = 0; i < p->room; i++) buf[i] = write ? content(i) : 0;
            const double seconds = transfer(path, p, write, buf);
            report(name, write ? "write" : "read", total, seconds);
            if (verify && !write) check(name, p, buf);
            if (!share || write) continue;
            const double least = read_limit(path, p, share);
            report(name, "limit", total, least);
        }
    free(share);
    if (rank == 0) unlink(path);
    free(buf);
    if (p->memory != MPI_BYTE) MPI_Type_free(&p->memory);
    MPI_Type_free(&p->file);
}

static int chosen(const char *list, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == 0)) return 1;
    return list == NULL;
}

int main(int argc, char **argv) {
    const char *patterns = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2)
        fail("usage: mpiio_patterns FILE [--size BYTES] [--rounds N] [--pattern NAME,...] "
             "[--verify] [--disk] [--limit]",
             MPI_SUCCESS);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--verify") == 0)
            verify = 1;
        else if (strcmp(argv[i], "--disk") == 0)
            disk = 1;
        else if (strcmp(argv[i], "--limit") == 0)
            limit = 1;
        else if (i + 1 == argc)
            fail("an option without a value", MPI_SUCCESS);
        else if (strcmp(argv[i], "--size") == 0)
            size = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = (int)strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--pattern") == 0)
            patterns = argv[++i];
        else
            fail(argv[i], MPI_SUCCESS);
    }
    if (size < 4096 || size > (1L << 30)) fail("--size: 4096 to 2^30", MPI_SUCCESS);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (chosen(patterns, table[i].name)) {
            pattern p = {0};
            table[i].make(&p);
            measure(argv[1], table[i].name, &p);
        }
    MPI_Finalize();
    return 0;
}
