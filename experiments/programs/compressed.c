/* Compressed variables of a dataset beside one that is not: MiB of numbers per second, put (with the commit, level visible) and got
 * by blocks of rows.  Prints a markdown table of medians.
 *
 * The field is float64 on a cube: smooth, with noise in the last 24 bits, so that it is neither a formula nor random.  The levels take
 * turns within a round.
 *
 * usage: mpirun -n N compressed DIRECTORY [-r rounds] [extent]      default: 5 rounds, 256 (128 MiB)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

static const int levels[] = {0, 1, 3};
enum { WAYS = sizeof levels / sizeof levels[0], MOST = 100 };
static int rank, ranks;

static void must(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "compressed: %s\n", tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

static void field(double *v, tutti_count lo, tutti_count hi, tutti_count n, int round) {
    for (tutti_count i = lo; i < hi; i++)
        for (tutti_count j = 0; j < n; j++)
            for (tutti_count k = 0; k < n; k++) {
                const double x = 300 +
                                 20 * sin(0.05 * (double)(i + round)) * cos(0.04 * (double)j) +
                                 5 * sin(0.03 * (double)k);
                uint64_t bits;
                memcpy(&bits, &x, sizeof bits);
                bits ^=
                    (uint64_t)(i * 7919 + j * 104729 + k * 1299709) * 2654435761U >> 16 & 0xffffff;
                memcpy(v++, &bits, sizeof bits);
            }
}

int main(int argc, char **argv) {
    tutti_dataset *d = NULL;
    tutti_decomposition *rows = NULL;
    tutti_dataset_options opt;
    double put[WAYS][MOST], get[WAYS][MOST];
    int rounds = 5, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "r:")) == 'r') rounds = atoi(optarg);
    const tutti_count n = optind + 1 < argc ? atoi(argv[optind + 1]) : 256;
    if (option != -1 || optind >= argc || rounds < 1 || rounds > MOST || n < 1) {
        if (rank == 0) fprintf(stderr, "usage: compressed DIRECTORY [-r rounds] [extent]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const tutti_count lo = n * rank / ranks, hi = n * (rank + 1) / ranks;
    double *v = malloc((size_t)((hi - lo) * n * n + 1) * sizeof *v);
    const tutti_decomposition_spec mine = {.kind = TUTTI_BY_SLICE,
                                           .slice = {.lo = {lo}, .hi = {hi, n, n}}};
    tutti_dataset_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    must(tutti_dataset_open(MPI_COMM_WORLD, argv[optind],
                            TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &d));
    must(tutti_dataset_grid(d, "cube", 3, (tutti_count[]){n, n, n}));
    for (int w = 0; w < WAYS; w++) {
        char name[8];
        snprintf(name, sizeof name, "v%d", levels[w]);
        must(tutti_dataset_variable(
            d, name,
            &(tutti_variable_spec){.space = "cube", .type = TUTTI_FLOAT64, .compress = levels[w]}));
    }
    must(tutti_decomposition_create(d, "cube", &mine, &rows));
    for (int r = 0; r < rounds; r++) {
        field(v, lo, hi, n, r);
        for (int w = 0; w < WAYS; w++) {
            char name[8];
            snprintf(name, sizeof name, "v%d", levels[w]);
            double start = now();
            must(tutti_dataset_begin(d, TUTTI_STATE, r * WAYS + w, r));
            must(tutti_dataset_put(d, 1, &(tutti_put){name, rows, TUTTI_FLOAT64, v}));
            must(tutti_dataset_commit(d));
            put[w][r] = now() - start;
            start = now();
            must(tutti_dataset_get(d, r * WAYS + w, 1, &(tutti_get){name, rows, TUTTI_FLOAT64, v}));
            get[w][r] = now() - start;
        }
    }
    const double mib = (double)(n * n * n) * 8 / 1048576;
    if (rank == 0) printf("| level | put, MiB/s | get, MiB/s | smaller |\n|--:|--:|--:|--:|\n");
    for (int w = 0; w < WAYS; w++) {
        char name[8];
        tutti_section_row row;
        snprintf(name, sizeof name, "v%d", levels[w]);
        must(tutti_dataset_section_row(d, w, name, &row));
        if (rank == 0)
            printf("| %d | %.0f | %.0f | %.2f |\n", levels[w], mib / median(put[w], rounds),
                   mib / median(get[w], rounds), (double)row.raw_bytes / (double)row.bytes);
    }
    tutti_decomposition_free(&rows);
    must(tutti_dataset_close(&d));
    free(v);
    MPI_Finalize();
    return 0;
}
