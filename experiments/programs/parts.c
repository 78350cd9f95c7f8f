/* Many variables in one operation, beside one call a variable and one call on all of them as one
 * access; and numbers that change on the way, beside numbers that do not.
 *
 *   small     32 variables of 4 KiB a rank, each a block of the variable
 *   shapes    32 variables of 64 KiB a rank, each of another shape: blocks, strides, short runs
 *   convert   one variable of doubles: as they are, big-endian, from int64; and as they are with
 *             checksums of its blocks of 64 KiB
 *
 * All ways take turns within a round, and the next round begins with another one.  Printed: the
 * median time of an operation for each way, and the median of the rounds' ratios.
 *
 * usage: parts [-r rounds] [-k operations of a round] [-m MiB of doubles a rank] [-d directory] [-h]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "collective/layer.h"

enum { VARIABLES = 32, MOST_ROUNDS = 101, MOST_WAYS = 4 };

typedef struct {
    int rounds, operations, rank, ranks;
    tutti_off megabytes;
    char path[512];
    tutti_file *file;
} bench;

static void must(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "parts: %s: %s\n", what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* ---- what is moved */

typedef struct {
    int n;
    tutti_part part[VARIABLES];
    tutti_access *access[VARIABLES], *all;
    char *memory;
    tutti_off bytes;
} variables;

/* Variable i of `bytes` a rank at `*at`, its shape by number; moves *at behind it. */
static tutti_access *shape(const bench *b, int i, tutti_off bytes, tutti_off *at) {
    static const tutti_off runs[] = {0, 64, 512, 4096, 24, 8, 1024, 256};
    tutti_access *a = NULL;
    const tutti_off run = runs[i % 8];
    if (run == 0) {
        must(tutti_access_contiguous(*at + b->rank * bytes, bytes, &a), "access");
    } else {
        const tutti_off count = bytes / run + 5 * i;
        must(tutti_access_vector(*at + b->rank * run, count, run, run * b->ranks, &a), "access");
        bytes = count * run;
    }
    *at += bytes * b->ranks;
    return a;
}

static void variables_make(const bench *b, tutti_off bytes, int shapes, variables *v) {
    tutti_off at = 0, memory = 0;
    *v = (variables){.n = VARIABLES};
    for (int i = 0; i < v->n; i++) {
        v->access[i] = shape(b, shapes ? i : 0, bytes, &at);
        v->bytes += tutti_access_bytes(v->access[i]);
    }
    v->memory = malloc((size_t)v->bytes);
    memset(v->memory, 'a' + b->rank, (size_t)v->bytes);
    for (int i = 0; i < v->n; i++) {
        v->part[i] = (tutti_part){.access = v->access[i], .buf = v->memory + memory};
        memory += tutti_access_bytes(v->access[i]);
    }
    must(tutti_access_concat(v->n, (const tutti_access *const *)v->access, NULL, &v->all),
         "concat");
}

static void variables_free(variables *v) {
    for (int i = 0; i < v->n; i++) tutti_access_free(&v->access[i]);
    tutti_access_free(&v->all);
    free(v->memory);
}

/* ---- ways */

typedef struct {
    const char *name;
    int (*move)(const bench *b, const variables *v, int is_write);
    tutti_conversion convert; /* of `convert` */
} way;

static int in_parts(const bench *b, const variables *v, int is_write) {
    must(is_write ? tutti_file_write_parts(b->file, v->n, v->part, NULL)
                  : tutti_file_read_parts(b->file, v->n, v->part, NULL),
         "parts");
    return 1;
}

/* As a layer above asks for it; a read has none. */
static int with_sums(const bench *b, const variables *v, int is_write) {
    tutti__sums sums = {.bytes = 64 << 10};
    const tutti__transfer t = {.name = "write",
                               .file = b->file,
                               .is_write = is_write,
                               .access = v->access[0],
                               .buf = v->memory,
                               .sums = is_write ? &sums : NULL};
    must(tutti__transfer_run(&t, NULL), "checksums");
    tutti__sums_free(&sums);
    return 1;
}

static int one_by_one(const bench *b, const variables *v, int is_write) {
    for (int i = 0; i < v->n; i++)
        must(is_write ? tutti_file_write(b->file, v->access[i], v->part[i].buf, NULL)
                      : tutti_file_read(b->file, v->access[i], v->part[i].buf, NULL),
             "one by one");
    return 1;
}

static int as_one(const bench *b, const variables *v, int is_write) {
    must(is_write ? tutti_file_write(b->file, v->all, v->memory, NULL)
                  : tutti_file_read(b->file, v->all, v->memory, NULL),
         "one access");
    return 1;
}

