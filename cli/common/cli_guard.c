/* The guard: a child process that removes the temporary files of this process after it has ended, even by
 * SIGKILL, which mpirun sends to ranks shortly after SIGTERM.  The guard is forked before MPI_Init, while the
 * process has one thread and little memory, and has its own session, so that signals to the process group of
 * the ranks do not reach it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Maximum bytes of a message to the guard, '+' or '-' and a path; number of attempts to remove a
 * path, and the pause between them. */
enum { MESSAGE = PATH_MAX + 2, TRIES = 1000, PAUSE_NS = 10000000 };

static int channel = -1;
static pid_t guard;

/* ---- in the guard */

static void drop_path(cli_list *l, const char *path) {
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->item[i], path) == 0) {
            free(l->item[i]);
            l->item[i] = l->item[--l->n];
            return;
        }
}

static void add_path(cli_list *l, const char *path) {
    l->item = cli_realloc(l->item, ((size_t)l->n + 1) * sizeof *l->item);
    l->item[l->n++] = cli_strdup(path);
}

/* ---- in the parent process */

static void end_guard(void) {
    if (channel < 0) return;
    close(channel);
    channel = -1;
    (void)waitpid(guard, NULL, 0);
}

void cli_guard_start(void) {
    int pair[2];
    if (channel >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
    fflush(NULL);
    guard = fork();
    if (guard == 0) {
        close(pair[0]);
        const int from = pair[1];
        char text[MESSAGE];
        cli_list paths = {.n = 0};
        /* Close all files but the channel: the launcher waits until its pipes to the ranks are closed. */
        const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_IGN);
        (void)setsid();
        const int null = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++) (void)dup2(null, i);
        (void)dup2(from, 3);
        (void)close_range(4, ~0U, 0);
        for (ssize_t n; (n = recv(3, text, sizeof text - 1, 0)) > 0;) {
            text[n] = '\0';
            (text[0] == '+' ? add_path : drop_path)(&paths, text + 1);
        }
        /* Repeat the removal: another rank may still create files in the directory. */
        struct stat st;
        for (int i = 0; i < paths.n; i++)
            for (int k = 0; k < TRIES; k++) {
                cli_remove_entries(paths.item[i]);
                if (lstat(paths.item[i], &st) != 0) break;
                nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
            }
        _exit(0);
    }
    close(pair[1]);
    if (guard < 0) {
        close(pair[0]);
        return;
    }
    channel = pair[0];
    (void)atexit(end_guard);
}

static void send_guard(char what, const char *path) {
    char *text = cli_format("%c%s", what, path);
    if (channel >= 0 && strlen(text) < MESSAGE)
        (void)send(channel, text, strlen(text), MSG_NOSIGNAL);
    free(text);
}

void cli_guard_add(const char *path) {
    send_guard('+', path);
}

void cli_guard_drop(const char *path) {
    send_guard('-', path);
}
