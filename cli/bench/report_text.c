/* The report in the terminal: a table with bars for each cell, then the ratios in one table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <string.h>

enum { NAME_WIDTH = 31 };

/* ---- one cell */

static void print_ratio(FILE *f, double ratio) {
    if (ratio > 0)
        fprintf(f, " %7.2f", ratio);
    else
        fprintf(f, " %7s", "");
}

static void print_failed(FILE *f, const char *word, const bench_entry *e) {
    char text[sizeof e->v.failure + 32];
    snprintf(text, sizeof text, "%s: %s", word, e->v.failure);
    fputs(cli_paint(e->unavailable ? CLI_SOFT : CLI_BAD), f);
    cli_print_wrapped(f, text, 0, 4);
    fputs(cli_paint(CLI_PLAIN), f);
}

static void print_entry(FILE *f, const bench_cell *cell, const bench_entry *e, double best) {
    const int is_tutti = e->kind == ENTRY_TUTTI;
    fprintf(f, "  %s%-*s%s", cli_paint(is_tutti ? CLI_STRONG : CLI_PLAIN), NAME_WIDTH, e->v.name,
            cli_paint(CLI_PLAIN));
    if (!e->v.rounds) {
        fputs("\n", f);
        print_failed(f, e->unavailable ? "unavailable" : "FAILED", e);
        return;
    }
    const double mib = bench_bandwidth(cell, e, e->time.median);
    char spread[32];
    snprintf(spread, sizeof spread, "%.0f-%.0f", bench_bandwidth(cell, e, e->time.q3),
             bench_bandwidth(cell, e, e->time.q1));
    fprintf(f, " %7.0f %12s", mib, spread);
    print_ratio(f, e->to_limit);
    if (!cell->is_write) print_ratio(f, e->to_bare);
    const size_t longer = strlen(e->v.name) > NAME_WIDTH ? strlen(e->v.name) - NAME_WIDTH : 0;
    const int used = 2 + NAME_WIDTH + (int)longer + 8 + 13 + (cell->is_write ? 8 : 16) + 1;
    const int columns = cli_width() - used;
    fprintf(f, " %s", cli_paint(is_tutti ? CLI_GOOD : CLI_SOFT));
    if (columns > 0) {
        /* Draw a bar of `fraction` times the available columns; UTF-8 terminals show eighths of a column. */
        const double fraction = best > 0 ? mib / best : 0;
        static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
        const int parts = (int)(fraction * columns * 8 + 0.5);
        const int utf8 = cli_is_utf8(), whole = utf8 ? parts / 8 : (parts + 4) / 8;
        for (int i = 0; i < whole; i++) fputs(utf8 ? "█" : "#", f);
        if (utf8) fputs(eighth[parts % 8], f);
    }
    fprintf(f, "%s\n", cli_paint(CLI_PLAIN));
    if (*e->v.failure) print_failed(f, "FAILED later", e);
}

static void print_cell(FILE *f, const bench_cell *cell) {
    char file[32], run[32];
    cli_format_size(cell->total, file, sizeof file);
    cli_format_size(cell->runs ? cell->total / cell->runs : 0, run, sizeof run);
    const int rounds = cell->entry[0].v.rounds;
    fprintf(f, "%s%s %s: %s%s\n", cli_paint(CLI_STRONG), cell->is_write ? "write" : "read",
            cell->pattern, bench_pattern_title(cell->pattern), cli_paint(CLI_PLAIN));
    fprintf(f, "  %s in %s (%s), runs of %s, %d round%s\n", file, cell->dir, cell->file_system, run,
            rounds, rounds == 1 ? "" : "s");
    fprintf(f, "  %-*s %7s %12s %7s%s\n", NAME_WIDTH, "", "MiB/s", "quartiles", "t/limit",
            cell->is_write ? "" : "  t/bare");
    double best = 0;
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        const double mib = bench_bandwidth(cell, e, e->time.median);
        if (mib > best) best = mib;
    }
    for (int i = 0; i < cell->entries; i++) print_entry(f, cell, &cell->entry[i], best);
    /* Report rounds that took much longer than the median. */
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        if (e->v.rounds < 3 || e->time.max < 3 * e->time.median) continue;
        fprintf(f, "  %soutlier: a round of '%s' took %.1f times the median%s\n",
                cli_paint(CLI_WARN), e->v.name, e->time.max / e->time.median, cli_paint(CLI_PLAIN));
    }
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        if (e->kind != ENTRY_TUTTI || strcmp(e->method, "auto") != 0 || !*e->explain) continue;
        char text[sizeof e->explain + 16];
        snprintf(text, sizeof text, "auto was %s", e->explain);
        cli_print_wrapped(f, text, 0, 2);
        break;
    }
    fputs("\n", f);
}

