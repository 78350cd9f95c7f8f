/* Functions of commands that measure: the duration over all ranks, and a scratch file in a private directory,
 * which is also removed if the run is interrupted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"
#include "measure/measure.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- time */

/* With more ranks than cores, ranks start at different times: the time of one late rank would be
 * too short. */
double cli_elapsed(const cli_world *w, double start, double end) {
    if (!w->one_node) return cli_max(w, end - start);
    const double first = -cli_max(w, -start);
    return cli_max(w, end) - first;
}

/* ---- directories */

int cli_directory_room(const char *dir, double *bytes_out) {
    struct statvfs vfs;
    if (statvfs(dir, &vfs) != 0) return cli_error_errno("cannot use the directory", dir);
    if (access(dir, W_OK | X_OK) != 0) return cli_error_errno("cannot write to", dir);
    *bytes_out = (double)vfs.f_bavail * (double)vfs.f_frsize;
    return 0;
}

/* ---- the page cache */

int cli_file_forget(const char *path) {
    double left = 0;
    const int code = measure_drop_cache(path, &left);
    if (code) {
        errno = code;
        return cli_error_errno("cannot drop from the page cache", path);
    }
    if (left <= 1) return 0;
    return cli_error("%.0f %% of '%s' remain in the page cache: cold reads cannot be measured on "
                     "this file system",
                     left, path);
}

/* ---- the scratch file */

/* The file is in a private directory: after the directory is removed, no rank can create the file again. */
static char scratch_dir[PATH_MAX], scratch[PATH_MAX + 8];

static volatile sig_atomic_t softly, stopped;

static void on_signal(int number) {
    if (softly && !stopped) { /* cli_stopped reports the signal; a second signal ends the process */
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
    int any = 0, local = stopped;
    MPI_Allreduce(&local, &any, 1, MPI_INT, MPI_MAX, w->comm);
    return any;
}

int cli_interrupted(const cli_world *w) {
    const int number = cli_stopped(w);
    return number && cli_error("interrupted by signal %d: the output is removed", number);
}

/* The name of each directory is unique: NFS clients may cache that an earlier directory does not exist. */
const char *cli_scratch(const cli_world *w, const char *dir, const char *command) {
    static long number;
    /* use the values of rank 0, where calls on fewer ranks also increase `number` */
    long id[2] = {(long)getpid(), number++};
    cli_scratch_remove(w);
    MPI_Bcast(id, 2, MPI_LONG, 0, w->comm);
    snprintf(scratch_dir, sizeof scratch_dir, "%s/tutti-%s.%ld-%ld.tmp", dir, command, id[0],
             id[1]);
    snprintf(scratch, sizeof scratch, "%s/data", scratch_dir);
    if (w->rank == 0) {
        cli_guard_add(scratch_dir);
        (void)mkdir(scratch_dir, 0700); /* if mkdir fails, creating the file fails, too */
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
