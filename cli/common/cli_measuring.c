/* What the commands that measure share: how long something took on all ranks, medians, and a
 * scratch file in a directory of its own, which is removed also when the run is interrupted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- time */

/* Four ranks on two cores do not start at once: a rank that got its core late would seem fast. */
double cli_elapsed(const cli_world *w, double start, double end) {
    if (!w->one_node) return cli_max(w, end - start);
    const double first = -cli_max(w, -start);
    return cli_max(w, end) - first;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cli_quantiles(const double *values, int n, int wanted, const double *fraction, double *out) {
    double *sorted = cli_malloc((size_t)n * sizeof *sorted);
    if (n > 0) memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    for (int k = 0; k < wanted; k++) {
        const double at = fraction[k] * (n - 1);
        const int i = (int)at;
        out[k] = n == 0      ? 0
                 : i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i])
                             : sorted[n - 1];
    }
    free(sorted);
}

double cli_quantile(const double *values, int n, double fraction) {
    double q;
    cli_quantiles(values, n, 1, &fraction, &q);
    return q;
}

/* ---- bounds of medians, by the sign test: the k-th smallest and the k-th largest of n values, with the
 * largest k for which fewer than k of n fair coins fall on one side with a probability of at most p */

static int sign_rank(int n, double p) {
    double below = 0;
    int k = 0;
    for (; k < n; k++) {
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
        if (below > p) break; /* P(X <= k) */
    }
    return k;
}

int cli_median_bounds(const double *values, int n, double p, double *lo, double *hi) {
    double q[2];
    const int k = sign_rank(n, p);
    if (k == 0) return 0;
    const double at = n > 1 ? (double)(k - 1) / (n - 1) : 0;
    cli_quantiles(values, n, 2, (double[]){at, 1 - at}, q);
    *lo = q[0];
    *hi = q[1];
    return 1;
}

/* ---- the directory */

int cli_directory_room(const char *dir, double *bytes_out) {
    struct statvfs vfs;
    if (statvfs(dir, &vfs) != 0) return cli_error_errno("cannot use the directory", dir);
    if (access(dir, W_OK | X_OK) != 0) return cli_error_errno("cannot write to", dir);
    *bytes_out = (double)vfs.f_bavail * (double)vfs.f_frsize;
    return 0;
}

/* ---- the page cache */

/* Pages of the file that are in it, in per cent; -1: not known. */
static double pages_cached(int fd) {
    const long page = sysconf(_SC_PAGESIZE);
    struct stat st;
    if (fstat(fd, &st) != 0) return -1;
    const size_t pages = ((size_t)st.st_size + (size_t)page - 1) / (size_t)page;
    if (pages == 0) return 0;
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return -1;
    unsigned char *in = cli_malloc(pages);
    size_t n = 0;
    const int known = mincore(map, (size_t)st.st_size, in) == 0;
    for (size_t i = 0; i < pages && known; i++) n += in[i] & 1;
    free(in);
    munmap(map, (size_t)st.st_size);
    return known ? 100.0 * (double)n / (double)pages : -1;
}

int cli_file_forget(const char *path) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return cli_error_errno("cannot open", path);
    int failed = fsync(fd) != 0 && cli_error_errno("cannot flush", path);
    if (!failed && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        failed = cli_error("'%s' cannot be dropped from the page cache", path);
    const double left = failed ? 0 : pages_cached(fd);
    if (left > 1)
        failed =
            cli_error("%.0f %% of '%s' stay in the page cache: nothing is cold there", left, path);
    close(fd);
    return failed;
}

/* ---- the scratch file */

/* A directory with the file in it: once it is removed, no rank can create the file again. */
static char scratch_dir[PATH_MAX], scratch[PATH_MAX + 8];

static volatile sig_atomic_t softly, stopped;

static void on_signal(int number) {
    if (softly && !stopped) { /* whoever measures looks; a second signal ends it */
        stopped = number;
        return;
    }
    if (*scratch) {
        unlink(scratch);
        rmdir(scratch_dir);
    }
    cli_temporary_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

void cli_catch_signals(void) {
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

void cli_stop_softly(int on) {
    softly = on;
}

int cli_stopped(const cli_world *w) {
    int any = 0, mine = stopped;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, w->comm);
    return any;
}

int cli_interrupted(const cli_world *w) {
    const int number = cli_stopped(w);
    return number && cli_error("interrupted by signal %d: the output is removed", number);
}

/* A name of its own for each directory: NFS clients may remember that the last one is missing. */
const char *cli_scratch(const cli_world *w, const char *dir, const char *command) {
    static long number;
    long id[2] = {(long)getpid(), number++}; /* rank 0's: worlds of fewer ranks have counted, too */
    cli_scratch_remove(w);
    MPI_Bcast(id, 2, MPI_LONG, 0, w->comm);
    snprintf(scratch_dir, sizeof scratch_dir, "%s/tutti-%s.%ld-%ld.tmp", dir, command, id[0],
             id[1]);
    snprintf(scratch, sizeof scratch, "%s/data", scratch_dir);
    if (w->rank == 0) {
        cli_guard_add(scratch_dir);
        (void)mkdir(scratch_dir, 0700); /* if it fails, so does creating the file */
    }
    cli_barrier(w);
    return scratch;
}

void cli_scratch_remove(const cli_world *w) {
    if (w->rank == 0 && *scratch) {
        cli_remove_entries(scratch_dir);
        cli_guard_drop(scratch_dir);
    }
    *scratch = '\0';
}
