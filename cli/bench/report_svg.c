/* Plots of the HTML report, as SVG inside the page.  Both are 420 units wide and have their labels
 * above their bars, so that they read well from a phone to a wide screen.
 *
 *   bars     bandwidth of each entry of a cell, quartiles as a whisker, the limit as a dashed line
 *   ratios   one line a pattern, one dot an entry: its time over that of the limit, logarithmic
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 420, BAR_ROW = 30, DOT_ROW = 42, TOP = 22 };

static int method_colour(const bench_entry *e) {
    static const char *const methods[] = {"independent", "list", "sieve", "root"};
    if (strcmp(e->method, "auto") == 0) return e->reused ? 5 : 4;
    if (strcmp(e->method, "two-phase") == 0) return e->reused ? 7 : 6;
    for (int i = 0; i < 4; i++)
        if (strcmp(e->method, methods[i]) == 0) return 8 + i;
    return 8;
}

int svg_colour(const bench_entry *e) {
    switch (e->kind) {
    case ENTRY_LIMIT:
        return 0;
    case ENTRY_PIECES:
        return 1;
    case ENTRY_STAGING:
        return 2;
    case ENTRY_MAPPING:
        return 3;
    case ENTRY_PEER:
        return 12;
    case ENTRY_TUTTI:
        break;
    }
    return method_colour(e);
}

/* ---- bars */

static double widest(const bench_cell *cell) {
    double mib = 1e-9;
    for (int i = 0; i < cell->entries; i++)
        mib = fmax(mib, bench_bandwidth(cell, &cell->entry[i], cell->entry[i].time.q1));
    return mib;
}

static void bar_label(FILE *f, const bench_cell *cell, const bench_entry *e, int y) {
    const int main = e->kind == ENTRY_TUTTI && strcmp(e->method, "auto") == 0;
    fprintf(f, "<text x=\"0\" y=\"%d\"%s>", y + 11, main ? " class=\"b\"" : "");
    cli_xml_text(f, e->name);
    fprintf(f, "</text><text x=\"%d\" y=\"%d\" class=\"v\">", WIDTH, y + 11);
    if (!e->rounds)
        fputs(e->unavailable ? "not here" : "failed", f);
    else
        fprintf(f, "%.0f MiB/s", bench_bandwidth(cell, e, e->time.median));
    if (e->rounds && e->to_limit > 0) fprintf(f, " · %.2f×", e->to_limit);
    fputs("</text>", f);
}

static void bar_row(FILE *f, const bench_cell *cell, const bench_entry *e, int y, double scale) {
    bar_label(f, cell, e, y);
    fprintf(f, "<rect class=\"t\" x=\"0\" y=\"%d\" width=\"%d\" height=\"10\" rx=\"2\"/>", y + 16,
            WIDTH);
    if (!e->rounds) return;
    const double at = bench_bandwidth(cell, e, e->time.median) * scale;
    const double lo = bench_bandwidth(cell, e, e->time.q3) * scale;
    const double hi = bench_bandwidth(cell, e, e->time.q1) * scale;
    fprintf(f, "<rect class=\"k%d\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"10\" rx=\"2\"/>",
            svg_colour(e), y + 16, at);
    fprintf(f, "<path class=\"w\" d=\"M%.1f %dH%.1fM%.1f %dv6M%.1f %dv6\"/>\n", lo, y + 21, hi, lo,
            y + 18, hi, y + 18);
}

void svg_bars(FILE *f, const bench_cell *cell) {
    const int height = cell->entries * BAR_ROW + 2;
    const double scale = WIDTH / widest(cell);
    const bench_entry *limit = measure_limit(cell);
    fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"bandwidth of %s\">\n", WIDTH,
            height, cell->pattern);
    for (int i = 0; i < cell->entries; i++) bar_row(f, cell, &cell->entry[i], i * BAR_ROW, scale);
    if (limit) {
        const double x = bench_bandwidth(cell, limit, limit->time.median) * scale;
        for (int i = 0; i < cell->entries; i++)
            fprintf(f, "<path class=\"l\" d=\"M%.1f %dv12\"/>", x, i * BAR_ROW + 15);
    }
    fputs("</svg>\n", f);
}

