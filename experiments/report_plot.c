/* Plots of exhibits, as SVG inside the page, 460 units wide, so that they read well from a phone to
 * a wide screen.  Values are medians, whiskers quartiles; every mark has its number as a title.
 *
 *   lines    rows from left to right, evenly spaced (they double); a line and marks for each column
 *   bars     groups of standing bars; if there are many, lying bars with their labels above
 *   rows     lying bars of the first column alone
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 460, HEIGHT = 270, LEFT = 46, RIGHT = 8, TOP = 28, BOTTOM = 38 };
enum { LYING_BAR = 9, LYING_LABEL = 17, LYING_GAP = 6, LYING_LEFT = 6, MOST_STANDING = 34 };

/* What is shown in several plots has the same colour in all of them. */
int plot_colour(const char *column, int index) {
    static const struct {
        const char *name;
        int colour;
    } known[] = {{"auto", 4},
                 {"MPI library", 12},
                 {"MPI begin/end", 12},
                 {"conforming", 0},
                 {"sequential", 0},
                 {"none", 0},
                 {"non-collective", 8},
                 {"step 1", 9},
                 {"step 2", 1},
                 {"step 3", 6},
                 {"step 4", 2},
                 {"step 5", 3},
                 {"comm", 9},
                 {"write", 1},
                 {"write-comm", 6},
                 {"write-comm-2", 3},
                 {"two-sided", 9},
                 {"fence", 6},
                 {"lock", 3},
                 {"shm", 2},
                 {"thread", 9},
                 {"all", 8},
                 {"io-only", 6},
                 {"at once", 8},
                 {"sequential, posix", 1}};
    static const int palette[] = {8, 9, 1, 6, 2, 3, 10, 11, 7, 5};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(column, known[i].name) == 0) return known[i].colour;
    return palette[index % (int)(sizeof palette / sizeof *palette)];
}

/* ---- axes of values */

typedef struct {
    double lo, hi, step;
    double from, to; /* where lo and hi are drawn */
} axis;

static double axis_at(const axis *a, double value) {
    const double shown = fmax(a->lo, fmin(a->hi, value));
    return a->from + (a->to - a->from) * (shown - a->lo) / (a->hi - a->lo);
}

/* Steps of 1, 2 or 5 times a power of ten, about five of them; 0 is always there.  Long whiskers
 * may be cut, so that values stay apart. */
static axis axis_of(const exhibit *e, int columns, double from, double to) {
    double lo = 0, hi = 0, least = 0, most = 0;
    for (int i = 0; i < e->n; i++) {
        const exhibit_value *v = &e->item[i].value;
        if (e->item[i].column >= columns || *v->text) continue;
        least = fmin(least, v->mid);
        most = fmax(most, v->mid);
        lo = fmin(lo, v->lo);
        hi = fmax(hi, v->hi);
    }
    lo = fmax(lo, least - 0.4 * (most - least));
    hi = fmin(hi, most + 0.4 * (most - least));
    if (hi - lo < 1e-12) hi = lo + 1;
    const double rough = (hi - lo) / 5, power = pow(10, floor(log10(rough)));
    const double ratio = rough / power;
    const double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    return (axis){floor(lo / step) * step, ceil(hi / step) * step, step, from, to};
}

static int axis_ticks(const axis *a) {
    return (int)((a->hi - a->lo) / a->step + 1.5);
}

static void tick_text(FILE *f, const axis *a, double value) {
    const int decimals = a->step >= 1 ? 0 : (int)ceil(-log10(a->step) - 1e-9);
    fprintf(f, "%.*f", decimals, fabs(value) < a->step / 2 ? 0 : value);
}

static void open_svg(FILE *f, const exhibit *e, int height) {
    fprintf(f, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
            height);
    cli_xml_text(f, e->title);
    fputs("\">\n", f);
}

static void title_of(FILE *f, const exhibit *e, int row, int column, const exhibit_value *v) {
    fputs("<title>", f);
    cli_xml_text(f, e->row[row]);
    fputs(", ", f);
    cli_xml_text(f, e->column[column]);
    fprintf(f, ": %.*f", e->decimals, v->mid);
    if (v->hi > v->lo) fprintf(f, " (%.*f–%.*f)", e->decimals, v->lo, e->decimals, v->hi);
    fputs("</title>", f);
}