static double seconds(const bench *b, const way *w, variables *v, int is_write) {
    if (v->n == 1) v->part[0].convert = w->convert;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < b->operations; k++) (void)w->move(b, v, is_write);
    double mine = (MPI_Wtime() - start) / b->operations, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *v, int n) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, v, (size_t)n * sizeof *v);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static void compare(const bench *b, const char *name, int n, const way *ways, variables *v) {
    static double time[MOST_WAYS][MOST_ROUNDS], ratio[MOST_ROUNDS];
    for (int is_write = 1; is_write >= 0; is_write--) {
        for (int i = 0; i < n; i++) (void)seconds(b, &ways[i], v, is_write); /* plans */
        for (int r = 0; r < b->rounds; r++)
            for (int i = 0; i < n; i++) {
                const int k = (i + r) % n;
                time[k][r] = seconds(b, &ways[k], v, is_write);
            }
        if (b->rank > 0) continue;
        for (int i = 0; i < n; i++) {
            for (int r = 0; r < b->rounds; r++) ratio[r] = time[i][r] / time[0][r];
            printf("%-8s %-5s %-22s %10.1f us   %5.2f of %s\n", name, is_write ? "write" : "read",
                   ways[i].name, 1e6 * median(time[i], b->rounds), median(ratio, b->rounds),
                   ways[0].name);
        }
        fflush(stdout);
    }
}

static void file_open(bench *b, const char *method) {
    tutti_options opt;
    must(tutti_options_init(&opt), "options");
    must(tutti_options_set(&opt, "method", method), "options");
    must(tutti_file_open(MPI_COMM_WORLD, b->path,
                         TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &b->file),
         "open");
}

static void many(bench *b, const char *name, tutti_off bytes, int shapes) {
    static const way ways[] = {
        {"parts", in_parts, {0}}, {"one access", as_one, {0}}, {"32 calls", one_by_one, {0}}};
    variables v;
    file_open(b, "auto");
    variables_make(b, bytes, shapes, &v);
    compare(b, name, 3, ways, &v);
    must(tutti_file_close(&b->file), "close");
    variables_free(&v);
}

/* One variable in the file as the file's type has it; both sides go through staging. */
static void convert(bench *b) {
    static const way ways[] = {
        {"as it is", in_parts, {0}},
        {"big-endian", in_parts, {TUTTI_FLOAT64, TUTTI_FLOAT64, TUTTI_BIG_ENDIAN, 0, {0, 0}}},
        {"from int64", in_parts, {TUTTI_FLOAT64, TUTTI_INT64, TUTTI_NATIVE_ENDIAN, 0, {0, 0}}},
        {"with checksums", with_sums, {0}}};
    variables v = {.n = 1, .bytes = b->megabytes << 20};
    file_open(b, "two-phase");
    must(tutti_access_contiguous(b->rank * v.bytes, v.bytes, &v.access[0]), "access");
    v.memory = malloc((size_t)v.bytes);
    for (tutti_off i = 0; i < v.bytes / 8; i++) ((double *)(void *)v.memory)[i] = (double)i;
    v.part[0] = (tutti_part){.access = v.access[0], .buf = v.memory};
    bench few = *b;
    few.operations = 1;
    compare(&few, "convert", 4, ways, &v);
    must(tutti_file_close(&b->file), "close");
    variables_free(&v);
}

int main(int argc, char **argv) {
    bench b = {.rounds = 9, .operations = 20, .megabytes = 16};
    const char *directory = "/tmp";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    for (int c; (c = getopt(argc, argv, "r:k:m:d:h")) != -1;) switch (c) {
        case 'r':
            b.rounds = atoi(optarg);
            break;
        case 'k':
            b.operations = atoi(optarg);
            break;
        case 'm':
            b.megabytes = atoi(optarg);
            break;
        case 'd':
            directory = optarg;
            break;
        default:
            if (b.rank == 0)
                puts("usage: parts [-r rounds] [-k operations] [-m MiB of doubles] [-d directory]");
            MPI_Finalize();
            return c != 'h';
        }
    if (b.rounds < 1 || b.rounds > MOST_ROUNDS || b.operations < 1 || b.megabytes < 1) {
        fputs("parts: 1 to 101 rounds, operations and MiB >= 1\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    snprintf(b.path, sizeof b.path, "%s/tutti-bench-parts", directory);
    if (b.rank == 0)
        printf("%d ranks, %d rounds of %d operations, in %s\n", b.ranks, b.rounds, b.operations,
               directory);
    many(&b, "small", 4096, 0);
    many(&b, "shapes", 65536, 1);
    convert(&b);
    if (b.rank == 0) (void)unlink(b.path);
    MPI_Finalize();
    return 0;
}
