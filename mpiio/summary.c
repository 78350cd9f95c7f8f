/* mpiio: statistics of a file, which rank 0 prints on standard error when the file is closed
 * (TUTTI_STATS=1).  Bytes and calls are sums over all ranks; times are the minimum and maximum over
 * all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiio.h"

int mpiio_summary_wanted(void) {
    static _Atomic int wanted = -1;
    if (wanted < 0) {
        const char *text = secure_getenv("TUTTI_STATS");
        wanted = text && text[0] && strcmp(text, "0") != 0;
    }
    return wanted;
}

enum { ROWS = 2 * MPIIO_FAMILIES, SUMS = 2 * ROWS + 4, TIMES = ROWS + 4 };

typedef struct {
    /* [row] calls, [ROWS + row] bytes, then plans, hits, file reads, file writes */
    int64_t sum[SUMS];
    double most[TIMES]; /* seconds: [row] in calls, then plan, exchange, file, open */
    double least[TIMES];
} figures;

static void figures_get(const mpiio_file *f, figures *x) {
    tutti_stats s = {0};
    tutti_file_stats(f->file, NULL, &s);
    for (int row = 0; row < ROWS; row++) {
        const mpiio_account *a = &f->accounts[row / MPIIO_FAMILIES][row % MPIIO_FAMILIES];
        x->sum[row] = a->calls;
        x->sum[ROWS + row] = a->bytes;
        x->most[row] = 1e-9 * (double)a->nanoseconds;
    }
    const int64_t more[] = {s.plans, s.plan_hits, s.file_reads, s.file_writes};
    const double times[] = {s.seconds_plan, s.seconds_exchange, s.seconds_file,
                            mpiio_now() - f->opened};
    memcpy(x->sum + (size_t)2 * ROWS, more, sizeof more);
    memcpy(x->most + ROWS, times, sizeof times);
    memcpy(x->least, x->most, sizeof x->least);
}

/* ---- printing; the text is composed first, so that tables of several files do not interleave */

static void row_print(FILE *out, const figures *x, int row) {
    static const char *const kinds[] = {"independent", "collective", "non-blocking", "split"};
    const double bytes = (double)x->sum[ROWS + row], mib = bytes / (1 << 20),
                 seconds = x->most[row];
    const char *unit = bytes < 1e3 * 1024 ? bytes < 1e4 ? "B" : "KiB" : "MiB";
    const double shown = *unit == 'B' ? bytes : *unit == 'K' ? bytes / 1024 : mib;
    if (x->sum[row] == 0) return;
    fprintf(out, "tutti:   %-5s %-12s %10lld calls %12.*f %-3s %9.6f ... %.6f s",
            row < MPIIO_FAMILIES ? "read" : "write", kinds[row % MPIIO_FAMILIES],
            (long long)x->sum[row], *unit == 'B' ? 0 : 3, shown, unit, x->least[row], seconds);
    if (seconds > 0 && mib > 0) fprintf(out, "  %.*f MiB/s", mib < seconds ? 3 : 0, mib / seconds);
    fputc('\n', out);
}

static void print_summary(const mpiio_file *f, const figures *x) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    const int64_t *more = x->sum + (size_t)2 * ROWS;
    const double *least = x->least + ROWS, *most = x->most + ROWS;
    fprintf(out, "tutti: '%s': %d ranks, open for %.3f s\n", f->path, f->ranks->size, most[3]);
    for (int row = 0; row < ROWS; row++) row_print(out, x, row);
    fprintf(out, "tutti:   plan %.3f ... %.3f s, exchange %.3f ... %.3f s, file %.3f ... %.3f s\n",
            least[0], most[0], least[1], most[1], least[2], most[2]);
    fprintf(out,
            "tutti:   %lld plans made, %lld found again; %lld reads and %lld writes of the file\n",
            (long long)more[0], (long long)more[1], (long long)more[2], (long long)more[3]);
    if (fclose(out) == 0) fputs(text, stderr);
    free(text);
}

void mpiio_summary(mpiio_file *f) {
    figures local, all;
    memset(&local, 0, sizeof local);
    memset(&all, 0, sizeof all);
    figures_get(f, &local);
    const MPI_Comm comm = f->ranks->comm;
    int code = PMPI_Reduce(local.sum, all.sum, SUMS, MPI_INT64_T, MPI_SUM, 0, comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Reduce(local.most, all.most, TIMES, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Reduce(local.least, all.least, TIMES, MPI_DOUBLE, MPI_MIN, 0, comm);
    if (code == MPI_SUCCESS && f->ranks->rank == 0) print_summary(f, &all);
}
