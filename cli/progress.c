/* Progress on standard error: one line that is rewritten on a terminal, elsewhere a new line now
 * and then.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <unistd.h>

void progress_start(bench_progress *p, const cli_world *w, long steps) {
    *p = (bench_progress){.on = w->rank == 0, .tty = isatty(STDERR_FILENO), .all = steps};
    p->started = p->last = cli_now();
}

void progress_step(bench_progress *p, const bench_cell *cell, int round, int rounds) {
    const double now = cli_now(), passed = now - p->started;
    const long done = p->done++;
    if (!p->on || now - p->last < (p->tty ? 0.1 : 3.0)) return;
    p->last = now;
    const double left = done > 0 ? passed * (double)(p->all - done) / (double)done : 0;
    fprintf(stderr, "%s[%3ld%%] %s %s on %d ranks in %s, round %d of %d, about %.0f s left%s",
            p->tty ? "\r" : "", p->all ? 100 * done / p->all : 0, cell->is_write ? "write" : "read",
            cell->pattern, cell->ranks, cell->dir, round + 1, rounds, left,
            p->tty ? "\033[K" : "\n");
    fflush(stderr);
}

void progress_work(bench_progress *p, const char *what, tutti_off done, tutti_off all) {
    const double now = cli_now(), passed = now - p->started;
    if (!p->on || now - p->last < (p->tty ? 0.1 : 3.0)) return;
    p->last = now;
    const double part = all > 0 ? (double)done / (double)all : 0;
    fprintf(stderr, "%s[%3.0f%%] %s", p->tty ? "\r" : "", 100 * part, what);
    if (part > 0) fprintf(stderr, ", about %.0f s left", passed * (1 - part) / part);
    fputs(p->tty ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

void progress_end(bench_progress *p) {
    if (p->on && p->tty) fputs("\r\033[K", stderr);
}