/* ---- standing plots */

static void standing_frame(FILE *f, const exhibit *e, const axis *a) {
    fprintf(f, "<text x=\"0\" y=\"11\" class=\"u\">");
    cli_xml_text(f, e->unit);
    fputs("</text>", f);
    for (int i = 0; i < axis_ticks(a); i++) {
        const double v = a->lo + i * a->step, y = axis_at(a, v);
        fprintf(f, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>", fabs(v) < a->step / 2 ? "one" : "g",
                LEFT, y, WIDTH - RIGHT);
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" class=\"v\">", LEFT - 5, y + 4);
        tick_text(f, a, v);
        fputs("</text>", f);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"m u\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4);
    cli_xml_text(f, e->axis);
    fputs("</text>\n", f);
}

static double group_width(const exhibit *e) {
    return (double)(WIDTH - LEFT - RIGHT) / (e->rows ? e->rows : 1);
}

static double group_middle(const exhibit *e, int row) {
    return LEFT + group_width(e) * (row + 0.5);
}

static void row_labels(FILE *f, const exhibit *e) {
    for (int r = 0; r < e->rows; r++) {
        fprintf(f, "<text x=\"%.1f\" y=\"%d\" class=\"m\">", group_middle(e, r),
                HEIGHT - BOTTOM + 16);
        cli_xml_text(f, e->row[r]);
        fputs("</text>", f);
    }
    fputs("\n", f);
}

/* `colour`: that of the line it belongs to, or -1: over a bar. */
static void whisker(FILE *f, const axis *a, const exhibit_value *v, double x, int colour) {
    char class[16] = "w";
    if (v->hi <= v->lo) return;
    if (colour >= 0) snprintf(class, sizeof class, "k%d e", colour);
    const double lo = axis_at(a, v->lo), hi = axis_at(a, v->hi);
    fprintf(f, "<path class=\"%s\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh4M%.1f %.1fh4\"/>", class, x, lo,
            hi, x - 2, lo, x - 2, hi);
}

/* ---- lines */

/* Lines are a little apart, so that their whiskers can be told. */
static double line_x(const exhibit *e, int row, int column) {
    return group_middle(e, row) + 4 * (column - (e->columns - 1) / 2.0);
}

static void line_path(FILE *f, const exhibit *e, const axis *a, int column) {
    int drawn = 0;
    fprintf(f, "<path class=\"k%d s%s\" d=\"", plot_colour(e->column[column], column),
            column % 2 ? " dash" : "");
    for (int r = 0; r < e->rows; r++) {
        const exhibit_value *v = exhibit_get(e, r, column);
        if (v)
            fprintf(f, "%c%.1f %.1f", drawn++ ? 'L' : 'M', line_x(e, r, column),
                    axis_at(a, v->mid));
    }
    fputs("\"/>", f);
}

static void line_marks(FILE *f, const exhibit *e, const axis *a, int column) {
    const int colour = plot_colour(e->column[column], column);
    for (int r = 0; r < e->rows; r++) {
        const exhibit_value *v = exhibit_get(e, r, column);
        if (!v) continue;
        whisker(f, a, v, line_x(e, r, column), colour);
        fprintf(f, "<circle class=\"d k%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">", colour,
                line_x(e, r, column), axis_at(a, v->mid));
        title_of(f, e, r, column, v);
        fputs("</circle>", f);
    }
    fputs("\n", f);
}

static void plot_lines(FILE *f, const exhibit *e) {
    const axis a = axis_of(e, e->columns, HEIGHT - BOTTOM, TOP);
    open_svg(f, e, HEIGHT);
    standing_frame(f, e, &a);
    row_labels(f, e);
    for (int c = 0; c < e->columns; c++) line_path(f, e, &a, c);
    for (int c = 0; c < e->columns; c++) line_marks(f, e, &a, c);
    fputs("</svg>\n", f);
}

/* ---- standing bars */

static void standing_bar(FILE *f, const exhibit *e, const axis *a, int row, int column) {
    const exhibit_value *v = exhibit_get(e, row, column);
    const double room = group_width(e) * 0.84, width = fmin(room / e->columns, 40);
    const double x = group_middle(e, row) + width * (column - e->columns / 2.0);
    if (!v || *v->text) return;
    const double zero = axis_at(a, 0), end = axis_at(a, v->mid);
    fprintf(f, "<rect class=\"k%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\">",
            plot_colour(e->column[column], column), x, fmin(zero, end), width * 0.9,
            fmax(fabs(zero - end), 0.8));
    title_of(f, e, row, column, v);
    fputs("</rect>", f);
    whisker(f, a, v, x + width * 0.45, -1);
}

