/* Progress on standard error: on a terminal one line that is rewritten, otherwise a new line from time to
 * time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/progress.h"

#include <unistd.h>

static int when = 1;

void progress_set(int when_asked) {
    when = when_asked;
}

void progress_start(cli_progress *p, const cli_world *w, long steps) {
    *p = (cli_progress){.tty = isatty(STDERR_FILENO), .all = steps};
    p->on = w->rank == 0 && (when == 2 || (when == 1 && p->tty));
    p->started = p->last = cli_now();
}

void progress_step(cli_progress *p, const char *what) {
    const double now = cli_now(), passed = now - p->started;
    const long done = p->done++;
    if (!p->on || now - p->last < (p->tty ? 0.1 : 3.0)) return;
    p->last = now;
    const double left = done > 0 ? passed * (double)(p->all - done) / (double)done : 0;
    fprintf(stderr, "%s[%3ld%%] %s, about %.0f s left%s", p->tty ? "\r" : "",
            p->all ? 100 * done / p->all : 0, what, left, p->tty ? "\033[K" : "\n");
    fflush(stderr);
}

void progress_work(cli_progress *p, const char *what, tutti_off done, tutti_off all) {
    const double now = cli_now(), passed = now - p->started;
    if (!p->on || now - p->last < (p->tty ? 0.1 : 3.0)) return;
    p->last = now;
    const double part = all > 0 ? (double)done / (double)all : 0;
    fprintf(stderr, "%s[%3.0f%%] %s", p->tty ? "\r" : "", 100 * part, what);
    if (part > 0) fprintf(stderr, ", about %.0f s left", passed * (1 - part) / part);
    fputs(p->tty ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

void progress_end(cli_progress *p) {
    if (p->on && p->tty) fputs("\r\033[K", stderr);
}
