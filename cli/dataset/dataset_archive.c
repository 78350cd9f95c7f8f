/* tutti archive, restore: transfer states of a dataset to and from a directory, a tar archive, or a command
 * that stores or returns a tar archive.
 *
 * States count as archived when their copy is durable: the files have been synced, or the command has exited
 * with 0.  For standard output this is known only if it is a file: states written to a pipe are copied and
 * remain in the dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const data_config *config;
    tutti_dataset *d;
    tutti_count first, last; /* selected segments; last < first: none */
    tutti_off done, all;     /* bytes processed, bytes to process */
    cli_progress progress;
    /* the stream of a tar archive */
    int fd;
    FILE *pipe;   /* pipe to or from a command; NULL: none */
    int status;   /* exit status of the command */
    char *place;  /* location of the copy; NULL: unknown, so the copy may not be durable */
    int restores; /* 1: restore, 0: archive */
} job;

/* ---- selection of segments */

static int segments_choose(job *j) {
    const tutti_count n = tutti_dataset_segments(j->d);
    tutti_segment g;
    j->first = 0;
    j->last = n - 1;
    if (j->config->segments) {
        const char *text = j->config->segments;
        if (data_range_parse(text, 0, n - 1, &j->first, &j->last))
            return cli_error("--segments '%s': must be A:B", text);
        if (j->first < 0 || j->last >= n || j->first > j->last)
            return cli_error("--segments '%s': must be a range in ascending order of the %lld "
                             "segments, which count from 0",
                             text, (long long)n);
        return 0;
    }
    if (!j->config->older) return 0;
    char *end = NULL;
    const int64_t before = strtoll(j->config->older, &end, 10);
    if (end == j->config->older || *end)
        return cli_error("--older-than '%s': must be a time index", j->config->older);
    while (j->last >= 0 && tutti_dataset_segment(j->d, j->last, &g) == TUTTI_OK &&
           g.index >= before)
        j->last--;
    return 0;
}

/* Count the selected states that are archived (archived = 0: that are not), and their bytes. */
static tutti_count count_selected(const job *j, int archived, tutti_off *bytes) {
    tutti_count n = 0;
    *bytes = 0;
    for (tutti_count i = j->first; i <= j->last; i++) {
        tutti_segment g;
        if (tutti_dataset_segment(j->d, i, &g) != TUTTI_OK || g.kind != TUTTI_STATE) continue;
        if ((g.archived != NULL) != archived) continue;
        n++;
        *bytes += g.bytes;
    }
    return n;
}

/* ---- streams */

static void count_bytes(job *j, size_t n) {
    j->done += (tutti_off)n;
    progress_work(&j->progress, j->restores ? "restoring" : "archiving", j->done, j->all);
}

/* Wait for the command: states count as archived only after it has exited with 0. */
static int pipe_end(job *j) {
    if (!j->pipe) return 0;
    const int status = pclose(j->pipe);
    j->pipe = NULL;
    j->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return j->status ? ECANCELED : 0;
}

static int stream_write(void *context, const void *bytes, size_t n) {
    job *j = context;
    if (n == 0 && j->pipe) return pipe_end(j);
    if (n == 0) return fsync(j->fd) == 0 || errno == EINVAL ? 0 : errno;
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(j->fd, (const char *)bytes + done, n - done);
        if (put < 0 && errno != EINTR) return errno;
        if (put > 0) done += (size_t)put;
    }
    count_bytes(j, n);
    return 0;
}

static int stream_read(void *context, void *bytes, size_t n, size_t *got) {
    job *j = context;
    for (;;) {
        const ssize_t count = read(j->fd, bytes, n);
        if (count < 0 && errno == EINTR) continue;
        *got = count > 0 ? (size_t)count : 0;
        count_bytes(j, *got);
        return count < 0 ? errno : 0;
    }
}

static int stream_open(job *j) {
    const data_config *c = j->config;
    struct stat st;
    j->fd = j->restores ? STDIN_FILENO : STDOUT_FILENO;
    if (c->shell) {
        fflush(NULL);
        j->pipe = popen(c->shell, j->restores ? "re" : "we");
        if (!j->pipe) return cli_error("cannot run the command: %s", strerror(errno));
        j->fd = fileno(j->pipe);
        j->place = cli_format("%.500s", c->shell);
    } else if (strcmp(c->tar, "-") != 0) {
        j->fd = j->restores ? open(c->tar, O_RDONLY | O_CLOEXEC)
                            : open(c->tar, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (j->fd < 0) return cli_error("%s: %s", c->tar, strerror(errno));
        j->place = cli_format("%.500s", c->tar);
    } else if (!j->restores) {
        if (isatty(j->fd))
            return cli_error("cannot write an archive to a terminal; redirect standard output");
        if (fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode)) {
            /* find the path of this file */
            char *link = cli_format("/proc/self/fd/%d", j->fd);
            char *path = realpath(link, NULL);
            free(link);
            j->place = path;
        }
    }
    return 0;
}