/* ---- ratios */

typedef struct {
    int lo, hi; /* powers of 2 */
} log_axis;

static double axis_x(log_axis a, double ratio) {
    return 8 + (WIDTH - 16) * (log2(ratio) - a.lo) / (a.hi - a.lo);
}

static log_axis axis_of(int n, const bench_cell *const *cells) {
    double lo = 0, hi = 1; /* exponents */
    for (int i = 0; i < n; i++)
        for (int k = 0; k < cells[i]->entries; k++) {
            const double ratio = cells[i]->entry[k].to_limit;
            if (ratio <= 0) continue;
            lo = fmin(lo, log2(ratio));
            hi = fmax(hi, log2(ratio));
        }
    return (log_axis){(int)floor(lo), (int)ceil(hi)};
}

static void axis_lines(FILE *f, log_axis a, int height) {
    const int every = (a.hi - a.lo) / 7 + 1;
    for (int e = a.lo; e <= a.hi; e++) {
        const double x = axis_x(a, exp2(e));
        fprintf(f, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>", e == 0 ? "one" : "g", x, TOP - 4,
                height);
        if (e % every) continue;
        fprintf(f, "<text x=\"%.1f\" y=\"12\" class=\"%s\">", x,
                e == a.lo   ? ""
                : e == a.hi ? "v"
                            : "m");
        if (e < 0)
            fprintf(f, "1/%.0f</text>", exp2(-e));
        else
            fprintf(f, "%.0f×</text>", exp2(e));
    }
}

/* Where the goal of a cell lies on the axis: reads are judged by the better bare reference. */
static double goal_ratio(const bench_cell *cell) {
    if (cell->is_write) return bench_goal(cell);
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        if (e->to_bare > 0) return bench_goal(cell) * e->to_limit / e->to_bare;
    }
    return 0;
}

static void dot(FILE *f, log_axis a, const bench_entry *e, int y) {
    const double x = axis_x(a, e->to_limit);
    const char *title = e->name;
    if (e->kind == ENTRY_TUTTI)
        fprintf(f, "<circle class=\"d k%d\" cx=\"%.1f\" cy=\"%d\" r=\"5.5\">", svg_colour(e), x, y);
    else
        fprintf(f, "<rect class=\"d k%d\" x=\"%.1f\" y=\"%d\" width=\"9\" height=\"9\">",
                svg_colour(e), x - 4.5, y - 4);
    fputs("<title>", f);
    cli_xml_text(f, title);
    fprintf(f, ": %.2f</title>%s", e->to_limit, e->kind == ENTRY_TUTTI ? "</circle>" : "</rect>\n");
}

static void ratio_row(FILE *f, log_axis a, const bench_cell *cell, int y) {
    const double goal = goal_ratio(cell);
    fprintf(f, "<text x=\"0\" y=\"%d\" class=\"b\">", y + 13);
    cli_xml_text(f, cell->pattern);
    fputs("</text>", f);
    fprintf(f, "<path class=\"g\" d=\"M0 %dH%d\"/>", y + 28, WIDTH);
    if (goal > 0 && log2(goal) <= a.hi)
        fprintf(f, "<path class=\"goal\" d=\"M%.1f %dv18\"><title>goal: %.2f</title></path>",
                axis_x(a, goal), y + 19, goal);
    for (int k = cell->entries - 1; k >= 0; k--) /* the limit is drawn last, on top */
        if (cell->entry[k].to_limit > 0) dot(f, a, &cell->entry[k], y + 28);
}

void svg_ratios(FILE *f, int n, const bench_cell *const *cells) {
    const int height = TOP + n * DOT_ROW;
    const log_axis a = axis_of(n, cells);
    fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"times over the limit\">\n",
            WIDTH, height);
    axis_lines(f, a, height);
    for (int i = 0; i < n; i++) ratio_row(f, a, cells[i], TOP + i * DOT_ROW);
    fputs("</svg>\n", f);
}