static void plot_bars(FILE *f, const exhibit *e) {
    const axis a = axis_of(e, e->columns, HEIGHT - BOTTOM, TOP);
    open_svg(f, e, HEIGHT);
    standing_frame(f, e, &a);
    row_labels(f, e);
    for (int r = 0; r < e->rows; r++)
        for (int c = 0; c < e->columns; c++) standing_bar(f, e, &a, r, c);
    fputs("</svg>\n", f);
}

/* ---- lying bars */

static void lying_frame(FILE *f, const exhibit *e, const axis *a, int height) {
    fputs("<text x=\"0\" y=\"11\" class=\"u\">", f);
    cli_xml_text(f, e->unit);
    fputs("</text>", f);
    for (int i = 0; i < axis_ticks(a); i++) {
        const double v = a->lo + i * a->step, x = axis_at(a, v);
        fprintf(f, "<path class=\"%s\" d=\"M%.1f %dV%d\"/>", fabs(v) < a->step / 2 ? "one" : "g", x,
                TOP + 14, height);
        fprintf(f, "<text x=\"%.1f\" y=\"%d\" class=\"m\">", x, TOP + 10);
        tick_text(f, a, v);
        fputs("</text>", f);
    }
    fputs("\n", f);
}

static void lying_bar(FILE *f, const exhibit *e, const axis *a, const int at[2], double y) {
    const exhibit_value *v = exhibit_get(e, at[0], at[1]);
    if (!v || *v->text) return;
    const double zero = axis_at(a, 0), end = axis_at(a, v->mid);
    fprintf(f, "<rect class=\"k%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1\">",
            e->kind == EXHIBIT_ROWS ? 4 : plot_colour(e->column[at[1]], at[1]), fmin(zero, end), y,
            fmax(fabs(zero - end), 0.8), LYING_BAR - 1);
    title_of(f, e, at[0], at[1], v);
    fputs("</rect>", f);
    if (v->hi > v->lo)
        fprintf(f, "<path class=\"w\" d=\"M%.1f %.1fH%.1f\"/>", axis_at(a, v->lo),
                y + LYING_BAR / 2.0, axis_at(a, v->hi));
}

static void lying_label(FILE *f, const exhibit *e, int row, double y) {
    char text[64];
    fprintf(f, "<text x=\"%d\" y=\"%.1f\">", LYING_LEFT + 4, y + 12);
    cli_xml_text(f, e->row[row]);
    fputs("</text>", f);
    if (e->kind != EXHIBIT_ROWS) return;
    exhibit_format(e, exhibit_get(e, row, 0), text, sizeof text);
    fprintf(f, "<text x=\"%d\" y=\"%.1f\" class=\"v\">%s</text>\n", WIDTH, y + 12, text);
}

static void plot_lying(FILE *f, const exhibit *e, int columns) {
    const int group = LYING_LABEL + columns * LYING_BAR + LYING_GAP;
    const int height = TOP + 16 + e->rows * group;
    const axis a = axis_of(e, columns, LYING_LEFT, WIDTH - 14);
    open_svg(f, e, height);
    lying_frame(f, e, &a, height);
    for (int r = 0; r < e->rows; r++) {
        const double y = TOP + 16 + r * group;
        lying_label(f, e, r, y);
        for (int c = 0; c < columns; c++)
            lying_bar(f, e, &a, (const int[]){r, c}, y + LYING_LABEL + c * LYING_BAR);
    }
    fputs("</svg>\n", f);
}

void plot_exhibit(FILE *f, const exhibit *e) {
    switch (e->kind) {
    case EXHIBIT_LINES:
        plot_lines(f, e);
        break;
    case EXHIBIT_BARS:
        if (e->rows * e->columns <= MOST_STANDING && e->rows <= 5)
            plot_bars(f, e);
        else
            plot_lying(f, e, e->columns);
        break;
    case EXHIBIT_ROWS:
        plot_lying(f, e, 1);
        break;
    case EXHIBIT_TABLE:
        break;
    }
}