static int stream_run(job *j, tutti_off *freed) {
    const tutti_stream s = {
        .write = stream_write, .read = stream_read, .context = j, .location = j->place};
    signal(SIGPIPE, SIG_IGN); /* a command that has ended is reported as an error */
    const tutti_err err = j->restores
                              ? tutti_dataset_restore_stream(j->d, j->first, j->last, &s)
                              : tutti_dataset_archive_stream(j->d, j->first, j->last, &s, freed);
    const char *message = tutti_last_message();
    if (err != TUTTI_OK) (void)cli_error("%s", message);
    const int ended = pipe_end(j);
    if ((ended || j->status) && (err == TUTTI_OK || !j->restores))
        return cli_error("the command failed with status %d%s", j->status,
                         j->restores ? "" : ": nothing is archived");
    return err != TUTTI_OK;
}

/* ---- directories: one segment at a time if progress is shown */

static int directory_run(job *j, tutti_off *freed) {
    const int watched = isatty(STDERR_FILENO);
    for (tutti_count i = j->first; i <= j->last; i = watched ? i + 1 : j->last + 1) {
        const tutti_count to = watched ? i : j->last;
        tutti_off more = 0;
        tutti_segment g = {.bytes = 0};
        const tutti_err err = j->restores
                                  ? tutti_dataset_restore(j->d, i, to, j->config->place)
                                  : tutti_dataset_archive(j->d, i, to, j->config->place, &more);
        if (err != TUTTI_OK) return cli_error_tutti();
        *freed += more;
        if (tutti_dataset_segment(j->d, i, &g) == TUTTI_OK) count_bytes(j, (size_t)g.bytes);
    }
    return 0;
}

/* ---- reports */

static void report_archived(const job *j, tutti_count n, tutti_off bytes, tutti_off freed) {
    /* standard output may be the archive: report on standard error */
    FILE *f = j->config->tar && !j->restores ? stderr : stdout;
    const char *place = j->config->place ? j->config->place : j->place;
    char size[32];
    if (j->config->json) {
        cli_json_pair(f, "{", "path", j->config->path[0]);
        fprintf(f, ", \"segments\": %lld, \"bytes\": %lld", (long long)n, (long long)bytes);
        if (!j->restores) {
            fprintf(f, ", \"freed\": %lld, \"archived\": %s", (long long)freed,
                    place ? "true" : "false");
            cli_json_pair(f, ", ", "place", place);
        }
        fprintf(f, "}\n");
        return;
    }
    cli_format_size(bytes, size, sizeof size);
    fprintf(f, "%lld segment%s %s, %s", (long long)n, n == 1 ? "" : "s",
            j->restores ? "restored"
            : place     ? "archived"
                        : "copied",
            size);
    if (!j->restores && place && n > 0) {
        cli_format_size(freed, size, sizeof size);
        fprintf(f, freed ? "; %s freed here" : "; no space was freed: no holes in files here",
                size);
    }
    if (!j->restores && !place)
        fprintf(f, "; standard output is no file, so they stay here: --command archives them");
    fputc('\n', f);
}

static int archive_segments(job *j) {
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1};
    const int streams = j->config->tar || j->config->shell;
    tutti_off freed = 0, before = 0, after = 0;
    if (segments_choose(j)) return 1;
    const tutti_count n = count_selected(j, j->restores, &before);
    j->all = before;
    int failed = streams ? stream_open(j) : 0;
    progress_start(&j->progress, &alone, 0);
    if (!failed && j->first <= j->last) failed = (streams ? stream_run : directory_run)(j, &freed);
    progress_end(&j->progress);
    if (j->pipe) (void)pipe_end(j);
    if (!failed) {
        /* states in a pipe remain in the dataset */
        const int copied = streams && !j->place && !j->restores;
        const tutti_count left = copied ? 0 : count_selected(j, j->restores, &after);
        report_archived(j, n - left, before - after, freed);
    }
    if (streams && j->fd > STDERR_FILENO && !j->config->shell) close(j->fd);
    if (failed && j->config->tar && !j->restores && strcmp(j->config->tar, "-") != 0 && j->place)
        unlink(j->config->tar);
    free(j->place);
    return failed;
}

int dataset_archive(const cli_world *w, const data_config *config) {
    job j = {.config = config, .restores = config->call.bits == DATASET_RESTORE, .fd = -1};
    (void)w;
    if (tutti_dataset_open(MPI_COMM_SELF, config->path[0], TUTTI_READ | TUTTI_WRITE, NULL, &j.d) !=
        TUTTI_OK)
        return cli_error_open(config->path[0], "dataset");
    const int failed = archive_segments(&j);
    if (tutti_dataset_close(&j.d) != TUTTI_OK && !failed) return cli_error_tutti();
    return failed;
}