/* ---- the ratios of one variant in all cells */

static const bench_entry *find_entry(const bench_cell *cell, const char *method, int reused) {
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        if (e->kind == ENTRY_TUTTI && e->reused == reused && strcmp(e->method, method) == 0 &&
            e->v.rounds)
            return e;
    }
    return NULL;
}

static void print_judged(FILE *f, const bench_cell *cell, const char *method, int reused) {
    const bench_entry *e = cell ? find_entry(cell, method, reused) : NULL;
    const double ratio = e ? bench_ratio_judged(cell, e) : 0;
    if (ratio > 0)
        fprintf(f, " %7.2f%s", ratio, bench_goal(cell) > 0 && ratio > bench_goal(cell) ? "*" : " ");
    else
        fprintf(f, " %7s ", "-");
}

static void print_summary(FILE *f, const bench_results *r) {
    fputs("Ratios of median times (fresh: planning included; reused: with a plan made\n"
          "before)\n",
          f);
    for (int m = 0; m < r->config->methods.n; m++) {
        const char *method = r->config->methods.item[m];
        if (bench_has_plan(method) || r->config->methods.n == 1) {
            const int step = r->config->write + r->config->read;
            fprintf(f, "%-13s %17s %17s %17s\n", method, "write / limit", "read / bare",
                    "read / limit");
            fprintf(f, "%-13s", "");
            for (int i = 0; i < 3; i++) fprintf(f, " %8s %8s", "fresh ", "reused ");
            fputs("\n", f);
            for (int i = 0; i < r->cells; i += step) {
                const bench_cell *write = r->config->write ? &r->cell[i] : NULL;
                const bench_cell *read = r->config->read ? &r->cell[i + step - 1] : NULL;
                fprintf(f, "  %-11s", r->cell[i].pattern);
                for (int reused = 0; reused < 2; reused++) print_judged(f, write, method, reused);
                for (int reused = 0; reused < 2; reused++) print_judged(f, read, method, reused);
                for (int reused = 0; reused < 2; reused++) {
                    const bench_entry *e = read ? find_entry(read, method, reused) : NULL;
                    if (e && e->to_limit > 0)
                        fprintf(f, " %7.2f ", e->to_limit);
                    else
                        fprintf(f, " %7s ", "-");
                }
                fprintf(f, " %s\n", r->config->dirs.n > 1 ? r->cell[i].dir : "");
            }
        }
    }
    if (r->config->options.direct_io) {
        fputs("  no goals: the references use the page cache, Tutti does not\n\n", f);
        return;
    }
    fprintf(f,
            "  * more than the goal of the page cache: write %.2f of the limit (irregular\n"
            "    %.2f), read %.2f of the better bare reference\n\n",
            BENCH_GOAL_WRITE, BENCH_GOAL_WRITE_IRREGULAR, BENCH_GOAL_READ);
}

void report_text(const bench_results *r, FILE *f) {
    char size[32];
    cli_format_size(r->config->size, size, sizeof size);
    fprintf(f, "\nTutti %s, %s, %d rank%s with about %s each\n", tutti_version_string(), r->mpi,
            r->ranks, r->ranks == 1 ? "" : "s", size);
    cli_provenance_print(f, &r->config->dirs);
    if (r->config->cold && r->config->read)
        fputs("cold: the page cache is emptied before each read\n", f);
    if (r->config->fsync && r->config->write) fputs("fsync: a write ends on the device\n", f);
    fputs("t/limit, t/bare: time over that of the conforming limit, of the better bare\n"
          "reference; 2.00 is twice as slow\n\n",
          f);
    for (int i = 0; i < r->cells; i++) print_cell(f, &r->cell[i]);
    print_summary(f, r);
    if (r->stopped)
        fprintf(f, "Stopped by a signal after %.1f s: this is what had been measured.\n",
                r->seconds);
    else if (r->failures)
        fprintf(f, "%s%d FAILED%s, in %.1f s.\n", cli_paint(CLI_BAD), r->failures,
                cli_paint(CLI_PLAIN), r->seconds);
    else
        fprintf(f, "%sEvery byte was verified%s, in %.1f s.\n", cli_paint(CLI_GOOD),
                cli_paint(CLI_PLAIN), r->seconds);
}
